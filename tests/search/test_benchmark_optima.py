"""A* on a sample of every archive of the benchmark: its costs equal those of distance fields, and the listed ones."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

import andante
from andante.datasets import movingai as benchmark
from andante.search.astar import optimal_costs
from andante.search.dijkstra import distances
from tests.worlds import LISTED_COST_TOLERANCE

pytestmark = pytest.mark.compiled

MAPS, PROBLEMS = 8, 40


def sample(items, count):
    """Return this many items, spread evenly over the list, including the last: long problems are at its end."""
    return [items[i] for i in np.unique(np.linspace(0, len(items) - 1, count).astype(int))]


def costs_of(problems):
    return optimal_costs(problems[0].graph, [p.start for p in problems], [p.goal for p in problems], threads=2)


def assert_costs_are_those_of_fields(problems, costs):
    """Check costs from a few of the starts against another algorithm, and once against another library."""
    graph = problems[0].graph
    for k in range(0, len(problems), 10):
        assert costs[k] == distances(graph, problems[k].start)[problems[k].goal]
    assert costs[-1] == dijkstra(graph.to_scipy(), indices=problems[-1].start)[problems[-1].goal]


@pytest.mark.parametrize("name", ["bg512", "dao", "sc1"])
def test_costs_are_optimal_and_equal_the_listed_ones(movingai, name):
    for each in sample(benchmark.maps(name, source=movingai), MAPS):
        problems = sample(each.problems(), PROBLEMS)
        costs = costs_of(problems)
        listed = np.array([problem.listed_cost for problem in problems])
        assert np.abs(costs - listed).max() < LISTED_COST_TOLERANCE, each
        assert_costs_are_those_of_fields(problems, costs)


def test_costs_are_optimal_where_the_listed_ones_are_stale(movingai):
    """The WarCraft III maps were changed after their lengths were listed, so about one in eight is now too short."""
    late = total = 0
    for each in sample(benchmark.maps("wc3maps512", source=movingai), MAPS):
        problems = sample(each.problems(), PROBLEMS)
        costs = costs_of(problems)
        longer = costs - np.array([problem.listed_cost for problem in problems])
        assert longer.min() > -LISTED_COST_TOLERANCE, each
        late, total = late + np.count_nonzero(longer > LISTED_COST_TOLERANCE), total + len(problems)
        assert_costs_are_those_of_fields(problems, costs)
    assert 0.03 < late / total < 0.3


def test_costs_are_optimal_where_none_are_listed(movingai):
    for each in sample(benchmark.maps("bgmaps", source=movingai), MAPS):
        problems = andante.random_problems(each.grid(), 10, seed=1)
        assert_costs_are_those_of_fields(problems, costs_of(problems))


@pytest.mark.parametrize("name", ["bg512", "dao", "sc1", "wc3maps512"])
def test_agents_follow_the_plan_of_a_star(movingai, name):
    """On the longest problem of a map, the path of the agent A* is valid, step by step, and its cost is optimal."""
    each = benchmark.maps(name, source=movingai)[3]
    problem = each.problems()[-1]
    trial = andante.run("astar", problem)
    assert trial.solved
    assert trial.cost == distances(problem.graph, problem.goal)[problem.start]
