"""Pattern databases against brute force: every pair of regions, worked out the plain way."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.hierarchy import hierarchy_of
from andante.databases.header import Database, load
from andante.databases.pattern import NO_STATE
from andante.errors import AndanteError, DatabaseError, ParameterError
from andante.notation import Call
from andante.offline import build
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from tests import naive
from tests.worlds import examples, grids

METRICS = ("octile", "euclidean", "manhattan", "chebyshev")


class Twin:
    """What a pattern database should hold, from the levels of the map's hierarchy."""

    def __init__(self, world, level, base):
        self.levels = hierarchy_of(world if isinstance(world, Graph) else world.graph)
        self.graph = self.levels.level(base)
        self.level, self.base = level, base
        if level == 0:  # states that can be left are regions of their own
            self.members = [[state] for state in range(len(self.graph)) if self.graph.neighbours(state)]
        else:
            self.members = [self.below(level, node) for node in range(len(self.levels.nodes(level)))]
        self.region = {state: number for number, states in enumerate(self.members) for state in states}
        self.representative = [self.middle(number) for number in range(self.regions)]
        self.distances_to = cache(lambda goal: naive.distances_to(self.graph, goal))
        self.counts_to = cache(lambda goal: naive.path_counts(self.graph, self.distances_to(goal)))

    @property
    def regions(self):
        return len(self.members)

    def below(self, level, state, floor=None):
        """The states of the level ``floor``, or of the one agents plan on, that make up a state of ``level``."""
        floor = self.base if floor is None else floor
        if level == floor:
            return [state]
        return [s for child in self.levels.children(level, state) for s in self.below(level - 1, child, floor)]

    def place(self, level, state):
        """The mean of all its ground states' coordinates."""
        points = self.levels.graph.csr().arrays.point
        return points[self.below(level, state, 0)].mean(0)

    def middle(self, number):
        if self.level == 0:
            return self.members[number][0]
        centre = self.place(self.level, number)
        apart = {s: round(float(((self.place(self.base, s) - centre) ** 2).sum()), 9) for s in self.members[number]}
        return min(sorted(apart), key=apart.__getitem__)

    def regions_of(self, goals):
        """The regions that these states of the map lie in, each once."""
        found = {
            n
            for n, states in enumerate(self.members)
            for s in states
            for g in self.below(self.base, s, 0)
            if g in goals
        }
        return sorted(found)

    def entry(self, start, goal, aim):
        """Where the way leads first that takes, over and over, the move after which most optimal paths are left."""
        state, left = self.representative[start], self.distances_to(self.representative[goal])
        counts = self.counts_to(self.representative[goal])
        if start == goal or state not in left:
            return NO_STATE
        here = left[state]
        while self.region[state] == start or (aim == "nearer" and not self.nearer(state, left, here)):
            state = naive.central_step(self.graph, left, counts, state)
        return self.representative[self.region[state]] if aim == "centre" else state

    def nearer(self, state, left, than):
        """Is the representative of the state's region nearer?"""
        return left[self.representative[self.region[state]]] < than - TOLERANCE

    def depth(self, start, aim, cap):
        """The least depth at which LRTA*, knowing nothing yet, makes one of them."""
        state = self.representative[start]
        if aim in (NO_STATE, state):
            return 1
        best = naive.optimal_moves(self.graph, self.distances_to(aim), state)
        arrays = self.graph.csr().arrays
        h = naive.point_heuristic([tuple(row) for row in arrays.point.tolist()], METRICS[arrays.metric], aim)
        return next((d for d in range(1, cap) if naive.lookahead(self.graph, h, state, aim, d).first in best), cap)


def assert_every_entry_is_right(world, parameters, goals=None):
    database = build(f"pattern({parameters})", world, threads=2, goals=goals)
    how, pattern = database.parameters, database.arrays
    twin = Twin(world, how["level"], how["base"])
    names = range(len(pattern.region)) if how["base"] == 0 else twin.levels.nodes(how["base"]).tolist()
    asked = range(twin.regions) if goals is None else twin.regions_of(goals)
    assert how["goals"] == ("all" if goals is None else "asked")
    assert pattern.entry.shape == (twin.regions, len(asked))
    assert pattern.column.tolist() == [asked.index(r) if r in asked else NO_STATE for r in range(twin.regions)]
    expected = np.full(len(pattern.region), NO_STATE)
    for state, region in twin.region.items():
        expected[names[state]] = region
    assert pattern.region.tolist() == expected.tolist()
    for start in range(twin.regions):
        for column, goal in enumerate(asked):
            aim = twin.entry(start, goal, how["aim"])
            assert pattern.entry[start, column] == (NO_STATE if aim == NO_STATE else names[aim])
            assert pattern.depth[start, column] == twin.depth(start, aim, how["cap"])
            if how["far"] is not None:
                far = NO_STATE if aim == NO_STATE else twin.representative[goal]
                cap = how["cap"] if how["far"] == "capped" else 3000
                assert pattern.far[start, column] == twin.depth(start, far, cap)
    assert pattern.far.shape == ((0, 0) if how["far"] is None else pattern.entry.shape)
    assert (pattern.cap[0], pattern.base[0]) == (how["cap"], how["base"])


@given(
    grids(side=8),
    st.integers(0, 2),
    st.integers(0, 1),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["entry", "centre", "nearer"]),
    st.sampled_from(["none", "capped"]),
)
@examples(40)
def test_every_entry_is_right(grid, level, base, cap, aim, far):
    top = hierarchy_of(grid.graph).top
    level, base = min(level, top), min(base, level, top)
    if level == 0 and len(grid.graph) > 36:
        level = min(1, top)
    assert_every_entry_is_right(grid, f"level={level}, base={base}, cap={cap}, aim={aim}, far={far}")


@given(grids(side=8), st.integers(0, 2), st.integers(0, 1), st.data())
@examples(30)
def test_columns_for_some_goals_are_those_of_a_database_for_all(grid, level, base, data):
    top = hierarchy_of(grid.graph).top
    level, base = min(level, top), min(base, level, top)
    states = st.integers(0, len(grid.graph) - 1)
    goals = data.draw(st.lists(states, min_size=1, max_size=4))
    assert_every_entry_is_right(grid, f"level={level}, base={base}, cap=3, far=capped", goals=goals)


@pytest.mark.parametrize("kind", ["rooms", "maze"])
def test_every_entry_is_right_on_larger_maps(kind):
    grid = andante.generate(kind, 21, 21, seed=3)
    assert_every_entry_is_right(grid, "level=2, cap=6, far=capped")
    assert_every_entry_is_right(grid, "level=3, base=1, cap=4")


def test_depths_without_a_cap():
    """Around a wall the agent has to look far until it makes the right move."""
    free = np.ones((9, 9), bool)
    free[1:8, 5] = False
    grid = andante.Grid(free)
    assert_every_entry_is_right(grid, "level=2, cap=2, far=uncapped")
    assert build("pattern(level=2, cap=2, far=uncapped)", grid).arrays.far.max() > 2


def test_a_graph_that_is_no_map():
    chance = np.random.default_rng(5)
    places = chance.random((40, 2))
    edges = [(a, b, float(np.hypot(*(places[a] - places[b])))) for a, b in chance.integers(40, size=(90, 2)) if a != b]
    graph = Graph.from_edges(edges, states=40, points=places)
    for parameters in ("level=1, cap=4, far=capped", "level=2, base=1, cap=3, aim=centre"):
        assert_every_entry_is_right(graph, parameters)


@pytest.mark.parametrize("parameters", ["level=2, cap=5", "level=2, cap=5, aim=centre, far=capped", "level=3, base=1"])
def test_the_result_does_not_depend_on_threads(parameters):
    grid = andante.generate("caves", 30, 30, seed=2)
    one, two = (build(f"pattern({parameters})", grid, threads=threads).arrays for threads in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_its_parameters_can_be_written_and_read_again():
    grid = andante.generate("rooms", 16, 16, seed=1)
    for text in ("pattern(level=2)", "pattern(level=2, far=uncapped, aim=centre)"):
        database = build(text, grid)
        assert build(str(Call("pattern", database.parameters)), grid).parameters == database.parameters


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ("level=9", "level must be from 0, the level that the agent plans on, to 4, the highest of this map; got 9"),
        ("level=1, base=2", "level must be from 2, the level that the agent plans on, to 4"),
        ("cap=0", "cap must be a whole number in"),
        ("goals=asked", "pattern with goals=asked has to be told which goals; give build"),
    ],
)
def test_what_cannot_be_built_is_said(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        build(f"pattern({parameters})", andante.generate("empty", 16, 16))


@pytest.mark.parametrize(
    ("kind", "goals", "sentence"),
    [
        ("pattern(goals=all)", [5], "serves all goals"),
        ("pattern", [], "goals must be one or more states of the map, numbered 0 to 255"),
        ("pattern", [256], "goals must be one or more states of the map"),
        ("pattern", [-1], "goals must be one or more states of the map"),
        ("pattern", ["here"], "a goal"),
        ("moves", [5], "building moves has no parameter 'goals'"),
    ],
)
def test_goals_that_cannot_be_built_for_are_said(kind, goals, sentence):
    with pytest.raises(AndanteError, match=sentence):
        build(kind, andante.generate("empty", 16, 16), goals=goals)


def test_tables_that_make_no_sense_are_refused(tmp_path):
    grid = andante.generate("rooms", 16, 16, seed=1)
    database = build("pattern(level=2, far=capped)", grid)
    arrays = database.arrays
    for broken, sentence in [
        (arrays._replace(region=arrays.region[:-1]), "do not fit a graph of 256 states"),
        (arrays._replace(entry=arrays.entry[:, :-1].copy()), "do not fit a graph"),
        (arrays._replace(far=arrays.far[:-1]), "do not fit each other"),
        (arrays._replace(region=arrays.region + np.int32(1000)), "names regions that do not exist"),
        (arrays._replace(column=arrays.column + np.int32(1)), "names regions that do not exist"),
        (arrays._replace(column=arrays.column[:-1]), "do not fit a graph"),
        (arrays._replace(entry=arrays.entry + np.int32(1000)), "names states that do not exist"),
    ]:
        Database("pattern", database.fingerprint, {}, broken).save(tmp_path / "broken")
        with pytest.raises(DatabaseError, match=sentence):
            load(tmp_path / "broken", map=grid)
