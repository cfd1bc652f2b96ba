"""LRTA* against its twin, move for move, and against what Korf proved about it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.single import Agent
from andante.search.memory import LEARNED
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import examples, graph_problems, grid_problems, heuristic, in_rows

DEPTHS = (1, 2, 3, 5)
LIMITS = andante.Limits(moves=400)


def assert_walks_like_its_twin(problem, depth):
    trial = Agent("lrta", problem.graph, depth=depth).run(problem, LIMITS)
    twin = naive.lrta(problem.graph, heuristic(problem), problem.start, problem.goal, depth, LIMITS.moves)
    assert trial.path.tolist() == twin.path
    assert trial.solved == twin.arrived
    assert (trial.cost, trial.moves) == (twin.cost, len(twin.path) - 1)
    assert trial.states_expanded == sum(twin.expanded)
    assert trial.states_touched == twin.touched
    assert trial.max_states_expanded == max(twin.expanded, default=0)
    assert trial.first_move_states_expanded == twin.expanded[0]
    assert trial.values_stored == len(twin.values)
    assert trial.learned == twin.learned


@pytest.mark.parametrize("depth", DEPTHS)
@given(problem=grid_problems(side=9, rules=RULES))
@examples(80)
def test_equals_its_twin_on_maps_in_both_layouts(depth, problem):
    assert_walks_like_its_twin(problem, depth)
    assert_walks_like_its_twin(in_rows(problem), depth)


@pytest.mark.parametrize("depth", DEPTHS)
@given(problem=graph_problems(states=10))
@examples(80)
def test_equals_its_twin_on_graphs_with_odd_costs(depth, problem):
    assert_walks_like_its_twin(problem, depth)


@pytest.mark.parametrize("depth", DEPTHS)
@given(problem=graph_problems(states=8, directed=True))
@examples(60)
def test_equals_its_twin_on_one_way_streets(depth, problem):
    """The goal may become unreachable during the walk; then it walks to the limit or gets stuck, as its twin does."""
    assert_walks_like_its_twin(problem, depth)


@given(grid_problems(side=9), st.sampled_from(DEPTHS))
@examples(80)
def test_values_rise_but_never_above_the_truth(problem, depth):
    true = naive.distances_to(problem.graph, problem.goal)
    h0 = heuristic(problem)
    known = {}
    for turn in andante.watch("lrta", problem, depth=depth):
        for thought in turn.thoughts:
            if thought.kind == LEARNED:
                before = known.get(thought.state, h0(thought.state))
                assert before < thought.value <= true[thought.state] + 1e-6
                known[thought.state] = thought.value


@given(grid_problems(side=9, rules=RULES), st.sampled_from(DEPTHS))
@examples(80)
def test_arrives_wherever_a_path_exists(problem, depth):
    assert andante.run("lrta", problem, depth=depth).outcome is andante.Outcome.GOAL


@given(grid_problems(side=9), st.sampled_from(DEPTHS))
@examples(80)
def test_no_move_expands_more_than_on_an_empty_map(problem, depth):
    assert andante.run("lrta", problem, depth=depth).max_states_expanded <= (2 * depth - 1) ** 2


@pytest.mark.parametrize(("depth", "most"), [(1, 1), (2, 9), (3, 25), (4, 49), (6, 121), (14, 729)])
def test_table_4_of_bulitko_et_al_2008(depth, most):
    grid = Grid(np.ones((2 * depth + 1, 2 * depth + 30), bool))
    problem = grid.problem((depth, depth), (2 * depth + 29, depth))
    trial = andante.run("lrta", problem, depth=depth)
    assert trial.first_move_states_expanded == trial.max_states_expanded == most
    assert trial.suboptimality_ratio == 1


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_corridor_one_state_wide_is_walked_straight(depth):
    grid = Grid(np.ones((1, 30), bool))
    trial = andante.run("lrta", grid.problem((29, 0), (0, 0)), depth=depth)
    assert trial.path.tolist() == list(range(29, -1, -1))
    assert trial.learned == 0


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_dead_end_is_left_after_learning(depth):
    """The corridor points straight at the goal and ends at a wall; the path leads back and around."""
    grid = Grid(np.array([list(row) for row in ("........", ".@@@@@@.", "......@.", "@@@@@@@.")]))
    trial = andante.run("lrta", grid.problem((1, 2), (7, 2)), depth=depth)
    assert trial.solved
    assert trial.learned > 0
    assert (trial.cost > trial.optimal_cost) == (depth < 5)  # with five moves it sees the wall from the start


@pytest.mark.parametrize("depth", DEPTHS)
def test_is_stuck_where_no_move_exists(depth):
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (3, 2, 1.0)], directed=True)
    trial = andante.run("lrta", graph.problem(0, 3), depth=depth)
    assert trial.outcome is andante.Outcome.STUCK
    assert trial.path.tolist() == [0, 1, 2]
    at_once = andante.run("lrta", graph.problem(2, 3), depth=depth)
    assert (at_once.outcome, at_once.moves, at_once.cost) == (andante.Outcome.STUCK, 0, 0.0)


@pytest.mark.parametrize("depth", DEPTHS)
def test_no_move_is_made_if_the_goal_cannot_be_reached(depth):
    grid = Grid(np.array([list("..@.")]))
    trial = andante.run("lrta", grid.problem((0, 0), (3, 0)), depth=depth)
    assert trial.outcome is andante.Outcome.UNREACHABLE
    assert (trial.moves, trial.states_expanded, trial.path.tolist()) == (0, 0, [0])


def test_ties_go_to_the_first_neighbour_in_the_order():
    """Two paths around the wall cost the same, and north is first."""
    grid = Grid(np.array([list(row) for row in ("...", ".@.", "...")]))
    trial = andante.run("lrta", grid.problem((0, 1), (2, 1)))
    assert trial.cells[1] == (0, 0)


def test_the_first_moves_are_those_computed_by_hand():
    """On a line with costs 1, 1 and 5 back, h(1) becomes 1 + h(2), and so on, as computed on paper."""
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 5.0)])
    watch = andante.watch("lrta", graph.problem(1, 3))
    moves = list(watch)
    # h is 0 everywhere: 1 goes to 0 (first in its order), learning 1; 0 to 1, learning 2; 1 to 2, learning 1 -> 1;
    # 2 compares 1 + h(1) with 5 + 0.
    assert watch.trial.path.tolist()[:4] == [1, 0, 1, 2]
    assert [m.learned for m in moves][:2] == [1.0, 2.0]
    assert watch.trial.path.tolist()[-1] == 3
    assert watch.trial.cost == sum(m.cost for m in moves)
