"""Every agent on maps that change makes only legal moves, arrives after the last change, and gives true reasons."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.agent import STUCK, UNREACHABLE, algorithms, find
from andante.episode.single import Agent
from andante.errors import AndanteError
from andante.kernel import kernel
from andante.search.learning import value
from andante.world.grid import RULES, Grid
from andante.world.living import World
from tests.naive import distances_to
from tests.worlds import DEEP, examples

SIDE = 8
LIVING = [entry.card.name for entry in algorithms() if entry.living and not entry.needs]
SETTINGS = [
    *(name for name in LIVING if not name.startswith("prlrt")),
    "prlrts(level=0)",
    "prlrts(level=1)",
    "prlrts(level=2, depth=2, gamma=1.0, quota=5.0)",
    "prlrts(level=2, between=astar, replan=graph, forget=level, keep=clique)",
    "prlrta(level=1)",
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

    def __init__(self, name, world, state, goal, databases=(), sight=None):
        self.world, self.state, self.goal, self.ended = world, state, goal, False
        self.made = []
        self.make = functools.partial(Agent, name, world, databases=databases, sight=sight)
        self.agent = self.make()

    def move(self):
        made = self.agent.move(self.state, self.goal)
        self.made.append(made)
        if made.to == UNREACHABLE:
            assert not is_joined(self.world, self.state, self.goal), "there is a path"
            self.ended = True
        elif made.to == STUCK:
            assert not self.agent.algorithm.complete or not is_joined(self.world, self.state, self.goal)
            self.ended = True
        elif made.to != self.state:
            near = dict(self.world.frozen().graph.neighbours(self.state))
            assert made.to in near, "it walked through a wall"
            assert made.cost == pytest.approx(near[made.to])
            self.state = made.to
        return made

    def go(self, moves, repair=lambda: None):
        """Make this many moves, or move until the walk is over; ``repair`` is called sometimes."""
        for number in range(moves):
            if self.ended or self.state == self.goal:
                return
            self.move()
            if number % 3 == 0:
                repair()

    def change(self, opened, cells):
        """Open or close some of these cells, except those of the agent and its goal."""
        kept = {self.state, self.goal}
        (self.world.open if opened else self.world.close)(
            [cell for cell in cells if self.world.state(*cell) not in kept]
        )

    def go_among(self, events, repair=lambda: None):
        """Move while the map changes, and then until the walk is over; complete agents must arrive."""
        for moves, opened, cells in events:
            self.go(moves)
            self.change(opened, cells)
            repair()
        if self.ended:  # a new problem, as a game would send it
            self.agent, self.ended = self.make(), False
        self.go(4000, repair)
        assert self.ended or self.state == self.goal or not self.agent.algorithm.complete


def drawn_world(seed, start, goal):
    """Return a random map with any rule for moves, on which these two cells are free, and with two levels."""
    world = World(Grid(drawn(seed).passable, rule=RULES[seed % len(RULES)]))
    world.open([start, goal, (0, 0), (0, 1), (1, 0), (1, 1), (2, 0)])
    return World(world.frozen())


@pytest.mark.parametrize("name", SETTINGS)
@examples(40)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL)
def test_agents_follow_a_map_that_changes_and_the_same_log_gives_the_same_walk(name, seed, events, start, goal):
    if start == goal:
        return
    walks = []
    for _ in range(2):
        world = drawn_world(seed, start, goal)
        walks.append(Walk(name, world, world.state(*start), world.state(*goal)))
        walks[-1].go_among(events)
    assert walks[0].made == walks[1].made


@pytest.mark.parametrize("name", [name for name in SETTINGS if find(name).card.senses])
@examples(40)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL, st.integers(1, 3))
def test_agents_with_sight_learn_of_changes_when_they_see_them(name, seed, events, start, goal, sight):
    world = drawn_world(seed, start, goal)
    if start != goal:
        Walk(name, world, world.state(*start), world.state(*goal), sight=sight).go_among(events)


DATABASES = {"cpd": "moves", "dlrta": "pattern", "hcdps": "regions", "knn": "subgoals(records=50)"}


@pytest.mark.parametrize("name", [*DATABASES] if DEEP else ["cpd", "dlrta"])  # each takes a while to compile
@examples(40)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL, st.sampled_from([0, 1, 20, 1000]))
def test_agents_with_stale_databases_search(name, seed, events, start, goal, pieces):
    world = drawn_world(seed, start, goal)
    if start == goal or not world.problem(start, goal).reachable:
        return
    given = [andante.build(DATABASES[name], world)]
    walk = Walk(name, world, world.state(*start), world.state(*goal), given)
    walk.go_among(events, repair=lambda: [one.repair(world, milliseconds=0) for one in given for _ in range(pieces)])


def test_databases_are_for_the_first_or_the_present_version_of_a_world():
    world = World(drawn(1))
    moves, (x, y) = andante.build("moves", world), world.cell(int(np.flatnonzero(world.passable)[0]))
    world.close((x, y))
    Agent("cpd", world, databases=[moves])
    present = andante.build("moves", world.frozen())
    free = np.flatnonzero(world.graph.components == world.graph.components[np.flatnonzero(world.passable)[-1]])
    start, goal = int(free[0]), int(free[-1])
    walk = Walk("cpd", world, start, goal, [present])
    walk.go(1)
    world.open((x, y))
    walk.go(1)
    while present.repair(world, milliseconds=0):
        walk.go(1)
    walk.go(1000)
    assert walk.state == goal
    assert present.fingerprint == world.fingerprint
    assert andante.Crowd("cpd", world, databases=[present]).add(world.cell(start), world.cell(goal)) is not None
    older = andante.build("moves", world.frozen())
    world.close([(x, y), world.cell(int(np.flatnonzero(world.passable)[1]))])
    with pytest.raises(AndanteError, match="for other maps"):
        Agent("cpd", World(world.frozen()), databases=[older])


@pytest.mark.parametrize("sight", [None, 2])
def test_closing_the_cell_of_an_agent_or_its_goal_makes_the_goal_unreachable_until_it_opens(sight):
    world = World(Grid(np.ones((SIDE, SIDE), bool)))
    agent, goal = Agent("lrta", world, sight=sight), world.state(7, 7)
    state = agent.move(0, goal).to
    for walled in (state, goal):
        if sight is not None and walled == goal:
            continue  # the agent has not seen that yet
        world.close(world.cell(walled))
        assert agent.move(world.cell(state), world.cell(goal)).to == UNREACHABLE
        for _ in range(2):
            assert agent.move(state, goal).to == UNREACHABLE
        world.open(world.cell(walled))
        state = agent.move(state, goal).to
        assert state >= 0
    while state != goal:
        state = agent.move(state, goal).to
    world.close((3, 3))
    with pytest.raises(AndanteError, match=r"the goal \(3, 3\) is blocked"):
        agent.retarget((3, 3))
    with pytest.raises(AndanteError, match="blocked"):
        Agent("lrta", world.frozen()).move(world.state(3, 3), goal)


REMOVING = ["lss-e(lookahead=3)", "lss-e", "dalrta-e", "family(wc=3, operator=median, expendable=true)"]


@pytest.mark.parametrize("name", REMOVING)
@examples(40)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL)
def test_states_that_were_removed_are_back_when_the_map_changes(name, seed, events, start, goal):
    """Such agents are complete on maps that they know, although no card claims it."""
    world = drawn_world(seed, start, goal)
    if start == goal:
        return
    walk = Walk(name, world, world.state(*start), world.state(*goal))
    walk.go_among(events)
    assert walk.state == walk.goal or not is_joined(world, walk.state, walk.goal)


@pytest.mark.parametrize("name", ["lss-e(lookahead=3)", "dalrta-e", "flrta(lookahead=3)"])
def test_a_room_that_was_removed_is_back_when_it_is_the_only_path_left(name):
    """The agent leaves a room on a long path around a wall; then the wall opens behind it, and its path is closed."""
    rows = ["@@@@@@@@@", "@...@...@", "@...@...@", "@...@...@", "@.@@@@@.@", "@.......@", "@@@@@@@@@"]
    world = World(Grid([list(row) for row in rows]))
    walk = Walk(name, world, world.state(3, 2), world.state(5, 2))
    while world.cell(walk.state) != (4, 5):
        walk.move()
    world.close((6, 5))
    world.open((4, 2))
    walk.go(2000)
    assert walk.state == walk.goal


def test_only_agents_that_follow_changes_can_discover_a_map_that_changes():
    with pytest.raises(AndanteError, match="has to know its map"):
        Agent("cpd", World(drawn(1)), sight=3)
    card = find("lrta").card
    deaf = replace(find("lrta"), card=replace(card, living=False))
    with pytest.raises(AndanteError, match="cannot discover a map that changes"):
        Agent(deaf, World(drawn(1)), sight=3)


def test_an_agent_that_remembers_a_wall_that_has_gone_returns_to_look():
    """The only door closes in its sight and opens again out of sight, and the agent does not give up."""
    world = World(Grid([list("...@..."), list("......."), list("...@...")]))
    agent, state, goal = Agent("lrta", world, sight=1), world.state(2, 1), world.state(6, 1)
    world.close((3, 1))
    seen = set()
    for turn in range(200):
        if turn == 12:
            world.open((3, 1))
        made = agent.move(state, goal)
        if made.to == UNREACHABLE:
            assert turn < 12
            seen.add(turn)
            agent.forget()
            continue
        state = made.to
        if state == goal:
            break
    assert state == goal
    assert seen  # while the door was closed, the agent knew correctly that there was no path


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


ADMISSIBLE = ["lrta", "lrta(depth=3)", "lss(lookahead=3)", "rtaa(lookahead=3)", "plrta", "dalss(lookahead=3)"]


@kernel
def believed(h, graph, state, goal):
    return value(h, graph, state, goal)


@pytest.mark.parametrize("name", ADMISSIBLE)
@examples(40)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL)
def test_learned_values_stay_lower_bounds_when_map_and_goal_change(name, seed, events, start, goal):
    world = drawn_world(seed, start, goal)
    if start == goal:
        return
    walk = Walk(name, world, world.state(*start), world.state(*goal))
    for number, (moves, opened, cells) in enumerate(events):
        walk.go(moves)
        if walk.ended or walk.state == walk.goal or not is_joined(world, walk.state, walk.goal):
            return
        walk.change(opened, cells)
        near = world.frozen().graph.neighbours(walk.goal)
        if near and number % 2:
            new = near[number % len(near)][0]
            if new != walk.state and walk.agent.retarget(new):
                walk.goal = new
        if not is_joined(world, walk.state, walk.goal) or walk.agent._aim != walk.goal:
            return
        walk.move()  # the loop reads the changes
        _check_lower_bounds(walk)


def _check_lower_bounds(walk):
    graph = walk.world.frozen().graph
    aim = int(walk.agent._stepping.rows["aim"][0])
    truth = distances_to(graph, aim)
    arrays, h = walk.world.graph.arrays, walk.agent._memory.h
    for state in np.flatnonzero(walk.world.passable.ravel()).tolist():
        assert believed(h, arrays, state, aim) <= truth.get(state, np.inf) + 1e-9, walk.world.cell(state)


PURSUING = [name for name in SETTINGS if find(name).pursues and find(name).complete]


@pytest.mark.parametrize("name", PURSUING)
@examples(40)
@given(st.integers(0, 10_000), CELL, CELL)
def test_a_target_that_is_slower_is_caught(name, seed, start, goal):
    world = World(drawn(seed))
    world.open([start, goal])
    rng = np.random.default_rng(seed)
    hunter, prey = world.state(*start), world.state(*goal)
    if hunter == prey or not is_joined(world, hunter, prey):
        return
    walk = Walk(name, world, hunter, prey)
    for turn in range(6000):
        if walk.state == walk.goal:
            return
        walk.move()
        if turn % 3 == 2 and walk.state != walk.goal:
            flee(walk, rng)
    pytest.fail("the target was not caught")


def flee(walk, rng):
    """Move the target to the neighbour farthest from its hunter, or to a random one."""
    near = [state for state, _ in walk.world.frozen().graph.neighbours(walk.goal) if state != walk.state]
    if not near:
        return
    x, y = walk.world.cell(walk.state)
    cells = [walk.world.cell(state) for state in near]
    far = max(range(len(near)), key=lambda i: (max(abs(cells[i][0] - x), abs(cells[i][1] - y)), rng.random()))
    walk.goal = near[far if rng.random() < 0.7 else rng.integers(len(near))]
    assert walk.agent.retarget(walk.goal)


def test_an_agent_that_is_pushed_while_its_goal_moves_continues():
    world = World(Grid(np.ones((SIDE, SIDE), bool)))
    agent, goal = Agent("lrta", world), world.state(7, 7)
    state = agent.move(world.state(0, 0), goal).to
    for x in (6, 5):
        goal = world.state(x, 7)
        assert agent.retarget(goal)
        state = agent.move(state, goal).to
    state = agent.move((0, 5), goal).to  # pushed
    while state != goal:
        state = agent.move(state, goal).to
    assert agent.retarget(world.state(5, 6)) in (True, False)
    with pytest.raises(AndanteError, match=r"call agent\.move first"):
        Agent("lrta", world).retarget(goal)


def test_tba_finds_a_goal_that_moves_after_it_was_found():
    room = np.zeros((9, 30), bool)
    room[:, :10] = True
    room[4, 10:] = True
    grid = Grid(room)
    for budget, ahead in itertools.product((2, 3, 4, 6), (1, 2, 3, 5)):
        agent, state, x = Agent(f"tba(budget={budget})", grid), grid.state(0, 0), 12
        for turn in range(400):
            goal = grid.state(x, 4)
            if state == goal:
                break
            to = agent.move(state, goal).to
            assert to >= 0, (budget, ahead, turn)
            state = to
            if turn % ahead == 0 and x < 29 and state != grid.state(x + 1, 4):
                x += 1
                agent.retarget((x, 4))
        assert state == grid.state(x, 4)


def test_tba_does_not_walk_in_circles_when_cells_close_and_open_repeatedly():
    grid = andante.generate("rooms", 40, 40, seed=3)
    problems = andante.random_problems(grid, 12 if DEEP else 6, seed=5)
    for number, problem in enumerate(problems):
        world, rng = World(grid), np.random.default_rng(number)
        agent, state = Agent("tba(budget=10, weight=30, r=0.5)", world), problem.start
        for turn in range(4000):
            if state == problem.goal:
                break
            if turn < 200:
                for x, y in rng.integers(0, 40, (3, 2)).tolist():
                    if world.state(x, y) not in (state, problem.goal):
                        for _ in range(2):
                            (world.close if world.passable[y, x] else world.open)((x, y))
            to = agent.move(state, problem.goal).to
            assert to >= 0
            state = to
        assert state == problem.goal


def test_values_for_an_earlier_place_of_the_goal_are_not_those_for_the_goal():
    world = World(Grid(np.ones((SIDE, SIDE), bool)))
    agent = Agent("lrta", world)
    agent.move((0, 0), (7, 7))
    assert agent.retarget((7, 6))
    with pytest.raises(AndanteError, match="only for problems with the goal of its last one"):
        agent.run_all([world.problem((0, 0), (7, 6))], again=True)
