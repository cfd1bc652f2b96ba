"""Full distance fields: the cost from one state to every other.

On grids a state is reached along only one of many equal paths, the one that moves diagonally first (Sturtevant and
Rabin 2016, "Canonical orderings on grids"). A move is skipped if the previous cell has another path to the same cell
that costs less, or that costs the same and ends with a straight move. A straight move is skipped only if the other path
costs less, so never on an optimal path. Where a diagonal move on an optimal path is skipped, an equal path ends with a
straight move. So no distance is lost, whichever of several equal paths is found first. The queue is a ring of three
buckets, each as wide as a straight move. No state is reached from its own bucket, so the distances in a bucket are
final when the search gets to it.

On other graphs with similar costs, a ring of four buckets is enough: a bucket is as wide as the cheapest move or half
the most expensive one, so a state's successors are at most three buckets further on, and each bucket is a plain array.
On all other graphs SciPy's heap is faster.

Modules beside this one count the optimal paths (`search.pathcounts`) and find their first moves (`search.firstmoves`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel, uint64
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from andante.world.layout import PRICE, Layout, Moves, degree, price, target, unit

if TYPE_CHECKING:
    from andante.search.firstmoves import Starts

PLACE = 28  # bits of a wave's entry that hold the state; the others contain the direction in which it was reached
MOST_STATES = 1 << PLACE  # larger grids use the ring for other graphs
NOWHERE = 8  # the direction in which the source was reached
MOST_MOVES = uint64(8)
OPEN = 255  # all eight moves are legal

RING = 4
MAX_COST_RATIO = 8.0  # most expensive to cheapest move, beyond which a heap is faster


def _onward(pruned: bool) -> npt.NDArray[np.uint32]:
    """Return the moves to continue with, four bits each, by the direction of arrival in a cell and its legal moves."""
    table = np.zeros((NOWHERE + 1, 256), np.uint32)
    for came in range(NOWHERE + 1):
        for mask in range(256):
            left = canonical(came, mask) if pruned and came != NOWHERE else mask
            for d in (d for d in reversed(range(8)) if left >> d & 1):
                table[came, mask] = int(table[came, mask]) << 4 | 8 | d  # the 8 distinguishes north from the end
    return table.ravel()


def canonical(came: int, mask: int) -> int:
    """Return the legal moves that no other path from the previous cell replaces."""
    if came % 2:
        kept = [came - 1, came, (came + 1) % 8]
    else:
        kept = [came]
        for side in (1, -1):
            if not mask >> (came + 3 * side) % 8 & 1:  # the previous cell could not pass this corner
                kept += [(came + side) % 8, (came + 2 * side) % 8]
    return mask & sum(1 << d for d in kept)


ALL_MOVES, CANONICAL_MOVES = _onward(False), _onward(True)


class Wave(NamedTuple):
    """Buffers to search a grid: three buckets of entries, each a state, the direction that led to it, and its cost."""

    entry: npt.NDArray[np.uint32]  # [3 * (n + 8)]: a state may be queued several times; outdated entries can be dropped
    cost: npt.NDArray[np.float64]  # [3 * (n + 8)]
    onward: npt.NDArray[np.uint32]  # [9 * 256], ALL_MOVES or CANONICAL_MOVES


class Ends(NamedTuple):
    """The ends of the next bucket of a wave and of the one after it, and the cost at which the latter begins."""

    next: int
    after: int
    border: float


class Ring(NamedTuple):
    """Buffers to search any graph with similar costs: four buckets of states."""

    queued: npt.NDArray[np.uint8]  # [n], bit b: the state is in bucket b
    state: npt.NDArray[np.int32]  # [RING, n]
    width: float  # of a bucket


class Field(NamedTuple):
    """Distances from a source, and the buffers to compute them; can be used again for another source."""

    distance: npt.NDArray[np.float64]  # [n]
    order: npt.NDArray[np.int32]  # [n], the states reached, each after its predecessors on optimal paths
    room: Any  # a Wave on grids, a Ring on other graphs; None if their costs are too far apart

    @classmethod
    def over(cls, graph: Graph) -> Field:
        """Return buffers for a field over ``graph``."""
        n = len(graph)
        return cls(np.empty(n), np.empty(n, np.int32), new_room(graph))


def new_room(graph: Graph) -> Wave | Ring | None:
    """Return buffers for a search of ``graph``, or None if its costs are too far apart for buckets."""
    n = len(graph)
    if isinstance(graph.arrays, Moves) and n <= MOST_STATES:
        onward = CANONICAL_MOVES if graph.forbids_corner_cutting else ALL_MOVES
        room = 3 * (n + int(MOST_MOVES))
        return Wave(np.empty(room, np.uint32), np.empty(room), onward)
    cheapest, highest = graph.cost_range
    if highest > MAX_COST_RATIO * cheapest:
        return None
    return Ring(np.zeros(n, np.uint8), np.empty((RING, n), np.int32), max(cheapest, highest / 2))


def spread(field: Field, graph: Graph, source: int, within: float = np.inf) -> int:
    """Fill ``field`` from ``source`` and return the number of states reached.

    With ``within``, these are all states up to that distance, and perhaps some more. The distances of the others may be
    too large, but they are above ``within``.
    """
    expanded = _fill(field, graph, source, within)
    if isinstance(field.room, Wave):
        return expanded
    field.order[:] = np.argsort(field.distance, kind="stable")
    return int(np.count_nonzero(field.distance <= min(within, np.finfo(np.float64).max)))


def distances(graph: Graph, source: int) -> npt.NDArray[np.float64]:
    """Return the cost of a cheapest path from ``source`` to every state; infinite if there is no path.

    >>> from andante.world.graph import Graph
    >>> distances(Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 9.0)]), 0)
    array([0., 3., 7.])
    """
    field = Field.over(graph)
    _fill(field, graph, source, np.inf)
    return field.distance


def _fill(field: Field, graph: Graph, source: int, within: float) -> int:
    """Compute the distances, and on grids the order, and return the number of states expanded."""
    if field.room is not None:
        return flood(field, graph.arrays, source, within)
    from scipy.sparse.csgraph import dijkstra

    field.distance[:] = dijkstra(graph.to_scipy(), indices=source, limit=within)
    return len(graph)


@kernel
def flood(field: Field, graph: Layout, source: int, within: float) -> int:
    """Compute a field's distances, and on grids its order, and return the number of states expanded."""
    return _flood(field.room, field, graph, source, within)


@generic
def _flood(room: Wave | Ring | None, field: Field, graph: Layout, source: int, within: float) -> int:
    raise TypeError(room)


@_flood.of(Wave)
def _flood_grid(room: Wave, field: Field, graph: Moves, source: int, within: float) -> int:
    field.distance[:] = np.inf
    field.distance[source] = 0.0
    room.entry[0], room.cost[0] = source | NOWHERE << PLACE, 0.0
    return sweep(field, graph, 1, 0, within)


@kernel
def sweep(found: Field | Starts, graph: Moves, first: int, second: int, within: float) -> int:
    """Expand states bucket by bucket and return their number; the first two buckets have this many entries.

    Buckets whose states are all farther away than ``within`` are skipped. Indices are unsigned, because comparing
    signed ones with zero at each use took a third of the time.
    """
    entry, cost, distance = found.room.entry, found.room.cost, found.distance
    row = uint64(len(entry) // 3)
    begin0, begin1, begin2 = uint64(0), row, row + row
    end0, ends = uint64(first), Ends(begin1 + uint64(second), begin2, 2.0)
    expanded = uint64(0)
    while (end0 > begin0 or ends.next > begin1 or ends.after > begin2) and ends.border - 2.0 <= within:
        stop = begin0
        while stop < end0:
            start, free = stop, row - max(ends.next - begin1, ends.after - begin2)
            if free < (end0 - start) * MOST_MOVES:
                end1 = _without_outdated(entry, cost, distance, begin1, ends.next)
                end2 = _without_outdated(entry, cost, distance, begin2, ends.after)
                ends, free = Ends(end1, end2, ends.border), row - max(end1 - begin1, end2 - begin2)
            stop = min(end0, start + free // MOST_MOVES)
            for i in range(start, stop):
                here = uint64(entry[i])
                if distance[here & uint64(MOST_STATES - 1)] != cost[i]:  # a cheaper path was found
                    continue
                ends = expand(found, graph, here, cost[i], expanded, ends)
                expanded += uint64(1)
        begin0, begin1, begin2 = begin1, begin2, begin0
        end0, ends = ends.next, Ends(ends.after, begin2, ends.border + 1.0)
    return int64(expanded)


@generic
def expand(found: Field | Starts, graph: Moves, here: int, reached: float, number: int, ends: Ends) -> Ends:
    """Expand the state of the entry ``here``, the ``number``-th to be expanded, and return the new ends of buckets."""
    raise TypeError(found)


@expand.of(Field)
def _expand_in_order(found: Field, graph: Moves, here: int, reached: float, number: int, ends: Ends) -> Ends:
    distance, came, state = found.distance, int64(here) >> PLACE, int64(here) & (MOST_STATES - 1)
    found.order[number] = state
    onward = int64(found.room.onward[came << 8 | int64(graph.mask[state])])
    while onward != 0:
        direction = onward & 7
        onward >>= 4
        near, new = uint64(state + graph.offset[direction]), reached + PRICE[direction]
        if new >= distance[near]:
            continue
        distance[near] = new
        ends = queue(found.room, int64(near) | direction << PLACE, new, ends)
    return ends


@kernel
def queue(room: Wave, entry: int, cost: float, ends: Ends) -> Ends:
    """Add an entry to the bucket of its cost, and return the new ends of the buckets."""
    if cost < ends.border:
        room.entry[ends.next], room.cost[ends.next] = entry, cost
        return Ends(ends.next + uint64(1), ends.after, ends.border)
    room.entry[ends.after], room.cost[ends.after] = entry, cost
    return Ends(ends.next, ends.after + uint64(1), ends.border)


@kernel
def _without_outdated(
    entry: npt.NDArray[np.uint32],
    cost: npt.NDArray[np.float64],
    distance: npt.NDArray[np.float64],
    begin: int,
    end: int,
) -> int:
    """Drop entries that a cheaper path has replaced and return the end of the rest, which has at most one per state."""
    kept = begin
    for i in range(begin, end):
        if distance[int64(entry[i]) & (MOST_STATES - 1)] == cost[i]:
            entry[kept], cost[kept] = entry[i], cost[i]
            kept += uint64(1)
    return kept


@_flood.of(Ring)
def _flood_any(room: Ring, field: Field, graph: Layout, source: int, within: float) -> int:
    distance, queued, ring = field.distance, room.queued, room.state
    states, per_cost = len(distance), 1.0 / room.width
    distance[:] = np.inf
    distance[source] = 0.0
    ring[0, 0] = source
    queued[:] = 0  # the last search may have ended early
    queued[source] = 1
    size0, size1, size2, size3 = 1, 0, 0, 0
    expanded, bucket = 0, 0
    while size0 + size1 + size2 + size3 > 0 and bucket * room.width <= within:
        here = bucket % RING
        k, end = 0, size0  # no state is queued twice, so when the row is full its beginning is free again
        while size0 > 0:
            state = int64(ring[here, k])
            k = k + 1 if k + 1 < states else 0
            size0 -= 1
            queued[state] &= ~np.uint8(1 << here)
            reached = distance[state]
            if int64(reached * per_cost) < bucket:  # a cheaper path was found, and expanded, in an earlier bucket
                continue
            expanded += 1
            for m in range(degree(graph, state)):
                near = target(graph, state, m)
                new = reached + price(graph, state, m)
                if new >= distance[near]:
                    continue
                distance[near] = new
                ahead = int64(new * per_cost) - bucket
                there = (bucket + ahead) % RING
                bit = np.uint8(1 << there)
                if queued[near] & bit:
                    continue
                queued[near] |= bit
                if ahead == 0:
                    end = end if end < states else 0
                    ring[here, end] = near
                    end += 1
                    size0 += 1
                elif ahead == 1:
                    ring[there, size1] = near
                    size1 += 1
                elif ahead == 2:
                    ring[there, size2] = near
                    size2 += 1
                else:
                    ring[there, size3] = near
                    size3 += 1
        size0, size1, size2, size3 = size1, size2, size3, 0
        bucket += 1
    return expanded


@kernel
def is_optimal(graph: Layout, distance: npt.NDArray[np.float64], state: int, near: int, cost: float) -> bool:
    """Return whether an optimal path to the source of a field begins with the move from ``state`` to ``near``."""
    left = distance[state]
    return cost + distance[near] <= left + TOLERANCE * unit(graph) and distance[near] < left
