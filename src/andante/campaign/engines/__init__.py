"""Engines, which run the jobs. The results do not depend on the engine or on the number of its workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from andante.campaign.plan import Job
from andante.campaign.work import Result


class Engine(Protocol):
    """Something that runs jobs, in any order and several at once."""

    @property
    def title(self) -> str:
        """A short description, such as ``2 threads``."""
        ...

    def run(self, jobs: Iterator[Job]) -> Iterator[list[Result]]:
        """Yield the results of all jobs as they arrive, in one list if several are ready.

        Jobs are taken only as they are needed. When the iterator is closed, or anything fails, all running jobs are
        stopped and discarded.
        """
        ...
