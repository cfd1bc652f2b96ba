"""Dominance (Bulitko et al. 2007, Definition 5.1): which algorithms trade one measure for another most efficiently.

On average, A dominates B with respect to two measures if its mean is not worse in either. If the means are equal in
both, neither dominates the other; otherwise twins would rule each other out. On an individual problem, A dominates B if
it is better in both measures (Appendix E); the number of such problems is reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, did_you_mean
from andante.measures import PLACE, Better, Summary, measure, problem_mismatch
from andante.world.heuristics import TOLERANCE

_NIL = TOLERANCE**2  # values are compared by their ratio; anything below this counts as zero

if TYPE_CHECKING:
    import polars as pl

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Position:
    """The position of one algorithm among the others, on average."""

    summary: Summary
    x: float
    y: float
    dominated_by: str | None  # an algorithm that dominates it, or None


def on_average(summaries: Sequence[Summary], x: str, y: str) -> list[Position]:
    """Return which algorithms are dominated in the means of two measures; they must be run on the same problems.

    Raise `ParameterError` if the problems differ. Algorithms without a number for some of their trials (such as
    suboptimality where they got stuck) are left out, because their means cover fewer problems. So are those whose means
    are only lower bounds. To include all, pass summaries of the problems that all solved (`andante.report.ground`).

    >>> from andante.measures import summarise
    >>> rows = [{"algorithm": a, "solved": True, "cost": c, "states_expanded": e} for a, c, e in
    ...         [("slow", 1.0, 90), ("quick", 5.0, 2), ("poor", 6.0, 3)]]
    >>> [(s.summary.name, s.dominated_by) for s in on_average(summarise(rows), "cost", "states_expanded")]
    [('slow', None), ('quick', None), ('poor', 'quick')]
    """
    signs = [_sign(name) for name in (x, y)]
    known = [s for s in summaries if all(name in s.measures and _exact(s, name) for name in (x, y))]
    if fault := problem_mismatch(known):
        raise ParameterError(f"{fault}; choose rows of one set of problems")
    means = np.array([(signs[0] * s[x].mean, signs[1] * s[y].mean) for s in known]).reshape(-1, 2)
    found = []
    for summary, mean in zip(known, means, strict=True):
        better = np.flatnonzero(_dominates(means, mean))
        found.append(
            Position(summary, summary[x].mean, summary[y].mean, known[better[0]].name if len(better) else None)
        )
    return found


def _exact(summary: Summary, name: str) -> bool:
    """Return whether the mean is over all trials, and none of them is only a lower bound."""
    return summary[name].count == summary.trials and not summary[name].bounds


def _sign(name: str) -> float:
    return -1.0 if measure(name).better is Better.MORE else 1.0


def _dominates(ones: Values, other: Values) -> Flags:
    """Return which of these pairs of means dominate the other; one column per measure."""
    better, worse = _compared(ones, other)
    return np.asarray(better.any(-1) & ~worse.any(-1))


def _compared(one: Values, other: Values) -> tuple[Flags, Flags]:
    """Return where one is less than the other, and where more; values equal up to rounding are neither."""
    equal = np.isclose(one, other, rtol=TOLERANCE, atol=_NIL)
    return (one < other) & ~equal, (one > other) & ~equal


@dataclass(frozen=True)
class Duel:
    """Two algorithms on their common problems: the shares of them on which each is better in a measure, or in both."""

    first: str
    second: str
    problems: int
    first_better: tuple[float, float]  # in x and in y
    second_better: tuple[float, float]
    first_dominates: float
    second_dominates: float

    @property
    def dominance_ratio(self) -> float:
        """How often the first dominates the second, relative to the reverse; infinite if the second never does."""
        if self.second_dominates == 0:
            return math.inf if self.first_dominates else math.nan
        return self.first_dominates / self.second_dominates


def on_all_problems(rows: pl.DataFrame, names: Sequence[str], x: str, y: str) -> list[Duel]:
    """Return the duels of all pairs of agents in which the first dominates the second on average.

    All must have been run on the same problems. The column ``agent`` identifies them.
    """
    values, places = [], None
    for name in names:
        side = rows.filter(rows["agent"] == name).sort(PLACE)
        if places is not None and not side.select(PLACE).equals(places):
            raise ParameterError(f"{names[0]} and {name} were run on different problems; choose rows of one set")
        places = side.select(PLACE)
        values.append([_sign(measured) * side[measured].cast(float).to_numpy() for measured in (x, y)])
    means = np.array([(one[0].mean(), one[1].mean()) for one in values]).reshape(-1, 2)
    beaten = np.array([_dominates(means, mean) for mean in means]).reshape(len(means), len(means))
    return [_duel(names[i], names[j], values[i], values[j]) for i, j in np.argwhere(beaten.T).tolist()]


def paired(rows: pl.DataFrame, first: str, second: str, measures: Sequence[str]) -> pl.DataFrame:
    """Return two algorithms side by side on the problems that both solved; columns of the second end in ``_right``.

    Rows without the column ``solved`` count as solved.
    """
    sides = []
    for name in (first, second):
        side = rows.filter(rows["algorithm"] == name)
        if not len(side):
            raise ParameterError(f"no rows are of {name}; {did_you_mean(name, rows['algorithm'].unique().to_list())}")
        if side.select(PLACE).is_duplicated().any():
            raise ParameterError(f"{name} was run under several conditions on the same problems; choose rows of one")
        solved = side.filter(side["solved"]) if "solved" in side.columns else side
        sides.append(solved.select(*PLACE, *measures))
    both = sides[0].join(sides[1], on=list(PLACE), maintain_order="left")
    if not len(both):
        raise ParameterError(f"{first} and {second} have no problem in common that both solved")
    return both


def on_problems(rows: pl.DataFrame, first: str, second: str, x: str, y: str) -> Duel:
    """Compare two algorithms problem by problem and return the duel.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"algorithm": ["a", "a", "b", "b"], "set": ["s"] * 4, "fingerprint": ["f"] * 4,
    ...                      "start": [0, 1, 0, 1], "goal": [5, 5, 5, 5], "repeat": [0] * 4,
    ...                      "cost": [1.0, 2.0, 3.0, 1.0], "moves": [4, 4, 5, 4]})
    >>> duel = on_problems(rows, "a", "b", "cost", "moves")
    >>> duel.first_dominates, duel.second_dominates, duel.dominance_ratio
    (0.5, 0.0, inf)
    """
    both = paired(rows, first, second, (x, y))
    ours, theirs = (
        [_sign(name) * both[name + side].cast(float).to_numpy() for name in (x, y)] for side in ("", "_right")
    )
    return _duel(first, second, ours, theirs)


def _duel(first: str, second: str, ours: Sequence[Values], theirs: Sequence[Values]) -> Duel:
    """Return a duel from both measures of the first and the second, problem by problem; less is better."""
    better, worse = zip(*map(_compared, ours, theirs), strict=True)
    return Duel(
        first,
        second,
        len(ours[0]),
        (float(better[0].mean()), float(better[1].mean())),
        (float(worse[0].mean()), float(worse[1].mean())),
        float(np.mean(better[0] & better[1])),
        float(np.mean(worse[0] & worse[1])),
    )
