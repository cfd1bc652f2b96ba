"""Running campaigns: stopped at any instant they go on with nothing lost or counted twice, on any engine alike."""

import multiprocessing
import os
import signal
import time
from itertools import islice

import numpy as np
import pytest

import andante
from andante.campaign import CampaignError, plan, prepare, read_campaign, resume, run, status
from andante.campaign.engines.local import Local
from andante.campaign.work import perform
from andante.errors import MapError
from andante.store import Store, check
from tests.campaign.samples import decided


@pytest.fixture
def small_jobs(monkeypatch):
    """Jobs of few trials, so that there are many."""
    monkeypatch.setattr(plan, "LEAST_TRIALS", 4)


class Some(Local):
    """Stops after so many jobs."""

    def __init__(self, count):
        super().__init__(1)
        self.count = count

    def run(self, jobs):
        return super().run(islice(jobs, self.count))


def test_rows_are_those_of_run_many(campaign, tmp_path):
    assert run(campaign, tmp_path / "rows", Local(2)).finished
    frame = Store(tmp_path / "rows").frame()
    assert len(frame) == 3 * 20 * 3
    grid = andante.generate("rooms", 24, 24, seed=2)
    problems = andante.random_problems(grid, 20, seed=1)
    trials = andante.run_many("lrta(depth=3)", problems, limits=andante.Limits(suboptimality=1000))
    ours = frame.filter((frame["map"] == grid.name) & (frame["algorithm"] == "lrta(depth=3)")).sort("problem")
    assert ours["cost"].to_list() == [trial.cost for trial in trials]
    assert ours["states_expanded"].to_list() == [trial.states_expanded for trial in trials]


def test_the_number_of_threads_and_the_size_of_jobs_change_nothing(campaign, tmp_path, monkeypatch):
    run(campaign, tmp_path / "one", Local(1))
    monkeypatch.setattr(plan, "LEAST_TRIALS", 7)
    run(campaign, tmp_path / "three", Local(3))
    assert decided(Store(tmp_path / "one")).equals(decided(Store(tmp_path / "three")))


def test_stopped_and_resumed_nothing_is_lost_or_run_twice(campaign, tmp_path, small_jobs):
    folder, seen = tmp_path / "rows", []
    first = run(campaign, folder, Some(5))
    assert first.jobs_finished == 5 < first.jobs
    run(campaign, folder, Local(2), progress=seen.append)
    assert seen[-1].jobs == first.jobs - first.jobs_finished
    assert status(Store(folder)).finished
    run(campaign, tmp_path / "whole", Local(2))
    assert decided(Store(folder)).equals(decided(Store(tmp_path / "whole")))


def _run(path, folder):
    plan.LEAST_TRIALS = 4
    run(read_campaign(path), folder, Local(2), progress=lambda _: time.sleep(0.05))


def test_killed_and_resumed_nothing_is_lost_or_counted_twice(campaign, tmp_path, small_jobs):
    folder = tmp_path / "rows"
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(campaign.path, folder))
    process.start()
    while not Store.exists(folder) or not Store(folder).parts():
        time.sleep(0.05)
        assert process.is_alive()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    before = status(Store(folder))
    assert 0 < before.jobs_finished < before.jobs
    run(campaign, folder, Local(2))
    assert check(Store(folder)) == []
    run(campaign, tmp_path / "whole", Local(2))
    assert decided(Store(folder)).equals(decided(Store(tmp_path / "whole")))


def test_an_error_in_a_job_stops_the_campaign_and_keeps_what_was_done(campaign, tmp_path, small_jobs, monkeypatch):
    def fail(job, stop=None):
        if job.number == 7:
            raise MapError("no such luck")
        return perform(job, stop)

    monkeypatch.setattr("andante.campaign.engines.local.perform", fail)
    with pytest.raises(MapError, match="no such luck"):
        run(campaign, tmp_path / "rows", Local(1))
    monkeypatch.undo()
    assert 7 not in Store(tmp_path / "rows").finished_jobs()


def test_a_changed_campaign_is_refused_and_the_change_is_named(written, tmp_path):
    folder = tmp_path / "rows"
    prepare(read_campaign(written()), folder)
    changed = read_campaign(
        written(replace={"suboptimality = 1000": "suboptimality = 100", "seed = 1\n": "seed = 2\n"})
    )
    with pytest.raises(CampaignError) as refusal:
        prepare(changed, folder)
    assert "seed was 1 and is 2" in str(refusal.value)
    prepare(read_campaign(written(replace={"Lookahead": "Another title"})), folder)


def test_changed_code_is_refused(campaign, tmp_path, monkeypatch):
    prepare(campaign, tmp_path / "rows")
    monkeypatch.setattr(plan, "version_of", lambda entry: f"another {entry.card.name}")
    with pytest.raises(CampaignError, match="the code of lrta, rta is not what"):
        prepare(campaign, tmp_path / "rows")


def test_a_map_that_is_gone_or_another_is_refused(written, tmp_path):
    andante.write_map(andante.generate("rooms", 24, 24, seed=1), tmp_path / "a.map")
    campaign = read_campaign(written(replace={"rooms(width=24, height=24, seed=[1..3])": "a.map"}))
    folder = tmp_path / "rows"
    prepare(campaign, folder)
    andante.write_map(andante.generate("rooms", 24, 24, seed=2), tmp_path / "a.map")
    with pytest.raises(CampaignError, match="is not the one that the campaign was planned with"):
        run(campaign, folder, Local(1))
    (tmp_path / "a.map").unlink()
    with pytest.raises(MapError, match=r"a\.map"):
        resume(*prepare(campaign, folder), Local(1), 1)


def test_convergence_sight_and_databases(written, tmp_path, monkeypatch):
    monkeypatch.setattr("andante.campaign.shelf.cache_folder", lambda: tmp_path / "cache")
    campaign = read_campaign(
        written("""
            [problems.rooms]
            maps = ["rooms:16x16:1"]
            count = 5
            [[run]]
            algorithms = ["lrta"]
            converge = true
            [[run]]
            algorithms = ["lrta"]
            sight = 3
            [[run]]
            algorithms = ["cpd"]
            databases = ["moves"]
        """)
    )
    run(campaign, tmp_path / "rows", Local(2))
    frame = Store(tmp_path / "rows").frame()
    problems = andante.random_problems(andante.generate("rooms", 16, 16, seed=1), 5, seed=0)
    converged = frame.filter(frame["max_trials"] > 1).sort("problem")
    processes = andante.converge_many("lrta", problems)
    assert converged["cost"].to_list() == [process.travel for process in processes]
    assert converged["trials"].to_list() == [len(process.trials) for process in processes]
    assert converged["suboptimality_ratio"].to_list() == [1.0] * 5
    blind = frame.filter(frame["sight"] == 3).sort("problem")
    assert blind["cost"].to_list() == [trial.cost for trial in andante.run_many("lrta", problems, sight=3)]
    looked_up = frame.filter(frame["algorithm"] == "cpd")
    assert (looked_up["database_bytes"] > 0).all()
    assert looked_up["suboptimality_ratio"].to_list() == [1.0] * 5
    assert list((tmp_path / "cache" / "databases").glob("*.db"))


def test_jobs_are_taken_in_random_order_and_all_of_them(campaign, tmp_path, small_jobs):
    _, made = prepare(campaign, tmp_path / "rows")
    order = made.order(1)
    assert sorted(order) == list(range(len(made)))
    assert not np.array_equal(order, np.arange(len(made)))
    assert np.array_equal(order, made.order(1))
    assert sum(made.trials_of(number) for number in order) == made.trials == 180


def test_batches_draw_problems_and_settings_anew(written, tmp_path):
    campaign = read_campaign(
        written("""
            [problems.rooms]
            maps = ["rooms:24x24:1"]
            count = 10
            [[run]]
            sample = { of = "family", count = 2 }
            batches = 3
            limits = { suboptimality = 100 }
        """)
    )
    _, made = prepare(campaign, tmp_path / "rows")
    assert len({task.settings for task in made.tasks}) == 6
    assert made.problems["problem"].tolist() == list(range(30))
    assert len(set(zip(made.problems["start"].tolist(), made.problems["goal"].tolist(), strict=True))) > 20


def test_a_total_is_drawn_from_the_scenarios_of_all_maps(written, tmp_path):
    for seed in (1, 2):
        grid = andante.Grid(andante.generate("rooms", 24, 24, seed=seed).terrain, name=str(seed))
        andante.write_map(grid, tmp_path / f"{seed}.map")
        andante.write_scenario(andante.random_problems(grid, 30, seed=seed), tmp_path / f"{seed}.map.scen")
    text = """
        [problems.some]
        maps = ["[1, 2].map"]
        from = "scenarios"
        total = 25
        [[run]]
        algorithms = ["rta"]
    """
    _, made = prepare(read_campaign(written(text)), tmp_path / "rows")
    assert len(made.problems["start"]) == 25
    assert set(made.problems["map"].tolist()) == {0, 1}
    with pytest.raises(CampaignError, match="have a total of 99, but there are 60"):
        prepare(read_campaign(written(text.replace("25", "99"))), tmp_path / "more")
