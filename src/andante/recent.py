"""The cache in memory: what was used most recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values that were used most recently, at most so many; each is made once while it is held.

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
        """Return the value of a key, made if it is not held; other threads wait meanwhile."""
        with self._lock:
            if key not in self._held:
                self._held[key] = make()
            self._held.move_to_end(key)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
            return self._held[key]
