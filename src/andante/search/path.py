"""A planned path that an agent walks over several moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.astar import Tree, parent_of
from andante.search.memory import Clock, Space
from andante.world.graph import Arrays, Layout, degree, price, target


class Path(NamedTuple):
    """Where to go next from each state of the path; other states' entries mean nothing."""

    next: npt.NDArray[np.int32]  # [n]
    trial: npt.NDArray[np.int64]  # [1], the trial the path was planned in
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Path:
        """Room for any path without loops."""
        return cls(np.zeros(space.states, np.int32), np.zeros(1, np.int64), space.clock)


@kernel
def lay(path: Path, tree: Tree, goal: int) -> None:
    """Make the path the one by which a search reached ``goal``."""
    path.trial[0] = path.clock.trial[0]
    state, before = goal, parent_of(tree, goal)
    while before >= 0:
        path.next[before] = state
        state, before = before, parent_of(tree, before)


@kernel
def next_move(path: Path, graph: Arrays, state: int) -> tuple[int, float]:
    """Where the path goes from ``state``, and what the move costs: infinitely much if it is not possible.

    It is not if nothing was planned in this trial, or if a wall was discovered there since.
    """
    if path.trial[0] != path.clock.trial[0]:
        return -1, np.inf
    to = int64(path.next[state])
    return to, price_between(graph, state, to)


@kernel
def price_between(graph: Layout, state: int, near: int) -> float:
    """What the cheapest move from ``state`` to ``near`` costs; infinitely much if there is none."""
    least = np.inf
    for k in range(degree(graph, state)):
        if target(graph, state, k) == near:
            least = min(least, price(graph, state, k))
    return least
