"""The local engine: threads in this process; kernels run without the GIL."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

from andante.campaign.plan import Job
from andante.campaign.work import Result, perform
from andante.errors import ParameterError, whole_number

_DONE = object()  # put by a thread that has found no more jobs


class Local:
    """A number of threads in this process."""

    def __init__(self, threads: int) -> None:
        self.threads = whole_number(threads, "threads", least=1, error=ParameterError)

    @property
    def title(self) -> str:
        """A short description, such as ``2 threads``."""
        return f"{self.threads} thread{'' if self.threads == 1 else 's'}"

    def run(self, jobs: Iterator[Job]) -> Iterator[list[Result]]:
        """Yield the results of all jobs as they arrive."""
        news: queue.SimpleQueue[object] = queue.SimpleQueue()
        stop = threading.Event()
        taking = threading.Lock()

        def work() -> None:
            try:
                while not stop.is_set():
                    with taking:
                        job = next(jobs, None)
                    if job is None:
                        break
                    news.put(perform(job, stop))
            except BaseException as error:  # whatever it is, the consumer must get it
                news.put(error)
            news.put(_DONE)

        crew = [threading.Thread(target=work, name=f"andante job {k}", daemon=True) for k in range(self.threads)]
        for one in crew:
            one.start()
        try:
            yield from _batches(news, self.threads)
        finally:
            stop.set()
            for one in crew:
                one.join()


def _batches(news: queue.SimpleQueue[object], threads: int) -> Iterator[list[Result]]:
    """Yield everything that is ready, whenever something is, until every thread is done."""
    running = threads
    while running:
        ready: list[Result] = []
        waiting = [news.get()]
        while not news.empty():
            waiting.append(news.get())
        failure: BaseException | None = None
        for one in waiting:
            if one is _DONE:
                running -= 1
            elif isinstance(one, BaseException):
                failure = failure or one
            elif isinstance(one, dict):
                ready.append(one)
        if ready:
            yield ready
        if failure is not None:
            raise failure
