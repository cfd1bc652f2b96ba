"""Regions, base paths and first arcs against brute force: every state, every leg and every pair of regions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.databases.regions import region_of
from andante.errors import DatabaseError, GraphError
from andante.offline import build, regions
from andante.world.graph import Graph
from tests import naive
from tests.offline import plain_regions as plain
from tests.worlds import RULES, examples, graphs, grids


def assert_all_is_right(graph, database):
    arrays, m, borders = database.arrays, database.parameters["m"], database.parameters["borders"]
    members, seeds = plain.regions(arrays, graph), arrays.seed.tolist()
    assert sorted(members) == list(range(len(seeds)))
    for region, states in members.items():
        assert seeds[region] in states
        for state in states:
            assert plain.climbed(graph, state, seeds[region], m) is not None
            assert plain.climbed(graph, seeds[region], state, m) is not None
    pairs = list(plain.within(graph, members, borders))
    cost = plain.shortest(graph, seeds, pairs)
    walked = {}
    for here in members:
        field = naive.distances_from(graph, seeds[here])
        for arc in range(arrays.first[here], arrays.first[here + 1]):
            assert (here, arrays.to[arc]) in pairs
            walked[here, arc] = assert_legs_can_be_climbed_for_the_cost_of_a_shortest_path(
                graph, arrays, seeds, here, arc, field
            )
    named = set()
    for here in members:
        for there in members:
            arcs = plain.walk(arrays, here, there)
            named.update(arcs or [])
            assert (arcs is None) == math.isinf(cost[here, there])
            if arcs is not None:
                assert sum(walked[arc] for arc in arcs) == pytest.approx(cost[here, there])
    assert named == set(walked)  # every stored arc is used


def assert_legs_can_be_climbed_for_the_cost_of_a_shortest_path(graph, arrays, seeds, here, arc, field):
    state, total = seeds[here], 0.0
    for subgoal in plain.chain(arrays, here, arc):
        leg = plain.climbed(graph, state, subgoal)
        assert leg is not None
        state, total = subgoal, total + leg.cost
    assert total == pytest.approx(field[state])
    return total


steps, borders = st.sampled_from([1, 2, 3, 5, 50]), st.sampled_from([1, 2, 3, 100])


@given(grids(side=10, rules=RULES), steps, borders, st.integers(0, 5))
@examples(60)
def test_all_is_right_on_grids(grid, m, borders, seed):
    assert_all_is_right(grid.graph, build("regions", grid, m=m, borders=borders, seed=seed, threads=1))


@given(graphs(states=12), steps, borders, st.data())
@examples(100)
def test_all_is_right_on_graphs(graph, m, borders, data):
    """Without a heuristic regions are stars: climbing takes one step, to a neighbour."""
    if data.draw(st.booleans()):
        place = st.tuples(*(st.integers(0, 3).map(lambda eighths: eighths / 64) for _ in range(3)))
        points = data.draw(st.lists(place, min_size=len(graph), max_size=len(graph)))
        graph = graph.with_points(points, "chebyshev")
    assert_all_is_right(graph, build("regions", graph, m=m, borders=borders, threads=1))


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["maze", "rooms", "caves", "random"])
def test_all_is_right_on_generated_maps(kind):
    grid = andante.generate(kind, 31, 31, seed=2)
    assert_all_is_right(grid.graph, build("regions(m=8)", grid))


def test_an_open_map_is_one_region():
    grid = andante.generate("empty", 20, 20)
    assert build("regions(m=20)", grid).arrays.seed.tolist() in ([grid.state(x, y)] for x in (9, 10) for y in (9, 10))


def test_the_same_map_in_rows_of_arcs_has_the_same_regions():
    grid = andante.generate("rooms", 24, 24, seed=3)
    ours, theirs = build("regions", grid).arrays, build("regions", grid.graph.csr()).arrays
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


def test_another_seed_gives_other_regions():
    grid = andante.generate("rooms", 24, 24, seed=3)
    one, other = (build("regions(m=5)", grid, seed=seed).arrays.seed for seed in (1, 2))
    assert not np.array_equal(one, other)


def test_runs_contain_the_region_of_every_state():
    """Runs are long and short, cross the ends of blocks, and have gaps at both ends."""
    chance = np.random.default_rng(1)
    for n in (0, 1, 255, 256, 257, 1000):
        region = np.repeat(chance.integers(-1, 9, n), chance.integers(1, 90, n))[:n].astype(np.int32)
        block, begin, of_run = regions._runs(region)
        bundle = regions.Regions(block, begin, of_run, *[np.zeros(1, np.int32)] * 10)
        for state in np.flatnonzero(region >= 0).tolist():
            assert region_of(bundle, state) == region[state]
        assert (np.diff(block) > 0).all()


@pytest.mark.parametrize("states", [0, 3])
def test_without_moves_there_are_no_regions(states):
    graph = Graph.from_edges([], states=states)
    assert len(build("regions", graph).arrays.seed) == 0


def test_a_region_may_have_more_arcs_than_a_byte_can_number():
    """A hub has 300 spokes, so the hub's region has borders with almost all others."""
    spokes = range(1, 901, 3)
    edges = [edge for s in spokes for edge in ((0, s, 2.0), (s, s + 1, 1.0), (s + 1, s + 2, 1.0))]
    graph = Graph.from_edges(edges)
    database = build("regions(m=1, borders=1)", graph)
    arrays = database.arrays
    assert np.diff(arrays.first).max() > 255
    assert len(arrays.wide) == len(arrays.arc)
    problems = [graph.problem(s + 2, s + 152) for s in spokes[:-60]]
    for trial in andante.run_many("hcdps(shortcuts=off, m=0)", problems, databases=database):
        assert trial.solved


def test_one_way_graphs_are_refused():
    with pytest.raises(GraphError, match="every move can be reversed at the same cost"):
        build("regions", Graph.from_edges([(0, 1, 1.0)], directed=True))


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("MOST_REGIONS", "more regions than the limit of 3; with climbs of more steps than m=2"),
        ("MOST_PATHS", r"over up to 3 borders need \d+ of them, and \d+ from one region; the limits are 3, and"),
        ("MOST_ARCS", r"need \d+ of them, and \d+ from one region; .* and 3 from one region: use fewer borders"),
    ],
)
def test_databases_that_would_be_too_large_are_refused(limit, sentence, monkeypatch):
    monkeypatch.setattr(regions, limit, 3)
    with pytest.raises(DatabaseError, match=sentence):
        build("regions(m=2)", andante.generate("rooms", 16, 16, seed=1))
