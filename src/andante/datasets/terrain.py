"""Tools shared by the map generators: chance, smooth noise, brushes, and joining separate regions.

A map must be the same on every machine and with every version of every library. So all arithmetic is on integers, and
randomness comes from raw bits of NumPy's PCG64, whose stream is guaranteed never to change.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from andante.world.grid import Grid

Mask = npt.NDArray[np.bool_]
Field = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]
Point = tuple[int, int]  # column, row

_MOST_PAIRS = 400_000  # pairs of cells compared to find where two regions are close to each other


class Chance:
    """A source of random bits, cells and landscapes, fixed by its seed."""

    def __init__(self, seed: int) -> None:
        self._stream = np.random.PCG64(seed)

    def below(self, bound: int, shape: int | tuple[int, ...] = ()) -> Numbers:
        """Return random whole numbers from 0 to ``bound`` - 1."""
        count = int(np.prod(shape, dtype=np.int64))
        raw = np.atleast_1d(self._stream.random_raw(count))
        # The upper 32 bits are scaled. For the bounds used here, no number is noticeably likelier than another.
        return (((raw >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)).astype(np.int64).reshape(shape)

    def pick(self, low: int, high: int) -> int:
        """Return one random whole number from ``low`` to ``high``."""
        return low + int(self.below(max(1, high - low + 1)))

    def cells(self, shape: tuple[int, int], probability: float) -> Mask:
        """Return a mask in which each cell is true with this probability."""
        return self.below(2**31, shape) < int(probability * 2**31)

    def landscape(self, shape: tuple[int, int], spacing: int, octaves: int = 3) -> Field:
        """Return smooth noise: hills about ``spacing`` cells apart, with hills of half the height on them, etc."""
        total = np.zeros(shape, np.int32)
        for octave in range(octaves):
            total += self._hills(shape, max(1, spacing >> octave)) >> octave
        return total

    def _hills(self, shape: tuple[int, int], spacing: int) -> Field:
        """Return random heights below 2**16 on a lattice, with smooth slopes between them."""
        lattice = self.below(2**16, (shape[0] // spacing + 2, shape[1] // spacing + 2)).astype(np.int32)
        (row, down), (column, right) = (_slope(length, spacing) for length in shape)
        along = (lattice[:, column] * (4096 - right) + lattice[:, column + 1] * right) >> 12
        return (along[row] * (4096 - down)[:, None] + along[row + 1] * down[:, None]) >> 12


def top(octaves: int) -> int:
    """Return the height that a landscape with this many octaves stays below."""
    return 2**17 - (2**17 >> octaves)


def _slope(length: int, spacing: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return, for each place between lattice points, the point before it and the rise towards the next in 4096ths."""
    point, offset = np.divmod(np.arange(length, dtype=np.int64), spacing)
    ease = (offset * offset * (3 * spacing - 2 * offset) << 12) // spacing**3  # level at both ends
    return point, ease.astype(np.int32)


def lowest(field: Field, share: float) -> Mask:
    """Return the given share of the cells, those where the field is lowest."""
    rank = min(int(share * field.size), field.size - 1)
    low: Mask = field < np.partition(field, rank, axis=None)[rank]
    return low


def crowd(mask: Mask, reach: int) -> Field:
    """Return how many cells of ``mask`` are within ``reach`` columns and rows of each cell; none are off the map."""
    count = mask.astype(np.int32)
    for axis in (0, 1):
        total = np.cumsum(count, axis=axis, dtype=np.int32)
        total = np.concatenate([np.zeros_like(total.take([0], axis)), total], axis)
        place = np.arange(mask.shape[axis])
        ahead, behind = np.minimum(place + reach + 1, mask.shape[axis]), np.maximum(place - reach, 0)
        count = total.take(ahead, axis) - total.take(behind, axis)
    return count


def grown(mask: Mask, reach: int) -> Mask:
    """Return the cells within ``reach`` columns and rows of a cell of the mask."""
    near: Mask = crowd(mask, reach) > 0
    return near


def shrunk(mask: Mask, reach: int) -> Mask:
    """Return the cells with only cells of the mask within ``reach`` columns and rows; the map's edge does not count."""
    return ~grown(~mask, reach)


def stamp(mask: Mask, points: Iterable[Point], radius: int) -> None:
    """Set the cells within ``radius`` of any of the points."""
    height, width = mask.shape
    dy, dx = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    disc = dx * dx + dy * dy <= radius * radius + radius
    for x, y in points:
        left, top = max(0, x - radius), max(0, y - radius)
        right, bottom = min(width, x + radius + 1), min(height, y + radius + 1)
        if left < right and top < bottom:
            part = disc[top - y + radius : bottom - y + radius, left - x + radius : right - x + radius]
            mask[top:bottom, left:right] |= part


def line(a: Point, b: Point) -> list[Point]:
    """Return the cells on the straight line from ``a`` to ``b``."""
    steps = max(abs(b[0] - a[0]), abs(b[1] - a[1]), 1)
    return [
        (a[0] + ((b[0] - a[0]) * k + steps // 2) // steps, a[1] + ((b[1] - a[1]) * k + steps // 2) // steps)
        for k in range(steps + 1)
    ]


def join(free: Mask, *, smallest: int, radius: int) -> tuple[Mask, Mask]:
    """Make the free cells one region; return the cells to dig and the cells to fill.

    Regions of at least ``smallest`` cells are joined by passages of the given radius, smaller ones are filled.
    """
    label = np.where(free, Grid(free).graph.components.reshape(free.shape), -1)
    sizes = np.bincount(label[free], minlength=1)
    by_size = np.argsort(-sizes, kind="stable")[: max(1, np.count_nonzero(sizes >= smallest))]
    rims = _rims(label, by_size)
    dug = np.zeros(free.shape, bool)
    joined = rims[0]
    for rim in rims[1:]:
        stamp(dug, line(*_nearest(joined, rim)), radius)
        joined = np.concatenate([joined, rim])
    return dug, free & ~np.isin(label, by_size)


def _rims(label: Field, regions: Numbers) -> list[Numbers]:
    """Return the row and column of the cells at the rim of each region."""
    inside = np.ones(label.shape, bool)
    inside[1:] &= label[1:] == label[:-1]
    inside[:-1] &= label[1:] == label[:-1]
    inside[:, 1:] &= label[:, 1:] == label[:, :-1]
    inside[:, :-1] &= label[:, 1:] == label[:, :-1]
    cells = np.argwhere((label >= 0) & ~inside)
    owner = label[cells[:, 0], cells[:, 1]]
    order = np.argsort(owner, kind="stable")
    first, last = (np.searchsorted(owner[order], regions, side) for side in ("left", "right"))
    return [cells[order[a:b]] for a, b in zip(first, last, strict=True)]


def _nearest(a: Numbers, b: Numbers) -> tuple[Point, Point]:
    """Return a cell of each region, approximately the closest pair."""
    b = b[:: 1 + len(b) // 200]
    a = a[:: 1 + len(a) * len(b) // _MOST_PAIRS]
    apart = (a[:, None, 0] - b[None, :, 0]) ** 2 + (a[:, None, 1] - b[None, :, 1]) ** 2
    i, j = divmod(int(apart.argmin()), len(b))
    return (int(a[i, 1]), int(a[i, 0])), (int(b[j, 1]), int(b[j, 0]))
