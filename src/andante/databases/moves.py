"""Compressed path databases: for every pair of states the first move of a shortest path, looked up in one row.

Botea (2011), with the run lengths of Strasser, Harabor and Botea (2014). States stand in an order that keeps near ones
together. A row belongs to the state the agent is in. It runs over all goals in that order, and says where the first
move to make changes: seen from one state, whole districts of a map begin with the same move. Where several first moves
are optimal a run is free to take any of them, which makes it longer. A row holds the goals of its state's component
only; the largest component stands last in the order, so that its rows end where the order ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import kind, pick
from andante.kernel import int64, kernel
from andante.search.memory import Space
from andante.world.graph import Arrays, Graph, degree, size

BITS = 6  # of a run, for its move; the others say where it begins
CODES = (1 << BITS) - 1
NO_WAY = CODES  # instead of a move: to these goals there is none
MOST_MOVES = CODES - 1  # that a state may have
MOST_STATES = 1 << (32 - BITS)


def _fault(moves: FirstMoves, graph: Graph) -> str | None:
    if len(moves.rank) != len(graph) or not len(moves.first) or not all(array.ndim == 1 for array in moves):
        return f"it is not for a graph of {len(graph)} states"
    return None if _is_sound(moves, graph.arrays) else "its rows hold moves that do not exist"


@kind("moves", "the first move of a shortest path for every pair of states, run-length compressed", _fault)
class FirstMoves(NamedTuple):
    """Rows of runs; a run is the place in the order where it begins, and its move in the lowest bits."""

    rank: npt.NDArray[np.int32]  # [n], a state's place in the order, and its row; -1 if it has no neighbours at all
    first: npt.NDArray[np.int64]  # [rows + 1]
    run: npt.NDArray[np.uint32]  # [runs]

    @property
    def records(self) -> int:
        """The runs of all rows."""
        return len(self.run)

    @property
    def entries(self) -> int:
        """A place in the order for each state, and the runs."""
        return len(self.rank) + len(self.run)

    @classmethod
    def allocate(cls, space: Space) -> FirstMoves:
        """The arrays of the database that the agent was given."""
        arrays: FirstMoves = pick(space.databases, "moves", space.graph).arrays
        return arrays


@kernel
def first_move(moves: FirstMoves, state: int, goal: int) -> int:
    """The first move of a shortest path, as its place among the moves of ``state``; -1 if no way leads there."""
    row, place = int64(moves.rank[state]), int64(moves.rank[goal])
    if row < 0 or place < 0:
        return -1
    low, high = moves.first[row], moves.first[row + 1]
    last = place << BITS | CODES  # no run that begins beyond the goal is less than or equal to this
    if low == high or int64(moves.run[low]) > last:
        return -1
    while high - low > 1:
        middle = (low + high) >> 1
        if int64(moves.run[middle]) <= last:
            low = middle
        else:
            high = middle
    move = int64(moves.run[low]) & CODES
    return move if move != NO_WAY else -1


@kernel
def _is_sound(moves: FirstMoves, graph: Arrays) -> bool:
    """Does each row lie within the runs, and name only moves that its state has?"""
    rows = len(moves.first) - 1
    for row in range(rows):
        if not 0 <= moves.first[row] <= moves.first[row + 1] <= len(moves.run):
            return False
    for state in range(size(graph)):
        row = int64(moves.rank[state])
        if row >= rows:
            return False
        if row < 0:
            continue
        known = degree(graph, state)
        for k in range(moves.first[row], moves.first[row + 1]):
            move = int64(moves.run[k]) & CODES
            if move >= known and move != NO_WAY:
                return False
    return True
