"""Agents on maps that change, and crowds with bodies, keep the same claims if cells have costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.measures import Outcome
from andante.world.grid import RULES, Grid
from andante.world.living import World
from tests import naive
from tests.contract.test_living import CELL, EVENTS, SIDE, Walk, _check_lower_bounds, is_joined
from tests.worlds import DEEP, examples

COSTS = [0.5, 1.0, 1.5, 2.5, 4.0]


def drawn_world(seed, start, goal):
    """Return a random map with costs, on which these two cells are free, and with two levels."""
    chance = np.random.default_rng(seed)
    free = chance.random((SIDE, SIDE)) >= 0.25
    kinds = chance.choice(COSTS, size=chance.integers(2, 5))
    world = World(Grid(free, rule=RULES[seed % len(RULES)], costs=chance.choice(kinds, free.shape)))
    world.open([start, goal, (0, 0), (0, 1), (1, 0), (1, 1), (2, 0)])
    return World(world.frozen())


@examples(60)
@given(st.integers(0, 10_000), EVENTS)
def test_moves_and_costs_are_those_of_the_present_version(seed, events):
    world = drawn_world(seed, (3, 3), (5, 5))
    weights = world.weights
    for _, opened, cells in events:
        (world.open if opened else world.close)(cells)
    arrays, frozen = world.graph.arrays, world.frozen()
    assert np.array_equal(arrays.mask, frozen.graph.arrays.mask)
    assert np.array_equal(frozen.weights, weights)
    for state in range(len(world.graph)):
        expected = naive.legal_moves(world.passable, *world.cell(state), world.rule, weights)
        assert frozen.graph.neighbours(state) == [(world.state(*cell), cost) for cell, cost in expected]


def test_a_wall_that_opens_costs_what_ground_does():
    world = World(Grid(["SS@"], costs={"S": 3, ".": 1.5}))
    world.open((2, 0))
    assert world.frozen().graph.neighbours(1) == [(2, 2.25), (0, 3.0)]
    world.close((1, 0))
    world.open((1, 0))
    assert world.frozen().graph.neighbours(1) == [(2, 2.25), (0, 3.0)]


@pytest.mark.full
@pytest.mark.parametrize("name", ["lrta", "lss(lookahead=3)", "tba(budget=5)", "prlrts(level=1)", "prlrta(level=1)"])
@examples(30)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL)
def test_agents_follow_a_map_that_changes(name, seed, events, start, goal):
    if start != goal:
        world = drawn_world(seed, start, goal)
        Walk(name, world, world.state(*start), world.state(*goal)).go_among(events)


@pytest.mark.full
@pytest.mark.parametrize("name", ["lrta", "lss(lookahead=3)", "plrta"])
@examples(40)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL)
def test_learned_values_stay_lower_bounds(name, seed, events, start, goal):
    world = drawn_world(seed, start, goal)
    if start == goal:
        return
    walk = Walk(name, world, world.state(*start), world.state(*goal))
    for moves, opened, cells in events:
        walk.go(moves)
        if walk.ended or walk.state == walk.goal or not is_joined(world, walk.state, walk.goal):
            return
        walk.change(opened, cells)
        if not is_joined(world, walk.state, walk.goal):
            return
        walk.move()  # the loop reads the changes
        _check_lower_bounds(walk)


@pytest.mark.full
@pytest.mark.parametrize(("name", "kind"), [("cpd", "moves"), *([("dlrta", "pattern")] if DEEP else [])])
@examples(20)
@given(st.integers(0, 10_000), EVENTS, CELL, CELL, st.sampled_from([0, 1, 1000]))
def test_databases_follow_a_map_that_changes(name, kind, seed, events, start, goal, pieces):
    world = drawn_world(seed, start, goal)
    if start == goal or not world.problem(start, goal).reachable:
        return
    given = [andante.build(kind, world)]
    walk = Walk(name, world, world.state(*start), world.state(*goal), given)
    walk.go_among(events, repair=lambda: [one.repair(world, milliseconds=0) for one in given for _ in range(pieces)])


@pytest.mark.full
def test_bodies_neither_meet_nor_cross():
    grid = andante.generate("countryside", 24, 24, seed=1)
    crowd = andante.Crowd("lrta", grid, bodies=True)
    chance = np.random.default_rng(2)
    free = np.flatnonzero(grid.passable)
    starts, goals = chance.permutation(free)[:60], chance.permutation(free)[:60]
    cells = [[grid.cell(int(state)) for state in states] for states in (starts, goals)]
    ids = crowd.add(*cells)
    for _ in range(120):
        before = crowd.states[ids].copy()
        crowd.tick(expansions=2000)
        after = crowd.states[ids]
        assert len(set(after.tolist())) == len(ids)
        halves = {}
        for a, b in zip(before.tolist(), after.tolist(), strict=True):
            if a != b:
                assert b in [near for near, _ in grid.graph.neighbours(a)]
                (ax, ay), (bx, by) = grid.cell(a), grid.cell(b)
                assert halves.setdefault((ax + bx, ay + by), (a, b)) == (a, b)  # no other unit passes the same middle
    assert (crowd.outcomes[ids] == Outcome.GOAL).sum() > 30
