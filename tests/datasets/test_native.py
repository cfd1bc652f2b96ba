"""WarCraft III's maps at their native size."""

import numpy as np
import pytest

from andante.datasets import movingai as sets
from andante.datasets.generate import generate
from andante.datasets.named import map_named
from andante.datasets.native import SIDES, native
from andante.datasets.scaling import middles, upscale
from andante.errors import DatasetError
from andante.world.grid import Grid

NOT_SQUARE = {
    "bloodvenomfalls": (192, 128),
    "bootybay": (192, 96),
    "heart2heart": (160, 96),
    "moonglade": (96, 128),
    "petrifiedforest": (192, 160),
    "plunderisle": (96, 128),
}


@pytest.fixture(scope="module")
def both(movingai):
    """Return every map of the set, published and native."""
    return {
        name: (sets.load_map("wc3maps512", name, source=movingai), sets.load_map("wc3native", name, source=movingai))
        for name in sets.map_names("wc3native", source=movingai)
    }


def agreement(grid, small):
    """Return the share of cells that are equally passable on ``grid`` and on ``small`` enlarged to its size."""
    return (upscale(small, size=(grid.width, grid.height)).passable == grid.passable).mean()


# --- without the archives -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(side, side) for side in SIDES] + [(96, 192), (160, 128)])
def test_an_enlarged_map_is_recovered(size):
    grid = generate("random", *size, seed=1, density=0.3)
    large = upscale(grid, size=(512, 512))
    back = native(Grid(large.terrain, name="enlarged", rule="corners"))
    assert np.array_equal(back.terrain, grid.terrain)
    assert (back.name, back.rule) == ("enlarged", "corners")
    assert agreement(large, back) == 1.0


def test_thin_walls_do_not_hide_the_size():
    grid = generate("caves", 96, 96, seed=2)
    large = upscale(grid, size=(512, 512))
    walled = large.passable.copy()
    for place in np.random.default_rng(1).integers(96, size=(300, 2)):
        x, y = (int(np.flatnonzero(np.arange(512) * 96 // 512 == k)[-1]) for k in place)  # the last of its block
        walled[y, x - 4 : x + 1] = False
    back = native(Grid(walled))
    assert np.array_equal(back.passable, grid.passable)
    assert agreement(Grid(walled), back) == 1 - (walled != large.passable).mean()


# --- the published maps ---------------------------------------------------------------------------------------------


def test_native_maps_have_the_papers_state_counts(both):
    """Bulitko et al. (2007) have maps of 7629, 9749 and 18841 states."""
    names = ("thecrucible", "darkforest", "divideandconquer")
    grids = [both[name][1] for name in names]
    assert [grid.free_cells for grid in grids] == [7629, 9749, 18840]
    assert [(grid.width, grid.height) for grid in grids] == [(160, 160), (160, 160), (192, 192)]
    assert [grid.name for grid in grids] == list(names)
    assert map_named("wc3native/darkforest").fingerprint == grids[1].fingerprint


def test_native_maps_enlarged_again_are_the_published_ones(both):
    shares = {name: agreement(*grids) for name, grids in both.items()}
    assert len(shares) == 36
    assert sum(share == 1.0 for share in shares.values()) == 15
    assert sorted(name for name, share in shares.items() if share < 0.994) == ["drywatergulch", "swampofsorrows"]
    assert min(shares.values()) > 0.99


def test_where_they_differ_the_published_maps_have_walls_at_the_edges_of_blocks(both):
    walls = openings = inner = 0
    for published, small in both.values():
        again = upscale(small, size=(512, 512)).passable
        wall = again & ~published.passable
        walls += int(wall.sum())
        openings += int((~again & published.passable).sum())
        last = [np.diff(np.arange(513) * side // 512) > 0 for side in (small.height, small.width)]
        inner += int((wall & ~(last[0][:, None] | last[1][None, :])).sum())
    assert walls > 16_000
    assert openings < 0.01 * walls
    assert inner < 0.01 * walls


def test_each_native_side_is_one_of_four_and_six_maps_are_not_square(both):
    sizes = {name: (small.width, small.height) for name, (_, small) in both.items()}
    assert {side for size in sizes.values() for side in size} == set(SIDES)
    assert {name: size for name, size in sizes.items() if size[0] != size[1]} == NOT_SQUARE


def test_the_published_maps_were_not_enlarged_by_the_middles_of_new_cells(both):
    for name, (published, small) in both.items():
        rows, columns = ((2 * np.arange(512) + 1) * side // 1024 for side in (small.height, small.width))
        other = float((small.passable[np.ix_(rows, columns)] == published.passable).mean())
        same = {small.width, small.height} == {128}  # four cells for one, where both rules agree
        assert (other == agreement(published, small)) if same else (other < agreement(published, small)), name


def test_sampling_at_the_middles_of_native_cells_gives_almost_the_same(both):
    """The other plausible rule, floor((i + 0.5) * 512 / n), differs in one cell of each of two maps."""
    differing = {}
    for name, (published, small) in both.items():
        rows, columns = ((2 * np.arange(side) + 1) * 512 // (2 * side) for side in (small.height, small.width))
        other = published.passable[np.ix_(rows, columns)]
        if (count := int((other != small.passable).sum())) > 0:
            differing[name] = count
    assert differing == {"harvestmoon": 1, "swampofsorrows": 1}
    assert middles(160, 512)[:3].tolist() == [1, 5, 8]


def test_no_scenarios_are_published_for_native_maps(movingai):
    with pytest.raises(
        DatasetError, match="the set wc3native has no scenarios; draw problems on its maps with random_problems"
    ):
        sets.problems("wc3native/darkforest", source=movingai)
