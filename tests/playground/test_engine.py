"""Agents and crowds in the playground's engine walk as in Python; the comparing is done in TypeScript."""

import json
import os
import subprocess

import pytest

import andante
from andante.agent import find
from andante.errors import AlgorithmError
from andante.kernel import JIT
from andante.play.engine import engine
from andante.play.page import ENGINE, about_built
from andante.play.recipes import CHECKED, SIZES, CrowdMaker, Formula, Maker, Stage, fitted, stages
from andante.world.living import World
from tests.playground.crowds import march
from tests.playground.tools import NODE, PLAYGROUND, needs_node_modules
from tests.playground.walks import as_map, walk
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
    """Let the engine repeat what Python did."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(task))
    command = [NODE, "node_modules/vitest/vitest.mjs", "run", f"tests/{name}.test.ts"]
    environment = {**os.environ, variable: str(file), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=PLAYGROUND, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def able(settings):
    """Return those of some settings that the built engine has."""
    return [one for one in settings if find(one).card.name in about_built()["recipes"]]


def agents():
    everybody = sorted(about_built()["recipes"])
    return [*(everybody if DEEP else able(FEW)), *able(OTHERS)]


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
        assert sum(len(one["moves"]) for one in walks) > 50 * len(walks)
        task = {"engine": str(ENGINE), "scene": None, "maps": [as_map(one) for one in maps], "walks": walks}
        compare("walks", "ANDANTE_WALKS", task, tmp_path)

    def test_crowds_tick_as_in_python(self, tmp_path):
        grid = andante.generate("rooms", 60, 50, seed=4)
        crowds = []
        for name in sorted(about_built()["crowds"]) if DEEP else able(["lrta"]):
            for bodies in (False, True):
                maker = CrowdMaker(find(name), stages(), units=2000, bodies=bodies)
                memory = maker.size_of(find(name)).memory
                crowds.append(march(name, grid, units=150, ticks=80, bodies=bodies, memory=memory, seed=5))
        compare("crowds", "ANDANTE_CROWDS", {"engine": str(ENGINE), "map": as_map(grid), "crowds": crowds}, tmp_path)


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

    def test_what_no_formula_explains_is_not_explained(self):
        assert fitted(SIZES, [width * width for width, _ in SIZES]) is None

    def test_the_recipe_of_an_agent_says_what_python_allocates(self):
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

    def test_an_engine_of_what_cannot_walk_anywhere_is_refused(self):
        with pytest.raises(AlgorithmError, match="'cpd' cannot walk on any map"):
            engine(["cpd"])
