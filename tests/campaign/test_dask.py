"""Campaigns on Dask: a real cluster on this machine, and a worker that is killed in the middle."""

import os
import signal

import pytest

from andante.campaign import CampaignError, plan, run
from andante.campaign.engines.local import Local
from andante.store import Store, check
from tests.campaign.samples import decided

pytest.importorskip("distributed")
pytestmark = pytest.mark.compiled  # processes that compile nothing start in a second or two


def test_a_killed_workers_jobs_run_again_and_results_are_the_same(campaign, tmp_path, monkeypatch):
    from andante.campaign.engines.dask import Dask

    monkeypatch.setattr(plan, "LEAST_TRIALS", 4)
    run(campaign, tmp_path / "local", Local(2))
    engine = Dask(workers=2)
    killed = []

    def kill_one(progress):
        if not killed and progress.jobs >= 5:
            killed.append(min(engine._client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    found = run(campaign, tmp_path / "dask", engine, progress=kill_one)
    assert killed
    assert found.finished
    assert check(Store(tmp_path / "dask")) == []
    assert decided(Store(tmp_path / "dask")).equals(decided(Store(tmp_path / "local")))


def test_the_workers_of_a_scheduler(campaign, tmp_path):
    from distributed import LocalCluster

    from andante.campaign.engines.dask import Dask

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        assert run(campaign, tmp_path / "rows", Dask(scheduler=cluster.scheduler_address)).finished


def test_a_scheduler_that_cannot_be_reached(monkeypatch):
    from andante.campaign.engines import dask

    monkeypatch.setattr(dask, "_REACH_SECONDS", 0.5)
    with pytest.raises(CampaignError, match="the scheduler tcp://127.0.0.1:9 cannot be reached"):
        dask.Dask(scheduler="tcp://127.0.0.1:9")
