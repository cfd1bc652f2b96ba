"""Comparisons of agents: paired by problem, over maps, corrected for the number of comparisons.

`compare` takes agents on the same problems. Each difference has its own interval (`resampled`). An agent is called
*better* than another only if that interval excludes 0 and a paired t-test over clusters still rejects equality after
Holm's (1979) correction for all pairs of agents. So the probability that even one "better" is wrong is below `DOUBT`.
On fewer than `FEWEST` problems no agent is called better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, real_number
from andante.measures.clusters import FEWEST_TO_RESAMPLE, Clusters, Interval, Over, Values, chance_of, resampled
from andante.measures.contest import Contest
from andante.measures.measure import Better, measure
from andante.measures.suboptimality import capped_replanned_ratio, capped_suboptimality_ratio
from andante.measures.summary import Row, quality_of

DOUBT = 0.05  # the probability that any agent is wrongly called better
FEWEST = 8  # problems, below which no agent is called better
MOST_PAIRED = 12  # agents, above which each is compared only with the best

#: For each measure the one with a number for trials that did not arrive, the cost it divides by, and its function.
PENALISED = {
    "suboptimality_ratio": ("capped_suboptimality_ratio", "optimal_cost", capped_suboptimality_ratio),
    "replanned_ratio": ("capped_replanned_ratio", "replanned_cost", capped_replanned_ratio),
}


class Difference(NamedTuple):
    """The difference of two agents' numbers on the same problems, the first minus the second."""

    first: str
    second: str
    mean: float
    interval: Interval
    chance: float  # the probability of a mean at least this far from 0 if there is no difference, not corrected


@dataclass(frozen=True)
class Comparison:
    """Agents compared in one measure on the same problems, the best first."""

    measure: str
    agents: tuple[str, ...]  # the agents that were compared, best first
    means: tuple[float, ...]
    problems: int  # on which they were compared ...
    of: int  # ... of this many
    common: int  # problems that all agents solved or, with a penalty, all; some may have no number to compare
    solved: dict[str, int]  # the number of problems that each agent solved, including agents that were not compared
    penalty: float | None  # the number for a trial that did not arrive; None if only problems that all solved count
    clusters: int  # the number of maps or problems that intervals are over ...
    over: str  # ... in words
    differences: tuple[Difference, ...]  # of all pairs or, with many agents, of the best and each other one
    better: frozenset[tuple[str, str]]  # pairs of agents of which the first is better than the second

    @property
    def not_worse(self) -> tuple[str, ...]:
        """The best agent and all that it is not better than; empty if these are all agents."""
        found = tuple(name for name in self.agents if (self.agents[0], name) not in self.better)
        return found if len(found) < len(self.agents) else ()

    def from_best(self, name: str) -> Difference:
        """Return the difference between an agent and the best."""
        return next(one for one in self.differences if (one.first, one.second) == (name, self.agents[0]))

    def worse_than(self, name: str) -> tuple[str, ...]:
        """Return the agents that this one is better than."""
        return tuple(other for other in self.agents if (name, other) in self.better)

    @property
    def ground(self) -> str:
        """Sentences about the problems and agents that were compared."""
        lost = [name for name, solved in self.solved.items() if not solved]
        found = []
        if self.penalty is not None:
            found.append(
                f"Compared on all {_problems(self.of)}: an agent that did not arrive, or walked further, counts as "
                f"{self.penalty:g} {measure(self.measure).unit}."
            )
        elif not self.common:
            found.append(
                f"Not compared: of {_problems(self.of)} none was solved by all agents that arrived at all. Give a "
                "penalty for trials that did not arrive, or leave out agents that rarely do."
            )
        elif self.common == self.of:
            found.append(f"Compared on {_problems(self.of)}, all solved by {_all(len(self.agents))} agents.")
        else:
            found.append(
                f"Compared on the {self.common:,} of {_problems(self.of)} that {_all(len(self.agents))} agents solved"
                f" ({_fewest(self.solved, self.of)})."
            )
        if unknown := self.common - self.problems:
            title = measure(self.measure).title
            found.append(
                f"Of these, {_problems(unknown)} for which not all agents have an exact number ({title}) "
                f"{'is' if unknown == 1 else 'are'} left out."
            )
        if lost and self.penalty is None:
            found.append(f"Not compared, because they solved nothing: {_listed(lost)}.")
        return " ".join(found)

    @property
    def method(self) -> str:
        """Sentences about the method of comparison."""
        if len(self.agents) < 2 or not self.problems:
            return ""
        pairs = math.comb(len(self.agents), 2)
        corrected = "" if pairs == 1 else f" with Holm's correction for {pairs:,} pairs of agents"
        sure = f"{DOUBT * 100:g} %"
        kind = "bootstrap" if self.clusters >= FEWEST_TO_RESAMPLE else "Student's t"
        return (
            f"Differences are paired by problem, with 95 % {kind} intervals over {self.over}. Better means that this "
            f"interval excludes 0 and that a paired t-test over {self.over} rejects equality at {sure}{corrected}."
        )

    @property
    def verdicts(self) -> list[str]:
        """One sentence for each agent that is better than others."""
        if len(self.agents) < 2 or not self.problems:
            return []
        if self.problems < FEWEST:
            return [f"On fewer than {FEWEST} problems no agent is called better than another."]
        title = measure(self.measure).title.lower()
        if not self.better:
            return [f"No agent is clearly better than another in {title}."]
        if len(self.agents) > MOST_PAIRED:
            equal = [name for name in self.not_worse if name != self.agents[0]]
            beside = f"; not clearly worse: {_listed(equal)}" if equal else ""
            count = len(self.worse_than(self.agents[0]))
            others = f"{count:,} of {len(self.agents) - 1:,} others"
            return [f"{self.agents[0]} is better than {others} in {title}{beside}."]
        worse = [(name, self.worse_than(name)) for name in self.agents]
        return [f"{name} is better than {_listed(than)} in {title}." for name, than in worse if than]


def compare(
    contest: Contest,
    column: Callable[[str], npt.NDArray[Any]],
    name: str,
    *,
    penalty: float | None = None,
    over: Over = "maps",
) -> Comparison:
    """Compare agents in a measure, on the problems that all solved or, with a penalty, on all problems.

    ``column`` returns a column of the contest's rows. The penalty is the number for a trial that did not arrive, as a
    multiple of the optimal cost or, in scenes, of the cost of replanned A*. With a penalty, the measure is the capped
    one of `PENALISED`. Without a penalty, agents that solved nothing are not compared.

    >>> rng = np.random.default_rng(1)
    >>> rows = [{"algorithm": name, "map": f"map {k % 9}", "start": k, "goal": 0, "solved": True, "cost": more + cost}
    ...         for name, more in (("slow", 2.0), ("quick", 0.0)) for k, cost in enumerate(rng.exponential(size=90))]
    >>> compare_rows(rows, "cost").verdicts
    ['quick is better than slow in cost.']
    """
    check_penalty(penalty)
    if penalty is not None and name not in PENALISED:
        raise ParameterError(f"a penalty is in times the optimal cost, so {name} cannot be compared with one")
    better = measure(name).better
    if better is Better.NEITHER:
        raise ParameterError(f"{name} has no better direction, so agents cannot be compared by it")
    ground = contest if penalty is not None else contest.of_solvers().solved_by_all()
    numbers = (
        column(name).astype(np.float64)[ground.rows] if penalty is None else penalised(ground, column, name, penalty)
    )
    name = name if penalty is None else PENALISED[name][0]
    known = np.isfinite(numbers).all(axis=0)
    if measure(name).bounded_by:  # lower bounds cannot be compared
        known &= ~column(measure(name).bounded_by).astype(bool)[ground.rows].any(axis=0)
    numbers, maps = numbers[:, known], ground.maps[known]
    solved = dict(zip(contest.agents, contest.solved.sum(axis=1).tolist(), strict=True))
    if not numbers.size:
        return Comparison(
            name, ground.agents, (), 0, contest.problems, ground.problems, solved, penalty, 0, "", (), frozenset()
        )
    sign = -1.0 if better is Better.MORE else 1.0
    order = np.argsort(sign * numbers.mean(axis=1), kind="stable")
    numbers, agents = numbers[order], tuple(ground.agents[k] for k in order)
    clusters = Clusters.of(maps, over)
    differences = _differences(agents, numbers, clusters)
    means = tuple(numbers.mean(axis=1).tolist())
    found = _better(differences, math.comb(len(agents), 2), sign) if numbers.shape[1] >= FEWEST else set()
    return Comparison(
        name,
        agents,
        means,
        numbers.shape[1],
        contest.problems,
        ground.problems,
        solved,
        penalty,
        clusters.count,
        str(clusters),
        tuple(differences),
        frozenset(found),
    )


def check_penalty(penalty: float | None) -> None:
    """Raise `ParameterError` unless this is a penalty, as a multiple of the optimal cost, or None."""
    if penalty is not None and math.isinf(real_number(penalty, "the penalty", least=1.0)):
        raise ParameterError("the penalty must be finite, because it is the number for a trial that did not arrive")


def penalised(ground: Contest, column: Callable[[str], npt.NDArray[Any]], name: str, penalty: float) -> Values:
    """Return the numbers of a contest's trials in a measure, with a penalty for those that did not arrive."""
    _, divided_by, capped = PENALISED[name]
    cost, least, outcome = (column(one)[ground.rows] for one in ("cost", divided_by, "outcome"))
    return capped(cost, least, outcome, penalty)


def compare_rows(
    rows: Sequence[Row],
    name: str | None = None,
    *,
    by: str = "algorithm",
    penalty: float | None = None,
    over: Over = "maps",
) -> Comparison | None:
    """Compare the agents of these rows as `compare` does; return None if the rows do not identify their problems.

    The default measure is the suboptimality of agents (`quality_of`).
    """
    contest = Contest.of_rows(rows, by)
    if contest is None:
        return None

    def column(wanted: str) -> npt.NDArray[Any]:
        return np.array([row.get(wanted, math.nan) for row in rows])

    wanted = name if name is not None else quality_of({key for row in rows for key in row})
    return compare(contest, column, wanted, penalty=penalty, over=over)


def _differences(agents: Sequence[str], numbers: Values, clusters: Clusters) -> list[Difference]:
    """Return the differences of all pairs, the worse minus the better, or of each agent from the first."""
    last = len(agents) if len(agents) <= MOST_PAIRED else min(len(agents), 1)
    pairs = [(worse, best) for best in range(last) for worse in range(best + 1, len(agents))]
    if not pairs:
        return []
    worse, best = (list(side) for side in zip(*pairs, strict=True))
    found = resampled(numbers[worse] - numbers[best], clusters)
    return [
        Difference(agents[a], agents[b], one.mean, one.interval, chance_of(one.mean, one.error, clusters.count - 1))
        for a, b, one in zip(worse, best, found, strict=True)
    ]


def _better(differences: Sequence[Difference], pairs: int, sign: float) -> set[tuple[str, str]]:
    """Return the pairs of which the first is better, by Holm's correction for ``pairs`` pairs."""
    held = holm([one.chance for one in differences], DOUBT, pairs)
    return {
        (one.second, one.first) if sign * one.mean > 0 else (one.first, one.second)
        for one, rejected in zip(differences, held, strict=True)
        if rejected and one.interval.excludes(0.0)
    }


def holm(chances: Sequence[float], doubt: float = DOUBT, of: int | None = None) -> list[bool]:
    """Return which hypotheses are rejected, such that the probability of any wrong rejection is at most ``doubt``.

    Holm (1979): the smallest p-value is compared with ``doubt`` divided by the number of hypotheses, the next with
    ``doubt`` divided by one less, until one is too large. ``of`` is the number of all hypotheses that might have been
    tested, if these were picked from more.

    >>> holm([0.04, 0.01, 0.02]), holm([0.04, 0.01, 0.03])
    ([True, True, True], [False, True, False])
    """
    total = len(chances) if of is None else of
    rejected = [False] * len(chances)
    for done, k in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        if chances[k] > doubt / (total - done):
            break
        rejected[k] = True
    return rejected


def clearly_less(
    table: Sequence[Values], noise: Sequence[float] = (), clusters: Clusters | None = None
) -> set[tuple[int, int]]:
    """Return the pairs (a, b) for which the mean of row a of the table is clearly less than that of row b.

    Every pair is compared by a paired t-test with Holm's correction. ``noise`` is the error of the mean of each row
    that all its numbers have in common, such as that of a crowd whose ticks were interrupted. It cannot be
    distinguished from a difference by looking at problems, and a bootstrap does not detect it.

    >>> few = np.random.default_rng(1).exponential(size=(3, 50)) + np.array([[1.0], [1.1], [9.0]])
    >>> sorted(clearly_less(few))
    [(0, 2), (1, 2)]
    """
    if not len(table) or len(table[0]) < FEWEST:
        return set()
    common = noise or [0.0] * len(table)
    pairs = list(combinations(range(len(table)), 2))
    found = [difference(table[a], table[b], math.hypot(common[a], common[b]), clusters) for a, b in pairs]
    freedom = (len(table[0]) if clusters is None else clusters.count) - 1
    held = holm([chance_of(mean, error, freedom) for mean, error in found])
    return {
        pair if mean < 0 else pair[::-1]
        for pair, (mean, _), rejected in zip(pairs, found, held, strict=True)
        if rejected
    }


def difference(
    scores: Values, other: Values, noise: float = 0.0, clusters: Clusters | None = None
) -> tuple[float, float]:
    """Return the mean of the differences on the same problems, and its standard error.

    ``noise`` is the error that all differences have in common.
    """
    apart = scores - other
    alike = clusters if clusters is not None else Clusters.of(np.zeros(len(apart)))
    spread = alike.error(apart)
    return float(apart.mean()), math.inf if math.isnan(spread) else math.hypot(spread, noise)


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {count:,}"


def _problems(count: int) -> str:
    return f"{count:,} problem{'' if count == 1 else 's'}"


def _fewest(solved: dict[str, int], of: int) -> str:
    """Return the agent that solved fewest problems, among those that solved any."""
    name = min((one for one in solved if solved[one]), key=solved.__getitem__)
    return f"the fewest were solved by {name}: {solved[name]:,} of {of:,}"


def _listed(names: Sequence[str]) -> str:
    """Return names as a list in words.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
