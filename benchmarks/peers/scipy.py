"""scipy.sparse.csgraph: Dijkstra in Cython. It has no goal, but a limit, which is raised until the goal is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import Arcs, Cell, Passable, octile
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    arcs = Arcs.of(passable)
    return arcs, arcs.matrix()


def solve(handle: Any, start: Cell, goal: Cell) -> Any:
    from scipy.sparse.csgraph import dijkstra

    arcs, matrix = handle
    at, end = arcs.node(start), arcs.node(goal)
    limit = 1.5 * octile(start[0] - goal[0], start[1] - goal[1])
    while True:
        distance, towards = dijkstra(matrix, indices=end, return_predecessors=True, limit=limit)
        if np.isfinite(distance[at]):
            break
        limit *= 1.5
    path = [at]
    while at != end:
        at = int(towards[at])
        path.append(at)
    return path


def cells(handle: Any, path: Any) -> npt.ArrayLike:
    arcs, _ = handle
    return np.asarray(arcs.cell[path])


def field(handle: Any, source: Cell) -> npt.NDArray[np.floating[Any]]:
    from scipy.sparse.csgraph import dijkstra

    arcs, matrix = handle
    return np.asarray(arcs.field(dijkstra(matrix, indices=arcs.node(source))))


PEER = Peer("scipy", "sparse.csgraph.dijkstra, limit", prepare, solve, cells, field)
