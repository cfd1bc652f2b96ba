"""The overhead of a campaign over its trials, and how busy it keeps the cores."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import andante
from andante.campaign import Plan, prepare, read_campaign, resume
from andante.campaign.engines.local import Local
from andante.machine import cores
from andante.world.problem import Problem

REPEATS = 3

CAMPAIGN = """
[problems.mixed]
maps = ["outdoor(width=256, height=256, seed=[1..4])"]
count = 150

[[run]]
algorithms = ["lrta(depth=5)", "lss(lookahead=100)", "tba(budget=10)"]
limits = { suboptimality = 100 }
"""


class Machinery(NamedTuple):
    """The measured overhead of a campaign."""

    overhead: float  # processor time of a campaign over that of the bare trials
    busy: float  # the share of all cores that it kept busy


def measure() -> Machinery:
    """Run the same trials directly and as a campaign, in turn, and return the medians of several pairs."""
    with TemporaryDirectory(prefix="andante-bench-") as scratch:
        file = Path(scratch, "mixed.toml")
        file.write_text(CAMPAIGN)
        pairs = [_pair(file, Path(scratch, str(k))) for k in range(REPEATS + 1)][1:]  # the first compiles
    return Machinery(median(one.overhead for one in pairs), median(one.busy for one in pairs))


def _pair(file: Path, store: Path) -> Machinery:
    opened, plan = prepare(read_campaign(file), store)
    began = time.process_time()
    _run_bare(plan)
    bare = time.process_time() - began
    began, wall = time.process_time(), time.perf_counter()
    resume(opened, plan, Local(cores()), seed=1)
    spent, wall = time.process_time() - began, time.perf_counter() - wall
    return Machinery(spent / bare, spent / wall / cores())


def _run_bare(plan: Plan) -> None:
    worlds = [one.source.grid() for one in plan.maps]
    for task in plan.tasks:
        for number, grid in enumerate(worlds):
            rows = plan.problems["map"] == number
            ends = zip(*(plan.problems[name][rows].tolist() for name in ("start", "goal", "optimal_cost")), strict=True)
            problems = [Problem(grid.graph, start, goal, grid, cost) for start, goal, cost in ends]
            andante.run_many(task.settings, problems, limits=task.conditions.limits, paths=False, threads=cores())
