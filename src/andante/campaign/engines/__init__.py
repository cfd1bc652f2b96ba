"""Engines: who does the jobs. The results are the same, whichever it is and however many take part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from andante.campaign.plan import Job
from andante.campaign.work import Result


class Engine(Protocol):
    """Does jobs, in any order and several at once."""

    @property
    def title(self) -> str:
        """What it is, in a few words: ``2 threads``."""
        ...

    def run(self, jobs: Iterator[Job]) -> Iterator[list[Result]]:
        """The results of all jobs as they come, those that are ready together in one list.

        Jobs are taken only as they are needed. When the iterator is closed, or anything fails, all that is under way is
        stopped and given up.
        """
        ...
