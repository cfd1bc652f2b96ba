"""`andante play`: what it writes, and what it refuses."""

import base64
import gzip
import json
import re

import pytest

from andante.play import page

PAGE = (
    "<!doctype html><title>Andante</title>"
    '<script type="application/gzip;base64" id="andante-engine"></script>'
    '<script type="application/gzip;base64" id="andante-scene"></script>'
)
ENGINE = b"2\n{}code"


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Stand-ins for the built page and engine: what is inside does not matter here."""
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "page.html").write_text(PAGE, "utf-8")
    (folder / "engine.bin").write_bytes(ENGINE)
    monkeypatch.setattr(page, "PAGE", folder / "page.html")
    monkeypatch.setattr(page, "ENGINE", folder / "engine.bin")
    return folder


def held(text, name):
    """Return what an element of a page holds."""
    found = re.search(rf'id="{name}">([^<]*)</script>', text)
    return gzip.decompress(base64.b64decode(found[1])) if found[1] else None


def test_the_page_has_engine_and_map_inside(built, cli, tmp_path):
    code, _, shown = cli("play", "rooms:30x24:3", "--out", tmp_path / "play.html", "--no-open")
    assert code == 0
    assert "wrote" in shown
    text = (tmp_path / "play.html").read_text("utf-8")
    assert held(text, "andante-engine") == ENGINE
    length, _, rest = held(text, "andante-scene").partition(b"\n")
    about = json.loads(rest[: int(length)])["map"]
    assert (about["width"], about["height"], len(about["rows"])) == (30, 24, 24)


def test_without_a_map_the_page_makes_one(built, cli, tmp_path):
    code, _, _ = cli("play", "--out", tmp_path / "play.html", "--no-open")
    assert code == 0
    assert held((tmp_path / "play.html").read_text("utf-8"), "andante-scene") is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.map"], "nowhere.map"),
        (["rooms:30"], "a size is written WIDTHxHEIGHT"),
        (["empty:1025x4"], "has 1025 x 4 cells, and the playground takes at most 1024 x 1024"),
        (["empty:1x1"], "has fewer than two free cells"),
    ],
)
def test_bad_maps_are_one_sentence(words, said, built, cli, tmp_path):
    code, _, shown = cli("play", *words, "--out", tmp_path / "play.html", "--no-open")
    assert code == 1
    assert said in shown
    assert len(shown.splitlines()) == 1
    assert not (tmp_path / "play.html").exists()


def test_what_is_not_built_is_said(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.html")
    code, _, shown = cli("play", "--out", tmp_path / "play.html", "--no-open")
    assert code == 1
    assert "the playground is not built here" in shown
    assert "make playground" in shown
    assert len(shown.splitlines()) == 1


def test_a_page_without_a_place_for_the_engine_is_refused(built, cli, tmp_path):
    (built / "page.html").write_text("<!doctype html>", "utf-8")
    code, _, shown = cli("play", "--out", tmp_path / "play.html", "--no-open")
    assert code == 1
    assert "no place for andante-engine" in shown
