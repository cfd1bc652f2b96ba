"""Ways traced back through a search tree a few steps at a time, while the agent still walks the one before.

Each way gives its states rising numbers from its end backwards, so that one number per state tells whether the state
is on the way, what comes next, and whether the agent has walked past it. Numbers are never used twice: a new way costs
its own length and nothing has to be cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search.astar import Tree, cost_to, parent_of
from andante.search.memory import Space
from andante.world.graph import Arrays, degree, target

# Instead of a state to go to.
OFF = -1  # the agent is not on the way, or at its end
CUT = -2  # it is on the way, and there is no move to the next state of it


class Ways(NamedTuple):
    """Two ways: the one that is followed, and the one that is being traced."""

    number: npt.NDArray[np.int64]  # [2, n], the states' numbers on each
    end: npt.NDArray[np.int64]  # [2], the number of the last state
    front: npt.NDArray[np.int64]  # [2], the number of the first state that the agent has not walked past
    cost: npt.NDArray[np.float64]  # [2], from the root of the tree to the end
    followed: npt.NDArray[np.int64]  # [1], which of the two
    traced: npt.NDArray[np.int64]  # [1], the state that the tracing has come to; -1 if there is nothing to trace
    used: npt.NDArray[np.int64]  # [1], the last number given out

    @classmethod
    def allocate(cls, space: Space) -> Ways:
        """Room for any two ways without loops."""
        return cls(
            np.zeros((2, space.states), np.int64),
            np.zeros(2, np.int64),
            np.zeros(2, np.int64),
            np.zeros(2),
            np.zeros(1, np.int64),
            np.full(1, -1, np.int64),
            np.zeros(1, np.int64),
        )


@kernel
def forget(ways: Ways) -> None:
    """Follow nothing and trace nothing."""
    ways.end[ways.followed[0]] = ways.front[ways.followed[0]] = ways.used[0]
    ways.traced[0] = -1


@kernel
def aim(ways: Ways, tree: Tree, end: int) -> None:
    """Begin to trace the way by which a search came to ``end``."""
    new = 1 - ways.followed[0]
    ways.used[0] += 1
    ways.number[new, end] = ways.end[new] = ways.used[0]
    ways.cost[new] = cost_to(tree, end)
    ways.traced[0] = end


@kernel
def is_tracing(ways: Ways) -> bool:
    """Is there a way that is not traced to the end?"""
    return ways.traced[0] >= 0


@kernel
def trace(ways: Ways, tree: Tree, here: int, root: int, most: int) -> int:
    """Trace at most ``most`` steps, until ``here`` or ``root`` is reached: the steps it took."""
    new = 1 - ways.followed[0]
    state, steps = ways.traced[0], 0
    while state != here and state != root:
        if steps == most:
            ways.traced[0] = state
            return steps
        steps += 1
        state = parent_of(tree, state)
        ways.used[0] += 1
        ways.number[new, state] = ways.used[0]
    ways.front[new] = ways.used[0]
    ways.traced[0] = -1
    return steps


@kernel
def follow(ways: Ways) -> None:
    """Follow the way that was traced last, instead of the other."""
    ways.followed[0] = 1 - ways.followed[0]


@kernel
def ahead(ways: Ways, graph: Arrays, state: int) -> int:
    """The next state on the way that is followed; OFF if ``state`` is not on it, was walked past, or is its end.

    CUT if a wall was discovered on the way since it was searched.
    """
    way = ways.followed[0]
    number = ways.number[way, state]
    if number <= ways.end[way] or number > ways.front[way]:
        return OFF
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if ways.number[way, near] == number - 1:
            return near
    return CUT


@kernel
def length(ways: Ways) -> int:
    """How many moves of the way that is followed the agent has not walked past."""
    return ways.front[ways.followed[0]] - ways.end[ways.followed[0]]


@kernel
def walk_past(ways: Ways, state: int) -> None:
    """The agent leaves ``state`` along the way: it and all before it are no longer on the way."""
    ways.front[ways.followed[0]] = ways.number[ways.followed[0], state] - 1
