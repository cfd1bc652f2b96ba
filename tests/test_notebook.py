"""HTML for notebooks is small, escaped and without scripts, and its pictures are correct."""

import base64
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import andante
from andante.notebook import GOAL, PATH, START, TERRAIN, html_table, map_picture

HALL = andante.Grid(["....", ".@T.", "...."], name="hall <b>&")
PROBLEM = HALL.problem((0, 0), (3, 2))
VOID = {"img", "br"}


def colours_of(html):
    """Return the picture in some HTML as a table of colours."""
    data = base64.b64decode(re.search(r"base64,([^\"]+)", html)[1])
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    parts, at = {}, 8
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert zlib.crc32(name + body) == int.from_bytes(data[at + 8 + size : at + 12 + size], "big")
        parts[name], at = body, at + 12 + size
    width, height = (int.from_bytes(parts[b"IHDR"][k : k + 4], "big") for k in (0, 4))
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, width + 1)[:, 1:]
    palette = ["#" + parts[b"PLTE"][k : k + 3].hex() for k in range(0, len(parts[b"PLTE"]), 3)]
    return [[palette[number] for number in row] for row in rows]


class Tags(HTMLParser):
    """A parser that checks that all tags are closed in order, and keeps their names."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def shown():
    trials = andante.run_many("lrta", [PROBLEM])
    on_graph = andante.Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0)])
    return {
        "grid": HALL,
        "world": andante.World(HALL),
        "trial": trials[0],
        "trial without a path": andante.run_many("lrta", [PROBLEM], paths=False)[0],
        "trial on a graph": andante.run("lrta", andante.Problem(on_graph, 0, 2)),
        "trace": andante.record("lrta", PROBLEM),
        "table": andante.table(trials),
    }


@pytest.mark.parametrize("name", shown())
def test_html_is_small_sound_and_escaped(name):
    html = shown()[name]._repr_html_()
    tags = Tags(html).seen
    assert "script" not in tags
    assert "<b>&" not in html
    assert len(html) < 4000
    assert "color:#" not in html  # text has the colour of the notebook, light or dark


def test_the_picture_of_a_map_is_its_terrain():
    colours = colours_of(HALL._repr_html_())
    assert colours == [[TERRAIN[chr(code)] for code in row] for row in HALL.terrain]


def test_the_picture_of_a_trial_is_its_path():
    trial = andante.run("astar", PROBLEM)
    colours = colours_of(trial._repr_html_())
    for x, y in trial.cells[1:-1]:
        assert colours[y][x] == PATH
    assert (colours[0][0], colours[2][3]) == (START, GOAL)


def test_the_picture_of_a_large_map_is_small_and_its_spots_are_seen():
    big = np.full((1500, 2000), ord("."), np.uint8)
    html = map_picture(big, "big", [(1999 + 1499 * 2000, GOAL)])
    colours = colours_of(html)
    assert (len(colours), len(colours[0])) == (375, 500)
    assert sum(row.count(GOAL) for row in colours) == 7 * 7
    assert len(html) < 5000


def test_a_table_has_bold_cells_and_escapes_them():
    html = html_table(["a", "b"], [["<i>", "2"]], [[False, True]])
    assert "&lt;i&gt;" in html
    assert "<b>2</b>" in html


def test_a_table_of_trials_is_that_of_compare():
    problems = andante.random_problems(andante.generate("empty", 8, 8), 5)
    trials = [*andante.run_many("lrta", problems), *andante.run_many("lrta(depth=2)", problems)]
    table = andante.table(trials, ["cost:max"])
    assert "lrta(depth=2)" in repr(table)
    assert "lrta(depth=2)" in table._repr_html_()
    with pytest.raises(andante.AndanteError, match="a table is of trials, as andante.run_many returns, not 3"):
        andante.table([3])
    with pytest.raises(andante.AndanteError, match="a table is of trials"):
        andante.table(trials[0])


def test_advice_shows_its_ranking_and_its_answer():
    grid = andante.generate("rooms", 24, 24, seed=1)
    advice = andante.advise([grid], andante.Requirements(expansions=1, memory_bytes=0), problems=20, candidates=30)
    html = advice._repr_html_()
    assert "script" not in Tags(html).seen
    assert str(advice.winner.candidate.algorithm) in html
    assert len(html) < 20_000
