"""WarCraft III's maps at their native size, worked out from the published ones.

The published set has 512 x 512 cells throughout. Its maps were enlarged, as `upscale` does it, from 96, 128, 160 or
192 cells a side; six of the 36 are wider than high, or higher than wide. The papers of Bulitko et al. (2007, 2008) and
of Bulitko and Björnsson (2009) use maps of the native size: two of the six state counts in the first, 7,629 and 9,749,
are those of ``thecrucible`` and ``darkforest``, and its 18,841 is one more than ``divideandconquer`` has.

`downscale` undoes the enlargement. Nearest-neighbour enlargement may also look at the middle of each new cell and take
floor((i + 0.5) * n / N); the published maps were not made so, as fewer cells would agree on every map where this
differs.

Fifteen of the maps, enlarged again, are exactly the published ones. On the others up to one cell in a hundred differs:
the published map has a thin wall along the lower or right edge of some blocks, between two cells that are free at the
native size. They look like cliffs. A grid has no walls between cells, so here one can walk across; the native map is
the easier one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.datasets.scaling import downscale, middles, origins, upscale
from andante.world.grid import Grid

#: How many cells a side the maps had before they were enlarged.
SIDES = (96, 128, 160, 192)

# A side that reproduces the map almost as well as the best one explains it just as well: what 96 cells explain, 192 do
# too. The wrong sides lose at least ten times as much.
_AS_GOOD = 0.001


def native(grid: Grid) -> Grid:
    """The map that ``grid`` was enlarged from: each side the shortest of `SIDES` that explains it."""
    size = (_side(grid.terrain, axis=1), _side(grid.terrain, axis=0))
    return Grid(downscale(grid, size=size).terrain, name=grid.name, rule=grid.rule)


def agreement(grid: Grid, small: Grid) -> float:
    """The share of cells that are passable, or not, both on ``grid`` and on ``small`` enlarged to its size."""
    again = upscale(small, size=(grid.width, grid.height))
    return float((again.passable == grid.passable).mean())


def _side(terrain: npt.NDArray[np.uint8], axis: int) -> int:
    """How many cells there were along ``axis``."""
    length = terrain.shape[axis]
    shares = {}
    for side in SIDES:
        again = terrain.take(middles(side, length)[origins(side, length)], axis)
        shares[side] = (again == terrain).mean()
    return min(side for side in SIDES if shares[side] >= max(shares.values()) - _AS_GOOD)
