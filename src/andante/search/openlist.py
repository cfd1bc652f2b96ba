"""The open list of A*: states in order of f, with a rule for ties. Their records' places identify them.

Keys count as equal if they fall into the same bucket, a sixteenth of a typical move's cost wide (`search.buckets`),
under any rule. The rule is part of the list's type, so the choice costs nothing at run time:

- `Buckets`: last in, first out;
- `Fifo`: first in, first out; a state that is reopened with a lower g goes to the end;
- `Ranked`: larger g first, or smaller g first; among equal g the lower state number. It is a heap, so operations take
  logarithmic time. The others take constant time;
- `WallsFirst`: two lists of one of these kinds. The second is used only when the first is empty. It contains the states
  that, when they were opened, were neither at a wall nor as near to the goal as any state before them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64
from andante.notation import Word
from andante.search import buckets, heap
from andante.search.buckets import LATER, NONE, SLOT, Buckets, Nodes
from andante.search.heap import Heap
from andante.search.mind import Mind


class Ties(Word):
    """Which of the open states with equal f is expanded first."""

    LAST = 0  # the one that was opened last
    FIRST = 1  # the one that was opened first
    LARGER_G = 2
    SMALLER_G = 3


class Fifo(NamedTuple):
    """Buckets that are filled at their ends. The next of the last state is ~place, the bucket's place in the ring."""

    ring: Buckets
    tail: npt.NDArray[np.int32]  # [BUCKETS], a bucket's last state; only valid if the bucket has a first

    @classmethod
    def over(cls, mind: Mind, nodes: Nodes, typical_cost: float) -> Fifo:
        """Return an empty list over records of states, for keys that grow by about ``typical_cost`` with each move."""
        return cls(Buckets.over(mind, nodes, typical_cost), mind.row(np.int32, buckets.buckets_for(nodes)))


RANKED = np.dtype(
    [
        ("base", np.float64),  # the key at which bucket 0 begins
        ("scale", np.float64),  # buckets per unit of key
        ("now", np.float64),  # the bucket of the state that was last first
    ]
)


class Ranked(NamedTuple):
    """A heap ordered by bucket, and by g within a bucket."""

    heap: Heap
    node: npt.NDArray[Any]  # the states' records, of NODE; the list itself uses only the key
    scalars: npt.NDArray[Any]  # [1], of RANKED
    sign: float  # 1 if the larger g is first, -1 if the smaller

    @classmethod
    def over(cls, mind: Mind, nodes: Nodes, typical_cost: float, sign: float) -> Ranked:
        """Return an empty list over records of states, for keys that grow by about ``typical_cost`` with each move."""
        scalars = mind.one(RANKED, (0.0, buckets.PER_COST / typical_cost, 0.0))
        return cls(Heap.over(len(nodes.node), len(nodes.node)), nodes.node, scalars, sign)


WALLS = np.dtype([("least", np.float64)])  # the least h of a state opened so far


class WallsFirst(NamedTuple):
    """Two lists: one of states at walls and states as near to the goal as any before, then one of all others.

    A state is at a wall if it has fewer moves than a state in the open. The order of f no longer bounds the cost of a
    path, so a search with this list ends with the first path it finds. A state is in one of the lists at a time, so
    both use the same records.
    """

    near: Any  # the first list, of one of the kinds above
    rest: Any  # the second list, of the same kind
    in_rest: npt.NDArray[np.bool_]  # a field of the states' records, whether one was last put into the second list
    scalars: npt.NDArray[Any]  # [1], of WALLS
    most_moves: int  # of a state in the open

    @classmethod
    def over(cls, ties: Ties, mind: Mind, nodes: Nodes, typical_cost: float, most_moves: int) -> WallsFirst:
        """Return an empty list over records of states; one with fewer than ``most_moves`` moves is at a wall."""
        near, rest = (open_list(ties, mind, nodes, typical_cost) for _ in range(2))
        return cls(near, rest, mind.field(np.bool_), mind.one(WALLS, (np.inf,)), most_moves)


OpenList = Buckets | Fifo | Ranked | WallsFirst


def open_list(ties: Ties, mind: Mind, nodes: Nodes, typical_cost: float) -> Buckets | Fifo | Ranked:
    """Return an empty list with the given rule over records of states."""
    if ties is Ties.FIRST:
        return Fifo.over(mind, nodes, typical_cost)
    if ties is Ties.LAST:
        return Buckets.over(mind, nodes, typical_cost)
    return Ranked.over(mind, nodes, typical_cost, 1.0 if ties is Ties.LARGER_G else -1.0)


# --- operations -----------------------------------------------------------------------------------------------------


@generic
def clear(queue: OpenList, base: float) -> None:
    """Empty the list and expect no keys below ``base``; this takes time in proportion to what the last use touched."""
    raise TypeError(queue)


@generic
def set_scale(queue: OpenList, typical_cost: float) -> None:
    """Adapt the list to keys of another scale; it must be empty, or be cleared next."""
    raise TypeError(queue)


@generic
def push(queue: OpenList, state: int, key: float, g: float) -> None:
    """Open a state that is not open."""
    raise TypeError(queue)


@generic
def admit(queue: OpenList, state: int, key: float, g: float, h: float, moves: int) -> None:
    """Open a state that is not open, with heuristic ``h`` and the given number of moves out of it."""
    raise TypeError(queue)


@generic
def ends_early(queue: OpenList) -> bool:
    """Return whether a search with this list ends with the first path that it finds."""
    raise TypeError(queue)


@generic
def remove(queue: OpenList, state: int) -> None:
    """Remove an open state."""
    raise TypeError(queue)


@generic
def first(queue: OpenList) -> int:
    """Return the state that `take` would return, or NONE. Its key may not be the least if many were put back."""
    raise TypeError(queue)


@generic
def take(queue: OpenList) -> int:
    """Remove and return the first state; NONE if the list is empty, LATER if many were put back: then call again."""
    raise TypeError(queue)


@generic
def floor(queue: OpenList) -> float:
    """Return a lower bound on the keys of open states; only valid right after `first` or `take`."""
    raise TypeError(queue)


@generic
def width(queue: OpenList) -> float:
    """Return the largest difference between keys that count as equal."""
    raise TypeError(queue)


@generic
def key_of(queue: OpenList, state: int) -> float:
    """Return the key with which a state was last opened."""
    raise TypeError(queue)


# --- last in, first out ---------------------------------------------------------------------------------------------


@clear.of(Buckets)
def _clear_buckets(queue: Buckets, base: float) -> None:
    buckets.clear(queue, base)


@set_scale.of(Buckets)
def _scale_buckets(queue: Buckets, typical_cost: float) -> None:
    queue.scalars[0]["scale"] = buckets.PER_COST / typical_cost


@push.of(Buckets)
def _push_on_top(queue: Buckets, state: int, key: float, g: float) -> None:
    buckets.push(queue, state, key)


@admit.of(Buckets)
def _admit_to_buckets(queue: Buckets, state: int, key: float, g: float, h: float, moves: int) -> None:
    push(queue, state, key, g)


@ends_early.of(Buckets)
def _buckets_do_not(queue: Buckets) -> bool:
    return False


@remove.of(Buckets)
def _remove_from_bucket(queue: Buckets, state: int) -> None:
    buckets.remove(queue, state)


@first.of(Buckets)
def _first_in_buckets(queue: Buckets) -> int:
    return buckets.first(queue)


@take.of(Buckets)
def _take_from_buckets(queue: Buckets) -> int:
    return buckets.take(queue)


@floor.of(Buckets)
def _floor_of_buckets(queue: Buckets) -> float:
    return buckets.floor(queue)


@width.of(Buckets)
def _width_of_buckets(queue: Buckets) -> float:
    return buckets.width(queue)


@key_of.of(Buckets)
def _key_in_buckets(queue: Buckets, state: int) -> float:
    return buckets.key_of(queue, state)


# --- first in, first out --------------------------------------------------------------------------------------------


@clear.of(Fifo)
def _clear_fifo(queue: Fifo, base: float) -> None:
    buckets.clear(queue.ring, base)


@set_scale.of(Fifo)
def _scale_fifo(queue: Fifo, typical_cost: float) -> None:
    queue.ring.scalars[0]["scale"] = buckets.PER_COST / typical_cost


@push.of(Fifo)
def _push_at_end(queue: Fifo, state: int, key: float, g: float) -> None:
    ring = queue.ring
    b = buckets.bucket_in_reach(ring, key)
    slot = b & SLOT
    before = int64(queue.tail[slot]) if buckets.first_in(ring, slot) >= 0 else ~slot
    node = ring.node[state]
    node["key"], node["next"], node["previous"] = key, ~slot, before
    if before >= 0:
        ring.node[before]["next"] = state
    else:
        buckets.set_first(ring, slot, state)
    queue.tail[slot] = state
    buckets.use(ring, b)


@admit.of(Fifo)
def _admit_to_fifo(queue: Fifo, state: int, key: float, g: float, h: float, moves: int) -> None:
    push(queue, state, key, g)


@ends_early.of(Fifo)
def _fifo_do_not(queue: Fifo) -> bool:
    return False


@remove.of(Fifo)
def _remove_from_fifo(queue: Fifo, state: int) -> None:
    node = queue.ring.node[state]
    if node["next"] < 0:
        queue.tail[~node["next"]] = node["previous"]
    buckets.remove(queue.ring, state)


@first.of(Fifo)
def _first_in_fifo(queue: Fifo) -> int:
    ring = queue.ring
    state, left = buckets.front(ring), buckets.PUT_BACK
    while left > 0 and state >= 0 and not buckets.is_due(ring, state):  # as in buckets
        remove(queue, state)
        push(queue, state, ring.node[state]["key"], 0.0)
        state, left = buckets.front(ring), left - 1
    return state


@take.of(Fifo)
def _take_from_fifo(queue: Fifo) -> int:
    state = first(queue)
    if state < 0:
        return NONE
    if not buckets.is_due(queue.ring, state):
        return LATER
    remove(queue, state)
    return state


@floor.of(Fifo)
def _floor_of_fifo(queue: Fifo) -> float:
    return buckets.floor(queue.ring)


@width.of(Fifo)
def _width_of_fifo(queue: Fifo) -> float:
    return buckets.width(queue.ring)


@key_of.of(Fifo)
def _key_in_fifo(queue: Fifo, state: int) -> float:
    return buckets.key_of(queue.ring, state)


# --- by g -----------------------------------------------------------------------------------------------------------


@clear.of(Ranked)
def _clear_ranked(queue: Ranked, base: float) -> None:
    at = queue.scalars[0]
    heap.clear(queue.heap)
    at["base"] = base - 1.0 / at["scale"]  # as in buckets: 0 is for keys below the base


@set_scale.of(Ranked)
def _scale_ranked(queue: Ranked, typical_cost: float) -> None:
    at = queue.scalars[0]
    at["scale"] = buckets.PER_COST / typical_cost


@push.of(Ranked)
def _push_ranked(queue: Ranked, state: int, key: float, g: float) -> None:
    at = queue.scalars[0]
    queue.node[state]["key"] = key
    b = max(np.floor((key - at["base"]) * at["scale"]), 0.0)
    heap.push(queue.heap, state, b, queue.sign * g)


@admit.of(Ranked)
def _admit_to_ranked(queue: Ranked, state: int, key: float, g: float, h: float, moves: int) -> None:
    push(queue, state, key, g)


@ends_early.of(Ranked)
def _ranked_do_not(queue: Ranked) -> bool:
    return False


@remove.of(Ranked)
def _remove_ranked(queue: Ranked, state: int) -> None:
    heap.remove(queue.heap, state)


@first.of(Ranked)
def _first_ranked(queue: Ranked) -> int:
    at = queue.scalars[0]
    if heap.size(queue.heap) == 0:
        return NONE
    at["now"] = queue.heap.key[0]
    return int64(queue.heap.item[0])


@take.of(Ranked)
def _take_ranked(queue: Ranked) -> int:
    return NONE if first(queue) == NONE else heap.pop(queue.heap)


@floor.of(Ranked)
def _floor_of_ranked(queue: Ranked) -> float:
    at = queue.scalars[0]
    return at["base"] + at["now"] / at["scale"] if at["now"] > 0.0 else -np.inf


@width.of(Ranked)
def _width_of_ranked(queue: Ranked) -> float:
    at = queue.scalars[0]
    return 1.0 / at["scale"]


@key_of.of(Ranked)
def _key_in_ranked(queue: Ranked, state: int) -> float:
    return queue.node[state]["key"]


# --- walls first ----------------------------------------------------------------------------------------------------


@clear.of(WallsFirst)
def _clear_both(queue: WallsFirst, base: float) -> None:
    at = queue.scalars[0]
    clear(queue.near, base)
    clear(queue.rest, base)
    at["least"] = np.inf


@set_scale.of(WallsFirst)
def _scale_both(queue: WallsFirst, typical_cost: float) -> None:
    set_scale(queue.near, typical_cost)
    set_scale(queue.rest, typical_cost)


@push.of(WallsFirst)
def _push_to_near(queue: WallsFirst, state: int, key: float, g: float) -> None:
    queue.in_rest[state] = False
    push(queue.near, state, key, g)


@admit.of(WallsFirst)
def _admit_to_either(queue: WallsFirst, state: int, key: float, g: float, h: float, moves: int) -> None:
    at = queue.scalars[0]
    if moves < queue.most_moves or h <= at["least"]:
        at["least"] = min(at["least"], h)
        push(queue, state, key, g)
    else:
        queue.in_rest[state] = True
        push(queue.rest, state, key, g)


@ends_early.of(WallsFirst)
def _walls_first_does(queue: WallsFirst) -> bool:
    return True


@remove.of(WallsFirst)
def _remove_from_either(queue: WallsFirst, state: int) -> None:
    if queue.in_rest[state]:
        remove(queue.rest, state)
    else:
        remove(queue.near, state)


@first.of(WallsFirst)
def _first_of_either(queue: WallsFirst) -> int:
    state = first(queue.near)
    return state if state >= 0 else first(queue.rest)


@take.of(WallsFirst)
def _take_from_either(queue: WallsFirst) -> int:
    state = take(queue.near)
    return state if state != NONE else take(queue.rest)


@floor.of(WallsFirst)
def _floor_of_either(queue: WallsFirst) -> float:
    """Return no bound: states in the second list may have lower keys."""
    return -np.inf


@width.of(WallsFirst)
def _width_of_either(queue: WallsFirst) -> float:
    return width(queue.near)


@key_of.of(WallsFirst)
def _key_in_either(queue: WallsFirst, state: int) -> float:
    return key_of(queue.near, state)  # the lists share their records
