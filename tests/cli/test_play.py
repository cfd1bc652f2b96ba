"""`andante play`: the pages that it writes, and its errors."""

import base64
import gzip
import json
import re

import pytest

import andante
from andante.cli.demo import write_playground
from andante.play import page
from tools.front_page import main as put_on_front_page

PAGE = (
    "<!doctype html><title>Andante</title>"
    '<script type="application/gzip;base64" id="andante-engine"></script>'
    '<script type="application/gzip;base64" id="andante-scene"></script>'
)
ABOUT = b'{"cards":[],"codes":{}}'
ENGINE = b"%d\n%scode" % (len(ABOUT), ABOUT)


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Stand-ins for the built page and engine, whose contents do not matter here."""
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "page.html").write_text(PAGE, "utf-8")
    (folder / "engine.bin").write_bytes(ENGINE)
    monkeypatch.setattr(page, "PAGE", folder / "page.html")
    monkeypatch.setattr(page, "ENGINE", folder / "engine.bin")
    page.about_built.cache_clear()
    yield folder
    page.about_built.cache_clear()


def held(text, name):
    """Return the contents of an element of a page."""
    found = re.search(rf'id="{name}">([^<]*)</script>', text)
    return gzip.decompress(base64.b64decode(found[1])) if found[1] else None


def test_the_page_has_engine_and_map_inside(built, cli, tmp_path):
    code, _, shown = cli("play", "rooms:30x24:3", "--out", tmp_path / "play.html", "--no-open")
    assert code == 0
    assert "wrote" in shown
    text = (tmp_path / "play.html").read_text("utf-8")
    assert held(text, "andante-engine") == ENGINE
    length, _, rest = held(text, "andante-scene").partition(b"\n")
    about = json.loads(rest[: int(length)])
    assert (about["map"]["width"], about["map"]["height"], len(about["map"]["rows"])) == (30, 24, 24)
    assert about["databases"] == []  # this engine has no agents that need one


def test_without_a_map_the_page_generates_one(built, cli, tmp_path):
    code, _, _ = cli("play", "--out", tmp_path / "play.html", "--no-open")
    assert code == 0
    assert held((tmp_path / "play.html").read_text("utf-8"), "andante-scene") is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.map"], "nowhere.map"),
        (["rooms:30"], "a size is written WIDTHxHEIGHT"),
        (["empty:1025x4"], "has 1025 x 4 cells, and the playground accepts at most 1024 x 1024"),
        (["empty:1x1"], "has fewer than two free cells"),
    ],
)
def test_bad_maps_are_one_sentence(words, said, built, cli, tmp_path):
    code, _, shown = cli("play", *words, "--out", tmp_path / "play.html", "--no-open")
    assert code == 1
    assert said in shown
    assert len(shown.splitlines()) == 1
    assert not (tmp_path / "play.html").exists()


def test_a_playground_that_is_not_built_is_one_sentence(cli, tmp_path, monkeypatch):
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


def test_the_demo_has_a_playground_with_its_map_where_it_is_built(built, tmp_path, capsys):
    assert write_playground(tmp_path, andante.generate("rooms", 20, 20, seed=1)) == "play.html"
    assert "play.html" in capsys.readouterr().out
    assert held((tmp_path / "play.html").read_text("utf-8"), "andante-scene") is not None


def test_the_demo_says_how_to_get_the_playground(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.html")
    assert write_playground(tmp_path, andante.generate("rooms", 20, 20, seed=1)) is None
    assert "make playground" in capsys.readouterr().out
    assert not (tmp_path / "play.html").exists()


FRONT = '<p><img alt="The playground" src="images/playground.png"></p>'


def test_the_front_page_has_the_playground_where_it_is_built(built, tmp_path, capsys):
    (tmp_path / "index.html").write_text(FRONT, "utf-8")
    put_on_front_page(tmp_path)
    assert '<iframe src="playground.html"' in (tmp_path / "index.html").read_text("utf-8")
    assert held((tmp_path / "playground.html").read_text("utf-8"), "andante-engine") == ENGINE


def test_the_front_page_keeps_its_picture_where_the_playground_is_not_built(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.html")
    (tmp_path / "index.html").write_text(FRONT, "utf-8")
    put_on_front_page(tmp_path)
    assert "needs Node" in capsys.readouterr().out
    assert (tmp_path / "index.html").read_text("utf-8") == FRONT
