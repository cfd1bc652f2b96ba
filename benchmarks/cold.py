"""``python -m benchmarks.cold``: the cost of memory outside the cache for units of a crowd, and a lower bound.

The same moves of the same agents are timed alone, in arrays as long as the map, and as one, a few and many units of a
crowd. The lower bound is the time to read as many cache lines as a move touches, from as much memory as all units use.
See decision 32. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

import andante
from andante.kernel import kernel
from andante.world.grid import Grid
from benchmarks import report
from benchmarks.crowds import random_cells
from benchmarks.tables import Table

FIRST, LAST = 20, 70  # moves of each unit that are timed
ALONE = 8  # units that are also run alone
CROWDS = (1, 8, 64, 1000)
ROUNDS = 8
LINE = 64  # bytes of a cache line
TOUCHED, OLDER = 70, 28  # a unit's lines that a move of tba(budget=10) touches, and those that its last move did not
HELD = 75_000  # bytes that such a unit uses after 70 moves


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--algorithm", default="tba(budget=10)")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args(arguments)
    grid = andante.generate("outdoor", 512, 512, seed=7)
    table = Table(f"A move of {asked.algorithm} on {grid.name}", ["", "ns", "per ms"])
    found = {f"alone, mean of {ALONE} problems": alone_ns(asked.algorithm, grid, asked.rounds)}
    for units in CROWDS:
        found[f"a crowd of {units:,}"] = crowd_ns(asked.algorithm, grid, units, asked.rounds)
    for lines in (OLDER, TOUCHED):
        found[f"only reading {lines} lines, their places known"] = lines_ns(lines, asked.rounds, chained=False)
        found[f"only reading {lines} lines, each naming the next"] = lines_ns(lines, asked.rounds, chained=True)
    table.rows = [[name, f"{ns:,.0f}", f"{1e6 / ns:,.0f}"] for name, ns in found.items()]
    table.notes = [f"{report.machine()}{report.load()}."]
    print(table.markdown())


def alone_ns(algorithm: str, grid: Grid, rounds: int) -> float:
    """Return the time of a move of an agent alone, in the best round for each move."""
    agent, ends = andante.Agent(algorithm, grid), _ends(grid, ALONE)
    problems = [grid.problem(start, goal) for start, goal in ends]
    times = [[agent.move_nanoseconds(problem)[FIRST:LAST] for problem in problems] for _ in range(rounds)]
    return float(np.mean(np.min([np.concatenate(one) for one in times], axis=0)))


def crowd_ns(algorithm: str, grid: Grid, units: int, rounds: int) -> float:
    """Return the time of a move in the loop of a crowd, without the rest of a tick, in the best round for each tick."""
    took, moved = np.full((2, rounds, LAST), math.inf), np.zeros(LAST)
    for k in range(rounds):
        crowd = andante.Crowd(algorithm, grid)
        crowd.add(*zip(*_ends(grid, units), strict=True))
        squad = crowd._lanes._squads[0]
        for tick in range(LAST):
            squad.begin()
            march = partial(squad.march, tick + 1, math.inf, 0.0, True, False, False)
            took[0, k, tick] = _nanoseconds(march)
            moved[tick] = squad.result["moved"][0]
            took[1, k, tick] = _nanoseconds(march)  # all units have moved, so this is only the call
    whole, calls = took.min(1)
    return float((whole - calls)[FIRST:].sum() / moved[FIRST:].sum())


def lines_ns(lines: int, rounds: int, *, chained: bool) -> float:
    """Return the time to read this many lines of each unit's memory; rounds continue where the last one stopped."""
    units, each, words = CROWDS[-1], HELD // LINE, LINE // 8
    places = np.argsort(np.random.default_rng(1).random((units, each)), axis=1)
    places = words * (places + each * np.arange(units)[:, np.newaxis])
    memory = np.zeros(units * each * words, np.int64)
    memory[places] = np.roll(places, -1, axis=1)  # a line contains the place of the next one
    at, took = places[:, 0].copy(), []
    for _ in range(max(1, rounds // 4)):
        for first in range(0, each - lines + 1, lines):
            work = partial(_follow, memory, at, lines) if chained else partial(_read, memory, places, first, lines)
            took.append(_nanoseconds(work))
    return float(np.median(took)) / units


@kernel
def _read(memory: npt.NDArray[np.int64], places: npt.NDArray[np.int64], first: int, lines: int) -> int:
    total = 0
    for unit in range(places.shape[0]):
        for i in range(first, first + lines):
            total += memory[places[unit, i]]
    return total


@kernel
def _follow(memory: npt.NDArray[np.int64], at: npt.NDArray[np.int64], lines: int) -> None:
    for unit in range(len(at)):
        place = at[unit]
        for _ in range(lines):
            place = memory[place]
        at[unit] = place


def _ends(grid: Grid, units: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    starts, goals = random_cells(grid, units, seed=1).tolist(), random_cells(grid, units, seed=2).tolist()
    return [(tuple(start), tuple(goal)) for start, goal in zip(starts, goals, strict=True)]


def _nanoseconds(work: Callable[[], object]) -> int:
    began = time.perf_counter_ns()
    work()
    return time.perf_counter_ns() - began


if __name__ == "__main__":
    main()
