"""Pages: one file without external content, which no text can break, and whose replay reads what Python wrote."""

import html.parser
import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import andante
from andante.episode.crowdresult import Pace
from andante.episode.crowdrun import run_crowd
from andante.episode.rows import rows
from andante.episode.trace import record
from andante.errors import OutputError
from andante.report.page import Answer, crowd_page, page, write_page
from andante.world.grid import Grid
from andante.world.scenes import Change, NewGoal, Scene

POCKET = ["............", ".@@@@@@@@@..", ".........@..", ".@@@@@@@@@..", "............"]


@pytest.fixture(scope="module")
def problem():
    return Grid([list(line) for line in POCKET], name="pocket").problem((3, 2), (11, 2))


@pytest.fixture(scope="module")
def table(problem):
    names = ["rta", "lrta(depth=2)", "astar"]
    return [row for name in names for row in rows([andante.run(name, problem)], memory_bytes=1000, build_seconds=0.1)]


@pytest.fixture(scope="module")
def traces(problem):
    return [record(name, problem) for name in ("rta", "lrta(depth=2)", "astar")]


@pytest.fixture(scope="module")
def text(table, traces):
    return page(title="A <test> & more", rows=table, traces=traces, notes=["1 < 2 </script>"])


def test_agents_on_different_problems_are_not_compared(table):
    assert "Which agent to use" in page(title="t", rows=table)
    mixed = page(title="t", rows=[*table, table[0] | {"start": 0}])
    assert "were run on different problems" in mixed
    assert not any(word in mixed for word in ("Which agent to use", "<h2>Plots", 'class="best"'))


def test_an_answer_sets_whole_names_of_agents_as_code(table):
    said = ["Use lrta with a<b: it walked 1.1.", "The second, lrta, walks more than lrtas."]
    text = page(title="t", rows=table, answer=Answer("Wanted: x.", said, "code()", ["lrta", "lrta with a<b"]))
    assert '<ul class="advice"><li>Use <code>lrta with a&lt;b</code>: it walked 1.1.</li></ul>' in text
    assert "The second, <code>lrta</code>, walks more than lrtas." in text


@pytest.fixture(scope="module")
def crowd(problem):
    grid = problem.grid
    problems = [grid.problem((3, 2), goal).with_optimal_cost(20.0) for goal in ((11, 2), (0, 0), (2, 2), (5, 4))]
    return run_crowd(andante.find("rta"), problems, Pace(expansions=2), recorded=True)


class Reader(html.parser.HTMLParser):
    """A parser that collects tags and ids, and checks that elements are closed in order."""

    void = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.links = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "action", "data", "srcset"):
                self.links.append(value)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module", params=["agents", "crowd", "both"])
def whole(request, table, traces, crowd):
    """A page with a replay of agents, of a crowd, or of both."""
    if request.param == "crowd":
        return crowd_page(crowd, title="A <test> & more", notes=["1 < 2 </script>"])
    shown = crowd if request.param == "both" else None
    return page(title="A <test> & more", rows=table, traces=traces, crowd=shown, notes=["1 < 2 </script>"])


def read_page(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def read(text):
    return read_page(text)


def test_the_page_is_well_formed(read):
    assert read.open == []
    assert len(read.ids) == len(set(read.ids))
    assert read.tags.count("h1") == 1
    assert read.tags.count("svg") == 3
    assert read.tags.count("table") == 2  # numbers, and differences


def test_the_page_has_no_external_content(whole):
    text, read = whole, read_page(whole)
    assert read.open == []
    assert len(read.ids) == len(set(read.ids))
    assert "link" not in read.tags
    assert "iframe" not in read.tags
    assert all(link.startswith("#") for link in read.links)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    namespaces = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"\s]*", text)) <= namespaces


def test_text_is_escaped(whole):
    assert "<h1>A &lt;test&gt; &amp; more</h1>" in whole
    assert "1 &lt; 2 &lt;/script&gt;" in whole


def test_a_trace_cannot_end_its_element(problem):
    evil = Grid([list(line) for line in POCKET], name="</script><b>x</b>").problem((3, 2), (11, 2))
    text = page(title="t", rows=rows([andante.run("astar", evil)]), traces=[record("astar", evil)])
    assert "<b>x</b>" not in text
    script = re.search(r'<script type="application/json" class="trace">(.*?)</script>', text, re.DOTALL)
    assert json.loads(script.group(1))["map"] == "</script><b>x</b>"


def test_the_page_agrees_with_the_rows(text, table):
    assert "3 agents, 1 problem each on pocket." in text
    assert "each on pocket, with sight 4." in page(title="t", rows=[{**row, "sight": 4} for row in table])
    assert "per move, use <code>rta</code>" in text
    assert re.search(r"With a limit of at least \d+ states expanded per move, use <code>astar</code>", text)
    assert "<code>lrta(depth=2)</code>" in text
    assert "1.0 kB" in text
    assert andante.__version__ in text


def test_the_same_input_makes_the_same_page(text, table, traces):
    assert text == page(title="A <test> & more", rows=table, traces=traces, notes=["1 < 2 </script>"])


def test_every_variable_of_the_style_is_set(whole):
    used = set(re.findall(r"var\((--[\w-]+)\)", whole))
    assert used <= set(re.findall(r"(--[\w-]+):", whole))


def test_a_page_without_traces_has_no_scripts(table):
    text = page(title="t", rows=table)
    assert "<script" not in text
    assert "Replay" not in text


def test_a_page_links_to_a_playground(table):
    assert '<a href="play.html">Open the playground</a>' in page(title="t", rows=table, playground="play.html")
    assert "playground" not in page(title="t", rows=table)


def test_a_page_without_rows_is_a_page(traces):
    assert "No results yet." in page(title="t", rows=[])
    assert "<h2>Replay</h2>" in page(title="t", rows=[], traces=traces)


def test_writing(table, tmp_path):
    write_page(tmp_path / "page.html", title="t", rows=table)
    assert (tmp_path / "page.html").read_text("utf-8") == page(title="t", rows=table)
    with pytest.raises(OutputError, match="cannot write"):
        write_page(tmp_path / "no folder" / "page.html", title="t", rows=table)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


# --- the replay's own code ---

NODE = shutil.which("node")


def run_script(script, document, folder):
    """Run a script beside the replay's modules, on a document, and return what it prints as JSON."""
    for module in files("andante.report").joinpath("static").iterdir():
        if module.name.endswith(".js"):
            (folder / module.name).write_text(module.read_text("utf-8"), "utf-8")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "script.js").write_text(script)
    command = [NODE, str(folder / "script.js"), str(document)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


SCRIPT = """
import { readFileSync } from "node:fs";
import { Episode, readTrace } from "./walks.js";
const document = JSON.parse(readFileSync(process.argv[2], "utf8"));
readTrace(document).then((trace) => {
  const episode = new Episode(trace);
  const plain = (table) =>
    Object.fromEntries(Object.entries(table).map(([name, column]) => [name, Array.from(column, String)]));
  const times = [0, ...episode.ends, episode.duration];
  console.log(JSON.stringify({
    terrain: Array.from(trace.terrain),
    moves: plain(trace.moves),
    thoughts: plain(trace.thoughts),
    duration: episode.duration,
    mostRise: episode.mostRise,
    walked: episode.walked[episode.count],
    at: times.map((time) => episode.at(time)),
  }));
});
"""


@pytest.mark.skipif(NODE is None, reason="needs Node.js to run the replay's JavaScript")
@pytest.mark.parametrize("name", ["rta", "lrta(depth=2)", "astar"])
def test_the_replay_reads_what_python_wrote(name, problem, tmp_path):
    trace = record(name, problem)
    trace.save(tmp_path / "trace.json")
    printed = run_script(SCRIPT, tmp_path / "trace.json", tmp_path)
    assert printed["terrain"] == trace.terrain.ravel().tolist()
    for table in ("moves", "thoughts"):
        for column, values in printed[table].items():
            assert [float(v) for v in values] == getattr(trace, table)[column].tolist()
    assert printed["walked"] == pytest.approx(trace.cost)
    assert printed["duration"] == pytest.approx(len(trace.moves) + trace.moves["expanded"].sum() / 1000)
    start, *after, end = printed["at"]
    assert (start["moves"], start["thoughts"], start["over"]) == (0, 0, False)
    assert [now["moves"] for now in after] == list(range(1, len(trace.moves) + 1))
    assert [now["thoughts"] for now in after[:-1]] == trace.moves["thoughts"].cumsum()[:-1].tolist()
    assert (end["moves"], end["thoughts"], end["over"]) == (len(trace.moves), len(trace.thoughts), True)


SCENE_SCRIPT = """
import { readFileSync } from "node:fs";
import { Episode, readTrace } from "./walks.js";
const document = JSON.parse(readFileSync(process.argv[2], "utf8"));
readTrace(document).then((trace) => {
  const episode = new Episode(trace);
  const now = Array.from(episode.ends, (end) => episode.at(end - 0.5));
  console.log(JSON.stringify({
    version: document.version,
    changes: now.map(({ changes }) => changes),
    goals: now.map(({ goals }) => episode.goal(goals)),
    waits: episode.at(2.5).waits,
    duration: episode.duration,
    mostRise: episode.mostRise,
  }));
});
"""


@pytest.mark.skipif(NODE is None, reason="needs Node.js to run the replay's JavaScript")
def test_the_replay_shows_what_changed_before_each_move(tmp_path):
    events = [*(Change(2, (3, y), opened=False) for y in range(3)), Change(20, (3, 1), opened=True)]
    grid = Grid([list("........")] * 3, name="corridor")
    trace = record("lrta", Scene(grid, [((1, 1), (6, 1))], [*events, NewGoal(22, 0, (7, 2))]))
    trace.save(tmp_path / "trace.json")
    printed = run_script(SCENE_SCRIPT, tmp_path / "trace.json", tmp_path)
    ticks = trace.moves["tick"].tolist()
    assert ticks[:2] == [1, 20]  # it waited for the wall to open
    assert printed["version"] == 2
    assert printed["changes"] == [sum(change[0] <= tick for change in trace.changes.tolist()) for tick in ticks]
    assert printed["goals"] == trace.goals_before(ticks).tolist()
    assert printed["waits"] is True
    assert printed["duration"] == pytest.approx(ticks[-1] + trace.moves["expanded"].sum() / 1000)
    assert printed["mostRise"] == pytest.approx(max(0.0, np.nanmax(trace.learned_rise, initial=0.0)), abs=1e-6)


@pytest.mark.skipif(NODE is None, reason="needs Node.js to run the replay's JavaScript")
def test_the_replay_reads_old_traces_and_refuses_new_ones(tmp_path):
    old = json.loads((Path(__file__).parents[1] / "episode" / "data" / "trace-version-1.json").read_text())
    (tmp_path / "old.json").write_text(json.dumps(old))
    printed = run_script(SCENE_SCRIPT, tmp_path / "old.json", tmp_path)
    assert printed["version"] == 1
    assert set(printed["changes"]) == {0}
    (tmp_path / "new.json").write_text(json.dumps({**old, "version": 3}))
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run_script(SCENE_SCRIPT, tmp_path / "new.json", tmp_path)
    assert "a trace of version 3, and this page reads versions 1 to 2" in caught.value.stderr


CROWD_SCRIPT = """
import { readFileSync } from "node:fs";
import { readCrowd, Walks } from "./crowd.js";
readCrowd(JSON.parse(readFileSync(process.argv[2], "utf8"))).then((crowd) => {
  const walks = new Walks(crowd);
  console.log(JSON.stringify({
    places: Array.from(walks.places),
    arrivals: Array.from(walks.arrivals, String),
    arrived: walks.arrived(walks.ticks),
    waiting: Array.from(crowd.waiting),
    microseconds: Array.from(crowd.microseconds),
  }));
});
"""


@pytest.mark.skipif(NODE is None, reason="needs Node.js to run the replay's JavaScript")
def test_the_replay_of_a_crowd_reads_what_python_wrote(crowd, tmp_path):
    trace = crowd.trace
    (tmp_path / "crowd.json").write_text(trace.to_json())
    printed = run_script(CROWD_SCRIPT, tmp_path / "crowd.json", tmp_path)
    assert printed["places"] == trace.places.ravel().tolist()
    there = trace.places == trace.goals
    assert [float(one) for one in printed["arrivals"]] == there.argmax(axis=0).tolist()
    assert (printed["arrived"], there.any(axis=0).sum()) == (4, 4)
    assert (printed["waiting"], printed["microseconds"]) == (trace.waiting.tolist(), trace.microseconds.tolist())
