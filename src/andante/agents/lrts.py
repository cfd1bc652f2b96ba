"""LRTS: look d moves ahead, walk all of them, and go back after having learned more than a quota.

Bulitko and Lee (2006), as restated in Bulitko et al. (2007), Figure 3; line numbers refer to that figure. Where the
paper is silent: a goal reached before the last ply belongs to all later plies too. Among paths with equal f the one
whose first move is first in the graph's order wins, and values that differ by less than a millionth are equal. An agent
with nothing to go back to goes forward, and its quota still counts as used up.

A plan stays in the agent's memory until it is walked. So does the path it came by, the last state on top, to be walked
back one state per move. This needs moves that can be reversed; after a move that cannot be, there is nothing to go back
to. The path is stored in a ring with space for as many moves as the graph has states. When it is full, the oldest move
is forgotten, as if the trial had begun later. The path back never costs more than (h(start) + T + the greatest h*) /
gamma, because h falls by gamma * g along it except for learned increases. So only a quota as large as the map can fill
the ring. If a wall is discovered on the next move of the plan, the agent plans again from its state.
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
from andante.search.plan import Plan, set_length, take_move
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, price, unit


class Params(NamedTuple):
    """The three dimensions of LRTS; the defaults are a setting from Bulitko et al. (2007)."""

    depth: Annotated[int, Range(1, 100), "moves to look ahead, and to make before looking again"] = 9
    gamma: Annotated[float, Range(1e-9, 1), "weight of costs against the heuristic, 1 for best paths"] = 0.4
    quota: Annotated[float, Range(0), IN_COST, "learning per trial after which any more means going back"] = math.inf


TRIP = np.dtype(
    [
        ("learned", np.float64),  # u: the amount learned in this trial
        ("trial", np.int64),  # the trial that these fields are for
        ("back", np.bool_),  # whether the agent is going back
    ],
    align=True,
)


class Trip(NamedTuple):
    """The plan, the path behind, and the amount learned, all in this trial."""

    ahead: Plan
    behind: Behind
    scalars: npt.NDArray[Any]  # [1], of TRIP
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Trip:
        """Return arrays for the longest plan and, if the agent may go back, for as many moves as there are states."""
        plan = most_states(space.graph.arrays, space.params.depth, space.states)
        back = space.states if space.params.quota < math.inf else 0
        return cls(Plan.over(space, plan), Behind.over(space.mind, back), space.mind.one(TRIP), space.clock)


class Memory(NamedTuple):
    """The learned values, the arrays for the lookahead, and the agent's plan and path."""

    h: Learned
    ball: Ball
    trip: Trip


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of LRTS: continue the plan or the path back, or plan again."""
    h, ball, trip = memory.h, memory.ball, memory.trip
    at = trip.scalars[0]
    _begin(trip)
    to, cost = _go_back(graph, trip, state) if at["back"] else _next_move(graph, trip, state)
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
    """Forget the path of the previous trial if a new one has begun."""
    at = trip.scalars[0]
    if at["trial"] != trip.clock[0]["trial"]:
        at["trial"] = trip.clock[0]["trial"]
        forget(trip.behind)
        at["back"] = False
        at["learned"] = 0.0


@kernel
def _plan(graph: Arrays, trip: Trip, ball: Ball, best: Frontier) -> int:
    """Plan the path to the best state of the frontier, and return the first state of the path."""
    moves = path_out(ball, graph, best, trip.ahead.state)
    set_length(trip.ahead, moves - 1)
    return int64(trip.ahead.state[moves - 1])


@kernel
def _next_move(graph: Arrays, trip: Trip, state: int) -> tuple[int, float]:
    """Return the next move of the plan, or -1 if there is none; drop the plan if a discovered wall blocks it."""
    to, cost = take_move(trip.ahead, graph, state)
    if cost == np.inf:
        return -1, 0.0
    leave(trip.behind, ~state)
    return to, cost


@kernel
def _go_back(graph: Arrays, trip: Trip, state: int) -> tuple[int, float]:
    """Return one move back, or -1 if there is none; more follow until the agent is in a state where it planned."""
    at = trip.scalars[0]
    at["back"] = False
    if how_many(trip.behind) == 0:
        return -1, 0.0
    entry = last_left(trip.behind)
    to = max(entry, ~entry)
    cost = price_between(graph, state, to)
    if cost == np.inf:  # the agent came by a one-way arc
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
        crowd=True,
        complete=True,
        converges=True,
        senses=True,
        living=True,
        pursues=True,
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
        summary="LRTA* with its heuristic multiplied by 1 / gamma, which converges sooner to worse paths.",
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
        summary="LRTA* until it has learned a quota, infinite by default, and SLA* after that.",
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
        summary="Look several moves ahead; walk them all if nothing was learned, else go back to the last plan.",
    ),
    quota=0.0,
)
