"""Find out which entries of a database have become stale: pairs of states whose shortest path is much longer now.

A path that has become longer led past cells that have lost moves: through a cell u on one side of a new wall and then a
cell w on its other side. Only where u and w themselves are much farther apart than before does anything have to be
marked, which searches of a few cells around them show: a wall in the open marks nothing. For the others, one search of
the whole map from each of these cells finds all states that went past it (`andante.databases.following`).

Marks save agents from walking up to a closed door. They need not be complete, since agents also see that a move has
become impossible: a map with more walls than can be looked at is marked in part. What was opened makes no entry stale:
it still leads to the goal.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.databases.following import BITS, Marks
from andante.offline.builder import Making
from andante.search.dijkstra import Field, spread
from andante.world.graph import Graph
from andante.world.heuristics import DIAGONAL, TOLERANCE
from andante.world.layout import Moves

MINOR = 8  # moves by which a path may become longer before it counts as stale: that far, agents walk on and search there
MOST_LOST = 1024  # cells with lost moves that are looked at
MOST_SEARCHES = 32  # of the whole map

Costs = npt.NDArray[np.float64]
Pair = tuple[int, int, float]  # two cells, and how far they were apart


def mark(marks: Marks, before: Graph, after: Graph) -> Making[None]:
    """Mark the entries that are stale after a map has changed from ``before`` to ``after``."""
    field = Field.over(before)
    pairs = yield from _parted(field, before, after)
    away: dict[int, Costs] = {}
    for cell in dict.fromkeys(cell for pair in pairs for cell in pair[:2]):
        if len(away) < MOST_SEARCHES:
            spread(field, before, cell)
            away[cell] = field.distance.copy()
            yield
    enough = TOLERANCE * before.unit
    for number, (one, other, apart) in enumerate(pairs):
        if one in away and other in away:
            bit = np.uint64(1 << number % BITS)
            marks.before[away[one] + apart <= away[other] + enough] |= bit
            marks.behind[away[other] + apart <= away[one] + enough] |= bit
            marks.scalars["any"] = 1
            yield


def _parted(field: Field, before: Graph, after: Graph) -> Making[list[Pair]]:
    """Return the pairs of cells beside new walls that are much farther apart than before."""
    old, new = (graph.arrays for graph in (before, after))
    assert isinstance(old, Moves) and isinstance(new, Moves)
    pairs: list[Pair] = []
    for group in _groups(np.flatnonzero(old.mask & ~new.mask)[:MOST_LOST].tolist(), before.row_width):
        left = [cell for cell in group if new.mask[cell]]
        near = DIAGONAL * before.unit * len(group)
        for one in left:
            spread(field, before, one, near)
            was = field.distance[left]
            spread(field, after, one, near + MINOR * before.unit)
            parted = (was <= near) & (field.distance[left] > was + MINOR * before.unit)
            pairs += [(one, left[k], float(was[k])) for k in np.flatnonzero(parted)]
            yield
    return pairs


def _groups(cells: list[int], width: int) -> list[list[int]]:
    """Return groups of cells that touch each other.

    >>> _groups([0, 1, 8, 30], 6)
    [[0, 1, 8], [30]]
    """
    left, groups = dict.fromkeys(cells), []
    around = {dy * width + dx for dy in (-1, 0, 1) for dx in (-1, 0, 1)}
    while left:
        group = [left.popitem()[0]]
        for cell in group:
            for near in sorted(cell + step for step in around if cell + step in left):
                del left[near]
                group.append(near)
        groups.append(sorted(group))
    return sorted(groups)
