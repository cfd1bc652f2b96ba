"""Bodies: units never collide, swap or cross, decide as a recursive twin does, and all arrive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.bodies import PATIENCE, Bodies, resolve
from andante.episode.crowdrun import problems_apart
from andante.episode.units import NO_WISH, UNIT, Ground
from andante.episode.wishes import BITS, MOST_RANKED, UNRANKED, believed, rank, ranked, ranker
from andante.kernel import interpreted
from andante.measures import Outcome
from andante.world.layout import estimate
from tests.worlds import examples, grids


class Twin:
    """Priority inheritance with backtracking as a recursive function, over dictionaries."""

    def __init__(self, graph, states, wishes, goals, orders, denied, yields):
        self.graph, self.states, self.wishes, self.goals = graph, states, wishes, goals
        self.orders, self.denied = orders, denied
        self.at = {state: unit for unit, state in enumerate(states)}
        self.next, self.taken = {}, {}
        for unit in sorted(range(len(states)), key=lambda unit: yields[unit] > 0):
            if unit not in self.next:
                self.decide(unit)

    def places(self, unit):
        here, wish, goal = self.states[unit], self.wishes[unit], self.goals[unit]
        value = {near: cost + estimate(self.graph.arrays, near, goal) for near, cost in self.graph.neighbours(here)}
        value[here] = -np.inf if wish == NO_WISH else estimate(self.graph.arrays, here, goal) + 1
        others = [near for near in value if near != wish or near == here]
        if wish != NO_WISH and self.orders[unit]:
            value = {[*value][k]: place for place, k in enumerate(self.orders[unit])}
        if wish != NO_WISH and self.denied[unit] >= PATIENCE:
            value[here] = np.inf
        return [wish] * (wish not in (NO_WISH, here)) + sorted(others, key=lambda near: value[near])

    def crosses(self, here, to):
        grid_x, grid_y = self.graph.arrays.x, self.graph.arrays.y
        if grid_x[here] == grid_x[to] or grid_y[here] == grid_y[to]:
            return False
        ends = [
            next(s for s in range(len(grid_x)) if (grid_x[s], grid_y[s]) == place)
            for place in ((grid_x[to], grid_y[here]), (grid_x[here], grid_y[to]))
        ]
        return any(self.next.get(self.at.get(a)) == b for a, b in (ends, ends[::-1]) if a in self.at)

    def decide(self, unit):
        here = self.states[unit]
        for to in self.places(unit):
            other = self.at.get(to)
            if to in self.taken or (other not in (None, unit) and self.next.get(other) == here):
                continue
            if self.crosses(here, to):
                continue
            self.next[unit], self.taken[to] = to, unit
            if other in (None, unit) or other in self.next or self.decide(other):
                return True
        self.next[unit], self.taken[here] = here, unit
        return False


@st.composite
def scenes(draw):
    """Draw a map with units and their goals, and the wishes, move orders, patience and yielding of some units."""
    grid = draw(grids(side=7).filter(lambda grid: grid.free_cells > 2))
    free = np.flatnonzero(grid.passable.ravel())
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, len(free)))
    states, goals = chance.permutation(free)[:count], chance.choice(free, count)
    wishes, orders = [], []
    for state in states.tolist():
        near = [to for to, _ in grid.graph.neighbours(state)]
        wishes.append(int(chance.choice(near)) if near and chance.random() < 0.8 else NO_WISH)
        orders.append(chance.permutation(len(near) + 1).tolist() if near and chance.random() < 0.5 else [])
    denied, yields = chance.choice([0, 1, PATIENCE], count).tolist(), chance.choice([0, 0, 2], count).tolist()
    return grid, states.tolist(), wishes, goals.tolist(), orders, denied, yields


def packed(order):
    """Return an order of moves in the form of a unit's row."""
    return sum(k << BITS * place for place, k in enumerate(order))


@given(scenes())
@examples(300)
def test_units_go_where_the_twin_goes(scene):
    grid, states, wishes, goals, orders, denied, yields = scene
    units = np.zeros(len(states), UNIT)
    units["state"], units["wish"], units["goal"], units["outcome"] = states, wishes, goals, Outcome.WALKING
    units["order"], units["denied"], units["yields"] = list(map(packed, orders)), denied, yields
    bodies = Bodies.over(len(grid.graph), len(states), grid.graph.max_degree)
    bodies.standing[states] = np.arange(len(states)) + 1
    ground = Ground(units, np.zeros((len(states), 2), np.int32))
    twin = Twin(grid.graph, states, wishes, goals, orders, denied, yields)
    moved = resolve(grid.graph.arrays, ground, bodies, np.arange(len(states), dtype=np.int32))
    after = units["state"].tolist()
    assert after == [twin.next[unit] for unit in range(len(states))]
    assert moved == sum(a != b for a, b in zip(states, after, strict=True))
    assert len(set(after)) == len(after)
    moves = set(zip(states, after, strict=True))
    assert not any((b, a) in moves for a, b in moves if a != b)
    assert not bodies.taken.any()
    assert np.flatnonzero(bodies.standing).tolist() == sorted(after)


@given(scenes(), st.integers(0, 2**32 - 1))
@examples(100)
def test_moves_are_ranked_by_cost_and_value(scene, seed):
    grid, states, _, goals, *_ = scene
    value = np.random.default_rng(seed).integers(0, 5, len(grid.graph)).astype(float)
    by_value = interpreted(rank, {believed: lambda memory, graph, state, goal: value[state]})
    for state, goal in zip(states, goals, strict=True):
        ends = [*grid.graph.neighbours(state), (state, 1.0)]
        order = by_value(grid.graph.arrays, None, np.zeros(MOST_RANKED + 1), state, goal)
        expected = sorted(range(len(ends)), key=lambda k: ends[k][1] + value[ends[k][0]])
        assert [ranked(order, place) for place in range(len(ends))] == expected


def test_states_with_many_moves_are_not_ranked():
    star = andante.Graph.from_edges([(0, k, 1.0) for k in range(1, MOST_RANKED + 2)])
    by_heuristic = ranker(tuple)
    worth = np.zeros(MOST_RANKED + 1)
    assert by_heuristic(star.arrays, (), worth, 0, 1) == UNRANKED
    assert by_heuristic(star.arrays, (), worth, 1, 0) == packed([0, 1])
    states = range(MOST_RANKED + 3)
    complete = andante.Graph.from_edges([(a, b, 1.0) for a in states for b in states if a < b])
    crowd = andante.Crowd("lrta", complete, bodies=True)
    crowd.add(states, np.roll(states, 1))
    for _ in range(100):
        crowd.tick()
    assert (crowd.outcomes == Outcome.GOAL).all()


def no_harm(crowd, before):
    """Check that no two units share a cell or have swapped places."""
    after = crowd.states.copy()
    assert len(np.unique(after)) == len(after)
    moved = {(int(a), int(b)) for a, b in zip(before, after, strict=True) if a != b}
    assert not any((b, a) in moved for a, b in moved)
    return after


def ring(side):
    """Return a corridor around a block, on which every move is on a cycle."""
    grid = np.ones((side, side), bool)
    grid[1:-1, 1:-1] = False
    return andante.Grid(grid)


@pytest.mark.parametrize("algorithm", ["lrta", "lss(lookahead=5)", "tba(budget=10)"])
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_all_units_arrive_if_every_move_is_on_a_cycle(algorithm, share):
    for grid in (andante.generate("empty", 9, 9), ring(7)):
        free = np.flatnonzero(grid.passable.ravel())
        chance, count = np.random.default_rng(3), int(share * len(free))
        starts, goals = (
            [grid.cell(int(s)) for s in chance.permutation(free)[:count]],
            [grid.cell(int(s)) for s in chance.permutation(free)[:count]],
        )
        crowd = andante.Crowd(algorithm, grid, bodies=True)
        ids, ticks = crowd.add(starts, goals), 0
        before = crowd.states.copy()
        while crowd.walking:
            crowd.tick(expansions=200)
            before, ticks = no_harm(crowd, before), ticks + 1
            assert ticks < 20_000
        assert (crowd.outcomes[ids] == Outcome.GOAL).all()


def test_a_unit_alone_walks_as_without_a_body():
    grid = andante.generate("rooms", 24, 24, seed=2)
    (problem,) = andante.random_problems(grid, 1, seed=5)
    crowd = andante.Crowd("lrta", grid, bodies=True)
    (unit,) = crowd.add(grid.cell(problem.start), grid.cell(problem.goal))
    while crowd.walking:
        crowd.tick()
    trial = andante.run("lrta", problem)
    assert (crowd.moves[unit], crowd.costs[unit]) == (trial.moves, trial.cost)


def test_a_unit_that_has_arrived_moves_aside():
    grid = andante.generate("empty", 5, 2)
    crowd = andante.Crowd("lrta", grid, bodies=True)
    first, second = crowd.add([(2, 0), (0, 0)], [(2, 0), (4, 0)])
    assert crowd.outcomes[first] == Outcome.GOAL
    while crowd.walking:
        crowd.tick()
    assert crowd.cells[second].tolist() == [4, 0]
    assert crowd.outcomes[first] == Outcome.GOAL
    assert crowd.cells[first].tolist() != [2, 0]


def test_a_unit_in_a_dead_end_gets_out():
    """The goal of unit 0 is in a dead end that its heuristic favours, and unit 1 has to get out of it."""
    grid = andante.Grid([list(row) for row in ("......", "..@@@@", "......")])
    for algorithm in ("lrta", "lss(lookahead=5)", "tba(budget=5)"):
        crowd = andante.Crowd(algorithm, grid, bodies=True)
        crowd.add([(4, 0), (5, 0)], [(5, 2), (0, 1)])
        for _ in range(300):
            crowd.tick()
        assert (crowd.outcomes == Outcome.GOAL).all()


@pytest.mark.compiled
def test_most_units_get_through_a_maze():
    """The theorem does not cover mazes; without yielding 82 per cent arrived."""
    arrived = []
    for seed in range(6):
        grid = andante.generate("maze", 41, 41, seed=seed)
        problems = problems_apart(grid, int(0.05 * grid.free_cells), seed)
        crowd = andante.Crowd("tba(budget=10)", grid, bodies=True)
        crowd.add([grid.cell(p.start) for p in problems], [grid.cell(p.goal) for p in problems])
        for _ in range(2000):
            crowd.tick()
        arrived.append(np.mean(crowd.outcomes == Outcome.GOAL))
    assert np.mean(arrived) > 0.9


def test_two_units_cannot_start_in_one_place():
    grid = andante.generate("empty", 4, 4)
    crowd = andante.Crowd("lrta", grid, bodies=True)
    with pytest.raises(
        andante.AndanteError, match=r"two units with bodies cannot be in one place, but two would be at \(0, 0\)"
    ):
        crowd.add([(0, 0), (0, 0)], (3, 3))
    (one,) = crowd.add((0, 0), (3, 3))
    with pytest.raises(andante.AndanteError, match=r"unit 0 is at \(0, 0\)"):
        crowd.add((0, 0), (3, 3))
    (other,) = crowd.add((1, 0), (2, 2))
    with pytest.raises(andante.AndanteError, match="unit 1 is at"):
        crowd.put(one, (1, 0))
    crowd.put([one, other], [(1, 0), (0, 0)])  # in one call they may swap places
    crowd.remove(one)
    crowd.add((1, 0), (3, 3))
    assert len(crowd) == 2
