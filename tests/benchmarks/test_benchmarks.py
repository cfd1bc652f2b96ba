"""The code of the benchmarks, on a map so small that speed does not matter. Nothing is timed here."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import andante
from andante.campaign import plan
from benchmarks import cluster, cold, comparison, crowds, exported, fixed_costs, peers, targets, ticks, worker
from benchmarks.floor import Floor, NoFloorError, Run
from benchmarks.moves import SQRT2, Arcs, judge, legal_steps
from benchmarks.problems import ProblemSet, on_map
from benchmarks.tables import Table
from benchmarks.worker import Result

ROOT = Path(__file__).parents[2]
ALWAYS_HERE = ("networkx", "scipy")  # two peers that are installed for tests


@pytest.fixture(scope="module")
def small() -> ProblemSet:
    """Ten problems across a wall with one gap."""
    passable = np.ones((12, 16), bool)
    passable[:9, 8] = False
    return on_map("small", passable, [((x, 0), (15 - x, 1)) for x in range(5)] + [((x, 11), (15, x)) for x in range(5)])


class TestReferee:
    legal = legal_steps(np.array([[1, 1, 0], [1, 1, 1], [1, 1, 1]], bool))

    def test_a_legal_path_costs_its_length(self) -> None:
        verdict = judge(self.legal, [(0, 0), (1, 1), (2, 1)], (0, 0), (2, 1))
        assert verdict[:2] == (True, 0)
        assert verdict.cost == pytest.approx(1 + SQRT2)

    def test_a_corner_may_not_be_cut(self) -> None:
        assert judge(self.legal, [(1, 0), (2, 1)], (1, 0), (2, 1)).illegal == 1

    @pytest.mark.parametrize(
        "path", [[(0, 0), (0, 2)], [(0, 0), (0, 0), (0, 1), (0, 2)], [(0, 0), (1, 0), (2, 0), (0, 2)]]
    )
    def test_leaps_rests_and_walls_are_illegal(self, path: list[tuple[int, int]]) -> None:
        assert judge(self.legal, path, (0, 0), (0, 2)).illegal > 0

    @pytest.mark.parametrize("path", [[], [(0, 0)], [(0, 1), (0, 2)]])
    def test_a_path_leads_from_start_to_goal(self, path: list[tuple[int, int]]) -> None:
        assert not judge(self.legal, path, (0, 0), (0, 2)).arrives

    def test_an_empty_map_has_every_move_once_each_way(self) -> None:
        arcs = Arcs.of(np.ones((3, 4), bool))
        assert len(arcs.cost) == 2 * len(arcs.edges()) == 2 * (17 + 12)  # 8 + 9 straight, 12 diagonal


class TestProblems:
    def test_answers_are_the_octile_distance_where_nothing_is_in_the_way(self) -> None:
        found = on_map("empty", np.ones((9, 9), bool), [((0, 0), (8, 3))])
        assert found.optimal[0] == pytest.approx(5 + 3 * SQRT2)
        assert found.field[0, 3, 8] == pytest.approx(found.optimal[0])

    def test_one_step_problems_are_one_legal_step(self, small: ProblemSet) -> None:
        legal = legal_steps(small.passable)
        assert all(judge(legal, pair, *pair)[:2] == (True, 0) for pair in small.one_step_pairs())

    def test_a_worker_reads_what_was_saved(self, small: ProblemSet, tmp_path: Path) -> None:
        small.save(tmp_path / "small.npz")
        found = ProblemSet.load(tmp_path / "small.npz")
        assert (found.name, found.pairs()) == ("small", small.pairs())
        assert np.array_equal(found.field, small.field)


class TestWorker:
    @pytest.mark.parametrize("name", ALWAYS_HERE)
    def test_a_peer_solves_everything(self, name: str, small: ProblemSet) -> None:
        result = worker.measure(peers.find(name), small, budget=5.0)
        assert (result.fault, result.lost, result.illegal, len(result.seconds)) == ("", 0, 0, len(small))
        assert max(result.worst, result.worst_field) < 1e-9

    def test_out_of_time_it_reports_how_far_it_got(self, small: ProblemSet) -> None:
        assert len(worker.measure(peers.find("scipy"), small, budget=0.0).seconds) == 1

    def test_wrong_answers_are_found(self, small: ProblemSet) -> None:
        straight = replace(
            peers.find("scipy"), solve=lambda handle, start, goal: [start, goal], cells=lambda handle, path: path
        )
        result = worker.measure(straight, small, budget=5.0)
        assert result.illegal > 0
        assert result.worst > 0.01

    def test_a_failing_peer_is_a_result(self, small: ProblemSet) -> None:
        def fail(passable: object) -> None:
            raise RuntimeError("out of order")

        assert (
            worker.measure(replace(peers.find("scipy"), prepare=fail), small, 5.0).fault == "RuntimeError: out of order"
        )


class TestComparison:
    def test_each_peer_runs_in_a_separate_process(self, small: ProblemSet, tmp_path: Path) -> None:
        small.save(tmp_path / "small.npz")
        results = comparison.compare(ALWAYS_HERE, [tmp_path / "small.npz"], budget=60.0)
        table = comparison.paths_table(results)
        assert [row[2] for row in table.rows] == ["10 x 3"] * 3
        assert [row[-1] for row in table.rows] == ["optimal"] * 3
        assert {row[-1] for row in comparison.fields_table(results).rows} == {"right"}

    def test_a_peer_that_is_not_installed_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(comparison, "version", lambda package: None)
        missing = comparison.ask("w9_pathfinding", Path("any.npz"), 1.0)
        assert missing.fault == "not installed: pip install 'andante[bench-source]'"
        table = comparison.paths_table({"andante": [Result(seconds=[1.0])], "w9_pathfinding": [missing]})
        assert table.rows[-1][0].startswith("w9-pathfinding")
        assert table.rows[-1][-1] == missing.fault

    def test_a_crash_and_a_timeout_are_reported(self, tmp_path: Path) -> None:
        assert "FileNotFoundError" in comparison.ask("scipy", tmp_path / "absent.npz", 1.0).fault
        assert comparison.ask("scipy", tmp_path / "absent.npz", 1.0, patience=0.01).fault == "no answer within 0.01 s"

    def test_ratios_are_over_the_problems_that_both_solved(self) -> None:
        results = {"andante": [Result(seconds=[1.0, 2.0, 50.0])], "scipy": [Result(seconds=[2.0, 4.0])]}
        table = comparison.paths_table(results)
        assert [row[5] for row in table.rows] == ["1.00", "2.00"]
        assert table.notes[-1].endswith("takes 2.00 times as long: kept.")

    def test_illegal_paths_are_marked(self) -> None:
        broken = Result(seconds=[1.0], illegal=1, worst=0.1)
        results = {"andante": [Result(seconds=[1.0])], "scipy": [broken], "skimage": [broken]}
        last = {row[0].split()[0]: row[-1] for row in comparison.paths_table(results).rows}
        assert last["scipy"].startswith("WRONG: 1 illegal")
        assert last["scikit-image"].startswith("cuts corners: 1 illegal")


class _SteadyFloor(Floor):
    """A floor that needs a nanosecond for everything."""

    def run(self, map_file: Path, scenario: Path, algorithm: str) -> Run:
        assert map_file.exists()
        assert scenario.exists()
        return Run(1e-9, 0.0, expanded=1, moves=1, plans=1, costs=[1.0] * 10)


def test_agents_that_exceed_the_limits_outside_python_are_named():
    one = exported.Exported("lrta", 50e-9, 54e-9, 130e-9, 51_000, 39_000)
    two = exported.Exported("tba", 2e-6, None, 4e-6, 183_000, 72_000)  # no compiler for C
    table = exported.table([one, two])
    assert table.rows == [["lrta", "50", "1.08", "2.60", "51", "39"], ["tba", "2,000", "", "2.00", "183", "72"]]
    assert table.notes == [
        "C: at most 1.1; none above.",
        "WebAssembly: at most 2.5; lrta above.",
        "Libraries: at most 100 KB, and 300 KB for prlrts; tba above.",
    ]


def test_a_stopped_measurement_of_exports_continues(tmp_path, monkeypatch):
    measured = []

    def measure(algorithm, problems, databases):
        measured.append(algorithm)
        if algorithm == "tba" and measured.count("tba") == 1:
            raise KeyboardInterrupt
        return exported.Exported(algorithm, 50e-9, 54e-9, None, 51_000, None)

    monkeypatch.setattr(exported, "measure", measure)
    words = ["lrta", "tba", "--map", "empty:8x8", "--problems", "2"]
    words += ["--out", str(tmp_path / "table.md"), "--log", str(tmp_path / "log")]
    with pytest.raises(KeyboardInterrupt):
        exported.main(words)
    exported.main(words)
    assert measured == ["lrta", "tba", "tba"]
    assert (tmp_path / "table.md").read_text().count("| 1.08 |") == 2
    exported.main([*words[:4], "--problems", "3", *words[6:]])  # other problems are measured separately
    assert measured[3:] == ["lrta", "tba"]


class TestFloor:
    def test_a_missing_floor_is_explained(self, tmp_path: Path) -> None:
        with pytest.raises(NoFloorError, match="not on this machine"):
            Floor.compiled(tmp_path, tmp_path / "floor.cpp")

    @pytest.mark.parametrize("target", targets.TARGETS, ids=lambda target: target.name)
    def test_every_target_can_be_measured(self, target: targets.Target, small: ProblemSet, tmp_path: Path) -> None:
        files = [targets.Files.write(small, tmp_path)]
        found = targets.measure(target, _SteadyFloor(tmp_path), files, rounds=1)
        assert math.isfinite(found.ratios[0])
        assert targets.table([found], ["small"]).rows[0][0] == target.name


def test_every_peer_is_an_extra_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: " ".join(wanted) for name, wanted in project["optional-dependencies"].items()}
    known = {extra: f"{extras[extra]} {extras['graphs']} {' '.join(project['dependencies'])}" for extra in extras}
    assert [
        name
        for name in peers.names()
        if name != "andante" and peers.find(name).package not in known[peers.find(name).extra]
    ] == []


@pytest.mark.compiled
@pytest.mark.parametrize("chained", [False, True])
def test_the_floor_of_cold_units_reads_lines(chained: bool) -> None:
    assert cold.lines_ns(70, 1, chained=chained) > 0


def test_a_table_as_markdown() -> None:
    table = Table("Title", ["what", "how much"], [["a", "1"]], notes=["A note."])
    assert table.markdown() == "## Title\n\n| what | how much |\n| --- | --: |\n| a | 1 |\n\nA note."


class TestCrowds:
    grid = andante.generate("rooms", 24, 24, seed=1)

    def test_all_are_measured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(crowds, "ROUNDS", 1)
        monkeypatch.setattr(crowds, "UNITS", 30)
        monkeypatch.setattr(crowds, "BODIES", 40)
        assert crowds.units_per_millisecond("lrta", self.grid) > 0
        assert crowds.speedup("lrta", self.grid) > 0
        assert crowds.body_seconds("lrta", self.grid) > 0
        assert crowds.add_seconds("lrta", self.grid) >= 0
        assert crowds.memory_bytes("lrta", self.grid) > 0
        monkeypatch.setattr(crowds, "MINDS", 30)
        assert crowds.mind_bytes("lrta", self.grid) > 0
        monkeypatch.setattr(crowds, "SHARERS", 10)
        assert crowds.moves_saved("lrta", self.grid) > 0

    def test_every_tick_is_in_the_histogram(self) -> None:
        took, _ = ticks.measure("lrta", self.grid, units=30, ticks=40, microseconds=1000.0)
        table = ticks.histogram(took, 1000.0)
        assert sum(int(row[1]) for row in table.rows) == len(took) == 40

    @pytest.mark.parametrize("took", [[1990.0, 2010.0, 9000.0], [9000.0, 9000.0], [10.0]])
    def test_the_histogram_is_drawn(self, took: list[float], tmp_path: Path) -> None:
        ticks.draw(np.array(took), 2000.0, tmp_path / "ticks.svg")
        assert "with a budget of 2000 us" in (tmp_path / "ticks.svg").read_text()

    def test_the_histogram_reports_the_share_of_ticks_in_time(self) -> None:
        table = ticks.histogram(np.array([1990.0, 2010.0, 2199.0, 9000.0]), 2000.0)
        found = {row[0]: row[1] for row in table.rows if row[1] != "0"}
        assert found == {"1,800 to 2,000": "1", "2,000 to 2,020": "1", "2,100 to 2,200": "1", "4,000 to 10,000": "1"}
        assert table.notes[0].startswith("75.00 % of the ticks lasted at most 2,200 us")

    @pytest.mark.parametrize(("measured", "at_least", "kept"), [(3, True, False), (5, True, True), (3, False, True)])
    def test_limits_from_below(self, measured: float, at_least: bool, kept: bool) -> None:
        cost = fixed_costs.FixedCost("x", measured, 4, "units/ms", at_least)
        assert cost.kept == kept
        assert fixed_costs.table([cost]).rows[0][2:] == [f"{'at least ' * at_least}4 units/ms", "yes" if kept else "NO"]


def test_a_large_campaign_is_extrapolated_from_processor_time() -> None:
    found = cluster.Throughput(
        2, 7200, 10, wall=100.0, worker=36.0, scheduler=0.36, client=0.18, others=50.0, bytes=7_200_000
    )
    said = cluster.report([found], 720_000_000)
    assert "| 2 | 7,200 | 10 | 100 s | 72 | 200 | 1 % | 0.5 % | 0.5 cores |" in said
    assert "would take 1,000 core hours: 500 hours on 2, 16 hours on 64. More than 100 workers would wait" in said
    assert "720 GB" in said


def test_jobs_of_the_slice_are_as_large_as_those_of_the_whole() -> None:
    before = plan.LEAST_TRIALS
    with cluster.jobs_of(plan.job_size(278_500_000)):
        assert plan.job_size(5000) == plan.MOST_TRIALS
    assert before == plan.LEAST_TRIALS
