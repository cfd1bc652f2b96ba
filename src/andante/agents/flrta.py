"""f-LRTA*: LSS-LRTA* that also learns the cost from the start and prunes states that lead nowhere new.

Sturtevant and Bulitko (2011). Besides h the agent learns g(s), the cost of the cheapest path from the start to s that
it knows. An expanded state is dead if no neighbour has its best path through it, and redundant if each neighbour that
does has an equally good path through another state. Both are pruned: no lookahead enters them again. A pruned state is
restored when a cheaper path to it is found.

The paper leaves some of this open. This is our reading, which makes it complete (for the proof, see
docs/algorithms/flrta.md):

- A state p supports a neighbour t if p is expanded, not pruned, and g(t) = g(p) + c(p, t). Each t stores the number of
  its supporters. A state may be pruned if each unpruned state it supports has another supporter: it is dead if it
  supports none, and redundant otherwise (``redundant=false`` prunes dead states only). So every unpruned state except
  the start keeps a supporter, and with it a path from the start through unpruned states.
- A plan is made as in LSS-LRTA*. Then closed states pass a new g on to their neighbours, lowest g first. Then closed
  states are pruned, highest g first, so that a dead end is pruned from its far end.
- Lookaheads do not enter a pruned state, as if its h were infinite. A restored state has its initial h again.
- An agent in a pruned state without a plan goes back along the path that gave the state its g, until it reaches a state
  that is not pruned.
- Values of g are kept for all trials of a problem, which begin in the same state. Pruning considers only the paths
  known so far, so repeated trials need not converge to a cheapest path.
- When the map changes, every g is forgotten and no state is pruned any longer: the next plan begins a new path from the
  agent's state. Values of h stay, or fall as in LSS-LRTA*.

Counted as expanded: the lookahead's expansions, those of learning h as in LSS-LRTA*, each closed state that passes its
g on, each that is considered for pruning, and each that is pruned once more.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, Card, Move, Range, algorithm, no_move
from andante.kernel import int64, kernel
from andante.search import heap
from andante.search.heap import Heap
from andante.search.learning import Learned, store
from andante.search.local import (
    Ahead,
    Avoidance,
    Local,
    Rise,
    Walk,
    frontier,
    is_shut,
    learn_inwards,
    look_ahead,
    reached,
    slot_of,
)
from andante.search.memory import LEARNED, Clock, Space, note, version
from andante.search.path import price_between
from andante.search.plan import take_move
from andante.search.predecessors import Predecessors, turned
from andante.search.records import Index, claim, find
from andante.world.changes import Changes
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, degree, estimate, price, target, unit

FRONTIER = int(Walk.FRONTIER)
NO_STATE = -1


class Params(NamedTuple):
    """How far to look ahead, where to go, and what to prune."""

    lookahead: Annotated[int, Range(1, 100_000), "states to expand before a move; learning expands more"] = 10
    avoidance: Annotated[Avoidance, "how to avoid depressions, if at all"] = Avoidance.OFF
    redundant: Annotated[bool, "prune redundant states too, not only dead ones"] = True


#: The best known path from the start to a state, in the problem and on the map of this version.
FROM_START = np.dtype(
    [
        ("g", np.float64),
        ("handed_on", np.float64),  # the g that was passed on to its neighbours; infinite if none was
        ("version", np.int64),  # of problem and map
        ("parent", np.int32),  # the state that its g came from
        ("supporters", np.int32),
        ("latest", np.int32),  # the supporter counted last: of several arcs from it only one counts
        ("pruned", np.bool_),
    ],
    align=True,
)


class Origins(NamedTuple):
    """The best known path from the start to each state, and a heap to order closed states by g."""

    where: Index
    at: npt.NDArray[Any]  # the states' records, of FROM_START
    order: Heap  # on the desk
    clock: Clock
    changes: Changes

    @classmethod
    def allocate(cls, space: Space) -> Origins:
        """Return arrays in which no state is known."""
        most = max(1, min(space.states, space.params.lookahead * space.graph.max_degree + 1))
        return cls(space.mind.index(), space.mind.field(FROM_START), Heap.over(most, most), space.clock, space.changes)


class Memory(NamedTuple):
    """The values learned in both directions, and the arrays for the lookahead."""

    h: Learned
    origins: Origins
    local: Local
    ahead: Ahead
    rise: Rise
    into: Predecessors


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of f-LRTA*."""
    local = memory.local
    expanded, touched, learned, stored = 0, 0, 0.0, 0
    to, cost = take_move(memory.ahead.plan, graph, state)
    if cost == np.inf:
        _know(memory.origins, state, 0.0, NO_STATE)
        here = memory.origins.at[find(memory.origins.where, state)]
        if here["pruned"]:
            back = int64(here["parent"])
            cost = price_between(graph, state, back) if back != NO_STATE else np.inf
            return Move(back, cost, 0, 0, 0.0, 0) if cost < np.inf else no_move(STUCK, 0, 0)
        expanded, touched = look_ahead(
            local,
            memory.ahead,
            graph,
            memory.h,
            memory.rise,
            memory.origins,
            state,
            goal,
            params.lookahead,
            params.avoidance,
            FRONTIER,
        )
        if frontier(local) == 0:  # no proof of UNREACHABLE: with one-way arcs a pruned state may be needed
            return no_move(STUCK, expanded, touched)
        into = turned(memory.into.arcs, graph)
        settled, moves, learned, stored = learn_inwards(local, graph, into, memory.h, memory.rise, 1.0)
        handed, moves_on, fresh = _propagate_g(memory, graph, goal)
        checked, moves_over = _prune(memory, graph, params, goal)
        expanded, stored = expanded + settled + handed + checked, stored + fresh
        touched += moves + moves_on + moves_over
        to, cost = take_move(memory.ahead.plan, graph, state)
    return Move(to, cost, expanded, touched, learned, stored)


@is_shut.of(Origins)
def _is_pruned(removed: Origins, state: int) -> bool:
    node = removed.at[find(removed.where, state)]
    return bool(node["pruned"]) and node["version"] == version(removed.clock[0], removed.changes)


@kernel
def _know(origins: Origins, state: int, g: float, parent: int) -> bool:
    """Initialise a state unless it is known in this problem; return whether it was new."""
    node = origins.at[claim(origins.where, state)]
    now = version(origins.clock[0], origins.changes)
    if node["version"] == now:
        return False
    node["g"], node["handed_on"], node["version"], node["parent"] = g, np.inf, now, parent
    node["supporters"], node["pruned"] = 0, False
    return True


@kernel
def _is_closed(local: Local, slot: int) -> bool:
    """Return whether the state in this slot was expanded: learning sets the new value of frontier states to -inf."""
    return local.new[slot] > -np.inf


@kernel
def _propagate_g(memory: Memory, graph: Arrays, goal: int) -> tuple[int, int, int]:
    """Pass a new g of closed states on to their neighbours, lowest g first.

    Return the numbers of states that did so, of moves generated, and of restored states whose h is their first.
    """
    local, origins, slack = memory.local, memory.origins, TOLERANCE * unit(graph)
    heap.clear(origins.order)
    for slot in range(reached(local)):
        node = origins.at[find(origins.where, int64(local.state[slot]))]
        if (
            _is_closed(local, slot)
            and node["version"] == version(origins.clock[0], origins.changes)
            and node["handed_on"] != node["g"]
        ):
            heap.push(origins.order, slot, node["g"], 0.0)
    expanded, touched, stored = 0, 0, 0
    while heap.size(origins.order) > 0:
        state = int64(local.state[heap.pop(origins.order)])
        node = origins.at[find(origins.where, state)]
        before, node["handed_on"] = node["handed_on"], node["g"]
        moves = degree(graph, state)
        for k in range(moves):
            near, cost = target(graph, state, k), price(graph, state, k)
            there = origins.at[claim(origins.where, near)]
            if _know(origins, near, np.inf, NO_STATE) or node["g"] + cost < there["g"] - slack:
                there["g"], there["parent"] = node["g"] + cost, state
                there["supporters"], there["latest"] = 1, state
                if there["pruned"]:
                    there["pruned"] = False
                    stored += store(memory.h, near, estimate(graph, near, goal))
                slot = slot_of(local, near)
                if slot >= 0 and _is_closed(local, slot):
                    heap.push(origins.order, slot, there["g"], 0.0)
            elif there["latest"] != state and node["g"] + cost <= there["g"] + slack < before + cost:
                there["supporters"] += 1
                there["latest"] = state
        expanded, touched = expanded + 1, touched + moves
    return expanded, touched, stored


@kernel
def _prune(memory: Memory, graph: Arrays, params: Params, goal: int) -> tuple[int, int]:
    """Prune dead and redundant closed states, highest g first; return the numbers of states and of moves considered."""
    local, origins = memory.local, memory.origins
    heap.clear(origins.order)
    for slot in range(reached(local)):
        node = origins.at[find(origins.where, int64(local.state[slot]))]
        if _is_closed(local, slot) and node["parent"] != NO_STATE and not node["pruned"] and local.state[slot] != goal:
            heap.push(origins.order, slot, -node["g"], 0.0)
    expanded, touched = 0, 0
    while heap.size(origins.order) > 0:
        state = int64(local.state[heap.pop(origins.order)])
        expanded, touched = expanded + 1, touched + degree(graph, state)
        if _is_needless(origins, graph, state, params.redundant):
            _remove(origins, graph, state)
            expanded, touched = expanded + 1, touched + degree(graph, state)
            note(memory.h.log, LEARNED, state, np.inf)  # in effect, as lookaheads do not enter it
    return expanded, touched


@kernel
def _is_needless(origins: Origins, graph: Arrays, state: int, redundant: bool) -> bool:
    """Return whether each unpruned state that this one supports has another supporter.

    If ``redundant`` is false, return whether it supports none.
    """
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        there = origins.at[find(origins.where, near)]
        if there["pruned"] or not _supports(origins, graph, state, near, price(graph, state, k)):
            continue
        if not redundant or there["supporters"] < 2:
            return False
    return True


@kernel
def _supports(origins: Origins, graph: Arrays, state: int, near: int, cost: float) -> bool:
    """Return whether the best known path to ``near`` can end with the move from ``state``."""
    here, there = origins.at[find(origins.where, state)], origins.at[find(origins.where, near)]
    return here["g"] + cost <= there["g"] + TOLERANCE * unit(graph)


@kernel
def _remove(origins: Origins, graph: Arrays, state: int) -> None:
    """Prune a state, so that it no longer supports its neighbours."""
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if _supports(origins, graph, state, near, price(graph, state, k)):
            origins.at[claim(origins.where, near)]["supporters"] -= 1
    node = origins.at[claim(origins.where, state)]
    node["pruned"], node["handed_on"] = True, np.inf


@algorithm(
    Card(
        "flrta",
        "f-LRTA*",
        paper="Sturtevant & Bulitko 2011",
        real_time=True,
        crowd=True,
        complete=True,
        two_way=True,
        living=True,
        anchored=True,
        examples=("flrta(lookahead=100)", "flrta(lookahead=40, avoidance=border)"),
    )
)
class FLRTA:
    """The three parts of f-LRTA*."""

    Params, Memory, step = Params, Memory, step
