"""Run a study: ``python -m studies family [--problems N]``.

Reads ``studies/NAME/study.toml``, runs each of its algorithms over seed 004's test bed (all of it, or every so many
problems so that about N are left), and writes the table with the paper's numbers beside ours to the file that the study
names.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import andante

ROOT = Path(__file__).parents[1]
TESTBED_PROBLEMS = 493_297
NO_END = 2**62
THREADS = os.cpu_count() or 1


def problems_by_map(count: int | None) -> Iterator[list[andante.Problem]]:
    """The test bed's problems with their optimal costs, map by map; thinned out evenly to about ``count``."""
    maps = andante.testbed()
    step = max(1, TESTBED_PROBLEMS // count) if count else 1
    for one in track(maps, description="maps", console=Console(stderr=True)):
        chosen = one.problems()[::step]
        if chosen:
            yield andante.with_optimal_costs(chosen, threads=THREADS)


def capped_ratio(trial: andante.Trial, cap: float) -> float:
    """A trial's suboptimality as seed 004 counts it."""
    if trial.solved:
        return min(trial.suboptimality_ratio, cap)
    return cap + (1.0 / trial.optimal_cost if trial.outcome is andante.Outcome.STUCK else 0.0)


class Tally:
    """What one algorithm's trials came to."""

    def __init__(self, run: dict[str, Any]) -> None:
        self.algorithm, self.cap, self.paper = run["algorithm"], float(run["cap"]), run["paper"]
        self.ratios: list[float] = []
        self.unsolved, self.seconds = 0, 0.0

    def add(self, problems: list[andante.Problem]) -> None:
        """Run the algorithm on these problems and count the results in."""
        limits = andante.Limits(suboptimality=self.cap, moves=NO_END)
        began = time.perf_counter()
        trials = andante.run_many(self.algorithm, problems, limits=limits, paths=False, threads=THREADS)
        self.seconds += time.perf_counter() - began
        self.ratios += [capped_ratio(trial, self.cap) for trial in trials]
        self.unsolved += sum(not trial.solved for trial in trials)

    def __str__(self) -> str:
        found = np.array(self.ratios)
        error = found.std(ddof=1) / np.sqrt(len(found))
        middle = f"{np.median(found):.2f} | {np.percentile(found, 95):.1f}"
        names = f"{_escape(self.algorithm)} | {self.cap:g} | {_escape(self.paper)}"
        return f"| {names} | {found.mean():.2f} ± {error:.2f} | {middle} | {self.unsolved} | {self.seconds / 60:.1f} |"


def report(study: dict[str, Any], tallies: list[Tally], minutes: float) -> str:
    """The results as a page."""
    when = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    size = f"{len(tallies[0].ratios):,} problems, {THREADS} cores of {platform.machine()}, {minutes:.0f} minutes"
    lines = [
        f"# {study['title']}",
        "",
        study["about"].strip(),
        "",
        f"Run on {when} with Andante {andante.__version__}: {size}.",
        "",
        "| algorithm | cap | paper | ours, mean ± standard error | median | 95 % | not solved | minutes |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *map(str, tallies),
    ]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("*", "\\*")


def main() -> None:
    """Run the study that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="a folder of studies/")
    parser.add_argument("--problems", type=int, help="about how many problems, evenly spread; default: all")
    asked = parser.parse_args()
    study = tomllib.loads((ROOT / "studies" / asked.name / "study.toml").read_text(encoding="utf-8"))
    tallies = [Tally(run) for run in study["run"]]
    began = time.perf_counter()
    for problems in problems_by_map(asked.problems):
        for tally in tallies:
            tally.add(problems)
    text = report(study, tallies, (time.perf_counter() - began) / 60)
    (ROOT / study["results"]).write_text(text, encoding="utf-8")
    Console().print(text, markup=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        main()
    except andante.AndanteError as error:
        raise SystemExit(f"studies: {error}") from None
