"""RTAA*: look ahead with A*, learn in every expanded state from the f of the best frontier state.

Koenig and Likhachev (2006): h(s) = f(best) - g(s) for every closed s. This learns less than LSS-LRTA* from the same
lookahead, but needs no second search. With depression avoidance it is daRTAA* (move-to-border) or aRTAA*
(mark-and-avoid) of Hernandez and Baier (2012), which move to another frontier state but still learn from the best. The
weighted update has no counterpart here: it is defined on edges, which this rule does not use.

Where the papers are silent: among equal f the larger g wins, then the state reached first. Values never decrease. Marks
and rises are those of the current trial. If a wall is discovered on the next move of the plan, the agent plans again.
Only the lookahead's expansions count as expanded, because learning generates nothing.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from andante.agent import UNREACHABLE, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import kernel
from andante.search.learning import Learned
from andante.search.local import (
    Ahead,
    Anywhere,
    Avoidance,
    Local,
    Rise,
    Walk,
    frontier,
    learn,
    least_f,
    look_ahead,
    reached,
)
from andante.search.plan import take_move
from andante.world.layout import Arrays


class Params(NamedTuple):
    """How far to look ahead, and where to go."""

    lookahead: Annotated[int, Range(1, 100_000), "states to expand before a move"] = 10
    walk: Annotated[Walk, "how far to go before planning again"] = Walk.FRONTIER
    avoidance: Annotated[Avoidance, "how to avoid depressions, if at all"] = Avoidance.OFF


class Memory(NamedTuple):
    """The learned values, and the arrays for the lookahead."""

    h: Learned
    local: Local
    ahead: Ahead
    rise: Rise


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of RTAA*."""
    local = memory.local
    expanded, touched, learned, stored = 0, 0, 0.0, 0
    to, cost = take_move(memory.ahead.plan, graph, state)
    if cost == np.inf:
        expanded, touched = look_ahead(
            local,
            memory.ahead,
            graph,
            memory.h,
            memory.rise,
            Anywhere(),
            state,
            goal,
            params.lookahead,
            params.avoidance,
            params.walk,
        )
        if frontier(local) == 0:
            return no_move(UNREACHABLE, expanded, touched)
        learned, stored = _learn(memory, graph)
        to, cost = take_move(memory.ahead.plan, graph, state)
    return Move(to, cost, expanded, touched, learned, stored)


@kernel
def _learn(memory: Memory, graph: Arrays) -> tuple[float, int]:
    """Raise every closed state to f(best) - g; return the sum of the increases and the number of first values."""
    local = memory.local
    learned, stored = 0.0, 0
    for slot in range(reached(local)):  # an open state keeps its value, as its f is at least the best
        rose, fresh = learn(local, graph, memory.h, memory.rise, slot, least_f(local) - local.g[slot])
        learned += rose
        stored += fresh
    return learned, stored


@algorithm(
    Card(
        "rtaa",
        "RTAA*",
        paper="Koenig & Likhachev 2006",
        real_time=True,
        crowd=True,
        complete=True,
        converges=True,
        senses=True,
        living=True,
        pursues=True,
        examples=("rtaa(lookahead=100)",),
    )
)
class RTAA:
    """The three parts of RTAA*."""

    Params, Memory, step = Params, Memory, step


setting(
    "rtaa",
    Card(
        "dartaa",
        "daRTAA*",
        paper="Hernandez & Baier 2012",
        real_time=True,
        complete=True,
        converges=True,
        examples=("dartaa(lookahead=100)",),
        shown=("dartaa(lookahead=100)",),
        summary="RTAA* that goes to frontier states whose values have risen least, to leave depressions sooner.",
    ),
    walk=Walk.FRONTIER,
    avoidance=Avoidance.BORDER,
)
setting(
    "rtaa",
    Card(
        "artaa",
        "aRTAA*",
        paper="Hernandez & Baier 2012",
        real_time=True,
        complete=True,
        converges=True,
        examples=("artaa(lookahead=100)",),
        summary="RTAA* that goes to frontier states whose values have not risen, as long as there are any.",
    ),
    walk=Walk.FRONTIER,
    avoidance=Avoidance.MARK,
)
