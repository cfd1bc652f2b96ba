"""Distance fields against Dijkstra with a heap, written out, and against SciPy's."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import andante
from andante.search.dijkstra import Field, bucket_width, distances, spread
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import SIDE, examples, graphs, grids


def naive_field(graph: Graph, source: int) -> list[float]:
    found = naive.distances_from(graph, source)
    return [found.get(state, math.inf) for state in range(len(graph))]


@given(grids(rules=RULES), st.integers(0, 2**32 - 1))
@examples(100)
def test_fields_of_small_maps_are_exact(grid, seed):
    source = int(np.random.default_rng(seed).integers(len(grid.graph)))
    assert distances(grid.graph, source).tolist() == naive_field(grid.graph, source)
    assert distances(grid.graph.csr(), source).tolist() == naive_field(grid.graph, source)


@pytest.mark.parametrize("kind", ["empty", "random", "rooms", "maze", "caves"])
def test_fields_of_generated_maps_agree_with_scipy(kind):
    graph = andante.generate(kind, SIDE, SIDE, seed=3).graph
    for source in (0, len(graph) // 2, len(graph) - 1):
        assert distances(graph, source).tolist() == dijkstra(graph.to_scipy(), indices=source).tolist()


@given(graphs(states=14), graphs(states=14, directed=True), st.data())
@examples(100)
def test_fields_of_graphs_with_odd_costs(graph, one_way, data):
    for g in (graph, one_way):
        source = data.draw(st.integers(0, len(g) - 1))
        assert distances(g, source).tolist() == naive_field(g, source)


@given(st.integers(2, 20), st.data())
@examples(150)
def test_costs_of_one_size_that_no_float_holds_exactly(count, data):
    """Where states fall on the edge between two buckets: none may be lost to rounding."""
    unit = data.draw(st.sampled_from([0.1, 1 / 3, 0.7, 1e-9, 1e9 / 7, 0.15380737517637963]))
    state = st.integers(0, count - 1)
    edges = [(s, s + 1, unit) for s in range(count - 1)]
    pairs = st.tuples(state, state, st.sampled_from([1, 1.5, 2])).filter(lambda e: e[0] != e[1])
    edges += [(a, b, times * unit) for a, b, times in data.draw(st.lists(pairs, max_size=20))]
    graph = Graph.from_edges(edges, states=count)
    assert distances(graph, 0).tolist() == pytest.approx(naive_field(graph, 0), rel=1e-12)


@given(st.lists(st.floats(0.1, 0.2), min_size=30, max_size=120))
@example([0.15380737517637963] * 120)
@examples(100)
def test_long_chains_of_uneven_costs(costs):
    graph = Graph.from_edges([(s, s + 1, cost) for s, cost in enumerate(costs)])
    assert distances(graph, 0).tolist() == naive_field(graph, 0)


def test_a_field_has_room_however_often_states_are_reached_again():
    """Forty states are reached dearly, and then cheaply, before the first of them is left."""
    crowd, after = range(2, 42), range(42, 47)
    edges = [(0, s, 5.0) for s in after] + [(0, s, 3.9) for s in crowd] + [(0, 1, 1.0)]
    edges += [(1, s, 1.0) for s in crowd] + [(s, s + 5, 8.0) for s in after]
    graph = Graph.from_edges(edges)
    assert graph.cost_range == (1.0, 8.0)
    assert distances(graph, 0).tolist() == naive_field(graph, 0)


@given(st.integers(20, 60), st.integers(0, 2**32 - 1), st.sampled_from([2.0, 3.0, 8.0, 100.0]))
@examples(60)
def test_dense_graphs_with_costs_of_every_spread(count, seed, ratio):
    chance = np.random.default_rng(seed)
    a, b = np.triu_indices(count, 1)
    edges = np.stack([a, b, chance.integers(64, int(64 * ratio) + 1, len(a)) / 64], 1)[chance.permutation(len(a))]
    graph = Graph.from_edges(edges)
    assert distances(graph, 0).tolist() == naive_field(graph, 0)


def test_a_field_can_be_used_again_and_counts_what_it_expands():
    grid = andante.generate("rooms", SIDE, SIDE, seed=1)
    field, width = Field.over(grid.graph), bucket_width(grid.graph)
    source = int(np.flatnonzero(grid.passable)[0])
    reachable = np.isfinite(distances(grid.graph, source)).sum()
    for again in (source, source):
        expanded = spread(field, grid.graph.arrays, again, width)
        assert reachable <= expanded <= 1.2 * reachable
        assert field.distance.tolist() == dijkstra(grid.graph.to_scipy(), indices=again).tolist()


def test_parallel_edges_count_by_the_cheapest():
    for dear in (1.5, 100.0):
        graph = Graph.from_edges([(0, 1, dear), (0, 1, 1.0), (1, 2, 1.0)])
        assert distances(graph, 0).tolist() == [0.0, 1.0, 2.0]


def test_a_graph_of_one_state():
    assert distances(Graph.from_edges([], states=1), 0).tolist() == [0.0]
    assert distances(Grid(np.ones((1, 1), bool)).graph, 0).tolist() == [0.0]
