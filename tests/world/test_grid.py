"""Grids: legal moves, compared with the rule spelled out cell by cell, and input that is not a map."""

import copy
import pickle

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.errors import MapError, ProblemError
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from andante.world.heuristics import DIAGONAL
from tests import naive
from tests.worlds import examples, grids

TABLE = np.array([list(row) for row in ("..G@", "S.TW", "O...")])


@given(grids(rules=RULES))
@examples(150)
def test_moves_are_those_of_the_rule_in_both_layouts(grid):
    for state in range(grid.width * grid.height):
        x, y = grid.cell(state)
        legal = [(grid.state(*cell), cost) for cell, cost in naive.legal_moves(grid.passable, x, y, grid.rule)]
        assert grid.graph.neighbours(state) == legal
        assert grid.graph.csr().neighbours(state) == legal
    assert grid.graph.arcs == grid.graph.csr().arcs


@pytest.mark.parametrize(
    ("rule", "legal"),
    [
        ("octile", [(1, 0), (2, 0), (2, 1), (2, 2), (1, 2)]),
        ("corners", [(1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 0)]),
        ("cardinal", [(1, 0), (2, 1), (1, 2)]),
    ],
)
def test_the_three_rules_where_the_west_is_blocked(rule, legal):
    grid = Grid(np.array([[1, 1, 1], [0, 1, 1], [1, 1, 1]], bool), rule=rule)
    assert [grid.cell(near) for near, _ in grid.graph.neighbours(grid.state(1, 1))] == legal


def test_the_order_is_north_first_then_clockwise():
    grid = Grid(np.ones((3, 3), bool))
    around = [grid.cell(near) for near, _ in grid.graph.neighbours(grid.state(1, 1))]
    assert around == [(1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1), (0, 0)]
    assert [cost for _, cost in grid.graph.neighbours(4)] == [1.0, DIAGONAL] * 4


def test_map_characters():
    grid = Grid(TABLE, name="tiny")
    assert repr(grid) == "<Grid tiny 4 x 3, 8 free cells>"
    assert [(x, y) for y in range(3) for x in range(4) if grid.passable[y, x]] == [
        (0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 2),
    ]  # fmt: skip
    assert np.array_equal(Grid(grid.terrain).terrain, grid.terrain)


@given(grids())
@examples(60)
def test_cells_and_states(grid):
    cells = [grid.cell(state) for state in range(grid.width * grid.height)]
    assert [grid.state(x, y) for x, y in cells] == list(range(len(cells)))
    assert len(set(cells)) == len(cells) == len(grid.graph)
    assert grid.free_cells == sum(bool(grid.passable[y, x]) for x, y in cells)


@pytest.mark.parametrize(
    ("terrain", "reason"),
    [
        (np.ones(3, bool), r"a map must have 1 to 32000 rows and columns; this one has the shape \(3,\)"),
        (np.ones((0, 3), bool), r"this one has the shape \(0, 3\)"),
        (np.ones((2, 2, 2), bool), r"this one has the shape \(2, 2, 2\)"),
        (np.ones((1, 32_001), bool), r"this one has the shape \(1, 32001\)"),
        (np.ones((2, 2), int), "a map must be a table of booleans or of map characters, not of int64"),
        (np.ones((2, 2)), "not of float64"),
        (np.array([["ab", "cd"]]), "a map must be a table of booleans or of map characters"),
        (np.array([list("..?")]), r"row 0, column 2 holds '\?'; a map is made of \. G S \(passable\) and @ O T W"),
        (np.array([list("..."), list("..é")]), "row 1, column 2 holds 'é'"),
        (np.array([["中"]]), "row 0, column 0 holds '中'"),
        (np.array([[1, 0]], np.uint8), "row 0, column 0 holds"),
        ([[True, False], [True]], "all rows of a map must have the same length"),
        (["...", ".."], "all rows of a map must have the same length; these have 2 to 3 cells"),
        (["..?"], r"row 0, column 2 holds '\?'"),
        (["", ""], r"this one has the shape \(2, 0\)"),
        ("..@\n...", r"a map must be a list of rows, not one text; split it with text.split\(\)"),
        (None, "a map must have 1 to 32000 rows"),
    ],
)
def test_bad_terrain_is_refused(terrain, reason):
    with pytest.raises(MapError, match=reason):
        Grid(terrain)


def test_rows_of_text_are_a_map():
    rows = ["..@.", ".S@W", "G..T"]
    assert Grid(rows) == Grid(np.array([list(row) for row in rows]))
    assert Grid(["."]).free_cells == 1


def test_an_unknown_rule_gets_a_suggestion():
    with pytest.raises(MapError, match=r"unknown rule 'octil' for moves; did you mean 'octile'\?"):
        Grid(TABLE, rule="octil")


@pytest.mark.parametrize(
    ("start", "goal", "reason"),
    [
        ((0, 0), (4, 0), r"\(4, 0\) lies outside tiny, which is 4 x 3 cells"),
        ((0, -1), (1, 1), r"\(0, -1\) lies outside tiny"),
        ((3, 0), (1, 1), r"the start \(3, 0\) is blocked on tiny \('@'\)"),
        ((1, 1), (2, 1), r"the goal \(2, 1\) is blocked on tiny \('T'\)"),
        ((1, 1), (1, 1), r"start and goal are the same, \(1, 1\)"),
    ],
)
def test_what_is_not_a_problem(start, goal, reason):
    with pytest.raises(ProblemError, match=reason):
        Grid(TABLE, name="tiny").problem(start, goal)


@given(grids(rules=RULES))
@examples(60)
def test_the_fingerprint_covers_what_search_can_distinguish(grid):
    same = Grid(np.where(grid.passable, "G", "T"), name="another", rule=grid.rule)
    assert same.fingerprint == grid.fingerprint
    changed = np.array(grid.passable)
    changed[0, 0] = not changed[0, 0]
    others = [Grid(changed, rule=grid.rule), *(Grid(grid.terrain, rule=rule) for rule in RULES if rule != grid.rule)]
    if grid.width != grid.height:
        others.append(Grid(grid.passable.reshape(grid.width, grid.height), rule=grid.rule))
    for other in others:  # a cell without moves to it is equivalent to a wall
        alike = other.width == grid.width and np.array_equal(other.graph.arrays.mask, grid.graph.arrays.mask)
        alike = alike and other.graph.arrays.diagonal == grid.graph.arrays.diagonal
        assert (other.fingerprint == grid.fingerprint) == alike


def test_a_grid_is_read_only_and_copies_its_terrain():
    table = np.ones((2, 2), bool)
    grid = Grid(table)
    table[0, 0] = False
    assert grid.free_cells == 4
    for array in (grid.terrain, grid.passable):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


@given(st.integers(1, 40), st.integers(1, 40))
@examples(20)
def test_a_line_of_cells_is_a_map_too(width, height):
    for shape in ((1, width), (height, 1)):
        grid = Grid(np.ones(shape, bool))
        assert grid.graph.arcs == 2 * (max(shape) - 1)
        assert isinstance(grid.graph, Graph)


@pytest.mark.parametrize("start", [(1.0, 1), (1,), "ab", None, 3])
def test_a_start_that_is_not_a_cell_is_refused(start):
    with pytest.raises(ProblemError, match="whole number|must be a cell"):
        Grid(np.ones((4, 4), bool)).problem(start, (2, 2))


def test_coordinates_of_narrow_types_do_not_overflow():
    grid = Grid(np.ones((400, 400), bool))
    assert grid.state(np.int16(300), np.int16(300)) == 300 * 400 + 300


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])  # noqa: S301
def test_a_copy_is_read_only_so_that_no_kernel_is_compiled_again(duplicate):
    grid = Grid(TABLE)
    assert len(grid.graph.components) == len(grid.graph.csr())  # computed again, not copied
    problem = duplicate(grid.problem((0, 0), (1, 1)))
    again = problem.grid
    assert problem.graph is again.graph
    assert again.graph.fingerprint == grid.graph.fingerprint
    assert np.array_equal(again.graph.components, grid.graph.components)
    for one, other in ((again.graph, grid.graph), (again.graph.csr(), grid.graph.csr())):
        assert numba.typeof(one.arrays) == numba.typeof(other.arrays)
    assert not again.passable.flags.writeable
    assert not again.terrain.flags.writeable


def test_grids_with_the_same_terrain_and_rule_are_equal_under_any_name():
    one = Grid([[".", "@"], ["G", "."]], name="one")
    assert one == Grid([[".", "@"], ["G", "."]], name="other")
    assert len({one, copy.deepcopy(one)}) == 1
    assert one != Grid([[".", "@"], [".", "."]], name="one")
    assert one != Grid([[".", "@"], ["G", "."]], name="one", rule="corners")
    assert one != "a map"


@pytest.mark.parametrize("state", [-1, 4, 10**9])
def test_what_is_not_a_state_has_no_cell(state):
    with pytest.raises(ProblemError, match=f"{state} is not a state of map, which has 4 cells"):
        Grid(np.ones((2, 2), bool)).cell(state)
