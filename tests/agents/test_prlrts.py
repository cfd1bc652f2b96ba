"""PR LRTS, PR LRTA* and PRA*: some settings equal algorithms that are known to be right, and their bounds hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import Hierarchy
from andante.errors import GraphError, ParameterError
from tests.worlds import FULL, examples, grid_problems

LIMITS = andante.Limits(moves=3000)


DEPTHS, GAMMAS = st.sampled_from([1, 2, 3, 5, 9]), st.sampled_from([0.2, 0.4, 0.8, 1.0])
QUOTAS = st.sampled_from([0.0, 1.0, 10.0, 50.0, math.inf])
SIGHTS = st.sampled_from([None, 1, 2, 3, 10]) if FULL else st.none()


@pytest.mark.compiled
@given(grid_problems(side=16), DEPTHS, GAMMAS, QUOTAS, SIGHTS)
@examples(250)
def test_on_level_0_it_is_lrts_move_for_move(problem, depth, gamma, quota, sight):
    given = {"depth": depth, "gamma": gamma, "quota": quota, "sight": sight, "limits": LIMITS}
    ours, lrts = andante.run("prlrts", problem, level=0, **given), andante.run("lrts", problem, **given)
    assert ours.path.tolist() == lrts.path.tolist()
    assert ours.outcome is lrts.outcome
    assert (ours.states_expanded, ours.states_touched) == (lrts.states_expanded, lrts.states_touched)
    assert (ours.learned, ours.values_stored) == (lrts.learned, lrts.values_stored)


@pytest.mark.compiled
@given(grid_problems(side=16), DEPTHS, GAMMAS, QUOTAS, SIGHTS)
@examples(150)
def test_on_level_0_it_converges_as_lrts_does(problem, depth, gamma, quota, sight):
    given = {"depth": depth, "gamma": gamma, "quota": quota, "sight": sight, "limits": LIMITS, "max_trials": 50}
    ours, lrts = andante.converge("prlrts", problem, level=0, **given), andante.converge("lrts", problem, **given)
    assert (ours.outcome, ours.costs.tolist()) == (lrts.outcome, lrts.costs.tolist())
    assert ours.final.path.tolist() == lrts.final.path.tolist()
    assert (ours.states_expanded, ours.states_touched) == (lrts.states_expanded, lrts.states_touched)
    assert (ours.learned, ours.values_stored) == (lrts.learned, lrts.values_stored)


@pytest.mark.compiled
@given(grid_problems(side=12), st.sampled_from([1, 3]))
@examples(40)
def test_pr_lrta_on_level_0_is_lrta_move_for_move(problem, depth):
    ours = andante.run("prlrta", problem, level=0, depth=depth, gamma=1.0, limits=LIMITS)
    lrta = andante.run("lrta", problem, depth=depth, limits=LIMITS)
    assert ours.path.tolist() == lrta.path.tolist()
    assert (ours.learned, ours.values_stored) == (lrta.learned, lrta.values_stored)


@pytest.mark.compiled
@given(grid_problems(side=12))
@examples(40)
def test_with_a_star_on_every_level_the_whole_plan_is_made_before_the_first_move(problem):
    trial = andante.run("prlrts", problem, level=0, top="astar")
    assert trial.cost == andante.run("astar", problem).cost
    assert trial.first_move_states_expanded == trial.states_expanded


@pytest.mark.compiled
@given(grid_problems(side=16), st.booleans(), st.sampled_from([cover.name.lower() for cover in Cover]))
@examples(40)
def test_pra_plans_once_and_never_beats_the_optimal_cost(problem, widen, cover):
    trial = andante.run("pra", problem, widen=widen, cover=cover)
    assert trial.solved
    assert trial.cost >= trial.optimal_cost - 1e-6
    assert trial.first_move_states_expanded == trial.states_expanded


def test_a_refined_plan_stays_in_the_regions_of_the_abstract_plan():
    grid = andante.generate("caves", 48, 48, seed=3)
    region = Hierarchy(grid).regions(2)
    for problem in andante.random_problems(grid, 10, optimal_cost=(30, 60), seed=1):
        watch = andante.watch("prlrta(level=2, depth=3, gamma=1.0)", problem)
        since, here = set(), problem.start
        for turn in watch:
            if turn.states_expanded:  # a new plan: one move between regions, so two regions at most until the next
                since = {int(region[here])}
            here = turn.state
            since.add(int(region[here]))
            assert len(since) <= 2


def test_few_values_are_stored_on_the_abstract_level():
    grid = andante.generate("outdoor", 96, 96, seed=3)
    problem = andante.random_problems(grid, 1, optimal_cost=(70, 120), seed=2)[0]
    stored = [andante.converge("prlrts", problem, level=level, depth=3, gamma=1.0).values_stored for level in (0, 2, 4)]
    assert stored[0] > stored[1] >= stored[2]


def test_the_short_form_of_the_paper():
    found = andante.find("LRTS_2(3, 0.8, 100)").params
    assert (found.level, found.depth, found.gamma, found.quota) == (2, 3, 0.8, 100.0)
    assert andante.find("LRTS4(9,0.4,∞)").params.quota == math.inf


def test_levels_beyond_the_top_are_refused_in_a_sentence():
    grid = andante.generate("empty", 8, 8)
    with pytest.raises(ParameterError, match="level must be at most 3, the highest level of this map"):
        andante.Agent("prlrts", grid, level=9)


def test_graphs_without_points_are_refused_in_a_sentence():
    graph = andante.Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0)])
    with pytest.raises(GraphError, match="this graph has no points"):
        andante.Agent("pra", graph)


def test_landmarks_give_a_graph_points():
    grid = andante.generate("rooms", 24, 24, seed=1)
    graph = andante.with_landmarks(grid.graph, 4)
    problem = andante.random_problems(grid, 1, seed=3)[0]
    trial = andante.run("pra", graph.problem(problem.start, problem.goal))
    assert trial.solved
    assert np.isfinite(trial.cost)


def test_needs_follow_the_parameters():
    assert andante.find("prlrta").needs == ()
    assert andante.find("prlrta(goal_by=pattern)").needs == ("pattern",)
    assert andante.find("dlrta(depth_by=fixed, goal_by=global)").needs == ()


def test_an_oracle_cannot_be_used_over_regions():
    grid = andante.generate("rooms", 24, 24, seed=1)
    with pytest.raises(ParameterError, match="depth_by must be fixed or pattern"):
        andante.Agent("prlrta", grid, level=1, depth_by="oracle")


def test_claims_follow_the_parameters():
    plain = andante.find("prlrts(level=2)")
    assert plain.real_time
    assert plain.complete
    assert not andante.find("prlrts(level=2, top=astar)").real_time
    assert not andante.find("prlrts(level=2, ground=lrts)").complete
    assert not andante.find("prlrts(level=2, between=lrts)").complete
    assert andante.find("prlrts(level=1, between=lrts)").complete  # nothing is between
    assert andante.find("prlrts(level=0, ground=lrts)").complete
