"""Paths traced back through a search tree a few steps at a time, while the agent still follows the previous one.

The states of a path are numbered from its end backwards. So one number per state shows whether the state is on the
path, what comes next, and whether the agent has passed it. Numbers are not reused before they run out: a new path costs
its own length, and nothing has to be cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.astar import Tree, cost_to, parent_of
from andante.search.memory import Space
from andante.world.graph import Arrays, degree, target

# Instead of a state to go to.
OFF = -1  # the agent is not on the path, or at its end
CUT = -2  # the agent is on the path, but there is no move to its next state

LAST_NUMBER = (1 << 31) - 1


class Ways(NamedTuple):
    """Two paths: the one that is followed, and the one that is being traced."""

    number: npt.NDArray[np.int32]  # [2, n], the states' numbers on each
    end: npt.NDArray[np.int64]  # [2], the number of the last state
    front: npt.NDArray[np.int64]  # [2], the number of the first state that the agent has not passed
    cost: npt.NDArray[np.float64]  # [2], from the root of the tree to the end
    followed: npt.NDArray[np.int64]  # [1], which of the two
    traced: npt.NDArray[np.int64]  # [1], the state that was traced last; -1 if no path is being traced
    used: npt.NDArray[np.int64]  # [1], the last number used

    @classmethod
    def allocate(cls, space: Space) -> Ways:
        """Return arrays for any two paths without loops."""
        return cls(
            np.zeros((2, space.states), np.int32),
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
    """Begin to trace the path by which a search reached ``end``."""
    new = 1 - ways.followed[0]
    if ways.used[0] > LAST_NUMBER - ways.number.shape[1]:
        _number_anew(ways)
    ways.used[0] += 1
    ways.number[new, end] = ways.end[new] = ways.used[0]
    ways.cost[new] = cost_to(tree, end)
    ways.traced[0] = end


@kernel
def _number_anew(ways: Ways) -> None:
    """Give the rest of the path that is followed the lowest numbers, once in two billion when the numbers run out."""
    way = ways.followed[0]
    end, front = ways.end[way], ways.front[way]
    for state in range(ways.number.shape[1]):
        number = ways.number[way, state]
        ways.number[way, state] = number - end + 1 if end <= number <= front else 0
        ways.number[1 - way, state] = 0
    ways.end[way], ways.front[way], ways.used[0] = 1, front - end + 1, front - end + 1


@kernel
def is_tracing(ways: Ways) -> bool:
    """Return whether a path is being traced."""
    return ways.traced[0] >= 0


@kernel
def trace(ways: Ways, tree: Tree, here: int, root: int, most: int) -> int:
    """Trace at most ``most`` steps, until ``here`` or ``root`` is reached, and return the number of steps."""
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
    """Follow the path that was traced last, instead of the other."""
    ways.followed[0] = 1 - ways.followed[0]


@kernel
def ahead(ways: Ways, graph: Arrays, state: int) -> int:
    """Return the next state on the path that is followed; OFF if ``state`` is not on it, was passed, or is its end.

    CUT if a wall on the path was discovered after the search.
    """
    way = ways.followed[0]
    number = int64(ways.number[way, state])
    if number <= ways.end[way] or number > ways.front[way]:
        return OFF
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if ways.number[way, near] == number - 1:
            return near
    return CUT


@kernel
def length(ways: Ways) -> int:
    """Return the number of moves left on the path that is followed."""
    return ways.front[ways.followed[0]] - ways.end[ways.followed[0]]


@kernel
def walk_past(ways: Ways, state: int) -> None:
    """Note that the agent leaves ``state`` along the path: it and all states before it are no longer on the path."""
    ways.front[ways.followed[0]] = int64(ways.number[ways.followed[0], state]) - 1
