"""LSS-LRTA* and its variants against their definition in plain Python, and against their promises."""

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.world.graph import Graph
from tests import naive
from tests.search.local_twin import LIMITS, Twin, Watched, lss_values
from tests.worlds import drawn, examples, graph_problems, grid_problems, heuristic, in_rows, or_graphs


@st.composite
def variants(draw):
    return {
        "lookahead": draw(st.sampled_from([1, 2, 3, 5, 10, 40])),
        "walk": draw(st.sampled_from(["frontier", "one_move"])),
        "avoidance": draw(st.sampled_from(["off", "mark", "border"])),
        "weight": draw(st.sampled_from([1.0, 1.0, 2.0, 2.654, 8.0])),
    }


def twin_of(problem, weight, **setting):
    return Twin(problem.graph, heuristic(problem), lambda graph, region: lss_values(graph, region, weight), **setting)


@given(variants(), or_graphs(grid_problems(), graph_problems(), graph_problems(directed=True)))
@examples(150)
def test_does_what_the_papers_say_and_does_it_again_in_the_next_trial(variant, problem):
    """Moves, expansions in their order, effort and every learned value; marks and rises start again with each trial."""
    agent, twin = Watched("wlss", problem, **variant), twin_of(problem, **variant)
    for _ in range(3):
        turns, trial = agent.trial()
        assert turns == list(islice(twin.trial(problem.start, problem.goal), LIMITS.moves))
        if not trial.solved:
            break


@given(variants(), or_graphs(grid_problems(), graph_problems()))
@examples(80)
def test_arrives_and_never_learns_more_than_weighted_edges_allow(variant, problem):
    watched = Watched("wlss", problem, **variant)
    turns, trial = watched.trial(andante.Limits(moves=100_000))
    assert trial.solved
    distance = naive.distances_to(problem.graph, problem.goal)
    for turn in turns:
        for state, value in turn.learned.items():
            assert value <= variant["weight"] * distance[state] + 1e-9


def given_up(watched, turns):
    """Return the states whose value is infinite at the end."""
    values = {}
    for turn in turns:
        values |= turn.learned
    return {state for state, value in values.items() if value == math.inf}


@given(variants(), or_graphs(grid_problems(side=14), graph_problems(states=14)))
@examples(120)
def test_removed_states_are_not_needed(variant, problem):
    """If moves can be reversed, the agent arrives, and the rest of its part of the map stays connected."""
    watched = Watched("wlss", problem, **variant, expendable=True)
    turns, trial = watched.trial(andante.Limits(moves=100_000))
    assert trial.solved
    gone = given_up(watched, turns)
    assert problem.goal not in gone
    whole = {s for s, cost in naive.distances_to(problem.graph, problem.goal).items() if cost < math.inf}
    reached, queue = {problem.goal}, [problem.goal]
    while queue:
        for near, _ in problem.graph.neighbours(queue.pop()):
            if near not in gone | reached:
                reached.add(near)
                queue.append(near)
    assert reached == whole - gone


def test_removing_states_helps_in_a_depression():
    """LSS-LRTA* fills a deep pocket again and again."""
    free = np.ones((41, 41), bool)
    free[5:36, 35] = free[5, 5:36] = free[35, 5:36] = False
    problem = andante.Grid(free).problem((20, 20), (40, 20))
    plain, giving_up = (
        andante.run("wlss", problem, lookahead=8, weight=1.0, expendable=expendable) for expendable in (False, True)
    )
    assert plain.solved
    assert giving_up.solved
    assert giving_up.cost < plain.cost / 2


def test_an_agent_that_removes_states_claims_nothing_about_maps_it_discovers():
    assert andante.find("wlss").complete
    assert not andante.find("wlss(expendable=true)").complete


@given(grid_problems(side=10, rules=("cardinal",)))
@examples(60)
def test_with_one_expansion_and_equal_costs_it_is_lrta(problem):
    """Where costs differ, LRTA* takes the first of equal f and LSS-LRTA* the one with the larger g."""
    lss = andante.run("lss(lookahead=1)", problem)
    lrta = naive.lrta(problem.graph, heuristic(problem), problem.start, problem.goal)
    assert lss.path.tolist() == lrta.path
    assert lss.learned == lrta.learned


@given(st.sampled_from(["lss", "dalss", "alss", "wlss"]), or_graphs(grid_problems(), graph_problems()))
@examples(40)
def test_a_goal_within_sight_is_reached_on_a_best_path_in_one_plan(name, problem):
    trial = andante.run(name, problem, lookahead=1000)
    assert trial.cost == pytest.approx(naive.distances_to(problem.graph, problem.goal)[problem.start])
    assert trial.first_move_states_expanded == trial.states_expanded


@pytest.mark.parametrize("name", ["lss", "klrta", "dalss", "alss"])
def test_converges_to_a_best_path(name):
    for problem in drawn(andante.generate("random", 20, 20, seed=5), 3, seed=2):
        process = andante.converge(name, problem, lookahead=4, max_trials=300)
        assert process.converged
        assert process.final.cost == pytest.approx(naive.distances_to(problem.graph, problem.goal)[problem.start])


def test_named_settings_have_these_parameters():
    problem = drawn(andante.generate("rooms", 24, 24, seed=1), 1)[0]
    for name, written in (
        ("lss", "wlss(weight=1)"),
        ("klrta", "lss(walk=one_move)"),
        ("dalss", "lss(avoidance=border)"),
        ("alss", "lss(avoidance=mark)"),
    ):
        assert np.array_equal(andante.run(name, problem).path, andante.run(written, problem).path)


def test_walks_to_the_frontier_or_plans_before_every_move():
    problem = drawn(andante.generate("caves", 40, 40, seed=1), 1, seed=5)[0]
    plans = [turn.states_expanded > 0 for turn in andante.watch("lss(lookahead=30)", problem)]
    assert plans[0]
    assert not all(plans)
    assert all(turn.states_expanded > 0 for turn in andante.watch("klrta(lookahead=30)", problem))


def test_it_reports_that_all_reachable_states_were_expanded():
    """The arc from 3 joins the two parts, in the wrong direction."""
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (3, 0, 1.0)], directed=True)
    assert andante.run("lss", graph.problem(0, 3)).outcome is andante.Outcome.UNREACHABLE


def test_a_dead_end_is_recognised():
    """States 1 and 2 lead nowhere, so they are abandoned, and their infinite values are not counted as learned."""
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (0, 3, 9.0), (3, 4, 9.0)], directed=True)
    watched = Watched("lss(lookahead=3)", graph.problem(0, 4))
    turns, trial = watched.trial()
    assert trial.path.tolist() == [0, 3, 4]
    assert turns[0].learned == {0: 9.0, 1: math.inf, 2: math.inf}
    assert trial.learned == 18.0  # 9 in state 0, and then 9 in state 3


def test_values_that_weights_made_inconsistent_do_no_harm():
    """With large weights and a small lookahead most plans reopen states, on maps too large for luck."""
    grid = andante.generate("caves", 96, 96, seed=2)
    for problem in drawn(grid, 5, seed=3):
        for variant in ("wlss(weight=50)", "wlss(weight=7.3, lookahead=60, avoidance=border)"):
            trial = andante.run(variant, problem, limits=andante.Limits(moves=200_000))
            assert trial.solved
            assert np.array_equal(trial.path, andante.run(variant, in_rows(problem)).path)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "setting",
    [
        "lss(lookahead=1)",
        "lss(walk=one_move, avoidance=border)",
        "wlss(weight=2.654, lookahead=15, avoidance=mark)",
        "wlss(walk=one_move, lookahead=3)",
        "lss-e",
    ],
)
def test_other_settings_fulfil_the_contract(setting, contract_alone):
    assert ("is complete" in andante.check_algorithm(setting)) == andante.find(setting).complete


def test_its_memory_is_small():
    grid = andante.generate("empty", 512, 512)
    assert andante.Agent("dalss(lookahead=1000)", grid).memory_bytes < 20e6
