"""Find out which subgoals all states of a region can climb straight to, directly or through a hub.

An agent with a lookahead of one move that can climb straight to its subgoal takes an optimal path there and learns
nothing on it. A subgoal is covered by a region if all of its states can climb to it. If they cannot, a hub may help: a
state of the region that all of them can climb to, and from which one can climb to the subgoal.

Answers are cached in a table that all threads share. An entry is one number, which contains the question and the
answer, so no thread reads half an entry; later answers overwrite earlier ones. Answers do not depend on what is cached.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel
from andante.offline.division import Ground, States, boxes, climbs, walls
from andante.search.hillclimb import straight
from andante.world.graph import Csr, Layout, Moves, estimate

KEPT_PER_REGION = 2**12
MOST_KEPT = 2**24
MOST_HUBS = 64  # states of a region that are tried as hubs

Answers = npt.NDArray[np.int64]


class Parts(NamedTuple):
    """The states of each region, those nearest to its representative first, and where they lie."""

    member: States
    begin: States  # [regions + 1]
    box: npt.NDArray[np.int64]  # [regions, 4], on grids: first and last column, first and last row


class Regions(NamedTuple):
    """The states of each region that agents may be in, and its hubs."""

    member: States  # as in Parts
    begin: States
    box: npt.NDArray[np.int64]
    hub: States
    apart: npt.NDArray[np.float64]  # [hubs], the mean distance of the region's states from the hub
    first: States  # [regions + 1], where the hubs of each region begin
    walls: npt.NDArray[np.int32]  # [height + 1, width + 1], on grids: the number of walls above and to the left


class Attempts(NamedTuple):
    """The buffers of one thread, and the shared cache of answers."""

    kept: Answers  # [regions, a power of two], shared by all threads
    seen: npt.NDArray[np.uint32]  # [n], the last attempt that visited a state
    now: npt.NDArray[np.uint32]  # [1], this attempt

    @classmethod
    def over(cls, n: int, kept: Answers) -> Attempts:
        """Return buffers for ``n`` states."""
        return cls(kept, np.zeros(n, np.uint32), np.zeros(1, np.uint32))


def new_answers(regions: int) -> Answers:
    """Return an empty cache of answers for this number of regions."""
    each = min(KEPT_PER_REGION, 1 << (MOST_KEPT // max(regions, 1)).bit_length())
    return np.full((regions, each), -1)


def parts_of(ground: Ground) -> Parts:
    """Return the states of each region, and where they lie."""
    member, begin = ground.members
    region, arrays = ground.region[member], ground.graph.arrays
    apart = np.empty(len(member))
    _measure(arrays, member, ground.representative[region], apart)
    member = member[np.lexsort((member, apart, region))]
    return Parts(member, begin, boxes(arrays, member, begin))


def regions_of(ground: Ground, attempts: Attempts) -> Regions:
    """Return the regions with their hubs: of the states nearest to the representative, those that all can climb to."""
    parts, arrays = parts_of(ground), ground.graph.arrays
    room = np.empty_like(parts.member), np.empty(len(parts.member)), np.zeros_like(parts.begin)
    regions = Regions(*parts, *room, walls(arrays))
    found = _find_hubs(attempts, arrays, regions)
    return regions._replace(hub=regions.hub[:found].copy(), apart=regions.apart[:found].copy())


@kernel
def _measure(graph: Layout, state: States, other: States, apart: npt.NDArray[np.float64]) -> None:
    """Compute the heuristic distance between each pair of states."""
    for i in range(len(state)):
        apart[i] = estimate(graph, int64(state[i]), int64(other[i]))


def no_parts() -> Parts:
    """Return empty parts, for rules that need none."""
    none = np.zeros(0, np.int32)
    return Parts(none, none, np.zeros((0, 4), np.int64))


def no_regions() -> Regions:
    """Return empty regions, for rules that need none."""
    none = np.zeros(0, np.int32)
    return Regions(*no_parts(), none, np.zeros(0), none, np.zeros((0, 0), np.int32))


@kernel
def _find_hubs(attempts: Attempts, graph: Layout, regions: Regions) -> int:
    """Find the hubs of all regions, and return their number."""
    found = 0
    for region in range(len(regions.begin) - 1):
        begin, end = regions.begin[region], regions.begin[region + 1]
        regions.first[region] = found
        for i in range(begin, min(end, begin + MOST_HUBS)):
            hub, total = int64(regions.member[i]), 0.0
            if _all_climb(attempts, graph, regions, region, hub):
                for j in range(begin, end):
                    total += estimate(graph, int64(regions.member[j]), hub)
                regions.hub[found], regions.apart[found] = hub, total / (end - begin)
                found += 1
    regions.first[len(regions.begin) - 1] = found
    return found


@kernel
def is_covered(attempts: Attempts, graph: Layout, regions: Regions, region: int, aim: int) -> bool:
    """Return whether every state of a region can climb straight to ``aim``."""
    question = aim * 2
    place = _place(attempts.kept, question)
    kept = attempts.kept[region, place]  # read once: another thread may overwrite it at any time
    if kept >> 1 != question:
        kept = question * 2 + _all_climb(attempts, graph, regions, region, aim)
        attempts.kept[region, place] = kept
    return bool(kept & 1)


@kernel
def all_covered(attempts: Attempts, graph: Layout, regions: Regions, region: int, ends: Parts, goal: int) -> bool:
    """Return whether every state of a region can climb straight to every state of a region of goals."""
    if _is_open(regions, region, ends, goal):
        return True
    for i in range(ends.begin[goal + 1] - 1, ends.begin[goal] - 1, -1):  # those at the edge are most likely to fail
        if not _all_climb(attempts, graph, regions, region, int64(ends.member[i])):
            return False
    return True


@kernel
def _is_open(regions: Regions, region: int, ends: Parts, goal: int) -> bool:
    """Return whether there is no wall in the box around two regions: then one can climb from any state to any other."""
    if len(regions.box) == 0:
        return False
    a, b = regions.box[region], ends.box[goal]
    return _is_free(regions.walls, min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]))


@kernel
def _is_free(walls: npt.NDArray[np.int32], left: int, right: int, top: int, bottom: int) -> bool:
    """Return whether there is no wall in a box."""
    right, bottom = right + 1, bottom + 1
    return bool(walls[bottom, right] - walls[top, right] == walls[bottom, left] - walls[top, left])


@kernel
def is_reached(attempts: Attempts, graph: Layout, regions: Regions, region: int, aim: int) -> bool:
    """Return whether one can climb straight to ``aim`` from a hub of a region."""
    question = aim * 2 + 1
    place = _place(attempts.kept, question)
    kept = attempts.kept[region, place]  # read once, as above
    if kept >> 1 != question:
        kept = question * 2 + (best_hub(graph, regions, region, aim) >= 0)
        attempts.kept[region, place] = kept
    return bool(kept & 1)


@kernel
def _place(kept: Answers, question: int) -> int:
    return int64((question * 0x9E3779B1 >> 16) & (kept.shape[1] - 1))


@generic
def _is_in_the_open(graph: Layout, regions: Regions, region: int, aim: int) -> bool:
    """Return whether there is no wall in the box around a region and a state."""
    raise TypeError(graph)


@_is_in_the_open.of(Csr)
def _never(graph: Csr, regions: Regions, region: int, aim: int) -> bool:
    return False


@_is_in_the_open.of(Moves)
def _on_a_grid(graph: Moves, regions: Regions, region: int, aim: int) -> bool:
    box, x, y = regions.box[region], int64(graph.x[aim]), int64(graph.y[aim])
    return _is_free(regions.walls, min(box[0], x), max(box[1], x), min(box[2], y), max(box[3], y))


@kernel
def _all_climb(attempts: Attempts, graph: Layout, regions: Regions, region: int, aim: int) -> bool:
    if _is_in_the_open(graph, regions, region, aim):
        return True
    attempts.now[0] += 1
    if attempts.now[0] == 0:  # the numbers run out once in four billion attempts
        attempts.seen[:] = 0
        attempts.now[0] = 1
    now = attempts.now[0]
    attempts.seen[aim] = now
    for i in range(regions.begin[region], regions.begin[region + 1]):
        state = int64(regions.member[i])
        while attempts.seen[state] != now:  # from states visited before in this attempt, ``aim`` was reached
            attempts.seen[state] = now
            state = straight(graph, state, aim)
            if state < 0:
                return False
    return True


@kernel
def best_hub(graph: Layout, regions: Regions, region: int, aim: int) -> int:
    """Return the hub with the shortest paths from the region's states to ``aim``; -1 if none can climb there."""
    best, least = -1, np.inf
    for i in range(regions.first[region], regions.first[region + 1]):
        hub = int64(regions.hub[i])
        length = regions.apart[i] + estimate(graph, hub, aim)
        if length < least and climbs(graph, hub, aim):
            best, least = hub, length
    return best
