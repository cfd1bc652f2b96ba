"""A* over buckets, one expansion at a time: the same kernels serve agents that plan at once and in slices.

With ``weight`` above 1 it is weighted A*: f = g + weight * h, and the path found costs at most ``weight`` times the
least. The queue's keys are f / weight, which are of one size whatever the weight.

Buckets order states only roughly, so the search goes on past the first way to the goal until nothing queued can be
better, and a closed state is opened again when a cheaper way to it is found. The result is exact. On game maps a state
is hardly ever opened again without a weight: not once in 2.5 million expansions. With one it would happen all the time,
and is not needed if the weight makes up for the width w of a bucket, (weight - 1) * c >= weight * w for the cheapest
arc c. For then, if g(y) <= weight * (g*(y) + w) in a closed state y, a best way's next state has g <= weight * g*, and
whatever is closed before it has at most the same f and a bucket's width: by induction the former holds for all closed
states, the latter for the first state of a best way that is not closed, and with it the bound.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search import buckets, openlist
from andante.search.memory import EXPANDED, Log, Space, new_space, note
from andante.search.openlist import OpenList, Ties, WallsFirst, open_list
from andante.world.graph import MOST_STATES, Graph, Layout, degree, enterable, estimate, price, target

UNLIMITED = 1 << 62  # steps


class Tree(NamedTuple):
    """The states a search has reached, how, and at what cost.

    The records of states are the open list's. ``mark`` is this search's number twice if a state is open, and one more
    if it is closed.
    """

    node: npt.NDArray[Any]  # [n], of NODE: g, parent, mark
    now: npt.NDArray[np.uint32]  # [1], this search's number, twice
    firm: npt.NDArray[np.float64]  # [1], from this weight on closed states stay closed
    open: OpenList
    log: Log

    @classmethod
    def allocate(cls, space: Space, ties: Ties = Ties.LAST, *, walls_first: bool = False) -> Tree:
        """Room for a search over all states."""
        graph = space.graph
        most_moves = graph.moves_in_the_open if walls_first else None
        return cls.over(space.states, graph.typical_cost, graph.cost_range[0], space.log, ties, most_moves)

    @classmethod
    def over(
        cls,
        n: int,
        typical_cost: float,
        least_cost: float,
        log: Log,
        ties: Ties = Ties.LAST,
        most_moves: int | None = None,
    ) -> Tree:
        """Room for a search over ``n`` states, by moves of such costs.

        With ``most_moves``, what a state away from all walls has, states at walls are expanded first.
        """
        queue: OpenList = open_list(ties, n, typical_cost)
        if most_moves is not None:
            queue = WallsFirst.over(ties, n, typical_cost, most_moves)
        blur = typical_cost / (buckets.PER_COST * least_cost)  # a bucket's width in cheapest arcs
        firm = 1 / (1 - blur) if blur < 1 else np.inf
        return cls(
            openlist.nodes(queue),
            np.zeros(1, np.uint32),
            np.array([firm]),
            queue,
            log,
        )


@kernel
def begin(tree: Tree, graph: Layout, start: int, goal: int, weight: float) -> None:
    """Forget the last search and open ``start``."""
    restart(tree, estimate(graph, start, goal) / weight)  # no key is lower: g + h is nowhere less than at the start
    open_at(tree, graph, start, -1, 0.0, goal, weight)


@kernel
def restart(tree: Tree, base: float) -> None:
    """Forget the last search; keys below ``base`` are not expected."""
    tree.now[0] += 2
    if tree.now[0] == 0:  # once in two billion searches the numbers run out
        for state in range(len(tree.node)):
            tree.node[state]["mark"] = 0
        tree.now[0] = 2
    openlist.clear(tree.open, base)


@kernel
def open_at(tree: Tree, graph: Layout, state: int, parent: int, g: float, goal: int, weight: float) -> None:
    """Open a state that is not queued, at a cost of ``g``."""
    node = tree.node[state]
    node["g"], node["parent"], node["mark"] = g, parent, tree.now[0]
    h = estimate(graph, state, goal)
    openlist.admit(tree.open, state, g * (1.0 / weight) + h, g, h, degree(graph, state))


@kernel
def expand(tree: Tree, graph: Layout, state: int, goal: int, weight: float) -> int:
    """Close ``state``, which was just taken from the queue, and open its successors: how many moves were looked at."""
    state &= MOST_STATES
    now = tree.now[0]
    tree.node[state]["mark"] = now + 1
    reached_at = tree.node[state]["g"]
    note(tree.log, EXPANDED, state, reached_at)
    moves = degree(graph, state)
    for k in range(moves):
        near = target(graph, state, k)
        if not enterable(graph, near):
            continue
        g = reached_at + price(graph, state, k)
        mark = tree.node[near]["mark"]
        if mark >= now:
            if g >= tree.node[near]["g"]:
                continue
            if mark == now:
                openlist.remove(tree.open, near)
            elif openlist.ends_early(tree.open):
                # The cheaper path is kept. No loop can close: a state costs at least what its parent does and the move.
                tree.node[near]["g"], tree.node[near]["parent"] = g, state
                continue
            elif weight >= tree.firm[0]:
                continue
        open_at(tree, graph, near, state, g, goal, weight)
    return moves


class Slice(NamedTuple):
    """What a part of a search did."""

    over: bool  # the best way to the goal is known, or there is none
    steps: int  # states taken from the queue
    expanded: int
    touched: int  # moves looked at


@kernel
def advance(tree: Tree, graph: Layout, goal: int, weight: float, most: int, slack: float = 0.0) -> Slice:
    """Go on with a search for at most ``most`` steps, each of constant time: a state is expanded, or not worth it.

    It is over when no way can be better than the one known, or better by more than ``slack``.
    """
    steps, expanded, touched = 0, 0, 0
    while True:
        bound = cost_to(tree, goal) * (1.0 / weight) if reached(tree, goal) else np.inf
        if bound < np.inf and openlist.ends_early(tree.open):
            return Slice(True, steps, expanded, touched)
        if steps == most:
            over = openlist.first(tree.open) < 0 or openlist.floor(tree.open) + slack >= bound
            return Slice(over, steps, expanded, touched)
        state = openlist.take(tree.open)
        if state == buckets.NONE or (bound < np.inf and openlist.floor(tree.open) + slack >= bound):
            return Slice(True, steps, expanded, touched)
        steps += 1
        if state == buckets.LATER:
            continue
        if openlist.key_of(tree.open, state) >= bound:
            tree.node[state]["mark"] = tree.now[0] + 1
            continue
        touched += expand(tree, graph, state, goal, weight)
        expanded += 1


@kernel
def search(tree: Tree, graph: Layout, start: int, goal: int, weight: float) -> tuple[int, int]:
    """Search until the best way to ``goal`` is known or there is none: states expanded, moves looked at.

    There is a way if `reached` says so of the goal afterwards.
    """
    begin(tree, graph, start, goal, weight)
    whole = advance(tree, graph, goal, weight, UNLIMITED)
    return whole.expanded, whole.touched


@kernel
def most_promising(tree: Tree, goal: int) -> int:
    """The state that a search, not yet over, would expand next; the goal if it is among those of least key."""
    state = openlist.first(tree.open)
    least = openlist.floor(tree.open) + openlist.width(tree.open)
    if reached(tree, goal) and openlist.key_of(tree.open, goal) < least:
        return goal
    return state


@kernel
def reached(tree: Tree, state: int) -> bool:
    """Has this search found a way to ``state``?"""
    return tree.node[state]["mark"] >= tree.now[0]


@kernel
def cost_to(tree: Tree, state: int) -> float:
    """What the best path that this search has found to ``state`` costs; it must have been reached."""
    return tree.node[state]["g"]


@kernel
def parent_of(tree: Tree, state: int) -> int:
    """The state before ``state`` on that path; -1 for the start."""
    return int64(tree.node[state]["parent"])


@kernel
def _costs(
    tree: Tree,
    graph: Layout,
    starts: npt.NDArray[np.int64],
    goals: npt.NDArray[np.int64],
    costs: npt.NDArray[np.float64],
) -> None:
    for i in range(len(starts)):
        search(tree, graph, starts[i], goals[i], 1.0)
        costs[i] = cost_to(tree, goals[i]) if reached(tree, goals[i]) else np.inf


def optimal_costs(
    graph: Graph, starts: npt.ArrayLike, goals: npt.ArrayLike, *, threads: int = 1
) -> npt.NDArray[np.float64]:
    """The cost of a shortest path for each pair of start and goal; infinite where there is none.

    >>> from andante.world.graph import Graph, Layout
    >>> optimal_costs(Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 9.0)]), [0], [2])
    array([7.])
    """
    starts, goals = np.asarray(starts, np.int64), np.asarray(goals, np.int64)
    costs = np.empty(len(starts))
    label = graph.components
    apart = label[starts] != label[goals]
    costs[apart] = np.inf
    todo = np.flatnonzero(~apart)

    def work(part: npt.NDArray[np.int64]) -> None:
        found = np.empty(len(part))
        _costs(Tree.allocate(new_space(graph, None)), graph.arrays, starts[part], goals[part], found)
        costs[part] = found

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, np.array_split(todo, threads)))
    return costs
