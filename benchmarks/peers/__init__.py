"""The packages that Andante is compared with, one file per package, named as it is imported.

Each file defines ``PEER``, and imports its package only when a map is prepared, so that a missing package can be named.
Each package is used in the fastest way that its documentation offers for many problems on one unchanging map. If its
grids cannot express the move rule, it gets an explicit graph. If you know a faster way, please send it.
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
    """One package, and how it is called."""

    package: str  # the name to install
    way: str  # the functions that are used
    prepare: Callable[[Passable], Any]  # called once for a map, returns a handle
    solve: Callable[[Any, Cell, Cell], Any]  # handle, start, goal to an answer in the package's own form; this is timed
    cells: Callable[[Any, Any], npt.ArrayLike]  # handle and answer to the path as a table of x and y
    field: Callable[[Any, Cell], npt.NDArray[np.floating[Any]]] | None = None  # all costs from a cell, [height, width]
    expanded: Callable[[Any], int] | None = None  # answer to the number of expanded states, if the package reports it
    breaks: str = ""  # what of the move rule it cannot express
    extra: str = "bench"  # which of Andante's extras installs it


def names() -> list[str]:
    """Return every peer that has a file."""
    return sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__")


def find(name: str) -> Peer:
    """Return the peer with this name."""
    peer: Peer = import_module(f"benchmarks.peers.{name}").PEER
    return peer
