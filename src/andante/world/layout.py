"""The layouts of a graph, and how kernels access them: `degree`, `target`, `price`, `estimate` and others.

`Csr` is any graph: arcs in rows, each with its cost. `Moves` is a grid: one byte per cell, one bit per legal direction.
`Terrain` is a grid whose cells have costs, and `Sixteen` one whose cells have sixteen neighbours. Kernels work with
all of them: `degree`, `target`, `price` and `estimate` have the same meaning for each, and the compiler inserts the
right implementation. A kernel that looks at all moves of a state can iterate over them with `moves_of`, `first_of` and
`rest_of` instead of counting, which on grids takes a fifth less time in A*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel, lowest_bit, prefetch, uint64
from andante.world.heuristics import DIAGONAL, LEAP, distance, with_leaps

# North first, then clockwise; y grows downwards.
DX = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)
DY = np.array([-1, -1, 0, 1, 1, 1, 0, -1], np.int64)
PRICE = np.array([1.0, DIAGONAL] * 4)
#: The same for sixteen neighbours, with a leap between each straight and diagonal move.
DX16 = np.array([0, 1, 1, 2, 1, 2, 1, 1, 0, -1, -1, -2, -1, -2, -1, -1], np.int64)
DY16 = np.array([-1, -2, -1, -1, 0, 1, 1, 2, 1, 2, 1, 1, 0, -1, -1, -2], np.int64)
PRICE16 = np.array([1.0, LEAP, DIAGONAL, LEAP] * 4)

TOWARDS = np.full((3, 3), 8, np.uint8)  # the direction to a cell, by its row and column from -1 to 1; 8 for none
TOWARDS[DY + 1, DX + 1] = np.arange(8)

GRAIN = 2.0**32  # costs on grids are multiples of its inverse

MOST_STATES = 2**31 - 1  # states are numbered in 32 bits

# For each set of legal directions (a byte): their number, and the k-th of them. Small enough to stay in the first-level
# cache.
COUNT = np.array([mask.bit_count() for mask in range(256)], np.uint8)
DIRECTION = np.zeros((256, 8), np.uint8)
for _mask in range(256):
    DIRECTION[_mask, : COUNT[_mask]] = [d for d in range(8) if _mask >> d & 1]


class Csr(NamedTuple):
    """Any graph: the arcs out of state s have the indices ``first[s]`` to ``first[s + 1] - 1``."""

    first: npt.NDArray[np.int64]  # [n + 1]
    neighbour: npt.NDArray[np.int32]  # [arcs]
    cost: npt.NDArray[np.float64]  # [arcs]
    point: npt.NDArray[np.float64]  # [n, dimensions]
    metric: int
    unit: float


class Moves(NamedTuple):
    """A grid: bit d of ``mask[s]`` is set if direction d is open from cell s = y * width + x."""

    mask: npt.NDArray[np.uint8]  # [n]
    offset: npt.NDArray[np.int64]  # [8], from a cell to its neighbour in each direction
    x: npt.NDArray[np.int16]  # [n]
    y: npt.NDArray[np.int16]  # [n]
    diagonal: float  # cost of a diagonal step in the heuristic


class Terrain(NamedTuple):
    """A grid whose cells have costs: moves as in `Moves`, whose first fields these are (docs/decisions/0036)."""

    mask: npt.NDArray[np.uint8]  # [n]
    offset: npt.NDArray[np.int64]  # [8]
    x: npt.NDArray[np.int16]  # [n]
    y: npt.NDArray[np.int16]  # [n]
    diagonal: float  # cost of a diagonal step in the heuristic ...
    straight: float  # ... and of a straight one: at most the cost of the cheapest cell
    weight: npt.NDArray[np.float64]  # [n], the cost of each cell; for a blocked one, its cost if it were open
    unit: float  # the largest power of two that is at most ``straight``
    beside: float  # weight in a diagonal's cost of each of the two cells that it passes between: 1/4 or 0


class Sixteen(NamedTuple):
    """A grid with sixteen neighbours: bit d of ``mask[s]`` is set if direction d of `DX16` and `DY16` is open."""

    mask: npt.NDArray[np.uint16]  # [n]
    offset: npt.NDArray[np.int64]  # [16]
    x: npt.NDArray[np.int16]  # [n]
    y: npt.NDArray[np.int16]  # [n]


GridArrays = Moves | Terrain  # both have a mask of eight directions, and cells at the same places
Arrays = Csr | GridArrays | Sixteen

#: A graph as kernels see it: one of these, or another bundle for which the functions below have a body.
Layout = tuple[Any, ...]


@generic
def size(graph: Layout) -> int:
    """Return the number of states."""
    raise TypeError(graph)


@generic
def degree(graph: Layout, state: int) -> int:
    """Return the number of moves out of ``state``."""
    raise TypeError(graph)


@generic
def target(graph: Layout, state: int, k: int) -> int:
    """Return the state that the k-th move out of ``state`` leads to."""
    raise TypeError(graph)


@generic
def price(graph: Layout, state: int, k: int) -> float:
    """Return the cost of the k-th move out of ``state``."""
    raise TypeError(graph)


@generic
def moves_of(graph: Layout, state: int) -> int:
    """Return all moves out of ``state`` as one number, for `first_of` and `rest_of`; 0 if there are none."""
    raise TypeError(graph)


@generic
def first_of(graph: Layout, state: int, moves: int) -> tuple[int, float]:
    """Return the state that the first of these moves out of ``state`` leads to, and the move's cost."""
    raise TypeError(graph)


@generic
def rest_of(graph: Layout, moves: int) -> int:
    """Return these moves without the first; 0 if there are no others."""
    raise TypeError(graph)


@generic
def prefetch_state(graph: Layout, state: int) -> None:
    """Prefetch the graph's data of a state that a search will reach soon; the state need not exist."""
    raise TypeError(graph)


@generic
def prefetch_around(graph: Layout, state: int) -> None:
    """Prefetch the graph's data of a state and its neighbours."""
    raise TypeError(graph)


@generic
def beside(graph: Layout, state: int, direction: int) -> int:
    """Return the cell in one of eight directions from a cell, whether there is a move to it or not; -1 if none.

    Only layouts of maps that can change return cells to which there is no move.
    """
    raise TypeError(graph)


@generic
def estimate(graph: Layout, state: int, goal: int) -> float:
    """Return the heuristic: a lower bound on the cost from ``state`` to ``goal``."""
    raise TypeError(graph)


@generic
def unit(graph: Layout) -> float:
    """Return the scale of the graph's costs: the largest power of two that is at most the cost of every arc."""
    raise TypeError(graph)


@generic
def stride(graph: Layout) -> float:
    """Return the heuristic cost of a straight move on a grid, which is 1 in all layouts except `Terrain`."""
    raise TypeError(graph)


@generic
def enterable(graph: Layout, state: int) -> bool:
    """Return whether a search may enter ``state``, given a move to it: true unless confined to a part of the graph."""
    raise TypeError(graph)


@moves_of.of(tuple)
def count_of_moves(graph: Layout, state: int) -> int:
    """Return the moves of a state in any layout, as their number, which is then counted down."""
    return degree(graph, state)


@first_of.of(tuple)
def first_of_count(graph: Layout, state: int, moves: int) -> tuple[int, float]:
    """Return the state that the first of the last ``moves`` moves leads to, and the move's cost."""
    k = degree(graph, state) - moves
    return target(graph, state, k), price(graph, state, k)


@rest_of.of(tuple)
def rest_of_count(graph: Layout, moves: int) -> int:
    """Return the number of moves that are left after the first."""
    return moves - 1


@prefetch_state.of(tuple)
def _prefetch_nothing(graph: Layout, state: int) -> None:
    pass


@size.of(Moves, Terrain, Sixteen)
def _moves_size(graph: GridArrays | Sixteen) -> int:
    return len(graph.mask)


@degree.of(Moves, Terrain)
def _moves_degree(graph: GridArrays, state: int) -> int:
    return int64(COUNT[graph.mask[state]])


@target.of(Moves, Terrain)
def _moves_target(graph: GridArrays, state: int, k: int) -> int:
    return (state + graph.offset[DIRECTION[graph.mask[state], k]]) & MOST_STATES  # & shows that it is not negative


@price.of(Moves)
def _moves_price(graph: Moves, state: int, k: int) -> float:
    return PRICE[DIRECTION[graph.mask[state], k]]


@moves_of.of(Moves, Terrain, Sixteen)
def _moves_moves(graph: GridArrays | Sixteen, state: int) -> int:
    return int64(graph.mask[state])


@first_of.of(Moves)
def _moves_first(graph: Moves, state: int, moves: int) -> tuple[int, float]:
    direction = uint64(lowest_bit(moves))
    return (state + graph.offset[direction]) & MOST_STATES, PRICE[direction]


@kernel
def price_towards(graph: Terrain, state: int, direction: int) -> float:
    """Return the cost of a legal move in this direction.

    It is the move's length times the mean cost of the cells that it touches, rounded up to a multiple of 2**-32.
    """
    weight = graph.weight
    both = weight[state] + weight[state + graph.offset[direction]]
    if direction & 1 == 0:
        exact = 0.5 * both
    else:
        passed = weight[state + graph.offset[direction - 1]] + weight[state + graph.offset[(direction + 1) & 7]]
        exact = ((0.5 - graph.beside) * both + graph.beside * passed) * DIAGONAL
    return rounded_up(exact)


@kernel
def rounded_up(cost: float) -> float:
    """Return the least multiple of 2**-32 that is at least ``cost``, which is below 2**31."""
    steps = int64(cost * GRAIN)
    if steps < cost * GRAIN:
        steps += 1
    return steps * (1.0 / GRAIN)


@price.of(Terrain)
def _terrain_price(graph: Terrain, state: int, k: int) -> float:
    return price_towards(graph, state, int64(DIRECTION[graph.mask[state], k]))


@first_of.of(Terrain)
def _terrain_first(graph: Terrain, state: int, moves: int) -> tuple[int, float]:
    direction = lowest_bit(moves)
    return (state + graph.offset[direction]) & MOST_STATES, price_towards(graph, state, direction)


@rest_of.of(Moves, Terrain, Sixteen)
def _moves_rest(graph: GridArrays | Sixteen, moves: int) -> int:
    return moves & (moves - 1)


@degree.of(Sixteen)
def _sixteen_degree(graph: Sixteen, state: int) -> int:
    mask = int64(graph.mask[state])
    return int64(COUNT[mask & 255]) + int64(COUNT[mask >> 8])


@kernel
def _nth_of_sixteen(graph: Sixteen, state: int, k: int) -> int:
    """Return the k-th legal direction. The mask has two bytes, and each is looked up."""
    mask = int64(graph.mask[state])
    first = int64(COUNT[mask & 255])
    return int64(DIRECTION[mask & 255, k]) if k < first else 8 + int64(DIRECTION[mask >> 8, k - first])


@target.of(Sixteen)
def _sixteen_target(graph: Sixteen, state: int, k: int) -> int:
    return (state + graph.offset[_nth_of_sixteen(graph, state, k)]) & MOST_STATES


@price.of(Sixteen)
def _sixteen_price(graph: Sixteen, state: int, k: int) -> float:
    return PRICE16[_nth_of_sixteen(graph, state, k)]


@first_of.of(Sixteen)
def _sixteen_first(graph: Sixteen, state: int, moves: int) -> tuple[int, float]:
    direction = uint64(lowest_bit(moves))
    return (state + graph.offset[direction]) & MOST_STATES, PRICE16[direction]


@estimate.of(Sixteen)
def _sixteen_estimate(graph: Sixteen, state: int, goal: int) -> float:
    dx = abs(int64(graph.x[state]) - int64(graph.x[goal]))
    dy = abs(int64(graph.y[state]) - int64(graph.y[goal]))
    return with_leaps(float(max(dx, dy)), float(min(dx, dy)))


@kernel
def direction_to(graph: GridArrays, state: int, to: int) -> int:
    """Return the direction from a cell to a neighbouring one, whether it is a move or not; 8 for any other cell."""
    right = int64(graph.x[to]) - int64(graph.x[state])
    down = int64(graph.y[to]) - int64(graph.y[state])
    if abs(right) > 1 or abs(down) > 1:
        return 8
    return int64(TOWARDS[down + 1, right + 1])


@prefetch_state.of(Moves, Terrain, Sixteen)
@prefetch_around.of(Sixteen)
def _moves_prefetch(graph: GridArrays | Sixteen, state: int) -> None:
    prefetch(graph.mask, state)
    prefetch(graph.x, state)
    prefetch(graph.y, state)


@prefetch_around.of(Moves, Terrain)
def _prefetch_three_rows(graph: GridArrays, state: int) -> None:
    for direction in range(0, 8, 4):
        near = state + graph.offset[direction]
        prefetch(graph.mask, near)
        prefetch(graph.x, near)
        prefetch(graph.y, near)
    prefetch(graph.mask, state)
    prefetch(graph.x, state)
    prefetch(graph.y, state)


@prefetch_around.of(Csr)
def _prefetch_arcs(graph: Csr, state: int) -> None:
    prefetch(graph.first, state)


@beside.of(Moves, Terrain)
def _cell_beside(graph: GridArrays, state: int, direction: int) -> int:
    width = graph.offset[4]
    x, y = int64(graph.x[state]) + DX[direction], int64(graph.y[state]) + DY[direction]
    return y * width + x if 0 <= x < width and y >= 0 and y * width < len(graph.mask) else -1


@beside.of(Csr, Sixteen)
def _nothing_beside(graph: Csr | Sixteen, state: int, direction: int) -> int:
    return -1


@estimate.of(Moves)
def _moves_estimate(graph: Moves, state: int, goal: int) -> float:
    dx = abs(int64(graph.x[state]) - int64(graph.x[goal]))
    dy = abs(int64(graph.y[state]) - int64(graph.y[goal]))
    near, far = min(dx, dy), max(dx, dy)
    return (far - near) + near * graph.diagonal


@estimate.of(Terrain)
def _terrain_estimate(graph: Terrain, state: int, goal: int) -> float:
    dx = abs(int64(graph.x[state]) - int64(graph.x[goal]))
    dy = abs(int64(graph.y[state]) - int64(graph.y[goal]))
    near, far = min(dx, dy), max(dx, dy)
    return (far - near) * graph.straight + near * graph.diagonal


@unit.of(Moves, Sixteen)
def _moves_unit(graph: Moves | Sixteen) -> float:
    return 1.0


@unit.of(Terrain)
def _terrain_unit(graph: Terrain) -> float:
    return graph.unit


@stride.of(Terrain)
def _terrain_stride(graph: Terrain) -> float:
    return graph.straight


@enterable.of(Moves, Terrain, Sixteen)
def _moves_enterable(graph: GridArrays | Sixteen, state: int) -> bool:
    return True


@size.of(Csr)
def _csr_size(graph: Csr) -> int:
    return len(graph.first) - 1


@degree.of(Csr)
def _csr_degree(graph: Csr, state: int) -> int:
    return graph.first[state + 1] - graph.first[state]


@target.of(Csr)
def _csr_target(graph: Csr, state: int, k: int) -> int:
    return int64(graph.neighbour[graph.first[state] + k])


@price.of(Csr)
def _csr_price(graph: Csr, state: int, k: int) -> float:
    return graph.cost[graph.first[state] + k]


@estimate.of(Csr)
def _csr_estimate(graph: Csr, state: int, goal: int) -> float:
    return distance(graph.point, graph.metric, state, goal)


@stride.of(tuple)
def _unit_stride(graph: Layout) -> float:
    return 1.0


@unit.of(Csr)
def _csr_unit(graph: Csr) -> float:
    return graph.unit


@enterable.of(Csr)
def _csr_enterable(graph: Csr, state: int) -> bool:
    return True
