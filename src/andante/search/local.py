"""An A*-shaped local search space: what LSS-LRTA*, f-LRTA* and RTAA* explore before they learn and move.

A* runs from the agent's state, with the learned heuristic, until it has expanded the given number of states, the goal
is next to be expanded, or the open list is empty. Learned values may be inconsistent, so an expanded state is reopened
when a cheaper path to it is found, and expanding it again counts. Among equal f the state with the larger g is expanded
first, among equal g the one that was reached first.

Each state in the space has a number, its slot, given in the order in which states are reached; the agent's own is 0.
Data about the states is indexed by slot and so stays compact; only the map from state to slot is as long as the graph.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel
from andante.notation import Word
from andante.search import heap
from andante.search.heap import Heap
from andante.search.learning import Learned, store, value
from andante.search.memory import EXPANDED, Clock, Space, note, season
from andante.search.plan import Plan, set_length
from andante.search.records import Index, claim, find
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, Layout, degree, price, target, unit


class Walk(Word):
    """How far an agent moves before it plans again."""

    ONE_MOVE = 0  # one move towards the end of the plan
    FRONTIER = 1  # to the end of the plan


class Avoidance(Word):
    """Which states of the frontier an agent avoids because they seem to be in a depression."""

    OFF = 0  # none
    MARK = 1  # states whose value rose in this trial: mark-and-avoid
    BORDER = 2  # all but the states whose value rose least in this trial: move-to-border


_ONE_MOVE, _OFF, _MARK = int(Walk.ONE_MOVE), int(Avoidance.OFF), int(Avoidance.MARK)


LOCAL = np.dtype(
    [
        ("first", np.int64),  # where the slots of this space begin
        ("size", np.int64),  # states reached
    ]
)


class Local(NamedTuple):
    """The states reached by one lookahead; those in the heap are open, the others closed. It is part of the desk."""

    slot: npt.NDArray[np.int64]  # [n], counted on and on: values below ``first`` are from an earlier lookahead
    state: npt.NDArray[np.int32]  # [capacity]
    g: npt.NDArray[np.float64]  # [capacity]
    h: npt.NDArray[np.float64]  # [capacity], as when the lookahead began
    new: npt.NDArray[np.float64]  # [capacity], for learning
    parent: npt.NDArray[np.int32]  # [capacity], slot of the previous state; -1 for the agent's own
    fringe: npt.NDArray[np.int32]  # [capacity], slots of the frontier, for learning that needs the heap itself
    scalars: npt.NDArray[Any]  # [1], of LOCAL
    open: Heap

    @classmethod
    def allocate(cls, space: Space) -> Local:
        """Return arrays for as many expansions as the parameter ``lookahead`` allows."""
        n = space.states
        most = max(1, min(n, space.params.lookahead * space.graph.max_degree + 1))
        return cls(
            np.full(n, -1, np.int64),
            np.zeros(most, np.int32),
            np.zeros(most),
            np.zeros(most),
            np.zeros(most),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
            np.zeros(1, LOCAL),
            Heap.over(most, most),
        )


class Ahead(NamedTuple):
    """The rest of the path to the frontier state that the agent has chosen."""

    plan: Plan

    @classmethod
    def allocate(cls, space: Space) -> Ahead:
        """Return an empty plan: a path to the frontier has at most as many moves as the lookahead expands states."""
        return cls(Plan.over(space, min(space.states, space.params.lookahead)))


class Anywhere(NamedTuple):
    """For lookaheads that may enter every state; others have removed some."""


@generic
def is_shut(removed: Any, state: int) -> bool:
    """Return whether a lookahead may not enter a state, because the agent has removed it."""
    raise TypeError(removed)


@is_shut.of(Anywhere)
def _is_never_shut(removed: Anywhere, state: int) -> bool:
    return False


# --- lookahead ------------------------------------------------------------------------------------------------------


@kernel
def slot_of(local: Local, state: int) -> int:
    """Return the slot of a state; negative if it was not reached."""
    return local.slot[state] - local.scalars[0]["first"]


@kernel
def reached(local: Local) -> int:
    """Return the number of states in the space; their slots are below it."""
    return local.scalars[0]["size"]


@kernel
def frontier(local: Local) -> int:
    """Return the number of open states."""
    return heap.size(local.open)


@kernel
def least_f(local: Local) -> float:
    """Return the least f of an open state; there must be one."""
    return local.open.key[0]


@kernel
def grow(
    local: Local, graph: Arrays, h: Learned, removed: Any, state: int, goal: int, lookahead: int
) -> tuple[int, int]:
    """Build the space around ``state``; return the numbers of states expanded and of moves generated.

    Afterwards the goal, if it was next to be expanded, or else the best open state is the first in the heap.
    """
    at = local.scalars[0]
    heap.clear(local.open)
    at["first"] += at["size"]
    at["size"] = 0
    slot = _reach(local, state, np.inf if is_shut(removed, state) else value(h, graph, state, goal))
    local.g[slot], local.parent[slot] = 0.0, -1
    expanded, touched = 0, 0
    while True:
        touched += _expand(local, graph, h, removed, slot, goal)
        expanded += 1
        if expanded == lookahead or frontier(local) == 0 or local.state[local.open.item[0]] == goal:
            return expanded, touched
        slot = heap.pop(local.open)


@kernel
def _reach(local: Local, state: int, h: float) -> int:
    """Give the next slot to a state that was not reached before."""
    at = local.scalars[0]
    slot = at["size"]
    at["size"] = slot + 1
    local.slot[state] = at["first"] + slot
    local.state[slot], local.h[slot] = state, h
    return slot


@kernel
def _expand(local: Local, graph: Arrays, h: Learned, removed: Any, slot: int, goal: int) -> int:
    """Open the states reached, or reached more cheaply, from one state; return the number of moves generated."""
    state, so_far = int64(local.state[slot]), local.g[slot]
    note(h.log, EXPANDED, state, so_far)
    moves = degree(graph, state)
    for k in range(moves):
        near = target(graph, state, k)
        g = so_far + price(graph, state, k)
        there = slot_of(local, near)
        if there < 0:
            if is_shut(removed, near):
                continue
            rest = value(h, graph, near, goal)
            if rest == np.inf:  # a dead end has no path to the goal
                continue
            there = _reach(local, near, rest)
        elif g >= local.g[there]:
            continue
        local.g[there], local.parent[there] = g, slot
        heap.push(local.open, there, g + local.h[there], g)
    return moves


# --- learning, and avoiding depressions -----------------------------------------------------------------------------


class Rise(NamedTuple):
    """The rise of values in this trial; empty unless the agent avoids depressions.

    When a cell is opened, a path may lead through states that the agent avoids, so the rises are forgotten.
    """

    where: Index
    before: npt.NDArray[np.float64]  # a field of the states' records, the value before
    season: npt.NDArray[np.int64]  # a field, the season in which it rose
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Rise:
        """Return arrays for a value per state, if the parameter ``avoidance`` is on."""
        mind, numbers = space.mind, 0 if space.params.avoidance is Avoidance.OFF else None
        fields = mind.field(np.float64, numbers=numbers), mind.field(np.int64, numbers=numbers)
        return cls(mind.index(numbers=numbers), *fields, space.clock)


@kernel
def learn(local: Local, graph: Layout, h: Learned, rise: Rise, slot: int, new: float) -> tuple[float, int]:
    """Raise the value of a state to ``new`` if that is higher; return the increase, and 1 if it is the first value."""
    old = local.h[slot]
    if new <= old + TOLERANCE * unit(graph):
        return 0.0, 0
    state = int64(local.state[slot])
    if len(rise.season) > 0:
        place = claim(rise.where, state)
        if rise.season[place] != season(rise.clock[0]):
            rise.before[place], rise.season[place] = old, season(rise.clock[0])
    stored = store(h, state, new)
    return (new - old if new < np.inf else 0.0), stored  # an infinite rise would hide all others


@kernel
def learn_inwards(
    local: Local, graph: Arrays, into: Arrays, h: Learned, rise: Rise, weight: float
) -> tuple[int, int, float, int]:
    """Give every closed state its new value, by Dijkstra's search from the frontier inwards.

    Edges count ``weight`` times their cost. Return the numbers of states settled and of moves generated, the sum of the
    increases, and the number of states that got their first value.
    """
    queue = local.open
    fixed = frontier(local)  # the search begins from the frontier, whose values do not change
    for slot in range(reached(local)):
        local.new[slot] = np.inf
    for at in range(fixed):
        local.fringe[at] = queue.item[at]
        local.new[queue.item[at]] = -np.inf
    heap.clear(queue)
    done, touched = 0, 0
    while done < fixed or heap.size(queue) > 0:
        slot = int64(local.fringe[done]) if done < fixed else heap.pop(queue)
        value = local.h[slot] if done < fixed else local.new[slot]
        touched += _spread(local, into, slot, value, weight)
        done += 1
    learned, stored = 0.0, 0
    for slot in range(reached(local)):
        rose, fresh = learn(local, graph, h, rise, slot, local.new[slot])
        learned += rose
        stored += fresh
    return done, touched, learned, stored


@kernel
def _spread(local: Local, into: Arrays, slot: int, value: float, weight: float) -> int:
    """Lower the new values of closed states one move before this one, queue them, and return the number of moves."""
    state = int64(local.state[slot])
    moves = degree(into, state)
    for k in range(moves):
        there = slot_of(local, target(into, state, k))
        if there < 0:
            continue
        new = weight * price(into, state, k) + value
        if new < local.new[there]:
            local.new[there] = new
            heap.push(local.open, there, new, 0.0)
    return moves


# --- planning -------------------------------------------------------------------------------------------------------


@kernel
def look_ahead(
    local: Local,
    ahead: Ahead,
    graph: Arrays,
    h: Learned,
    rise: Rise,
    removed: Any,
    state: int,
    goal: int,
    lookahead: int,
    avoidance: int,
    walk: int,
) -> tuple[int, int]:
    """Build the space around ``state`` and plan to move to the best state of its frontier, as far as ``walk`` says.

    Return the numbers of states expanded and of moves generated. There is no plan if the frontier is empty.
    """
    expanded, touched = grow(local, graph, h, removed, state, goal, lookahead)
    if frontier(local) > 0:
        _plan(local, ahead.plan, _choose(local, graph, rise, avoidance), walk)
    return expanded, touched


@kernel
def _plan(local: Local, plan: Plan, slot: int, walk: int) -> None:
    """Plan to move to the state in this slot, or as far towards it as ``walk`` says."""
    moves = 0
    while local.parent[slot] >= 0:
        if walk == _ONE_MOVE:
            moves = 0
        plan.state[moves] = local.state[slot]
        moves += 1
        slot = int64(local.parent[slot])
    set_length(plan, moves)


@kernel
def _choose(local: Local, graph: Layout, rise: Rise, avoidance: int) -> int:
    """Return the slot of the open state to move to: the one of least f among those that ``avoidance`` permits."""
    if avoidance == _OFF:
        return int64(local.open.item[0])
    least = np.inf
    for at in range(frontier(local)):
        least = min(least, _reluctance(local, graph, rise, int64(local.open.item[at]), avoidance))
    best = -1
    for at in range(frontier(local)):
        if _reluctance(local, graph, rise, int64(local.open.item[at]), avoidance) <= least + TOLERANCE * unit(graph):
            best = at if best < 0 or heap.is_ahead(local.open, at, best) else best
    return int64(local.open.item[best])


@kernel
def _reluctance(local: Local, graph: Layout, rise: Rise, slot: int, avoidance: int) -> float:
    """Return how much to avoid an open state: the rise of its value in this trial, or whether it rose."""
    place = find(rise.where, int64(local.state[slot]))
    if rise.season[place] != season(rise.clock[0]):
        return 0.0
    return unit(graph) if avoidance == _MARK else local.h[slot] - rise.before[place]
