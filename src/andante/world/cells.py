"""The one editor of grids: closing or opening a cell changes its moves and those of the cells around it, and is logged.

The map itself (`world.living`), what an agent with sight believes about it (`world.sensing`), and the ground below
levels that are repaired (`abstraction.hierarchy`) are edited here and nowhere else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.world.changes import RECENT, Changes, record
from andante.world.grid import RULES
from andante.world.layout import Moves, beside

_CORNERS, _CARDINAL = RULES.index("corners"), RULES.index("cardinal")


class Cells(NamedTuple):
    """A grid whose cells can be closed and opened."""

    graph: Moves  # its mask is read-only, like any other grid's, so that the same machine code is used ...
    mask: npt.NDArray[np.uint8]  # [n], ... but shares its memory with this array
    passable: npt.NDArray[np.bool_]  # [n]
    kept: npt.NDArray[np.uint8]  # [8], the moves that a wall leaves to the cell in this direction from it
    changes: Changes
    rule: int  # for moves, as an index of RULES

    @classmethod
    def over(cls, arrays: Moves, passable: npt.NDArray[np.bool_], rule: str, *, logged: int = RECENT) -> Cells:
        """Return a copy of a grid's moves that can be edited, with a log of at least the last ``logged`` changes.

        ``passable`` says which cells are open. It is edited too, and belongs to the caller.
        """
        mask = arrays.mask.copy()
        shown = mask.view()
        shown.flags.writeable = False
        graph = arrays._replace(mask=shown)
        return cls(graph, mask, passable, _kept(rule), Changes.empty(logged), RULES.index(rule))


def _kept(rule: str) -> npt.NDArray[np.uint8]:
    """Return, for each direction in which a cell lies from a wall, the moves that the wall leaves to the cell."""
    lost = [1 << (d + 4) % 8 for d in range(8)]  # into the wall
    if rule == "octile":
        for d in range(0, 8, 2):
            lost[d] |= 1 << (d + 3) % 8 | 1 << (d + 5) % 8  # past its corners
    return np.array([255 ^ moves for moves in lost], np.uint8)


@kernel
def set_cell(cells: Cells, cell: int, opened: bool) -> bool:
    """Open or close a cell, and return whether it was not open or closed yet."""
    if cells.passable[cell] == opened:
        return False
    cells.passable[cell] = opened
    if opened:
        cells.mask[cell] = _legal_moves(cells, cell)
    else:
        cells.mask[cell] = 0
    for d in range(8):
        near = beside(cells.graph, cell, d)
        if near >= 0:
            if opened:
                cells.mask[near] = _legal_moves(cells, near)
            else:
                cells.mask[near] &= cells.kept[d]
    record(cells.changes, cell, opened)
    return True


@kernel
def _legal_moves(cells: Cells, cell: int) -> int:
    """Return the legal directions from a cell, as a set of bits."""
    if not cells.passable[cell]:
        return 0
    free = 0
    for d in range(8):
        near = beside(cells.graph, cell, d)
        if near >= 0 and cells.passable[near]:
            free |= 1 << d
    if cells.rule == _CORNERS:
        return free
    straight = free & 0b01010101
    if cells.rule == _CARDINAL:
        return straight
    both = (straight << 1) & ((straight >> 1) | (straight << 7))  # diagonals between two free cells
    return straight | (free & both & 0b10101010)
