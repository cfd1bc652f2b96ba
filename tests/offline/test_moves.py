"""Building compressed path databases: the order of states, and limits."""

import numpy as np
import pytest
from hypothesis import given

import andante
from andante.errors import DatabaseError
from andante.offline import build
from andante.offline.moves import _order, _preorder
from andante.offline.places import along_hilbert
from andante.world.graph import Graph
from tests import naive
from tests.worlds import examples, graphs, grids


@given(grids())
@examples(60)
def test_components_are_contiguous_in_the_order_and_the_largest_is_last(grid):
    order, span = _order(grid.graph)
    groups = [group for group in naive.components(grid.graph) if len(group) > 1]
    assert sorted(order) == sorted(state for group in groups for state in group)
    for place, state in enumerate(order):
        begin, end = span[place]
        group = next(group for group in groups if state in group)
        assert set(order[begin:end]) == group
        assert begin <= place < end
    if groups:
        assert len(groups) == 0 or span[-1, 1] - span[-1, 0] == max(map(len, groups))


def test_the_curve_leads_from_cell_to_neighbouring_cell():
    grid = andante.generate("empty", 32, 32)
    along = along_hilbert(grid.graph.points)
    walk = np.argsort(along)
    y, x = np.divmod(walk, 32)
    assert (np.abs(np.diff(x)) + np.abs(np.diff(y)) == 1).all()
    assert len(np.unique(along)) == 1024


@given(graphs(states=20))
@examples(40)
def test_the_preorder_is_that_of_a_recursive_search(graph):
    met = {}

    def visit(state):
        if state not in met:
            met[state] = len(met)
            for near, _ in graph.neighbours(state):
                visit(near)

    for state in range(len(graph)):
        visit(state)
    assert _preorder(graph).tolist() == [met[state] for state in range(len(graph))]


def test_a_state_with_too_many_moves_is_refused():
    star = Graph.from_edges([(0, leaf, 1.0) for leaf in range(1, 70)])
    with pytest.raises(DatabaseError, match="up to 60 moves each; this one has 70, and one of them has 69"):
        build("moves", star)
