"""Learned heuristic values: they override the graph's own heuristic, and are forgotten when the problem changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search.memory import LEARNED, Clock, Log, Space, note
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Layout, estimate, unit


class Learned(NamedTuple):
    """A value for each state in which something was learned in this problem."""

    value: npt.NDArray[np.float64]  # [n]
    stamp: npt.NDArray[np.uint32]  # [n], the problem in which the value was learned
    clock: Clock
    log: Log

    @classmethod
    def allocate(cls, space: Space) -> Learned:
        """Return arrays for a value per state, with none learned yet."""
        return cls(np.zeros(space.states), np.zeros(space.states, np.uint32), space.clock, space.log)


@kernel
def is_learned(h: Learned, state: int) -> bool:
    """Return whether anything was learned in ``state`` in this problem."""
    return h.stamp[state] == h.clock[0]["problem"]


@kernel
def value(h: Learned, graph: Layout, state: int, goal: int) -> float:
    """Return what the agent believes the path from ``state`` to ``goal`` costs."""
    if h.stamp[state] == h.clock[0]["problem"]:
        return h.value[state]
    return estimate(graph, state, goal)


@kernel
def store(h: Learned, state: int, new: float) -> int:
    """Store ``new`` as the value of ``state``; return 1 if the state had no value of its own yet, else 0."""
    fresh = 0 if h.stamp[state] == h.clock[0]["problem"] else 1
    h.value[state] = new
    h.stamp[state] = h.clock[0]["problem"]
    note(h.log, LEARNED, state, new)
    return fresh


@kernel
def raise_to(h: Learned, graph: Layout, state: int, goal: int, new: float, weight: float = 1.0) -> tuple[float, int]:
    """Raise the value of ``state`` to ``new`` if that is higher; return by how much, and 1 if it is the state's first.

    ``weight`` is the factor of costs: with a small one, values rise by equally small amounts.
    """
    old = value(h, graph, state, goal)
    if new <= old + TOLERANCE * weight * unit(graph):
        return 0.0, 0
    return new - old, store(h, state, new)
