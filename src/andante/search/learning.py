"""Learned heuristic values: they override the graph's own heuristic, and are forgotten when the problem changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.memory import LEARNED, Clock, Log, Space, note
from andante.search.mind import Group, Mind
from andante.search.records import Index, claim, find
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Layout, estimate, unit


class Learned(NamedTuple):
    """A value for each state in which something was learned in this problem."""

    where: Index
    value: npt.NDArray[np.float64]  # a field of the states' records
    stamp: npt.NDArray[np.uint32]  # a field, the problem in which the value was learned
    clock: Clock
    log: Log

    @classmethod
    def allocate(cls, space: Space) -> Learned:
        """Return arrays for a value per state, with none learned yet."""
        clock = space.clock if space.team_clock is None else space.team_clock
        return cls.over(space.mind, clock, space.log, Group.VALUES)

    @classmethod
    def over(cls, mind: Mind, clock: Clock, log: Log, group: Group = Group.NEAR, numbers: int | None = None) -> Learned:
        """Return arrays for a value per state, or for each number below ``numbers``."""
        fields = mind.field(np.float64, group, numbers), mind.field(np.uint32, group, numbers)
        return cls(mind.index(group, numbers), *fields, clock, log)


@kernel
def stamp_of(h: Learned, state: int) -> int:
    """Return the number of the problem, or whatever the clock counts, in which the value of ``state`` was learned."""
    return int64(h.stamp[find(h.where, state)])


@kernel
def is_learned(h: Learned, state: int) -> bool:
    """Return whether anything was learned in ``state`` in this problem."""
    return stamp_of(h, state) == h.clock[0]["problem"]


@kernel
def value(h: Learned, graph: Layout, state: int, goal: int) -> float:
    """Return what the agent believes the path from ``state`` to ``goal`` costs."""
    place = find(h.where, state)
    if h.stamp[place] == h.clock[0]["problem"]:
        return h.value[place]
    return estimate(graph, state, goal)


@kernel
def store(h: Learned, state: int, new: float) -> int:
    """Store ``new`` as the value of ``state``; return 1 if the state had no value of its own yet, else 0."""
    place = claim(h.where, state)
    fresh = 0 if h.stamp[place] == h.clock[0]["problem"] else 1
    h.value[place] = new
    h.stamp[place] = h.clock[0]["problem"]
    note(h.log, LEARNED, state, new)
    return fresh


@kernel
def forget_value(h: Learned, state: int) -> None:
    """Forget what was learned in ``state``."""
    h.stamp[find(h.where, state)] = 0


@kernel
def raise_to(h: Learned, graph: Layout, state: int, goal: int, new: float, weight: float = 1.0) -> tuple[float, int]:
    """Raise the value of ``state`` to ``new`` if that is higher; return by how much, and 1 if it is the state's first.

    ``weight`` is the factor of costs: with a small one, values rise by equally small amounts.
    """
    old = value(h, graph, state, goal)
    if new <= old + TOLERANCE * weight * unit(graph):
        return 0.0, 0
    return new - old, store(h, state, new)
