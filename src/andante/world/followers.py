"""What follows a map that changes, in pieces, and how it is kept from doing so while agents read it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Follower(Protocol):
    """Something that follows the changes of a map a bounded piece at a time."""

    def take_note(self) -> None:
        """Take note of all changes in the log."""

    def mend(self, most: int) -> int:
        """Catch up with at most so many changed cells, and return how many there were."""


class Turnstile:
    """Lets any number of threads read, or one write; those who read come after those who wait to write."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._readers = self._writers = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep writers out."""
        with self._free:
            while self._writers:
                self._free.wait()
            self._readers += 1
        try:
            yield
        finally:
            with self._free:
                self._readers -= 1
                self._free.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all others out."""
        with self._free:
            self._writers += 1
            try:
                while self._readers:
                    self._free.wait()
                yield
            finally:
                self._writers -= 1
                self._free.notify_all()
