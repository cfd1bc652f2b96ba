"""Squads: units of a crowd with the same algorithm, which share a desk and take turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.episode.checks import covering, explained
from andante.episode.detour import edition_of, gait_of
from andante.episode.holdings import held_by, release_annexes, release_teams, release_units
from andante.episode.march import Scratch, begin_turn, end_turn, marcher
from andante.episode.units import NO_TEAM, NOBODY, SQUAD, Annexes, Ground, Unit
from andante.kernel import Each, bind, host_nanoseconds
from andante.search.memory import CLOCK, Log, Space, allocate, bytes_of
from andante.search.mind import ANNEX, Draft, Mind, Minds
from andante.world.graph import Graph

FIRST_SLOTS = 1024


class Kernel(NamedTuple):
    """A kernel, the arguments that it is bound to, and which of its other arguments are not whole numbers."""

    function: Callable[..., Any]
    parts: tuple[Any, ...]
    floats: tuple[int, ...] = ()


class Squad:
    """The minds of the units, in slots that are reused, and the compiled loop that moves them."""

    def __init__(
        self,
        algorithm: Algorithm,
        databases: tuple[Any, ...],
        graph: Graph,
        ground: Ground,
        room: int,
        share: bool,
        slots: int = FIRST_SLOTS,
    ) -> None:
        self.algorithm, self.databases, self._graph = algorithm, databases, graph
        self._gait = gait_of(algorithm, graph)
        self._share = share
        self.covering = covering(algorithm, databases, graph)  # databases that may be for only some goals
        draft = Draft(len(graph), width=graph.row_width, share=share)
        self._allocate(draft)
        self._minds = Minds(draft, slots, room)
        self._members = np.full(slots, NOBODY, np.int32)
        self._free = list(range(slots - 1, -1, -1))  # slots that can be given out, the lowest last
        self._team: dict[int, int] = {}  # by goal
        self._goal: dict[int, int] = {}  # of each team
        self._strength: dict[int, int] = {}  # the number of units of each team
        self._free_teams = list(range(slots - 1, NO_TEAM, -1))
        self._problems = 0  # of teams so far
        self._problem: dict[int, int] = {}  # the number of each team's problem
        self.result = np.zeros(1, SQUAD)
        self.count = {name: self.result[name].data for name in SQUAD.names or ()}  # much faster to read and write
        self.count["room"][0] = room
        self._has_annexes = any(one.annexed for one in draft.asked)
        self.result["annex_bytes"] = self._minds.annex_bytes if self._has_annexes else 0
        self._free_annexes = np.zeros(slots, np.int32)
        self._edition = edition_of(databases, graph)
        self._scratch = Scratch.new()
        self.stand_on(ground)

    def _allocate(self, mind: Mind) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the memory and the clocks of units and teams, which are the same if units do not learn together."""
        clock = mind.one(CLOCK)
        team_clock = mind.one(CLOCK) if self._share else clock
        who, params = str(self.algorithm), self._gait.params
        space = Space(self._graph, params, mind, clock, Log.of(0), self.databases, who=who, team_clock=team_clock)
        return allocate(self._gait.memory, space), clock, team_clock

    def stand_on(self, ground: Ground) -> None:
        """Bind the loops to the minds and to the table of all units, which is new or has grown."""
        memory, clock, team_clock = self._allocate(self._minds)
        self._memory = memory
        unit = Unit(memory, self._minds.pools, self._minds.team_pools)
        crew = Each(unit, self._minds.rows, self._minds.team_rows)
        graph, codes = self._graph.arrays, self._gait.codes
        self._ground = ground
        self._table = ground, self._members, self.result
        self._begin = bind(begin_turn, *self._table)
        loop = marcher(self._gait.step, self._gait.memory)
        clocks = self._minds.all_of(clock), self._minds.all_of(team_clock), self._graph.changes
        annexes = self._annexes()
        self._marching = graph, crew, codes, *clocks, *self._table, self._scratch, annexes
        march = bind(loop, *self._marching)
        self._march = self._graph.guarded(march) if self.algorithm.card.regions else march
        self._end = bind(end_turn, *self._table)
        numbers = np.dtype(np.int64)
        self._releasing = crew, annexes, ground, self.result, numbers
        self._release_units = bind(release_units, *self._releasing)
        self._release_annexes = bind(release_annexes, crew, annexes, *self._table)
        self._disbanding = crew, numbers
        self._release_teams = bind(release_teams, *self._disbanding)
        self._holding = crew, ground, self.result, numbers, numbers
        self._held = bind(held_by, *self._holding)

    def _annexes(self) -> Annexes:
        """Return the annexes for units that need one, none if units never do."""
        blocks = self._minds.annexes
        if not self._has_annexes:
            return Annexes(np.zeros(0, np.uint8), np.zeros(0, ANNEX), self._free_annexes, 0)
        head = self._minds.all_of(self._memory.detour.annex)
        return Annexes(blocks.bytes, head, self._free_annexes, blocks.size)

    def kernels(self) -> dict[str, Kernel]:
        """Return the kernels of a squad for a program without Python, and the arguments that they are bound to."""
        self._minds.begin(len(self._members))  # so that no work is left for adding a unit outside Python
        loop = marcher(self._gait.step, self._gait.memory, host_nanoseconds)
        found = {
            "march": Kernel(loop, self._marching, floats=(1, 2)),
            "release": Kernel(release_units, self._releasing),
            "held": Kernel(held_by, self._holding),
        }
        if self._share:
            found["release_teams"] = Kernel(release_teams, self._disbanding)
        return found

    @property
    def tables(self) -> dict[str, npt.NDArray[Any]]:
        """The tables of a squad: units and their cells, the units in its slots, the squad itself, and its clock."""
        ground, members, result = self._table
        return {
            "units": ground.units,
            "cells": ground.cells,
            "members": members,
            "squad": result,
            "scratch": self._scratch.clock,
        }

    def take_slots(self, units: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Give each unit a slot, and return the slots."""
        while len(self._free) < len(units):
            self._grow()
        slots = np.array([self._free.pop() for _ in range(len(units))], np.int64)
        self._members[slots] = units
        self.result["slots"] = max(int(self.result["slots"][0]), int(slots.max(initial=-1)) + 1)
        self._minds.begin(int(self.result["slots"][0]))
        return slots

    @property
    def _second(self) -> int:
        """The number below which all teams or annexes may be in use."""
        return len(self._members) if self._share else int(self.result["annexes"][0]) + 1

    def _grow(self) -> None:
        before = len(self._members)
        self._minds.grow(2 * before, self._second)
        self._members = np.concatenate([self._members, np.full(before, NOBODY, np.int32)])
        self._free_annexes = np.concatenate([self._free_annexes, np.zeros(before, np.int32)])
        more = list(range(2 * before - 1, before - 1, -1))
        self._free, self._free_teams = more + self._free, more + self._free_teams
        self.stand_on(self._ground)

    def join_teams(self, table: npt.NDArray[Any], rows: npt.NDArray[np.int64]) -> None:
        """Put units with the same goal into one team, if units learn together."""
        if not self._share:
            return
        for row in rows.tolist():
            goal = int(table["goal"][row])
            if goal not in self._team:
                if not self._free_teams:
                    self._grow()
                team = self._free_teams.pop()
                self._problems += 1
                self._team[goal], self._strength[team], self._problem[team] = team, 0, self._problems
                self._goal[team] = goal
            team = self._team[goal]
            self._strength[team] += 1
            table["team"][row], table["problem"][row] = team, self._problem[team]

    def leave_teams(self, table: npt.NDArray[Any], rows: npt.NDArray[np.int64]) -> None:
        """Remove units from their teams, and release the records of a team without units."""
        if not self._share:
            return
        for row in rows[table["team"][rows] != NO_TEAM].tolist():
            team, table["team"][row] = int(table["team"][row]), NO_TEAM
            self._strength[team] -= 1
            if self._strength[team] == 0:
                del self._strength[team], self._problem[team], self._team[self._goal.pop(team)]
                self._free_teams.append(team)
                gone = np.array([team], np.int64)
                self._release_teams(gone.ctypes.data, 1)

    def release_units(self, units: npt.NDArray[np.int64]) -> None:
        """Release all records that these units hold alone."""
        units = np.ascontiguousarray(units)
        self._release_units(units.ctypes.data, len(units))

    def free_slots(self, slots: npt.NDArray[np.int64]) -> None:
        """Free the slots of units that leave the squad and hold no records any more."""
        self._members[slots] = NOBODY
        self._free.extend(sorted(slots.tolist(), reverse=True))

    def compile(self, bodies: bool) -> None:
        """Call every loop without any work."""
        before, no_units = self.result.copy(), np.zeros(0, np.int64)
        self.result["slots"] = 0
        self.begin()
        self.march(0, 0.0, 0.0, False, False, bodies)
        self.end(0)
        self.release_units(no_units)
        self._release_annexes()
        self.held_bytes(no_units)
        self._release_teams(no_units.ctypes.data, 0)
        self.result[:] = before

    def prepare(self, size: int) -> None:
        """Touch this number of bytes of the memory for what units will learn."""
        self._minds.prepare(size, self._second)

    def begin(self) -> float:
        """Begin a turn, and return the sum of the priorities of the units that walk."""
        if self.databases and (edition := edition_of(self.databases, self._graph)) != self._edition:
            self._edition = edition
            self._release_annexes()  # units that search switch to the new edition too
            self.stand_on(self._ground)
        return float(self._begin())

    def march(self, turn: int, budget: float, share: float, everybody: bool, timed: bool, bodies: bool) -> float:
        """Make the units move, or with bodies wish, until the budget is spent, and return what was spent."""
        try:
            return float(self._march(turn, budget, share, everybody, timed, bodies))
        except Exception as error:
            raise explained(self.algorithm, error) from None

    def close_accounts(self) -> None:
        """Reset all accounts and the mean cost of a move."""
        self.result["round"] += 1
        self.result["given_before"] = self.result["given"]
        for name in ("mean", "seen", "total", "highest"):
            self.result[name] = 0

    def end(self, turn: int) -> None:
        """End a turn."""
        self._end(turn)

    @property
    def waits(self) -> bool:
        """Whether there are units that have not moved in this turn."""
        return bool(self.count["moved"][0] < self.count["walking"][0])

    def held_bytes(self, units: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the bytes that these units hold."""
        units = np.ascontiguousarray(units)
        held = np.zeros(len(units), np.int64)
        self._held(units.ctypes.data, len(units), held.ctypes.data, len(held))
        return held

    @property
    def used_bytes(self) -> int:
        """The bytes that all units hold."""
        return int(self._held(0, 0, 0, 0))

    @property
    def unit_bytes(self) -> int:
        """The bytes that each unit takes before it has learned anything, including its team if it is alone in it."""
        team = self._minds.annex_bytes if self._share else 0
        return self._minds.unit_bytes + team + self._members.itemsize

    def slot_bytes(self, more: int = 0) -> int:
        """Return the size of the parts of slots that are or were in use, with ``more`` units in addition."""
        ever, idle = int(self.result["slots"][0]), len(self._free) - (len(self._members) - int(self.result["slots"][0]))
        return (ever + max(0, more - idle)) * self.unit_bytes

    @property
    def desk_bytes(self) -> int:
        """The size of the desk, without the map and databases."""
        known = [array for one in self.databases for array in _arrays(getattr(one, "arrays", ()))]
        known += _arrays(tuple(self._graph.arrays))
        return bytes_of(self._memory, but=[*self._minds.arrays, *known])


def _arrays(bundle: Any) -> list[npt.NDArray[Any]]:
    """Return all arrays of a bundle."""
    if isinstance(bundle, tuple):
        return [array for part in bundle for array in _arrays(part)]
    return [bundle] if isinstance(bundle, np.ndarray) else []
