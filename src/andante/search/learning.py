"""Learned heuristic values: they override the graph's own heuristic, and are forgotten when the problem changes.

When the map or the goal changes within a problem, values that were lower bounds on the cost to the goal still are:

- A cell that closes makes paths longer, so values stay.
- A cell that opens can make paths cheaper, but only those past it. A value falls to the heuristic cost of the
  cheapest path past the opened cell, if that is less.
- When the goal moves, no path gets cheaper by more than the cost of going from the new goal to the old one. All values
  fall by that amount (Ishida and Korf 1991).

If both happen, the bound past a cell is a bound on the cost to the goal's position when the cell was opened, and falls
with the distance that the goal has moved since. That position is not known later, but its distance from the present
goal is at most the distance that the goal has moved. So the bound is the present heuristic cost, less twice the
distance that the goal has moved in this problem. In each case a value is never less than the heuristic. All this is
computed when a value is read, so a change takes no time in proportion to the number of learned values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel, subroutine
from andante.search.memory import LEARNED, Clock, Log, Space, note
from andante.search.mind import Group, Mind
from andante.search.records import Index, claim, find
from andante.world.changes import UNCHANGED, Changes, opened_cell
from andante.world.heuristics import DIAGONAL, TOLERANCE
from andante.world.layout import Layout, estimate, stride, unit

MOST_OPENINGS = 64  # a value from before more openings than this is forgotten
CORNER = 2.0 - DIAGONAL  # the saving of a path past an opened cell's corner over one through it, in straight moves


class Learned(NamedTuple):
    """A value for each state in which something was learned in this problem.

    Values are stored with the goal's drift added. So when the goal moves, all fall by the distance that it has moved,
    and nothing is rewritten.
    """

    where: Index
    value: npt.NDArray[np.float64]  # a field of the states' records
    stamp: npt.NDArray[np.uint32]  # a field, the era in which the value was learned
    clock: Clock
    log: Log
    changes: Changes

    @classmethod
    def allocate(cls, space: Space) -> Learned:
        """Return arrays for one value per state, without any learned values."""
        clock = space.clock if space.team_clock is None else space.team_clock
        return cls.over(space.mind, clock, space.log, Group.VALUES, changes=space.changes)

    @classmethod
    def over(
        cls,
        mind: Mind,
        clock: Clock,
        log: Log,
        group: Group = Group.NEAR,
        numbers: int | None = None,
        changes: Changes = UNCHANGED,
    ) -> Learned:
        """Return arrays for one value per state, or for one per number below ``numbers``."""
        fields = mind.field(np.float64, group, numbers), mind.field(np.uint32, group, numbers)
        return cls(mind.index(group, numbers), *fields, clock, log, changes)


@kernel
def stamp_of(h: Learned, state: int) -> int:
    """Return the era, or any other period of the clock, in which the value of ``state`` was learned."""
    return int64(h.stamp[find(h.where, state)])


@kernel
def is_learned(h: Learned, state: int) -> bool:
    """Return whether a value of ``state`` was learned in this problem."""
    return _is_current(h, find(h.where, state))


@kernel
def _is_current(h: Learned, place: int) -> bool:
    """Return whether the value at this place was learned in this problem."""
    return h.clock[0]["first"] <= int64(h.stamp[place]) <= h.clock[0]["era"]


@kernel
def value(h: Learned, graph: Layout, state: int, goal: int) -> float:
    """Return the agent's estimate of the cost from ``state`` to ``goal``."""
    place = find(h.where, state)
    if int64(h.stamp[place]) == h.clock[0]["exact"]:
        return h.value[place]
    if _is_current(h, place):
        return _value_since(h, graph, place, state, goal)
    return estimate(graph, state, goal)


@subroutine
def _value_since(h: Learned, graph: Layout, place: int, state: int, goal: int) -> float:
    """Return a value that was learned before the goal moved or cells were opened, lowered as far as necessary.

    A path that became cheaper when a cell was opened leads past it, and costs at least its heuristic. Values from
    before many openings are forgotten.
    """
    at = h.clock[0]
    slack = CORNER * stride(graph) + 2.0 * at["drift"]
    known, stamp = h.value[place] - at["drift"], int64(h.stamp[place])
    if at["era"] - stamp > MOST_OPENINGS or (known == np.inf and at["drift"] > 0.0):
        known = -np.inf
    else:
        for k in range(stamp - at["problem"], at["era"] - at["problem"]):
            cell = opened_cell(h.changes, k)
            known = min(known, estimate(graph, state, cell) + estimate(graph, cell, goal) - slack)
    known = max(known, estimate(graph, state, goal))
    if stamp < at["era"]:
        h.value[place], h.stamp[place] = known + at["drift"], at["era"]
    return known


@kernel
def store(h: Learned, state: int, new: float) -> int:
    """Store ``new`` as the value of ``state``; return 1 if the state had no learned value yet, else 0."""
    place = claim(h.where, state)
    fresh = 0 if _is_current(h, place) else 1
    h.value[place] = new + h.clock[0]["drift"]
    h.stamp[place] = h.clock[0]["era"]
    note(h.log, LEARNED, state, new)
    return fresh


@kernel
def forget_value(h: Learned, state: int) -> None:
    """Forget the learned value of ``state``."""
    h.stamp[find(h.where, state)] = 0


@kernel
def raise_to(h: Learned, graph: Layout, state: int, goal: int, new: float, weight: float = 1.0) -> tuple[float, int]:
    """Raise the value of ``state`` to ``new`` if that is higher; return the increase, and 1 if it is the first value.

    ``weight`` is the factor of costs: with a small one, values rise by equally small amounts.
    """
    old = value(h, graph, state, goal)
    if new <= old + TOLERANCE * weight * unit(graph):
        return 0.0, 0
    return new - old, store(h, state, new)
