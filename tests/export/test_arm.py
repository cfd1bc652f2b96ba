"""The same moves on another processor: libraries for ARM, run by an emulator."""

import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

import andante
from andante.agent import find
from andante.export import export
from andante.export.library import filled
from andante.export.linking import _zig
from andante.files import cache_folder
from andante.kernel import JIT
from tests.export.compiling import run
from tests.export.walking import (
    HAS_ZIG,
    LEVELS,
    REGISTER,
    check_changes_elsewhere,
    check_elsewhere,
    far_pairs,
    pairs,
)
from tests.worlds import DEEP

pytestmark = [
    pytest.mark.full,
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    pytest.mark.skipif(shutil.which("qemu-aarch64") is None or not HAS_ZIG, reason="needs qemu-user and ziglang"),
]
TARGET = "linux-arm64"
AGENTS = [name for name in REGISTER if name != LEVELS] if DEEP else ["lrta", "tba", "astar", "cpd"]


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 30, 24, seed=3)


@pytest.fixture(scope="module")
def databases(grid):
    return {kind: andante.build(kind, grid) for kind in sorted({kind for name in AGENTS for kind in find(name).needs})}


def zig(*command):
    """Call Zig, with the cache that exports use."""
    caches = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(cache_folder() / "zig"))
    return run(*_zig(), *command, env={**os.environ, **caches})


def linked(folder, names, place):
    """Return a program that runs these agents of a library; it links no C library, so none has to be compiled."""
    agents = ", ".join(f"AGENT({name.replace('-', '_')})" for name in names)
    (place / "bare.c").write_text(filled(Path("tests/export/bare.c").read_text(), {"AGENTS": agents}))
    flags = ["-target", "aarch64-linux-musl", "-std=c11", "-O1", "-ffreestanding", "-fno-builtin", f"-I{folder}"]
    objects = []
    for source in (place / "bare.c", folder / "runtime.c"):
        objects.append(place / f"{source.stem}.o")
        zig("cc", *flags, "-fno-sanitize=all", "-c", source, "-o", objects[-1])
    zig("ld.lld", "-static", "-o", place / "bare", *objects, folder / TARGET / "libandante.a")
    return place / "bare"


def bits(text):
    return struct.unpack("d", struct.pack("q", int(text)))[0]


def emulated(program):
    """Return a function that runs tasks with the program, as `walks_in_node` does."""

    def walked(folder, tasks, place):
        for task in tasks:
            name, data = task["agent"], folder / "data"
            problems, edits = task["problems"], task.get("edits", [])
            numbers = [len(problems), *np.ravel(problems), len(edits), *np.ravel(edits)]
            (place / "task").write_bytes(np.array(numbers, np.int32).tobytes())
            files = [data / f"{task['place']}.{name}.plan", data / f"{task['place']}.image", place / "task"]
            files += [data / file for file in task["databases"]]
            lines = [line.split() for line in run("qemu-aarch64", program, name, *files).splitlines()]
            runs, moves = lines[: len(problems)], lines[len(problems) :]
            yield {
                "trials": [
                    {"path": [*map(int, path)], "outcome": andante.Outcome(int(outcome)).name, "cost": bits(cost)}
                    for *path, outcome, cost in runs
                ],
                "moves": [
                    (int(to), bits(cost), int(expanded), int(touched), bits(learned), int(stored))
                    for to, cost, expanded, touched, learned, stored in moves
                ],
            }

    return walked


def test_walks(grid, databases, tmp_path):
    folder = tmp_path / "engine"
    export(AGENTS, grid, folder, databases=list(databases.values()), targets=TARGET)
    walk = emulated(linked(folder, AGENTS, tmp_path))
    check_elsewhere(AGENTS, grid, folder, databases, tmp_path, pairs(grid, 4), walk)


def test_walks_on_a_map_that_changes(grid, databases, tmp_path):
    folder = tmp_path / "engine"
    export(AGENTS, grid, folder, databases=list(databases.values()), targets=TARGET, living=True)
    walk = emulated(linked(folder, AGENTS, tmp_path))
    check_changes_elsewhere(AGENTS, grid, folder, databases, tmp_path, far_pairs(grid)[0], walk)
