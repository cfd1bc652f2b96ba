"""The Dask engine: the workers of a cluster, or processes on this machine.

A worker that dies is replaced by its nanny, and the scheduler gives its jobs to others. Rows are written by the process
that started the campaign, so a job counts once even if it was started several times.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from andante.campaign.plan import Job
from andante.campaign.work import Result, perform
from andante.errors import CampaignError

_PER_WORKER = 4  # jobs waiting per worker: enough to keep it busy, few enough to stay close to the random order
_DEATHS = 10  # workers of our own cluster that may die while running one job before the job counts as the cause
_REACH_SECONDS = 10


class Dask:
    """The workers of a scheduler, given by its address, or ``workers`` processes on this machine.

    They are started, or connected to, when there are jobs to run, and released afterwards.
    """

    def __init__(self, *, scheduler: str | None = None, workers: int | None = None) -> None:
        self._scheduler, self._workers = scheduler, workers
        self._token = uuid4().hex  # a scheduler may serve many campaigns, and treats equal names as the same job
        self.title = scheduler or f"{workers} worker{'' if workers == 1 else 's'}"

    def run(self, jobs: Iterator[Job]) -> Iterator[list[Result]]:
        """Yield the results of all jobs as they arrive."""
        with _client(self._scheduler, self._workers) as client:
            try:
                yield from self._results(client, jobs)
            except (OSError, TimeoutError) as error:
                raise _lost(self.title) from error
            except Exception as error:
                raise _explained(error, self.title) from error

    def _results(self, client: Any, jobs: Iterator[Job]) -> Iterator[list[Result]]:
        from distributed import as_completed

        under_way = as_completed(with_results=True)
        self._feed(client, under_way, jobs, _room(client))
        while under_way.count():
            batch = under_way.next_batch(block=True)
            self._feed(client, under_way, jobs, max(len(batch), _room(client) - under_way.count()))
            yield [result for _, result in batch]

    def _feed(self, client: Any, under_way: Any, jobs: Iterator[Job], count: int) -> None:
        for _, job in zip(range(count), jobs, strict=False):
            key = f"andante-{self._token}-{job.number}"
            under_way.add(client.submit(perform, job, pure=False, key=key))


def _room(client: Any) -> int:
    return _PER_WORKER * max(1, int(sum(client.nthreads().values())))


@contextmanager
def _client(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """Connect to a scheduler, or to a local cluster that ends with the connection."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise CampaignError(
            "the engine 'dask' needs Dask, which is not installed; pip install 'andante[cluster]'"
        ) from error
    if scheduler is None:
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": _DEATHS}),
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=_REACH_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise CampaignError(
            f"cannot reach the scheduler {scheduler} within {_REACH_SECONDS} s; check that it is running and that the "
            "address is written as tcp://HOST:PORT. Nothing was run"
        ) from error
    with client:
        yield client


def _lost(title: str) -> CampaignError:
    return CampaignError(f"the connection to {title} was lost; finished jobs are stored: resume the campaign")


def _explained(error: Exception, title: str) -> Exception:
    """Return a job's own error unchanged, and errors of the cluster as one sentence."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        number = str(error.task).rpartition("-")[2]
        return CampaignError(
            f"several workers of {title} died while running job {number}, perhaps for lack of memory; finished jobs "
            "are stored"
        )
    if "Cancelled" in type(error).__name__ or "CommClosed" in type(error).__name__:
        return _lost(title)
    return error
