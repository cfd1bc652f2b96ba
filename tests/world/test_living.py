"""Maps that change: everything derived from them equals that of a new grid."""

import os
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.agent import UNREACHABLE
from andante.errors import MapError, ProblemError
from andante.selection.advise import at_rest
from andante.world import parts as parts_module
from andante.world.changes import RECENT
from andante.world.grid import RULES, Grid
from andante.world.living import World
from tests.worlds import examples

SIDE = 7
CELLS = st.lists(st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1)), max_size=4)
CHANGES = st.lists(st.tuples(st.booleans(), CELLS, st.integers(0, 60)), max_size=30)


def drawn(seed, share=0.3):
    return np.random.default_rng(seed).random((SIDE, SIDE)) >= share


def connected(grid):
    """Return which pairs of different cells a path joins, according to the grid itself."""
    label = grid.graph.components
    free = grid.passable.ravel()
    return (label[:, None] == label[None, :]) & free[:, None] & free[None, :]


@examples(60)
@given(st.integers(0, 1000), st.sampled_from(RULES), CHANGES)
def test_a_world_equals_a_grid_of_its_current_version(seed, rule, changes):
    world = World(Grid(drawn(seed), rule=rule))
    for opened, cells, tended in changes:
        (world.open if opened else world.close)(cells)
        world.tend(tended)
        new = world.frozen()
        assert np.array_equal(world.graph.arrays.mask, new.graph.arrays.mask)
        assert np.array_equal(world.passable, new.passable)
        assert world.free_cells == new.free_cells
        _never_apart_though_connected(world, new)
    world.settle()
    apart = _all_pairs_apart(world)
    truth = connected(world.frozen())
    np.fill_diagonal(truth, True)
    assert np.array_equal(~apart, truth | np.eye(SIDE * SIDE, dtype=bool))


def _all_pairs_apart(world):
    a, b = np.meshgrid(np.arange(SIDE * SIDE), np.arange(SIDE * SIDE), indexing="ij")
    return world.graph.apart(a.ravel(), b.ravel()).reshape(a.shape)


def _never_apart_though_connected(world, new):
    assert not (_all_pairs_apart(world) & connected(new) & ~np.eye(SIDE * SIDE, dtype=bool)).any()


def test_fingerprint_components_and_problems_are_of_the_current_version():
    world = World(andante.generate("empty", 5, 5))
    before = world.fingerprint
    world.close([(2, y) for y in range(5)])
    assert world.fingerprint == world.frozen().fingerprint != before
    assert not world.problem((0, 0), (4, 4)).reachable
    assert world.graph.arcs == world.frozen().graph.arcs
    with pytest.raises(ProblemError, match="blocked"):
        world.problem((0, 0), (2, 2))
    world.open((2, 2))
    assert world.problem((0, 0), (4, 4)).reachable
    assert world.version == 6


def changed():
    """Return a world that has changed, and its current version."""
    world = World(andante.generate("rooms", 24, 24, seed=1))
    world.close([(10, 10), (5, 5), (6, 6)])
    world.open((12, 12))
    return world, world.frozen()


def test_functions_of_grids_accept_the_current_version_of_a_world(tmp_path):
    world, grid = changed()
    drawn = andante.random_problems(world, 5, seed=1)
    same = andante.random_problems(grid, 5, seed=1)
    assert [(p.start, p.goal) for p in drawn] == [(p.start, p.goal) for p in same]
    costs = [[p.optimal_cost for p in andante.with_optimal_costs(some)] for some in (drawn, same)]
    assert costs[0] == costs[1]
    assert andante.Hierarchy(world).sizes == andante.Hierarchy(grid).sizes
    assert andante.upscale(world, 2) == andante.upscale(grid, 2)
    assert andante.with_landmarks(world.graph, 2) == andante.with_landmarks(grid.graph, 2)
    andante.write_map(world, tmp_path / "a.map")
    assert andante.read_map(tmp_path / "a.map") == grid
    for one, other in ((world.graph, grid.graph), (world.graph.csr(), grid.graph.csr())):
        assert (one.arcs, one.fingerprint, one.neighbours(30)) == (other.arcs, other.fingerprint, other.neighbours(30))
    assert (world.graph.to_scipy() != grid.graph.to_scipy()).nnz == 0
    assert world.graph.scaled(2.0) == grid.graph.scaled(2.0)
    assert world.graph.with_points(world.graph.points, "octile") == grid.graph.with_points(grid.graph.points, "octile")
    (mine,) = at_rest(world)
    assert mine == grid
    assert not isinstance(mine, World)


@pytest.mark.parametrize("sight", [None, 2])
def test_runs_on_a_world_are_on_its_current_version(sight):
    world, grid = changed()
    problem = andante.random_problems(world, 1, seed=1)[0]
    for _ in range(2):
        twin = grid.problem(grid.cell(problem.start), grid.cell(problem.goal))
        trials = [andante.run("lrta", one, sight=sight) for one in (problem, twin)]
        assert np.array_equal(trials[0].path, trials[1].path)
        assert trials[0].cells_discovered == trials[1].cells_discovered
        assert trials[0].suboptimality_ratio == trials[1].suboptimality_ratio
        assert len(list(andante.watch("lrta", problem, sight=sight))) == trials[0].moves
        assert len(andante.record("lrta", problem, sight=sight).moves) == trials[0].moves
        assert andante.converge("lrta", problem, sight=sight).converged
        world.close(world.cell(int(trials[0].path[trials[0].moves // 2])))
        grid = world.frozen()


def test_the_graph_of_a_world_is_its_map():
    """An agent made for the graph alone does not rely on components computed when it was made."""
    world = World(Grid([list("...@...")]))
    agent, crowd = andante.Agent("lrta", world.graph), andante.Crowd("lrta", world.graph)
    assert agent.move(0, 6).to == UNREACHABLE
    world.open((3, 0))
    assert agent.move(0, 6).to == 1
    ids = crowd.add((0, 0), (6, 0))
    assert crowd.tick().moved == len(ids)


@pytest.mark.parametrize("rule", RULES)
def test_whether_corners_can_be_cut_follows_from_the_rule(rule):
    world = World(Grid(np.ones((5, 5), bool), rule=rule))
    for cell in ((2, 2), (1, 1), (3, 2)):
        world.close(cell)
        assert world.graph.forbids_corner_cutting == (rule == "octile")
        assert world.graph.forbids_corner_cutting == world.frozen().graph.forbids_corner_cutting
        assert np.array_equal(world.graph.arrays.mask, world.frozen().graph.arrays.mask)
    beside = {near for near, _ in world.graph.neighbours(world.state(2, 1))}
    assert (world.state(1, 2) in beside) == (rule == "corners")  # between (1, 1) and (2, 2), both closed


def test_closing_a_closed_cell_changes_nothing():
    world = World(andante.generate("empty", 5, 5))
    assert world.close([(1, 1), (1, 1)]) == 1
    assert (world.close((1, 1)), world.open((0, 0)), world.open([])) == (0, 0, 0)
    assert world.version == 1


def test_compiling_calls_all_followers_with_no_work():
    world, calls = World(Grid(["...", "..."])), []

    class Recorder:
        def take_note(self):
            calls.append("take note")

        def repair(self, most):
            calls.append(most)
            return 0

    world.follow("recorder", lambda world: Recorder())
    world.compile()
    assert calls == ["take note", 0]
    world.tend()
    assert calls[2] > 0  # it still has to catch up


def test_a_closed_door_is_known_after_bounded_work():
    grid = np.ones((64, 65), bool)
    grid[:, 32] = False
    grid[10, 32] = True
    world = World(Grid(grid))
    assert world.tend() == 0
    world.close((32, 10))
    here, there = world.state(0, 0), world.state(64, 0)
    looks = 0
    while not world.graph.apart([here], [there])[0]:
        assert world.tend(500) <= 500
        looks += 1
    assert looks <= 2 * (2 * 64 * 65 // 500 + 1)
    assert world.tend() == 0


@pytest.mark.parametrize("rule", RULES)
def test_a_cell_in_any_surroundings_opens_and_closes_as_on_a_new_grid(rule):
    """Components are labelled again only if the cells that it had moves to are no longer connected."""
    world = World(Grid(np.ones((3, 3), bool), rule=rule))
    around = [(x, y) for y in range(3) for x in range(3) if (x, y) != (1, 1)]
    for walls in range(256):
        for k, cell in enumerate(around):
            (world.close if walls >> k & 1 else world.open)(cell)
        world.settle()
        assert np.array_equal(world.graph.arrays.mask, world.frozen().graph.arrays.mask)
        joined = [near for near, _ in world.graph.neighbours(world.state(1, 1))]
        world.close((1, 1))
        parts = world.frozen().graph.components[joined]
        assert np.array_equal(world.graph.arrays.mask, world.frozen().graph.arrays.mask)
        assert bool(world.parts.scalars["divided"][0]) == (len(set(parts.tolist())) > 1)
        world.open((1, 1))
        assert np.array_equal(world.graph.arrays.mask, world.frozen().graph.arrays.mask)


def test_a_wall_in_the_open_divides_nothing():
    world = World(andante.generate("empty", 9, 9))
    world.close([(4, 4), (4, 5), (2, 2)])
    assert world.tend() == 0


def test_the_log_contains_the_last_changes():
    world = World(andante.generate("empty", 9, 9))
    for _ in range(RECENT):
        world.close((3, 3))
        world.open((3, 3))
    scalars = world.changes.scalars[0]
    assert (int(scalars["total"]), int(scalars["opened"])) == (2 * RECENT, RECENT)
    cell = world.state(3, 3)
    assert set(world.changes.cell.tolist()) == {cell, ~cell}


@pytest.mark.parametrize("cells", [(9, 0), [(0, 0), (-1, 2)], "here", [(1, 2, 3)], (1.5, 2), [[1, 2], [3]]])
def test_bad_cells_are_refused_and_nothing_changes(cells):
    world = World(andante.generate("empty", 9, 9))
    for change in (world.close, world.open):
        with pytest.raises(ProblemError):
            change(cells)
    assert world.version == 0


@pytest.mark.compiled
@pytest.mark.skipif(os.name == "nt", reason="Windows has no interval timer")
def test_an_interrupted_change_is_whole_or_not_at_all():
    def interrupt(*_):
        raise KeyboardInterrupt

    world, rng = World(Grid(drawn(1))), np.random.default_rng(2)
    cells = [(x, y) for x in range(SIDE) for y in range(SIDE)] * 20
    world.close(cells)
    before, interrupted = signal.signal(signal.SIGALRM, interrupt), 0
    try:
        while interrupted < 20:
            versions = world.version, SIDE * SIDE + world.version
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 2e-4))
                (world.close if world.passable.all() else world.open)(cells)
                world.tend(50)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            assert world.version in versions
            assert world.passable.all() or not world.passable.any()
            assert np.array_equal(world.graph.arrays.mask, world.frozen().graph.arrays.mask)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    world.settle()
    assert connected(world.frozen()).any() == world.passable.all()


def test_a_world_cannot_be_copied_and_is_made_only_of_a_grid():
    import copy

    with pytest.raises(MapError, match="made of a Grid"):
        World("here")
    with pytest.raises(MapError, match=r"world\.frozen"):
        copy.copy(World(andante.generate("empty", 5, 5)))


def test_reopened_terrain_looks_as_before():
    grid = Grid([list(".S@"), list("GTW")])
    world = World(grid)
    everywhere = [(x, y) for x in range(3) for y in range(2)]
    world.close(everywhere)
    world.open([(0, 0), (1, 0), (0, 1)])
    assert world.frozen() == grid
    world.open(everywhere)
    assert World(world).fingerprint == world.fingerprint != grid.fingerprint


def test_cells_opened_during_a_sweep_are_joined():
    world = World(Grid([list("......."), list("@@@@@@@"), list("@@@..@@")]))
    world.close((3, 0))
    world.tend(1)  # a sweep has begun
    world.open((2, 2))
    world.open((5, 2))
    world.settle()
    assert not world.graph.apart([world.state(2, 2)], [world.state(5, 2)])[0]


def test_labels_start_from_the_first_again_when_they_run_out():
    world = World(Grid(drawn(3)))
    parts, n = world.parts, SIDE * SIDE
    shift = parts_module.LAST_LABEL - 3 * n
    for which in range(2):
        labelled = parts.label[which] >= 0
        parts.label[which][labelled] += shift
        parts.parent[which] += shift
        parts.sets["base"][which] += shift
        parts.sets["next"][which] += shift
    for _ in range(4 * n):
        parts.scalars["divided"] = True
        world.settle()
        truth = connected(world.frozen()) | np.eye(n, dtype=bool)
    assert np.array_equal(~_all_pairs_apart(world), truth)
    assert parts.sets["next"].max() < shift
