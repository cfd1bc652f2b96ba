"""The connected parts of a changing map, known immediately when a cell opens, and soon after one closes.

Two cells count as connected until it is certain that they are not. Opening a cell joins the components around it.
Closing one may divide a component. Then all cells are labelled again in the background, a bounded number at a time
(`sweep`), while the old labels stay in use. A sweep is never restarted because the map changes. A cell that opens
meanwhile is joined in both sets of labels. A cell that closes can only make too many cells count as connected until the
next sweep. So a goal that cannot be reached is found to be so after at most two sweeps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.world.layout import COUNT, DIRECTION, GridArrays

PARTS = np.dtype(
    [
        ("current", np.int64),  # the set of labels in use, 0 or 1; a sweep is making the other
        ("looked", np.int64),  # cells that the sweep has looked at as the first of a component
        ("head", np.int64),  # the next in the queue
        ("tail", np.int64),  # the end of the queue
        ("sweeps", np.int64),  # that have ended
        ("sweeping", np.bool_),
        ("divided", np.bool_),  # a component may have been divided since the last sweep began
    ],
    align=True,
)

SET = np.dtype(
    [
        ("base", np.int64),  # the first label of this set: lower ones are left over from an earlier sweep
        ("next", np.int64),  # the next label to be given
    ]
)

LAST_LABEL = 2**31 - 1


def _needed() -> npt.NDArray[np.uint8]:
    """Return, for each set of moves, those that are needed to find connected cells.

    A diagonal next to a straight move is not needed: two straight moves lead to the same cell, under every rule.
    """
    moves = np.arange(256)
    straight = moves & 0b01010101
    beside = straight << 1 | straight >> 1 | straight << 7
    return (moves & ~(beside & 0b10101010)).astype(np.uint8)


_NEEDED = _needed()


class Parts(NamedTuple):
    """Two sets of labels. Labels that were found to belong to one component are joined through their parents."""

    label: npt.NDArray[np.int32]  # [2, n]
    parent: npt.NDArray[np.int32]  # [2, n], by label minus the set's first; a label without another is its own parent
    queue: npt.NDArray[np.int32]  # [n], cells that the sweep has labelled, in order
    sets: npt.NDArray[Any]  # [2], of SET
    scalars: npt.NDArray[Any]  # [1], of PARTS

    @classmethod
    def over(cls, n: int) -> Parts:
        """Return empty labels for ``n`` cells, which a first sweep fills in."""
        parts = cls(
            np.full((2, n), -1, np.int32),
            np.zeros((2, n), np.int32),
            np.zeros(n, np.int32),
            np.zeros(2, SET),
            np.zeros(1, PARTS),
        )
        parts.scalars["divided"] = True
        return parts


@kernel
def is_apart(parts: Parts, graph: GridArrays, a: int, b: int) -> bool:
    """Return whether it is certain that no path joins two different cells."""
    if graph.mask[a] == 0 or graph.mask[b] == 0:
        return True
    which = parts.scalars[0]["current"]
    return _root(parts, which, int64(parts.label[which, a])) != _root(parts, which, int64(parts.label[which, b]))


@kernel
def note_opened(parts: Parts, graph: GridArrays, cell: int) -> None:
    """Join the components around a cell that was opened; the graph has its moves already."""
    at = parts.scalars[0]
    _join_around(parts, graph, at["current"], cell, True)
    if at["sweeping"]:
        _join_around(parts, graph, 1 - at["current"], cell, False)


@kernel
def note_closed(parts: Parts, moves: int, ring: int) -> None:
    """Take note that a component may have been divided, unless there is a path around the closed cell next to it.

    ``moves`` are the directions of the moves that the cell had. ``ring`` are the directions of the cells around it that
    are passable or can be passed.
    """
    joined, before = moves & -moves, 0
    while joined != before:
        before = joined
        joined |= ring & (joined << 1 | joined >> 7 | joined >> 1 | joined << 7)
    if moves & ~joined != 0:
        parts.scalars[0]["divided"] = True


@kernel
def sweep(parts: Parts, graph: GridArrays, most: int) -> int:
    """Label up to ``most`` cells if necessary, and return how many cells were looked at."""
    at, n, work = parts.scalars[0], len(graph.mask), 0
    if not at["sweeping"]:
        if not at["divided"]:
            return 0
        _begin(parts)
    which = 1 - at["current"]
    base = parts.sets[which]["base"]
    while work < most:
        work += 1
        if at["head"] < at["tail"]:
            _spread(parts, graph, which, int64(parts.queue[at["head"]]))
            at["head"] += 1
        elif at["looked"] < n:
            cell = at["looked"]
            at["looked"] += 1
            if graph.mask[cell] != 0 and parts.label[which, cell] < base:
                parts.label[which, cell] = _new_label(parts, which)
                at["head"], at["tail"], parts.queue[0] = 0, 1, cell
        else:
            at["sweeping"], at["current"] = False, which
            at["sweeps"] += 1
            return work
    return work


@kernel
def _begin(parts: Parts) -> None:
    """Begin a sweep with labels that were never used; after two billion labels they start from the first again."""
    at = parts.scalars[0]
    which = 1 - at["current"]
    base = parts.sets[1 - which]["next"]
    if base > LAST_LABEL - 2 * len(parts.queue):
        base = 0
    if base < parts.sets[which]["next"]:  # labels started from the first again in one of the last two sweeps
        parts.label[which] = -1
    parts.sets[which]["base"] = parts.sets[which]["next"] = base
    at["looked"] = at["head"] = at["tail"] = 0
    at["sweeping"], at["divided"] = True, False


@kernel
def _spread(parts: Parts, graph: GridArrays, which: int, cell: int) -> None:
    """Give a cell's label to those around it that have none, and join it with the labels of the others."""
    at, base, own = parts.scalars[0], parts.sets[which]["base"], int64(parts.label[which, cell])
    moves = _NEEDED[graph.mask[cell]]
    for k in range(COUNT[moves]):
        near = cell + graph.offset[DIRECTION[moves, k]]
        other = int64(parts.label[which, near])
        if other >= base:
            if other != own:
                _join(parts, which, own, other)
        else:
            parts.label[which, near] = own
            parts.queue[at["tail"]] = near
            at["tail"] += 1


@kernel
def _join_around(parts: Parts, graph: GridArrays, which: int, cell: int, complete: bool) -> None:
    """Give an opened cell a neighbour's label, and join the labels of all neighbours.

    In a ``complete`` set, neighbours without a label were isolated before, and get the same one. In a set that is being
    made, the sweep may have passed them while they were isolated; it will join those that it has not reached yet.
    """
    base, own = parts.sets[which]["base"], -1
    moves = graph.mask[cell]
    for k in range(COUNT[moves]):
        other = int64(parts.label[which, cell + graph.offset[DIRECTION[moves, k]]])
        own = max(own, other)
    if own < base:
        own = _new_label(parts, which)
    parts.label[which, cell] = own
    for k in range(COUNT[moves]):
        near = cell + graph.offset[DIRECTION[moves, k]]
        if parts.label[which, near] < base:
            if complete or near < parts.scalars[0]["looked"]:
                parts.label[which, near] = own
        else:
            _join(parts, which, own, int64(parts.label[which, near]))


@kernel
def _new_label(parts: Parts, which: int) -> int:
    """Return a new label, or the first if all are in use; then cells may count as connected that are not."""
    one = parts.sets[which]
    if one["next"] - one["base"] == len(parts.queue):
        return one["base"]
    label = one["next"]
    parts.parent[which, label - one["base"]] = label
    one["next"] = label + 1
    return label


@kernel
def _root(parts: Parts, which: int, label: int) -> int:
    """Return the label that represents all labels joined with this one, and shorten the path to it."""
    base = parts.sets[which]["base"]
    above = int64(parts.parent[which, label - base])
    while above != label:
        top = int64(parts.parent[which, above - base])
        parts.parent[which, label - base] = top
        label, above = above, top
    return label


@kernel
def _join(parts: Parts, which: int, a: int, b: int) -> None:
    """Make two labels represent one component."""
    a, b = _root(parts, which, a), _root(parts, which, b)
    if a != b:
        parts.parent[which, max(a, b) - parts.sets[which]["base"]] = min(a, b)
