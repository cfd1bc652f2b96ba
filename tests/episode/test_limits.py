"""Limits: each ends an episode at the right move, with its outcome."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.trial import Limits
from andante.errors import ParameterError
from andante.measures import Outcome
from andante.world.graph import Graph
from andante.world.grid import Grid
from tests.worlds import examples, grid_problems

LINE = Grid(np.ones((1, 40), bool))
PROBLEM = LINE.problem((0, 0), (39, 0))  # 39 moves of cost 1, one expansion each


def ended(limits, name="lrta", problem=PROBLEM):
    trial = andante.run(name, problem, limits=limits)
    return trial.outcome, trial.moves, trial.cost


def test_without_a_limit_the_goal_is_reached():
    for limits in (Limits(), Limits(39, 39, 39, 1), Limits(cost=39.0), Limits(moves=39), Limits(expansions=39)):
        assert ended(limits) == (Outcome.GOAL, 39, 39.0)


def test_cost():
    """The agent gives up at the move that exceeds the limit, which cannot be known before."""
    assert ended(Limits(cost=10)) == (Outcome.COST_CAP, 11, 11.0)
    assert ended(Limits(cost=10.5)) == (Outcome.COST_CAP, 11, 11.0)
    assert ended(Limits(cost=38.5)) == (Outcome.GOAL, 39, 39.0)  # an agent that has arrived has not given up
    assert ended(Limits(cost=1e-9)) == (Outcome.COST_CAP, 1, 1.0)


def test_moves():
    assert ended(Limits(moves=10)) == (Outcome.MOVE_CAP, 10, 10.0)
    assert ended(Limits(moves=1)) == (Outcome.MOVE_CAP, 1, 1.0)
    assert ended(Limits(moves=math.inf)) == (Outcome.GOAL, 39, 39.0)
    assert ended(Limits(moves=np.int64(10))) == (Outcome.MOVE_CAP, 10, 10.0)


def test_expansions():
    assert ended(Limits(expansions=10)) == (Outcome.EXPANSION_CAP, 10, 10.0)
    assert ended(Limits(expansions=10), "lrta(depth=3)")[0] is Outcome.EXPANSION_CAP
    assert ended(Limits(expansions=1e300)) == (Outcome.GOAL, 39, 39.0)
    # A plan made in one move is not cut short, but ends the episode.
    assert ended(Limits(expansions=10), "astar") == (Outcome.EXPANSION_CAP, 1, 1.0)


def test_suboptimality():
    trap = Grid(np.array([list(row) for row in ("........", ".@@@@@@.", "......@.", "@@@@@@@.")]))
    problem = trap.problem((1, 2), (7, 2))
    free = andante.run("lrta", problem)
    assert free.suboptimality_ratio > 2
    capped = andante.run("lrta", problem, limits=Limits(suboptimality=1.5))
    assert capped.outcome is Outcome.COST_CAP
    assert 1.5 < capped.suboptimality_ratio < 1.7
    assert andante.run("lrta", problem, limits=Limits(suboptimality=free.suboptimality_ratio)).solved
    known = problem.with_optimal_cost(1.0)  # the problem's optimal cost is trusted
    assert andante.run("lrta", known, limits=Limits(suboptimality=3.0)).cost < 5
    assert andante.run("astar", problem, limits=Limits(suboptimality=1)).solved


def test_the_tighter_of_two_limits_counts():
    assert ended(Limits(cost=20, moves=5)) == (Outcome.MOVE_CAP, 5, 5.0)
    assert ended(Limits(cost=4, suboptimality=30)) == (Outcome.COST_CAP, 5, 5.0)
    assert ended(Limits(cost=30, suboptimality=0.25)) == (Outcome.COST_CAP, 10, 10.0)


@given(grid_problems(), st.integers(1, 30), st.sampled_from(["lrta", "lrta(depth=3)", "rta", "astar"]))
@examples(80)
def test_the_path_under_a_limit_is_the_beginning_of_the_whole_path(problem, moves, name):
    whole = andante.run(name, problem)
    part = andante.run(name, problem, limits=Limits(moves=moves))
    assert part.path.tolist() == whole.path[: moves + 1].tolist()
    assert part.outcome is (Outcome.GOAL if whole.moves <= moves else Outcome.MOVE_CAP)


def test_every_problem_has_its_own_limit():
    problems = [LINE.problem((0, 0), (x, 0)) for x in (5, 10, 20, 39)]
    trials = andante.run_many("lrta", problems, limits=Limits(moves=15), paths=False)
    assert [trial.outcome for trial in trials] == [Outcome.GOAL, Outcome.GOAL, Outcome.MOVE_CAP, Outcome.MOVE_CAP]
    assert [trial.moves for trial in trials] == [5, 10, 15, 15]
    half = andante.run_many("lrta", problems, limits=Limits(suboptimality=0.5), paths=False)
    assert [trial.moves for trial in half] == [3, 6, 11, 20]


@pytest.mark.parametrize("name", ["cost", "moves", "expansions", "suboptimality"])
@pytest.mark.parametrize("value", [0, -1, -math.inf, math.nan, "10", None, [1], 10**400])
def test_invalid_limits_are_refused(name, value):
    with pytest.raises(ParameterError) as caught:
        Limits(**{name: value})
    assert str(caught.value) == f"the limit on {name} must be above 0, got {value!r}"


def test_an_agent_that_never_arrives_ends_by_default():
    assert Limits().moves < math.inf
    one_way = Graph.from_edges([(0, 1, 1.0), (1, 0, 1.0), (2, 0, 1.0)], directed=True)
    trial = andante.run("lrta", one_way.problem(0, 2), limits=Limits(moves=1000))
    assert (trial.outcome, trial.moves) == (Outcome.MOVE_CAP, 1000)
