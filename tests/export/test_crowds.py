"""The ticks of crowds in C are the same as in Python."""

import importlib.util
import shutil
import time

import numpy as np
import pytest

import andante
from andante.agent import algorithms, find
from andante.export import export
from andante.export.crowds import CrowdPlan, CrowdSize
from andante.export.images import MapImage
from andante.kernel import JIT
from tests.export.bindings import CODES, library_in
from tests.export.compiling import needs_gcc
from tests.export.crowds import CLOCK, MEMORY, NAME, UNITS, Both, CCrowd, crowd_in, play, same

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]

HAS_ZIG = importlib.util.find_spec("ziglang") is not None or shutil.which("zig") is not None


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 30, 24, seed=3)


TARGETS = ["this", "wasm"] if HAS_ZIG else "this"

#: Crowds by the options of their export. Those with and without bodies have the same code.
KINDS = {
    "plain": {},
    "bodies": {"bodies": True},
    "living": {"living": True},
    "living bodies": {"living": True, "bodies": True},
    "shared": {"share": "goal"},
    "shared living bodies": {"living": True, "bodies": True, "share": "goal"},
}


@pytest.fixture(scope="module")
def folders(grid, tmp_path_factory):
    """A function that returns the folder of a kind, and makes it when it is first requested."""
    made = {}

    def folder(kind):
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp("crowd") / "engine"
            export(NAME, grid, made[kind], crowd=UNITS, memory=MEMORY, targets=TARGETS, **KINDS[kind])
        return made[kind]

    return folder


@pytest.fixture(scope="module")
def folder(folders):
    return folders("plain")


@pytest.fixture
def theirs(folder, grid):
    return crowd_in(folder, grid)


@pytest.mark.parametrize("kind", KINDS)
def test_ticks_are_the_same(kind, grid, folders, tmp_path):
    both = Both(NAME, grid, crowd_in(folders(kind), grid), **KINDS[kind])
    seen = play(both, 200, np.random.default_rng(5))
    assert seen["moved"] > 1000
    assert seen["waiting"] > 100
    assert seen["arrived"] > 5
    if "bodies" in kind:
        assert seen["blocked"] > 10
    if "living" in kind:
        assert seen["unreachable"] > 0
    if shutil.which("node") and HAS_ZIG:
        both.check_in_node(NAME, folders(kind), tmp_path)


def test_units_stay_within_the_memory_as_in_python(grid, folder):
    """There are so many units that some must start again; the code is for crowds of any size."""
    many, free = 2000, np.flatnonzero(grid.passable.ravel())
    image = MapImage.of(grid)
    plan = CrowdPlan.of(find(NAME), image, (), CrowdSize(many, MEMORY)).data
    assert len(plan) == (folder / "data" / f"{grid.name}.{NAME}.crowd").stat().st_size  # of fewer units
    theirs = CCrowd(library_in(folder), plan, image.data)
    ours, rng = andante.Crowd(NAME, grid, memory=MEMORY), np.random.default_rng(8)
    starts, goals = rng.choice(free, many).tolist(), rng.choice(free, many).tolist()
    ids = ours.add([grid.cell(state) for state in starts], [grid.cell(state) for state in goals]).tolist()
    assert [theirs.add(start, goal) for start, goal in zip(starts, goals, strict=True)] == ids
    restarted = 0
    for _ in range(60):
        tick, found = ours.tick(expansions=3000.0), theirs.tick(3000.0)
        assert (found.moved, found.restarted, found.bytes) == (tick.moved, tick.restarted, tick.bytes)
        assert found.bytes <= MEMORY
        restarted += found.restarted
    assert restarted > 0
    same(ours, theirs, ids)


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [entry.card.name for entry in algorithms() if entry.crowd])
def test_every_algorithm_that_can_be_one_of_a_crowd(name, kind, grid, tmp_path):
    orders = {"dprlrta": "pattern(base=3, cover=aligned)"}
    databases = [andante.build(orders.get(name, kind), grid) for kind in find(name).needs]
    room = 4 * MEMORY  # a unit of tbwalls takes 50 kB
    try:
        export(name, grid, tmp_path / "engine", databases=databases, crowd=UNITS, memory=room, **KINDS[kind])
    except andante.AndanteError as error:
        assert any(said in str(error) for said in ("without --living", "cannot learn together"))
        return
    files = [one.to_bytes() for one in databases]
    theirs = crowd_in(tmp_path / "engine", grid, name.replace("-", "_"), files)
    play(Both(name, grid, theirs, databases, room, **KINDS[kind]), 120, np.random.default_rng(7))


def test_units_are_added_and_removed(grid, theirs):
    free = np.flatnonzero(grid.passable.ravel()).tolist()
    units = [theirs.add(free[i], free[-1 - i]) for i in range(3)]
    assert units == [0, 1, 2]
    assert theirs.remove(1) == 0
    assert theirs.about(1) == CODES["NO_UNIT"] == theirs.remove(1) == theirs.do("send", 1, free[0])
    assert theirs.add(free[5], free[9]) == 1
    while theirs.tick().waiting or theirs.about(1).outcome == 1:
        pass
    assert theirs.about(1).state == free[9]


def test_the_host_passes_a_clock(grid, theirs):
    free = np.flatnonzero(grid.passable.ravel()).tolist()
    for i in range(20):
        theirs.add(free[i], free[-1 - i])
    calls = []

    def now(_):
        calls.append(len(calls) * 1000)  # each look at the clock takes a microsecond
        return calls[-1]

    clock = CLOCK(now)
    ticks = [theirs.tick(nanoseconds=5000.0, clock=clock) for _ in range(40)]
    assert calls
    assert all(0 < tick.moved <= 8 for tick in ticks)  # a move takes one look, and the budget is five
    real = CLOCK(lambda _: time.perf_counter_ns())
    assert theirs.tick(nanoseconds=1e9, clock=real).waiting == 0


def test_bad_calls_are_refused(grid, theirs):
    free = np.flatnonzero(grid.passable.ravel()).tolist()
    wall = int(np.flatnonzero(~grid.passable.ravel())[0])
    assert theirs.add(-1, free[0]) == CODES["NO_STATE"]
    assert theirs.add(wall, free[0]) == CODES["BLOCKED"]
    assert theirs.add(free[0], wall) == CODES["BLOCKED"]
    for priority in (0.0, -1.0, float("nan"), float("inf")):
        assert theirs.add(free[0], free[1], priority) == CODES["BAD_LIMIT"]
    for unit in (-1, 0, UNITS, 2**31 - 1):
        assert theirs.about(unit) == CODES["NO_UNIT"]
    assert theirs.tick(expansions=-1.0) == CODES["BAD_LIMIT"]
    assert theirs.tick(expansions=1.0, nanoseconds=1.0) == CODES["BAD_LIMIT"]
    assert theirs.tick(nanoseconds=1.0) == CODES["NULL"]
    assert theirs.call("tick", None, None, None) == CODES["NULL"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"algorithms": "astar"}, "cannot keep to a crowd's budget"),
        ({"crowd": 0, "bodies": True}, "set the number of units"),
        ({"crowd": 0, "grow": 2}, "set the number of units"),
        ({"grow": 0}, "at least 1"),
        ({"grow": 2**20}, "at most 1,048,576 units"),
        ({"share": "all"}, "share must be 'goal' or None"),
        ({"algorithms": "rta", "share": "goal"}, "cannot learn together"),
        ({"crowd": -1}, "at least 0"),
        ({"crowd": 2**30}, "at most 1,048,576 units"),
        ({"memory": 5}, "at least 1e+06"),
        ({"crowd": 10_000}, "units of lrta, not for 10,000"),
    ],
)
def test_a_bad_crowd_is_refused(change, said, grid, tmp_path):
    given = {"algorithms": NAME, "maps": grid, "out": tmp_path / "engine", "crowd": UNITS, "memory": MEMORY, **change}
    with pytest.raises(andante.AndanteError) as error:
        export(**given)
    assert said in str(error.value)
    assert not list(tmp_path.iterdir())
