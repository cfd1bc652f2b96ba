"""f-LRTA* against its definition in plain Python, and against its promises."""

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.search.memory import LEARNED
from andante.world.heuristics import TOLERANCE
from tests.search.local_twin import Twin, grow, lss_values
from tests.worlds import drawn, examples, graph_problems, grid_problems, heuristic, in_rows, or_graphs

LIMITS = andante.Limits(moves=400)


class FTwin(Twin):
    """LSS-LRTA*'s twin with g, and for each state the set of its supporters."""

    def __init__(self, problem, lookahead, redundant):
        super().__init__(problem.graph, heuristic(problem), None, lookahead=lookahead)
        self.redundant, self.start = redundant, problem.start
        self.g, self.parent = {problem.start: 0.0}, {}
        self.supporters, self.handed_on, self.pruned = {}, {}, set()

    def moves(self, start, goal):
        """Yield the states that the agent visits, each with the work of the move."""
        state = start
        while state != goal:
            if state in self.pruned:
                state = self.parent[state]
                yield state, 0
                continue
            region = grow(self.graph, self.frozen(), state, goal, self.lookahead)
            if not region.open:
                return
            path = region.path_to(region.best())
            self.learn(lss_values(self.graph, region, 1.0))
            took = len(region.expanded) + sum(self.h(s) < math.inf for s in region.g)
            yield path[0], took + self.hand_on(region.closed) + self.prune(region.closed, goal)
            yield from ((later, 0) for later in path[1:])
            state = path[-1]

    def supports(self, state, near, cost):
        return self.g[state] + cost <= self.g[near] + TOLERANCE

    def hand_on(self, closed):
        """Pass on g, lowest first; return the number of states that had a new one."""
        done = 0
        while news := [s for s in closed if s in self.g and self.handed_on.get(s) != self.g[s]]:
            state = min(news, key=lambda s: self.g[s])
            self.handed_on[state], done = self.g[state], done + 1
            for near, cost in self.graph.neighbours(state):
                if self.g[state] + cost < self.g.get(near, math.inf) - TOLERANCE:
                    self.g[near], self.parent[near], self.supporters[near] = self.g[state] + cost, state, {state}
                    if near in self.pruned:
                        self.pruned.remove(near)
                        self.values[near] = self.h0(near)
                elif self.supports(state, near, cost):
                    self.supporters.setdefault(near, set()).add(state)
        return done

    def prune(self, closed, goal):
        """Prune, highest g first, then the one reached first; return the numbers considered and pruned."""
        looked_at = [s for s in closed if s not in (self.start, goal) and s not in self.pruned]
        before = len(self.pruned)
        for state in sorted(looked_at, key=lambda s: (-self.g[s], closed.index(s))):
            supported = {t for t, cost in self.graph.neighbours(state) if self.supports(state, t, cost)}
            alone = {t for t in supported - self.pruned if not self.redundant or len(self.supporters[t]) < 2}
            if not alone:
                for near in supported:
                    self.supporters[near].discard(state)
                self.pruned.add(state)
                self.handed_on.pop(state)
                self.values[state] = math.inf
        return len(looked_at) + len(self.pruned) - before

    def keeps_every_state_supported(self):
        """Check what completeness is based on: each unpruned state except the start has an unpruned supporter."""
        live = [s for s in self.g if s not in self.pruned and s != self.start]
        return all(self.supporters[s] - self.pruned for s in live)


@given(
    st.sampled_from([1, 2, 3, 5, 10, 40]),
    st.booleans(),
    or_graphs(grid_problems(), graph_problems()),
)
@examples(150)
def test_equals_its_definition_over_several_trials(lookahead, redundant, problem):
    agent = andante.Agent("flrta", problem.graph, lookahead=lookahead, redundant=redundant)
    twin = FTwin(problem, lookahead, redundant)
    for number in range(2):
        watch = agent.watch(problem, LIMITS)
        watch._episode.rows["again"] = number > 0
        turns = [(turn.state, turn.states_expanded) for turn in watch]
        assert turns == list(islice(twin.moves(problem.start, problem.goal), LIMITS.moves))
        assert twin.keeps_every_state_supported()
        if not watch.trial.solved:
            break


@given(
    st.sampled_from([1, 3, 10]),
    st.booleans(),
    st.sampled_from(["off", "mark", "border"]),
    or_graphs(grid_problems(side=16), graph_problems(states=16)),
)
@examples(150)
def test_arrives(lookahead, redundant, avoidance, problem):
    how = {"lookahead": lookahead, "redundant": redundant, "avoidance": avoidance}
    trial = andante.run("flrta", problem, limits=andante.Limits(moves=200_000), **how)
    assert trial.solved
    assert trial.cost >= trial.optimal_cost - 1e-9


def test_several_arcs_between_two_states_are_one_supporter():
    """If counted twice, state 1 would seem redundant, and the path through it would be lost."""
    edges = [(0, 1, 1.0), (1, 2, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 4, 1.0)]
    graph = andante.Graph.from_edges(edges)
    for lookahead in (1, 2, 3):
        assert andante.run("flrta", graph.problem(0, 3), lookahead=lookahead).solved


def test_a_blind_alley_is_pruned_from_its_end():
    """The alley ends right above the goal: its last cell supports no state, then the one before it, and so on."""
    free = np.zeros((5, 12), bool)
    free[1, :] = free[3, :] = free[1:4, 0] = True
    grid = andante.Grid(free)
    problem = grid.problem((2, 1), (11, 3))
    agent = andante.Agent("flrta(lookahead=4)", grid, log_rows=1000)
    watch = agent.watch(problem)
    thoughts = [thought for turn in watch for thought in turn.thoughts]
    gone = [grid.cell(t.state) for t in thoughts if t.kind == LEARNED and t.value == math.inf]
    assert watch.trial.solved
    assert gone[:6] == [(x, 1) for x in range(11, 5, -1)]


def test_walks_less_than_lss_lrta():
    grid = andante.generate("caves", 96, 96, seed=2)
    problems = drawn(grid, 30, seed=3)
    costs = [sum(t.cost for t in andante.run_many(name, problems)) for name in ("flrta", "lss")]
    assert costs[0] < costs[1]


def test_does_the_same_on_rows_of_arcs():
    for problem in drawn(andante.generate("rooms", 30, 30, seed=8), 5):
        assert andante.run("flrta", problem).path.tolist() == andante.run("flrta", in_rows(problem)).path.tolist()


@pytest.mark.compiled
@pytest.mark.parametrize("setting", ["flrta(lookahead=1)", "flrta(lookahead=30, redundant=false, avoidance=border)"])
def test_other_settings_fulfil_the_contract(setting, contract_alone):
    assert "is complete" in andante.check_algorithm(setting)
