"""Landmark distances: a heuristic that never overestimates, is consistent, and is useful."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.errors import GraphError
from andante.search.astar import optimal_costs
from andante.search.landmarks import with_landmarks
from andante.world.graph import Graph
from andante.world.layout import estimate
from tests import naive
from tests.worlds import SIDE, drawn, examples, graphs, grids


def assert_admissible_and_consistent(graph: Graph, goal: int) -> None:
    h = [estimate(graph.arrays, state, goal) for state in range(len(graph))]
    assert h[goal] == 0
    for state, cost in naive.distances_to(graph, goal).items():
        assert h[state] <= cost * (1 + 1e-12)
    for state in range(len(graph)):
        for near, cost in graph.neighbours(state):
            assert h[state] <= (cost + h[near]) * (1 + 1e-12)


@given(graphs(states=14), st.integers(1, 5), st.data())
@examples(80)
def test_admissible_and_consistent_on_graphs(graph, count, data):
    better = with_landmarks(graph, count)
    assert [better.neighbours(s) for s in range(len(graph))] == [graph.neighbours(s) for s in range(len(graph))]
    assert_admissible_and_consistent(better, data.draw(st.integers(0, len(graph) - 1)))


@given(grids(), st.integers(1, 4), st.data())
@examples(40)
def test_admissible_and_consistent_on_maps(grid, count, data):
    assert_admissible_and_consistent(with_landmarks(grid.graph, count), data.draw(st.integers(0, len(grid.graph) - 1)))


@given(st.sampled_from([1e-12, 1e6, 1e12]), graphs(states=12, cost=st.floats(1, 2)))
@examples(60)
def test_costs_may_have_any_size(unit, graph):
    arcs = [(s, near, cost * unit) for s in range(len(graph)) for near, cost in graph.neighbours(s) if s < near]
    scaled = Graph.from_edges(arcs, states=len(graph))
    assert_admissible_and_consistent(with_landmarks(scaled, 3), 0)


def test_landmarks_are_far_better_than_coordinates_in_a_maze():
    grid = andante.generate("maze", SIDE, SIDE, seed=2)
    better = with_landmarks(grid.graph, 6)
    problems = drawn(grid, 20)
    true = optimal_costs(grid.graph, [p.start for p in problems], [p.goal for p in problems])
    known = np.array([[estimate(g.arrays, p.start, p.goal) for p in problems] for g in (grid.graph, better)])
    assert (known <= true + 1e-9).all()
    assert known[1].sum() > 0.7 * true.sum() > known[0].sum()
    assert np.array_equal(optimal_costs(better, [p.start for p in problems], [p.goal for p in problems]), true)


def test_other_components_keep_a_heuristic_of_zero():
    graph = with_landmarks(Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (3, 4, 5.0)]), 2)
    assert estimate(graph.arrays, 0, 2) == 2.0
    assert estimate(graph.arrays, 3, 4) == 0.0


@pytest.mark.parametrize(
    ("graph", "count", "reason"),
    [
        (Graph.from_edges([(0, 1, 1.0)]), 0, "the number of landmarks must be a whole number of at least 1, got 0"),
        (Graph.from_edges([(0, 1, 1.0)], directed=True), 2, "every arc has its opposite at the same cost"),
        (Graph.from_edges([]), 2, "a graph without states has no landmarks"),
    ],
)
def test_graphs_without_landmarks_are_refused(graph, count, reason):
    with pytest.raises(GraphError, match=reason):
        with_landmarks(graph, count)


def test_more_landmarks_than_states_are_allowed():
    graph = with_landmarks(Graph.from_edges([(0, 1, 2.0)]), 5)
    assert estimate(graph.arrays, 0, 1) == 2.0
