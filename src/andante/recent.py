"""Caches in memory of what was used most recently, shared or lent to one user at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A cache of the values that were used most recently, up to a limit; a value is made only if it is not held.

    >>> squares = Recent(2)
    >>> [squares.get(number, lambda n=number: n * n) for number in (1, 2, 1, 3)]
    [1, 4, 1, 9]
    >>> squares.get(1, lambda: "held"), squares.get(2, lambda: "made again")
    (1, 'made again')
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, and make it if it is not held; other threads wait meanwhile."""
        with self._lock:
            if key not in self._held:
                self._held[key] = make()
            self._held.move_to_end(key)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
            return self._held[key]


class Spare(Generic[K, V]):
    """A pool of values that serve one user at a time; the most recent unused ones are kept, up to a limit.

    >>> lists = Spare(2)
    >>> with lists.lend("one", list) as first, lists.lend("one", list) as second:
    ...     first.append(1), second.append(2)
    (None, None)
    >>> with lists.lend("one", list) as again:
    ...     again is first or again is second
    True
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._idle: list[tuple[K, V]] = []
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, key: K, make: Callable[[], V]) -> Iterator[V]:
        """Lend a value of this key, and make one if none is unused; a value in use during an error is not kept."""
        value = self._take(key) or make()
        yield value
        with self._lock:
            self._idle.append((key, value))
            del self._idle[: -self._most]

    def _take(self, key: K) -> V | None:
        with self._lock:
            for i in reversed(range(len(self._idle))):
                if self._idle[i][0] == key:
                    return self._idle.pop(i)[1]
        return None
