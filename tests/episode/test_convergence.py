"""Convergence: values that are kept and forgotten, the ends of a process, and its final path."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.convergence import Ending
from andante.world.graph import Graph
from tests.worlds import SIDE, drawn, examples, graph_problems, grid_problems, heuristic, or_graphs

# --- comparison with a twin -----------------------------------------------------------------------------------------


def lrta_trials(problem):
    """Return the paths of LRTA*'s trials in plain Python until one learns nothing, and the final values."""
    h0 = heuristic(problem)
    values, paths, learning = {}, [], True
    while learning:
        learning, path = False, [problem.start]
        while path[-1] != problem.goal:
            here = path[-1]
            f = [cost + values.get(near, h0(near)) for near, cost in problem.graph.neighbours(here)]
            if min(f) > values.get(here, h0(here)):
                values[here] = min(f)
                learning = True
            path.append(problem.graph.neighbours(here)[f.index(min(f))][0])
        paths.append(path)
    return paths, values


@given(or_graphs(grid_problems(), graph_problems()))
@examples(100)
def test_trials_of_lrta_equal_those_of_the_twin(problem):
    paths, values = lrta_trials(problem)
    process = andante.converge("lrta", problem)
    assert process.converged
    assert [trial.moves for trial in process.trials] == [len(path) - 1 for path in paths]
    assert process.final.path.tolist() == paths[-1]
    assert process.moves == sum(len(path) - 1 for path in paths)
    assert process.states_expanded == process.moves
    assert process.states_touched == sum(len(problem.graph.neighbours(s)) for path in paths for s in path[:-1])
    assert process.values_stored == len(values)
    assert process.learned == pytest.approx(sum(value - heuristic(problem)(s) for s, value in values.items()))


# --- final paths ----------------------------------------------------------------------------------------------------


@given(or_graphs(grid_problems(), graph_problems()), st.integers(1, 5))
@examples(100)
def test_lrta_ends_on_a_cheapest_path(problem, depth):
    process = andante.converge("lrta", problem, depth=depth)
    assert process.converged
    assert process.final.learned == 0
    assert process.suboptimality_ratio == pytest.approx(1)


@given(
    or_graphs(grid_problems(), graph_problems()),
    st.integers(1, 4),
    st.sampled_from([1.0, 0.8, 0.5, 0.2]),
    st.sampled_from([0.0, 3.0, 20.0, float("inf")]),
)
@examples(150)
def test_lrts_ends_within_its_weight_of_a_cheapest_path(problem, depth, gamma, quota):
    process = andante.converge("lrts", problem, depth=depth, gamma=gamma, quota=quota)
    assert process.converged
    assert process.suboptimality_ratio <= 1 / gamma + 1e-6


@pytest.mark.compiled
def test_less_weight_means_fewer_values_and_perhaps_a_worse_path():
    """The trade that Bulitko et al. (2007), section 2.2, describes, in the mean over a few dozen problems."""
    problems = drawn(andante.generate("rooms", 40, 40, seed=4), 24, seed=2)
    exact, rough = (andante.converge_many("wlrta", problems, gamma=gamma, paths=False) for gamma in (1.0, 0.4))
    assert np.mean([p.suboptimality_ratio for p in exact]) == pytest.approx(1)
    assert np.mean([p.suboptimality_ratio for p in rough]) > 1
    assert sum(p.values_stored for p in rough) < sum(p.values_stored for p in exact)
    assert sum(len(p.trials) for p in rough) < sum(len(p.trials) for p in exact)


def test_a_star_has_nothing_to_learn():
    grid = andante.generate("random", SIDE, SIDE, seed=1)
    (problem,) = drawn(grid, 1)
    process = andante.converge("astar", problem)
    assert (len(process.trials), process.values_stored, process.learned) == (1, 0, 0)
    assert process.travel == process.final.cost == pytest.approx(process.final.optimal_cost)
    assert process.first_move_states_expanded == process.states_expanded
    assert process.first_move_states_touched == process.states_touched


# --- measures -------------------------------------------------------------------------------------------------------


@pytest.fixture
def pocket():
    """Return a problem from the inside of a pocket to the other side of its end."""
    free = np.ones((13, 15), bool)
    free[[3, 9], 4:11] = free[3:10, 10] = False
    return andante.Grid(free).problem((7, 6), (13, 6))


def test_measures_are_over_all_trials_or_of_the_last(pocket):
    process = andante.converge("lrta(depth=3)", pocket)
    assert len(process.trials) > 2
    assert process.costs.tolist() == [trial.cost for trial in process.trials]
    assert process.travel == process.costs.sum()
    for name in ("moves", "states_expanded", "states_touched", "values_stored", "learned", "seconds"):
        assert getattr(process, name) == sum(getattr(trial, name) for trial in process.trials)
    last = process.trials[-1]
    assert process.final is last
    first = next(andante.watch("lrta(depth=3)", pocket))
    assert process.trials[0].first_move_states_touched == first.states_touched
    assert process.first_move_states_expanded == last.first_move_states_expanded > 0
    assert process.first_move_seconds == last.first_move_seconds <= last.seconds
    assert process.first_move_states_touched == last.first_move_states_touched > process.first_move_states_expanded
    assert [trial.path is None for trial in process.trials] == [True] * (len(process.trials) - 1) + [False]
    assert "CONVERGED" in repr(process)


def test_without_paths_everything_else_is_the_same(pocket):
    (process,) = andante.converge_many("lrta", [pocket], paths=False)
    assert process.final.path is None
    assert process.costs.tolist() == andante.converge("lrta", pocket).costs.tolist()


# --- kept and forgotten ---------------------------------------------------------------------------------------------


def test_the_trials_are_those_of_an_agent_that_keeps_what_it_learned(pocket):
    agent = andante.Agent("lrta", pocket.graph)
    trials = [agent.run(pocket)]
    while trials[-1].learned:
        trials += agent.run_all([pocket], again=True)
    process = andante.converge("lrta", pocket)
    assert process.costs.tolist() == [trial.cost for trial in trials]
    assert process.final.path.tolist() == trials[-1].path.tolist()


def test_nothing_is_kept_from_problem_to_problem(pocket):
    """This holds even for the same problem, and for the agent that the next plain run uses."""
    before = andante.run("lrta", pocket)
    one, other = andante.converge_many("lrta", [pocket, pocket])
    assert one.costs.tolist() == other.costs.tolist()
    assert one.trials[0].cost == before.cost
    assert andante.run("lrta", pocket).cost == before.cost


def test_an_agent_can_continue_only_with_the_same_goal(pocket):
    agent = andante.Agent("lrta", pocket.graph)
    with pytest.raises(andante.AndanteError, match="goal"):
        agent.run_all([pocket], again=True)
    agent.run(pocket)
    elsewhere = andante.Problem(pocket.graph, pocket.goal, pocket.start)
    with pytest.raises(andante.AndanteError, match="goal"):
        agent.run_all([elsewhere], again=True)
    near = andante.Problem(pocket.graph, int(agent.run(pocket).path[3]), pocket.goal)
    fresh, knowing = andante.run("lrta", near), agent.run_all([near], again=True)[0]
    assert knowing.cost < fresh.cost


def test_results_do_not_depend_on_threads():
    grid, other = andante.generate("rooms", 20, 20, seed=1), andante.generate("random", 20, 20, seed=2)
    problems = [p for pair in zip(drawn(grid, 4), drawn(other, 4), strict=True) for p in pair]
    finished = []
    alone = andante.converge_many("lrts(depth=2, gamma=0.5, quota=20)", problems)
    together = andante.converge_many(
        "lrts(depth=2, gamma=0.5, quota=20)", problems, threads=2, progress=finished.append
    )
    assert [p.problem for p in together] == problems
    assert [p.costs.tolist() for p in together] == [p.costs.tolist() for p in alone]
    assert sum(finished) == len(problems)


# --- ends without convergence ---------------------------------------------------------------------------------------


def test_the_number_of_trials_has_a_cap(pocket):
    process = andante.converge("lrta", pocket, max_trials=2)
    assert (process.outcome, len(process.trials)) == (Ending.TRIAL_CAP, 2)
    assert not process.converged
    assert process.final.solved


def test_a_process_that_converges_in_its_last_trial_has_converged(pocket):
    needed = len(andante.converge("lrta", pocket).trials)
    assert andante.converge("lrta", pocket, max_trials=needed).converged
    assert not andante.converge("lrta", pocket, max_trials=needed - 1).converged


@pytest.mark.parametrize(
    ("limit", "ending", "measure"),
    [
        ("cost", "COST_CAP", lambda trial: trial.cost),
        ("moves", "MOVE_CAP", lambda trial: trial.moves),
        ("expansions", "EXPANSION_CAP", lambda trial: trial.states_expanded),
    ],
)
def test_limits_are_on_all_trials_together(pocket, limit, ending, measure):
    free = andante.converge("lrta", pocket)
    first, whole = measure(free.trials[0]), sum(map(measure, free.trials))
    for cap in (first - 1, first, first + 1, whole - 3):
        capped = andante.converge("lrta", pocket, limits=andante.Limits(**{limit: cap}))
        assert capped.outcome.name == ending
        assert cap <= sum(map(measure, capped.trials)) <= cap + 1.5
        assert (capped.costs[:-1] == free.costs[: len(capped.costs) - 1]).all()
    assert andante.converge("lrta", pocket, limits=andante.Limits(**{limit: whole})).converged


def test_a_limit_on_suboptimality_is_one_on_travel(pocket):
    least = andante.run("astar", pocket).cost
    for problem in (pocket, pocket.with_optimal_cost(least)):
        process = andante.converge("lrta", problem, limits=andante.Limits(suboptimality=10))
        assert process.outcome is Ending.COST_CAP
        assert 10 * least <= process.travel <= 10 * least + 1.5


def test_an_unreachable_goal_ends_the_process():
    free = np.ones((5, 9), bool)
    free[:, 4] = False
    grid = andante.Grid(free)
    process = andante.converge("lrta", grid.problem((0, 0), (8, 0)))
    assert (process.outcome, len(process.trials), process.travel) == (Ending.UNREACHABLE, 1, 0.0)


def test_a_stuck_agent_ends_the_process():
    trap = Graph.from_edges([(0, 1, 1.0), (0, 2, 5.0)], directed=True)
    assert andante.converge("lrta", trap.problem(0, 2)).outcome is Ending.STUCK


@pytest.mark.parametrize("bad", [0, -1])
def test_the_number_of_trials_must_be_positive(pocket, bad):
    with pytest.raises(andante.AndanteError, match="max_trials"):
        andante.converge("lrta", pocket, max_trials=bad)
    with pytest.raises(andante.AndanteError, match="max_trials"):
        andante.converge_many("lrta", [pocket], max_trials=bad)


def test_an_error_while_it_runs_stops_the_others(pocket):
    """An exception from the caller's progress is raised, and the threads end."""

    def tired(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        andante.converge_many("sla", [pocket] * 50, threads=2, progress=tired)
    assert threading.active_count() < 10
