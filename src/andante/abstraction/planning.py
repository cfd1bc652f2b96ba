"""Planning on one level, inside a corridor: by A*, or by a lookahead that learns; turning back after much learning.

The plan becomes the route. Bulitko et al. (2007), Figure 6; line numbers refer to that figure.
"""

from __future__ import annotations

from typing import NamedTuple

from andante.abstraction.corridor import Corridor, Route, search_within
from andante.abstraction.learning import Mind
from andante.abstraction.pathback import turn_back
from andante.kernel import kernel
from andante.search.behind import leave
from andante.search.effort import Effort
from andante.search.learning import raise_to, stamp_of
from andante.search.lookahead import look, max_of_min, path_out
from andante.search.tables import turn_to
from andante.world.heuristics import TOLERANCE
from andante.world.layout import degree, enterable, estimate, price, target, unit


class From(NamedTuple):
    """The states of a corridor from number ``first`` on, numbered from 0.

    A lookahead needs memory for every state that it may visit, but for no ground states if it is only used above them.
    """

    within: Corridor
    first: int


@degree.of(From)
def _degree(graph: From, state: int) -> int:
    return degree(graph.within, state + graph.first)


@target.of(From)
def _target(graph: From, state: int, k: int) -> int:
    return target(graph.within, state + graph.first, k) - graph.first


@price.of(From)
def _price(graph: From, state: int, k: int) -> float:
    return price(graph.within, state + graph.first, k)


@estimate.of(From)
def _estimate(graph: From, state: int, goal: int) -> float:
    return estimate(graph.within, state + graph.first, goal + graph.first)


@unit.of(From)
def _unit(graph: From) -> float:
    return unit(graph.within)


@enterable.of(From)
def _enterable(graph: From, state: int) -> bool:
    return enterable(graph.within, state + graph.first)


class Method(NamedTuple):
    """The algorithm that plans on a level (A*, else LRTA*, else LRTS), and how far the last two look ahead."""

    astar: bool
    lrta: bool
    depth: int
    gamma: float


@kernel
def plan_on(route: Route, mind: Mind, within: Corridor, method: Method, level: int, here: int, there: int) -> Effort:
    """Plan from ``here`` to ``there``, nodes of ``level``, and make the plan the route; -1 moves if none exists."""
    if here == there:
        route.node[0], route.scalars[0]["moves"] = here, 0
        return Effort(0, 0, 0.0)
    if method.astar:  # line 10
        expanded, touched = search_within(route, within, level, here, there)
        return Effort(expanded, touched, 0.0)
    return _look_and_learn(route, mind, within, method, here, there)  # line 11


@kernel
def _look_and_learn(route: Route, mind: Mind, within: Corridor, method: Method, here: int, there: int) -> Effort:
    """Look ahead, raise the value of ``here``, and make the best path the route; for LRTA* only its first move."""
    path, at, first = route.scalars[0], mind.scalars[0], mind.first
    gamma, lrta, around = method.gamma, method.lrta, From(within, first)
    here, there = here - first, there - first
    turn_to(mind.tables, there, at["era"])
    h = mind.tables.h
    best = look(mind.ball, around, h, here, there, method.depth, gamma, lrta, TOLERANCE * gamma * unit(within))
    if best.slot < 0:
        path["moves"] = -1
        return Effort(best.expanded, best.touched, 0.0)
    known = stamp_of(h, here) > at["goals_before"]  # whatever the goal: a node stores one value
    new = best.f if lrta else max_of_min(mind.ball, best, there)
    learned, stored = raise_to(h, around, here, there, new, gamma)
    at["stored"] += 0 if known else stored
    moves = path_out(mind.ball, around, best, route.node)
    if lrta:
        route.node[0], moves = route.node[moves - 1], 1
    route.node[moves], path["moves"] = here, moves
    for i in range(moves + 1):
        route.node[i] += first
    return Effort(best.expanded, best.touched, learned)


@kernel
def keep_to_quota(
    route: Route, mind: Mind, within: Corridor, quota: float, gamma: float, level: int, state: int, learned: float
) -> None:
    """Add to the amount learned in this trial; turn back if it exceeds ``quota``, else add ``state`` to the path back.

    If there is no path back, the route is unchanged.
    """
    at = mind.scalars[0]
    at["learned"] += learned
    at["back"] = False
    if at["learned"] > quota + TOLERANCE * gamma * unit(within):
        at["learned"] = quota
        at["back"] = turn_back(route, mind.behind, within, level, state)
    if not at["back"]:
        leave(mind.behind, state)
