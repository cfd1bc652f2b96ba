"""Summaries of many rows: mean with its standard error, median, 95th percentile, maximum.

Results of real-time search are heavy-tailed, so a mean is never shown alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, did_you_mean
from andante.measures.measure import MEASURES, Headline
from andante.measures.outcome import CUT_SHORT

#: One trial: a name and a value for each column; nan stands for a number that a trial does not have.
Row = dict[str, str | int | float | bool]

#: Statistics that are quantiles, with their shares.
QUANTILES = {"median": 0.5, "p95": 0.95}


@dataclass(frozen=True)
class Statistics:
    """The statistics of a list of numbers; nan entries do not count.

    >>> Statistics.of([1.0, 2.0, 3.0, float("nan")])
    Statistics(count=3, mean=2.0, standard_error=0.577..., median=2.0, p95=2.9, max=3.0, bounds=0, ...)
    """

    count: int
    mean: float
    standard_error: float  # of the mean; nan for fewer than two numbers
    median: float
    p95: float
    max: float
    bounds: int = 0  # how many numbers are lower bounds; if any, so are the mean and the maximum
    median_is_bound: bool = False  # a quantile is exact if all lower bounds are above it
    p95_is_bound: bool = False

    @classmethod
    def of(cls, values: Iterable[float], cut_short: Iterable[bool] = ()) -> Statistics:
        """Return the statistics of these numbers; ``cut_short`` says which of them are only lower bounds.

        >>> Statistics.of([1.0, 2.0, 9.0], [False, False, True]).median_is_bound
        False
        """
        numbers = np.array(list(values), np.float64)
        known = ~np.isnan(numbers)
        short = np.array(list(cut_short), bool) if cut_short else np.zeros(len(numbers), bool)
        numbers, short = numbers[known], short[known]
        count = len(numbers)
        if not count:
            return cls(0, math.nan, math.nan, math.nan, math.nan, math.nan)
        with np.errstate(invalid="ignore"):  # infinite numbers have no spread
            spread = float(numbers.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
        method: Literal["linear", "nearest"] = "linear" if np.isfinite(numbers).all() else "nearest"
        median, p95 = np.quantile(numbers, list(QUANTILES.values()), method=method)
        uncertain = [_may_rise(numbers, short, share) for share in QUANTILES.values()]
        return cls(
            count,
            float(numbers.mean()),
            spread,
            float(median),
            float(p95),
            float(numbers.max()),
            int(short.sum()),
            *uncertain,
        )

    def is_bound(self, statistic: str) -> bool:
        """Return whether this statistic is only a lower bound."""
        if statistic in QUANTILES:
            return bool(getattr(self, f"{statistic}_is_bound"))
        return self.bounds > 0

    def pick(self, headline: Headline) -> float:
        """Return the statistic that a measure's headline asks for."""
        return float(getattr(self, headline.value))


def _may_rise(numbers: npt.NDArray[np.float64], short: npt.NDArray[np.bool_], share: float) -> bool:
    """Return whether this quantile could rise if the numbers that are lower bounds did."""
    place = share * (len(numbers) - 1)
    between = [math.floor(place), math.ceil(place)]
    risen = np.where(short, math.inf, numbers)
    return not np.array_equal(np.sort(numbers)[between], np.sort(risen)[between])


@dataclass(frozen=True)
class Summary:
    """A summary of one group of rows: trials, how many arrived, and the statistics of every measure they have."""

    name: str  # what the rows have in common, such as the algorithm
    trials: int
    solved: int
    measures: dict[str, Statistics] = field(repr=False)
    problems: int | None = field(default=None, repr=False)  # identifies the set of problems; None if it is not known

    @property
    def share_solved(self) -> float:
        """The share of trials in which the agent reached the goal."""
        return self.solved / self.trials

    def __getitem__(self, name: str) -> Statistics:
        if name not in self.measures:
            raise ParameterError(f"{self.name} has no measure {name!r}; {did_you_mean(name, self.measures)}")
        return self.measures[name]

    def headline(self, name: str) -> float:
        """Return the one number that represents a measure."""
        return self[name].pick(MEASURES[name].headline)

    def show(self, name: str, statistic: str = "mean", *, with_error: bool = True) -> str:
        """Return a statistic of a measure as tables print it; a mean has its standard error unless that is not wanted.

        Lower bounds are marked, and so are statistics of fewer numbers than there are trials.

        >>> cut_short = {"algorithm": "a", "solved": False, "outcome": "MOVE_CAP", "suboptimality_ratio": 9.0}
        >>> stuck = {"algorithm": "a", "solved": False, "outcome": "STUCK", "suboptimality_ratio": float("nan")}
        >>> summarise([cut_short, cut_short, stuck])[0].show("suboptimality_ratio")
        '≥ 9.000 ± 0.000 (n = 2)'
        """
        numbers, known = self[name], MEASURES[name]
        error = numbers.standard_error if with_error and statistic == "mean" else None
        shown = known.show(getattr(numbers, statistic), error)
        bound = "≥ " if numbers.is_bound(statistic) else ""
        few = f" (n = {numbers.count:,})" if 0 < numbers.count < self.trials else ""
        return f"{bound}{shown}{few}"


#: By how far agents walk: on maps that change there is another measure.
QUALITIES = ("replanned_ratio", "suboptimality_ratio")


def quality_of(known: Collection[str]) -> str:
    """Return the measure of how far agents walk, given the names of measures or columns.

    >>> quality_of(["cost", "suboptimality_ratio"]), quality_of(["cost", "replanned_ratio"])
    ('suboptimality_ratio', 'replanned_ratio')
    """
    return next((name for name in QUALITIES if name in known), QUALITIES[-1])


def problem_mismatch(summaries: Sequence[Summary]) -> str:
    """Return why the means cannot be compared (they are of different problems), or an empty text if they can.

    >>> one = {"algorithm": "lrta", "solved": True, "map": "arena", "start": 1, "goal": 9}
    >>> problem_mismatch(summarise([one, one | {"algorithm": "rta"}]))
    ''
    >>> problem_mismatch(summarise([one, one | {"algorithm": "rta", "start": 2}]))
    'lrta and rta were run on different problems, so their means cannot be compared'
    """
    known = [summary for summary in summaries if summary.problems is not None]
    for other in known[1:]:
        if other.problems != known[0].problems:
            return f"{known[0].name} and {other.name} were run on different problems, so their means cannot be compared"
    return ""


#: Rows of two algorithms that agree in these are about the same problem.
PLACE = ("set", "fingerprint", "start", "goal", "repeat")

_DIGEST_BYTES = 5  # so that the sum over millions of trials fits in 64 bits


def place_columns(columns: Collection[str]) -> list[str]:
    """Return those columns that identify the problem of a row; empty if start or goal is not among them.

    A map is identified by its fingerprint or, without one, by its name.

    >>> place_columns(["algorithm", "map", "start", "goal", "cost"])
    ['map', 'start', 'goal']
    """
    if not {"start", "goal"} <= set(columns):
        return []
    named = ["map" if name == "fingerprint" and name not in columns else name for name in PLACE]
    return [name for name in named if name in columns]


def place_digest(place: Iterable[Any]) -> int:
    """Return a number for a problem, from the values of its columns; the sum of such numbers identifies a set."""
    text = "\0".join(map(str, place))
    return int.from_bytes(blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest(), "little")


def summarise(rows: Iterable[Row], by: str = "algorithm") -> list[Summary]:
    """Return a summary for each value of the column ``by``, in order of first appearance.

    >>> table = [{"algorithm": "a", "solved": True, "cost": 2.0}, {"algorithm": "a", "solved": True, "cost": 4.0}]
    >>> summarise(table)[0]["cost"].mean
    3.0
    """
    groups: dict[str, list[Row]] = {}
    for number, row in enumerate(rows, 1):
        for column in (by, "solved"):
            if column not in row:
                raise ParameterError(f"row {number} has no column {column!r}; {did_you_mean(column, row)}")
        groups.setdefault(str(row[by]), []).append(row)
    return [_summary(name, group) for name, group in groups.items()]


def _summary(name: str, group: list[Row]) -> Summary:
    present = [key for key in MEASURES if any(key in row for row in group)]
    short = [row.get("outcome") in CUT_SHORT for row in group]
    statistics = {
        key: Statistics.of((float(row.get(key, math.nan)) for row in group), short if MEASURES[key].adds_up else ())
        for key in present
    }
    return Summary(name, len(group), sum(bool(row["solved"]) for row in group), statistics, _problems(group))


def _problems(group: list[Row]) -> int | None:
    places = [place_columns(row) for row in group]
    if not all(places):
        return None
    return sum(place_digest(row[name] for name in place) for row, place in zip(group, places, strict=True))
