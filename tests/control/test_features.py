"""The eleven features, updated from move to move, against a twin that computes each from the whole walk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.control.depth import ball_for
from andante.control.features import History, keep, observe
from andante.search.learning import Learned, raise_to
from andante.search.memory import new_space, set_problem
from andante.world.heuristics import TOLERANCE
from tests import naive
from tests.worlds import RULES, drawn, examples, graph_problems, grid_problems, in_rows


def points(problem):
    """Return the point of each state, as a list of coordinates."""
    if problem.grid is not None:
        return [problem.grid.cell(state) for state in range(len(problem.graph))]
    return [tuple(row) for row in problem.graph.csr().arrays.point.tolist()]


def estimates(problem):
    """Return the heuristic between any two states, computed in plain Python."""
    arrays, places = problem.graph.csr().arrays, points(problem)
    name = ("octile", "euclidean", "manhattan", "chebyshev")[arrays.metric]
    return lambda a, b: naive.point_heuristic(places if arrays.point.shape[1] else [], name, b)(a)


def without_obstacles(problem):
    """Return the number of neighbours that a state could have."""
    if problem.grid is not None and not isinstance(problem.graph.arrays, type(problem.graph.csr().arrays)):
        return 8 if problem.grid.rule != "cardinal" else 4
    return max(len(problem.graph.neighbours(state)) for state in range(len(problem.graph)))


class Twin:
    """Appendix A of Bulitko et al. (2008), from lists of all moves."""

    def __init__(self, problem, n):
        self.problem, self.n = problem, n
        self.h0, self.place, self.open = estimates(problem), points(problem), without_obstacles(problem)
        self.trail, self.values = [], {}  # (state, move, learned) of each move

    def h(self, state):
        return self.values.get(state, self.h0(state, self.problem.goal))

    def features(self, state):
        moves, last = self.problem.graph.neighbours(state), self.trail[-self.n :]
        f = [cost + self.h(near) for near, cost in moves]
        best = f.index(min(f))
        near = moves[best][0]
        here = [move for s, move, _ in self.trail if s == state]
        unit = self.problem.graph.unit
        return [
            self.h0(state, self.problem.goal) / unit,
            self.h0(state, last[0][0]) / unit if last else 0,
            len({s for s, _, _ in last}),
            sum(learned for _, _, learned in last) / unit,
            len(moves) / self.open,
            sum(s in self.values for s, _ in moves) / len(moves),
            bool(here) and here[-1] == best,
            bool(last) and self.same_direction(last[-1][0], state, near),
            (self.h(state) + TOLERANCE * unit) / (self.h(near) + TOLERANCE * unit),
            near in self.values,
            self.h(state) > self.h(near) + TOLERANCE * unit,
        ]

    def same_direction(self, before, state, after):
        first, second = (
            [y - x for x, y in zip(self.place[a], self.place[b], strict=True)]
            for a, b in [(before, state), (state, after)]
        )
        return len(first) > 0 and first == pytest.approx(second, abs=1e-6)


def assert_walk_agrees(problem, n, moves, seed, trials=2):
    """Walk and learn at random, and compare before each move; values are kept between trials."""
    chance, graph = np.random.default_rng(seed), problem.graph
    space = new_space(graph, None)
    h, ball, history = Learned.allocate(space), ball_for(space, 1), History.over(space, n)
    set_problem(space.clock[0], 1, 0)
    twin = Twin(problem, n)
    for _ in range(trials):
        space.clock[0]["trial"] += 1
        twin.trail, state = [], problem.start
        for _ in range(moves):
            if not graph.neighbours(state):
                break
            seen = observe(history, ball, graph.arrays, h, state, problem.goal)
            assert seen.expanded == 1
            assert history.row.tolist() == pytest.approx([float(f) for f in twin.features(state)], rel=1e-5, abs=1e-5)
            rise = float(chance.choice([0.0, 0.5, 1.0, 2**0.5]))
            old = twin.h(state)
            learned, _ = raise_to(h, graph.arrays, state, problem.goal, old + rise)
            if rise:
                twin.values[state] = old + rise
            move = int(chance.integers(len(graph.neighbours(state))))
            keep(history, graph.arrays, state, move, learned)
            twin.trail.append((state, move, rise))
            state = graph.neighbours(state)[move][0]


@given(grid_problems(side=6, rules=RULES), st.sampled_from([1, 2, 5, 60]), st.booleans(), st.integers(0, 2**32))
@examples(60)
def test_features_on_maps(problem, n, rows, seed):
    assert_walk_agrees(in_rows(problem) if rows else problem, n, 40, seed)


@given(graph_problems(), st.sampled_from([1, 3, 60]), st.integers(0, 2**32))
@examples(40)
def test_features_on_graphs(problem, n, seed):
    assert_walk_agrees(problem, n, 40, seed)


def test_a_long_walk_leaves_no_rounding_errors():
    """Sums over a sliding history stay exact: after a walk without learning the volume is exactly zero."""
    problem = drawn(andante.generate("random", 12, 12, seed=1), 1)[0]
    space = new_space(problem.graph, None)
    h, ball, history = Learned.allocate(space), ball_for(space, 1), History.over(space, 10)
    set_problem(space.clock[0], 1, 0)
    space.clock[0]["trial"] = 1
    for i in range(5000):
        keep(history, problem.graph.arrays, problem.start, 0, 0.1 * (i % 7) if i < 4990 else 0.0)
    observe(history, ball, problem.graph.arrays, h, problem.start, problem.goal)
    assert history.row[3] == 0
    assert history.row[2] == 1


def test_a_state_without_moves():
    graph = andante.Graph.from_edges([(0, 1, 1.0)], states=2, directed=True)
    space = new_space(graph, None)
    h, ball, history = Learned.allocate(space), ball_for(space, 1), History.over(space, 10)
    set_problem(space.clock[0], 1, 0)
    space.clock[0]["trial"] = 1
    assert observe(history, ball, graph.arrays, h, 1, 0).slot < 0
    assert history.row.tolist() == [0.0] * 11
