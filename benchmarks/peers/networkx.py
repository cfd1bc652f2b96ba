"""networkx: pure Python over graphs, whose nodes are the cells themselves."""

from __future__ import annotations

from typing import Any

from benchmarks.moves import SQRT2, Arcs, Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    import networkx

    arcs = Arcs.of(passable)
    cell = [tuple(cell) for cell in arcs.cell.tolist()]
    graph = networkx.Graph()
    graph.add_weighted_edges_from((cell[a], cell[b], cost) for a, b, cost in arcs.edges())
    return graph


def estimate(a: Cell, b: Cell) -> float:
    dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
    return dx + (SQRT2 - 1) * dy if dx > dy else dy + (SQRT2 - 1) * dx


def solve(graph: Any, start: Cell, goal: Cell) -> Any:
    import networkx

    return networkx.astar_path(graph, start, goal, estimate)


PEER = Peer("networkx", "astar_path", prepare, solve, lambda graph, path: path)
