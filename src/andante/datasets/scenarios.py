"""Problems on a map: random ones within a band of optimal cost, and the optimal costs of given ones.

The papers choose start and goal at random and keep the pair if its optimal cost is in a band: buckets of ten from 50
to 100 (Bulitko et al. 2007), 90 to 100 (Bulitko et al. 2008, before the map is enlarged), 230 to 320 (Björnsson et al.
2009), 100 to 150 (Bulitko and Björnsson 2009). So each ordered pair of states in the band is equally likely, both there
and here. Choosing a random start, and then a random goal within the band, would favour starts with few goals in the
band.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.datasets import ProgressCallback, cache
from andante.errors import ParameterError, ProblemError, expect, whole_number
from andante.machine import cores
from andante.search.astar import optimal_costs
from andante.search.dijkstra import Field, spread
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.heuristics import distances_between
from andante.world.layout import Csr, GridArrays, stride
from andante.world.problem import Problem, checked_problems

States = npt.NDArray[np.int64]
Pairs = dict[tuple[int, int], float]  # start and goal, with the cost between them

_DRAWS = 2**14  # pairs drawn at a time; most are discarded without a search
_SEARCHES = 64  # pairs searched at a time, of those that are not discarded
_BATCH = 256  # problems solved between two reports of progress
_LEAST_YIELD = 0.05  # share of searches that must find a pair in the band; below it, whole distance fields are cheaper
_POOL = 200  # starts whose distance fields are computed at a time
_MOST_STARTS = 1000  # distance fields computed before giving up on a band as too narrow
_WORTH_KEEPING = 20  # fewer optimal costs than this are computed again rather than cached


class Band(NamedTuple):
    """Costs from ``low`` up to, but not including, ``high``."""

    low: float
    high: float

    @classmethod
    def of(cls, optimal_cost: tuple[float, float]) -> Band:
        """Return the band with these two bounds; raise `ParameterError` if no cost can be in it."""
        try:
            low, high = optimal_cost
            possible = 0 <= low < high
        except (TypeError, ValueError):  # not a pair of numbers
            possible = False
        if not possible:
            raise ParameterError(f"optimal_cost must be a band (low, high) with 0 <= low < high, not {optimal_cost!r}")
        return cls(low, high)

    def holds(self, costs: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return a mask of the costs in the band; zero, the cost of staying, is never in it."""
        return (costs >= self.low) & (costs < self.high) & (costs > 0)


# --- drawing problems -----------------------------------------------------------------------------------------------


def random_problems(
    grid: Grid | Graph, count: int, *, optimal_cost: tuple[float, float] = (0.0, float("inf")), seed: int = 0
) -> list[Problem]:
    """Return ``count`` different problems on a map or graph, each with an optimal cost from low up to below high.

    All such problems are equally likely, and their optimal costs are set. Raises `ProblemError` if the map has too few
    of them, or so few that they are not found.

    >>> from andante.datasets.generate import generate
    >>> problems = random_problems(generate("empty", 9, 9), 10, optimal_cost=(5, 6))
    >>> len(problems), all(5 <= problem.optimal_cost < 6 for problem in problems)
    (10, True)
    """
    expect(grid, Grid | Graph, "random problems need a Grid or a Graph, as andante.read_map returns")
    band = Band.of(optimal_cost)
    count = whole_number(count, "the number of problems", least=0, error=ParameterError)
    seed = whole_number(seed, "seed", least=0, error=ParameterError)
    rng = np.random.default_rng(seed)
    pairs: Pairs = {}
    _draw_by_search(grid, band, count, rng, pairs)
    if len(pairs) < count:
        _draw_from_fields(grid, band, count, rng, pairs)
    behind = grid if isinstance(grid, Grid) else None
    return [Problem(grid.graph, start, goal, behind, cost) for (start, goal), cost in list(pairs.items())[:count]]


def _free(world: Grid | Graph) -> States:
    """Return the states that an agent may be in: free cells of a map, or states of a graph that have an arc."""
    if isinstance(world, Grid):
        return np.flatnonzero(world.passable)
    arrays = world.csr().arrays
    assert isinstance(arrays, Csr)
    leaving = np.diff(arrays.first) > 0
    entered = np.bincount(arrays.neighbour, minlength=len(world)) > 0
    return np.flatnonzero(leaving | entered)


def _draw_by_search(grid: Grid | Graph, band: Band, count: int, rng: np.random.Generator, pairs: Pairs) -> None:
    """Draw pairs and search them, which is fast if enough of the pairs that are close enough are in the band."""
    fruitless = 0
    while len(pairs) < count and fruitless < 4:
        starts, goals = _candidates(grid, band, rng)
        costs = optimal_costs(grid.graph, starts, goals, threads=cores())
        before = len(pairs)
        for k in np.flatnonzero(band.holds(costs)):
            pairs.setdefault((int(starts[k]), int(goals[k])), float(costs[k]))
        fruitless = fruitless + 1 if len(pairs) - before <= _LEAST_YIELD * len(starts) else 0


def _candidates(grid: Grid | Graph, band: Band, rng: np.random.Generator) -> tuple[States, States]:
    """Return random pairs of connected free cells whose heuristic distance is below the band's upper bound."""
    free = _free(grid)
    if len(free) == 0:
        raise ProblemError(f"{grid.name} has no {'free cells' if isinstance(grid, Grid) else 'edges'}")
    starts, goals = free[rng.integers(len(free), size=(2, _DRAWS))]
    label = grid.graph.components
    possible = (label[starts] == label[goals]) & (_estimates(grid.graph, starts, goals) < band.high) & (starts != goals)
    return starts[possible][:_SEARCHES], goals[possible][:_SEARCHES]


def _estimates(graph: Graph, starts: States, goals: States) -> npt.NDArray[np.float64]:
    """Return the heuristic between the states of each pair."""
    moves = graph.arrays
    if not isinstance(moves, GridArrays):
        return distances_between(graph.points[starts], graph.points[goals], graph.metric)
    dx, dy = (np.abs(axis[starts].astype(np.int64) - axis[goals]) for axis in (moves.x, moves.y))
    near, far = np.minimum(dx, dy), np.maximum(dx, dy)
    estimates: npt.NDArray[np.float64] = (far - near) * stride(moves) + near * moves.diagonal
    return estimates


def _draw_from_fields(grid: Grid | Graph, band: Band, count: int, rng: np.random.Generator, pairs: Pairs) -> None:
    """Count the goals in the band from many random starts, and draw uniformly from all those pairs."""
    order = rng.permutation(_free(grid))[:_MOST_STARTS]
    two_way = grid.graph.reversed() is grid.graph
    field, goals_of, longest = Field.over(grid.graph), np.zeros(0, np.int64), 0.0
    while len(goals_of) < len(order) and goals_of.sum() < 20 * count:
        if len(goals_of) and two_way and band.low > 2 * longest:
            break  # by the triangle inequality, no two states are further apart than twice the longest distance
        counts = []
        for start in order[len(goals_of) : len(goals_of) + _POOL]:
            reached = field.order[: spread(field, grid.graph, int(start))]
            counts.append(np.count_nonzero(band.holds(field.distance)))
            longest = max(longest, float(field.distance[reached].max()))
        goals_of = np.concatenate([goals_of, counts])
    total = int(goals_of.sum())
    chosen = rng.choice(total, size=min(total, count), replace=False) if total else np.zeros(0, np.int64)
    for start, goal, cost in _chosen_pairs(grid, band, order[: len(goals_of)], goals_of, chosen):
        pairs.setdefault((start, goal), cost)
    if len(pairs) < count:
        raise ProblemError(
            f"found only {len(pairs)} of {count} problems with an optimal cost from {band.low:g} to {band.high:g} on "
            f"{grid.name}, where the costs seen go up to {longest:.1f}; widen the band or ask for fewer problems"
        )


def _chosen_pairs(
    grid: Grid | Graph, band: Band, starts: States, goals_of: States, chosen: States
) -> Iterator[tuple[int, int, float]]:
    """Return the ``chosen`` pairs, numbered through all goals of all starts, in this order."""
    ends = np.cumsum(goals_of)
    which = np.searchsorted(ends, chosen, side="right")
    found: dict[int, tuple[int, int, float]] = {}
    field = Field.over(grid.graph)
    for k in np.unique(which):
        spread(field, grid.graph, int(starts[k]))
        goals = np.flatnonzero(band.holds(field.distance))
        for number in chosen[which == k]:
            goal = goals[number - (ends[k] - goals_of[k])]
            found[int(number)] = (int(starts[k]), int(goal), float(field.distance[goal]))
    return (found[int(number)] for number in chosen)


# --- optimal costs --------------------------------------------------------------------------------------------------


def with_optimal_costs(
    problems: Iterable[Problem], *, progress: ProgressCallback | None = None, threads: int | None = None
) -> list[Problem]:
    """Return the same problems, each with the cost of a cheapest path, which is infinite if there is no path.

    Costs are computed once and kept in the user's cache.
    """
    known = checked_problems(problems)
    todo: dict[int, list[int]] = {}
    for place, problem in enumerate(known):
        if problem.known_cost is None:
            todo.setdefault(id(problem.graph), []).append(place)
    done, total = 0, sum(len(places) for places in todo.values())
    for places in todo.values():
        for part, costs in _costs_in_parts([known[place] for place in places], threads or cores()):
            for place, cost in zip(places[part], costs, strict=True):
                known[place] = known[place].with_optimal_cost(float(cost))
            done += len(costs)
            if progress is not None:
                progress("finding optimal costs", done, total)
    return known


def _costs_in_parts(problems: Sequence[Problem], threads: int) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
    """Yield the optimal costs of problems on one graph in parts."""
    graph = problems[0].graph
    starts = np.array([problem.start for problem in problems], np.int64)
    goals = np.array([problem.goal for problem in problems], np.int64)
    kept = cache.kept_costs(graph, starts, goals) if len(problems) >= _WORTH_KEEPING else None
    if kept is not None:
        yield slice(None), kept
        return
    costs = np.empty(len(problems))
    for first in range(0, len(problems), _BATCH):
        part = slice(first, first + _BATCH)
        costs[part] = optimal_costs(graph, starts[part], goals[part], threads=threads)
        yield part, costs[part]
    if len(problems) >= _WORTH_KEEPING:
        cache.keep_costs(graph, starts, goals, costs)
