"""The cost of changing a map: for the map itself, for a crowd that walks on it, and for a database."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

import andante
from andante.abstraction.hierarchy import DEFAULT_COVER
from andante.abstraction.living import levels_of
from andante.abstraction.repair import Keep
from andante.world.grid import Grid
from benchmarks.crowds import UNITS, random_cells

SMALL, LARGE = 128, 2048
ROUNDS, TICKS, FIRST, CHANGES, REPAIRS = 5, 60, 20, 100, 10
NO_LEVELS, ALL_LEVELS = 0.0, math.inf
HALLS, ROOM = 256, 16  # sides of a map of two halls, and of a side room in its corner
SIDE_DOOR, BOTTLENECK = (ROOM, ROOM // 2), (HALLS // 2, HALLS // 2)


def change_seconds(side: int, levels: float = NO_LEVELS) -> float:
    """Return the time to close or open one cell, by one call each: the best of several rounds of many.

    With ``levels``, at most this many above the map are repaired after each change.
    """
    world = andante.World(andante.generate("random", side, side, seed=7))
    cells = [(int(x), int(y)) for x, y in np.random.default_rng(7).integers(0, side, (1000, 2))]
    if levels:
        levels_of(world.graph, DEFAULT_COVER, Keep.CONNECTED, levels)
    return min(_change_seconds(world, cells, levels > 0) for _ in range(ROUNDS)) / (2 * len(cells))


def _change_seconds(world: andante.World, cells: list[tuple[int, int]], repairs: bool) -> float:
    began = time.process_time()
    for cell in cells:
        world.close(cell)
        if repairs:
            world.tend(0)
        world.open(cell)
        if repairs:
            world.tend(0)
    return time.process_time() - began


def slowdown(grid: Grid, changes: int = CHANGES, levels: float = NO_LEVELS) -> float:
    """Return the time of a tick of LRTA* units including this many changes before it, relative to one without."""
    return min(_tick_seconds(grid, changes, levels) for _ in range(ROUNDS)) / min(
        _tick_seconds(grid, 0, NO_LEVELS) for _ in range(ROUNDS)
    )


def _tick_seconds(grid: Grid, changes: int, levels: float) -> float:
    """Return the median time of a tick; cells are closed before one tick and opened again before the next."""
    world = andante.World(grid)
    if levels:
        levels_of(world.graph, DEFAULT_COVER, Keep.CONNECTED, levels)
    crowd = andante.Crowd("lrta", world)
    crowd.add(random_cells(grid, UNITS, seed=1), random_cells(grid, UNITS, seed=2))
    cells = np.random.default_rng(7).integers(0, (grid.width, grid.height), (TICKS, max(changes, 1), 2))
    seconds = []
    for k in range(FIRST + TICKS):
        began = time.process_time()
        if changes and k >= FIRST:
            (world.open if k % 2 else world.close)(cells[(k - FIRST) // 2])
        crowd.tick()
        seconds.append(time.process_time() - began)
    return float(np.median(seconds[FIRST:]))


def halls() -> Grid:
    """Return a map of two halls of rooms, with one passage between them, and a room in a corner with one door."""
    free = andante.generate("rooms", HALLS, HALLS, seed=1).passable.copy()
    free[: ROOM + 1, : ROOM + 1] = True
    free[ROOM, : ROOM + 1] = free[: ROOM + 1, ROOM] = False
    free[:, HALLS // 2] = False
    for x, y in (SIDE_DOOR, BOTTLENECK):
        free[y, x - 1 : x + 2] = True
    return Grid(free)


def repairing(kind: str, cell: tuple[int, int]) -> tuple[float, float]:
    """Return the time to repair a database after a cell has closed, relative to building, and the longest piece."""
    grid = halls()
    database = andante.build(kind, grid, threads=1)  # compiles
    built = min(_seconds(lambda: andante.build(kind, grid, threads=1)) for _ in range(2))
    world = andante.World(grid)
    database.repair(world)
    world.close(cell)
    pieces = []
    while database.fingerprint != world.fingerprint:
        pieces.append(_seconds(lambda: database.repair(world, milliseconds=0)))
    return sum(pieces) / built, max(pieces)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
