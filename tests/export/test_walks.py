"""Every agent makes the same moves in Python, in C and in WebAssembly."""

import ctypes
import json
import shutil

import numpy as np
import pytest

import andante
from andante.episode.single import Agent
from andante.export.images import MapImage
from andante.kernel import JIT
from tests.export.bindings import STEP, CAgent, Trial, library_in
from tests.export.compiling import needs_gcc, run
from tests.export.walking import (
    HAS_ZIG,
    check_changes,
    check_changes_elsewhere,
    check_elsewhere,
    check_walks,
    exported,
    far_pairs,
    pairs,
)

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]
needs_wasm = pytest.mark.skipif(shutil.which("node") is None or not HAS_ZIG, reason="needs node and ziglang")
AGENTS = {"lrta": (), "tba": (), "astar": (), "cpd": ("moves",)}
LIVING = {"lrta": (), "tba": ()}
MORE = 1


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 30, 24, seed=3)


@pytest.fixture(scope="module")
def fixed(grid, tmp_path_factory):
    return exported(grid, AGENTS, tmp_path_factory.mktemp("export") / "engine")


@pytest.fixture(scope="module")
def living(grid, tmp_path_factory):
    return exported(grid, LIVING, tmp_path_factory.mktemp("living") / "engine", living=True)


@pytest.mark.parametrize("name", AGENTS)
def test_in_c_as_in_python(name, grid, fixed):
    check_walks(name, grid, *fixed, pairs(grid, 6))


@pytest.mark.parametrize("name", LIVING)
def test_on_a_map_that_changes(name, grid, living):
    check_changes(name, grid, *living, far_pairs(grid))


def test_a_run_that_continues_looks_at_the_map(grid, living):
    start, goal = far_pairs(grid)[0]
    theirs = CAgent(library_in(living[0]), "lrta", living[0] / "data", grid.name)
    steps, trial = np.zeros(4, STEP), Trial()
    agent, room = theirs._pointers(theirs.agent, steps)
    assert theirs.check("run", agent, start, goal, None, room, ctypes.c_size_t(4), ctypes.byref(trial)) == MORE
    for cell, _ in grid.graph.neighbours(goal):
        theirs.edit(cell, False)
    while theirs.check("go_on", agent, room, ctypes.c_size_t(4), ctypes.byref(trial)) == MORE:
        pass
    assert andante.Outcome(trial.outcome) == andante.Outcome.UNREACHABLE
    assert trial.moves < 500


def test_a_mind_is_sealed_before_it_is_copied(grid, living):
    start, goal = far_pairs(grid)[0]
    theirs = CAgent(library_in(living[0]), "lrta", living[0] / "data", grid.name)
    theirs.move(start, goal)
    theirs.check("seal", *theirs._pointers(theirs.agent))
    theirs.attach()  # and once more
    theirs.attach()
    bits = theirs.mind.view(np.uint8)[: theirs.mind_bytes.value]
    for place in np.random.default_rng(4).integers(0, len(bits), 60).tolist():
        bits[place] ^= 1 << place % 8
        with pytest.raises(RuntimeError, match=r"damaged|does not contain|not sealed"):
            theirs.attach()
        bits[place] ^= 1 << place % 8
    theirs.attach()
    assert theirs.move(start, goal)
    with pytest.raises(RuntimeError, match="not sealed"):
        theirs.attach()


def test_a_world_is_sealed_before_it_is_copied(grid, living):
    start, goal = far_pairs(grid)[0]
    theirs = CAgent(library_in(living[0]), "lrta", living[0] / "data", grid.name)
    with pytest.raises(RuntimeError, match="not sealed"):
        theirs.attach_world()
    theirs.edit(start, True)
    theirs.seal_world()
    theirs.attach_world()
    theirs.attach_world()  # and once more
    bits = theirs.world.view(np.uint8)[: theirs.files.map_bytes]
    for place in [*range(96), *np.random.default_rng(4).integers(96, len(bits), 60).tolist()]:
        bits[place] ^= 1 << place % 8
        with pytest.raises(RuntimeError):
            theirs.attach_world()
        bits[place] ^= 1 << place % 8
    theirs.attach_world()
    for change in (lambda: theirs.move(start, goal), lambda: theirs.edit(goal, False)):
        theirs.seal_world()
        change()
        with pytest.raises(RuntimeError, match="not sealed"):
            theirs.attach_world()


def test_a_world_of_another_image_is_refused(grid, living, tmp_path):
    theirs, other = (CAgent(library_in(living[0]), "lrta", living[0] / "data", grid.name) for _ in range(2))
    image = MapImage.of(andante.World(andante.generate("rooms", 30, 24, seed=4))).data
    other.map.view(np.uint8)[: len(image)] = np.frombuffer(image, np.uint8)
    theirs.seal_world()
    other.world = theirs.world
    with pytest.raises(RuntimeError, match="another map"):
        other.attach_world()


def test_a_mind_that_has_seen_more_changes_than_its_world_is_refused(grid, living):
    """The world was made again, or restored without the mind."""
    start, goal = far_pairs(grid)[0]
    theirs = CAgent(library_in(living[0]), "lrta", living[0] / "data", grid.name)
    theirs.seal_world()
    saved = theirs.world.copy()
    for opened in (False, True):
        theirs.edit(goal, opened)
    assert theirs.move(start, goal)
    theirs.check("seal", *theirs._pointers(theirs.agent))
    theirs.world[:] = saved
    theirs.attach_world()
    for refused in (theirs.attach, lambda: theirs.move(start, goal), lambda: theirs.run(start, goal)):
        with pytest.raises(RuntimeError, match=r"more changes than this map|not initialised"):
            refused()
    theirs._set("init")
    assert theirs.move(start, goal)


def test_agents_with_one_plan_share_a_desk(grid, living):
    """They take turns, and make the same moves as agents with desks of their own."""
    units = [CAgent(library_in(living[0]), "tba", living[0] / "data", grid.name) for _ in range(6)]
    alone = [Agent("tba", andante.World(grid)) for _ in units]
    for one in units[1:]:
        one.desk = units[0].desk
        one._set("init")
    places = [list(pair) for pair in pairs(grid, len(units), seed=5)]
    for _ in range(60):
        for theirs, ours, place in zip(units, alone, places, strict=True):
            made = ours.move(*place)
            assert theirs.move(*place) == tuple(made)
            if made.to >= 0:
                place[0] = made.to


@needs_wasm
def test_what_is_refused_in_javascript_changes_nothing(grid, living, tmp_path):
    """A saved mind and a saved map are restored; damaged ones are refused, and the agent continues as before."""
    (start, goal), place = far_pairs(grid)[0], living[0] / "data" / grid.name
    found = json.loads(run("node", "tests/export/restore.mjs", living[0], f"{place}", start, goal))
    assert found["refused"] == ["mind", "map", "no cell", "half a cell", "no file", "too much memory"]
    assert found["walked"] == found["again"]
    assert found["damaged"] == found["undamaged"]


@needs_wasm
def test_in_webassembly_as_in_python(grid, fixed, tmp_path):
    folder, databases = fixed
    check_elsewhere(list(AGENTS), grid, folder, databases, tmp_path, pairs(grid, 4))


@needs_wasm
def test_in_webassembly_on_a_map_that_changes(grid, living, tmp_path):
    check_changes_elsewhere(list(LIVING), grid, *living, tmp_path, far_pairs(grid)[0])
