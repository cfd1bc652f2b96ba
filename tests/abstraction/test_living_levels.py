"""Levels above a map that changes: always those of some map, repaired in small steps, and shared by all agents."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import DEFAULT_COVER, Hierarchy, hierarchy_of
from andante.abstraction.living import levels_of
from andante.abstraction.repair import Keep
from andante.world.changes import RECENT
from andante.world.followers import Turnstile
from andante.world.grid import RULES, Grid
from andante.world.living import MENDED, World
from tests.abstraction.plain_levels import check, ground_of
from tests.naive import distances_to
from tests.worlds import examples, grids

FLIPPED = st.lists(st.integers(0, 80), max_size=6)


def flip(world, states):
    for state in states:
        x, y = world.cell(state % len(world.graph))
        (world.close if world.passable[y, x] else world.open)((x, y))


def own_map(levels, world):
    """Return the map below the levels: the world's, except for changes that they have yet to follow."""
    return Grid(levels._ground.passable.reshape(world.passable.shape), rule=world.rule)


@given(
    grids(9, RULES),
    st.sampled_from(Cover),
    st.sampled_from(Keep),
    st.lists(st.tuples(FLIPPED, st.integers(0, 5)), max_size=12),
)
@examples(100)
def test_levels_always_fit_some_map_and_the_world_when_it_is_settled(grid, cover, keep, steps):
    world = World(grid)
    levels = levels_of(world.graph, cover, keep)
    for flipped, mended in steps:
        flip(world, flipped)
        alive = set(np.concatenate([levels.nodes(k) for k in range(1, levels.top + 1)] or [[]]).tolist())
        before = int(levels.repairs.scalars["removed"][0])
        world.tend(mended=mended)
        check(levels, ground_of(own_map(levels, world)))
        gone = alive - set(np.concatenate([levels.nodes(k) for k in range(1, levels.top + 1)] or [[]]).tolist())
        assert gone <= set(levels.repairs.removed[before : int(levels.repairs.scalars["removed"][0])].tolist())
    world.settle()
    check(levels, ground_of(world.frozen()))
    assert levels.repairs.scalars["version"][0] == world.version


@pytest.mark.parametrize("one_by_one", [True, False])
def test_no_change_is_missed_however_many_occur(one_by_one):
    world, rng = World(andante.generate("random", 48, 48, seed=1)), np.random.default_rng(1)
    levels = levels_of(world.graph, DEFAULT_COVER, Keep.CONNECTED)
    cells = [tuple(cell) for cell in rng.integers(0, 48, (2 * RECENT, 2)).tolist()]
    for change, some in ((world.close, cells[:1500]), (world.open, cells[1000:])):
        for cell in some if one_by_one else [some]:
            change(cell)
    assert levels.repairs.scalars["version"][0] == 0
    mended = world.tend(0)
    assert 0 < mended <= MENDED
    world.settle()
    assert own_map(levels, world) == Grid(world.passable)
    check(levels, ground_of(world.frozen()))


def test_agents_share_the_levels_of_a_world_and_a_hierarchy_is_of_its_present_version():
    world = World(andante.generate("rooms", 32, 32, seed=1))
    levels = levels_of(world.graph, DEFAULT_COVER, Keep.CONNECTED)
    two = levels_of(world.graph, DEFAULT_COVER, Keep.CONNECTED, 2)
    assert two.sizes == levels.sizes[:3]
    for name, shared in (("prlrts(level=2)", two), ("prlrta(level=2)", two), ("pra", levels)):
        held = andante.Agent(name, world)._memory.levels.held
        assert np.shares_memory(held.layers.family, shared.layers.family)
    with pytest.raises(andante.AndanteError, match="the highest level of this map, got 20"):
        andante.Agent("prlrts(level=20)", world)
    assert levels_of(world.graph, Cover.LITERAL, Keep.CONNECTED) is not levels
    before = Hierarchy(world).sizes
    world.close([(x, 5) for x in range(32)])
    assert Hierarchy(world).sizes == Hierarchy(world.frozen()).sizes != before
    assert hierarchy_of(world.graph).sizes == Hierarchy(world.frozen()).sizes
    assert levels.sizes == before
    world.settle()
    assert levels.sizes[0] == Hierarchy(world).sizes[0]


@pytest.mark.parametrize("name", ["prlrts(level=2)", "pra"])
def test_an_agent_waits_for_levels_before_it_reports_that_no_path_exists(name):
    """A wall is closed everywhere and opened again far away: the levels need many moves to follow."""
    world = World(andante.generate("empty", 40, 40))
    agent, state, goal = andante.Agent(name, world), world.state(0, 20), world.state(39, 20)
    state = agent.move(state, goal).to
    world.close([(x, y) for x in range(10, 30) for y in range(40)])
    world.open([(x, 39) for x in range(10, 30)])
    waited = 0
    for _ in range(2000):
        made = agent.move(state, goal)
        assert made.to >= 0
        waited += made.to == state
        state = made.to
        if state == goal:
            break
    assert state == goal
    assert waited > 0


@pytest.mark.parametrize("name", ["prlrts(level=2)", "pra"])
def test_agents_go_to_and_from_cells_that_were_walls_when_the_levels_were_built(name):
    world = World(Grid([list("@" * 12), *[list("." * 12)] * 6, list("@" * 12)]))
    agent = andante.Agent(name, world)
    world.open([(0, 0), (1, 0), (10, 7), (11, 7)])
    state, goal = world.state(0, 0), world.state(11, 7)
    for _ in range(100):
        state = agent.move(state, goal).to
        assert state >= 0
        if state == goal:
            break
    assert state == goal


def test_cells_of_a_map_of_walls_can_be_opened():
    world = World(Grid(np.zeros((6, 6), bool)))
    levels = [levels_of(world.graph, DEFAULT_COVER, Keep.CONNECTED, most) for most in (1, 3)]
    world.open([(x, y) for x in range(6) for y in range(6)])
    world.settle()
    assert [one.sizes[0] for one in levels] == [36, 36]
    agent = andante.Agent("prlrts(level=0)", world)
    world.close([(x, 3) for x in range(5)])
    state, goal = world.state(0, 0), world.state(0, 5)
    while state != goal:
        state = agent.move(state, goal).to
        assert state >= 0


def test_readers_wait_for_writers_and_writers_for_readers():
    gate, seen = Turnstile(), []

    def write():
        with gate.writing():
            seen.append("written")

    def read():
        with gate.reading():
            seen.append("read")

    with gate.reading():
        writer = threading.Thread(target=write)
        writer.start()
        while not gate._writers:
            pass
        reader = threading.Thread(target=read)
        reader.start()
        assert seen == []
    writer.join()
    reader.join()
    assert seen == ["written", "read"]


@pytest.mark.parametrize("name", ["prlrts(level=2)", "pra"])
def test_an_agent_replans_when_a_cell_opens_and_a_path_past_it_may_be_much_shorter(name):
    """A wall has its only gap at the far end. While the agent goes there, another opens near its goal."""
    world = World(andante.generate("empty", 40, 40))
    world.close([(20, y) for y in range(39)])
    agent, state, goal = andante.Agent(name, world), world.state(15, 2), world.state(25, 2)
    for _ in range(10):
        state = agent.move(state, goal).to
    world.close((0, 39))
    world.open((0, 39))  # far from any good path
    made = agent.move(state, goal)
    assert made.expanded == 0
    world.open((20, 5))
    least = distances_to(world.frozen().graph, goal)[made.to]
    made = agent.move(made.to, goal)
    assert made.expanded > 0
    walked = made.cost
    while made.to != goal:
        made = agent.move(made.to, goal)
        walked += made.cost
    assert walked <= 1.5 * least
