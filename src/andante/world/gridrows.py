"""Grids as rows of arcs, and functions over all their moves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.world.layout import COUNT, DIRECTION, PRICE, PRICE16, GridArrays, Sixteen, Terrain, price_towards


def rows_of_grid(
    moves: GridArrays | Sixteen,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return the first arc of each cell, and the arcs' targets and costs, in the order of its moves."""
    count = counts_of_moves(moves)
    first = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    source = np.repeat(np.arange(len(count)), count)
    direction = _directions(moves, source, np.arange(first[-1]) - first[source])
    if isinstance(moves, Sixteen):
        costs = PRICE16[direction]
    elif isinstance(moves, Terrain):
        costs = np.empty(len(source))
        _find_prices(moves, source, direction, costs)
    else:
        costs = PRICE[direction]
    return first, (source + moves.offset[direction]).astype(np.int32), costs


def counts_of_moves(arrays: GridArrays | Sixteen) -> npt.NDArray[np.uint8]:
    """Return the number of moves of each cell."""
    if isinstance(arrays, Sixteen):
        return COUNT[arrays.mask & 255] + COUNT[arrays.mask >> 8]
    return COUNT[arrays.mask]


def _directions(
    moves: GridArrays | Sixteen, source: npt.NDArray[np.int64], number: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]:
    """Return the direction of each move, given its number among the moves of its cell."""
    mask = moves.mask[source]
    if not isinstance(moves, Sixteen):
        return DIRECTION[mask, number]
    low = COUNT[mask & 255]
    upper = DIRECTION[mask >> 8, np.where(number < low, 0, number - low)] + np.uint8(8)
    return np.where(number < low, DIRECTION[mask & 255, np.minimum(number, 7)], upper)


@kernel
def _find_prices(
    graph: Terrain,
    source: npt.NDArray[np.int64],
    direction: npt.NDArray[np.uint8],
    costs: npt.NDArray[np.float64],
) -> None:
    """Write the cost of each move into ``cost``."""
    for k in range(len(source)):
        costs[k] = price_towards(graph, source[k], int64(direction[k]))


@kernel
def forbids_corner_cutting(graph: GridArrays) -> bool:
    """Return whether a diagonal is open if and only if both paths around it are."""
    mask, offset = graph.mask, graph.offset
    for state in range(len(mask)):
        here = int64(mask[state])
        for d in (1, 3, 5, 7):
            before, after = d - 1, (d + 1) % 8
            both = here >> before & 1 and here >> after & 1
            if both:
                one, other = int64(mask[state + offset[before]]), int64(mask[state + offset[after]])
                both = one >> after & 1 and other >> before & 1
            if both != here >> d & 1:
                return False
    return True
