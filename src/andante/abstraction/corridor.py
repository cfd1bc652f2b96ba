"""Planning level by level: a path on one level defines a corridor on the level below, in which the next search runs.

Bulitko et al. (2007), section 4.1. A corridor is a graph: a state may be entered if its ancestor, a given number of
levels up, is on the path. Searches run in it as in any graph.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import weigh
from andante.abstraction.layers import Layers, ancestor
from andante.kernel import int64, kernel
from andante.search import openlist
from andante.search.astar import Tree, parent_of, reached, search
from andante.search.expendable import is_gate
from andante.search.learning import CORNER, MOST_OPENINGS
from andante.search.memory import Clock, Log, Space
from andante.search.mind import Group, Mind
from andante.search.path import price_between
from andante.search.records import Index, claim, find
from andante.world.changes import Changes, opened_cell
from andante.world.layout import Layout, degree, enterable, estimate, price, size, stride, target, unit

EVERYWHERE = -1  # used instead of a number of levels: the whole graph
WORTH = 0.1  # the share of a route's cost that a new plan must promise to save


ROUTE = np.dtype(
    [
        ("moves", np.int64),  # the route's first node is node[moves]; -1: there is no path
        ("now", np.uint32),  # the number of the corridor
    ],
    align=True,
)

AHEAD = np.dtype(
    [
        ("moves", np.int64),  # remaining; -1: there is no path
        ("trial", np.int64),  # the trial in which they were planned
        ("rest", np.float64),  # their cost
        ("opened", np.int64),  # number of cells opened on the map before the last comparison
    ]
)


class Corridor(NamedTuple):
    """A graph and all levels above it, restricted to the states below a path.

    The ground and the levels share one layout, so that a search is compiled only once for all of them.
    """

    graph: Layout
    layers: Layers
    mark: npt.NDArray[np.uint32]  # [1 + abstract nodes], the last corridor that a node was marked for; see `_place`
    scalars: npt.NDArray[Any]  # [1], of ROUTE: the number of this corridor
    up: int  # the number of levels from the searched one up to the path, or EVERYWHERE


@size.of(Corridor)
def _size(graph: Corridor) -> int:
    return size(graph.layers)


@degree.of(Corridor)
def _degree(graph: Corridor, state: int) -> int:
    return degree(graph.graph, state) if state < graph.layers.ground else degree(graph.layers, state)


@target.of(Corridor)
def _target(graph: Corridor, state: int, k: int) -> int:
    return target(graph.graph, state, k) if state < graph.layers.ground else target(graph.layers, state, k)


@price.of(Corridor)
def _price(graph: Corridor, state: int, k: int) -> float:
    return price(graph.graph, state, k) if state < graph.layers.ground else price(graph.layers, state, k)


@estimate.of(Corridor)
def _estimate(graph: Corridor, state: int, goal: int) -> float:
    return estimate(graph.graph, state, goal) if state < graph.layers.ground else estimate(graph.layers, state, goal)


@unit.of(Corridor)
def _unit(graph: Corridor) -> float:
    return unit(graph.graph)


@enterable.of(Corridor)
def _enterable(graph: Corridor, state: int) -> bool:
    if graph.up == EVERYWHERE:
        return True
    return graph.mark[_place(graph.layers, ancestor(graph.layers, state, graph.up))] == graph.scalars[0]["now"]


@kernel
def _place(layers: Layers, node: int) -> int:
    """Return the place of an abstract node's mark; for no node 0, a place that is never marked."""
    return max(node - layers.ground + 1, 0)


@weigh.of(Corridor)
def _weigh(graph: Corridor, state: int, spot: npt.NDArray[np.float64]) -> int:
    return weigh(graph.graph, state, spot) if state < graph.layers.ground else weigh(graph.layers, state, spot)


class Ahead(NamedTuple):
    """The part of the route on the ground that is still ahead: all that an agent keeps of it between moves."""

    where: Index
    state: npt.NDArray[np.int32]  # a field of the places of a sequence, last state first
    scalars: npt.NDArray[Any]  # [1], of AHEAD
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Ahead:
        """Return space for a path of any length."""
        index, state = space.mind.index(Group.LINE), space.mind.field(np.int32, Group.LINE)
        return cls(index, state, space.mind.one(AHEAD), space.clock)


class Route(NamedTuple):
    """A path on some level, the corridor below it, and buffers to search there."""

    node: npt.NDArray[np.int32]  # [1 + nodes of a level], the path, last node first
    mark: npt.NDArray[np.uint32]  # [1 + abstract nodes]
    tree: Tree  # for searches on the ground
    high: Tree  # for searches above it: the same memory without a log, as nodes are not states of the map
    scalars: npt.NDArray[Any]  # [1], of ROUTE
    ahead: Ahead
    spot: npt.NDArray[np.float64]  # [2, dimensions]
    typical: float  # the typical cost of a move on the ground

    @classmethod
    def over(cls, space: Space, layers: Layers) -> Route:
        """Return buffers for any path on any level."""
        nodes = len(layers.family)
        typical, (least, _) = space.graph.typical_cost, space.graph.cost_range
        tree = Tree.over(Mind(nodes), typical, least, space.log)
        return cls(
            np.zeros(1 + max(layers.ground, len(layers.node)), np.int32),
            np.zeros(1 + len(layers.node), np.uint32),
            tree,
            tree._replace(log=Log.of(0)),
            np.array([(-1, 0)], ROUTE),
            Ahead.allocate(space),
            np.zeros((2, layers.total.shape[1])),
            typical,
        )


@kernel
def under(route: Route, graph: Layout, layers: Layers, up: int) -> Corridor:
    """Return the corridor of the states ``up`` levels below the nodes marked last, or of all states if EVERYWHERE."""
    return Corridor(graph, layers, route.mark, route.scalars, up)


@kernel
def mark(route: Route, layers: Layers, widen: bool) -> int:
    """Mark the nodes of the route, and their neighbours if ``widen``, as those that define the corridor.

    Return the number of nodes whose neighbours were generated.
    """
    at = route.scalars[0]
    at["now"] += 1
    if at["now"] == 0:  # after four billion corridors the numbers start again
        route.mark[:] = 0
        at["now"] = 1
    for i in range(at["moves"] + 1):
        node = int64(route.node[i])
        route.mark[_place(layers, node)] = at["now"]
        if widen:
            for k in range(degree(layers, node)):
                route.mark[_place(layers, target(layers, node, k))] = at["now"]
    return at["moves"] + 1 if widen else 0


@kernel
def search_within(route: Route, within: Corridor, level: int, start: int, goal: int) -> tuple[int, int]:
    """Run A* in a corridor, make its path the route, and return the numbers of states expanded and moves generated."""
    at = route.scalars[0]
    tree = route.high if level > 0 else route.tree
    openlist.set_scale(tree.open, route.typical * (1 << level))  # a move costs about twice as much on each level
    expanded, touched = search(tree, within, start, goal, 1.0)
    at["moves"] = -1
    if reached(tree, goal):
        state = goal
        while state >= 0:
            at["moves"] += 1
            route.node[at["moves"]] = state
            state = parent_of(tree, state)
    return expanded, touched


@kernel
def keep(route: Route, graph: Layout) -> None:
    """Keep the route, which is on the ground, for the next moves."""
    ahead, moves, rest = route.ahead, route.scalars[0]["moves"], 0.0
    for i in range(moves):  # not the agent's own state
        ahead.state[claim(ahead.where, i)] = route.node[i]
        rest += price_between(graph, int64(route.node[i + 1]), int64(route.node[i]))
    at = ahead.scalars[0]
    at["moves"], at["trial"], at["rest"] = moves, ahead.clock[0]["trial"], rest


@kernel
def drop(ahead: Ahead) -> None:
    """Forget the route, so that the agent plans before its next move."""
    ahead.scalars[0]["moves"] = -1


@kernel
def advance(ahead: Ahead, cost: float) -> None:
    """Remove the route's next move, of this ``cost``, from what is ahead."""
    ahead.scalars[0]["moves"] -= 1
    ahead.scalars[0]["rest"] -= cost


@kernel
def drop_if_outdated(ahead: Ahead, changes: Changes, graph: Layout, state: int, goal: int) -> None:
    """Drop the route if a cell was opened and a path past it may be cheaper by a tenth.

    The cost of the route is the cost of its remaining moves, plus the heuristic from its end. A path past an opened
    cell costs at least its heuristic. A cell whose neighbours are connected around it does not count, because it saves
    next to nothing: in open country agents would turn all the time. Openings count since the last call. If there are
    more than are worth comparing, the route is dropped.
    """
    at, opened = ahead.scalars[0], changes.scalars[0]["opened"]
    before, at["opened"] = at["opened"], opened
    if before == opened or at["trial"] != ahead.clock[0]["trial"] or at["moves"] < 1:
        return
    if opened - before > MOST_OPENINGS:
        drop(ahead)
        return
    end = int64(ahead.state[find(ahead.where, 0)])
    enough = (1.0 - WORTH) * (at["rest"] + estimate(graph, end, goal)) + CORNER * stride(graph)
    for k in range(before, opened):
        cell = opened_cell(changes, k)
        if is_gate(graph, cell) and estimate(graph, state, cell) + estimate(graph, cell, goal) < enough:
            drop(ahead)
            return


@kernel
def next_on(ahead: Ahead, graph: Layout, state: int) -> tuple[int, float]:
    """Return the next state of the route after ``state``, and the cost of the move, infinite if there is none."""
    at = ahead.scalars[0]
    if at["trial"] != ahead.clock[0]["trial"] or at["moves"] < 1:
        return -1, np.inf
    to = int64(ahead.state[find(ahead.where, at["moves"] - 1)])
    return to, price_between(graph, state, to)
