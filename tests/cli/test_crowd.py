"""`andante crowd`: its output and files, and one sentence for every mistake."""

import json
import re

import numpy as np
import pytest

import andante
from andante.cli import FAILED, OK, USAGE
from andante.episode.trace import Trace


@pytest.fixture
def arena(tmp_path):
    """A map file with a wall."""
    passable = np.ones((12, 20), bool)
    passable[2:12, 10] = False
    path = tmp_path / "arena.map"
    andante.write_map(andante.Grid(passable, name="arena"), path)
    return path


def shown(err):
    """Return standard error without the lines about compiling."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith(("compiling", "waiting for")))


def test_a_crowd_is_measured(cli, arena):
    code, out, err = cli("crowd", arena, "--units", "50", "-a", "lrta", "--expansions", "20", "--seed", "3")
    assert (code, shown(err)) == (OK, "")
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith("50 units of lrta on arena: ")
    assert "20 expansions per tick." in out
    assert "50 arrived, 0 unreachable, 0 stuck" in out
    titles = ("units per millisecond", "time of a tick", "waits", "restarts", "Jain's index", "memory")
    assert all(f"\n  {title} " in out for title in titles)


def test_its_numbers_are_those_of_its_units_alone(cli, arena):
    code, out, _ = cli("crowd", arena, "--units", "50", "-a", "lrta", "--expansions", "20", "--seed", "3", "--json")
    figures = json.loads(out)
    problems = andante.random_problems(andante.read_map(arena), 50, seed=3)
    trials = andante.run_many("lrta", problems)
    ratios = [trial.suboptimality_ratio for trial in trials]
    moves = sum(trial.moves for trial in trials)
    assert code == OK
    assert (figures["units"], figures["arrived"], figures["walking"], figures["restarted"]) == (50, 50, 0, 0)
    assert figures["suboptimality_ratio_mean"] == pytest.approx(np.mean(ratios))
    assert figures["suboptimality_ratio_median"] == pytest.approx(np.median(ratios))
    assert figures["expansions_per_move"] == sum(trial.states_expanded for trial in trials) / moves
    assert figures["ticks"] >= moves / 20  # LRTA* expands one state per move, and a tick has twenty
    assert figures["longest_wait"] >= 1
    assert 0 < figures["jain_index"] <= 1
    assert figures["memory_bytes"] > 50 * figures["median_unit_bytes"] >= 0
    assert 0 < figures["tick_microseconds_p50"] <= figures["tick_microseconds_p99"]


def test_default_algorithms(cli, arena):
    assert cli("crowd", arena, "--units", "5")[1].startswith("5 units of tba(budget=10, weight=2.0) on arena: ")
    assert cli("crowd", arena, "--units", "5", "--share")[1].startswith("5 units of lss on arena: ")


def test_a_crowd_may_end_before_its_units(cli, arena):
    code, out, _ = cli("crowd", arena, "--units", "30", "--ticks", "1", "--expansions", "10", "-a", "rta")
    assert code == OK
    assert "30 units of rta on arena: 1 tick, 10 expansions per tick." in out
    assert "still walk, 0 unreachable" in out


def test_the_budget_is_two_milliseconds_unless_another_is_named(cli, arena):
    assert "2,000 us per tick." in cli("crowd", arena, "--units", "2")[1]
    assert "500 us per tick." in cli("crowd", arena, "--units", "2", "--microseconds", "500")[1]


def test_lanes_and_not_threads_decide(cli, arena):
    same = ("ticks", "arrived", "longest_wait", "mean_wait", "suboptimality_ratio_mean", "jain_index")
    found = []
    for threads in ("1", "2"):
        arguments = ("--units", "40", "--expansions", "10", "--lanes", "2", "--threads", threads, "--json")
        figures = json.loads(cli("crowd", arena, *arguments)[1])
        found.append([figures[name] for name in same])
    assert found[0] == found[1]


def test_databases(cli, arena, tmp_path):
    grid = andante.read_map(arena)
    andante.build("moves", grid).save(tmp_path / "arena.moves")
    code, out, err = cli("crowd", arena, "--units", "20", "-a", "cpd", "--database", tmp_path / "arena.moves", "--json")
    assert (code, shown(err)) == (OK, "")
    assert json.loads(out)["suboptimality_ratio_mean"] == pytest.approx(1)
    _, _, err = cli("crowd", arena, "--units", "2", "--database", tmp_path / "arena.moves")
    assert shown(err).startswith(f"no agent here uses {tmp_path / 'arena.moves'}")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-a", "dlrta"], "dlrta needs a database of kind 'pattern', and none was given"),
        (["-a", "astar"], "astar may plan longer on larger maps, so it cannot keep to a crowd's budget"),
        (["-a", "lrtta"], "lrtta"),
        (["--microseconds", "1", "--expansions", "1"], "a budget in expansions or in microseconds, not both"),
        (["--microseconds", "0"], "microseconds must be more than 0, got 0"),
        (["--expansions", "-2"], "expansions must be more than 0, got -2"),
        (["--threads", "2", "--lanes", "1"], "2 threads need at least as many lanes, got 1"),
        (["--html", "no-folder/crowd.html"], "cannot write no-folder/crowd.html: there is no folder"),
        (["--database", "absent.moves"], "absent.moves"),
    ],
)
def test_every_mistake_gets_one_sentence(cli, arena, arguments, sentence):
    code, out, err = cli("crowd", arena, "--units", "4", *arguments)
    assert (code, out) == (FAILED, "")
    assert shown(err).startswith("andante: ")
    assert sentence in err
    assert shown(err).count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["--units", "0"], ["--ticks", "0"], ["--memory", "0.1"], ["--memory", "nan"], ["--lanes", "0"]]
)
def test_numbers_out_of_range_are_refused(cli, arena, arguments):
    assert cli("crowd", arena, *arguments)[0] == USAGE


def test_a_map_that_is_too_small_for_this_many_different_problems(cli):
    code, _, err = cli("crowd", "empty:2x2:0", "--units", "13")
    assert (code, err.count("\n")) == (FAILED, 1)
    assert "problems" in err


def test_a_map_that_does_not_exist(cli):
    code, _, err = cli("crowd", "nowhere.map")
    assert code == FAILED
    assert "nowhere.map" in err


def test_the_page_replays_the_crowd(cli, arena, tmp_path):
    page = tmp_path / "crowd.html"
    code, _, err = cli("crowd", arena, "--units", "10", "--expansions", "5", "--html", page)
    assert (code, shown(err)) == (OK, f"wrote {page}\n")
    text = page.read_text("utf-8")
    assert "<h1>A crowd on arena</h1>" in text
    assert "10 units of tba(budget=10, weight=2.0) on arena: " in text
    assert "Jain&#x27;s index" in text
    document = json.loads(re.search(r'class="crowd">(.*?)</script>', text, re.DOTALL)[1])
    assert (document["map"], document["width"], document["height"], document["cut"]) == ("arena", 20, 12, False)


def test_the_page_is_written_completely_or_not_at_all(cli, arena, tmp_path, monkeypatch):
    page = tmp_path / "crowd.html"
    page.write_text("before")
    monkeypatch.setattr("andante.report.page._static", lambda name: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli("crowd", arena, "--units", "2", "--html", page)
    assert page.read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["arena.map", "crowd.html"]


@pytest.mark.compiled
def test_units_that_start_again_because_memory_is_full_are_counted(cli):
    arguments = (
        "crowd",
        "outdoor:128x128:3",
        "-a",
        "lss(lookahead=20)",
        "--units",
        "600",
        "--expansions",
        "3000",
        "--json",
    )
    free, tight = (json.loads(cli(*arguments, "--memory", memory)[1]) for memory in ("256", "1"))
    assert free["restarted"] == 0 < tight["restarted"]
    assert tight["memory_bytes"] < free["memory_bytes"]


def test_units_with_bodies_and_units_that_learn_together(cli, arena):
    code, out, _ = cli("crowd", arena, "--units", "40", "--bodies", "--expansions", "100", "--seed", "1")
    assert code == OK
    assert "40 arrived" in out
    code, out, _ = cli("crowd", arena, "--units", "40", "--share", "--expansions", "100", "--seed", "1")
    assert code == OK
    assert "40 arrived" in out
    code, _, err = cli("crowd", arena, "--units", "300", "--bodies")
    assert code == FAILED
    assert "is too small for 300 units with bodies; use fewer units" in shown(err)
    code, _, err = cli("crowd", arena, "--share", "-a", "rta")
    assert code == FAILED
    assert "its units cannot learn together" in shown(err)


def test_scenes_are_generated_and_run(cli, tmp_path):
    file, page = tmp_path / "doors.scene", tmp_path / "doors.html"
    code, out, err = cli("maps", "scene", "rooms:32x32:1", file, "--units", "10", "--changes-per-second", "3")
    assert (code, shown(err)) == (OK, "")
    assert "10 units, 1" in out
    code, out, err = cli("crowd", file, "--expansions", "1000", "--ticks", "2000", "--html", page)
    assert code == OK, err
    assert "10 units of tba" in out
    assert "cost over replanned A*" in out
    assert "suboptimality" not in out
    assert "change_ticks" in page.read_text()
    code, out, err = cli("crowd", file, "--units", "5")
    assert code in (FAILED, USAGE)
    assert "a scene defines its units and their goals" in err
    code, _, err = cli("solve", file, "--start", "1,1", "--goal", "2,2")
    assert code != OK
    assert "is a scene, not a map; 'andante crowd" in shown(err)


def test_agents_are_compared_in_scenes(cli, tmp_path):
    file, page, table = tmp_path / "doors.scene", tmp_path / "doors.html", tmp_path / "doors.csv"
    how = ("--units", "6", "--changes-per-second", "30", "--ticks", "200", "--moving", "0.5", "--targets", "flee")
    assert cli("maps", "scene", "rooms:24x24:1", file, *how)[0] == OK
    code, out, err = cli(
        "compare", file, "-a", "lrta, tba(budget=10)", "--problems", "5", "--html", page, "--csv", table
    )
    assert code == OK, err
    assert "2 agents, 5 problems each" in out
    assert "times the cost of replanned A*" in shown(out)
    lines = table.read_text().splitlines()
    assert "replanned_ratio" in lines[0]
    assert "optimal_cost" not in lines[0]
    assert len(lines) == 1 + 2 * 5
    assert "goal_units" in page.read_text()
    documents = re.findall(r'<script type="application/json" class="trace">(.*)</script>', page.read_text())
    traces = [Trace.from_json(document) for document in documents]
    assert sorted(trace.algorithm for trace in traces) == ["lrta", "tba(budget=10)"]
    assert not any(trace.is_still for trace in traces)
    code, _, err = cli("compare", file, "--scenario", tmp_path / "some.scen")
    assert code == FAILED
    assert "a scene names its own problems" in shown(err)
