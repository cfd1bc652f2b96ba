"""The fixed costs of Andante: importing, the command line, memory, calls and problems."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import andante
from andante.databases.header import Database
from andante.world.grid import Grid
from benchmarks import calls, campaigns, crowds, exported, knowledge, levels, living
from benchmarks.tables import Table
from benchmarks.targets import Files

IMPORT = "import time; began = time.perf_counter(); import andante; print(time.perf_counter() - began)"
COMMAND = "from andante.cli import main; main()"
REPEATS = 5


@dataclass(frozen=True)
class FixedCost:
    """One line of the table."""

    name: str
    measured: float
    limit: float | None  # None: there is no promise
    unit: str
    at_least: bool = False  # whether more is better

    @property
    def kept(self) -> bool:
        """Whether it is within its limit."""
        if self.limit is None:
            return True
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def measure(files: Files) -> list[FixedCost]:
    """Return all fixed costs; ``files`` is a map of 512 x 512 cells with a problem on it."""
    return [
        FixedCost("import andante", _best(_import_seconds), 0.5, "s"),
        FixedCost("andante solve, warm", _best(lambda: _solve_seconds(files)), 1.5, "s"),
        *_memories(files),
        *_calls(files),
        *_crowds(files),
        *_changes(files),
        FixedCost("starting a problem, 2048 x 2048 relative to 64 x 64", _growth(), None, "x"),
        *_abstraction(files),
        *_knowledge(files),
        *_exports(files),
        *_campaign(),
    ]


def _best(seconds: Callable[[], float]) -> float:
    return min(seconds() for _ in range(REPEATS))


def _import_seconds() -> float:
    return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)


def _solve_seconds(files: Files) -> float:
    problem = files.problems[0]
    assert problem.grid is not None
    ends = [",".join(map(str, problem.grid.cell(state))) for state in (problem.start, problem.goal)]
    command = [sys.executable, "-c", COMMAND, "solve", str(files.map), "--start", ends[0], "--goal", ends[1]]
    began = time.perf_counter()
    subprocess.run([*command, "--algorithm", "lrta(depth=9)"], capture_output=True, check=True)
    return time.perf_counter() - began


def _memories(files: Files) -> list[FixedCost]:
    graph, grid = files.problems[0].graph, files.problems[0].grid
    assert grid is not None
    return [
        *(
            FixedCost(
                f"memory of one {each.card.title} agent, 512 x 512",
                andante.Agent(each, graph).memory_bytes / 1e6,
                35.0 if each.card.regions else 20.0,  # the levels, which all agents on a map share, count for each
                "MB",
            )
            for each in andante.algorithms()
            if not each.needs
        ),
        FixedCost(
            "memory of one PR LRTS agent that discovers its map, 512 x 512",
            andante.Agent("prlrts", grid, sight=10).memory_bytes / 1e6,
            60.0,
            "MB",
        ),
    ]


def _calls(files: Files) -> list[FixedCost]:
    """Return the costs of calls from Python, including the step of LRTA*."""
    problem = files.problems[-1]
    return [
        FixedCost("agent.move", 1e6 * calls.move_seconds(problem), 2.0, "us"),
        FixedCost("next(watch), without thoughts", 1e6 * calls.watch_seconds(problem), 5.0, "us"),
        FixedCost("agent.run of one step", 1e6 * calls.agent_run_seconds(problem), 5.0, "us"),
        FixedCost("andante.run of one step", 1e6 * calls.run_seconds(problem), 15.0, "us"),
        FixedCost(
            "run_many of 16 problems of one step on 2 threads, each", 1e6 * calls.many_seconds(problem), None, "us"
        ),
    ]


#: The least number of units that move in a millisecond on a map of 512 x 512 cells, and the database they need.
PACES = (
    ("cpd", "moves", 5000.0),
    ("lrta", None, 4000.0),
    ("rta", None, 4000.0),
    ("dlrta", "pattern", 3000.0),
    ("tba(budget=10)", None, 1000.0),
)
#: The limit on the median of units' highest memory, in bytes, on a map of 512 x 512 cells, and their database.
MINDS = (
    ("cpd", "moves", 2e3),
    ("dlrta", "pattern", 2e3),
    ("knn", "subgoals(records=10000)", 2e3),
    ("lrta", None, 100e3),
    ("rta", None, 100e3),
    ("family", None, 100e3),
    ("lss", None, 100e3),
    ("rtaa", None, 100e3),
)
SMALL = 128  # width of a map on which they are twice as fast


def _crowds(files: Files) -> list[FixedCost]:
    """Return the costs of units in a crowd of a thousand, and of two thousand with bodies."""
    grid, small = files.problems[0].grid, andante.generate("outdoor", SMALL, SMALL, seed=7)
    assert grid is not None
    given = _databases(grid)
    return [
        *_paces(grid, given, 1),
        *_paces(small, _databases(small), 2),
        FixedCost(
            "a crowd of tba(budget=10), 2 threads relative to 1", crowds.speedup("tba(budget=10)", grid), 1.7, "x", True
        ),
        *(
            FixedCost(
                f"a tick of {crowds.BODIES:,} bodies of {name}, {grid.width} x {grid.height}",
                1e3 * crowds.body_seconds(name, grid, given[name]),
                5.0,
                "ms",
            )
            for name in ("lrta", "dlrta")
        ),
        FixedCost("adding 1,000 units to a crowd", 1e3 * crowds.add_seconds("lrta", grid), 2.0, "ms"),
        FixedCost("memory of 1,000 LSS-LRTA* units, 512 x 512", crowds.memory_bytes("lss", grid) / 1e6, 100.0, "MB"),
        *_minds(grid, given),
        FixedCost(
            f"moves of {crowds.SHARERS} LSS-LRTA*(20) units with one goal, alone relative to together, 256 x 256",
            crowds.moves_saved("lss(lookahead=20)", andante.generate("outdoor", 256, 256, seed=7)),
            1.0,
            "x",
            True,
        ),
    ]


def _minds(grid: Grid, databases: dict[str, list[Database]]) -> list[FixedCost]:
    """Return the memory of units, also on a map that may change, where those with databases may have to search."""
    found = []
    for name, kind, most in MINDS:
        known = databases.get(name) or ([] if kind is None else [andante.build(kind, grid)])
        for world in (grid, andante.World(grid)) if kind is not None else (grid,):
            where = f"{grid.width} x {grid.height}{'' if world is grid else ', on a World'}"
            size = crowds.mind_bytes(name, world, known)
            found.append(FixedCost(f"memory of a {name} unit, median, {where}", size / 1e3, most / 1e3, "KB"))
    return found


def _databases(grid: Grid) -> dict[str, list[Database]]:
    """Return the databases that each of the units needs on this map."""
    return {name: [] if kind is None else [andante.build(kind, grid)] for name, kind, _ in PACES}


def _paces(grid: Grid, databases: dict[str, list[Database]], factor: int) -> list[FixedCost]:
    """Return units per millisecond on this map, where they should be ``factor`` times as fast as on 512 x 512 cells."""
    return [
        FixedCost(
            f"a crowd of {name}, {grid.width} x {grid.height}",
            crowds.units_per_millisecond(name, grid, databases[name]),
            factor * least,
            "units/ms",
            True,
        )
        for name, _, least in PACES
    ]


def _exports(files: Files) -> list[FixedCost]:
    """Return the costs of exported agents, without those that need a missing compiler, Zig or Node."""
    rows = []
    for algorithm in ("lrta", "tba", "prlrts"):
        found = exported.measure(algorithm, files.problems)
        against = {"C": (found.c, exported.ASKED_C), "WebAssembly in Node": (found.wasm, exported.ASKED_WASM)}
        rows += [
            FixedCost(f"{algorithm} exported to {where}, per move, relative to Python", took / found.python, most, "x")
            for where, (took, most) in against.items()
            if took is not None
        ]
        rows.append(
            FixedCost(f"static library of {algorithm}", found.object_bytes / 1e3, exported.asked_kb(algorithm), "KB")
        )
    return [*rows, FixedCost("andante export, warm", _best(lambda: exported.export_seconds(files.map)), 20, "s")]


def _knowledge(files: Files) -> list[FixedCost]:
    problems = files.problems
    slice_, whole = (knowledge.seconds_per_expansion(name, problems) for name in ("tba(budget=100)", "astar"))
    pattern_seconds, pattern = knowledge.build_seconds("pattern", problems)
    subgoal_seconds, _ = knowledge.build_seconds("subgoals(records=10000)", problems)
    move = knowledge.seconds_per_move("dlrta", problems, [pattern])
    return [
        FixedCost("TBA*(100) per expansion, relative to our A*", slice_ / whole, 1.5, "x"),
        FixedCost("PRA* per problem", 1e3 * knowledge.seconds_per_problem("pra", problems), 1.0, "ms"),
        FixedCost("building a pattern database", pattern_seconds, 30.0, "s"),
        FixedCost("building a database of 10,000 subgoals", subgoal_seconds, 3.0, "s"),
        FixedCost("D LRTA* with far subgoals, per move", 1e6 * move, 0.09, "us"),
    ]


def _campaign() -> list[FixedCost]:
    found = campaigns.measure()
    return [
        FixedCost("a campaign's processor time, relative to its trials", found.overhead, 1.05, "x"),
        FixedCost("cores that a campaign leaves idle", 100 * (1 - found.busy), 10.0, "%"),
    ]


def _growth() -> float:
    """Return the time to start a problem on a large map, relative to a small one."""
    small, large = (_start_seconds(side) for side in (64, 2048))
    return large / small


def _start_seconds(side: int, count: int = 2000) -> float:
    """Return the time of a problem of one move, if one agent solves many."""
    grid = Grid(np.ones((side, side), bool))
    problems = [grid.problem((side // 2, side // 2), (side // 2 + 1, side // 2))] * count
    andante.run_many("lrta(depth=1)", problems[:2], paths=False)

    def seconds() -> float:
        began = time.process_time()
        andante.run_many("lrta(depth=1)", problems, paths=False)
        return (time.process_time() - began) / count

    return _best(seconds)


def _abstraction(files: Files) -> list[FixedCost]:
    """Return the costs of building all levels above a map, and of repairing them."""
    scattered, published = levels.scattered(levels.MIDDLING), files.problems[0].grid
    assert published is not None
    small, middling, large = map(levels.repair_seconds, (levels.SMALL, levels.MIDDLING, levels.LARGE))
    return [
        FixedCost(f"all levels above {published.name}", levels.build_seconds(published), 0.15, "s"),
        FixedCost("all levels above scattered walls, 512 x 512", levels.build_seconds(scattered), 0.15, "s"),
        FixedCost("closing one cell under all levels, 512 x 512", 1e6 * middling, None, "us"),
        FixedCost("closing one cell, 2048 x 2048 relative to 128 x 128", large / small, 2.0, "x"),
    ]


def _changes(files: Files) -> list[FixedCost]:
    """Return the costs of changing a map."""
    grid = files.problems[0].grid
    assert grid is not None
    small, large = map(living.change_seconds, (living.SMALL, living.LARGE))
    low, high = (living.change_seconds(side, living.ALL_LEVELS) for side in (living.SMALL, living.LARGE))
    repaired = living.slowdown(grid, living.REPAIRS, living.ALL_LEVELS)
    (side, piece), (middle, _) = (living.repairing("pattern", cell) for cell in (living.SIDE_DOOR, living.BOTTLENECK))
    return [
        FixedCost("closing or opening one cell of a world, 2048 x 2048", 1e6 * large, 2.0, "us"),
        FixedCost("closing or opening one cell of a world, 2048 x 2048 relative to 128 x 128", large / small, 1.5, "x"),
        FixedCost("a tick of 1,000 LRTA* units with 100 changes, relative to none", living.slowdown(grid), 1.5, "x"),
        FixedCost("one cell of a world and all levels above it, 2048 x 2048", 1e6 * high, 30.0, "us"),
        FixedCost("one cell of a world and its levels, 2048 x 2048 relative to 128 x 128", high / low, 1.5, "x"),
        FixedCost("a tick of 1,000 LRTA* units with 10 changes and all levels to repair", repaired, 1.5, "x"),
        FixedCost("repairing a pattern when a side room's door closes, relative to building it", side, 0.05, "x"),
        FixedCost("repairing a pattern when a bottleneck closes, relative to building it", middle, None, "x"),
        FixedCost("the longest piece of repairing a pattern, 256 x 256", 1e3 * piece, None, "ms"),
    ]


def table(costs: Sequence[FixedCost]) -> Table:
    """Return the table of fixed costs, with their limits."""
    made = Table("Fixed costs", ["what", "measured", "limit", "kept"], left=("kept",))
    made.notes = ["Seconds here are wall-clock time, the best of several starts; they are longer on a busy machine."]
    for each in costs:
        promise = ["", ""]
        if each.limit is not None:
            bound = "at least " if each.at_least else ""
            promise = [f"{bound}{each.limit:g} {each.unit}", "yes" if each.kept else "NO"]
        made.rows.append([each.name, f"{each.measured:.3g} {each.unit}", *promise])
    return made
