"""PR LRTS on maps that it discovers. This is another loop to compile, so only full runs include it."""

import numpy as np
import pytest

import andante
from andante.abstraction import levels
from tests.worlds import SIDE

LIMITS = andante.Limits(moves=3000)

pytestmark = pytest.mark.full


@pytest.mark.parametrize("kind", ["rooms", "caves", "random"])
@pytest.mark.parametrize("quota", [0.0, 20.0])
def test_on_level_0_it_is_lrts_on_larger_maps_too(kind, quota):
    grid = andante.generate(kind, SIDE, SIDE, seed=6)
    for problem in andante.random_problems(grid, 4, seed=2):
        given = {"depth": 4, "gamma": 0.8, "quota": quota, "sight": 4, "limits": LIMITS}
        ours, lrts = andante.run("prlrts", problem, level=0, **given), andante.run("lrts", problem, **given)
        assert ours.path.tolist() == lrts.path.tolist()
        assert (ours.states_expanded, ours.values_stored) == (lrts.states_expanded, lrts.values_stored)


@pytest.mark.parametrize("setting", ["", "forget=level", "between=lrts, ground=lrts"])
def test_discovery_removes_stored_values(setting):
    """Values that are forgotten with their regions do not count as stored."""
    grid = andante.generate("random", 32, 32, seed=4)
    agent = andante.Agent(f"prlrts(level=2, depth=1, gamma=1.0, {setting})".replace(", )", ")"), grid, sight=1)
    lost = 0
    for problem in andante.random_problems(grid, 40, seed=2):
        before = 0
        for _ in agent.watch(problem, andante.Limits(moves=500)):
            mind = agent._memory.mind
            held = np.count_nonzero(mind.tables.h.stamp > mind.scalars[0]["goals_before"])
            assert mind.scalars[0]["stored"] == held
            lost, before = lost + (held < before), held
    assert lost > 0 or "between" in setting  # there values are soon replaced by others


@pytest.mark.parametrize("level", [2, 3])
def test_values_of_removed_regions_do_not_count_when_no_path_is_left(level):
    """The last walls may remove regions and, at the same time, show that no path exists."""
    chance = np.random.default_rng(5)
    for _ in range(60):
        free = chance.random((16, 16)) > 0.3
        free[11:, 11:] = False
        free[12:15, 12:15] = True  # the goal's cell, which no move leads into
        grid = andante.Grid(free)
        agent = andante.Agent("prlrts", grid, sight=2, level=level, depth=1, gamma=1.0)
        for start in np.argwhere(free[:10, :10])[::17]:
            trial = agent.run(grid.problem(tuple(map(int, start[::-1])), (13, 13)), LIMITS)
            mind = agent._memory.mind
            if trial.states_expanded:
                assert trial.values_stored == np.count_nonzero(mind.tables.h.stamp > mind.scalars[0]["goals_before"])


def walls_beside_the_path():
    """Return an open map with a goal straight ahead, and walls beside the path that come into sight one by one."""
    free = np.ones((9, 40), bool)
    free[1, ::6] = False
    return andante.Grid(free).problem((1, 6), (38, 6))


def plans(problem, **parameters):
    """Return how often an agent plans."""
    return sum(turn.states_expanded > 0 for turn in andante.watch("prlrts", problem, **parameters))


@pytest.mark.parametrize("level", [0, 2])
def test_walls_beside_the_path_make_it_replan_only_on_request(level):
    problem = walls_beside_the_path()
    given = {"sight": 5, "level": level, "depth": 4, "gamma": 1.0}
    undisturbed = plans(problem, **given | {"sight": 4})  # too short to see a wall
    assert plans(problem, replan="cut", **given) == undisturbed
    assert plans(problem, replan="wall", **given) > undisturbed


def test_a_path_is_dropped_when_its_next_move_is_blocked():
    """A wall across the path comes into sight one move before it; until then the agent follows one plan."""
    free = np.ones((7, 24), bool)
    free[1:6, 12] = False
    problem = andante.Grid(free).problem((2, 3), (21, 3))
    turns = list(andante.watch("prlrts(level=2, depth=9, gamma=1.0)", problem, sight=1))
    planned = [turn.number for turn in turns if turn.states_expanded]
    found = [turn.number for turn in turns if turn.discovered]
    assert planned[0] == 1
    assert planned[1] == found[0]  # on a straight path, the move after the wall is seen leads into it


@pytest.mark.parametrize("replan", ["cut", "graph", "wall"])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_discovered_wall_does_not_remove_the_path_back(level, replan):
    """Under every rule, an agent with quota 0 sometimes goes back, on maps where it sees walls all the time."""
    returns = 0
    for seed in range(4):
        grid = andante.generate("random", 20, 20, seed=seed)
        agent = andante.Agent("prlrts", grid, sight=2, level=level, depth=2, gamma=1.0, quota=0.0, replan=replan)
        for problem in andante.random_problems(grid, 4, seed=seed):
            found = 0
            for turn in agent.watch(problem, LIMITS):
                found += len(turn.discovered)
                returns += bool(agent._memory.mind.scalars[0]["back"]) and found > 0
    assert returns > 20


def test_keeping_values_of_a_changed_level_saves_travel():
    grid = andante.generate("rooms", 48, 48, seed=4)
    problems = andante.random_problems(grid, 10, seed=2)
    travel = {
        (level, forget): sum(
            andante.converge("prlrts", p, sight=3, level=level, depth=1, gamma=1.0, forget=forget).travel
            for p in problems
        )
        for level in (0, 2)
        for forget in ("region", "level")
    }
    assert travel[0, "region"] == travel[0, "level"]
    assert travel[2, "region"] < travel[2, "level"]


@pytest.mark.parametrize("quota", [0.0, 5.0])
@pytest.mark.parametrize("level", [0, 1])
def test_a_plan_cut_by_a_wall_is_not_a_path_back(level, quota):
    """Planned moves that were not made cannot be walked back."""
    for seed in range(6):
        grid = andante.generate("random", 14, 14, seed=seed)
        for problem in andante.random_problems(grid, 4, seed=seed):
            trial = andante.run("prlrts", problem, sight=1, level=level, depth=4, gamma=1.0, quota=quota)
            assert trial.solved


def discoverers(monkeypatch, spare, **given):
    """Return two agents on a map full of walls, one with much space for regions and one with almost none."""
    grid = andante.generate("random", 48, 48, seed=5)
    roomy = andante.Agent("prlrts", grid, sight=3, **given)
    monkeypatch.setattr(levels, "_spare", lambda space, built: levels.Spare(*spare))
    monkeypatch.setattr(levels, "GROWTH", 1.02)
    return grid, roomy, andante.Agent("prlrts", grid, sight=3, **given)


@pytest.mark.compiled
@pytest.mark.parametrize("given", [{"level": 2, "depth": 3}, {"level": 3, "quota": 5.0, "between": "lrts"}], ids=str)
def test_an_agent_that_gets_more_space_walks_as_if_it_always_had_it(monkeypatch, given):
    grid, roomy, tight = discoverers(monkeypatch, (12, 200), **given)
    for problem in andante.random_problems(grid, 12, seed=1):
        expected, got = roomy.run(problem, LIMITS), tight.run(problem, LIMITS)
        assert got.path.tolist() == expected.path.tolist()
        assert (got.states_expanded, got.values_stored) == (expected.states_expanded, expected.values_stored)
    assert tight._space.grown > roomy._space.grown == 0


@pytest.mark.compiled
def test_single_moves_get_more_space_too(monkeypatch):
    grid, roomy, tight = discoverers(monkeypatch, (12, 200), level=2, depth=3)
    for problem in andante.random_problems(grid, 12, seed=1):
        state = other = problem.start
        while state != problem.goal:
            state, other = roomy.move(state, problem.goal).to, tight.move(other, problem.goal).to
            assert state == other
    assert tight._space.grown > 0


@pytest.mark.compiled
def test_if_space_runs_out_within_a_move_the_agent_waits_and_arrives(monkeypatch):
    grid, roomy, tight = discoverers(monkeypatch, (0, 0), level=2, depth=3)
    waits = 0
    for problem in andante.random_problems(grid, 12, seed=1):
        trial = tight.run(problem, LIMITS)
        assert trial.solved
        waits += int((np.diff(trial.path) == 0).sum())
    assert 0 < waits <= tight._space.grown
    problem = andante.random_problems(grid, 1, seed=2)[0]
    assert tight.run(problem, LIMITS).path.tolist() == roomy.run(problem, LIMITS).path.tolist()
