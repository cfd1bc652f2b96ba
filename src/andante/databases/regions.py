"""Regions of states that can climb to a common seed, and the paths between seeds.

Lawrence and Bulitko (2013). Every state of a region can climb to the region's seed, and can be climbed to from there.
Arcs lead from region to region: a shortest path from seed to seed, stored as a chain of subgoals, each of which can be
climbed to from the previous one. For every pair of regions the database contains the first arc of a shortest path over
seeds.

All data is compressed. A state's region is found in runs of states with equal regions, 256 states at a time. The last
subgoal of a chain, the seed of the arc's region, is not stored, and most arcs have no other subgoals. Arcs with more
subgoals are first among the arcs of a region. The first arcs of a region form a row of runs, as in a compressed path
database: it lists only the places, in the order of the regions, where the arc changes. An arc takes one byte, or two if
any region has more than 255.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import pick
from andante.databases.kinds import kind
from andante.kernel import int64, kernel
from andante.search.memory import Space
from andante.world.graph import Graph

BLOCK_BITS = 8
BLOCK = 1 << BLOCK_BITS  # states whose runs are stored together
MOST_REGIONS = 1 << 16  # regions are numbered in 16 bits
NARROW = 255  # the most arcs out of a region if each takes one byte; the number itself means that there is no path
WIDE = 65535  # the same for two bytes


def _fault(regions: Regions, graph: Graph) -> str | None:
    if not all(array.ndim == 1 for array in regions):
        return "its tables do not match"
    runs, count, arcs, hops = len(regions.region), len(regions.seed), len(regions.to), len(regions.goal)
    if len(regions.block) != blocks(len(graph)) + 1 or len(regions.begin) != runs:
        return f"its regions are not those of a graph of {len(graph)} states"
    if {len(regions.first), len(regions.link), len(regions.row)} != {count + 1} or len(regions.arc) != hops:
        return "its tables do not match"
    ends = [(regions.block, runs), (regions.first, arcs), (regions.link, len(regions.chain) - 1), (regions.row, hops)]
    if not all(_rises(*pair) for pair in [*ends, (regions.chain, len(regions.subgoal))]):
        return "its tables do not match"
    if len(regions.wide) not in (0, hops) or (np.diff(regions.link) > np.diff(regions.first)).any():
        return "its tables do not match"
    states = np.concatenate([regions.seed, regions.subgoal])
    if len(states) and not 0 <= states.min() <= states.max() < len(graph):
        return f"it refers to states beyond the {len(graph)} of the graph"
    named = max(regions.region.max(initial=0), regions.to.max(initial=0), regions.goal.max(initial=0))
    if named >= max(count, 1) or (count == 0 and graph.arcs):
        return "it refers to regions that do not exist"
    if not _is_sound(regions):
        return "its rows contain arcs that do not exist"
    return None


def _rises(ends: npt.NDArray[np.int32], last: int) -> bool:
    """Return whether these are the ends of parts, from 0 up to ``last`` and never decreasing."""
    wide = ends.astype(np.int64)  # differences of smaller numbers could wrap around
    return len(wide) > 0 and wide[0] == 0 and wide[-1] == last and bool((np.diff(wide) >= 0).all())


def blocks(states: int) -> int:
    """Return the number of blocks for this many states.

    >>> blocks(0), blocks(256), blocks(257)
    (0, 1, 2)
    """
    return -(-states // BLOCK)


@kind("regions", "regions of states that climb to a seed, and the first step of the path between every two", _fault)
class Regions(NamedTuple):
    """The region of each state, arcs between regions with their subgoals, and the arcs to take."""

    block: npt.NDArray[np.int32]  # [blocks + 1], the first run of 256 states
    begin: npt.NDArray[np.uint8]  # [runs], the first state of a run, counted within its block
    region: npt.NDArray[np.uint16]  # [runs]
    seed: npt.NDArray[np.int32]  # [regions]
    first: npt.NDArray[np.int32]  # [regions + 1], the first arc of a region
    to: npt.NDArray[np.uint16]  # [arcs], the target region
    link: npt.NDArray[np.int32]  # [regions + 1], the first chain of a region's first arcs; other arcs have none
    chain: npt.NDArray[np.int32]  # [chains + 1], the first subgoal of a chain
    subgoal: npt.NDArray[np.int32]  # [subgoals], those between the two seeds
    row: npt.NDArray[np.int32]  # [regions + 1], the first run of a region's row
    goal: npt.NDArray[np.uint16]  # [hops], the first region of a run of goals with the same arc
    arc: npt.NDArray[np.uint8]  # [hops], which of the region's arcs leads there; the highest number: there is no path
    wide: npt.NDArray[np.uint8]  # [hops] or [0]: the upper half of that number, if some region has many arcs

    @property
    def records(self) -> int:
        """The number of pairs of regions."""
        return len(self.seed) ** 2

    @property
    def entries(self) -> int:
        """The number of stored values: a region per run of states, seeds, subgoals, ends of arcs, an arc per run."""
        return len(self.region) + len(self.seed) + len(self.to) + len(self.subgoal) + len(self.arc)

    @classmethod
    def allocate(cls, space: Space) -> Regions:
        """Return the arrays of the agent's database."""
        arrays: Regions = pick(space.databases, "regions", space.graph, who=space.who).arrays
        return arrays


@kernel
def region_of(regions: Regions, state: int) -> int:
    """Return the region of a state; the result is undefined for a state without moves."""
    block, place = state >> BLOCK_BITS, state & (BLOCK - 1)
    low, high = int64(regions.block[block]), int64(regions.block[block + 1])
    while high - low > 1:
        middle = (low + high) >> 1
        if int64(regions.begin[middle]) <= place:
            low = middle
        else:
            high = middle
    return int64(regions.region[low])


@kernel
def next_arc(regions: Regions, here: int, there: int) -> int:
    """Return the first arc of a shortest path from one region to another; -1 if there is no path."""
    low, high = int64(regions.row[here]), int64(regions.row[here + 1])
    while high - low > 1:
        middle = (low + high) >> 1
        if int64(regions.goal[middle]) <= there:
            low = middle
        else:
            high = middle
    arc = _arc(regions, low)
    return int64(regions.first[here]) + arc if arc >= 0 else -1


@kernel
def _arc(regions: Regions, hop: int) -> int:
    """Return the arc of a run of goals, as an index among the arcs of its region; -1 if there is none."""
    arc, none = int64(regions.arc[hop]), NARROW
    if len(regions.wide) > 0:
        arc, none = arc + (int64(regions.wide[hop]) << 8), WIDE
    return arc if arc != none else -1


@kernel
def chain_of(regions: Regions, here: int, arc: int) -> tuple[int, int]:
    """Return the bounds of the subgoals of one of a region's arcs."""
    link = int64(regions.link[here]) + arc - int64(regions.first[here])
    if link >= int64(regions.link[here + 1]):
        return int64(0), int64(0)
    return int64(regions.chain[link]), int64(regions.chain[link + 1])


@kernel
def _is_sound(regions: Regions) -> bool:
    """Return whether each block has runs and each region a row, both from the first one on, with valid arcs only."""
    for block in range(len(regions.block) - 1):
        first = regions.block[block]
        if first == regions.block[block + 1] or regions.begin[first] != 0:
            return False
    for here in range(len(regions.seed)):
        arcs = int64(regions.first[here + 1]) - int64(regions.first[here])
        first, last = regions.row[here], regions.row[here + 1]
        if first == last or regions.goal[first] != 0:
            return False
        for hop in range(first, last):
            if _arc(regions, hop) >= arcs:
                return False
    return True
