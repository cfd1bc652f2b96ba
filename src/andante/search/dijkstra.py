"""Full distance fields: the cost from one state to every other, how many optimal paths there are, and how they begin.

On grids a state is reached along only one of many equal paths, the one that moves diagonally first (Sturtevant and
Rabin 2016, "Canonical orderings on grids"). A move is skipped if the previous cell has another path to the same cell
that costs less, or that costs the same and ends with a straight move. A straight move is skipped only if the other path
costs less, so never on an optimal path. Where a diagonal move on an optimal path is skipped, an equal path ends with a
straight move. So no distance is lost, whichever of several equal paths came first. The queue is a ring of three
buckets, each as wide as a straight move. No state is reached from its own bucket, so the distances in a bucket are
final when its turn comes.

On other graphs with similar costs, a ring of four buckets is enough: a bucket is as wide as the cheapest move or half
the most expensive one, so a state's successors are at most three buckets further on, and each bucket is a plain array.
Elsewhere SciPy's heap is better.

Distant states of an open map have more optimal paths between them than a float64 can count. A count therefore has its
own scale: the power of 2**512 to multiply it by.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel, uint64
from andante.world.graph import COUNT, DIRECTION, PRICE, Csr, Graph, Layout, Moves, degree, price, target, unit
from andante.world.heuristics import DIAGONAL, TOLERANCE

PLACE = 28  # bits of a wave's entry that hold the state; the others hold the direction it was reached in
MOST_STATES = 1 << PLACE  # larger grids use the ring for other graphs
NOWHERE = 8  # the direction in which the source was reached
MOST_MOVES = uint64(8)
OPEN = 255  # all eight moves are legal
ANYHOW = OPEN << 8  # arrived in any direction

RING = 4
MAX_COST_RATIO = 8.0  # most expensive to cheapest move, beyond which a heap is faster
LARGE, SMALL = 2.0**512, 2.0**-512  # a count above the first is multiplied by the second
SAME_COUNT = 1 + 1e-9  # counts with a lower ratio differ by rounding only


def _onward(pruned: bool) -> npt.NDArray[np.uint32]:
    """Return the moves to continue with, four bits each, by the direction a cell was reached in and its legal moves."""
    table = np.zeros((NOWHERE + 1, 256), np.uint32)
    for came in range(NOWHERE + 1):
        for mask in range(256):
            left = _canonical(came, mask) if pruned and came != NOWHERE else mask
            for d in (d for d in reversed(range(8)) if left >> d & 1):
                table[came, mask] = int(table[came, mask]) << 4 | 8 | d  # the 8 distinguishes north from the end
    return table.ravel()


def _canonical(came: int, mask: int) -> int:
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

    entry: npt.NDArray[np.uint32]  # [3 * (n + 8)]: a state may be queued twice or more, outdated entries can be dropped
    cost: npt.NDArray[np.float64]  # [3 * (n + 8)]
    onward: npt.NDArray[np.uint32]  # [9 * 256], ALL_MOVES or CANONICAL_MOVES


class Ends(NamedTuple):
    """Where the next bucket of a wave ends, where the one after it ends, and the cost at which the latter begins."""

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
        return cls(np.empty(n), np.empty(n, np.int32), _room(graph))


def _room(graph: Graph) -> Wave | Ring | None:
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

    With ``within``, these are all states up to that distance, and perhaps some more. Of the others, the distance may
    be too large, but is above ``within``.
    """
    expanded = _fill(field, graph, source, within)
    if isinstance(field.room, Wave):
        return expanded
    field.order[:] = np.argsort(field.distance, kind="stable")
    return int(np.count_nonzero(field.distance <= min(within, np.finfo(np.float64).max)))


def distances(graph: Graph, source: int) -> npt.NDArray[np.float64]:
    """Return the cost of a cheapest path from ``source`` to every state; infinite where there is none.

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
    return _sweep(field, graph, 1, 0, within)


@kernel
def _sweep(found: Field | Starts, graph: Moves, first: int, second: int, within: float) -> int:
    """Expand states bucket by bucket, beginning with so many entries in the first two, and return their number.

    Buckets whose states are all farther away than ``within`` are left alone. Indices are unsigned: comparing signed
    ones with zero at each use took a third of the time.
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
                ends = _expand(found, graph, here, cost[i], expanded, ends)
                expanded += uint64(1)
        begin0, begin1, begin2 = begin1, begin2, begin0
        end0, ends = ends.next, Ends(ends.after, begin2, ends.border + 1.0)
    return int64(expanded)


@generic
def _expand(found: Field | Starts, graph: Moves, here: int, reached: float, number: int, ends: Ends) -> Ends:
    """Expand the state of the entry ``here``, the ``number``-th to be expanded, and return where buckets end then."""
    raise TypeError(found)


@_expand.of(Field)
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
        ends = _queue(found.room, int64(near) | direction << PLACE, new, ends)
    return ends


@kernel
def _queue(room: Wave, entry: int, cost: float, ends: Ends) -> Ends:
    """Put an entry into the bucket that its cost belongs in, and return where the buckets end then."""
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


# --- counting paths -------------------------------------------------------------------------------------------------


class Paths(NamedTuple):
    """The number of optimal paths from each state to the source of a field: ``number`` * 2**(512 * ``scale``).

    Going ``onward`` from state to state leads through the middle of all optimal paths, not along their edge.
    """

    number: npt.NDArray[np.float64]  # [n], from 1 to LARGE
    scale: npt.NDArray[np.int32]  # [n]
    onward: npt.NDArray[np.int32]  # [n], the next state from which most optimal paths lead on, the first of several

    @classmethod
    def over(cls, graph: Graph) -> Paths:
        """Return buffers to count in."""
        return cls(np.empty(len(graph)), np.empty(len(graph), np.int32), np.empty(len(graph), np.int32))


@kernel
def count_paths(
    paths: Paths, graph: Layout, distance: npt.NDArray[np.float64], order: npt.NDArray[np.int32], reached: int
) -> None:
    """Count the optimal paths to the source of a field from each of the ``reached`` states that have one.

    In ``order``, every state must come after the next states on its optimal paths, as when sorted by distance. Every
    move must have its opposite at the same cost.
    """
    source = int64(order[0])
    paths.number[source], paths.scale[source], paths.onward[source] = 1.0, 0, source
    for i in range(1, reached):
        state = int64(uint64(order[i]))
        total, scale, central = _paths_on(graph, distance, paths, state)
        if total > LARGE:
            total, scale = total * SMALL, scale + 1
        paths.number[state], paths.scale[state], paths.onward[state] = total, scale, central


@generic
def _paths_on(graph: Layout, distance: npt.NDArray[np.float64], paths: Paths, state: int) -> tuple[float, int, int]:
    """Return the total count, with its scale, of all states next on an optimal path, and the state with the most.

    Of several states with the same count it is the first in the graph's order.
    """
    raise TypeError(graph)


@_paths_on.of(Csr)
def _paths_on_any(graph: Csr, distance: npt.NDArray[np.float64], paths: Paths, state: int) -> tuple[float, int, int]:
    total, scale = 0.0, 0
    most, highest, its_scale = -1, 0.0, 0
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if is_optimal(graph, distance, state, near, price(graph, state, k)):
            more, at_scale = paths.number[near], int64(paths.scale[near])
            total, scale = _plus(total, scale, more, at_scale)
            if most < 0 or _is_more(more, at_scale, highest, its_scale):
                most, highest, its_scale = near, more, at_scale
    return total, scale, most


@_paths_on.of(Moves)
def _paths_on_grid(graph: Moves, distance: npt.NDArray[np.float64], paths: Paths, state: int) -> tuple[float, int, int]:
    """Nearly everywhere all counts have the same scale, and can be added and compared as they are."""
    moves = int64(ALL_MOVES[_optimal_moves(graph, distance, state)])
    most = state + graph.offset[moves & 7]
    total, scale = paths.number[uint64(most)], paths.scale[uint64(most)]
    highest, apart, rest = total, 0, moves >> 4
    while rest != 0:
        near = state + graph.offset[rest & 7]
        rest >>= 4
        more = paths.number[uint64(near)]
        apart |= int64(paths.scale[uint64(near)] != scale)
        total += more
        is_more = more > highest * SAME_COUNT
        most = near if is_more else most
        highest = more if is_more else highest
    if apart:
        return _paths_on_scales(graph, paths, state, moves)
    return total, int64(scale), most


@kernel
def _paths_on_scales(graph: Moves, paths: Paths, state: int, moves: int) -> tuple[float, int, int]:
    """Return the same for counts with scales of their own; ``moves`` are packed as in ALL_MOVES."""
    total, scale = 0.0, 0
    most, highest, its_scale = -1, 0.0, 0
    while moves != 0:
        near = state + graph.offset[moves & 7]
        moves >>= 4
        more, at_scale = paths.number[near], int64(paths.scale[near])
        total, scale = _plus(total, scale, more, at_scale)
        if most < 0 or _is_more(more, at_scale, highest, its_scale):
            most, highest, its_scale = near, more, at_scale
    return total, scale, most


@kernel
def _optimal_moves(graph: Moves, distance: npt.NDArray[np.float64], state: int) -> int:
    """Return the moves that begin an optimal path to the source of a field, one bit per direction.

    There is no branch per move, which would be hard to predict.
    """
    mask, left = int64(graph.mask[state]), distance[state] + TOLERANCE
    if mask == OPEN:
        straight, diagonal = left - 1.0, left - DIAGONAL
        one, two = uint64(1), uint64(2)
        above, here, below = uint64(state + graph.offset[7]), uint64(state - 1), uint64(state + graph.offset[5])
        return (
            int64(distance[above + one] <= straight)
            | int64(distance[above + two] <= diagonal) << 1
            | int64(distance[here + two] <= straight) << 2
            | int64(distance[below + two] <= diagonal) << 3
            | int64(distance[below + one] <= straight) << 4
            | int64(distance[below] <= diagonal) << 5
            | int64(distance[here] <= straight) << 6
            | int64(distance[above] <= diagonal) << 7
        )
    legal, optimal = int64(ALL_MOVES[mask]), 0
    while legal != 0:
        direction = legal & 7
        legal >>= 4
        there = distance[uint64(state + graph.offset[direction])]
        optimal |= int64(there <= left - PRICE[direction]) << direction
    return optimal


@kernel
def _plus(total: float, scale: int, more: float, its_scale: int) -> tuple[float, int]:
    """Return the sum of two counts."""
    above = its_scale - scale
    if above == 0:
        return total + more, scale
    if above > 0:
        return (total * SMALL if above == 1 else 0.0) + more, its_scale
    return total + (more * SMALL if above == -1 else 0.0), scale


@kernel
def is_optimal(graph: Layout, distance: npt.NDArray[np.float64], state: int, near: int, cost: float) -> bool:
    """Return whether an optimal path to the source of a field begins with the move from ``state`` to ``near``."""
    left = distance[state]
    return cost + distance[near] <= left + TOLERANCE * unit(graph) and distance[near] < left


@kernel
def _is_more(more: float, scale: int, less: float, its_scale: int) -> bool:
    """Return whether one count is higher than another, beyond rounding."""
    above = scale - its_scale
    if above == 0:
        return bool(more > less * SAME_COUNT)
    if above == 1:
        return bool(more > less * SMALL * SAME_COUNT)
    return above > 1 or (above == -1 and bool(more * SMALL > less * SAME_COUNT))


# --- first moves ----------------------------------------------------------------------------------------------------


@cache
def _onward_by_all(pruned: bool) -> npt.NDArray[np.uint8]:
    """Return the moves to continue with, by the directions in which optimal paths reach a cell and its legal moves."""
    mask = np.arange(256, dtype=np.uint8)
    table = np.tile(mask, (256, 1))
    if pruned:
        table[:] = 0
        for came in range(8):
            kept = np.array([_canonical(came, legal) for legal in range(256)], np.uint8)
            table[mask >> came & 1 == 1] |= kept
    return table.ravel()


class Starts(NamedTuple):
    """Distances from a source on a grid, and the first moves of optimal paths; can be used again for another source."""

    distance: npt.NDArray[np.float64]  # [n]
    how: npt.NDArray[np.uint16]  # [n], low byte: first moves, by index at the source; high byte: directions of arrival
    onward: npt.NDArray[np.uint8]  # [256 * 256]
    room: Wave

    @classmethod
    def over(cls, graph: Graph) -> Starts:
        """Return buffers for a grid of up to `MOST_STATES` cells."""
        n, room = len(graph), _room(graph)
        assert isinstance(room, Wave)
        return cls(np.empty(n), np.empty(n, np.uint16), _onward_by_all(graph.forbids_corner_cutting), room)


@kernel
def flood_starts(starts: Starts, graph: Moves, source: int) -> int:
    """Compute the distances and the first moves of optimal paths to each state; return the number of states expanded.

    Bit k of ``how`` is the source's k-th move; no bit is set for the source itself and for states without a path.

    Each state is reached along all canonical paths of least cost, and passes its first moves on along each. From the
    source's neighbours paths continue in all directions. So for each first move of an optimal path there is a canonical
    one: if the path was skipped because of a move p-s-t, then p-q-t costs as much and ends with a straight move, q is
    reached by a path with this first move, and straight moves on optimal paths are never skipped.
    """
    distance, how, room = starts.distance, starts.how, starts.room
    distance[:] = np.inf
    how[:] = 0
    distance[source] = 0.0
    legal, second = graph.mask[source], len(room.entry) // 3
    moves = int64(COUNT[legal])
    for k in range(moves):
        direction = int64(DIRECTION[legal, k])
        near = source + graph.offset[direction]
        distance[near], how[near] = PRICE[direction], 1 << k | ANYHOW
        room.entry[second + k], room.cost[second + k] = near, PRICE[direction]
    return _sweep(starts, graph, 0, moves, np.inf) + 1


@_expand.of(Starts)
def _expand_with_starts(found: Starts, graph: Moves, here: int, reached: float, number: int, ends: Ends) -> Ends:
    distance, how, state = found.distance, found.how, uint64(here)
    known = int64(how[state])
    first = known & 255
    onward = int64(ALL_MOVES[found.onward[uint64(known & ANYHOW | int64(graph.mask[state]))]])
    while onward != 0:
        direction = onward & 7
        onward >>= 4
        near, new = uint64(int64(state) + graph.offset[direction]), reached + PRICE[direction]
        least, arriving = distance[near], first | 256 << direction
        if new > least:
            continue
        if new == least:
            how[near] |= arriving
            continue
        distance[near], how[near] = new, arriving
        ends = _queue(found.room, int64(near), new, ends)
    return ends
