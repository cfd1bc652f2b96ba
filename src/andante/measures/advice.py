"""Advice on which agent to use: the one with the shortest paths among those within a limit on planning per move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from andante.errors import ParameterError
from andante.measures.contest import solved_by_all
from andante.measures.measure import MEASURES
from andante.measures.summary import Row, Summary, problem_mismatch, quality_of, summarise
from andante.world.heuristics import TOLERANCE

#: The limits on the states expanded before a move.
LIMITS = (1, 10, 100, 1_000, 10_000, math.inf)

_UNLIMITED = "Without a limit"
_EFFORT = "max_states_expanded"
_TIMES = {"suboptimality_ratio": "the optimal cost", "replanned_ratio": "the cost of replanned A*"}
_SIZE, _BUILT = "database_bytes", "build_seconds"


@dataclass(frozen=True)
class Choice:
    """The best agent under every limit from ``low`` to ``high``, or None if no agent stays within them."""

    low: float
    high: float
    best: Summary | None
    least_effort: Summary  # the agent with the least expensive worst move
    share_solved: float  # the share that an agent had to solve to be considered
    without_databases: bool = False  # among agents that use no database

    def __str__(self) -> str:
        if self.best is None:
            worst = MEASURES[_EFFORT].show(self.least_effort[_EFFORT].max)
            who = "that always arrived" if self.share_solved == 1.0 else f"that arrived in {self.share_solved:.1%}"
            return (
                f"{self._where}, no agent {who} fits: the least expensive worst move among them is {worst}, "
                f"by {self.least_effort.name}."
            )
        quality = quality_of(self.best.measures)
        numbers = self.best[quality]
        ratio = MEASURES[quality].show(numbers.mean, numbers.standard_error)
        walked = f"on {numbers.count:,} problem{'' if numbers.count == 1 else 's'} it walks {ratio}"
        worst = MEASURES[_EFFORT].show(self.best[_EFFORT].max)
        often = (
            ""
            if self.share_solved == 1.0
            else f"; it arrived in {self.share_solved:.1%} of the problems, and no other agent did more often; the "
            "mean is of those that all agents with this share solved"
        )
        return (
            f"{self._where}, use {self.best.name}: {walked} times {_TIMES[quality]}, "
            f"and its worst move expanded {worst}{often}{self._prepared}."
        )

    @property
    def _prepared(self) -> str:
        """A clause with the size and build time of its database; empty if it has none."""
        if self.best is None or not _looks_up(self.best):
            return ""
        known = _BUILT in self.best.measures and not math.isnan(self.best[_BUILT].max)
        time = f" and took {self.best.show(_BUILT, 'max')} to build" if known else ""
        return f"; its database holds {self.best.show(_SIZE, 'max')}{time}"

    @property
    def _where(self) -> str:
        where = self._within
        if not self.without_databases:
            return where
        joined = " and" if where == _UNLIMITED else ","
        return f"Without databases{joined} {where[0].lower()}{where[1:]}"

    @property
    def _within(self) -> str:
        if math.isfinite(self.high):
            return f"With at most {_count(self.high)} per move"
        if math.isinf(self.low) or self.best is None:
            return _UNLIMITED
        # It is best at `low` among all that stay within lower limits, so it is best at every limit that it stays
        # within.
        worst = self.best[_EFFORT].max
        return f"With a limit of at least {_count(worst)} per move" if worst > 0 else "Whatever the limit"


#: Returns the summaries of these agents on the problems that all of them solved.
Common = Callable[[Sequence[str]], Sequence[Summary]]


def choices(
    summaries: Iterable[Summary], limits: Sequence[float] = LIMITS, common: Common | None = None
) -> list[Choice]:
    """Return the best agent under each limit on the worst move; neighbouring limits with the same answer are merged.

    If that agent uses a database, the best one without a database follows after all these. Only agents that arrived as
    often as the best one are considered. Of those, the one with the lowest mean is chosen, and among equals the one
    with the less expensive worst move. If these did not always arrive, their means are over the problems that all of
    them solved, which ``common`` finds; without such problems there is no advice. Raise `ParameterError` if the agents
    were run on different problems.
    """
    known = [s for s in summaries if _EFFORT in s.measures and _quality(s) in s.measures and s[_quality(s)].count]
    if not known:
        return []
    if fault := problem_mismatch(known):
        raise ParameterError(f"{fault}; choose rows of one set of problems")
    share = max(s.share_solved for s in known)
    able = _on_common([s for s in known if s.share_solved == share], share, common)
    if not able:
        return []
    plain = [s for s in able if not _looks_up(s)]
    found = _choices(able, sorted(limits), share)
    looking_up = [one for one in found if one.best is not None and _looks_up(one.best)]
    rest = [limit for limit in sorted(limits) if any(one.low <= limit <= one.high for one in looking_up)]
    without = _choices(plain, rest, share) if plain else []
    return [*found, *(replace(one, without_databases=True) for one in without)]


def _on_common(able: list[Summary], share: float, common: Common | None) -> list[Summary]:
    """Return these agents with their suboptimality on the problems that all of them solved, if there are any."""
    if share == 1.0:
        return able
    if common is None:
        raise ParameterError("some problems were not solved, so means can be compared only on those that all solved")
    found = {one.name: one for one in common([one.name for one in able])}
    return [
        replace(one, measures={**one.measures, _quality(one): found[one.name][_quality(one)]})
        for one in able
        if one.name in found
    ]


def _choices(able: list[Summary], limits: Sequence[float], share: float) -> list[Choice]:
    """Return the best of these under each limit."""
    least = min(able, key=lambda s: s[_EFFORT].max)
    found: list[Choice] = []
    for limit in limits:
        best = _best([s for s in able if s[_EFFORT].max <= limit])
        if found and found[-1].best is best:
            found[-1] = replace(found[-1], high=limit)
        else:
            found.append(Choice(limit, limit, best, least, share))
    return found


def _looks_up(summary: Summary) -> bool:
    """Return whether the agent uses a database."""
    return _SIZE in summary.measures and summary[_SIZE].max > 0


def recommend(
    summaries: Iterable[Summary], limits: Sequence[float] = LIMITS, common: Common | None = None
) -> list[str]:
    """Return which agent to use under which limit on states expanded per move, one sentence per answer."""
    return [str(choice) for choice in choices(summaries, limits, common)]


def choices_of(rows: Sequence[Row], limits: Sequence[float] = LIMITS) -> list[Choice]:
    """Return the choices among the agents of these rows.

    >>> rows = [{"algorithm": name, "map": "arena", "start": k, "goal": 9, "solved": True, "suboptimality_ratio": ratio,
    ...          "max_states_expanded": 8} for name, ratio in (("lrta", 2.0), ("rta", 3.0)) for k in (0, 1)]
    >>> print(choices_of(rows, [10])[0])
    With at most 10 states expanded per move, use lrta: on 2 problems it walks 2.000 ± 0.000 times the optimal cost, \
and its worst move expanded 8.
    """
    return choices(summarise(rows), limits, lambda names: summarise(solved_by_all(rows, names)))


def _quality(summary: Summary) -> str:
    return quality_of(summary.measures)


def _best(candidates: list[Summary]) -> Summary | None:
    if not candidates:
        return None
    least = min(s[_quality(s)].mean for s in candidates)
    equals = [s for s in candidates if s[_quality(s)].mean <= least + TOLERANCE]
    return min(equals, key=lambda s: s[_EFFORT].max)


def _count(states: float) -> str:
    return f"{states:,.10g} state{'' if states == 1 else 's'} expanded"
