"""Distance fields against plain Dijkstra with a heap and SciPy's; path counts against an enumeration of all paths."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import andante
from andante.search.dijkstra import RING, Field, Ring, distances, flood, spread
from andante.search.firstmoves import Starts, flood_starts
from andante.search.pathcounts import Paths, count_paths
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests import naive
from tests.worlds import SIDE, examples, graphs, grids


def naive_field(graph: Graph, source: int) -> list[float]:
    found = naive.distances_from(graph, source)
    return [found.get(state, math.inf) for state in range(len(graph))]


@given(grids(rules=RULES), st.integers(0, 2**32 - 1))
@examples(100)
def test_fields_of_small_maps_are_exact(grid, seed):
    source = int(np.random.default_rng(seed).integers(len(grid.graph)))
    assert distances(grid.graph, source).tolist() == naive_field(grid.graph, source)
    assert distances(grid.graph.csr(), source).tolist() == naive_field(grid.graph, source)


@pytest.mark.parametrize("kind", ["empty", "random", "rooms", "maze", "caves"])
def test_fields_of_generated_maps_agree_with_scipy(kind):
    graph = andante.generate(kind, SIDE, SIDE, seed=3).graph
    for source in (0, len(graph) // 2, len(graph) - 1):
        assert distances(graph, source).tolist() == dijkstra(graph.to_scipy(), indices=source).tolist()


@given(graphs(states=14), graphs(states=14, directed=True), st.data())
@examples(100)
def test_fields_of_graphs_with_odd_costs(graph, one_way, data):
    for g in (graph, one_way):
        source = data.draw(st.integers(0, len(g) - 1))
        assert distances(g, source).tolist() == naive_field(g, source)


@given(st.integers(2, 20), st.data())
@examples(150)
def test_equal_costs_that_no_float_represents_exactly(count, data):
    """States on the edge between two buckets must not be lost to rounding."""
    unit = data.draw(st.sampled_from([0.1, 1 / 3, 0.7, 1e-9, 1e9 / 7, 0.15380737517637963]))
    state = st.integers(0, count - 1)
    edges = [(s, s + 1, unit) for s in range(count - 1)]
    pairs = st.tuples(state, state, st.sampled_from([1, 1.5, 2])).filter(lambda e: e[0] != e[1])
    edges += [(a, b, times * unit) for a, b, times in data.draw(st.lists(pairs, max_size=20))]
    graph = Graph.from_edges(edges, states=count)
    assert distances(graph, 0).tolist() == pytest.approx(naive_field(graph, 0), rel=1e-12)


@given(st.lists(st.floats(0.1, 0.2), min_size=30, max_size=120))
@example([0.15380737517637963] * 120)
@examples(100)
def test_long_chains_of_uneven_costs(costs):
    graph = Graph.from_edges([(s, s + 1, cost) for s, cost in enumerate(costs)])
    assert distances(graph, 0).tolist() == naive_field(graph, 0)


def test_a_field_has_space_however_often_states_are_reached_again():
    """Forty states are reached at a high cost, and then at a low one, before the first of them is expanded."""
    crowd, after = range(2, 42), range(42, 47)
    edges = [(0, s, 5.0) for s in after] + [(0, s, 3.9) for s in crowd] + [(0, 1, 1.0)]
    edges += [(1, s, 1.0) for s in crowd] + [(s, s + 5, 8.0) for s in after]
    graph = Graph.from_edges(edges)
    assert graph.cost_range == (1.0, 8.0)
    assert distances(graph, 0).tolist() == naive_field(graph, 0)


@given(st.integers(20, 60), st.integers(0, 2**32 - 1), st.sampled_from([2.0, 3.0, 8.0, 100.0]))
@examples(60)
def test_dense_graphs_with_costs_of_every_spread(count, seed, ratio):
    chance = np.random.default_rng(seed)
    a, b = np.triu_indices(count, 1)
    edges = np.stack([a, b, chance.integers(64, int(64 * ratio) + 1, len(a)) / 64], 1)[chance.permutation(len(a))]
    graph = Graph.from_edges(edges)
    assert distances(graph, 0).tolist() == naive_field(graph, 0)


def test_a_field_can_be_used_again_and_counts_what_it_reaches():
    grid = andante.generate("rooms", SIDE, SIDE, seed=1)
    source = int(np.flatnonzero(grid.passable)[0])
    for graph in (grid.graph, grid.graph.csr()):
        field = Field.over(graph)
        for again in (source, source):
            reached = spread(field, graph, again)
            assert reached == np.isfinite(field.distance).sum()
            assert field.distance.tolist() == dijkstra(graph.to_scipy(), indices=again).tolist()


@pytest.mark.parametrize("within", [0.0, 1.5, 7.0, 12.3, 1000.0])
def test_a_field_can_end_early_and_be_used_again(within):
    grid = andante.generate("rooms", SIDE, SIDE, seed=1)
    source = int(np.flatnonzero(grid.passable)[0])
    spread_costs = Graph.from_edges([(s, s + 1, 1.0 + 99.0 * (s % 2)) for s in range(40)])  # too uneven for a ring
    for graph in (grid.graph, grid.graph.csr(), spread_costs):
        field, start = Field.over(graph), source if graph is not spread_costs else 0
        exact = np.array(naive_field(graph, start))
        for _ in range(2):
            near = exact <= within
            reached = field.order[: spread(field, graph, start, within)]
            assert field.distance[near].tolist() == pytest.approx(exact[near].tolist())
            assert (field.distance[~near] > within).all()
            assert set(np.flatnonzero(near).tolist()) <= set(reached.tolist())
            assert field.distance[reached].tolist() == pytest.approx(exact[reached].tolist())
            assert spread(field, graph, start) == np.isfinite(exact).sum()
            assert field.distance.tolist() == pytest.approx(exact.tolist())


def in_a_ring(graph: Graph) -> Field:
    """Return a field computed by the search for any graph, which generates all moves of a state."""
    n = len(graph)
    ring = Ring(np.zeros(n, np.uint8), np.empty((RING, n), np.int32), 1.0)
    return Field(np.empty(n), np.empty(n, np.int32), ring)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["empty", "random", "rooms", "maze", "caves"])
def test_one_of_many_equal_paths_is_enough_on_grids(kind, rule):
    """The result equals, to the last bit, that of a search that skips no move; few states are expanded twice."""
    graph = Grid(andante.generate(kind, SIDE, SIDE, seed=4).passable, rule=rule).graph
    assert graph.forbids_corner_cutting or rule != "octile"
    field, full = Field.over(graph), in_a_ring(graph)
    chance = np.random.default_rng(7)
    for source in chance.choice(np.flatnonzero(graph.arrays.mask), 30):
        expanded = flood(full, graph.arrays, source, np.inf)
        reached = spread(field, graph, int(source))
        assert field.distance.tolist() == full.distance.tolist()
        assert reached <= expanded <= 1.2 * reached


@given(grids(), st.floats(0.0, 0.5), st.integers(0, 2**32 - 1))
@examples(100)
def test_fields_of_grids_that_follow_no_rule(grid, share, seed):
    """Any arc may be closed, in both directions, if nothing is assumed about corners."""
    chance, graph = np.random.default_rng(seed), grid.graph
    mask = graph.arrays.mask.copy()
    for state in np.flatnonzero(mask):
        for d in range(4):
            if mask[state] >> d & 1 and chance.random() < share:
                mask[state] &= ~np.uint8(1 << d)
                mask[state + graph.arrays.offset[d]] &= ~np.uint8(1 << d + 4)
    closed = Graph(graph.arrays._replace(mask=mask))
    source = int(chance.integers(len(graph)))
    assert distances(closed, source).tolist() == naive_field(closed, source)
    assert_starts_are_exact(closed, source)


@given(grids(side=12, rules=RULES), st.integers(0, 2**32 - 1))
@examples(60)
def test_the_order_of_states_follows_optimal_paths(grid, seed):
    graph, source = grid.graph, int(np.random.default_rng(seed).integers(len(grid.graph)))
    for layout in (graph, graph.csr()):
        field = Field.over(layout)
        order = field.order[: spread(field, layout, source)].tolist()
        place = {state: i for i, state in enumerate(order)}
        assert len(place) == len(order) == np.isfinite(field.distance).sum()
        for state in order:
            for near, cost in graph.neighbours(state):
                assert field.distance[state] + cost > field.distance[near] or place[state] < place[near]


def naive_starts(graph: Graph, source: int) -> list[int]:
    """Return, for each state, the source's moves on optimal paths to it, by the distances from each neighbour."""
    found, left = [0] * len(graph), naive.distances_from(graph, source)
    for k, (near, cost) in enumerate(graph.neighbours(source)):
        for state, rest in naive.distances_from(graph, near).items():
            if state != source and cost + rest == left[state]:
                found[state] |= 1 << k
    return found


def assert_starts_are_exact(graph: Graph, source: int) -> None:
    starts = Starts.over(graph)
    reached = flood_starts(starts, graph.arrays, source)
    assert (starts.how & 255).tolist() == naive_starts(graph, source)
    assert starts.distance.tolist() == naive_field(graph, source)
    assert reached == np.isfinite(starts.distance).sum()


@given(grids(side=9, rules=RULES), st.integers(0, 2**32 - 1))
@examples(100)
def test_first_moves_against_distances_from_each_neighbour(grid, seed):
    assert_starts_are_exact(grid.graph, int(np.random.default_rng(seed).integers(len(grid.graph))))


@pytest.mark.parametrize("kind", ["empty", "random", "rooms", "maze", "caves"])
@pytest.mark.parametrize("rule", RULES)
def test_first_moves_on_generated_maps(kind, rule):
    grid = Grid(andante.generate(kind, 48, 32, seed=1).passable, rule=rule)  # smaller caves may have no free cell
    free = np.flatnonzero(grid.graph.arrays.mask)
    for source in np.random.default_rng(1).choice(free, 3, replace=False):
        assert_starts_are_exact(grid.graph, int(source))


def test_the_cheapest_of_parallel_edges_counts():
    for dear in (1.5, 100.0):
        graph = Graph.from_edges([(0, 1, dear), (0, 1, 1.0), (1, 2, 1.0)])
        assert distances(graph, 0).tolist() == [0.0, 1.0, 2.0]


def test_a_graph_of_one_state():
    assert distances(Graph.from_edges([], states=1), 0).tolist() == [0.0]
    assert distances(Grid(np.ones((1, 1), bool)).graph, 0).tolist() == [0.0]


# --- counting paths -------------------------------------------------------------------------------------------------


def counted(graph: Graph, goal: int) -> tuple[np.ndarray, np.ndarray, Paths]:
    """Return the distances to the goal, the states with one in their order, and the kernel's counts."""
    paths, distance = Paths.over(graph), distances(graph, goal)
    order = np.argsort(distance, kind="stable").astype(np.int32)[: int(np.isfinite(distance).sum())]
    count_paths(paths, graph.arrays, distance, order, len(order))
    return distance, order, paths


def exact(paths: Paths, state: int) -> Fraction:
    return Fraction(float(paths.number[state])) * 2 ** (512 * int(paths.scale[state]))


def all_paths(graph: Graph, left: dict[int, float], state: int) -> int:
    """Count the paths that never exceed the optimal cost by walking each of them."""
    if left[state] == 0:
        return 1
    onward = [near for near, cost in graph.neighbours(state) if near in left and cost + left[near] <= left[state]]
    return sum(all_paths(graph, left, near) for near in onward)


@given(grids(side=7, rules=RULES), st.integers(0, 2**32 - 1))
@examples(60)
def test_paths_on_maps_are_all_counted(grid, seed):
    graph, goal = grid.graph, int(np.random.default_rng(seed).integers(len(grid.graph)))
    left = naive.distances_to(graph, goal)
    _, order, paths = counted(graph, goal)
    assert {int(state): exact(paths, state) for state in order} == {s: all_paths(graph, left, s) for s in left}


@given(graphs(states=9), st.data())
@examples(100)
def test_paths_on_graphs_are_all_counted_and_the_central_one_is_followed(graph, data):
    goal = data.draw(st.integers(0, len(graph) - 1))
    left = naive.distances_to(graph, goal)
    _, order, paths = counted(graph, goal)
    counts = {s: all_paths(graph, left, s) for s in left}
    assert {int(state): exact(paths, state) for state in order} == counts == naive.path_counts(graph, left)
    for state in order[1:].tolist():
        assert paths.onward[state] == naive.central_step(graph, left, counts, state)


@pytest.mark.parametrize("kind", ["empty", "random", "rooms"])
def test_the_central_path_is_followed_where_counts_are_no_longer_exact(kind):
    """On maps a field's order is by distance; more than 2**53 paths are counted with rounding."""
    grid = andante.generate(kind, SIDE, SIDE, seed=5)
    graph, goal = grid.graph, int(np.flatnonzero(grid.passable)[0])
    field, paths = Field.over(graph), Paths.over(graph)
    reached = spread(field, graph, goal)
    count_paths(paths, graph.arrays, field.distance, field.order, reached)
    left = naive.distances_to(graph, goal)
    counts = naive.path_counts(graph, left)
    assert reached == len(left)
    for state in left.keys() - {goal}:
        assert float(exact(paths, state) / counts[state]) == pytest.approx(1, rel=1e-12)
        assert paths.onward[state] == naive.central_step(graph, left, counts, state)


def test_more_paths_than_a_float_can_count():
    """Each rhomb of a chain doubles the paths; a longer rhomb in between has two more in one arm."""
    edges = [(0, 1, 2.0), (0, 2, 2.0)]  # two arms; three paths continue from the second, one from the first
    edges += [(1, 6, 2.0), (2, 3, 1.0), (2, 4, 1.0), (2, 5, 1.0), (3, 6, 1.0), (4, 6, 1.0), (5, 6, 1.0)]
    end = 6
    for _ in range(1300):
        edges += [(end, end + 1, 1.0), (end, end + 2, 1.0), (end + 1, end + 3, 1.0), (end + 2, end + 3, 1.0)]
        end += 3
    graph = Graph.from_edges(edges)
    _, _, paths = counted(graph, end)
    assert (exact(paths, 6), exact(paths, 0)) == (2**1300, 4 * 2**1300)
    assert (paths.onward[0], paths.onward[6]) == (2, 7)
    assert int(paths.scale[0]) == 2


@given(st.integers(500, 530), st.integers(0, 4), st.integers(0, 4))
@examples(40)
def test_counts_of_different_scale_are_compared_and_added(bits, more, fewer):
    """Two arms have 2**(bits + more) and 2**(bits + fewer) paths, on both sides of the limit of one scale."""
    edges, ends = [], []
    for doubled in (bits + more, bits + fewer):
        end = 1 + (ends[-1] if ends else 0)
        edges.append((0, end, 4.0 * (540 - doubled)))
        for _ in range(doubled):
            edges += [(end, end + 1, 2.0), (end, end + 2, 2.0), (end + 1, end + 3, 2.0), (end + 2, end + 3, 2.0)]
            end += 3
        ends.append(end)
    goal = ends[-1] + 1
    graph = Graph.from_edges([*edges, (ends[0], goal, 1.0), (ends[1], goal, 1.0)])
    _, _, paths = counted(graph, goal)
    assert exact(paths, 0) == 2 ** (bits + more) + 2 ** (bits + fewer)
    assert paths.onward[0] == (1 if more >= fewer else ends[0] + 1)
