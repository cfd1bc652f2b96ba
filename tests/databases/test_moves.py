"""Every entry of a compressed path database against distances found one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.databases.header import load
from andante.databases.moves import FirstMoves, first_move
from andante.errors import DatabaseError
from andante.offline import build
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import examples, graphs, grids


def assert_every_entry_is_optimal(graph):
    moves = build("moves", graph, threads=2).arrays
    fields = [naive.distances_from(graph, state) for state in range(len(graph))]
    for state in range(len(graph)):
        for goal in range(len(graph)):
            k = first_move(moves, graph.arrays, state, goal)
            if goal not in fields[state]:
                assert k == -1
            elif goal != state:
                near, cost = graph.neighbours(state)[k]
                assert cost + fields[near][goal] == pytest.approx(fields[state][goal], abs=1e-9)


@given(grids(rules=RULES))
@examples(60)
def test_every_entry_is_optimal_on_grids(grid):
    assert_every_entry_is_optimal(grid.graph)


@given(st.one_of(graphs(), graphs(directed=True)))
@examples(100)
def test_every_entry_is_optimal_on_graphs(graph):
    assert_every_entry_is_optimal(graph)


@pytest.mark.parametrize(("kind", "side"), [("maze", 13), ("rooms", 16), ("random", 13)])
def test_every_entry_is_optimal_on_generated_maps(kind, side):
    assert_every_entry_is_optimal(andante.generate(kind, side, side, seed=3).graph)


def test_components_know_nothing_of_each_other():
    passable = np.ones((5, 9), bool)
    passable[:, 2] = passable[:, 6] = False
    grid = Grid(passable)
    moves = build("moves", grid).arrays
    places = [grid.state(x, 2) for x in (0, 4, 8)]
    for state in places:
        for goal in places:
            assert (first_move(moves, grid.graph.arrays, state, goal) == -1) == (state != goal)
    assert first_move(moves, grid.graph.arrays, grid.state(2, 2), places[0]) == -1  # a blocked cell


@given(grids(rules=RULES))
@examples(30)
def test_the_same_map_in_rows_of_arcs_gives_the_same_database(grid):
    ours, theirs = build("moves", grid).arrays, build("moves", grid.graph.csr()).arrays
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


def test_runs_are_few():
    """On an empty map a row is hardly more than one run per direction and turn of the curve."""
    moves = build("moves", andante.generate("empty", 32, 32)).arrays
    assert len(moves.word) < 24 * 32 * 32


def test_moves_that_do_not_exist_are_refused(tmp_path):
    grid = andante.generate("empty", 4, 4)
    database = build("moves", grid)
    for broken in (
        database.arrays._replace(word=database.arrays.word | 7),  # a corner has no eighth move
        database.arrays._replace(rank=database.arrays.rank + np.int32(1)),
        database.arrays._replace(first=database.arrays.first + 64),
        database.arrays._replace(first=database.arrays.first[::-1].copy()),
    ):
        type(database)("moves", database.fingerprint, {}, broken).save(tmp_path / "broken")
        with pytest.raises(DatabaseError, match="moves that do not exist"):
            load(tmp_path / "broken", map=grid)


def test_a_graph_without_arcs_has_an_empty_database():
    graph = Graph.from_edges([], states=3)
    moves = build("moves", graph).arrays
    assert isinstance(moves, FirstMoves)
    assert first_move(moves, graph.arrays, 0, 1) == -1
