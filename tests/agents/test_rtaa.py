"""RTAA* and its variants against their definition in plain Python, and against their promises."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.world.graph import Graph
from tests import naive
from tests.search.local_twin import LIMITS, Twin, Watched, rtaa_values
from tests.worlds import drawn, examples, graph_problems, grid_problems, heuristic, or_graphs


@st.composite
def variants(draw):
    return {
        "lookahead": draw(st.sampled_from([1, 2, 3, 5, 10, 40])),
        "walk": draw(st.sampled_from(["frontier", "one_move"])),
        "avoidance": draw(st.sampled_from(["off", "mark", "border"])),
    }


@given(variants(), or_graphs(grid_problems(), graph_problems(), graph_problems(directed=True)))
@examples(150)
def test_does_what_the_papers_say_and_does_it_again_in_the_next_trial(variant, problem):
    """Moves, expansions in their order, effort and every learned value; marks and rises start again with each trial."""
    agent = Watched("rtaa", problem, **variant)
    twin = Twin(problem.graph, heuristic(problem), rtaa_values, searches=False, **variant)
    for _ in range(3):
        turns, trial = agent.trial()
        assert turns == list(islice(twin.trial(problem.start, problem.goal), LIMITS.moves))
        if not trial.solved:
            break


@given(variants(), or_graphs(grid_problems(), graph_problems()))
@examples(80)
def test_arrives_and_never_learns_more_than_the_truth(variant, problem):
    turns, trial = Watched("rtaa", problem, **variant).trial(andante.Limits(moves=100_000))
    assert trial.solved
    distance = naive.distances_to(problem.graph, problem.goal)
    for turn in turns:
        for state, value in turn.learned.items():
            assert value <= distance[state] + 1e-9


@given(or_graphs(grid_problems(side=10), graph_problems()))
@examples(60)
def test_with_one_expansion_it_learns_what_lss_learns(problem):
    """With one closed state, both rules are the least cost plus h over its neighbours."""
    rtaa, lss = andante.run("rtaa(lookahead=1)", problem), andante.run("lss(lookahead=1)", problem)
    assert np.array_equal(rtaa.path, lss.path)
    assert rtaa.learned == lss.learned


@given(grid_problems(side=10), st.integers(2, 30))
@examples(60)
def test_never_learns_more_than_lss_from_the_same_lookahead(problem, lookahead):
    """The first plan is compared, as it is the same for both."""
    rtaa = next(andante.watch("rtaa", problem, lookahead=lookahead))
    lss = next(andante.watch("lss", problem, lookahead=lookahead))
    assert rtaa.state == lss.state
    assert rtaa.learned <= lss.learned + 1e-9


@given(st.sampled_from(["rtaa", "dartaa", "artaa"]), or_graphs(grid_problems(), graph_problems()))
@examples(40)
def test_a_goal_within_sight_is_reached_on_a_best_path_in_one_plan(name, problem):
    trial = andante.run(name, problem, lookahead=1000)
    assert trial.cost == pytest.approx(naive.distances_to(problem.graph, problem.goal)[problem.start])
    assert trial.first_move_states_expanded == trial.states_expanded


@pytest.mark.parametrize("name", ["rtaa", "rtaa(walk=one_move)", "dartaa", "artaa"])
def test_converges_to_a_best_path(name):
    for problem in drawn(andante.generate("random", 20, 20, seed=5), 3, seed=2):
        process = andante.converge(name, problem, lookahead=4, max_trials=300)
        assert process.converged
        assert process.final.cost == pytest.approx(naive.distances_to(problem.graph, problem.goal)[problem.start])


def test_named_settings_have_these_parameters():
    problem = drawn(andante.generate("rooms", 24, 24, seed=1), 1)[0]
    for name, written in (("dartaa", "rtaa(avoidance=border)"), ("artaa", "rtaa(avoidance=mark)")):
        assert np.array_equal(andante.run(name, problem).path, andante.run(written, problem).path)


def test_it_reports_that_all_reachable_states_were_expanded():
    graph = Graph.from_edges([(0, 1, 1.0), (1, 0, 1.0), (2, 0, 1.0)], directed=True)
    assert andante.run("rtaa", graph.problem(0, 2)).outcome is andante.Outcome.UNREACHABLE


@pytest.mark.compiled
@pytest.mark.parametrize("setting", ["rtaa(lookahead=1)", "rtaa(walk=one_move, lookahead=15, avoidance=mark)"])
def test_other_settings_fulfil_the_contract(setting, contract_alone):
    assert "is complete" in andante.check_algorithm(setting)
