"""The levels above a graph: properties 1 to 7 of Bulitko et al. (2007), its Figures 8 to 10, and bad arguments."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import DEFAULT_COVER, ChangingHierarchy, Hierarchy, hierarchy_of
from andante.abstraction.layers import LEAST_COST
from andante.datasets.movingai import load_map
from andante.datasets.scaling import upscale
from andante.errors import GraphError
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.abstraction.plain_cover import ground_sets, plain_levels
from tests.abstraction.plain_levels import check, ground_of
from tests.abstraction.worlds import figure_4, figure_4_clockwise, ring_and_spokes, worlds
from tests.worlds import SIDE, examples, grids

covers = st.sampled_from(Cover)


@given(worlds(), covers)
@examples(150)
def test_properties_1_to_7_hold_on_every_level(world, cover):
    check(Hierarchy(world, cover), ground_of(world))


@pytest.mark.parametrize("cover", Cover)
@pytest.mark.parametrize("kind", ["empty", "random", "rooms", "maze", "caves"])
def test_properties_1_to_7_hold_on_larger_maps(kind, cover):
    grid = andante.generate(kind, SIDE, SIDE, seed=4)
    check(Hierarchy(grid, cover), ground_of(grid))


@given(worlds(), covers)
@examples(60)
def test_at_the_top_each_component_is_one_state(world, cover):
    levels = Hierarchy(world, cover)
    graph = levels.graph
    components = [group for group in naive.components(graph) if any(graph.neighbours(state) for state in group)]
    region = levels.regions(levels.top)
    assert levels.sizes[-1] == len(components)
    for group in components:
        assert len({int(region[state]) for state in group if graph.neighbours(state)}) == 1


@given(worlds(), covers)
@examples(60)
def test_a_representative_is_the_ground_state_nearest_to_the_point(world, cover):
    levels, ground = Hierarchy(world, cover), ground_of(world)
    for level in range(1, levels.top + 1):
        region, place = levels.regions(level), levels.points(level)
        for state, chosen in enumerate(levels.representatives(level)):
            apart = {
                mine: naive.apart("euclidean", ground.point[int(mine)], place[state])
                for mine in np.flatnonzero(region == state)
            }
            least = min(apart.values())
            assert chosen == min(mine for mine, far in apart.items() if far <= least + 1e-9)


@pytest.mark.parametrize("cover", Cover)
def test_rows_of_any_length(cover):
    """A hub with forty neighbours needs several chunks of arcs, and no node has more children than the limit."""
    hub, full = (
        ring_and_spokes(40),
        Graph.from_edges(
            [(a, b, 2.0) for a in range(12) for b in range(a)], points=[(0.1 * k, 0.0) for k in range(12)]
        ),
    )
    for graph in (hub, full):
        check(Hierarchy(graph, cover), ground_of(graph))


def test_isolated_states_have_no_levels():
    levels = Hierarchy(Grid(np.array([[1, 0, 1]], bool)))
    assert (levels.top, levels.sizes) == (0, [0])
    assert levels.regions(0).tolist() == [-1, -1, -1]
    assert levels.level(0) is levels.graph


def test_moves_between_regions_with_the_same_centre_have_a_cost():
    """A ring of eight and the hub in its middle have the same point, and costs must be positive."""
    graph = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0)], points=[(0.0, 0.0)] * 3)
    levels = Hierarchy(graph, Cover.EAGER)
    assert {cost for state in range(levels.sizes[1]) for _, cost in levels.level(1).neighbours(state)} <= {LEAST_COST}


# --- the paper's example --------------------------------------------------------------------------------------------


def test_figure_8():
    """Four of a clique, two pairs, the goal joins its only neighbour, and s6 stays alone."""
    state, grid = figure_4()
    levels = Hierarchy(grid, Cover.LITERAL)
    families = {frozenset(levels.children(1, node)) for node in range(levels.sizes[1])}
    assert families == {
        frozenset(state[name] for name in names)
        for names in (["s0", "s1", "s2", "s4"], ["s3", "s5"], ["s7", "s8", "sg"], ["s6"])
    }
    one, two, three, four = (levels.parent(0, state[name]) for name in ("s0", "s3", "s7", "s6"))
    assert set(levels.counts(1)) == {(one, two), (two, one), (one, four), (four, one), (four, three), (three, four)}
    assert levels.counts(1)[one, two] == 4  # from s2 and s4 to s3 and s5


def test_figure_9():
    """Three rounds, until one state is left: s'1 with s'2, s'3 with s'4.

    The figure does not show the order of a state's neighbours. Clockwise from the east, it is reproduced.
    """
    state, graph = figure_4_clockwise()
    levels = Hierarchy(graph, Cover.LITERAL)
    assert levels.sizes == [10, 4, 2, 1]
    region = levels.regions(2)
    assert region[state["s0"]] != region[state["s7"]]
    assert len({region[state[name]] for name in ("s0", "s1", "s2", "s3", "s4", "s5")}) == 1
    assert len({region[state[name]] for name in ("s6", "s7", "s8", "sg")}) == 1


def test_figure_10():
    """A node's point is the mean of the ground states' points, and an edge costs the distance between two."""
    state, graph = figure_4_clockwise()
    levels = Hierarchy(graph, Cover.LITERAL)
    one, two = levels.parent(0, state["s0"]), levels.parent(0, state["s3"])
    assert levels.points(1)[[one, two]].tolist() == [[0.5, 2.5], [2.0, 2.5]]
    assert dict(levels.level(1).neighbours(one))[two] == 1.5
    assert levels.points(2)[levels.parent(1, one)].tolist() == pytest.approx([1.0, 2.5])  # of six points, not of two


def test_the_cover_rules_differ_where_they_should():
    """Two states of a line of three are a clique; the third joins them if its degree is one, or whatever its degree."""
    ring = Graph.from_edges([(k, (k + 1) % 5, 1.0) for k in range(5)], points=np.zeros((5, 2)))
    assert Hierarchy(ring, Cover.LITERAL).sizes[1] == Hierarchy(ring, Cover.EAGER).sizes[1] == 3
    assert Hierarchy(ring, Cover.JOINING).sizes[1] == 2
    assert Hierarchy(ring, Cover.ALIGNED).sizes[1] == 3


# --- aligned squares ------------------------------------------------------------------------------------------------


def regions_of(levels, level):
    """Return the ground states below each state of a level, as sets."""
    region = levels.regions(level)
    return {frozenset(np.flatnonzero(region == state).tolist()) for state in range(levels.sizes[level])}


@given(grids(14, RULES), st.sampled_from(list(Cover)))
@examples(100)
def test_levels_are_covered_as_the_rule_says(grid, cover):
    levels, plain = Hierarchy(grid, cover), ground_sets(plain_levels(grid, cover.name.lower()))
    assert levels.top == len(plain)
    for level, families in enumerate(plain, 1):
        assert regions_of(levels, level) == set(map(frozenset, families))


@pytest.mark.parametrize("kind", ["random", "rooms", "maze", "caves", "outdoor"])
def test_larger_maps_are_covered_as_the_rule_says(kind):
    grid = andante.generate(kind, 67, 65, seed=4)
    levels, plain = Hierarchy(grid, Cover.ALIGNED), ground_sets(plain_levels(grid))
    assert [regions_of(levels, k) for k in range(1, levels.top + 1)] == [set(map(frozenset, one)) for one in plain]


def test_open_ground_becomes_squares():
    levels = Hierarchy(Grid(np.ones((16, 24), bool)))
    assert levels.cover is DEFAULT_COVER is Cover.ALIGNED
    assert levels.sizes == [384, 96, 24, 6, 2, 1]
    y, x = np.divmod(np.arange(384), 24)
    assert np.array_equal(levels.regions(3), (y // 8) * 3 + x // 8)


def test_the_same_grid_in_rows_of_arcs_has_the_same_squares():
    grid = andante.generate("caves", 40, 30, seed=2)
    assert np.array_equal(Hierarchy(grid).regions(2), Hierarchy(grid.graph.csr()).regions(2))


#: States per level of an average map: the square roots of the pairs in Table 5 of Bulitko et al. (2008).
TABLE_5 = {1: 27_203, 2: 7_681, 3: 2_470, 4: 927, 5: 387, 6: 176, 7: 80}


@pytest.mark.compiled
def test_levels_have_the_sizes_of_the_papers_databases(movingai):
    names = ("thecrucible", "darkforest", "divideandconquer")
    grids = [upscale(load_map(f"wc3native/{name}", source=movingai), size=(512, 512)) for name in names]
    sizes = np.mean([Hierarchy(grid, Cover.ALIGNED).sizes[:8] for grid in grids], axis=0)
    for level, states in TABLE_5.items():
        assert sizes[level] == pytest.approx(states, rel=0.05)


# --- sharing --------------------------------------------------------------------------------------------------------


def test_a_hierarchy_is_built_once_and_released_with_its_graph():
    grid = Grid(np.ones((6, 6), bool))
    shared = hierarchy_of(grid.graph).layers
    assert hierarchy_of(grid.graph).layers is shared
    assert hierarchy_of(grid.graph, Cover.LITERAL).layers is not shared
    gone = weakref.ref(grid.graph)
    del grid, shared
    gc.collect()
    assert gone() is None


def test_a_shared_hierarchy_cannot_be_written_to():
    layers = Hierarchy(Grid(np.ones((4, 4), bool))).layers
    for array in layers[:5]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# --- bad arguments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda levels: levels.level(4), "there is no level 4: the hierarchy of this map has levels 0 to 3"),
        (lambda levels: levels.regions(-1), "there is no level -1"),
        (lambda levels: levels.points(0), "level 0 is the graph itself"),
        (lambda levels: levels.counts(0), "level 0 is the graph itself"),
        (lambda levels: levels.regions(1.5), "a level must be a whole number, got 1.5"),
        (lambda levels: levels.parent(3, 0), "level 3 is the highest; its states have no parents"),
        (lambda levels: levels.parent(7, 0), "there is no level 7"),
        (lambda levels: levels.parent(1, 16), "level 1 has no state 16: its states are numbered 0 to 15"),
        (lambda levels: levels.children(0, 5), "states of level 0 have no children"),
        (lambda levels: levels.children(1, -1), "level 1 has no state -1"),
        (lambda levels: levels.children(1, "x"), "a state must be a whole number, got 'x'"),
    ],
)
def test_unknown_levels_and_states_are_refused_in_a_sentence(call, sentence):
    levels = Hierarchy(Grid(np.ones((8, 8), bool)))
    with pytest.raises(andante.AndanteError, match=sentence):
        call(levels)


@pytest.mark.parametrize("build", [Hierarchy, ChangingHierarchy, hierarchy_of])
def test_graphs_without_points_or_with_one_way_moves_are_refused(build):
    with pytest.raises(GraphError, match="this graph has no points"):
        build(Graph.from_edges([(0, 1, 1.0)]))
    one_way = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0)], points=[(0.0,), (1.0,), (2.0,)], directed=True)
    with pytest.raises(GraphError, match="every move can be reversed at the same cost"):
        build(one_way)
