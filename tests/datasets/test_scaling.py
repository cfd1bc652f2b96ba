"""Maps and problems that are upscaled, and downscaled again."""

import numpy as np
import pytest

from andante.datasets.generate import generate
from andante.datasets.scaling import downscale, middles, origins, upscale, upscale_problems
from andante.errors import ParameterError
from andante.world.grid import Grid


def test_a_cell_becomes_a_block():
    grid = generate("random", 20, 15, seed=1)
    large = upscale(grid, 3)
    assert large.name == f"{grid.name}-60x45"
    assert np.array_equal(large.terrain, np.kron(grid.terrain, np.ones((3, 3), np.uint8)))


@pytest.mark.parametrize("size", [(20, 15), (33, 29), (41, 100)])
def test_any_larger_size_keeps_every_cell(size):
    grid = generate("maze", 20, 15, seed=1)
    large = upscale(grid, size=size)
    assert (large.width, large.height) == size
    assert len(np.unique(large.graph.components[large.passable.ravel()])) == 1
    rows = np.unique(np.arange(size[1]) * 15 // size[1], return_index=True)[1]
    columns = np.unique(np.arange(size[0]) * 20 // size[0], return_index=True)[1]
    assert np.array_equal(large.terrain[np.ix_(rows, columns)], grid.terrain)


@pytest.mark.parametrize("factor", [1, 2, 3.2, 7])
def test_problems_grow_with_their_map(factor):
    grid = generate("maze", 21, 15, seed=1)
    problems = [grid.problem((0, 0), (20, 14)), grid.problem((4, 2), (0, 14)).with_optimal_cost(30.0)]
    large = upscale(grid, factor)
    moved = upscale_problems(problems, large)
    for before, after in zip(problems, moved, strict=True):
        assert after.grid is large
        assert after.optimal_cost is None
        assert after.reachable
        for small_state, large_state in ((before.start, after.start), (before.goal, after.goal)):
            x, y = large.cell(large_state)
            assert grid.cell(small_state) == (x * grid.width // large.width, y * grid.height // large.height)
    assert large.cell(moved[0].start) == (int(factor - 1) // 2,) * 2


def test_a_map_only_grows():
    grid = generate("empty", 20, 15)
    factors = [{"factor": factor} for factor in (0.5, float("nan"), 5000)]
    for bad in [*factors, {"size": (20, 14)}, {}, {"factor": 2, "size": (40, 30)}]:
        with pytest.raises(
            ParameterError, match=r"upscale takes either|the factor must be a number of at least 1|cannot be upscaled"
        ):
            upscale(grid, **bad)


def test_problems_of_another_map_are_refused():
    grid = generate("random", 20, 15, seed=1)
    problem = generate("random", 20, 15, seed=2, density=0.0).problem((0, 0), (19, 14))
    with pytest.raises(
        ParameterError, match=r"random-20x15-seed1-40x30 is not random-20x15-density0\.0-seed2 upscaled"
    ):
        upscale_problems([problem], upscale(grid, 2))
    with pytest.raises(ParameterError, match="is not on a grid and cannot be upscaled"):
        upscale_problems([problem.graph.problem(0, 1)], upscale(grid, 2))


# --- downscaling ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [96, 128, 160, 192, 511, 512])
def test_a_side_is_cut_into_blocks_with_the_middle_inside(side):
    blocks = [[i for i in range(512) if i * side // 512 == small] for small in range(side)]
    assert origins(side, 512).tolist() == [small for small, block in enumerate(blocks) for _ in block]
    assert middles(side, 512).tolist() == [block[(len(block) - 1) // 2] for block in blocks]


@pytest.mark.parametrize("size", [(20, 15), (21, 16), (64, 48), (71, 33), (512, 100)])
@pytest.mark.parametrize("kind", ["random", "maze"])
def test_downscaling_undoes_upscaling(kind, size):
    grid = generate(kind, 20, 15, seed=1)
    back = downscale(upscale(grid, size=size), size=(20, 15))
    assert np.array_equal(back.terrain, grid.terrain)
    assert back.name == f"{grid.name}-{size[0]}x{size[1]}-20x15"
    assert downscale(upscale(Grid(grid.terrain, rule="cardinal"), 3), size=(20, 15)).rule == "cardinal"


def test_a_problem_moves_to_where_downscaling_looks():
    grid = generate("empty", 20, 15)
    [moved] = upscale_problems([grid.problem((7, 3), (19, 14))], upscale(grid, size=(64, 33)))
    assert moved.grid.cell(moved.start) == (middles(20, 64)[7], middles(15, 33)[3])


def test_a_map_is_not_downscaled_to_more_cells_or_none():
    for size in [(21, 15), (20, 16), (0, 15)]:
        with pytest.raises(ParameterError, match="empty-20x15-seed0 has 20 x 15 cells and cannot be downscaled to"):
            downscale(generate("empty", 20, 15), size=size)
