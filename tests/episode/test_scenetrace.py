"""Traces of scenes: they contain what changed meanwhile; old files are read, those of newer versions are refused."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import andante
from andante.datasets.scenes import make_scene
from andante.episode.columns import pack_table
from andante.episode.scenewalk import walk_scene
from andante.episode.trace import Trace, record
from andante.episode.tracefile import CHANGE, MOVE, NEW_GOAL
from andante.episode.trial import Limits
from andante.errors import ParameterError, ProblemError, TraceError
from andante.files import json_checksum
from andante.measures import Outcome
from andante.search.memory import LEARNED
from andante.world.grid import Grid
from andante.world.scenes import Change, Flight, NewGoal, Scene
from tests.naive import legal_moves

OLD = Path(__file__).parent / "data" / "trace-version-1.json"
ROOMS = andante.generate("rooms", 32, 32, seed=1)
ALGORITHMS = ["lrta", "lss(lookahead=20)", "tba(budget=20)"]
KINDS = [("doors", "wander"), ("bridges", "circle"), ("tunnels", "flee")]


def resealed(document):
    document = {name: value for name, value in document.items() if name != "checksum"}
    return json.dumps({**document, "checksum": json_checksum(document, compact=True)})


@pytest.fixture(scope="module", params=[(kind, number) for number, kind in enumerate(KINDS)], ids=str)
def scene(request):
    (kind, targets), seed = request.param
    return make_scene(ROOMS, 4, kind, changes_per_second=30, ticks=200, moving=0.9, targets=targets, seed=seed)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_trace_of_a_scene_is_the_walk_of_its_unit(scene, algorithm):
    changed = 0
    for unit in range(4):
        trace = record(algorithm, scene, unit=unit, limits=Limits(moves=3000))
        trial = walk_scene(algorithm, scene, unit, limits=Limits(moves=3000))
        assert (trace.outcome, len(trace.moves)) == (trial.outcome, trial.moves)
        assert trace.cost == pytest.approx(trial.cost)
        assert trace.moves["expanded"].sum() == trial.states_expanded
        assert trace.moves["learned"].sum() == pytest.approx(trial.learned)
        path = [trial.path[0], *(trial.path[tick] for tick in trace.moves["tick"].tolist())]
        assert trace.path.tolist() == path
        changed += len(trace.changes) + len(trace.goals)
    assert changed > 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_move_of_a_trace_is_legal_on_the_map_of_its_tick(scene, algorithm):
    trace = record(algorithm, scene, unit=1, limits=Limits(moves=3000))
    width, free = trace.width, trace.passable.copy()
    changes, here = trace.changes.tolist(), trace.start
    for state, cost, *_, tick in trace.moves.tolist():
        while changes and changes[0][0] <= tick:
            _, cell, look = changes.pop(0)
            free[divmod(cell, width)] = look == ord(".")
        legal = legal_moves(free, here % width, here // width, "octile")
        moves = {y * width + x: price for (x, y), price in legal}
        assert (state == here and cost == 0) or moves[state] == pytest.approx(cost)
        here = state
    if trace.outcome is Outcome.GOAL:
        assert here == trace.last_goal


def test_turns_that_an_agent_waits_are_missing_from_its_ticks():
    grid = Grid([list("....."), list("....."), list(".....")], name="corridor")
    shut = [Change(3, (3, y), opened=False) for y in range(3)]
    trace = record("lrta", Scene(grid, [((0, 1), (4, 1))], [*shut, Change(20, (3, 1), opened=True)]))
    assert trace.moves["tick"].tolist() == [1, 2, 20, 21]
    assert trace.changes.tolist() == [(3, 3, 64), (3, 8, 64), (3, 13, 64), (20, 8, 46)]
    assert "".join(map(chr, trace.last_terrain.ravel())) == "...@." + "....." + "...@."
    assert math.isnan(trace.suboptimality_ratio)
    assert math.isnan(trace.optimal_cost)


def test_changes_without_effect_are_not_in_a_trace():
    grid = Grid([list("....."), list(".@...")], name="room")
    events = [Change(2, (1, 1), opened=False), NewGoal(2, 0, (1, 1)), Change(90, (2, 1), opened=False)]
    trace = record("lrta", Scene(grid, [((0, 0), (4, 0))], events))
    assert trace.is_still
    assert trace.suboptimality_ratio == 1.0
    assert trace.optimal_cost == 4.0


def test_a_goal_that_flees_is_followed_in_the_trace():
    scene = Scene(andante.generate("empty", 12, 12), [((0, 0), (6, 6))], (), [Flight(0, 3)])
    trace = record("lrta", scene)
    assert trace.outcome is Outcome.GOAL
    assert len(trace.goals) > 1
    assert trace.path[-1] == trace.last_goal != trace.goal
    assert trace.goals_before([1, int(trace.goals["tick"][0])]).tolist() == [trace.goal, int(trace.goals["state"][0])]


def test_learned_values_are_compared_with_the_goal_of_their_tick():
    scene = make_scene(ROOMS, 4, "doors", changes_per_second=10, ticks=200, moving=1.0, targets="wander", seed=5)
    trace = next(one for unit in range(4) if len((one := record("lrta", scene, unit=unit)).goals))
    last = int(np.flatnonzero(trace.thoughts["kind"] == LEARNED)[-1])
    _, state, value = trace.thoughts[last].tolist()
    move = int(np.searchsorted(trace.moves["thoughts"].cumsum(), last, side="right"))
    goal = trace.goal
    for tick, place in trace.goals.tolist():
        if tick <= trace.moves["tick"][move]:
            goal = place
    dx, dy = abs(state % 32 - goal % 32), abs(state // 32 - goal // 32)
    expected = value - (max(dx, dy) - min(dx, dy) + math.sqrt(2) * min(dx, dy))
    assert trace.learned_rise.flat[state] == pytest.approx(expected)


def test_a_trace_of_a_scene_is_saved_and_loaded(scene, tmp_path):
    trace = record("lrta", scene, unit=2, limits=Limits(moves=3000))
    trace.save(tmp_path / "trace.json")
    again = Trace.load(tmp_path / "trace.json")
    for name in ("terrain", "moves", "thoughts", "changes", "goals"):
        assert np.array_equal(getattr(trace, name), getattr(again, name)), name
    assert again.to_json() == trace.to_json()
    assert math.isnan(again.optimal_cost) == (not trace.is_still)


def test_an_unknown_unit_and_sight_are_refused():
    scene = Scene(andante.generate("empty", 5, 5), [((0, 0), (4, 4))])
    with pytest.raises(ProblemError, match="there is no unit 1"):
        record("lrta", scene, unit=1)
    with pytest.raises(ParameterError, match="record it without sight"):
        record("lrta", scene, sight=2)


# --- versions ---


def test_a_file_of_version_1_is_read_and_written_as_version_2():
    trace = Trace.load(OLD)
    assert json.loads(OLD.read_text())["version"] == 1
    grid = Grid([list(map(chr, row)) for row in trace.terrain], name="pocket")
    again = record("lrta", grid.problem((3, 2), (11, 3)))
    assert np.array_equal(trace.moves, again.moves)
    assert np.array_equal(trace.thoughts, again.thoughts)
    assert trace.to_json() == again.to_json()
    assert json.loads(trace.to_json())["version"] == 2


def test_a_file_of_a_newer_version_is_refused_in_one_sentence(tmp_path):
    document = {**json.loads(OLD.read_text()), "version": 3}
    (tmp_path / "new.json").write_text(resealed(document))
    with pytest.raises(TraceError, match=re.escape("version 3; this Andante reads versions 1 to 2; update Andante")):
        Trace.load(tmp_path / "new.json")


CHANGES = {
    "look": ([(1, 3, 7)], "unknown characters"),
    "outside": ([(1, 72, 64)], "outside the map"),
    "order": ([(5, 3, 64), (4, 3, 46)], "in the order of their ticks"),
    "tick 0": ([(0, 3, 64)], "in the order of their ticks"),
}


@pytest.mark.parametrize("wrong", CHANGES)
def test_impossible_changes_are_refused(wrong):
    rows, sentence = CHANGES[wrong]
    document = json.loads(Trace.load(OLD).to_json())
    document["changes"] = pack_table(np.array(rows, CHANGE))
    with pytest.raises(TraceError, match=sentence):
        Trace.from_json(resealed(document))


def test_impossible_goals_and_ticks_are_refused():
    whole = json.loads(Trace.load(OLD).to_json())
    goals = {**whole, "goals": pack_table(np.array([(1, -1)], NEW_GOAL))}
    with pytest.raises(TraceError, match="outside the map"):
        Trace.from_json(resealed(goals))
    moves = Trace.load(OLD).moves.copy()
    for ticks in ([2, 2], [0, 1], [3, 1]):
        moves["tick"][:2] = ticks
        with pytest.raises(TraceError, match="not numbered from 1 upwards"):
            Trace.from_json(resealed({**whole, "moves": pack_table(moves.astype(MOVE))}))
    with pytest.raises(TraceError, match="changes"):
        Trace.from_json(resealed({name: value for name, value in whole.items() if name != "changes"}))


# --- Posthoc ---


def test_posthoc_shows_walls_and_goals_as_they_change(scene):
    trace = record("lrta", scene, unit=3, limits=Limits(moves=3000))
    events = json.loads(trace.to_posthoc())["events"]
    blocked = np.zeros(trace.passable.shape, bool)
    for x, y, width, height in events[0]["walls"]:
        blocked[y : y + height, x : x + width] = True
    goals, seen = [], set()
    for event in events:
        if event["type"] in ("blocking", "opening"):
            blocked[event["y"], event["x"]] = event["type"] == "blocking"
        elif event["type"] == "destination":
            goals.append(event["y"] * trace.width + event["x"])
        elif event["type"] == "moving":
            assert not blocked[event["y"], event["x"]]
        assert event.get("pId") is None or event["pId"] in seen
        seen.add(event["id"])
    assert goals == [trace.goal, *trace.goals["state"].tolist()]
    assert np.array_equal(blocked, np.isin(trace.last_terrain, list(b"@OTW")))
