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
from andante.export.crowds import CrowdPlan, CrowdSize
from andante.export.images import MapImage
from andante.export.library import tick_names
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
    _fields_ = tuple((name, ctypes.c_int64) for name in tick_names())


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
        self._world = memory(len(image), image)
        if self._library.andante_world_init(*self._whole(self._world), *self._whole(self._keeps[1])) == 0:
            self._files.map = self._world.ctypes.data
        self._bytes = ctypes.c_size_t()
        assert self.call("bytes", ctypes.byref(self._files), ctypes.byref(self._bytes)) == 0
        self._memory, self._crowd = memory(self._bytes.value), memory(1 << 17)
        self._set("init")

    def _whole(self, data):
        return ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(self._files.map_bytes)

    def edit(self, cell, opened):
        what = self._library.andante_open_cell if opened else self._library.andante_close_cell
        assert what(*self._whole(self._world), cell) == 0

    def cells(self):
        at, count = ctypes.c_void_p(), ctypes.c_int32()
        assert self.call("cells", self._at, ctypes.byref(at), ctypes.byref(count)) == 0
        return np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_int32)), (count.value, 2)).tolist()

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


TARGETS = ["this", "wasm"] if HAS_ZIG else "this"

#: Crowds by what is said at export. Those with and without bodies have the same code.
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
    """The folders of all kinds, each made when it is asked for."""
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


class Both:
    """A crowd in Python and the same in C: whatever one of them does, the other does too."""

    def __init__(self, name, grid, theirs, databases=(), memory=MEMORY, *, living=False, **how):
        self.world = andante.World(grid) if living else grid
        self.ours = andante.Crowd(name, self.world, databases=databases, memory=memory, **how)
        self.theirs, self.grid = theirs, grid
        self.living, self.bodies = living, how.get("bodies", False)
        self.script, self.ticks = [], []  # what was done, and what came of ticks

    def add(self, start, goal, priority=1.0):
        if self.bodies and start in self.ours.states.tolist():
            assert self.theirs.add(start, goal, priority) == CODES["TAKEN"]
            return
        unit = int(self.ours.add([self.grid.cell(start)], [self.grid.cell(goal)], priority=priority)[0])
        assert self.theirs.add(start, goal, priority) == unit
        self.script.append(("add", start, goal, priority))

    def send(self, unit, goal):
        self.ours.send([unit], [self.grid.cell(goal)])
        assert self.theirs.do("send", unit, goal) == 0
        self.script.append(("send", unit, goal))

    def put(self, unit, place):
        if self.bodies and place in self.ours.states.tolist() and self.ours.states[unit] != place:
            assert self.theirs.do("put", unit, place) == CODES["TAKEN"]
            return
        self.ours.put([unit], [self.grid.cell(place)])
        assert self.theirs.do("put", unit, place) == 0
        self.script.append(("put", unit, place))

    def remove(self, unit):
        self.ours.remove([unit])
        assert self.theirs.remove(unit) == 0
        self.script.append(("remove", unit))

    def edit(self, cell, opened):
        (self.world.open if opened else self.world.close)(self.grid.cell(cell))
        self.theirs.edit(cell, opened)
        self.script.append(("edit", cell, opened))

    def units(self):
        return np.flatnonzero(self.ours.states >= 0).tolist()

    def tick(self, budget):
        tick, found = self.ours.tick(expansions=budget), self.theirs.tick(budget or 0.0)
        for name in tick_names():
            assert getattr(found, name) == getattr(tick, name), (tick.number, name)
        same(self.ours, self.theirs, self.units())
        assert self.theirs.cells() == self.ours.cells.tolist()
        self.script.append(("tick", budget or 0.0))
        self.ticks.append(
            {**{name: getattr(tick, name) for name in tick_names()}, "cells": self.ours.cells.ravel().tolist()}
        )
        return tick

    def check_in_node(self, name, folder, tmp_path):
        """Do the same in WebAssembly."""
        task = {"name": name, "place": self.grid.name, "script": self.script, "units": self.units()}
        (tmp_path / "task.json").write_text(json.dumps(task))
        script = [shutil.which("node"), "tests/export/crowd.mjs", str(folder), str(tmp_path / "task.json")]
        done = subprocess.run(script, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["ticks"] == self.ticks
        assert (found["names"], found["waiting"]) == ([name], 0)
        ours = self.ours
        for unit, about in zip(self.units(), found["units"], strict=True):
            assert about["outcome"] == andante.Outcome(ours.outcomes[unit]).name
            assert (about["state"], about["goal"]) == (ours.states[unit], ours.goals[unit])
            assert (about["moves"], about["cost"]) == (ours.moves[unit], ours.costs[unit])


def play(both, ticks, rng):
    """Let units with priorities walk, be sent and put elsewhere, come and go, chase goals, while walls come and go."""
    free = np.flatnonzero(both.grid.passable.ravel())
    goals = rng.choice(free, 6)  # few, so that units learn together
    for i in range(UNITS):
        both.add(int(rng.choice(free)), int(rng.choice(goals)), 2.0 if i % 3 == 0 else 1.0)
    seen = dict.fromkeys(tick_names(), 0)
    closed = []
    for number in range(1, ticks + 1):
        tick = both.tick((None, 7.0, 25.0, 100.0)[number // 10 % 4])
        seen = {name: seen[name] + getattr(tick, name) for name in seen}
        free = np.flatnonzero(both.world.passable.ravel())
        unit = int(rng.choice(both.units()))
        if number % 7 == 0:
            both.send(unit, int(rng.choice(free)))
        if number % 5 == 0:  # a goal that moves a little
            near = [to for to, _ in both.grid.graph.neighbours(int(both.ours.goals[unit]))]
            both.send(unit, next((to for to in near if to in free), int(rng.choice(free))))
        if number % 11 == 0:
            both.put(unit, int(rng.choice(free)))
        if number % 9 == 0:
            both.remove(unit)
        if number % 18 == 0:
            for _ in range(2):
                both.add(int(rng.choice(free)), int(rng.choice(free)))
        if number % 13 == 0:
            both.theirs.move_house()
        if both.living and number % 3 == 0:
            for cell in rng.choice(free, 3).tolist():  # also where somebody stands or wants to go
                both.edit(cell, False)
                closed.append(cell)
            for _ in range(len(closed) - 12):
                both.edit(closed.pop(0), True)
    return seen


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


def test_units_keep_to_the_memory_as_in_python(grid, folder):
    """So many units that some must begin again; the code is for crowds of any size."""
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
        ({"crowd": 0, "bodies": True}, "say how many units"),
        ({"share": "all"}, "share must be 'goal' or None"),
        ({"algorithms": "rta", "share": "goal"}, "cannot learn together"),
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
