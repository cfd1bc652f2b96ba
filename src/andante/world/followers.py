"""What follows a map that changes, in pieces, and how it is kept from doing so while agents read it."""

from __future__ import annotations

import threading
from typing import Protocol


class Follower(Protocol):
    """Something that follows the changes of a map a bounded piece at a time."""

    def take_note(self) -> None:
        """Take note of all changes in the log."""

    def repair(self, most: int) -> int:
        """Catch up with at most this many changed cells, and return their number."""


class Turnstile:
    """Lets any number of threads read, or one write; those who read come after those who wait to write."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._readers = self._writers = 0
        self._reading, self._writing = _Reading(self), _Writing(self)

    def reading(self) -> _Reading:
        """Return a context in which writers are kept out."""
        return self._reading

    def writing(self) -> _Writing:
        """Return a context in which all others are kept out."""
        return self._writing

    def begin_reading(self) -> None:
        """Wait until nobody writes, or waits to write."""
        with self._free:
            while self._writers:
                self._free.wait()
            self._readers += 1

    def end_reading(self) -> None:
        """Let those in who wait to write."""
        with self._free:
            self._readers -= 1
            if self._writers:
                self._free.notify_all()

    def begin_writing(self) -> None:
        """Wait until nobody reads, and keep all others out."""
        self._free.acquire()
        self._writers += 1
        try:
            while self._readers:
                self._free.wait()
        except BaseException:  # interrupted: nobody may wait for this one
            self.end_writing()
            raise

    def end_writing(self) -> None:
        """Let those in who wait."""
        self._writers -= 1
        self._free.notify_all()
        self._free.release()


class _Reading:
    """What ``with turnstile.reading()`` enters: agents do so at every move, and a generator would take longer."""

    def __init__(self, gate: Turnstile) -> None:
        self._gate = gate

    def __enter__(self) -> None:
        self._gate.begin_reading()

    def __exit__(self, *failure: object) -> None:
        self._gate.end_reading()


class _Writing:
    """What ``with turnstile.writing()`` enters."""

    def __init__(self, gate: Turnstile) -> None:
        self._gate = gate

    def __enter__(self) -> None:
        self._gate.begin_writing()

    def __exit__(self, *failure: object) -> None:
        self._gate.end_writing()
