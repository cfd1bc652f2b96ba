"""Andante itself, called like its peers: two cells in, a path out, one call for each problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    import andante

    grid = andante.Grid(passable)
    assert len(grid.graph) == passable.size
    return grid


def solve(grid: Any, start: Cell, goal: Cell) -> Any:
    import andante

    return andante.run("astar", grid.problem(start, goal))


def cells(grid: Any, trial: Any) -> npt.ArrayLike:
    return trial.cells


def field(grid: Any, source: Cell) -> npt.NDArray[np.floating[Any]]:
    from andante.search.dijkstra import distances

    return distances(grid.graph, grid.state(*source)).reshape(grid.height, grid.width)


def expanded(trial: Any) -> int:
    return int(trial.states_expanded)


PEER = Peer("andante", "run('astar', problem)", prepare, solve, cells, field, expanded)
