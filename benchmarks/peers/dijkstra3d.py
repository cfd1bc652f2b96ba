"""dijkstra3d: C++ over images; a voxel graph, one bit per direction, expresses the move rule.

``compass`` is its A*, with the Chebyshev distance as estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import STEPS, Cell, Passable, legal_steps
from benchmarks.peers import Peer

#: The bit of a voxel that opens each step, by dx and dy.
BIT = {(1, 0): 0, (-1, 0): 1, (0, 1): 2, (0, -1): 3, (1, 1): 6, (-1, 1): 7, (1, -1): 8, (-1, -1): 9}

EVEN = (1.0, 1.0, 1.0)  # anisotropy: makes a diagonal step cost its length


def prepare(passable: Passable) -> Any:
    import dijkstra3d  # noqa: F401 (fails here, not when timed, if it is missing)

    height, width = passable.shape
    graph = np.zeros((width, height), np.uint32, order="F")
    for step, legal in zip(STEPS, legal_steps(passable), strict=True):
        graph |= legal.T.astype(np.uint32) << BIT[step]
    return np.ones((width, height), np.float32, order="F"), np.asfortranarray(passable.T), graph


def solve(handle: Any, start: Cell, goal: Cell) -> Any:
    import dijkstra3d

    weight, _, graph = handle
    return dijkstra3d.dijkstra(weight, start, goal, connectivity=8, compass=True, voxel_graph=graph, anisotropy=EVEN)


def field(handle: Any, source: Cell) -> npt.NDArray[np.floating[Any]]:
    import dijkstra3d

    _, free, graph = handle
    return np.asarray(dijkstra3d.euclidean_distance_field(free, source, anisotropy=EVEN, voxel_graph=graph)).T


PEER = Peer("dijkstra3d", "dijkstra, compass, voxel_graph", prepare, solve, lambda handle, path: path, field)
