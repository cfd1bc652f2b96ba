"""Databases on maps that change: a repaired one equals one built from scratch, however the work is cut into pieces."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante import Agent, World
from andante.databases.header import Database
from andante.errors import AndanteError
from andante.kernel import JIT
from andante.world.grid import Grid
from tests import naive
from tests.worlds import DEEP, examples

KINDS = ["moves", "pattern", "regions", "subgoals(records=40)", "pattern(goals=asked)"]
RARE = [
    "pattern(side=16)",
    "pattern(level=1)",
    "pattern(aim=nearer)",
    "pattern(aim=centre, goal_depths=uncapped)",
    "subgoals(records=60, series=true, coverage=gaps)",
    "regions(m=2, borders=1)",
]

SIDE = 12 if JIT else 7
CELLS = st.lists(st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1)), max_size=6)
CHANGES = st.lists(st.tuples(CELLS, CELLS, st.integers(0, 60)), min_size=1, max_size=4)


def rooms() -> Grid:
    """Return two rooms of 9 x 9 cells with one door, and a third behind the second."""
    free = np.ones((9, 29), np.bool_)
    free[:, [9, 19]] = False
    free[4, [9, 19]] = True
    return Grid(free)


def same(one: Database, other: Database) -> bool:
    pairs = zip(one.arrays, other.arrays, strict=True)
    return one.fingerprint == other.fingerprint and all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("kind", KINDS + RARE * DEEP)
@examples(64)
@given(st.integers(0, 10_000), CHANGES)
def test_a_repaired_database_equals_one_built_from_scratch(kind, seed, changes):
    world = World(andante.generate("rooms" if seed % 2 else "random", SIDE, SIDE, seed=seed))
    goals = {"goals": np.flatnonzero(world.passable)[::7].tolist()} if "asked" in kind else {}
    database = andante.build(kind, world, **goals)
    for closed, opened, pieces in changes:
        world.close(closed)
        world.open(opened)
        for _ in range(pieces):  # the map may change while an edition is being made
            left = database.repair(world, milliseconds=0)
            assert left == world.version - database.following.version
    assert database.repair(world) == 0
    assert same(database, andante.build(kind, world.frozen(), **goals))


def test_a_database_for_the_first_or_the_present_version_can_follow_a_world():
    world = World(rooms())
    first = andante.build("moves", rooms())
    world.close((9, 4))
    present = andante.build("moves", world.frozen())
    world.close((19, 4))
    with pytest.raises(AndanteError, match="neither the first nor the present version"):
        present.repair(world)
    assert first.repair(world) == 0
    later = andante.build("moves", world)
    assert later.repair(world) == 0
    assert same(first, later)
    world.open((9, 4))
    assert first.repair(world, milliseconds=0) == 1
    assert later.repair(world) == 0
    assert Agent("cpd", world, databases=[later]).run(world.problem((0, 0), (18, 8))).moves == 18


def test_a_cell_closed_and_opened_again_makes_no_edition():
    world = World(rooms())
    database = andante.build("moves", world)
    before = database.arrays
    world.close((9, 4))
    world.open((9, 4))
    assert database.repair(world) == 0
    assert database.arrays is before
    assert database.following.edition == 0


def test_a_database_from_a_file_is_repaired_for_its_goals(tmp_path):
    world = World(rooms())
    goals = [world.state(x, y) for y in range(9) for x in range(9)]
    andante.build("pattern", world, goals=goals).save(tmp_path / "some.pattern")
    database = andante.load(tmp_path / "some.pattern", map=world)
    world.close((9, 4))
    assert database.repair(world) == 0
    assert database.covers(world.graph, np.array(goals)).all()
    database.save(tmp_path / "repaired.pattern")
    assert same(database, andante.load(tmp_path / "repaired.pattern", map=world.frozen()))
    again = andante.load(tmp_path / "repaired.pattern", map=world)
    assert same(database, again)
    world.open((9, 4))
    assert again.repair(world) == 0
    with pytest.raises(AndanteError, match="another map"):
        andante.load(tmp_path / "repaired.pattern", map=world)


def test_databases_that_cannot_be_repaired_are_refused():
    world = World(rooms())
    with pytest.raises(AndanteError, match="a World"):
        andante.build("moves", rooms()).repair(rooms())
    over_regions = andante.build("pattern(base=1, level=2)", world)
    with pytest.raises(AndanteError, match="base above 0"):
        andante.build("pattern(base=1, level=2)", rooms()).repair(world)
    world.close((9, 4))
    with pytest.raises(AndanteError, match="base above 0"):
        over_regions.repair(world)
    with pytest.raises(AndanteError, match="milliseconds must be a number of at least 0"):
        andante.build("moves", rooms()).repair(world, milliseconds=-1)
    with pytest.raises(AndanteError, match="neither the first"):
        andante.build("moves", andante.generate("empty", 29, 9)).repair(world)
    database, twin = andante.build("moves", world), World(world.frozen())
    with pytest.raises(AndanteError, match="follows another world"):
        database.repair(twin)
    assert database.fingerprint == world.fingerprint


def test_a_copy_follows_no_map():
    world = World(rooms())
    database = andante.build("moves", world)
    world.close((9, 4))
    database.repair(world, milliseconds=0)
    other = copy.copy(database)
    assert other.following is None
    assert other.repair(world) == 0  # it is for the first version


def test_a_failure_leaves_the_database_unchanged(monkeypatch):
    world = World(rooms())
    database = andante.build("moves", world)
    before = database.arrays
    world.close((9, 4))
    with monkeypatch.context() as patch:
        patch.setattr("andante.offline.repairing.making", lambda *_: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            database.repair(world)
    assert database.arrays is before
    assert database.repair(world) == 0


# --- agents ---------------------------------------------------------------------------------------------------------


def ring() -> Grid:
    """Return two rooms with a short and a long path between them."""
    free = np.ones((12, 24), np.bool_)
    free[1:, 11] = False
    free[8, 11] = True
    return Grid(free)


def walked(agent, state, goal):
    """Return the moves of an agent until it is at its goal."""
    made = []
    while state != goal:
        made.append(agent.move(state, goal))
        state = made[-1].to
    return made


def looked_up(made):
    """Return whether a move of CPD was looked up in its database."""
    return (made.expanded, made.touched) == (0, 1)


def test_after_one_wall_cpd_searches_until_its_goal():
    world = World(ring())
    database = andante.build("moves", world)
    agent, goal = Agent("cpd", world, databases=[database]), world.state(20, 8)
    world.close((11, 8))
    first, *others = walked(agent, world.state(8, 8), goal)
    assert looked_up(first)  # the wall is farther ahead
    kinds = [looked_up(made) for made in others]
    assert not any(kinds[kinds.index(False) :])


def test_an_agent_that_searches_switches_to_a_new_edition():
    world = World(ring())
    database = andante.build("moves", world)
    agent, goal = Agent("cpd", world, databases=[database]), world.state(20, 8)
    world.close((11, 8))
    made = agent.move(world.state(10, 8), goal)
    assert not looked_up(made)
    assert database.repair(world, milliseconds=0) == 1  # not finished yet
    made = agent.move(made.to, goal)
    assert not looked_up(made)
    assert database.repair(world) == 0
    rest = walked(agent, made.to, goal)
    assert all(looked_up(one) for one in rest)
    cost = naive.distances_from(world.frozen().graph, made.to)[goal]
    assert sum(one.cost for one in rest) == pytest.approx(cost)


def test_a_repaired_database_is_used_by_the_next_trial_of_the_same_agent():
    world = World(ring())
    database = andante.build("moves", world)
    agent = Agent("cpd", world, databases=[database])
    world.close((11, 8))
    problem = world.problem((10, 8), (20, 8))
    assert agent.run(problem).states_expanded > 0
    database.repair(world)
    assert agent.run(world.problem((10, 8), (20, 8))).states_expanded == 0
    world.open((11, 8))
    database.repair(world)
    assert agent.run(world.problem((10, 8), (20, 8))).moves == 10
