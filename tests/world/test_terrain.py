"""Grids whose cells have costs: the costs of moves, exact arithmetic, and an admissible heuristic."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.datasets.named import map_named
from andante.datasets.scaling import downscale, upscale
from andante.errors import MapError
from andante.search.astar import optimal_costs
from andante.world.grid import RULES, Grid, parse_costs
from andante.world.heuristics import DIAGONAL
from andante.world.layout import Csr, Moves, Terrain, estimate, unit
from andante.world.mapfiles import map_text, parse_map
from tests import naive
from tests.worlds import examples

COSTS = [0.25, 1.0, 1.5, 2.0, 3.0, 5.0, 0.1, 7.3]
GRAIN = Fraction(1, 2**32)


@st.composite
def terrains(draw, side=7):
    """Draw a small map whose cells have various costs."""
    width, height = draw(st.integers(2, side)), draw(st.integers(2, side))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    free = chance.random((height, width)) >= draw(st.sampled_from([0.0, 0.2, 0.4]))
    kinds = np.array(draw(st.lists(st.sampled_from(COSTS), min_size=1, max_size=4)))
    return Grid(free, rule=draw(st.sampled_from(RULES)), costs=kinds[chance.integers(len(kinds), size=free.shape)])


@examples(100)
@given(terrains())
def test_a_move_costs_its_length_times_the_mean_of_the_cells_it_touches(grid):
    for state in range(len(grid.graph)):
        x, y = grid.cell(state)
        expected = naive.legal_moves(grid.passable, x, y, grid.rule, grid.weights)
        found = grid.graph.neighbours(state)
        assert [near for near, _ in found] == [grid.state(*cell) for cell, _ in expected]
        # Where a mean is not exact in floating point, the multiple may be the next one.
        odd = grid.weights is not None and bool((grid.weights * 8 % 1 != 0).any())
        for (_, cost), (_, exact) in zip(found, expected, strict=True):
            assert cost == exact or (odd and abs(cost - exact) == 2**-32)
    assert grid.graph.reversed() is grid.graph


def test_by_hand():
    grid = Grid([".SW", "..S"], costs={"S": 2, "W": 6})
    assert grid.free_cells == 6
    moves = {grid.cell(near): cost for near, cost in grid.graph.neighbours(grid.state(1, 0))}
    assert moves[0, 0] == moves[1, 1] == 1.5
    assert moves[2, 0] == 4.0
    assert moves[0, 1] == math.ceil(DIAGONAL * 1.25 * 2**32) / 2**32  # 2, 1, 1 and 1
    assert moves[2, 1] == math.ceil(DIAGONAL * 2.75 * 2**32) / 2**32  # 2, 6, 1 and 2
    past = Grid(["@S", "W@"], costs={"S": 2, "W": 6}, rule="corners")
    assert past.graph.neighbours(1) == [(2, 4.0 * DIAGONAL)]  # walls beside it have no cost


@examples(100)
@given(terrains(), st.integers(0, 2**32 - 1))
def test_costs_are_exact_and_the_heuristic_is_consistent(grid, seed):
    graph, other = grid.graph, grid.graph.csr()
    arrays = graph.arrays
    chance = np.random.default_rng(seed)
    for goal in chance.integers(len(graph), size=3):
        h = [estimate(arrays, state, int(goal)) for state in range(len(graph))]
        assert h[goal] == 0.0
        assert h == [estimate(other.arrays, state, int(goal)) for state in range(len(graph))]
        for state in range(len(graph)):
            for near, cost in graph.neighbours(state):
                assert Fraction(cost) % GRAIN == 0
                assert Fraction(h[state]) <= Fraction(cost) + Fraction(h[near])
                assert Fraction(cost + h[near]) == Fraction(cost) + Fraction(h[near])
    cheapest = min((cost for state in range(len(graph)) for _, cost in graph.neighbours(state)), default=math.inf)
    assert unit(arrays) <= cheapest
    assert graph.unit == other.unit


@examples(60)
@given(terrains(side=6))
def test_optimal_costs_are_those_of_dijkstra(grid):
    states = np.flatnonzero(grid.passable)
    if len(states) > 1:
        left = naive.distances_from(grid.graph, int(states[0]))
        found = optimal_costs(grid.graph, np.full(len(states), states[0]), states, threads=1)
        assert found.tolist() == [left.get(int(state), math.inf) for state in states]


def test_swamp_costs_1_by_default():
    rows = ["..S.", ".WS.", "...."]
    plain = Grid(rows)
    assert isinstance(plain.graph.arrays, Moves)
    assert plain.weights is None
    assert isinstance(Grid(rows, costs={"S": 1}).graph.arrays, Moves)
    assert Grid(rows, costs={"S": 1}).fingerprint == plain.fingerprint
    swamp = Grid(rows, costs={"S": 2})
    assert isinstance(swamp.graph.arrays, Terrain)
    assert isinstance(swamp.graph.csr().arrays, Csr)
    fingerprints = {Grid(rows, costs=costs).fingerprint for costs in ({}, {"S": 2}, {"S": 3}, {"S": 2, "W": 9})}
    assert len(fingerprints) == 4


def test_files_and_names(tmp_path):
    grid = andante.generate("countryside", 40, 30, seed=2)
    andante.write_map(grid, tmp_path / "one.map")
    same = andante.read_map(tmp_path / "one.map", costs={"S": 3, "G": 1.5})
    assert same == grid
    assert same.fingerprint == grid.fingerprint
    assert andante.read_map(tmp_path / "one.map") != grid
    assert map_named("countryside:40x30:2") == grid
    assert map_named("countryside:40x30:2", costs={"S": 5}) == andante.generate(
        "countryside", 40, 30, seed=2, swamp_cost=5.0
    )
    assert map_named("one.map", tmp_path, costs={"S": 3, "G": 1.5}) == grid


def test_other_characters_have_a_cost():
    text = "type octile\nheight 1\nwidth 3\nmap\n129\n"
    with pytest.raises(MapError, match=r"line 5, column 1: found '1'; .* others need a cost"):
        parse_map(text)
    grid = parse_map(text, costs={"1": 1, "2": 2, "9": 9})
    assert grid.graph.neighbours(1) == [(2, 5.5), (0, 1.5)]
    assert map_text(grid) == text


def test_grids_made_of_grids_keep_costs():
    grid = Grid(["..SS", "@WSS"], costs={"S": 2, "W": 4})
    large = upscale(grid, size=(8, 4))
    assert large.weights.tolist() == grid.weights.repeat(2, 0).repeat(2, 1).tolist()
    assert downscale(large, size=(4, 2)) == grid
    again = copy.deepcopy(grid)
    assert again == grid
    assert again.graph == grid.graph
    assert hash(grid) == hash(Grid(["..SS", "@WSS"], costs={"W": 4, "S": 2}))
    assert grid != Grid(["..SS", "@WSS"], costs={"W": 4, "S": 3})


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"SW": 2}, "by map character"),
        ({"S": 0}, "can cost 0.000976562 to 1024, and S would cost 0"),
        ({"S": math.nan}, "can cost"),
        ({"S": "2"}, "can cost"),
        ({" ": 2}, "by map character"),
        ([1.0, 2.0], "as a table of 2 rows of 3 numbers"),
        ([[1, 1, 1], [1, 0, 1]], "row 1, column 1 would cost 0"),
        ("S=2", "as a table of 2 rows"),
    ],
)
def test_wrong_costs_are_refused(costs, message):
    with pytest.raises(MapError, match=message):
        Grid(["...", ".S."], costs=costs)


@pytest.mark.parametrize("text", ["S", "S=", "S=x", "SW=2", "S=2,S=3", "S=2;W=3", "=2", "S=-1", "S=nan"])
def test_costs_that_cannot_be_read_are_refused(text):
    with pytest.raises(MapError, match=r"CHARACTER=COST|can cost"):
        parse_costs(text)


def test_costs_that_can_be_read():
    assert parse_costs("") == {}
    assert parse_costs(" W=5, S=0.5 ") == {"S": 0.5, "W": 5.0}
