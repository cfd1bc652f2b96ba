"""The command line: its output, its exit codes, and one sentence for every mistake."""

import csv
import json
import re
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.progress import Progress, TextColumn

import andante
from andante.cli import FAILED, INTERRUPTED, OK, USAGE
from andante.cli.demo import kinds_for
from andante.cli.shared import _Console, split_algorithms
from andante.files import cache_folder


@pytest.fixture
def arena(tmp_path):
    """A map file with a wall and a region that is cut off."""
    passable = np.ones((12, 20), bool)
    passable[2:12, 10] = False
    passable[0:3, 0:3] = False
    passable[0, 0] = True
    path = tmp_path / "arena.map"
    andante.write_map(andante.Grid(passable, name="arena"), path)
    return path


def test_help_lists_every_command(cli):
    code, out, _ = cli("--help")
    assert code == OK
    assert all(verb in out for verb in ("solve", "compare", "algorithms", "maps", "warmup", "demo"))


def test_the_version(cli):
    assert cli("--version")[1].strip() == andante.__version__


def test_solve_reports_costs(cli, arena):
    code, out, _ = cli("solve", arena, "--start", "5,5", "--goal", "15,11", "--algorithm", "lrta(depth=3)")
    assert code == OK
    assert "arrived" in out
    assert "times the optimal" in out


def test_solve_on_an_unknown_map(cli, arena, tmp_path):
    where = ("solve", arena, "--start", "5,5", "--goal", "15,11", "-a", "astar", "--sight", "2")
    code, out, _ = cli(*where)
    assert code == OK
    assert "blocked cells" in out
    trial = andante.run("astar", andante.read_map(arena).problem((5, 5), (15, 11)), sight=2)
    code, out, _ = cli(*where, "--json", "--trace", tmp_path / "a.json")
    printed = json.loads(out)
    assert (printed["cells_discovered"], printed["cost"]) == (trial.cells_discovered, trial.cost)
    assert printed["cells_discovered"] > 0
    assert len(andante.Trace.load(tmp_path / "a.json").discovered) == trial.cells_discovered
    assert cli(*where[:-1], "0")[0] == USAGE


def test_the_cost_of_finding_out_that_there_is_no_path_is_reported(cli, arena, tmp_path):
    trial = andante.run("astar", andante.read_map(arena).problem((5, 5), (0, 0)), sight=2)
    assert trial.moves > 0
    picture = tmp_path / "path.png"
    code, out, err = cli(
        "solve", arena, "--start", "5,5", "--goal", "0,0", "-a", "astar", "--sight", "2", "--picture", picture
    )
    assert (code, err) == (FAILED, f"wrote {picture}\n")
    assert "no path leads to the goal" in out
    assert f"discovered      {trial.cells_discovered} blocked cells" in out
    assert f"cost            {trial.cost:.2f}\n" in out  # and not a multiple of infinity


def test_compare_on_an_unknown_map(cli, arena, tmp_path):
    csv, html = tmp_path / "rows.csv", tmp_path / "page.html"
    where = ("compare", arena, "-a", "astar, lrta", "--problems", "5", "--sight", "1")
    code, out, err = cli(*where, "--csv", csv, "--html", html)
    assert (code, said(err)) == (OK, f"wrote {csv}\nwrote {html}\n")
    assert out.splitlines()[0] == "2 agents, 5 problems each on arena, with sight 1."
    assert "on arena, with sight 1." in html.read_text(encoding="utf-8")
    grid = andante.read_map(arena)
    problems = andante.random_problems(grid, 5, seed=0)
    found = [t.cells_discovered for name in ("astar", "lrta") for t in andante.run_many(name, problems, sight=1)]
    header, *lines = csv.read_text().splitlines()
    at = header.split(",").index("cells_discovered")
    assert [int(line.split(",")[at]) for line in lines] == found


def test_solve_as_json_agrees_with_the_library(cli, arena):
    code, out, _ = cli("solve", arena, "--start", "(5, 5)", "--goal", "15,11", "-a", "lrta", "--json")
    trial = andante.run("lrta", andante.read_map(arena).problem((5, 5), (15, 11)))
    printed = json.loads(out)
    assert code == OK
    assert printed["cost"] == trial.cost
    assert [tuple(cell) for cell in printed["path"]] == trial.cells


def test_solve_draws_and_records(cli, arena, tmp_path):
    picture, trace, posthoc = tmp_path / "path.png", tmp_path / "path.json", tmp_path / "path.trace.json"
    code, _, _ = cli(
        "solve",
        arena,
        "--start",
        "5,5",
        "--goal",
        "15,11",
        "--picture",
        picture,
        "--trace",
        trace,
        "--posthoc",
        posthoc,
    )
    assert code == OK
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert andante.Trace.load(trace).path[-1] == 11 * 20 + 15
    assert json.loads(posthoc.read_text())["version"] == "1.4.0"


def test_an_unreachable_goal_is_a_result_with_exit_code_one(cli, arena):
    code, out, err = cli("solve", arena, "--start", "5,5", "--goal", "0,0")
    assert (code, err) == (FAILED, "")
    assert "no path leads to the goal" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--start", "10,5", "--goal", "15,11"], "the start (10, 5) is blocked on arena"),
        (["--start", "5,5", "--goal", "99,11"], "(99, 11) lies outside arena, which is 20 x 12 cells"),
        (["--start", "5,5", "--goal", "5,5"], "start and goal are the same, (5, 5)"),
        (["--start", "5", "--goal", "15,11"], "--start is written X,Y"),
        (["--start", "5,x", "--goal", "15,11"], "--start: '5,x' should have a whole number instead of 'x'"),
        (["--start", "5,5", "--goal", "15,11", "-a", "lrtta"], "did you mean 'lrta'?"),
        (["--start", "5,5", "--goal", "15,11", "-a", "lrta(dept=3)"], "did you mean 'depth'?"),
        (
            ["--start", "5,5", "--goal", "15,11", "-a", "lrta(depth=0)"],
            "depth must be a whole number in [1, 100], got 0",
        ),
        (["--start", "5,5", "--goal", "15,11", "-a", "lrta(depth=3"], "lacks a closing bracket"),
        (["--start", "5,5", "--goal", "15,11", "--picture", "/nowhere/x.png"], "cannot write /nowhere/x.png"),
        (["--start", "5,5", "--goal", "15,11", "--picture", "x.gif"], "the file name must end in .png, .svg or .pdf"),
        (["--start", "5,5", "--goal", "15,11", "--posthoc", "x.json"], "names end in .trace.json"),
    ],
)
def test_a_mistake_gets_one_sentence(cli, arena, arguments, sentence, monkeypatch):
    monkeypatch.setattr("andante.episode.run.run", None)  # the error comes before any work
    code, out, err = cli("solve", arena, *arguments)
    assert (code, out) == (FAILED, "")
    assert sentence in err
    assert err.startswith("andante: ")
    assert err.count("\n") == 1


def test_a_wrong_call_is_a_usage_error(cli, arena):
    assert cli("solve", arena)[0] == USAGE
    assert cli("slove", arena)[0] == USAGE
    assert cli("solve", arena, "--start", "5,5", "--goal", "15,11", "--suboptimality-cap", "0.5")[0] == USAGE


def test_json_is_json_when_the_goal_cannot_be_reached(cli, arena):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    code, out, _ = cli("solve", arena, "--start", "5,5", "--goal", "0,0", "--json")
    printed = json.loads(out, parse_constant=refuse)
    assert (code, printed["optimal_cost"], printed["start"]) == (FAILED, None, [5, 5])
    json.loads(cli("algorithms", "--json")[1], parse_constant=refuse)


def test_the_same_algorithm_twice_is_compared_once(cli):
    _, out, _ = cli("compare", "empty:9x9", "-a", "lrta, lrta(depth=1)", "--problems", "3", "--json")
    assert [summary["trials"] for summary in json.loads(out)["summaries"]] == [3]


def test_a_missing_folder_is_reported_before_any_work(cli, tmp_path):
    code, out, err = cli("compare", "empty:9x9", "--html", tmp_path / "nowhere" / "x.html")
    assert (code, out) == (FAILED, "")
    assert "there is no folder" in err


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nothing.map", "nothing.map"),
        ("nothing", "see 'andante maps list'"),
        ("caves:12", "a size is written WIDTHxHEIGHT"),
        ("caves:axb", "a size is written WIDTHxHEIGHT"),
        ("caves:9x9:x", "a generated map is written KIND:WIDTHxHEIGHT:SEED"),
        ("kaves:9x9", "there is no kind of map 'kaves'; did you mean 'caves'?"),
        ("caves(width=9)", "caves(width=9) has no height"),
        ("nosuchset/arena", "there is no benchmark set 'nosuchset'"),
    ],
)
def test_a_map_that_does_not_exist(cli, name, sentence):
    code, _, err = cli("maps", "show", name)
    assert code == FAILED
    assert sentence in err


def test_maps_show_draws_on_the_terminal_and_into_a_file(cli, arena, tmp_path):
    code, out, _ = cli("maps", "show", arena)
    assert code == OK
    assert "free cells" in out
    assert "█" in out
    picture = tmp_path / "map.png"
    code, _, err = cli("maps", "show", arena, "--picture", picture)
    assert (code, err) == (OK, f"wrote {picture}\n")
    assert picture.exists()


def test_maps_show_says_that_regions_need_colours(cli, arena):
    code, out, err = cli("maps", "show", arena, "--level", "1")
    assert code == OK
    assert "█" in out
    assert "--picture FILE.png" in err


def test_maps_show_as_json(cli, arena):
    facts = json.loads(cli("maps", "show", arena, "--json")[1])
    assert (facts["width"], facts["height"], facts["components"]) == (20, 12, 2)


def test_maps_generate_writes_the_map_of_the_seed(cli, tmp_path):
    path = tmp_path / "out.map"
    assert cli("maps", "generate", "random", "40x30", path, "--seed", 5, "--option", "density=0.1")[0] == OK
    same = andante.generate("random", 40, 30, seed=5, density=0.1)
    assert andante.read_map(path).fingerprint == same.fingerprint


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["cavs", "40x30"], "did you mean 'caves'?"),
        (["random", "40x30", "--option", "densty=0.1"], "did you mean 'density'?"),
        (["random", "40x30", "--option", "density"], "--option is written NAME=VALUE"),
    ],
)
def test_maps_generate_refuses_and_writes_nothing(cli, tmp_path, arguments, sentence):
    code, _, err = cli("maps", "generate", *arguments[:2], tmp_path / "out.map", *arguments[2:])
    assert code == FAILED
    assert sentence in err
    assert not list(tmp_path.iterdir())


def test_maps_list(cli):
    assert "dao" in cli("maps", "list")[1]
    listed = json.loads(cli("maps", "list", "--json")[1])
    assert {"sets", "generated"} == set(listed)


def test_maps_fetch_refuses_an_unknown_set(cli):
    code, _, err = cli("maps", "fetch", "daoo")
    assert code == FAILED
    assert "did you mean 'dao'?" in err


def test_algorithms_without_a_bibtex_entry_are_named_and_left_out(cli, monkeypatch):
    entries = list(andante.algorithms())
    own = replace(entries[0], card=replace(entries[0].card, paper="Own variant", name="mine"))
    monkeypatch.setattr("andante.agent.algorithms", lambda: [own, *entries])
    code, out, err = cli("algorithms", "--bibtex")
    assert code == OK
    assert "@article{korf1990real," in out
    assert "left out: there is no BibTeX entry for 'Own variant', the paper of mine" in err


def test_algorithms_lists_every_card(cli):
    code, out, _ = cli("algorithms")
    assert code == OK
    assert all(entry.card.name in out for entry in andante.algorithms())
    assert ".C.O.D" in next(line for line in out.splitlines() if line.startswith("astar"))
    assert "O optimal" in out
    assert "moves to look ahead" in cli("algorithms", "lrta")[1]
    assert "https://doi.org/10.1016/0004-3702(90)90054-4" in cli("algorithms", "lrta")[1]
    assert cli("algorithms", "rta", "--bibtex")[1].startswith("@article{korf1990real,")
    assert "'andante build moves MAP'" in cli("algorithms", "cpd")[1]
    assert "'andante build \"pattern(base=2, level=3)\" MAP'" in cli("algorithms", "dprlrta(level=2)")[1]
    assert "database" not in cli("algorithms", "lrta")[1]
    assert {card["name"] for card in json.loads(cli("algorithms", "--json")[1])} == {
        entry.card.name for entry in andante.algorithms()
    }


def test_compare_prints_a_table_and_writes_page_and_rows(cli, tmp_path):
    page, rows = tmp_path / "page.html", tmp_path / "rows.csv"
    chosen = ["--algorithms", "rta, lrta(depth=3)", "--algorithms", "astar", "--problems", "12", "--threads", "2"]
    code, out, _ = cli("compare", "rooms:32x32:1", *chosen, "--html", page, "--csv", rows)
    assert code == OK
    assert "lrta(depth=3)" in out
    assert "expanded per move" in out
    assert "Compared on 12 problems, all solved by all 3 agents." in out
    assert "bootstrap intervals over 12 problems of one map" in out
    assert re.search("astar is better than .* in suboptimality|No agent is clearly better", out)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len(rows.read_text().splitlines()) == 1 + 3 * 12


@pytest.fixture
def shelf(cli, arena, tmp_path):
    """A folder of databases for the arena: moves, a pattern database, and one for agents on another level."""
    for folder, kind in (("a", "moves"), ("a", "pattern(level=2)"), ("b", "pattern(base=1, level=2)")):
        assert cli("build", kind, arena, "--out", tmp_path / "shelf" / folder, "--threads", "1")[0] == OK
    return tmp_path / "shelf"


def said(err):
    """Return standard error without the lines about compiling, which depend on the cache."""
    of_compiling = ("compiling kernels", "waiting for another process")
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith(of_compiling))


def test_compare_shows_agents_that_use_the_databases(cli, arena, shelf):
    def compared(*files):
        given = [word for file in files for word in ("--database", shelf / file)]
        code, out, err = cli("compare", arena, "--problems", "2", "--threads", "1", "--json", *given)
        assert code == OK
        return {summary["name"]: summary["measures"] for summary in json.loads(out)["summaries"]}, said(err)

    usual, err = compared()
    assert err == ""
    more, err = compared("a/arena.moves", "a/arena.pattern")
    assert (set(more) - set(usual), err) == ({"cpd", "dlrta"}, "")
    moves = andante.load(shelf / "a/arena.moves", map=andante.read_map(arena))
    assert more["cpd"]["database_bytes"]["max"] == moves.nbytes
    assert more["lrta"]["database_bytes"]["max"] == 0
    same, err = compared("b/arena.pattern", "a/arena.pattern")  # dlrta plans on the map, and the first is for level 1
    assert set(same) == set(usual)
    assert err.count("no agent here uses") == 2


def test_compare_builds_the_requested_databases(cli, arena):
    asked = ("--build", "regions", "--build", "pattern(level=2)", "-a", "hcdps, dlrta, lrta")
    code, out, _ = cli("compare", arena, "--problems", "3", "--threads", "1", "--json", *asked)
    printed = {summary["name"]: summary["measures"] for summary in json.loads(out)["summaries"]}
    assert code == OK
    assert all(
        printed[name]["build_seconds"]["max"] > 0 < printed[name]["database_bytes"]["max"]
        for name in ("hcdps", "dlrta")
    )
    assert printed["lrta"]["build_seconds"]["max"] == 0


def test_compare_builds_only_what_is_used(cli, arena, monkeypatch):
    built = []
    monkeypatch.setattr("andante.cli.compare.build_for", lambda grid, text, threads: built.append(text))
    few = ("--problems", "2", "--threads", "1", "-a", "lrta")
    code, _, err = cli("compare", arena, "--build", "regions(m=12)", *few)
    reason = "no agent here uses regions(m=12); 'andante algorithms' shows which agents need its kind of database"
    assert (code, said(err).splitlines(), built) == (OK, [reason], [])
    code, _, err = cli("compare", arena, "--build", "regoins", *few)
    assert (code != OK, built) == (True, [])
    assert "did you mean 'regions'" in err


def test_compare_builds_the_first_of_a_kind(cli, arena):
    orders = ("--build", "pattern(level=2)", "--build", "pattern(level=3)")
    code, _, err = cli("compare", arena, *orders, "--problems", "2", "--threads", "1", "-a", "dlrta")
    assert (code, said(err).splitlines()) == (
        OK,
        ["pattern(level=3) is not used: agents use the first database of each kind, which is pattern(level=2)"],
    )


@pytest.mark.compiled
def test_the_demo_has_agents_with_databases_and_replays_recommended_ones(cli, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("andante.cli.demo.SIDE", 64)
    monkeypatch.setattr("andante.cli.demo.PROBLEMS", 10)
    code, out, _ = cli("demo", "--out", tmp_path / "demo.html")
    assert code == OK
    built = re.findall(r"^(\w+)\S* database: .* built in", out, re.MULTILINE)
    assert {"moves", "regions", "pattern"} <= set(built)  # which take a moment on so small a map
    assert "Database" in out
    assert "its database holds" in out
    assert "500 units of hcdps on outdoor-64x64-seed7: " in out
    page = (tmp_path / "demo.html").read_text("utf-8")
    assert "<h2>Crowd</h2>" in page
    assert page.count('class="crowd">{') == 1
    page = page.replace(re.search(r'class="crowd">(.*?)</script>', page, re.DOTALL)[1], "")
    traced = re.findall(r'"algorithm": ?"([^"]*)"', page)
    best = re.findall(r" use <code>([^<]*)</code>: on 10 problems it walks", page)
    assert set(best) & {"cpd", "dlrta", "hcdps(m=99)"}
    assert list(dict.fromkeys(traced))[: len(set(best))] == list(dict.fromkeys(best))[:4]


def test_the_demo_does_not_compile_builders_that_it_has_no_time_for(capsys):
    entries = [andante.find(name) for name in ("cpd", "hcdps", "dtlrta")]
    assert kinds_for(entries, andante.Grid(np.ones((100, 100), bool))) == ["moves", "regions"]
    assert capsys.readouterr().out == ""
    assert kinds_for(entries, andante.Grid(np.ones((200, 200), bool))) == ["regions"]
    assert "no moves database" in capsys.readouterr().out


def test_databases_that_are_not_used_are_named(cli, arena, shelf):
    first, second, moves = shelf / "a/arena.pattern", shelf / "b/arena.pattern", shelf / "a/arena.moves"
    given = ("--database", first, "--database", second, "--database", moves)
    code, _, err = cli("solve", arena, "--start", "5,5", "--goal", "15,11", "-a", "dlrta", *given)
    assert code == OK
    assert said(err).splitlines() == [
        f"{second} is not used: agents use the first database of each kind, which is {first}",
        f"no agent here uses {moves}; 'andante algorithms' shows which agents need its kind of database",
    ]


def test_build_overwrites_other_parameters_only_with_force(cli, arena, tmp_path):
    def build(kind, *more):
        return cli("build", kind, arena, "--out", tmp_path / "new" / "folder", "--threads", "1", *more)

    file = tmp_path / "new" / "folder" / "arena.pattern"
    code, out, _ = build("pattern(level=2)")
    assert (code, file.exists()) == (OK, True)
    assert " kB, built in " in out
    before = file.read_bytes()
    code, out, err = build("pattern(level=1)")
    assert (code, out, file.read_bytes()) == (FAILED, "", before)
    assert "was built as pattern(level=2), not as pattern(level=1); --force overwrites it" in err
    assert build("pattern(level=2)")[0] == OK
    assert build("pattern(level=1)", "--force")[0] == OK
    assert file.read_bytes() != before
    file.write_bytes(before[:-1])  # damaged: nothing to lose
    assert build("pattern(level=2)")[0] == OK
    assert file.read_bytes() == before
    assert cli("databases", "show", file)[1].count(" kB, ") == 1


def test_build_for_the_goals_of_a_scenario(cli, arena, tmp_path):
    def build(kind, *more):
        return cli("build", kind, arena, "--out", tmp_path, "--threads", "1", *more)

    grid, scenario = andante.read_map(arena), tmp_path / "arena.map.scen"
    problems = andante.with_optimal_costs([grid.problem((5, 5), (15, y)) for y in range(5, 11)])
    andante.write_scenario(problems, scenario)
    assert build("pattern(level=0)", "--goals", scenario)[0] == OK
    database = andante.load(tmp_path / "arena.pattern", map=grid)
    assert database.parameters["goals"] == "asked"
    assert database.arrays.columns == len(problems)
    shown = cli("databases", "show", tmp_path / "arena.pattern", "--map", arena)[1]
    assert "goals=asked" in shown
    assert "serves      arena\n" in shown
    assert re.search(r"^  goal_column  i4  ", shown, re.MULTILINE)
    code, _, err = build("pattern(level=0)", "--goals", scenario)
    assert (code, "may have been built for other goals; --force overwrites it" in said(err)) == (FAILED, True)
    assert build("pattern(level=0)", "--goals", scenario, "--force")[0] == OK
    for kind, sentence in (("pattern(goals=asked)", "with --goals FILE.scen"), ("moves", "is always for all goals")):
        code, _, err = build(kind, "--force", *(["--goals", scenario] if kind == "moves" else []))
        assert (code, sentence in said(err)) == (FAILED, True)
    code, _, err = cli("build", "pattern", arena, arena, "--goals", scenario)
    assert (code, "for one map; build the maps one at a time" in said(err)) == (FAILED, True)


def test_compare_as_json_and_from_a_scenario(cli, arena, tmp_path):
    grid = andante.read_map(arena)
    problems = andante.with_optimal_costs([grid.problem((5, 5), (15, y)) for y in range(5, 11)])
    andante.write_scenario(problems, tmp_path / "arena.map.scen")
    code, out, _ = cli("compare", arena, "--scenario", tmp_path / "arena.map.scen", "-a", "astar", "--json")
    printed = json.loads(out)
    assert code == OK
    assert printed["summaries"][0]["trials"] == len(problems)
    assert printed["summaries"][0]["measures"]["suboptimality_ratio"]["max"] == 1.0
    assert printed["comparison"] is None  # there is no other agent


@pytest.mark.parametrize(
    ("option", "sentence"),
    [(("--penalty", "inf"), "the penalty must be finite"), (("--turn", "inf"), "the length of a turn must be above 0")],
)
def test_infinite_penalties_and_turns_are_refused_before_anything_is_run(cli, arena, option, sentence):
    code, _, err = cli("compare", arena, *option)
    assert (code, sentence in err) == (FAILED, True)


def test_an_interrupt_ends_it_without_a_traceback(cli, arena, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("andante.episode.run.Outfit.run", interrupt)
    code, out, err = cli("solve", arena, "--start", "5,5", "--goal", "15,11")
    assert code == INTERRUPTED
    assert "Traceback" not in out + err


def test_algorithms_are_split_at_commas_outside_brackets():
    assert split_algorithms(["family(w=2, b=0.5),rta  astar", "lrta"]) == ["family(w=2, b=0.5)", "rta", "astar", "lrta"]
    with pytest.raises(andante.AndanteError, match="closing bracket too many"):
        split_algorithms(["rta)"])
    with pytest.raises(andante.AndanteError, match="lacks a closing bracket"):
        split_algorithms(["lrta(depth=3"])


# --- malicious input ------------------------------------------------------------------------------------------------

LONG = "a" * 5000
SCREEN = 24  # lines


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", LONG, "--start", "0,0", "--goal", "1,1"),
        ("solve", f"{LONG}.map", "--start", "0,0", "--goal", "1,1"),
        ("solve", "empty:8x8", "--start", LONG, "--goal", "1,1"),
        ("solve", "empty:8x8", "--start", "0,0", "--goal", "1,1", "-a", LONG),
        ("solve", "empty:8x8", "--start", "0,0", "--goal", "1,1", "--trace", f"{LONG}/a.json"),
        ("solve", "empty:8x8", "--start", "0,0", "--goal", "1,1", "--trace", f"{LONG}.json"),
        ("solve", "empty:8x8", "--start", "0,0", "--goal", "1,1", "--sight", LONG),
        ("solve", "empty:8x8", "--start", "0,0", "--goal", "1,1", "--sight", "9" * 5000),
        ("solve", "empty:8x8", "--start", "0,0", "--goal", "1,1", "--database", LONG),
        ("compare", f"empty:8x8:{'9' * 5000}"),
        ("maps", "show", f"empty({'x' * 5000}=1)"),
        ("maps", "show", f"empty(width={'9' * 900}, height=8)"),
        ("maps", "generate", "empty", f"{'9' * 5000}x8", "x.map"),
        ("maps", "generate", "empty", "8x8", f"{LONG}.map"),
        ("databases", "show", LONG),
        ("build", LONG, "empty:8x8"),
        ("build", "moves", LONG),
        ("campaign", "run", f"{LONG}.toml"),
        ("study", LONG),
        ("maps", "fetch", LONG),
        ("maps", "fetch", "dao", "--from", f"~{LONG}"),
        (LONG,),
        ("solve", f"--{LONG}"),
    ],
)
def test_long_arguments_get_short_answers(cli, arguments, monkeypatch, tmp_path):
    monkeypatch.setenv("ANDANTE_CACHE", str(tmp_path))
    monkeypatch.setattr("andante.datasets.movingai.cache_folder", cache_folder)  # other tests have it replaced
    code, out, err = cli(*arguments)
    assert code in (FAILED, USAGE)
    assert out == ""
    assert 0 < len(err.splitlines()) <= SCREEN
    assert len(err) < 24 * 80


def test_a_cache_folder_with_too_long_a_name_is_one_sentence(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("ANDANTE_CACHE", str(tmp_path / LONG))
    monkeypatch.setattr("andante.datasets.movingai.cache_folder", cache_folder)  # other tests have it replaced
    assert cli("maps", "list")[0] == OK
    code, _, err = cli("maps", "show", "dao/arena")
    assert code == FAILED
    assert "cannot store the set dao" in err


def test_errors_of_the_system_are_one_sentence(cli, arena, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr("andante.world.mapfiles.read_map", denied)
    code, _, err = cli("maps", "show", arena)
    assert (code, err) == (FAILED, "andante: /somewhere: Permission denied\n")


@pytest.mark.parametrize(
    "option", [("--microseconds",), ("--memory",), ("--build-time",), ("--minutes",), ("--optimal-cost", "0")]
)
def test_nan_is_refused(cli, option):
    code, _, err = cli("advise", "empty:8x8", *option, "nan")
    assert code == USAGE
    assert option[0] in err
    assert cli("solve", "empty:8x8", "--start", "0,0", "--goal", "1,1", "--suboptimality-cap", "nan")[0] == USAGE
    assert cli("compare", "empty:8x8", "--suboptimality-cap", "nan")[0] == USAGE


@pytest.mark.parametrize("name", ["[red]wall[/red]", "[/]", "[bold", ":smile:", "a$x_1$b", "%s {0}"])
def test_names_of_maps_are_not_markup(cli, tmp_path, name):
    andante.write_map(andante.generate("empty", 8, 8), tmp_path / f"{name}.map".replace("/", "_"))
    name = name.replace("/", "_")
    file = tmp_path / f"{name}.map"
    code, out, _ = cli("solve", file, "--start", "0,0", "--goal", "3,3")
    assert code == OK
    assert f"lrta on {name}: arrived" in out
    code, out, _ = cli("maps", "show", file)
    assert code == OK
    assert name in out


@pytest.mark.parametrize("name", ["\x1b[31mred", "\x9b2J", "a\x1b]0;title\x07", "\u202etxt"])
def test_names_of_maps_do_not_control_the_terminal(cli, tmp_path, name):
    andante.write_map(andante.generate("empty", 8, 8), file := tmp_path / f"{name}.map")
    for arguments in (("solve", file, "--start", "0,0", "--goal", "3,3"), ("maps", "show", file)):
        code, out, _ = cli(*arguments)
        assert code == OK
        assert all(line.isprintable() for line in out.split("\n"))


def test_a_progress_bar_shows_names_that_do_not_control_the_terminal():
    shown = StringIO()
    console = _Console(file=shown, force_terminal=True, color_system=None, width=60)
    with Progress(TextColumn("{task.description}", markup=False), console=console) as bar:
        bar.add_task("\x1b]0;title\x07", total=1)
    assert "\\x1b]0;t" in shown.getvalue()
    assert "\x1b]0" not in shown.getvalue()


def test_names_of_folders_are_not_markup(cli, tmp_path):
    folder = tmp_path / "[" / "]"
    folder.mkdir(parents=True)
    code, out, _ = cli("maps", "generate", "empty", "8x8", folder / "a.map")
    assert code == OK
    assert "[/]/a.map" in out


def test_the_rule_for_diagonal_moves_can_be_chosen(cli, tmp_path):
    ends = ["empty:8x8", "--start", "0,0", "--goal", "3,3", "--json"]
    costs = {rule: json.loads(cli("solve", *ends, "--rule", rule)[1])["cost"] for rule in ("octile", "cardinal")}
    assert costs == {"octile": pytest.approx(3 * 2**0.5), "cardinal": 6.0}
    code, _, err = cli("solve", *ends, "--rule", "diagonal")
    assert code == FAILED
    assert "unknown rule 'diagonal' for moves" in err
    options = ["-a", "lrta", "--problems", "5", "--rule", "cardinal", "--csv", tmp_path / "rows.csv"]
    assert cli("compare", "empty:8x8", *options)[0] == OK
    with (tmp_path / "rows.csv").open() as stream:
        assert all(float(row["optimal_cost"]).is_integer() for row in csv.DictReader(stream))
