"""Runs of a candidate as a crowd, whose units share the time of a tick like the units of a game.

A crowd with fewer units than requested has proportionally less time in a tick and less memory. So candidates can be
compared on small crowds first, which take less time to run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import algorithms
from andante.databases.header import Database
from andante.episode.crowd import Crowd
from andante.episode.lanes import KEPT_SHARE, MEMORY
from andante.episode.run import Outfit, run_many
from andante.measures import Outcome, Row, capped_suboptimality_with_waits, suboptimality_ratio
from andante.selection.requirements import Requirements
from andante.selection.trials import SCORE
from andante.world.grid import Grid, cells_of
from andante.world.heuristics import DIAGONAL
from andante.world.layout import Moves
from andante.world.problem import Problem

#: A crowd is stopped after this many times the moves of the longest of its cheapest paths.
TICK_CAP = 10

#: The fewest bytes that a crowd can be given for its units.
LEAST_MEMORY = 1e6

_WALKING = int(Outcome.WALKING)
_SLOW = 0.99  # the quantile of ticks that is shown beside the median
_MB = 1e6

Numbers = npt.NDArray[np.int64]


class _March(NamedTuple):
    """The result of a crowd: the ends of the units' walks, their waits, and the time and memory of ticks."""

    ended: Numbers  # [units]
    waited: Numbers  # [units]
    microseconds: list[float]  # of each tick
    most_bytes: int  # the most that all units used after a tick
    restarts: int


@dataclass
class Crowds:
    """Runs of candidates as crowds with the size, time and memory of the requirements."""

    requirements: Requirements
    #: The fixed bytes of each unit and of the rest, by algorithm, databases and map.
    _fixed: dict[tuple[Any, ...], tuple[int, int]] = field(default_factory=dict)

    def rows(self, outfit: Outfit[Database], name: str, problems: Sequence[Problem], cap: float) -> list[Row]:
        """Return a row for each problem, in their order; each is walked by a unit of a crowd.

        There is a crowd for each map, and several if there are more problems on it than units. ``cap`` is the ratio for
        a unit that did not arrive; ``name`` is for the column `algorithm`.
        """
        found: dict[int, Row] = {}
        for part in self._parts(problems):
            rows = self._run(outfit, [problems[k] for k in part], cap)
            for k, row in zip(part, rows, strict=True):
                found[k] = {"algorithm": name, "problem": k, **row}
        return [found[k] for k in range(len(problems))]

    def _parts(self, problems: Sequence[Problem]) -> Iterator[list[int]]:
        """Yield the numbers of the problems of each crowd, which are on one map, as many as units or finally fewer."""
        units = self.requirements.units
        assert units is not None
        by_map: dict[int, list[int]] = {}
        for k, problem in enumerate(problems):
            by_map.setdefault(id(problem.graph), []).append(k)
        for numbers in by_map.values():
            for first in range(0, len(numbers), units):
                yield numbers[first : first + units]

    def _run(self, outfit: Outfit[Database], problems: Sequence[Problem], cap: float) -> list[Row]:
        """Run one crowd, and return a row for each of its units."""
        asked, grid = self.requirements, problems[0].grid
        assert asked.units is not None
        assert grid is not None
        mine = [one for one in outfit.databases if one.serves(grid.graph)]
        each, desk = self._fixed_bytes(outfit, mine, problems[0])
        taken = desk + sum(one.nbytes for one in mine)
        room = MEMORY if asked.total_memory is None else max(LEAST_MEMORY, asked.total_memory - taken)
        share = len(problems) / asked.units
        needed = len(problems) * each / (1 - KEPT_SHARE)  # if it is too much, the rows will show it
        crowd = Crowd(outfit.algorithm, grid, databases=mine, memory=max(LEAST_MEMORY, share * room, needed))
        starts, goals = (cells_of([getattr(p, end) for p in problems], grid.width) for end in ("start", "goal"))
        crowd.add(starts, goals)
        shortest = moves_of_optimal_paths(problems)
        budget = None if asked.tick_ms is None else share * 1000.0 * asked.tick_ms
        march = _march(crowd, budget, TICK_CAP * int(shortest.max()))
        whole = {
            "crowd_units": len(problems),
            "crowd_bytes": taken + (asked.units - len(problems)) * each + march.most_bytes,
            "mind_bytes": room,
            "crowd_restarts": march.restarts,
            "tick_microseconds": float(np.median(march.microseconds)),
            "slow_tick_microseconds": float(np.quantile(march.microseconds, _SLOW)),
        }
        return [{**row, **whole} for row in _unit_rows(crowd, problems, march, shortest, cap)]

    def _fixed_bytes(
        self, outfit: Outfit[Database], databases: Sequence[Database], problem: Problem
    ) -> tuple[int, int]:
        """Return the bytes that each unit takes before it has learned anything, and those of the rest of the crowd."""
        grid = problem.grid
        assert grid is not None
        key = (str(outfit.algorithm), *(one.kind for one in databases), grid.fingerprint)
        if key not in self._fixed:
            bare = Crowd(outfit.algorithm, grid, databases=databases, memory=LEAST_MEMORY)
            bare.add(grid.cell(problem.start), grid.cell(problem.goal))
            self._fixed[key] = bare.unit_bytes, bare.memory_bytes - bare.unit_bytes
        return self._fixed[key]


def _march(crowd: Crowd, microseconds: float | None, most: int) -> _March:
    """Run a crowd until all units have ended, or for ``most`` ticks; without a budget, all units move in each tick."""
    walking = crowd.outcomes == _WALKING
    ended, waited = np.zeros(len(crowd), np.int64), np.zeros(len(crowd), np.int64)
    times: list[float] = []
    most_bytes = restarts = 0
    while walking.any() and len(times) < most:
        before = crowd.states.copy()
        tick = crowd.tick(microseconds=microseconds)
        times.append(tick.microseconds)
        most_bytes, restarts = max(most_bytes, tick.bytes), restarts + tick.restarted
        waited += walking & (crowd.states == before)
        still = crowd.outcomes == _WALKING
        ended[walking & ~still] = tick.number
        walking = still
    ended[walking] = len(times)
    return _March(ended, waited, times, most_bytes, restarts)


def _unit_rows(
    crowd: Crowd, problems: Sequence[Problem], march: _March, shortest: Numbers, cap: float
) -> Iterator[Row]:
    outcomes = [Outcome.TICK_CAP if one == _WALKING else Outcome(one) for one in crowd.outcomes.tolist()]
    optima = [_optimal_cost(problem) for problem in problems]
    names = [outcome.name for outcome in outcomes]
    scores = capped_suboptimality_with_waits(crowd.costs, march.waited, optima, names, cap).tolist()
    for k, problem in enumerate(problems):
        grid, cost, moves, expanded = problem.grid, float(crowd.costs[k]), int(crowd.moves[k]), int(crowd.expanded[k])
        ticks, waited = int(march.ended[k]), int(march.waited[k])
        assert isinstance(grid, Grid)
        yield {
            "map": grid.name,
            "start": problem.start,
            "goal": problem.goal,
            "outcome": names[k],
            "solved": outcomes[k] is Outcome.GOAL,
            "optimal_cost": optima[k],
            "cost": cost,
            "suboptimality_ratio": suboptimality_ratio(cost, optima[k], outcomes[k]),
            "moves": moves,
            "ticks": ticks,
            "turns_waited": waited,
            SCORE: scores[k],
            "arrival_ratio": ticks / int(shortest[k]) if outcomes[k] is not Outcome.STUCK else math.nan,
            "waiting_share": waited / max(ticks, 1),
            "states_expanded": expanded,
            "states_expanded_per_move": expanded / max(moves, 1),
        }


def _optimal_cost(problem: Problem) -> float:
    assert problem.optimal_cost is not None  # problems are drawn with their optimal costs
    return problem.optimal_cost


def moves_of_optimal_paths(problems: Sequence[Problem]) -> Numbers:
    """Return the number of moves of a cheapest path of each problem, by walking one if costs do not determine it."""
    if all(isinstance(problem.graph.arrays, Moves) for problem in problems):
        return shortest_moves([_optimal_cost(problem) for problem in problems])
    optimal = next(entry for entry in algorithms() if entry.card.optimal and not entry.needs)
    return np.array([trial.moves for trial in run_many(optimal, problems, paths=False)], np.int64)


def shortest_moves(costs: Sequence[float]) -> Numbers:
    """Return the number of moves of a path of each of these costs on a grid whose cells all cost 1.

    A path of a straight and b diagonal moves costs a + b √2, and because √2 is irrational, only one pair fits a cost.

    >>> shortest_moves([7.0, 3 + 2 * DIAGONAL]).tolist()
    [7, 5]
    """
    found = []
    for cost in costs:
        diagonal = np.arange(int(cost / DIAGONAL + 0.5) + 1)
        straight = cost - diagonal * DIAGONAL
        b = int(np.argmin(np.abs(straight - np.round(straight)) + (straight < -0.5)))
        found.append(b + round(float(straight[b])))
    return np.array(found, np.int64)


def crowd_code(options: Sequence[str], algorithm: str, mind_bytes: float) -> str:
    """Return the line of Python that makes a crowd whose units use at most this many bytes.

    >>> crowd_code(["databases=[moves]"], "cpd", 94_290_000.0)
    "andante.Crowd('cpd', grid, databases=[moves], memory=94.2e6)"
    """
    memory = [] if mind_bytes == MEMORY else [f"memory={math.floor(mind_bytes / _MB * 10) / 10:g}e6"]
    return f"andante.Crowd({', '.join([repr(algorithm), 'grid', *options, *memory])})"
