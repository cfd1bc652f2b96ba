"""Subgoal databases: records of solved problems, each with subgoals on the path, found by similarity.

Bulitko and Björnsson (2009). A record is a start, a goal, and the farthest state of a shortest path between them that
hill-climbing reaches from the start. In the journal version (Bulitko, Björnsson and Lawrence 2010) it is instead the
whole series of such states from start to goal, each climbable from the previous one. A record is similar to a problem
if the sum of the heuristic distances between their starts and between their goals is small.

The index is a kd-tree over the points of start and goal together: four dimensions on a grid. The heuristic's metrics
never decrease when a coordinate moves away, so the nearest point of a box bounds all records in it, and the search for
the nearest is exact. The paper scans all records. The octile sum is also a maximum of 32 linear forms, but a tree under
the Chebyshev metric in 32 dimensions is no faster than a scan for fewer than 30,000 records; this one always is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import pick
from andante.databases.kinds import kind
from andante.kernel import generic, int64, kernel
from andante.search.hillclimb import climb
from andante.search.memory import Space
from andante.search.mind import Group, Mind
from andante.search.records import Index, claim, find
from andante.world.graph import Graph
from andante.world.heuristics import distance
from andante.world.layout import Arrays, Csr, GridArrays, Moves, Sixteen, Terrain, estimate, stride

LEAF = 16  # the most records in a leaf of the tree
DEEPEST = 64  # levels of a tree: enough for 2**64 records
MOST_LISTED = 128  # records on a shortlist: filling a short list several times is faster than filling a long one once
MOST_CANDIDATES = 1 << 40


def _fault(subgoals: Subgoals, graph: Graph) -> str | None:
    records, width = len(subgoals.start), 2 * graph.dimensions
    boxes = len(subgoals.low)
    shapes = [(records,), (records,), (records + 1,), (len(subgoals.subgoal),), (boxes, width), (boxes, width)]
    if [array.shape for array in subgoals] != shapes or boxes != 2 << levels(records):
        return "its records and their index do not match"
    states = np.concatenate([subgoals.start, subgoals.goal, subgoals.subgoal])
    if len(states) and not 0 <= states.min() <= states.max() < len(graph):
        return f"its records refer to states beyond the {len(graph)} of the graph"
    ends = subgoals.first.astype(np.int64)  # differences of smaller numbers could wrap around
    if ends[0] != 0 or ends[-1] != len(subgoals.subgoal) or (np.diff(ends) < 1).any():
        return "some of its records have no subgoal"
    return None


@kind("subgoals", "solved problems, each with the states to go to on the path", _fault)
class Subgoals(NamedTuple):
    """Records in the order of a kd-tree, and the boxes of its nodes: the children of node i are 2i and 2i + 1."""

    start: npt.NDArray[np.int32]  # [records]
    goal: npt.NDArray[np.int32]  # [records]
    first: npt.NDArray[np.int32]  # [records + 1], the first subgoal of a record's series
    subgoal: npt.NDArray[np.int32]  # [subgoals]
    low: npt.NDArray[np.float64]  # [nodes, twice the dimensions], least coordinates of starts and then of goals
    high: npt.NDArray[np.float64]  # [nodes, twice the dimensions]

    @property
    def records(self) -> int:
        """The number of solved problems."""
        return len(self.start)

    @property
    def entries(self) -> int:
        """The number of starts, goals and subgoals of all solved problems."""
        return 2 * len(self.start) + len(self.subgoal)

    @classmethod
    def allocate(cls, space: Space) -> Subgoals:
        """Return the arrays of the agent's database."""
        arrays: Subgoals = pick(space.databases, "subgoals", space.graph, who=space.who).arrays
        return arrays


# --- the index ------------------------------------------------------------------------------------------------------


def levels(records: int) -> int:
    """Return the number of times that the tree over this many records is divided.

    >>> levels(16), levels(17), levels(1000)
    (0, 1, 6)
    """
    return max(0, (records - 1) // LEAF).bit_length()


def index(
    graph: Graph,
    start: npt.NDArray[np.int32],
    goal: npt.NDArray[np.int32],
    first: npt.NDArray[np.int32],
    subgoal: npt.NDArray[np.int32],
) -> Subgoals:
    """Return these records in the order of a tree; each node is halved along the longest side of its box."""
    place = np.concatenate([graph.points[start], graph.points[goal]], 1)
    depth, count = levels(len(start)), len(start)
    order = np.arange(count)
    low = np.full((2 << depth, place.shape[1]), np.inf)
    high = np.full((2 << depth, place.shape[1]), -np.inf)
    for level in range(depth + 1):
        for node in range(1 << level):
            begin, end = node * count >> level, (node + 1) * count >> level
            mine = place[order[begin:end]]
            box = node + (1 << level)
            low[box], high[box] = mine.min(0, initial=np.inf), mine.max(0, initial=-np.inf)
            if level < depth and mine.shape[1]:
                axis = int((high[box] - low[box]).argmax())
                order[begin:end] = order[begin:end][np.argsort(mine[:, axis], kind="stable")]
    series = [subgoal[first[record] : first[record + 1]] for record in order]
    sizes = np.array([len(one) for one in series], np.int64)
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    flat = np.concatenate([np.zeros(0, np.int32), *series])
    return Subgoals(start[order], goal[order], ends, flat, low, high)


# --- looking up -----------------------------------------------------------------------------------------------------


LISTED = np.dtype([("size", np.int64)])  # the number of records on the list


class Shortlist(NamedTuple):
    """The records most similar to a problem, most similar first, and buffers for finding them.

    The list is short, and it is filled again with the next most similar records if none of them fits.
    """

    record: npt.NDArray[np.int32]  # [candidates, or MOST_LISTED if that is less]
    apart: npt.NDArray[np.float64]  # [as many]
    scalars: npt.NDArray[Any]  # [1], of LISTED
    candidates: int  # records to try before giving up
    node: npt.NDArray[np.int64]  # [2 * DEEPEST], nodes yet to be visited
    bound: npt.NDArray[np.float64]  # [2 * DEEPEST], a lower bound on the distance of all records of the node
    start: npt.NDArray[np.float64]  # [2, dimensions], the start's point, and the nearest point of a box
    goal: npt.NDArray[np.float64]  # [2, dimensions], the same for the goal
    metric: int

    @classmethod
    def allocate(cls, space: Space) -> Shortlist:
        """Return a list for the number of records given by the parameter ``candidates``."""
        return cls.over(space.graph, space.params.candidates)

    @classmethod
    def over(cls, graph: Graph, candidates: int | None) -> Shortlist:
        """Return a list for ``candidates`` records of problems on ``graph``; None means all records of a database."""
        most = MOST_CANDIDATES if candidates is None else min(candidates, MOST_CANDIDATES)
        return cls(
            np.zeros(min(most, MOST_LISTED), np.int32),
            np.zeros(min(most, MOST_LISTED)),
            np.zeros(1, LISTED),
            most,
            np.zeros(2 * DEEPEST, np.int64),
            np.zeros(2 * DEEPEST),
            np.zeros((2, graph.dimensions)),
            np.zeros((2, graph.dimensions)),
            int(graph.metric),
        )


class Used(NamedTuple):
    """The first subgoals of records that must not be used again until a number changes, such as that of a trial."""

    where: Index
    when: npt.NDArray[np.uint32]  # a field of the subgoals' records, the number at its last use

    @classmethod
    def over(cls, mind: Mind) -> Used:
        """Return an array in which no subgoal is used; the number must be above 0."""
        return cls(mind.index(Group.APART), mind.field(np.uint32, Group.APART))


@kernel
def use(used: Used, subgoal: int, now: int) -> None:
    """Mark a subgoal as used."""
    used.when[claim(used.where, subgoal)] = now


@kernel
def _is_used(used: Used, subgoal: int, now: int) -> bool:
    return used.when[find(used.where, subgoal)] == now


@generic
def _coordinate(graph: Arrays, state: int, axis: int) -> float:
    raise TypeError(graph)


@_coordinate.of(Moves, Terrain, Sixteen)
def _moves_coordinate(graph: GridArrays | Sixteen, state: int, axis: int) -> float:
    return stride(graph) * (graph.x[state] if axis == 0 else graph.y[state])


@_coordinate.of(Csr)
def _csr_coordinate(graph: Csr, state: int, axis: int) -> float:
    return graph.point[state, axis]


@kernel
def nearest(
    subgoals: Subgoals,
    found: Shortlist,
    graph: Arrays,
    state: int,
    goal: int,
    used: Used,
    now: int,
    beyond: float = -np.inf,
    last: int = -1,
) -> None:
    """Find the records most similar to the problem, except those whose first subgoal is marked ``now`` in ``used``.

    Equally similar records are in the order of the database. Only records after ``last``, which is at distance
    ``beyond`` from the problem, are considered.
    """
    found.scalars[0]["size"] = 0
    records, leaves = len(subgoals.start), len(subgoals.low) >> 1
    if records == 0 or len(found.record) == 0:
        return
    for axis in range(found.start.shape[1]):
        found.start[0, axis] = _coordinate(graph, state, axis)
        found.goal[0, axis] = _coordinate(graph, goal, axis)
    found.node[0], found.bound[0], waiting = 1, 0.0, 1
    while waiting > 0:
        waiting -= 1
        node = found.node[waiting]
        if found.bound[waiting] > _worst(found):
            continue
        if node >= leaves:
            for record in range((node - leaves) * records // leaves, (node - leaves + 1) * records // leaves):
                if not _is_used(used, int64(subgoals.subgoal[subgoals.first[record]]), now):
                    apart = estimate(graph, state, int64(subgoals.start[record]))
                    apart += estimate(graph, goal, int64(subgoals.goal[record]))
                    if apart > beyond or (apart == beyond and record > last):
                        _enter(found, record, apart)
            continue
        here, there = 2 * node, 2 * node + 1
        near, far = _bound(subgoals, found, here), _bound(subgoals, found, there)
        if near > far:
            here, there, near, far = there, here, far, near
        found.node[waiting], found.bound[waiting] = there, far
        found.node[waiting + 1], found.bound[waiting + 1] = here, near
        waiting += 2


@kernel
def _worst(found: Shortlist) -> float:
    """Return the distance beyond which a record is not added to the list."""
    full = found.scalars[0]["size"] == len(found.record)
    return found.apart[found.scalars[0]["size"] - 1] if full else np.inf


@kernel
def _bound(subgoals: Subgoals, found: Shortlist, node: int) -> float:
    """Return a lower bound on the distance of the problem from every record in a box."""
    axes = found.start.shape[1]
    for axis in range(axes):
        low, high = subgoals.low[node, axis], subgoals.high[node, axis]
        found.start[1, axis] = min(max(found.start[0, axis], low), high)
        low, high = subgoals.low[node, axes + axis], subgoals.high[node, axes + axis]
        found.goal[1, axis] = min(max(found.goal[0, axis], low), high)
    return distance(found.start, found.metric, 0, 1) + distance(found.goal, found.metric, 0, 1)


@kernel
def _enter(found: Shortlist, record: int, apart: float) -> None:
    """Insert a record into the list at its place, if it is similar enough."""
    last = found.scalars[0]["size"]
    if last == len(found.record):
        last -= 1
        if apart > found.apart[last] or (apart == found.apart[last] and record > found.record[last]):
            return
    else:
        found.scalars[0]["size"] = last + 1
    at = last
    while at > 0 and (apart < found.apart[at - 1] or (apart == found.apart[at - 1] and record < found.record[at - 1])):
        found.apart[at], found.record[at] = found.apart[at - 1], found.record[at - 1]
        at -= 1
    found.apart[at], found.record[at] = apart, record


class Choice(NamedTuple):
    """The record to follow, and the cost of choosing it."""

    record: int  # -1 if none fits
    expanded: int
    touched: int


@kernel
def choose(
    subgoals: Subgoals,
    found: Shortlist,
    graph: Arrays,
    state: int,
    goal: int,
    most: int,
    used: Used,
    now: int,
) -> Choice:
    """Return the most similar record whose start can be climbed to from ``state``, and its goal from ``goal``.

    Each attempt at climbing takes at most ``most`` steps; at most `found.candidates` records are tried.
    """
    expanded, touched, tried, beyond, last = 0, 0, 0, -np.inf, -1
    while tried < found.candidates:
        nearest(subgoals, found, graph, state, goal, used, now, beyond, last)
        listed = min(found.scalars[0]["size"], found.candidates - tried)
        for i in range(listed):
            record = int64(found.record[i])
            one = climb(graph, state, int64(subgoals.start[record]), most)
            expanded, touched = expanded + one.expanded, touched + one.touched
            if not one.arrived:
                continue
            other = climb(graph, goal, int64(subgoals.goal[record]), most)
            expanded, touched = expanded + other.expanded, touched + other.touched
            if other.arrived:
                return Choice(record, expanded, touched)
        if found.scalars[0]["size"] < len(found.record):
            break
        tried += listed
        beyond, last = found.apart[listed - 1], int64(found.record[listed - 1])
    return Choice(-1, expanded, touched)
