"""Summaries of many rows: mean with its standard error, median and 95th percentile with intervals, maximum.

Results of real-time search are heavy-tailed, so a mean is never shown alone. Errors and intervals are over maps, or
over the problems of a single map; `andante.measures.clusters` explains why.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, did_you_mean
from andante.measures.clusters import Clusters, Interval, Over, described, quantile_interval
from andante.measures.measure import MEASURES, Headline

#: One trial: a name and a value for each column; nan means that a trial does not have this number.
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
    standard_error: float  # of the mean, over clusters; nan for fewer than two of them
    median: float
    p95: float
    max: float
    bounds: int = 0  # the number of lower bounds; if there are any, the mean and the maximum are lower bounds too
    median_is_bound: bool = False  # a quantile is exact if all lower bounds are above it
    p95_is_bound: bool = False
    median_low: float = -math.inf  # the 95 % interval of the median; an end that is not known is infinite
    median_high: float = math.inf
    p95_low: float = -math.inf
    p95_high: float = math.inf
    clusters: int = 0  # the number of maps or problems that errors and intervals are over
    of_maps: bool = False  # whether clusters are maps
    maps: int = 1

    @classmethod
    def of(
        cls, values: Iterable[float], cut_short: Iterable[bool] = (), clusters: Clusters | None = None
    ) -> Statistics:
        """Return the statistics of these numbers; ``cut_short`` marks those that are only lower bounds.

        ``clusters`` groups the numbers of one map; without it each number is a cluster.

        >>> Statistics.of([1.0, 2.0, 9.0], [False, False, True]).median_is_bound
        False
        >>> Statistics.of([1.0, 1.0, 3.0, 3.0], clusters=Clusters.of(["a", "a", "b", "b"])).standard_error
        1.0
        """
        numbers = np.asarray(values if isinstance(values, np.ndarray) else list(values), np.float64)
        short = np.asarray(cut_short if isinstance(cut_short, np.ndarray) else list(cut_short), bool)
        short = short if len(short) else np.zeros(len(numbers), bool)
        alike = clusters if clusters is not None else Clusters.of(np.zeros(len(numbers)))
        known = ~np.isnan(numbers)
        numbers, short, alike = numbers[known], short[known], alike.of_part(known)
        if not len(numbers):
            return cls(0, math.nan, math.nan, math.nan, math.nan, math.nan)
        ordered = np.sort(numbers)
        risen = np.sort(np.where(short, math.inf, numbers)) if short.any() else ordered
        with np.errstate(invalid="ignore"):  # infinite numbers have no spread
            error = alike.error(numbers)
        quantiles = {name: _quantile(ordered, share) for name, share in QUANTILES.items()}
        found = {
            name: quantile_interval(ordered, risen, (numbers <= quantiles[name]).astype(np.float64), share, alike)
            for name, share in QUANTILES.items()
        }
        rest: dict[str, Any] = {
            f"{name}_is_bound": _may_rise(ordered, risen, share) for name, share in QUANTILES.items()
        }
        rest |= {f"{name}_low": interval.low for name, interval in found.items()}
        rest |= {f"{name}_high": interval.high for name, interval in found.items()}
        return cls(
            len(numbers),
            float(numbers.mean()),
            error,
            quantiles["median"],
            quantiles["p95"],
            float(ordered[-1]),
            int(short.sum()),
            **rest,
            clusters=alike.count,
            of_maps=alike.of_maps,
            maps=alike.maps,
        )

    def interval(self, statistic: str) -> Interval:
        """Return the 95 % interval of a median or percentile."""
        return Interval(getattr(self, f"{statistic}_low"), getattr(self, f"{statistic}_high"))

    @property
    def over(self) -> str:
        """The words for the clusters of errors and intervals."""
        return described(self.clusters, self.of_maps, self.maps)

    def is_bound(self, statistic: str) -> bool:
        """Return whether this statistic is only a lower bound."""
        if statistic in QUANTILES:
            return bool(getattr(self, f"{statistic}_is_bound"))
        return self.bounds > 0

    def pick(self, headline: Headline) -> float:
        """Return the statistic that a measure's headline asks for."""
        return float(getattr(self, headline.value))


def _quantile(ordered: npt.NDArray[np.float64], share: float) -> float:
    """Return a quantile of ordered numbers, interpolated between two of them, or the nearer one if one is infinite."""
    place = share * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    if math.isinf(ordered[-1]) or math.isinf(ordered[0]):
        return float(ordered[round(place)])
    return float(low + (high - low) * (place - math.floor(place)))


def _may_rise(ordered: npt.NDArray[np.float64], risen: npt.NDArray[np.float64], share: float) -> bool:
    """Return whether this quantile could rise if the numbers that are lower bounds did."""
    place = share * (len(ordered) - 1)
    return any(ordered[end] != risen[end] for end in (math.floor(place), math.ceil(place)))


@dataclass(frozen=True)
class Summary:
    """A summary of one group of rows: the numbers of trials and arrivals, and the statistics of every measure."""

    name: str  # the value that the rows have in common, such as the algorithm
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
        """Return the text of a measure's statistic for tables.

        By default a mean has its standard error and a quantile its interval. Lower bounds are marked, and so are
        statistics of fewer numbers than there are trials. A mean that is a lower bound has no error.

        >>> cut_short = {"algorithm": "a", "solved": False, "outcome": "MOVE_CAP", "suboptimality_ratio": 9.0}
        >>> stuck = {"algorithm": "a", "solved": False, "outcome": "STUCK", "suboptimality_ratio": float("nan")}
        >>> summarise([cut_short, cut_short, stuck])[0].show("suboptimality_ratio")
        '≥ 9.000 (n = 2)'
        """
        numbers, known = self[name], MEASURES[name]
        error = numbers.standard_error if with_error and statistic == "mean" and not numbers.bounds else None
        shown = known.show(getattr(numbers, statistic), error)
        bound = "≥ " if numbers.is_bound(statistic) else ""
        if with_error and statistic in QUANTILES and math.isfinite(numbers.interval(statistic).low):
            shown += f" ({between(name, numbers.interval(statistic))})"
        few = f" (n = {numbers.count:,})" if 0 < numbers.count < self.trials else ""
        return f"{bound}{shown}{few}"


def between(name: str, interval: Interval) -> str:
    """Return the text of a measure's interval for tables.

    >>> between("suboptimality_ratio", Interval(1.25, float("inf")))
    '1.250 to ∞'
    """
    return " to ".join(MEASURES[name].show(end).replace("inf", "∞") for end in interval)


#: The measures of how far agents walk: with an optimal cost, and on maps that change.
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


#: Rows of two algorithms that agree in these columns are of the same problem.
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


def map_column(columns: Collection[str]) -> str | None:
    """Return the column that identifies the map of a row: its fingerprint, if there is one, or its name.

    In a scene the fingerprint is that of the scene. There may be many scenes on one map, so the map's name is used.

    >>> map_column(["map", "fingerprint"]), map_column(["map", "fingerprint", "unit"]), map_column(["cost"])
    ('fingerprint', 'map', None)
    """
    wanted = ("map",) if "unit" in columns else ("fingerprint", "map")
    return next((name for name in wanted if name in columns), None)


def maps_of(rows: Sequence[Row]) -> list[str]:
    """Return the map of each row, or an empty text for rows without one."""
    columns = [map_column(row) for row in rows]
    return ["" if name is None else str(row[name]) for row, name in zip(rows, columns, strict=True)]


def place_digest(place: Iterable[Any]) -> int:
    """Return a number for a problem, from the values of its columns; the sum of such numbers identifies a set."""
    text = "\0".join(map(str, place))
    return int.from_bytes(blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest(), "little")


def summarise(rows: Iterable[Row], by: str = "algorithm", over: Over = "maps") -> list[Summary]:
    """Return a summary for each value of the column ``by``, in order of first appearance.

    Errors and intervals are over maps, because problems of one map are alike. If only the maps of the rows matter, pass
    ``over="problems"``.

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
    return [_summary(name, group, over) for name, group in groups.items()]


def _summary(name: str, group: list[Row], over: Over) -> Summary:
    present = [key for key in MEASURES if any(key in row for row in group)]
    columns = {key: np.array([row.get(key, math.nan) for row in group], np.float64) for key in present}
    solved = sum(bool(row["solved"]) for row in group)
    missed = np.array([not row["solved"] for row in group])
    flags = {MEASURES[key].bounded_by for key in present} - {""}
    bounds = {name: np.array([bool(row.get(name, False)) for row in group]) for name in flags}
    places = _places(group)
    clusters = Clusters.of(maps_of(group), over, places)
    problems = None if places is None else sum(places)
    return summary_of(name, columns, solved, missed, bounds, clusters, problems)


def summary_of(
    name: str,
    columns: Mapping[str, npt.NDArray[np.float64]],
    solved: int,
    missed: npt.NDArray[np.bool_],
    bounds: Mapping[str, npt.NDArray[np.bool_]],
    clusters: Clusters,
    problems: int | None = None,
) -> Summary:
    """Return the summary of one group of rows, from their columns.

    ``missed`` marks trials that did not arrive, for which measures that add up are lower bounds, whether the trial
    ended at a limit or the agent got stuck. ``bounds`` marks trials that have only a lower bound for other reasons, by
    the columns of ``bounded_by``.
    """
    none = np.zeros(len(missed), bool)
    statistics = {}
    for key, values in columns.items():
        known = MEASURES[key]
        flags = (missed if known.adds_up else none) | bounds.get(known.bounded_by, none)
        statistics[key] = Statistics.of(values, flags, clusters)
    return Summary(name, len(missed), solved, statistics, problems)


def _places(group: list[Row]) -> list[int] | None:
    """Return a number for the problem of each row, or None if it is not known."""
    names = [place_columns(row) for row in group]
    if not all(names):
        return None
    return [place_digest(row[name] for name in place) for row, place in zip(group, names, strict=True)]
