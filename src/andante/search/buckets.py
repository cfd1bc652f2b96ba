"""A bucket queue: states in order of a float key, quantised; in constant time per push and pop.

Every state stands in at most one bucket, in a doubly linked list whose links are arrays over the states, so the queue
never grows. Within a bucket the last in is the first out, which on grids prefers deeper states. Keys beyond the last
bucket wait there together; when the rest is used up they are spread out again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.memory import Space

BUCKETS = 1 << 15
PER_COST = 16.0  # buckets per cost of a typical move


class Buckets(NamedTuple):
    """The queue. A state's links and key mean something only while it is queued."""

    head: npt.NDArray[np.int32]  # [BUCKETS], first state or -1
    next: npt.NDArray[np.int32]  # [n]
    previous: npt.NDArray[np.int32]  # [n], -1 for a bucket's first
    bucket: npt.NDArray[np.int32]  # [n]
    key: npt.NDArray[np.float64]  # [n]
    base: npt.NDArray[np.float64]  # [2]: key at which bucket 0 begins, buckets per unit of key
    span: npt.NDArray[np.int64]  # [2]: first bucket that may be used, last bucket used

    @classmethod
    def allocate(cls, space: Space) -> Buckets:
        """An empty queue over the states of a graph."""
        n = space.states
        return cls(
            np.full(BUCKETS, -1, np.int32),
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
            np.zeros(n),
            np.array([0.0, PER_COST / space.graph.mean_cost]),
            np.array([0, -1], np.int64),
        )


@kernel
def clear(queue: Buckets, base: float) -> None:
    """Empty the queue; keys to come are not expected below ``base``. Costs what the last use touched."""
    for b in range(queue.span[0], queue.span[1] + 1):
        queue.head[b] = -1
    queue.span[0], queue.span[1] = 0, -1
    queue.base[0] = base


@kernel
def push(queue: Buckets, state: int, key: float) -> None:
    """Queue a state that is not queued."""
    b = int64((key - queue.base[0]) * queue.base[1])
    b = min(max(b, 0), BUCKETS - 1)
    after = queue.head[b]
    queue.next[state], queue.previous[state] = after, -1
    queue.bucket[state], queue.key[state] = b, key
    if after >= 0:
        queue.previous[after] = state
    queue.head[b] = state
    if b < queue.span[0]:
        queue.span[0] = b
    if b > queue.span[1]:
        queue.span[1] = b


@kernel
def remove(queue: Buckets, state: int) -> None:
    """Take a queued state out."""
    before, after = queue.previous[state], queue.next[state]
    if after >= 0:
        queue.previous[after] = before
    if before >= 0:
        queue.next[before] = after
    else:
        queue.head[queue.bucket[state]] = after


@kernel
def first(queue: Buckets) -> int:
    """The state that `pop` would take, or -1; its key is least, but for the width of a bucket."""
    b = queue.span[0]
    while b <= queue.span[1] and queue.head[b] < 0:
        b += 1
    queue.span[0] = b
    if b > queue.span[1]:
        return -1
    if b == BUCKETS - 1:
        _spread(queue)
    return int64(queue.head[queue.span[0]])


@kernel
def pop(queue: Buckets) -> int:
    """Take out a state of least key, but for the width of a bucket; -1 if there is none."""
    state = first(queue)
    if state >= 0:
        after = queue.next[state]
        queue.head[queue.span[0]] = after
        if after >= 0:
            queue.previous[after] = -1
    return state


@kernel
def floor(queue: Buckets) -> float:
    """No queued state's key is below this; meaningful right after `first` or `pop`."""
    return queue.base[0] + queue.span[0] / queue.base[1] if queue.span[0] > 0 else -np.inf


@kernel
def _spread(queue: Buckets) -> None:
    """All keys lie beyond the last bucket's beginning: begin anew at the least of them."""
    state = int64(queue.head[BUCKETS - 1])
    queue.head[BUCKETS - 1] = -1
    queue.span[0], queue.span[1] = 0, -1
    least, k = np.inf, state
    while k >= 0:
        least = min(least, queue.key[k])
        k = int64(queue.next[k])
    queue.base[0] = least
    while state >= 0:
        after = int64(queue.next[state])
        push(queue, state, queue.key[state])
        state = after
