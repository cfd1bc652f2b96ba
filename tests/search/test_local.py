"""The A*-shaped local search space against its definition, with any values at all for a heuristic."""

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
    """A local search space of the kernels', and values to look ahead with."""

    def __init__(self, graph, lookahead):
        space = new_space(graph, Params(lookahead))
        set_problem(space.clock[0], 1, 0)
        space.clock[0]["trial"] = 1
        self.graph, self.lookahead = graph, lookahead
        self.h, self.local = Learned.allocate(space), Local.allocate(space)

    def ahead(self, problem, values):
        """What was reached: state, g and the state before, in order; which states are open; how much it took."""
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
def test_reaches_what_the_definition_says_whatever_the_values(problem, values, lookahead):
    """Values drawn at random are inconsistent nearly everywhere: states are opened again and again."""
    values = {state: value for state, value in values.items() if state < len(problem.graph) and state != problem.goal}
    assert Look(problem.graph, lookahead).ahead(problem, values) == plain(problem, values, lookahead)


def test_opens_a_state_again_when_a_cheaper_way_turns_up():
    """From 0 the direct way to 2 looks good until 1, which looks bad and is not, has been expanded."""
    graph = Graph.from_edges([(0, 1, 1.0), (0, 2, 5.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 8.0)])
    states, g, parents, open_states, expanded, _ = Look(graph, 4).ahead(graph.problem(0, 4), {1: 8.0, 2: 1.0, 3: 9.0})
    assert states == [0, 1, 2, 3]
    assert expanded == 4  # 0, 2, 1, and 2 again
    assert g == [0.0, 1.0, 2.0, 3.0]
    assert parents == [None, 0, 1, 2]
    assert open_states == {3}


def test_one_space_serves_many_plans():
    """What an earlier plan reached is not taken for this one's."""
    grid = andante.generate("random", 12, 12, seed=3)
    look = Look(grid.graph, 9)
    for start, goal in np.random.default_rng(1).choice(np.flatnonzero(grid.passable), (200, 2)):
        if start != goal:
            problem = grid.problem(grid.cell(start), grid.cell(goal))
            assert look.ahead(problem, {}) == plain(problem, {}, 9)


def test_room_is_for_the_lookahead_and_never_for_more_states_than_there_are():
    star = Graph.from_edges([(0, leaf, 1.0) for leaf in range(1, 100)])
    assert len(Look(star, 50).local.g) == 100
    assert len(Look(andante.generate("empty", 50, 50).graph, 10).local.g) == 81


def test_a_region_that_is_all_expanded_has_no_frontier():
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0)])
    look = Look(graph, 10)
    assert look.ahead(graph.problem(0, 4), {})[3:5] == (set(), 3)
