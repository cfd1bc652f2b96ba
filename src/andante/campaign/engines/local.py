"""The local engine: threads in this process; kernels run without the GIL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from andante.campaign.plan import Job
from andante.campaign.work import Result, perform
from andante.errors import ParameterError, whole_number
from andante.machine import on_threads


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
        with closing(on_threads(perform, jobs, self.threads)) as batches:
            for batch in batches:
                yield [done.result for done in batch if done.result is not None]
