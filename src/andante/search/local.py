"""An A*-shaped local search space: what LSS-LRTA* and RTAA* look at before they learn and move.

A* from the agent's state, with the learned heuristic, until so many states have been expanded, the goal is about to be,
or nothing is open. Learned values may be inconsistent, so a state that was expanded is opened again when a cheaper way
to it turns up, and expanding it again counts. Of equal f the state with the larger g is expanded first, of equal g the
one that was reached first.

A state stands in the space under a number, its slot, given in the order in which states are reached; the agent's own
is 0. What is known of the states is kept by slot, close together; only the way from state to slot is as long as the
graph.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search import heap
from andante.search.heap import Heap
from andante.search.learning import Learned, store, value
from andante.search.memory import EXPANDED, Clock, Space, note
from andante.search.path import price_between
from andante.world.graph import Arrays, Layout, degree, price, target, unit
from andante.world.heuristics import TOLERANCE


class Walk(IntEnum):
    """How far an agent goes before it plans again."""

    ONE_MOVE = 0  # one move towards the end of the plan
    FRONTIER = 1  # all the way


class Avoidance(IntEnum):
    """Which states of the frontier an agent would rather not go to, because they seem to lie in a depression."""

    OFF = 0  # none
    MARK = 1  # those whose value rose in this trial: mark-and-avoid
    BORDER = 2  # all but those whose value rose least in this trial: move-to-border


_ONE_MOVE, _OFF, _MARK = int(Walk.ONE_MOVE), int(Avoidance.OFF), int(Avoidance.MARK)


class Local(NamedTuple):
    """The states that one plan has reached; those in the heap are open, the others closed."""

    slot: npt.NDArray[np.int64]  # [n], counted on from plan to plan: below this plan's first, it is of an earlier plan
    first: npt.NDArray[np.int64]  # [1], where this plan's slots begin
    size: npt.NDArray[np.int64]  # [1], states reached
    state: npt.NDArray[np.int32]  # [capacity]
    g: npt.NDArray[np.float64]  # [capacity]
    h: npt.NDArray[np.float64]  # [capacity], as it was when the plan began
    new: npt.NDArray[np.float64]  # [capacity], for learning
    parent: npt.NDArray[np.int32]  # [capacity], slot of the state before; -1 for the agent's own
    fringe: npt.NDArray[np.int32]  # [capacity], slots of the frontier, where learning needs the heap for itself
    next: npt.NDArray[np.int32]  # [capacity], slot of the state after, along the plan
    end: npt.NDArray[np.int64]  # [2], the last state of the plan, and the trial it was made in
    open: Heap
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Local:
        """Room for as many expansions as the parameter ``lookahead`` says."""
        n = space.states
        most = max(1, min(n, space.params.lookahead * space.graph.max_degree + 1))
        return cls(
            np.full(n, -1, np.int64),
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
            np.zeros(most, np.int32),
            np.zeros(most),
            np.zeros(most),
            np.zeros(most),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
            np.zeros(most, np.int32),
            np.zeros(2, np.int64),
            Heap.over(most, most),
            space.clock,
        )


# --- looking ahead --------------------------------------------------------------------------------------------------


@kernel
def slot_of(local: Local, state: int) -> int:
    """Where a state stands in the space; negative if it was not reached."""
    return local.slot[state] - local.first[0]


@kernel
def frontier(local: Local) -> int:
    """How many states are open."""
    return local.open.size[0]


@kernel
def least_f(local: Local) -> float:
    """The least f of an open state; there must be one."""
    return local.open.key[0]


@kernel
def grow(local: Local, graph: Arrays, h: Learned, state: int, goal: int, lookahead: int) -> tuple[int, int]:
    """Build the space around ``state``: how many states were expanded, and how many moves looked at.

    A goal that was about to be expanded, and else the best of the open states, is then the first in the heap.
    """
    heap.clear(local.open)
    local.first[0] += local.size[0]
    local.size[0] = 0
    slot = _reach(local, state, value(h, graph, state, goal))
    local.g[slot], local.parent[slot] = 0.0, -1
    expanded, touched = 0, 0
    while True:
        touched += _expand(local, graph, h, slot, goal)
        expanded += 1
        if expanded == lookahead or frontier(local) == 0 or local.state[local.open.item[0]] == goal:
            return expanded, touched
        slot = heap.pop(local.open)


@kernel
def _reach(local: Local, state: int, h: float) -> int:
    """Give a state that was not reached before the next slot."""
    slot = local.size[0]
    local.size[0] = slot + 1
    local.slot[state] = local.first[0] + slot
    local.state[slot], local.h[slot] = state, h
    return slot


@kernel
def _expand(local: Local, graph: Arrays, h: Learned, slot: int, goal: int) -> int:
    """Open what can be reached, or reached more cheaply, from one state: how many moves were looked at."""
    state, so_far = int64(local.state[slot]), local.g[slot]
    note(h.log, EXPANDED, state, so_far)
    moves = degree(graph, state)
    for k in range(moves):
        near = target(graph, state, k)
        g = so_far + price(graph, state, k)
        there = slot_of(local, near)
        if there < 0:
            rest = value(h, graph, near, goal)
            if rest == np.inf:  # from a dead end no way leads to the goal
                continue
            there = _reach(local, near, rest)
        elif g >= local.g[there]:
            continue
        local.g[there], local.parent[there] = g, slot
        heap.push(local.open, there, g + local.h[there], g)
    return moves


# --- moving ---------------------------------------------------------------------------------------------------------


@kernel
def plan(local: Local, slot: int, walk: int) -> None:
    """Plan to go to the state in this slot, or as far on the way there as ``walk`` says."""
    last, before = slot, int64(local.parent[slot])
    while before >= 0:
        local.next[before] = slot
        if walk == _ONE_MOVE:
            last = slot
        slot, before = before, int64(local.parent[before])
    local.end[0], local.end[1] = local.state[last], local.clock.trial[0]


@kernel
def next_move(local: Local, graph: Arrays, state: int) -> tuple[int, float]:
    """Where the plan goes from ``state``, and what the move costs: infinitely much if it is not possible.

    It is not if no plan of this trial goes on from there, or if a wall was discovered on its way since.
    """
    if local.end[1] != local.clock.trial[0] or local.end[0] == state:
        return -1, np.inf
    to = int64(local.state[local.next[slot_of(local, state)]])
    return to, price_between(graph, state, to)


# --- learning, and avoiding where much was learned ------------------------------------------------------------------


class Rise(NamedTuple):
    """How much values rose in this trial; of no length unless an agent avoids depressions."""

    before: npt.NDArray[np.float64]  # [n or 0], what the value was
    trial: npt.NDArray[np.int64]  # [n or 0], the trial in which that was

    @classmethod
    def allocate(cls, space: Space) -> Rise:
        """Room for a value per state, if the parameter ``avoidance`` is on."""
        n = 0 if space.params.avoidance is Avoidance.OFF else space.states
        return cls(np.zeros(n), np.zeros(n, np.int64))


@kernel
def learn(local: Local, graph: Layout, h: Learned, rise: Rise, slot: int, new: float) -> tuple[float, int]:
    """Raise the value of a state to ``new`` if that is more: by how much it rose, and 1 if it is its first."""
    old = local.h[slot]
    if new <= old + TOLERANCE * unit(graph):
        return 0.0, 0
    state = int64(local.state[slot])
    if len(rise.trial) > 0 and rise.trial[state] != local.clock.trial[0]:
        rise.before[state], rise.trial[state] = old, local.clock.trial[0]
    stored = store(h, state, new)
    return (new - old if new < np.inf else 0.0), stored  # an infinite rise would drown all others


@kernel
def learn_inwards(
    local: Local, graph: Arrays, into: Arrays, h: Learned, rise: Rise, weight: float
) -> tuple[int, int, float, int]:
    """Dijkstra's search from the frontier inwards gives every closed state its new value.

    Edges count ``weight`` times their cost. Returns how many states were settled and moves looked at, how much values
    rose, how many states got their first.
    """
    queue = local.open
    fixed = frontier(local)  # the frontier's values stay; it is where the search begins
    for slot in range(local.size[0]):
        local.new[slot] = np.inf
    for at in range(fixed):
        local.fringe[at] = queue.item[at]
        local.new[queue.item[at]] = -np.inf
    heap.clear(queue)
    done, touched = 0, 0
    while done < fixed or queue.size[0] > 0:
        slot = int64(local.fringe[done]) if done < fixed else heap.pop(queue)
        value = local.h[slot] if done < fixed else local.new[slot]
        touched += _spread(local, into, slot, value, weight)
        done += 1
    learned, stored = 0.0, 0
    for slot in range(local.size[0]):
        rose, fresh = learn(local, graph, h, rise, slot, local.new[slot])
        learned += rose
        stored += fresh
    return done, touched, learned, stored


@kernel
def _spread(local: Local, into: Arrays, slot: int, value: float, weight: float) -> int:
    """Lower the new values of closed states one move before this one, and queue them: how many moves there are."""
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


@kernel
def choose(local: Local, graph: Layout, rise: Rise, avoidance: int) -> int:
    """The slot of the open state to go to: that of least f, among those that ``avoidance`` leaves."""
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
    """How little an open state is wanted: by how much its value rose in this trial, or whether it did."""
    state = int64(local.state[slot])
    if rise.trial[state] != local.clock.trial[0]:
        return 0.0
    return unit(graph) if avoidance == _MARK else local.h[slot] - rise.before[state]
