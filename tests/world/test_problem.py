"""Problems: what they check, and how they name states."""

import numpy as np
import pytest

from andante.errors import ProblemError
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.problem import Problem

GRAPH = Graph.from_edges([(0, 1, 1.0), (2, 3, 1.0)], labels=["home", "work", "moon", "mars"])


@pytest.mark.parametrize(
    ("start", "goal", "reason"),
    [
        (-1, 1, "the start -1 is not a state; there are 4, numbered from 0"),
        (0, 4, "the goal 4 is not a state; there are 4, numbered from 0"),
        (1, 1, "start and goal are the same, state work: there is nothing to solve"),
    ],
)
def test_what_is_not_a_problem(start, goal, reason):
    with pytest.raises(ProblemError) as caught:
        GRAPH.problem(start, goal)
    assert str(caught.value) == reason


def test_the_world_of_a_problem_is_its_map_unless_the_graph_is_another():
    grid = Grid(np.ones((3, 4), bool))
    problem = grid.problem((1, 2), (3, 0))
    assert problem.world is grid
    rows = Problem(grid.graph.csr(), problem.start, problem.goal, grid)
    assert rows.world is rows.graph
    assert GRAPH.problem("home", "work").world is GRAPH


def test_problems_with_the_same_start_and_goal_on_equal_graphs_are_equal():
    again = GRAPH.problem("home", "work").with_optimal_cost(1.0)
    assert again == GRAPH.problem("home", "work") != GRAPH.problem("work", "home")
    assert hash(again) == hash(GRAPH.problem("home", "work"))
    one, other = (Grid(np.ones((3, 4), bool)).problem((1, 2), (3, 0)) for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
    assert one != Grid(np.ones((3, 4), bool), rule="cardinal").problem((1, 2), (3, 0))
    assert one != "a problem"
    with pytest.raises(AttributeError):
        one.start = 1


def test_states_are_named_by_cell_label_or_number():
    grid = Grid(np.ones((3, 4), bool), name="field")
    assert repr(grid.problem((1, 2), (3, 0))) == "<Problem (1, 2) to (3, 0) on field>"
    assert repr(GRAPH.problem(0, 1)) == "<Problem state home to state work>"
    assert repr(Graph.from_edges([(0, 1, 1.0)]).problem(0, 1)) == "<Problem state 0 to state 1>"


def test_reachable_compares_components():
    assert GRAPH.problem(0, 1).reachable
    assert not GRAPH.problem(0, 2).reachable


def test_setting_the_optimal_cost_changes_nothing_else():
    problem = GRAPH.problem(0, 1)
    wiser = problem.with_optimal_cost(1.0)
    assert (problem.optimal_cost, wiser.optimal_cost) == (None, 1.0)
    assert (wiser.graph, wiser.start, wiser.goal) == (problem.graph, problem.start, problem.goal)
