"""Shortening of a path while an agent follows it, by A* between two states of the path ahead of the agent.

Each state on the path stores the next state and the cost of the rest of the path. A window is the part of the path
between two of its states. A* searches for a cheaper connection, a few expansions per move, and if it finds one, this
replaces the window. Each window begins in the middle of the previous one. When the windows have reached the goal, they
begin again ahead of the agent, twice as long. The last window reaches from the agent to the goal.

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
from andante.search.mind import Mind
from andante.search.path import price_between
from andante.search.records import Index, claim, find, forget
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, estimate, unit

# The stage of the work on the current window.
IDLE, MEASURING, SEARCHING, SPLICING, DONE = 0, 1, 2, 3, 4

GUESS = 5  # expansions that A* is expected to take for each move of a window


#: A state's record, as in `search.buckets`, with other names for the fields of the queue. A finished search needs
#: only g and the parents, so the path that it found is kept in the other fields.
PLACE = np.dtype(
    [
        ("g", np.float64),
        ("parent", np.int32),
        ("mark", np.uint32),
        ("rest", np.float64),  # upper bound on the cost of the path from here to the goal
        ("next", np.int32),
        ("number", np.uint32),  # the number of the path that includes the state
    ],
    align=True,
)

# Paths have numbers that a queue never writes to the field: neither a state nor a negative place in a ring.
FIRST_NUMBER, LAST_NUMBER = 1 << 31, (1 << 32) - (1 << 16)


ROUTE = np.dtype([("now", np.uint32)])


class Route(NamedTuple):
    """The path. States of replaced windows stay on it: following ``next`` from any of them leads to the goal."""

    where: Index
    place: npt.NDArray[Any]  # the states' records, of PLACE: those of the search that found the path
    scalars: npt.NDArray[Any]  # [1], of ROUTE: the number of the current path

    @classmethod
    def through(cls, mind: Mind, tree: Tree) -> Route:
        """Return a route for the paths that a search finds, in the search's own records."""
        return cls(tree.where, tree.node.view(PLACE), mind.one(ROUTE, (FIRST_NUMBER,)))


WINDOW = np.dtype(
    [
        ("stage", np.int64),
        ("size", np.int64),  # moves from one end to the other
        ("lead", np.int64),  # the least number of moves from the agent to a window's beginning
        ("age", np.int64),  # moves of the agent since the window began
        ("first", np.int64),  # the window's first state
        ("last", np.int64),  # its last state, or the state measured up to so far
        ("moves", np.int64),  # moves measured, later moves replaced
        ("here", np.int64),  # the state up to which the window has been replaced, from its last backwards
        ("middle", np.int64),  # the state where the next window begins; -1: ahead of the agent
        ("whole", np.bool_),  # whether this window begins near the agent
    ],
    align=True,
)


class Window(NamedTuple):
    """The current window, and the search for a cheaper connection."""

    tree: Tree
    scalars: npt.NDArray[Any]  # [1], of WINDOW

    @classmethod
    def allocate(cls, space: Space) -> Window:
        """Return arrays for a search over all states; empty if the parameter ``window`` is not set."""
        graph, numbers = space.graph, 0 if space.params.window is None else None
        costs = graph.typical_cost, graph.cost_range[0]
        tree = Tree.over(space.mind, *costs, space.log, numbers=numbers, changes=space.changes_to_search)
        return cls(tree, space.mind.one(WINDOW))


@kernel
def abandon(route: Route, window: Window, size: int) -> None:
    """Forget the path; windows on the next one begin with ``size`` moves."""
    if route.scalars[0]["now"] == LAST_NUMBER:  # after two billion paths the numbers start again
        forget(route.where, route.place["number"])
        route.scalars[0]["now"] = FIRST_NUMBER
    route.scalars[0]["now"] += 1
    begin_again(window, size)


@kernel
def begin_again(window: Window, size: int) -> None:
    """Abandon the current window, because the map or the goal has changed; the next one begins with ``size`` moves."""
    at = window.scalars[0]
    at["stage"], at["size"], at["lead"], at["middle"] = IDLE, size, -1, -1


@kernel
def extend(route: Route, graph: Arrays, end: int, to: int) -> None:
    """Extend the path, which ends in ``end``, by a move to ``to``."""
    rest = rest_from(route, end)
    _put(route, to, to, rest - price_between(graph, end, to))
    _put(route, end, to, rest)


@kernel
def is_on(route: Route, state: int) -> bool:
    """Return whether ``state`` is on the path."""
    return route.place[find(route.where, state)]["number"] == route.scalars[0]["now"]


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

    Return the number of moves generated.
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
    place = route.place[claim(route.where, state)]
    place["next"], place["rest"], place["number"] = after, rest, route.scalars[0]["now"]


@kernel
def next_on(route: Route, state: int) -> int:
    """Return the next state of the path."""
    return int64(route.place[find(route.where, state)]["next"])


@kernel
def rest_from(route: Route, state: int) -> float:
    """Return an upper bound on the cost of the path from ``state`` to the goal; it never increases."""
    return route.place[find(route.where, state)]["rest"]


@kernel
def shorten(
    route: Route, window: Window, graph: Arrays, state: int, goal: int, weight: float, expansions: int, steps: int
) -> Slice:
    """Continue to shorten the path ahead of the agent, within the given number of expansions and of steps on paths."""
    at = window.scalars[0]
    left, taken, expanded, touched = steps, 0, 0, 0
    at["age"] += 1
    if IDLE < at["stage"] < DONE and rest_from(route, state) < rest_from(route, at["first"]):  # walked past it
        at["stage"], at["lead"], at["middle"] = IDLE, 2 * at["lead"] + 1, -1
    while at["stage"] != DONE:
        if at["stage"] == IDLE:
            if left == 0:
                break
            _place(window, state, expansions)
        if at["stage"] == MEASURING:
            left -= _measure(route, window, graph, goal, weight, left)
        if at["stage"] == SEARCHING:
            work = advance(window.tree, graph, at["last"], weight, expansions - taken)
            taken, expanded, touched = taken + work.steps, expanded + work.expanded, touched + work.touched
            if work.over:
                at["stage"] = SPLICING if _is_better(route, window, graph) else IDLE
                at["moves"], at["here"] = 0, at["last"]
        if at["stage"] == SPLICING:
            left -= _splice(route, window, left)
        if IDLE < at["stage"] < DONE:  # the budget of this move is used up
            break
        if at["stage"] == IDLE:
            _prepare_next(window, goal)
    return Slice(at["stage"] == DONE, taken, expanded, touched + steps - left)


@kernel
def _place(window: Window, state: int, expansions: int) -> None:
    """Begin a window in the middle of the previous one or, if there is none, ahead of the agent."""
    at = window.scalars[0]
    if at["lead"] < 0:
        at["lead"] = GUESS * at["size"] // expansions
    first, at["moves"] = at["middle"], 0
    at["whole"] = first < 0
    if first < 0:
        first, at["moves"] = state, -at["lead"]
    at["first"] = at["last"] = at["middle"] = first
    at["age"] = 0
    at["stage"] = MEASURING


@kernel
def _measure(route: Route, window: Window, graph: Arrays, goal: int, weight: float, most: int) -> int:
    """Follow the path to both ends of the window, begin the search, and return the number of steps."""
    at = window.scalars[0]
    steps, half = 0, max(1, at["size"] // 2)
    while at["moves"] < at["size"] and at["last"] != goal:
        if steps == most:
            return steps
        at["last"] = next_on(route, at["last"])
        at["moves"] += 1
        steps += 1
        if at["moves"] <= half:
            at["middle"] = at["last"]
        if at["moves"] <= 0:
            at["first"] = at["last"]
    first, last = at["first"], at["last"]
    cost = rest_from(route, first) - rest_from(route, last)
    if cost <= estimate(graph, first, last) + TOLERANCE * unit(graph):  # it is already a cheapest path
        at["stage"] = IDLE
        return steps
    begin(window.tree, graph, first, last, weight)
    if weight == 1.0:  # the cost of the present path bounds the search
        open_at(window.tree, graph, last, -1, cost, last, weight)
    at["stage"] = SEARCHING
    return steps


@kernel
def _is_better(route: Route, window: Window, graph: Arrays) -> bool:
    """Return whether the search has found a cheaper path than the present one."""
    at = window.scalars[0]
    tree, first, last = window.tree, at["first"], at["last"]
    if not reached(tree, last):  # walls have been discovered since
        return False
    cost = rest_from(route, first) - rest_from(route, last)
    return parent_of(tree, last) >= 0 and cost_to(tree, last) < cost - TOLERANCE * unit(graph)


@kernel
def _splice(route: Route, window: Window, most: int) -> int:
    """Replace the window by the path that was found, from its end backwards, and return the number of steps."""
    at = window.scalars[0]
    tree, steps, half = window.tree, 0, max(1, at["size"] // 2)
    state = at["here"]
    before = parent_of(tree, state)
    while before >= 0:
        if steps == most:
            at["here"] = state
            return steps
        rest = rest_from(route, state) + (cost_to(tree, state) - cost_to(tree, before))
        if not is_on(route, before) or rest < rest_from(route, before):
            _put(route, before, state, rest)
        steps += 1
        at["moves"] += 1
        if at["moves"] <= half:
            at["middle"] = before
        state, before = before, parent_of(tree, before)
    at["stage"] = IDLE
    return steps


@kernel
def _prepare_next(window: Window, goal: int) -> None:
    """Prepare the next window: longer ones after the goal was reached, until one covers the whole path."""
    at = window.scalars[0]
    at["lead"] = max(at["age"], at["lead"] // 2)
    if at["last"] == goal:
        at["stage"] = DONE if at["whole"] else IDLE
        at["size"] *= 2
        at["middle"] = -1
