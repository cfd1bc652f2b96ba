"""Pictures of levels, in a file and on the terminal."""

import json

import numpy as np
import pytest

import andante
from andante.abstraction.hierarchy import Hierarchy
from andante.cli import FAILED, OK, USAGE
from andante.report.levels import REGION_COLOURS, WALL, colours_of_cells, draw_level


@pytest.fixture
def show(cli):
    """Return a function that calls `andante maps show`."""
    return lambda *arguments: cli("maps", "show", *arguments)


def hexadecimal(colour):
    return "#{:02x}{:02x}{:02x}".format(*colour)


@pytest.mark.parametrize("kind", ["random", "rooms", "maze"])
def test_regions_have_one_colour_each_and_neighbours_different_ones(kind):
    grid = andante.generate(kind, 24, 24, seed=2)
    levels = Hierarchy(grid)
    for level in range(1, levels.top + 1):
        cells, region = colours_of_cells(grid, levels, level).reshape(-1, 3), levels.regions(level)
        assert {hexadecimal(colour) for colour in cells[~grid.passable.ravel()]} <= {WALL}
        colour = {}
        for state in range(levels.sizes[level]):
            (only,) = {hexadecimal(colour) for colour in cells[region == state]}
            assert only in REGION_COLOURS
            colour[state] = only
        assert all(colour[a] != colour[b] for a, b in levels.counts(level))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_of_a_level_is_written_completely(tmp_path, ending):
    grid = andante.generate("rooms", 40, 30, seed=1)
    draw_level(grid, Hierarchy(grid), 2, tmp_path / f"level.{ending}")
    assert [path.name for path in tmp_path.iterdir()] == [f"level.{ending}"]


def test_cells_that_cannot_be_left_and_crowded_levels_can_be_drawn(tmp_path):
    passable = np.zeros((900, 900), bool)
    passable[:40, :40] = True
    passable[60, 60] = True
    grid = andante.Grid(passable)
    levels = Hierarchy(grid)
    assert tuple(colours_of_cells(grid, levels, 1)[60, 60]) not in {
        tuple(c) for c in colours_of_cells(grid, levels, 1)[:40, 0]
    }
    draw_level(grid, levels, 1, tmp_path / "level.png")


def test_the_command_draws_into_a_file_and_says_how_many_states_there_are(show, tmp_path):
    code, out, _ = show("caves:40x30:1", "--level", 2, "--picture", tmp_path / "level.png", "--json")
    assert code == OK
    assert json.loads(out)["states_by_level"] == Hierarchy(andante.generate("caves", 40, 30, seed=1)).sizes
    assert (tmp_path / "level.png").exists()


def test_the_command_draws_on_the_terminal(show):
    plain, tinted = show("caves:40x30:1")[1], show("caves:40x30:1", "--level", 2)[1]
    assert "states by level" in tinted
    assert tinted.endswith(plain[plain.index("█") :])  # without colours, the sketch is the same


@pytest.mark.parametrize(
    ("level", "code", "sentence"),
    [(9, FAILED, "there is no level 9: the hierarchy of this map has levels 0 to"), (0, USAGE, "--level")],
)
def test_unknown_levels_are_refused(show, tmp_path, level, code, sentence):
    found, _, err = show("caves:40x30:1", "--level", level, "--picture", tmp_path / "level.png")
    assert found == code
    assert sentence in err
    assert not list(tmp_path.iterdir())
