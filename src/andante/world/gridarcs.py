"""The moves of a grid as rows of arcs, for everything that wants a graph without knowing of grids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.world.layout import COUNT, DIRECTION, PRICE, PRICE16, GridArrays, Sixteen, Terrain, price_towards


def arcs_of(
    moves: GridArrays | Sixteen,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return where each state's arcs begin, where each arc leads, and what it costs."""
    count = counts_of(moves)
    first = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    source = np.repeat(np.arange(len(moves.mask)), count)
    number = np.arange(first[-1]) - first[source]
    if isinstance(moves, Sixteen):
        low = COUNT[moves.mask & 255][source]
        upper = DIRECTION[moves.mask[source] >> 8, np.where(number < low, 0, number - low)] + np.uint8(8)
        direction = np.where(number < low, DIRECTION[moves.mask[source] & 255, np.minimum(number, 7)], upper)
        costs = PRICE16[direction]
    else:
        direction = DIRECTION[moves.mask[source], number]
        costs = _prices(moves, source, direction) if isinstance(moves, Terrain) else PRICE[direction]
    neighbour = (source + moves.offset[direction]).astype(np.int32)
    return first, neighbour, costs


def counts_of(arrays: GridArrays | Sixteen) -> npt.NDArray[np.uint8]:
    """Return the number of moves of each cell."""
    if isinstance(arrays, Sixteen):
        return COUNT[arrays.mask & 255] + COUNT[arrays.mask >> 8]
    return COUNT[arrays.mask]


def _prices(graph: Terrain, source: npt.NDArray[np.int64], direction: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return the cost of each of these moves."""
    costs = np.empty(len(source))
    _find_prices(graph, source, direction, costs)
    return costs


@kernel
def _find_prices(
    graph: Terrain,
    source: npt.NDArray[np.int64],
    direction: npt.NDArray[np.uint8],
    costs: npt.NDArray[np.float64],
) -> None:
    for k in range(len(source)):
        costs[k] = price_towards(graph, source[k], int64(direction[k]))
