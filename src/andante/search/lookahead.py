"""A d-ply lookahead: all states up to d moves away, with the cheapest way to each inside the ball.

Plies are those of a breadth-first search. A state's cost is that of the cheapest way to it through expanded states,
which need not be the breadth-first one, and of equal ways the one whose first move comes first in the neighbour
order. Along a way f never falls (path-max). The goal, whose value is always 0, is a leaf wherever it is met.

States of the last ply are looked at, not kept: the best move into it is all an agent wants to know.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.learning import Learned, value
from andante.search.memory import EXPANDED, Space, note
from andante.world.graph import Arrays, Moves, degree, price, target


class Ball(NamedTuple):
    """The states of one lookahead but for its last ply, in breadth-first order; the first is the agent's own."""

    slot: npt.NDArray[np.int32]  # [n], where a state stands in the arrays below
    mark: npt.NDArray[np.uint32]  # [n], the lookahead that put it there
    now: npt.NDArray[np.uint32]  # [1], this lookahead's number
    state: npt.NDArray[np.int32]  # [capacity]
    ply: npt.NDArray[np.int32]  # [capacity]
    g: npt.NDArray[np.float64]  # [capacity]
    f: npt.NDArray[np.float64]  # [capacity], weight * g + h with path-max
    first: npt.NDArray[np.int32]  # [capacity], the first move of the way here: its place in the neighbour order
    parent: npt.NDArray[np.int32]  # [capacity], slot of the state before

    @classmethod
    def allocate(cls, space: Space) -> Ball:
        """Room for a lookahead as deep as the parameter ``depth`` says."""
        n, most = space.states, most_states(space.graph.arrays, space.params.depth, space.states)
        return cls(
            np.zeros(n, np.int32),
            np.zeros(n, np.uint32),
            np.zeros(1, np.uint32),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
            np.zeros(most),
            np.zeros(most),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
        )


def most_states(arrays: Arrays, depth: int, states: int) -> int:
    """The most states that a lookahead of this depth can expand."""
    return min(states, (2 * depth - 1) ** 2) if isinstance(arrays, Moves) else states


class Frontier(NamedTuple):
    """What a lookahead found: the best way out of the ball, and what it took."""

    f: float  # weight * g + h at its end, with path-max; infinite if there is nowhere to go
    first: int  # its first move: the place in the neighbour order of the agent's state
    slot: int  # the last of its states inside the ball ...
    move: int  # ... and the move it makes from there; -1 if it ends inside
    size: int  # states in the ball
    expanded: int
    touched: int  # moves looked at


@kernel
def look(ball: Ball, graph: Arrays, h: Learned, state: int, goal: int, depth: int, weight: float) -> Frontier:
    """Look ``depth`` moves ahead from ``state`` with f = ``weight`` * g + h, and find the best way to the frontier."""
    _place_root(ball, state)
    size, inside, touched, again = 1, 0, 0, False
    while inside < size and ball.ply[inside] < depth - 1:
        if ball.state[inside] != goal:
            size, moved = _open_neighbours(ball, graph, h, inside, goal, weight, size)
            again = again or moved
            touched += degree(graph, int64(ball.state[inside]))
            note(h.log, EXPANDED, ball.state[inside], ball.g[inside])
        inside += 1
    while again:  # a state was reached more cheaply after it had been expanded: let that spread
        again = False
        for slot in range(inside):
            if ball.state[slot] != goal:
                _, moved = _open_neighbours(ball, graph, h, slot, goal, weight, size)
                again = again or moved
    best, first, best_slot, move = np.inf, 0, -1, -1
    for slot in range(inside, size):
        if ball.state[slot] == goal:
            continue
        touched += degree(graph, int64(ball.state[slot]))
        note(h.log, EXPANDED, ball.state[slot], ball.g[slot])
        f, k = _best_exit(ball, graph, h, slot, goal, weight, size)
        start = k if slot == 0 else int64(ball.first[slot])
        if f < best or (f == best and start < first):
            best, first, best_slot, move = f, start, slot, k
    if size > 1 and (best_slot < 0 or ball.mark[goal] == ball.now[0]):
        best, first, best_slot, move = _end_inside(ball, size, goal, best, first, best_slot, move)
    return Frontier(best, first, best_slot, move, size, size, touched)


@kernel
def _place_root(ball: Ball, state: int) -> None:
    ball.now[0] += 1
    if ball.now[0] == 0:  # once in four billion lookaheads the numbers run out
        ball.mark[:] = 0
        ball.now[0] = 1
    ball.mark[state], ball.slot[state] = ball.now[0], 0
    ball.state[0], ball.ply[0], ball.first[0], ball.parent[0] = state, 0, -1, -1
    ball.g[0], ball.f[0] = 0.0, 0.0  # the agent's own value is what the lookahead is to improve: it bounds nothing


@kernel
def _open_neighbours(
    ball: Ball, graph: Arrays, h: Learned, slot: int, goal: int, weight: float, size: int
) -> tuple[int, bool]:
    """Bring the neighbours of one state into the ball, or nearer: its size, and did an earlier state come nearer?"""
    state = int64(ball.state[slot])
    earlier = False
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        g = ball.g[slot] + price(graph, state, k)
        first = k if slot == 0 else int64(ball.first[slot])
        if ball.mark[near] != ball.now[0]:
            there = size
            ball.mark[near], ball.slot[near] = ball.now[0], there
            ball.state[there], ball.ply[there] = near, ball.ply[slot] + 1
            size += 1
        else:
            there = int64(ball.slot[near])
            if g > ball.g[there] or (g == ball.g[there] and first >= ball.first[there]):
                continue
            earlier = earlier or there <= slot
        ball.g[there], ball.first[there], ball.parent[there] = g, first, slot
        ball.f[there] = max(ball.f[slot], weight * g + value(h, graph, near, goal))
    return size, earlier


@kernel
def _best_exit(
    ball: Ball, graph: Arrays, h: Learned, slot: int, goal: int, weight: float, size: int
) -> tuple[float, int]:
    """The best f of a move from one state out of the ball, and which move it is; infinite and -1 if there is none."""
    state = int64(ball.state[slot])
    least, best = np.inf, -1
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if size > 1 and ball.mark[near] == ball.now[0]:
            continue
        f = weight * (ball.g[slot] + price(graph, state, k)) + value(h, graph, near, goal)
        if f < least:
            least, best = f, k
    return max(ball.f[slot], least), best


@kernel
def _end_inside(
    ball: Ball, size: int, goal: int, best: float, first: int, best_slot: int, move: int
) -> tuple[float, int, int, int]:
    """The best way if ways may also end inside: at the goal or, where there is no last ply, at the deepest."""
    deepest = ball.ply[size - 1] if best_slot < 0 else -1
    for slot in range(1, size):
        if ball.state[slot] != goal and ball.ply[slot] != deepest:
            continue
        f = ball.f[slot]
        if f < best or (f == best and ball.first[slot] < first):
            best, first, best_slot, move = f, int64(ball.first[slot]), slot, -1
    return best, first, best_slot, move
