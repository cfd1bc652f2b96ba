"""The floor: a minimal C++ program that gives a lower bound on the cost of searches on this machine.

It is not a part of Andante. Where Andante is developed, it is in ``shared/floor`` beside the repository; elsewhere
there is no lower bound to compare with.
"""

from __future__ import annotations

import csv
import math
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "shared" / "floor" / "floor.cpp"
OPTIONS = ("-O3", "-march=native", "-std=c++17")


class NoFloorError(Exception):
    """An error because the floor is missing; the message says why."""


@dataclass(frozen=True)
class Run:
    """One pass of the floor over a scenario."""

    cpu_seconds: float
    load_seconds: float
    expanded: int
    moves: int
    plans: int
    costs: list[float]


@dataclass(frozen=True)
class Floor:
    """The compiled program."""

    program: Path

    @classmethod
    def compiled(cls, folder: Path, source: Path = SOURCE) -> Floor:
        """Compile it into ``folder``; raise `NoFloorError` if that is not possible here."""
        compiler = shutil.which("g++")
        if not source.is_file():
            raise NoFloorError("its source is not on this machine")
        if compiler is None:
            raise NoFloorError("there is no g++ to compile it")
        program = folder / "floor"
        made = subprocess.run([compiler, *OPTIONS, "-o", program, source], capture_output=True, text=True, check=False)
        if made.returncode:
            raise NoFloorError(f"g++ cannot compile it: {made.stderr.strip().splitlines()[0]}")
        return cls(program)

    def run(self, map_file: Path, scenario: Path, algorithm: str) -> Run:
        """Run every problem of the scenario once."""
        done = subprocess.run(
            [self.program, map_file, scenario, algorithm, "0", "1"], capture_output=True, text=True, check=True
        )
        numbers = dict(re.findall(r"(\w+)=([\d.]+)", done.stderr))
        rows = list(csv.DictReader(done.stdout.splitlines()))
        return Run(
            cpu_seconds=float(numbers["cpu_ms_min"]) / 1e3,
            load_seconds=float(numbers["load_ms"]) / 1e3,
            expanded=int(numbers["expanded"]),
            moves=int(numbers["moves"]),
            plans=int(numbers["plans"]),
            costs=[float(row["cost"]) if row["solved"] == "1" else math.inf for row in rows],
        )
