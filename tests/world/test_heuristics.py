"""Metrics compared with their definitions; heuristics must be admissible and consistent."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.world.graph import Graph
from andante.world.grid import RULES
from andante.world.heuristics import DIAGONAL, LEAP, Metric, distance
from andante.world.layout import estimate
from tests import naive
from tests.worlds import examples, grid_problems, grids, heuristic, in_rows

coordinates = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.sampled_from(list(Metric)), st.tuples(coordinates, coordinates), st.tuples(coordinates, coordinates))
@examples(200)
def test_distances_are_those_of_the_metric(metric, p, q):
    point = np.array([p, q])
    found = distance(point, int(metric), 0, 1)
    assert found == pytest.approx(naive.apart(metric.name.lower(), p, q), rel=1e-12, abs=1e-9)
    assert found == distance(point, int(metric), 1, 0) >= 0
    assert distance(point, int(metric), 0, 0) == 0


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (Metric.OCTILE, 1 + 3 * DIAGONAL),
        (Metric.EUCLIDEAN, 5.0),
        (Metric.MANHATTAN, 7.0),
        (Metric.CHEBYSHEV, 4.0),
        (Metric.SIXTEEN, LEAP + 2 * DIAGONAL),
    ],
)
def test_three_across_and_four_down(metric, expected):
    assert distance(np.array([[0.0, 0.0], [3.0, 4.0]]), int(metric), 0, 1) == expected


@pytest.mark.parametrize("metric", [Metric.EUCLIDEAN, Metric.MANHATTAN, Metric.CHEBYSHEV])
def test_any_number_of_dimensions(metric):
    assert distance(np.zeros((2, 0)), int(metric), 0, 1) == 0.0
    assert distance(np.array([[0.0], [-2.5]]), int(metric), 0, 1) == 2.5
    cube = np.array([[0.0, 0.0, 0.0], [2.0, 3.0, 6.0]])
    assert distance(cube, int(metric), 0, 1) == {"EUCLIDEAN": 7.0, "MANHATTAN": 11.0, "CHEBYSHEV": 6.0}[metric.name]


@given(grid_problems(rules=RULES))
@examples(80)
def test_both_layouts_of_a_grid_have_exactly_the_same_heuristic(problem):
    h = heuristic(problem)
    rows = in_rows(problem).graph.arrays
    for state in range(len(problem.graph)):
        assert estimate(problem.graph.arrays, state, problem.goal) == h(state)
        assert estimate(rows, state, problem.goal) == h(state)


@given(grids(rules=RULES), st.integers(0, 2**32 - 1))
@examples(80)
def test_the_heuristic_is_admissible_and_consistent(grid, seed):
    goal = int(np.random.default_rng(seed).integers(len(grid.graph)))
    h = [estimate(grid.graph.arrays, state, goal) for state in range(len(grid.graph))]
    assert h[goal] == 0
    for state, cost in naive.distances_to(grid.graph, goal).items():
        assert h[state] <= cost
    for state in range(len(grid.graph)):
        for near, cost in grid.graph.neighbours(state):
            assert h[state] <= cost + h[near]


def test_on_an_empty_map_the_heuristic_is_exact():
    from andante.world.grid import Grid

    for rule in ("octile", "corners", "cardinal"):
        graph = Grid(np.ones((6, 9), bool), rule=rule).graph
        for goal in (0, 22, 53):
            true = naive.distances_to(graph, goal)
            assert [estimate(graph.arrays, state, goal) for state in range(54)] == [true[state] for state in range(54)]


def test_without_points_the_heuristic_is_zero():
    graph = Graph.from_edges([(0, 1, 5.0), (1, 2, 5.0)])
    assert estimate(graph.arrays, 0, 2) == 0.0


def test_the_diagonal_is_the_square_root_of_two_to_nine_digits_and_its_sums_are_exact():
    assert abs(DIAGONAL - math.sqrt(2)) < 1.2e-10
    assert (DIAGONAL * 2**32).is_integer()
    by_steps = 0.0
    for _ in range(100_000):
        by_steps += DIAGONAL
        by_steps += 1.0
    assert by_steps == 100_000 * DIAGONAL + 100_000
