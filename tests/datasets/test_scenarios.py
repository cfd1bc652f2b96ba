"""Random problems are drawn as in the papers; optimal costs are correct, and cached."""

from collections import Counter

import numpy as np
import pytest

from andante.datasets import cache, scenarios
from andante.datasets import movingai as sets
from andante.datasets.generate import generate
from andante.datasets.scenarios import random_problems, with_optimal_costs
from andante.errors import ParameterError, ProblemError
from andante.search.dijkstra import distances
from andante.world.graph import Graph
from andante.world.mapfiles import parse_map
from tests.worlds import LISTED_COST_TOLERANCE

BAND = (4.0, 6.0)


@pytest.fixture(scope="module")
def grid():
    return generate("random", 9, 8, seed=2, density=0.3)


@pytest.fixture(scope="module")
def pairs(grid):
    """Return every pair of states in the band, with its cost, by trying all pairs."""
    free = np.flatnonzero(grid.passable)
    costs = {(int(start), int(goal)): distances(grid.graph, int(start))[goal] for start in free for goal in free}
    return {pair: cost for pair, cost in costs.items() if BAND[0] <= cost < BAND[1]}


@pytest.fixture(params=["search", "fields"])
def method(request, monkeypatch):
    """Set up one of the two methods of drawing alone."""
    if request.param == "fields":
        monkeypatch.setattr(scenarios, "_draw_by_search", lambda *_: None)


# --- drawing --------------------------------------------------------------------------------------------------------


def test_problems_are_in_the_band_and_have_their_cost(grid, pairs, method):
    problems = random_problems(grid, 40, optimal_cost=BAND, seed=5)
    assert len({(p.start, p.goal) for p in problems}) == len(problems) == 40
    for problem in problems:
        assert problem.grid is grid
        assert problem.optimal_cost == pairs[problem.start, problem.goal]


def test_a_seed_draws_the_same_problems(grid, method):
    first, second, other = (
        [(p.start, p.goal) for p in random_problems(grid, 20, optimal_cost=BAND, seed=seed)] for seed in (1, 1, 2)
    )
    assert first == second != other


@pytest.mark.compiled
def test_all_pairs_in_the_band_are_equally_likely(grid, pairs, method):
    count, rounds = 10, 400
    drawn = Counter()
    for seed in range(rounds):
        drawn.update((p.start, p.goal) for p in random_problems(grid, count, optimal_cost=BAND, seed=seed))
    assert set(drawn) <= set(pairs)
    expected = count * rounds / len(pairs)
    chi_square = sum((drawn[pair] - expected) ** 2 / expected for pair in pairs)
    # About as many degrees of freedom as pairs. The seeds are fixed: this cannot fail by chance, only by bias.
    assert abs(chi_square - len(pairs)) < 5 * np.sqrt(2 * len(pairs))


def test_every_pair_can_be_drawn(grid, pairs, method):
    problems = random_problems(grid, len(pairs), optimal_cost=BAND)
    assert {(p.start, p.goal) for p in problems} == set(pairs)
    with pytest.raises(ProblemError, match=f"found only {len(pairs)} of {len(pairs) + 1} problems"):
        random_problems(grid, len(pairs) + 1, optimal_cost=BAND)


def test_an_empty_band_is_reported_with_the_costs_seen():
    sentence = r"found only 0 of 3 problems with an optimal cost from 50 to 60 on .*, where the costs seen .* 11\.9"
    with pytest.raises(ProblemError, match=sentence):
        random_problems(generate("empty", 10, 8), 3, optimal_cost=(50, 60))


def test_without_a_band_any_problem_may_be_drawn():
    grid = generate("maze", 15, 15, seed=1)
    problems = random_problems(grid, 50, seed=1)
    assert len(problems) == 50
    assert all(problem.reachable for problem in problems)
    assert random_problems(grid, 0) == []


@pytest.mark.compiled
def test_rare_problems_are_found():
    grid = generate("maze", 41, 41, seed=1)
    longest = distances(grid.graph, 0)[grid.passable.ravel()].max()
    [problem] = random_problems(grid, 1, optimal_cost=(longest, longest + 1), seed=3)
    assert longest <= problem.optimal_cost < longest + 1


@pytest.mark.parametrize("band", [(5, 5), (6, 5), (-1, 5), (float("nan"), 5), (0, float("nan"))])
def test_an_invalid_band_is_refused(grid, band):
    with pytest.raises(ParameterError, match="optimal_cost must be a band"):
        random_problems(grid, 1, optimal_cost=band)


def test_problems_that_cannot_be_drawn_are_reported(grid):
    with pytest.raises(ParameterError, match="the number of problems must be a whole number of at least 0, got -1"):
        random_problems(grid, -1)
    solid = parse_map("type octile\nheight 1\nwidth 2\nmap\n@@\n", "solid")
    with pytest.raises(ProblemError, match="solid has no free cell"):
        random_problems(solid, 1)
    lonely = parse_map("type octile\nheight 1\nwidth 3\nmap\n.@.\n", "lonely")
    with pytest.raises(ProblemError, match="found only 0 of 1 problems"):
        random_problems(lonely, 1)


# --- optimal costs --------------------------------------------------------------------------------------------------


def test_costs_are_those_of_full_distance_fields():
    problems = []
    for seed in (1, 2):
        grid = generate("caves", 40, 30, seed=seed)
        free = [grid.cell(state) for state in np.flatnonzero(grid.passable)]
        problems += [grid.problem(free[k], free[-1 - k]) for k in range(15)]
    line = Graph.from_edges([(0, 1, 1.5), (1, 2, 2.0), (3, 4, 1.0)])
    problems += [line.problem(0, 2), line.problem(0, 3), line.problem(0, 1).with_optimal_cost(7.0)]
    news = []
    solved = with_optimal_costs(iter(problems), progress=lambda *each: news.append(each))
    for before, after in zip(problems[:-1], solved[:-1], strict=True):
        assert (after.start, after.goal, after.graph) == (before.start, before.goal, before.graph)
        assert after.optimal_cost == distances(before.graph, before.start)[before.goal]
    assert solved[-2].optimal_cost == float("inf")
    assert solved[-1].optimal_cost == 7.0  # a known cost is not computed again
    assert news[-1] == ("finding optimal costs", 32, 32)
    assert with_optimal_costs([]) == []


def test_costs_are_computed_once(monkeypatch):
    grid = generate("empty", 20, 20)
    problems = [grid.problem((0, 0), (x, 5)) for x in range(20)]
    first = with_optimal_costs(problems)
    monkeypatch.setattr(scenarios, "optimal_costs", None)
    again = with_optimal_costs(problems, threads=2)
    assert [p.optimal_cost for p in again] == [p.optimal_cost for p in first]
    with pytest.raises(TypeError):
        with_optimal_costs(problems[:19])


def test_few_costs_are_not_worth_a_file(cache_folder):
    with_optimal_costs([generate("empty", 9, 9).problem((0, 0), (5, 5))])
    assert not cache_folder.exists()


def test_a_damaged_cache_is_computed_again(cache_folder):
    grid = generate("empty", 20, 20)
    problems = [grid.problem((0, 0), (x, 5)) for x in range(20)]
    first = with_optimal_costs(problems)
    for file in (cache_folder / "costs").iterdir():
        file.write_bytes(file.read_bytes()[:-1])
    assert [p.optimal_cost for p in with_optimal_costs(problems)] == [p.optimal_cost for p in first]
    assert cache.kept_costs(grid.graph, np.zeros(20, np.int64), np.arange(100, 120)) is not None  # complete again


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "wrong"), [("bg512/AR0011SR", 0), ("dao/arena", 0), ("sc1/Aftershock", 0), ("wc3maps512/battleground", 55)]
)
def test_published_lengths_are_correct_except_for_warcraft(movingai, name, wrong):
    solved = with_optimal_costs(sets.problems(name, source=movingai))
    stale = [p for p in solved if abs(p.listed_cost - p.optimal_cost) > LISTED_COST_TOLERANCE]
    assert len(stale) == wrong
    assert all(problem.listed_cost < problem.optimal_cost for problem in stale)
