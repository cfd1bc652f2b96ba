"""A bucket queue: states ordered by a quantised float key, in constant time per push and pop.

A state is identified here by the place of its record (`search.records`), which for a single agent is the state's own
number. Every state is in at most one bucket, in a doubly linked list whose links are in the states' records, so the
queue never grows. Within a bucket the last in is the first out, which on grids prefers deeper states. The buckets form
a ring, so that buckets used up at the front are used again at the far end. A key beyond the ring waits in the last
bucket, and keys can end up beyond it when far lower ones follow, as in weighted searches. When such a state reaches the
front, it is put back further behind, a few states at a time, so that no pop has to move many.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel, uint64
from andante.search.memory import Space
from andante.search.mind import Mind
from andante.search.records import Index

BUCKETS = 1 << 12  # a power of two; few enough that each unit of a crowd can have its own ring
PER_COST = 16.0  # buckets per cost of a typical move
SLOT = BUCKETS - 1  # mask for a bucket's index in the ring
PUT_BACK = 8  # states put back per pop, as many as an expansion opens
_UNUSED = 1 << 60  # a bucket beyond all others: the first push sets the first bucket in use

NONE = -1
LATER = -2


#: A queued state's key, and the next and previous state in its bucket; these are valid only while the state is queued.
#: The first state in a bucket has ~index of the bucket in the ring as its previous, and the next of the last is
#: negative. The other fields belong to the search that owns the queue, so that all data of a state is in one place in
#: memory.
NODE = np.dtype(
    [
        ("g", np.float64),
        ("parent", np.int32),
        ("mark", np.uint32),
        ("key", np.float64),
        ("next", np.int32),
        ("previous", np.int32),
    ],
    align=True,
)


RING = np.dtype(
    [
        ("base", np.float64),  # the key at which bucket 0 begins
        ("scale", np.float64),  # buckets per unit of key
        ("first", np.int64),  # the first bucket that may be in use; it and the last are not reduced to the ring
        ("last", np.int64),  # the last bucket used
    ]
)


class Nodes(NamedTuple):
    """The records of states, of NODE, and their index."""

    where: Index
    node: npt.NDArray[Any]

    @classmethod
    def over(cls, mind: Mind, numbers: int | None = None) -> Nodes:
        """Return records for all states, or for the numbers below ``numbers``."""
        return cls(mind.index(numbers=numbers, linked=True), mind.field(NODE, numbers=numbers))


def buckets_for(nodes: Nodes) -> int:
    """Return the number of buckets that a queue over these records needs; 0 if there are no records."""
    return BUCKETS if len(nodes.node) else 0


class Buckets(NamedTuple):
    """The queue."""

    head: npt.NDArray[np.int32]  # [BUCKETS], the ring: 1 + the first state, or 0
    node: npt.NDArray[Any]  # the states' records, of NODE
    scalars: npt.NDArray[Any]  # [1], of RING

    @classmethod
    def allocate(cls, space: Space) -> Buckets:
        """Return an empty queue over the states of a graph."""
        return cls.over(space.mind, Nodes.over(space.mind), space.graph.typical_cost)

    @classmethod
    def over(cls, mind: Mind, nodes: Nodes, typical_cost: float) -> Buckets:
        """Return an empty queue over records of states, for keys that grow by about ``typical_cost`` with each move."""
        ring = mind.one(RING, (0.0, PER_COST / typical_cost, _UNUSED, -1))
        return cls(mind.row(np.int32, buckets_for(nodes)), nodes.node, ring)


@kernel
def clear(queue: Buckets, base: float) -> None:
    """Empty the queue, in time proportional to the buckets in use; expect no keys below ``base``."""
    at = queue.scalars[0]
    for b in range(at["first"], min(at["last"] + 1, at["first"] + BUCKETS)):
        queue.head[b & SLOT] = 0
    at["first"], at["last"] = _UNUSED, -1
    at["base"] = base - 1.0 / at["scale"]  # bucket 0 is for keys below it that occur anyway


@kernel
def push(queue: Buckets, state: int, key: float) -> None:
    """Add a state that is not queued."""
    b = bucket_in_reach(queue, key)
    slot = b & SLOT
    after, node = first_in(queue, slot), queue.node[state]
    _set_previous(queue, after, state, state)
    node["key"], node["next"], node["previous"] = key, after, ~slot
    set_first(queue, slot, state)
    use(queue, b)


@kernel
def first_in(queue: Buckets, slot: int) -> int:
    """Return the first state of the bucket at this place of the ring; -1 if it is empty."""
    return int64(queue.head[slot]) - 1


@kernel
def set_first(queue: Buckets, slot: int, state: int) -> None:
    """Set the first state of the bucket at this place of the ring; a negative one empties it."""
    queue.head[slot] = max(state, -1) + 1


@kernel
def _set_previous(queue: Buckets, state: int, previous: int, unqueued: int) -> None:
    """Set the state before ``state``; if ``state`` is negative, write to the record of ``unqueued`` instead.

    Whether a bucket has more states is hard to predict, and an unused write is cheaper than a mispredicted branch.
    """
    queue.node[uint64(state if state >= 0 else unqueued)]["previous"] = previous


@kernel
def bucket(queue: Buckets, key: float) -> int:
    """Return the number of the bucket that a key belongs in."""
    at = queue.scalars[0]
    return max(int64((key - at["base"]) * at["scale"]), 0)


@kernel
def bucket_in_reach(queue: Buckets, key: float) -> int:
    """Return the number of the bucket that a key is put in: its own, or the last of the ring if its own is beyond."""
    at = queue.scalars[0]
    return min(bucket(queue, key), at["first"] + BUCKETS - 1)


@kernel
def use(queue: Buckets, b: int) -> None:
    """Record that a bucket contains a state."""
    at = queue.scalars[0]
    if b < at["first"]:
        at["first"] = b
    if b > at["last"]:
        at["last"] = b


@kernel
def remove(queue: Buckets, state: int) -> None:
    """Remove a queued state."""
    node = queue.node[state]
    before, after = int64(node["previous"]), int64(node["next"])
    if after >= 0:
        queue.node[after]["previous"] = before
    if before >= 0:
        queue.node[before]["next"] = after
    else:
        set_first(queue, ~before, after)


@kernel
def front(queue: Buckets) -> int:
    """Return the first state of the first bucket that has any, or NONE. Its key may be beyond the ring."""
    at = queue.scalars[0]
    b = at["first"]
    while b <= at["last"] and queue.head[b & SLOT] == 0:
        b += 1
    at["first"] = b
    return first_in(queue, b & SLOT) if b <= at["last"] else NONE


@kernel
def is_due(queue: Buckets, state: int) -> bool:
    """Return whether the state at the front belongs there, that is whether its key is not beyond the ring."""
    return bucket(queue, queue.node[state]["key"]) <= queue.scalars[0]["first"]


@kernel
def first(queue: Buckets) -> int:
    """Return a state with the least key, up to the width of a bucket, or NONE.

    States at the front whose keys are beyond the ring are put back further behind. If there are more than PUT_BACK of
    them, the next one is returned, so this takes constant time.
    """
    state, left = front(queue), PUT_BACK
    while left > 0 and state >= 0 and not is_due(queue, state):
        remove(queue, state)
        push(queue, state, queue.node[state]["key"])
        state, left = front(queue), left - 1
    return state


@kernel
def take(queue: Buckets) -> int:
    """Remove and return a state with the least key, up to the width of a bucket; NONE if the queue is empty.

    Return LATER if too many states had to be put back: then call again. This takes constant time in any case.
    """
    state = first(queue)
    if state < 0:
        return NONE
    if not is_due(queue, state):
        return LATER
    slot, after = queue.scalars[0]["first"] & SLOT, int64(queue.node[state]["next"])
    set_first(queue, slot, after)
    _set_previous(queue, after, ~slot, state)
    return state


@kernel
def pop(queue: Buckets) -> int:
    """Remove and return a state with the least key, up to the width of a bucket; NONE if the queue is empty."""
    state = take(queue)
    while state == LATER:
        state = take(queue)
    return state


@kernel
def floor(queue: Buckets) -> float:
    """Return a lower bound on the keys of all queued states; valid right after `first`."""
    at = queue.scalars[0]
    return at["base"] + at["first"] / at["scale"] if at["first"] > 0 else -np.inf


@kernel
def key_of(queue: Buckets, state: int) -> float:
    """Return the key with which a state was last queued."""
    return queue.node[state]["key"]


@kernel
def width(queue: Buckets) -> float:
    """Return the largest difference between keys in one bucket."""
    at = queue.scalars[0]
    return 1.0 / at["scale"]
