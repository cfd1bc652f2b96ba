"""Build a compressed path database: one shortest-path search per state, its first moves run-length compressed.

A search finds for every state the *set* of first moves with which a shortest path to it begins, so that a run can go on
as long as its states have one in common. On grids it is a distance field and a second pass over it (`search.dijkstra`);
costs there are exact, and equal ones are equal. Other graphs are searched with a heap.

The order of states is that of a Hilbert curve where they have a place in the plane. It was chosen by measurement: on
WarCraft III maps of 512 x 512 cells a row has 55 to 100 runs in that order, 96 to 137 in depth-first preorder, and 440
to 515 row by row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.moves import BITS, MOST_MOVES, MOST_STATES, NO_WAY, FirstMoves
from andante.errors import DatabaseError
from andante.kernel import generic, int64, kernel
from andante.offline.builder import Crew, builder
from andante.search import heap
from andante.search.dijkstra import Field, first_moves, flood
from andante.search.heap import Heap
from andante.world.graph import Arrays, Csr, Graph, Moves, degree, price, size, target

CURVE_BITS = 16  # of a coordinate on the Hilbert curve
ROWS = 64  # that a thread makes at a time
ANY = (1 << 63) - 1  # the set of all moves, and of no way
UNREACHED = 1 << 62  # the set that stands for no way


class Params(NamedTuple):
    """Nothing is left to choose."""


class Wave(NamedTuple):
    """A search over a grid: distances, then first moves."""

    field: Field
    begin: npt.NDArray[np.uint8]  # [n], the set of first moves


class Tree(NamedTuple):
    """A search over any graph, with a heap."""

    distance: npt.NDArray[np.float64]  # [n]
    begin: npt.NDArray[np.int64]  # [n], the set of first moves
    open: Heap


class Room(NamedTuple):
    """What one thread needs: a search, and the runs that it has made."""

    search: Wave | Tree
    run: npt.NDArray[np.uint32]  # [rows at a time * most runs in a row]
    length: npt.NDArray[np.int64]  # [rows at a time]


@builder("moves", Params)
def make(graph: Graph, params: Params, crew: Crew) -> FirstMoves:
    """The first moves between all states of ``graph``."""
    if graph.max_degree > MOST_MOVES or len(graph) > MOST_STATES:
        raise DatabaseError(
            f"a database of kind 'moves' is for graphs of up to {MOST_STATES} states with up to {MOST_MOVES} moves "
            f"each; this one has {len(graph)}, and one of them has {graph.max_degree}"
        )
    order, span = _order(graph)
    rank = np.full(len(graph), -1, np.int32)
    rank[order] = np.arange(len(order))

    def rows(room: Room, part: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        used = _rows(room, graph.arrays, order, span, part)
        return room.run[:used].copy(), room.length[: len(part)].copy()

    parts = np.array_split(np.arange(len(order)), -(-len(order) // ROWS)) if len(order) else []
    rooms = [_room(graph, order) for _ in range(crew.threads)]
    made = crew.each(rows, parts, rooms, "finding first moves")
    first = np.zeros(len(order) + 1, np.int64)
    if made:
        np.cumsum(np.concatenate([lengths for _, lengths in made]), out=first[1:])
    run = np.empty(first[-1], np.uint32)
    if made:
        np.concatenate([runs for runs, _ in made], out=run)
    return FirstMoves(rank, first, run)


def _room(graph: Graph, order: npt.NDArray[np.int32]) -> Room:
    n = len(graph)
    search: Wave | Tree
    if isinstance(graph.arrays, Moves):
        search = Wave(Field.over(graph), np.empty(n, np.uint8))
    else:
        search = Tree(np.empty(n), np.empty(n, np.int64), Heap.over(n, n))
    return Room(search, np.empty(ROWS * (len(order) + 1), np.uint32), np.empty(ROWS, np.int64))


# --- the order of states --------------------------------------------------------------------------------------------


def _order(graph: Graph) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """States that have neighbours, component by component, the largest last; and where each one's own lies, [n, 2]."""
    label = graph.components
    sizes = np.bincount(label, minlength=1)
    states = np.flatnonzero(sizes[label] > 1)
    place = _curve(graph) if _is_plane(graph) else _preorder(graph)
    states = states[np.lexsort((place[states], label[states], sizes[label[states]]))]
    ends = np.flatnonzero(np.diff(label[states], append=-1)) + 1
    begins = np.concatenate([[0], ends])[:-1]
    span = np.repeat(np.stack([begins, ends], 1), ends - begins, axis=0)
    return states.astype(np.int32), span.astype(np.int32)


def _is_plane(graph: Graph) -> bool:
    return isinstance(graph.arrays, Moves) or graph.arrays.point.shape[1] == 2


def _curve(graph: Graph) -> npt.NDArray[np.int64]:
    """How far along a Hilbert curve each state lies."""
    arrays = graph.arrays
    point = np.stack([arrays.x, arrays.y], 1) if isinstance(arrays, Moves) else arrays.point
    point = point.astype(np.float64) - point.min(axis=0, initial=0)
    extent = max(float(point.max(initial=0.0)), 1e-300)
    grain = 2.0 ** np.floor(np.log2((2**CURVE_BITS - 1) / extent))  # of whole coordinates it keeps the order
    x, y = (point * grain).astype(np.int64).T
    along = np.zeros(len(point), np.int64)
    for bit in range(CURVE_BITS - 1, -1, -1):
        right, low = x >> bit & 1, y >> bit & 1
        along += (3 * right ^ low) << 2 * bit
        mask = (1 << bit) - 1
        x, y = x & mask, y & mask
        turned = (low == 0) & (right == 1)
        x, y = np.where(turned, mask - x, x), np.where(turned, mask - y, y)
        x, y = np.where(low == 0, y, x), np.where(low == 0, x, y)
    return along


def _preorder(graph: Graph) -> npt.NDArray[np.int64]:
    """When a depth-first search meets each state."""
    met = np.full(len(graph), -1, np.int64)
    _search_depth_first(graph.arrays, met, np.empty(len(graph), np.int64), np.zeros(len(graph), np.int64))
    return met


@kernel
def _search_depth_first(
    graph: Arrays, met: npt.NDArray[np.int64], stack: npt.NDArray[np.int64], tried: npt.NDArray[np.int64]
) -> None:
    """Number the states from each that is not yet numbered; all arrays int64[n], ``met`` at first -1, ``tried`` 0."""
    count = 0
    for root in range(size(graph)):
        if met[root] >= 0:
            continue
        stack[0], depth = root, 1
        met[root], count = count, count + 1
        while depth > 0:
            state = stack[depth - 1]
            k = tried[state]
            if k == degree(graph, state):
                depth -= 1
                continue
            tried[state] = k + 1
            near = target(graph, state, k)
            if met[near] < 0:
                stack[depth], depth = near, depth + 1
                met[near], count = count, count + 1


# --- rows -----------------------------------------------------------------------------------------------------------


@kernel
def _rows(
    room: Room,
    graph: Arrays,
    order: npt.NDArray[np.int32],
    span: npt.NDArray[np.int32],
    part: npt.NDArray[np.int64],
) -> int:
    """Make the rows of the states at these places in the order: how many runs they have."""
    used = 0
    for i in range(len(part)):
        source = int64(order[part[i]])
        spread_sets(room.search, graph, source)
        before = used
        used = _compress(room, order, int64(span[part[i], 0]), int64(span[part[i], 1]), source, used)
        room.length[i] = used - before
    return used


@kernel
def _compress(room: Room, order: npt.NDArray[np.int32], begin: int, end: int, source: int, used: int) -> int:
    """Write the runs of one row: as long as the states of a run have a first move in common, it goes on."""
    common = 0
    for place in range(begin, end):
        goal = int64(order[place])
        moves = ANY if goal == source else _set(room.search, goal)
        if common & moves != 0:
            common &= moves
            continue
        if place > begin:
            room.run[used] |= _code(common)
            used += 1
        room.run[used] = place << BITS
        common = moves
    room.run[used] |= _code(common)
    used += 1
    if end < len(order):
        room.run[used] = end << BITS | NO_WAY
        used += 1
    return used


@kernel
def _set(search: Wave | Tree, state: int) -> int:
    """The first moves of shortest paths to a state."""
    moves = int64(search.begin[state])
    return moves if moves != 0 else UNREACHED


@kernel
def _code(common: int) -> int:
    """The first move of a set, as a run holds it."""
    if common == UNREACHED:
        return NO_WAY
    move = 0
    while common >> move & 1 == 0:
        move += 1
    return move


# --- searches -------------------------------------------------------------------------------------------------------


@generic
def spread_sets(search: Wave | Tree, graph: Arrays, source: int) -> None:
    """Fill ``search.begin`` with the set of first moves from ``source`` to each state, 0 where no way leads."""
    raise TypeError(search)


@spread_sets.of(Wave)
def _spread_wave(search: Wave, graph: Moves, source: int) -> None:
    field = search.field
    reached = flood(field, graph, source)
    first_moves(search.begin, graph, field.distance, field.order, reached)


@spread_sets.of(Tree)
def _spread_tree(search: Tree, graph: Csr, source: int) -> None:
    distance, begin = search.distance, search.begin
    distance[:] = np.inf
    begin[:] = 0
    distance[source] = 0.0
    heap.push(search.open, source, 0.0, 0.0)
    while search.open.size[0] > 0:
        state = heap.pop(search.open)
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            new = distance[state] + price(graph, state, k)
            moves = 1 << k if state == source else begin[state]
            if new < distance[near]:
                distance[near] = new
                begin[near] = moves
                heap.push(search.open, near, new, 0.0)
            elif new == distance[near] and near != source:
                begin[near] |= moves
