"""Coverage of subgoals: the states that all states of a region can climb straight to.

An agent with a lookahead of one move that can climb straight to its subgoal takes an optimal path there and learns
nothing on it. A subgoal is covered by a region if all of its states can climb to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel
from andante.offline.division import Ground, States, boxes, walls
from andante.search.hillclimb import straight
from andante.world.layout import Csr, Layout, Moves, Sixteen, Terrain, estimate


class Parts(NamedTuple):
    """The states of each region, those nearest to its representative first, and the box around them."""

    member: States
    begin: States  # [regions + 1]
    box: npt.NDArray[np.int64]  # [regions, 4], on grids: first and last column, first and last row


class Regions(NamedTuple):
    """The states of each region that agents may be in, and the walls between them."""

    member: States  # as in Parts
    begin: States
    box: npt.NDArray[np.int64]
    walls: npt.NDArray[np.int32]  # [height + 1, width + 1], on grids: the number of walls above and to the left


ATTEMPT = np.dtype([("now", np.uint32)])  # the number of this attempt


class Attempts(NamedTuple):
    """The buffers of one thread."""

    seen: npt.NDArray[np.uint32]  # [n], the last attempt that visited a state
    scalars: npt.NDArray[Any]  # [1], of ATTEMPT

    @classmethod
    def over(cls, n: int) -> Attempts:
        """Return buffers for ``n`` states."""
        return cls(np.zeros(n, np.uint32), np.zeros(1, ATTEMPT))


def parts_of(ground: Ground) -> Parts:
    """Return the states of each region, and the box around them."""
    member, begin = ground.members
    region, arrays = ground.region[member], ground.graph.arrays
    apart = np.empty(len(member))
    _measure(arrays, member, ground.representative[region], apart)
    member = member[np.lexsort((member, apart, region))]
    return Parts(member, begin, boxes(arrays, member, begin))


def regions_of(ground: Ground) -> Regions:
    """Return the regions that agents may be in."""
    return Regions(*parts_of(ground), walls(ground.graph.arrays))


@kernel
def _measure(graph: Layout, state: States, other: States, apart: npt.NDArray[np.float64]) -> None:
    """Compute the heuristic distance between each pair of states."""
    for i in range(len(state)):
        apart[i] = estimate(graph, int64(state[i]), int64(other[i]))


def no_parts() -> Parts:
    """Return empty parts, for rules that do not need any."""
    none = np.zeros(0, np.int32)
    return Parts(none, none, np.zeros((0, 4), np.int64))


def no_regions() -> Regions:
    """Return empty regions, for rules that do not need any."""
    return Regions(*no_parts(), np.zeros((0, 0), np.int32))


@kernel
def all_covered(attempts: Attempts, graph: Layout, regions: Regions, region: int, ends: Parts, goal: int) -> bool:
    """Return whether every state of a region can climb straight to every state of a region of goals."""
    if _is_open(regions, region, ends, goal):
        return True
    for i in range(ends.begin[goal + 1] - 1, ends.begin[goal] - 1, -1):  # those at the edge are most likely to fail
        if not is_covered(attempts, graph, regions, region, int64(ends.member[i])):
            return False
    return True


@kernel
def _is_open(regions: Regions, region: int, ends: Parts, goal: int) -> bool:
    """Return whether the box around two regions contains no wall, so that one can climb from any state to any other."""
    if len(regions.box) == 0:
        return False
    a, b = regions.box[region], ends.box[goal]
    return _is_free(regions.walls, min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]))


@kernel
def _is_free(walls: npt.NDArray[np.int32], left: int, right: int, top: int, bottom: int) -> bool:
    """Return whether a box contains no wall."""
    right, bottom = right + 1, bottom + 1
    return bool(walls[bottom, right] - walls[top, right] == walls[bottom, left] - walls[top, left])


@generic
def _is_in_the_open(graph: Layout, regions: Regions, region: int, aim: int) -> bool:
    """Return whether the box around a region and a state contains no wall."""
    raise TypeError(graph)


@_is_in_the_open.of(Csr, Terrain, Sixteen)
def _never(graph: Layout, regions: Regions, region: int, aim: int) -> bool:
    return False


@_is_in_the_open.of(Moves)
def _on_a_grid(graph: Moves, regions: Regions, region: int, aim: int) -> bool:
    box, x, y = regions.box[region], int64(graph.x[aim]), int64(graph.y[aim])
    return _is_free(regions.walls, min(box[0], x), max(box[1], x), min(box[2], y), max(box[3], y))


@kernel
def is_covered(attempts: Attempts, graph: Layout, regions: Regions, region: int, aim: int) -> bool:
    """Return whether every state of a region can climb straight to ``aim``."""
    if _is_in_the_open(graph, regions, region, aim):
        return True
    at = attempts.scalars[0]
    at["now"] += 1
    if at["now"] == 0:  # after four billion attempts the numbers start again
        attempts.seen[:] = 0
        at["now"] = 1
    now = at["now"]
    attempts.seen[aim] = now
    for i in range(regions.begin[region], regions.begin[region + 1]):
        state = int64(regions.member[i])
        while attempts.seen[state] != now:  # states visited before in this attempt can reach ``aim``
            attempts.seen[state] = now
            state = straight(graph, state, aim)
            if state < 0:
                return False
    return True
