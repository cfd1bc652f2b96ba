"""LSS-LRTA*: look ahead in the shape of A*, learn in every state that was expanded, walk to the best frontier state.

Koenig and Sun (2009), first in Koenig (2004), which Bulitko et al. (2008) call K LRTA* and which plans before every
move. With depression avoidance it is daLSS-LRTA* (move-to-border) or aLSS-LRTA* (mark-and-avoid) of Hernandez and
Baier (2012); with a weight above 1 it learns by the weighted update of Rivera, Baier and Hernandez (2015): edges count
so many times their cost in learning, not in the lookahead. With ``expendable`` it leaves states for good, as Sharon,
Sturtevant and Felner (2013) do with a lookahead of one: every closed state whose value rose and that the rest of the
map can do without. That goes with walking to the frontier only, whatever ``walk`` says: the frontier's states are
still there, while around the agent all may have been given up.

Where the papers are silent: of equal f the larger g wins, then the state reached first; a value never falls; risen is
what rose in this trial, so that marks and rises are gone when the next one begins; where a wall is discovered on the
plan's next move the agent plans anew. Counted as expanded are the lookahead's expansions and, in learning, every state
of the frontier and every closed one: the states before each of them are generated once.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from andante.agent import STUCK, UNREACHABLE, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import int64, kernel
from andante.search.expendable import Gone, give_up, is_expendable
from andante.search.learning import Learned, store
from andante.search.local import (
    Avoidance,
    Local,
    Rise,
    Walk,
    choose,
    frontier,
    grow,
    learn_inwards,
    next_move,
    plan,
)
from andante.search.predecessors import Predecessors, turned
from andante.world.graph import Arrays, unit
from andante.world.heuristics import TOLERANCE

FRONTIER = int(Walk.FRONTIER)


class Params(NamedTuple):
    """How far LSS-LRTA* looks, how it learns, and where it goes."""

    lookahead: Annotated[int, Range(1, 100_000), "states to expand before a move; learning takes more"] = 10
    walk: Annotated[Walk, "how far to go before planning again"] = Walk.FRONTIER
    avoidance: Annotated[Avoidance, "how to avoid depressions, if at all"] = Avoidance.OFF
    weight: Annotated[float, Range(1, 1000), "of edge costs in what is learned"] = 4.0
    expendable: Annotated[bool, "leave states for good that the rest of the map can do without"] = False

    @property
    def complete(self) -> bool:
        """A state that was given up may be missed on a map that is being discovered, or where moves are one-way."""
        return not self.expendable


class Memory(NamedTuple):
    """What LSS-LRTA* learned, and the room it looks ahead in."""

    h: Learned
    local: Local
    rise: Rise
    into: Predecessors
    gone: Gone


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """One move of LSS-LRTA*."""
    local = memory.local
    expanded, touched, learned, stored = 0, 0, 0.0, 0
    to, cost = next_move(local, graph, state)
    if cost == np.inf:
        expanded, touched = grow(local, graph, memory.h, state, goal, params.lookahead)
        if frontier(local) == 0:  # if states were given up this proves nothing
            return no_move(STUCK if params.expendable else UNREACHABLE, expanded, touched)
        # From among states that were given up an agent must get away: it walks to the frontier, where there are none.
        plan(local, choose(local, graph, memory.rise, params.avoidance), FRONTIER if params.expendable else params.walk)
        into = turned(memory.into.arcs, graph)
        settled, moves, learned, stored = learn_inwards(local, graph, into, memory.h, memory.rise, params.weight)
        expanded, touched = expanded + settled, touched + moves
        if params.expendable:
            expanded += _give_up(memory, graph, goal)
        to, cost = next_move(local, graph, state)
    return Move(to, cost, expanded, touched, learned, stored)


@kernel
def _give_up(memory: Memory, graph: Arrays, goal: int) -> int:
    """Leave expendable states whose values have just risen for good: how many states were expanded to find them."""
    local, slack, expanded = memory.local, TOLERANCE * unit(graph), 0
    for slot in range(local.size[0]):
        state = int64(local.state[slot])
        if local.new[slot] <= local.h[slot] + slack or state == goal:  # that of an open state is -inf
            continue
        dispensable, looked_at = is_expendable(graph, memory.gone, state)
        expanded += looked_at
        if dispensable:
            give_up(memory.gone, state)
            store(memory.h, state, np.inf)  # so that no lookahead goes there
    return expanded


@algorithm(
    Card(
        "wlss",
        "wLSS-LRTA*",
        paper="Rivera, Baier & Hernandez 2015",
        real_time=True,
        complete=True,
        senses=True,
        examples=("wlss(lookahead=100)", "wlss(lookahead=100, avoidance=border)"),
        summary="LSS-LRTA* that learns as if every edge cost several times as much, and so leaves depressions sooner.",
    )
)
class WeightedLSS:
    """The three parts of LSS-LRTA* with the weighted update."""

    Params, Memory, step = Params, Memory, step


setting(
    "wlss",
    Card(
        "lss",
        "LSS-LRTA*",
        paper="Koenig & Sun 2009",
        real_time=True,
        complete=True,
        converges=True,
        examples=("lss(lookahead=100)",),
        summary=(__doc__ or "").partition("\n")[0],
    ),
    weight=1.0,
    expendable=False,
)
setting(
    "lss",
    Card(
        "klrta",
        "K LRTA*",
        paper="Koenig 2004",
        real_time=True,
        complete=True,
        converges=True,
        examples=("klrta(lookahead=100)",),
        summary="LSS-LRTA* that plans anew before every move.",
    ),
    walk=Walk.ONE_MOVE,
    avoidance=Avoidance.OFF,
)
setting(
    "lss",
    Card(
        "dalss",
        "daLSS-LRTA*",
        paper="Hernandez & Baier 2012",
        real_time=True,
        complete=True,
        converges=True,
        examples=("dalss(lookahead=100)",),
        shown=("dalss(lookahead=40)",),
        summary="LSS-LRTA* that goes to the frontier states whose values rose least, and so leaves depressions sooner.",
    ),
    walk=Walk.FRONTIER,
    avoidance=Avoidance.BORDER,
)
setting(
    "lss",
    Card(
        "alss",
        "aLSS-LRTA*",
        paper="Hernandez & Baier 2011",
        real_time=True,
        complete=True,
        converges=True,
        examples=("alss(lookahead=100)",),
        summary="LSS-LRTA* that goes to frontier states whose values have not risen, while there are any.",
    ),
    walk=Walk.FRONTIER,
    avoidance=Avoidance.MARK,
)
setting(
    "wlss",
    Card(
        "lss-e",
        "daLSS-LRTA*+E",
        paper="Hernandez & Baier 2012; Sharon, Sturtevant & Felner 2013",
        real_time=True,
        ring=True,
        examples=("lss-e(lookahead=100)", "lss-e(weight=4)"),
        shown=("lss-e(lookahead=40)",),
        summary="daLSS-LRTA* that leaves expendable states for good, all that its lookahead has learned to be in vain.",
    ),
    free=("avoidance", "weight"),
    walk=Walk.FRONTIER,
    avoidance=Avoidance.BORDER,
    weight=1.0,
    expendable=True,
)
