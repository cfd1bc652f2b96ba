"""A d-ply lookahead: all states up to d moves away, with the cheapest path to each inside the ball.

Plies are those of a breadth-first search. A state's cost is that of the cheapest path to it through expanded states,
which need not be the breadth-first one. Among equal paths the one whose first move comes first in the neighbour order
wins. By default f never decreases along a path (path-max). The goal, whose value is always 0, is a leaf wherever it is
reached.

States of the last ply are generated but not stored, because an agent needs only the best move into it.

A lookahead can be continued, one move deeper at a time (`deepen`). Its ball is kept and grows by a ply, and only that
ply is generated. The result is the same as that of a new lookahead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.learning import Learned, value
from andante.search.memory import EXPANDED, Space, note
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, Csr, Layout, Moves, Sixteen, degree, enterable, estimate, price, target

BALL = np.dtype(
    [
        ("now", np.uint32),  # this lookahead's number
        ("cheapest", np.float64),  # the cost of the graph's cheapest move
        ("even", np.int64),  # up to this depth no detour within a ply is cheaper, as its states have similar costs
        ("head", np.int64),  # the index in the ring of the first slot in the queue
        ("queued", np.int64),  # slots in the queue
        ("farthest", np.float64),  # the greatest g of a state that may get a cheaper path, among those measured
        ("measured", np.int64),  # the number of slots measured
        ("ties", np.bool_),  # whether paths of different length may cost the same; a + b * sqrt 2 cannot
    ],
    align=True,
)


class Ball(NamedTuple):
    """The states of one lookahead except its last ply, in breadth-first order; the first is the agent's own."""

    slot: npt.NDArray[np.int32]  # [n], the index of a state in the arrays below
    mark: npt.NDArray[np.uint32]  # [n], the lookahead that stored it
    state: npt.NDArray[np.int32]  # [capacity]
    ply: npt.NDArray[np.int32]  # [capacity]
    g: npt.NDArray[np.float64]  # [capacity]
    f: npt.NDArray[np.float64]  # [capacity], weight * g + h, with path-max unless it is off
    first: npt.NDArray[np.int32]  # [capacity], the first move of the path here: its index in the neighbour order
    parent: npt.NDArray[np.int32]  # [capacity], slot of the previous state
    queue: npt.NDArray[np.int32]  # [capacity], a ring: slots of states whose better path has yet to be propagated
    waiting: npt.NDArray[np.bool_]  # [capacity], whether a slot is in the queue
    scalars: npt.NDArray[Any]  # [1], of BALL

    @classmethod
    def allocate(cls, space: Space) -> Ball:
        """Return arrays for a lookahead of the depth given by the parameter ``depth``."""
        most = most_states(space.graph.arrays, space.params.depth, space.states)
        return cls.over(space.states, most, *space.graph.cost_range, ties=not isinstance(space.graph.arrays, Moves))

    @classmethod
    def over(cls, n: int, most: int, cheapest: float, highest: float, *, ties: bool) -> Ball:
        """Return arrays for lookaheads that expand up to ``most`` of ``n`` states, by moves of these costs."""
        scalars = np.zeros(1, BALL)
        scalars["cheapest"], scalars["even"], scalars["ties"] = cheapest, even_depth(cheapest, highest), ties
        return cls(
            np.zeros(n, np.int32),
            np.zeros(n, np.uint32),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
            np.zeros(most),
            np.zeros(most),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
            np.zeros(most, np.bool_),
            scalars,
        )


def most_states(arrays: Arrays, depth: int, states: int) -> int:
    """Return the largest number of states that a lookahead of this depth can expand."""
    if isinstance(arrays, Csr):
        return states
    reach = (depth - 1) * (2 if isinstance(arrays, Sixteen) else 1)  # columns or rows to each side
    return min(states, (2 * reach + 1) ** 2)


def even_depth(cheapest: float, highest: float) -> int:
    """Return the greatest depth at which moves within the last expanded ply can be ignored: they save no cost.

    >>> even_depth(1.0, 2**0.5)
    3
    """
    plies = (1 - TOLERANCE) / max(highest / cheapest - 1, TOLERANCE)
    return 1 + int(plies)


class Frontier(NamedTuple):
    """The result of a lookahead: the best path out of the ball, and the cost of finding it."""

    f: float  # weight * g + h at its end; infinite if there is no path
    first: int  # its first move: the index in the neighbour order of the agent's state
    slot: int  # the last of its states inside the ball
    move: int  # the move that it makes from there; -1 if it ends inside
    size: int  # states in the ball
    expanded: int
    touched: int  # moves generated


@kernel
def look(
    ball: Ball,
    graph: Layout,
    h: Learned,
    state: int,
    goal: int,
    depth: int,
    weight: float,
    path_max: bool = True,
    slack: float = 0.0,
) -> Frontier:
    """Look ``depth`` moves ahead from ``state`` with f = ``weight`` * g + h, and find the best path to the frontier.

    Values of f that differ by at most ``slack`` count as equal, because weights make sums inexact. Without ``path_max``
    f may decrease along a path.
    """
    at = ball.scalars[0]
    if depth == 1:
        return _look_around(ball, graph, h, state, goal, weight, slack)
    _place_root(ball, state)
    size, inside, touched = 1, 0, 0
    while inside < size and ball.ply[inside] < depth - 1:
        if ball.state[inside] != goal:
            size = _open_neighbours(ball, graph, h, inside, goal, weight, path_max, size)
            touched += degree(graph, int64(ball.state[inside]))
            note(h.log, EXPANDED, ball.state[inside], ball.g[inside])
        inside += 1
    if depth > at["even"]:
        _note_farthest(ball, graph, size)
        look_back(ball, graph, h, goal, weight, path_max, inside, size)
    pass_on(ball, graph, h, goal, weight, path_max)
    return _best_path(ball, graph, h, goal, weight, path_max, slack, inside, size, touched)


@kernel
def deepen(
    ball: Ball,
    graph: Layout,
    h: Learned,
    goal: int,
    weight: float,
    seen: Frontier,
    path_max: bool = True,
    slack: float = 0.0,
) -> Frontier:
    """Look one move deeper than the last lookahead in this ball, which found ``seen``; return the result of `look`.

    This takes time proportional to the last two plies and the states that get a cheaper path through them. If there is
    no deeper ply, return ``seen``.
    """
    at = ball.scalars[0]
    if seen.size == 1:
        _place_root(ball, int64(ball.state[0]))  # a lookahead of one move needs no ball
    inside, size = seen.size, seen.size
    while inside > 0 and ball.ply[inside - 1] == ball.ply[seen.size - 1]:
        inside -= 1
    for slot in range(inside, seen.size):
        if ball.state[slot] != goal:
            size = _open_neighbours(ball, graph, h, slot, goal, weight, path_max, size)
    if size == seen.size:
        return seen  # nothing to propagate: no move within the ball gives a state a cheaper path
    _note_farthest(ball, graph, size)
    if ball.ply[size - 1] >= at["even"]:
        look_back(ball, graph, h, goal, weight, path_max, seen.size, size)
    pass_on(ball, graph, h, goal, weight, path_max)
    return _best_path(ball, graph, h, goal, weight, path_max, slack, seen.size, size, seen.touched)


@kernel
def _best_path(
    ball: Ball,
    graph: Layout,
    h: Learned,
    goal: int,
    weight: float,
    path_max: bool,
    slack: float,
    inside: int,
    size: int,
    touched: int,
) -> Frontier:
    """Return the best path out of a ball whose last ply begins at slot ``inside``; ``touched`` was counted before."""
    at = ball.scalars[0]
    best, first, best_slot, move = np.inf, -1, -1, -1
    for slot in range(inside, size):
        if ball.state[slot] == goal:
            continue
        touched += degree(graph, int64(ball.state[slot]))
        note(h.log, EXPANDED, ball.state[slot], ball.g[slot])
        f, k = _best_exit(ball, graph, h, slot, goal, weight, path_max, slack)
        start = k if slot == 0 else int64(ball.first[slot])
        if k >= 0 and (f < best - slack or (f <= best + slack and start < first)):
            best, first, best_slot, move = f, start, slot, k
    if best_slot < 0 or ball.mark[goal] == at["now"]:
        best, first, best_slot, move = _end_inside(ball, size, goal, slack, best, first, best_slot, move)
    expanded = size - 1 if ball.mark[goal] == at["now"] else size
    return Frontier(best, first, best_slot, move, size, expanded, touched)


@kernel
def _look_around(ball: Ball, graph: Layout, h: Learned, state: int, goal: int, weight: float, slack: float) -> Frontier:
    """Look one move ahead, where only the neighbours matter."""
    ball.state[0] = state
    moves = degree(graph, state)
    note(h.log, EXPANDED, state, 0.0)
    least, best = np.inf, -1
    for k in range(moves):
        near = target(graph, state, k)
        if not enterable(graph, near):
            continue
        f = weight * price(graph, state, k) + value(h, graph, near, goal)
        if f < least - slack:
            least, best = f, k
    return Frontier(least, best, 0 if best >= 0 else -1, best, 1, 1, moves)


@kernel
def _place_root(ball: Ball, state: int) -> None:
    at = ball.scalars[0]
    at["now"] += 1
    if at["now"] == 0:  # after four billion lookaheads the numbers start again
        ball.mark[:] = 0
        at["now"] = 1
    ball.mark[state], ball.slot[state] = at["now"], 0
    ball.state[0], ball.ply[0], ball.first[0], ball.parent[0] = state, 0, -1, -1
    ball.g[0], ball.f[0] = 0.0, 0.0  # the agent's own value will be improved, so it is not a lower bound here
    at["farthest"], at["measured"] = 0.0, 1


@kernel
def _open_neighbours(
    ball: Ball, graph: Layout, h: Learned, slot: int, goal: int, weight: float, path_max: bool, size: int
) -> int:
    """Add the neighbours of one state to the ball, or give them a cheaper path, and return the size of the ball.

    Those that were opened before are queued.
    """
    at = ball.scalars[0]
    state = int64(ball.state[slot])
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if not enterable(graph, near):
            continue
        g = ball.g[slot] + price(graph, state, k)
        first = k if slot == 0 else int64(ball.first[slot])
        if ball.mark[near] != at["now"]:
            there = size
            ball.mark[near], ball.slot[near] = at["now"], there
            ball.state[there], ball.ply[there] = near, ball.ply[slot] + 1
            size += 1
        else:
            there = int64(ball.slot[near])
            if _is_no_better(ball, there, g, first):
                continue
            if there < slot:
                _wait(ball, there)
        _reach(ball, graph, h, there, near, slot, g, first, goal, weight, path_max)
    return size


@kernel
def _is_no_better(ball: Ball, slot: int, g: float, first: int) -> bool:
    """Return whether a path of cost ``g`` that begins with move ``first`` is no better than the known path."""
    return g > ball.g[slot] or (g == ball.g[slot] and first >= ball.first[slot])


@kernel
def _reach(
    ball: Ball,
    graph: Layout,
    h: Learned,
    slot: int,
    state: int,
    parent: int,
    g: float,
    first: int,
    goal: int,
    weight: float,
    path_max: bool,
) -> None:
    ball.g[slot], ball.first[slot], ball.parent[slot] = g, first, parent
    f = weight * g + value(h, graph, state, goal)
    ball.f[slot] = max(ball.f[parent], f) if path_max else f


# --- paths through the ball that are cheaper than the first ---------------------------------------------------------


@kernel
def _wait(ball: Ball, slot: int) -> None:
    """Queue a state that was reached by a better path, to propagate that path to its neighbours."""
    at = ball.scalars[0]
    if not ball.waiting[slot]:
        ball.waiting[slot] = True
        ball.queue[(at["head"] + at["queued"]) % len(ball.queue)] = slot
        at["queued"] += 1


@kernel
def _note_farthest(ball: Ball, graph: Layout, size: int) -> None:
    """Record the greatest g of the states that may still get a cheaper path, or an equally cheap one."""
    at = ball.scalars[0]
    root = int64(ball.state[0])
    for slot in range(at["measured"], size):
        if ball.g[slot] <= at["farthest"]:
            continue
        if at["ties"] or ball.g[slot] > estimate(graph, root, int64(ball.state[slot])):
            at["farthest"] = ball.g[slot]
    at["measured"] = size


@kernel
def look_back(
    ball: Ball, graph: Layout, h: Learned, goal: int, weight: float, path_max: bool, inside: int, size: int
) -> None:
    """Find cheaper paths that use moves back into the ball from its last ply, which was not opened (see `pass_on`)."""
    at = ball.scalars[0]
    for slot in range(inside, size):
        state = int64(ball.state[slot])
        if ball.g[slot] + at["cheapest"] > at["farthest"] or state == goal:
            continue
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            if ball.mark[near] != at["now"]:
                continue
            g, there = ball.g[slot] + price(graph, state, k), int64(ball.slot[near])
            if not _is_no_better(ball, there, g, int64(ball.first[slot])):
                _reach(ball, graph, h, there, near, slot, g, int64(ball.first[slot]), goal, weight, path_max)
                _wait(ball, there)


@kernel
def pass_on(ball: Ball, graph: Layout, h: Learned, goal: int, weight: float, path_max: bool) -> None:
    """Propagate better paths through the ball until there are none; among equal ones the lower slot wins.

    Its states were expanded before, so they do not count again: see "What counts as an expansion" in CONTRIBUTING.md.
    """
    at = ball.scalars[0]
    while at["queued"] > 0:
        slot = int64(ball.queue[at["head"]])
        ball.waiting[slot] = False
        at["head"] = (at["head"] + 1) % len(ball.queue)
        at["queued"] -= 1
        state = int64(ball.state[slot])
        if state == goal:
            continue
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            if ball.mark[near] != at["now"]:
                continue
            there = int64(ball.slot[near])
            g = ball.g[slot] + price(graph, state, k)
            first = k if slot == 0 else int64(ball.first[slot])
            if g <= ball.g[slot]:  # the cost is rounded away: paths of such moves could form a cycle
                continue
            same = g == ball.g[there] and first == ball.first[there]
            if slot > ball.parent[there] if same else _is_no_better(ball, there, g, first):
                continue
            f = ball.f[there]
            _reach(ball, graph, h, there, near, slot, g, first, goal, weight, path_max)
            if not same or ball.f[there] != f:
                _wait(ball, there)


# --- the best path out ----------------------------------------------------------------------------------------------


@kernel
def _best_exit(
    ball: Ball,
    graph: Layout,
    h: Learned,
    slot: int,
    goal: int,
    weight: float,
    path_max: bool,
    slack: float,
) -> tuple[float, int]:
    """Return the best f of a move from one state out of the ball, and that move; infinity and -1 if there is none."""
    at = ball.scalars[0]
    state = int64(ball.state[slot])
    least, best = np.inf, -1
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if ball.mark[near] == at["now"] or not enterable(graph, near):
            continue
        f = weight * (ball.g[slot] + price(graph, state, k)) + value(h, graph, near, goal)
        if f < least - slack:
            least, best = f, k
    return max(ball.f[slot], least) if path_max else least, best


@kernel
def _end_inside(
    ball: Ball, size: int, goal: int, slack: float, best: float, first: int, best_slot: int, move: int
) -> tuple[float, int, int, int]:
    """Return the best path if paths may also end inside: at the goal or, if no move leads out, in the deepest ply."""
    deepest = ball.ply[size - 1] if best_slot < 0 else -1
    for slot in range(1, size):
        if ball.state[slot] != goal and ball.ply[slot] != deepest:
            continue
        f = ball.f[slot]
        if f < best - slack or (f <= best + slack and ball.first[slot] < first):
            best, first, best_slot, move = f, int64(ball.first[slot]), slot, -1
    return best, first, best_slot, move


# --- what agents use ------------------------------------------------------------------------------------------------


@kernel
def max_of_min(ball: Ball, best: Frontier, goal: int) -> float:
    """Return the maximum over all plies of the least f in the ply; the frontier is the last ply."""
    greatest, least, met, ply = best.f, np.inf, np.inf, 1
    for slot in range(1, best.size):
        if ball.ply[slot] != ply:
            greatest, least, ply = max(greatest, least), met, int64(ball.ply[slot])
        least = min(least, ball.f[slot])
        if ball.state[slot] == goal:
            met = ball.f[slot]
    return greatest if best.size == 1 else max(greatest, least)


@kernel
def path_out(ball: Ball, graph: Layout, best: Frontier, path: npt.NDArray[np.int32]) -> int:
    """Write the states of the best path to the frontier to ``path``, the last first; return the number of moves."""
    moves, slot = 0, best.slot
    if best.move >= 0:
        path[0] = target(graph, int64(ball.state[slot]), best.move)
        moves = 1
    while slot > 0 and moves < len(path):
        path[moves] = ball.state[slot]
        moves += 1
        slot = int64(ball.parent[slot])
    return moves
