"""Expendable states: states whose removal leaves the rest of the map connected.

Sharon, Sturtevant and Felner (2013): a state is expendable if its remaining neighbours can reach each other without it.
On a grid this holds if they form one unbroken arc of the ring around it. On other graphs only edges between the
neighbours themselves are considered. If every move can be reversed, removing such a state leaves the rest of the map
connected.

This is true of the map on which they were removed. When a cell closes, a state may be needed that was removed long ago.
When one opens, it may be among removed states, and so may a goal that moves. In each case all removed states return.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel
from andante.search.local import is_shut
from andante.search.memory import Clock, Space, version
from andante.search.records import Index, claim, find
from andante.world.changes import Changes
from andante.world.layout import (
    COUNT,
    DIRECTION,
    Arrays,
    Csr,
    GridArrays,
    Layout,
    Moves,
    Sixteen,
    Terrain,
    degree,
    target,
)


class Gone(NamedTuple):
    """The states removed in this problem, on the present version of the map; empty for agents that remove no states."""

    where: Index
    version: npt.NDArray[np.int64]  # a field of the states' records, the version in which the state was removed
    drift: npt.NDArray[np.float64]  # the distance that the goal had moved by then
    clock: Clock
    changes: Changes

    @classmethod
    def allocate(cls, space: Space) -> Gone:
        """Return an array for all states; empty if the parameter ``expendable`` is off."""
        mind, numbers = space.mind, None if space.params.expendable else 0
        fields = mind.field(np.int64, numbers=numbers), mind.field(np.float64, numbers=numbers)
        return cls(mind.index(numbers=numbers), *fields, space.clock, space.changes_in_time)


@kernel
def is_gone(gone: Gone, state: int) -> bool:
    """Return whether the state was removed, and neither the map nor the goal has changed since."""
    place, now = find(gone.where, state), gone.clock[0]
    return gone.version[place] == version(now, gone.changes) and gone.drift[place] == now["drift"]


@is_shut.of(Gone)
def _is_shut(removed: Gone, state: int) -> bool:
    return len(removed.version) > 0 and is_gone(removed, state)


@kernel
def give_up(gone: Gone, state: int) -> None:
    """Remove the state until the problem ends, or the map or the goal changes."""
    place = claim(gone.where, state)
    gone.version[place], gone.drift[place] = version(gone.clock[0], gone.changes), gone.clock[0]["drift"]


def _is_arc(mask: int) -> bool:
    """Return whether these bits of the ring are contiguous."""
    rises = sum(1 for d in range(8) if mask >> d & 1 and not mask >> (d - 1) % 8 & 1)
    return rises <= 1


IS_ARC = np.array([_is_arc(mask) for mask in range(256)])


@generic
def is_gate(graph: Layout, state: int) -> bool:
    """Return whether a state's neighbours are not one arc of its ring, so may be far from each other without it."""
    raise TypeError(graph)


@is_gate.of(Moves, Terrain)
def _is_gate_on_a_grid(graph: GridArrays, state: int) -> bool:
    return not IS_ARC[graph.mask[state]]


@is_gate.of(Csr, Sixteen)
def _may_be_a_gate(graph: Csr | Sixteen, state: int) -> bool:
    return True


@generic
def is_expendable(graph: Arrays, gone: Gone, state: int) -> tuple[bool, int]:
    """Return whether the state is expendable, and the number of states expanded to find out."""
    raise TypeError(graph)


@is_expendable.of(Moves, Terrain)
def _moves_expendable(graph: GridArrays, gone: Gone, state: int) -> tuple[bool, int]:
    mask = graph.mask[state]
    left = 0
    for k in range(COUNT[mask]):
        direction = int64(DIRECTION[mask, k])
        if not is_gone(gone, state + graph.offset[direction]):
            left |= 1 << direction
    return IS_ARC[left], 0


@is_expendable.of(Csr, Sixteen)
def _csr_expendable(graph: Csr | Sixteen, gone: Gone, state: int) -> tuple[bool, int]:
    """Flood from the first neighbour through the others, marked in 64 bits; keep states with more neighbours."""
    count = degree(graph, state)
    if count > 64:
        return False, 0
    left, reached, looked, expanded = np.uint64(0), np.uint64(0), np.uint64(0), 0
    one, grows = np.uint64(1), True
    for k in range(count):
        if not is_gone(gone, target(graph, state, k)):
            left |= one << np.uint64(k)
            if reached == np.uint64(0):
                reached = one << np.uint64(k)
    while grows:
        grows = False
        for k in range(count):
            if reached == left or not reached & ~looked & one << np.uint64(k):
                continue
            looked |= one << np.uint64(k)
            expanded += 1
            middle = target(graph, state, k)
            for m in range(degree(graph, middle)):
                for other in range(count):
                    bit = one << np.uint64(other)
                    if left & bit and not reached & bit and target(graph, middle, m) == target(graph, state, other):
                        reached |= bit
                        grows = True
    return reached == left, expanded
