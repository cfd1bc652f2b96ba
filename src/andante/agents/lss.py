"""LSS-LRTA*: look ahead with A*, learn in every state that was expanded, move to the best frontier state.

Koenig and Sun (2009). The first version, by Koenig (2004), plans before every move; Bulitko et al. (2008) call it
K LRTA*. With depression avoidance it is daLSS-LRTA* (move-to-border) or aLSS-LRTA* (mark-and-avoid) of Hernandez and
Baier (2012). With a weight above 1 it learns by the weighted update of Rivera, Baier and Hernandez (2015): edge costs
are multiplied by the weight in learning, not in the lookahead. With ``expendable`` it permanently removes expendable
states, as Sharon, Sturtevant and Felner (2013) do with a lookahead of one: here every closed expendable state whose
value rose is removed. It then always moves to the frontier, whatever ``walk`` says, because frontier states are not
removed, while all states around the agent may have been.

Where the papers are silent: among equal f the larger g wins, then the state reached first. Values never decrease. Marks
and rises are those of the current trial. If a wall is discovered on the next move of the plan, the agent plans again.
The lookahead's expansions count as expanded and, in learning, every frontier state and every closed state, because the
predecessors of each are generated once.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from andante.agent import STUCK, UNREACHABLE, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import int64, kernel
from andante.search.expendable import Gone, give_up, is_expendable
from andante.search.learning import Learned
from andante.search.local import (
    Ahead,
    Avoidance,
    Local,
    Rise,
    Walk,
    frontier,
    learn_inwards,
    look_ahead,
    reached,
)
from andante.search.memory import LEARNED, note
from andante.search.plan import take_move
from andante.search.predecessors import Predecessors, turned
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, unit

FRONTIER = int(Walk.FRONTIER)


class Params(NamedTuple):
    """How far to look ahead, how to learn, and where to go."""

    lookahead: Annotated[int, Range(1, 100_000), "states to expand before a move; learning expands more"] = 10
    walk: Annotated[Walk, "how far to go before planning again"] = Walk.FRONTIER
    avoidance: Annotated[Avoidance, "how to avoid depressions, if at all"] = Avoidance.OFF
    weight: Annotated[float, Range(1, 1000), "of edge costs in what is learned"] = 4.0
    expendable: Annotated[bool, "permanently remove expendable states"] = False

    @property
    def complete(self) -> bool:
        """Whether it is complete: not if it removes states.

        One may be needed later, on an unknown map or with one-way arcs.
        """
        return not self.expendable


class Memory(NamedTuple):
    """The learned values, and the arrays for the lookahead."""

    h: Learned
    local: Local
    ahead: Ahead
    rise: Rise
    into: Predecessors
    gone: Gone


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of LSS-LRTA*."""
    local = memory.local
    expanded, touched, learned, stored = 0, 0, 0.0, 0
    to, cost = take_move(memory.ahead.plan, graph, state)
    if cost == np.inf:
        # An agent among removed states has to leave them, so it moves to the frontier, where no state is removed.
        walk = FRONTIER if params.expendable else params.walk
        expanded, touched = look_ahead(
            local,
            memory.ahead,
            graph,
            memory.h,
            memory.rise,
            memory.gone,
            state,
            goal,
            params.lookahead,
            params.avoidance,
            walk,
        )
        if frontier(local) == 0:  # if states were removed, this does not prove that the goal is unreachable
            return no_move(STUCK if params.expendable else UNREACHABLE, expanded, touched)
        into = turned(memory.into.arcs, graph)
        settled, moves, learned, stored = learn_inwards(local, graph, into, memory.h, memory.rise, params.weight)
        expanded, touched = expanded + settled, touched + moves
        if params.expendable:
            expanded += _give_up(memory, graph, goal)
        to, cost = take_move(memory.ahead.plan, graph, state)
    return Move(to, cost, expanded, touched, learned, stored)


@kernel
def _give_up(memory: Memory, graph: Arrays, goal: int) -> int:
    """Remove expendable states whose values have just risen; return the number of states expanded to find them."""
    local, slack, expanded = memory.local, TOLERANCE * unit(graph), 0
    for slot in range(reached(local)):
        state = int64(local.state[slot])
        if local.new[slot] <= local.h[slot] + slack or state == goal:  # the new value of an open state is -inf
            continue
        dispensable, looked_at = is_expendable(graph, memory.gone, state)
        expanded += looked_at
        if dispensable:
            give_up(memory.gone, state)
            note(memory.h.log, LEARNED, state, np.inf)  # in effect, as lookaheads do not enter it
    return expanded


@algorithm(
    Card(
        "wlss",
        "wLSS-LRTA*",
        paper="Rivera, Baier & Hernandez 2015",
        real_time=True,
        crowd=True,
        complete=True,
        senses=True,
        living=True,
        pursues=True,
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
        summary="LSS-LRTA* that plans before every move.",
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
        summary="LSS-LRTA* that goes to frontier states whose values have risen least, to leave depressions sooner.",
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
        summary="LSS-LRTA* that goes to frontier states whose values have not risen, as long as there are any.",
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
        summary="daLSS-LRTA* that permanently removes expendable states whose values rose.",
    ),
    free=("avoidance", "weight"),
    walk=Walk.FRONTIER,
    avoidance=Avoidance.BORDER,
    weight=1.0,
    expendable=True,
)
