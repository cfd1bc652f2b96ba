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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search import buckets, openlist
from andante.search.memory import EXPANDED, Log, Space, new_space, note
from andante.search.openlist import OpenList, Ties, open_list
from andante.world.graph import Graph, Layout, degree, enterable, estimate, price, target

UNLIMITED = 1 << 62  # steps


class Tree(NamedTuple):
    """The states a search has reached, how, and at what cost."""

    g: npt.NDArray[np.float64]  # [n]
    parent: npt.NDArray[np.int32]  # [n]
    mark: npt.NDArray[np.uint32]  # [n], this search's number twice if open, and one more if closed
    now: npt.NDArray[np.uint32]  # [1], this search's number, twice
    firm: npt.NDArray[np.float64]  # [1], from this weight on closed states stay closed
    open: OpenList
    log: Log

    @classmethod
    def allocate(cls, space: Space, ties: Ties = Ties.LAST) -> Tree:
        """Room for a search over all states."""
        return cls.over(space.states, space.graph.typical_cost, space.graph.cost_range[0], space.log, ties)

    @classmethod
    def over(cls, n: int, typical_cost: float, least_cost: float, log: Log, ties: Ties = Ties.LAST) -> Tree:
        """Room for a search over ``n`` states, by moves of such costs."""
        queue = open_list(ties, n, typical_cost)
        blur = typical_cost / (buckets.PER_COST * least_cost)  # a bucket's width in cheapest arcs
        firm = 1 / (1 - blur) if blur < 1 else np.inf
        return cls(
            np.zeros(n),
            np.zeros(n, np.int32),
            np.zeros(n, np.uint32),
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
        tree.mark[:] = 0
        tree.now[0] = 2
    openlist.clear(tree.open, base)


@kernel
def open_at(tree: Tree, graph: Layout, state: int, parent: int, g: float, goal: int, weight: float) -> None:
    """Open a state that is not queued, at a cost of ``g``."""
    tree.g[state] = g
    tree.parent[state] = parent
    tree.mark[state] = tree.now[0]
    openlist.push(tree.open, state, g * (1.0 / weight) + estimate(graph, state, goal), g)


@kernel
def expand(tree: Tree, graph: Layout, state: int, goal: int, weight: float) -> int:
    """Close ``state``, which was just taken from the queue, and open its successors: how many moves were looked at."""
    now = tree.now[0]
    tree.mark[state] = now + 1
    note(tree.log, EXPANDED, state, tree.g[state])
    moves = degree(graph, state)
    for k in range(moves):
        near = target(graph, state, k)
        if not enterable(graph, near):
            continue
        g = tree.g[state] + price(graph, state, k)
        if tree.mark[near] >= now:
            if g >= tree.g[near]:
                continue
            if tree.mark[near] == now:
                openlist.remove(tree.open, near)
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
        bound = tree.g[goal] * (1.0 / weight) if reached(tree, goal) else np.inf
        if steps == most:
            over = openlist.first(tree.open) < 0 or openlist.floor(tree.open) + slack >= bound
            return Slice(over, steps, expanded, touched)
        state = openlist.take(tree.open)
        if state == buckets.NONE or openlist.floor(tree.open) + slack >= bound:
            return Slice(True, steps, expanded, touched)
        steps += 1
        if state == buckets.LATER:
            continue
        if openlist.key_of(tree.open, state) >= bound:
            tree.mark[state] = tree.now[0] + 1
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
    return tree.mark[state] >= tree.now[0]


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
        costs[i] = tree.g[goals[i]] if reached(tree, goals[i]) else np.inf


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
