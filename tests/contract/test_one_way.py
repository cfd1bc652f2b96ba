"""Agents with databases on graphs with one-way arcs; `check_algorithm` tests agents without databases there."""

import numpy as np
import pytest

import andante
from andante.agent import algorithms
from andante.errors import GraphError

COMPLETE = [e for e in algorithms() if e.needs and e.complete and not e.card.two_way and not e.card.regions]


def ring_with_arcs(seed: int) -> andante.Graph:
    """Return a connected ring of one-way arcs through scattered points, with the same number of chords."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 30))
    points = 10 * rng.random((count, 2))
    ring = np.column_stack([np.arange(count), np.roll(np.arange(count), -1)])
    across = rng.integers(count, size=(count, 2))
    arcs = np.concatenate([ring, across[across[:, 0] != across[:, 1]]])
    costs = np.linalg.norm(points[arcs[:, 0]] - points[arcs[:, 1]], axis=1) + 0.1 + rng.random(len(arcs))
    return andante.Graph.from_edges(np.column_stack([arcs, costs]), points=points, metric="euclidean", directed=True)


@pytest.mark.parametrize("entry", COMPLETE, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_agents_with_databases_arrive_where_moves_cannot_be_taken_back(entry, seed):
    graph = ring_with_arcs(seed)
    try:
        databases = [andante.build(kind, graph) for kind in entry.needs]
    except GraphError as refusal:
        assert "can be reversed" in str(refusal)
        pytest.skip(f"no {' and '.join(entry.needs)} database is built for one-way graphs")
    for start, goal in np.random.default_rng(seed).integers(len(graph), size=(10, 2)).tolist():
        assert start == goal or andante.run(entry, graph.problem(start, goal), databases=databases).solved
