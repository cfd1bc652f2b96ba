"""Hill-climbing: following the heuristic, without learning, as long as it falls.

Whatever hill-climbing can reach, LRTA* with a lookahead of one move reaches too, and learns nothing on the way (Bulitko
and Björnsson 2009, section 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel, uint64
from andante.world.heuristics import DIAGONAL, TOLERANCE
from andante.world.layout import (
    COUNT,
    DX,
    DY,
    PRICE,
    Arrays,
    Csr,
    Layout,
    Moves,
    Sixteen,
    Terrain,
    degree,
    estimate,
    price,
    target,
    unit,
)


class Climb(NamedTuple):
    """The result of an attempt at hill-climbing, and its cost."""

    arrived: bool
    expanded: int  # states whose neighbours were generated, one per step
    touched: int


@kernel
def climb(graph: Arrays, state: int, goal: int, most: int) -> Climb:
    """Move to the neighbour with the least cost plus heuristic, the first of equal ones, until at ``goal``.

    The climb fails where the heuristic does not fall, and after ``most`` steps.
    """
    expanded, touched = 0, 0
    while state != goal:
        if expanded == most:
            return Climb(False, expanded, touched)
        expanded, touched = expanded + 1, touched + degree(graph, state)
        state = step_down(graph, state, goal)
        if state < 0:
            return Climb(False, expanded, touched)
    return Climb(True, expanded, touched)


# --- moving straight ------------------------------------------------------------------------------------------------


@generic
def straight(graph: Layout, state: int, goal: int) -> int:
    """Return the next state of a climb that costs no more than the heuristic; -1 if there is none.

    It is the move that LRTA* with a lookahead of one makes from ``state`` to ``goal``. If such moves lead all the way,
    the path is optimal.
    """
    raise TypeError(graph)


@straight.of(Csr, Terrain, Sixteen)
def _straight_on_a_graph(graph: Layout, state: int, goal: int) -> int:
    best, least = -1, np.inf
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        f = price(graph, state, k) + estimate(graph, near, goal)
        if f < least:
            best, least = near, f
    return best if least <= estimate(graph, state, goal) + TOLERANCE * unit(graph) else -1


def _directions(diagonals: bool) -> npt.NDArray[np.uint8]:
    """Return the straight directions to a goal (dx, dy) away, as bits, by the signs of dx, dy and |dx| - |dy|."""
    found = np.zeros((3, 3, 3), np.uint8)
    for sx, sy, longer in np.ndindex(3, 3, 3):
        for d in range(8):
            along = (DX[d] == sx - 1 != 0, DY[d] == sy - 1 != 0)  # one column nearer, one row nearer
            away = (DX[d] not in (0, sx - 1)) or (DY[d] not in (0, sy - 1))
            if away or not any(along):
                continue
            if not diagonals:
                fits = d % 2 == 0
            elif d % 2:
                fits = all(along)
            else:  # a cardinal move is straight only along the longer side
                fits = longer == (2 if along[0] else 0)
            found[sx, sy, longer] |= np.uint8(fits << d)
    return found


_OCTILE, _CARDINAL = _directions(True), _directions(False)
_FIRST_BIT = np.array([-1] + [(bits & -bits).bit_length() - 1 for bits in range(1, 256)], np.int8)


@straight.of(Moves)
def _straight_on_a_grid(graph: Moves, state: int, goal: int) -> int:
    dx = int64(graph.x[goal]) - int64(graph.x[state])
    dy = int64(graph.y[goal]) - int64(graph.y[state])
    longer = abs(dx) - abs(dy)
    sx, sy, side = 1 + (dx > 0) - (dx < 0), 1 + (dy > 0) - (dy < 0), 1 + (longer > 0) - (longer < 0)
    fitting = _CARDINAL[sx, sy, side] if graph.diagonal == 2.0 else _OCTILE[sx, sy, side]
    first = _FIRST_BIT[graph.mask[state] & fitting]
    return state + graph.offset[first] if first >= 0 else -1


# --- the move of a greedy agent -------------------------------------------------------------------------------------


@generic
def greedy_moves(graph: Layout, state: int, goal: int) -> tuple[int, int]:
    """Return the most and the least expensive move among those of least cost plus heuristic, the first of equal ones.

    On grids the former prefers diagonal moves, the latter straight ones. ``state`` must have a move. Costs are compared
    without a tolerance, because the same arithmetic is used wherever a greedy move is computed.
    """
    raise TypeError(graph)


@greedy_moves.of(Csr, Terrain, Sixteen)
def _greedy_on_a_graph(graph: Layout, state: int, goal: int) -> tuple[int, int]:
    longest, shortest, least, high, low = 0, 0, np.inf, 0.0, 0.0
    for k in range(degree(graph, state)):
        cost = price(graph, state, k)
        f = cost + estimate(graph, target(graph, state, k), goal)
        if f < least:
            longest, shortest, least, high, low = k, k, f, cost, cost
        elif f == least:
            if cost > high:
                longest, high = k, cost
            if cost < low:
                shortest, low = k, cost
    return longest, shortest


@generic
def step_down(graph: Layout, state: int, goal: int) -> int:
    """Return the target of the first move with the least cost plus heuristic; -1 if the heuristic does not fall.

    ``state`` must not be the goal.
    """
    raise TypeError(graph)


@step_down.of(Csr, Terrain, Sixteen)
def _down_on_a_graph(graph: Layout, state: int, goal: int) -> int:
    best, least, lowest = -1, np.inf, np.inf
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        h = estimate(graph, near, goal)
        f = price(graph, state, k) + h
        if f < least:
            best, least, lowest = near, f, h
    return best if lowest < estimate(graph, state, goal) else -1


def _heights(diagonal: float) -> Iterator[tuple[float, list[float]]]:
    """Yield the heuristic here and after a move in each direction, for each position of the goal.

    The amount by which a move lowers the heuristic depends only on the signs of dx and dy, and on |dx| - |dy| limited
    to -2 to 2.
    """
    for sx, sy, longer in np.ndindex(3, 3, 5):
        side = longer - 2
        dx = (sx - 1) * (2 * (sy != 1) + max(side, 0))
        dy = (sy - 1) * (2 * (sx != 1) + max(-side, 0))
        here, *after = (
            (max(x, y) - min(x, y)) + min(x, y) * diagonal
            for x, y in [(abs(dx), abs(dy)), *((abs(dx - int(DX[d])), abs(dy - int(DY[d]))) for d in range(8))]
        )
        yield here, after


def _greedy(diagonal: float) -> npt.NDArray[np.uint8]:
    """Return the greedy moves for each set of legal directions and each position of the goal.

    The lower four bits are the most expensive of equal moves, the upper four the least expensive.
    """
    mask, found = np.arange(256), np.zeros((256, 45), np.uint8)
    for place, (_, after) in enumerate(_heights(diagonal)):
        for shift, sign in ((0, -1.0), (4, 1.0)):
            chosen = np.zeros(256, np.uint8)
            for d in sorted(range(8), key=lambda d: (PRICE[d] + after[d], sign * PRICE[d], d), reverse=True):
                chosen = np.where(mask >> d & 1, COUNT[mask & (1 << d) - 1], chosen)  # the last one is the best
            found[:, place] |= chosen << shift
    return found


def _down(diagonal: float) -> npt.NDArray[np.uint8]:
    """Return the direction of `step_down` for each set of legal directions and each goal position; 8 for none."""
    mask, found = np.arange(256), np.full((256, 45), 8, np.uint8)
    for place, (here, after) in enumerate(_heights(diagonal)):
        for d in sorted(range(8), key=lambda d: (PRICE[d] + after[d], d), reverse=True):
            found[mask >> d & 1 == 1, place] = d if after[d] < here else 8  # the last one is the best
    return found


_GREEDY, _GREEDY_CARDINAL = _greedy(DIAGONAL), _greedy(2.0)
_DOWN, _DOWN_CARDINAL = _down(DIAGONAL), _down(2.0)


@greedy_moves.of(Moves)
def _greedy_on_a_grid(graph: Moves, state: int, goal: int) -> tuple[int, int]:
    mask, place = uint64(graph.mask[state]), _place(graph, state, goal)
    both = int64(_GREEDY_CARDINAL[mask, place] if graph.diagonal == 2.0 else _GREEDY[mask, place])
    return both & 15, both >> 4


@step_down.of(Moves)
def _down_on_a_grid(graph: Moves, state: int, goal: int) -> int:
    mask, place = uint64(graph.mask[state]), _place(graph, state, goal)
    direction = _DOWN_CARDINAL[mask, place] if graph.diagonal == 2.0 else _DOWN[mask, place]
    return state + graph.offset[direction] if direction < 8 else -1


@kernel
def _place(graph: Moves, state: int, goal: int) -> int:
    """Return the column of the goal's position in a table of greedy moves."""
    dx = int64(graph.x[goal]) - int64(graph.x[state])
    dy = int64(graph.y[goal]) - int64(graph.y[state])
    side = min(max(abs(dx) - abs(dy), -2), 2)
    sx, sy = 1 + (dx > 0) - (dx < 0), 1 + (dy > 0) - (dy < 0)
    return uint64((sx * 3 + sy) * 5 + side + 2)


# --- moving to the goal when it is next -----------------------------------------------------------------------------


class Approach(NamedTuple):
    """The next move of an agent that approaches a goal."""

    move: int  # -1 if there is none
    height: float  # the heuristic after the move


@kernel
def approach(graph: Arrays, state: int, goal: int, height: float) -> Approach:
    """Return the move to an adjacent goal, else the move of least cost plus heuristic if the heuristic falls.

    ``height`` is the heuristic of ``state``. On grids this is a step of `climb`. On other graphs the heuristic may be
    of little or no use; a state next to the goal still moves to it.
    """
    best, least, lowest = -1, np.inf, np.inf
    final, cheapest = -1, np.inf
    for k in range(degree(graph, state)):
        near, cost = target(graph, state, k), price(graph, state, k)
        if near == goal and cost < cheapest:
            final, cheapest = k, cost
        h = estimate(graph, near, goal)
        if cost + h < least:
            best, least, lowest = k, cost + h, h
    if final >= 0:
        return Approach(final, 0.0)
    return Approach(best if lowest < height else -1, lowest)


class Ascent(NamedTuple):
    """The result of a step-by-step approach to a goal, and its cost."""

    arrived: bool
    cost: float  # of the path taken
    expanded: int
    touched: int


@kernel
def ascend(graph: Arrays, state: int, goal: int, most: int) -> Ascent:
    """`approach` the goal for at most ``most`` steps, or until no such move exists."""
    cost, expanded, touched = 0.0, 0, 0
    height = estimate(graph, state, goal)
    while state != goal:
        if expanded == most:
            return Ascent(False, cost, expanded, touched)
        ahead = approach(graph, state, goal, height)
        expanded, touched = expanded + 1, touched + degree(graph, state)
        if ahead.move < 0:
            return Ascent(False, cost, expanded, touched)
        cost += price(graph, state, ahead.move)
        state, height = target(graph, state, ahead.move), ahead.height
    return Ascent(True, cost, expanded, touched)


@kernel
def walk_straight(graph: Arrays, state: int, goal: int, most: int) -> float:
    """Return the cost of walking straight to the goal in at most ``most`` moves; infinite if it does not arrive."""
    walked = ascend(graph, state, goal, most)
    return walked.cost if walked.arrived else np.inf


@kernel
def walk_all_straight(
    graph: Arrays,
    starts: npt.NDArray[np.int64],
    goals: npt.NDArray[np.int64],
    costs: npt.NDArray[np.float64],
    most: int,
) -> None:
    """Write the result of `walk_straight` for each start and goal."""
    for i in range(len(starts)):
        costs[i] = walk_straight(graph, starts[i], goals[i], most)
