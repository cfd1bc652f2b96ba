"""The number of optimal paths from each state to the source of a distance field, and the path in their middle.

Distant states of an open map have more optimal paths between them than a float64 can count. So each count has its own
scale: the power of 2**512 to multiply it by.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel, uint64
from andante.search.dijkstra import ALL_MOVES, OPEN, is_optimal
from andante.world.graph import Graph
from andante.world.heuristics import DIAGONAL, TOLERANCE
from andante.world.layout import PRICE, Csr, Layout, Moves, Sixteen, Terrain, degree, price, target

LARGE, SMALL = 2.0**512, 2.0**-512  # a count above the first is multiplied by the second
SAME_COUNT = 1 + 1e-9  # counts with a lower ratio differ only by rounding


class Paths(NamedTuple):
    """The number of optimal paths from each state to the source of a field: ``number`` * 2**(512 * ``scale``).

    Following ``onward`` from state to state leads through the middle of all optimal paths, not along their edge.
    """

    number: npt.NDArray[np.float64]  # [n], from 1 to LARGE
    scale: npt.NDArray[np.int32]  # [n]
    onward: npt.NDArray[np.int32]  # [n], the next state from which most optimal paths lead on, the first of several

    @classmethod
    def over(cls, graph: Graph) -> Paths:
        """Return buffers for counting."""
        return cls(np.empty(len(graph)), np.empty(len(graph), np.int32), np.empty(len(graph), np.int32))


@kernel
def count_paths(
    paths: Paths, graph: Layout, distance: npt.NDArray[np.float64], order: npt.NDArray[np.int32], reached: int
) -> None:
    """Count the optimal paths to the source of a field from each of the ``reached`` states that have one.

    In ``order``, every state must be after the next states on its optimal paths, as when sorted by distance. Every
    move must have its opposite at the same cost.
    """
    source = int64(order[0])
    paths.number[source], paths.scale[source], paths.onward[source] = 1.0, 0, source
    for i in range(1, reached):
        state = int64(uint64(order[i]))
        total, scale, central = _paths_on(graph, distance, paths, state)
        if total > LARGE:
            total, scale = total * SMALL, scale + 1
        paths.number[state], paths.scale[state], paths.onward[state] = total, scale, central


@generic
def _paths_on(graph: Layout, distance: npt.NDArray[np.float64], paths: Paths, state: int) -> tuple[float, int, int]:
    """Return the total count, with its scale, of all states next on an optimal path, and the state with the most.

    Among states with the same count, the first in the graph's order wins.
    """
    raise TypeError(graph)


@_paths_on.of(Csr, Terrain, Sixteen)
def _paths_on_any(graph: Layout, distance: npt.NDArray[np.float64], paths: Paths, state: int) -> tuple[float, int, int]:
    total, scale = 0.0, 0
    most, highest, its_scale = -1, 0.0, 0
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if is_optimal(graph, distance, state, near, price(graph, state, k)):
            more, at_scale = paths.number[near], int64(paths.scale[near])
            total, scale = _plus(total, scale, more, at_scale)
            if most < 0 or _is_more(more, at_scale, highest, its_scale):
                most, highest, its_scale = near, more, at_scale
    return total, scale, most


@_paths_on.of(Moves)
def _paths_on_grid(graph: Moves, distance: npt.NDArray[np.float64], paths: Paths, state: int) -> tuple[float, int, int]:
    """Add the counts directly if all have the same scale, as is nearly always the case."""
    moves = int64(ALL_MOVES[_optimal_moves(graph, distance, state)])
    most = state + graph.offset[moves & 7]
    total, scale = paths.number[uint64(most)], paths.scale[uint64(most)]
    highest, apart, rest = total, 0, moves >> 4
    while rest != 0:
        near = state + graph.offset[rest & 7]
        rest >>= 4
        more = paths.number[uint64(near)]
        apart |= int64(paths.scale[uint64(near)] != scale)
        total += more
        is_more = more > highest * SAME_COUNT
        most = near if is_more else most
        highest = more if is_more else highest
    if apart:
        return _paths_on_scales(graph, paths, state, moves)
    return total, int64(scale), most


@kernel
def _paths_on_scales(graph: Moves, paths: Paths, state: int, moves: int) -> tuple[float, int, int]:
    """Return the same for counts with different scales; ``moves`` are packed as in ALL_MOVES."""
    total, scale = 0.0, 0
    most, highest, its_scale = -1, 0.0, 0
    while moves != 0:
        near = state + graph.offset[moves & 7]
        moves >>= 4
        more, at_scale = paths.number[near], int64(paths.scale[near])
        total, scale = _plus(total, scale, more, at_scale)
        if most < 0 or _is_more(more, at_scale, highest, its_scale):
            most, highest, its_scale = near, more, at_scale
    return total, scale, most


@kernel
def _optimal_moves(graph: Moves, distance: npt.NDArray[np.float64], state: int) -> int:
    """Return the moves that begin an optimal path to the source of a field, one bit per direction.

    There is no branch per move, which would be hard to predict.
    """
    mask, left = int64(graph.mask[state]), distance[state] + TOLERANCE
    if mask == OPEN:
        straight, diagonal = left - 1.0, left - DIAGONAL
        one, two = uint64(1), uint64(2)
        above, here, below = uint64(state + graph.offset[7]), uint64(state - 1), uint64(state + graph.offset[5])
        return (
            int64(distance[above + one] <= straight)
            | int64(distance[above + two] <= diagonal) << 1
            | int64(distance[here + two] <= straight) << 2
            | int64(distance[below + two] <= diagonal) << 3
            | int64(distance[below + one] <= straight) << 4
            | int64(distance[below] <= diagonal) << 5
            | int64(distance[here] <= straight) << 6
            | int64(distance[above] <= diagonal) << 7
        )
    legal, optimal = int64(ALL_MOVES[mask]), 0
    while legal != 0:
        direction = legal & 7
        legal >>= 4
        there = distance[uint64(state + graph.offset[direction])]
        optimal |= int64(there <= left - PRICE[direction]) << direction
    return optimal


@kernel
def _plus(total: float, scale: int, more: float, its_scale: int) -> tuple[float, int]:
    """Return the sum of two counts."""
    above = its_scale - scale
    if above == 0:
        return total + more, scale
    if above > 0:
        return (total * SMALL if above == 1 else 0.0) + more, its_scale
    return total + (more * SMALL if above == -1 else 0.0), scale


@kernel
def _is_more(more: float, scale: int, less: float, its_scale: int) -> bool:
    """Return whether one count is higher than another, beyond rounding."""
    above = scale - its_scale
    if above == 0:
        return bool(more > less * SAME_COUNT)
    if above == 1:
        return bool(more > less * SMALL * SAME_COUNT)
    return above > 1 or (above == -1 and bool(more * SMALL > less * SAME_COUNT))
