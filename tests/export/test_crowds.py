"""Crowds in C tick as crowds in Python do."""

import ctypes
import importlib.util
import json
import shutil
import subprocess
import time

import numpy as np
import pytest

import andante
from andante.agent import algorithms, find
from andante.export import export
from andante.export.images import CrowdPlan, MapImage
from andante.kernel import JIT
from tests.export.bindings import CODES, Files, memory

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
]

HAS_ZIG = importlib.util.find_spec("ziglang") is not None or shutil.which("zig") is not None
NAME, UNITS, MEMORY = "lrta", 40, 1_000_000
CLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class Budget(ctypes.Structure):
    _fields_ = (
        ("expansions", ctypes.c_double),
        ("nanoseconds", ctypes.c_double),
        ("clock", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
    )


class Tick(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_int64)
        for name in [
            "number",
            "moved",
            "waiting",
            "arrived",
            "unreachable",
            "stuck",
            "restarted",
            "expansions",
            "longest_wait",
            "bytes",
        ]
    )


class About(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_double if name == "cost" else ctypes.c_int64)
        for name in ["outcome", "state", "goal", "moves", "cost", "expanded", "restarts"]
    )


class CCrowd:
    """A crowd of a C library."""

    def __init__(self, library, plan, image, name=NAME, databases=()):
        self._library, self._name = library, name
        self._keeps = memory(len(plan), plan), memory(len(image), image)
        self._files = Files(self._keeps[0].ctypes.data, len(plan), self._keeps[1].ctypes.data, len(image))
        self._databases = [memory(len(one), one) for one in databases]
        for i, one in enumerate(databases):
            self._files.databases[i], self._files.database_bytes[i] = self._databases[i].ctypes.data, len(one)
        self._bytes = ctypes.c_size_t()
        assert self.call("bytes", ctypes.byref(self._files), ctypes.byref(self._bytes)) == 0
        self._memory, self._crowd = memory(self._bytes.value), memory(1 << 17)
        self._set("init")

    def call(self, what, *arguments):
        return getattr(self._library, f"andante_{self._name}_crowd_{what}")(*arguments)

    @property
    def _at(self):
        return ctypes.c_void_p(self._crowd.ctypes.data)

    def _set(self, how):
        room = ctypes.c_void_p(self._memory.ctypes.data)
        assert self.call(how, self._at, ctypes.byref(self._files), room, self._bytes) == 0

    def move_house(self):
        """Go on elsewhere in memory."""
        self._memory, self._crowd = self._memory.copy(), memory(1 << 17)
        self._set("attach")

    def add(self, start, goal, priority=1.0):
        number = ctypes.c_int32(-7)
        code = self.call("add", self._at, start, goal, ctypes.c_double(priority), ctypes.byref(number))
        return number.value if code == 0 else code

    def do(self, what, unit, place):
        return self.call(what, self._at, unit, place)

    def remove(self, unit):
        return self.call("remove", self._at, unit)

    def about(self, unit):
        found = About()
        code = self.call("unit", self._at, unit, ctypes.byref(found))
        return found if code == 0 else code

    def tick(self, expansions=0.0, nanoseconds=0.0, clock=None):
        budget, found = Budget(expansions, nanoseconds, ctypes.cast(clock, ctypes.c_void_p) if clock else None), Tick()
        code = self.call("tick", self._at, ctypes.byref(budget), ctypes.byref(found))
        return found if code == 0 else code


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 30, 24, seed=3)


@pytest.fixture(scope="module")
def folder(grid, tmp_path_factory):
    out = tmp_path_factory.mktemp("crowd") / "engine"
    export(NAME, grid, out, crowd=UNITS, memory=MEMORY, targets=["this", "wasm"] if HAS_ZIG else "this")
    return out


def library_in(folder):
    return ctypes.CDLL(str(next(folder.glob("linux-*/*.so"))))


def crowd_in(folder, grid, name=NAME, databases=()):
    plan, image = (folder / "data" / f"{grid.name}.{ending}" for ending in (f"{name}.crowd", "image"))
    return CCrowd(library_in(folder), plan.read_bytes(), image.read_bytes(), name, databases)


@pytest.fixture
def theirs(folder, grid):
    return crowd_in(folder, grid)


def same(ours, theirs, units):
    for unit in units:
        found = theirs.about(unit)
        assert (found.state, found.goal, found.outcome, found.moves, found.cost, found.expanded) == (
            ours.states[unit], ours.goals[unit], ours.outcomes[unit], ours.moves[unit], ours.costs[unit],
            ours.expanded[unit],
        )  # fmt: skip


def test_ticks_are_the_same(grid, theirs):
    """Units with priorities, sent elsewhere, put elsewhere, and chasing goals that move, under several budgets."""
    ours, rng = andante.Crowd(NAME, grid, memory=MEMORY), np.random.default_rng(5)
    free = np.flatnonzero(grid.passable.ravel())
    starts, goals = rng.choice(free, UNITS), rng.choice(free, UNITS)
    weights = np.where(np.arange(UNITS) % 3 == 0, 2.0, 1.0)
    cells = np.stack(np.divmod(np.arange(len(grid.graph)), grid.width)[::-1], 1)
    ids = ours.add(cells[starts], cells[goals], priority=weights)
    for start, goal, weight, unit in zip(starts.tolist(), goals.tolist(), weights.tolist(), ids.tolist(), strict=True):
        assert theirs.add(start, goal, weight) == unit
    assert theirs.add(int(starts[0]), int(goals[0])) == CODES["CROWD_FULL"]
    for number in range(1, 151):
        budget = (None, 7.0, 25.0, 100.0)[number // 10 % 4]
        tick, found = ours.tick(expansions=budget), theirs.tick(budget or 0.0)
        for name in ("number", "moved", "waiting", "arrived", "unreachable", "stuck", "restarted", "expansions"):
            assert getattr(found, name) == getattr(tick, name), (number, name)
        assert (found.longest_wait, found.bytes) == (tick.longest_wait, tick.bytes)
        if number % 7 == 0:
            unit, goal = int(rng.integers(UNITS)), int(rng.choice(free))
            ours.send([unit], [cells[goal]])
            assert theirs.do("send", unit, goal) == 0
        if number % 5 == 0:  # a goal that moves a little
            unit = int(rng.integers(UNITS))
            goal = grid.graph.neighbours(int(ours.goals[unit]))[0][0]
            ours.send([unit], [cells[goal]])
            assert theirs.do("send", unit, goal) == 0
        if number % 11 == 0:
            unit, place = int(rng.integers(UNITS)), int(rng.choice(free))
            ours.put([unit], [cells[place]])
            assert theirs.do("put", unit, place) == 0
        if number % 13 == 0:
            theirs.move_house()
        same(ours, theirs, ids.tolist())


def test_units_keep_to_the_memory_as_in_python(grid, folder):
    """So many units that some must begin again; the code is for crowds of any size."""
    many, free = 2000, np.flatnonzero(grid.passable.ravel())
    image = MapImage.of(grid)
    plan = CrowdPlan.of(find(NAME), image, (), many, MEMORY).data
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
@pytest.mark.parametrize("name", [entry.card.name for entry in algorithms() if entry.crowd])
def test_every_algorithm_that_can_be_one_of_a_crowd(name, grid, tmp_path):
    orders = {"dprlrta": "pattern(base=3, cover=aligned)"}
    databases = [andante.build(orders.get(name, kind), grid) for kind in find(name).needs]
    room = 4 * MEMORY  # a unit of tbwalls takes 50 kB
    export(name, grid, tmp_path / "engine", databases=databases, crowd=UNITS, memory=room)
    files = [one.to_bytes() for one in databases]
    theirs = crowd_in(tmp_path / "engine", grid, name.replace("-", "_"), files)
    ours, rng = andante.Crowd(name, grid, databases=databases, memory=room), np.random.default_rng(7)
    pairs = rng.choice(np.flatnonzero(grid.passable.ravel()), (UNITS, 2)).tolist()
    cells = [[grid.cell(state) for state in pair] for pair in pairs]
    ids = ours.add([start for start, _ in cells], [goal for _, goal in cells]).tolist()
    assert [theirs.add(*pair) for pair in pairs] == ids
    for number in range(120):
        budget = (None, 40.0)[number // 20 % 2]
        tick, found = ours.tick(expansions=budget), theirs.tick(budget or 0.0)
        assert (found.moved, found.waiting, found.expansions) == (tick.moved, tick.waiting, tick.expansions)
        same(ours, theirs, ids)


@pytest.mark.skipif(shutil.which("node") is None or not HAS_ZIG, reason="needs node and ziglang")
def test_ticks_are_the_same_in_webassembly(grid, folder, tmp_path):
    rng, free = np.random.default_rng(6), np.flatnonzero(grid.passable.ravel())
    pairs, budgets = rng.choice(free, (UNITS, 2)).tolist(), [9.0] * 30 + [0.0] * 20
    task = {"name": NAME, "place": grid.name, "pairs": pairs, "budgets": budgets}
    (tmp_path / "task.json").write_text(json.dumps(task))
    script = [shutil.which("node"), "tests/export/crowd.mjs", str(folder), str(tmp_path / "task.json")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found, crowd = json.loads(done.stdout), andante.Crowd(NAME, grid, memory=MEMORY)
    assert found["names"] == [NAME]
    assert found["waiting"] == 0
    cells = [[grid.cell(state) for state in pair] for pair in pairs]
    ids = crowd.add([start for start, _ in cells], [goal for _, goal in cells])
    for budget, made in zip(budgets, found["ticks"], strict=True):
        tick = crowd.tick(expansions=budget or None)
        assert made == [tick.moved, tick.waiting, tick.arrived, tick.expansions, crowd.states[ids].tolist()]


def test_units_come_and_go(grid, theirs):
    free = np.flatnonzero(grid.passable.ravel()).tolist()
    units = [theirs.add(free[i], free[-1 - i]) for i in range(3)]
    assert units == [0, 1, 2]
    assert theirs.remove(1) == 0
    assert theirs.about(1) == CODES["NO_UNIT"] == theirs.remove(1) == theirs.do("send", 1, free[0])
    assert theirs.add(free[5], free[9]) == 1
    while theirs.tick().waiting or theirs.about(1).outcome == 1:
        pass
    assert theirs.about(1).state == free[9]


def test_the_host_hands_in_a_clock(grid, theirs):
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
        ({"living": True}, "leave out --living or --crowd"),
        ({"crowd": -1}, "at least 0"),
        ({"crowd": 2**30}, "at most 1,048,576 units"),
        ({"memory": 5}, "at least 1e+06"),
        ({"crowd": 10_000}, "units of lrta, not for 10,000"),
    ],
)
def test_what_is_no_crowd(change, said, grid, tmp_path):
    given = {"algorithms": NAME, "maps": grid, "out": tmp_path / "engine", "crowd": UNITS, "memory": MEMORY, **change}
    with pytest.raises(andante.AndanteError) as error:
        export(**given)
    assert said in str(error.value)
    assert not list(tmp_path.iterdir())
