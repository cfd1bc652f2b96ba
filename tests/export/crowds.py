"""Crowds of a C library, called from Python and compared with crowds in Python that do the same."""

import ctypes

import numpy as np

import andante
from andante.export.records import tick_names
from tests.export.bindings import CODES, Files, library_in, memory
from tests.export.compiling import in_node

NAME, UNITS, MEMORY = "lrta", 40, 1_000_000
FULL = 2
CLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class Budget(ctypes.Structure):
    _fields_ = (
        ("expansions", ctypes.c_double),
        ("nanoseconds", ctypes.c_double),
        ("clock", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
        ("pause_when_full", ctypes.c_int64),
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
        whole, size = (ctypes.c_void_p(self._keeps[1].ctypes.data), ctypes.c_size_t(len(image))), ctypes.c_size_t()
        if self._library.andante_world_bytes(*whole, ctypes.byref(size)) == 0:
            self._world = memory(size.value)
            assert self._library.andante_world_init(ctypes.c_void_p(self._world.ctypes.data), size, *whole) == 0
            self._files.map, self._files.map_bytes = self._world.ctypes.data, size.value
        self._bytes = ctypes.c_size_t()
        assert self.call("bytes", ctypes.byref(self._files), ctypes.byref(self._bytes)) == 0
        self._memory, self._crowd = memory(self._bytes.value), memory(1 << 17)
        self._set("init")

    def edit(self, cell, opened):
        what = self._library.andante_open_cell if opened else self._library.andante_close_cell
        assert what(ctypes.c_void_p(self._world.ctypes.data), ctypes.c_size_t(self._files.map_bytes), cell) == 0

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

    def relocate(self):
        """Continue elsewhere in memory."""
        assert self.call("seal", self._at) == 0
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

    def tick(self, expansions=0.0, nanoseconds=0.0, clock=None, pauses=False):
        budget = Budget(expansions, nanoseconds, ctypes.cast(clock, ctypes.c_void_p), None, pauses)
        found = Tick()
        code = self.call("tick", self._at, ctypes.byref(budget), ctypes.byref(found))
        return found if code == 0 else code

    @property
    def place(self):
        """The address of its memory."""
        return self._memory.ctypes.data

    def try_to_grow(self, plan, *, where=None, less=0):
        """Return the code of an attempt that fails."""
        kept, room = memory(len(plan), plan), memory(8 * self._bytes.value)
        files = Files(kept.ctypes.data, len(plan), self._files.map, self._files.map_bytes)
        size = ctypes.c_size_t()
        self.call("bytes", ctypes.byref(files), ctypes.byref(size))
        place = ctypes.c_void_p(where or room.ctypes.data)
        return self.call("grow", self._at, ctypes.byref(files), place, ctypes.c_size_t(size.value - less))

    def grow(self, plan):
        """Continue in larger memory; the old memory is overwritten."""
        self._plan = memory(len(plan), plan)
        self._files.plan, self._files.plan_bytes = self._plan.ctypes.data, len(plan)
        assert self.call("bytes", ctypes.byref(self._files), ctypes.byref(self._bytes)) == 0
        before, self._memory = self._memory, memory(self._bytes.value)
        room = ctypes.c_void_p(self._memory.ctypes.data)
        assert self.call("grow", self._at, ctypes.byref(self._files), room, self._bytes) == 0
        before[:] = -9


def crowd_in(folder, grid, name=NAME, databases=()):
    plan, image = (folder / "data" / f"{grid.name}.{ending}" for ending in (f"{name}.crowd", "image"))
    return CCrowd(library_in(folder), plan.read_bytes(), image.read_bytes(), name, databases)


def same(ours, theirs, units):
    for unit in units:
        found = theirs.about(unit)
        assert (found.state, found.goal, found.outcome, found.moves, found.cost, found.expanded) == (
            ours.states[unit], ours.goals[unit], ours.outcomes[unit], ours.moves[unit], ours.costs[unit],
            ours.expanded[unit],
        )  # fmt: skip


class Both:
    """A crowd in Python and the same in C; each call is made on both."""

    def __init__(self, name, grid, theirs, databases=(), memory=MEMORY, *, living=False, **how):
        self.world = andante.World(grid) if living else grid
        self.ours = andante.Crowd(name, self.world, databases=databases, memory=memory, **how)
        self.theirs, self.grid = theirs, grid
        self.living, self.bodies = living, how.get("bodies", False)
        self.script, self.ticks = [], []  # the calls, and the results of ticks

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
        found = in_node("crowd.mjs", folder, task, tmp_path)
        assert found["ticks"] == self.ticks
        assert (found["names"], found["waiting"]) == ([name], 0)
        ours = self.ours
        for unit, about in zip(self.units(), found["units"], strict=True):
            assert about["outcome"] == andante.Outcome(ours.outcomes[unit]).name
            assert (about["state"], about["goal"]) == (ours.states[unit], ours.goals[unit])
            assert (about["moves"], about["cost"]) == (ours.moves[unit], ours.costs[unit])


def play(both, ticks, rng):
    """Send, put, add and remove units with priorities, and move goals, while cells close and open."""
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
            both.theirs.relocate()
        if both.living and number % 3 == 0:
            for cell in rng.choice(free, 3).tolist():  # also where a unit is or wants to go
                both.edit(cell, False)
                closed.append(cell)
            for _ in range(len(closed) - 12):
                both.edit(closed.pop(0), True)
    return seen
