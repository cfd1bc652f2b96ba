"""Traces of crowds: the place of every unit after every tick, in a form small enough for a page to replay.

The JSON has ``format`` "andante-crowd" and ``version`` 3, plain fields, and columns as in traces of single agents
(`andante.episode.trace`):

- ``terrain``: the map's characters, row by row, as their codes;
- ``starts`` and ``goals``: a state for each unit;
- ``steps``: for each unit and each tick the direction of its move: 3 * (dy + 1) + dx + 1, so 4 if it stayed;
- ``arrivals``: for each unit the tick in which it arrived, or -1;
- ``microseconds`` that each tick took, and the number of units ``waiting`` in it;
- ``change_cells``: cells that were opened, or ~cell for those that were closed, and ``change_ticks``: the ticks before
  which they changed;
- ``goal_units``, ``goal_ticks`` and ``goal_states``: goals that moved, the ticks before which they did, and their new
  states.

``budget`` is the budget of a tick in microseconds, or null. ``cut`` is true if the crowd continued after the last tick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.episode.columns import dump, pack
from andante.errors import ProblemError
from andante.world.grid import Grid, cells_of
from andante.world.scenes import Scene

FORMAT = "andante-crowd"
VERSION = 3

#: A trace is for viewing. It ends after this many ticks, or earlier at this many steps.
MOST_TICKS = 4_000
MOST_STEPS = 4_000_000

NOT_ARRIVED = -1


@dataclass(frozen=True, eq=False)
class CrowdTrace:
    """The places of the units of a crowd on a grid, tick by tick."""

    algorithm: str
    title: str
    map_name: str
    terrain: npt.NDArray[np.uint8]  # [height, width], map characters
    starts: npt.NDArray[np.int32]  # [units], states
    goals: npt.NDArray[np.int32]  # [units], states
    steps: npt.NDArray[np.uint8]  # [units, ticks]
    arrivals: npt.NDArray[np.int32]  # [units], ticks, or -1
    microseconds: npt.NDArray[np.float64]  # [ticks]
    waiting: npt.NDArray[np.int32]  # [ticks]
    change_ticks: npt.NDArray[np.int32]  # [changes]
    change_cells: npt.NDArray[np.int32]  # [changes], states, ~state if it was closed
    goal_units: npt.NDArray[np.int32]  # [moves of goals], units
    goal_ticks: npt.NDArray[np.int32]  # [moves of goals]
    goal_states: npt.NDArray[np.int32]  # [moves of goals], states
    budget: float | None  # in microseconds
    cut: bool

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.starts)

    @property
    def ticks(self) -> int:
        """The number of ticks."""
        return len(self.waiting)

    def __repr__(self) -> str:
        return f"<CrowdTrace {self.units} units of {self.algorithm} on {self.map_name}: {self.ticks} ticks>"

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """The state of each unit at the start and after each tick: an array of [ticks + 1, units]."""
        down, right = np.divmod(self.steps.T.astype(np.int64), 3)
        moves = (down - 1) * self.terrain.shape[1] + right - 1
        return np.cumsum(np.vstack([self.starts.astype(np.int64)[None], moves]), axis=0)

    def to_json(self) -> str:
        """Return the trace as the JSON that pages replay."""
        height, width = self.terrain.shape
        return dump(
            {
                "format": FORMAT,
                "version": VERSION,
                "algorithm": self.algorithm,
                "title": self.title,
                "map": self.map_name,
                "width": width,
                "height": height,
                "budget": self.budget,
                "cut": self.cut,
                "terrain": pack(self.terrain.ravel()),
                "starts": pack(self.starts),
                "goals": pack(self.goals),
                "steps": pack(self.steps.ravel()),
                "arrivals": pack(self.arrivals),
                "microseconds": pack(self.microseconds),
                "waiting": pack(self.waiting),
                "change_ticks": pack(self.change_ticks),
                "change_cells": pack(self.change_cells),
                "goal_units": pack(self.goal_units),
                "goal_ticks": pack(self.goal_ticks),
                "goal_states": pack(self.goal_states),
            }
        )


def steps_between(places: npt.NDArray[Any], width: int) -> npt.NDArray[np.uint8]:
    """Return the steps of units between rows of ``places``, states of [ticks + 1, units], as [units, ticks].

    >>> steps_between(np.array([[0], [0], [6]]), width=5).tolist()
    [[4, 8]]
    """
    x, y = np.moveaxis(cells_of(places, width), -1, 0)
    right, down = np.diff(x, axis=0), np.diff(y, axis=0)
    if max(np.abs(right).max(initial=0), np.abs(down).max(initial=0)) > 1:
        raise ProblemError("a unit was put into another place, but a trace of a crowd contains only single steps")
    return (3 * (down + 1) + right + 1).astype(np.uint8).T


class CrowdRecorder:
    """A collector of the places of a crowd's units after each tick, up to a cap."""

    def __init__(
        self, grid: Grid, states: npt.NDArray[Any], goals: npt.NDArray[Any], scene: Scene | None = None
    ) -> None:
        self._grid, self._goals = grid, np.array(goals, np.int32)
        self._changes = [] if scene is None else scene.changes
        self._aims = self._goals.copy()
        self._moved: list[tuple[int, int, int]] = []  # unit, tick and state of goals that moved
        self._arrivals = np.full(len(self._goals), NOT_ARRIVED, np.int32)
        self._places = [np.array(states, np.int32)]
        self._room = min(MOST_TICKS, MOST_STEPS // max(1, len(self._goals)))
        self._ticks: list[tuple[float, int]] = []
        self.cut = False

    def keep(
        self,
        states: npt.NDArray[Any],
        goals: npt.NDArray[Any],
        arrived: npt.NDArray[np.bool_],
        microseconds: float,
        waiting: int,
    ) -> None:
        """Record the result of a tick, while there is room; ``arrived`` is a mask of the units that have arrived."""
        if len(self._ticks) == self._room:
            self.cut = True
            return
        for unit in np.flatnonzero(goals != self._aims).tolist():
            self._moved.append((unit, len(self._ticks) + 1, int(goals[unit])))
        self._aims = goals.astype(np.int32)
        self._arrivals[arrived & (self._arrivals == NOT_ARRIVED)] = len(self._ticks) + 1
        self._places.append(states.astype(np.int32))
        self._ticks.append((microseconds, waiting))

    def trace(self, algorithm: str, title: str, budget: float | None) -> CrowdTrace:
        """Return the trace of everything recorded."""
        shown = [change for change in self._changes if change.tick <= len(self._ticks)]
        cells = [self._grid.state(*change.cell) for change in shown]
        moved = np.array(self._moved, np.int32).reshape(-1, 3)
        return CrowdTrace(
            algorithm=algorithm,
            title=title,
            map_name=self._grid.name,
            terrain=self._grid.terrain,
            starts=self._places[0],
            goals=self._goals,
            steps=np.ascontiguousarray(steps_between(np.array(self._places), self._grid.width)),
            arrivals=self._arrivals,
            microseconds=np.array([took for took, _ in self._ticks], np.float64),
            waiting=np.array([waiting for _, waiting in self._ticks], np.int32),
            change_ticks=np.array([change.tick for change in shown], np.int32),
            change_cells=np.array(
                [cell if change.opened else ~cell for cell, change in zip(cells, shown, strict=True)], np.int32
            ),
            goal_units=moved[:, 0],
            goal_ticks=moved[:, 1],
            goal_states=moved[:, 2],
            budget=budget,
            cut=self.cut,
        )
