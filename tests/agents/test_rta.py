"""RTA* against its twin, move for move."""

import numpy as np
import pytest
from hypothesis import given

import andante
from andante.episode.single import Agent
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import examples, graph_problems, grid_problems, heuristic, in_rows

LIMITS = andante.Limits(moves=400)


def assert_walks_like_its_twin(problem):
    trial = Agent("rta", problem.graph).run(problem, LIMITS)
    twin = naive.rta(problem.graph, heuristic(problem), problem.start, problem.goal, LIMITS.moves)
    assert trial.path.tolist() == twin.path
    assert trial.solved == twin.arrived
    assert (trial.cost, trial.moves) == (twin.cost, len(twin.path) - 1)
    assert trial.states_expanded == sum(twin.expanded)
    assert trial.states_touched == twin.touched
    assert trial.values_stored == len(twin.values)
    assert trial.learned == pytest.approx(twin.learned)


@given(grid_problems(side=9, rules=RULES))
@examples(120)
def test_equals_its_twin_on_maps_in_both_layouts(problem):
    assert_walks_like_its_twin(problem)
    assert_walks_like_its_twin(in_rows(problem))


@given(graph_problems(states=10), graph_problems(states=10, directed=True))
@examples(120)
def test_equals_its_twin_on_graphs_with_odd_costs(problem, one_way):
    assert_walks_like_its_twin(problem)
    assert_walks_like_its_twin(one_way)


@given(grid_problems(side=9, rules=RULES), graph_problems(states=10))
@examples(100)
def test_arrives_wherever_a_path_exists_and_moves_can_be_reversed(problem, other):
    assert andante.run("rta", problem).solved
    assert andante.run("rta", other).solved


def test_the_second_best_value_is_stored():
    """From the middle of a line both directions are equally good. It stores the cost of the other one, not its own."""
    graph = Graph.from_edges([(1, 0, 1.0), (1, 2, 2.0), (2, 3, 9.0)])
    watch = andante.watch("rta", graph.problem(1, 3))
    first = next(watch)
    assert (first.state, first.learned) == (0, 2.0)
    second = next(watch)  # a dead end: never entered again, and an infinite rise is not counted
    assert (second.state, second.learned) == (1, 0.0)
    assert [turn.state for turn in watch] == [2, 3]
    assert watch.trial.path.tolist() == [1, 0, 1, 2, 3]


def test_a_corridor_one_state_wide_is_walked_straight():
    grid = Grid(np.ones((30, 1), bool))
    trial = andante.run("rta", grid.problem((0, 29), (0, 0)))
    assert trial.moves == 29
    assert trial.suboptimality_ratio == 1


def test_one_expansion_per_move():
    grid = andante.generate("rooms", 17, 17, size=5, seed=3)
    free = np.flatnonzero(grid.passable)
    trial = andante.run("rta", grid.problem(grid.cell(free[0]), grid.cell(free[-1])))
    assert trial.solved
    assert trial.states_expanded == trial.moves
    assert trial.max_states_expanded == 1


def test_is_stuck_where_no_move_exists():
    graph = Graph.from_edges([(0, 1, 1.0), (2, 1, 1.0)], directed=True)
    trial = andante.run("rta", graph.problem(0, 2))
    assert (trial.outcome, trial.path.tolist()) == (andante.Outcome.STUCK, [0, 1])
