"""tcod: C, with a CustomGraph that accepts a condition for each diagonal step.

Costs are whole numbers: 408 and 577 represent 1 and the square root of 2, accurate to two millionths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import STEPS, Cell, Passable, legal_steps
from benchmarks.peers import Peer

STRAIGHT, DIAGONAL = 408, 577


def prepare(passable: Passable) -> Any:
    import tcod.path

    graph = tcod.path.CustomGraph(passable.shape)
    cost = passable.astype(np.int8)
    for d, legal in enumerate(legal_steps(passable)):
        dx, dy = STEPS[d]
        if d % 2:
            graph.add_edge((dy, dx), DIAGONAL, cost=cost, condition=legal.astype(np.int8))
        else:
            graph.add_edge((dy, dx), STRAIGHT, cost=cost)
    graph.set_heuristic(cardinal=STRAIGHT, diagonal=DIAGONAL)
    return graph


def solve(graph: Any, start: Cell, goal: Cell) -> Any:
    import tcod.path

    finder = tcod.path.Pathfinder(graph)
    finder.add_root(start[::-1])
    return finder.path_to(goal[::-1])


def cells(graph: Any, path: Any) -> npt.ArrayLike:
    return np.asarray(path)[:, ::-1]


def field(graph: Any, source: Cell) -> npt.NDArray[np.floating[Any]]:
    import tcod.path

    finder = tcod.path.Pathfinder(graph)
    finder.add_root(source[::-1])
    finder.resolve()
    return np.where(finder.distance == np.iinfo(finder.distance.dtype).max, np.inf, finder.distance / STRAIGHT)


PEER = Peer("tcod", "CustomGraph, Pathfinder", prepare, solve, cells, field)
