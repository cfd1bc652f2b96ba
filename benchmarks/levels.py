"""The cost of clique abstraction: building all levels above a map, and repairing them when one of its cells closes."""

from __future__ import annotations

import time

import numpy as np

import andante
from andante.abstraction.hierarchy import ChangingHierarchy, Hierarchy
from andante.world.grid import Grid

SMALL, MIDDLING, LARGE = 128, 512, 2048
REPEATS = 5
CHANGES = 500


def scattered(side: int) -> Grid:
    """Return a map with a wall in every tenth cell or so, which splits nearly every large clique: the slowest case."""
    return andante.generate("random", side, side, seed=7, density=0.1)


def build_seconds(grid: Grid) -> float:
    """Return the time to build all levels, the best of several."""
    return min(_build_seconds(grid) for _ in range(REPEATS))


def _build_seconds(grid: Grid) -> float:
    began = time.perf_counter()
    Hierarchy(grid)
    return time.perf_counter() - began


def repair_seconds(side: int) -> float:
    """Return the time to repair all levels of a map when one cell closes: the median over many cells."""
    grid = scattered(side)
    levels = ChangingHierarchy(grid)
    cells = np.random.default_rng(7).choice(np.flatnonzero(grid.passable.ravel()), CHANGES, replace=False).tolist()
    seconds = []
    for cell in cells:
        began = time.perf_counter()
        levels.close(states=[cell])
        seconds.append(time.perf_counter() - began)
        levels.open(states=[cell])
    return float(np.median(seconds))
