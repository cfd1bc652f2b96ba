"""CPD: every move is looked up, and every path is a cheapest one."""

import numpy as np
import pytest
from hypothesis import given

import andante
from andante.datasets import movingai as benchmark
from andante.episode import contract
from andante.errors import AlgorithmError
from andante.offline import build
from andante.search.dijkstra import distances
from andante.world.graph import Graph
from andante.world.grid import RULES
from tests import naive
from tests.worlds import drawn, examples, graph_problems, grid_problems, or_graphs


@given(or_graphs(grid_problems(rules=RULES), graph_problems(), graph_problems(directed=True)))
@examples(100)
def test_walks_a_cheapest_path_without_search(problem):
    trial = andante.run("cpd", problem, databases=[build("moves", problem.graph, threads=1)])
    assert trial.solved
    assert trial.cost == pytest.approx(naive.distances_from(problem.graph, problem.start)[problem.goal])
    assert trial.states_expanded == 0
    assert trial.states_touched == trial.moves


@pytest.mark.compiled
def test_one_database_serves_every_goal_and_other_databases_may_be_given_too():
    grids = [andante.generate(kind, 31, 31, seed=5) for kind in ("random", "maze", "rooms")]
    databases = [build("moves", grid) for grid in grids]
    problems = [problem for grid in grids for problem in drawn(grid, 50)]
    for trial in andante.run_many("cpd", problems, databases=databases, threads=2):
        assert trial.suboptimality_ratio == 1.0


def test_unreachable_goals_are_reported():
    one_way = Graph.from_edges([(0, 1, 1.0), (2, 1, 1.0)], directed=True)
    trial = andante.run("cpd", one_way.problem(0, 2), databases=[build("moves", one_way)])
    assert trial.outcome is andante.Outcome.UNREACHABLE
    assert trial.moves == 0


def test_without_a_database_the_error_says_what_to_do():
    problem = drawn(andante.generate("empty", 8, 8), 1)[0]
    with pytest.raises(AlgorithmError, match="none was given; build one with 'andante build moves MAP'"):
        andante.run("cpd", problem)


@pytest.mark.compiled
def test_keeps_its_claims(quick_contract, monkeypatch):
    """It reads no state but its own, on maps small enough to build databases for within seconds."""
    monkeypatch.setattr(contract, "WIDTHS", (24, 72))
    checks = andante.check_algorithm("cpd", databases_for=lambda grid: [build("moves", grid)])
    assert {"is complete", "is optimal", "plans no more per move on a larger map"} <= set(checks)


@pytest.mark.compiled
def test_costs_are_the_optimum_on_thousands_of_benchmark_problems(movingai):
    count = 0
    for each in benchmark.maps("dao", source=movingai):
        grid = each.grid()
        if grid.free_cells > 3000 or count > 3000:
            continue
        problems = each.problems()
        trials = andante.run_many("cpd", problems, databases=[build("moves", grid)], paths=False, threads=2)
        for k in range(0, len(problems), 25):
            assert trials[k].cost == distances(grid.graph, problems[k].goal)[problems[k].start]
        assert np.array_equal([t.cost for t in trials], [p.optimal_cost for p in andante.with_optimal_costs(problems)])
        count += len(problems)
    assert count > 3000
