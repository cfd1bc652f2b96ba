"""The cores of the machine that Andante runs on, and work on several threads."""

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
    """A part of the work with its number and result."""

    number: int
    part: P
    result: R


#: Results as they arrive.
Batches = Generator[list[Done[P, R]], None, None]


def on_threads(work: Callable[[P, threading.Event], R], parts: Iterable[P], threads: int) -> Batches[P, R]:
    """Yield what ``work`` returns for each part as it arrives, in one list if several results are ready.

    Kernels run without the GIL, so the threads run in parallel. Parts are taken only as they are needed. When the
    iterator is closed, a part fails or the user interrupts, the event passed to ``work`` is set. It should then return
    soon; all parts in progress are waited for and discarded. Close the iterator, for example with `contextlib.closing`,
    if an error may be raised while it is used.

    >>> sorted(done.result for batch in on_threads(lambda part, stop: 2 * part, [1, 2, 3], 2) for done in batch)
    [2, 4, 6]
    """
    threads = whole_number(threads, "threads", least=1, error=ParameterError)
    if isinstance(parts, Sized):
        threads = max(1, min(threads, len(parts)))  # more threads would have nothing to do
    return _run_on_threads(work, parts, threads)


def _run_on_threads(work: Callable[[P, threading.Event], R], parts: Iterable[P], threads: int) -> Batches[P, R]:
    news: SimpleQueue[Done[P, R] | BaseException | None] = SimpleQueue()  # None is sent by a thread that has ended
    stop, taking, numbered = threading.Event(), threading.Lock(), enumerate(parts)

    def crew_member() -> None:
        try:
            while not stop.is_set():
                with taking:
                    taken = next(numbered, None)
                if taken is None:
                    break
                news.put(Done(*taken, work(taken[1], stop)))
        except BaseException as error:  # of any kind; the consumer must get it
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
    """Yield all results that are ready, whenever there are any, until every thread has ended."""
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
