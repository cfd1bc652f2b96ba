"""Output, files and errors of `andante campaign`, `store` and `study`."""

import json
import re
from textwrap import dedent

import pytest

from andante.campaign import prepare, read_campaign
from andante.campaign.work import perform
from andante.cli import FAILED, INTERRUPTED, OK
from andante.store import Store

pytest.importorskip("polars")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rooms.toml"
    path.write_text(
        dedent("""
            title = "Rooms"
            [problems.rooms]
            maps = ["rooms:24x24:[1, 2]"]
            count = { quick = 3, full = 10 }
            [[run]]
            algorithms = ["lrta(depth=[1, 2])", "rta"]
            [[table]]
            title = "Table 1"
            rows = [{ algorithm = "rta", paper = 2.0 }]
        """)
    )
    return path


def add_mazes(file):
    """Add another set of problems, with an algorithm that is run only on it."""
    mazes = '[problems.mazes]\nmaps = ["maze:24x24:1"]\ncount = 4\n'
    more = '[[run]]\nproblems = ["mazes"]\nalgorithms = ["rtaa"]\n'
    file.write_text(file.read_text().replace("[[run]]", f"{mazes}[[run]]") + more)


def test_run_status_report(cli, file, tmp_path):
    code, out, err = cli("campaign", "run", file)
    assert code == OK
    assert "60 of 60 trials" in out
    assert "60 trials, " in err
    assert json.loads(cli("campaign", "status", file, "--json")[1])["trials_finished"] == 60
    reports = {end: tmp_path / f"report.{end}" for end in ("html", "md", "tex", "csv")}
    options = zip(("--html", "--markdown", "--latex", "--csv"), reports.values(), strict=True)
    code, out, _ = cli("campaign", "report", file, *(word for pair in options for word in pair))
    assert code == OK
    assert "60 trials: 3 algorithms on 20 problems of 2 maps." in out
    assert all(path.stat().st_size for path in reports.values())
    printed = json.loads(cli("campaign", "report", file, "--json")[1])
    assert [summary["name"] for summary in printed["summaries"]] == ["lrta", "lrta(depth=2)", "rta"]
    assert set(printed["dominated_by"]) == {"lrta", "lrta(depth=2)", "rta"}


def test_a_report_for_a_paper(cli, file, tmp_path):
    cli("campaign", "run", file)
    table, figures = tmp_path / "table 1.tex", tmp_path / "new" / "figures"
    asked = "cost, moves:median"
    code, out, _ = cli("campaign", "report", file, "--latex", table, "--figures", figures, "--columns", asked)
    assert code == OK
    assert {"Cost", "Turns,"} <= set(out.split())
    assert "Worst" not in out
    text = table.read_text()
    assert "LRTA* (depth=2) & 20 & 100.0 & " in text
    assert "{Cost} & {Turns, median} " in text
    assert "\\label{tab:table-1}" in text
    names = {"worst-move", "planning", "spread", "dominance", "differences"}
    assert {one.name for one in figures.iterdir()} == {
        *(f"{name}.{end}" for name in names for end in ("svg", "pdf", "png")),
        "captions.txt",
    }
    assert {line.partition(":")[0] for line in (figures / "captions.txt").read_text().splitlines()} == names
    code, _, err = cli("campaign", "report", file, "--columns", "cost:mode")
    assert code == FAILED
    assert "cost has no statistic 'mode'; the known names are max" in err


def test_the_file_defines_the_measures_of_the_table(cli, file, tmp_path):
    file.write_text('measures = ["cost"]\n' + file.read_text())
    cli("campaign", "run", file)
    cli("campaign", "report", file, "--markdown", tmp_path / "table.md")
    head = (tmp_path / "table.md").read_text().splitlines()[0]
    assert (
        head
        == "| Agent | Arrived | Cost (cost) | Cost, median (cost) | Cost, 95th percentile (cost) | Cost, maximum (cost) |"
    )


@pytest.mark.parametrize("verb", ["resume", "status", "report"])
def test_a_campaign_that_was_not_started_says_how_to_start_it(cli, file, verb):
    code, _, err = cli("campaign", verb, file, "--scale", "quick")
    assert code == FAILED
    assert f"{file} has not been started: " in err
    assert f"start it with 'andante campaign run {file} --scale quick'" in err


def test_resume_finishes_the_campaign(cli, file):
    cli("campaign", "run", file)
    assert cli("campaign", "resume", file)[0] == OK


@pytest.fixture
def small_jobs(monkeypatch):
    """Jobs of one algorithm on one map each; a map is finished before the next is started."""
    monkeypatch.setattr("andante.campaign.plan.LEAST_TRIALS", 10)
    monkeypatch.setattr("andante.campaign.plan.MAPS_AT_A_TIME", 1)


@pytest.fixture
def stopping(monkeypatch, small_jobs):
    """A function that interrupts runs, as Ctrl-C does, when the given number of jobs is stored."""

    def stop_after(jobs):
        append, stored = Store.append, []

        def interrupted(store, columns):
            append(store, columns)
            stored.extend(set(columns["job"].tolist()))
            if len(stored) >= jobs:
                raise KeyboardInterrupt

        monkeypatch.setattr(Store, "append", interrupted)

    return stop_after


@pytest.fixture
def unfinished(file, small_jobs):
    """A function that runs the given number of jobs on the problems "rooms", one map at a time."""

    def some(count):
        store, plan = prepare(read_campaign(file), file.with_name("rooms.store"))
        jobs = [job for job in map(plan.job, plan.order(0).tolist()) if job.set == "rooms"]
        for job in jobs[:count]:
            store.append(perform(job))

    return some


def test_an_interrupted_run_says_what_is_kept_and_how_to_resume(cli, file, tmp_path, stopping, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stopping(6)
    code, _, err = cli("campaign", "run", file, "--threads", 1)
    assert code == INTERRUPTED
    assert re.search(rf"stopped: \d of 6 jobs kept; 'andante campaign resume {re.escape(str(file))}' resumes it", err)
    code, _, err = cli("study", file, "--threads", 1)
    assert code == INTERRUPTED
    assert re.search(r"stopped: \d of \d jobs kept; the same command resumes it", err)


def test_an_unfinished_campaign_compares_on_problems_that_all_have_finished(cli, file, tmp_path, unfinished):
    unfinished(4)  # all three algorithms on one map, and one on the other
    page = tmp_path / "page.html"
    code, out, _ = cli("campaign", "report", file, "--html", page)
    first = "Unfinished: 40 of 60 trials; agents are compared on the problems that all of them have finished (10)."
    assert code == OK
    assert out.splitlines()[:2] == [first, "30 trials: 3 algorithms on 10 problems of 1 map."]
    assert first in page.read_text("utf-8")
    printed = json.loads(cli("campaign", "report", file, "--json")[1])
    assert printed["about"][0] == first
    assert {summary["trials"] for summary in printed["summaries"]} == {10}


def test_an_unfinished_report_says_which_agents_are_missing(cli, file, unfinished):
    add_mazes(file)
    unfinished(6)
    out = cli("campaign", "report", file)[1]
    assert out.startswith("Unfinished: 60 of 76 trials; agents are compared on the problems that all of them have ")
    assert out.splitlines()[0].endswith("have finished (20). There are none yet for rtaa.")
    (line,) = cli("campaign", "report", file, "--set", "mazes")[1].splitlines()
    assert "cannot be compared" in line
    assert "rtaa" not in cli("campaign", "report", file, "--set", "rooms")[1]


def test_without_a_problem_in_common_trials_are_counted(cli, file, tmp_path, unfinished):
    unfinished(2)
    code, out, err = cli("campaign", "report", file, "--csv", tmp_path / "table.csv")
    assert code == FAILED
    assert "Unfinished: 20 of 60 trials; there is no problem yet that all agents have finished" in out
    assert len(out.splitlines()) == 3  # and two algorithms with ten trials each
    assert "table.csv was not written" in err
    assert sum(json.loads(cli("campaign", "report", file, "--json")[1])["trials"].values()) == 20


def test_agents_that_were_run_on_other_sets_are_reported(cli, file):
    add_mazes(file)
    cli("campaign", "run", file)
    out = cli("campaign", "report", file)[1]
    assert "Not all agents were run on the same problem sets (mazes: 4 of 4, rooms: 3 of 4)" in out
    assert "Not dominated" not in out
    assert json.loads(cli("campaign", "report", file, "--json")[1])["dominated_by"] == {}
    cli("campaign", "report", file, "--html", file.with_suffix(".html"))
    page = file.with_suffix(".html").read_text("utf-8")
    assert "Not all agents were run on the same problem sets" in page
    assert not any(word in page for word in ("Which agent to use", "<h2>Dominance", "<h2>Plots", 'class="best"'))
    alone = cli("campaign", "report", file, "--set", "mazes")[1]
    assert alone.startswith("16 trials: 4 algorithms on 4 problems of 1 map.\n")
    assert "Not all agents" not in alone
    code, _, err = cli("campaign", "report", file, "--set", "maze")
    assert code == FAILED
    assert "has no problems 'maze'; did you mean 'mazes'?" in err


def test_a_report_by_map_is_about_maps(cli, file, tmp_path):
    cli("campaign", "run", file)
    ends = {"--markdown": "| Map | Arrived |", "--latex": "Map & {$n$} & {Arrived}", "--csv": "map,trials,"}
    files = {option: tmp_path / f"table{option}" for option in ends}
    out = cli("campaign", "report", file, "--by", "map", *(word for pair in files.items() for word in pair))[1]
    assert all(start in files[option].read_text() for option, start in ends.items())
    assert re.search("^ *Map +", out, re.M)
    assert not re.search("^ *Agent +Arrived", out, re.M)
    assert "Not dominated" not in out
    printed = json.loads(cli("campaign", "report", file, "--by", "map", "--json")[1])
    assert [summary["name"] for summary in printed["summaries"]] == ["rooms-24x24-seed1", "rooms-24x24-seed2"]
    assert printed["dominated_by"] == {}


@pytest.fixture
def mazes(cli, tmp_path):
    """A campaign of agents that rarely arrive, because they are stopped after 60 moves."""
    path = tmp_path / "mazes.toml"
    path.write_text(
        dedent("""
            title = "Mazes"
            seed = 1
            [problems.mazes]
            maps = ["maze:32x32:[1..4]"]
            count = 15
            [[run]]
            algorithms = ["lrta", "rta", "astar"]
            limits = { moves = 60 }
        """)
    )
    assert cli("campaign", "run", path)[0] == OK
    return path


def test_unsolved_trials_are_not_averaged_away(cli, mazes, tmp_path):
    printed = json.loads(cli("campaign", "report", mazes, "--json")[1])
    rows = Store(mazes.with_suffix(".store")).frame()
    solved = {name: set() for name in ("lrta", "rta", "astar")}
    for name, place, arrived in zip(
        rows["algorithm"], rows.select("fingerprint", "start", "goal").iter_rows(), rows["solved"], strict=True
    ):
        if arrived:
            solved[name].add(place)
    common = set.intersection(*solved.values())
    assert 8 <= len(common) < min(map(len, solved.values())) < 60
    found = printed["comparison"]
    assert (found["problems"], found["of"], found["penalty"]) == (len(common), 60, None)
    assert found["solved"] == {name: len(places) for name, places in solved.items()}
    for name, mean in zip(found["agents"], found["means"], strict=True):
        ours = rows.filter(rows["algorithm"] == name)
        numbers = dict(
            zip(ours.select("fingerprint", "start", "goal").iter_rows(), ours["suboptimality_ratio"], strict=True)
        )
        assert mean == pytest.approx(sum(numbers[place] for place in common) / len(common))
    out = cli("campaign", "report", mazes)[1]
    assert f"Compared on the {len(common)} of 60 problems that all 3 agents solved" in out
    assert "bootstrap intervals over 4 maps" in out
    assert "both over 4 maps" in out
    assert not re.search("± .*±|1.000 ± 0.000", out)  # lower bounds do not look exact


def test_a_penalty_is_named_and_all_problems_count(cli, mazes, tmp_path):
    page, table, tex = (tmp_path / f"report.{end}" for end in ("html", "md", "tex"))
    options = ["--penalty", "1000", "--html", page, "--markdown", table, "--latex", tex, "--over", "problems"]
    out = cli("campaign", "report", mazes, *options)[1]
    said = "Compared on all 60 problems: an agent that did not arrive, or walked further, counts as 1000 times optimal."
    assert said in out
    assert said in table.read_text()
    assert said in tex.read_text().replace("\n", " ")
    assert said in page.read_text()
    assert "over 60 problems of these 4 maps" in out
    printed = json.loads(cli("campaign", "report", mazes, "--penalty", "1000", "--json")[1])["comparison"]
    assert printed["means"][printed["agents"].index("astar")] == pytest.approx(
        ((60 - printed["solved"]["astar"]) * 1000 + printed["solved"]["astar"]) / 60
    )


def test_goal_achievement_times_are_shown_if_a_turn_has_a_length(cli, mazes):
    printed = json.loads(cli("campaign", "report", mazes, "--turn", "10", "--json")[1])
    lrta, _, astar = (summary["measures"] for summary in printed["summaries"])
    assert lrta["standing_time"]["mean"] == 1.0
    assert astar["standing_time"]["mean"] == astar["first_move_states_expanded"]["mean"]
    assert lrta["walking_time"]["mean"] == 10 * lrta["moves"]["mean"]
    assert "Goal achievement time" not in cli("campaign", "report", mazes)[1]


def test_an_estimate_says_how_long_the_rest_takes(cli, file, monkeypatch):
    monkeypatch.setattr("andante.cli.running.ESTIMATE_SECONDS", 0.0)
    monkeypatch.setattr("andante.campaign.plan.LEAST_TRIALS", 2)
    code, out, _ = cli("campaign", "run", file, "--estimate", "--threads", 1)
    assert code == OK
    assert "the rest will take about" in out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--engine", "dusk"], "there is no engine 'dusk'; did you mean 'dask'?"),
        (["--engine", "dask"], "--engine dask needs either --scheduler tcp://HOST:PORT or --workers N"),
        (["--workers", "2"], "--scheduler and --workers are for --engine dask"),
        (["--scale", "slow"], "there is no scale 'slow'"),
    ],
)
def test_bad_options_get_one_sentence(cli, file, options, sentence):
    code, _, err = cli("campaign", "run", file, *options)
    assert code == FAILED
    assert sentence in err


def test_a_campaign_in_parts(cli, file, tmp_path):
    for part in ("1/2", "2/2"):
        code, _, err = cli("campaign", "run", file, "--part", part)
        assert code == OK
        assert f"part {part} of " in err
    halves = sorted(tmp_path.glob("rooms-part-*.store"))
    assert [half.name for half in halves] == ["rooms-part-1-of-2.store", "rooms-part-2-of-2.store"]
    assert cli("store", "merge", *halves, "--into", tmp_path / "rooms.store")[0] == OK
    out = cli("campaign", "status", file)[1]
    assert "60 of 60 trials" in out
    assert re.search(r"made on \d{4}-\d\d-\d\d with Andante ", out)
    assert "there is no store" in cli("campaign", "resume", file, "--part", "1/3")[2]
    assert "a part is written K/N" in cli("campaign", "run", file, "--part", "3/2")[2]


def test_stores_are_checked_merged_and_exported(cli, file, tmp_path):
    cli("campaign", "run", file)
    cli("campaign", "run", file, "--scale", "quick")
    full, quick = tmp_path / "rooms.store", tmp_path / "rooms-quick.store"
    assert "is sound: 60 rows" in cli("store", "check", full)[1]
    assert "has 18 rows" in cli("store", "export", quick, tmp_path / "rows.csv")[1]
    code, out, _ = cli("store", "merge", full, quick, "--into", tmp_path / "both.store")
    assert code == OK
    assert "has 60 rows" in out  # the quick draws are the beginnings of the full ones
    victim = next((full / "parts").iterdir())
    victim.write_bytes(b"")
    code, out, _ = cli("store", "check", full)
    assert code == FAILED
    assert "is damaged" in out


def test_a_study_writes_its_page(cli, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, _ = cli("study", file, "--out", tmp_path / "page")
    assert code == OK
    assert "| rta | 2.0 ✓ |" in (tmp_path / "page" / "results.md").read_text()
    assert (tmp_path / "page" / "rows.store").is_dir()
    code, _, _ = cli("study", file, "--scale", "smoke")
    assert code == OK
    assert {one.name for one in (tmp_path / "andante-studies" / "rooms" / "smoke").iterdir()} >= {
        "results.md",
        "rows.store",
    }
    pages = [tmp_path / "page", tmp_path / "andante-studies" / "rooms" / "smoke"]
    assert ["mean nothing" in (page / "results.md").read_text("utf-8") for page in pages] == [False, True]
    listed = cli("study")[1]
    assert "family" in listed
    assert "tba" in listed


#: A part of every kind, each as small as possible.
PARTS = """
    [[best]]
    title = "Best"
    rows = [{ paper = "rta" }]
    [[front]]
    title = "Front"
    rows = [{ x = "states_expanded_per_move", y = "suboptimality_ratio" }]
    [[pairs]]
    title = "Pairs"
    [[duel]]
    title = "Duel"
    first = "rta"
    second = "lrta"
    [[correlation]]
    title = "Correlation"
    x = "cost"
    y = "moves"
    rows = [{ algorithm = "lrta", paper = 0.9 }]
    [[influence]]
    title = "Influence"
    algorithms = ["lrta"]
    parameters = ["depth"]
    rows = [{ measure = "cost", paper = ["falls"] }]
    [[amortization]]
    title = "Amortization"
    rivals = ["rta"]
    rows = [{ algorithm = "lrta", paper = 1000 }]
    [[table]]
    title = "Against"
    rows = [{ algorithm = "rta", against = "lrta(depth=2)", paper = -5.0 }]
    [[figure]]
    title = "Curves"
    kind = "curves"
    algorithms = ["lrta"]
    parameters = ["depth"]
    y = ["suboptimality_ratio"]
    [[figure]]
    title = "Histogram"
    kind = "histogram"
    algorithms = ["lrta"]
    y = ["suboptimality_ratio"]
    [[figure]]
    title = "Trade-off"
    kind = "trade-off"
    x = "states_expanded_per_move"
    y = ["suboptimality_ratio"]
    [[figure]]
    title = "Dominance"
    kind = "dominance"
    x = "states_expanded_per_move"
    y = ["suboptimality_ratio"]
    [[figure]]
    title = "Scatter"
    kind = "scatter"
    algorithms = ["lrta(depth=1)", "rta"]
    y = ["suboptimality_ratio"]
"""


@pytest.mark.parametrize("jobs", [1, 4, 6])
def test_an_unfinished_study_begins_with_how_much_is_finished(cli, file, tmp_path, unfinished, jobs):
    file.write_text(file.read_text() + dedent(PARTS))
    unfinished(jobs)
    stored = sorted(tmp_path.rglob("rooms.store/**/*"))
    page = tmp_path / "page"
    code, out, err = cli(
        "study", file, "--scale", "full", "--store", tmp_path / "rooms.store", "--out", page, "--so-far"
    )
    assert (code, err) == (OK, "")
    assert stored == sorted(tmp_path.rglob("rooms.store/**/*"))  # nothing was run
    lines = (page / "results.md").read_text("utf-8").splitlines()
    said = f"Unfinished: {10 * jobs} of 60 trials ({100 * jobs / 6:.1f} %) and {jobs} of 6 jobs are done"
    kept = json.loads((page / "numbers.json").read_text("utf-8"))["run"]
    if jobs < 6:
        assert lines[2].startswith(f"**{said}")
        assert out.startswith(said)
        assert kept.startswith(said)
    else:
        assert not any("Unfinished" in text for text in (*lines, out, kept))
    titles = [line for line in lines if line.startswith("## ")]
    wanted = ["Table 1", *re.findall('title = "(.*)"', PARTS)]
    assert [f"## {title}" for title in wanted] == titles[-len(wanted) :]


def test_a_study_without_finished_jobs_has_no_page(cli, file, tmp_path):
    for _ in range(2):
        code, _, err = cli("study", file, "--store", tmp_path / "rooms.store", "--out", tmp_path / "page", "--so-far")
        assert code == FAILED
        assert "no job of the study is finished in " in err
        prepare(read_campaign(file, "quick"), tmp_path / "rooms.store")
    assert not (tmp_path / "page").exists()
