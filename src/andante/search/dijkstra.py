"""Full distance fields: the cost from one state to every other.

Where costs are of one size, as on grids, a ring of four buckets does it: a bucket is as wide as the cheapest move or
half the dearest, so a state's successors fall at most three buckets on, and each bucket is a plain array. Elsewhere
SciPy's heap is better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.world.graph import Graph, Layout, degree, price, target

RING = 4
MAX_COST_RATIO = 8.0  # dearest to cheapest move, beyond which a heap wins


class Field(NamedTuple):
    """Distances from a source, and the room to compute them; may be used again for another source."""

    distance: npt.NDArray[np.float64]  # [n]
    queued: npt.NDArray[np.uint8]  # [n], bit b: the state waits in bucket b of the ring
    ring: npt.NDArray[np.int32]  # [RING, n]

    @classmethod
    def over(cls, graph: Graph) -> Field:
        """Room for a field over ``graph``."""
        n = len(graph)
        return cls(np.empty(n), np.zeros(n, np.uint8), np.empty((RING, n), np.int32))


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
