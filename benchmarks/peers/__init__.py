"""What a user would pick instead of Andante: one file per package, named as it is imported.

Each defines ``PEER``, and imports its package only when a map is prepared, so that a missing package can be named.
Each is used in the fastest way its documentation offers for many questions on one unchanging map, and on an explicit
graph where its grids cannot express the move rule. If you know a faster way, please send it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.moves import Cell, Passable


@dataclass(frozen=True)
class Peer:
    """One package, and how it is asked."""

    package: str  # the name to install
    way: str  # what of it is used
    prepare: Callable[[Passable], Any]  # once for a map: a handle
    solve: Callable[[Any, Cell, Cell], Any]  # handle, start, goal: an answer in the package's own form; this is timed
    cells: Callable[[Any, Any], npt.ArrayLike]  # handle, answer: the path as a table of x and y
    field: Callable[[Any, Cell], npt.NDArray[np.floating[Any]]] | None = None  # all costs from a cell, [height, width]
    expanded: Callable[[Any], int] | None = None  # answer: how many states were expanded, where the package says so
    breaks: str = ""  # what of the move rule it cannot express
    extra: str = "bench"  # which of Andante's extras installs it


def names() -> list[str]:
    """Every peer there is a file for."""
    return sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__")


def find(name: str) -> Peer:
    """The peer of that name."""
    peer: Peer = import_module(f"benchmarks.peers.{name}").PEER
    return peer
