"""Graphs: they contain the given edges in the given order, and senseless input is refused."""

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from andante.errors import GraphError, ProblemError
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from andante.world.heuristics import DIAGONAL
from andante.world.layout import Csr, degree, estimate, first_of, moves_of, price, rest_of, size, target
from tests import naive
from tests.worlds import examples, graphs, grids

TRIANGLE = [(0, 1, 3.0), (1, 2, 4.0), (0, 2, 5.0)]

# --- building -------------------------------------------------------------------------------------------------------


def test_neighbours_are_in_the_order_of_the_edges():
    graph = Graph.from_edges([(2, 0, 1.0), (0, 1, 2.0), (3, 0, 3.0), (1, 2, 4.0)])
    assert graph.neighbours(0) == [(2, 1.0), (1, 2.0), (3, 3.0)]
    assert graph.neighbours(1) == [(0, 2.0), (2, 4.0)]
    assert graph.neighbours(2) == [(0, 1.0), (1, 4.0)]
    assert graph.neighbours(3) == [(0, 3.0)]
    one_way = Graph.from_edges([(2, 0, 1.0), (0, 1, 2.0), (2, 1, 3.0)], directed=True)
    assert [one_way.neighbours(s) for s in range(3)] == [[(1, 2.0)], [], [(0, 1.0), (1, 3.0)]]
    assert (graph.arcs, one_way.arcs) == (8, 3)


@given(st.data(), st.booleans())
@examples(60)
def test_a_graph_has_exactly_the_given_edges(data, directed):
    count = data.draw(st.integers(2, 12))
    state = st.integers(0, count - 1)
    edge = st.tuples(state, state, st.floats(1e-3, 1e9)).filter(lambda e: e[0] != e[1])
    edges = data.draw(st.lists(edge, max_size=40))
    graph = Graph.from_edges(edges, states=count, directed=directed)
    expected = [[] for _ in range(count)]
    for a, b, cost in edges:
        expected[a].append((b, cost))
        if not directed:
            expected[b].append((a, cost))
    assert [graph.neighbours(s) for s in range(count)] == expected
    assert len(graph) == count
    assert graph.arcs == sum(map(len, expected))
    costs = [cost for row in expected for _, cost in row]
    assert graph.cost_range == ((min(costs), max(costs)) if costs else (1.0, 1.0))


def test_kernels_see_what_python_sees():
    for graph in (
        Graph.from_edges(TRIANGLE),
        Grid(np.ones((3, 3), bool)).graph,
        Grid(np.ones((3, 3), bool)).graph.csr(),
    ):
        assert size(graph.arrays) == len(graph)
        for state in range(len(graph)):
            seen = [
                (target(graph.arrays, state, k), price(graph.arrays, state, k))
                for k in range(degree(graph.arrays, state))
            ]
            assert seen == graph.neighbours(state)


@given(graph=graphs())
@examples(40)
def test_iterating_over_moves_is_the_same_as_counting_them(graph):
    for arrays in (graph.arrays, graph.csr().arrays):
        for state in range(len(graph)):
            seen, moves = [], moves_of(arrays, state)
            while moves != 0:
                seen.append(first_of(arrays, state, moves))
                moves = rest_of(arrays, moves)
            assert seen == graph.neighbours(state)


@pytest.mark.parametrize(
    ("edges", "options", "reason"),
    [
        ([(0, 1, 0.0)], {}, "the edge from 0 to 1 costs 0; a cost must be positive and finite"),
        ([(0, 1, -2.0)], {}, "the edge from 0 to 1 costs -2; a cost must be positive and finite"),
        ([(0, 1, float("nan"))], {}, "the edge from 0 to 1 costs nan"),
        ([(0, 1, float("inf"))], {}, "the edge from 0 to 1 costs inf"),
        ([(0, 1, 1.0), (1, 1, 1.0)], {}, "state 1 has an edge to itself; leave such edges out"),
        ([(0, 1.5, 1.0)], {}, "edges must number their states with whole numbers from 0"),
        ([(0, 1e30, 1.0)], {}, "edges must number their states with whole numbers from 0"),
        ([(0, 1, 10**400)], {}, r"edges must be triples \(from, to, cost\)"),
        (
            [(0, 1, 1.0)],
            {"states": 10**5000},
            "the number of states must be a whole number of at most 64 bits, got a whole number of more",
        ),
        ([(0, 1, 1.0)], {"states": -1}, "the number of states must be a whole number of at least 0, got -1"),
        (TRIANGLE, {"points": [(0, 0), (1, 0), (0, 10**400)]}, "points must be a table of numbers"),
        (TRIANGLE, {"points": [(0, 0), (1,), (2, 2)]}, "points must be a table of numbers"),
        ([(0, -1, 1.0)], {}, "an edge names a state outside 0 to 0"),
        ([(0, 3, 1.0)], {"states": 3}, "an edge names a state outside 0 to 2"),
        ([(0, 1), (2, 3), (1, 2)], {}, r"edges must be triples \(from, to, cost\)"),
        ([(0, 1, 1.0), (2, 3)], {}, r"edges must be triples \(from, to, cost\)"),
        ([("a", "b", 1.0)], {}, r"edges must be triples \(from, to, cost\)"),
        ([0, 1, 1.0], {}, r"edges must be triples \(from, to, cost\)"),
        (
            TRIANGLE,
            {"points": [(0, 0), (1, 0)]},
            r"points must be a table of 3 rows, one per state, not of shape \(2, 2\)",
        ),
        (TRIANGLE, {"points": [0, 1, 2]}, r"points must be a table of 3 rows, one per state, not of shape \(3,\)"),
        (TRIANGLE, {"points": [(0, 0), (1, 0), (0, float("nan"))]}, "points must be finite numbers"),
        (
            TRIANGLE,
            {"points": [(0,), (1,), (2,)], "metric": "octile"},
            "the octile metric is for two dimensions, but these points have 1",
        ),
        (TRIANGLE, {"metric": "euclidian"}, r"unknown metric 'euclidian'; did you mean 'euclidean'\?"),
        (TRIANGLE, {"points": [(0, 0), (9, 0), (0, 1)]}, "the edge from 0 to 1 costs 3 but its ends are 9 apart"),
        (
            [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1e9)],
            {"points": [(0,), (1.5,), (1,), (2,)]},
            "the edge from 0 to 1 costs 1 but its ends are 1.5 apart",
        ),
        ([(0, 1, 1e-9), (1, 2, 1e9)], {}, "costs from 1e-09 to 1e\\+09 are too far apart"),
        (
            [(0, 1, 1.0), (2, 3, 1.0)],
            {"points": [(0,), (1,), (1e17,), (1e17,)]},
            "points that are 1e\\+17 apart do not fit edges that cost 1",
        ),
    ],
)
def test_bad_edges_and_points_are_refused(edges, options, reason):
    with pytest.raises(GraphError, match=reason):
        Graph.from_edges(edges, **options)


def test_costs_may_differ_as_far_as_sums_stay_exact():
    near = [(k, k + 1, 2.0**50) for k in range(2)]
    assert Graph.from_edges([*near, (2, 3, 1.0)]).unit == 1.0
    with pytest.raises(GraphError, match="added to the cost of a long path, the cheapest would be rounded away"):
        Graph.from_edges([*near, (2, 3, 0.5)])


@given(graphs(), st.integers(-40, 40))
@examples(60)
def test_a_scaled_graph_is_the_same_in_another_unit(graph, power):
    scaled = graph.scaled(2.0**power)
    assert scaled.unit == graph.unit * 2.0**power
    assert graph.unit <= graph.cost_range[0] < 2 * graph.unit
    assert scaled.scaled(2.0**-power).fingerprint == graph.fingerprint
    assert scaled.typical_cost == graph.typical_cost * 2.0**power


def test_too_many_states_are_refused():
    with pytest.raises(GraphError, match="at most 2,147,483,647 states; this one would have 1,000,000,000,001"):
        Graph.from_edges([(0, 10**12, 1.0)])


@pytest.mark.parametrize("factor", [0.0, -1.0, float("inf"), float("nan"), 1e-320, "2"])
def test_bad_factors_for_costs_are_refused(factor):
    with pytest.raises(
        GraphError, match="the factor for costs must be|are not all between 1e-100 and 1e\\+100; use another unit"
    ):
        Graph.from_edges(TRIANGLE).scaled(factor)


def test_the_scale_that_a_refusal_advises_is_accepted():
    points = np.array([(0.0, 0.0), (7.0, 0.0), (0.0, 9.0)])
    with pytest.raises(GraphError, match="overestimate; scale the points by ") as caught:
        Graph.from_edges(TRIANGLE, points=points)
    scale = float(str(caught.value).split("scale the points by ")[1].split()[0])
    assert 0.3 < scale < 0.5
    Graph.from_edges(TRIANGLE, points=0.999 * scale * points)


def test_an_empty_graph_and_one_without_edges():
    assert (len(Graph.from_edges([])), Graph.from_edges([]).arcs) == (0, 0)
    lonely = Graph.from_edges([], states=3)
    assert [lonely.neighbours(s) for s in range(3)] == [[], [], []]
    assert lonely.components.tolist() == [0, 1, 2]
    assert (lonely.cost_range, lonely.max_degree) == ((1.0, 1.0), 0)


# --- from elsewhere -------------------------------------------------------------------------------------------------


@given(graphs(directed=True))
@examples(60)
def test_scipy_and_back(graph):
    matrix = graph.to_scipy()
    again = Graph.from_scipy(matrix)
    assert len(again) == len(graph)
    for state in range(len(graph)):
        assert sorted(again.neighbours(state)) == sorted(graph.neighbours(state))
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array, scipy.sparse.lil_array):
        once = kind(matrix.toarray())
        assert sorted(Graph.from_scipy(once).neighbours(0)) == sorted(
            (int(t), float(c)) for t, c in enumerate(matrix.toarray()[0]) if c > 0
        )


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(GraphError, match="a matrix of costs must be square, but this one is 2 x 3"):
        Graph.from_scipy(scipy.sparse.csr_array(np.ones((2, 3))))


def test_networkx_nodes_keep_their_names_order_and_places():
    source = networkx.Graph()
    source.add_node("inn", pos=(0, 0))
    source.add_node("mill", pos=(3, 4))
    source.add_node("barn", pos=(0, 1))
    source.add_edge("mill", "inn", weight=6)
    source.add_edge("inn", "barn")
    graph = Graph.from_networkx(source)
    assert graph.labels == ["inn", "mill", "barn"]
    assert graph.neighbours(0) == [(1, 6.0), (2, 1.0)]
    assert estimate(graph.arrays, 0, 1) == 5.0
    source.nodes["barn"].pop("pos")  # if not all nodes have a place, none is used
    assert estimate(Graph.from_networkx(source).arrays, 0, 1) == 0.0
    source["inn"]["mill"]["km"] = 9.5
    assert dict(Graph.from_networkx(source, weight="km").neighbours(0))[1] == 9.5


def test_directed_and_multiple_edges_of_networkx():
    source = networkx.MultiDiGraph([("a", "b", {"weight": 5}), ("a", "b", {"weight": 2}), ("b", "c", {"weight": 1})])
    graph = Graph.from_networkx(source)
    assert [graph.neighbours(s) for s in range(3)] == [[(1, 5.0), (1, 2.0)], [(2, 1.0)], []]


# --- reading --------------------------------------------------------------------------------------------------------


def same_groups(label, groups):
    """Return whether the labels group states as these groups do."""
    return len(set(label.tolist())) == len(groups) and all(len({label[s] for s in group}) == 1 for group in groups)


@given(grids(rules=RULES))
@examples(80)
def test_components_of_grids(grid):
    groups = naive.components(grid.graph)
    assert same_groups(grid.graph.components, groups)
    assert same_groups(grid.graph.csr().components, groups)


@given(graphs(states=14), graphs(states=14, directed=True))
@examples(80)
def test_components_of_graphs_ignore_directions(graph, one_way):
    assert same_groups(graph.components, naive.components(graph))
    assert same_groups(one_way.components, naive.components(one_way))


@given(graphs(directed=True))
@examples(80)
def test_reversed_reverses_every_arc(graph):
    arcs = sorted((s, near, cost) for s in range(len(graph)) for near, cost in graph.neighbours(s))
    turned = graph.reversed()
    assert sorted((near, s, cost) for s in range(len(graph)) for near, cost in turned.neighbours(s)) == arcs
    assert (turned is graph) == (sorted((b, a, c) for a, b, c in arcs) == arcs)


@given(graphs())
@examples(40)
def test_an_undirected_graph_is_its_own_reverse(graph):
    assert graph.reversed() is graph


def test_a_grid_in_rows_is_made_once():
    graph = Grid(np.ones((4, 4), bool)).graph
    assert graph.csr() is graph.csr()
    assert graph.csr().csr() is graph.csr()
    assert isinstance(graph.csr().arrays, Csr)
    assert graph.cost_range == (1.0, DIAGONAL)


def test_fingerprints_distinguish_graphs():
    base = Graph.from_edges(TRIANGLE)
    assert base.fingerprint == Graph.from_edges(list(TRIANGLE)).fingerprint
    others = [
        Graph.from_edges([(1, 2, 4.0), (0, 1, 3.0), (0, 2, 5.0)]),  # another order
        Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 5.5)]),
        Graph.from_edges(TRIANGLE, directed=True),
        Graph.from_edges(TRIANGLE, states=4),
        Graph.from_edges(TRIANGLE, points=[(0,), (1,), (2,)]),
        Graph.from_edges(TRIANGLE, points=[(0,), (1,), (2,)], metric="manhattan"),
    ]
    assert len({graph.fingerprint for graph in [base, *others]}) == 7
    walls = np.ones((3, 3), bool)
    assert Grid(walls).graph.fingerprint != Grid(walls, rule="cardinal").graph.fingerprint


def test_another_heuristic_leaves_the_arcs_alone():
    graph = Graph.from_edges(TRIANGLE, labels=["a", "b", "c"])
    placed = graph.with_points([(0.0,), (3.0,), (5.0,)], "manhattan")
    assert [placed.neighbours(s) for s in range(3)] == [graph.neighbours(s) for s in range(3)]
    assert estimate(placed.arrays, 0, 2) == 5.0
    assert placed.labels == graph.labels
    with pytest.raises(GraphError, match="so the heuristic would overestimate"):
        graph.with_points([(0.0,), (4.0,), (5.0,)], "manhattan")


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e12])
def test_an_overestimate_is_refused_in_any_unit(unit):
    edges = [(a, b, cost * unit) for a, b, cost in TRIANGLE]
    Graph.from_edges(edges, points=[(0,), (3 * unit,), (5 * unit * (1 + 1e-9),)])
    with pytest.raises(GraphError, match="so the heuristic would overestimate"):
        Graph.from_edges(edges, points=[(0,), (3 * unit,), (5.01 * unit,)])


def test_a_problem_is_named_by_labels():
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0)], labels=["home", "road", "work"])
    assert (graph.problem("home", "work").start, graph.problem("home", "work").goal) == (0, 2)
    assert graph.problem(0, 2).goal == 2
    with pytest.raises(ProblemError, match="no such label"):
        graph.problem("home", "moon")
    assert repr(graph) == "<Graph of 3 states and 4 arcs>"


def test_graphs_are_equal_if_an_agent_cannot_distinguish_them_and_their_labels_are_equal():
    edges = [(0, 1, 3.0), (1, 2, 4.0)]
    one = Graph.from_edges(edges)
    assert one == Graph.from_edges(edges)
    assert len({one, Graph.from_edges(edges)}) == 1
    assert one != Graph.from_edges(edges, labels=["a", "b", "c"])
    assert Graph.from_edges(edges, labels=("a", "b", "c")) == Graph.from_edges(edges, labels=["a", "b", "c"])
    assert one != Graph.from_edges([(0, 1, 3.0), (1, 2, 5.0)])
    assert one != "a graph"


@pytest.mark.parametrize("state", [-1, 2])
def test_what_is_not_a_state_has_no_neighbours(state):
    with pytest.raises(GraphError, match=f"{state} is not a state; there are 2, numbered from 0"):
        Graph.from_edges([(0, 1, 3.0)]).neighbours(state)
