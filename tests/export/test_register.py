"""One library with every registered algorithm makes the same moves in Python, C and WebAssembly."""

import shutil

import pytest

import andante
from andante.agent import find
from andante.episode.single import Agent
from andante.export import export
from andante.kernel import JIT
from tests.export.compiling import needs_gcc, run, shared_library, static_library
from tests.export.walking import (
    HAS_ZIG,
    LEVELS,
    PATTERN,
    REGISTER,
    check_changes,
    check_changes_elsewhere,
    check_elsewhere,
    check_walks,
    far_pairs,
    pairs,
)
from tests.worlds import DEEP

pytestmark = [
    pytest.mark.full,  # machine code of all algorithms
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]

SIZES, KIND = (((64, 64), (64, 64)), "outdoor") if DEEP else (((30, 24), (24, 20)), "maze")
needs_wasm = pytest.mark.skipif(shutil.which("node") is None or not HAS_ZIG, reason="needs node and ziglang")
TARGETS = ["this", "wasm"] if HAS_ZIG else ["this"]


@pytest.fixture(scope="module")
def maps():
    """Maps of two kinds, with all databases."""
    grids = [andante.generate(kind, *size, seed=3) for kind, size in zip(("rooms", KIND), SIZES, strict=True)]
    kinds = sorted({kind for name in REGISTER for kind in find(name).needs})
    made = [(grid, {kind: andante.build(kind, grid) for kind in kinds}) for grid in grids]
    for _, databases in made:  # some are for any map
        databases.update({kind: one for kind, one in made[0][1].items() if one.fingerprint is None})
    return made


def written(names, maps, out, targets=TARGETS):
    databases = [one for _, each in maps for one in each.values()]
    export(names, [grid for grid, _ in maps], out, databases=databases, targets=targets)
    return out


@pytest.fixture(scope="module")
def folder(maps, tmp_path_factory):
    names = [name for name in REGISTER if name != LEVELS]
    return written(names, maps, tmp_path_factory.mktemp("register") / "engine")


@pytest.mark.parametrize("name", [name for name in REGISTER if name != LEVELS])
def test_in_c(name, maps, folder):
    for grid, databases in maps:
        check_walks(name, grid, folder, databases, pairs(grid, 6))


@needs_wasm
def test_in_webassembly(maps, folder, tmp_path):
    for grid, databases in maps:
        check_elsewhere(
            [name for name in REGISTER if name != LEVELS], grid, folder, databases, tmp_path, pairs(grid, 4)
        )


def test_on_a_level_of_the_map(maps, tmp_path):
    maps = [(grid, {"pattern": andante.build(PATTERN, grid)}) for grid, _ in maps]
    folder = written([LEVELS], maps, tmp_path / "engine")
    for grid, databases in maps:
        check_walks(LEVELS, grid, folder, databases, pairs(grid, 6))
        if HAS_ZIG and shutil.which("node"):
            check_elsewhere([LEVELS], grid, folder, databases, tmp_path, pairs(grid, 4))


def test_the_library_is_small(folder):
    """Settings of one algorithm share its machine code."""
    assert static_library(folder).stat().st_size < 100_000 * len(REGISTER) / 2


def test_libraries_of_one_agent_are_small(maps, folder, tmp_path):
    """This includes the two agents with the largest machine code."""
    run("ar", "x", static_library(folder), "--output", tmp_path)
    named = {one.replace("-", "_"): one for one in REGISTER}
    largest = sorted((path.stat().st_size, path.stem) for path in tmp_path.glob("*.o") if path.stem in named)[-2:]
    for _, name in largest:
        alone = written([named[name]], maps[:1], tmp_path / name, targets="this")
        assert 50_000 < static_library(alone).stat().st_size < 100_000
        assert shared_library(alone).stat().st_size < 100_000


@pytest.fixture(scope="module")
def living(maps, tmp_path_factory):
    """A library of all algorithms that can be exported for maps that change, and their names."""
    grid, databases = maps[0]
    names = [name for name in REGISTER if can_follow(name, grid, databases)]
    out = tmp_path_factory.mktemp("living") / "engine"
    export(names, grid, out, databases=list(databases.values()), targets=TARGETS, living=True)
    return out, names, databases


def can_follow(name, grid, databases):
    """Return whether an algorithm can be exported for maps that change; if not, check that the error says why."""
    try:
        Agent(name, andante.World(grid), databases=[databases[kind] for kind in find(name).needs])
    except andante.AndanteError as error:
        assert "base=3" in str(error)
        return False
    return True


@pytest.mark.parametrize("name", REGISTER)
def test_on_a_map_that_changes(name, maps, living):
    out, names, databases = living
    if name not in names:
        pytest.skip("needs a different pattern from all others")
    grid = maps[0][0]
    check_changes(name, grid, out, databases, far_pairs(grid))


@needs_wasm
def test_in_webassembly_on_a_map_that_changes(maps, living, tmp_path):
    out, names, databases = living
    grid = maps[0][0]
    check_changes_elsewhere(names, grid, out, databases, tmp_path, far_pairs(grid)[0])
