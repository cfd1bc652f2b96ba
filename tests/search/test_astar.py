"""A* against Dijkstra with a heap, on maps and graphs of every kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.search import astar
from andante.search.astar import Tree, advance, begin, optimal_costs, reached, search
from andante.search.landmarks import with_landmarks
from andante.search.memory import new_space
from andante.search.path import price_between
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import SIDE, drawn, examples, graph_problems, graphs, grid_problems, in_rows

KINDS = ["empty", "random", "rooms", "maze", "caves"]


def new_tree(graph: Graph) -> Tree:
    return Tree.allocate(new_space(graph, None))


def walk_back(tree: Tree, graph: Graph, goal: int) -> tuple[int, float]:
    """Follow the parents from the goal; return the first state of the path and its cost."""
    state, cost = goal, 0.0
    while tree.node["parent"][state] >= 0:
        before = int(tree.node["parent"][state])
        cost += price_between(graph.arrays, before, state)
        state = before
    return state, cost


@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_optimal_on_generated_maps(kind):
    grid = andante.generate(kind, SIDE, SIDE, seed=3)
    problems = drawn(grid, 25, seed=4)
    starts, goals = [p.start for p in problems], [p.goal for p in problems]
    true = [naive.distances_from(grid.graph, start)[goal] for start, goal in zip(starts, goals, strict=True)]
    assert optimal_costs(grid.graph, starts, goals).tolist() == true  # exactly: sums of moves are exact
    assert optimal_costs(grid.graph.csr(), starts, goals, threads=2).tolist() == true


@given(grid_problems(rules=RULES))
@examples(100)
def test_costs_are_optimal_on_small_maps(problem):
    true = naive.distances_from(problem.graph, problem.start)[problem.goal]
    assert optimal_costs(problem.graph, [problem.start], [problem.goal])[0] == true
    assert optimal_costs(problem.graph.csr(), [problem.start], [problem.goal])[0] == true


@given(graph_problems(states=14), graph_problems(states=14, directed=True))
@examples(100)
def test_costs_are_optimal_on_graphs_with_odd_costs(problem, one_way):
    for p in (problem, one_way):
        assert optimal_costs(p.graph, [p.start], [p.goal])[0] == naive.distances_from(p.graph, p.start)[p.goal]


@given(graphs(states=12, cost=st.sampled_from([1.0, 1e-3, 1e5, 3e9])))
@examples(100)
def test_costs_a_trillion_times_apart(graph):
    """Most keys are far beyond the buckets' ring."""
    for start in range(len(graph)):
        true = naive.distances_from(graph, start)
        found = optimal_costs(graph, [start] * len(graph), range(len(graph)))
        assert found.tolist() == pytest.approx([true.get(s, np.inf) for s in range(len(graph))], rel=1e-12)


def test_an_unreachable_goal_has_an_infinite_cost():
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0)], directed=True)
    assert optimal_costs(graph, [0, 2, 0, 3, 4], [2, 0, 4, 4, 4]).tolist() == [2.0, np.inf, np.inf, 1.0, 0.0]
    assert optimal_costs(graph, [], []).tolist() == []


@pytest.mark.parametrize("weight", [1.01, 1.06, 1.07, 1.2, 1.5, 2.0, 5.0, 30.0])
@pytest.mark.parametrize("kind", ["random", "rooms", "caves"])
def test_a_weighted_path_costs_at_most_the_weight_times_the_optimum(kind, weight):
    """Some weights are just large enough that closed states need not be reopened, and some just too small."""
    grid = andante.generate(kind, SIDE, SIDE, seed=3)
    tree, rows = new_tree(grid.graph), with_landmarks(grid.graph, 2)
    other = new_tree(rows)
    for problem in drawn(grid, 15, seed=4):
        true = optimal_costs(grid.graph, [problem.start], [problem.goal])[0]
        search(tree, grid.graph.arrays, problem.start, problem.goal, weight)
        search(other, rows.arrays, problem.start, problem.goal, weight)
        assert true <= tree.node["g"][problem.goal] <= weight * true * (1 + 1e-12)
        assert true <= other.node["g"][problem.goal] <= weight * true * (1 + 1e-12)


# --- the tree -------------------------------------------------------------------------------------------------------


@given(st.lists(grid_problems(), min_size=2, max_size=4), st.sampled_from([1.0, 1.5, 2.0, 10.0, 1e6]))
@examples(60)
def test_the_path_found_has_the_stated_cost_and_is_within_the_weight(problems, weight):
    for problem in problems:
        tree = new_tree(problem.graph)
        for start, goal in ((problem.start, problem.goal), (problem.goal, problem.start)):  # the second finds traces
            expanded, touched = search(tree, problem.graph.arrays, start, goal, weight)
            assert walk_back(tree, problem.graph, goal) == (start, tree.node["g"][goal])
            true = naive.distances_from(problem.graph, start)[goal]
            assert true <= tree.node["g"][goal] <= weight * true + 1e-9
            assert expanded >= 1
            assert expanded <= touched <= 8 * expanded


@given(grid_problems(), st.integers(1, 7), st.sampled_from([1.0, 3.0]))
@examples(60)
def test_a_search_in_slices_is_the_same_search(problem, most, weight):
    at_once, sliced = new_tree(problem.graph), new_tree(problem.graph)
    expanded, touched = search(at_once, problem.graph.arrays, problem.start, problem.goal, weight)
    begin(sliced, problem.graph.arrays, problem.start, problem.goal, weight)
    total, over = [0, 0], False
    while not over:
        part = advance(sliced, problem.graph.arrays, problem.goal, weight, most)
        assert part.expanded <= part.steps <= most
        assert part.over or part.steps == most
        total, over = [total[0] + part.expanded, total[1] + part.touched], part.over
    assert total == [expanded, touched]
    assert np.array_equal(at_once.node["g"], sliced.node["g"])
    assert np.array_equal(at_once.node["parent"], sliced.node["parent"])


def test_unreachable_states_are_not_reached():
    grid = Grid(np.array([[1, 0, 1]], bool))
    tree = new_tree(grid.graph)
    search(tree, grid.graph.arrays, 0, 2, 1.0)
    assert reached(tree, 0)
    assert not reached(tree, 2)


def test_on_an_empty_map_only_the_path_itself_is_expanded():
    grid = Grid(np.ones((SIDE, SIDE), bool))
    tree = new_tree(grid.graph)
    expanded, _ = search(tree, grid.graph.arrays, 0, len(grid.graph) - 1, 1.0)
    assert expanded == SIDE - 1


@pytest.mark.filterwarnings("ignore:overflow encountered")  # the test wraps around, about which plain NumPy warns
@pytest.mark.parametrize("now", [2**32 - 6, 2**32 - 4, 2**32 - 2])
def test_after_the_last_number_of_a_search_numbers_start_again(now):
    grid = andante.generate("rooms", 17, 17, size=5, seed=2)
    problems = drawn(grid, 6, seed=1)
    tree = new_tree(grid.graph)
    before = [(search(tree, grid.graph.arrays, p.start, p.goal, 1.0), tree.node["g"][p.goal]) for p in problems]
    assert tree.scalars[0]["now"] == 12
    tree.scalars[0]["now"] = (
        now  # the marks of the first searches are still there, and will be this search's own numbers
    )
    after = [(search(tree, grid.graph.arrays, p.start, p.goal, 1.0), tree.node["g"][p.goal]) for p in problems]
    assert after == before
    assert tree.scalars[0]["now"] < 14
    assert [cost for _, cost in after] == [naive.distances_from(grid.graph, p.start)[p.goal] for p in problems]


def test_both_layouts_do_the_same_step_by_step():
    grid = andante.generate("caves", SIDE, SIDE, seed=3)
    for problem in drawn(grid, 5):
        trees = []
        for p in (problem, in_rows(problem)):
            tree = new_tree(p.graph)
            trees.append(
                (
                    search(tree, p.graph.arrays, p.start, p.goal, 1.0),
                    tree.node["parent"].tolist(),
                    tree.node["g"].tolist(),
                )
            )
        assert trees[0] == trees[1]


@pytest.mark.parametrize("threads", [1, 3])
def test_optimal_costs_are_found_in_small_parts_so_that_they_can_be_interrupted(monkeypatch, threads):
    grid = andante.generate("rooms", 20, 20, seed=1)
    problems = andante.random_problems(grid, 200, seed=2)
    starts, goals = [p.start for p in problems], [p.goal for p in problems]
    whole, sizes, true = astar._costs, [], optimal_costs(grid.graph, starts, goals).tolist()

    def some(tree, graph, part, *rest):
        sizes.append(len(part))
        whole(tree, graph, part, *rest)

    monkeypatch.setattr(astar, "_costs", some)
    assert optimal_costs(grid.graph, starts, goals, threads=threads).tolist() == true
    assert sum(sizes) == 200
    assert max(sizes) <= 64
