"""Maps named by a text: every notation names its map, and any other text is refused with one sentence."""

import pytest

import andante
from andante.datasets.named import generated, map_named
from andante.errors import AndanteError, DatasetError, MapError, NotationError, ParameterError


@pytest.mark.parametrize(
    "text", ["maze:33x21:7", "maze(width=33, height=21, seed=7)", "maze(seed=7,height=21,width=33)"]
)
def test_both_notations_name_the_same_map(text):
    assert map_named(text).fingerprint == andante.generate("maze", 33, 21, seed=7).fingerprint


def test_options_are_for_the_longer_notation_and_a_seed_is_0_without_one():
    assert map_named("maze(width=33, height=21, corridor=2)").name == "maze-33x21-corridor2-seed0"
    assert map_named("maze:33x21").name == "maze-33x21-seed0"


def test_paths_begin_in_a_folder(tmp_path):
    grid = andante.generate("rooms", 24, 24, seed=1)
    (tmp_path / "maps").mkdir()
    andante.write_map(grid, tmp_path / "maps" / "a.map")
    assert map_named("maps/a.map", tmp_path).fingerprint == grid.fingerprint


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("absent.map", MapError, "absent.map"),
        ("outdoor(width=9, height=9, symmetry=x(y=1))", ParameterError, "symmetry"),
        ("absent", MapError, "is not a .map file, a SET/NAME of a benchmark set or KIND:WIDTHxHEIGHT:SEED"),
        ("nosuchset/arena", DatasetError, "no benchmark set 'nosuchset', and no file or folder 'nosuchset/arena'; the"),
        ("maze:33", MapError, "a size is written WIDTHxHEIGHT, such as 512x512, not '33'"),
        ("maze:33x", MapError, "a size is written WIDTHxHEIGHT, such as 512x512, not '33x'"),
        ("maze:33x²", MapError, "a size is written WIDTHxHEIGHT"),
        ("maze:33x33:-1", MapError, "a generated map is written KIND:WIDTHxHEIGHT:SEED"),
        ("mase:33x33", ParameterError, "there is no kind of map 'mase'; did you mean 'maze'?"),
        ("maze(width=33)", ParameterError, "has no height"),
        ("maze(width=33, height=33, loop=1)", ParameterError, "maze has no option 'loop'; did you mean 'loops'?"),
        ("maze(width=33", NotationError, "lacks a closing bracket"),
        ("maze:0x33", ParameterError, "width must be a whole number from 1"),
    ],
)
def test_a_text_that_names_no_map_is_refused_in_one_sentence(text, error, sentence):
    with pytest.raises(error) as refusal:
        map_named(text)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_map_is_checked_without_being_made():
    assert str(generated("maze:9999x9999:7")) == "maze(width=9999, height=9999, seed=7)"
    with pytest.raises(AndanteError):
        generated("maze(width=9999, height=9999, sed=7)")
