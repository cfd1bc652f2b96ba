"""Landmark distances as an embedding: a heuristic for any graph, often far better than coordinates."""

from __future__ import annotations

import numpy as np

from andante.errors import GraphError, expect, whole_number
from andante.search.dijkstra import distances
from andante.world.graph import Graph


def with_landmarks(graph: Graph, count: int = 8) -> Graph:
    """Return the same graph with distances to ``count`` landmarks as its heuristic (ALT, Goldberg and Harrelson 2005).

    Each landmark is a state farthest from those before it; the first is farthest from state 0 of the largest component.
    States of other components, which no landmark reaches, have a heuristic of zero among themselves.

    >>> ring = Graph.from_edges([(i, (i + 1) % 6, 1.0) for i in range(6)])
    >>> from andante.world.layout import estimate
    >>> estimate(with_landmarks(ring, 2).arrays, 0, 2)
    2.0
    """
    expect(graph, Graph, "landmarks need a Graph; the graph of a map is grid.graph", GraphError)
    if len(graph) == 0:
        raise GraphError("a graph without states has no landmarks")
    count = min(whole_number(count, "the number of landmarks", least=1, error=GraphError), len(graph))
    if graph.reversed() is not graph:
        raise GraphError("landmarks need a graph in which every arc has its opposite at the same cost")
    largest = np.bincount(graph.components).argmax()
    nearest = distances(graph, int(np.flatnonzero(graph.components == largest)[0]))
    columns: list[np.ndarray] = []
    for _ in range(count):
        landmark = int(np.where(np.isfinite(nearest), nearest, -1.0).argmax())
        columns.append(distances(graph, landmark))
        nearest = columns[0] if len(columns) == 1 else np.minimum(nearest, columns[-1])
    points = np.stack(columns, 1)
    return graph.with_points(np.where(np.isfinite(points), points, 0.0), "chebyshev")
