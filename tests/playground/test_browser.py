"""The finished page in a browser: every control, files, edits while agents walk, crowds, looks. The tests are TypeScript."""

import json
import os
import subprocess

import pytest

import andante
from andante.episode.trace import Trace
from andante.play.page import ENGINE, PAGE, page_with
from tests.playground.tools import CHROMIUM, NODE, PLAYGROUND, needs_node_modules

pytestmark = [
    pytest.mark.full,
    needs_node_modules,
    pytest.mark.skipif(CHROMIUM is None, reason="needs the browser Chromium"),
    pytest.mark.skipif(not (PAGE.exists() and ENGINE.exists()), reason="needs the built page (make playground)"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("playground") / "play.html"
    file.write_text(page_with(None), "utf-8")
    return file


def run(name, page, **more):
    """Run one file of tests in the browser, and return what it printed."""
    vitest = [NODE, "node_modules/vitest/vitest.mjs", "run", "--config", "vitest.browser.config.ts"]
    environment = {**os.environ, "ANDANTE_PAGE": str(page), "ANDANTE_CHROMIUM": CHROMIUM, "NO_COLOR": "1", **more}
    command = [*vitest, f"browser/{name}.test.ts"]
    done = subprocess.run(command, cwd=PLAYGROUND, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["controls", "files", "living", "crowd", "looks"])
def test_in_the_browser(name, page):
    assert "passed" in run(name, page)


def test_python_reads_the_traces_that_the_page_writes_and_walks_the_same(page, tmp_path):
    run("traces", page, ANDANTE_OUT=str(tmp_path))
    files = [file for file in tmp_path.glob("*.json") if not file.name.endswith(".trace.json")]
    assert len(files) == 3
    for file in files:
        trace = Trace.load(file)
        posthoc = json.loads((tmp_path / file.name.replace(".json", ".trace.json")).read_text())
        assert json.loads(trace.to_posthoc()) == posthoc
        grid = andante.generate("caves", 96, 72, seed=4, rock=0.48, scale=2)
        assert (trace.terrain == grid.terrain).all()
        again = andante.record(trace.algorithm, grid.problem(grid.cell(trace.start), grid.cell(trace.goal)))
        assert (trace.outcome, trace.optimal_cost) == (again.outcome, again.optimal_cost)
        assert (trace.moves == again.moves).all()
        assert (trace.thoughts == again.thoughts).all()
