"""rustworkx: Rust over graphs, with Python functions for goal, cost and estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import SQRT2, Arcs, Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    import rustworkx

    arcs = Arcs.of(passable)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from([tuple(cell) for cell in arcs.cell.tolist()])
    graph.add_edges_from(arcs.edges())
    return arcs, graph


def solve(handle: Any, start: Cell, goal: Cell) -> Any:
    import rustworkx

    arcs, graph = handle
    x, y = goal

    def estimate(cell: Cell) -> float:
        dx, dy = abs(cell[0] - x), abs(cell[1] - y)
        return dx + (SQRT2 - 1) * dy if dx > dy else dy + (SQRT2 - 1) * dx

    return rustworkx.graph_astar_shortest_path(graph, arcs.node(start), goal.__eq__, float, estimate)


def cells(handle: Any, path: Any) -> npt.ArrayLike:
    arcs, _ = handle
    return np.asarray(arcs.cell[list(path)])


PEER = Peer("rustworkx", "graph_astar_shortest_path", prepare, solve, cells)
