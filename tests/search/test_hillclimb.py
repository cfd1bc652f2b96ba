"""Hill-climbing against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.kernel import kernel
from andante.search.hillclimb import ascend, climb, greedy_moves
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.heuristics import DIAGONAL
from tests.offline import plain_regions as plain
from tests.worlds import RULES, examples, graph_problems, grid_problems, heuristic


def climbed(problem, most):
    """Return the state that hill-climbing reaches, and the number of states expanded."""
    h, state, steps, touched = heuristic(problem), problem.start, 0, 0
    while state != problem.goal and steps < most:
        moves = problem.graph.neighbours(state)
        steps, touched = steps + 1, touched + len(moves)
        best = min((near for near, _ in moves), key=dict_of_f(moves, h).__getitem__, default=None)
        if best is None or not h(best) < h(state):
            break
        state = best
    return state == problem.goal, steps, touched


def dict_of_f(moves, h):
    """Return the least cost plus heuristic of each neighbour, in the order of the moves."""
    f = {}
    for near, cost in moves:
        f[near] = min(f.get(near, float("inf")), cost + h(near))
    return f


@given(st.one_of(grid_problems(rules=RULES), graph_problems()), st.sampled_from([0, 1, 2, 5, 1000]))
@examples(200)
def test_equals_its_definition(problem, most):
    found = climb(problem.graph.arrays, problem.start, problem.goal, most)
    assert (found.arrived, found.expanded, found.touched) == climbed(problem, most)


def test_lrta_learns_nothing_where_climbing_succeeds():
    grid = andante.generate("caves", 40, 40, seed=3)
    for problem in andante.random_problems(grid, 60, seed=1):
        if climb(grid.graph.arrays, problem.start, problem.goal, 10_000).arrived:
            assert andante.run("lrta", problem).learned == 0.0


@given(st.one_of(grid_problems(rules=RULES), graph_problems()), st.sampled_from([0, 1, 2, 5, 1000]))
@examples(200)
def test_approaching_a_goal_equals_its_plain_twin(problem, most):
    found = ascend(problem.graph.arrays, problem.start, problem.goal, most)
    twin, steps = plain.attempt(problem.graph, problem.start, problem.goal, most)
    assert (found.arrived, found.expanded) == (twin is not None, steps)
    assert twin is None or found.cost == twin.cost


@given(grid_problems(rules=RULES), st.sampled_from([0, 1, 2, 5, 1000]))
@examples(100)
def test_climbing_and_approaching_are_the_same_on_grids(problem, most):
    one, other = (rule(problem.graph.arrays, problem.start, problem.goal, most) for rule in (climb, ascend))
    assert (one.arrived, one.expanded, one.touched) == (other.arrived, other.expanded, other.touched)


@given(graph_problems())
@examples(60)
def test_a_neighbour_can_be_climbed_to_whatever_the_heuristic(problem):
    for near, _ in problem.graph.neighbours(problem.start):
        assert ascend(problem.graph.arrays, problem.start, near, 1).arrived


@given(st.one_of(grid_problems(rules=RULES), graph_problems(), graph_problems(directed=True)))
@examples(200)
def test_greedy_moves_are_the_first_of_least_cost_plus_heuristic(problem):
    """Among equal ones the higher or the lower cost decides, and both layouts agree."""
    graph, h = problem.graph, heuristic(problem)
    for state in range(len(graph)):
        moves = graph.neighbours(state)
        if not moves:
            continue
        least = min(cost + h(near) for near, cost in moves)
        tied = [k for k, (near, cost) in enumerate(moves) if cost + h(near) == least]
        expected = (max(tied, key=lambda k: moves[k][1]), min(tied, key=lambda k: moves[k][1]))
        assert greedy_moves(graph.arrays, state, problem.goal) == expected
        assert greedy_moves(graph.csr().arrays, state, problem.goal) == expected


@pytest.mark.parametrize("diagonal", [DIAGONAL, 2.0])
def test_greedy_moves_under_every_set_of_legal_directions(diagonal):
    """No map has all of them, so only the middle cell is checked."""
    arrays = Grid(np.ones((13, 13), bool)).graph.arrays
    middle = 6 * 13 + 6
    for legal in range(1, 256):
        mask = arrays.mask.copy()
        mask[middle] = legal
        closed = Graph(arrays._replace(mask=mask, diagonal=diagonal))
        for goal in range(0, 169, 3 if legal % 8 else 1):
            if goal != middle:
                assert asked(closed.arrays, middle, goal) == asked(closed.csr().arrays, middle, goal)


@kernel
def asked(graph, state, goal):
    """Return the arguments of a kernel."""
    return greedy_moves(graph, state, goal)
