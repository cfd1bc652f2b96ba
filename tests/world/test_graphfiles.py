"""Graphs from files: what was written is read again, and errors name their line."""

import networkx
import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from andante.errors import GraphError
from andante.world.graphfiles import read_graph
from andante.world.layout import estimate


def edges_of(graph):
    label = graph.labels
    return {(label[a], label[b]): cost for a in range(len(graph)) for b, cost in graph.neighbours(a)}


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_edges_lead_both_ways_and_arcs_one_way(written):
    text = "# roads\n\nhome  shop 2.5\nshop pub\r\n"
    graph = read_graph(written("town.edges", text))
    one_way = {("home", "shop"): 2.5, ("shop", "pub"): 1.0}
    assert edges_of(graph) == one_way | {(b, a): cost for (a, b), cost in one_way.items()}
    assert graph.name == "town"
    assert edges_of(read_graph(written("town.arcs", text))) == one_way


@pytest.fixture
def roads(written):
    """Return a road network and its arcs, one of which is listed twice, the second time at a lower cost, and points."""
    rng = np.random.default_rng(3)
    points = rng.integers(-(10**6), 10**6, (40, 2))
    arcs = {}
    for a in range(40):
        for b in np.argsort(np.hypot(*(points - points[a]).T))[1:5].tolist():
            arcs[a + 1, b + 1] = int(np.hypot(*(points[a] - points[b])) * rng.uniform(0.3, 1.0)) + 1
    (a, b), cost = next(iter(arcs.items()))
    lines = [f"a {a} {b} {cost + 5}", *(f"a {a} {b} {cost}" for (a, b), cost in arcs.items())]
    file = written("roads.gr", "\n".join(["c roads", f"p sp 40 {len(lines)}", *lines, ""]))
    places = [f"v {k} {x} {y}" for k, (x, y) in enumerate(points.tolist(), 1)]
    return file, arcs, "\n".join(["c points", "p aux sp co 40", *places, ""])


def test_a_road_network(roads):
    file, arcs, _ = roads
    graph = read_graph(file)
    assert edges_of(graph) == arcs
    assert list(graph.labels) == list(range(1, 41))
    assert graph.dimensions == 0


def test_points_of_a_road_network_give_a_lower_bound(roads, written):
    file, arcs, text = roads
    written("roads.co", text)
    graph = read_graph(file)
    assert edges_of(graph) == arcs
    far = dijkstra(graph.to_scipy())
    found = np.array([[estimate(graph.arrays, a, b) for b in range(40)] for a in range(40)])
    assert (found <= far * (1 + 1e-9)).all()
    near = [estimate(graph.arrays, a - 1, b - 1) / cost for (a, b), cost in arcs.items()]
    assert max(near) == pytest.approx(1.0)  # and it is the largest bound that points can give


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_what_networkx_has_written(tmp_path, ending):
    graph = networkx.DiGraph([("a", "b", {"weight": 2.5}), ("b", "c", {"weight": 1.0}), ("c", "a", {"weight": 4.0})])
    file = tmp_path / f"ring.{ending}"
    getattr(networkx, f"write_{ending}")(graph, file)
    assert edges_of(read_graph(file)) == {("a", "b"): 2.5, ("b", "c"): 1.0, ("c", "a"): 4.0}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.edges", "a b c d", "line 1: an edge is written FROM TO COST, or FROM TO, but this line has 4 words"),
        ("a.edges", "\na b zero", "line 2: the cost must be a number, not 'zero'"),
        ("a.edges", "a b -1", "line 1: a cost must be positive and finite, not -1"),
        ("a.edges", "a b 1e999", "line 1: a cost must be positive and finite, not 1e999"),
        ("a.edges", "a a 1", "line 1: an edge leads from 'a' to itself"),
        ("a.edges", "# nothing", "has no edges"),
        ("a.gr", "a 1 2 3", "line 1: a line begins with c, p or, after the line with p, with a, not 'a'"),
        ("a.gr", "c only", "has no line 'p sp STATES ARCS'"),
        ("a.gr", "p sp 0 0", "line 1: a graph has 1 to"),
        ("a.gr", "p aux 3 3", "line 1: the line must be 'p sp' and 2 whole numbers"),
        ("a.gr", "p sp 3 1\na 1 4 1", "line 2: states are numbered from 1 to 3, and '4' is not one"),
        ("a.gr", "p sp 3 1\na 1 2", "line 2: an arc is written a FROM TO COST, but this line has 3 words"),
        ("a.gr", "p sp 3 2\na 1 2 7", "announces 2 arcs and has 1"),
        ("a.gr", "p sp 3 1\np sp 3 1", "line 2: there is a second line"),
        ("a.gml", "graph [", "is not a graph that networkx reads"),
        ("a.txt", "a b", "its name must end in .gr, .edges"),
    ],
)
def test_errors_name_their_line(written, name, text, sentence):
    file = written(name, text)
    with pytest.raises(GraphError) as refusal:
        read_graph(file)
    assert sentence in str(refusal.value)
    assert str(file) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("p aux sp co 3\nv 1 0 0\nv 2 1 1\n", "has no point for state 3"),
        ("p aux sp co 4\n", "line 1: there are 4 points for 3 states"),
        ("p aux sp co 3\nv 1 0", "line 2: a point is written v STATE X Y"),
        ("v 1 0 0", "line 1: a line begins with c, p or, after the line with p, with v"),
    ],
)
def test_points_that_do_not_fit_are_refused(written, text, sentence):
    written("a.co", text)
    with pytest.raises(GraphError, match=sentence):
        read_graph(written("a.gr", "p sp 3 2\na 1 2 7\na 2 3 7\n"))


def test_a_file_that_is_not_there(tmp_path):
    for name in ("no.edges", "no.gr", "no.graphml"):
        with pytest.raises(GraphError, match="cannot read"):
            read_graph(tmp_path / name)
