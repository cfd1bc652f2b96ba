"""The A*-shaped local search space against its definition, with arbitrary values as the heuristic."""

import math
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.search.learning import Learned
from andante.search.local import Anywhere, Local, grow
from andante.search.memory import new_space, set_problem
from andante.world.graph import Graph
from tests.search import local_twin
from tests.worlds import examples, graph_problems, grid_problems, heuristic


class Params(NamedTuple):
    lookahead: int


class Look:
    """A local search space of the kernels, and heuristic values for it."""

    def __init__(self, graph, lookahead):
        space = new_space(graph, Params(lookahead))
        set_problem(space.clock[0], 1, 0)
        space.clock[0]["trial"] = 1
        self.graph, self.lookahead = graph, lookahead
        self.h, self.local = Learned.allocate(space), Local.allocate(space)

    def ahead(self, problem, values):
        """Return the states reached with g and parent, in order, the open states, and the work."""
        for state, value in values.items():
            self.h.value[state], self.h.stamp[state] = value, 1
        expanded, touched = grow(
            self.local, self.graph.arrays, self.h, Anywhere(), problem.start, problem.goal, self.lookahead
        )
        local, count = self.local, int(self.local.scalars[0]["size"])
        states = local.state[:count].tolist()
        assert (local.slot[states] - local.scalars[0]["first"]).tolist() == list(range(count))
        parents = [states[slot] if slot >= 0 else None for slot in local.parent[:count]]
        open_states = {states[slot] for slot in local.open.item[: local.open.scalars[0]["size"]]}
        assert open_states == {state for slot, state in enumerate(states) if local.open.place[slot] > 0}
        return states, local.g[:count].tolist(), parents, open_states, expanded, touched


def plain(problem, values, lookahead):
    h0 = heuristic(problem)
    region = local_twin.grow(
        problem.graph, lambda state: values.get(state, h0(state)), problem.start, problem.goal, lookahead
    )
    parents = [region.parent.get(state) for state in region.g]
    return list(region.g), list(region.g.values()), parents, region.open, len(region.expanded), region.touched


quarters = st.integers(0, 100).map(lambda quarter: quarter / 4)
wild = st.dictionaries(st.integers(0, 63), st.one_of(quarters, st.just(math.inf)), max_size=40)


@given(st.one_of(grid_problems(), graph_problems(), graph_problems(directed=True)), wild, st.integers(1, 30))
@examples(120)
def test_equals_the_definition_with_any_values(problem, values, lookahead):
    """Values drawn at random are inconsistent nearly everywhere: states are reopened again and again."""
    values = {state: value for state, value in values.items() if state < len(problem.graph) and state != problem.goal}
    assert Look(problem.graph, lookahead).ahead(problem, values) == plain(problem, values, lookahead)


def test_reopens_a_state_when_a_cheaper_path_is_found():
    """From 0 the direct path to 2 looks good until 1, which only looks bad, has been expanded."""
    graph = Graph.from_edges([(0, 1, 1.0), (0, 2, 5.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 8.0)])
    states, g, parents, open_states, expanded, _ = Look(graph, 4).ahead(graph.problem(0, 4), {1: 8.0, 2: 1.0, 3: 9.0})
    assert states == [0, 1, 2, 3]
    assert expanded == 4  # 0, 2, 1, and 2 again
    assert g == [0.0, 1.0, 2.0, 3.0]
    assert parents == [None, 0, 1, 2]
    assert open_states == {3}


def test_one_space_serves_many_plans():
    """States reached by an earlier plan do not count as reached by this one."""
    grid = andante.generate("random", 12, 12, seed=3)
    look = Look(grid.graph, 9)
    for start, goal in np.random.default_rng(1).choice(np.flatnonzero(grid.passable), (200, 2)):
        if start != goal:
            problem = grid.problem(grid.cell(start), grid.cell(goal))
            assert look.ahead(problem, {}) == plain(problem, {}, 9)


def test_arrays_fit_the_lookahead_and_the_number_of_states():
    star = Graph.from_edges([(0, leaf, 1.0) for leaf in range(1, 100)])
    assert len(Look(star, 50).local.g) == 100
    assert len(Look(andante.generate("empty", 50, 50).graph, 10).local.g) == 81


def test_a_fully_expanded_region_has_no_frontier():
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0)])
    look = Look(graph, 10)
    assert look.ahead(graph.problem(0, 4), {})[3:5] == (set(), 3)
