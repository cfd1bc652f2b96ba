"""Shorten a path while an agent follows it, by A* between two states of the path ahead of the agent.

Each state on the path stores the next state and the cost of the rest of the path. A window is the part of the path
between two of its states. A* searches for a cheaper connection, a few expansions per move; if it finds one, that
replaces the window. Each window begins in the middle of the previous one. When they have reached the goal, they begin
again ahead of the agent, twice as long. The last window reaches from the agent to the goal.

The stored cost of the rest never increases, and it is always higher than that of the next state. So following the path
from any of its states leads to the goal without a loop, whatever has been replaced.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.astar import Slice, Tree, advance, begin, cost_to, open_at, parent_of, reached
from andante.search.memory import Space
from andante.world.graph import Arrays, estimate, unit
from andante.world.heuristics import TOLERANCE

# The stage of the work on the current window.
IDLE, MEASURING, SEARCHING, SPLICING, DONE = 0, 1, 2, 3, 4

GUESS = 5  # expansions that A* is expected to take for each move of a window


#: A state's record, as in `search.buckets`, with other names for the fields of the queue. A search that is over needs
#: only g and the parents, so the path that it found is kept in the other fields.
PLACE = np.dtype(
    [
        ("g", np.float64),
        ("parent", np.int32),
        ("mark", np.uint32),
        ("rest", np.float64),  # upper bound on the cost of the path from here to the goal
        ("next", np.int32),
        ("number", np.uint32),  # the number of the path that the record belongs to
    ],
    align=True,
)

# Paths are numbered with what a queue never leaves in the field: neither a state nor a negative place in a ring.
FIRST_NUMBER, LAST_NUMBER = 1 << 31, (1 << 32) - (1 << 16)


class Route(NamedTuple):
    """The path. States of replaced windows stay on it: following ``next`` from any of them leads to the goal."""

    place: npt.NDArray[Any]  # [n or 0], of PLACE; the memory of the nodes of the search that found the path
    now: npt.NDArray[np.uint32]  # [1], the number of the current path

    @classmethod
    def through(cls, tree: Tree) -> Route:
        """Return a route for the paths that a search finds, in the search's own records."""
        return cls(tree.node.view(PLACE), np.full(1, FIRST_NUMBER, np.uint32))


class Window(NamedTuple):
    """The current window, and the search for a cheaper connection."""

    tree: Tree
    stage: npt.NDArray[np.int64]  # [1]
    size: npt.NDArray[np.int64]  # [1], moves from one end to the other
    lead: npt.NDArray[np.int64]  # [1], how many moves ahead of the agent a window begins at least
    age: npt.NDArray[np.int64]  # [1], moves of the agent since the window was begun
    first: npt.NDArray[np.int64]  # [1], the window's first state
    last: npt.NDArray[np.int64]  # [1], its last state, or the state measured up to so far
    moves: npt.NDArray[np.int64]  # [1], moves measured, later moves replaced
    here: npt.NDArray[np.int64]  # [1], the state up to which the window has been replaced, from its last backwards
    middle: npt.NDArray[np.int64]  # [1], where the next window begins; -1: ahead of the agent
    whole: npt.NDArray[np.bool_]  # [1], whether this window begins near the agent

    @classmethod
    def allocate(cls, space: Space) -> Window:
        """Return arrays for a search over all states; empty if the parameter ``window`` is not set."""
        n = 0 if space.params.window is None else space.states
        tree = Tree.over(n, space.graph.typical_cost, space.graph.cost_range[0], space.log)
        stage, size, lead, age, first, last, moves, here, middle = (np.zeros(1, np.int64) for _ in range(9))
        return cls(tree, stage, size, lead, age, first, last, moves, here, middle, np.zeros(1, np.bool_))


@kernel
def abandon(route: Route, window: Window, size: int) -> None:
    """Forget the path; windows on the next one begin with ``size`` moves."""
    if route.now[0] == LAST_NUMBER:  # once in two billion paths the numbers run out
        for state in range(len(route.place)):
            route.place[state]["number"] = 0
        route.now[0] = FIRST_NUMBER
    route.now[0] += 1
    window.stage[0], window.size[0], window.lead[0], window.middle[0] = IDLE, size, -1, -1


@kernel
def is_on(route: Route, state: int) -> bool:
    """Return whether ``state`` is on the path."""
    return route.place[state]["number"] == route.now[0]


@kernel
def lay(route: Route, tree: Tree, goal: int, end: int, most: int) -> None:
    """Add the last ``most`` moves by which a search reached ``end`` to the path to ``goal``."""
    if end == goal:
        _put(route, goal, goal, 0.0)
    state = end
    for _ in range(most):
        before = parent_of(tree, state)
        if before < 0:
            return
        _put(route, before, state, cost_to(tree, goal) - cost_to(tree, before))
        state = before


@kernel
def lay_back(route: Route, tree: Tree, state: int, most: int) -> int:
    """Connect ``state`` to the path through its parents in the tree, if that takes at most ``most`` moves.

    Returns the number of moves looked at.
    """
    meeting, moves = state, 0
    while moves < most and not is_on(route, meeting):
        meeting = parent_of(tree, meeting)
        moves += 1
        if meeting < 0:
            return moves
    if is_on(route, meeting):
        rest = rest_from(route, meeting) - cost_to(tree, meeting)
        while state != meeting:
            before = parent_of(tree, state)
            _put(route, state, before, rest + cost_to(tree, state))
            state = before
    return moves


@kernel
def _put(route: Route, state: int, after: int, rest: float) -> None:
    """Set the next state after ``state``, and the cost of the rest of the path from ``state``."""
    place = route.place[state]
    place["next"], place["rest"], place["number"] = after, rest, route.now[0]


@kernel
def next_on(route: Route, state: int) -> int:
    """Return the next state of the path."""
    return int64(route.place[state]["next"])


@kernel
def rest_from(route: Route, state: int) -> float:
    """Return an upper bound on the cost of the path from ``state`` to the goal; it never increases."""
    return route.place[state]["rest"]


@kernel
def shorten(
    route: Route, window: Window, graph: Arrays, state: int, goal: int, weight: float, expansions: int, steps: int
) -> Slice:
    """Continue to shorten the path ahead of the agent, within the given number of expansions and of steps on paths."""
    left, taken, expanded, touched = steps, 0, 0, 0
    window.age[0] += 1
    if IDLE < window.stage[0] < DONE and rest_from(route, state) < rest_from(route, window.first[0]):  # walked past it
        window.stage[0], window.lead[0], window.middle[0] = IDLE, 2 * window.lead[0] + 1, -1
    while window.stage[0] != DONE:
        if window.stage[0] == IDLE:
            if left == 0:
                break
            _place(window, state, expansions)
        if window.stage[0] == MEASURING:
            left -= _measure(route, window, graph, goal, weight, left)
        if window.stage[0] == SEARCHING:
            work = advance(window.tree, graph, window.last[0], weight, expansions - taken)
            taken, expanded, touched = taken + work.steps, expanded + work.expanded, touched + work.touched
            if work.over:
                window.stage[0] = SPLICING if _is_better(route, window, graph) else IDLE
                window.moves[0], window.here[0] = 0, window.last[0]
        if window.stage[0] == SPLICING:
            left -= _splice(route, window, left)
        if IDLE < window.stage[0] < DONE:  # the budget of this move is spent
            break
        if window.stage[0] == IDLE:
            _go_on(window, goal)
    return Slice(window.stage[0] == DONE, taken, expanded, touched + steps - left)


@kernel
def _place(window: Window, state: int, expansions: int) -> None:
    """Begin a window in the middle of the previous one or, if there is none, ahead of the agent."""
    if window.lead[0] < 0:
        window.lead[0] = GUESS * window.size[0] // expansions
    first, window.moves[0] = window.middle[0], 0
    window.whole[0] = first < 0
    if first < 0:
        first, window.moves[0] = state, -window.lead[0]
    window.first[0] = window.last[0] = window.middle[0] = first
    window.age[0] = 0
    window.stage[0] = MEASURING


@kernel
def _measure(route: Route, window: Window, graph: Arrays, goal: int, weight: float, most: int) -> int:
    """Follow the path to both ends of the window, begin the search, and return the number of steps."""
    steps, half = 0, max(1, window.size[0] // 2)
    while window.moves[0] < window.size[0] and window.last[0] != goal:
        if steps == most:
            return steps
        window.last[0] = next_on(route, window.last[0])
        window.moves[0] += 1
        steps += 1
        if window.moves[0] <= half:
            window.middle[0] = window.last[0]
        if window.moves[0] <= 0:
            window.first[0] = window.last[0]
    first, last = window.first[0], window.last[0]
    cost = rest_from(route, first) - rest_from(route, last)
    if cost <= estimate(graph, first, last) + TOLERANCE * unit(graph):  # it is a cheapest path already
        window.stage[0] = IDLE
        return steps
    begin(window.tree, graph, first, last, weight)
    if weight == 1.0:  # the cost of the present path bounds the search
        open_at(window.tree, graph, last, -1, cost, last, weight)
    window.stage[0] = SEARCHING
    return steps


@kernel
def _is_better(route: Route, window: Window, graph: Arrays) -> bool:
    """Return whether the search has found a cheaper path than the present one."""
    tree, first, last = window.tree, window.first[0], window.last[0]
    if not reached(tree, last):  # walls have been discovered in the meantime
        return False
    cost = rest_from(route, first) - rest_from(route, last)
    return parent_of(tree, last) >= 0 and cost_to(tree, last) < cost - TOLERANCE * unit(graph)


@kernel
def _splice(route: Route, window: Window, most: int) -> int:
    """Replace the window by the path that was found, from its end backwards, and return the number of steps."""
    tree, steps, half = window.tree, 0, max(1, window.size[0] // 2)
    state = window.here[0]
    before = parent_of(tree, state)
    while before >= 0:
        if steps == most:
            window.here[0] = state
            return steps
        rest = rest_from(route, state) + (cost_to(tree, state) - cost_to(tree, before))
        if not is_on(route, before) or rest < rest_from(route, before):
            _put(route, before, state, rest)
        steps += 1
        window.moves[0] += 1
        if window.moves[0] <= half:
            window.middle[0] = before
        state, before = before, parent_of(tree, before)
    window.stage[0] = IDLE
    return steps


@kernel
def _go_on(window: Window, goal: int) -> None:
    """Prepare the next window: longer ones after the goal was reached, until one covers the whole path."""
    window.lead[0] = max(window.age[0], window.lead[0] // 2)
    if window.last[0] == goal:
        window.stage[0] = DONE if window.whole[0] else IDLE
        window.size[0] *= 2
        window.middle[0] = -1
