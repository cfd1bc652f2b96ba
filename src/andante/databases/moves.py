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
from andante.kernel import int64, kernel
from andante.search.hillclimb import greedy_moves
from andante.search.memory import Space
from andante.world.graph import Arrays, Graph, degree, estimate, size, unit

BITS = 6  # of a run, for its code; the others say where it begins. A corner of a border is written the same way
CODES = (1 << BITS) - 1
MOST_MOVES = 60  # that a state may have: these codes are moves, and those that its state does not have are borders
LONG = 60  # the greedy move, of equal ones the most expensive
SHORT = 61  # the greedy move, of equal ones the least expensive
NO_WAY = 62  # to these goals no path leads
MOST_STATES = 1 << (32 - BITS)


def _fault(moves: FirstMoves, graph: Graph) -> str | None:
    flat = all(array.ndim == 1 for array in moves if array is not moves.border)
    if not flat or len(moves.rank) != len(graph) or len(moves.first) < 1:
        return f"it is not for a graph of {len(graph)} states"
    if moves.border.ndim != 2 or moves.border.shape != (len(moves.limit), 2) or len(moves.aside) != len(moves.first):
        return "its borders are incomplete"
    return None if _is_sound(moves, graph.arrays) else "its rows hold moves that do not exist"


@kind("moves", "the first move of a shortest path for every pair of states, run-length compressed", _fault)
class FirstMoves(NamedTuple):
    """Rows of runs; a run is the place in the order where it begins, and its code in the lowest bits."""

    rank: npt.NDArray[np.int32]  # [n], a state's place in the order, and its row; -1 if it has no neighbours at all
    first: npt.NDArray[np.int64]  # [rows + 1], of a row's runs
    run: npt.NDArray[np.uint32]  # [runs]
    aside: npt.NDArray[np.int32]  # [rows + 1], the first of a row's borders
    border: npt.NDArray[np.uint32]  # [borders, 2], the corner of each side, and its code in the lowest bits
    limit: npt.NDArray[np.float32]  # [borders], in units of the graph

    @property
    def records(self) -> int:
        """The runs of all rows."""
        return len(self.run)

    @property
    def entries(self) -> int:
        """A place in the order for each state, the runs, and two moves and two corners for each border."""
        return len(self.rank) + len(self.run) + 2 * self.border.size

    @classmethod
    def allocate(cls, space: Space) -> FirstMoves:
        """The arrays of the database that the agent was given."""
        arrays: FirstMoves = pick(space.databases, "moves", space.graph).arrays
        return arrays


@kernel
def first_move(moves: FirstMoves, graph: Arrays, state: int, goal: int) -> int:
    """The first move of a shortest path, as its place among the moves of ``state``; -1 if no path leads there."""
    row, place = int64(moves.rank[state]), int64(moves.rank[goal])
    if row < 0 or place < 0:
        return -1
    low = moves.first[row]
    left = moves.first[row + 1] - low
    last = place << BITS | CODES  # no run that begins beyond the goal is less than or equal to this
    if left == 0 or int64(moves.run[low]) > last:
        return -1
    while left > 1:
        half = left >> 1
        low += half if int64(moves.run[low + half]) <= last else 0
        left -= half
    code, known = int64(moves.run[low]) & CODES, degree(graph, state)
    if known <= code < LONG:
        which = int64(moves.aside[row]) + code - known
        one, other = int64(moves.border[which, 0]), int64(moves.border[which, 1])
        nearer = is_nearer(graph, one >> BITS, other >> BITS, np.float64(moves.limit[which]), goal)
        code = (one if nearer else other) & CODES
    if code < LONG:
        return code
    if code == NO_WAY:
        return -1
    longest, shortest = greedy_moves(graph, state, goal)
    return longest if code == LONG else shortest


@kernel
def is_nearer(graph: Arrays, one: int, other: int, limit: float, goal: int) -> bool:
    """Is the goal, by the heuristic, at most ``limit`` units of the graph farther from the one state than the other?"""
    return estimate(graph, one, goal) - estimate(graph, other, goal) <= limit * unit(graph)


@kernel
def _is_sound(moves: FirstMoves, graph: Arrays) -> bool:
    """Does each row lie within the runs and the borders, and name only moves that its state has, or can compute?"""
    rows = len(moves.first) - 1
    for row in range(rows):
        if not 0 <= moves.first[row] <= moves.first[row + 1] <= len(moves.run):
            return False
        if not 0 <= moves.aside[row] <= moves.aside[row + 1] <= len(moves.limit):
            return False
    for which in range(len(moves.limit)):
        if not np.isfinite(moves.limit[which]):
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
    known = degree(graph, state)
    begin, end = int64(moves.aside[row]), int64(moves.aside[row + 1])
    for k in range(moves.first[row], moves.first[row + 1]):
        code = int64(moves.run[k]) & CODES
        if code != NO_WAY and not _is_move(code, known) and not known <= code < min(known + end - begin, LONG):
            return False
    for which in range(begin, end):
        for side in range(2):
            corner = int64(moves.border[which, side])
            if corner >> BITS >= size(graph) or not _is_move(corner & CODES, known):
                return False
    return True


@kernel
def _is_move(code: int, known: int) -> bool:
    """Does a code stand for a move of a state that has so many?"""
    return code < known or (known > 0 and (code == LONG or code == SHORT))
