"""Levels of abstraction follow a map that changes in C exactly as they do in Python."""

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest

import andante
from andante.agent import find
from andante.episode.single import Agent
from andante.export import export
from andante.export.images import MAP_NUMBERS, MapImage, Plan
from andante.kernel import JIT
from andante.world.changes import RECENT
from tests.export.bindings import CODES, CAgent, library_in, memory
from tests.export.compiling import compiled, needs_gcc, run

pytestmark = [
    pytest.mark.full,  # the kernel that repairs levels takes long to optimise
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]

AGENTS = {"pra": "pra", "prlrts": "prlrts(level=2)", "lrta": "lrta"}  # by name in C


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 40, 36, seed=5)


@pytest.fixture(scope="module")
def folder(grid, tmp_path_factory):
    out = tmp_path_factory.mktemp("levels") / "engine"
    export(list(AGENTS.values()), grid, out, living=True)
    return out


def agent_in(folder, grid, name="pra"):
    return CAgent(library_in(folder), name, folder / "data", grid.name)


class Pair:
    """An agent in Python and the same in C, on two maps that change in the same way."""

    def __init__(self, name, grid, folder):
        self.world, self.theirs = andante.World(grid), agent_in(folder, grid, name)
        self.ours = Agent(AGENTS[name], self.world)

    def flip(self, cells):
        for cell in cells:
            opened = not self.world.passable.flat[cell]
            (self.world.open if opened else self.world.close)(self.world.cell(cell))
            self.theirs.edit(cell, opened)

    def move(self, state, goal):
        made = self.ours.move(state, goal)
        assert self.theirs.move(state, goal) == tuple(made)
        return made.to


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("at_once", [3, 90, 700])
def test_moves_are_the_same_while_cells_close_and_open(name, at_once, grid, folder):
    """Cases include more changes than are repaired at a time, and more than the log of changes keeps."""
    pair, rng = Pair(name, grid, folder), np.random.default_rng(at_once)
    walked = 0
    for _ in range(4):
        free = np.flatnonzero(pair.world.passable.ravel())
        state, goal = rng.choice(free, 2, replace=False).tolist()
        for turn in range(60):
            if turn % 20 == 4:
                cells = rng.choice(len(grid.graph), at_once, replace=False).tolist()
                pair.flip(cells)
                pair.flip(cells[60:])
            if turn % 20 == 11:
                pair.theirs.relocate()
            to = pair.move(state, goal)
            if to < 0:
                break
            walked, state = walked + (to != state), to
    repaired = sum(int(one.repairs.scalars["number"][0]) for one in pair.world.followers)
    assert walked > 20
    assert (repaired > 5) is (name != "lrta")
    assert at_once < 700 or pair.world.version > RECENT


def numbers_of(image):
    begin = int.from_bytes(image[152:160], "little")
    found = np.frombuffer(image, np.int64, len(MAP_NUMBERS), begin).tolist()
    return dict(zip(MAP_NUMBERS, found, strict=True))


def test_only_images_for_agents_that_plan_over_levels_have_them(grid):
    world = andante.World(grid)
    plain = MapImage.of(world)
    assert (plain.world_bytes, plain.followers) == (len(plain.data), 0)
    with pytest.raises(andante.AndanteError, match="lacks levels that pra plans over"):
        Plan.of(find("pra"), plain)
    one = MapImage.of(andante.World(grid), [find("pra"), find("lrta")])
    both = MapImage.of(andante.World(grid), [find("pra"), find("prlrts"), find("prlrta")])
    assert (one.followers, both.followers) == (1, 2)  # the last two share theirs
    assert len(plain.data) < len(one.data) < one.world_bytes < both.world_bytes
    assert numbers_of(one.data)["world_bytes"] == one.world_bytes
    assert Plan.of(find("pra"), one).total_bytes > one.world_bytes
    assert MapImage.of(grid).world_bytes == 0


def test_a_world_is_as_large_as_the_library_says(grid, folder):
    theirs, library = agent_in(folder, grid), library_in(folder)
    needed, size = ctypes.c_size_t(), ctypes.c_size_t(theirs.map.nbytes - 16)
    image = ctypes.c_void_p(theirs.map.ctypes.data), ctypes.c_size_t(theirs._image[1].value)
    assert library.andante_world_bytes(*image, None) == CODES["NULL"]
    assert library.andante_world_bytes(None, size, ctypes.byref(needed)) == CODES["NULL"]
    assert library.andante_world_bytes(*image, ctypes.byref(needed)) == 0
    assert needed.value > image[1].value
    world = memory(needed.value)
    place = ctypes.c_void_p(world.ctypes.data)
    for less in (1, needed.value - image[1].value):
        code = library.andante_world_init(place, ctypes.c_size_t(needed.value - less), *image)
        assert code == CODES["TOO_SMALL"]
    assert library.andante_world_init(place, needed, *image) == 0
    assert library.andante_close_cell(place, image[1], 0) == CODES["CUT_OFF"]
    assert library.andante_world_init(ctypes.c_void_p(theirs.map.ctypes.data), image[1], place, needed) == CODES["KIND"]


def test_worlds_made_in_used_and_in_new_memory_are_the_same(grid, folder):
    used, new = agent_in(folder, grid), agent_in(folder, grid)
    new.world = memory(new.world_bytes.value, fill=0)
    new._checked(new._world("init"))
    size = new.world_bytes.value
    assert used.world.view(np.uint8)[:size].tobytes() == new.world.view(np.uint8)[:size].tobytes()


def test_a_library_without_levels_refuses_a_map_with_them(grid, folder, tmp_path):
    out = tmp_path / "engine"
    export("lrta", grid, out, living=True)
    image = folder / "data" / f"{grid.name}.image"
    (out / "data" / f"{grid.name}.image").write_bytes(image.read_bytes())
    with pytest.raises(RuntimeError, match="another version than this library"):
        agent_in(out, grid, "lrta")


def test_settling_repairs_all_levels(grid, folder):
    """Then the next move repairs nothing, and is the same as with levels that had time to follow."""
    pair, rng = Pair("pra", grid, folder), np.random.default_rng(1)
    pair.flip(rng.choice(np.flatnonzero(grid.passable.ravel()), 300, replace=False).tolist())
    pair.world.settle()
    assert pair.theirs._library.andante_settle(*pair.theirs._pointers(pair.theirs.world), pair.theirs.world_bytes) == 0
    free = np.flatnonzero(pair.world.passable.ravel())
    for _ in range(6):
        pair.move(*rng.choice(free, 2, replace=False).tolist())


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_repairing_levels_has_no_errors_under_valgrind(grid, folder, tmp_path):
    """Sanitizers cannot check the kernel that repairs levels; valgrind can."""
    example = (folder / "example.c").read_text()
    moves = "        moves++;\n"
    assert moves in example
    edits = f"        check(andante_close_cell(world, world_bytes, (int32_t)(moves * 37 % {len(grid.graph)})));\n"
    source = tmp_path / "edits.c"
    source.write_text(example.replace(moves, moves + edits))
    program = compiled(folder, tmp_path / "edits", "-std=c99", "-O1", "-g", "-x", "c", source=source)
    check = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"]
    assert "moves" in run(*check, program, Path(folder / "data"))
