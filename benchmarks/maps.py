"""The benchmark's three maps of 512 x 512 cells: published ones if the archives are available, or generated ones."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import andante
from andante.datasets import download, movingai
from andante.world.grid import Grid
from andante.world.problem import Problem
from benchmarks.moves import Cell, Passable
from benchmarks.problems import ProblemSet, on_map

#: One map of each game with maps of this size, the one with the median number of free cells.
PUBLISHED = (("bg512", "AR0300SR"), ("sc1", "WinterConquest"), ("wc3maps512", "harvestmoon"))
GENERATED = ("caves", "rooms", "outdoor")
SIDE = 512


def standard(count: int) -> list[ProblemSet]:
    """Return the benchmark's three sets of ``count`` problems."""
    source = archives()
    grids = _published(source, count) if source is not None else _generated(count)
    return [on_map(name, passable, pairs) for name, passable, pairs in grids]


def archives() -> str | None:
    """Return where the published archives are: as the user says, or beside the project; None if neither."""
    beside = Path(__file__).parents[2] / "shared" / "movingai"
    named = os.environ.get(download.SOURCE_VARIABLE)
    return named or (str(beside) if beside.is_dir() else None)


Draft = tuple[str, Passable, list[tuple[Cell, Cell]]]


def _published(source: str, count: int) -> list[Draft]:
    drafts = []
    for set_name, map_name in PUBLISHED:
        chosen = movingai.BenchmarkMap(set_name, map_name, source)
        grid = chosen.grid()
        drafts.append((str(chosen), grid.passable, _spread(grid, chosen.problems(grid), count)))
    return drafts


def _generated(count: int) -> list[Draft]:
    drafts = []
    for kind in GENERATED:
        grid = andante.generate(kind, SIDE, SIDE, seed=7)
        problems = andante.random_problems(grid, count, seed=7)
        drafts.append((f"{kind} (generated)", grid.passable, _spread(grid, problems, count)))
    return drafts


def _spread(grid: Grid, problems: list[Problem], count: int) -> list[tuple[Cell, Cell]]:
    """Return this many problems, evenly spread from the first to the last, because scenarios are sorted by length."""
    chosen = np.linspace(0, len(problems) - 1, min(count, len(problems))).round().astype(int)
    return [(grid.cell(problems[i].start), grid.cell(problems[i].goal)) for i in chosen]
