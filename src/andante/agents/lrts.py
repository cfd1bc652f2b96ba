"""LRTS: look d moves ahead, walk all of them, and go back after having learned more than a quota.

Bulitko and Lee (2006), as restated in seed 001, Figure 3; line numbers are that figure's. Where the paper is silent:
the goal, met before the last ply, belongs to all later plies too; of equal f the way whose first move comes first in
the graph's order wins, and equal is what differs by less than a millionth; with nothing to go back to the agent goes
forward, and its quota counts as used up all the same.

A plan stays in the agent's memory until it is walked, and so does the way it came, the last state on top, to be walked
back one state per move. That needs moves that can be reversed; where one cannot, there is nothing to go back to. The
memory of the way is a ring with room for as many moves as the graph has states: when it is full the oldest is
forgotten, as if the trial had begun later. The way back never costs more than (h(start) + T + the greatest h*) / gamma,
because h falls by gamma * g along it but for what was learned: only a quota as large as the map can make it forget.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import int64, kernel
from andante.search.learning import Learned, raise_to
from andante.search.lookahead import Ball, Frontier, look, most_states
from andante.search.memory import Clock, Space
from andante.search.path import price_between
from andante.world.graph import Arrays, price, target
from andante.world.heuristics import TOLERANCE


class Params(NamedTuple):
    """The three dimensions of LRTS; the defaults are one of the settings that seed 001 studies."""

    depth: Annotated[int, Range(1, 100), "moves to look ahead, and to make before looking again"] = 9
    gamma: Annotated[float, Range(0, 1, open_low=True), "weight of costs against the heuristic, 1 for best paths"] = 0.4
    quota: Annotated[float, Range(0), "how much to learn in a trial before every lesson means going back"] = math.inf


class Trip(NamedTuple):
    """What is planned, what lies behind, and how much was learned, all in this trial."""

    ahead: npt.NDArray[np.int32]  # [longest plan], states to go to, the next one last
    planned: npt.NDArray[np.int64]  # [1], how many they are
    behind: npt.NDArray[np.int32]  # [capacity], states left, a ring; ~state where the agent went on without planning
    top: npt.NDArray[np.int64]  # [1], where in the ring the next one goes
    left: npt.NDArray[np.int64]  # [1], how many the ring holds
    back: npt.NDArray[np.bool_]  # [1], is the agent on its way back?
    learned: npt.NDArray[np.float64]  # [1], u
    trial: npt.NDArray[np.int64]  # [1], the trial that all this belongs to
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Trip:
        """Room for the longest plan and, if the agent will ever go back, for as many moves as there are states."""
        plan = most_states(space.graph.arrays, space.params.depth, space.states)
        way = space.states if space.params.quota < math.inf else 0
        one = [np.zeros(1, np.int64) for _ in range(4)]
        ahead, behind = np.zeros(plan, np.int32), np.zeros(way, np.int32)
        return cls(ahead, one[0], behind, one[1], one[2], np.zeros(1, np.bool_), np.zeros(1), one[3], space.clock)


class Memory(NamedTuple):
    """What LRTS learned, the room it looks ahead in, and where it is on its way."""

    h: Learned
    ball: Ball
    trip: Trip


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """One move of LRTS: on with the plan, on with the way back, or a new plan."""
    h, ball, trip = memory.h, memory.ball, memory.trip
    _begin(trip)
    if trip.planned[0] > 0:
        return _go_on(graph, trip, state)
    if trip.back[0]:
        to, cost = _go_back(graph, trip, state)
        if to >= 0:
            return Move(to, cost, 0, 0, 0.0, 0)
    best = look(ball, graph, h, state, goal, params.depth, params.gamma, False, TOLERANCE)  # lines 1 and 2
    if best.slot < 0:
        return no_move(STUCK, best.expanded, best.touched)
    learned, stored = raise_to(h, graph, state, goal, _max_of_min(ball, best, goal))  # line 3
    trip.learned[0] += learned  # line 4
    if trip.learned[0] > params.quota + TOLERANCE:  # line 5
        trip.learned[0] = params.quota
        to, cost = _go_back(graph, trip, state)  # line 8
        if to >= 0:
            return Move(to, cost, best.expanded, best.touched, learned, stored)
    to = _plan(graph, trip, ball, best)  # line 6
    _leave(trip, state)
    return Move(to, price(graph, state, best.first), best.expanded, best.touched, learned, stored)


@kernel
def _begin(trip: Trip) -> None:
    """At a trial's start, forget the last one's way."""
    if trip.trial[0] != trip.clock.trial[0]:
        trip.trial[0] = trip.clock.trial[0]
        trip.planned[0], trip.top[0], trip.left[0] = 0, 0, 0
        trip.back[0] = False
        trip.learned[0] = 0.0


@kernel
def _max_of_min(ball: Ball, best: Frontier, goal: int) -> float:
    """The greatest of all plies' least f; the frontier is the last ply, the rest are in the ball, one after another."""
    greatest, least, met, ply = best.f, np.inf, np.inf, 1
    for slot in range(1, best.size):
        if ball.ply[slot] != ply:
            greatest, least, ply = max(greatest, least), met, int64(ball.ply[slot])
        least = min(least, ball.f[slot])
        if ball.state[slot] == goal:
            met = ball.f[slot]
    return greatest if best.size == 1 else max(greatest, least)


@kernel
def _plan(graph: Arrays, trip: Trip, ball: Ball, best: Frontier) -> int:
    """Plan the way to the frontier's best state: the first state of it."""
    count, slot = 0, best.slot
    if best.move >= 0:
        trip.ahead[0] = target(graph, int64(ball.state[slot]), best.move)
        count = 1
    while slot > 0:
        trip.ahead[count] = ball.state[slot]
        count += 1
        slot = int64(ball.parent[slot])
    trip.planned[0] = count - 1
    return int64(trip.ahead[count - 1])


@kernel
def _go_on(graph: Arrays, trip: Trip, state: int) -> Move:
    """Make the next move of the plan."""
    trip.planned[0] -= 1
    to = int64(trip.ahead[trip.planned[0]])
    _leave(trip, ~state)
    return Move(to, price_between(graph, state, to), 0, 0, 0.0, 0)


# --- the way back ---------------------------------------------------------------------------------------------------


@kernel
def _leave(trip: Trip, state: int) -> None:
    """Remember a state that the agent leaves; ~state if it did not plan there."""
    room = len(trip.behind)
    if room == 0:
        return
    top = trip.top[0]
    trip.behind[top] = state
    trip.top[0] = top + 1 if top + 1 < room else 0
    trip.left[0] = min(trip.left[0] + 1, room)


@kernel
def _go_back(graph: Arrays, trip: Trip, state: int) -> tuple[int, float]:
    """One move back, to be followed by others until a state where the agent planned; -1 if there is no such move."""
    trip.back[0] = False
    if trip.left[0] == 0:
        return -1, 0.0
    top = trip.top[0] - 1 if trip.top[0] > 0 else len(trip.behind) - 1
    entry = int64(trip.behind[top])
    to = max(entry, ~entry)
    cost = price_between(graph, state, to)
    if cost == np.inf:  # the agent came by a move of one direction
        return -1, 0.0
    trip.top[0] = top
    trip.left[0] -= 1
    trip.back[0] = entry < 0
    return to, cost


# --- names ----------------------------------------------------------------------------------------------------------


@algorithm(
    Card(
        "lrts",
        "LRTS",
        paper="Bulitko & Lee 2006",
        real_time=True,
        complete=True,
        converges=True,
        examples=("lrts(depth=3, gamma=0.2, quota=100.0)",),
    )
)
class LRTS:
    """The three parts of LRTS."""

    Params, Memory, step = Params, Memory, step


setting(
    "lrts",
    Card(
        "wlrta",
        "weighted LRTA*",
        paper="Shimbo & Ishida 2003",
        real_time=True,
        complete=True,
        converges=True,
        summary="LRTA* that believes its heuristic 1 / gamma times over, and settles sooner for worse paths.",
    ),
    depth=1,
    quota=math.inf,
)
setting(
    "lrts",
    Card(
        "sla",
        "SLA*",
        paper="Shue & Zamani 1993",
        real_time=True,
        complete=True,
        converges=True,
        summary="LRTA* that goes back one state whenever it has learned something.",
    ),
    depth=1,
    gamma=1.0,
    quota=0.0,
)
setting(
    "lrts",
    Card(
        "slat",
        "SLA*T",
        paper="Shue, Li & Zamani 2001",
        real_time=True,
        complete=True,
        converges=True,
        examples=("slat(quota=100.0)",),
        summary="LRTA* until it has learned a quota, infinite by default, and SLA* from then on.",
    ),
    depth=1,
    gamma=1.0,
)
setting(
    "lrts",
    Card(
        "gamma-trap",
        "gamma-Trap",
        paper="Bulitko 2004",
        real_time=True,
        complete=True,
        converges=True,
        summary="Look several moves ahead; walk them all if that taught nothing, else go back to the last plan.",
    ),
    quota=0.0,
)
