"""The table of a crowd's units: the ids in use, and the places and outcomes of all units."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.episode.bodies import FREE, Bodies, drop_wishes, order_of, resolve
from andante.episode.checks import place_name
from andante.episode.cutoff import CutOff
from andante.episode.units import NO_WISH, UNIT, Ground
from andante.errors import ProblemError, quoted
from andante.kernel import bind
from andante.measures import Outcome
from andante.search.memory import bytes_of
from andante.search.pages import lined_up
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import World

FIRST_UNITS = 1024
NO_SQUAD = -1
NOWHERE = -1  # the state and the cells of units that were removed

_WALKING, _GOAL, _UNREACHABLE = int(Outcome.WALKING), int(Outcome.GOAL), int(Outcome.UNREACHABLE)

Ids = npt.NDArray[np.int64]
States = npt.NDArray[np.int64]


class Decided(NamedTuple):
    """The results of a turn's decisions for units with bodies."""

    moved: int
    blocked: int  # units that could not go where they wished
    arrived: Ids


class Roster:
    """One row for each unit, by id, and the places that are taken if units have bodies."""

    def __init__(self, world: Grid | Graph, bodies: bool) -> None:
        self._world, self._graph = world, world.graph
        self.ground = Ground(lined_up(FIRST_UNITS, UNIT), np.zeros((FIRST_UNITS, 2), np.int32))
        self._count = 0  # rows that are or were in use
        self._free: list[int] = []  # those of these rows that can be used again, the first freed first
        self._bodies = Bodies.over(len(self._graph), FIRST_UNITS, self._graph.max_degree) if bodies else None
        self._cut_off: CutOff | None = None
        self._order: npt.NDArray[np.int32] | None = None  # in which units with bodies decide; None if it has changed

    def __len__(self) -> int:
        """Return the number of units."""
        return self._count - len(self._free)

    @property
    def units(self) -> npt.NDArray[Any]:
        """The rows that are or were in use, of `UNIT`."""
        return self.ground.units[: self._count]

    @property
    def has_bodies(self) -> bool:
        """Whether no two units can be in one place."""
        return self._bodies is not None

    @property
    def row_bytes(self) -> int:
        """The bytes of the tables that each unit takes."""
        tables = (self.ground, *([self._bodies.of_units] if self._bodies else []))
        return bytes_of(tables) // len(self.ground.units)

    @property
    def place_bytes(self) -> int:
        """The size of the tables of places, which is that of the map."""
        return bytes_of((self._bodies.standing, self._bodies.taken)) if self._bodies else 0

    def next_ids(self, count: int) -> Ids:
        """Return the ids that `take` would give this many units: those freed first, then new ones."""
        old = np.array(self._free[:count], np.int64)
        return np.concatenate([old, np.arange(self._count, self._count + count - len(old), dtype=np.int64)])

    @property
    def ever_used(self) -> int:
        """The number of rows that are or were in use."""
        return self._count

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a read-only view of one field of all units."""
        return _read_only(self.units[name])

    @property
    def cells(self) -> npt.NDArray[np.int32]:
        """A read-only view of the cells of all units."""
        return _read_only(self.ground.cells[: self._count])

    # --- ids --------------------------------------------------------------------------------------------------------

    def take(self, count: int) -> Ids:
        """Return rows for new units, those of `next_ids`; if the table has to grow, `ground` is a new one."""
        rows, first = self.next_ids(count), self._count
        self._free, self._count = self._free[count:], max(first, int(rows.max(initial=-1)) + 1)
        if self._count > len(self.ground.units):
            self._grow(max(self._count, 2 * len(self.ground.units)), first)
        self.units[rows] = 0
        self.units["wish"][rows] = NO_WISH
        return rows

    def _grow(self, size: int, used: int) -> None:
        units, cells = lined_up(size, UNIT), np.zeros((size, 2), np.int32)
        units[:used], cells[:used] = self.ground.units[:used], self.ground.cells[:used]
        self.ground = Ground(units, cells)
        if self._bodies is not None:
            wider = Bodies.over(0, size, self._graph.max_degree)
            self._bodies = wider._replace(standing=self._bodies.standing, taken=self._bodies.taken)
            self.__dict__.pop("_decide", None)
            self.__dict__.pop("_drop", None)

    def free(self, rows: Ids) -> None:
        """Remove units, so that their rows can be used again."""
        self.leave(rows)
        units = self.units
        units[rows] = 0
        units["squad"][rows], units["wish"][rows] = NO_SQUAD, NO_WISH
        units["state"][rows], self.ground.cells[rows] = NOWHERE, NOWHERE
        self._free.extend(rows.tolist())
        self.reorder()

    def known(self, ids: npt.ArrayLike) -> Ids:
        """Return ids as an array; raise `ProblemError` if one is not the id of a unit, or occurs twice."""
        try:
            rows, squads = np.atleast_1d(np.asarray(ids)), self.units["squad"]
        except ValueError:  # rows of different lengths
            rows, squads = np.zeros((0, 0)), self.units["squad"]
        if rows.dtype == bool and rows.shape == squads.shape:  # a mask, such as crowd.outcomes == Outcome.GOAL
            rows = np.flatnonzero(rows & (squads != NO_SQUAD))
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise ProblemError(f"ids are whole numbers, as crowd.add returns them, not {quoted(ids)}")
        rows = rows.astype(np.int64)
        for row in rows[(rows < 0) | (rows >= self._count)][:1]:
            raise ProblemError(f"there is no unit {row}; ids are those that crowd.add returned")
        for row in rows[squads[rows] == NO_SQUAD][:1]:
            raise ProblemError(f"there is no unit {row}: it was removed")
        if len(np.unique(rows)) < len(rows):
            raise ProblemError("a unit is named twice")
        return rows

    # --- places -----------------------------------------------------------------------------------------------------

    def check_room(self, states: States, rows: Ids | None = None) -> None:
        """Raise `ProblemError` if two units with bodies would be in one place; ``rows`` are those that move there."""
        if self._bodies is None:
            return
        seen, times = np.unique(states, return_counts=True)
        for state in seen[times > 1][:1]:
            where = place_name(self._world, int(state))
            raise ProblemError(f"two units with bodies cannot be in one place, but two would be at {where}")
        others = self._bodies.standing[states].astype(np.int64) - 1
        taken = others >= 0 if rows is None else (others >= 0) & ~np.isin(others, rows)
        for i in np.flatnonzero(taken)[:1]:
            where = place_name(self._world, int(states[i]))
            raise ProblemError(f"unit {others[i]} is at {where}, and units have bodies")

    def leave(self, rows: Ids) -> None:
        """Free the places of these units if they have bodies."""
        if self._bodies is not None:
            self._bodies.standing[self.units["state"][rows]] = FREE

    def place(self, rows: Ids, states: States) -> None:
        """Put units into places that no other unit is in."""
        self.units["state"][rows], self.units["wish"][rows] = states, NO_WISH
        if self._bodies is not None:
            self._bodies.standing[states] = rows + 1
        if isinstance(self._world, Grid):
            self.ground.cells[rows, 1], self.ground.cells[rows, 0] = np.divmod(states, self._world.width)

    def outcomes_at(self, states: States, goals: States) -> npt.NDArray[np.int64]:
        """Return the outcomes of units that are in these states and have these goals."""
        outcomes = np.where(self._graph.apart(states, goals), _UNREACHABLE, _WALKING)
        return np.where(states == goals, _GOAL, outcomes)

    def end_cut_off(self, world: World) -> Ids:
        """End units whose goals are cut off, as far as is known, and return their ids."""
        if self._cut_off is None or self._cut_off.ground is not self.ground:
            self._cut_off = CutOff(world, self.ground)
        return self._cut_off.end(self._count)

    # --- bodies -----------------------------------------------------------------------------------------------------

    def reorder(self) -> None:
        """Note that units were added, removed or set out, which changes the order in which they decide."""
        self._order = None

    def drop_wishes(self) -> None:
        """Drop wishes of units with bodies for moves that no longer exist; these units plan again."""
        if self._bodies is not None:
            self._drop()

    @cached_property
    def _drop(self) -> Callable[..., int]:
        return bind(drop_wishes, self._graph.arrays, self.ground)

    def decide(self) -> Decided:
        """Move units with bodies where they can go."""
        units = self.units
        if self._order is None:
            rows = np.flatnonzero(units["squad"] != NO_SQUAD)
            self._order = rows[order_of(units[rows])].astype(np.int32)
        moved = int(self._decide(self._order.ctypes.data, len(self._order)))
        arrived = np.flatnonzero(units["arrived"])
        units["arrived"] = False
        return Decided(moved, int(np.count_nonzero(units["wish"] != NO_WISH)), arrived)

    @cached_property
    def _decide(self) -> Callable[..., int]:
        """The kernel in which units with bodies decide, bound to all tables."""
        assert self._bodies is not None
        return bind(resolve, self._graph.arrays, self.ground, self._bodies, np.dtype(np.int32))

    def compile(self, world: World | None) -> None:
        """Call the kernels of bodies, and those of a map that changes, without any work."""
        if self._bodies is not None:
            self._decide(0, 0)
            bind(drop_wishes, self._graph.arrays, Ground(self.ground.units[:0], self.ground.cells[:0]))()
        if world is not None:
            CutOff(world, self.ground).end(0)
            self._graph.apart([], [])


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view; users move a unit with `Crowd.put` and send it with `Crowd.send`."""
    view = array.view()
    view.flags.writeable = False
    return view
