"""Many rows in a few numbers: mean with its standard error, median, 95th percentile, maximum.

Results of real-time search are heavy-tailed, so a mean never stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from andante.errors import ParameterError, did_you_mean
from andante.measures.measure import MEASURES, Headline
from andante.measures.rows import Row


@dataclass(frozen=True)
class Statistics:
    """What a list of numbers comes to; nan entries do not count.

    >>> Statistics.of([1.0, 2.0, 3.0, float("nan")])
    Statistics(count=3, mean=2.0, standard_error=0.577..., median=2.0, p95=2.9, max=3.0)
    """

    count: int
    mean: float
    standard_error: float  # of the mean; nan for fewer than two numbers
    median: float
    p95: float
    max: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Statistics:
        """The statistics of these numbers."""
        numbers = np.array(list(values), np.float64)
        numbers = numbers[~np.isnan(numbers)]
        count = len(numbers)
        if not count:
            return cls(0, math.nan, math.nan, math.nan, math.nan, math.nan)
        with np.errstate(invalid="ignore"):  # an infinite number has no spread
            spread = float(numbers.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
        median, p95 = np.quantile(numbers, [0.5, 0.95], method="linear" if np.isfinite(numbers).all() else "nearest")
        return cls(count, float(numbers.mean()), spread, float(median), float(p95), float(numbers.max()))

    def pick(self, headline: Headline) -> float:
        """The statistic that a measure is headed by."""
        return float(getattr(self, headline.value))


@dataclass(frozen=True)
class Summary:
    """The rows of one group: how many trials, how many arrived, and the statistics of every measure they have."""

    name: str  # what the group has in common, such as the algorithm
    trials: int
    solved: int
    measures: dict[str, Statistics] = field(repr=False)

    @property
    def share_solved(self) -> float:
        """The share of trials in which the agent arrived."""
        return self.solved / self.trials

    def __getitem__(self, name: str) -> Statistics:
        if name not in self.measures:
            raise ParameterError(f"{self.name} was not measured for {name!r}; {did_you_mean(name, self.measures)}")
        return self.measures[name]

    def headline(self, name: str) -> float:
        """The one number that stands for a measure."""
        return self[name].pick(MEASURES[name].headline)


def summarise(rows: Iterable[Row], by: str = "algorithm") -> list[Summary]:
    """A summary for each value of the column ``by``, in the order in which they first come.

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
    statistics = {key: Statistics.of(float(row.get(key, math.nan)) for row in group) for key in present}
    return Summary(name, len(group), sum(bool(row["solved"]) for row in group), statistics)
