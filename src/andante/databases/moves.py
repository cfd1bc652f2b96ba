"""Compressed path databases: the first move of a shortest path for every pair of states.

Botea (2011), with the run-length encoding of Strasser, Harabor and Botea (2014). States are put in an order that keeps
neighbours together. Each state has a row, which lists all goals in that order as runs with the same first move: from
one state, whole districts of a map are reached by the same first move. If several first moves are optimal for a goal, a
run may use any of them, which makes runs longer. A row covers only the goals in its state's component. The largest
component is last in the order, so its rows extend to the end of the order.

Instead of a move, a run may have

- a *greedy move*, which depends on the goal: the move with the least cost plus heuristic (Chiari et al. 2019). Where
  the heuristic is exact, one such run covers goals in all directions;
- a *border* between two districts: goals on one side have one first move, goals on the other side another. Two states
  decide on which side a goal is: the corners at which shortest paths to either side turn last. The difference of the
  goal's heuristic distances from the two is compared with a limit. Borders between districts cross the order many
  times; stored as plain runs they would take most of a database.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import pick
from andante.databases.kinds import kind
from andante.kernel import generic, int64, kernel, prefetch, uint64
from andante.search.hillclimb import greedy_moves
from andante.search.memory import Space
from andante.world.graph import Graph
from andante.world.layout import Arrays, Csr, GridArrays, Layout, Moves, Sixteen, Terrain, degree, estimate, size, unit

BITS = 6  # of a word, for its code; the other bits are the place of a run's beginning, or the state of a corner
CODES = (1 << BITS) - 1
MOST_MOVES = 60  # of a state; codes from its number of moves up to here are borders
LONG = 60  # the greedy move, the most expensive of equal ones
SHORT = 61  # the greedy move, the least expensive of equal ones
NO_WAY = 62  # there is no path to these goals
BORDER = 3  # words per border: the corner and the code of each side, and the limit
MOST_STATES = 1 << (32 - BITS)

AHEAD = 3  # moves ahead for which a row is prefetched: one or two are too few to be in time, more are often wrong
ROW = 48  # words to prefetch of a row: most rows have fewer
LINE = 16  # words per cache line


def _fault(moves: FirstMoves, graph: Graph) -> str | None:
    if len(moves.rank) != len(graph) or not len(moves.first) or not all(array.ndim == 1 for array in moves):
        return f"it is not for a graph of {len(graph)} states"
    return None if _is_sound(moves, graph.arrays) else "its rows have moves that do not exist"


@kind("moves", "the first move of a shortest path for every pair of states, run-length compressed", _fault)
class FirstMoves(NamedTuple):
    """Rows of words: first the borders of a row, then its runs. A run is the place of its beginning, and a code."""

    rank: npt.NDArray[np.int32]  # [n], a state's place in the order, which is also its row; -1 if it has no neighbours
    first: npt.NDArray[np.int64]  # [rows + 1], the first word of a row; in the lowest bits the number of borders
    word: npt.NDArray[np.uint32]  # [words]; the limit of a border is a float32

    @property
    def records(self) -> int:
        """The number of runs in all rows."""
        return len(self.word) - BORDER * self._borders

    @property
    def entries(self) -> int:
        """The number of stored values: a place for each state, the runs, and two moves and two corners per border."""
        return len(self.rank) + self.records + 4 * self._borders

    @property
    def _borders(self) -> int:
        return int((self.first & CODES).sum())

    @classmethod
    def allocate(cls, space: Space) -> FirstMoves:
        """Return the arrays of the agent's database."""
        arrays: FirstMoves = pick(space.databases, "moves", space.graph, who=space.who).arrays
        return arrays


@kernel
def first_move(moves: FirstMoves, graph: Arrays, state: int, goal: int) -> int:
    """Return the first move of a shortest path, as its index among the moves of ``state``; -1 if there is no path."""
    row, place = int64(moves.rank[state]), int64(moves.rank[goal])
    if row < 0 or place < 0:
        return -1
    word, head = moves.word, uint64(moves.first[row])
    begin = head >> uint64(BITS)
    low = begin + uint64(BORDER) * (head & uint64(CODES))
    left = (uint64(moves.first[row + 1]) >> uint64(BITS)) - low
    last = place << BITS | CODES  # runs that begin after the goal are greater than this
    if left == 0 or int64(word[low]) > last:
        return -1
    while left > 1:
        half = left >> uint64(1)
        low += half if int64(word[low + half]) <= last else uint64(0)
        left -= half
    code, known = int64(word[low]) & CODES, degree(graph, state)
    if known <= code < LONG:
        which = begin + uint64(BORDER * (code - known))
        one, other = int64(word[which]), int64(word[which + uint64(1)])
        limit = np.float64(np.uint32(word[which + uint64(2)]).view(np.float32))
        code = (one if is_nearer(graph, one >> BITS, other >> BITS, limit, goal) else other) & CODES
    if code < LONG:
        return code
    if code == NO_WAY:
        return -1
    longest, shortest = greedy_moves(graph, state, goal)
    return longest if code == LONG else shortest


@kernel
def expect(moves: FirstMoves, graph: Arrays, state: int, to: int) -> None:
    """Prefetch the row of the state reached by continuing in the direction of the move from ``state`` to ``to``.

    A database is larger than the caches, and reading a row from memory takes longer than all other work of a move.
    Paths are mostly straight, so for most moves the row is in the cache in time.
    """
    row = int64(moves.rank[max(beyond(graph, state, to), 0)])
    begin = moves.first[max(row, 0)] >> BITS
    for line in range(0, ROW, LINE):
        prefetch(moves.word, begin + line)


@generic
def beyond(graph: Layout, state: int, to: int) -> int:
    """Return the state `AHEAD` more moves in the same direction; -1 if moves have no direction."""
    raise TypeError(graph)


@beyond.of(Moves, Terrain, Sixteen)
def _beyond_on_a_grid(graph: GridArrays | Sixteen, state: int, to: int) -> int:
    ahead = to + AHEAD * (to - state)
    return ahead if ahead < size(graph) else -1


@beyond.of(Csr)
def _beyond_on_a_graph(graph: Csr, state: int, to: int) -> int:
    return -1


@kernel
def is_nearer(graph: Arrays, one: int, other: int, limit: float, goal: int) -> bool:
    """Return whether the goal is at most ``limit`` units farther from ``one`` than from ``other``, by the heuristic."""
    return estimate(graph, one, goal) - estimate(graph, other, goal) <= limit * unit(graph)


@kernel
def _is_sound(moves: FirstMoves, graph: Arrays) -> bool:
    """Return whether each row is within the words and has only codes that are valid for its state."""
    rows = len(moves.first) - 1
    for row in range(rows):
        begin, end = moves.first[row] >> BITS, moves.first[row + 1] >> BITS
        if not 0 <= begin <= begin + BORDER * (moves.first[row] & CODES) <= end <= len(moves.word):
            return False
    for state in range(size(graph)):
        row = int64(moves.rank[state])
        if row >= rows:
            return False
        if row >= 0 and not _is_row_sound(moves, graph, state, row):
            return False
    return True


@kernel
def _is_row_sound(moves: FirstMoves, graph: Arrays, state: int, row: int) -> bool:
    known, borders = degree(graph, state), moves.first[row] & CODES
    begin, end = moves.first[row] >> BITS, moves.first[row + 1] >> BITS
    for which in range(begin, begin + BORDER * borders, BORDER):
        for side in range(2):
            corner = int64(moves.word[which + side])
            if corner >> BITS >= size(graph) or not _is_move(corner & CODES, known):
                return False
        if not np.isfinite(np.uint32(moves.word[which + 2]).view(np.float32)):
            return False
    for k in range(begin + BORDER * borders, end):
        code = int64(moves.word[k]) & CODES
        if code != NO_WAY and not _is_move(code, known) and not known <= code < min(known + borders, LONG):
            return False
    return True


@kernel
def _is_move(code: int, known: int) -> bool:
    """Return whether a code is a move, fixed or greedy, of a state with ``known`` moves."""
    return code < known or (known > 0 and code in (LONG, SHORT))
