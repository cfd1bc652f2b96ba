"""pathfinding: pure Python, with its own grid, which supports the move rule."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from benchmarks.moves import Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    from pathfinding.core.diagonal_movement import DiagonalMovement
    from pathfinding.core.grid import Grid
    from pathfinding.finder.a_star import AStarFinder

    finder = AStarFinder(diagonal_movement=DiagonalMovement.only_when_no_obstacle)
    return Grid(matrix=passable.astype(int).tolist()), finder


def solve(handle: Any, start: Cell, goal: Cell) -> Any:
    grid, finder = handle
    return finder.find_path(grid.node(*start), grid.node(*goal), grid)


def cells(handle: Any, answer: Any) -> npt.ArrayLike:
    path, _ = answer
    return [(node.x, node.y) for node in path]


def expanded(answer: Any) -> int:
    _, runs = answer
    return int(runs)


PEER = Peer("pathfinding", "Grid, AStarFinder", prepare, solve, cells, expanded=expanded)
