"""w9-pathfinding: C++ with its own grid, which supports the move rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.moves import SQRT2, Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    from w9_pathfinding.diagonal_movement import DiagonalMovement
    from w9_pathfinding.envs import Grid
    from w9_pathfinding.pf import AStar

    grid = Grid(
        weights=np.where(passable, 1.0, -1.0).tolist(),
        diagonal_movement=DiagonalMovement.only_when_no_obstacle,
        diagonal_movement_cost_multiplier=SQRT2,
    )
    return AStar(grid)


def solve(finder: Any, start: Cell, goal: Cell) -> Any:
    return finder.find_path(start, goal)


PEER = Peer("w9-pathfinding", "Grid, AStar", prepare, solve, lambda finder, path: path, extra="bench-source")
