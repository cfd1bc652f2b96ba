"""Agents and crowds in the playground's engine make the same moves as in Python; TypeScript compares them."""

import json
import os
import subprocess

import numpy as np
import pytest

import andante
from andante.agent import find
from andante.errors import AlgorithmError
from andante.kernel import JIT
from andante.offline import build
from andante.play.code import CARRIED
from andante.play.engine import engine
from andante.play.given import given_scene, orders_for
from andante.play.page import ENGINE, about_built
from andante.play.recipes import CHECKED, SIZES, Formula, Maker, Stage, crowd_makers, fitted, stages
from andante.play.scene import scene_of
from andante.world.living import World
from tests.playground.crowds import march
from tests.playground.stale import broken_records, changed_regions, climbing_regions, led_astray, pattern_regions
from tests.playground.tools import NODE, PLAYGROUND, needs_node_modules
from tests.playground.walks import as_map, ends, walk
from tests.worlds import DEEP

FEW = ("astar", "lrta", "lss", "rta", "tba")  # all others are left to deep runs
OTHERS = ("lrta(depth=3)", "lss(lookahead=50, avoidance=border)", "tba(budget=10, weight=2)")

built = [
    pytest.mark.full,
    pytest.mark.compiled,
    needs_node_modules,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    pytest.mark.skipif(not ENGINE.exists(), reason="needs the built engine (make playground)"),
]


def compare(name, variable, task, folder):
    """Let the engine repeat what Python did, and compare the results."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(task).replace("Infinity", "1e999"))  # JSON has no infinity
    command = [NODE, "node_modules/vitest/vitest.mjs", "run", f"tests/{name}.test.ts"]
    environment = {**os.environ, variable: str(file), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=PLAYGROUND, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def able(settings):
    """Return those of some settings that the built engine has."""
    return [one for one in settings if find(one).card.name in about_built()["recipes"]]


def agents():
    every = sorted(about_built()["recipes"])
    return [*(every if DEEP else able(FEW)), *able(OTHERS)]


def discovering():
    """Return the agents that walk with sight; except in deep runs only two, as each is compiled for Python too."""
    every = sorted(about_built()["sighted"])
    return every if DEEP else able(["lrta", "astar"])


@pytest.fixture(scope="module")
def maps():
    return [
        andante.generate("rooms", 48, 40, seed=1),
        andante.generate("maze", 31, 37, seed=2),
        andante.generate("outdoor", 90, 70, seed=3),
    ]


class TestWalks:
    pytestmark = built

    def test_they_are_as_in_python(self, maps, tmp_path):
        walks = []
        for name in agents():
            walks += [walk(name, grid, k, k + 1, thinks=k == 0) for k, grid in enumerate(maps)]
            walks.append(walk(name, maps[0], 0, 9, edits=30))
            walks.append(walk(name, maps[2], 2, 10, pursued=True))
            walks.append(walk(name, maps[2], 2, 11, edits=50, pursued=True))
        for name in discovering():
            walks += [walk(name, grid, k, k + 1, sight=3 + 4 * k, thinks=k == 0) for k, grid in enumerate(maps)]
            walks.append(walk(name, maps[0], 0, 9, edits=30, sight=4))
            walks.append(walk(name, maps[2], 2, 11, edits=50, pursued=True, sight=200))
        assert sum(len(one["moves"]) for one in walks) > 50 * len(walks)
        task = {"engine": str(ENGINE), "scene": None, "maps": [as_map(one) for one in maps], "walks": walks}
        compare("walks", "ANDANTE_WALKS", task, tmp_path)

    def test_crowds_tick_as_in_python(self, tmp_path):
        grid = andante.generate("rooms", 60, 50, seed=4)
        crowds = []
        for name in sorted(about_built()["crowds"]) if DEEP else able(["lrta"]):
            crowds += [marched(maker, grid) for maker in crowd_makers(find(name), stages()).values()]
        task = {"engine": str(ENGINE), "scene": None, "map": as_map(grid), "crowds": crowds}
        compare("crowds", "ANDANTE_CROWDS", task, tmp_path)


def marched(maker, grid, databases=()):
    """Return what happened in a crowd in Python that has the same memory as one in a page."""
    name = maker.algorithm.card.name
    memory, bodies = maker.size_of(maker.algorithm).memory, maker.bodies
    return march(name, grid, units=150, ticks=80, bodies=bodies, memory=memory, seed=5, databases=databases)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    grid = andante.generate("rooms", 48, 40, seed=1)
    orders = orders_for(about_built())
    built = {**CARRIED, "subgoals": "subgoals(records=200)"}  # with fewer, no record's path is cut
    databases = [build(built.get(order, order), grid) for order in (orders if DEEP else ["moves"])]
    file = tmp_path_factory.mktemp("given") / "scene.bin"
    about, blob = given_scene(grid, databases, about_built())
    if not about["crowds"]:
        pytest.skip("needs an engine with agents that use databases (make playground)")
    file.write_bytes(scene_of(grid, about, blob))
    return grid, databases, about, file


def barrier(grid):
    """Return some free cells in the middle of a map."""
    free = np.flatnonzero(grid.passable.ravel())
    return free[len(free) // 2 : len(free) // 2 + 12].tolist()


class TestGiven:
    """Agents that walk only on the map that a page was written with."""

    pytestmark = built

    def test_agents_walk_as_in_python(self, given, tmp_path):
        grid, databases, about, file = given
        walks = []
        assert {"cpd", "pra"} <= set(about["recipes"]) or not able(["cpd", "pra"])
        for name in about["recipes"]:
            used = [databases[place] for place in about["recipes"][name]["files"]]
            walks += [walk(name, grid, 0, seed, thinks=seed == 1, databases=used) for seed in (1, 2, 3)]
            walks.append(walk(name, grid, 0, 9, edits=30, databases=used))
            walks.append(walk(name, grid, 0, 11, edits=50, pursued=True, databases=used))
        task = {"engine": str(ENGINE), "scene": str(file), "maps": [as_map(grid)], "walks": walks}
        compare("walks", "ANDANTE_WALKS", task, tmp_path)

    def test_stale_entries_are_marked(self, given, tmp_path):
        grid, databases, about, file = given
        closed, goal = barrier(grid), ends(grid, 1)[1]
        now = grid.passable.copy()
        now.flat[closed] = False
        edited = andante.Grid(now).graph
        expected = {
            "cpd": lambda one: led_astray(one, grid, edited, goal),
            "knn": lambda one: broken_records(one, grid, edited),
            "hcdps": lambda one: changed_regions(climbing_regions(one, grid), grid, edited),
            "dlrta": lambda one: changed_regions(pattern_regions(one, grid), grid, edited),
        }
        stale = {}
        for name in set(expected) & set(about["recipes"]):
            stale[name] = expected[name](databases[about["recipes"][name]["files"][0]])
            assert 0 < len(stale[name]) < 1500, name
        task = {"engine": str(ENGINE), "scene": str(file), "map": as_map(grid), "closed": closed, "goal": goal}
        compare("stale", "ANDANTE_STALE", {**task, "stale": stale}, tmp_path)

    @pytest.mark.deep
    def test_crowds_tick_as_in_python(self, given, tmp_path):
        grid, databases, about, file = given
        crowds = []
        for name in about["crowds"]:
            used = tuple(databases[place] for place in about["recipes"][name]["files"])
            makers = crowd_makers(find(name), [Stage.of(World(grid), used)])
            crowds += [marched(maker, grid, used) for maker in makers.values()]
        task = {"engine": str(ENGINE), "scene": str(file), "map": as_map(grid), "crowds": crowds}
        compare("crowds", "ANDANTE_CROWDS", task, tmp_path)


class TestRecipes:
    @pytest.mark.parametrize(
        "formula",
        [
            Formula(0, 7),
            Formula(8, 16),
            Formula(4, 0, 324),
            Formula(1, 0, 81),
            Formula(16, 5, None, "tiles"),
            Formula(656, 0, None, "tiles", True),
        ],
    )
    def test_formulas_are_found_again(self, formula):
        assert fitted(SIZES, [formula.at(*size) for size in SIZES]) == formula

    def test_numbers_without_a_formula_are_not_fitted(self):
        assert fitted(SIZES, [width * width for width, _ in SIZES]) is None

    def test_the_recipe_of_an_agent_agrees_with_what_python_allocates(self):
        maker = Maker(find("lrta"), stages())
        recipe = maker.recipe(lambda identity: True)
        assert [one.name for one in recipe.shaping] == ["depth"]
        grid = andante.generate("rooms", *CHECKED[1], seed=3)
        assert maker.check(recipe, [Stage.of(World(grid))], 5) == 5

    def test_a_wrong_recipe_is_noticed(self):
        maker = Maker(find("rta"), stages())
        recipe = maker.recipe(lambda identity: True)
        column = recipe.layouts[0].columns[0]
        column[1] = column[1]._replace(b=1)
        with pytest.raises(AlgorithmError, match="the recipe of rta is wrong"):
            maker.check(recipe, stages(), 1)

    def test_an_engine_with_an_unknown_algorithm_is_refused(self):
        with pytest.raises(AlgorithmError, match="'lrtb' is not an algorithm of the playground"):
            engine(["lrtb"])
