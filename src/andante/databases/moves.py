"""Compressed path databases: for every pair of states the first move of a shortest path, looked up in one row.

Botea (2011), with the run lengths of Strasser, Harabor and Botea (2014). States stand in an order that keeps near ones
together. A row belongs to the state the agent is in. It runs over all goals in that order, and says where the first
move to make changes: seen from one state, whole districts of a map begin with the same move. Where several first moves
are optimal a run is free to take any of them, which makes it longer. A row holds the goals of its state's component
only; the largest component stands last in the order, so that its rows end where the order ends.

Instead of a move a run may name

- a *greedy move*, which depends on the goal: the move of least cost plus heuristic (Chiari et al. 2019). Where the
  heuristic is right, one such run covers goals in all directions;
- a *border* between two districts: goals on one side of it begin with one move, those on the other side with another.
  Which side a goal lies on is told by two states, the corners that shortest paths to either side turn at last: how
  much farther the goal is from the one than from the other, by the heuristic, is compared with a limit. Borders
  between districts cross the order again and again. Written down as runs they take most of a database.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import kind, pick
from andante.kernel import generic, int64, kernel, prefetch, uint64
from andante.search.hillclimb import greedy_moves
from andante.search.memory import Space
from andante.world.graph import Arrays, Csr, Graph, Layout, Moves, degree, estimate, size, unit

BITS = 6  # of a word, for its code; the others say where a run begins, or which state a corner is
CODES = (1 << BITS) - 1
MOST_MOVES = 60  # that a state may have: these codes are moves, and those that its state does not have are borders
LONG = 60  # the greedy move, of equal ones the most expensive
SHORT = 61  # the greedy move, of equal ones the least expensive
NO_WAY = 62  # to these goals no path leads
BORDER = 3  # words that a border takes: the corner and the code of either side, and the limit
MOST_STATES = 1 << (32 - BITS)

AHEAD = 3  # moves ahead for which a row is asked for: one or two are too late, more are often wrong
ROW = 48  # words of a row to ask for: most have fewer
LINE = 16  # words of a line of the cache


def _fault(moves: FirstMoves, graph: Graph) -> str | None:
    if len(moves.rank) != len(graph) or not len(moves.first) or not all(array.ndim == 1 for array in moves):
        return f"it is not for a graph of {len(graph)} states"
    return None if _is_sound(moves, graph.arrays) else "its rows hold moves that do not exist"


@kind("moves", "the first move of a shortest path for every pair of states, run-length compressed", _fault)
class FirstMoves(NamedTuple):
    """Rows of words: the borders of a row, then its runs, each the place in the order where it begins, and a code."""

    rank: npt.NDArray[np.int32]  # [n], a state's place in the order, and its row; -1 if it has no neighbours at all
    first: npt.NDArray[np.int64]  # [rows + 1], where the words of a row begin; in the lowest bits how many borders
    word: npt.NDArray[np.uint32]  # [words]; the limit of a border is a float32

    @property
    def records(self) -> int:
        """The runs of all rows."""
        return len(self.word) - BORDER * self._borders

    @property
    def entries(self) -> int:
        """A place in the order for each state, the runs, and for each border two moves and two corners."""
        return len(self.rank) + self.records + 4 * self._borders

    @property
    def _borders(self) -> int:
        return int((self.first & CODES).sum())

    @classmethod
    def allocate(cls, space: Space) -> FirstMoves:
        """The arrays of the database that the agent was given."""
        arrays: FirstMoves = pick(space.databases, "moves", space.graph, who=space.who).arrays
        return arrays


@kernel
def first_move(moves: FirstMoves, graph: Arrays, state: int, goal: int) -> int:
    """The first move of a shortest path, as its place among the moves of ``state``; -1 if no path leads there."""
    row, place = int64(moves.rank[state]), int64(moves.rank[goal])
    if row < 0 or place < 0:
        return -1
    word, head = moves.word, uint64(moves.first[row])
    begin = head >> uint64(BITS)
    low = begin + uint64(BORDER) * (head & uint64(CODES))
    left = (uint64(moves.first[row + 1]) >> uint64(BITS)) - low
    last = place << BITS | CODES  # no run that begins beyond the goal is less than or equal to this
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
    """Ask for the row of the state that is reached by going on like the move from ``state`` to ``to``.

    A database is larger than the caches, and a row that has to come from memory takes longer than all the rest of a
    move. Paths are straight for most of their length, so the row is there in time for most moves.
    """
    row = int64(moves.rank[max(beyond(graph, state, to), 0)])
    begin = moves.first[max(row, 0)] >> BITS
    for line in range(0, ROW, LINE):
        prefetch(moves.word, begin + line)


@generic
def beyond(graph: Layout, state: int, to: int) -> int:
    """Where `AHEAD` more moves like the one from ``state`` to ``to`` lead; -1 where moves have no direction."""
    raise TypeError(graph)


@beyond.of(Moves)
def _beyond_on_a_grid(graph: Moves, state: int, to: int) -> int:
    ahead = to + AHEAD * (to - state)
    return ahead if ahead < size(graph) else -1


@beyond.of(Csr)
def _beyond_on_a_graph(graph: Csr, state: int, to: int) -> int:
    return -1


@kernel
def is_nearer(graph: Arrays, one: int, other: int, limit: float, goal: int) -> bool:
    """Is the goal, by the heuristic, at most ``limit`` units of the graph farther from the one state than the other?"""
    return estimate(graph, one, goal) - estimate(graph, other, goal) <= limit * unit(graph)


@kernel
def _is_sound(moves: FirstMoves, graph: Arrays) -> bool:
    """Does each row lie within the words, and name only moves that its state has, or can compute?"""
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
    """Does a code stand for a move of a state that has so many?"""
    return code < known or (known > 0 and code in (LONG, SHORT))
