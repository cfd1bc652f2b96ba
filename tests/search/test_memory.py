"""Parts of memories: logs that drop entries instead of overflowing, bundles that count once, paths that expire."""

from typing import NamedTuple

import numpy as np

from andante.search.astar import Tree, search
from andante.search.learning import Learned
from andante.search.memory import EXPANDED, LEARNED, allocate, bytes_of, new_space, note
from andante.search.path import Path, lay, next_move, price_between
from andante.world.graph import Graph
from andante.world.grid import Grid

GRID = Grid(np.ones((4, 5), bool))


class Params(NamedTuple):
    depth: int = 2


class Memory(NamedTuple):
    h: Learned
    path: Path


def test_a_log_stores_what_fits_and_counts_the_rest():
    log = new_space(GRID.graph, Params(), 3).log
    for state in range(5):
        note(log, LEARNED if state % 2 else EXPANDED, state, state / 2)
    assert log.kind.tolist() == [EXPANDED, LEARNED, EXPANDED]
    assert log.state.tolist() == [0, 1, 2]
    assert log.value.tolist() == [0.0, 0.5, 1.0]
    assert log.scalars[0]["used"] == 5


def test_a_log_of_no_capacity_is_never_written():
    log = new_space(GRID.graph, Params()).log
    note(log, EXPANDED, 1, 1.0)
    assert log.scalars[0]["used"] == 0


def test_bundles_share_clock_and_log_and_are_counted_once():
    space = new_space(GRID.graph, Params(), 10)
    memory = allocate(Memory, space)
    assert memory.h.clock is memory.path.clock is space.clock
    assert memory.h.log is space.log
    n = len(GRID.graph)
    of_log, of_clock, of_changes = 10 * (1 + 4 + 8) + 8, 48, 4 + 4 + 16
    assert bytes_of(memory) == n * (8 + 4) + n * 4 + 16 + of_log + of_clock + of_changes
    assert bytes_of((memory, memory)) == bytes_of(memory)


def test_a_path_is_valid_in_the_trial_in_which_it_was_planned():
    space = new_space(GRID.graph, Params())
    path, tree = Path.allocate(space), Tree.allocate(space)
    space.clock[0]["trial"] = 1
    assert next_move(path, GRID.graph.arrays, 0, 19) == (-1, np.inf)
    search(tree, GRID.graph.arrays, 0, 19, 1.0)
    lay(path, tree, 19)
    state, walked = 0, [0]
    while state != 19:
        to, cost = next_move(path, GRID.graph.arrays, state, 19)
        assert cost == dict(GRID.graph.neighbours(state))[to]
        state = to
        walked.append(state)
    assert len(walked) == 5
    assert next_move(path, GRID.graph.arrays, 0, 18) == (-1, np.inf)  # for another goal
    space.clock[0]["trial"] = 2
    assert next_move(path, GRID.graph.arrays, 0, 19) == (-1, np.inf)


def test_the_price_of_a_move_is_that_of_the_cheapest_edge():
    graph = Graph.from_edges([(0, 1, 5.0), (0, 1, 2.0), (0, 2, 1.0)])
    assert price_between(graph.arrays, 0, 1) == 2.0
    assert price_between(graph.arrays, 1, 2) == np.inf
