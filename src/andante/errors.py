"""One family of errors: everything Andante refuses, it refuses with one of these and one sentence.

A sentence says what was wrong, where it was, what is allowed and, if it helps, what to do.

Here are those that several rooms raise or catch. What only a room on top has to say (offline, store, campaign,
selection), it says with an error of its own, defined where it is raised.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from numbers import Real
from operator import index

#: A message is no longer than this, about half of an ordinary screen, whatever was quoted in it.
LONGEST_MESSAGE = 1000

_LONG_WORD, _WORD_HEAD, _WORD_TAIL = re.compile(r"\S{121,}"), 60, 40
_MOST_NAMES = 40


class AndanteError(Exception):
    """The base of every error that Andante raises on purpose; its message fits on a screen."""

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


class MapError(AndanteError):
    """A map file or grid that cannot be read or does not make sense."""


class ScenarioError(AndanteError):
    """A scenario file that cannot be read or belongs to another map."""


class ProblemError(AndanteError):
    """A start or goal that does not make a problem."""


class GraphError(AndanteError):
    """Arrays that do not make a graph."""


class ParameterError(AndanteError):
    """A parameter out of its range, of the wrong kind, or unknown."""


class AlgorithmError(AndanteError):
    """An algorithm that is not known, or that breaks what its card claims."""


class NotationError(AndanteError):
    """Text that is not an algorithm in the notation ``name(parameter=value, ...)``."""


class DatasetError(AndanteError):
    """Benchmark data that cannot be found, fetched or trusted."""


class DatabaseError(AndanteError):
    """A database file that is damaged, of another version, or for another map."""


class TraceError(AndanteError):
    """A file that holds no trace, or not a whole one."""


class InputError(AndanteError):
    """A file or folder that cannot be read, whatever it was to hold."""


class OutputError(AndanteError):
    """A result that cannot be written where it was asked to go."""


def shortened(message: str) -> str:
    r"""A message of one line that fits on a screen and cannot control it: long words lose their middle, then it does.

    >>> shortened("there is no map a.map"), shortened("there is no map \x1b[2J.map")
    ('there is no map a.map', 'there is no map \\x1b[2J.map')
    >>> len(shortened("there is no map " + "a" * 10**6)) < 300
    True
    """
    if not message.isprintable():
        message = printable(_middle_cut(message, 10**5))
    if len(message) <= LONGEST_MESSAGE:
        return message
    message = _middle_cut(message, 10**5)
    message = _LONG_WORD.sub(lambda word: f"{word[0][:_WORD_HEAD]}...{word[0][-_WORD_TAIL:]}", message)
    return _middle_cut(message, LONGEST_MESSAGE)


def printable(text: str) -> str:
    r"""The text without characters that could control a terminal: they are written as Python writes them.

    >>> printable("\x1b[2J.map")
    '\\x1b[2J.map'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _middle_cut(text: str, most: int) -> str:
    """The text, or its beginning and its end if it is longer than that."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-(most // 3) + 5 :]}"


def whole_number(
    value: object, what: str, *, least: int | None = None, error: type[AndanteError] = ProblemError
) -> int:
    """A whole number as a plain int, whatever library it is from; an ``error`` if it is none or below the ``least``.

    >>> whole_number(3, "a column")
    3
    """
    with suppress(TypeError):
        number = index(value)  # type: ignore[arg-type]
        if abs(number) >= 2**63:
            raise error(f"{what} is a whole number of at most 64 bits, got {quoted(value)}")
        if least is None or number >= least:
            return number
    raise error(f"{what} is a whole number{'' if least is None else f' from {least}'}, got {quoted(value)}")


def real_number(
    value: object, what: str, *, least: float = -math.inf, error: type[AndanteError] = ParameterError
) -> float:
    """A number as a plain float, whatever library it is from; an ``error`` if it is none or below the ``least``.

    >>> real_number(3, "a limit"), real_number(math.inf, "a limit")
    (3.0, inf)
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError, ValueError, TypeError):
            number = float(value)
            if number >= least:
                return number
    raise error(f"{what} is a number{'' if math.isinf(least) else f' from {least:g}'}, got {quoted(value)}")


def quoted(value: object) -> str:
    """A value as a message shows it, however large it is.

    >>> quoted("x"), quoted(10**5000)
    ("'x'", 'a whole number of more than 4000 digits')
    """
    try:
        return repr(value)
    except ValueError:  # Python does not write numbers of thousands of digits
        return "a whole number of more than 4000 digits"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Half a sentence that suggests the nearest known name, or lists them all.

    >>> did_you_mean("lrtaa", ["lrta", "astar"])
    "did you mean 'lrta'?"
    """
    names = sorted(known)
    near = get_close_matches(word, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"known are: {', '.join(names[:_MOST_NAMES])}{more}"
