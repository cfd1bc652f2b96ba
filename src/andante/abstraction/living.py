"""The levels above a map that changes: one hierarchy for all agents and units on it, repaired a few cells at a time.

Below the levels is a copy of the map that follows the world's log. So the levels are always those of some map, though a
few of its cells may have changed in the world since. Agents read them in the arrays of any known map's levels, with the
same machine code. A log of repairs lists the regions that were removed, so that each agent can forget what it has
learned about them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import CHANGED, DEAD, Cover, Work, count, empty, item
from andante.abstraction.hierarchy import ChangingHierarchy, build, mark_around
from andante.abstraction.layers import Layers
from andante.abstraction.repair import Keep, repair
from andante.kernel import Entry, Table, bind, entry_of, int64, kernel, table_of
from andante.world.cells import Cells, set_cell
from andante.world.changes import Changes, can_look_up, changed_cell
from andante.world.living import LivingGraph, World

SHARE = 0.75  # the first level with more than this share of the states of the level below is the highest
REMOVED = 1 << 10  # nodes removed that can be looked up; a power of two

REPAIRS = np.dtype(
    [
        ("number", np.int64),  # repairs so far
        ("removed", np.int64),  # nodes removed so far
        ("opened", np.int64),  # cells opened below the levels so far
        ("version", np.int64),  # the version of the map whose levels these are; they may include some later changes
    ]
)


class Repairs(NamedTuple):
    """The log of repairs."""

    removed: npt.NDArray[np.int32]  # [a power of two], the nodes removed
    level: npt.NDArray[np.int64]  # [levels], the number of the last repair that changed the level
    scalars: npt.NDArray[Any]  # [1], of REPAIRS

    @classmethod
    def over(cls, levels: int) -> Repairs:
        """Return a log for this many levels, the ground included."""
        return cls(np.zeros(REMOVED, np.int32), np.zeros(levels, np.int64), np.zeros(1, REPAIRS))


#: The log of levels that are never repaired.
NEVER_REPAIRED = Repairs.over(0)

PENDING = np.dtype(
    [
        ("head", np.int64),
        ("count", np.int64),
        ("noted", np.int64),  # changes of the map that are in the queue or done
    ]
)


class Pending(NamedTuple):
    """A queue of cells that have changed on the map and not yet below the levels, each at most once."""

    cell: npt.NDArray[np.int32]  # [n], a ring
    waits: npt.NDArray[np.bool_]  # [n]
    scalars: npt.NDArray[Any]  # [1], of PENDING

    @classmethod
    def over(cls, n: int, version: int) -> Pending:
        """Return an empty queue for ``n`` cells of a map of this version."""
        scalars = np.zeros(1, PENDING)
        scalars["noted"] = version
        return cls(np.zeros(n, np.int32), np.zeros(n, np.bool_), scalars)


class LivingLevels(ChangingHierarchy):
    """The levels above a `World`, or the lowest of them; they follow its changes when the world is tended."""

    def __init__(self, world: World, cover: Cover, keep: Keep, most: float) -> None:
        self._most = most
        super().__init__(world.frozen(), cover, keep)
        assert isinstance(self._ground, Cells)
        here = world.cells.graph  # with the same columns and rows
        self._ground = self._ground._replace(graph=here._replace(mask=self._ground.graph.mask))
        self.repairs = Repairs.over(max(self.top, 1) + 1)
        self.repairs.scalars["version"] = world.version
        self.shown = self.layers.shown()
        self._pending = Pending.over(len(self.graph), world.version)
        map_ = self._pending, world.changes, world.passable.ravel(), self._ground
        rules = self.top, int(cover), int(keep)
        self._bound = *map_, self.layers, self._work, self.repairs, *rules
        self._repair: Callable[[int], int] = bind(_repair, *self._bound)

    def _build(self) -> tuple[Layers, int]:
        """Return the levels, without those at the top that hardly get smaller, whose nodes can have very many arcs."""
        return build(self.graph, self.cover, self._most, SHARE)

    def take_note(self) -> None:
        """Add all new changes in the map's log to the queue."""
        self._repair(0)

    def repair(self, most: int) -> int:
        """Repair the levels around up to ``most`` cells that have changed, and return the number of these cells."""
        repaired = int(self._repair(most))
        if repaired:
            self._forget_numbers()
        return repaired

    def entry(self) -> Entry:
        """Return the code of `repair`, for programs without Python, with its context."""
        return entry_of(_repair, *self._bound)

    def table(self) -> Table:
        """Return its context alone; nothing is compiled for it."""
        return table_of(_repair, *self._bound)


def levels_of(graph: LivingGraph, cover: Cover, keep: Keep, most: float = math.inf) -> LivingLevels:
    """Return the levels above a map that changes, at most ``most`` of them, shared by all agents that need the same."""
    return graph.follow(("levels", cover, keep, most), lambda world: LivingLevels(world, cover, keep, most))


@kernel
def _take_note(pending: Pending, changes: Changes, truth: npt.NDArray[np.bool_], ground: Cells) -> None:
    """Add the cells that have changed on the map to the queue."""
    at = pending.scalars[0]
    if can_look_up(changes, at["noted"]):
        for k in range(at["noted"], changes.scalars[0]["total"]):
            cell = changed_cell(changes, k)
            _await(pending, max(cell, ~cell))
    else:
        for cell in range(len(truth)):
            if truth[cell] != ground.passable[cell]:
                _await(pending, cell)
    at["noted"] = changes.scalars[0]["total"]


@kernel
def _await(pending: Pending, cell: int) -> None:
    at, n = pending.scalars[0], len(pending.cell)
    if not pending.waits[cell]:
        pending.waits[cell] = True
        pending.cell[(at["head"] + at["count"]) % n] = cell
        at["count"] += 1


@kernel
def _repair(
    pending: Pending,
    changes: Changes,
    truth: npt.NDArray[np.bool_],
    ground: Cells,
    layers: Layers,
    work: Work,
    repairs: Repairs,
    top: int,
    rule: int,
    keep: int,
    most: int,
) -> int:
    """Queue all changes, repair levels around up to ``most`` of these cells, and return the number of these cells."""
    at, log = pending.scalars[0], repairs.scalars[0]
    if at["noted"] != changes.scalars[0]["total"]:
        _take_note(pending, changes, truth, ground)
    taken = min(most, at["count"])
    if taken > 0:
        empty(work, CHANGED)
        for _ in range(taken):
            cell = int64(pending.cell[at["head"]])
            at["head"] = (at["head"] + 1) % len(pending.cell)
            pending.waits[cell] = False
            if set_cell(ground, cell, truth[cell]):
                mark_around(ground.graph, work, cell)
                log["opened"] += int64(truth[cell])
        at["count"] -= taken
        if count(work, CHANGED) > 0:
            highest = repair(layers, ground.graph, work, top, rule, keep)
            _record(repairs, work, highest)
    if at["count"] == 0:
        log["version"] = at["noted"]
    return taken


@kernel
def _record(repairs: Repairs, work: Work, highest: int) -> None:
    """Record in the log that levels up to the ``highest`` were repaired."""
    log = repairs.scalars[0]
    log["number"] += 1
    for level in range(highest + 1):
        repairs.level[level] = log["number"]
    for k in range(count(work, DEAD)):
        repairs.removed[log["removed"] & (len(repairs.removed) - 1)] = item(work, DEAD, k)
        log["removed"] += 1
