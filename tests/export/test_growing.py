"""Crowds that get more memory when it is full continue as if they had had it from the start."""

import importlib.util
import json
import shutil

import numpy as np
import pytest

import andante
from andante.agent import find
from andante.export import export
from andante.export.crowds import CrowdPlan, CrowdSize, Made
from andante.export.images import MapImage
from andante.kernel import JIT
from tests.export.bindings import CODES, library_in
from tests.export.compiling import in_node, needs_gcc, run
from tests.export.crowds import FULL, MEMORY, NAME, CCrowd, crowd_in, same

pytestmark = [
    pytest.mark.full,  # exported crowds are another loop, with the host's clock
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]

HAS_ZIG = importlib.util.find_spec("ziglang") is not None or shutil.which("zig") is not None
TIMES = 8
MANY = 1900  # units: they take most of the memory before they have learned anything


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 60, 40, seed=3)


@pytest.fixture(scope="module")
def folder(grid, tmp_path_factory):
    out = tmp_path_factory.mktemp("growing") / "engine"
    export(NAME, grid, out, crowd=MANY, memory=MEMORY, grow=TIMES)
    return out


def plan_in(folder, grid, times, name=NAME):
    return (folder / "data" / f"{grid.name}.{name}.crowd{times if times > 1 else ''}").read_bytes()


def grows(ours, theirs, units, larger, ticks):
    """Let both crowds tick, and grow the one in C whenever its memory is full; return how often it was."""
    grown, left = 0, list(larger)
    for number in range(ticks):
        budget = (3000.0, None, 333.25, 40.0)[number % 4]
        tick, found = ours.tick(expansions=budget), theirs.tick(budget or 0.0, pauses=True)
        while found == FULL:
            assert left, "the largest memory is full"
            assert theirs.do("send", units[0], 0) == CODES["UNFINISHED"]
            theirs.grow(left.pop(0))
            grown += 1
            if number % 2:
                theirs.relocate()
            found = theirs.tick(budget or 0.0, pauses=True)
        assert (found.number, found.moved, found.waiting, found.expansions) == (
            tick.number, tick.moved, tick.waiting, tick.expansions
        )  # fmt: skip
        assert (found.restarted, found.longest_wait) == (0, tick.longest_wait)
    same(ours, theirs, units)
    return grown


def walkers(grid, count, rng):
    free = np.flatnonzero(grid.passable.ravel())
    return rng.choice(free, count).tolist(), rng.choice(free, count).tolist()


def add(ours, theirs, grid, starts, goals):
    ids = ours.add([grid.cell(state) for state in starts], [grid.cell(state) for state in goals]).tolist()
    assert [theirs.add(start, goal) for start, goal in zip(starts, goals, strict=True)] == ids
    return ids


def test_a_crowd_that_grows_makes_the_moves_of_one_that_had_the_memory(grid, folder):
    theirs = crowd_in(folder, grid)
    ours = andante.Crowd(NAME, grid, memory=TIMES * MEMORY)
    ids = add(ours, theirs, grid, *walkers(grid, MANY, np.random.default_rng(8)))
    assert grows(ours, theirs, ids, [plan_in(folder, grid, times) for times in (2, 4, 8)], 80) >= 2


@pytest.mark.skipif(shutil.which("node") is None or not HAS_ZIG, reason="needs node and ziglang")
def test_a_crowd_in_webassembly_grows(grid, tmp_path):
    """This includes one that was saved and restored between ticks."""
    out = tmp_path / "engine"
    export(NAME, grid, out, crowd=MANY, memory=MEMORY, grow=TIMES, targets="wasm")
    starts, goals = walkers(grid, MANY, np.random.default_rng(8))
    script = [("add", *pair) for pair in zip(starts, goals, strict=True)]
    script += [("tick", 3000.0)] * 20 + [("reload",)] + [("tick", 3000.0)] * 10
    found = in_node(
        "crowd.mjs", out, {"name": NAME, "place": grid.name, "script": script, "larger": [2, 4, 8]}, tmp_path
    )
    ours = andante.Crowd(NAME, grid, memory=TIMES * MEMORY)
    ours.add([grid.cell(state) for state in starts], [grid.cell(state) for state in goals])
    ticks = [ours.tick(expansions=3000.0) for _ in range(30)]
    assert [(one["moved"], one["restarted"]) for one in found["ticks"]] == [(tick.moved, 0) for tick in ticks]
    assert found["ticks"][-1]["cells"] == ours.cells.ravel().tolist()
    assert found["grown"] >= 1


@pytest.mark.skipif(shutil.which("node") is None or not HAS_ZIG, reason="needs node and ziglang")
def test_a_crowd_in_javascript_that_cannot_grow_is_unchanged(grid, tmp_path):
    out = tmp_path / "engine"
    export(NAME, grid, out, crowd=40, memory=1e6, grow=2, targets="wasm")
    starts, goals = walkers(grid, 40, np.random.default_rng(8))
    found = json.loads(run("node", "tests/export/refused.mjs", out, grid.name, NAME, *starts, *goals))
    assert found["refused"] == 2
    assert found["after"] == found["before"]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "kind"),
    [("lrta", {"share": "goal"}), ("lss", {"bodies": True}), ("tba", {}), ("knn", {}), ("dlrta", {}), ("rtaa", {})],
)
def test_crowds_of_other_kinds_grow(name, kind, grid, tmp_path):
    databases = [andante.build(each, grid) for each in find(name).needs]
    each = Made(find(name), grid, databases, CrowdSize(2, MEMORY, kind.get("bodies", False), "share" in kind))
    many = int(0.85 * MEMORY) // each.unit_bytes
    export(name, grid, tmp_path / "engine", databases=databases, crowd=many, memory=MEMORY, grow=TIMES, **kind)
    theirs = crowd_in(tmp_path / "engine", grid, name, [one.to_bytes() for one in databases])
    ours = andante.Crowd(name, grid, databases=databases, memory=TIMES * MEMORY, **kind)
    starts, goals = walkers(grid, many, np.random.default_rng(8))
    if "bodies" in kind:
        starts = list(dict.fromkeys(starts))
    ids = add(ours, theirs, grid, starts, goals[: len(starts)])
    larger = [plan_in(tmp_path / "engine", grid, times, name) for times in (2, 4, 8)]
    assert grows(ours, theirs, ids, larger, 60) >= 1


def test_a_crowd_that_grows_has_room_for_more_units(grid, folder):
    """This also holds after some were removed: their numbers are used again in the same order."""
    theirs, rng = crowd_in(folder, grid), np.random.default_rng(9)
    ours = andante.Crowd(NAME, grid, memory=TIMES * MEMORY)
    ids = add(ours, theirs, grid, *walkers(grid, MANY, rng))
    start, goal = walkers(grid, 1, rng)
    assert theirs.add(start[0], goal[0]) == CODES["CROWD_FULL"]
    for batch in ([7, 1500, 3], [800, 2]):
        ours.remove(batch)
        assert [theirs.remove(unit) for unit in batch] == [0] * len(batch)
        add(ours, theirs, grid, *walkers(grid, 1, rng))  # so the ring begins in its middle
    theirs.grow(plan_in(folder, grid, 2))
    add(ours, theirs, grid, *walkers(grid, MANY, rng))
    all_units = np.flatnonzero(ours.states >= 0).tolist()
    assert grows(ours, theirs, all_units, [plan_in(folder, grid, times) for times in (4, 8)], 40) >= 1
    assert set(ids) - set(all_units) <= {7, 1500, 3, 800, 2}


def test_a_tick_that_pauses_can_continue_without_more_memory(grid, folder):
    """Then units start again, as if it had not paused."""
    theirs = crowd_in(folder, grid)
    ours = andante.Crowd(NAME, grid, memory=MEMORY)
    ids = add(ours, theirs, grid, *walkers(grid, MANY, np.random.default_rng(8)))
    pauses = restarted = 0
    for _ in range(30):
        tick, found = ours.tick(expansions=3000.0), theirs.tick(3000.0, pauses=True)
        if found == FULL:
            pauses += 1
            assert theirs.tick(nanoseconds=1e6, clock=1) == CODES["UNFINISHED"]  # another kind of budget
            assert theirs.add(0, 0) == CODES["UNFINISHED"] == theirs.remove(0)
            found = theirs.tick(3000.0)
        assert (found.moved, found.restarted, found.bytes) == (tick.moved, tick.restarted, tick.bytes)
        restarted += found.restarted
    assert pauses > 0
    assert restarted > 0
    same(ours, theirs, ids)


def test_what_a_crowd_cannot_grow_into(grid, folder):
    small, large = plan_in(folder, grid, 1), plan_in(folder, grid, 2)
    image = (folder / "data" / f"{grid.name}.image").read_bytes()
    other = CrowdPlan.of(find("lrta(depth=2)"), MapImage.of(grid), (), CrowdSize(2 * MANY, 2 * MEMORY)).data
    theirs = CCrowd(library_in(folder), large, image)
    assert theirs.try_to_grow(small) == CODES["OTHER_CROWD"]
    assert theirs.try_to_grow(other) == CODES["OTHER_CROWD"]
    assert theirs.try_to_grow(plan_in(folder, grid, 4), where=theirs.place + 640) == CODES["OVERLAP"]
    assert theirs.try_to_grow(plan_in(folder, grid, 4), less=1) == CODES["TOO_SMALL"]
    assert theirs.try_to_grow(plan_in(folder, grid, 4)[:-1]) == CODES["CUT_OFF"]
    assert theirs.try_to_grow((folder / "data" / f"{grid.name}.lrta.plan").read_bytes()) == CODES["KIND"]
    assert theirs.tick().waiting == 0
