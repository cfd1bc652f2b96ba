"""Scene files: what is written is read again, and what is not a scene is refused with its line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.datasets.scenes import KINDS, make_scene
from andante.errors import AndanteError, ScenarioError
from andante.world.scenes import Change, NewGoal, Scene, is_scene, parse_scene, read_scene, write_scene
from tests.worlds import examples

GRID = andante.generate("rooms", 24, 24, seed=1)
SCENE = make_scene(GRID, 5, "doors", every=10, ticks=60, wandering=0.4, seed=3)
TEXT = SCENE.to_text()


def same(one, other):
    return (one.grid, list(one.units), list(one.events)) == (other.grid, list(other.units), list(other.events))


@pytest.mark.parametrize("kind", KINDS)
def test_scenes_are_the_same_after_a_file(kind, tmp_path):
    scene = make_scene(GRID, 6, kind, every=7, ticks=90, wandering=0.5, seed=2)
    file = tmp_path / "one.scene"
    write_scene(scene, file)
    assert is_scene(file)
    assert same(read_scene(file), scene)
    assert same(make_scene(GRID, 6, kind, every=7, ticks=90, wandering=0.5, seed=2), scene)


def test_changes_are_changes_and_leave_starts_and_goals_alone():
    for kind in KINDS:
        scene = make_scene(GRID, 6, kind, every=3, ticks=300, wandering=0.5, seed=4)
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
        ("\nclose", "\nshut", "expected unit, close, open, goal or the map"),
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
    with pytest.raises(ScenarioError, match="no kind of scene"):
        make_scene(GRID, 3, "floods")
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
