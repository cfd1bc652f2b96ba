"""Crowds on maps that change, and units whose goals move."""

import numpy as np
import pytest

import andante
from andante.agent import UNREACHABLE, algorithms
from andante.episode.places import nearest_in_component
from andante.episode.single import Agent
from andante.episode.units import NO_WISH
from andante.episode.wishes import UNRANKED
from andante.errors import AndanteError
from andante.kernel import on_compile
from andante.measures import Outcome
from andante.world.grid import Grid
from andante.world.living import TENDED, World
from tests.worlds import DEEP

GRID = andante.generate("rooms", 48, 48, seed=5)
PROBLEMS = andante.random_problems(GRID, 40, seed=2)
STARTS, GOALS = (
    [GRID.cell(state) for state in states] for states in zip(*((p.start, p.goal) for p in PROBLEMS), strict=True)
)
#: Named settings with larger minds than their algorithm's, for which a crowd's loop is compiled again.
OTHER_MINDS = ("alss", "dalss", "artaa", "dartaa", "gamma-trap", "sla", "oracle-lrta")
MEMBERS = [
    pytest.param(entry.card.name, marks=[pytest.mark.deep] if entry.card.name in OTHER_MINDS else [])
    for entry in algorithms()
    if entry.living and entry.crowd and entry.complete and not entry.needs
]


def changes(world, rng, kept):
    """Close and open a few cells at random, except those of units and their goals."""
    cells = rng.integers(0, 48, (6, 2))
    cells = [tuple(cell) for cell in cells.tolist() if tuple(cell) not in kept]
    world.close(cells[:2])
    world.open(cells[2:])


@pytest.mark.parametrize("name", MEMBERS)
def test_units_walk_legally_and_arrive_after_the_last_change(name):
    world, rng = World(GRID), np.random.default_rng(1)
    crowd = andante.Crowd(name, world, lanes=2)
    ids = crowd.add(STARTS, GOALS)
    for number in range(100_000):
        if not crowd.walking:
            break
        before = crowd.states[ids].copy()
        if number >= 60:
            crowd.tick()
        else:
            crowd.tick(expansions=400)
            _check_moves(world, before, crowd.states[ids])
            kept = {tuple(cell) for cell in crowd.cells[ids].tolist()} | set(GOALS)
            changes(world, rng, kept)
    outcomes = crowd.outcomes[ids]
    assert set(outcomes.tolist()) <= {Outcome.GOAL, Outcome.UNREACHABLE}
    assert (crowd.states[ids] == crowd.goals[ids])[outcomes == Outcome.GOAL].all()
    assert np.count_nonzero(outcomes == Outcome.GOAL) >= 30


def _check_moves(world, before, after):
    graph = world.frozen().graph
    for here, to in zip(before.tolist(), after.tolist(), strict=True):
        assert here == to or to in dict(graph.neighbours(here))


def test_a_unit_walks_as_an_agent_on_the_same_map_with_the_same_changes():
    worlds = World(GRID), World(GRID)
    crowd, agents = andante.Crowd("lrta", worlds[0]), [andante.Agent("lrta", worlds[1]) for _ in PROBLEMS[:5]]
    ids = crowd.add(STARTS[:5], GOALS[:5])
    states = [problem.start for problem in PROBLEMS[:5]]
    rngs, lost = (np.random.default_rng(4), np.random.default_rng(4)), set()
    for _ in range(80):
        crowd.tick()
        for i, agent in enumerate(agents):
            if states[i] != PROBLEMS[i].goal and i not in lost:
                to = agent.move(states[i], PROBLEMS[i].goal).to
                if to == UNREACHABLE:
                    lost.add(i)
                else:
                    states[i] = to
        assert crowd.states[ids].tolist() == states
        kept = {GRID.cell(state) for state in states} | set(GOALS)
        for world, rng in zip(worlds, rngs, strict=True):
            changes(world, rng, kept)


def test_goals_that_are_walled_in_are_found_unreachable():
    world = World(andante.generate("empty", 40, 40))
    crowd = andante.Crowd("tba(budget=10)", world)
    ids = crowd.add([(0, 0), (0, 5)], [(30, 30), (10, 10)])
    crowd.tick()
    world.close([(x, y) for x in range(28, 33) for y in range(28, 33) if max(abs(x - 30), abs(y - 30)) == 2])
    ticks = [crowd.tick() for _ in range(3)]
    assert crowd.outcomes[ids].tolist() == [Outcome.UNREACHABLE, Outcome.WALKING]
    assert sum(tick.unreachable for tick in ticks) == 1
    assert crowd.held_bytes(ids)[0] == 0


def test_a_goal_behind_a_door_is_found_unreachable_within_a_bounded_number_of_ticks():
    free = np.ones((150, 151), bool)
    free[:, 75] = False
    free[40, 75] = True
    world = World(Grid(free))
    crowd = andante.Crowd("lrta", world)
    crowd.add((0, 149), [(150, 149), (74, 149)])
    for _ in range(2):
        crowd.tick()
    world.close((75, 40))
    sweep = 150 * 151 // TENDED + 1  # ticks in which all cells are labelled once
    ends = [crowd.tick().unreachable for _ in range(2 * sweep + 1)]
    assert (sum(ends), ends[0]) == (1, 0)
    assert crowd.outcomes.tolist() == [Outcome.UNREACHABLE, Outcome.WALKING]


def test_a_unit_in_a_wall_cannot_reach_a_cell_near_its_goal_either():
    world = andante.World(andante.Grid(["..@.", "..@."]))
    crowd = andante.Crowd("lrta", world)
    ids = crowd.add([(0, 0), (1, 1), (3, 0)], [(1, 0), (0, 0), (3, 1)])
    world.close((3, 0))
    assert crowd.tick().unreachable == 1
    crowd.send(ids, (3, 1), nearest=True)
    assert crowd.outcomes[ids].tolist() == [Outcome.WALKING, Outcome.WALKING, Outcome.UNREACHABLE]
    assert crowd.goals[ids].tolist() == [5, 5, 7]
    world.open((3, 0))
    crowd.send(ids[2:], (0, 0), nearest=True)
    assert crowd.goals[ids[2:]].tolist() == [3]


def test_the_nearest_cell_equals_that_of_a_grid_of_the_current_version():
    rng = np.random.default_rng(5)
    world = World(andante.generate("random", 40, 40, seed=2))
    for _ in range(10):
        cells = rng.integers(0, 40, (200, 2))
        world.close(cells[:150])
        world.open(cells[150:])
        world.settle()
        free, states = np.flatnonzero(world.passable), np.arange(1600)
        starts, goals = np.append(rng.choice(free, 60), free[:3]), np.append(rng.choice(states, 60), states[[7, 7, 7]])
        label, found = world.frozen().graph.components, nearest_in_component(world, starts, goals)
        for start, goal, end in zip(starts.tolist(), goals.tolist(), found.tolist(), strict=True):
            there = free[label[free] == label[start]]
            apart = (there // 40 - goal // 40) ** 2 + (there % 40 - goal % 40) ** 2
            assert end == there[np.argmin(apart)]


def test_bodies_drop_wishes_that_walls_make_impossible():
    world, rng = World(GRID), np.random.default_rng(2)
    crowd = andante.Crowd("lrta", world, bodies=True)
    problems = {p.start: p for p in andante.random_problems(GRID, 60, seed=9)}
    goals = {p.goal: p for p in problems.values()}
    ids = crowd.add([GRID.cell(p.start) for p in goals.values()], [GRID.cell(p.goal) for p in goals.values()])
    for _ in range(200):
        before = crowd.states[ids].copy()
        crowd.tick()
        _check_moves(world, before, crowd.states[ids])
        assert len(set(crowd.states[ids].tolist())) == len(ids)
        kept = {tuple(cell) for cell in crowd.cells[ids].tolist()} | {GRID.cell(goal) for goal in goals}
        changes(world, rng, kept)


@pytest.mark.parametrize("edit", ["close", "open"])
def test_bodies_rank_their_moves_again_when_the_map_has_changed(edit):
    """Ranks contain the numbers of moves, and after a change the same number may be another move."""
    world = World(GRID)
    crowd = andante.Crowd("lrta", world, bodies=True)
    problems = {p.goal: p for p in {p.start: p for p in andante.random_problems(GRID, 200, seed=9)}.values()}
    ids = crowd.add([GRID.cell(p.start) for p in problems.values()], [GRID.cell(p.goal) for p in problems.values()])
    blocked = np.zeros(0, np.int64)
    while not len(blocked):
        crowd.tick()
        units = crowd._roster.units
        blocked = np.flatnonzero((units["wish"] != NO_WISH) & (units["outcome"] == Outcome.WALKING))
    units["order"][blocked] = 0o76543210  # of eight moves, more than most states have
    wishes = units["wish"][blocked].copy()
    kept = set(crowd.states[ids].tolist()) | set(crowd.goals[ids].tolist()) | set(wishes.tolist())
    cells = np.flatnonzero(GRID.passable.ravel() == (edit == "close")).tolist()
    getattr(world, edit)(GRID.cell(next(state for state in cells if state not in kept)))
    crowd._look_at_map()
    assert (units["order"][blocked] == UNRANKED).all()
    assert (units["wish"][blocked] == wishes).all()
    before = crowd.states[ids].copy()
    crowd.tick()
    _check_moves(world, before, crowd.states[ids])


@pytest.mark.parametrize("name", ["lrta", "rta", "lss", "tba(budget=20)", "tbwalls"])
def test_units_catch_goals_that_move_more_slowly(name):
    crowd, rng = andante.Crowd(name, GRID), np.random.default_rng(3)
    ids = crowd.add(STARTS[:10], GOALS[:10])
    for number in range(20_000):
        if not crowd.walking:
            break
        crowd.tick()
        walking = ids[crowd.outcomes[ids] == Outcome.WALKING]
        if number % 3 == 0 and len(walking):
            near = [GRID.graph.neighbours(goal) for goal in crowd.goals[walking].tolist()]
            crowd.send(walking, [GRID.cell(one[rng.integers(len(one))][0]) for one in near])
    assert (crowd.outcomes[ids] == Outcome.GOAL).all()


DATABASES = {"cpd": "moves", "dlrta": "pattern", "hcdps": "regions", "knn": "subgoals(records=500)"}


@pytest.mark.parametrize("name", DATABASES if DEEP else ["cpd"])
def test_a_unit_walks_as_an_agent_while_their_database_is_updated(name):
    world, rng = World(GRID), np.random.default_rng(2)
    database = andante.build(DATABASES[name], world)
    crowd, agent = andante.Crowd(name, world, databases=[database]), Agent(name, world, databases=[database])
    start, goal = STARTS[0], GOALS[0]
    ids = crowd.add(start, goal)
    state = world.state(*start)
    for number in range(2000):
        if number < 40:
            changes(world, rng, {world.cell(state), goal})
        for _ in range(200):
            database.repair(world, milliseconds=0)
        world.settle()
        tick, made = crowd.tick(), agent.move(state, world.state(*goal))
        if made.to == UNREACHABLE:
            assert tick.unreachable == 1
            return
        state = made.to
        assert crowd.states[ids[0]] == state
        if state == world.state(*goal):
            break
    assert crowd.outcomes[ids[0]] == Outcome.GOAL
    assert database.following.edition > 0


@pytest.mark.parametrize("name", DATABASES if DEEP else ["cpd"])
def test_units_with_databases_search_where_a_database_is_outdated(name):
    world, rng = World(GRID), np.random.default_rng(1)
    crowd = andante.Crowd(name, world, databases=[andante.build(DATABASES[name], GRID)])
    ids = crowd.add(STARTS, GOALS)
    for number in range(20_000):
        if not crowd.walking:
            break
        before = crowd.states[ids].copy()
        crowd.tick()
        if number < 60:
            _check_moves(world, before, crowd.states[ids])
            changes(world, rng, {tuple(cell) for cell in crowd.cells[ids].tolist()} | set(GOALS))
    outcomes = crowd.outcomes[ids]
    assert set(outcomes.tolist()) <= {Outcome.GOAL, Outcome.UNREACHABLE}
    assert np.count_nonzero(outcomes == Outcome.GOAL) >= 30
    assert not crowd.held_bytes(ids).any()


def test_only_units_that_search_take_memory_for_it_and_release_it():
    world, agents_world = World(GRID), World(GRID)
    crowd = andante.Crowd("cpd", world, databases=[andante.build("moves", GRID)])
    squad = crowd._lanes._squads[0]
    ids = crowd.add(STARTS * 20, GOALS * 20)
    agents = [Agent("cpd", agents_world, databases=[andante.build("moves", GRID)]) for _ in STARTS]
    states = [problem.start for problem in PROBLEMS]
    assert squad.unit_bytes < 2e3

    def go_on():
        crowd.tick()
        for k, agent in enumerate(agents):
            to = agent.move(states[k], PROBLEMS[k].goal).to if states[k] != PROBLEMS[k].goal else UNREACHABLE
            states[k] = states[k] if to == UNREACHABLE else to
        assert (crowd.states[ids].reshape(-1, len(STARTS)) == states).all()
        annexes = crowd._roster.units["annex"]
        used = annexes[annexes > 0]
        assert len(set(used.tolist())) == len(used) == squad.result["annexes"] - squad.result["annexes_free"]
        assert (crowd.held_bytes(crowd._roster.units["squad"] == 0) > 0).tolist() == (annexes > 0).tolist()

    go_on()
    assert squad.result["annexes"] == 0
    kept = {state for problem in PROBLEMS for state in (problem.start, problem.goal)} | set(states)
    for one in (world, agents_world):
        one.close([GRID.cell(state) for problem in PROBLEMS for state in _path(problem)[6:8] if state not in kept])
        one.settle()  # so that all cut-off units are found in one tick
    for number in range(30):
        go_on()
        if number == 5:
            crowd.compile(memory=1e6)  # no search is disturbed
        if number == 10:  # more than there is memory for
            assert squad.result["annexes"] > 0
            crowd.add(STARTS * 15, GOALS * 15)
    while crowd.walking:
        crowd.tick()
    assert squad.result["annexes"] == squad.result["annexes_free"] > 0
    assert squad.used_bytes == 0


def test_values_lost_in_a_step_that_asks_for_an_annex_are_counted():
    world, subgoals = World(GRID), andante.build("subgoals(records=200)", GRID)
    first = next(trial for trial in andante.run_many("knn", PROBLEMS, databases=[subgoals]) if trial.learned == 0)
    crowd = andante.Crowd("knn", world, databases=[subgoals])
    ids = crowd.add(GRID.cell(first.problem.start), GRID.cell(first.problem.goal))
    world.close(GRID.cell(int(first.path[1])))  # so its first step finds a subgoal and a wall
    for index in crowd._lanes._squads[0]._minds.pools:
        index.pool["fresh"], fresh = len(index.head) // index.cut.head, int(index.pool["fresh"][0])  # there is no page
    tick = crowd.tick()
    assert (tick.restarted, int(crowd.moves[ids][0])) == (1, 0)
    assert not crowd.held_bytes(ids).any()
    for index in crowd._lanes._squads[0]._minds.pools:
        index.pool["fresh"] = fresh
    while crowd.walking:
        assert crowd.tick().restarted == 0
    assert crowd.outcomes[ids] == Outcome.GOAL


def test_units_that_are_moved_while_they_search_do_not_mix_up_their_searches():
    world, agents_world, rng = World(GRID), World(GRID), np.random.default_rng(4)
    databases = [andante.build("moves", GRID)]
    crowd = andante.Crowd("cpd", world, databases=databases)
    ids, count = crowd.add(STARTS, GOALS), len(STARTS)
    agents = [Agent("cpd", agents_world, databases=[andante.build("moves", GRID)]) for _ in range(count)]
    states, goals = [problem.start for problem in PROBLEMS[:count]], [problem.goal for problem in PROBLEMS[:count]]
    closed = {state for problem in PROBLEMS[:count] for state in _path(problem)[3:9:2]} - {*states, *goals}
    for one in (world, agents_world):
        one.close([GRID.cell(state) for state in closed])
        one.settle()
    free = [state for state in np.flatnonzero(GRID.passable.ravel()).tolist() if state not in closed]
    searched = 0
    for number in range(120):
        if number % 6 == 5:  # all of them in one tick, so that others take the released memory
            for k in np.flatnonzero(crowd.outcomes[ids] == Outcome.WALKING).tolist():
                states[k] = int(rng.choice(free))
                crowd.put(ids[k : k + 1], GRID.cell(states[k]))
        crowd.tick()
        searched += int((crowd._roster.units["annex"] > 0).sum() > 1)
        for k, agent in enumerate(agents):
            if states[k] != goals[k]:
                to = agent.move(states[k], goals[k]).to
                states[k] = states[k] if to == UNREACHABLE else to
        assert crowd.states[ids].tolist() == states
    assert searched > 0  # several at the same time


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "bodies"), [("cpd", False), ("lrta", True)])
def test_compile_compiles_everything(name, bodies):
    world = World(GRID)
    crowd = andante.Crowd(name, world, databases=[andante.build("moves", GRID)] if name == "cpd" else (), bodies=bodies)
    crowd.compile()
    heard = []
    with on_compile(heard.append):
        ids = crowd.add(STARTS[:2], GOALS[:2])
        crowd.tick()
        world.close(next(cell for cell in STARTS[2:] if cell not in {*STARTS[:2], *GOALS[:2]}))
        crowd.tick()
        crowd.send(ids, GOALS[2:4])
        crowd.put(ids[:1], STARTS[5])
        crowd.tick(microseconds=100)
        crowd.remove(ids)
    assert heard == []


def _path(problem):
    return andante.run("astar", problem).path.tolist()


def test_units_that_cannot_follow_a_map_do_not_learn_together_on_one():
    with pytest.raises(AndanteError, match="cannot follow a map that changes"):
        andante.Crowd("dlrta", World(GRID), share="goal")


def test_a_unit_that_is_cut_off_has_no_wish_to_be_pushed_into_a_wall():
    world = World(Grid(np.ones((1, 10), bool)))
    crowd = andante.Crowd("lrta", world, bodies=True)
    first = crowd.add((5, 0), (0, 0))
    second = crowd.add((3, 0), (9, 0))
    crowd.tick()
    crowd.remove(first)
    world.close((4, 0))
    crowd.add((1, 0), (3, 0))
    for _ in range(4):
        crowd.tick()
        x, y = crowd.cells[second[0]]
        assert world.passable[y, x]


def test_bodies_decide_in_the_same_order_as_if_it_were_computed_before_each_tick():
    """Units are cut off, sent again, removed and added, so that the first to set out keeps changing."""
    crowds, worlds = [], []
    for _ in range(2):
        worlds.append(World(GRID))
        crowds.append(andante.Crowd("lrta", worlds[-1], bodies=True))
        crowds[-1].add(STARTS, GOALS)
    rng = np.random.default_rng(3)
    ids = np.arange(len(STARTS))
    for number in range(80):
        near = GOALS[number // 4]
        around = [(near[0] + dx, near[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        around = [cell for cell in around if min(cell) >= 0 and max(cell) < 48]
        lost = rng.permutation(len(ids))[:3]
        for world, crowd, fresh in zip(worlds, crowds, (False, True), strict=True):
            if number % 4 == 0:
                world.close(around)
            elif number % 4 == 2:
                world.open(around)
            elif number % 8 == 3:
                crowd.send(ids[lost], [GOALS[k] for k in (lost + number) % len(GOALS)])
            if fresh:
                crowd._roster.reorder()
            crowd.tick(expansions=300)
        assert np.array_equal(crowds[0].states, crowds[1].states), number
        assert np.array_equal(crowds[0].outcomes, crowds[1].outcomes), number
