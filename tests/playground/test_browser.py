"""The finished page in a browser: every control, files, edits, crowds, appearance. The tests are in TypeScript."""

import json
import os
import subprocess

import numpy as np
import pytest

import andante
from andante.episode.trace import Trace
from andante.offline import build
from andante.play.given import given_scene
from andante.play.page import ENGINE, PAGE, about_built, page_with
from andante.play.scene import scene_of as scene_of_map
from andante.world.grid import Grid
from andante.world.scenes import Change, NewGoal, Scene
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
    """Run one file of tests in the browser, and return its output."""
    vitest = [NODE, "node_modules/vitest/vitest.mjs", "run", "--config", "vitest.browser.config.ts"]
    environment = {**os.environ, "ANDANTE_PAGE": str(page), "ANDANTE_CHROMIUM": CHROMIUM, "NO_COLOR": "1", **more}
    command = [*vitest, f"browser/{name}.test.ts"]
    done = subprocess.run(command, cwd=PLAYGROUND, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["controls", "files", "living", "fog", "crowd", "looks"])
def test_in_the_browser(name, page):
    assert "passed" in run(name, page)


def test_a_page_of_a_map_in_the_browser(page, tmp_path):
    if not {"cpd", "pra"} <= {card["name"] for card in about_built()["cards"]}:
        pytest.skip("needs an engine with cpd and pra (make playground)")
    grid = andante.generate("rooms", 48, 40, seed=1)
    about, blob = given_scene(grid, [build("moves", grid)], about_built())
    (tmp_path / "given.html").write_text(page_with(scene_of_map(grid, about, blob)), "utf-8")
    assert "passed" in run("given", page, ANDANTE_GIVEN=str(tmp_path / "given.html"))


def scene_of(trace):
    """Return the scene of a trace: its problem, and all changes."""
    grid = Grid([list(map(chr, row)) for row in trace.terrain], name=trace.map_name)
    changes = [Change(tick, grid.cell(state), chr(look) == ".") for tick, state, look in trace.changes.tolist()]
    goals = [NewGoal(tick, 0, grid.cell(state)) for tick, state in trace.goals.tolist()]
    events = sorted([*changes, *goals], key=lambda event: event.tick)
    return Scene(grid, [(grid.cell(trace.start), grid.cell(trace.goal))], events)


def same(trace, again):
    assert trace.outcome is again.outcome
    assert np.array_equal(trace.optimal_cost, again.optimal_cost, equal_nan=True)
    for name in ("moves", "thoughts", "goals"):
        assert np.array_equal(getattr(trace, name), getattr(again, name)), name
    assert sorted(trace.changes.tolist()) == sorted(again.changes.tolist())


def test_python_reads_the_traces_that_the_page_writes_and_makes_the_same_moves(page, tmp_path):
    # No goal is cut off: the page notices that immediately, Python after a bounded number of moves.
    wall = [Change(5, (14, y), opened=False) for y in range(24)]
    later = [Change(8, (14, 16), opened=True), NewGoal(20, 0, (33, 3)), Change(26, (20, 20), opened=False)]
    scene = Scene(andante.generate("empty", 40, 30), [((1, 15), (37, 25))], [*wall, *later])
    written = andante.record("lrta", scene)
    assert len(written.changes) > 20
    assert len(written.goals) == 1
    written.save(tmp_path / "scene.txt")
    out = tmp_path / "out"
    out.mkdir()
    run("traces", page, ANDANTE_OUT=str(out), ANDANTE_TRACE=str(tmp_path / "scene.txt"))
    files = [file for file in out.glob("*.json") if not file.name.endswith(".trace.json")]
    assert len(files) == 7
    for file in files:
        trace = Trace.load(file)
        posthoc = json.loads((out / file.name.replace(".json", ".trace.json")).read_text())
        assert json.loads(trace.to_posthoc()) == posthoc
        if file.name.startswith("again-"):
            same(trace, written)
            continue
        if file.name.startswith("edited-"):
            assert len(trace.changes) == 15  # fourteen cells that were closed, and one of them opened again
            assert len(trace.goals) == 1
            same(trace, andante.record(trace.algorithm, scene_of(trace)))
            continue
        grid = andante.generate("caves", 96, 72, seed=4, rock=0.48, scale=2)
        assert (trace.terrain == grid.terrain).all()
        assert trace.is_still
        same(trace, andante.record(trace.algorithm, grid.problem(grid.cell(trace.start), grid.cell(trace.goal))))
