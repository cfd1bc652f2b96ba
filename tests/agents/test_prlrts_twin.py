"""PR LRTS, PR LRTA* and LRTS on every level against a twin in plain Python, move by move, with sight and without."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import andante
from tests.agents.plain_prlrts import Setting, Twin, levels_as_mended
from tests.worlds import examples, grid_problems

LIMITS = andante.Limits(moves=300)
TRIALS = 3


def settings(**fixed):
    """Draw any setting of `prlrts` without a database; ``fixed`` parameters are given."""
    free = {
        "level": st.integers(0, 3),
        "depth": st.sampled_from([1, 2, 3, 5]),
        "gamma": st.sampled_from([0.2, 0.5, 0.8, 1.0]),
        "quota": st.sampled_from([0.0, 1.0, 5.0, 20.0, math.inf]),
        "top": st.sampled_from(["lrts", "lrts", "lrta", "astar"]),
        "between": st.sampled_from(["pass", "astar", "lrts"]),
        "ground": st.sampled_from(["astar", "astar", "lrts"]),
        "cover": st.sampled_from(["aligned", "literal", "eager", "joining"]),
        "keep": st.sampled_from(["connected", "clique"]),
        "forget": st.sampled_from(["region", "level"]),
        "replan": st.sampled_from(["cut", "graph", "wall"]),
    }
    return st.builds(Setting, **free | {name: st.just(value) for name, value in fixed.items()})


def assert_same_walks(problem, setting, sight=None):
    """Check for the same moves, planning and values over several trials."""
    try:
        agent = andante.Agent("prlrts", problem.grid, sight=sight, **asdict(setting))
    except andante.AndanteError:
        assume(False)  # the map has no such level
    twin = Twin(problem.grid, problem.goal, setting, sight)
    stored = 0
    for trial in range(TRIALS):
        twin.begin()
        watch = agent.watch(problem, LIMITS)
        watch._episode.rows["again"] = trial > 0
        state = problem.start
        for turn in watch:
            twin.look(state, lambda: levels_as_mended(problem.grid, agent._memory.levels.held.layers, setting.level))
            to, work = twin.move(state)
            assert turn.state == to
            assert (turn.states_expanded, turn.states_touched) == (work.expanded, work.touched)
            assert turn.learned == pytest.approx(work.learned, abs=1e-9)
            state = to
        stored += watch.trial.values_stored
        assert stored == len(twin.values)
        assert watch.trial.outcome.name in ("GOAL", "MOVE_CAP")
        if not watch.trial.solved:
            break


@pytest.mark.compiled
@given(grid_problems(side=16), settings())
@examples(300)
def test_on_a_known_map(problem, setting):
    assert_same_walks(problem, setting)


def test_ties_between_children_go_to_the_lowest_number():
    """Node 104 of level 3 has two children of three cells each, at the same distance from its point."""
    rows = "@..@.@ @@..@. @@..@. ..@..@ .@.@.. .@.... .@.@.. .@.@@@ ...@@@ ..@@.@ ..@.@@ .@@@.@"
    grid = andante.Grid(np.array([[cell == "." for cell in row] for row in rows.split()]))
    setting = Setting(level=3, depth=1, gamma=0.2, quota=0.0, between="astar", cover="literal")
    assert_same_walks(grid.problem((0, 3), (2, 0)), setting, sight=1)


@pytest.mark.compiled
@given(grid_problems(side=16), settings(), st.sampled_from([1, 2, 3, 10]))
@examples(400)
def test_on_an_unknown_map(problem, setting, sight):
    assert_same_walks(problem, setting, sight)
