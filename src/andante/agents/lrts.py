"""LRTS: look d moves ahead, walk all of them, and go back after having learned more than a quota.

Bulitko and Lee (2006), as restated in Bulitko et al. (2007), Figure 3; line numbers are that figure's. Where the paper
is silent: the goal, met before the last ply, belongs to all later plies too; of equal f the path whose first move comes
first in the graph's order wins, and equal is what differs by less than a millionth; with nothing to go back to the
agent goes forward, and its quota counts as used up all the same.

A plan stays in the agent's memory until it is walked, and so does the way it came, the last state on top, to be walked
back one state per move. That needs moves that can be reversed; where one cannot, there is nothing to go back to. The
memory of the way is a ring with room for as many moves as the graph has states: when it is full the oldest is
forgotten, as if the trial had begun later. The way back never costs more than (h(start) + T + the greatest h*) / gamma,
because h falls by gamma * g along it but for what was learned: only a quota as large as the map can make it forget.
Where a wall is discovered on the plan's next move, the agent plans anew from where it stands.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import IN_COST, STUCK, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import int64, kernel
from andante.search.behind import Behind, forget, go_back, how_many, last_left, leave
from andante.search.learning import Learned, raise_to
from andante.search.lookahead import Ball, Frontier, look, max_of_min, most_states, path_out
from andante.search.memory import Clock, Space
from andante.search.path import price_between
from andante.world.graph import Arrays, price, unit
from andante.world.heuristics import TOLERANCE


class Params(NamedTuple):
    """The three dimensions of LRTS; the defaults are one of the settings that Bulitko et al. (2007) study."""

    depth: Annotated[int, Range(1, 100), "moves to look ahead, and to make before looking again"] = 9
    gamma: Annotated[float, Range(1e-9, 1), "weight of costs against the heuristic, 1 for best paths"] = 0.4
    quota: Annotated[float, Range(0), IN_COST, "how much to learn in a trial before every lesson means going back"] = (
        math.inf
    )


TRIP = np.dtype(
    [
        ("planned", np.int64),  # states still to go to
        ("learned", np.float64),  # u
        ("trial", np.int64),  # the trial that all this belongs to
        ("back", np.bool_),  # whether the agent is on its way back
    ],
    align=True,
)


class Trip(NamedTuple):
    """What is planned, what lies behind, and how much was learned, all in this trial."""

    ahead: npt.NDArray[np.int32]  # [longest plan], states to go to, the next one last
    behind: Behind
    scalars: npt.NDArray[Any]  # [1], of TRIP
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Trip:
        """Return arrays for the longest plan and, if the agent may go back, for as many moves as there are states."""
        plan = most_states(space.graph.arrays, space.params.depth, space.states)
        way = space.states if space.params.quota < math.inf else 0
        return cls(np.zeros(plan, np.int32), Behind.over(way), np.zeros(1, TRIP), space.clock)


class Memory(NamedTuple):
    """What LRTS learned, the room it looks ahead in, and where it is on its way."""

    h: Learned
    ball: Ball
    trip: Trip


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """One move of LRTS: on with the plan, on with the way back, or a new plan."""
    h, ball, trip = memory.h, memory.ball, memory.trip
    at = trip.scalars[0]
    _begin(trip)
    to, cost = _go_back(graph, trip, state) if at["back"] else _go_on(graph, trip, state)
    if to >= 0:
        return Move(to, cost, 0, 0, 0.0, 0)
    slack = TOLERANCE * params.gamma * unit(graph)
    best = look(ball, graph, h, state, goal, params.depth, params.gamma, False, slack)  # lines 1 and 2
    if best.slot < 0:
        return no_move(STUCK, best.expanded, best.touched)
    learned, stored = raise_to(h, graph, state, goal, max_of_min(ball, best, goal), params.gamma)  # line 3
    at["learned"] += learned  # line 4
    if at["learned"] > params.quota + slack:  # line 5
        at["learned"] = params.quota
        to, cost = _go_back(graph, trip, state)  # line 8
        if to >= 0:
            return Move(to, cost, best.expanded, best.touched, learned, stored)
    to = _plan(graph, trip, ball, best)  # line 6
    leave(trip.behind, state)
    return Move(to, price(graph, state, best.first), best.expanded, best.touched, learned, stored)


@kernel
def _begin(trip: Trip) -> None:
    """At a trial's start, forget the last one's way."""
    at = trip.scalars[0]
    if at["trial"] != trip.clock[0]["trial"]:
        at["trial"] = trip.clock[0]["trial"]
        at["planned"] = 0
        forget(trip.behind)
        at["back"] = False
        at["learned"] = 0.0


@kernel
def _plan(graph: Arrays, trip: Trip, ball: Ball, best: Frontier) -> int:
    """Plan the way to the frontier's best state: the first state of it."""
    at = trip.scalars[0]
    at["planned"] = path_out(ball, graph, best, trip.ahead) - 1
    return int64(trip.ahead[at["planned"]])


@kernel
def _go_on(graph: Arrays, trip: Trip, state: int) -> tuple[int, float]:
    """The next move of the plan; -1 if there is none, or a wall was discovered there, and the plan is void."""
    at = trip.scalars[0]
    if at["planned"] == 0:
        return -1, 0.0
    at["planned"] -= 1
    to = int64(trip.ahead[at["planned"]])
    cost = price_between(graph, state, to)
    if cost == np.inf:
        at["planned"] = 0
        return -1, 0.0
    leave(trip.behind, ~state)
    return to, cost


@kernel
def _go_back(graph: Arrays, trip: Trip, state: int) -> tuple[int, float]:
    """One move back, to be followed by others until a state where the agent planned; -1 if there is no such move."""
    at = trip.scalars[0]
    at["back"] = False
    if how_many(trip.behind) == 0:
        return -1, 0.0
    entry = last_left(trip.behind)
    to = max(entry, ~entry)
    cost = price_between(graph, state, to)
    if cost == np.inf:  # the agent came by a move of one direction
        return -1, 0.0
    go_back(trip.behind)
    at["back"] = entry < 0
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
        senses=True,
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
