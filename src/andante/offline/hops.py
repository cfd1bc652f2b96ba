"""The first arc of a shortest path from every node of a web to every other, in rows of runs.

One search per node computes the *set* of arcs with which shortest paths to each other node begin. A node has a row,
which lists all other nodes in their order; a run continues as long as its nodes have a first arc in common. On the webs
between the seeds of `regions` this saves much space. Costs on grids are sums of few different numbers, so many paths
are equally short, and without sets a row has three to four times as many runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.offline.builder import Crew, Making
from andante.search import heap
from andante.search.heap import Heap

PART = 4  # rows that a thread makes at a time
WORD = 62  # arcs of a set that are stored in one number

Numbers = npt.NDArray[np.int64]
States = npt.NDArray[np.int32]
Costs = npt.NDArray[np.float64]


class Web(NamedTuple):
    """Arcs between nodes, in rows."""

    first: Numbers  # [regions + 1]
    to: States  # [arcs]
    cost: Costs  # [arcs]


class Rows(NamedTuple):
    """For each node, the first arc to each other node, in runs."""

    row: States  # [nodes + 1], where a node's runs begin
    goal: npt.NDArray[np.uint16]  # [runs], their first nodes
    arc: States  # [runs], as an index among all arcs; -1: there is no path
    used: npt.NDArray[np.bool_]  # [arcs], whether a row uses the arc


class Survey(NamedTuple):
    """The buffers of one thread for finding first arcs; a set of a node's arcs has a bit for each."""

    distance: Costs  # [nodes]
    begin: Numbers  # [nodes, words], the first arcs of all shortest paths
    open: Heap
    common: Numbers  # [words], the arcs that all goals of a run have in common
    goal: States  # [nodes], a row
    arc: States  # [nodes]


def ends(sizes: npt.NDArray[Any]) -> States:
    """Return the ends of parts of these sizes, with a 0 before them."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def first_arcs(crew: Crew, web: Web, blur: float) -> Making[Rows]:
    """Return the first arcs from each node, by one search each; costs within ``blur`` of each other count as equal."""
    count = len(web.first) - 1
    used = np.zeros(len(web.to), np.bool_)
    words = max(1, -(-int(np.diff(web.first).max(initial=0)) // WORD))

    def room() -> Survey:
        return Survey(
            np.empty(count),
            np.empty((count, words), np.int64),
            Heap.over(count, count),
            np.empty(words, np.int64),
            np.empty(count, np.int32),
            np.empty(count, np.int32),
        )

    def work(mine: Survey, some: range) -> list[States]:
        made = []
        for home in some:
            _survey(mine, web, home, blur)
            size = _row(mine, web, home, used)  # marks only arcs of this node
            made.append(np.stack([mine.goal[:size], mine.arc[:size]]))
        return made

    rooms = [room() for _ in range(crew.threads)]
    made = yield from crew.each(work, crew.parts(count, PART), rooms, "finding paths over seeds")
    rows = [row for some in made for row in some]
    goal, arc = np.concatenate([np.zeros((2, 0), np.int32), *rows], axis=1)
    row = ends(np.array([row.shape[1] for row in rows], np.int64))
    return Rows(row, goal.astype(np.uint16), arc, used)


@kernel
def _survey(room: Survey, web: Web, home: int, blur: float) -> None:
    """Fill ``room.begin`` with the first arcs of all shortest paths from ``home`` to each node."""
    distance, begin, words = room.distance, room.begin, room.begin.shape[1]
    distance[:] = np.inf
    distance[home] = 0.0
    heap.push(room.open, home, 0.0, 0.0)
    while heap.size(room.open) > 0:
        node = heap.pop(room.open)
        for k in range(web.first[node], web.first[node + 1]):
            near, new = int64(web.to[k]), distance[node] + web.cost[k]
            if new > distance[near] + blur:
                continue
            if new < distance[near] - blur:
                distance[near] = new
                begin[near, :] = 0
                heap.push(room.open, near, new, 0.0)
            if node == home:
                arc = k - web.first[home]
                begin[near, arc // WORD] |= 1 << arc % WORD
            else:
                for word in range(words):
                    begin[near, word] |= begin[node, word]


@kernel
def _row(room: Survey, web: Web, home: int, used: npt.NDArray[np.bool_]) -> int:
    """Write a node's row, mark the arcs that it uses, and return its number of runs.

    A run continues as long as its goals have a first arc in common. The node itself may be in any run.
    """
    arcs = web.first[home]
    size, is_reachable = 0, False
    for goal in range(len(room.distance)):
        if goal == home:
            continue
        reached = room.distance[goal] < np.inf
        if size > 0 and reached == is_reachable and (not reached or _shares(room, goal)):
            continue
        if is_reachable:
            _close(room, size - 1, used, arcs)
        room.goal[size], room.arc[size], is_reachable = goal if size > 0 else 0, -1, reached
        for word in range(len(room.common)):
            room.common[word] = room.begin[goal, word]
        size += 1
    if is_reachable:
        _close(room, size - 1, used, arcs)
    if size == 0:
        room.goal[0], room.arc[0], size = 0, -1, 1
    return size


@kernel
def _shares(room: Survey, goal: int) -> bool:
    """Return whether this goal shares an arc with ``room.common``; if so, keep only the shared arcs there."""
    for word in range(len(room.common)):
        if room.common[word] & room.begin[goal, word] != 0:
            for other in range(len(room.common)):
                room.common[other] &= room.begin[goal, other]
            return True
    return False


@kernel
def _close(room: Survey, run: int, used: npt.NDArray[np.bool_], arcs: int) -> None:
    """Give a run one of the arcs that its goals have in common, preferably one that the row already uses."""
    chosen = -1
    for word in range(len(room.common)):
        bits, arc = room.common[word], word * WORD
        while bits != 0:
            if bits & 1 != 0:
                if used[arcs + arc]:
                    room.arc[run] = arcs + arc
                    return
                if chosen < 0:
                    chosen = arc
            bits, arc = bits >> 1, arc + 1
    room.arc[run] = arcs + chosen
    used[arcs + chosen] = True
