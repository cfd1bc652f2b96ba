"""Repair of levels: all eight properties hold after any change, and what a change does not affect stays untouched."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import ChangingHierarchy, Hierarchy, reserve_for_changes
from andante.abstraction.layers import restore
from andante.abstraction.repair import Keep
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from tests.abstraction.plain_levels import check, ground_of
from tests.abstraction.worlds import figure_4, ring_and_spokes, worlds
from tests.worlds import DEEP, examples, grids

covers = st.sampled_from(Cover)
keeps = st.sampled_from(Keep)


class Changes:
    """A sequence of changes to a hierarchy, with the graph that it should have after each."""

    def __init__(self, world, cover, keep=Keep.CONNECTED):
        self.world, self.levels = world, ChangingHierarchy(world, cover, keep)
        self.states, self.edges = set(), set()
        graph = self.levels.graph
        self.all_edges = []
        if isinstance(world, Grid):  # any cell can be opened, and there are no edges to close
            self.world = Grid(np.ones_like(world.passable), rule=world.rule)
            self.states = set(np.flatnonzero(~world.passable.ravel()).tolist())
        else:
            self.all_edges = sorted({(min(a, b), max(a, b)) for a in range(len(graph)) for b, _ in graph.neighbours(a)})

    def make(self, closing, states, edges):
        if closing:
            self.levels.close(states=states, edges=edges)
            self.states.update(states)
            self.edges.update(edges)
        else:
            self.levels.open(states=states, edges=edges)
            self.states.difference_update(states)
            self.edges.difference_update(edges)

    def draw(self, data):
        """Return any change, to some states and some edges; half of the changes open what earlier ones closed."""
        closing = data.draw(st.booleans())
        states = sorted(self.states) if not closing and self.states else range(len(self.levels.graph))
        edges = sorted(self.edges) if not closing and self.edges else self.all_edges
        some = data.draw(st.lists(st.sampled_from(states), max_size=4))
        few = data.draw(st.lists(st.sampled_from(edges), max_size=4)) if edges else []
        self.make(closing, some, few)

    def check(self):
        check(self.levels, ground_of(self.world, self.states, self.edges))


@given(worlds(), covers, keeps, st.data())
@examples(150)
def test_properties_1_to_8_hold_after_every_change(world, cover, keep, data):
    changes = Changes(world, cover, keep)
    changes.check()
    for _ in range(data.draw(st.integers(1, 8))):
        changes.draw(data)
        changes.check()


@given(worlds(), st.sampled_from([Cover.LITERAL, Cover.EAGER, Cover.ALIGNED]), st.data())
@examples(60)
def test_by_the_papers_rule_children_form_a_clique_after_every_change(world, cover, data):
    """The exception is children that joined their only neighbour."""
    changes = Changes(world, cover, Keep.CLIQUE)
    for _ in range(data.draw(st.integers(1, 8))):
        changes.draw(data)
        levels, ground = changes.levels, ground_of(changes.world, changes.states, changes.edges)
        arcs = {state: set(row) for state, row in ground.neighbours.items()}
        for level in range(1, levels.top + 1):
            for node in range(levels.sizes[level]):
                busy = [child for child in levels.children(level, node) if len(arcs[child]) > 1]
                assert all(b in arcs[a] for a, b in combinations(busy, 2))
            arcs = {
                node: {near for a, near in levels.counts(level) if a == node} for node in range(levels.sizes[level])
            }


def test_a_square_that_lost_a_cell_can_get_it_again():
    grid = Grid(np.ones((16, 16), bool))
    levels, built = ChangingHierarchy(grid), Hierarchy(grid)
    levels.close(states=[grid.state(5, 6)])
    levels.open(states=[grid.state(5, 6)])
    assert levels.sizes == built.sizes
    assert {frozenset(levels.children(1, k)) for k in range(64)} == {frozenset(built.children(1, k)) for k in range(64)}
    for level in range(1, built.top + 1):
        assert (
            len(set(zip(levels.regions(level).tolist(), built.regions(level).tolist(), strict=True)))
            == built.sizes[level]
        )


@given(grids(9, RULES), covers, st.integers(0, 2**32 - 1))
@examples(40)
def test_a_map_that_fills_up_cell_by_cell_and_empties_again(grid, cover, seed):
    changes = Changes(grid, cover)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(grid.passable.ravel())).tolist()
    for closing in (True, False):
        for k, cell in enumerate(order):
            changes.make(closing, [cell], [])
            if k % 5 == 0:
                changes.check()
        changes.check()


@given(worlds(), covers)
@examples(40)
def test_everything_closed_and_everything_opened(world, cover):
    changes = Changes(world, cover)
    everything = list(range(len(changes.levels.graph)))
    free = np.flatnonzero(world.passable.ravel()).tolist() if isinstance(world, Grid) else everything
    built = changes.levels.sizes
    changes.make(True, everything, [])
    changes.check()
    assert changes.levels.sizes == [0] * len(built)
    changes.make(False, free, [])
    changes.check()
    assert (changes.levels.sizes[0], len(changes.levels.sizes)) == (built[0], len(built))
    if not isinstance(world, Grid):
        changes.make(True, [], changes.all_edges)
        changes.check()
        assert changes.levels.sizes == [0] * len(built)


@pytest.mark.parametrize("cover", Cover)
def test_a_hub_loses_its_spokes_and_gets_them_again(cover):
    changes = Changes(ring_and_spokes(30), cover)
    spokes = [edge for edge in changes.all_edges if edge[0] == 0]
    for closing in (True, False):
        for spoke in spokes:
            changes.make(closing, [], [spoke])
            changes.check()


@pytest.mark.compiled
@pytest.mark.parametrize("cover", Cover)
@pytest.mark.parametrize("kind", ["random", "rooms", "maze", "caves"])
def test_larger_maps(kind, cover):
    side = 40 if DEEP or kind == "caves" else 28  # smaller caves have no free cell
    grid = andante.generate(kind, side, side, seed=6)
    changes, chance = Changes(grid, cover), np.random.default_rng(1)
    for closing in (True, True, False, True, False):
        changes.make(closing, chance.choice(side * side, 60, replace=False).tolist(), [])
        changes.check()


def test_a_second_closing_changes_nothing():
    grid = Grid(np.ones((8, 8), bool))
    levels = ChangingHierarchy(grid)
    assert levels.close(states=[27]) > 0
    before = [(levels.regions(level).tolist(), levels.counts(level)) for level in range(1, levels.top + 1)]
    assert levels.close(states=[27]) == 0
    assert before == [(levels.regions(level).tolist(), levels.counts(level)) for level in range(1, levels.top + 1)]


def test_the_original_graph_is_unchanged():
    grid = andante.generate("random", 12, 12, seed=3)
    fingerprint, before = grid.graph.fingerprint, Hierarchy(grid).sizes
    ChangingHierarchy(grid).close(states=range(40))
    assert (grid.graph.fingerprint, Hierarchy(grid).sizes) == (fingerprint, before)


# --- the paper's example --------------------------------------------------------------------------------------------


def test_the_worked_example_of_section_4_2():
    """Without the edge between s4 and s6, state s6 joins the clique of s7 and s8, and s'3 and s'4 become one."""
    state, grid = figure_4()
    levels = ChangingHierarchy(grid.graph, Cover.LITERAL)
    levels.close(edges=[(state["s4"], state["s6"])])
    check(levels, ground_of(grid, closed_edges=[(state["s4"], state["s6"])]))
    families = {frozenset(levels.children(1, node)) for node in range(levels.sizes[1])}
    assert families == {
        frozenset(state[name] for name in names)
        for names in (["s0", "s1", "s2", "s4"], ["s3", "s5"], ["s6", "s7", "s8", "sg"])
    }
    one, two, five = (levels.parent(0, state[name]) for name in ("s0", "s3", "s6"))
    assert set(levels.counts(1)) == {(one, two), (two, one)}
    assert levels.counts(1)[one, two] == 4
    assert levels.regions(levels.top)[state["s6"]] != levels.regions(levels.top)[state["s0"]]
    assert levels.points(1)[five].tolist() == pytest.approx([1.0, 0.25])

    levels.open(edges=[(state["s4"], state["s6"])])
    check(levels, ground_of(grid))


def cut_between_rows(grid, y):
    """Return the edges of a grid between two rows, from left to right."""
    graph = grid.graph
    above = [
        (grid.state(x, y - 1), near) for x in range(grid.width) for near, _ in graph.neighbours(grid.state(x, y - 1))
    ]
    cut = [(a, b) for a, b in above if grid.cell(b)[1] == y]
    return sorted(cut, key=lambda edge: max(grid.cell(state)[0] for state in edge))


def test_figure_20_counts_edges_on_every_level():
    """Two rows of four squares: 4 edges join A and A', 10 the two left squares and those below, 22 all of them."""
    grid = Grid(np.ones((4, 8), bool))
    levels, cut = Hierarchy(grid), cut_between_rows(grid, 2)
    a, b, above_a, above_b = (levels.parent(0, grid.state(x, y)) for y in (2, 0) for x in (0, 2))
    assert len(cut) == 22
    assert levels.counts(1)[a, above_a] == 4
    between = [(a, above_a), (a, above_b), (b, above_a), (b, above_b)]
    assert sum(levels.counts(1)[pair] for pair in between) == 10


@pytest.mark.parametrize(("keep", "edges"), [(Keep.CLIQUE, 4), (Keep.CONNECTED, 10)])
def test_figure_20_when_a_region_is_split(keep, edges):
    """An agent finds a wall, edge by edge. Under the paper's rule, a region of two squares above and two below is split
    when the first edge of level 1 is removed, with the fourth edge of the map; otherwise when the last one is."""
    grid = Grid(np.ones((4, 8), bool))
    levels, wall = ChangingHierarchy(grid.graph, keep=keep), cut_between_rows(grid, 2)
    corners = [grid.state(x, y) for x in (0, 3) for y in (0, 3)]
    together = []
    for edge in wall:
        levels.close(edges=[edge])
        together.append(len({int(levels.regions(2)[state]) for state in corners}) == 1)
    assert together.index(False) + 1 == edges
    check(levels, ground_of(grid, closed_edges=wall))
    assert levels.regions(levels.top)[grid.state(0, 0)] != levels.regions(levels.top)[grid.state(0, 3)]


def test_figure_20_at_the_top():
    """Without the edge from E to E', G is split in two, joined by an edge; without the last edge, H and H' are left."""
    e, f, e_above, f_above = range(4)
    pairs = [(a, b, 1.5) for a in range(4) for b in range(a)]
    graph = Graph.from_edges(pairs, points=[(0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0)])
    levels = ChangingHierarchy(graph, keep=Keep.CLIQUE)
    assert levels.sizes == [4, 1]
    levels.close(edges=[(e, e_above)])
    assert levels.sizes == [4, 2]
    assert set(levels.counts(1)) == {(0, 1), (1, 0)}
    for edge in ((e, f_above), (f, e_above), (f, f_above)):
        levels.close(edges=[edge])
    assert [levels.children(1, node) for node in range(2)] in (
        [[e, f], [e_above, f_above]],
        [[e_above, f_above], [e, f]],
    )
    assert not levels.counts(1)


# --- nothing else changes ---------------------------------------------------------------------------------------------


def changed_nodes(side, cell, cover):
    """Return how many nodes of each level differ in any way after one cell of a map was closed."""
    grid = Grid(np.ones((side, side), bool))
    levels = ChangingHierarchy(grid, cover)
    families, before, places = (array.copy() for array in levels.layers[:3])
    links, arcs = levels.layers.link.copy(), levels.layers.arc.copy()
    levels.close(states=[grid.state(*cell)])
    layers = levels.layers
    other_node = families != layers.family
    other_node[layers.ground :] |= (before != layers.node) | (places != layers.total).any(1)
    other_chunk = (links != layers.link) | (arcs != layers.arc).any(1)
    level = np.zeros(len(other_node), int)
    level[layers.ground :] = np.maximum(before["level"], layers.node["level"])
    return [int((other_node & (level == k)).sum()) for k in range(levels.top + 1)], int(other_chunk.sum())


@pytest.mark.compiled
@pytest.mark.parametrize("cover", Cover)
@pytest.mark.parametrize("cell", [(20, 20), (21, 30), (17, 17)])
def test_what_one_closed_cell_touches_does_not_grow_with_the_map(cell, cover):
    """On both maps the same few nodes of the lower levels change, compared bit by bit, and some on each level above."""
    (small, few), (large, many) = (changed_nodes(side, cell, cover) for side in (64, 256))
    assert small[:4] == large[:4]
    assert max(large) <= 40
    assert abs(many - few) <= 40


@given(grids(9), covers, st.data())
@examples(60)
def test_the_change_log_brings_everything_back(grid, cover, data):
    """After `restore` the layers are the same as built, bit by bit, and follow the same changes as before."""
    changes = Changes(grid, cover)
    levels, built = changes.levels, Hierarchy(grid, cover).layers
    levels.layers = built.copied_into(reserve_for_changes(levels.graph, built, levels.top, log_changes=True))
    steps = data.draw(st.lists(st.lists(st.sampled_from(range(len(levels.graph))), max_size=4), max_size=6))
    for states in steps:
        changes.make(True, states, [])
    changes.check()
    ends = levels.sizes
    restore(levels.layers, built)
    for mine, theirs in zip(levels.layers[:6], built[:6], strict=True):
        assert np.array_equal(mine[: len(theirs)], theirs)
    log = levels.layers.changes
    assert log.scalars[0].item() == (0, 0)
    assert not log.node_noted.any()
    assert not log.chunk_noted.any()
    again = ChangingHierarchy(grid, cover)
    again.layers = levels.layers
    for states in steps:
        again.close(states=states)
    check(again, ground_of(changes.world, changes.states))
    assert again.sizes == ends


# --- bad arguments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"states": [16]}, "level 0 has no state 16: its states are numbered 0 to 15"),
        ({"states": [-1]}, "level 0 has no state -1"),
        ({"states": ["a"]}, "a state must be a whole number, got 'a'"),
        ({"edges": [(0, 1), (0, 15)]}, "there is no edge between 0 and 15 to close or open"),
        ({"edges": [(0, 99)]}, "level 0 has no state 99"),
    ],
)
def test_unknown_states_and_edges_are_refused_and_nothing_is_changed(change, sentence):
    grid = Grid(np.ones((4, 4), bool))
    levels = ChangingHierarchy(grid.graph)
    for call in (levels.close, levels.open):
        with pytest.raises(andante.AndanteError, match=sentence):
            call(**change)
    levels.close(states=[5])
    check(levels, ground_of(grid.graph, [5]))


def test_the_edges_of_a_grid_follow_from_its_cells():
    with pytest.raises(andante.AndanteError, match=r"ChangingHierarchy\(grid.graph\)"):
        ChangingHierarchy(Grid(np.ones((4, 4), bool))).close(edges=[(0, 1)])
