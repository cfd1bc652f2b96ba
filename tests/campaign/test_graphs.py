"""Campaigns on graphs and with other rules for moves work as on maps."""

import json
from textwrap import dedent

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

import andante
from andante.campaign import CampaignError, plan_of, read_campaign, run
from andante.campaign.compiling import small_graphs
from andante.campaign.engines.local import Local
from andante.campaign.maps import PlannedMap, map_sources
from andante.datasets.named import graph_named, map_named
from andante.store import Store
from andante.world.graphfiles import read_graph

GRAPHS = """
    seed = 3
    [problems.puzzles]
    maps = ["puzzle(width=3, height=2)", "pancakes(count=[4, 5])"]
    count = 6
    optimal_cost = [2, 99]
    [problems.files]
    maps = ["town.edges", "roads.gr"]
    count = 5
    [[run]]
    algorithms = ["lrta", "rta"]
    limits = { moves = 100000 }
"""


@pytest.fixture
def campaign(tmp_path):
    rng = np.random.default_rng(1)
    ring = [f"s{k} s{(k + 1) % 20} {rng.integers(1, 9)}" for k in range(20)]
    (tmp_path / "town.edges").write_text("\n".join([*ring, "s0 s7 4", "s3 s15 2"]))
    arcs = [f"a {k + 1} {(k + step) % 20 + 1} {10 * step + 1}" for k in range(20) for step in (1, 3)]
    (tmp_path / "roads.gr").write_text("\n".join([f"p sp 20 {len(arcs)}", *arcs]))

    def write(text=GRAPHS):
        path = tmp_path / "graphs.toml"
        path.write_text(dedent(text))
        return path

    return write


def test_rows_are_those_of_run(campaign, tmp_path):
    path = campaign()
    assert run(read_campaign(path), tmp_path / "rows", Local(2)).finished
    rows = Store(tmp_path / "rows").frame()
    graphs = {
        "puzzle-3x2": graph_named("puzzle(width=3, height=2)"),
        "pancakes-4": graph_named("pancakes(count=4)"),
        "pancakes-5": graph_named("pancakes(count=5)"),
        "town": read_graph(tmp_path / "town.edges"),
        "roads": read_graph(tmp_path / "roads.gr"),
    }
    assert len(rows) == 2 * (3 * 6 + 2 * 5)
    assert set(rows["map"]) == set(graphs)
    far = {name: dijkstra(graph.to_scipy()) for name, graph in graphs.items()}
    for row in rows.iter_rows(named=True):
        graph = graphs[row["map"]]
        trial = andante.run(row["algorithm"], andante.Problem(graph, row["start"], row["goal"]))
        assert (row["cost"], row["moves"], row["outcome"]) == (trial.cost, trial.moves, trial.outcome.name)
        assert row["optimal_cost"] == far[row["map"]][row["start"], row["goal"]]
        assert row["set"] != "puzzles" or 2 <= row["optimal_cost"] < 99


def test_the_graphs_that_the_plan_compiles_for(campaign, tmp_path):
    run(read_campaign(campaign()), tmp_path / "rows", Local(1))
    plan = plan_of(Store(tmp_path / "rows"), str(tmp_path))
    both, one = small_graphs(plan.maps)
    assert both.reversed() is both
    assert one.reversed() is not one  # for roads.gr


def test_problems_on_a_graph_are_drawn_reproducibly():
    graph = graph_named("pancakes(count=4)")
    far = dijkstra(graph.to_scipy())
    pairs = {(a, b) for a in range(24) for b in range(24) if far[a, b] == 2}
    drawn = andante.random_problems(graph, len(pairs), optimal_cost=(2, 3), seed=1)
    assert {(p.start, p.goal) for p in drawn} == pairs
    assert all(p.optimal_cost == 2 and p.grid is None for p in drawn)


def test_landmarks_are_a_heuristic_for_graphs_without_points(campaign):
    path = campaign(GRAPHS.replace('maps = ["town.edges", "roads.gr"]', 'maps = ["town.edges"]\n    landmarks = 3'))
    (source,) = map_sources("town.edges", path.parent, landmarks=read_campaign(path).problems["files"].landmarks)
    graph = source.world()
    expected = andante.with_landmarks(read_graph(path.parent / "town.edges"), 3)
    assert graph == expected
    planned = PlannedMap.of(source)
    assert PlannedMap.from_data(json.loads(json.dumps(planned.as_data())), source.folder) == planned


RULES = """
    [problems.rooms]
    maps = ["rooms(width=24, height=24, seed=1)"]
    count = 6
    rule = "{}"
    [[run]]
    algorithms = ["lrta"]
"""


@pytest.mark.parametrize("rule", ["cardinal", "corners"])
def test_a_campaign_may_have_another_rule_for_moves(campaign, tmp_path, rule):
    path = campaign(RULES.format(rule))
    assert run(read_campaign(path), tmp_path / "rows", Local(1)).finished
    grid = map_named("rooms(width=24, height=24, seed=1)", rule=rule)
    assert grid.rule == rule
    rows = Store(tmp_path / "rows").frame()
    assert set(rows["fingerprint"]) == {grid.fingerprint}
    far = dijkstra(grid.graph.to_scipy())
    assert [far[a, b] for a, b in zip(rows["start"], rows["goal"], strict=True)] == pytest.approx(
        rows["optimal_cost"].to_list()
    )
    (planned,) = plan_of(Store(tmp_path / "rows"), str(tmp_path)).maps
    assert planned.source.rule == rule


def test_settings_without_these_keys_are_unchanged(campaign):
    settings = read_campaign(campaign(RULES.format("octile"))).problems["rooms"].settings
    assert not {"rule", "landmarks", "scene"} & set(settings)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (RULES.format("diagonal"), "line 5: there is no rule 'diagonal' for moves"),
        (GRAPHS.replace("count = 6", "upscale = [9, 9]\ncount = 6"), "'upscale' is for maps"),
        (GRAPHS.replace("count = 6", 'from = "scenarios"'), "'from' is for maps"),
        (GRAPHS.replace("count = 6", 'rule = "cardinal"\ncount = 6'), "'rule' is for maps that do not change"),
        (RULES.replace('rule = "{}"', "landmarks = 3"), "'landmarks' is for graphs"),
        (GRAPHS.replace("town.edges", "city.edges"), "there is no graph .*city.edges"),
        (GRAPHS.replace("[4, 5]", "[4, 50]"), None),
        (GRAPHS.replace("count=[4, 5]", "size=4"), "pancakes has no option 'size'"),
    ],
)
def test_contradictions_are_refused_with_their_line(campaign, tmp_path, text, sentence):
    path = campaign(text)
    with pytest.raises(andante.AndanteError, match=sentence or "a stack has 2 to 8 pancakes, not 50") as refusal:
        run(read_campaign(path), tmp_path / "rows", Local(1))
    assert sentence is None or (isinstance(refusal.value, CampaignError) and ", line " in str(refusal.value))


def test_a_graph_that_has_changed_is_noticed(campaign, tmp_path):
    path = campaign()
    (source,) = map_sources("town.edges", path.parent)
    planned = PlannedMap.of(source)
    with (tmp_path / "town.edges").open("a") as file:
        file.write("\ns1 s9 3")
    with pytest.raises(CampaignError, match=r"the graph town.edges has changed since the campaign was planned"):
        planned.world()
