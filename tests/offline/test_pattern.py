"""Pattern databases against brute force over every pair of regions."""

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.hierarchy import hierarchy_of
from andante.databases.header import Database, load
from andante.databases.pattern import NO_STATE, UNSERVED
from andante.errors import AndanteError, DatabaseError, GraphError, ParameterError
from andante.notation import Call
from andante.offline import build
from andante.offline import pattern as pattern_builder
from andante.offline.builder import finished
from andante.offline.division import at_corners, tiles
from andante.offline.far import ENOUGH, EQUAL, GOALS_SAMPLED, MIDDLE, SAMPLED
from andante.offline.pattern import NEAR
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from andante.world.layout import estimate
from tests import naive
from tests.databases.tables import unpacked
from tests.worlds import DEEP, examples, grids

#: The width of larger maps. Rooms and mazes have many regions, so the plain twin is slow on them.
LARGER = {"rooms": 25 if DEEP else 17, "maze": 25 if DEEP else 17, "caves": 25}

METRICS = ("octile", "euclidean", "manhattan", "chebyshev")


class Twin:
    """The contents that a pattern database should have, from the levels of the map's hierarchy."""

    def __init__(self, world, level, base):
        self.levels = hierarchy_of(world if isinstance(world, Graph) else world.graph)
        self.graph = self.levels.level(base)
        self.level, self.base = level, base
        if level == 0:  # each state that can be left is a region
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
        """Return the states of the level ``floor``, or of the one agents plan on, that make up a state of ``level``."""
        floor = self.base if floor is None else floor
        if level == floor:
            return [state]
        return [s for child in self.levels.children(level, state) for s in self.below(level - 1, child, floor)]

    def place(self, level, state):
        """Return the mean of its ground states' coordinates."""
        points = self.levels.graph.csr().arrays.point
        return points[self.below(level, state, 0)].mean(0)

    def middle(self, number):
        if self.level == 0:
            return self.members[number][0]
        centre = self.place(self.level, number)
        apart = {s: round(float(((self.place(self.base, s) - centre) ** 2).sum()), 9) for s in self.members[number]}
        return min(sorted(apart), key=apart.__getitem__)

    def regions_of(self, goals):
        """Return the regions of these states of the map, each once."""
        found = {
            n
            for n, states in enumerate(self.members)
            for s in states
            for g in self.below(self.base, s, 0)
            if g in goals
        }
        return sorted(found)

    def entry(self, start, goal, aim):
        """Return where the path first enters another region that always takes the move with most optimal paths left."""
        state, left = self.representative[start], self.distances_to(self.representative[goal])
        counts = self.counts_to(self.representative[goal])
        if start == goal or state not in left:
            return NO_STATE
        here = left[state]
        while self.region[state] == start or (aim == "nearer" and not self.nearer(state, left, here)):
            state = naive.central_step(self.graph, left, counts, state)
        return self.representative[self.region[state]] if aim == "centre" else state

    def nearer(self, state, left, than):
        """Return whether the representative of the state's region is nearer."""
        return left[self.representative[self.region[state]]] < than - TOLERANCE

    def depth(self, start, aim, cap):
        """Return the least depth at which LRTA* without learned values makes an optimal move."""
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
    tables = unpacked(pattern)
    twin = Twin(world, how["level"], how["base"])
    names = range(len(tables.region)) if how["base"] == 0 else twin.levels.nodes(how["base"]).tolist()
    asked = range(twin.regions) if goals is None else twin.regions_of(goals)
    assert how["goals"] == ("all" if goals is None else "asked")
    assert (pattern.regions, pattern.columns) == (twin.regions, len(asked))
    columns = {region: int(tables.column[names[state]]) for state, region in twin.region.items()}
    assert sorted(columns[region] for region in asked) == list(range(len(asked)))
    assert all(columns[region] == UNSERVED for region in columns.keys() - set(asked))
    for state, region in twin.region.items():
        assert tables.region[names[state]] == region
        assert tables.column[names[state]] == columns[region]
    for start in range(twin.regions):
        for region in asked:
            goal = columns[region]
            aim = twin.entry(start, region, how["aim"] or "nearer")
            assert tables.subgoal[start, goal] == (NO_STATE if aim == NO_STATE else names[aim])
            assert tables.via[start, goal] == NO_STATE
            assert tables.depth[start, goal] == twin.depth(start, aim, how["cap"])
            if how["goal_depths"] is not None:
                far = NO_STATE if aim == NO_STATE else twin.representative[region]
                cap = how["cap"] if how["goal_depths"] == "capped" else 3000
                assert tables.goal_depth[start, goal] == twin.depth(start, far, cap)
    assert pattern.goal_depth.shape == ((0, 0) if how["goal_depths"] is None else (twin.regions, len(asked)))
    assert (pattern.cap[0], pattern.level[0]) == (how["cap"], how["base"])


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
    assert_every_entry_is_right(grid, f"level={level}, base={base}, cap={cap}, aim={aim}, goal_depths={far}")


@given(grids(side=8), st.integers(0, 2), st.integers(0, 1), st.data())
@examples(30)
def test_columns_for_some_goals_are_those_of_a_database_for_all(grid, level, base, data):
    top = hierarchy_of(grid.graph).top
    level, base = min(level, top), min(base, level, top)
    states = st.integers(0, len(grid.graph) - 1)
    goals = data.draw(st.lists(states, min_size=1, max_size=4))
    assert_every_entry_is_right(grid, f"level={level}, base={base}, cap=3, aim=nearer, goal_depths=capped", goals=goals)


@pytest.mark.parametrize("kind", ["rooms", "maze"])
def test_every_entry_is_right_on_larger_maps(kind):
    grid = andante.generate(kind, LARGER[kind], LARGER[kind], seed=3)
    assert_every_entry_is_right(grid, "level=2, cap=6, aim=nearer, goal_depths=capped")
    assert_every_entry_is_right(grid, "level=3, base=1, cap=4")


def test_depths_without_a_cap():
    """Around a wall the agent has to look far ahead to make the right move."""
    free = np.ones((9, 9), bool)
    free[1:8, 5] = False
    grid = andante.Grid(free)
    assert_every_entry_is_right(grid, "level=2, cap=2, aim=nearer, goal_depths=uncapped")
    assert build("pattern(level=2, cap=2, goal_depths=uncapped)", grid).arrays.goal_depth.max() > 2


def test_a_graph_that_is_not_a_map():
    chance = np.random.default_rng(5)
    places = chance.random((40, 2))
    edges = [(a, b, float(np.hypot(*(places[a] - places[b])))) for a, b in chance.integers(40, size=(90, 2)) if a != b]
    graph = Graph.from_edges(edges, states=40, points=places)
    for parameters in ("level=1, cap=4, aim=nearer, goal_depths=capped", "level=2, base=1, cap=3, aim=centre"):
        assert_every_entry_is_right(graph, parameters)


@pytest.mark.parametrize(
    "parameters", ["level=2, cap=5", "level=2, cap=5, aim=centre, goal_depths=capped", "level=3, base=1"]
)
def test_the_result_does_not_depend_on_threads(parameters):
    grid = andante.generate("caves", 30, 30, seed=2)
    one, two = (build(f"pattern({parameters})", grid, threads=threads).arrays for threads in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_its_parameters_can_be_written_and_read_again():
    grid = andante.generate("rooms", 16, 16, seed=1)
    for text in ("pattern(level=2)", "pattern(level=2, goal_depths=uncapped, aim=centre)"):
        database = build(text, grid)
        assert build(str(Call("pattern", database.parameters)), grid).parameters == database.parameters


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ("level=9", "level must be from 0, the level that the agent plans on, to 4, the highest of this map; got 9"),
        ("level=1, base=2", "level must be from 2, the level that the agent plans on, to 4"),
        ("side=4, level=2", "regions are tiles .side. or the nodes of a level .level, base., not both"),
        ("side=4, base=1", "not both"),
        ("cap=0", "cap must be a whole number in"),
        ("goals=asked", "pattern with goals=asked needs the goals; pass states of the map to build"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
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
        ("moves", [5], "'moves' is always for all goals; only pattern can be for some"),
    ],
)
def test_bad_goals_are_refused(kind, goals, sentence):
    with pytest.raises(AndanteError, match=sentence):
        build(kind, andante.generate("empty", 16, 16), goals=goals)


def test_tables_that_make_no_sense_are_refused(tmp_path):
    grid = andante.generate("random", 16, 16, seed=1)
    database = build("pattern(side=4, goal_depths=capped)", grid)
    arrays = database.arrays
    assert len(arrays.special) > 1
    changed = arrays.span.copy()
    changed[arrays.row[1]] += 1 << 16
    high = arrays.span | np.uint32(0xFFFF)
    for broken, sentence in [
        (arrays._replace(run=arrays.run[:-1]), "do not match a graph of 256 states"),
        (arrays._replace(run=arrays.run[::-1].copy()), "do not match a graph of 256 states"),
        (arrays._replace(run=arrays.run + np.int32(1)), "do not match a graph of 256 states"),
        (arrays._replace(states=np.array([255])), "not those of a graph of 256 states"),
        (arrays._replace(row=arrays.row[:-1]), "do not match"),
        (arrays._replace(span=arrays.span[:-1]), "do not match"),
        (arrays._replace(palette=arrays.palette[::-1].copy()), "do not match"),
        (arrays._replace(goal_depth=arrays.goal_depth[:-1]), "do not match"),
        (arrays._replace(via=arrays.via[:-1]), "do not match"),
        (arrays._replace(special=arrays.special[::-1].copy()), "depths for subgoals that do not exist"),
        (arrays._replace(special=arrays.special + np.int32(10**6)), "depths for subgoals that do not exist"),
        (arrays._replace(owner=arrays.owner + np.int32(1000)), "refers to regions that do not exist"),
        (
            arrays._replace(goal_column=np.where(arrays.goal_column == 0, -3, arrays.goal_column).astype(np.int32)),
            "refers to regions that do not exist",
        ),
        (arrays._replace(row=arrays.row[:0]), "do not match"),
        (arrays._replace(goal_column=arrays.goal_column[:-1]), "do not match a graph of 256 states"),
        (arrays._replace(goal_run=arrays.goal_run + np.int32(1)), "do not match a graph of 256 states"),
        (arrays._replace(goal_column=arrays.goal_column * np.int32(2)), "do not match"),
        (arrays._replace(span=changed), "not runs of choices"),
        (arrays._replace(span=high), "not runs of choices"),
        (arrays._replace(subgoal=arrays.subgoal + np.int32(1000)), "refers to states that do not exist"),
        (arrays._replace(via=np.full_like(arrays.via, 256)), "refers to states that do not exist"),
        (arrays._replace(depth=arrays.depth * np.uint16(0)), "depths outside 1 to"),
    ]:
        Database("pattern", database.fingerprint, {}, broken).save(tmp_path / "broken")
        with pytest.raises(DatabaseError, match=sentence):
            load(tmp_path / "broken", map=grid)


# --- far subgoals ---------------------------------------------------------------------------------------------------


def climbs_straight(graph, state, goal):
    """Return, by brute force, whether LRTA* with a lookahead of one reaches the goal at the cost of the heuristic."""
    cost, most = 0.0, estimate(graph.arrays, state, goal)
    while state != goal:
        ends = [(step + estimate(graph.arrays, near, goal), near, step) for near, step in graph.neighbours(state)]
        if not ends:
            return False
        least = min(end[0] for end in ends)
        _, state, step = next(end for end in ends if end[0] == least)
        cost += step
        if cost > most + TOLERANCE:
            return False
    return True


def straight_climbs(graph):
    """Return the same as a cached function, for many pairs of states of a graph."""

    @cache
    def straight(state, goal):
        if state == goal:
            return True
        ends = [(step + estimate(graph.arrays, near, goal), near) for near, step in graph.neighbours(state)]
        least = min(end[0] for end in ends)  # every state of a region has neighbours
        if least > estimate(graph.arrays, state, goal) + TOLERANCE:
            return False
        return straight(next(near for f, near in ends if f == least), goal)

    return straight


class FarTwin:
    """The regions of a database with far subgoals, the climbs between them, and the chains of its subgoals."""

    def __init__(self, grid, parameters):
        self.graph, database = grid.graph, build(f"pattern({parameters})", grid, threads=2)
        self.tables, free = unpacked(database.arrays), self.graph.arrays.mask > 0
        self.members, self.goals = (
            [np.flatnonzero((of == number) & free).tolist() for number in range(count)]
            for of, count in (
                (self.tables.region, database.arrays.regions),
                (self.tables.column, database.arrays.columns),
            )
        )
        self.reach = int(database.parameters["reach"])
        self.straight = straight_climbs(self.graph)
        self.covered = cache(lambda region, aim: all(self.straight(state, aim) for state in self.members[region]))
        self.left = cache(lambda state: naive.distances_to(self.graph, state))
        self.middles, self.ends = representatives(self.graph, self.tables, parameters)
        self.leg, self.cost = cache(self._leg), cache(self._cost)

    def apart(self, states, aim):
        return float(np.mean([estimate(self.graph.arrays, state, aim) for state in states]))

    def _leg(self, here, other):
        """Return the mean cost from a region to another's middle, or None if it is too far or not all can climb."""
        middle, aim = self.middles[here], self.middles[other]
        apart = self.apart([middle], aim)
        if apart > self.reach or not self.straight(middle, aim):
            return None
        if self.covered(here, aim):
            return MIDDLE * apart + (1 - MIDDLE) * self.apart(self.members[here], aim)
        if not self.covered(here, middle):
            return None
        return MIDDLE * apart + (1 - MIDDLE) * (self.apart(self.members[here], middle) + apart)

    def next(self, here, there):
        """Return the region of the subgoal, or None if there is no subgoal."""
        aim = self.tables.subgoal[here, there]
        return None if aim == NO_STATE else int(self.tables.region[aim])

    def follows_a_leg(self, here, there):
        """Return whether a region uses a leg to its subgoal. Without one, the subgoal may still be a middle."""
        onward = self.next(here, there)
        return self.tables.subgoal[here, there] == self.middles[onward] and self.leg(here, onward) is not None

    def _cost(self, here, there):
        """Return the cost from the middle of a region to the goals of a column, along subgoals."""
        middle, onward = self.middles[here], self.next(here, there)
        if onward is None:
            return float(np.mean([self.apart([middle], goal) for goal in self.goals[there]]))
        if self.follows_a_leg(here, there):
            return self.apart([middle], self.middles[onward]) + self.cost(onward, there)
        left = self.left(self.ends[there])
        return left[middle] - left[self.tables.subgoal[here, there]] + self.cost(onward, there)

    def taken_before(self, here, there):
        """Return the regions processed before this one: that of the goal's middle, and those nearer to it."""
        left, home = self.left(self.ends[there]), self.tables.region[self.ends[there]]
        turn = {
            other: (other != home, left[middle], other) for other, middle in enumerate(self.middles) if middle in left
        }
        return {other for other in turn if turn[other] < turn[here]}

    def entrances(self, here, there, regions):
        """Return where shortest paths from the middle of a region first enter one of these."""
        left, found, ahead = self.left(self.ends[there]), set(), {self.middles[here]}
        while ahead:
            ahead = {
                near
                for state in ahead
                for near, step in self.graph.neighbours(state)
                if step + left[near] <= left[state] + TOLERANCE
            }
            found |= {state for state in ahead if self.tables.region[state] in regions}
            ahead -= found
        return found


def assert_far_subgoals_are_right(grid, parameters):
    twin = FarTwin(grid, parameters)
    for there, goals in enumerate(twin.goals):
        left, home = twin.left(twin.ends[there]), twin.tables.region[twin.ends[there]]
        reached = [here for here, middle in enumerate(twin.middles) if middle in left]
        for here in reached:
            aim, via, depth = (int(of[here, there]) for of in (twin.tables.subgoal, twin.tables.via, twin.tables.depth))
            assert_chain_ends(twin, here, there)
            if aim == NO_STATE:
                assert here == home or all(twin.covered(here, goal) for goal in goals)
                continue
            assert twin.tables.region[aim] != here
            if via != NO_STATE:
                assert via == twin.middles[here]
                assert twin.covered(here, via)
                assert twin.straight(via, aim)
                assert not twin.covered(here, aim)
            elif twin.covered(here, aim):
                assert depth == 1
            else:  # nor can they gather in the middle and climb from there
                assert not (twin.covered(here, twin.middles[here]) and twin.straight(twin.middles[here], aim))
            if max(left.values()) <= pattern_builder.NEAR:
                assert_subgoal_is_best(twin, here, there, aim)


def assert_chain_ends(twin, here, there):
    visited = {here}
    while (onward := twin.next(here, there)) is not None:
        assert onward not in visited
        visited.add(onward)
        here = onward


def assert_subgoal_is_best(twin, here, there, aim):
    """Check that no leg is much better than the stored one, or that without legs a shortest path is followed."""
    before = twin.taken_before(here, there)
    legs = {other: cost for other in before if (cost := twin.leg(here, other)) is not None}
    if not legs:
        assert aim in twin.entrances(here, there, before)
        return
    assert twin.follows_a_leg(here, there)
    chosen = twin.next(here, there)
    assert chosen in before
    if len(twin.members[here]) <= SAMPLED and len(twin.goals[there]) <= GOALS_SAMPLED:  # means of all states and goals
        least = min(cost + twin.cost(other, there) for other, cost in legs.items())
        assert legs[chosen] + twin.cost(chosen, there) <= least + max(ENOUGH, EQUAL) + TOLERANCE


def representatives(graph, tables, parameters):
    """Return the middles of regions and, by column, of the regions of goals."""
    if "level" in parameters:
        middles = ends = hierarchy_of(graph).representatives(int(re.search(r"level=(\d)", parameters)[1])).tolist()
    else:
        side = int(re.search(r"side=(\d+)", parameters)[1])
        middles = at_corners(finished(tiles(graph, side))).representative.tolist()
        ends = at_corners(finished(tiles(graph, max(side, pattern_builder.GOAL_SIDE)))).representative.tolist()
    return middles, {int(tables.column[end]): end for end in ends}


@given(
    grids(side=9, rules=("octile", "cardinal", "corners")),
    st.integers(1, 9),
    st.sampled_from([3, 60]),
    st.sampled_from([0, 4, NEAR]),
)
@examples(30)
def test_far_subgoals_are_right_with_tiles(grid, side, reach, near):
    if (grid.graph.arrays.mask > 0).any():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pattern_builder, "NEAR", near)  # so that agents on a small map can be far away
            patch.setattr(pattern_builder, "GOAL_SIDE", side)
            assert_far_subgoals_are_right(grid, f"side={side}, reach={reach}")


@pytest.mark.parametrize(
    ("kind", "near"),
    [
        ("rooms", 10),
        pytest.param("rooms", NEAR, marks=pytest.mark.deep),  # takes as long as all others together
        *((kind, near) for kind in ("maze", "caves") for near in (10, NEAR)),
    ],
)
def test_far_subgoals_are_right_on_larger_maps(kind, near, monkeypatch):
    grid = andante.generate(kind, LARGER[kind], LARGER[kind], seed=3)
    monkeypatch.setattr(pattern_builder, "NEAR", near)
    assert_far_subgoals_are_right(grid, "side=4")
    assert_far_subgoals_are_right(grid, "level=2")


@pytest.mark.parametrize(
    ("rows", "parameters"),
    [
        (["100", "111"], "level=1"),  # around the corner: no state can climb to the middle of the other region
        (["111111111"], "side=8, reach=3"),  # the other region is one cell, and its middle is too far away
    ],
)
def test_far_subgoals_are_right_if_a_shortest_path_enters_a_region_in_its_middle(rows, parameters):
    grid = andante.Grid(np.array([[cell == "1" for cell in row] for row in rows]))
    twin = FarTwin(grid, parameters)
    pairs = [
        (here, there) for here, there in np.ndindex(*twin.tables.subgoal.shape) if twin.next(here, there) is not None
    ]
    assert any(
        twin.tables.subgoal[here, there] == twin.middles[twin.next(here, there)] and not twin.follows_a_leg(here, there)
        for here, there in pairs
    )
    assert_far_subgoals_are_right(grid, parameters)


@given(grids(side=9), st.integers(1, 9))
@examples(40)
def test_all_states_of_a_tile_can_climb_to_its_centre_and_back(grid, side):
    graph = grid.graph
    free = np.flatnonzero(graph.arrays.mask > 0)
    ground = finished(tiles(graph, side))
    assert sorted(np.flatnonzero(ground.region >= 0).tolist()) == free.tolist()
    assert set(ground.region[free].tolist()) == set(range(len(ground.representative)))
    for number, centre in enumerate(ground.representative.tolist()):
        inside = np.flatnonzero(ground.region == number).tolist()
        assert centre in inside
        assert {(state % grid.width // side, state // grid.width // side) for state in inside} == {
            (centre % grid.width // side, centre // grid.width // side)
        }
        assert all(climbs_straight(graph, state, centre) and climbs_straight(graph, centre, state) for state in inside)


def is_at_a_corner(grid, state):
    """Return whether two cells beside this one are free, and the one between them is not."""
    x, y = state % grid.width, state // grid.width

    def is_free(x, y):
        return 0 <= x < grid.width and 0 <= y < grid.height and bool(grid.graph.neighbours(y * grid.width + x))

    return any(
        is_free(x + right, y) and is_free(x, y + down) and not is_free(x + right, y + down)
        for right in (-1, 1)
        for down in (-1, 1)
    )


@given(grids(side=9, rules=("octile", "cardinal", "corners")), st.integers(1, 9))
@examples(40)
def test_each_corner_is_the_middle_of_the_states_nearest_to_it(grid, side):
    graph, plain = grid.graph, finished(tiles(grid.graph, side))
    ground = at_corners(plain)
    free = np.flatnonzero(graph.arrays.mask > 0).tolist()
    corners = {state for state in free if is_at_a_corner(grid, state)}
    assert corners <= set(ground.representative.tolist()) <= corners | set(plain.representative.tolist())
    assert sorted(np.flatnonzero(ground.region >= 0).tolist()) == free
    assert set(ground.region[free].tolist()) == set(range(len(ground.representative)))
    for state in free:
        middle = int(ground.representative[ground.region[state]])
        assert plain.region[middle] == plain.region[state]
        assert climbs_straight(graph, state, middle)
        assert climbs_straight(graph, middle, state)
        apart = {
            corner: (corner % grid.width - state % grid.width) ** 2 + (corner // grid.width - state // grid.width) ** 2
            for corner in corners
            if plain.region[corner] == plain.region[state]
            and climbs_straight(graph, state, corner)
            and climbs_straight(graph, corner, state)
        }
        if middle in corners:
            assert apart[middle] == min(apart.values())
        else:  # no corner is a hub for it, or it is the centre, which others of its region need
            assert not apart or state == middle


def legs_to(goal, state, tables):
    """Yield the legs of an agent that keeps its subgoals, each as its first and last state."""
    legs = []
    while state != goal:
        pair = tables.region[state], tables.column[goal]
        aim = next((int(of[pair]) for of in (tables.via, tables.subgoal) if of[pair] not in (NO_STATE, state)), goal)
        assert all(state != start for start, _ in legs)
        legs.append((state, aim))
        state = aim
    return legs


@pytest.mark.compiled
@pytest.mark.parametrize("parameters", ["side=4", "side=8", "side=8, reach=3", "level=1", "level=2"])
@pytest.mark.parametrize("kind", ["random", "maze"])
def test_an_agent_with_far_subgoals_arrives_and_learns_nothing_if_it_can_climb_every_leg(kind, parameters):
    grid = andante.generate(kind, 9, 9, seed=1)
    graph, database = grid.graph, build(f"pattern({parameters})", grid)
    tables, straight = unpacked(database.arrays), straight_climbs(graph)
    free = np.flatnonzero(graph.arrays.mask > 0).tolist()
    problems = [andante.Problem(graph, start, goal, grid) for start in free for goal in free if start != goal]
    trials = andante.run_many("dlrta", [problem for problem in problems if problem.reachable], databases=[database])
    for trial in trials:
        legs = legs_to(trial.problem.goal, trial.problem.start, tables)
        assert trial.solved
        assert trial.states_expanded == trial.moves
        if all(straight(*leg) for leg in legs):
            assert trial.learned == 0
            assert trial.cost <= sum(estimate(graph.arrays, *leg) for leg in legs)  # it may meet the goal on its path


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["rooms", "maze", "caves", "outdoor"])
def test_far_subgoals_give_one_expansion_per_move_and_shorter_paths(kind):
    grid = andante.generate(kind, 64, 64, seed=5)
    problems = andante.random_problems(grid, 60, seed=2)

    def trials(parameters):
        return andante.run_many("dlrta", problems, databases=[build(f"pattern({parameters})", grid)])

    far, nearer = trials("side=8"), trials("side=8, aim=nearer")
    assert all(trial.solved for trial in far)
    assert max(trial.max_states_expanded for trial in far) == 1
    longer = [np.mean([trial.suboptimality_ratio for trial in some]) - 1 for some in (far, nearer)]
    assert longer[0] < max(longer[1] / 1.5, 0.001)  # in a maze there is hardly a choice


def test_graphs_without_points_have_no_tiles():
    edges = [(0, 1, 1.0), (1, 2, 1.0)]
    with pytest.raises(ParameterError, match="tiles need states with two coordinates"):
        build("pattern(side=4)", Graph.from_edges(edges))
    one_way = Graph.from_edges(edges, directed=True, points=np.zeros((3, 2)))
    for parameters in ("side=4", "level=1", "level=1, base=1"):
        with pytest.raises(GraphError, match="every move can be reversed"):
            build(f"pattern({parameters})", one_way)


def test_a_map_without_a_move_has_a_database_without_subgoals(tmp_path):
    grid = andante.Grid(np.eye(3, dtype=bool))
    database = build("pattern", grid)
    assert database.arrays.regions == 0
    database.save(tmp_path / "none.pattern")
    assert andante.load(tmp_path / "none.pattern", map=grid).records == 0
