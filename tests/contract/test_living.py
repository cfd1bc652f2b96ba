"""Every agent that follows maps which change: legal moves only, arrival after the last change, and true reasons."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.agent import STUCK, UNREACHABLE, algorithms, find
from andante.episode.single import Agent
from andante.errors import AndanteError
from andante.world.grid import Grid
from andante.world.living import World
from tests.worlds import examples

SIDE = 8
LIVING = [entry.card.name for entry in algorithms() if entry.living]
SETTINGS = [
    *LIVING,
    "tba(budget=5)",
    "tba(budget=5, shortcut=true)",
    "tbwalls(budget=4)",
    "lrta(depth=3)",
    "lss(lookahead=3)",
]
CELL = st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1))
EVENTS = st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.lists(CELL, max_size=3)), max_size=25)


def drawn(seed):
    return Grid(np.random.default_rng(seed).random((SIDE, SIDE)) >= 0.25)


def is_joined(world, a, b):
    label = world.graph.components
    return bool(label[a] == label[b]) and bool(world.passable.flat[a]) and bool(world.passable.flat[b])


class Walk:
    """An agent that walks on a world, with every move checked."""

    def __init__(self, name, world, state, goal):
        self.world, self.state, self.goal, self.ended = world, state, goal, False
        self.agent = Agent(name, world)

    def move(self):
        made = self.agent.move(self.state, self.goal)
        if made.to == UNREACHABLE:
            assert not is_joined(self.world, self.state, self.goal), "there is a path"
            self.ended = True
        elif made.to == STUCK:
            assert not self.agent.algorithm.complete or not is_joined(self.world, self.state, self.goal)
            self.ended = True
        elif made.to != self.state:
            near = dict(self.world.frozen().graph.neighbours(self.state))
            assert made.to in near, "it walks through a wall"
            assert made.cost == pytest.approx(near[made.to])
            self.state = made.to
        return made


@pytest.mark.parametrize("name", SETTINGS)
@examples(40)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL)
def test_agents_follow_a_map_that_changes(name, seed, events, start, goal):
    world = World(drawn(seed))
    world.open([start, goal])
    if start == goal:
        return
    walk = Walk(name, world, world.state(*start), world.state(*goal))
    for moves, opened, cells in events:
        kept = {walk.state, walk.goal}
        (world.open if opened else world.close)([cell for cell in cells if world.state(*cell) not in kept])
        for _ in range(moves):
            if walk.state != walk.goal and not walk.ended:
                walk.move()
    if walk.ended:  # a new problem, as a game would send it
        walk = Walk(name, world, walk.state, walk.goal)
    for _ in range(4000):
        if walk.state == walk.goal or walk.ended:
            break
        walk.move()
    assert walk.ended or walk.state == walk.goal or not walk.agent.algorithm.complete


def test_agents_that_cannot_follow_a_map_are_refused():
    world = World(drawn(1))
    with pytest.raises(AndanteError, match=r"cannot follow a map that changes; give it world\.frozen"):
        Agent("pra", world)
    with pytest.raises(AndanteError, match="sight"):
        Agent("lrta", world, sight=3)
    assert not find("lss-e").living
    assert find("dalss").living


def test_an_agent_without_changes_walks_as_on_a_grid():
    grid = drawn(3)
    world = World(grid)
    free = np.flatnonzero(grid.graph.components == np.bincount(grid.graph.components[grid.passable.ravel()]).argmax())
    start, goal = grid.cell(int(free[0])), grid.cell(int(free[-1]))
    for name in SETTINGS:
        one, other = (
            Agent(name, grid).run(grid.problem(start, goal)),
            Agent(name, world).run(world.problem(start, goal)),
        )
        assert np.array_equal(one.path, other.path), name
        assert one.states_expanded == other.states_expanded
