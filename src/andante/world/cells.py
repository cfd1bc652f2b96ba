"""The editor of grids: it closes or opens a cell, updates the moves of the cells around it, and logs the change.

The map itself (`world.living`), what an agent with limited sight believes about it (`world.sensing`), and the ground
below levels that are repaired (`abstraction.hierarchy`) are edited only here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel, uint64
from andante.world.changes import RECENT, Changes, record
from andante.world.grid import RULES
from andante.world.layout import DX, DY, GridArrays

_OCTILE, _CORNERS, _CARDINAL = (RULES.index(rule) for rule in ("octile", "corners", "cardinal"))


def _without(away: npt.NDArray[np.int64], step: int) -> int:
    """Return all directions except those that lead this far along an axis, as a set of bits."""
    return sum(1 << d for d in range(8) if away[d] != step)


_NOT_WEST, _NOT_EAST, _NOT_NORTH, _NOT_SOUTH = _without(DX, -1), _without(DX, 1), _without(DY, -1), _without(DY, 1)


class Cells(NamedTuple):
    """A grid whose cells can be closed and opened."""

    graph: GridArrays  # its mask is read-only like that of any grid, so that the same machine code is used ...
    mask: npt.NDArray[np.uint8]  # [n], ... but shares its memory with this array
    passable: npt.NDArray[np.bool_]  # [n]
    kept: npt.NDArray[np.uint8]  # [8], the moves that a wall leaves legal for the cell in this direction from it
    changes: Changes
    rule: int  # for moves, as an index of RULES

    @classmethod
    def over(cls, arrays: GridArrays, passable: npt.NDArray[np.bool_], rule: str, *, logged: int = RECENT) -> Cells:
        """Return a copy of a grid's moves that can be edited, with a log of at least the last ``logged`` changes.

        ``passable`` says which cells are open. It is edited too, and belongs to the caller.
        """
        mask = arrays.mask.copy()
        shown = mask.view()
        shown.flags.writeable = False
        graph = arrays._replace(mask=shown)
        return cls(graph, mask, passable, _kept(rule), Changes.empty(logged), RULES.index(rule))


def _kept(rule: str) -> npt.NDArray[np.uint8]:
    """Return, for each direction from a wall to a cell, the moves of the cell that the wall leaves legal."""
    lost = [1 << (d + 4) % 8 for d in range(8)]  # into the wall
    if rule == "octile":
        for d in range(0, 8, 2):
            lost[d] |= 1 << (d + 3) % 8 | 1 << (d + 5) % 8  # past its corners
    return np.array([255 ^ moves for moves in lost], np.uint8)


@kernel
def set_cell(cells: Cells, cell: int, opened: bool) -> bool:
    """Open or close a cell, and return whether this changed it."""
    if cells.passable[cell] == opened:
        return False
    cells.passable[cell] = opened
    if opened:
        _give_moves(cells, cell)
    else:
        _take_moves(cells, cell)
    record(cells.changes, cell, opened)
    return True


@kernel
def _give_moves(cells: Cells, cell: int) -> None:
    """Add the moves to, from and past a cell that was opened; all of them follow from the cells around it."""
    free = free_around(cells, cell)
    moves = _legal(free, cells.rule)
    cells.mask[cell] = moves
    for d in range(8):
        if free >> d & 1:
            gained = (moves >> d & 1) << (d + 4) % 8
            if cells.rule == _OCTILE and d & 1 == 0:  # past the corners of the cell
                gained |= (free >> (d + 1) % 8 & free >> (d + 2) % 8 & 1) << (d + 3) % 8
                gained |= (free >> (d + 7) % 8 & free >> (d + 6) % 8 & 1) << (d + 5) % 8
            cells.mask[cell + cells.graph.offset[d]] |= gained


@kernel
def _take_moves(cells: Cells, cell: int) -> None:
    """Remove the moves to, from and past a cell that was closed."""
    cells.mask[cell] = 0
    inside = _on_the_map(cells.graph, cell)
    for d in range(8):
        if inside >> d & 1:
            cells.mask[cell + cells.graph.offset[d]] &= cells.kept[d]


@kernel
def free_around(cells: Cells, cell: int) -> int:
    """Return the directions in which the cells around one are passable, as a set of bits."""
    inside, free = _on_the_map(cells.graph, cell), 0
    for d in range(8):
        if inside >> d & 1:
            free |= int64(cells.passable[cell + cells.graph.offset[d]]) << d
    return free


@kernel
def ring_around(cells: Cells, cell: int) -> int:
    """Return the directions in which an agent can go around a closed cell, as a set of bits.

    From each passable cell of the ring it can go to the next. Where corners may be cut, it can also go from a cell
    beside the closed one to the one around the corner, past a wall between them.
    """
    free = free_around(cells, cell)
    if cells.rule == _CORNERS:
        free |= _legal(free | 0b10101010, _OCTILE)
    return free


@kernel
def _on_the_map(graph: GridArrays, cell: int) -> int:
    """Return the directions in which a cell has neighbouring cells on the map, as a set of bits.

    Its column and row are computed from its number, because looking them up takes longer on a large map.
    """
    width = uint64(graph.offset[4])
    x, inside = uint64(cell) % width, 0b11111111
    if x == 0:
        inside &= _NOT_WEST
    if x == width - uint64(1):
        inside &= _NOT_EAST
    if cell < int64(width):
        inside &= _NOT_NORTH
    if cell >= len(graph.mask) - int64(width):
        inside &= _NOT_SOUTH
    return inside


@kernel
def _legal(free: int, rule: int) -> int:
    """Return the legal directions from a passable cell, given those in which the cells around it are passable."""
    if rule == _CORNERS:
        return free
    straight = free & 0b01010101
    if rule == _CARDINAL:
        return straight
    both = (straight << 1) & ((straight >> 1) | (straight << 7))  # diagonals between two free cells
    return straight | (free & both & 0b10101010)
