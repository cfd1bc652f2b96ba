"""Generated maps: the same on every machine, as described, and usable for problems."""

import numpy as np
import pytest

from andante.datasets.generate import generate, kinds
from andante.datasets.outdoor import SYMMETRIES
from andante.errors import AndanteError
from andante.world.grid import Grid

KINDS = ("empty", "random", "rooms", "maze", "caves", "outdoor", "countryside")


def share_of_main_region(grid):
    label = grid.graph.components.reshape(grid.passable.shape)[grid.passable]
    return np.bincount(label).max() / grid.free_cells


def doors_needed(grid):
    """Return how many more cardinal moves a tree of as many cells would have: 0 for a maze of narrow corridors."""
    free = grid.passable
    edges = (free[1:] & free[:-1]).sum() + (free[:, 1:] & free[:, :-1]).sum()
    return int(grid.free_cells - 1 - edges)


# These maps are in reports and demos. If a fingerprint changes, results that others have measured change too.
GOLDEN = {
    ("empty", ()): "1a9804b4043346ef37658eaaa98fda79",
    ("random", (("density", 0.35),)): "f50bab7f9e84bd811f082ad33998cedf",
    ("rooms", (("size", 7),)): "8e2d709837b9d1122341ac328a4939c7",
    ("maze", (("corridor", 2), ("loops", 0.1))): "32c5362a51d4306bbeadfeb24b3cdcd8",
    ("caves", ()): "6e075cf751064ee1dff6b23fc81cdb53",
    ("caves", (("scale", 1),)): "952e0fbf70159a5b0d4729f6f8c7b95a",
    ("outdoor", ()): "429d2082cc69a8d81d7db44912b6f4ed",
    ("countryside", ()): "d4566a0c057b853d25338a4f9636dad0",
    ("outdoor", (("bases", 4), ("symmetry", "quarters"))): "696ab8b271ae5010b5a7405b10f30635",
}


@pytest.mark.parametrize(("kind", "options"), GOLDEN)
def test_a_seed_makes_the_same_map_on_every_machine(kind, options):
    grid = generate(kind, 96, 80, seed=7, **dict(options))
    assert (grid.width, grid.height) == (96, 80)
    assert grid.fingerprint == GOLDEN[kind, options]


@pytest.mark.parametrize("kind", KINDS[1:])
def test_another_seed_makes_another_map(kind):
    assert generate(kind, 80, 80, seed=1).fingerprint != generate(kind, 80, 80, seed=2).fingerprint


def test_a_name_contains_the_options_of_the_map():
    assert generate("maze", 40, 30, seed=5, loops=0.5, corridor=2).name == "maze-40x30-corridor2-loops0.5-seed5"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["rooms", "maze", "caves", "outdoor", "countryside"])
def test_all_free_cells_are_one_region(kind, seed):
    grid = generate(kind, 90, 70, seed=seed)
    assert share_of_main_region(grid) == 1.0
    assert grid.free_cells > 0.3 * 90 * 70


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 9), (9, 1), (2, 2), (5, 33), (17, 16)])
def test_small_maps_are_made_too(width, height):
    for kind in ("empty", "random", "rooms", "maze"):
        assert generate(kind, width, height, seed=3).terrain.shape == (height, width)


def test_empty_maps_are_empty():
    assert generate("empty", 12, 7).free_cells == 84


@pytest.mark.parametrize("density", [0.0, 0.1, 0.4])
def test_random_obstacles_have_the_given_density(density):
    grid = generate("random", 200, 200, seed=4, density=density)
    assert 1 - grid.passable.mean() == pytest.approx(density, abs=0.01)


@pytest.mark.compiled
def test_most_of_a_dense_random_map_is_connected():
    assert share_of_main_region(generate("random", 512, 512, seed=1, density=0.35)) > 0.9


@pytest.mark.parametrize("corridor", [1, 3])
def test_a_maze_without_loops_is_a_tree(corridor):
    grid = generate("maze", 63, 63, seed=2, corridor=corridor)
    pitch = corridor + 1
    chambers = Grid(grid.passable[::pitch, ::pitch])
    assert chambers.free_cells == chambers.width * chambers.height
    walls_east = grid.passable[::pitch, corridor::pitch]
    walls_south = grid.passable[corridor::pitch, ::pitch]
    assert walls_east.sum() + walls_south.sum() == chambers.free_cells - 1
    if corridor == 1:
        assert doors_needed(grid) == 0


def test_loops_open_a_maze():
    assert doors_needed(generate("maze", 63, 63, seed=2, loops=0.3)) < 0
    every = generate("maze", 63, 63, seed=2, loops=1.0)
    assert every.free_cells == 63 * 63 - 31 * 31


def test_doors_of_rooms_have_the_given_width():
    grid = generate("rooms", 84, 84, seed=6, size=20, door_width=4, door_share=1.0)
    walls = [grid.passable[first : first + 20, 20] for first in (0, 21, 42, 63)]
    assert [int(wall.sum()) for wall in walls] == [4, 4, 4, 4]
    assert [int(np.ptp(np.flatnonzero(wall))) for wall in walls] == [3, 3, 3, 3]


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_outdoor_maps_are_symmetric(symmetry):
    terrain = generate("outdoor", 150, 110, seed=3, symmetry=symmetry, bases=4).terrain
    for rows, columns in SYMMETRIES[symmetry]:
        assert np.array_equal(terrain[::rows, ::columns], terrain)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(6))
def test_outdoor_maps_are_like_those_of_games(seed):
    grid = generate("outdoor", 512, 512, seed=seed)
    assert share_of_main_region(grid) == 1.0
    assert 0.4 < grid.passable.mean() < 0.75  # WarCraft III has 0.30 to 0.51, StarCraft 0.35 to 0.77
    shares = {character: (grid.terrain == ord(character)).mean() for character in "TW@S"}
    assert 0.1 < shares["T"] < 0.45
    assert 0.01 < shares["@"] < 0.15
    assert 0.02 < shares["W"] < 0.15
    assert 0.0 < shares["S"] < 0.1


def test_outdoor_maps_without_water_or_woods():
    grid = generate("outdoor", 128, 128, seed=1, water=0.0, woods=0.0)
    assert not (grid.terrain == ord("W")).any()
    assert share_of_main_region(grid) == 1.0


def test_a_countryside_has_the_given_shares_and_costs():
    grid = generate("countryside", 200, 160, seed=3, water=0.1, swamp=0.2, woods=0.0, swamp_cost=4.0, grass_cost=1.25)
    shares = {character: (grid.terrain == ord(character)).mean() for character in "WS"}
    assert shares == pytest.approx({"W": 0.1, "S": 0.2}, abs=0.02)
    for character, cost in ((".", 1.0), ("G", 1.25), ("S", 4.0)):
        assert (grid.weights[grid.terrain == ord(character)] == cost).all()
    assert (generate("countryside", 40, 30, costs={"S": 9}).weights.max(), generate("rooms", 9, 9).weights) == (9, None)


# --- options --------------------------------------------------------------------------------------------------------


def test_the_kinds_list_their_options():
    assert tuple(kinds()) == KINDS
    assert kinds()["random"] == {"density": 0.2}
    assert kinds()["empty"] == {}


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("cave", 64, 64), {}, "there is no kind of map 'cave'; did you mean 'caves'?"),
        (("random", 64, 64), {"densty": 0.1}, "random has no option 'densty'; did you mean 'density'?"),
        (("rooms", 64, 64), {"sed": 3}, "rooms has no option 'sed'; did you mean 'seed'?"),
        (("empty", 64, 64), {"density": 0.1}, "empty has no option 'density'; it has no options"),
        (("random", 64, 64), {"density": 0.7}, "random: density must be a number from 0 to 0.4, not 0.7"),
        (("random", 64, 64), {"density": float("nan")}, "random: density must be"),
        (("random", 64, 64), {"density": "high"}, "random: density must be a number from 0 to 0.4, not 'high'"),
        (("rooms", 64, 64), {"size": 2.5}, "rooms: size must be a whole number from 2 to 32000, not 2.5"),
        (
            ("rooms", 64, 64),
            {"size": 5, "door_width": 6},
            "rooms: door_width must be a whole number from 1 to 5, not 6",
        ),
        (("rooms", 64, 64), {"door_share": True}, "rooms: door_share must be a number"),
        (("maze", 64, 64), {"corridor": 0}, "maze: corridor must be a whole number"),
        (("caves", 64, 64), {"rock": 0.9}, "caves: rock must be a number from 0.3 to 0.55"),
        (("caves", 4, 4), {"rock": 0.55}, "caves: rock=0.55 leaves no free cell on 4 x 4 cells"),
        (("outdoor", 20, 64), {}, "outdoor needs at least 64 x 64 cells, not 20 x 64"),
        (("outdoor", 64, 64), {"symmetry": "mirrored"}, "outdoor has no symmetry 'mirrored'; did you mean 'mirror'?"),
        (("outdoor", 64, 64), {"bases": 3}, "outdoor with symmetry 'rotation' needs a multiple of 2 bases, not 3"),
        (("outdoor", 64, 64), {"bases": 100}, "outdoor: bases must be a whole number from 2 to 8, not 100"),
        (("empty", 0, 64), {}, "empty: width must be a whole number from 1 to 32000, not 0"),
        (("empty", 64, "64"), {}, "empty: height must be a whole number"),
        (("empty", 32000, 32000), {}, "a map of 32000 x 32000 cells is too large"),
        (("empty", 64, 64), {"seed": -1}, "empty: seed must be a whole number"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(arguments, options, sentence):
    with pytest.raises(AndanteError) as refusal:
        generate(*arguments, **options)
    assert str(refusal.value).startswith(sentence)
