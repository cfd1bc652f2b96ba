"""pathplanning: C++ over CSR graphs.

Its own grids cut corners, so it gets the graph, in a space with the interface of the package's own spaces. Its jump
point search keeps the rule too, but took twenty times as long on the one map it was tried on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import Arcs, Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    from pathplanning.native import NativeGraph
    from pathplanning.spaces.grid2d import Grid2DSearchSpace

    arcs = Arcs.of(passable)
    matrix = arcs.matrix()
    graph = NativeGraph.from_csr(matrix.indptr, matrix.indices, matrix.data)

    class Space(Grid2DSearchSpace):  # type: ignore[misc]
        def to_native_graph(self) -> Any:
            return graph

        def native_heuristic_values(self, goal: int) -> npt.NDArray[Any]:
            return arcs.estimates(tuple(arcs.cell[goal]))

    height, width = passable.shape
    return arcs, Space(width=width, height=height)


def solve(handle: Any, start: Cell, goal: Cell) -> Any:
    from pathplanning.api import plan_discrete
    from pathplanning.core.contracts import DiscreteProblem

    arcs, space = handle
    problem = DiscreteProblem(graph=space, start=arcs.node(start), goal=arcs.node(goal))
    return plan_discrete(problem, planner="reexp_astar")


def cells(handle: Any, result: Any) -> npt.ArrayLike:
    arcs, _ = handle
    return np.asarray(arcs.cell[result.path[:, 0].astype(int)])


def expanded(result: Any) -> int:
    return int(result.iters)


PEER = Peer("pathplanning", "NativeGraph, reexp_astar", prepare, solve, cells, expanded=expanded)
