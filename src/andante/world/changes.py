"""The log of a map's changes: the cells that were closed and opened, in order.

Everything derived from the map remembers how much of the log it has seen, and catches up before its next use. The log
is a ring buffer. A reader that has missed more changes than it holds starts again from the whole map. A map that never
changes has an empty log, so that kernels are compiled only once. What an agent with limited sight believes about its
map has its own log.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel

RECENT = 1 << 10  # changes of a map that can be looked up; a power of two

CHANGES = np.dtype(
    [
        ("total", np.int64),  # changes so far: the version of the map
        ("opened", np.int64),  # those that opened a cell
    ]
)


class Changes(NamedTuple):
    """The log."""

    cell: npt.NDArray[np.int32]  # [a power of two], the cells that changed; ~cell if it was closed
    opened: npt.NDArray[np.int32]  # [RECENT], the cells that were opened
    scalars: npt.NDArray[Any]  # [1], of CHANGES

    @classmethod
    def none(cls) -> Changes:
        """Return the log of a map that does not change."""
        return cls(np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, CHANGES))

    @classmethod
    def empty(cls, room: int = RECENT) -> Changes:
        """Return an empty log that keeps at least the last ``room`` changes."""
        entries = max(RECENT, 1 << (room - 1).bit_length())
        return cls(np.zeros(entries, np.int32), np.zeros(RECENT, np.int32), np.zeros(1, CHANGES))


def is_written(changes: Changes) -> bool:
    """Return whether the log is that of a map that can change."""
    return len(changes.cell) >= RECENT


#: The log of all maps that do not change.
UNCHANGED = Changes.none()


@kernel
def record(changes: Changes, cell: int, opened: bool) -> None:
    """Write a change to the log."""
    at = changes.scalars[0]
    changes.cell[at["total"] & (len(changes.cell) - 1)] = cell if opened else ~cell
    at["total"] += 1
    if opened:
        changes.opened[at["opened"] & (RECENT - 1)] = cell
        at["opened"] += 1


@kernel
def changed_cell(changes: Changes, number: int) -> int:
    """Return the cell of a recent change, counted from 0; ~cell if it was closed."""
    return int64(changes.cell[number & (len(changes.cell) - 1)])


@kernel
def opened_cell(changes: Changes, number: int) -> int:
    """Return the cell of a recent opening, counted from 0."""
    return int64(changes.opened[number & (RECENT - 1)])


@kernel
def can_look_up(changes: Changes, number: int) -> bool:
    """Return whether all changes since this number can still be looked up."""
    return changes.scalars[0]["total"] - number <= len(changes.cell)
