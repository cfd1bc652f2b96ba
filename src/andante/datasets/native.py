"""WarCraft III's maps at their native size, recovered from the published ones.

All maps of the published set have 512 x 512 cells. They were enlarged, in the same way as by `upscale`, from 96, 128,
160 or 192 cells a side; six of the 36 were not square. The papers of Bulitko et al. (2007, 2008) and of Bulitko and
Björnsson (2009) use maps of the native size: two of the six state counts in the first, 7,629 and 9,749, are those of
``thecrucible`` and ``darkforest``, and its 18,841 is one more than ``divideandconquer`` has.

`downscale` reverses the enlargement. Nearest-neighbour enlargement may also sample at the middle of each new cell, with
floor((i + 0.5) * n / N). The published maps were not made so: on every map where it differs, fewer cells would agree.

Fifteen of the maps, enlarged again, are exactly the published ones. On the others up to one cell in a hundred differs:
the published map has a thin wall along the lower or right edge of some blocks, between two cells that are free at the
native size. These walls look like cliffs. A grid has no walls between cells, so on the native map they can be crossed,
which makes it easier.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.datasets.scaling import downscale, middles, origins
from andante.world.grid import Grid

#: The numbers of cells per side that the maps may have had before they were enlarged.
SIDES = (96, 128, 160, 192)

# The tolerance for a side that reproduces the map almost as well as the best one: a map of 96 cells per side is also
# explained by 192. Wrong sides lose at least ten times as much.
_AS_GOOD = 0.001


def native(grid: Grid) -> Grid:
    """Return the map that ``grid`` was enlarged from; each side is the shortest of `SIDES` that explains it."""
    size = (_side(grid.terrain, axis=1), _side(grid.terrain, axis=0))
    small = downscale(grid, size=size)
    return grid.like(small.terrain, small.passable, small.weights, grid.name)


def _side(terrain: npt.NDArray[np.uint8], axis: int) -> int:
    """Return the original number of cells along ``axis``."""
    length = terrain.shape[axis]
    shares = {}
    for side in SIDES:
        again = terrain.take(middles(side, length)[origins(side, length)], axis)
        shares[side] = (again == terrain).mean()
    return min(side for side in SIDES if shares[side] >= max(shares.values()) - _AS_GOOD)
