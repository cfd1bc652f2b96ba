"""Grids whose cells have sixteen neighbours: legal leaps, their costs, and a heuristic that is exact on empty maps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.hierarchy import ChangingHierarchy
from andante.errors import AndanteError, MapError
from andante.export.folder import export
from andante.search.astar import optimal_costs
from andante.world.graph import Graph
from andante.world.grid import SIXTEEN, Grid
from andante.world.heuristics import DIAGONAL, LEAP, Metric, distances_between
from andante.world.layout import Sixteen, degree, estimate, first_of, moves_of, price, rest_of, target, unit
from andante.world.scenes import Scene
from tests import naive
from tests.worlds import examples, grid_problems, grids


def crossed(dx, dy):
    """Return the cells that the line between the middles of two cells crosses, found by sampling many points."""
    points = [(k / 1000 * dx + 0.5, k / 1000 * dy + 0.5) for k in range(1, 1000)]
    return {(math.floor(x), math.floor(y)) for x, y in points if x % 1 and y % 1} - {(0, 0), (dx, dy)}


def plain_moves(grid, x, y):
    """Return straight and diagonal moves as under octile, and the leaps whose line crosses only free cells."""

    def is_free(column, row):
        return 0 <= column < grid.width and 0 <= row < grid.height and bool(grid.passable[row, column])

    found = naive.legal_moves(grid.passable, x, y, "octile")
    for dx, dy in [(a, b) for a in range(-2, 3) for b in range(-2, 3) if {abs(a), abs(b)} == {1, 2}]:
        if all(is_free(x + a, y + b) for a, b in {(0, 0), (dx, dy)} | crossed(dx, dy)):
            found.append(((x + dx, y + dy), LEAP))
    return found


@examples(100)
@given(grids(rules=(SIXTEEN,)))
def test_moves_are_those_past_free_cells_clockwise_from_the_north(grid):
    for state in range(len(grid.graph)):
        x, y = grid.cell(state)
        found = [(grid.cell(near), cost) for near, cost in grid.graph.neighbours(state)]
        assert sorted(found) == sorted(plain_moves(grid, x, y))
        angles = [math.atan2(a - x, y - b) % (2 * math.pi) for (a, b), _ in found]
        assert angles == sorted(angles)


@examples(100)
@given(grids(rules=(SIXTEEN,)))
def test_the_layout_equals_rows_of_arcs(grid):
    arrays, rows = grid.graph.arrays, grid.graph.csr().arrays
    assert isinstance(arrays, Sixteen)
    for state in range(len(grid.graph)):
        expected = grid.graph.neighbours(state)
        assert [(target(arrays, state, k), price(arrays, state, k)) for k in range(degree(arrays, state))] == expected
        found, moves = [], moves_of(arrays, state)
        while moves:
            found.append(first_of(arrays, state, moves))
            moves = rest_of(arrays, moves)
        assert found == expected
        for goal in range(len(grid.graph)):
            assert estimate(arrays, state, goal) == estimate(rows, state, goal)
    assert (grid.graph.arcs, unit(arrays), grid.graph.row_width) == (len(rows.neighbour), 1.0, grid.width)
    assert grid.graph.reversed() is grid.graph
    assert grid.graph.open_degree == grid.graph.csr().open_degree == 16


def test_on_an_empty_map_the_heuristic_is_the_cost():
    grid = Grid(np.ones((9, 12), bool), rule=SIXTEEN)
    left = naive.distances_from(grid.graph, 0)
    for state, cost in left.items():
        # Other orders of the same moves cost the same to the last bit, as all costs are multiples of 2**-32.
        assert estimate(grid.graph.arrays, state, 0) == cost
    points = grid.graph.points
    assert distances_between(points, points[:1].repeat(len(points), 0), Metric.SIXTEEN).tolist() == [
        left[state] for state in range(len(points))
    ]
    assert math.sqrt(5) == pytest.approx(LEAP, abs=2**-32)
    assert estimate(grid.graph.arrays, grid.state(5, 2), 0) == 2 * LEAP + 1
    assert estimate(grid.graph.arrays, grid.state(5, 4), 0) == LEAP + 3 * DIAGONAL


@examples(60)
@given(grid_problems(side=7, rules=(SIXTEEN,)))
def test_optimal_costs_are_those_of_dijkstra(problem):
    left = naive.distances_from(problem.graph, problem.start)
    found = optimal_costs(problem.graph, np.array([problem.start]), np.array([problem.goal]), threads=1)
    assert found.tolist() == [left[problem.goal]]
    assert andante.run("astar", problem).cost == left[problem.goal]


@given(st.integers(0, 99))
def test_a_path_with_leaps_is_never_longer(seed):
    grid = andante.generate("random", 16, 16, seed=seed)
    wide = Grid(grid.terrain, rule=SIXTEEN)
    some = andante.random_problems(grid, 3, seed=seed)
    again = [wide.problem(grid.cell(one.start), grid.cell(one.goal)) for one in some]
    for one, other in zip(some, andante.with_optimal_costs(again), strict=True):
        assert other.optimal_cost <= one.optimal_cost


def test_the_metric_is_for_two_dimensions():
    with pytest.raises(AndanteError, match="the sixteen metric is for two dimensions"):
        Graph.from_edges([(0, 1, 3.0)], points=[[0.0], [1.0]], metric="sixteen")


def test_functions_without_sixteen_neighbours_refuse_them(tmp_path):
    grid = Grid(np.ones((8, 8), bool), name="wide", rule=SIXTEEN)
    for refused in (
        lambda: andante.World(grid),
        lambda: andante.Agent("lrta", grid, sight=3),
        lambda: andante.Crowd("lrta", grid, bodies=True),
        lambda: Scene(grid, [((0, 0), (3, 3))]),
        lambda: ChangingHierarchy(grid),
        lambda: export("lrta", grid, tmp_path / "out"),
    ):
        with pytest.raises(
            MapError, match=r"takes maps under the rules octile, corners and cardinal, and wide is under"
        ):
            refused()
    with pytest.raises(MapError, match="takes maps whose cells all cost 1"):
        Grid(["..S"], rule=SIXTEEN, costs={"S": 2})
