"""Every entry of a compressed path database against distances computed one by one."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.databases.header import load
from andante.databases.kinds import kind_named
from andante.databases.moves import AHEAD, BORDER, CODES, LONG, SHORT, FirstMoves, beyond, expect, first_move
from andante.errors import DatabaseError
from andante.kernel import kernel
from andante.offline import build
from andante.search.dijkstra import distances
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from andante.world.layout import COUNT, size
from tests import naive
from tests.databases.files import put_together, taken_apart
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


@kernel
def look_up_all(moves, graph, found):
    """Look up the first move between all pairs of states; ``found`` is int64[n, n]."""
    for state in range(size(graph)):
        for goal in range(size(graph)):
            found[state, goal] = first_move(moves, graph, state, goal)


def all_moves(moves, graph):
    found = np.empty((len(graph), len(graph)), np.int64)
    look_up_all(moves, graph.arrays, found)
    return found


def assert_all_moves_are_optimal(graph, moves):
    """Check the same as above in one go, for larger maps."""
    found, far = all_moves(moves, graph), np.array([distances(graph, state) for state in range(len(graph))])
    for state in range(len(graph)):
        others = np.arange(len(graph)) != state
        assert ((found[state] < 0) == np.isinf(far[state]))[others].all()
        goals = np.flatnonzero(np.isfinite(far[state]) & others)
        near, cost = np.array(graph.neighbours(state) or np.empty((0, 2))).T
        begin = found[state, goals]
        left = cost[begin] + far[near.astype(int)[begin], goals]
        assert (left <= far[state, goals] + 1e-6 * graph.unit).all()


def borders_in(moves):
    return int((moves.first & CODES).sum())


def greedy_in(moves):
    runs = np.ones(len(moves.word), bool)
    for head in moves.first[:-1].tolist():
        runs[head >> 6 : (head >> 6) + BORDER * (head & CODES)] = False
    return int(np.isin(moves.word[runs] & CODES, (LONG, SHORT)).sum())


@pytest.mark.parametrize("kind", ["empty", "random", "rooms", "maze", "caves"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.compiled
def test_every_entry_is_optimal_on_generated_maps(kind, rule):
    grid = Grid(andante.generate(kind, 48, 32, seed=1).passable, rule=rule)
    moves = build("moves", grid).arrays
    assert_all_moves_are_optimal(grid.graph, moves)
    assert greedy_in(moves) > 0
    assert borders_in(moves) > 0 or kind not in ("random", "rooms")


def scattered(states, seed):
    """Return a graph of points in the plane, each joined to its nearest, at a cost near their distance."""
    chance = np.random.default_rng(seed)
    points = chance.random((states, 2)) * 100
    apart = np.hypot(*(points[:, None] - points).T)
    edges = [
        (a, int(b), float(apart[a, b] * chance.uniform(1, 1.3)))
        for a in range(states)
        for b in np.argsort(apart[a])[1:6]
    ]
    return Graph.from_edges(edges, points=points)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_every_entry_is_optimal_between_scattered_points(seed):
    graph = scattered(120, seed)
    moves = build("moves", graph, threads=1).arrays
    assert_all_moves_are_optimal(graph, moves)
    assert greedy_in(moves) > 0


@pytest.mark.compiled
def test_every_entry_is_optimal_on_a_street_map():
    """The graph has rows of arcs under the metric of the plane, with blocks to walk around on either side."""
    grid = andante.generate("random", 24, 24, seed=5, density=0.2)
    arrays = grid.graph.csr().arrays
    graph = grid.graph.with_points(arrays.point, "euclidean")
    assert_all_moves_are_optimal(graph, build("moves", graph).arrays)


@pytest.mark.compiled
def test_without_a_heuristic_there_are_no_borders():
    graph = andante.generate("random", 20, 20, seed=5).graph.csr()
    blind = graph.with_points(np.empty((len(graph), 0)), "euclidean")
    moves = build("moves", blind).arrays
    assert borders_in(moves) == 0
    assert_all_moves_are_optimal(blind, moves)


@pytest.mark.compiled
@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_the_unit_of_costs_does_not_matter(factor):
    graph = andante.generate("rooms", 20, 20, seed=5).graph.csr()
    ours, theirs = build("moves", graph).arrays, build("moves", graph.scaled(factor)).arrays
    assert borders_in(ours) > 0
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


def test_components_are_independent():
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


def test_on_an_empty_map_a_row_is_one_run():
    """The greedy move is right for every goal."""
    moves = build("moves", andante.generate("empty", 12, 9)).arrays
    assert len(moves.word) == 12 * 9
    assert borders_in(moves) == 0


def test_rows_are_prefetched_from_everywhere():
    """This holds also if the direction leads off the map or to a blocked cell, or moves have no direction."""
    grid, database = with_borders()
    for graph in (grid.graph, grid.graph.csr()):
        for state in range(len(graph)):
            for near, _ in graph.neighbours(state):
                ahead = near + AHEAD * (near - state)
                inside = 0 <= ahead < len(graph) and graph is grid.graph
                assert max(beyond(graph.arrays, state, near), -1) == (ahead if inside else -1)
                assert expect(database.arrays, graph.arrays, state, near) is None


# --- damage ---------------------------------------------------------------------------------------------------------


@functools.cache
def with_borders():
    """Return a small map, and a database for it that has borders."""
    free = np.ones((9, 9), bool)
    free[2:5, 1:5] = free[4:7, 5:7] = free[7, 2:4] = False
    grid = Grid(free)
    return grid, build("moves", grid, threads=1)


def test_the_small_database_has_all_that_can_be_damaged():
    grid, database = with_borders()
    assert borders_in(database.arrays) > 3
    assert greedy_in(database.arrays) > 0
    assert_all_moves_are_optimal(grid.graph, database.arrays)


def test_moves_that_do_not_exist_are_refused(tmp_path):
    grid, database = with_borders()
    arrays = database.arrays
    for broken in (
        arrays._replace(word=arrays.word | 7),  # a corner has no eighth move
        arrays._replace(word=arrays.word | CODES),
        arrays._replace(word=arrays.word[:-1].copy()),
        arrays._replace(rank=arrays.rank + np.int32(1)),
        arrays._replace(first=arrays.first + (1 << 6)),
        arrays._replace(first=arrays.first | CODES),
        arrays._replace(first=arrays.first - (1 << 62)),
        arrays._replace(first=arrays.first[::-1].copy()),
    ):
        type(database)("moves", database.fingerprint, {}, broken).save(tmp_path / "broken")
        with pytest.raises(DatabaseError, match="moves that do not exist"):
            load(tmp_path / "broken", map=grid)


@pytest.mark.compiled
def test_no_number_in_a_file_leads_a_kernel_astray():
    """Databases that pass the check refer only to moves and states that exist."""
    grid, database = with_borders()
    graph, arrays, fault = grid.graph, database.arrays, kind_named("moves").fault
    most = COUNT[graph.arrays.mask].astype(int)[:, None]
    taken, chance = 0, np.random.default_rng(0)
    for name, array in arrays._asdict().items():
        whole = np.iinfo(array.dtype)
        for place in range(len(array)):
            now = int(array[place])
            odd = [whole.min, whole.max, now ^ 1 << int(chance.integers(0, 6)), now ^ 1 << int(chance.integers(6, 31))]
            for value in (value for value in odd if whole.min <= value <= whole.max):
                other = array.copy()
                other[place] = value
                forged = arrays._replace(**{name: other})
                if fault(forged, graph) is None:
                    found = all_moves(forged, graph)
                    assert ((found >= -1) & (found < np.maximum(most, 1))).all()
                    assert (named_states(forged) < len(graph)).all()
                    taken += 1
    assert taken > 0


def named_states(moves):
    """Return the corners of all borders."""
    begins = [(head >> 6) + BORDER * k for head in moves.first[:-1].tolist() for k in range(head & CODES)]
    return np.array([int(moves.word[begin + side]) >> 6 for begin in begins for side in (0, 1)])


def test_a_file_with_borders_is_refused_whatever_byte_is_flipped_or_missing(tmp_path):
    grid, database = with_borders()
    database.save(tmp_path / "whole")
    whole, file = (tmp_path / "whole").read_bytes(), tmp_path / "damaged"
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        for data in (damaged, whole[:place]):
            file.write_bytes(data)
            with pytest.raises(DatabaseError):
                load(file, map=grid)


def test_databases_without_borders_have_to_be_built_again(tmp_path):
    """Earlier versions wrote the same rows under another name."""
    grid, database = with_borders()
    database.save(tmp_path / "new")
    head, body = taken_apart((tmp_path / "new").read_bytes())
    for array in head["arrays"]:
        if array["name"].rstrip(b"\0") == b"word":
            array["name"] = b"run"
    (tmp_path / "old").write_bytes(put_together(head, body))
    with pytest.raises(DatabaseError, match="those of an older version; build it again with 'andante build'"):
        load(tmp_path / "old", map=grid)


def test_a_graph_without_arcs_has_an_empty_database():
    graph = Graph.from_edges([], states=3)
    moves = build("moves", graph).arrays
    assert isinstance(moves, FirstMoves)
    assert first_move(moves, graph.arrays, 0, 1) == -1
