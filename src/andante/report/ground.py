"""The basis of a report: all trials for its table, and the problems on which agents can be compared fairly.

The table shows all trials, with lower bounds marked. Everything that ranks agents (comparisons, bold numbers, advice,
fronts, dominance) uses the problems that all agents solved or, with a penalty, all problems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.measures import (
    MEASURES,
    Better,
    Choice,
    Clusters,
    Comparison,
    Contest,
    Headline,
    Over,
    Row,
    Statistics,
    Summary,
    choices,
    compare,
    problem_mismatch,
    quality_of,
    summarise,
)
from andante.measures.comparison import PENALISED, penalised
from andante.measures.summary import QUANTILES
from andante.report.results import Results

#: Returns the summaries of some rows, given by their numbers.
Summarise = Callable[[npt.NDArray[np.int64]], list[Summary]]


@dataclass(frozen=True, eq=False)
class Ground:
    """Agents with all their trials, and the trials by which they are compared."""

    summaries: list[Summary]  # of all trials
    contest: Contest | None  # None if the rows do not name their problems, or agents were run on different ones
    column: Callable[[str], npt.NDArray[Any]] = field(repr=False)
    summarised: Summarise = field(repr=False)
    penalty: float | None = None
    over: Over = "maps"

    @classmethod
    def of_rows(cls, rows: Sequence[Row], penalty: float | None = None, over: Over = "maps") -> Ground:
        """Return the basis for comparing agents by rows of trials."""
        summaries = summarise(rows, over=over)
        contest = None if problem_mismatch(summaries) else Contest.of_rows(rows)
        return cls(
            summaries,
            contest,
            lambda name: np.array([row.get(name, math.nan) for row in rows]),
            lambda numbers: summarise([rows[k] for k in numbers.tolist()], over=over),
            penalty,
            over,
        )

    @classmethod
    def of_results(cls, results: Results, penalty: float | None = None, over: Over = "maps") -> Ground:
        """Return the basis for comparing the agents of a store."""
        summaries = results.summaries(over=over)
        fault = results.incomparable or problem_mismatch(summaries)
        return cls(
            summaries,
            None if fault or not summaries else results.contest(),
            lambda name: results.rows[name].to_numpy(),
            lambda numbers: results.summaries_of(numbers, over),
            penalty,
            over,
        )

    def is_about(self, summaries: Sequence[Summary]) -> bool:
        """Return whether these summaries are of the same agents, and not of maps or anything else."""
        return [one.name for one in summaries] == [one.name for one in self.summaries]

    @cached_property
    def comparison(self) -> Comparison | None:
        """The comparison of how far agents walk; None if they cannot be compared."""
        return self.compared_in(self.quality)

    @cached_property
    def quality(self) -> str:
        """The measure of how far agents walk."""
        return quality_of({name for one in self.summaries for name in one.measures})

    def compared_in(self, name: str) -> Comparison | None:
        """Return the comparison of agents in a measure; None if they cannot be compared, or not all of them have it."""
        have = [name in one.measures for one in self.summaries]
        if self.contest is None or len(have) < 2 or not all(have) or MEASURES[name].better is Better.NEITHER:
            return None
        penalty = self.penalty if name in PENALISED else None
        return compare(self.contest, self.column, name, penalty=penalty, over=self.over)

    @cached_property
    def common(self) -> list[Summary]:
        """The summaries of agents on the problems that all solved, except worst cases, which are over all trials.

        Agents that solved nothing are left out. With a penalty, all trials count, and unsolved ones are penalised.
        """
        if self.contest is None:
            return [one for one in self.summaries if one.solved == one.trials]
        if self.penalty is not None:
            return self._penalised(self.contest, self.penalty)
        return self._on(self.contest.of_solvers())

    def _penalised(self, contest: Contest, penalty: float) -> list[Summary]:
        """Return the summaries of all trials, with a penalty for those that did not arrive."""
        if not all(self.quality in one.measures for one in self.summaries):
            return self.summaries
        clusters = Clusters.of(contest.maps, self.over)
        numbers = penalised(contest, self.column, self.quality, penalty)
        found = {name: Statistics.of(row, (), clusters) for name, row in zip(contest.agents, numbers, strict=True)}
        return [replace(one, measures={**one.measures, self.quality: found[one.name]}) for one in self.summaries]

    def _on(self, contest: Contest) -> list[Summary]:
        """Return the summaries of a contest's agents on the problems that all of them solved."""
        if contest.solved.all():
            return [one for one in self.summaries if one.name in contest.agents]
        every = {one.name: one for one in self.summaries}
        found = self.summarised(np.sort(contest.solved_by_all().rows, axis=None))
        return [replace(one, measures={**one.measures, **_worst(every[one.name])}) for one in found]

    def choices(self, limits: Sequence[float]) -> list[Choice]:
        """Return which agent to use under each limit; nothing if agents cannot be compared."""
        contest = self.contest
        if contest is None:
            return choices(self.common, limits)
        return choices(self.summaries, limits, lambda names: self._on(contest.only(names)))

    def values(self, name: str) -> dict[str, npt.NDArray[np.float64]]:
        """Return the numbers by which agents are compared in a measure: one per problem, in the same order for all.

        Agents that solved nothing are left out, unless there is a penalty; nothing is returned if agents cannot be
        compared.
        """
        if self.contest is None:
            return {}
        if self.penalty is not None and name in PENALISED:
            numbers = penalised(self.contest, self.column, name, self.penalty)
            return dict(zip(self.contest.agents, numbers, strict=True))
        common = self.contest.of_solvers().solved_by_all()
        return dict(zip(common.agents, self.column(name).astype(np.float64)[common.rows], strict=True))

    def best(self, name: str, statistic: str) -> frozenset[str]:
        """Return the agents to highlight: the best in a statistic of a measure, and all that are not worse than it.

        Means are compared problem by problem, quantiles by their intervals, and maxima as they are. No agent is
        highlighted if none is worse, or if they cannot be compared.
        """
        if self.contest is None or MEASURES[name].better is Better.NEITHER:
            return frozenset()
        if statistic == "mean":
            found = self.compared_in(name)
            return frozenset(found.not_worse) if found is not None else frozenset()
        known = [one for one in self.common if name in one.measures and not math.isnan(one[name].max)]
        return _unbeaten(known, name, statistic)


def _worst(summary: Summary) -> dict[str, Any]:
    """Return the measures that are shown by their worst case."""
    return {name: found for name, found in summary.measures.items() if MEASURES[name].headline is Headline.MAX}


def _unbeaten(known: Sequence[Summary], name: str, statistic: str) -> frozenset[str]:
    """Return the agent with the best quantile or maximum, and all agents whose intervals overlap with its own."""
    sign = -1.0 if MEASURES[name].better is Better.MORE else 1.0
    values = {one.name: sign * float(getattr(one[name], statistic)) for one in known}
    if not values:
        return frozenset()
    first = min(known, key=lambda one: values[one.name])
    if statistic in QUANTILES:
        end = first[name].interval(statistic)
        kept = {one.name for one in known if not _beyond(one[name].interval(statistic), end, sign)}
    else:
        kept = {one.name for one in known if values[one.name] == values[first.name]}
    return frozenset(kept) if len(kept) < len(known) else frozenset()


def _beyond(interval: tuple[float, float], other: tuple[float, float], sign: float) -> bool:
    """Return whether an interval is entirely worse than another."""
    return interval[0] > other[1] if sign > 0 else interval[1] < other[0]
