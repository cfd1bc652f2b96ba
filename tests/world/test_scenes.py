"""Scene files: what was written is read again, and anything else is refused with its line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.datasets.scenes import KINDS, TARGETS, make_scene
from andante.errors import AndanteError, ScenarioError
from andante.world.scenes import Change, Flight, NewGoal, Scene, is_scene, parse_scene, read_scene, write_scene
from tests.worlds import examples

GRID = andante.generate("rooms", 24, 24, seed=1)
SCENE = make_scene(GRID, 5, "doors", changes_per_second=3, ticks=60, moving=0.4, seed=3)
TEXT = SCENE.to_text()


def same(one, other):
    flights = list(one.flights), list(other.flights)
    return (one.grid, list(one.units), list(one.events), flights[0]) == (
        other.grid,
        list(other.units),
        list(other.events),
        flights[1],
    )


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_scenes_are_the_same_after_a_file(kind, targets, tmp_path):
    scene = make_scene(GRID, 6, kind, changes_per_second=5, ticks=90, moving=0.5, targets=targets, seed=2)
    file = tmp_path / "one.scene"
    write_scene(scene, file)
    assert is_scene(file)
    assert same(read_scene(file), scene)
    assert same(make_scene(GRID, 6, kind, changes_per_second=5, ticks=90, moving=0.5, targets=targets, seed=2), scene)


def test_changes_are_changes_and_leave_starts_and_goals_alone():
    for kind in KINDS:
        scene = make_scene(GRID, 6, kind, changes_per_second=100, ticks=300, moving=0.5, targets="circle", seed=4)
        world = andante.World(GRID)
        taken = {cell for pair in scene.units for cell in pair}
        taken |= {event.goal for event in scene.events if isinstance(event, NewGoal)}
        for change in scene.changes:
            assert (world.open if change.opened else world.close)(change.cell) == 1
            assert change.cell not in taken
        assert scene.last_tick <= 300


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("andante scene 1", "andante scene 2", "line 1: expected 'andante scene 1'"),
        ("name rooms", "title rooms", "line 2: expected 'name ...'"),
        ("rule octile", "rule knight", "line 3: unknown rule 'knight'"),
        ("\nclose", "\nshut", "expected unit, flee, close, open, goal or the map"),
        ("\nunit ", "\nunit x ", "expected 4 whole numbers"),
        ("\nunit ", "\nunit 99 ", "expected 4 whole numbers"),
        ("type octile", "type hexagonal", "type"),
    ],
)
def test_what_is_not_a_scene_is_refused_with_its_line(old, new, sentence):
    with pytest.raises(AndanteError, match=sentence):
        parse_scene(TEXT.replace(old, new, 1).encode(), "some file")


def test_bad_scenes_are_refused():
    cells = GRID.passable
    free = [(int(x), int(y)) for y, x in np.argwhere(cells)]
    wall = next((int(x), int(y)) for y, x in np.argwhere(~cells))
    pair = (free[0], free[1])
    for units, events in [
        ([(free[0], free[0])], []),
        ([(wall, free[0])], []),
        ([pair], [Change(0, free[3], False)]),
        ([pair], [Change(5, free[3], False), Change(4, free[4], False)]),
        ([pair], [NewGoal(3, 1, free[5])]),
        ([pair], [Change(3, (99, 0), True)]),
    ]:
        with pytest.raises(AndanteError):
            Scene(GRID, units, events)
    for flights in ([Flight(1, 3)], [Flight(0, 0)], [Flight(0, 3), Flight(0, 4)]):
        with pytest.raises(ScenarioError):
            Scene(GRID, [pair], [], flights)
    with pytest.raises(ScenarioError, match="no kind of scene"):
        make_scene(GRID, 3, "floods")
    with pytest.raises(ScenarioError, match="no kind of target"):
        make_scene(GRID, 3, targets="hide")
    with pytest.raises(
        ScenarioError, match=f"^10,000,000 units do not fit on .* has {GRID.free_cells:,} passable cells"
    ):
        make_scene(GRID, 10_000_000)
    with pytest.raises(ScenarioError, match="too many for a scene"):
        make_scene(GRID, 3, changes_per_second=1e9)
    with pytest.raises(ScenarioError, match="has no cells"):
        make_scene(andante.generate("empty", 9, 9), 3, "doors")
    with pytest.raises(ScenarioError, match="cannot read"):
        read_scene("/nowhere/at.all")
    assert not is_scene("/nowhere/at.all")


@examples(400)
@given(st.data())
def test_damaged_scenes_are_read_or_refused_in_one_sentence(data):
    text = bytearray(TEXT.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        if data.draw(st.booleans()):
            text[at] = data.draw(st.integers(0, 255))
        else:
            del text[at : at + data.draw(st.integers(1, 40))]
            if not text:
                break
    try:
        parse_scene(bytes(text))
    except AndanteError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(("rate", "ticks"), [(1, [30, 60, 90]), (10, range(3, 91, 3)), (0, [])])
def test_changes_happen_at_their_rate(rate, ticks):
    scene = make_scene(GRID, 2, "tunnels", changes_per_second=rate, ticks=90)
    assert [change.tick for change in scene.changes] == list(ticks)


def test_many_changes_may_happen_before_one_tick():
    ticks = [change.tick for change in make_scene(GRID, 2, "tunnels", changes_per_second=100, ticks=12).changes]
    assert len(ticks) == 40
    assert ticks == sorted(ticks)
    assert max(ticks.count(tick) for tick in ticks) == 4


def test_tunnels_open_walls_bridges_fall_and_doors_do_both():
    opened = {
        kind: {c.opened for c in make_scene(GRID, 2, kind, changes_per_second=30, ticks=200).changes} for kind in KINDS
    }
    assert opened == {"doors": {True, False}, "bridges": {False}, "tunnels": {True}, "rubble": {True, False}}


def test_goals_that_circle_return():
    scene = make_scene(GRID, 4, changes_per_second=0, moving=1, targets="circle", target_every=1, ticks=400, seed=1)
    for unit in range(4):
        trail = [event.goal for event in scene.events if event.unit == unit]
        loop = trail.index(scene.units[unit][1], 1) + 1
        assert trail[: 400 - loop] == trail[loop:]
        steps = np.abs(np.diff([scene.units[unit][1], *trail], axis=0)).max(axis=1)
        assert steps.max() <= 1


def test_the_fingerprint_covers_everything_that_affects_a_run():
    def one(**how):
        return make_scene(GRID, 4, "doors", **{"changes_per_second": 3, "ticks": 100, "seed": 1, **how}).fingerprint

    assert one() == one()
    assert len({one(), one(seed=2), one(changes_per_second=4), one(moving=0.5), one(moving=1, targets="flee")}) == 5


@pytest.mark.parametrize("kind", ["doors", "rubble"])
def test_cells_that_close_and_open_again_are_finally_open(kind):
    scene = make_scene(GRID, 2, kind, changes_per_second=30, ticks=100, seed=5)
    world = andante.World(GRID)
    for change in scene.changes:
        (world.open if change.opened else world.close)(change.cell)
    assert world.version > 100
    assert world.frozen() == GRID


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ("unit 0 0 2 0\nunit 0 0 0 0", 5),
        ("unit 0 0 3 0", 4),
        ("unit 0 0 2 0\nflee 0 3\nflee 0 3", 6),
        ("unit 0 0 2 0\nflee 0 3\nclose 5 1 0\nopen 4 1 0", 7),
        ("unit 0 0 2 0\ngoal 3 7 1 0", 5),
        ("unit 0 0 2 0\nclose 3 9 9", 5),
    ],
)
def test_errors_name_the_line_of_the_scene(lines, line):
    text = f"andante scene 1\nname t\nrule octile\n{lines}\ntype octile\nheight 1\nwidth 4\nmap\n...@\n"
    with pytest.raises(ScenarioError, match=f"^there, line {line}: "):
        parse_scene(text.encode(), "there")
