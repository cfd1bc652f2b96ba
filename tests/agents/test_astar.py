"""A* and weighted A* as agents: the whole plan first, then the walk."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.single import Agent
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import examples, graph_problems, grid_problems, in_rows

WEIGHTS = [1, 1.25, 2, 5, 100, 1e12, float("inf")]


def path_cost(graph, path):
    return sum(min(cost for near, cost in graph.neighbours(a) if near == b) for a, b in itertools.pairwise(path))


@given(grid_problems(rules=RULES), st.sampled_from(WEIGHTS))
@examples(120)
def test_paths_cost_at_most_the_weight_times_the_optimum_on_maps(problem, weight):
    true = naive.distances_from(problem.graph, problem.start)[problem.goal]
    for p in (problem, in_rows(problem)):
        trial = Agent("wastar", p.graph, weight=weight).run(p)
        assert trial.path[[0, -1]].tolist() == [p.start, p.goal]
        assert trial.cost == path_cost(p.graph, trial.path.tolist())
        assert true <= trial.cost <= weight * true + 1e-9
    assert andante.run("astar", problem).cost == true


@given(graph_problems(states=12), graph_problems(states=12, directed=True), st.sampled_from(WEIGHTS))
@examples(120)
def test_paths_cost_at_most_the_weight_times_the_optimum_on_graphs(problem, one_way, weight):
    for p in (problem, one_way):
        true = naive.distances_from(p.graph, p.start)[p.goal]
        trial = Agent("wastar", p.graph, weight=weight).run(p)
        assert trial.cost == path_cost(p.graph, trial.path.tolist())
        assert true <= trial.cost <= weight * true + 1e-9
        assert Agent("astar", p.graph).run(p).cost == true


def test_all_planning_counts_for_the_first_move():
    grid = andante.generate("rooms", 17, 17, size=5, seed=1)
    free = np.flatnonzero(grid.passable)
    watch = andante.watch("astar", grid.problem(grid.cell(free[0]), grid.cell(free[-1])))
    turns = list(watch)
    assert turns[0].states_expanded > 0
    assert {turn.states_expanded for turn in turns[1:]} == {0}
    trial = watch.trial
    assert trial.first_move_states_expanded == trial.max_states_expanded == trial.states_expanded
    assert (trial.learned, trial.values_stored) == (0.0, 0)


def test_a_goal_against_one_way_arcs_is_unreachable():
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (3, 2, 1.0)], directed=True)
    trial = andante.run("astar", graph.problem(0, 3))
    assert trial.outcome is andante.Outcome.UNREACHABLE
    assert (trial.moves, trial.states_expanded) == (0, 3)


def test_the_cheapest_of_parallel_edges_is_used():
    graph = Graph.from_edges([(0, 1, 9.0), (0, 1, 2.0), (1, 2, 1.0)], directed=True)
    assert andante.run("astar", graph.problem(0, 2)).cost == 3.0


@pytest.mark.compiled
@pytest.mark.parametrize("weight", [1.5, 2, 10, 1e6])
def test_a_weight_saves_work(weight):
    grid = andante.generate("caves", 128, 128, seed=3)
    problems = andante.random_problems(grid, 20, seed=1)
    plain, weighted = (
        sum(t.states_expanded for t in andante.run_many("wastar", problems, weight=w)) for w in (1, weight)
    )
    assert weighted < plain


def test_a_corridor_one_state_wide():
    grid = Grid(np.ones((1, 25), bool))
    trial = andante.run("astar", grid.problem((0, 0), (24, 0)))
    assert (trial.moves, trial.states_expanded) == (24, 24)
