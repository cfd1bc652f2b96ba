"""networkit: C++ over graphs; its A* needs the estimates of all nodes as a list for every problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import Arcs, Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    import networkit

    arcs = Arcs.of(passable)
    once = arcs.source < arcs.sink
    ends = arcs.source[once].astype(np.uint64), arcs.sink[once].astype(np.uint64)
    return arcs, networkit.GraphFromCoo((arcs.cost[once], ends), n=len(arcs.cell), weighted=True, directed=False)


def solve(handle: Any, start: Cell, goal: Cell) -> Any:
    import networkit

    arcs, graph = handle
    search = networkit.distance.AStar(graph, arcs.estimates(goal).tolist(), arcs.node(start), arcs.node(goal))
    search.run()
    return [arcs.node(start), *search.getPath(), arcs.node(goal)]


def cells(handle: Any, path: Any) -> npt.ArrayLike:
    arcs, _ = handle
    return np.asarray(arcs.cell[path])


def field(handle: Any, source: Cell) -> npt.NDArray[np.floating[Any]]:
    import networkit

    arcs, graph = handle
    search = networkit.distance.Dijkstra(graph, arcs.node(source), storePaths=False)
    search.run()
    distance = np.array(search.getDistances())
    return np.asarray(arcs.field(np.where(distance > 1e300, np.inf, distance)))


PEER = Peer("networkit", "distance.AStar", prepare, solve, cells, field)
