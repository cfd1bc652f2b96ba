"""Running campaigns: they can be stopped at any moment and resumed without loss or double counting, on any engine."""

import multiprocessing
import os
import platform
import re
import signal
import sys
import threading
import time
from itertools import islice
from textwrap import dedent

import numpy as np
import polars
import pytest

import andante
from andante.campaign import CampaignError, Share, plan, plan_of, prepare, read_campaign, resume, run, status
from andante.campaign.compiling import compile_outfits
from andante.campaign.engines.local import Local
from andante.campaign.shelf import Shelf, in_cache
from andante.campaign.work import perform
from andante.episode.single import Agent
from andante.errors import AlgorithmError, MapError, ParameterError
from andante.offline import build
from andante.provenance import provenance
from andante.search.dijkstra import distances
from andante.store import Store, StoreError, check, merge
from andante.store import store as store_module
from tests.campaign.samples import ROOMS, TREES, decided


@pytest.fixture
def small_jobs(monkeypatch):
    """Small jobs, so that there are many."""
    monkeypatch.setattr(plan, "LEAST_TRIALS", 4)


class Some(Local):
    """An engine that stops after a number of jobs."""

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


def test_parts_together_make_the_whole_campaign(campaign, tmp_path, small_jobs):
    run(campaign, tmp_path / "whole", Local(2))
    shares = [Share(number, 4) for number in range(1, 5)]
    counts = [run(campaign, tmp_path / str(one.number), Local(1), part=one).jobs_finished for one in shares]
    stores = [Store(tmp_path / str(one.number)) for one in shares]
    found = [set(store.finished_jobs().tolist()) for store in stores]
    assert sum(counts) == len(set.union(*found)) == len(plan_of(stores[0]))  # each job is in one part
    assert max(counts) - min(counts) <= 2
    merged = merge(stores, tmp_path / "merged")
    assert status(merged).finished
    assert decided(merged).equals(decided(Store(tmp_path / "whole")))
    again = run(campaign, tmp_path / "2", Local(1), part=shares[1])
    assert again.jobs_finished == counts[1]  # all jobs of the part are finished


@pytest.mark.parametrize("count", [1, 2, 7, 500])
def test_every_job_is_in_one_part(campaign, tmp_path, small_jobs, count):
    _, whole = prepare(campaign, tmp_path / "rows")
    order = whole.order(1)
    parts = [Share(number, count).of_jobs(order, whole).tolist() for number in range(1, count + 1)]
    assert [number for part in parts for number in part] == order.tolist()


def test_jobs_without_trials_are_in_one_part_too():
    class Empty:
        def trials_of(self, number):
            return 0 if number >= 3 else 4

    order = np.arange(5)
    parts = [Share(number, 3).of_jobs(order, Empty()).tolist() for number in range(1, 4)]
    assert parts == [[0], [1], [2, 3, 4]]


@pytest.mark.parametrize("text", ["3", "0/4", "5/4", "a/4", "1/4/2", "-1/4", "1/99999999"])
def test_parts_that_do_not_exist(text):
    with pytest.raises(ParameterError, match="a part is written K/N with K from 1 to N"):
        Share.read(text)


def test_the_manifest_records_what_the_rows_were_made_with_and_when(campaign, tmp_path, small_jobs, monkeypatch):
    folder = tmp_path / "rows"
    days = iter(f"2026-11-{day}" for day in range(10, 30))
    monkeypatch.setattr(store_module, "today", lambda: next(days))
    run(campaign, folder, Some(3))
    (made,) = Store(folder).made_with
    first, *_, last = sorted([made.pop("first_day"), made.pop("last_day")])
    assert first == "2026-11-10" < last  # each batch was on a later day
    assert made == {**provenance(), "engine": "1 thread"}
    assert made["python"] == platform.python_version()
    assert made["numpy"] == np.__version__
    elsewhere = {**made, "processor": "another", "clean": False}
    monkeypatch.setattr(sys.modules[run.__module__], "provenance", lambda: elsewhere)
    run(campaign, folder, Some(1))
    run(campaign, folder, Some(1))
    here, there = Store(folder).made_with
    assert here == {**made, "first_day": first, "last_day": last}
    assert last < there["first_day"] < there["last_day"]
    monkeypatch.undo()
    run(campaign, tmp_path / "other", Local(2))
    both = merge([Store(tmp_path / "other"), Store(folder)], tmp_path / "both").made_with
    assert [one["engine"] for one in both] == ["2 threads", "1 thread", "1 thread"]
    assert both[1:] == [here, there]


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


def test_an_error_in_a_job_stops_the_campaign_and_keeps_finished_jobs(campaign, tmp_path, small_jobs, monkeypatch):
    def fail(job, stop=None):
        if job.number == 7:
            raise MapError("no such luck")
        return perform(job, stop)

    monkeypatch.setattr("andante.campaign.engines.local.perform", fail)
    with pytest.raises(MapError, match="no such luck"):
        run(campaign, tmp_path / "rows", Local(1))
    monkeypatch.undo()
    assert 7 not in Store(tmp_path / "rows").finished_jobs()


def test_an_error_in_a_trial_names_algorithm_and_map(campaign, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AlgorithmError("it failed")

    monkeypatch.setattr("andante.episode.single.Agent.run_all", fail)
    with pytest.raises(CampaignError, match=r"^(lrta\S*|rta) on rooms\S*: it failed$"):
        run(campaign, tmp_path / "rows", Local(1))


def test_rows_of_a_job_that_is_not_awaited_are_refused(campaign, tmp_path, small_jobs):
    class Twice(Local):
        """An engine that runs every job twice."""

        def run(self, jobs):
            for batch in super().run(jobs):
                yield batch
                yield batch

    with pytest.raises(CampaignError, match="rows of job .* arrived, which is not awaited"):
        run(campaign, tmp_path / "rows", Twice(1))
    assert run(campaign, tmp_path / "rows", Local(1)).finished
    assert check(Store(tmp_path / "rows")) == []


def test_a_stop_ends_a_convergence_between_two_trials(written, tmp_path, monkeypatch):
    path = written(replace={"limits = { suboptimality = 1000 }": "converge = true"})
    _, made = prepare(read_campaign(path), tmp_path / "rows")
    stop, walked, run_all = threading.Event(), [], Agent.run_all

    def watched(agent, problems, *args, **options):
        walked.append(options["paths"])
        if len(walked) == 3:
            stop.set()
        return run_all(agent, problems, *args, **options)

    monkeypatch.setattr(Agent, "run_all", watched)
    assert perform(made.job(0), stop) is None
    assert walked == [False] * 3


def test_the_division_into_jobs_is_kept(campaign, tmp_path, monkeypatch):
    folder = tmp_path / "rows"
    monkeypatch.setattr(plan, "LEAST_TRIALS", 4)
    _, begun = prepare(campaign, folder)
    monkeypatch.setattr(plan, "LEAST_TRIALS", 64)
    _, again = prepare(campaign, folder)
    assert len(again) == len(begun) == 45
    assert re.fullmatch(r"<Plan of \d+ tasks and \d+ problems on \d+ maps: \d+ trials in 45 jobs>", repr(again))
    assert [again.job(k).starts.tolist() for k in range(45)] == [begun.job(k).starts.tolist() for k in range(45)]


def test_a_campaign_without_trials_is_refused(written, tmp_path):
    grid = andante.Grid(andante.generate("rooms", 24, 24, seed=1).terrain, name="a")
    andante.write_map(grid, tmp_path / "a.map")
    andante.write_scenario(andante.random_problems(grid, 3, seed=1), tmp_path / "a.map.scen")
    text = """
        [problems.none]
        maps = ["a.map"]
        from = "scenarios"
        optimal_cost = [5000, 6000]
        [[run]]
        algorithms = ["rta"]
    """
    with pytest.raises(CampaignError, match="has no trials to run"):
        prepare(read_campaign(written(text)), tmp_path / "rows")


def test_stores_of_two_machines_merge_into_one_that_can_be_resumed(tmp_path):
    campaigns = []
    for machine in ("here", "there"):
        (tmp_path / machine / "maps").mkdir(parents=True)
        andante.write_map(andante.generate("rooms", 24, 24, seed=1), tmp_path / machine / "maps" / "a.map")
        path = tmp_path / machine / "campaign.toml"
        path.write_text(dedent(ROOMS).replace("rooms(width=24, height=24, seed=[1..3])", "maps/a.map"))
        campaigns.append(read_campaign(path))
    for one in campaigns:
        assert not run(one, one.path.with_suffix(".store"), Some(0)).finished
    run(campaigns[1], tmp_path / "there" / "campaign.store", Local(1))
    stores = [Store(one.path.with_suffix(".store")) for one in campaigns]
    merge(stores, tmp_path / "both")
    assert str(tmp_path) not in (tmp_path / "both" / "manifest.json").read_text()
    assert run(campaigns[0], tmp_path / "both", Local(1)).finished


def test_a_store_of_several_campaigns_has_no_status(written, tmp_path):
    campaigns = [read_campaign(written(replace={"seed = 1\n": f"seed = {seed}\n"})) for seed in (1, 2)]
    stores = [prepare(one, tmp_path / f"{k}")[0] for k, one in enumerate(campaigns)]
    with pytest.raises(CampaignError, match="is not the store of a single campaign"):
        status(merge(stores, tmp_path / "both"))


def test_rows_of_another_campaign_are_refused(written, tmp_path):
    few = {"full = 20": "full = 2", "[1..3]": "1", '"lrta(depth=[1, 3])", "rta"': '"rta"'}
    first = read_campaign(written(replace=few))
    run(first, tmp_path / "first", Local(1))
    for name, changes in (
        ("other limits, the same problems", {"suboptimality = 1000": "suboptimality = 900"}),
        ("other problems, the same limits", {"seed = 1\n": "seed = 2\n"}),
    ):
        folder = tmp_path / name
        store, made = prepare(read_campaign(written(replace=few | changes)), folder)
        for part in Store(tmp_path / "first").parts():
            store.adopt(part)
        with pytest.raises(StoreError, match="has rows of job 0 that are not in its plan"):
            resume(store, made, Local(1), 1)
    lost = tmp_path / "first" / "manifest.json"
    lost.rename(tmp_path / "kept.json")
    with pytest.raises(StoreError, match=r"contains rows but no manifest\.json"):
        prepare(first, tmp_path / "first")
    (tmp_path / "kept.json").rename(lost)
    assert run(first, tmp_path / "first", Local(1)).finished


def test_rows_of_a_job_that_the_plan_does_not_have_are_refused(written, tmp_path, small_jobs):
    many = read_campaign(written(replace={"full = 20": "full = 8", "[1..3]": "1"}))
    run(many, tmp_path / "many", Local(1))
    few, _ = prepare(read_campaign(written(replace={"full = 20": "full = 2", "[1..3]": "1"})), tmp_path / "few")
    for part in Store(tmp_path / "many").parts():
        few.adopt(part)
    with pytest.raises(StoreError, match="has rows of job 2 that are not in its plan"):
        status(few)


def _without(name):
    return lambda about, tables: about["plan"].pop(name)


@pytest.mark.parametrize(
    "damage",
    [
        _without("sets"),
        _without("conditions"),
        lambda about, tables: about["plan"]["tasks"].pop(),
        lambda about, tables: about["plan"]["tasks"].append(None),
        lambda about, tables: about["plan"]["tasks"][0].__setitem__(0, 99),
        lambda about, tables: about["plan"]["tasks"][0].__setitem__(0, 2**64),
        lambda about, tables: about["plan"]["tasks"][0].__setitem__(2, 7),
        lambda about, tables: about["plan"]["tasks"][0].__setitem__(4, -1),
        lambda about, tables: about["plan"]["sets"].__setitem__(0, None),
        lambda about, tables: about["plan"]["maps"].clear(),
        lambda about, tables: about["plan"]["maps"][0].__setitem__(0, 7),
        lambda about, tables: about["plan"]["maps"][0].__setitem__(1, [0.5, 9]),
        lambda about, tables: about["plan"]["conditions"][0].update(max_trials="1"),
        lambda about, tables: about["plan"]["conditions"][0].update(sight=0),
        lambda about, tables: about["plan"]["conditions"][0].update(
            databases=[{"text": 7, "version": "", "training": []}]
        ),
        lambda about, tables: about["plan"]["conditions"][0].pop("limits"),
        lambda about, tables: about["plan"]["conditions"][0]["limits"].update(patience=3),
        lambda about, tables: tables["jobs"].pop("end_task"),
        lambda about, tables: tables["jobs"]["end_problem"].__iadd__(10**6),
        lambda about, tables: tables["jobs"]["first_task"].__isub__(1),
        lambda about, tables: tables["problems"].update(start=tables["problems"]["start"] * 0.5),
        lambda about, tables: tables["problems"].update(extra=tables["problems"]["start"]),
    ],
)
def test_an_inconsistent_plan_is_reported_in_one_sentence(written, tmp_path, damage):
    store, made = prepare(read_campaign(written(replace={"full = 20": "full = 2", "[1..3]": "1"})), tmp_path / "rows")
    about = store.about
    tables = {name: {key: column.copy() for key, column in table.items()} for name, table in made.tables.items()}
    assert len(plan_of(Store.create(tmp_path / "same", about, tables))) == len(made)
    damage(about, tables)
    with pytest.raises(StoreError, match=r"^the plan of \S+ is damaged; restore"):
        plan_of(Store.create(tmp_path / "other", about, tables))


@pytest.mark.parametrize("lost", ["plan", "settings"])
def test_a_store_without_the_files_of_a_campaign_is_refused(campaign, tmp_path, lost):
    store, made = prepare(campaign, tmp_path / "rows")
    about = {name: value for name, value in store.about.items() if name != lost}
    Store.create(tmp_path / "other", about, made.tables)
    with pytest.raises(CampaignError, match="is not the store of a single campaign"):
        prepare(campaign, tmp_path / "other")


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
    with pytest.raises(CampaignError, match="the code of lrta, rta has changed since"):
        prepare(campaign, tmp_path / "rows")


def test_a_changed_builder_is_refused_when_resuming_and_by_a_worker(written, tmp_path, monkeypatch):
    monkeypatch.setattr("andante.campaign.shelf.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("andante.campaign.work._shelf", Shelf(in_cache))  # another test may have built the same
    changes = {'"lrta(depth=[1, 3])", "rta"': '"cpd"', "limits = { suboptimality = 1000 }": 'databases = ["moves"]'}
    campaign = read_campaign(written(replace=changes))
    _, made = prepare(campaign, tmp_path / "rows")
    monkeypatch.setattr("andante.campaign.orders.version_of_code", lambda function: "another")
    with pytest.raises(CampaignError, match="the code of moves has changed since"):
        prepare(campaign, tmp_path / "rows")
    with pytest.raises(
        CampaignError, match=r"^cpd on rooms\S*: this worker has different code for building moves than"
    ):
        perform(made.job(0))


def test_a_map_that_is_missing_or_has_changed_is_refused(written, tmp_path):
    andante.write_map(andante.generate("rooms", 24, 24, seed=1), tmp_path / "a.map")
    campaign = read_campaign(written(replace={"rooms(width=24, height=24, seed=[1..3])": "a.map"}))
    folder = tmp_path / "rows"
    prepare(campaign, folder)
    andante.write_map(andante.generate("rooms", 24, 24, seed=2), tmp_path / "a.map")
    with pytest.raises(CampaignError, match="has changed since the campaign was planned"):
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
    for name in ("first_move_states_expanded", "first_move_states_touched"):
        assert converged[name].to_list() == [getattr(process, name) for process in processes]
    assert converged["suboptimality_ratio"].to_list() == [1.0] * 5
    blind = frame.filter(frame["sight"] == 3).sort("problem")
    assert blind["cost"].to_list() == [trial.cost for trial in andante.run_many("lrta", problems, sight=3)]
    looked_up = frame.filter(frame["algorithm"] == "cpd")
    assert set(frame["training"]) == {""}
    assert (looked_up["database_bytes"] > 0).all()
    moves = build("moves", andante.generate("rooms", 16, 16, seed=1))
    assert set(looked_up["database_records"]) == {moves.records}
    assert set(looked_up["database_maps"]) == {moves.entries / 16**2}
    assert set(blind["database_maps"]) == {0.0}
    assert looked_up["suboptimality_ratio"].to_list() == [1.0] * 5
    assert list((tmp_path / "cache" / "databases").glob("*.db"))


def test_databases_for_any_map_are_built_once_and_from_training_maps(written, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    built = []

    def make(text, world, *, goals, **how):
        assert goals is None
        built.append((text, world))
        return build(text, world)

    monkeypatch.setattr("andante.campaign.shelf.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("andante.campaign.shelf.build", make)
    ids, trained = [], []
    for name, maps in (("one", "[7, 8]"), ("again", "[7, 8]"), ("other", "[7, 9]")):
        run(read_campaign(written(TREES, replace={"[7, 8]": maps})), tmp_path / name, Local(2))
        frame = Store(tmp_path / name).frame()
        ids.append(set(frame["id"]))
        trained.append(set(frame["training"]))
    assert [len(world) for _, world in built] == [2, 2]  # once for each choice of maps
    learned = {grid.fingerprint for _, world in built for grid in world}
    assert learned == {andante.generate("rooms", 24, 24, seed=seed).fingerprint for seed in (7, 8, 9)}
    assert ids[0] == ids[1]
    assert not ids[0] & ids[2]
    assert trained[0] == trained[1] == {"rooms-24x24-seed7; rooms-24x24-seed8"}
    assert trained[2] == {"rooms-24x24-seed7; rooms-24x24-seed9"}
    assert status(Store(tmp_path / "one")).finished


def test_databases_for_the_goals_of_the_problems(written, tmp_path, monkeypatch, small_jobs):
    """They are built once for each map, for any division into jobs, and agents move as with those for all goals."""
    built = []

    def make(text, worlds, *, goals, **how):
        (world,) = worlds
        built.append((text, world, goals))
        return build(text, world, goals=goals)

    monkeypatch.setattr("andante.campaign.shelf.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("andante.campaign.shelf.build", make)
    campaign = read_campaign(
        written("""
            [problems.rooms]
            maps = ["rooms(width=24, height=24, seed=[1, 2])"]
            count = 12
            [problems.others]
            maps = ["rooms(width=24, height=24, seed=1)"]
            count = 30
            seed = 5
            [[run]]
            problems = ["rooms"]
            algorithms = ["dlrta", "dlrta(loops=once)"]
            databases = ["pattern(level=0, goals=[all, asked])"]
            [[run]]
            problems = ["others"]
            algorithms = ["rta"]
        """)
    )
    run(campaign, tmp_path / "rows", Local(2))
    asked = [(world.fingerprint, goals.tolist()) for _, world, goals in built if goals is not None]
    problems = [andante.random_problems(andante.generate("rooms", 24, 24, seed=s), 12, seed=0) for s in (1, 2)]
    expected = [(some[0].grid.fingerprint, sorted({problem.goal for problem in some})) for some in problems]
    assert sorted(asked) == sorted(expected)
    frame = (
        Store(tmp_path / "rows").frame().filter(polars.col("algorithm") != "rta").sort("map", "algorithm", "problem")
    )
    some = frame.filter(polars.col("databases").str.contains("asked"))
    whole = frame.filter(~polars.col("databases").str.contains("asked"))
    assert len(some) == len(whole) == 48
    assert set(whole["databases_brief"]) == {"pattern(level=0)"}
    assert set(some["databases_brief"]) == {"pattern(level=0, goals=asked)"}
    for column in ("cost", "states_expanded", "moves"):
        assert some[column].to_list() == whole[column].to_list()
    assert (some["database_bytes"] < whole["database_bytes"]).all()
    compile_outfits([task.outfit for task in plan.Plan.of(campaign, lambda *_: None).tasks], lambda *_: None)


def test_the_name_of_a_training_map_has_no_effect(written, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setattr("andante.campaign.shelf.cache_folder", lambda: tmp_path / "cache")
    stores = []
    for name in ("here", "there"):
        andante.write_map(andante.generate("rooms", 24, 24, seed=7), tmp_path / f"{name}.map")
        path = written(TREES, replace={"rooms(width=24, height=24, seed=[7, 8])": f"{name}.map"})
        run(read_campaign(path), tmp_path / name, Local(1))
        stores.append(Store(tmp_path / name))
    assert [set(store.frame()["training"]) for store in stores] == [{"here"}, {"there"}]
    both = merge(stores, tmp_path / "both")
    assert len(both) == 6
    assert check(both) == []


def test_everything_that_jobs_will_run_is_compiled_before(written, tmp_path, monkeypatch):
    campaign = read_campaign(
        written("""
            [problems.rooms]
            maps = ["rooms:16x16:1"]
            count = 2
            [[run]]
            algorithms = ["lrta(depth=[1, 2])", "dlrta(depth_by=[fixed, oracle], goal_by=global)"]
            [[run]]
            algorithms = ["lrta"]
            sight = 3
            [[run]]
            algorithms = ["cpd"]
            databases = ["moves"]
        """)
    )
    compiled = []
    monkeypatch.setattr(Agent, "compile", lambda agent: compiled.append((agent.algorithm.card.name, agent.sight)))
    _, made = prepare(campaign, tmp_path / "rows")
    compile_outfits([task.outfit for task in made.tasks], lambda *_: None)
    assert sorted(compiled, key=str) == [("cpd", None), ("dlrta", None), ("dlrta", None), ("lrta", 3), ("lrta", None)]


def test_jobs_are_taken_in_random_order_and_all_of_them(campaign, tmp_path, small_jobs):
    _, made = prepare(campaign, tmp_path / "rows")
    order = made.order(1)
    assert sorted(order) == list(range(len(made)))
    assert not np.array_equal(order, np.arange(len(made)))
    assert np.array_equal(order, made.order(1))
    assert sum(made.trials_of(number) for number in order) == made.trials == 180


def test_batches_draw_new_problems_and_settings(written, tmp_path):
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
    with pytest.raises(CampaignError, match="have a total of 99, but only 60 exist"):
        prepare(read_campaign(written(text.replace("25", "99"))), tmp_path / "more")


# --- upscaled maps --------------------------------------------------------------------------------------------------

UPSCALED = """
    seed = 3
    [problems.large]
    maps = ["rooms:24x20:1"]
    count = 12
    optimal_cost = [10, 20]
    upscale = [64, 50]
    [[run]]
    algorithms = ["rta"]
"""


def cells_before(grid, states, width, height):
    """Return the cells of the original map that correspond to states of the upscaled one."""
    return [(x * width // grid.width, y * height // grid.height) for x, y in map(grid.cell, states.tolist())]


def test_problems_of_upscaled_maps_are_drawn_before_they_grow(written, tmp_path):
    _, made = prepare(read_campaign(written(UPSCALED)), tmp_path / "rows")
    [planned] = made.maps
    small, large = andante.generate("rooms", 24, 20, seed=1), planned.world()
    assert (planned.name, large.width, large.height) == ("rooms-24x20-seed1-64x50", 64, 50)
    drawn = andante.random_problems(small, 12, optimal_cost=(10, 20), seed=3)
    assert cells_before(large, made.problems["start"], 24, 20) == [small.cell(problem.start) for problem in drawn]
    assert cells_before(large, made.problems["goal"], 24, 20) == [small.cell(problem.goal) for problem in drawn]
    ends = zip(made.problems["start"].tolist(), made.problems["goal"].tolist(), strict=True)
    costs = [distances(large.graph, start)[goal] for start, goal in ends]
    assert made.problems["optimal_cost"] == pytest.approx(costs)
    assert min(costs) > 20


def test_scenarios_of_upscaled_maps_grow_with_them(written, tmp_path):
    small = andante.Grid(andante.generate("rooms", 24, 20, seed=1).terrain, name="small")
    problems = andante.random_problems(small, 40, seed=1)
    andante.write_map(small, tmp_path / "small.map")
    andante.write_scenario(problems, tmp_path / "small.map.scen")
    scenarios = {'"rooms:24x20:1"': '"small.map"', "count = 12": 'from = "scenarios"'}
    _, made = prepare(read_campaign(written(UPSCALED, replace=scenarios)), tmp_path / "rows")
    large = made.maps[0].world()
    inside = [problem for problem in problems if 10 <= problem.optimal_cost < 20]
    assert 0 < len(inside) < 40
    assert cells_before(large, made.problems["start"], 24, 20) == [small.cell(problem.start) for problem in inside]
    assert (made.problems["optimal_cost"] > 20).all()
    some = scenarios | {"count = 12": 'from = "scenarios"\n    total = 5'}
    _, fewer = prepare(read_campaign(written(UPSCALED, replace=some)), tmp_path / "fewer")
    assert set(fewer.problems["start"].tolist()) <= set(made.problems["start"].tolist())
    assert len(fewer.problems["start"]) == 5


def test_enlarged_native_maps_have_the_costs_of_the_papers(written, tmp_path, movingai):
    """Bulitko et al. (2008) enlarge problems of cost 90 to 100; Björnsson et al. (2009) have 230 to 320 at that size."""
    native = {
        '"rooms:24x20:1"': '"wc3native/[thecrucible, divideandconquer]"',
        "10, 20": "90, 100",
        "64, 50": "512, 512",
    }
    _, made = prepare(read_campaign(written(UPSCALED, replace=native)), tmp_path / "rows")
    assert [planned.name for planned in made.maps] == ["thecrucible-512x512", "divideandconquer-512x512"]
    assert made.problems["optimal_cost"].min() > 230
    assert made.problems["optimal_cost"].max() < 321
