"""Keeping the levels true: all eight properties after any change, and nothing touched that the change does not concern."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import ChangingHierarchy, Hierarchy, reserve_for_changes
from andante.abstraction.layers import restore
from andante.world.grid import RULES, Grid
from tests.abstraction.plain_levels import check, ground_of
from tests.abstraction.worlds import figure_4, ring_and_spokes, worlds
from tests.worlds import examples, grids

covers = st.sampled_from(Cover)


class Changes:
    """What is closed and opened, step by step, and what the graph should be then."""

    def __init__(self, world, cover):
        self.world, self.levels = world, ChangingHierarchy(world, cover)
        self.states, self.edges = set(), set()
        graph = self.levels.graph
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
        """Any change: to some states, to some edges, in half of the steps to what the last ones left closed."""
        closing = data.draw(st.booleans())
        states = sorted(self.states) if not closing and self.states else range(len(self.levels.graph))
        edges = sorted(self.edges) if not closing and self.edges else self.all_edges
        some = data.draw(st.lists(st.sampled_from(states), max_size=4))
        few = data.draw(st.lists(st.sampled_from(edges), max_size=4)) if edges else []
        self.make(closing, some, few)

    def check(self):
        check(self.levels, ground_of(self.world, self.states, self.edges))


@given(worlds(), covers, st.data())
@examples(150)
def test_properties_1_to_8_hold_after_every_change(world, cover, data):
    changes = Changes(world, cover)
    changes.check()
    for _ in range(data.draw(st.integers(1, 8))):
        changes.draw(data)
        changes.check()


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
    built = changes.levels.sizes
    changes.make(True, everything, [])
    changes.check()
    assert changes.levels.sizes == [0] * len(built)
    changes.make(False, everything, [])
    changes.check()
    assert (changes.levels.sizes[0], len(changes.levels.sizes)) == (built[0], len(built))
    changes.make(True, [], changes.all_edges)
    changes.check()
    assert changes.levels.sizes == [0] * len(built)


@pytest.mark.parametrize("cover", Cover)
def test_a_hub_loses_its_spokes_and_gets_them_back(cover):
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
    grid = andante.generate(kind, 40, 40, seed=6)
    changes, chance = Changes(grid, cover), np.random.default_rng(1)
    for closing in (True, True, False, True, False):
        changes.make(closing, chance.choice(1600, 60, replace=False).tolist(), [])
        changes.check()


def test_a_second_closing_changes_nothing():
    grid = Grid(np.ones((8, 8), bool))
    levels = ChangingHierarchy(grid)
    assert levels.close(states=[27]) > 0
    before = [(levels.regions(level).tolist(), levels.counts(level)) for level in range(1, levels.top + 1)]
    assert levels.close(states=[27]) == 0
    assert before == [(levels.regions(level).tolist(), levels.counts(level)) for level in range(1, levels.top + 1)]


def test_the_graph_it_began_with_stays_as_it_was():
    grid = andante.generate("random", 12, 12, seed=3)
    fingerprint, before = grid.graph.fingerprint, Hierarchy(grid).sizes
    ChangingHierarchy(grid).close(states=range(40))
    assert (grid.graph.fingerprint, Hierarchy(grid).sizes) == (fingerprint, before)


# --- the paper's example --------------------------------------------------------------------------------------------


def test_the_worked_example_of_section_4_2():
    """Without the edge between s4 and s6, s6 joins the clique of s7 and s8, and s'3 and s'4 become one."""
    state, grid = figure_4()
    levels = ChangingHierarchy(grid, Cover.LITERAL)
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


# --- nothing else ---------------------------------------------------------------------------------------------------


def changed_nodes(side, cell, cover):
    """How many nodes of each level are other than they were, in any way, after one cell of a map was closed."""
    grid = Grid(np.ones((side, side), bool))
    levels = ChangingHierarchy(grid, cover)
    before, places = levels.layers.node.copy(), levels.layers.total.copy()
    links, arcs = levels.layers.link.copy(), levels.layers.arc.copy()
    levels.close(states=[grid.state(*cell)])
    layers = levels.layers
    other_node = (before != layers.node) | (places != layers.total).any(1)
    other_chunk = (links != layers.link) | (arcs != layers.arc).any(1)
    level = np.maximum(before["level"], layers.node["level"])
    return [int((other_node & (level == k)).sum()) for k in range(levels.top + 1)], int(other_chunk.sum())


@pytest.mark.compiled
@pytest.mark.parametrize("cover", Cover)
@pytest.mark.parametrize("cell", [(20, 20), (21, 30), (17, 17)])
def test_what_one_closed_cell_touches_does_not_grow_with_the_map(cell, cover):
    """Bit by bit: the same few nodes of the lower levels on both maps, and a handful on each level above."""
    (small, few), (large, many) = (changed_nodes(side, cell, cover) for side in (64, 256))
    assert small[:4] == large[:4]
    assert max(large) <= 40
    assert abs(many - few) <= 40


@given(grids(9), covers, st.data())
@examples(60)
def test_a_journal_brings_everything_back(grid, cover, data):
    """After `restore` the layers are, bit by bit, as built, and follow the same changes in the same way again."""
    changes = Changes(grid, cover)
    levels, built = changes.levels, Hierarchy(grid, cover).layers
    levels.layers = built.copied_into(reserve_for_changes(levels.graph, levels.top, built.metric, journal=True))
    steps = data.draw(st.lists(st.lists(st.sampled_from(range(len(levels.graph))), max_size=4), max_size=6))
    for states in steps:
        changes.make(True, states, [])
    changes.check()
    ends = levels.sizes
    restore(levels.layers, built)
    for mine, theirs in zip(levels.layers[:5], built[:5], strict=True):
        assert np.array_equal(mine[: len(theirs)], theirs)
    assert levels.layers.journal.used.tolist() == [0, 0]
    assert not levels.layers.journal.noted.any()
    again = ChangingHierarchy(grid, cover)
    again.layers = levels.layers
    for states in steps:
        again.close(states=states)
    check(again, ground_of(grid, changes.states))
    assert again.sizes == ends


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"states": [16]}, "level 0 has no state 16: its states are numbered 0 to 15"),
        ({"states": [-1]}, "level 0 has no state -1"),
        ({"states": ["a"]}, "a state is a whole number, got 'a'"),
        ({"edges": [(0, 1), (0, 15)]}, "there is no edge between 0 and 15 that could be closed or opened"),
        ({"edges": [(0, 99)]}, "level 0 has no state 99"),
    ],
)
def test_unknown_states_and_edges_are_refused_and_nothing_is_changed(change, sentence):
    grid = Grid(np.ones((4, 4), bool))
    levels = ChangingHierarchy(grid)
    for call in (levels.close, levels.open):
        with pytest.raises(andante.AndanteError, match=sentence):
            call(**change)
    levels.close(states=[5])
    check(levels, ground_of(grid, [5]))
