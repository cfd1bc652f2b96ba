"""The oracle's depth against plain lookaheads."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from andante.control.depth import ball_for, least_depth
from andante.search.learning import Learned, store
from andante.search.memory import new_space, set_problem
from tests import naive
from tests.worlds import examples, graph_problems, grid_problems, heuristic

problems = st.one_of(grid_problems(side=9), graph_problems(states=12))


@given(problems, st.integers(1, 8), st.integers(0, 2**32))
@examples(120)
def test_the_least_depth_from_which_all_make_the_same_move(problem, deepest, seed):
    space, chance, graph = new_space(problem.graph, None), np.random.default_rng(seed), problem.graph
    h, h0, values = Learned.allocate(space), heuristic(problem), {}
    set_problem(space.clock[0], 1, 0)
    for state in chance.permutation(len(graph))[: len(graph) // 2].tolist():
        if state != problem.goal:
            values[state] = h0(state) + float(chance.integers(5))
            store(h, state, values[state])
    first = [
        naive.lookahead(graph, lambda s: values.get(s, h0(s)), problem.start, problem.goal, depth).first
        for depth in range(1, deepest + 1)
    ]
    expected = next(d for d in range(1, deepest + 1) if set(first[d - 1 :]) == {first[-1]})
    found = least_depth(ball_for(space, deepest), graph.arrays, h, problem.start, problem.goal, deepest)
    assert found == expected
