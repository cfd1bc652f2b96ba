"""Watching: one move at a time, the same moves as in a run, with the thoughts before each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.single import Agent
from andante.errors import ProblemError
from andante.measures import Outcome
from andante.search.memory import EXPANDED, LEARNED
from andante.world.grid import Grid
from tests.worlds import examples, graph_problems, grid_problems, or_graphs

NAMES = ["lrta", "lrta(depth=3)", "rta", "astar"]


@given(or_graphs(grid_problems(), graph_problems()), st.sampled_from(NAMES))
@examples(100)
def test_watching_changes_nothing(problem, name):
    trial = andante.run(name, problem)
    watch = andante.watch(name, problem)
    turns = list(watch)
    assert [turn.number for turn in turns] == list(range(1, trial.moves + 1))
    assert [problem.start, *(turn.state for turn in turns)] == trial.path.tolist()
    assert sum(turn.cost for turn in turns) == pytest.approx(trial.cost)
    assert sum(turn.states_expanded for turn in turns) == trial.states_expanded
    assert sum(turn.states_touched for turn in turns) == trial.states_touched
    assert sum(turn.learned for turn in turns) == pytest.approx(trial.learned)
    result = [watch.trial.outcome, watch.trial.cost, watch.trial.values_stored, watch.trial.path.tolist()]
    assert result == [trial.outcome, trial.cost, trial.values_stored, trial.path.tolist()]
    assert list(watch) == []  # it is over


@given(grid_problems(), st.sampled_from(NAMES))
@examples(60)
def test_thoughts_are_what_was_expanded_and_learned(problem, name):
    watch = andante.watch(name, problem)
    learned = set()
    for turn in watch:
        expanded = [thought.state for thought in turn.thoughts if thought.kind == EXPANDED]
        assert len(expanded) == turn.states_expanded
        values = [thought for thought in turn.thoughts if thought.kind == LEARNED]
        learned.update(thought.state for thought in values)
        assert bool(values) or turn.learned == 0
        assert {t.kind for t in turn.thoughts} <= {EXPANDED, LEARNED}
    assert len(learned) == watch.trial.values_stored


def test_the_trial_so_far():
    grid = Grid(np.ones((1, 5), bool))
    watch = andante.watch("lrta", grid.problem((0, 0), (4, 0)))
    assert (watch.trial.outcome, watch.trial.moves) == (Outcome.WAITING, 0)
    next(watch)
    assert (watch.trial.outcome, watch.trial.moves, watch.trial.cost) == (Outcome.WALKING, 1, 1.0)
    assert watch.trial.path.tolist() == [0, 1]
    assert len(list(watch)) == 3
    assert watch.trial.outcome is Outcome.GOAL


def test_a_watch_may_have_no_moves():
    grid = Grid(np.array([list(".@.")]))
    watch = andante.watch("astar", grid.problem((0, 0), (2, 0)))
    assert list(watch) == []
    assert watch.trial.outcome is Outcome.UNREACHABLE


def test_limits_end_a_watch():
    grid = Grid(np.ones((1, 9), bool))
    watch = andante.watch("lrta", grid.problem((0, 0), (8, 0)), limits=andante.Limits(moves=3))
    assert [turn.state for turn in watch] == [1, 2, 3]
    assert watch.trial.outcome is Outcome.MOVE_CAP


def test_a_full_log_loses_thoughts_not_moves():
    grid = Grid(np.ones((9, 9), bool))
    problem = grid.problem((0, 0), (8, 8))
    watch = Agent("lrta(depth=3)", grid, log_rows=4).watch(problem)
    turns = list(watch)
    assert {len(turn.thoughts) for turn in turns} == {4}
    assert all(turn.thoughts_lost == turn.states_expanded + (turn.learned > 0) - 4 for turn in turns)
    assert [turn.state for turn in turns] == andante.run("lrta(depth=3)", problem).path[1:].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_two_agents_can_be_watched_alternately(name):
    """The two paths cross, and neither agent may take the other's path for its own."""
    grid = Grid(np.ones((8, 8), bool))
    across, down = grid.problem((0, 3), (7, 3)), grid.problem((3, 0), (3, 7))
    pairs = zip(andante.watch(name, across), andante.watch(name, down), strict=True)
    first, second = zip(*((a.state, b.state) for a, b in pairs), strict=True)
    assert list(first) == andante.run(name, across).path[1:].tolist()
    assert list(second) == andante.run(name, down).path[1:].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_works_on_one_problem_at_a_time(name):
    """An agent that has begun another problem has forgotten the first, and raises an error."""
    grid = Grid(np.ones((8, 8), bool))
    across, down = grid.problem((0, 3), (7, 3)), grid.problem((3, 0), (3, 7))
    agent = Agent(name, grid)
    for distract in (lambda: next(agent.watch(down)), lambda: agent.run(down)):
        watch = agent.watch(across)
        later = agent.watch(across)
        next(watch)
        distract()
        with pytest.raises(
            ProblemError, match=r"begun another problem and forgotten <Problem \(0, 3\) to \(7, 3\) on map>"
        ):
            next(watch)
        assert len(list(later)) == 7  # it had not started
