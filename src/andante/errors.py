"""One family of errors: everything Andante refuses, it refuses with one of these and one sentence.

A sentence says what was wrong, where it was, what is allowed and, if it helps, what to do.

Here are those that several rooms raise or catch. What only a room on top has to say (offline, store, campaign,
selection), it says with an error of its own, defined where it is raised.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from operator import index


class AndanteError(Exception):
    """The base of every error that Andante raises on purpose."""


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


class OutputError(AndanteError):
    """A result that cannot be written where it was asked to go."""


def whole_number(
    value: object, what: str, *, least: int | None = None, error: type[AndanteError] = ProblemError
) -> int:
    """A whole number as a plain int, whatever library it is from; an ``error`` if it is none or below the ``least``.

    >>> whole_number(3, "a column")
    3
    """
    with suppress(TypeError):
        number = index(value)  # type: ignore[arg-type]
        if least is None or number >= least:
            return number
    raise error(f"{what} is a whole number{'' if least is None else f' from {least}'}, got {value!r}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Half a sentence that suggests the nearest known name, or lists them all.

    >>> did_you_mean("lrtaa", ["lrta", "astar"])
    "did you mean 'lrta'?"
    """
    names = sorted(known)
    near = get_close_matches(word, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "known are: " + ", ".join(names)
