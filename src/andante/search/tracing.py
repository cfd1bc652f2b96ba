"""Paths traced back through a search tree a few steps at a time, while the agent still follows the previous one.

The states of a path are numbered from its end backwards. So one number per state shows whether the state is on the
path, which state is next, and whether the agent has passed it. Numbers are not reused before they run out, so a new
path costs its own length, and nothing has to be cleared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.astar import Tree, cost_to, is_cut, parent_of, parent_place, state_at
from andante.search.memory import Clock, Space
from andante.search.records import Index, claim, expect, find, starts_clear
from andante.world.layout import Arrays, degree, target

# Results instead of a next state.
OFF = -1  # the agent is not on the path, or at its end
CUT = -2  # the agent is on the path, but there is no move to its next state

LAST_NUMBER = (1 << 31) - 1
TRAIL = 256  # moves by which a path can be extended


#: The numbers of one path's last state, and of the first state that the agent has not passed; the cost of the path from
#: the root of the tree to its end; the least number that its last state may get if the path is extended.
ENDS = np.dtype([("end", np.int64), ("front", np.int64), ("cost", np.float64), ("least", np.int64)])

TRACING = np.dtype(
    [
        ("followed", np.int64),  # which of the two paths the agent follows
        ("traced", np.int64),  # the state that was traced last; -1 if no path is being traced
        ("used", np.int64),  # the last number used
        ("problem", np.int64),  # the problem in which numbers were last used
    ]
)


class TracedPaths(NamedTuple):
    """Two paths: the one that is followed, and the one that is being traced."""

    where: Index
    first: npt.NDArray[np.int32]  # a field of the states' records, their numbers on one path
    second: npt.NDArray[np.int32]  # a field, their numbers on the other path
    ends: npt.NDArray[Any]  # [2], of ENDS
    scalars: npt.NDArray[Any]  # [1], of TRACING
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> TracedPaths:
        """Return arrays for any two paths without loops."""
        mind = space.mind
        fields = mind.field(np.int32), mind.field(np.int32)
        return cls(mind.index(), *fields, mind.row(ENDS, 2), mind.one(TRACING, (0, -1, 0, 0)), space.clock)


@kernel
def number_of(paths: TracedPaths, which: int, state: int) -> int:
    """Return the number of a state on one of the paths."""
    place = find(paths.where, state)
    return int64(paths.first[place] if which == 0 else paths.second[place])


@kernel
def _set_number(paths: TracedPaths, which: int, state: int, number: int) -> None:
    _set_number_at(paths, which, claim(paths.where, state), number)


@kernel
def _set_number_at(paths: TracedPaths, which: int, place: int, number: int) -> None:
    """Number a state whose record is here; the records of paths and of search trees share an index."""
    if which == 0:
        paths.first[place] = number
    else:
        paths.second[place] = number


@kernel
def forget(paths: TracedPaths) -> None:
    """Follow nothing and trace nothing."""
    at = paths.scalars[0]
    if at["problem"] != paths.clock[0]["problem"]:
        at["problem"] = paths.clock[0]["problem"]
        if starts_clear(paths.where):
            at["used"] = 0
    path = paths.ends[at["followed"]]
    path["end"] = path["front"] = at["used"]
    at["traced"] = -1


@kernel
def aim(paths: TracedPaths, tree: Tree, end: int) -> None:
    """Begin to trace the path by which a search reached ``end``."""
    at = paths.scalars[0]
    if at["used"] > LAST_NUMBER - len(paths.first) - TRAIL:
        _renumber(paths)
    new = 1 - at["followed"]
    paths.ends[new]["least"] = at["used"] + 1
    at["used"] += 1 + TRAIL
    paths.ends[new]["end"] = at["used"]
    _set_number(paths, new, end, at["used"])
    paths.ends[new]["cost"] = cost_to(tree, end)
    at["traced"] = end


@kernel
def _renumber(paths: TracedPaths) -> None:
    """Give the rest of the path that is followed the lowest numbers, after two billion numbers were used.

    A unit of a crowd begins with the lowest numbers in each problem, and never gets here.
    """
    at = paths.scalars[0]
    which = at["followed"]
    path = paths.ends[which]
    end, front = path["end"], path["front"]
    for state in range(len(paths.first)):
        number = number_of(paths, which, state)
        _set_number(paths, which, state, number - end + 1 if end <= number <= front else 0)
        _set_number(paths, 1 - which, state, 0)
    path["end"], path["front"], at["used"] = 1, front - end + 1, front - end + 1
    path["least"] = 1


@kernel
def is_tracing(paths: TracedPaths) -> bool:
    """Return whether a path is being traced."""
    return paths.scalars[0]["traced"] >= 0


@kernel
def extend(paths: TracedPaths, state: int) -> bool:
    """Extend the solution, which is traced or followed, by a move to ``state``; return False if it cannot be extended.

    If the solution already leads through that state, it ends there, and cannot be extended after that, because the
    states of its former end keep their numbers.
    """
    at = paths.scalars[0]
    which = 1 - at["followed"] if is_tracing(paths) else at["followed"]
    path, number = paths.ends[which], number_of(paths, which, state)
    front = at["used"] if is_tracing(paths) else path["front"]
    if path["end"] <= number <= front:
        path["end"] = path["least"] = number
        return True
    if path["end"] == path["least"]:
        return False
    path["end"] -= 1
    _set_number(paths, which, state, path["end"])
    return True


@kernel
def lies_ahead(paths: TracedPaths, state: int) -> bool:
    """Return whether ``state`` is on the path that is followed, ahead of the agent."""
    which = paths.scalars[0]["followed"]
    return paths.ends[which]["end"] <= number_of(paths, which, state) <= paths.ends[which]["front"]


@kernel
def is_broken(paths: TracedPaths, tree: Tree, graph: Arrays, here: int, most: int) -> bool:
    """Return whether one of the next ``most`` moves to trace in a damaged tree, up to ``here``, no longer exists."""
    state, steps = paths.scalars[0]["traced"], 0
    while state >= 0 and state != here and steps < most:
        if is_cut(tree, graph, state):
            return True
        state, steps = parent_of(tree, state), steps + 1
    return False


@kernel
def trace(paths: TracedPaths, tree: Tree, here: int, most: int) -> int:
    """Trace at most ``most`` steps, until ``here`` or the root of the tree is reached; return the number of steps."""
    at = paths.scalars[0]
    new, steps, end, place = 1 - at["followed"], 0, find(tree.where, here), find(tree.where, at["traced"])
    while place != end and parent_place(tree, place) >= 0:
        if steps == most:
            at["traced"] = state_at(tree, place)
            expect(tree.where, place)
            return steps
        steps += 1
        place = parent_place(tree, place)
        at["used"] += 1
        _set_number_at(paths, new, place, at["used"])
    paths.ends[new]["front"] = at["used"]
    at["traced"] = -1
    return steps


@kernel
def is_new_longer(paths: TracedPaths) -> bool:
    """Return whether the path that was traced last costs at least as much as the one that is followed."""
    followed = paths.scalars[0]["followed"]
    return paths.ends[1 - followed]["cost"] >= paths.ends[followed]["cost"]


@kernel
def follow(paths: TracedPaths) -> None:
    """Follow the path that was traced last, instead of the other."""
    paths.scalars[0]["followed"] = 1 - paths.scalars[0]["followed"]


@kernel
def next_on_path(paths: TracedPaths, graph: Arrays, state: int) -> int:
    """Return the next state on the path that is followed; OFF if ``state`` is not on it, was passed, or is its end.

    CUT if a wall on the path was discovered after the search.
    """
    which = paths.scalars[0]["followed"]
    number = number_of(paths, which, state)
    if number <= paths.ends[which]["end"] or number > paths.ends[which]["front"]:
        return OFF
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if number_of(paths, which, near) == number - 1:
            return near
    return CUT


@kernel
def length(paths: TracedPaths) -> int:
    """Return the number of moves left on the path that is followed."""
    path = paths.ends[paths.scalars[0]["followed"]]
    return path["front"] - path["end"]


@kernel
def walk_past(paths: TracedPaths, state: int) -> None:
    """Note that the agent leaves ``state`` along the path: it and the states before it are no longer on the path."""
    which = paths.scalars[0]["followed"]
    paths.ends[which]["front"] = number_of(paths, which, state) - 1
