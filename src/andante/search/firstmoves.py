"""The first moves of all optimal paths from a source on a grid, computed together with the distance field."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel, lowest_bit, uint64
from andante.search.dijkstra import OPEN, Ends, Wave, canonical, expand, new_room, queue, sweep
from andante.world.graph import Graph
from andante.world.layout import COUNT, DIRECTION, PRICE, Moves

ANYHOW = OPEN << 8  # arrived in any direction


@cache
def _onward_by_all(pruned: bool) -> npt.NDArray[np.uint8]:
    """Return the moves to continue with, by a cell's directions of arrival on optimal paths and its legal moves."""
    mask = np.arange(256, dtype=np.uint8)
    table = np.tile(mask, (256, 1))
    if pruned:
        table[:] = 0
        for came in range(8):
            kept = np.array([canonical(came, legal) for legal in range(256)], np.uint8)
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
        n, room = len(graph), new_room(graph)
        assert isinstance(room, Wave)
        return cls(np.empty(n), np.empty(n, np.uint16), _onward_by_all(graph.forbids_corner_cutting), room)


@kernel
def flood_starts(starts: Starts, graph: Moves, source: int) -> int:
    """Compute distances and first moves of optimal paths to each state; return the number of states expanded.

    Bit k of ``how`` is the source's k-th move; no bit is set for the source itself or for states without a path.

    Each state is reached along all canonical paths of least cost, and passes its first moves on along each. From the
    source's neighbours, paths continue in all directions. So for each first move of an optimal path there is a
    canonical path. If the path was skipped because of a move p-s-t, then p-q-t costs as much and ends with a straight
    move, q is reached by a path with this first move, and straight moves on optimal paths are never skipped.
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
    return sweep(starts, graph, 0, moves, np.inf) + 1


@expand.of(Starts)
def _expand_with_starts(found: Starts, graph: Moves, here: int, reached: float, number: int, ends: Ends) -> Ends:
    distance, how, state = found.distance, found.how, uint64(here)
    known = int64(how[state])
    first = known & 255
    onward = int64(found.onward[uint64(known & ANYHOW | int64(graph.mask[state]))])
    while onward != 0:
        direction = uint64(lowest_bit(onward))
        onward &= onward - 1
        near, new = uint64(int64(state) + graph.offset[direction]), reached + PRICE[direction]
        least, arriving = distance[near], first | 256 << int64(direction)
        if new > least:
            continue
        if new == least:
            how[near] |= arriving
            continue
        distance[near], how[near] = new, arriving
        ends = queue(found.room, int64(near), new, ends)
    return ends
