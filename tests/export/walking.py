"""Comparison of agents of an exported library with the same agents in Python."""

import importlib.util
import shutil

import numpy as np

import andante
from andante.agent import UNREACHABLE, algorithms, find
from andante.episode.single import Agent
from andante.episode.trial import Limits
from andante.export import export
from andante.world.problem import Problem
from tests.export.bindings import CAgent, library_in
from tests.export.compiling import in_node

HAS_ZIG = importlib.util.find_spec("ziglang") is not None or shutil.which("zig") is not None
LIMITS = Limits(moves=5000)
REGISTER = [entry.card.name for entry in algorithms() if entry.step.__module__.startswith("andante.")]
#: It needs a different pattern from all others, and a folder has one database of each kind for a map.
LEVELS, PATTERN = "dprlrta", "pattern(base=3, cover=aligned)"


def exported(grid, agents, out, *, living=False):
    """Return the folder, and the databases by kind."""
    kinds = sorted({kind for needs in agents.values() for kind in needs})
    databases = {kind: andante.build(kind, grid) for kind in kinds}
    targets = ["this", "wasm"] if HAS_ZIG else ["this"]
    export(list(agents), grid, out, databases=list(databases.values()), targets=targets, living=living)
    return out, databases


def pairs(grid, count, seed=1):
    free = np.flatnonzero(grid.passable.ravel())
    return [tuple(map(int, np.random.default_rng([seed, i]).choice(free, 2, replace=False))) for i in range(count)]


def files_of(grid, needs, databases):
    """Return the names of database files; some are for one map, some for any map."""
    return tuple(f"{grid.name if databases[kind].fingerprint else 'any'}.{kind}" for kind in needs)


def check_walks(name, grid, folder, databases, problems):
    """Compare runs, then single moves: with agents pushed elsewhere, goals that move, and minds saved in between."""
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
                theirs.relocate()
            if turn % 13 == 12:
                goal = grid.graph.neighbours(goal)[0][0]
                assert theirs.retarget(goal) == ours.retarget(goal)


def edits_of(grid, problem):
    """Return edits of a cell beside the path of A*: when, which cell, and whether it opens or closes."""
    path = andante.run("astar", Problem(grid.graph, *problem, grid=grid)).path.tolist()
    cells = path[8:11]
    return [(4, cell, False) for cell in cells] + [(15, cell, True) for cell in cells]


def is_cut_off(world, state, goal):
    """Return whether no path leads to the goal, because the wall may be in the only door."""
    label = world.frozen().graph.components
    return label[state] != label[goal]


def check_changes(name, grid, folder, databases, problems):
    """Compare walks while a cell closes and opens."""
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
                    assert (made.to == UNREACHABLE) is not opened or is_cut_off(world, state, goal)
                    assert theirs.move(state, goal) == tuple(made)
                if made.to < 0 or made.to == goal:
                    break
                state = made.to
            if turn % 6 == 5:
                theirs.relocate()
            made = ours.move(state, goal)
            assert theirs.move(state, goal) == tuple(made)
            if made.to < 0 or state == goal:
                break
            state = made.to


def walks_in_node(folder, tasks, tmp_path):
    """Return the results of tasks that agents run in Node."""
    return in_node("walk.mjs", folder, tasks, tmp_path)


def check_changes_elsewhere(names, grid, folder, databases, tmp_path, problem, elsewhere=walks_in_node):
    """Compare walks while a cell closes and opens, saved and restored in between."""
    edits = edits_of(grid, problem)
    tasks = [
        {
            "agent": name.replace("-", "_"),
            "place": grid.name,
            "databases": files_of(grid, find(name).needs, databases),
            "problems": [problem],
            "edits": edits,
        }
        for name in names
    ]
    for name, found in zip(names, elsewhere(folder, tasks, tmp_path), strict=True):
        world = andante.World(grid)
        agent = Agent(name, world, databases=[databases[kind] for kind in find(name).needs])
        state, goal = problem
        for turn, move in enumerate(found["moves"]):
            for when, cell, opened in edits:
                if when == turn:
                    (world.open if opened else world.close)(grid.cell(cell))
            made = agent.move(state, goal)
            assert tuple(move) == tuple(made), name
            state = made.to


def far_pairs(grid):
    return [pair for pair in pairs(grid, 12, seed=3) if len(_path(grid, pair)) > 14][:4]


def _path(grid, pair):
    trial = andante.run("astar", Problem(grid.graph, *pair, grid=grid))
    return trial.path if trial.solved else []


def check_elsewhere(names, grid, folder, databases, tmp_path, problems, elsewhere=walks_in_node):
    """Run problems, then walk the first of them one move at a time."""
    tasks = [
        {
            "agent": name.replace("-", "_"),
            "place": grid.name,
            "databases": files_of(grid, find(name).needs, databases),
            "problems": problems,
        }
        for name in names
    ]
    for name, found in zip(names, elsewhere(folder, tasks, tmp_path), strict=True):
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
