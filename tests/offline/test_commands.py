"""`andante build` and `andante databases` as a user meets them."""

import json

import numpy as np
import pytest

import andante
from andante.cli import FAILED, OK
from andante.databases.header import load


@pytest.fixture
def arena(tmp_path):
    passable = np.ones((12, 20), bool)
    passable[2:12, 10] = False
    path = tmp_path / "arena.map"
    andante.write_map(andante.Grid(passable, name="arena"), path)
    return path


def test_a_database_that_was_built_can_be_loaded(cli, arena, tmp_path):
    code, out, _ = cli("build", "moves", arena, "random:16x16:2", "--out", tmp_path)
    assert code == OK
    assert " kB, built in " in out
    assert load(tmp_path / "arena.moves", map=andante.read_map(arena)).kind == "moves"
    assert (tmp_path / "random-16x16-seed2.moves").exists()


def test_parameters_and_json(cli, arena, tmp_path):
    code, out, _ = cli(
        "build", "subgoals(records=20, coverage=gaps)", arena, "--out", tmp_path, "--threads", 1, "--json"
    )
    assert code == OK
    (row,) = json.loads(out)
    assert (row["kind"], row["bytes"]) == ("subgoals", (tmp_path / "arena.subgoals").stat().st_size)
    code, out, _ = cli("databases", "show", row["file"], "--json")
    assert code == OK
    assert json.loads(out)["parameters"] == {"records": 20, "seed": 0, "coverage": "gaps", "series": False, "m": 25}


def test_show_prints_the_contents_of_a_file(cli, arena, tmp_path):
    cli("build", "subgoals(records=20)", arena, "--out", tmp_path)
    code, out, _ = cli("databases", "show", tmp_path / "arena.subgoals", "--map", arena)
    assert code == OK
    assert "records=20" in out
    assert andante.read_map(arena).graph.fingerprint in out


def test_show_refuses_damaged_files_and_those_for_other_maps(cli, arena, tmp_path):
    cli("build", "moves", arena, "--out", tmp_path)
    file = tmp_path / "arena.moves"
    code, _, err = cli("databases", "show", file, "--map", "empty:20x12")
    assert code == FAILED
    assert "another map" in err
    file.write_bytes(file.read_bytes()[:-1])
    code, _, err = cli("databases", "show", file)
    assert code == FAILED
    assert "bytes where it should have" in err


def test_the_kinds_are_listed(cli):
    _, out, _ = cli("databases", "list")
    assert "moves" in out
    assert "coverage = random" in out
    _, out, _ = cli("databases", "list", "--json")
    assert {"moves", "subgoals"} <= {entry["name"] for entry in json.loads(out)}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("mooves", "empty:8x8"), "did you mean 'moves'"),
        (("moves(a=1)", "empty:8x8"), "has no parameter 'a'"),
        (("moves", "empty:8x8", "empty:8x8"), "two of the maps have the same name"),
        (("moves", "nothing"), "is not a .map file"),
    ],
)
def test_mistakes_are_reported_before_any_work(cli, arguments, sentence, monkeypatch):
    monkeypatch.setattr("andante.offline.build", None)
    code, _, err = cli("build", *arguments)
    assert code == FAILED
    assert sentence in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_a_database_is_never_overwritten(cli, arena, tmp_path, monkeypatch):
    mine = tmp_path / "arena.moves"
    mine.write_text("my notes on moves in the arena")
    monkeypatch.setattr("andante.offline.build", None)
    for force in ([], ["--force"]):
        code, _, err = cli("build", "moves", arena, "--out", tmp_path, *force)
        assert code == FAILED
        assert "arena.moves exists and is not a database" in err
        assert err.count("\n") == 1
        assert mine.read_text() == "my notes on moves in the arena"


def test_a_damaged_database_is_built_again(cli, arena, tmp_path):
    cli("build", "moves", arena, "--out", tmp_path)
    file = tmp_path / "arena.moves"
    whole = file.read_bytes()
    for contents in (whole[:-1], whole[:5], b""):
        file.write_bytes(contents)
        assert cli("build", "moves", arena, "--out", tmp_path)[0] == OK
        assert file.read_bytes() == whole


@pytest.mark.parametrize("place", ["/proc", "arena.map", "a" * 5000])
def test_a_folder_that_cannot_be_written_to_is_reported_before_building(cli, arena, tmp_path, monkeypatch, place):
    monkeypatch.setattr("andante.offline.build", None)
    code, _, err = cli("build", "moves", arena, "--out", tmp_path / place)  # "/proc" stays as it is
    assert code == FAILED
    assert "cannot write to " in err
    assert err.count("\n") == 1
