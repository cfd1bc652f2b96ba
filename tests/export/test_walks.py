"""The same walk, to the last move, from Python, from C and in WebAssembly."""

import ctypes
import importlib.util
import json
import shutil
import subprocess

import numpy as np
import pytest

import andante
from andante.agent import UNREACHABLE, algorithms, find
from andante.episode.single import Agent
from andante.episode.trial import Limits
from andante.export import export
from andante.kernel import JIT
from andante.world.problem import Problem
from tests.export.bindings import STEP, CAgent, Trial

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
]
HAS_ZIG = importlib.util.find_spec("ziglang") is not None or shutil.which("zig") is not None
needs_wasm = pytest.mark.skipif(shutil.which("node") is None or not HAS_ZIG, reason="needs node and ziglang")
AGENTS = {"lrta": (), "tba": (), "astar": (), "cpd": ("moves",)}
LIVING = {"lrta": (), "tba": ()}
LIMITS = Limits(moves=5000)
MORE = 1


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 30, 24, seed=3)


def exported(grid, agents, out, *, living=False, orders=None):
    """Return the folder, and the databases by kind."""
    kinds = sorted({kind for needs in agents.values() for kind in needs})
    databases = {kind: andante.build((orders or {}).get(kind, kind), grid) for kind in kinds}
    targets = ["this", "wasm"] if HAS_ZIG else ["this"]
    export(list(agents), grid, out, databases=list(databases.values()), targets=targets, living=living)
    return out, databases


def library_in(folder):
    return ctypes.CDLL(str(next(folder.glob("linux-*/*.so"))))


def pairs(grid, count, seed=1):
    free = np.flatnonzero(grid.passable.ravel())
    return [tuple(map(int, np.random.default_rng([seed, i]).choice(free, 2, replace=False))) for i in range(count)]


@pytest.fixture(scope="module")
def fixed(grid, tmp_path_factory):
    return exported(grid, AGENTS, tmp_path_factory.mktemp("export") / "engine")


@pytest.fixture(scope="module")
def living(grid, tmp_path_factory):
    return exported(grid, LIVING, tmp_path_factory.mktemp("living") / "engine", living=True)


def files_of(grid, needs, databases):
    """Return the names of database files; those that are not for one map are for any."""
    return tuple(f"{grid.name if databases[kind].fingerprint else 'any'}.{kind}" for kind in needs)


def check_walks(name, grid, folder, databases, problems):
    """Run problems, then walk one move at a time, pushed about, with goals that move, and saved in between."""
    needs = find(name).needs
    ours = Agent(name, grid, databases=[databases[kind] for kind in needs])
    theirs = CAgent(
        library_in(folder), name.replace("-", "_"), folder / "data", grid.name, files_of(grid, needs, databases)
    )
    for start, goal in problems:
        trial = ours.run(Problem(grid.graph, start, goal, grid=grid))
        found, path = theirs.run(start, goal)
        assert path == trial.path.tolist()
        assert (found.cost, found.moves, found.expanded) == (trial.cost, trial.moves, trial.states_expanded)
        assert found.outcome == int(trial.outcome)
    rng, free = np.random.default_rng(2), np.flatnonzero(grid.passable.ravel())
    for problem in problems[:3]:
        state, goal = problem
        for turn in range(60):
            made = ours.move(state, goal)
            assert theirs.move(state, goal) == tuple(made)
            if made.to < 0:
                break
            state = int(rng.choice(free)) if turn % 17 == 16 else made.to
            if turn % 11 == 10:
                theirs.move_house()
            if turn % 13 == 12:
                goal = grid.graph.neighbours(goal)[0][0]
                assert theirs.retarget(goal) == ours.retarget(goal)


@pytest.mark.parametrize("name", AGENTS)
def test_in_c_as_in_python(name, grid, fixed):
    check_walks(name, grid, *fixed, pairs(grid, 6))


def edits_of(grid, problem):
    """Return a wall beside the path of A*, which comes and goes: when, which cell, and whether it opens."""
    path = andante.run("astar", Problem(grid.graph, *problem, grid=grid)).path.tolist()
    cells = path[8:11]
    return [(4, cell, False) for cell in cells] + [(15, cell, True) for cell in cells]


def check_changes(name, grid, folder, databases, problems):
    """Walk while a wall comes and goes."""
    needs = find(name).needs
    for problem in problems:
        world = andante.World(grid)
        ours = Agent(name, world, databases=[databases[kind] for kind in needs])
        files = files_of(grid, needs, databases)
        theirs = CAgent(library_in(folder), name.replace("-", "_"), folder / "data", grid.name, files)
        state, goal = problem
        edits = edits_of(grid, problem)
        for turn in range(80):
            for when, cell, opened in edits:
                if when == turn and cell != state:
                    (world.open if opened else world.close)(grid.cell(cell))
                    theirs.edit(cell, opened)
            if turn == 4:  # a door closes on the agent, and opens again
                for opened in (False, True):
                    (world.open if opened else world.close)(grid.cell(state))
                    theirs.edit(state, opened)
                    made = ours.move(state, goal)
                    assert (made.to == UNREACHABLE) is not opened
                    assert theirs.move(state, goal) == tuple(made)
                if made.to < 0 or made.to == goal:
                    break
                state = made.to
            made = ours.move(state, goal)
            assert theirs.move(state, goal) == tuple(made)
            if made.to < 0 or state == goal:
                break
            state = made.to


def far_pairs(grid):
    return [pair for pair in pairs(grid, 12, seed=3) if len(_path(grid, pair)) > 14][:4]


@pytest.mark.parametrize("name", LIVING)
def test_on_a_map_that_changes(name, grid, living):
    check_changes(name, grid, *living, far_pairs(grid))


def test_a_run_that_goes_on_looks_at_the_map(grid, living):
    start, goal = far_pairs(grid)[0]
    theirs = CAgent(library_in(living[0]), "lrta", living[0] / "data", grid.name)
    steps, trial = np.zeros(4, STEP), Trial()
    agent, room = theirs._pointers(theirs.agent, steps)
    assert theirs.check("run", agent, start, goal, None, room, ctypes.c_size_t(4), ctypes.byref(trial)) == MORE
    for cell, _ in grid.graph.neighbours(goal):
        theirs.edit(cell, False)
    while theirs.check("go_on", agent, room, ctypes.c_size_t(4), ctypes.byref(trial)) == MORE:
        pass
    assert andante.Outcome(trial.outcome) == andante.Outcome.UNREACHABLE
    assert trial.moves < 500


def test_a_mind_is_sealed_before_it_is_copied(grid, living):
    start, goal = far_pairs(grid)[0]
    theirs = CAgent(library_in(living[0]), "lrta", living[0] / "data", grid.name)
    theirs.move(start, goal)
    theirs.check("seal", *theirs._pointers(theirs.agent))
    theirs.attach()  # and once more
    theirs.attach()
    bits = theirs.mind.view(np.uint8)[: theirs.mind_bytes.value]
    for place in np.random.default_rng(4).integers(0, len(bits), 60).tolist():
        bits[place] ^= 1 << place % 8
        with pytest.raises(RuntimeError, match=r"damaged|does not hold|not sealed"):
            theirs.attach()
        bits[place] ^= 1 << place % 8
    theirs.attach()
    assert theirs.move(start, goal)
    with pytest.raises(RuntimeError, match="not sealed"):
        theirs.attach()


def _path(grid, pair):
    trial = andante.run("astar", Problem(grid.graph, *pair, grid=grid))
    return trial.path if trial.solved else []


def in_node(folder, tasks, tmp_path):
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    script = [shutil.which("node"), "tests/export/walk.mjs", str(folder), str(tmp_path / "tasks.json")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_in_node(names, grid, folder, databases, tmp_path, problems):
    tasks = [
        {
            "agent": name.replace("-", "_"),
            "place": grid.name,
            "databases": files_of(grid, find(name).needs, databases),
            "problems": problems,
        }
        for name in names
    ]
    for name, found in zip(names, in_node(folder, tasks, tmp_path), strict=True):
        agent = Agent(name, grid, databases=[databases[kind] for kind in find(name).needs])
        for (start, goal), trial in zip(problems, found["trials"], strict=True):
            ours = agent.run(Problem(grid.graph, start, goal, grid=grid), LIMITS)
            assert trial["path"] == ours.path.tolist(), name
            assert (trial["cost"], trial["outcome"]) == (ours.cost, ours.outcome.name), name
        state, goal = problems[0]
        for move in found["moves"]:
            ours = agent.move(state, goal)
            assert tuple(move) == tuple(ours), name
            state = ours.to


@needs_wasm
def test_in_webassembly_as_in_python(grid, fixed, tmp_path):
    folder, databases = fixed
    check_in_node(list(AGENTS), grid, folder, databases, tmp_path, pairs(grid, 4))


@needs_wasm
def test_in_webassembly_on_a_map_that_changes(grid, living, tmp_path):
    problem = far_pairs(grid)[0]
    edits = edits_of(grid, problem)
    task = {"agent": "lrta", "place": grid.name, "databases": [], "problems": [problem], "edits": edits}
    found = in_node(living[0], [task], tmp_path)[0]
    world = andante.World(grid)
    agent, (state, goal) = Agent("lrta", world), problem
    for turn, move in enumerate(found["moves"]):
        for when, cell, opened in edits:
            if when == turn:
                (world.open if opened else world.close)(grid.cell(cell))
        made = agent.move(state, goal)
        assert tuple(move) == tuple(made)
        state = made.to


#: What is built for agents whose databases have to be of a kind that defaults do not give.
ORDERS = {"dprlrta": {"pattern": "pattern(base=3, cover=aligned)"}}


REGISTER = [entry.card.name for entry in algorithms() if entry.step.__module__.startswith("andante.")]


@pytest.mark.deep
@pytest.mark.parametrize("name", REGISTER)
def test_every_algorithm_on_a_map_that_changes(name, tmp_path):
    grid = andante.generate("rooms", 40, 40, seed=5)
    try:
        folder, databases = exported(
            grid, {name: find(name).needs}, tmp_path / "engine", living=True, orders=ORDERS.get(name)
        )
    except andante.AndanteError as error:
        assert "without --living" in str(error)
        return
    check_changes(name, grid, folder, databases, far_pairs(grid))


@pytest.mark.deep
@pytest.mark.parametrize("name", REGISTER)
def test_every_algorithm_of_the_register(name, tmp_path):
    for number, kind in enumerate(("rooms", "outdoor")):
        grid = andante.generate(kind, 64, 64, seed=5)
        agents = {name: find(name).needs}
        folder, databases = exported(grid, agents, tmp_path / f"engine{number}", orders=ORDERS.get(name))
        problems = pairs(grid, 6)
        check_walks(name, grid, folder, databases, problems)
        if shutil.which("node") and HAS_ZIG:
            check_in_node([name], grid, folder, databases, tmp_path, problems)
