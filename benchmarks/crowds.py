"""The speed and the memory of crowds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import andante
from andante.episode.crowdresult import Pace
from andante.episode.crowdrun import run_crowd
from andante.world.grid import Grid, cells_of
from andante.world.problem import Problem

UNITS, ROUNDS = 1000, 5
BODIES = 2000
MINDS, SHARERS = 100, 200  # units whose memory is measured; units that learn together
FIRST, TICKS = 20, 50  # ticks that are not measured, because memory is touched for the first time; measured ticks
SETTLED = Pace(expansions=100 * UNITS, ticks=3000)  # enough for most units to learn most of what they will learn

Cells = npt.NDArray[np.int64]


def random_cells(grid: Grid, count: int, seed: int, *, apart: bool = False) -> Cells:
    """Draw connected cells; with ``apart``, no cell is drawn twice."""
    labels = grid.graph.components
    free = np.flatnonzero(grid.passable.ravel())
    largest = free[labels[free] == np.bincount(labels[free]).argmax()]
    return cells_of(np.random.default_rng(seed).choice(largest, count, replace=not apart), grid.width)


def made(algorithm: str, grid: Grid, units: int = UNITS, **how: Any) -> andante.Crowd:
    """Make a crowd whose units have long paths, and run its first ticks."""
    crowd = andante.Crowd(algorithm, grid, **how)
    apart = how.get("bodies", False)
    crowd.add(random_cells(grid, units, seed=1, apart=apart), random_cells(grid, units, seed=2, apart=apart))
    for _ in range(FIRST):
        crowd.tick()
    return crowd


def units_per_millisecond(algorithm: str, grid: Grid, databases: Sequence[Any] = ()) -> float:
    """Return how many units move in a millisecond of one core, including everything that a tick does."""
    return max(_moved(made(algorithm, grid, databases=databases), time.process_time) for _ in range(ROUNDS)) / 1000


def speedup(algorithm: str, grid: Grid) -> float:
    """Return the speed of two threads relative to one, with the same two lanes."""
    one, two = (
        max(_moved(made(algorithm, grid, lanes=2, threads=threads), time.perf_counter) for _ in range(ROUNDS))
        for threads in (1, 2)
    )
    return two / one


def body_seconds(algorithm: str, grid: Grid, databases: Sequence[Any] = ()) -> float:
    """Return the time of the longest tick of many units with bodies, which all plan, in the best round."""
    found = []
    for _ in range(ROUNDS):
        crowd = made(algorithm, grid, BODIES, bodies=True, databases=databases)
        found.append(max(took for took, _ in _ticks(crowd, time.process_time)))
    return min(found)


def _moved(crowd: andante.Crowd, clock: Callable[[], float]) -> float:
    """Return how many units move in a second of this clock."""
    took, moved = np.sum(list(_ticks(crowd, clock)), axis=0)
    return float(moved / took)


def _ticks(crowd: andante.Crowd, clock: Callable[[], float]) -> Iterator[tuple[float, int]]:
    """Yield the time of each tick and the number of units that move in it, while at least half of the units walk."""
    for _ in range(TICKS):
        began = clock()
        tick = crowd.tick()
        yield clock() - began, tick.moved
        if 2 * tick.moved < len(crowd):
            return


def add_seconds(algorithm: str, grid: Grid) -> float:
    """Return the time to add all units to a crowd."""
    starts, goals = random_cells(grid, UNITS, seed=1), random_cells(grid, UNITS, seed=2)
    found = []
    for _ in range(ROUNDS):
        crowd = andante.Crowd(algorithm, grid)
        began = time.process_time()
        crowd.add(starts, goals)
        found.append(time.process_time() - began)
    return min(found)


def memory_bytes(algorithm: str, grid: Grid) -> int:
    """Return the most memory that a crowd uses; its limit is far above that."""
    return run_crowd(andante.find(algorithm), _problems(grid, UNITS), SETTLED, memory=4e9).memory_bytes


def _problems(grid: Grid, count: int) -> list[Problem]:
    starts, goals = random_cells(grid, count, seed=1), random_cells(grid, count, seed=2)
    return [
        grid.problem(tuple(start), tuple(goal))
        for start, goal in zip(starts.tolist(), goals.tolist(), strict=True)
        if start != goal
    ]


def mind_bytes(algorithm: str, grid: Grid, databases: Sequence[Any] = ()) -> float:
    """Return the most memory that a unit uses, including its row and single numbers: the median over units."""
    problems = _problems(grid, MINDS)
    crowd = andante.Crowd(algorithm, problems[0].world, databases=databases)
    ids = crowd.add(*(cells_of([getattr(one, end) for one in problems], grid.width) for end in ("start", "goal")))
    each, held = crowd.unit_bytes / len(ids), np.zeros(len(ids), np.int64)
    for number in range(SETTLED.ticks):
        if not crowd.walking:
            break
        crowd.tick()
        if number < FIRST or number % FIRST == 0:
            np.maximum(held, crowd.held_bytes(ids), out=held)
    return each + float(np.median(held))


def moves_saved(algorithm: str, grid: Grid) -> float:
    """Return the moves of units with one goal that learn alone, relative to those that learn together."""
    cells = random_cells(grid, SHARERS + 1, seed=1)
    moves = []
    for share in (None, "goal"):
        crowd = andante.Crowd(algorithm, grid, share=share)
        ids = crowd.add(cells[1:], cells[0])
        while crowd.walking:
            crowd.tick()
        moves.append(int(crowd.moves[ids].sum()))
    return moves[0] / moves[1]
