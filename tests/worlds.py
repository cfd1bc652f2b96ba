"""Small problems for tests, on random maps and graphs drawn by Hypothesis or made by the generators."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from andante.agent import Algorithm
from andante.kernel import JIT
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from andante.world.problem import Problem
from tests import naive

T = TypeVar("T")

#: As plain Python, kernels are a hundred times slower.
SIDE = 48 if JIT else 30


#: Published costs are rounded, some to two decimals; costs with a larger difference are wrong.
LISTED_COST_TOLERANCE = 0.006


#: Whether this is `make test-deep`: many examples, new ones each time, and tests that take too long for every day.
DEEP = bool(os.environ.get("ANDANTE_DEEP_TESTS"))


#: Whether this is `make test FULL=1`, which CI runs, or `make test-deep`: with tests that take seconds (tests/slow.py).
FULL = DEEP or bool(os.environ.get("ANDANTE_FULL_TESTS"))


#: Widths of the two maps on which an agent must plan the same amount. On the narrower one too, a lookahead of some
#: hundred states ends at its own limit.
WIDTHS = (256, 768) if DEEP else (128, 384)


#: Algorithms that every run compiles for all loops: for rows of arcs, maps that they discover, and crowds if possible.
CORE = ("astar", "lrta")


def has_one_loop(entry: Algorithm) -> bool:
    """Return whether this run compiles an algorithm only for maps that it knows."""
    return not FULL and entry.card.name not in CORE


def is_plain_in_rows(entry: Algorithm) -> bool:
    """Return whether an algorithm makes some moves on rows of arcs in plain Python.

    In full runs these are algorithms whose compiled loop for rows is not needed elsewhere. What they share with others
    (the lookahead of LRTA*, the search of TBA*) is compiled there.
    """
    rare = entry.card.name in ("oracle-lrta", "dlrta") or getattr(entry.params, "walls_first", False)
    return not DEEP and (rare or has_one_loop(entry))


#: Algorithms for advice if all would have to be compiled for crowds.
FEW = ("lrta", "plrta", "rta")


def examples(count: int) -> settings:
    """Return settings for an eighth of the examples, the same ones each time.

    In `make test-deep` there are four times as many, new ones each time. The first one may have to wait for the
    compiler.
    """
    return settings(
        max_examples=4 * count if DEEP else max(count // 8, 8) if JIT else max(count // 8, 5),
        derandomize=not DEEP,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


@st.composite
def grids(draw: st.DrawFn, side: int = 8, rules: tuple[str, ...] = ("octile",)) -> Grid:
    """Draw a map up to ``side`` wide, with any number of obstacles."""
    width, height = draw(st.integers(2, side)), draw(st.integers(2, side))
    density = draw(st.sampled_from([0.0, 0.15, 0.3, 0.45]))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return Grid(chance.random((height, width)) >= density, rule=draw(st.sampled_from(rules)))


@st.composite
def grid_problems(draw: st.DrawFn, side: int = 8, rules: tuple[str, ...] = ("octile",)) -> Problem:
    """Draw a problem with a solution on a random map."""
    grid = draw(grids(side, rules).filter(lambda g: any(len(group) > 1 for group in naive.components(g.graph))))
    group = sorted(draw(st.sampled_from([group for group in naive.components(grid.graph) if len(group) > 1])))
    start, goal = draw(st.permutations(group))[:2]
    return grid.problem(grid.cell(start), grid.cell(goal))


@st.composite
def graphs(
    draw: st.DrawFn, states: int = 9, directed: bool = False, cost: st.SearchStrategy[float] | None = None
) -> Graph:
    """Draw a random graph without a heuristic, whose costs are multiples of an eighth, so that sums are exact."""
    count = draw(st.integers(2, states))
    state = st.integers(0, count - 1)
    price = st.integers(1, 80).map(lambda eighths: eighths / 8) if cost is None else cost
    pairs = st.tuples(state, state, price).filter(lambda edge: edge[0] != edge[1])
    return Graph.from_edges(draw(st.lists(pairs, min_size=1, max_size=3 * count)), states=count, directed=directed)


@st.composite
def graph_problems(draw: st.DrawFn, states: int = 9, directed: bool = False) -> Problem:
    """Draw a problem with a solution on a random graph with odd costs; half of the graphs have a useful heuristic."""
    graph = draw(graphs(states, directed))
    start = draw(st.sampled_from([s for s in range(len(graph)) if graph.neighbours(s)]))
    goal = draw(st.sampled_from(sorted(set(naive.distances_from(graph, start)) - {start})))
    if draw(st.booleans()):
        graph = graph.with_points(halved_distances(graph, goal), "chebyshev")
    return graph.problem(start, goal)


def or_graphs(grids: st.SearchStrategy[T], *graphs: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """Return problems on maps and, in full runs, on graphs, for which another loop has to be compiled."""
    return st.one_of(grids, *graphs) if FULL else grids


def halved_distances(graph: Graph, goal: int) -> list[tuple[float, ...]]:
    """Return points on a line whose distances are a consistent heuristic, also for directed graphs."""
    distance = naive.distances_to(graph, goal)
    far = max(distance.values())
    there = [distance.get(state, far) for state in range(len(graph))]
    stretch = min(
        (
            cost / abs(there[s] - there[near])
            for s in range(len(graph))
            for near, cost in graph.neighbours(s)
            if there[s] != there[near]
        ),
        default=1.0,
    )
    scale = next(step for step in (0.5, 0.25, 0.125, 2**-6, 2**-9, 2**-12, 0.0) if step <= stretch)
    return [(scale * value,) for value in there]


def heuristic(problem: Problem) -> naive.Heuristic:
    """Return the problem's heuristic, computed in a simple way."""
    if problem.grid is not None:
        return naive.grid_heuristic(problem.grid, problem.goal)
    arrays: Any = problem.graph.csr().arrays
    points = [tuple(row) for row in arrays.point.tolist()]
    name = ("octile", "euclidean", "manhattan", "chebyshev")[arrays.metric]
    return naive.point_heuristic(points if arrays.point.shape[1] else [], name, problem.goal)


def in_rows(problem: Problem) -> Problem:
    """Return the same problem on the same graph as rows of arcs."""
    return Problem(problem.graph.csr(), problem.start, problem.goal, problem.grid)


def drawn(grid: Grid, count: int, seed: int = 0) -> list[Problem]:
    """Return problems with a solution on a map, drawn without searching."""
    chance = np.random.default_rng(seed)
    group = sorted(max(naive.components(grid.graph), key=len))
    pairs = [chance.choice(group, 2, replace=False) for _ in range(count)]
    return [grid.problem(grid.cell(int(start)), grid.cell(int(goal))) for start, goal in pairs]


__all__ = [
    "CORE",
    "DEEP",
    "FEW",
    "FULL",
    "RULES",
    "SIDE",
    "WIDTHS",
    "drawn",
    "examples",
    "graph_problems",
    "graphs",
    "grid_problems",
    "grids",
    "has_one_loop",
    "heuristic",
    "in_rows",
    "is_plain_in_rows",
    "or_graphs",
]
