"""One log of what has changed on a map: cells that were closed and cells that were opened, in order.

Whoever holds something that follows from the map remembers how much of the log it has seen, and catches up before it
is used next. The log is a ring: nobody follows more than a few changes one by one, and who has missed more begins anew.
A map that never changes has a log too, in which nothing is ever written, so that kernels are compiled only once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel

RECENT = 1 << 10  # changes that can be looked up; a power of two

CHANGES = np.dtype(
    [
        ("total", np.int64),  # changes so far: the version of the map
        ("opened", np.int64),  # those that opened a cell
    ]
)


class Changes(NamedTuple):
    """The log."""

    cell: npt.NDArray[np.int32]  # [RECENT], the cells that changed; ~cell if it was closed
    opened: npt.NDArray[np.int32]  # [RECENT], the cells that were opened
    scalars: npt.NDArray[Any]  # [1], of CHANGES

    @classmethod
    def none(cls) -> Changes:
        """Return the log of a map that does not change."""
        return cls(np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, CHANGES))

    @classmethod
    def empty(cls) -> Changes:
        """Return a log to be written to."""
        return cls(np.zeros(RECENT, np.int32), np.zeros(RECENT, np.int32), np.zeros(1, CHANGES))


#: For all maps that do not change.
UNCHANGED = Changes.none()


@kernel
def record(changes: Changes, cell: int, opened: bool) -> None:
    """Write a change to the log."""
    at = changes.scalars[0]
    changes.cell[at["total"] & (RECENT - 1)] = cell if opened else ~cell
    at["total"] += 1
    if opened:
        changes.opened[at["opened"] & (RECENT - 1)] = cell
        at["opened"] += 1


@kernel
def changed_cell(changes: Changes, number: int) -> int:
    """Return the cell of a recent change, counted from 0; ~cell if it was closed."""
    return int64(changes.cell[number & (RECENT - 1)])


@kernel
def opened_cell(changes: Changes, number: int) -> int:
    """Return the cell of a recent opening, counted from 0."""
    return int64(changes.opened[number & (RECENT - 1)])
