"""Followers, which catch up with a changing map piece by piece, and a lock between them and the agents that read."""

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
    """A lock that any number of threads can hold for reading, or one for writing; waiting writers come first."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._readers = self._writers = 0
        self._reading, self._writing = _Reading(self), _Writing(self)

    def reading(self) -> _Reading:
        """Return a context in which writers are kept out."""
        return self._reading

    def writing(self) -> _Writing:
        """Return a context in which all other readers and writers are kept out."""
        return self._writing

    def begin_reading(self) -> None:
        """Wait until no thread is writing or waiting to write."""
        with self._free:
            while self._writers:
                self._free.wait()
            self._readers += 1

    def end_reading(self) -> None:
        """Let waiting writers in."""
        with self._free:
            self._readers -= 1
            if self._writers:
                self._free.notify_all()

    def begin_writing(self) -> None:
        """Wait until no thread is reading, and keep all others out."""
        self._free.acquire()
        self._writers += 1
        try:
            while self._readers:
                self._free.wait()
        except BaseException:  # interrupted: other threads must not wait for this one
            self.end_writing()
            raise

    def end_writing(self) -> None:
        """Let waiting threads in."""
        self._writers -= 1
        self._free.notify_all()
        self._free.release()


class _Reading:
    """The context of ``with turnstile.reading()``; agents enter it at every move, and a generator would be slower."""

    def __init__(self, gate: Turnstile) -> None:
        self._gate = gate

    def __enter__(self) -> None:
        self._gate.begin_reading()

    def __exit__(self, *failure: object) -> None:
        self._gate.end_reading()


class _Writing:
    """The context of ``with turnstile.writing()``."""

    def __init__(self, gate: Turnstile) -> None:
        self._gate = gate

    def __enter__(self) -> None:
        self._gate.begin_writing()

    def __exit__(self, *failure: object) -> None:
        self._gate.end_writing()
