"""A* over a bucket queue, one expansion at a time: the same kernels serve agents that plan at once and in slices.

With ``weight`` above 1 it is weighted A*: f = g + weight * h, and the path found costs at most ``weight`` times the
least. Because buckets order states only roughly, a state is opened again when a cheaper way to it is found, and the
search goes on past the first way to the goal until nothing queued can be better. The result is exact.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search import buckets
from andante.search.buckets import Buckets
from andante.search.memory import EXPANDED, Log, Space, new_space, note
from andante.world.graph import Arrays, Graph, degree, estimate, price, target


class Tree(NamedTuple):
    """The states a search has reached, how, and at what cost."""

    g: npt.NDArray[np.float64]  # [n]
    parent: npt.NDArray[np.int32]  # [n]
    mark: npt.NDArray[np.uint32]  # [n], this search's number twice if open, and one more if closed
    now: npt.NDArray[np.uint32]  # [1], this search's number, twice
    open: Buckets
    log: Log

    @classmethod
    def allocate(cls, space: Space) -> Tree:
        """Room for a search over all states."""
        n = space.states
        return cls(
            np.zeros(n),
            np.zeros(n, np.int32),
            np.zeros(n, np.uint32),
            np.zeros(1, np.uint32),
            Buckets.allocate(space),
            space.log,
        )


@kernel
def begin(tree: Tree, graph: Arrays, start: int, goal: int, weight: float) -> None:
    """Forget the last search and open ``start``."""
    tree.now[0] += 2
    if tree.now[0] == 0:  # once in two billion searches the numbers run out
        tree.mark[:] = 0
        tree.now[0] = 2
    h = estimate(graph, start, goal)
    buckets.clear(tree.open, h)
    tree.g[start] = 0.0
    tree.parent[start] = -1
    tree.mark[start] = tree.now[0]
    buckets.push(tree.open, start, weight * h)


@kernel
def expand(tree: Tree, graph: Arrays, state: int, goal: int, weight: float) -> int:
    """Close ``state``, which was just taken from the queue, and open its successors: how many moves were looked at."""
    now = tree.now[0]
    tree.mark[state] = now + 1
    note(tree.log, EXPANDED, state, tree.g[state])
    moves = degree(graph, state)
    for k in range(moves):
        near = target(graph, state, k)
        g = tree.g[state] + price(graph, state, k)
        if tree.mark[near] >= now:
            if g >= tree.g[near]:
                continue
            if tree.mark[near] == now:
                buckets.remove(tree.open, near)
        tree.g[near] = g
        tree.parent[near] = state
        tree.mark[near] = now
        buckets.push(tree.open, near, g + weight * estimate(graph, near, goal))
    return moves


@kernel
def search(tree: Tree, graph: Arrays, start: int, goal: int, weight: float) -> tuple[int, int]:
    """Search until the best way to ``goal`` is known or there is none: states expanded, moves looked at.

    There is a way if `reached` says so of the goal afterwards.
    """
    begin(tree, graph, start, goal, weight)
    best, expanded, touched = np.inf, 0, 0
    while True:
        state = buckets.pop(tree.open)
        if state < 0 or buckets.floor(tree.open) >= best:
            return expanded, touched
        if tree.open.key[state] >= best:
            tree.mark[state] = tree.now[0] + 1
        elif state == goal:
            tree.mark[state] = tree.now[0] + 1
            best = tree.g[goal]
        else:
            touched += expand(tree, graph, state, goal, weight)
            expanded += 1


@kernel
def reached(tree: Tree, state: int) -> bool:
    """Has this search found a way to ``state``?"""
    return tree.mark[state] >= tree.now[0]


@kernel
def _costs(
    tree: Tree,
    graph: Arrays,
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

    >>> from andante.world.graph import Graph
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
