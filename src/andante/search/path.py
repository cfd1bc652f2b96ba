"""A planned path that an agent follows over several moves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.astar import Tree, parent_of
from andante.search.memory import Clock, Space
from andante.world.layout import Arrays, Layout, degree, price, target

PATH = np.dtype([("trial", np.int64), ("goal", np.int64)])  # the trial and the goal of the plan


class Path(NamedTuple):
    """The next state after each state of the path; the entries of other states are undefined."""

    next: npt.NDArray[np.int32]  # [n]
    scalars: npt.NDArray[Any]  # [1], of PATH
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Path:
        """Return arrays for any path without loops."""
        return cls(np.zeros(space.states, np.int32), np.zeros(1, PATH), space.clock)


@kernel
def lay(path: Path, tree: Tree, goal: int) -> None:
    """Make the path by which a search reached ``goal`` the path to follow."""
    path.scalars[0]["trial"], path.scalars[0]["goal"] = path.clock[0]["trial"], goal
    state, before = goal, parent_of(tree, goal)
    while before >= 0:
        path.next[before] = state
        state, before = before, parent_of(tree, before)


@kernel
def next_move(path: Path, graph: Arrays, state: int, goal: int) -> tuple[int, float]:
    """Return the next state of the path after ``state``, and the cost of the move, infinite if it is not possible.

    It is not possible if no path was planned for this goal in this trial, or if a wall was discovered on the move
    since.
    """
    at = path.scalars[0]
    if at["trial"] != path.clock[0]["trial"] or at["goal"] != goal:
        return -1, np.inf
    to = int64(path.next[state])
    return to, price_between(graph, state, to)


@kernel
def price_between(graph: Layout, state: int, near: int) -> float:
    """Return the cost of the cheapest move from ``state`` to ``near``; infinite if there is none."""
    least = np.inf
    for k in range(degree(graph, state)):
        if target(graph, state, k) == near:
            least = min(least, price(graph, state, k))
    return least
