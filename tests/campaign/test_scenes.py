"""Campaigns on maps that change."""

import math
import pickle
from itertools import islice

import pytest

import andante
from andante.campaign import CampaignError, plan, prepare, read_campaign, run, status
from andante.campaign.engines.local import Local
from andante.campaign.work import perform
from andante.datasets.scenes import make_scene
from andante.episode.run import Outfit
from andante.episode.scenewalk import replanned_costs, walk_units
from andante.report.results import Results
from andante.selection.matrix import MatrixError, from_store
from andante.store import Store, check
from andante.world.scenes import Change, NewGoal, Scene, write_scene
from tests.campaign.samples import SCENES, decided

LIMITS = andante.Limits(moves=1000)


def of(frame, grid, algorithm, pursuit=""):
    """Return the rows of one algorithm in the scene on one map, in the order of the units."""
    mine = (frame["map"] == grid.name) & (frame["algorithm"] == algorithm) & (frame["pursuit"] == pursuit)
    return frame.filter(mine).sort("unit")


def test_rows_of_scenes_are_self_contained_and_agree_with_walks(written, tmp_path):
    assert run(read_campaign(written(SCENES)), tmp_path / "rows", Local(2)).finished
    frame = Store(tmp_path / "rows").frame()
    assert len(frame) == 2 * 6 * 3
    grid = andante.generate("rooms", 24, 24, seed=2)
    scene = make_scene(grid, 6, "doors", changes_per_second=30, ticks=200, moving=0.5, targets="flee", seed=0)
    costs = replanned_costs(scene).tolist()
    for algorithm, pursuit in (("lrta", ""), ("lrta", "forgetting"), ("tba(budget=10)", "")):
        trials = walk_units(Outfit.of(algorithm), scene, range(6), LIMITS, forgets=bool(pursuit))
        rows = of(frame, grid, algorithm, pursuit)
        assert rows["cost"].to_list() == [trial.cost for trial in trials]
        assert rows["outcome"].to_list() == [trial.outcome.name for trial in trials]
        assert rows["states_expanded"].to_list() == [trial.states_expanded for trial in trials]
        assert rows["replanned_cost"].to_list() == costs
        assert rows["fingerprint"].unique().to_list() == [scene.fingerprint]
    assert [one.name for one in Results.of(Store(tmp_path / "rows")).summaries()] == [
        "lrta",
        "lrta, forgetting",
        "tba(budget=10)",
    ]


def test_scenes_that_were_stopped_are_resumed(written, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "LEAST_TRIALS", 4)
    campaign, folder = read_campaign(written(SCENES)), tmp_path / "rows"

    class Some(Local):
        def run(self, jobs):
            return super().run(islice(jobs, 3))

    first = run(campaign, folder, Some(1))
    assert first.jobs_finished == 3 < first.jobs
    run(campaign, folder, Local(2))
    assert status(Store(folder)).finished
    assert check(Store(folder)) == []
    run(campaign, tmp_path / "whole", Local(1))
    assert (
        decided(Store(folder))
        .sort("pursuit", maintain_order=True)
        .equals(decided(Store(tmp_path / "whole")).sort("pursuit", maintain_order=True))
    )


def test_jobs_of_scenes_can_be_sent_elsewhere(written, tmp_path):
    _, planned = prepare(read_campaign(written(SCENES)), tmp_path / "rows")
    job = planned.job(0)
    here, there = perform(job), perform(pickle.loads(pickle.dumps(job)))  # noqa: S301 (our own)
    assert here["cost"].tolist() == there["cost"].tolist()
    assert here["id"].tolist() == there["id"].tolist() == [one for task in job.tasks for one in job.ids(task)]


def test_scene_files_are_problems_and_equal_ends_are_different_units(written, tmp_path):
    grid = andante.generate("empty", 12, 12)
    ends, wall = ((0, 0), (9, 9)), Change(3, (5, 5), opened=False)
    scene = Scene(grid, [ends, ends], [wall, NewGoal(4, 1, (9, 0))])
    write_scene(scene, tmp_path / "two.scene")
    text = '[problems.mine]\nmaps = ["two.scene"]\n[[run]]\nalgorithms = ["astar"]'
    campaign = read_campaign(written(text))
    run(campaign, tmp_path / "rows", Local(1))
    frame = Store(tmp_path / "rows").frame().sort("unit")
    assert frame["id"].n_unique() == 2
    assert check(Store(tmp_path / "rows")) == []
    assert frame["cost"].to_list() == pytest.approx([7 * math.sqrt(2) + 4, 6 * math.sqrt(2) + 3])
    with pytest.raises(MatrixError, match="scenes"):
        from_store(tmp_path / "rows")
    write_scene(Scene(grid, [ends], [wall]), tmp_path / "two.scene")
    _, planned = prepare(campaign, tmp_path / "rows")
    with pytest.raises(CampaignError, match="has changed since"):
        planned.maps[0].scene()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("doors(", "floods(", "no kind of scene called 'floods'"),
        ("ticks=200", "tics=200", "has no option 'tics'"),
        ("moving=0.5", "moving=2", "a share from 0 to 1"),
        ("targets=flee", "targets=hide", "no kind of target called 'hide'"),
        ("count = 6", 'count = 6\nfrom = "random"', "do not accept 'from'"),
        ("count = 6", "", "need a 'count'"),
        ('"rooms(width=24, height=24, seed=[1..2])"', '"nowhere.scene"', "there is no scene"),
        ("forget_goals = true", "converge = true", "run once"),
        ("[[run]]", '[problems.still]\nmaps = ["empty:9x9"]\ncount = 2\n[[run]]', "in all sets or in none"),
    ],
)
def test_mistakes_in_campaigns_of_scenes_are_refused_with_their_line(written, old, new, sentence):
    path = written()
    text = "\n".join(line.strip() for line in SCENES.strip().splitlines())
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CampaignError, match=sentence):
        read_campaign(path)


def test_goals_of_maps_that_do_not_change_cannot_be_forgotten(written):
    with pytest.raises(CampaignError, match="forget_goals is for"):
        read_campaign(written(replace={"limits = {": "forget_goals = true\n    limits = {"}))
