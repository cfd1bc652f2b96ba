"""Campaigns on Dask: a real cluster on this machine, and a worker that is killed while it runs a job."""

import os
import signal
from itertools import chain

import pytest

from andante.campaign import CampaignError, plan, read_campaign, run
from andante.campaign.engines.local import Local
from andante.campaign.work import perform
from andante.store import Store, check
from tests.campaign.samples import decided

pytest.importorskip("distributed")
pytestmark = pytest.mark.compiled  # processes that compile nothing start in a second or two


def test_a_killed_workers_jobs_run_again_and_results_are_the_same(campaign, tmp_path, monkeypatch):
    from distributed import default_client

    from andante.campaign.engines.dask import Dask

    monkeypatch.setattr(plan, "LEAST_TRIALS", 4)
    run(campaign, tmp_path / "local", Local(2))
    killed = []

    def kill_one(progress):
        if not killed and progress.jobs >= 5:
            killed.append(min(default_client().run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    found = run(campaign, tmp_path / "dask", Dask(workers=2), progress=kill_one)
    assert killed
    assert found.finished
    assert check(Store(tmp_path / "dask")) == []
    assert decided(Store(tmp_path / "dask")).equals(decided(Store(tmp_path / "local")))


def test_two_campaigns_on_one_scheduler_do_not_get_each_others_rows(campaign, written):
    from distributed import LocalCluster

    from andante.campaign.engines.dask import Dask

    other = read_campaign(written(replace={"seed = 1\n": "seed = 2\n"}))
    plans = [plan.Plan.of(one, lambda *_: None) for one in (campaign, other)]
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        results = [Dask(scheduler=address).run(map(made.job, range(len(made)))) for made in plans]
        begun = [next(each) for each in results]  # both are under way
        found = [[*some, *chain.from_iterable(each)] for some, each in zip(begun, results, strict=True)]
    for made, parts in zip(plans, found, strict=True):
        ours = [perform(made.job(number)) for number in range(len(made))]
        assert _ids(parts) == _ids(ours)


def _ids(parts):
    return sorted(chain.from_iterable(part["id"].tolist() for part in parts))


def test_a_scheduler_that_cannot_be_reached(monkeypatch):
    from andante.campaign.engines import dask

    monkeypatch.setattr(dask, "_REACH_SECONDS", 0.5)
    with pytest.raises(CampaignError, match="cannot reach the scheduler tcp://127.0.0.1:9"):
        list(dask.Dask(scheduler="tcp://127.0.0.1:9").run(iter([])))


def test_nothing_is_started_for_a_campaign_that_is_finished(campaign, tmp_path):
    from andante.campaign.engines.dask import Dask

    run(campaign, tmp_path / "rows", Local(1))
    assert run(campaign, tmp_path / "rows", Dask(scheduler="tcp://127.0.0.1:9")).finished
