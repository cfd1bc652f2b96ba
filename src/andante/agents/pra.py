"""PRA*: find a path between regions of the map first, and refine it level by level before the first move.

Sturtevant and Buro (2005); Bulitko et al. (2007, 2008) compare with it. Not real-time: the first move waits for the
whole plan, though that costs far less than A*'s. Where the papers are silent: the search begins halfway up to the level
on which start and goal are one node, and a wide corridor includes the neighbours of the path's nodes. Finding these
neighbours counts as an expansion of each node of the path.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from andante.abstraction.clique import Cover
from andante.abstraction.corridor import EVERYWHERE, Route, advance, keep, mark, next_on, search_within, under
from andante.abstraction.hierarchy import DEFAULT_COVER
from andante.abstraction.layers import Layers, ancestor
from andante.abstraction.levels import Levels, is_behind, look_for_openings
from andante.agent import UNREACHABLE, Card, Move, algorithm, no_move
from andante.kernel import kernel
from andante.world.layout import Arrays


class Params(NamedTuple):
    """How PRA* abstracts the map, and how wide its corridors are."""

    widen: Annotated[bool, "corridors include the neighbours of the path: better paths, more work"] = True
    cover: Annotated[Cover, "how cliques are chosen"] = DEFAULT_COVER


class Memory(NamedTuple):
    """The levels, and the route through them."""

    levels: Levels


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of PRA*: plan the whole path before the first move."""
    route, layers = memory.levels.route, memory.levels.held.layers
    ahead = route.ahead
    expanded, touched = 0, 0
    look_for_openings(memory.levels.held, ahead, graph, state, goal)
    to, cost = next_on(ahead, graph, state)
    if cost == np.inf:
        expanded, touched = _plan(route, graph, layers, params, state, goal)
        if ahead.scalars[0]["moves"] < 0 and is_behind(memory.levels.held):  # wait: levels have yet to follow the map
            return Move(state, 0.0, expanded, touched, 0.0, 0)
        if ahead.scalars[0]["moves"] < 0:
            return no_move(UNREACHABLE, expanded, touched)
        to, cost = next_on(ahead, graph, state)
    advance(ahead, cost)
    return Move(to, cost, expanded, touched, 0.0, 0)


@kernel
def _plan(route: Route, graph: Arrays, layers: Layers, params: Params, state: int, goal: int) -> tuple[int, int]:
    """Plan the whole path, from the top down; return the number of states expanded and of moves generated."""
    path = route.scalars[0]
    level = _meeting_level(layers, state, goal) // 2
    expanded, touched, up = 0, 0, EVERYWHERE
    while level >= 0:
        within = under(route, graph, layers, up)
        start, end = ancestor(layers, state, level), ancestor(layers, goal, level)
        more, looked = search_within(route, within, level, start, end)
        expanded, touched = expanded + more, touched + looked
        if path["moves"] < 0:
            break
        if level > 0:
            expanded += mark(route, layers, params.widen)
        level, up = level - 1, 1
    keep(route, graph)
    return expanded, touched


@kernel
def _meeting_level(layers: Layers, a: int, b: int) -> int:
    """Return the lowest level on which two states have the same node; the one above the highest if they never do."""
    level = 0
    while a != b and (level == 0 or (a > 0 and b > 0)):
        a, b = ancestor(layers, a, 1), ancestor(layers, b, 1)
        level += 1
    return level


@algorithm(
    Card(
        "pra",
        "PRA*",
        paper="Sturtevant & Buro 2005",
        complete=True,
        living=True,
        regions=True,
        examples=("pra(widen=false)",),
        shown=("pra",),
    )
)
class PRA:
    """The three parts of PRA*."""

    Params, Memory, step = Params, Memory, step
