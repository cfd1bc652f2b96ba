"""P LRTA* against prioritized sweeping with a plain list, and against its promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.world.graph import Graph
from tests import naive
from tests.search.local_twin import LIMITS, Turn, Watched
from tests.worlds import drawn, examples, graph_problems, grid_problems, heuristic, or_graphs


class Twin:
    """The paper's algorithm; the queue is a list in the order in which states were queued."""

    def __init__(self, problem, queue, updates):
        self.graph, self.h0, self.goal = problem.graph, heuristic(problem), problem.goal
        self.size, self.updates = queue, queue if updates is None else updates
        self.values, self.queue = {}, []

    def h(self, state):
        return self.values.get(state, self.h0(state))

    def best(self, state):
        return min(self.graph.neighbours(state), key=lambda move: move[1] + self.h(move[0]))

    def update(self, state):
        """Learn in a state; if its value rises, queue its predecessors with the increase."""
        near, cost = self.best(state)
        rise = cost + self.h(near) - self.h(state)
        if rise > 1e-6:
            self.values[state] = cost + self.h(near)
            for before in self.before(state):
                if before != self.goal:
                    self.add(before, rise)
        return {state: self.values[state]} if rise > 1e-6 else {}

    def before(self, state):
        """Return the predecessors, in the graph's order if arcs lead both ways."""
        if self.graph.reversed() is self.graph:
            return [near for near, _ in self.graph.neighbours(state)]
        return [s for s in range(len(self.graph)) for near, _ in self.graph.neighbours(s) if near == state]

    def add(self, state, rise):
        waiting = [(r, s) for r, s in self.queue if s == state]
        if waiting:
            gone = waiting[0]
        elif len(self.queue) == self.size:
            gone = min(reversed(self.queue), key=lambda entry: entry[0])
        else:
            gone = None
        if gone is not None:
            if rise <= gone[0]:
                return
            self.queue.remove(gone)
        self.queue.append((rise, state))

    def trial(self, start):
        state = start
        for _ in range(LIMITS.moves):
            if state == self.goal:
                return
            updated, learned = [state], self.update(state)
            while self.queue and len(updated) <= self.updates:
                first = max(self.queue, key=lambda entry: entry[0])
                self.queue.remove(first)
                updated.append(first[1])
                learned |= self.update(first[1])
            looked = updated if len(updated) == 1 else [*updated, state]
            state = self.best(state)[0]
            touched = sum(len(self.graph.neighbours(s)) for s in looked)
            yield Turn(state, updated, len(looked), touched, learned)


sizes = st.sampled_from([1, 2, 5, 20, 1000])
updates = st.sampled_from([None, 0, 1, 3, 50])


@given(
    or_graphs(grid_problems(), graph_problems(), graph_problems(directed=True)),
    sizes,
    updates,
)
@examples(150)
def test_equals_prioritized_sweeping_trial_after_trial(problem, queue, updates):
    agent, twin = Watched("plrta", problem, queue=queue, updates=updates), Twin(problem, queue, updates)
    for _ in range(3):
        turns, trial = agent.trial()
        if not trial.solved and trial.moves < LIMITS.moves:
            break  # no move leads out of its state
        assert turns == list(twin.trial(problem.start))
        if not trial.solved:
            break


@given(or_graphs(grid_problems(), graph_problems()), sizes, updates)
@examples(80)
def test_arrives_and_never_learns_more_than_the_truth(problem, queue, updates):
    turns, trial = Watched("plrta", problem, queue=queue, updates=updates).trial(andante.Limits(moves=100_000))
    assert trial.solved
    distance = naive.distances_to(problem.graph, problem.goal)
    for turn in turns:
        for state, value in turn.learned.items():
            assert value <= distance[state] + 1e-9


@given(or_graphs(grid_problems(side=10), graph_problems()))
@examples(60)
def test_without_updates_it_is_lrta(problem):
    prioritized = andante.run("plrta(updates=0)", problem)
    lrta = naive.lrta(problem.graph, heuristic(problem), problem.start, problem.goal)
    assert prioritized.path.tolist() == lrta.path
    assert prioritized.states_expanded == sum(lrta.expanded)


@pytest.mark.parametrize("name", ["plrta", "plrta(queue=100, updates=3)"])
def test_converges_to_a_best_path(name):
    for problem in drawn(andante.generate("random", 20, 20, seed=5), 3, seed=2):
        process = andante.converge(name, problem, max_trials=300)
        assert process.converged
        assert process.final.cost == pytest.approx(naive.distances_to(problem.graph, problem.goal)[problem.start])


def test_a_move_expands_no_more_than_its_updates_and_twice_the_agents_own_state():
    problem = drawn(andante.generate("maze", 41, 41, seed=2), 1)[0]
    assert andante.run("plrta(queue=50)", problem).max_states_expanded == 52
    assert andante.run("plrta(queue=50, updates=7)", problem).max_states_expanded == 9


def test_the_queue_is_forgotten_with_the_problem():
    """With another goal, the agent behaves as if it had just been made."""
    grid = andante.generate("rooms", 24, 24, seed=4)
    problems = drawn(grid, 6, seed=1)
    agent = andante.Agent("plrta(queue=30, updates=4)", grid)
    for problem in problems:
        fresh = andante.Agent("plrta(queue=30, updates=4)", grid)
        assert np.array_equal(agent.run(problem).path, fresh.run(problem).path)


def test_is_stuck_where_no_move_leads_out():
    graph = Graph.from_edges([(0, 1, 1.0), (0, 2, 5.0), (2, 3, 5.0)], directed=True)
    assert andante.run("plrta", graph.problem(0, 3)).outcome is andante.Outcome.STUCK


@pytest.mark.compiled
@pytest.mark.parametrize("setting", ["plrta(queue=1)", "plrta(queue=200, updates=20)"])
def test_other_settings_fulfil_the_contract(setting, contract_alone):
    assert "is complete" in andante.check_algorithm(setting)


@pytest.mark.parametrize("name", ["plrta", "sla", "lrta"])
def test_the_number_of_moves_does_not_depend_on_the_range_of_costs(name):
    """In a dead end of cheap moves each move raises a value by 1, until the path out looks no more expensive."""
    for cost in (100, 100_000):
        graph = Graph.from_edges([(0, 1, 1.0), (1, 2, float(cost))])
        trial = andante.run(name, graph.problem(0, 2))
        assert trial.solved
        assert trial.moves <= cost + 2
