"""Maps and graphs to build levels above."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from andante.abstraction.hierarchy import hierarchy_of
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import grids

METRICS = ("euclidean", "manhattan", "chebyshev", "octile")


@st.composite
def placed_graphs(draw: st.DrawFn, states: int = 14) -> Graph:
    """Return a random graph whose states have points; some are isolated, some are hubs, some edges are double."""
    count = draw(st.integers(1, states))
    metric = draw(st.sampled_from(METRICS))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = chance.integers(0, 8, (count, 2)).astype(float)
    pairs = chance.integers(0, count, (draw(st.integers(0, 3 * count)), 2))
    pairs[:, 0] = np.where(chance.random(len(pairs)) < draw(st.sampled_from([0.0, 0.4])), 0, pairs[:, 0])
    edges = [
        (int(a), int(b), naive.apart(metric, points[a], points[b]) + draw(st.sampled_from([0.25, 1.0, 3.0])))
        for a, b in pairs
        if a != b
    ]
    return Graph.from_edges(edges, states=count, points=points, metric=metric)


def worlds(side: int = 9) -> st.SearchStrategy[Grid | Graph]:
    """Return a strategy that draws a grid or graph to build a hierarchy above."""
    return st.one_of(grids(side, RULES), grids(side, RULES).map(lambda grid: grid.graph.csr()), placed_graphs())


def coarse_level(grid: Grid, regions: int = 200) -> int:
    """Return the lowest level with few enough regions that a database of all their pairs is built within seconds."""
    sizes = hierarchy_of(grid.graph).sizes
    return next((level for level, size in enumerate(sizes) if level > 0 and size <= regions), len(sizes) - 1)


def ring_and_spokes(count: int) -> Graph:
    """Return a hub with ``count`` neighbours, each of which has a neighbour on either side."""
    turn = 2 * np.pi * np.arange(count) / count
    points = [(0.0, 0.0), *zip(np.cos(turn), np.sin(turn), strict=True)]
    spokes = [(0, 1 + k, 1.0) for k in range(count)]
    rim = [(1 + k, 1 + (k + 1) % count, 1.0) for k in range(count)]
    return Graph.from_edges(spokes + rim, points=points)


def figure_4() -> tuple[dict[str, int], Grid]:
    """Return the states of the paper's names and the map of Bulitko et al. (2007), Figure 4."""
    names = [["s7", "s8", "sg"], ["", "s6", ""], ["s1", "s4", "s5"], ["s0", "s2", "s3"]]
    grid = Grid([[name != "" for name in row] for row in names], name="figure 4")
    return {name: grid.state(x, y) for y, row in enumerate(names) for x, name in enumerate(row) if name}, grid


def figure_4_clockwise() -> tuple[dict[str, int], Graph]:
    """Return the same map as a graph in which the neighbours of a state are in clockwise order from the east."""
    state, grid = figure_4()
    around = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
    edges = []
    for here in range(len(grid.graph)):
        near = {
            tuple(np.subtract(grid.cell(there), grid.cell(here))): (there, c)
            for there, c in grid.graph.neighbours(here)
        }
        edges += [(here, *near[step]) for step in around if step in near]
    points = [grid.cell(here) for here in range(len(grid.graph))]
    return state, Graph.from_edges(edges, states=len(points), points=points, metric="octile", directed=True)


def figure_25(teeth: int, length: int, rows: int) -> tuple[Grid, tuple[int, int], tuple[int, int]]:
    """Return a map like that of Bulitko et al. (2007), Figure 25, and its cells A and B.

    All corridors have width 1. A straight one joins A and B; ``teeth`` dead ends above and below it make its abstract
    image a zigzag. A long one is folded into ``rows`` rows of ``length`` cells each, so that its abstract image is
    short: it leads down on the left, along the bottom and up on the right. ``teeth`` is even, ``rows`` is odd.
    """
    left, right = length + 1, length + 1 + 2 * teeth
    low = length + 2 * rows  # the row on which the long corridor runs along the bottom
    free = np.zeros((low + length + 1, right + length + 2), bool)
    free[length, left : right + 1] = True
    for k in range(teeth + 1):
        free[length - length * (k % 2 == 0) : length + 1 + length * (k % 2), left + 2 * k] = True
    for k in range(rows + 1):
        y = length + 2 * k
        free[y, :left] = free[y, right + 1 :] = True
        if k < rows:
            inner = k % 2  # the turn after each row leads away from the straight corridor, then towards it
            free[y + 1, inner * length] = free[y + 1, right + 1 + (1 - inner) * length] = True
    free[low, left] = free[low, right] = True
    for k in range(teeth):
        free[low:, left + 1 + 2 * k] = True
        free[low + length * (k % 2 == 0), left + 1 + 2 * k : left + 3 + 2 * k] = True
    free[low + length, right] = False
    return Grid(free, name="figure 25"), (left, length), (right, length)
