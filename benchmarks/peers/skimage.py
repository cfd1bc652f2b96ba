"""scikit-image: minimum cost paths in Cython over an image of costs; it cuts corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    from skimage.graph import MCP_Geometric

    return MCP_Geometric(np.where(passable, 1.0, -1.0), fully_connected=True)


def solve(finder: Any, start: Cell, goal: Cell) -> Any:
    finder.find_costs([start[::-1]], [goal[::-1]])
    return finder.traceback(goal[::-1])


def cells(finder: Any, path: Any) -> npt.ArrayLike:
    return np.asarray(path)[:, ::-1]


PEER = Peer("scikit-image", "MCP_Geometric", prepare, solve, cells, breaks="cuts corners")
