"""Records against paths divided in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.databases.subgoals import Shortlist, Used, choose
from andante.offline import build
from andante.search.hillclimb import climb
from andante.search.mind import Mind
from andante.world.grid import Grid
from tests.worlds import examples, grids


def climbable(graph, start, goal):
    return climb(graph.arrays, start, goal, 10**9).arrived


def divided(graph, path):
    """Repeat lines 6 to 11 of Bulitko and Björnsson (2009), Figure 4."""
    series, begin = [], 0
    while begin < len(path) - 1:
        reached = begin + 1
        for i in range(begin + 2, len(path)):
            if not climbable(graph, path[begin], path[i]):
                break
            reached = i
        series.append(path[reached])
        begin = reached
    return series


def assert_records_are_right(grid, database):
    arrays = database.arrays
    for record in range(len(arrays.start)):
        problem = grid.problem(grid.cell(arrays.start[record]), grid.cell(arrays.goal[record]))
        path = andante.run("astar", problem).path.tolist()
        series = divided(grid.graph, path)
        assert len(path) >= 3
        assert len(series) > 1  # else the whole path could be climbed
        found = arrays.subgoal[arrays.first[record] : arrays.first[record + 1]].tolist()
        assert found == ([path[0], *series] if database.parameters["series"] else series[:1])


@given(grids(side=14), st.booleans(), st.sampled_from(["random", "gaps"]))
@examples(25)
def test_every_record_is_a_path_divided_where_climbing_fails(grid, series, coverage):
    assert_records_are_right(grid, build("subgoals(records=12)", grid, series=series, coverage=coverage))


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["caves", "rooms", "maze", "random"])
def test_there_are_as_many_records_as_requested(kind):
    grid = andante.generate(kind, 48, 48, seed=2)
    for coverage in ("random", "gaps"):
        database = build("subgoals(records=300, series=true)", grid, coverage=coverage)
        assert len(database.arrays.start) == 300
    assert_records_are_right(grid, database)


def test_an_empty_map_needs_no_records():
    assert len(build("subgoals", andante.generate("empty", 30, 30)).arrays.start) == 0


def test_a_map_without_free_cells_has_no_records():
    assert len(build("subgoals", Grid(np.zeros((4, 4), bool))).arrays.start) == 0


def test_no_records_may_be_requested():
    assert len(build("subgoals(records=0)", andante.generate("maze", 21, 21, seed=1)).arrays.start) == 0


@pytest.mark.compiled
def test_another_seed_gives_other_records():
    grid = andante.generate("maze", 41, 41, seed=1)
    one, other = (build("subgoals(records=100)", grid, seed=seed).arrays.start for seed in (1, 2))
    assert not np.array_equal(one, other)


def served(grid, database, problems):
    """Return the number of problems that have a record whose start and goal can be climbed to."""
    found, never = Shortlist.over(grid.graph, 10), Used.over(Mind(len(grid.graph)))
    choices = [choose(database.arrays, found, grid.graph.arrays, p.start, p.goal, 25, never, 1) for p in problems]
    return sum(choice.record >= 0 for choice in choices)


@pytest.mark.compiled
def test_gaps_are_filled_first():
    grid = andante.generate("rooms", 96, 96, seed=4)
    problems = andante.random_problems(grid, 400, seed=9)
    random, gaps = (build("subgoals(records=1500)", grid, coverage=c) for c in ("random", "gaps"))
    assert served(grid, gaps, problems) > 1.05 * served(grid, random, problems)
