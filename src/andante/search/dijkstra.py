"""Full distance fields: the cost from one state to every other, and how many optimal paths there are.

Where costs are of one size, as on grids, a ring of four buckets does it: a bucket is as wide as the cheapest move or
half the dearest, so a state's successors fall at most three buckets on, and each bucket is a plain array. Elsewhere
SciPy's heap is better.

Between distant states of an open map there are more optimal paths than a float64 can count. So a count has a scale of
its own: the power of 2**512 by which it is to be multiplied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.world.graph import Graph, Layout, degree, price, target, unit
from andante.world.heuristics import TOLERANCE

RING = 4
MAX_COST_RATIO = 8.0  # dearest to cheapest move, beyond which a heap wins
LARGE, SMALL = 2.0**512, 2.0**-512  # a count above the first is scaled by the second
SAME_COUNT = 1 + 1e-9  # counts with a lower ratio differ by rounding at most


class Field(NamedTuple):
    """Distances from a source, and the room to compute them; may be used again for another source."""

    distance: npt.NDArray[np.float64]  # [n]
    queued: npt.NDArray[np.uint8]  # [n], bit b: the state waits in bucket b of the ring
    ring: npt.NDArray[np.int32]  # [RING, n]
    order: npt.NDArray[np.int32]  # [n], the states by distance, but for a bucket's width, if none is expanded twice

    @classmethod
    def over(cls, graph: Graph) -> Field:
        """Room for a field over ``graph``."""
        n = len(graph)
        return cls(np.empty(n), np.zeros(n, np.uint8), np.empty((RING, n), np.int32), np.empty(n, np.int32))


@kernel
def spread(field: Field, graph: Layout, source: int, width: float) -> int:
    """Fill ``field.distance`` from ``source``; ``width`` is a bucket's. Returns the states expanded."""
    distance, queued, ring = field.distance, field.queued, field.ring
    states, per_cost = len(distance), 1.0 / width
    distance[:] = np.inf
    distance[source] = 0.0
    ring[0, 0] = source
    queued[source] = 1
    size0, size1, size2, size3 = 1, 0, 0, 0
    expanded, bucket = 0, 0
    while size0 + size1 + size2 + size3 > 0:
        here = bucket % RING
        k, end = 0, size0  # no state waits twice, so when the row is full its beginning is free again
        while size0 > 0:
            state = int64(ring[here, k])
            k = k + 1 if k + 1 < states else 0
            size0 -= 1
            queued[state] &= ~np.uint8(1 << here)
            reached = distance[state]
            if int64(reached * per_cost) < bucket:  # a cheaper way was found, and followed, in an earlier bucket
                continue
            if expanded < states:
                field.order[expanded] = state
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


def bucket_width(graph: Graph) -> float | None:
    """How wide `spread`'s buckets are for this graph; None if its costs differ too much for them."""
    cheapest, dearest = graph.cost_range
    return max(cheapest, dearest / 2) if dearest <= MAX_COST_RATIO * cheapest else None


def distances(graph: Graph, source: int) -> npt.NDArray[np.float64]:
    """The cost of a shortest path from ``source`` to every state; infinite where there is none.

    >>> from andante.world.graph import Graph
    >>> distances(Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 9.0)]), 0)
    array([0., 3., 7.])
    """
    width = bucket_width(graph)
    if width is None:
        from scipy.sparse.csgraph import dijkstra

        return np.asarray(dijkstra(graph.to_scipy(), indices=source))
    field = Field.over(graph)
    spread(field, graph.arrays, source, width)
    return field.distance


# --- counting paths -------------------------------------------------------------------------------------------------


class Paths(NamedTuple):
    """How many optimal paths lead from each state to the source of a field: ``number`` * 2**(512 * ``scale``)."""

    number: npt.NDArray[np.float64]  # [n], from 1 to LARGE
    scale: npt.NDArray[np.int32]  # [n]

    @classmethod
    def over(cls, graph: Graph) -> Paths:
        """Room to count in."""
        return cls(np.empty(len(graph)), np.empty(len(graph), np.int32))


@kernel
def count_paths(
    paths: Paths, graph: Layout, distance: npt.NDArray[np.float64], order: npt.NDArray[np.int32], reached: int
) -> None:
    """Count the optimal paths to the source of a field from each of the ``reached`` states that have one.

    They come in an ``order`` in which no state stands before the next one on an optimal path: by distance, say. Every
    move must have its opposite at the same cost.
    """
    source = int64(order[0])
    paths.number[source], paths.scale[source] = 1.0, 0
    for i in range(1, reached):
        state = int64(order[i])
        total, scale = 0.0, 0
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            if not is_optimal(graph, distance, state, near, price(graph, state, k)):
                continue
            more, above = paths.number[near], int64(paths.scale[near]) - scale
            if above > 0:
                total, scale = (total * SMALL if above == 1 else 0.0) + more, scale + above
            elif above == 0:
                total += more
            elif above == -1:
                total += more * SMALL
        if total > LARGE:
            total, scale = total * SMALL, scale + 1
        paths.number[state], paths.scale[state] = total, scale


@kernel
def is_optimal(graph: Layout, distance: npt.NDArray[np.float64], state: int, near: int, cost: float) -> bool:
    """Does an optimal path to the source of a field begin with the move from ``state`` to ``near``?"""
    left = distance[state]
    return cost + distance[near] <= left + TOLERANCE * unit(graph) and distance[near] < left


@kernel
def central_step(graph: Layout, distance: npt.NDArray[np.float64], paths: Paths, state: int) -> int:
    """The next state on an optimal path to the source: where most optimal paths lead on, the first of several.

    Whoever goes on like that walks through the middle of all optimal paths, not along their edge.
    """
    best, most, scale = -1, 0.0, 0
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if not is_optimal(graph, distance, state, near, price(graph, state, k)):
            continue
        more, above = paths.number[near], int64(paths.scale[near]) - scale
        known = most * SMALL if above == 1 else most
        if above == -1:
            more *= SMALL
        if best < 0 or above > 1 or (above >= -1 and more > known * SAME_COUNT):
            best, most, scale = near, paths.number[near], int64(paths.scale[near])
    return best
