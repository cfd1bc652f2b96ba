"""The errors that Andante raises, each with a message of one sentence.

The sentence says what was wrong, where, what is allowed and, if it helps, what to do.

This module holds the errors that several packages raise or catch. The packages at the top (offline, store, selection)
define their own errors where they raise them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from numbers import Real
from operator import index
from types import UnionType
from typing import Any

#: The longest message, including quotations: about half of a usual screen.
LONGEST_MESSAGE = 1000

_LONG_WORD, _WORD_HEAD, _WORD_TAIL = re.compile(r"\S{121,}"), 60, 40
_MOST_NAMES = 40


class AndanteError(Exception):
    """Base class of every error that Andante raises on purpose; its message fits on a screen."""

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


class MapError(AndanteError):
    """A map file or grid that cannot be read or does not make sense."""


class ScenarioError(AndanteError):
    """A scenario file that cannot be read or belongs to another map."""


class ProblemError(AndanteError):
    """A start or goal that does not make a valid problem."""


class GraphError(AndanteError):
    """Arrays that do not make a valid graph."""


class ParameterError(AndanteError):
    """A parameter that is unknown, out of range or of the wrong type."""


class AlgorithmError(AndanteError):
    """An unknown algorithm, or one that breaks what its card claims."""


class NotationError(AndanteError):
    """Text that is not an algorithm in the notation ``name(parameter=value, ...)``."""


class DatasetError(AndanteError):
    """Benchmark data that cannot be found, fetched or trusted."""


class DatabaseError(AndanteError):
    """A database file that is damaged, has another version or is for another map."""


class CampaignError(AndanteError):
    """A campaign or study that cannot be read, run or resumed."""


class TraceError(AndanteError):
    """A file that is not a complete trace."""


class InputError(AndanteError):
    """A file or folder that cannot be read."""


class OutputError(AndanteError):
    """A result that cannot be written to the given place."""


def shortened(message: str) -> str:
    r"""Return the message on one printable line that fits on a screen: first long words are cut, then the message.

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
    r"""Return the text with unprintable characters, which could control a terminal, written as Python escapes.

    >>> printable("\x1b[2J.map")
    '\\x1b[2J.map'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _middle_cut(text: str, most: int) -> str:
    """Return the text or, if it is longer than ``most``, only its beginning and end."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-(most // 3) + 5 :]}"


def whole_number(
    value: object, what: str, *, least: int | None = None, error: type[AndanteError] = ProblemError
) -> int:
    """Return a whole number of any library as a plain int; raise ``error`` if it is not one, or too small.

    >>> whole_number(3, "a column")
    3
    """
    with suppress(TypeError):
        number = index(value)  # type: ignore[arg-type]
        if abs(number) >= 2**63:
            raise error(f"{what} must be a whole number of at most 64 bits, got {quoted(value)}")
        if least is None or number >= least:
            return number
    raise error(f"{what} must be a whole number{'' if least is None else f' of at least {least}'}, got {quoted(value)}")


def real_number(
    value: object, what: str, *, least: float = -math.inf, error: type[AndanteError] = ParameterError
) -> float:
    """Return a number of any library as a plain float; raise ``error`` if it is not one, or too small.

    >>> real_number(3, "a limit"), real_number(math.inf, "a limit")
    (3.0, inf)
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError, ValueError, TypeError):
            number = float(value)
            if number >= least:
                return number
    raise error(f"{what} must be a number{'' if math.isinf(least) else f' of at least {least:g}'}, got {quoted(value)}")


def expect(value: Any, kind: type | UnionType, said: str, error: type[AndanteError] = ProblemError) -> Any:
    """Return the value, or raise ``error`` if it is not of this kind; ``said`` is the beginning of its message.

    >>> expect(3, str, "a name is a text")
    Traceback (most recent call last):
    andante.errors.ProblemError: a name is a text, not 3
    """
    if not isinstance(value, kind):
        raise error(f"{said}, not {quoted(value)}")
    return value


def quoted(value: object) -> str:
    """Return a value of any size as messages show it.

    >>> quoted("x"), quoted(10**5000)
    ("'x'", 'a whole number of more than 4000 digits')
    """
    try:
        return repr(value)
    except ValueError:  # Python refuses to print numbers of thousands of digits
        return "a whole number of more than 4000 digits"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return half a sentence that suggests the nearest known name, or lists all of them.

    >>> did_you_mean("lrtaa", ["lrta", "astar"])
    "did you mean 'lrta'?"
    >>> did_you_mean("LRTA", ["lrta", "astar"])
    "did you mean 'lrta'?"
    """
    names = sorted(known)
    near = get_close_matches(word, names, n=1) or get_close_matches(word.lower(), names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"the known names are {', '.join(names[:_MOST_NAMES])}{more}"
