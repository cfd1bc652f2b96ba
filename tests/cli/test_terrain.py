"""Costs of cells and sixteen neighbours on the command line and in campaign files."""

import json
import re

import pytest

import andante
from andante.campaign import read_campaign, run
from andante.campaign.compiling import small_maps
from andante.campaign.engines.local import Local
from andante.campaign.maps import PlannedMap, map_sources
from andante.datasets.named import map_named
from andante.store import Store
from andante.world.layout import Moves, Sixteen, Terrain
from andante.world.scenes import read_scene

MAP = "type octile\nheight 4\nwidth 6\nmap\n......\n.SSSS.\n.SSSS.\n..WW..\n"


@pytest.fixture
def swamp(tmp_path):
    path = tmp_path / "swamp.map"
    path.write_text(MAP)
    return path


@pytest.fixture
def solve(cli, swamp):
    """A function that solves one problem with A*, with further options."""
    return lambda *more: cli("solve", swamp, "--start", "0,1", "--goal", "5,2", "-a", "astar", "--json", *more)


def test_solve(swamp, solve):
    for costs, more in (
        ({}, []),
        ({"S": 3}, ["--terrain", "S=3"]),
        ({"S": 9, "W": 2}, ["--terrain", "W=2, S=9"]),
    ):
        code, out, _ = solve(*more)
        grid = andante.read_map(swamp, costs=costs)
        assert code == 0
        assert json.loads(out)["cost"] == andante.run("astar", grid.problem((0, 1), (5, 2))).cost
    _, out, _ = solve("--rule", "sixteen")
    grid = andante.read_map(swamp, rule="sixteen")
    assert json.loads(out)["cost"] == andante.run("astar", grid.problem((0, 1), (5, 2))).cost


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--terrain", "S:3"], "costs of cells are written CHARACTER=COST"),
        (["--terrain", "S=0"], "a cell can cost 0.000976562 to 1024, and S would cost 0"),
        (["--rule", "sixten"], "did you mean 'sixteen'?"),
        (["--rule", "sixteen", "--terrain", "S=3"], "the rule of sixteen neighbours takes maps whose cells all cost 1"),
        (["--rule", "sixteen", "--sight", "3"], "an agent with sight takes maps under the rules octile, corners"),
    ],
)
def test_mistakes_are_one_sentence(solve, more, sentence):
    code, _, err = solve(*more)
    assert code != 0
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err


def test_databases_are_for_the_costs_they_were_built_for(cli, swamp, solve, tmp_path):
    assert cli("build", "moves", swamp, "--terrain", "S=3", "--out", tmp_path)[0] == 0
    database = ("-a", "cpd", "--database", tmp_path / "swamp.moves")
    code, out, _ = solve("--terrain", "S=3", *database)
    assert code == 0
    assert json.loads(out)["suboptimality_ratio"] == 1.0
    code, _, err = solve(*database)
    assert code != 0
    assert "was built for another map" in " ".join(err.split())


def test_maps(cli, swamp, tmp_path):
    assert json.loads(cli("maps", "show", swamp, "--terrain", "S=3,W=2", "--json")[1])["costs_of_cells"] == [1, 2, 3]
    file = tmp_path / "made.map"
    code, out, _ = cli("maps", "generate", "countryside", "40x30", file, "--option", "grass_cost=2")
    assert code == 0
    assert "read it with --terrain G=2,S=3" in " ".join(out.split())
    made = andante.read_map(file, costs={"G": 2, "S": 3})
    assert made == andante.generate("countryside", 40, 30, grass_cost=2)


def test_commands_that_do_not_accept_costs_say_so(cli, tmp_path):
    for command in (
        ("maps", "scene", "countryside:32x32:1", tmp_path / "a.scene", "--units", 5, "--ticks", 20),
        ("export", "lrta", "--map", "countryside:32x32:1", "--out", tmp_path / "out"),
    ):
        code, _, err = cli(*command)
        assert code != 0
        assert "cost" in err
    assert list(tmp_path.iterdir()) == []


def test_every_command_that_reads_a_map_accepts_rule_and_terrain(cli, swamp, tmp_path):
    costs = ("--rule", "cardinal", "--terrain", "S=3")
    assert cli("build", "moves", swamp, *costs, "--out", tmp_path)[0] == 0
    file = tmp_path / "swamp.moves"
    assert "serves" in cli("databases", "show", file, "--map", swamp, *costs)[1]
    for wrong in ((), costs[:2], costs[2:]):
        code, _, err = cli("databases", "show", file, "--map", swamp, *wrong)
        assert code != 0
        assert "was built for another map" in " ".join(err.split())
    grid = andante.read_map(swamp, rule="cardinal")
    assert cli("maps", "scene", swamp, tmp_path / "a.scene", "--units", 3, "--ticks", 20, "--rule", "cardinal")[0] == 0
    assert read_scene(tmp_path / "a.scene").grid.rule == grid.rule


@pytest.mark.parametrize("options", [("--terrain", "S=3"), ("--rule", "sixteen")])
def test_commands_that_accept_neither_costs_nor_leaps_say_so(cli, swamp, tmp_path, options, monkeypatch):
    monkeypatch.setattr("andante.play.page.check_built", lambda: None)
    for command in (
        ("maps", "scene", swamp, tmp_path / "a.scene", "--units", 3, "--ticks", 20),
        ("export", "lrta", "--map", swamp, "--out", tmp_path / "out"),
        ("play", swamp, "--out", tmp_path / "play.html", "--no-open"),
    ):
        code, _, err = cli(*command, *options)
        assert code != 0
        assert re.search("all cost 1|is under sixteen", " ".join(err.split())), err
    assert list(tmp_path.iterdir()) == [swamp]


@pytest.mark.parametrize("options", [("--terrain", "S=3"), ("--rule", "corners")])
def test_options_about_a_map_need_one(cli, swamp, tmp_path, options):
    assert cli("build", "moves", swamp, "--out", tmp_path)[0] == 0
    code, _, err = cli("databases", "show", tmp_path / "swamp.moves", *options)
    assert code != 0
    assert f"{options[0]} determines how a map is read, so it needs --map" in " ".join(err.split())


@pytest.mark.full
def test_advice_on_costs(cli, tmp_path):
    wet = ("countryside:24x24:1", "--terrain", "S=9", "--expansions", 10, "--problems", 10, "--candidates", 2)
    code, out, err = cli("advise", *wet, "--memory", 0, "--json")
    assert code == 0, err
    assert json.loads(out)


CAMPAIGN = """
[problems.wet]
maps = ["rooms(width=24, height=24, seed=1)", "countryside(width=24, height=24)"]
terrain = "{}"
count = 4

[[run]]
algorithms = ["lrta", "astar"]
"""


def written(tmp_path, terrain):
    path = tmp_path / "wet.toml"
    path.write_text(CAMPAIGN.format(terrain))
    return path


def test_a_campaign_has_costs(tmp_path):
    one = read_campaign(written(tmp_path, "W=8, S=2")).problems["wet"]
    assert one.terrain == "S=2,W=8"
    assert one.settings["terrain"] == "S=2,W=8"
    sources = [source for text in one.maps for source in map_sources(text, tmp_path, terrain=one.terrain)]
    assert sources[1].world() == map_named(one.maps[1], costs={"S": 2, "W": 8})
    planned = PlannedMap.of(sources[1])
    again = PlannedMap.from_data(json.loads(json.dumps(planned.as_data())), "")
    assert again.source.terrain == "S=2,W=8"
    assert again.world().fingerprint == planned.fingerprint
    assert "terrain" not in read_campaign(written(tmp_path, "")).problems["wet"].settings


def test_each_layout_among_the_maps_is_compiled_in_advance(tmp_path):
    def layouts(*named, **how):
        maps = [PlannedMap.of(source) for text in named for source in map_sources(text, tmp_path, **how)]
        return [type(grid.graph.arrays) for grid in small_maps(maps)]

    assert layouts("empty:9x9", "rooms:9x9", "puzzle(width=2, height=2)") == [Moves]
    assert layouts("countryside:16x16", "empty:9x9") == [Terrain, Moves]
    assert layouts("empty:9x9", terrain="S=2") == [Terrain]
    assert layouts("empty:9x9", rule="sixteen") == [Sixteen]
    assert layouts("pancakes(count=4)") == []


def test_a_campaign_with_wrong_costs_names_the_line(tmp_path):
    with pytest.raises(andante.AndanteError, match="line 4: costs of cells are written CHARACTER=COST"):
        read_campaign(written(tmp_path, "S"))


def test_a_campaign_runs(tmp_path):
    assert run(read_campaign(written(tmp_path, "S=2,W=8")), tmp_path / "rows", Local(1)).finished
    rows = Store(tmp_path / "rows").frame()
    assert set(rows["outcome"]) == {"GOAL"}
    assert set(rows.filter(rows["algorithm"] == "astar")["suboptimality_ratio"]) == {1.0}
    wet = map_named("countryside(width=24, height=24)", costs={"S": 2, "W": 8})
    assert wet.fingerprint in set(rows["fingerprint"])
