"""Traces of crowds: every place is recorded, step by step, up to a cap."""

import numpy as np
import pytest

import andante
from andante.episode import crowdtrace
from andante.episode.crowdresult import Pace
from andante.episode.crowdrun import problems_of, run_crowd
from andante.episode.crowdtrace import CrowdRecorder, steps_between
from andante.errors import ParameterError, ProblemError
from andante.world.scenes import Flight, Scene

GRID = andante.generate("rooms", 24, 24, seed=2)


def test_a_trace_contains_the_walk_of_every_unit():
    problems = andante.random_problems(GRID, 12, seed=4)
    trace = run_crowd(andante.find("lrta"), problems, Pace(), recorded=True).trace
    assert (trace.units, trace.cut, trace.budget) == (12, False, None)
    for unit, problem in enumerate(problems):
        path = andante.run("lrta", problem).path
        places = trace.places[:, unit].tolist()
        assert places == [*path.tolist(), *[problem.goal] * (trace.ticks + 1 - len(path))]


def test_a_trace_ends_at_its_cap(monkeypatch):
    monkeypatch.setattr(crowdtrace, "MOST_STEPS", 12 * 5 + 3)
    problems = andante.random_problems(GRID, 12, seed=4)
    result = run_crowd(andante.find("lrta"), problems, Pace(microseconds=1e6), recorded=True)
    assert result.trace.ticks == 5 < len(result.ticks)
    assert result.trace.cut
    assert result.trace.budget == 1e6


def test_a_unit_that_was_put_into_another_place_has_no_trace():
    with pytest.raises(ProblemError, match="put into another place"):
        steps_between(np.array([[0], [7]]), width=24)
    recorder = CrowdRecorder(GRID, np.array([0, 30]), np.array([5, 6]))
    recorder.keep(np.array([23, 30]), np.array([5, 6]), np.zeros(2, bool), 1.0, 0)  # the end of the same row
    with pytest.raises(ProblemError, match="put into another place"):
        recorder.trace("lrta", "LRTA*", None)


def test_a_pace_has_one_budget():
    with pytest.raises(ParameterError, match="not both"):
        Pace(microseconds=1, expansions=1)
    with pytest.raises(ParameterError, match="ticks"):
        Pace(ticks=0)
    with pytest.raises(ProblemError, match="problems of one grid"):
        run_crowd(andante.find("lrta"), [], Pace())


def test_goals_that_move_are_in_the_trace():
    corridor = andante.generate("empty", 9, 1)
    scene = Scene(corridor, [((0, 0), (4, 0))], flights=[Flight(0, 2)])
    result = run_crowd(andante.find("lrta"), problems_of(scene), Pace(), scene=scene, recorded=True)
    moved = result.trace.goal_units, result.trace.goal_ticks, result.trace.goal_states
    assert [column.tolist() for column in moved] == [[0, 0, 0], [2, 4, 6], [5, 6, 7]]
    assert result.trace.arrivals.tolist() == [7]
