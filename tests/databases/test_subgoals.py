"""Lookups of records: the tree against a list sorted by similarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.databases.header import Database, load
from andante.databases.subgoals import LEAF, Shortlist, Used, choose, index, levels, nearest
from andante.errors import DatabaseError
from andante.offline import build
from andante.search.hillclimb import climb
from andante.search.mind import Mind
from andante.world.graph import Graph
from andante.world.layout import estimate
from tests.worlds import RULES, examples, graphs, grids


def random_records(graph, count, seed):
    """Return random records with one to three subgoals each; lookups work with any."""
    chance = np.random.default_rng(seed)
    start, goal = (chance.integers(len(graph), size=count).astype(np.int32) for _ in range(2))
    first = np.concatenate([[0], np.cumsum(chance.integers(1, 4, size=count))]).astype(np.int32)
    return index(graph, start, goal, first, chance.integers(len(graph), size=first[-1]).astype(np.int32))


def by_similarity(subgoals, graph, state, goal, taboo=frozenset()):
    """Return all records whose first subgoal is not taboo, the most similar first."""
    free = [r for r in range(len(subgoals.start)) if int(subgoals.subgoal[subgoals.first[r]]) not in taboo]

    def apart(record):
        return estimate(graph.arrays, state, int(subgoals.start[record])) + estimate(
            graph.arrays, goal, int(subgoals.goal[record])
        )

    return sorted(free, key=lambda record: (apart(record), record))


records = st.sampled_from([0, 1, 2, LEAF, LEAF + 1, 100])
candidates = st.sampled_from([1, 2, 10, 200])


@given(st.one_of(grids(rules=RULES), graphs()), records, candidates, st.integers(0, 1000), st.data())
@examples(150)
def test_the_nearest_are_found_in_order(world, count, candidates, seed, data):
    graph = world if isinstance(world, Graph) else world.graph
    if data.draw(st.booleans()):
        graph = graph.csr()
    subgoals, found = random_records(graph, count, seed), Shortlist.over(graph, candidates)
    state, goal = (data.draw(st.integers(0, len(graph) - 1)) for _ in range(2))
    taboo = data.draw(st.sets(st.integers(0, len(graph) - 1)))
    used = Used.over(Mind(len(graph)))
    used.when[list(taboo)] = 7
    nearest(subgoals, found, graph.arrays, state, goal, used, 7)
    expected = by_similarity(subgoals, graph, state, goal, taboo)[:candidates]
    assert found.record[: found.scalars[0]["size"]].tolist() == expected


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "octile", "chebyshev"])
def test_the_metric_does_not_matter(metric):
    chance = np.random.default_rng(4)
    points = chance.random((200, 2))
    graph = Graph.from_edges([(i, i + 1, 9.0) for i in range(199)], points=points, metric=metric)
    subgoals, found = random_records(graph, 500, 5), Shortlist.over(graph, 20)
    for state, goal in chance.integers(200, size=(50, 2)).tolist():
        nearest(subgoals, found, graph.arrays, state, goal, Used.over(Mind(200)), 1)
        assert found.record.tolist() == by_similarity(subgoals, graph, state, goal)[:20]


@given(grids(side=12), st.integers(0, 1000), st.sampled_from([1, 3, 25]), st.data())
@examples(60)
def test_the_first_record_whose_ends_can_be_climbed_to_is_chosen(grid, seed, most, data):
    graph = grid.graph
    candidates = data.draw(st.sampled_from([15, 127, 128, 129, 256, 300, 1000, None]))
    subgoals, found = (
        random_records(graph, data.draw(st.sampled_from([60, 500])), seed),
        Shortlist.over(graph, candidates),
    )
    state, goal = (data.draw(st.integers(0, len(graph) - 1)) for _ in range(2))
    chosen, expanded = -1, 0
    for record in by_similarity(subgoals, graph, state, goal)[:candidates]:
        one = climb(graph.arrays, state, int(subgoals.start[record]), most)
        expanded += one.expanded
        if one.arrived:
            other = climb(graph.arrays, goal, int(subgoals.goal[record]), most)
            expanded += other.expanded
            if other.arrived:
                chosen = record
                break
    choice = choose(subgoals, found, graph.arrays, state, goal, most, Used.over(Mind(len(graph))), 1)
    assert (choice.record, choice.expanded) == (chosen, expanded)


def test_the_tree_keeps_every_record_and_its_series():
    grid = andante.generate("empty", 20, 20)
    chance = np.random.default_rng(1)
    start, goal = (chance.integers(400, size=100).astype(np.int32) for _ in range(2))
    first = np.arange(0, 202, 2).astype(np.int32)
    subgoal = np.stack([start, goal], 1).ravel()  # so that a record's series identifies it
    subgoals = index(grid.graph, start, goal, first, subgoal)
    assert sorted(zip(subgoals.start, subgoals.goal, strict=True)) == sorted(zip(start, goal, strict=True))
    for record in range(100):
        series = subgoals.subgoal[subgoals.first[record] : subgoals.first[record + 1]]
        assert series.tolist() == [subgoals.start[record], subgoals.goal[record]]


def test_leaves_are_small():
    for count in (1, 15, 16, 17, 31, 32, 33, 1000, 4097):
        leaves = 1 << levels(count)
        sizes = [((leaf + 1) * count // leaves) - leaf * count // leaves for leaf in range(leaves)]
        assert max(sizes) <= LEAF
        assert min(sizes) > 0


def test_records_that_make_no_sense_are_refused(tmp_path):
    grid = andante.generate("rooms", 24, 24, seed=1)
    database = build("subgoals(records=40)", grid)
    arrays = database.arrays
    for broken, sentence in [
        (arrays._replace(start=arrays.start + np.int32(576)), "refer to states beyond the 576"),
        (arrays._replace(subgoal=-arrays.subgoal - np.int32(1)), "refer to states beyond the 576"),
        (arrays._replace(first=arrays.first[::-1].copy()), "have no subgoal"),
        (arrays._replace(goal=arrays.goal[1:]), "do not match"),
        (arrays._replace(low=arrays.low[:, :2].copy()), "do not match"),
        (arrays._replace(low=arrays.low[:2], high=arrays.high[:2]), "do not match"),
    ]:
        Database("subgoals", database.fingerprint, {}, broken).save(tmp_path / "broken")
        with pytest.raises(DatabaseError, match=sentence):
            load(tmp_path / "broken", map=grid)
