"""Shortening a path while it is walked: properties of a route after every slice of work, and its final cost."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.kernel import kernel
from andante.search import shorten as shortening
from andante.search.astar import Tree, begin, open_at
from andante.search.memory import new_space
from andante.search.shorten import DONE, Route, Window
from tests import naive
from tests.worlds import examples, graph_problems, grid_problems


class Wanted(NamedTuple):
    window: int


@kernel
def lay_path(route, window, tree, graph, path, costs, goal, size):
    """Lay a path as a search would have left it, state by state, with the cost of reaching each."""
    begin(tree, graph, path[0], goal, 1.0)
    for k in range(1, len(path)):
        open_at(tree, graph, path[k], path[k - 1], costs[k], goal, 1.0)
    shortening.abandon(route, window, size)
    shortening.lay(route, tree, goal, goal, len(path) - 1)


@kernel
def shorten(route, window, graph, state, goal, weight, expansions, steps):
    return shortening.shorten(route, window, graph, state, goal, weight, expansions, steps)


def wandering_path(problem, chance):
    """Return a path without loops, and mostly a bad one: depth-first, with neighbours in a random order."""
    stack, parent = [problem.start], {problem.start: None}
    while stack:
        state = stack.pop()
        for k in chance.permutation(len(problem.graph.neighbours(state))):
            near = problem.graph.neighbours(state)[k][0]
            if near not in parent:
                parent[near] = state
                stack.append(near)
    path = [problem.goal]
    while parent[path[-1]] is not None:
        path.append(parent[path[-1]])
    return path[::-1]


def laid(problem, size, seed):
    space = new_space(problem.graph, Wanted(size))
    window, tree = Window.allocate(space), Tree.allocate(space)
    route = Route.through(space.mind, tree)
    path = wandering_path(problem, np.random.default_rng(seed))
    prices = [min(c for n, c in problem.graph.neighbours(a) if n == b) for a, b in pairwise(path)]
    costs = np.concatenate([[0.0], np.cumsum(prices)])
    lay_path(route, window, tree, problem.graph.arrays, np.array(path), costs, problem.goal, size)
    return route, window


def follow(problem, route, state):
    """Return the cost of the path from ``state``, after checking that the stored bounds hold and decrease along it."""
    cost = 0.0
    while state != problem.goal:
        near = int(route.place["next"][state])
        assert route.place["rest"][near] < route.place["rest"][state]
        cost += min(c for n, c in problem.graph.neighbours(state) if n == near)
        state = near
    return cost


worlds = st.one_of(grid_problems(side=12), graph_problems(states=14))


@given(worlds, st.sampled_from([1, 2, 3, 8, 100]), st.sampled_from([1.0, 1.5]), st.integers(0, 99))
@examples(60)
def test_every_state_of_the_path_leads_to_the_goal_at_no_higher_cost(problem, size, weight, seed):
    route, window = laid(problem, size, seed)
    state, chance = problem.start, np.random.default_rng(seed)
    before = {s: route.place["rest"][s] for s in np.flatnonzero(route.place["number"] == route.scalars[0]["now"])}
    for _ in range(100):
        work = shorten(
            route,
            window,
            problem.graph.arrays,
            state,
            problem.goal,
            weight,
            int(chance.integers(1, 9)),
            int(chance.integers(1, 30)),
        )
        assert work.expanded <= 8
        for s in np.flatnonzero(route.place["number"] == route.scalars[0]["now"]):
            assert follow(problem, route, s) <= route.place["rest"][s] + 1e-9
            assert route.place["rest"][s] <= before.get(s, np.inf)
            before[s] = route.place["rest"][s]
        if state != problem.goal and chance.random() < 0.3:
            state = int(route.place["next"][state])


@given(worlds, st.sampled_from([1, 2, 3, 8, 100]), st.integers(0, 99))
@examples(60)
def test_with_enough_time_the_path_becomes_a_cheapest_one(problem, size, seed):
    """The agent waits until the last window, from it to the goal, is done."""
    route, window = laid(problem, size, seed)
    for _ in range(100):
        if window.scalars[0]["stage"] == DONE:
            break
        shorten(route, window, problem.graph.arrays, problem.start, problem.goal, 1.0, 1000, 1000)
    assert window.scalars[0]["stage"] == DONE
    true = naive.distances_to(problem.graph, problem.goal)[problem.start]
    assert follow(problem, route, problem.start) == pytest.approx(true)
