"""A bucket queue: states in order of a float key, quantised; in constant time per push and pop.

Every state stands in at most one bucket, in a doubly linked list whose links are arrays over the states, so the queue
never grows. Within a bucket the last in is the first out, which on grids prefers deeper states. The buckets form a
ring: as the first ones are used up they serve again at the far end. A key beyond the ring waits in its last bucket and
is put back further on when its turn seems to come, one state at a time, so that no pop has to sort out many.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.memory import Space

BUCKETS = 1 << 15  # a power of two
PER_COST = 16.0  # buckets per cost of a typical move
SLOT = BUCKETS - 1  # picks a bucket's place in the ring
_UNUSED = 1 << 60  # a bucket beyond all others: the first state's own becomes the first in use

NONE = -1
LATER = -2


#: Where a state stands: its key, and the states after and before it in its bucket; it means something only while the
#: state is queued. The first has the bucket's place in the ring before it, as ~place, and what comes after the last is
#: negative. The rest is for the search whose queue it is: all that it asks of a state then lies in one place in memory.
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


class Buckets(NamedTuple):
    """The queue."""

    head: npt.NDArray[np.int32]  # [BUCKETS], the ring: first state or -1
    node: npt.NDArray[Any]  # [n], of NODE
    base: npt.NDArray[np.float64]  # [2]: key at which bucket 0 begins, buckets per unit of key
    span: npt.NDArray[np.int64]  # [2]: first bucket that may be in use, last bucket used; counted on round the ring

    @classmethod
    def allocate(cls, space: Space) -> Buckets:
        """An empty queue over the states of a graph."""
        return cls.over(space.states, space.graph.typical_cost)

    @classmethod
    def over(cls, n: int, typical_cost: float) -> Buckets:
        """An empty queue over ``n`` states, for keys that grow by about ``typical_cost`` with each move."""
        return cls(
            np.full(BUCKETS, -1, np.int32),
            np.zeros(n, NODE),
            np.array([0.0, PER_COST / typical_cost]),
            np.array([_UNUSED, -1], np.int64),
        )


@kernel
def clear(queue: Buckets, base: float) -> None:
    """Empty the queue; keys below ``base`` are not expected. Costs what the last use touched."""
    for b in range(queue.span[0], min(queue.span[1] + 1, queue.span[0] + BUCKETS)):
        queue.head[b & SLOT] = -1
    queue.span[0], queue.span[1] = _UNUSED, -1
    queue.base[0] = base - 1.0 / queue.base[1]  # bucket 0 is for keys that come below it all the same


@kernel
def push(queue: Buckets, state: int, key: float) -> None:
    """Queue a state that is not queued."""
    b = bucket_in_reach(queue, key)
    slot = b & SLOT
    after, node = int64(queue.head[slot]), queue.node[state]
    node["key"], node["next"], node["previous"] = key, after, ~slot
    if after >= 0:
        queue.node[after]["previous"] = state
    queue.head[slot] = state
    use(queue, b)


@kernel
def bucket(queue: Buckets, key: float) -> int:
    """The number of the bucket that a key belongs in."""
    return max(int64((key - queue.base[0]) * queue.base[1]), 0)


@kernel
def bucket_in_reach(queue: Buckets, key: float) -> int:
    """The number of the bucket that a key goes into: its own, or the ring's last if that lies beyond."""
    return min(bucket(queue, key), queue.span[0] + BUCKETS - 1)


@kernel
def use(queue: Buckets, b: int) -> None:
    """Note that there is a state in a bucket."""
    if b < queue.span[0]:
        queue.span[0] = b
    if b > queue.span[1]:
        queue.span[1] = b


@kernel
def remove(queue: Buckets, state: int) -> None:
    """Take a queued state out."""
    before, after = int64(queue.node[state]["previous"]), int64(queue.node[state]["next"])
    if after >= 0:
        queue.node[after]["previous"] = before
    if before >= 0:
        queue.node[before]["next"] = after
    else:
        queue.head[~before] = after


@kernel
def first(queue: Buckets) -> int:
    """The state that `take` would look at next, or NONE."""
    b = queue.span[0]
    while b <= queue.span[1] and queue.head[b & SLOT] < 0:
        b += 1
    queue.span[0] = b
    return int64(queue.head[b & SLOT]) if b <= queue.span[1] else NONE


@kernel
def take(queue: Buckets) -> int:
    """Take out a state of least key, but for the width of a bucket; NONE if there is none. One step, whatever happens.

    LATER means: the first state's key lies beyond the ring, so it was put back further on. Ask again.
    """
    state = first(queue)
    if state < 0:
        return NONE
    slot = queue.span[0] & SLOT
    after, key = int64(queue.node[state]["next"]), key_of(queue, state)
    queue.head[slot] = after
    if after >= 0:
        queue.node[after]["previous"] = ~slot
    if bucket(queue, key) <= queue.span[0]:
        return state
    push(queue, state, key)
    return LATER


@kernel
def pop(queue: Buckets) -> int:
    """Take out a state of least key, but for the width of a bucket; NONE if there is none."""
    state = take(queue)
    while state == LATER:
        state = take(queue)
    return state


@kernel
def floor(queue: Buckets) -> float:
    """No queued state's key is below this; meaningful right after `first`."""
    return queue.base[0] + queue.span[0] / queue.base[1] if queue.span[0] > 0 else -np.inf


@kernel
def key_of(queue: Buckets, state: int) -> float:
    """The key that a state was queued with last."""
    return queue.node[state]["key"]


@kernel
def width(queue: Buckets) -> float:
    """By how much the keys in one bucket may differ."""
    return 1.0 / queue.base[1]
