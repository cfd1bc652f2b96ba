"""Sensing: an agent's model of a map equals a plain record of the cells that it has seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.errors import ParameterError
from andante.kernel import interpreted
from andante.world.changes import RECENT
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.layout import DIRECTION
from andante.world.living import World
from andante.world.sensing import KNOWN, doubt, forget, is_cut_off, last_found, model, sense, unknown
from tests import naive
from tests.worlds import RULES, examples, grids


class Record:
    """The cells that an agent has seen, as in section 3 of Bulitko et al. (2007): all are free until seen blocked."""

    def __init__(self, grid: Grid, radius: int) -> None:
        self.grid, self.radius = grid, radius
        self.free = np.ones((grid.height, grid.width), bool)

    def look(self, state: int) -> set[int]:
        """Look around, and return the cells that are newly found blocked."""
        x, y = self.grid.cell(state)
        found = set()
        for v in range(self.grid.height):
            for u in range(self.grid.width):
                seen = abs(u - x) <= self.radius and abs(v - y) <= self.radius
                if seen and not self.grid.passable[v, u] and self.free[v, u]:
                    self.free[v, u] = False
                    found.add(self.grid.state(u, v))
        return found

    def moves(self, state: int) -> list[int]:
        """Return the cells that can be reached from a cell in one move, as far as is known."""
        cells = naive.legal_moves(self.free, *self.grid.cell(state), self.grid.rule)
        return [self.grid.state(*cell) for cell, _ in cells]


def moves_of(belief, state: int) -> list[int]:
    graph = belief.cells.graph
    mask = graph.mask[state]
    return [state + int(graph.offset[DIRECTION[mask, k]]) for k in range(int(mask).bit_count())]


@given(grids(9, RULES), st.integers(1, 10), st.lists(st.lists(st.integers(0, 80), max_size=6), min_size=1, max_size=3))
@examples(80)
def test_the_model_equals_a_plain_record(grid, radius, problems):
    """This holds for any places, and for any number of times that the model was cleared in between."""
    graph, belief = unknown(grid, radius)
    for visits in problems:
        forget(belief)
        record = Record(grid, radius)
        for visit in visits:
            state = visit % len(graph)
            new = record.look(state)
            assert sense(belief, state) == len(new)
            assert set(last_found(belief, len(new))) == new
            assert [moves_of(belief, s) for s in range(len(graph))] == [record.moves(s) for s in range(len(graph))]
    forget(belief)
    assert np.array_equal(belief.cells.mask, graph.arrays.mask)
    assert belief.cells.passable.all()


@given(
    grids(9, RULES),
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(0, 80), st.lists(st.integers(0, 80), max_size=5)), max_size=20),
)
@examples(80)
def test_on_a_map_that_changes_the_agent_believes_what_it_saw_last(grid, radius, visits):
    """Cells that close or open change in the model when they are in sight, and no earlier."""
    world = World(grid)
    graph, belief = unknown(world, radius)
    believed = np.ones(grid.passable.shape, bool)
    for visit, flipped in visits:
        for state in flipped:
            x, y = grid.cell(state % len(graph))
            (world.close if world.passable[y, x] else world.open)((x, y))
        x, y = grid.cell(visit % len(graph))
        near = (slice(max(y - radius, 0), y + radius + 1), slice(max(x - radius, 0), x + radius + 1))
        new = np.zeros_like(believed)
        new[near] = believed[near] != world.passable[near]
        assert sense(belief, visit % len(graph)) == np.count_nonzero(new)
        assert set(last_found(belief, np.count_nonzero(new))) == set(np.flatnonzero(new).tolist())
        believed[near] = world.passable[near]
        assert np.array_equal(belief.cells.mask, Grid(believed, rule=grid.rule).graph.arrays.mask)
    forget(belief)
    assert np.array_equal(belief.cells.mask, graph.arrays.mask)


def test_after_very_many_changes_the_whole_square_is_looked_at():
    world = World(Grid(np.ones((9, 9), bool)))
    _, belief = unknown(world, 2)
    sense(belief, 40)
    for _ in range(RECENT):
        world.close((4, 3))
        world.open((4, 3))
    world.close([(4, 3), (0, 0), (6, 6)])
    assert sense(belief, 40) == 2
    assert last_found(belief, 2) == [31, 60]


def test_an_agent_doubts_only_walls_that_may_have_opened():
    world = World(Grid([list(".@."), list(".@."), list(".@.")]))
    _, belief = unknown(world, 1)
    sense(belief, 0)
    sense(belief, 6)
    assert is_cut_off(belief, 6, 2)
    assert not doubt(belief)
    world.open((1, 0))
    assert is_cut_off(belief, 6, 2)  # it has not seen that
    assert doubt(belief)
    assert not is_cut_off(belief, 6, 2)
    assert not doubt(belief)
    sense(belief, 6)
    sense(belief, 0)
    assert not is_cut_off(belief, 0, 2)


@pytest.mark.parametrize("rule", RULES)
def test_when_all_is_seen_the_model_is_the_map(rule):
    grid = Grid(andante.generate("random", 30, 20, seed=1).passable, rule=rule)
    graph, belief = unknown(grid, 30)
    assert sense(belief, 0) == np.count_nonzero(~grid.passable)
    assert np.array_equal(belief.cells.graph.mask, grid.graph.arrays.mask)
    assert graph.fingerprint == Grid(np.ones((20, 30), bool), rule=rule).graph.fingerprint


def test_the_model_is_read_only_for_agents():
    _, belief = unknown(Grid(np.ones((3, 3), bool)), 1)
    with pytest.raises(ValueError, match="read-only"):
        belief.cells.graph.mask[0] = 0


def test_a_state_is_cut_off_when_it_has_no_move_left():
    _, belief = unknown(Grid([list("..@."), list("..@@"), list("....")]), 1)
    assert not is_cut_off(belief, 0, 3)
    sense(belief, 1)
    assert not is_cut_off(belief, 0, 3)
    sense(belief, 10)
    assert is_cut_off(belief, 0, 3)
    assert is_cut_off(belief, 2, 0)
    forget(belief)
    assert not is_cut_off(belief, 2, 3)


def test_an_agent_that_knows_the_map_senses_and_forgets_nothing():
    arrays = Graph.from_edges([(0, 1, 1.0)]).arrays
    assert model(KNOWN, arrays) is arrays
    assert sense(KNOWN, 0) == 0
    assert not is_cut_off(KNOWN, 0, 1)
    assert not doubt(KNOWN)
    forget(KNOWN)


@pytest.mark.parametrize("sight", [0, -1, 1.5, "far", None])
def test_sight_is_a_number_of_cells(sight):
    with pytest.raises(ParameterError, match="sight, counted in cells, must be a whole number of at least 1, got"):
        unknown(Grid(np.ones((3, 3), bool)), sight)


class _Counting(np.ndarray):
    """An array that counts how many of its elements were read or written."""

    accesses = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        _Counting.accesses += np.size(found)
        return found

    def __setitem__(self, place, value):
        _Counting.accesses += np.size(super().__getitem__(place))
        super().__setitem__(place, value)


def _counting(bundle):
    if isinstance(bundle, np.ndarray):
        return bundle.view(_Counting)
    return type(bundle)(*map(_counting, bundle)) if isinstance(bundle, tuple) else bundle


def test_sensing_and_forgetting_are_no_more_work_on_a_larger_map():
    look, lose = interpreted(sense, {}), interpreted(forget, {})
    counts = []
    for side in (16, 128):
        passable = np.ones((side, side), bool)
        passable[6, 4:9] = False
        _, belief = unknown(Grid(passable), 3)
        seen = _counting(belief)
        _Counting.accesses = 0
        found = look(seen, 7 * side + 6)
        lose(seen)
        counts.append((found, _Counting.accesses))
    assert counts[0] == counts[1]
    assert counts[0][0] == 5
