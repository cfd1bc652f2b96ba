"""The uncertainty of numbers: standard errors and intervals over maps, because problems of one map are alike.

A hundred problems of one map reveal less about other maps than a hundred problems of a hundred maps. Standard errors
and intervals here are over *clusters*: the maps or, if there is only one, its problems. In the latter case they show
how much the number would differ for other problems of that map, and nothing about other maps. The same is correct for
several maps if no other maps matter, such as the maps of one game: then the clusters are problems, too.

Intervals of means are from the bootstrap over clusters (`resampled`). Clusters are drawn with replacement, as many as
there are, and each draw gives a mean with its own standard error. The distances of these means from the original one,
in standard errors, show how far the original may be from the true mean (the bootstrap-t interval, Efron 1981). Draws
are the same each time, because their seed is `SEED`. Below `FEWEST_TO_RESAMPLE` clusters there are too few different
draws, and Student's t is used instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

#: The sample: the maps, or only the problems if no other maps matter.
Over = Literal["maps", "problems"]

CONFIDENCE = 0.95  # of all intervals
DRAWS = 2000  # of the bootstrap
SEED = 20260101  # of the bootstrap, so that the same numbers have the same intervals
FEWEST_TO_RESAMPLE = 4
MOST_GROUPS = 1000  # more clusters than this are grouped at random, so that draws stay small
_AT_A_TIME = 128  # rows whose draws are in memory at once
_ROUNDING = 1e-12  # relative spread below which all differences count as equal


class Interval(NamedTuple):
    """A confidence interval; infinite or nan ends are not known."""

    low: float
    high: float

    def excludes(self, value: float) -> bool:
        """Return whether the value is outside."""
        return value < self.low or value > self.high


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each trial, by number from 0.

    Where problems are the clusters, trials on the same problem are one cluster. By default each trial is on a different
    problem.

    >>> clusters = Clusters.of(["arena", "arena", "maze"])
    >>> clusters.numbers.tolist(), clusters.count, clusters.of_maps
    ([0, 0, 1], 2, True)
    >>> str(Clusters.of(["arena", "arena"]))  # one map only: its problems are the clusters
    '2 problems of one map'
    >>> str(Clusters.of(["arena"] * 4, problems=["a", "b", "a", "b"]))
    '2 problems of one map'
    """

    numbers: Numbers  # [trials]
    count: int
    of_maps: bool  # else each problem is a cluster
    maps: int  # the number of maps
    problems: Numbers  # [trials], the problem of each, by number from 0

    @classmethod
    def of(
        cls,
        maps: Sequence[Any] | npt.NDArray[Any],
        over: Over = "maps",
        problems: Sequence[Any] | npt.NDArray[Any] | None = None,
    ) -> Clusters:
        """Return the clusters of trials, from the map and the problem of each."""
        names, numbers = _numbered(maps)
        posed, own = _numbered(np.arange(len(numbers)) if problems is None else problems)
        if over == "maps" and len(names) > 1:
            return cls(numbers, len(names), True, len(names), own)
        return cls(own, len(posed), False, len(names), own)

    def __str__(self) -> str:
        return described(self.count, self.of_maps, self.maps)

    def of_part(self, kept: npt.NDArray[np.bool_]) -> Clusters:
        """Return the clusters of some of the trials."""
        if kept.all():
            return self
        if self.of_maps:
            return Clusters.of(self.numbers[kept], problems=self.problems[kept])
        left, numbers = _numbered(self.problems[kept])
        return Clusters(numbers, len(left), False, self.maps, numbers)

    def sizes(self) -> Values:
        """Return the number of problems in each cluster."""
        return np.bincount(self.numbers, minlength=self.count).astype(np.float64)

    def sums(self, values: Values) -> Values:
        """Return the sum of the values in each cluster; ``values`` has one number per problem, or rows of these."""
        if self.count == len(self.numbers) and not self.of_maps:  # each trial is on a different problem
            return values
        if values.ndim == 1:
            return np.bincount(self.numbers, values, self.count).astype(np.float64)
        return np.stack([np.bincount(self.numbers, row, self.count) for row in values])

    def error(self, values: Values) -> float:
        """Return the standard error of the mean; nan if there are fewer than two clusters.

        >>> clusters = Clusters.of(["a", "a", "b", "b"])
        >>> clusters.error(np.array([1.0, 1.0, 3.0, 3.0]))  # two different numbers, not four
        1.0
        """
        return float(_errors(self.sums(values[None, :]), self.sizes())[0])


def _numbered(names: Sequence[Any] | npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Numbers]:
    """Return the different names, and the number of each one among them."""
    different, numbers = np.unique(np.asarray(names), return_inverse=True)
    return different, numbers.astype(np.int64)


def described(count: int, of_maps: bool, maps: int) -> str:
    """Return the words for the clusters of a standard error or an interval.

    >>> described(12, True, 12), described(300, False, 3)
    ('12 maps', '300 problems of these 3 maps')
    """
    if of_maps:
        return f"{count:,} maps"
    where = "one map" if maps == 1 else f"these {maps:,} maps"
    return f"{count:,} problem{'' if count == 1 else 's'} of {where}"


def student(chance: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution.

    >>> round(student(0.975, 11), 3)
    2.201
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, chance)) if freedom > 0 else math.inf


def chance_of(mean: float, error: float, freedom: float) -> float:
    """Return the probability of a mean at least this far from 0 if the true mean is 0, by Student's t distribution.

    >>> round(chance_of(2.201, 1.0, 11), 4)
    0.05
    """
    from scipy.special import stdtr

    if freedom <= 0 or math.isnan(error):
        return 1.0
    if error <= _ROUNDING * abs(mean):
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * stdtr(freedom, -abs(mean) / error))


def _errors(sums: Values, sizes: Values) -> Values:
    """Return the standard error of the mean for each row of sums by cluster; a mean is a ratio of two sums."""
    count, total = len(sizes), sizes.sum()
    if count < 2:
        return np.full(len(sums), math.nan)
    apart = sums - sums.sum(1, keepdims=True) / total * sizes
    found: Values = np.sqrt(count / (count - 1) * (apart**2).sum(1)) / total
    return found


class Mean(NamedTuple):
    """A mean, or another number, with its standard error and confidence interval."""

    mean: float
    error: float
    interval: Interval


def resampled(values: Values, clusters: Clusters, confidence: float = CONFIDENCE) -> list[Mean]:
    """Return the mean of each row of values, which has one value per problem, with its bootstrap interval.

    >>> rng = np.random.default_rng(0)
    >>> one = resampled(rng.exponential(size=(1, 200)), Clusters.of(["arena"] * 200))[0]
    >>> one.interval.low < 1.0 < one.interval.high
    True
    """
    sums, sizes = _grouped(clusters.sums(values), clusters.sizes())
    means, errors = sums.sum(1) / sizes.sum(), _errors(sums, sizes)
    outside = (1 - confidence) / 2
    if len(sizes) < FEWEST_TO_RESAMPLE:
        far = np.full((2, len(sums)), student(1 - outside, len(sizes) - 1))
    else:
        far = _far_in_draws(sums, sizes, means, outside)
    found = []
    for mean, error, below, above in zip(means.tolist(), errors.tolist(), *far.tolist(), strict=True):
        if error <= _ROUNDING * abs(mean):
            found.append(Mean(mean, 0.0, Interval(mean, mean)))
        else:
            found.append(Mean(mean, error, Interval(mean - below * error, mean + above * error)))
    return found


def correlated(x: Values, y: Values, clusters: Clusters, confidence: float = CONFIDENCE) -> Mean:
    """Return Pearson's correlation of two numbers per problem, with an interval; nan if one of them never varies.

    Its standard error is that of the mean of each problem's contribution (its influence), over clusters. The interval
    is Student's, on Fisher's scale, where a correlation has about the same spread everywhere. If the error is not
    known, the interval is from -1 to 1.

    >>> grow = np.arange(40.0)
    >>> found = correlated(grow, np.sin(grow), Clusters.of(np.zeros(40)))
    >>> found.interval.low < 0.0 < found.interval.high
    True
    """
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return Mean(math.nan, math.nan, Interval(-1.0, 1.0))
    a, b = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    found = float(np.clip((a * b).mean(), -1.0, 1.0))
    error = clusters.error(a * b - found * (a**2 + b**2) / 2)
    room = 1 - found**2
    if math.isnan(error) or room <= _ROUNDING:
        return Mean(found, error, Interval(-1.0, 1.0))
    half = student((1 + confidence) / 2, clusters.count - 1) * error / room
    low, high = (math.tanh(math.atanh(found) + side * half) for side in (-1, 1))
    return Mean(found, error, Interval(low, high))


def _far_in_draws(sums: Values, sizes: Values, means: Values, outside: float) -> Values:
    """Return the distances of the ends of each interval from the mean, below and above, in standard errors."""
    weights = _weights(len(sizes))
    totals = (weights @ sizes)[:, None]
    place = int(outside * DRAWS)  # the number of draws on either side that are farther from the mean
    found = []
    for first in range(0, len(sums), _AT_A_TIME):
        some = sums[first : first + _AT_A_TIME].T
        drawn = (weights @ some) / totals
        squares = weights @ some**2 - 2 * drawn * (weights @ (some * sizes[:, None]))
        squares += drawn**2 * (weights @ sizes**2)[:, None]
        errors = np.sqrt(len(sizes) / (len(sizes) - 1) * np.maximum(squares, 0.0)) / totals
        with np.errstate(divide="ignore", invalid="ignore"):
            # A draw of equal clusters has no spread, so it is infinitely far away unless it equals the mean.
            t = (drawn - means[first : first + _AT_A_TIME]) / errors
        t = np.partition(np.where(np.isnan(t), 0.0, t), [place, DRAWS - 1 - place], axis=0)
        found.append(np.stack([t[DRAWS - 1 - place], -t[place]]))
    return np.concatenate(found, axis=1)


@lru_cache(4)
def _weights(count: int) -> Values:
    """Return the number of times that each cluster is drawn, for each draw."""
    rng = np.random.default_rng([SEED, count])
    return rng.multinomial(count, np.full(count, 1 / count), DRAWS).astype(np.float64)


def _grouped(sums: Values, sizes: Values) -> tuple[Values, Values]:
    """Return the sums and sizes of at most MOST_GROUPS groups of clusters, which are formed at random."""
    if len(sizes) <= MOST_GROUPS:
        return sums, sizes
    mixed = np.random.default_rng([SEED, len(sizes)]).permutation(len(sizes))
    starts = np.linspace(0, len(sizes), MOST_GROUPS, endpoint=False).astype(np.int64)
    return np.add.reduceat(sums[:, mixed], starts, axis=1), np.add.reduceat(sizes[mixed], starts)


def quantile_interval(ordered: Values, risen: Values, below: Values, share: float, clusters: Clusters) -> Interval:
    """Return the interval of a quantile (Woodruff 1952): the quantiles of the shares that may truly be below it.

    ``ordered`` are the numbers in order. ``risen`` are the same with infinity for those that are only lower bounds.
    ``below`` is 1 for each problem whose number is at most the quantile. The standard error of that share is over
    clusters, but not less than that of independent problems. An end beyond all numbers is infinite.
    """
    count = len(ordered)
    error = clusters.error(below)
    if math.isnan(error):
        return Interval(-math.inf, math.inf)
    half = student((1 + CONFIDENCE) / 2, clusters.count - 1) * max(error, math.sqrt(share * (1 - share) / count))
    low, high = math.floor(count * (share - half)) - 1, math.ceil(count * (share + half))
    return Interval(float(ordered[low]) if low >= 0 else -math.inf, float(risen[high]) if high < count else math.inf)
