"""Building of compressed path databases: one search per state, whose first moves are run-length encoded.

A search finds the *set* of first moves of shortest paths to every state, so that a run can continue as long as its
states have a move in common. On grids the sets are computed together with the distances
(`search.firstmoves.flood_starts`), because costs on grids are exact, so that equal costs compare equal. Other graphs
are searched with a heap. The greedy moves are added to the set of a goal if they are in it. Where a run ends, the
builder tries a border between the goals on both sides (for both, see `databases.moves`). Greedy moves and borders are
checked for each goal with the kernels that look them up, so their correctness needs no proof.

States with points in the plane are ordered along a Hilbert curve. On WarCraft III maps of 512 x 512 cells a row
of plain moves has 55 to 100 runs in that order, 96 to 137 in depth-first preorder, and 440 to 515 row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.moves import (
    BITS,
    BORDER,
    CODES,
    LONG,
    MOST_MOVES,
    MOST_STATES,
    NO_WAY,
    FirstMoves,
    is_nearer,
)
from andante.errors import DatabaseError
from andante.kernel import generic, int64, kernel, uint64
from andante.offline.builder import Crew, Making, builder
from andante.offline.places import along_hilbert
from andante.search import heap
from andante.search.dijkstra import is_optimal
from andante.search.firstmoves import Starts, flood_starts
from andante.search.heap import Heap
from andante.search.hillclimb import greedy_moves
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, Csr, GridArrays, Moves, degree, estimate, price, size, target, unit

ROWS = 64  # rows that a thread makes at a time
WORTH_A_BORDER = BORDER + 2  # runs that a border must replace to save space
LOOK_BACK = 64  # places to look back from the end of a run for a goal on the near side of the border


class Params(NamedTuple):
    """There are no parameters."""


class Inputs(NamedTuple):
    """The inputs from which rows are made."""

    graph: Arrays
    back: Arrays  # the graph with every arc reversed
    placed: Arrays  # the graph with states numbered by place; of a grid only the parts for heuristics and legal moves
    order: npt.NDArray[np.int32]  # [places]
    span: npt.NDArray[np.int32]  # [places, 2], the bounds of each state's component in the order
    rank: npt.NDArray[np.int32]  # [n]
    top: int  # the lower bits of a set are moves; from this bit on: the long greedy move, the short one, no path


class Tree(NamedTuple):
    """A search over any graph, with a heap."""

    distance: npt.NDArray[np.float64]  # [n]
    begin: npt.NDArray[np.int64]  # [n], the set of first moves
    open: Heap


class Room(NamedTuple):
    """The buffers of one thread: a search, one row, and the rows that it has made."""

    search: Starts | Tree
    allowed: npt.NDArray[np.integer[Any]]  # [places], the set of correct codes
    run: npt.NDArray[np.uint32]  # [places + 1]
    word: npt.NDArray[np.uint32]  # [rows at a time * most words of a row]
    words: npt.NDArray[np.int64]  # [rows at a time], the number of words, and in the lowest bits of borders


@builder("moves", Params, all_pairs=True)
def make(graph: Graph, params: Params, crew: Crew) -> Making[FirstMoves]:
    """Return the first moves between all states of ``graph``."""
    if graph.max_degree > MOST_MOVES or len(graph) > MOST_STATES:
        raise DatabaseError(
            f"a database of kind 'moves' is for graphs of up to {MOST_STATES} states with up to {MOST_MOVES} moves "
            f"each; this one has {len(graph)}, and one of them has {graph.max_degree}"
        )
    order, span = _order(graph)
    rank = np.full(len(graph), -1, np.int32)
    rank[order] = np.arange(len(order))
    placed = _placed(graph, order, rank)
    top = 8 if isinstance(graph.arrays, GridArrays) else MOST_MOVES
    inputs = Inputs(graph.arrays, graph.reversed().arrays, placed, order, span, rank, top)

    def rows(room: Room, part: range) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        used = _make_rows(room, inputs, np.arange(part.start, part.stop))
        return room.word[:used].copy(), room.words[: len(part)].copy()

    rooms = [_room(graph, order) for _ in range(crew.threads)]
    made = yield from crew.each(rows, crew.parts(len(order), ROWS), rooms, "finding first moves")
    words = np.concatenate([np.empty(0, np.int64), *(words for _, words in made)])
    first = np.zeros(len(order) + 1, np.int64)
    np.cumsum(words >> BITS, out=first[1:])
    first <<= BITS
    first[:-1] |= words & CODES
    return FirstMoves(rank, first, np.concatenate([np.empty(0, np.uint32), *(row for row, _ in made)]))


def _room(graph: Graph, order: npt.NDArray[np.int32]) -> Room:
    n, places = len(graph), len(order)
    search: Starts | Tree
    allowed: npt.NDArray[np.integer[Any]]
    if isinstance(graph.arrays, Moves):
        search, allowed = Starts.over(graph), np.empty(places, np.uint16)
    else:
        search, allowed = Tree(np.empty(n), np.empty(n, np.int64), Heap.over(n, n)), np.empty(places, np.int64)
    word = np.empty(ROWS * (places + 1 + BORDER * LONG), np.uint32)
    return Room(search, allowed, np.empty(places + 1, np.uint32), word, np.empty(ROWS, np.int64))


def _placed(graph: Graph, order: npt.NDArray[np.int32], rank: npt.NDArray[np.int32]) -> Arrays:
    """Return the graph with states numbered by their place in the order, so that near states are near in memory.

    Where cells have costs, the cost of a move depends on neighbouring cells, whose places differ; so the result is in
    rows.
    """
    moves = graph.arrays
    if isinstance(moves, Moves):
        return moves._replace(mask=moves.mask[order], x=moves.x[order], y=moves.y[order])
    arrays = graph.csr().arrays
    assert isinstance(arrays, Csr)
    arcs = np.diff(arrays.first)[order]
    first = np.concatenate([[0], np.cumsum(arcs)])
    taken = np.repeat(arrays.first[:-1][order] - first[:-1], arcs) + np.arange(first[-1])
    return arrays._replace(
        first=first, neighbour=rank[arrays.neighbour[taken]], cost=arrays.cost[taken], point=arrays.point[order]
    )


# --- the order of states --------------------------------------------------------------------------------------------


def _order(graph: Graph) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the states with neighbours, by component, largest last; and the bounds of each one's component, [n, 2]."""
    label = graph.components
    sizes = np.bincount(label, minlength=1)
    states = np.flatnonzero(sizes[label] > 1)
    place = along_hilbert(graph.points) if graph.dimensions == 2 else _preorder(graph)
    states = states[np.lexsort((place[states], label[states], sizes[label[states]]))]
    ends = np.flatnonzero(np.diff(label[states], append=-1)) + 1
    begins = np.concatenate([[0], ends])[:-1]
    span = np.repeat(np.stack([begins, ends], 1), ends - begins, axis=0)
    return states.astype(np.int32), span.astype(np.int32)


def _preorder(graph: Graph) -> npt.NDArray[np.int64]:
    """Return the number of each state in depth-first preorder."""
    met = np.full(len(graph), -1, np.int64)
    _search_depth_first(graph.arrays, met, np.empty(len(graph), np.int64), np.zeros(len(graph), np.int64))
    return met


@kernel
def _search_depth_first(
    graph: Arrays, met: npt.NDArray[np.int64], stack: npt.NDArray[np.int64], tried: npt.NDArray[np.int64]
) -> None:
    """Number all states in preorder; all arrays are int64[n], ``met`` initially -1, ``tried`` 0."""
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
def _make_rows(room: Room, inputs: Inputs, part: npt.NDArray[np.int64]) -> int:
    """Make the rows of the states at these places, and return their number of words."""
    used = 0
    for i in range(len(part)):
        begin, end = int64(inputs.span[part[i], 0]), int64(inputs.span[part[i], 1])
        spread_sets(room.search, inputs.graph, int64(inputs.order[part[i]]))
        _allow(room, inputs, begin, end, part[i])
        runs, borders = _compress(room, inputs, begin, end, part[i], used)
        if end < len(inputs.order):
            room.run[runs] = end << BITS | NO_WAY
            runs += 1
        before, used = used, used + BORDER * borders
        for k in range(runs):
            room.word[used + k] = room.run[k]
        used += runs
        room.words[i] = used - before << BITS | borders
    return used


@kernel
def _allow(room: Room, inputs: Inputs, begin: int, end: int, source: int) -> None:
    """Find the correct codes for each goal: its first moves, and the greedy moves if they are among them."""
    allowed, order, top = room.allowed, inputs.order, inputs.top
    for place in range(uint64(begin), uint64(end)):
        moves = first_set(room.search, uint64(order[place]))
        longest, shortest = greedy_moves(inputs.placed, source, place)
        greedy = (moves >> longest & 1) | (moves >> shortest & 1) << 1
        allowed[place] = moves | greedy << top if moves != 0 else 4 << top
    allowed[source] = (8 << top) - 1  # at the goal itself any code is correct


@kernel
def _compress(room: Room, inputs: Inputs, begin: int, end: int, source: int, used: int) -> tuple[int, int]:
    """Write the runs of one row, and its borders after the first ``used`` words; return the numbers of both.

    A run continues as long as its goals have a code in common, which gives the fewest runs. Where one ends, the border
    between the goals on both sides of that place is tried from the beginning of the run, and used if it saves enough
    runs.
    """
    allowed, word, top = room.allowed, room.word, inputs.top
    known, runs, borders, place = degree(inputs.placed, source), 0, 0, begin
    while place < end:
        common, stop = int64(allowed[place]), uint64(place + 1)
        while stop < end and common & int64(allowed[stop]) != 0:
            common &= int64(allowed[stop])
            stop += uint64(1)
        code, beyond = _code(common, top), int64(stop)
        if beyond < end and known + borders < LONG:
            found = _border(room, inputs, source, place, beyond, end)
            if found.runs >= WORTH_A_BORDER:
                at = used + BORDER * borders
                word[at] = int64(inputs.order[found.one]) << BITS | _code(found.here, top)
                word[at + 1] = int64(inputs.order[found.other]) << BITS | _code(found.there, top)
                word[at + 2] = np.float32(found.limit).view(np.uint32)
                code, beyond = known + borders, found.stop
                borders += 1
        room.run[runs] = place << BITS | code
        runs, place = runs + 1, beyond
    return runs, borders


@kernel
def _code(common: int, top: int) -> int:
    """Return the first code of a set; a move if it contains one."""
    bit = 0
    while common >> bit & 1 == 0:
        bit += 1
    return bit if bit < top else bit - top + LONG


# --- borders --------------------------------------------------------------------------------------------------------


class Border(NamedTuple):
    """A border, and the range in which it is correct."""

    one: int  # the place of the corner of the goals on this side
    other: int
    limit: float
    here: int  # the set of codes common to all goals on this side
    there: int
    stop: int  # the place of the first goal for which it is not correct
    runs: int  # the number of runs that it replaces


@kernel
def _border(room: Room, inputs: Inputs, source: int, begin: int, change: int, end: int) -> Border:
    """Return the border between the goals before and after ``change``, where a run that began at ``begin`` ends."""
    allowed, placed, no_path = room.allowed, inputs.placed, 4 << inputs.top
    beyond, before = int64(allowed[change]), change - 1
    while before > begin and change - before < LOOK_BACK and int64(allowed[before]) & beyond != 0:
        before -= 1
    if int64(allowed[before]) & beyond != 0 or (int64(allowed[before]) | beyond) & no_path != 0:
        return Border(0, 0, 0.0, 0, 0, begin, 0)
    one, other = (
        _corner(room.search.distance, inputs, source, before),
        _corner(room.search.distance, inputs, source, change),
    )
    farther = room.search.distance[inputs.order[other]] - room.search.distance[inputs.order[one]]
    limit = np.float64(np.float32(farther / unit(placed)))  # the value that will be stored
    here = there = no_path - 1
    common, runs, stop = 0, 0, uint64(begin)
    while stop < end:
        codes = int64(allowed[stop])
        if is_nearer(placed, one, other, limit, stop):
            if here & codes == 0:
                break
            here &= codes
        else:
            if there & codes == 0:
                break
            there &= codes
        common &= codes
        if common == 0:
            runs, common = runs + 1, codes
        stop += uint64(1)
    return Border(one, other, limit, here, there, int64(stop), runs)


@kernel
def _corner(distance: npt.NDArray[np.float64], inputs: Inputs, source: int, place: int) -> int:
    """Return the place of the last corner of an optimal path: its first state from which the heuristic is exact."""
    goal, root, back = int64(inputs.order[place]), int64(inputs.order[source]), inputs.back
    state, least = goal, distance[goal] - TOLERANCE * unit(back)
    while state != root:
        before = -1
        for k in range(degree(back, state)):
            near = target(back, state, k)
            if is_optimal(back, distance, state, near, price(back, state, k)):
                before = near
                break
        if before < 0 or distance[before] + estimate(inputs.graph, before, goal) < least:
            break
        state = before
    return int64(inputs.rank[state])


# --- searches -------------------------------------------------------------------------------------------------------


@generic
def spread_sets(search: Starts | Tree, graph: Arrays, source: int) -> None:
    """Compute the distance from ``source`` to each state, and the set of first moves."""
    raise TypeError(search)


@generic
def first_set(search: Starts | Tree, state: int) -> int:
    """Return the set of first moves of shortest paths to a state; 0 if there is no path."""
    raise TypeError(search)


@spread_sets.of(Starts)
def _spread_starts(search: Starts, graph: Moves, source: int) -> None:
    flood_starts(search, graph, source)


@first_set.of(Starts)
def _first_set_of_starts(search: Starts, state: int) -> int:
    return int64(search.how[state]) & 255


@first_set.of(Tree)
def _first_set_of_tree(search: Tree, state: int) -> int:
    return int64(search.begin[state])


@spread_sets.of(Tree)
def _spread_tree(search: Tree, graph: Csr, source: int) -> None:
    distance, begin = search.distance, search.begin
    distance[:] = np.inf
    begin[:] = 0
    distance[source] = 0.0
    heap.push(search.open, source, 0.0, 0.0)
    while heap.size(search.open) > 0:
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
