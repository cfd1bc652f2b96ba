"""A C library of agents, called with ctypes in the same way as from a C program."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from andante.export.library import ERRORS
from tests.export.compiling import shared_library

CODES = {name: -number for number, name in enumerate(ERRORS, 1)}
STEP = np.dtype(
    [("state", "i8"), ("cost", "f8"), ("expanded", "i8"), ("touched", "i8"), ("learned", "f8"), ("found", "i8")]
)
ROOM = 64  # steps that a run can write at a time


def library_in(folder):
    """Return the library of a folder, loaded."""
    return ctypes.CDLL(str(shared_library(folder)))


class Files(ctypes.Structure):
    _fields_ = (
        ("plan", ctypes.c_void_p),
        ("plan_bytes", ctypes.c_size_t),
        ("map", ctypes.c_void_p),
        ("map_bytes", ctypes.c_size_t),
        ("databases", ctypes.c_void_p * 4),
        ("database_bytes", ctypes.c_size_t * 4),
    )


class Move(ctypes.Structure):
    _fields_ = (
        ("to", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("cost", ctypes.c_double),
        ("expanded", ctypes.c_int64),
        ("touched", ctypes.c_int64),
        ("learned", ctypes.c_double),
        ("stored", ctypes.c_int64),
    )


class Trial(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_double if name in ("cost", "learned") else ctypes.c_int64)
        for name in [
            "outcome",
            "state",
            "steps",
            "cost",
            "moves",
            "expanded",
            "touched",
            "max_expanded",
            "learned",
            "stored",
        ]
    )


def memory(bytes_: int, contents: bytes = b"", fill: int = -3) -> Any:
    """Return aligned memory that contained something else before."""
    words = np.full(bytes_ // 8 + 2, fill, np.int64)
    words.view(np.uint8)[: len(contents)] = np.frombuffer(contents, np.uint8)
    return words


class CAgent:
    """An agent of a C library."""

    def __init__(
        self, library: ctypes.CDLL, name: str, data: Path, place: str, databases: tuple[str, ...] = ()
    ) -> None:
        self._library, self._name = library, name
        plan, image = (data / f"{place}.{name}.plan").read_bytes(), (data / f"{place}.image").read_bytes()
        tables = [(data / file).read_bytes() for file in databases]
        self._plan, self.map = memory(len(plan), plan), memory(len(image), image)
        self._databases = [memory(len(table), table) for table in tables]
        self.files = Files(self._plan.ctypes.data, len(plan), self.map.ctypes.data, len(image))
        for i, table in enumerate(tables):
            self.files.databases[i], self.files.database_bytes[i] = self._databases[i].ctypes.data, len(table)
        self.agent = memory(8 * 1024)
        world_bytes = ctypes.c_size_t(len(image))
        whole = self._pointers(self.map)[0], ctypes.c_size_t(len(image))
        self.living = library.andante_world_bytes(*whole, ctypes.byref(world_bytes)) == 0
        self.world, self._image = memory(world_bytes.value), whole
        self.world_bytes = world_bytes
        if self.living:
            self._checked(self._world("init"))
            self.files.map, self.files.map_bytes = self.world.ctypes.data, self.world_bytes.value
        self.mind_bytes, self.desk_bytes = ctypes.c_size_t(), ctypes.c_size_t()
        self.check("bytes", ctypes.byref(self.files), ctypes.byref(self.mind_bytes), ctypes.byref(self.desk_bytes))
        self.mind, self.desk = memory(self.mind_bytes.value), memory(self.desk_bytes.value, fill=-5)
        self._set("init")

    @staticmethod
    def _pointers(*arrays: Any) -> list[ctypes.c_void_p]:
        return [ctypes.c_void_p(array.ctypes.data) for array in arrays]

    def _set(self, how: str) -> None:
        agent, mind, desk = self._pointers(self.agent, self.mind, self.desk)
        self.check(how, agent, ctypes.byref(self.files), mind, self.mind_bytes, desk, self.desk_bytes)

    def _world(self, how: str) -> int:
        image = () if how == "seal" else self._image
        return getattr(self._library, f"andante_world_{how}")(*self._pointers(self.world), self.world_bytes, *image)

    def attach_world(self) -> None:
        """Let the library check the world as it is."""
        self._checked(self._world("attach"))

    def seal_world(self) -> None:
        self._checked(self._world("seal"))

    def check(self, what: str, *arguments: Any) -> int:
        return self._checked(getattr(self._library, f"andante_{self._name}_{what}")(*arguments))

    def _checked(self, code: int) -> int:
        if code < 0:
            self._library.andante_error_text.restype = ctypes.c_char_p
            raise RuntimeError(self._library.andante_error_text(code).decode())
        return code

    def move(self, state: int, goal: int) -> tuple[Any, ...]:
        made = Move()
        self.check("move", *self._pointers(self.agent), state, goal, ctypes.byref(made))
        return made.to, made.cost, made.expanded, made.touched, made.learned, made.stored

    def retarget(self, goal: int) -> bool:
        keeps = ctypes.c_int()
        self.check("retarget", *self._pointers(self.agent), goal, ctypes.byref(keeps))
        return bool(keeps.value)

    def run(self, start: int, goal: int) -> tuple[Trial, list[int]]:
        steps, trial, path = np.zeros(ROOM, STEP), Trial(), [start]
        agent, room = self._pointers(self.agent, steps)
        more = self.check("run", agent, start, goal, None, room, ctypes.c_size_t(ROOM), ctypes.byref(trial))
        path += steps["state"][: trial.steps].tolist()
        while more:
            more = self.check("go_on", agent, room, ctypes.c_size_t(ROOM), ctypes.byref(trial))
            path += steps["state"][: trial.steps].tolist()
        return trial, path

    def relocate(self) -> None:
        """Continue elsewhere in memory with a copy of the world and the mind, as after a saved game is loaded."""
        if self.living:
            self.seal_world()
            self.world = self.world.copy()
            self.files.map = self.world.ctypes.data
            self.attach_world()
        self.check("seal", *self._pointers(self.agent))
        self.mind, self.desk, self.agent = self.mind.copy(), memory(self.desk_bytes.value), memory(8 * 1024)
        self.attach()

    def attach(self) -> None:
        """Continue with the mind as it is."""
        self._set("attach")

    def edit(self, cell: int, opened: bool) -> None:
        what = self._library.andante_open_cell if opened else self._library.andante_close_cell
        assert what(*self._pointers(self.world), self.world_bytes, cell) == 0
