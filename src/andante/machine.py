"""The machine that Andante runs on: its cores, and work on several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Sized
from queue import SimpleQueue
from typing import Generic, NamedTuple, TypeVar

from andante.errors import ParameterError, whole_number

P = TypeVar("P")
R = TypeVar("R")


def cores() -> int:
    """Return the number of cores this process may use, which can be fewer than the machine has.

    >>> 1 <= cores() <= os.cpu_count()
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Done(NamedTuple, Generic[P, R]):
    """A part of the work, its number, and what came of it."""

    number: int
    part: P
    result: R


#: Results as they arrive.
Batches = Generator[list[Done[P, R]], None, None]


def on_threads(work: Callable[[P, threading.Event], R], parts: Iterable[P], threads: int) -> Batches[P, R]:
    """Yield what ``work`` returns for each part, as it arrives; results that are ready together come in one list.

    Kernels run without the GIL, so the threads run at once. Parts are taken only as they are needed. When the iterator
    is closed, or a part fails, or the user interrupts, the event that ``work`` is given is set: it should return soon,
    and everything under way is waited for and discarded. Close the iterator, as with `contextlib.closing`, if anything
    may be raised while it is used.

    >>> sorted(done.result for batch in on_threads(lambda part, stop: 2 * part, [1, 2, 3], 2) for done in batch)
    [2, 4, 6]
    """
    threads = whole_number(threads, "threads", least=1, error=ParameterError)
    if isinstance(parts, Sized):
        threads = max(1, min(threads, len(parts)))  # more would be started only to find nothing to do
    return _run_on_threads(work, parts, threads)


def _run_on_threads(work: Callable[[P, threading.Event], R], parts: Iterable[P], threads: int) -> Batches[P, R]:
    news: SimpleQueue[Done[P, R] | BaseException | None] = SimpleQueue()  # None comes from a thread that has ended
    stop, taking, numbered = threading.Event(), threading.Lock(), enumerate(parts)

    def crew_member() -> None:
        try:
            while not stop.is_set():
                with taking:
                    taken = next(numbered, None)
                if taken is None:
                    break
                news.put(Done(*taken, work(taken[1], stop)))
        except BaseException as error:  # whatever it is, the consumer must get it
            news.put(error)
        news.put(None)

    crew = [threading.Thread(target=crew_member, name=f"andante {k}", daemon=True) for k in range(threads)]
    try:
        for one in crew:
            one.start()
        yield from _batches(news, threads)
    finally:
        stop.set()
        for one in crew:
            if one.ident is not None:  # it was started
                one.join()


def _batches(news: SimpleQueue[Done[P, R] | BaseException | None], running: int) -> Batches[P, R]:
    """Yield everything that is ready, whenever something is, until every thread has ended."""
    while running:
        waiting = [news.get()]
        while not news.empty():
            waiting.append(news.get())
        running -= waiting.count(None)
        if ready := [one for one in waiting if isinstance(one, Done)]:
            yield ready
        for one in waiting:
            if isinstance(one, BaseException):
                raise one
