"""The Dask engine: workers of a cluster, or as many processes on this machine.

A worker that dies is replaced by its nanny, and the scheduler gives its jobs to others; rows are written by the process
that asked, so a job counts once however often it was begun.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from andante.campaign.plan import Job
from andante.campaign.tables import CampaignError
from andante.campaign.work import Result, perform

_PER_WORKER = 4  # jobs that each worker has waiting: enough to be busy, few enough to be in random order
_DEATHS = 10  # workers that may die of one job before it is held to be the cause
_REACH_SECONDS = 10


class Dask:
    """The workers of a scheduler, by its address; or ``workers`` processes on this machine."""

    def __init__(self, *, scheduler: str | None = None, workers: int | None = None) -> None:
        self._client = _client(scheduler, workers)
        self.title = scheduler or f"{workers} worker{'' if workers == 1 else 's'}"

    def run(self, jobs: Iterator[Job]) -> Iterator[list[Result]]:
        """The results of all jobs as they come."""
        from distributed import as_completed

        under_way = as_completed(with_results=True)
        try:
            self._feed(under_way, jobs, self._room())
            while under_way.count():
                batch = under_way.next_batch(block=True)
                self._feed(under_way, jobs, max(len(batch), self._room() - under_way.count()))
                yield [result for _, result in batch]
        except (OSError, TimeoutError) as error:
            raise _lost(self.title) from error
        except Exception as error:
            raise _explained(error, self.title) from error
        finally:
            self._client.close()
            if self._client.cluster is not None:
                self._client.cluster.close()

    def _room(self) -> int:
        return _PER_WORKER * max(1, int(sum(self._client.nthreads().values())))

    def _feed(self, under_way: Any, jobs: Iterator[Job], count: int) -> None:
        for _, job in zip(range(count), jobs, strict=False):
            under_way.add(self._client.submit(perform, job, pure=False, key=f"andante-job-{job.number}"))


def _client(scheduler: str | None, workers: int | None) -> Any:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise CampaignError(
            "the engine 'dask' needs Dask, which is not installed; pip install 'andante[cluster]'"
        ) from error
    dask.config.set({"distributed.scheduler.allowed-failures": _DEATHS})
    if scheduler is None:
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        )
        return Client(cluster)
    try:
        return Client(scheduler, timeout=_REACH_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise CampaignError(
            f"the scheduler {scheduler} cannot be reached within {_REACH_SECONDS} s; is it running, and is the address "
            "written as tcp://HOST:PORT? Nothing was run"
        ) from error


def _lost(title: str) -> CampaignError:
    return CampaignError(f"the connection to {title} was lost; what was finished is stored: resume the campaign")


def _explained(error: Exception, title: str) -> Exception:
    """A job's own error as it is, trouble of the cluster in one sentence."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return CampaignError(
            f"{_DEATHS} workers of {title} died of one job, perhaps for want of memory; what was finished is stored"
        )
    if "Cancelled" in type(error).__name__ or "CommClosed" in type(error).__name__:
        return _lost(title)
    return error
