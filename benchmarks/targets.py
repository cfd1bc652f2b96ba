"""The promises about Andante's speed, as multiples of the floor.

To add a row, add a `Target`: its name, its unit, the floor's name for it, Andante's function, and the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import andante
from andante.search.dijkstra import Field, spread
from andante.search.firstmoves import Starts, flood_starts
from andante.search.pathcounts import Paths, count_paths
from andante.world.grid import Grid
from andante.world.mapfiles import write_map, write_scenario
from andante.world.problem import Problem
from benchmarks.floor import Floor
from benchmarks.problems import ProblemSet
from benchmarks.tables import Table, times
from benchmarks.worker import Result

TITLE = "Andante against the floor"
ROUNDS = 5

Problems = Sequence[Problem]


@dataclass(frozen=True)
class Target:
    """One task that both sides do."""

    name: str
    unit: str  # counted by each side itself: a key of UNITS
    floor: str  # the floor's name for it
    ours: Callable[[Problems], int]  # solves all problems, and returns the number of units
    limit: float  # times the floor, at most


UNITS = {"move": "moves", "expansion": "expanded", "field": "plans"}


def _arrived(trials: list[andante.Trial]) -> list[andante.Trial]:
    """Return the trials if all reached the goal, because the speed of an agent that gives up has no meaning."""
    if not all(trial.solved for trial in trials):
        raise RuntimeError(f"{sum(not trial.solved for trial in trials)} of {len(trials)} problems were not solved")
    return trials


def _moves(algorithm: str) -> Callable[[Problems], int]:
    """Return a function that solves problems with an algorithm and counts its moves."""
    return lambda problems: sum(trial.moves for trial in _arrived(andante.run_many(algorithm, problems, paths=False)))


def _expansions(algorithm: str) -> Callable[[Problems], int]:
    """Return a function that solves problems with an algorithm and counts the states it expands."""

    def solve(problems: Problems) -> int:
        return sum(trial.states_expanded for trial in _arrived(andante.run_many(algorithm, problems, paths=False)))

    return solve


def _fields(problems: Problems) -> int:
    """Compute a field from each start."""
    graph = problems[0].graph
    found = Field.over(graph)
    for problem in problems:
        spread(found, graph, problem.start)
    return len(problems)


def _path_counts(problems: Problems) -> int:
    """Compute a field from each start, and count the optimal paths to it from everywhere."""
    graph = problems[0].graph
    found, paths = Field.over(graph), Paths.over(graph)
    for problem in problems:
        reached = spread(found, graph, problem.start)
        count_paths(paths, graph.arrays, found.distance, found.order, reached)
    return len(problems)


def _first_moves(problems: Problems) -> int:
    """Compute a field from each start, and the sets of first moves from there."""
    graph = problems[0].graph
    starts = Starts.over(graph)
    for problem in problems:
        flood_starts(starts, graph.arrays, problem.start)
    return len(problems)


# Path counts use all moves of all states, like the floor's plain field, with which they are compared. First moves are
# found along canonical paths, and are compared with a field along one canonical path to each state. The floor does not
# have the family, which is compared with LRTA*'s moves. LSS-LRTA* is counted in expansions, in lookahead and learning:
# both sides make the same number per plan (38 with a lookahead of 10).
TARGETS = (
    Target("LRTA*(depth=1)", "move", "lrta", _moves("lrta(depth=1)"), 2.5),
    Target("A*", "expansion", "astar_bucket:12", _expansions("astar"), 1.5),
    Target("distance field", "field", "dijkstra_canon", _fields, 1.5),
    Target("distance field and path counts", "field", "dijkstra", _path_counts, 1.5),
    Target("distance field and first moves", "field", "dijkstra_canon", _first_moves, 1.5),
    Target("median(7c+h) of the family", "move", "lrta", _moves("median(7c+h)"), 2.5),
    Target("median(7c+h)+E of the family", "move", "lrta", _moves("median(7c+h)+E"), 4.5),
    Target("LSS-LRTA*(10)", "expansion", "lss:10", _expansions("lss(lookahead=10)"), 2.0),
    Target("LSS-LRTA*(100)", "expansion", "lss:100", _expansions("lss(lookahead=100)"), 2.0),
)


@dataclass
class Measured:
    """The seconds per unit on each map, the best of some rounds."""

    target: Target
    ours: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Andante's time over the floor's, on each map."""
        return [ours / floor for ours, floor in zip(self.ours, self.floor, strict=True)]


@dataclass(frozen=True)
class Files:
    """A problem set in the floor's format and in Andante's."""

    map: Path
    scenario: Path
    problems: list[Problem]

    @classmethod
    def write(cls, problems: ProblemSet, folder: Path) -> Files:
        """Write both."""
        grid = Grid(problems.passable, name=problems.name.replace("/", "-").split(" ")[0])
        asked = [
            grid.problem(start, goal).with_optimal_cost(float(cost))
            for (start, goal), cost in zip(problems.pairs(), problems.optimal, strict=True)
        ]
        files = cls(folder / f"{grid.name}.map", folder / f"{grid.name}.map.scen", asked)
        write_map(grid, files.map)
        write_scenario(asked, files.scenario)
        return files


def measure(target: Target, floor: Floor, sets: Sequence[Files], rounds: int = ROUNDS) -> Measured:
    """Measure both sides in turn, several times; the best of each counts."""
    found = Measured(target)
    for files in sets:
        target.ours(files.problems[:2])  # compile
        ours, theirs = [], []
        for _ in range(rounds):
            run = floor.run(files.map, files.scenario, target.floor)
            theirs.append(run.cpu_seconds / getattr(run, UNITS[target.unit]))
            began = time.process_time()
            units = target.ours(files.problems)
            ours.append((time.process_time() - began) / units)
        found.ours.append(min(ours))
        found.floor.append(min(theirs))
    return found


def measure_all(floor: Floor, sets: Sequence[Files], say: Callable[[str], None]) -> list[Measured]:
    """Measure every target."""
    measured = []
    for target in TARGETS:
        say(f"{target.name} against the floor")
        measured.append(measure(target, floor, sets))
    return measured


def floor_result(floor: Floor, files: Files, problems: ProblemSet, rounds: int = ROUNDS) -> Result:
    """Return the result of the floor's A* for the comparison with peers."""
    runs = [floor.run(files.map, files.scenario, "astar_bucket:12") for _ in range(rounds)]
    return Result(
        prepare_seconds=min(run.load_seconds for run in runs),
        # It reports only total CPU time (times per problem are wall-clock times), so each problem gets an equal share.
        seconds=[min(run.cpu_seconds for run in runs) / len(problems)] * len(problems),
        passes=rounds,
        expanded=runs[0].expanded,
        worst=float(abs(np.array(runs[0].costs) / problems.optimal - 1).max()),
    )


def table(measured: Sequence[Measured], names: Sequence[str]) -> Table:
    """Return the table of promises, and whether they are kept on every map."""
    made = Table(
        TITLE,
        ["search", "unit", "floor, ns", "Andante, ns", *names, "limit", "kept"],
        left=("unit", "kept"),
        notes=["Ratios per unit, one column per map; a limit is kept if the worst map keeps it."],
    )
    for each in measured:
        ours, floor = np.mean(each.ours), np.mean(each.floor)
        kept = max(each.ratios) <= each.target.limit
        made.rows.append(
            [
                each.target.name,
                each.target.unit,
                f"{1e9 * floor:,.1f}",
                f"{1e9 * ours:,.1f}",
                *map(times, each.ratios),
                times(each.target.limit),
                "yes" if kept else "NO",
            ]
        )
    return made
