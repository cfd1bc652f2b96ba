"""A path that is shortened while it is walked: A* between two of its states at a time, ahead of the agent.

Each state of the path knows the next one and what the rest costs. A window is the part of the path between two of its
states. A* looks for a cheaper one, a few expansions per move, and what it finds takes the window's place. Windows
follow each other along the path, each beginning in the middle of the one before; when they have come to the goal they
begin again ahead of the agent, twice as long. The last one reaches from the agent to the goal.

The rest of a state's path only ever gets cheaper, and is more than that of the next state. So whatever is put in
place of what, following the path from any of its states leads to the goal, without a loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search.astar import Slice, Tree, advance, begin, cost_to, open_at, parent_of, reached
from andante.search.memory import Space
from andante.world.graph import Arrays, estimate, unit
from andante.world.heuristics import TOLERANCE

# What is being done about the window.
IDLE, MEASURING, SEARCHING, SPLICING, DONE = 0, 1, 2, 3, 4

GUESS = 5  # expansions that A* is expected to take for each move of a window


class Route(NamedTuple):
    """The path. States of earlier routes and windows are on it too: from each of them it leads to the goal."""

    next: npt.NDArray[np.int32]  # [n or 0]
    rest: npt.NDArray[np.float64]  # [n or 0], what the path from here to the goal costs, or more
    number: npt.NDArray[np.uint32]  # [n or 0], the path that this is about
    now: npt.NDArray[np.uint32]  # [1], this path's number

    @classmethod
    def allocate(cls, space: Space) -> Route:
        """Room for any path, if the parameter ``window`` says that it is to be shortened."""
        n = 0 if space.params.window is None else space.states
        return cls(np.zeros(n, np.int32), np.zeros(n), np.zeros(n, np.uint32), np.zeros(1, np.uint32))


class Window(NamedTuple):
    """The part of the path that is looked at, and the search for a cheaper one."""

    tree: Tree
    stage: npt.NDArray[np.int64]  # [1]
    size: npt.NDArray[np.int64]  # [1], moves from one end to the other
    lead: npt.NDArray[np.int64]  # [1], moves that a window begins ahead of the agent, at least
    age: npt.NDArray[np.int64]  # [1], moves that the agent made since the window was begun
    first: npt.NDArray[np.int64]  # [1], the window's first state
    last: npt.NDArray[np.int64]  # [1], its last state, or how far it has been measured
    moves: npt.NDArray[np.int64]  # [1], moves measured, and later put in place
    here: npt.NDArray[np.int64]  # [1], the state up to which the new path has been put in place, from the last one on
    middle: npt.NDArray[np.int64]  # [1], where the next window begins, unless the agent is too near; -1 for nowhere
    whole: npt.NDArray[np.bool_]  # [1], this window began near the agent

    @classmethod
    def allocate(cls, space: Space) -> Window:
        """Room to search from any state, if the parameter ``window`` says that this is wanted."""
        n = 0 if space.params.window is None else space.states
        tree = Tree.over(n, space.graph.typical_cost, space.graph.cost_range[0], space.log)
        stage, size, lead, age, first, last, moves, here, middle = (np.zeros(1, np.int64) for _ in range(9))
        return cls(tree, stage, size, lead, age, first, last, moves, here, middle, np.zeros(1, np.bool_))


@kernel
def abandon(route: Route, window: Window, size: int) -> None:
    """Forget the path, and begin the next one with windows of so many moves."""
    route.now[0] += 1
    if route.now[0] == 0:  # once in four billion paths the numbers run out
        for state in range(len(route.number)):
            route.number[state] = 0
        route.now[0] = 1
    window.stage[0], window.size[0], window.lead[0], window.middle[0] = IDLE, size, -1, -1


@kernel
def is_on(route: Route, state: int) -> bool:
    """Does the path lead on from ``state``?"""
    return route.number[state] == route.now[0]


@kernel
def lay(route: Route, tree: Tree, goal: int, end: int, most: int) -> None:
    """Make the way by which a search came to ``end``, for ``most`` moves back from there, the path to ``goal``."""
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
    """If the path is at most ``most`` moves back up the tree from ``state``, put these before it: moves looked at."""
    meeting, moves = state, 0
    while moves < most and not is_on(route, meeting):
        meeting = parent_of(tree, meeting)
        moves += 1
        if meeting < 0:
            return moves
    if is_on(route, meeting):
        rest = route.rest[meeting] - cost_to(tree, meeting)
        while state != meeting:
            before = parent_of(tree, state)
            _put(route, state, before, rest + cost_to(tree, state))
            state = before
    return moves


@kernel
def _put(route: Route, state: int, after: int, rest: float) -> None:
    """Let the path lead from ``state`` to ``after``."""
    route.next[state], route.rest[state], route.number[state] = after, rest, route.now[0]


@kernel
def shorten(
    route: Route, window: Window, graph: Arrays, state: int, goal: int, weight: float, expansions: int, steps: int
) -> Slice:
    """Go on looking for a cheaper path ahead of the agent: so many expansions, and steps along paths, at most."""
    left, taken, expanded, touched = steps, 0, 0, 0
    window.age[0] += 1
    if IDLE < window.stage[0] < DONE and route.rest[state] < route.rest[window.first[0]]:  # the agent has walked past
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
        if IDLE < window.stage[0] < DONE:  # there was no time left to come to its end
            break
        if window.stage[0] == IDLE:
            _go_on(window, goal)
    return Slice(window.stage[0] == DONE, taken, expanded, touched + steps - left)


@kernel
def _place(window: Window, state: int, expansions: int) -> None:
    """Begin a window: where the last one says, or ahead of the agent."""
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
    """Go along the path to where the window begins and on to its end, and begin to search: the steps it took."""
    steps, half = 0, max(1, window.size[0] // 2)
    while window.moves[0] < window.size[0] and window.last[0] != goal:
        if steps == most:
            return steps
        window.last[0] = route.next[window.last[0]]
        window.moves[0] += 1
        steps += 1
        if window.moves[0] <= half:
            window.middle[0] = window.last[0]
        if window.moves[0] <= 0:
            window.first[0] = window.last[0]
    first, last = window.first[0], window.last[0]
    cost = route.rest[first] - route.rest[last]
    if cost <= estimate(graph, first, last) + TOLERANCE * unit(graph):  # no path is cheaper
        window.stage[0] = IDLE
        return steps
    begin(window.tree, graph, first, last, weight)
    if weight == 1.0:  # nothing that costs more than the path as it is need be looked at
        open_at(window.tree, graph, last, -1, cost, last, weight)
    window.stage[0] = SEARCHING
    return steps


@kernel
def _is_better(route: Route, window: Window, graph: Arrays) -> bool:
    """Has the search found a cheaper path than the one there is?"""
    tree, first, last = window.tree, window.first[0], window.last[0]
    if not reached(tree, last):  # walls were discovered since
        return False
    cost = route.rest[first] - route.rest[last]
    return parent_of(tree, last) >= 0 and cost_to(tree, last) < cost - TOLERANCE * unit(graph)


@kernel
def _splice(route: Route, window: Window, most: int) -> int:
    """Put the path that was found in the window's place, from its end on: the steps it took."""
    tree, steps, half = window.tree, 0, max(1, window.size[0] // 2)
    state = window.here[0]
    before = parent_of(tree, state)
    while before >= 0:
        if steps == most:
            window.here[0] = state
            return steps
        rest = route.rest[state] + (cost_to(tree, state) - cost_to(tree, before))
        if not is_on(route, before) or rest < route.rest[before]:
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
    """After a window: on to the next, and after the last to longer ones, until one is as long as the path."""
    window.lead[0] = max(window.age[0], window.lead[0] // 2)
    if window.last[0] == goal:
        window.stage[0] = DONE if window.whole[0] else IDLE
        window.size[0] *= 2
        window.middle[0] = -1
