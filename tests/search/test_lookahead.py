"""The lookahead against its definition: plies, cheapest paths inside the ball, path-max, ties, the goal as a leaf."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.search.learning import Learned, is_learned, raise_to, store, value
from andante.search.lookahead import Ball, deepen, look, most_states
from andante.search.memory import allocate, new_space, set_problem
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import examples, graph_problems, grid_problems, heuristic, in_rows


class Params(NamedTuple):
    depth: int


class Memory(NamedTuple):
    h: Learned
    ball: Ball


def new_memory(graph: Graph, depth: int) -> Memory:
    space = new_space(graph, Params(depth))
    set_problem(space.clock[0], 1, 0)
    return allocate(Memory, space)


def kernel_view(problem, learned, state, depth, weight) -> naive.View | None:
    """Return the kernel's view from a state, with these learned values."""
    memory = new_memory(problem.graph, depth)
    for where, new in learned.items():
        store(memory.h, where, new)
    found = look(memory.ball, problem.graph.arrays, memory.h, state, problem.goal, depth, weight)
    if found.slot < 0:
        return None
    return naive.View(found.f, found.first, found.expanded, found.touched)


def naive_view(problem, learned, state, depth, weight) -> naive.View | None:
    h0 = heuristic(problem)
    return naive.lookahead(problem.graph, lambda s: learned.get(s, h0(s)), state, problem.goal, depth, weight)


def assert_same(problem, learned, state, depth, weight=1.0):
    expected = naive_view(problem, learned, state, depth, weight)
    assert kernel_view(problem, learned, state, depth, weight) == expected


def inconsistent_values(data, problem):
    """Draw values of any size that sums exactly, anywhere but at the goal, which need not be consistent."""
    states = st.integers(0, len(problem.graph) - 1).filter(lambda state: state != problem.goal)
    return data.draw(st.dictionaries(states, st.integers(0, 200).map(lambda eighths: eighths / 8), max_size=12))


@given(st.data(), grid_problems(side=9, rules=RULES), st.integers(1, 6), st.sampled_from([1.0, 0.5, 2.0]))
@examples(250)
def test_on_maps(data, problem, depth, weight):
    learned = inconsistent_values(data, problem)
    assert_same(problem, learned, problem.start, depth, weight)
    assert_same(in_rows(problem), learned, problem.start, depth, weight)


@given(st.data(), graph_problems(states=10), graph_problems(states=10, directed=True), st.integers(1, 6))
@examples(250)
def test_on_graphs(data, problem, one_way, depth):
    for p in (problem, one_way):
        assert_same(p, inconsistent_values(data, p), p.start, depth)


def test_a_detour_through_the_last_ply_counts():
    """The cheapest path to state 1 is through 2, both one move away."""
    graph = Graph.from_edges([(0, 1, 10.0), (0, 2, 1.0), (2, 1, 1.0), (1, 3, 1.0)])
    view = kernel_view(graph.problem(0, 3), {}, 0, 2, 1.0)
    assert (view.f, view.first) == (3.0, 1)


def test_the_goal_may_be_near_by_moves_and_nearer_by_a_detour():
    """One move away at a cost of 10, three moves away at a cost of 4."""
    edges = [(0, 4, 1.0), (4, 5, 1.0), (5, 6, 4.0), (6, 1, 1.0), (0, 1, 10.0), (0, 2, 1.0), (2, 3, 2.0), (3, 1, 1.0)]
    for directed in (True, False):
        graph = Graph.from_edges(edges, directed=directed)
        view = kernel_view(graph.problem(0, 1), {}, 0, 3, 1.0)
        assert (view.f, graph.neighbours(0)[view.first][0]) == (4.0, 2)


def test_among_equal_paths_the_first_move_in_the_order_decides():
    """The paths from 0 to 2, directly and through 1, have the same cost, which the heuristic has too."""
    edges = [(0, 1, 1.0), (0, 2, 2.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)]
    for points in (None, [(0,), (1,), (2,), (3,), (4,)]):
        graph = Graph.from_edges(edges, points=points)
        assert kernel_view(graph.problem(0, 4), {}, 0, 2, 1.0).first == 0


def test_f_never_falls_along_a_path():
    """The only path leads through a state of value 50; states behind it cannot look better."""
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)])
    view = kernel_view(graph.problem(0, 4), {1: 50.0}, 0, 3, 1.0)
    assert view.f == 51.0
    memory = new_memory(graph, 3)
    store(memory.h, 1, 50.0)
    assert look(memory.ball, graph.arrays, memory.h, 0, 4, 3, 1.0, False).f == 3.0


def test_without_a_last_ply_the_deepest_is_the_frontier():
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0)])
    view = kernel_view(graph.problem(0, 4), {2: 7.0}, 0, 9, 1.0)
    assert view == naive.View(9.0, 0, 3, 4)


def test_a_state_without_moves_has_no_frontier():
    graph = Graph.from_edges([(1, 0, 1.0), (1, 2, 1.0)], directed=True)
    for depth in (1, 2, 5):
        assert kernel_view(graph.problem(0, 2), {}, 0, depth, 1.0) is None


# --- how much is expanded -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "most"), [(1, 1), (2, 9), (3, 25), (4, 49), (6, 121), (14, 729)])
def test_table_4_of_bulitko_et_al_2008(depth, most):
    """On an empty map (2d - 1)^2 states are expanded, if there is space for them all."""
    grid = Grid(np.ones((31, 40), bool))
    problem = grid.problem((15, 15), (39, 15))
    assert (2 * depth - 1) ** 2 == most == most_states(grid.graph.arrays, depth, 10**9)
    assert kernel_view(problem, {}, problem.start, depth, 1.0).expanded == most
    corner = grid.problem((0, 0), (39, 30))
    assert kernel_view(corner, {}, corner.start, depth, 1.0).expanded == depth**2


@given(grid_problems(side=12), st.integers(1, 7))
@examples(60)
def test_never_more_than_on_an_empty_map(problem, depth):
    assert kernel_view(problem, {}, problem.start, depth, 1.0).expanded <= (2 * depth - 1) ** 2


def test_the_goal_is_met_but_not_expanded():
    grid = Grid(np.ones((1, 6), bool))
    problem = grid.problem((0, 0), (2, 0))
    view = kernel_view(problem, {}, 0, 4, 1.0)
    assert view == naive.View(2.0, 0, 2, 3)


# --- growing one ball -----------------------------------------------------------------------------------------------


def known_paths(ball: Ball, size: int) -> list[list[float]]:
    """Return all data of a ball about its states."""
    return [column[:size].tolist() for column in (ball.state, ball.ply, ball.g, ball.f, ball.first, ball.parent)]


def assert_grows(graph, learned, state, goal, deepest, start=1, weight=1.0, path_max=True, slack=0.0):
    """Check that deepening finds the same at each depth as a new lookahead, and has the same ball."""
    grown, fresh = new_memory(graph, deepest), new_memory(graph, deepest)
    for where, new in learned.items():
        store(grown.h, where, new)
        store(fresh.h, where, new)
    seen = look(grown.ball, graph.arrays, grown.h, state, goal, start, weight, path_max, slack)
    for depth in range(start + 1, deepest + 1):
        seen = deepen(grown.ball, graph.arrays, grown.h, goal, weight, seen, path_max, slack)
        again = look(fresh.ball, graph.arrays, fresh.h, state, goal, depth, weight, path_max, slack)
        assert seen == again
        assert known_paths(grown.ball, seen.size) == known_paths(fresh.ball, seen.size)


@given(
    st.data(),
    grid_problems(side=9, rules=RULES),
    st.integers(1, 4),
    st.sampled_from([1.0, 0.5, 2.0]),
    st.booleans(),
    st.sampled_from([0.0, 1e-6]),
)
@examples(200)
def test_a_ball_that_grows_on_maps(data, problem, start, weight, path_max, slack):
    learned = data.draw(st.booleans()) and inconsistent_values(data, problem)
    for graph in (problem.graph, problem.graph.csr()):
        assert_grows(graph, learned or {}, problem.start, problem.goal, 12, start, weight, path_max, slack)


@given(st.data(), graph_problems(states=14), graph_problems(states=14, directed=True), st.integers(1, 3), st.booleans())
@examples(300)
def test_a_ball_that_grows_on_graphs(data, problem, one_way, start, path_max):
    """With costs from an eighth to ten, cheaper paths with more moves are the rule, and many are equal."""
    for p in (problem, one_way):
        learned = inconsistent_values(data, p)
        assert_grows(p.graph, learned, p.start, p.goal, 9, start, 1.0, path_max)
        assert_grows(p.graph, {}, p.start, p.goal, 9, start, 1.0, path_max)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["random", "rooms", "maze", "caves", "empty"])
def test_a_ball_that_grows_over_a_whole_map(kind):
    """The ball grows past detours around walls and past the goal, and further when the whole map is inside."""
    grid = andante.generate(kind, 40, 40, seed=2)
    for problem in andante.random_problems(grid, 40, seed=7):
        deepest = 60 if kind == "maze" else 45
        assert_grows(problem.graph, {}, problem.start, problem.goal, deepest)


@pytest.mark.compiled
def test_a_ball_that_grows_on_uneven_ground():
    """No float represents the costs exactly, and rounding makes the heuristic inconsistent."""
    chance = np.random.default_rng(3)
    for _ in range(60):
        points = chance.random((60, 2)) * 10
        pairs = {tuple(sorted(pair)) for pair in chance.integers(60, size=(150, 2)).tolist() if pair[0] != pair[1]}
        stretch = chance.choice([1.0, 1.3], len(pairs))
        edges = [
            (a, b, float(np.hypot(*(points[a] - points[b]))) * more)
            for (a, b), more in zip(sorted(pairs), stretch, strict=True)
        ]
        graph = Graph.from_edges(edges, states=60, points=points)
        for state, goal in chance.permutation(60)[:10].reshape(5, 2).tolist():
            assert_grows(graph, {}, state, goal, 15)


# --- stamps ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:overflow encountered")  # the test wraps around, about which plain NumPy warns
def test_after_the_last_number_of_a_lookahead_numbers_start_again():
    grid = Grid(np.ones((9, 9), bool))
    memory = new_memory(grid.graph, 3)
    states = [0, 8, 40, 72, 80, 41]
    before = [look(memory.ball, grid.graph.arrays, memory.h, s, 44, 3, 1.0) for s in states]
    assert memory.ball.scalars[0]["now"] == 6
    memory.ball.scalars[0]["now"] = 2**32 - 3  # the marks of the first lookaheads are still there
    after = [look(memory.ball, grid.graph.arrays, memory.h, s, 44, 3, 1.0) for s in states]
    assert after == before
    assert memory.ball.scalars[0]["now"] < 6


def test_values_belong_to_the_problem_in_which_they_were_learned():
    grid = Grid(np.ones((3, 3), bool))
    space = new_space(grid.graph, Params(1))
    h = Learned.allocate(space)
    set_problem(space.clock[0], 1, 0)
    assert value(h, grid.graph.arrays, 0, 2) == 2.0
    assert raise_to(h, grid.graph.arrays, 0, 2, 1.5) == (0.0, 0)  # never lowered
    assert raise_to(h, grid.graph.arrays, 0, 2, 2.0 + 1e-9) == (0.0, 0)  # rounding is not learning
    assert raise_to(h, grid.graph.arrays, 0, 2, 5.0) == (3.0, 1)
    assert raise_to(h, grid.graph.arrays, 0, 2, 6.0) == (1.0, 0)  # it already has a learned value
    assert (value(h, grid.graph.arrays, 0, 2), is_learned(h, 0), is_learned(h, 1)) == (6.0, True, False)
    set_problem(space.clock[0], 2, 0)
    assert (value(h, grid.graph.arrays, 0, 2), is_learned(h, 0)) == (2.0, False)
    assert store(h, 0, 1.0) == 1
    assert store(h, 0, 1.5) == 0
    assert value(h, grid.graph.arrays, 0, 2) == 1.5
