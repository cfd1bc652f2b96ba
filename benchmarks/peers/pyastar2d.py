"""pyastar2d: C++ over an image of weights; it cuts corners, and a diagonal step costs as much as a straight one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import Cell, Passable
from benchmarks.peers import Peer


def prepare(passable: Passable) -> Any:
    import pyastar2d  # noqa: F401 (fails here, not when timed, if it is missing)

    return np.where(passable, 1.0, np.inf).astype(np.float32)


def solve(weight: Any, start: Cell, goal: Cell) -> Any:
    import pyastar2d

    return pyastar2d.astar_path(weight, start[::-1], goal[::-1], allow_diagonal=True)


def cells(weight: Any, path: Any) -> npt.ArrayLike:
    return np.asarray(path)[:, ::-1]


PEER = Peer("pyastar2d", "astar_path", prepare, solve, cells, breaks="cuts corners; diagonals cost 1")
