"""LSS-LRTA*: look ahead in the shape of A*, learn in every state that was expanded, walk to the best frontier state.

Koenig and Sun (2009), first in Koenig (2004), which Bulitko et al. (2008) call K LRTA* and which plans before every
move. With depression avoidance it is daLSS-LRTA* (move-to-border) or aLSS-LRTA* (mark-and-avoid) of Hernandez and
Baier (2012); with a weight above 1 it learns by the weighted update of Rivera, Baier and Hernandez (2015): edges count
so many times their cost in learning, not in the lookahead.

Where the papers are silent: of equal f the larger g wins, then the state reached first; a value never falls; risen is
what rose in this trial, so that marks and rises are gone when the next one begins; where a wall is discovered on the
plan's next move the agent plans anew. Counted as expanded are the lookahead's expansions and, in learning, every state
of the frontier and every closed one: the states before each of them are generated once.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from andante.agent import UNREACHABLE, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import int64, kernel
from andante.search import heap
from andante.search.learning import Learned
from andante.search.local import (
    Avoidance,
    Local,
    Rise,
    Walk,
    choose,
    frontier,
    grow,
    learn,
    next_move,
    plan,
    slot_of,
)
from andante.search.predecessors import Predecessors, turned
from andante.world.graph import Arrays, degree, price, target


class Params(NamedTuple):
    """How far LSS-LRTA* looks, how it learns, and where it goes."""

    lookahead: Annotated[int, Range(1, 100_000), "states to expand before a move; learning takes more"] = 10
    walk: Annotated[Walk, "how far to go before planning again"] = Walk.FRONTIER
    avoidance: Annotated[Avoidance, "how to avoid depressions, if at all"] = Avoidance.OFF
    weight: Annotated[float, Range(1, 1000), "of edge costs in what is learned"] = 4.0


class Memory(NamedTuple):
    """What LSS-LRTA* learned, and the room it looks ahead in."""

    h: Learned
    local: Local
    rise: Rise
    into: Predecessors


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """One move of LSS-LRTA*."""
    local = memory.local
    expanded, touched, learned, stored = 0, 0, 0.0, 0
    to, cost = next_move(local, graph, state)
    if cost == np.inf:
        expanded, touched = grow(local, graph, memory.h, state, goal, params.lookahead)
        if frontier(local) == 0:
            return no_move(UNREACHABLE, expanded, touched)
        plan(local, choose(local, graph, memory.rise, params.avoidance), params.walk)
        settled, moves, learned, stored = _learn(memory, graph, turned(memory.into.arcs, graph), params.weight)
        expanded, touched = expanded + settled, touched + moves
        to, cost = next_move(local, graph, state)
    return Move(to, cost, expanded, touched, learned, stored)


@kernel
def _learn(memory: Memory, graph: Arrays, into: Arrays, weight: float) -> tuple[int, int, float, int]:
    """Dijkstra's search from the frontier inwards gives every closed state its new value.

    Returns how many states were settled and moves looked at, how much values rose, how many states got their first.
    """
    local, queue = memory.local, memory.local.open
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
        rose, fresh = learn(local, graph, memory.h, memory.rise, slot, local.new[slot])
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
        shown=("lss", "lss(lookahead=100)"),
        summary=(__doc__ or "").partition("\n")[0],
    ),
    weight=1.0,
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
