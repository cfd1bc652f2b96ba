"""A priority queue over numbered items: a heap in flat arrays that knows the position of each item.

The item with the least key is first; among equal keys the one with the larger tie, among equal ties the one with the
lower number. The order is therefore total and does not depend on how the heap was built. An item is queued at most once
and can be moved or removed, so the heap never has more entries than there are items.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.mind import Mind
from andante.search.records import Dense, Index, claim, find

HEAP = np.dtype([("size", np.int64)])


class Heap(NamedTuple):
    """The queue: entries in heap order, the first of them the least."""

    key: npt.NDArray[np.float64]  # [capacity]
    tie: npt.NDArray[np.float64]  # [capacity]
    item: npt.NDArray[np.int32]  # [capacity]
    where: Index
    place: npt.NDArray[np.int32]  # a field of the items' records: 1 + an item's place above; 0 if it is not queued
    scalars: npt.NDArray[Any]  # [1], of HEAP

    @classmethod
    def over(cls, items: int, capacity: int) -> Heap:
        """Return an empty heap for at most ``capacity`` of the items 0 to ``items`` - 1 at a time."""
        return cls(
            np.zeros(capacity),
            np.zeros(capacity),
            np.zeros(capacity, np.int32),
            Dense(),
            np.zeros(items, np.int32),
            np.zeros(1, HEAP),
        )

    @classmethod
    def in_mind(cls, mind: Mind, capacity: int) -> Heap:
        """Return an empty heap for at most ``capacity`` states at a time, kept between moves."""
        return cls(
            mind.row(np.float64, capacity),
            mind.row(np.float64, capacity),
            mind.row(np.int32, capacity),
            mind.index(),
            mind.field(np.int32),
            mind.one(HEAP),
        )


@kernel
def size(heap: Heap) -> int:
    """Return the number of items in the heap."""
    return heap.scalars[0]["size"]


@kernel
def is_queued(heap: Heap, item: int) -> bool:
    """Return whether the item is in the heap."""
    return place_of(heap, item) >= 0


@kernel
def place_of(heap: Heap, item: int) -> int:
    """Return an item's place in the heap's order; -1 if it is not in the heap."""
    return int64(heap.place[find(heap.where, item)]) - 1


@kernel
def _set_place(heap: Heap, item: int, at: int) -> None:
    heap.place[claim(heap.where, item)] = at + 1


@kernel
def clear(heap: Heap) -> None:
    """Empty the heap, in time proportional to its size. Released records stay released."""
    for at in range(size(heap)):
        heap.place[find(heap.where, int64(heap.item[at]))] = 0
    heap.scalars[0]["size"] = 0


@kernel
def push(heap: Heap, item: int, key: float, tie: float) -> None:
    """Add an item, or move a queued one forward: a new key and tie must not move it back."""
    at = place_of(heap, item)
    if at < 0:
        at = size(heap)
        heap.scalars[0]["size"] = at + 1
    _rise(heap, at, item, key, tie)


@kernel
def pop(heap: Heap) -> int:
    """Remove and return the first item; there must be one."""
    first = int64(heap.item[0])
    last = size(heap) - 1
    _set_place(heap, first, -1)
    heap.scalars[0]["size"] = last
    if last > 0:
        _sink(heap, 0, int64(heap.item[last]), heap.key[last], heap.tie[last])
    return first


@kernel
def remove(heap: Heap, item: int) -> None:
    """Remove a queued item; the last entry fills its place."""
    at = place_of(heap, item)
    last = size(heap) - 1
    _set_place(heap, item, -1)
    heap.scalars[0]["size"] = last
    if at == last:
        return
    moved, key, tie = int64(heap.item[last]), heap.key[last], heap.tie[last]
    if at > 0 and not _is_ahead(heap, (at - 1) // 2, key, tie, moved):
        _rise(heap, at, moved, key, tie)
    else:
        _sink(heap, at, moved, key, tie)


@kernel
def is_ahead(heap: Heap, at: int, other: int) -> bool:
    """Return whether the entry at one index is popped before the entry at another."""
    return _is_ahead(heap, at, heap.key[other], heap.tie[other], int64(heap.item[other]))


@kernel
def _is_ahead(heap: Heap, at: int, key: float, tie: float, item: int) -> bool:
    """Return whether the entry at this index comes before the given one."""
    if heap.key[at] != key:
        return heap.key[at] < key
    if heap.tie[at] != tie:
        return heap.tie[at] > tie
    return heap.item[at] < item


@kernel
def _rise(heap: Heap, at: int, item: int, key: float, tie: float) -> None:
    """Put the entry at this index, or as far above it as its key requires."""
    while at > 0:
        above = (at - 1) // 2
        if _is_ahead(heap, above, key, tie, item):
            break
        _put(heap, at, int64(heap.item[above]), heap.key[above], heap.tie[above])
        at = above
    _put(heap, at, item, key, tie)


@kernel
def _sink(heap: Heap, at: int, item: int, key: float, tie: float) -> None:
    """Put the entry at this index, or as far below it as its key requires."""
    entries = size(heap)
    below = 2 * at + 1
    while below < entries:
        if below + 1 < entries and is_ahead(heap, below + 1, below):
            below += 1
        if not _is_ahead(heap, below, key, tie, item):
            break
        _put(heap, at, int64(heap.item[below]), heap.key[below], heap.tie[below])
        at, below = below, 2 * below + 1
    _put(heap, at, item, key, tie)


@kernel
def _put(heap: Heap, at: int, item: int, key: float, tie: float) -> None:
    heap.item[at], heap.key[at], heap.tie[at] = item, key, tie
    _set_place(heap, item, at)
