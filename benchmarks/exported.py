"""The cost of exported agents: a move in C and in WebAssembly relative to the loop in Python's process, and sizes.

    python -m benchmarks.exported [ALGORITHM ...]

measures these, or all agents, and writes `benchmarks/exported.md`. With `--log FILE` a stopped run can be resumed:
agents that are in this file are not measured again.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import andante
from andante.databases.header import Database
from andante.datasets.named import map_named
from andante.export import export
from andante.export.library import filled
from andante.export.objects import this_machine
from andante.files import write_whole
from andante.world.problem import Problem
from benchmarks import report
from benchmarks.tables import Table, times

ROUNDS, SECONDS, LONGEST = 7, 1.0, 5.0  # rounds, for a second of processor time at least, and about five at most
TABLE = Path("benchmarks/exported.md")
ORDERS = {"dprlrta": "pattern(base=3, cover=aligned)"}  # a database that is not the default of its kind
ASKED_C, ASKED_WASM = 1.1, 2.5  # times the loop in Python's process, at most

_C = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "andante.h"
static void *whole(const char *path, size_t *bytes) {
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) exit(3);
    fseek(stream, 0, SEEK_END); *bytes = (size_t)ftell(stream); rewind(stream);
    void *data = malloc(*bytes);
    if (fread(data, 1, *bytes, stream) != *bytes) exit(3);
    fclose(stream);
    return data;
}
static const int32_t problems[][2] = {@PROBLEMS@};
int main(int count, char **arguments) {
    andante_files files; memset(&files, 0, sizeof files);
    files.plan = whole(arguments[1], &files.plan_bytes); files.map = whole(arguments[2], &files.map_bytes);
    for (int i = 3; i < count; i++) files.databases[i - 3] = whole(arguments[i], &files.database_bytes[i - 3]);
    size_t kept, used; andante_agent agent;
    if (andante_@NAME@_bytes(&files, &kept, &used) < 0) return 1;
    if (andante_@NAME@_init(&agent, &files, malloc(kept), kept, malloc(used + 1), used) < 0) return 1;
    double best = 1e9;
    clock_t first = clock();
    double spent = 0;
    for (int round = 0; spent < (round < @ROUNDS@ ? @LONGEST@ : @SECONDS@); round++) {
        long long moves = 0; clock_t began = clock();
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
            andante_trial trial;
            if (andante_@NAME@_run(&agent, problems[i][0], problems[i][1], NULL, NULL, 0, &trial) < 0) return 1;
            moves += trial.moves;
        }
        double took = (double)(clock() - began) / CLOCKS_PER_SEC / (double)moves;
        if (took < best) best = took;
        spent = (double)(clock() - first) / CLOCKS_PER_SEC;
    }
    printf("%.12f", best);
    return 0;
}
"""

_JS = """
import { readFile } from "node:fs/promises";
import { load } from "@FOLDER@/wasm/andante.mjs";
const bytes = async (name) => new Uint8Array(await readFile(name));
const andante = await load(await bytes("@FOLDER@/wasm/andante.wasm"));
const map = andante.map(await bytes(process.argv[3]));
const databases = await Promise.all(process.argv.slice(4).map(bytes));
const agent = andante.agent("@NAME@", { plan: await bytes(process.argv[2]), map, databases });
const problems = @PROBLEMS@;
let best = Infinity;
let spent = 0;
for (let round = 0; spent < (round < @ROUNDS@ ? @LONGEST@ : @SECONDS@); round++) {
  let moves = 0;
  const began = process.cpuUsage();
  for (const [start, goal] of problems) {
    agent.library.check(agent.call("run", agent.at, start, goal, 0, 0, 0, agent.result));
    moves += agent.library.view().getInt32(agent.result + 32, true);
  }
  const { user, system } = process.cpuUsage(began);
  spent += (user + system) / 1e6;
  best = Math.min(best, (user + system) / 1e6 / moves);
}
console.log(best);
"""


@dataclass(frozen=True)
class Exported:
    """The measurements of one agent; None where there is no compiler, no Zig or no Node."""

    algorithm: str
    python: float  # seconds per move
    c: float | None
    wasm: float | None
    object_bytes: int
    wasm_bytes: int | None


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, and write it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exported", description=(__doc__ or "").partition("\n\n")[0]
    )
    parser.add_argument("algorithms", nargs="*", metavar="ALGORITHM", help="the algorithms (default: all)")
    parser.add_argument("--map", default="outdoor:512x512:7", help="a generated map (default %(default)s)")
    parser.add_argument("--problems", type=int, default=30, help="random problems on it (default %(default)s)")
    parser.add_argument("--out", type=Path, default=TABLE, help="the Markdown file to write (default %(default)s)")
    parser.add_argument("--log", type=Path, help="a file for the measurements, from which a stopped run is resumed")
    asked = parser.parse_args(arguments)
    grid = map_named(asked.map)
    problems = andante.random_problems(grid, asked.problems, seed=1)
    before = _logged(asked.log, grid.name, len(problems))
    build = cache(lambda order: andante.build(order, grid))
    found = []
    for algorithm in asked.algorithms or [entry.card.name for entry in andante.algorithms()]:
        if algorithm not in before:
            databases = [build(ORDERS.get(algorithm, kind)) for kind in andante.find(algorithm).needs]
            before[algorithm] = measure(algorithm, problems, databases)
            _log(asked.log, grid.name, len(problems), before[algorithm])
        found.append(before[algorithm])
        print(" ".join(_row(found[-1])), flush=True)
        write_whole(asked.out, page(found, grid.name, len(problems)).encode())


def _logged(log: Path | None, map_name: str, problems: int) -> dict[str, Exported]:
    """Return the measurements in a log on this map and this many problems, by algorithm."""
    if log is None or not log.exists():
        return {}
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return {row["algorithm"]: Exported(**row) for where, count, row in rows if (where, count) == (map_name, problems)}


def _log(log: Path | None, map_name: str, problems: int, one: Exported) -> None:
    if log is not None:
        with log.open("a") as file:
            file.write(json.dumps([map_name, problems, asdict(one)]) + "\n")


def page(found: Sequence[Exported], map_name: str, problems: int) -> str:
    """Return the page about these agents."""
    lead = f"Processor time per move on {map_name}, {problems} random problems, the best of several rounds."
    about = f"C and WebAssembly are relative to the loop in Python's process. {report.machine()}{report.load()}."
    return f"# The cost of exported agents\n\n{lead} {about}\n\n{table(found).markdown()}\n"


def asked_kb(algorithm: str) -> int:
    """Return the limit on the size of a static library, in KB."""
    return 300 if algorithm == "prlrts" else 100


def table(found: Sequence[Exported]) -> Table:
    """Return the table of these agents, with their limits."""
    columns = ["algorithm", "Python, ns", "C", "WebAssembly", "library, KB", "andante.wasm, KB"]
    made = Table("Agents", columns, [_row(one) for one in found])
    slow_c = [one.algorithm for one in found if one.c and one.c > ASKED_C * one.python]
    slow_wasm = [one.algorithm for one in found if one.wasm and one.wasm > ASKED_WASM * one.python]
    large = [one.algorithm for one in found if one.object_bytes > 1e3 * asked_kb(one.algorithm)]
    asked = (
        (f"C: at most {ASKED_C}", slow_c),
        (f"WebAssembly: at most {ASKED_WASM}", slow_wasm),
        ("Libraries: at most 100 KB, and 300 KB for prlrts", large),
    )
    for what, over in asked:
        made.notes.append(f"{what}; {', '.join(over) or 'none'} above.")
    return made


def _row(one: Exported) -> list[str]:
    ratios = ["" if took is None else times(took / one.python) for took in (one.c, one.wasm)]
    wasm = "" if one.wasm_bytes is None else f"{one.wasm_bytes / 1e3:.0f}"
    return [one.algorithm, f"{1e9 * one.python:,.0f}", *ratios, f"{one.object_bytes / 1e3:.0f}", wasm]


def measure(algorithm: str, problems: Sequence[Problem], databases: Sequence[Database] = ()) -> Exported:
    """Measure Python, C and WebAssembly, one after the other, each in its own process."""
    grid = problems[0].grid
    assert grid is not None
    with tempfile.TemporaryDirectory(prefix="andante-export-") as scratch:
        folder = Path(scratch) / "engine"
        zig = importlib.util.find_spec("ziglang") is not None or shutil.which("zig") is not None
        export(algorithm, grid, folder, databases=databases, targets=["this", "wasm"] if zig else "this")
        name = json.loads((folder / "export.json").read_text())["agents"].popitem()[0]
        data = [str(folder / "data" / f"{grid.name}.{one}") for one in (f"{name}.plan", "image")]
        data += [str(next((folder / "data").glob(f"*.{one.kind}"))) for one in databases]
        values = {"NAME": name, "ROUNDS": ROUNDS, "SECONDS": SECONDS, "LONGEST": LONGEST, "FOLDER": folder}
        pairs = [[problem.start, problem.goal] for problem in problems]
        static = folder / this_machine().name / this_machine().static
        return Exported(
            algorithm,
            python_seconds(algorithm, problems, databases),
            _in_c(folder, values, pairs, data) if shutil.which("gcc") else None,
            _in_node(folder, values, pairs, data) if zig and shutil.which("node") else None,
            static.stat().st_size if static.exists() else 0,
            (folder / "wasm" / "andante.wasm").stat().st_size if zig else None,
        )


def python_seconds(algorithm: str, problems: Sequence[Problem], databases: Sequence[Database] = ()) -> float:
    """Return the time of a move in Python's process, in the loop that `run_all` calls."""
    agent = andante.Agent(algorithm, problems[0].world, databases=databases)
    agent.run_all(problems, paths=False)  # compiles
    first, found = time.process_time(), []
    while time.process_time() - first < (LONGEST if len(found) < ROUNDS else SECONDS):
        began = time.process_time()
        trials = agent.run_all(problems, paths=False)
        found.append((time.process_time() - began) / sum(trial.moves for trial in trials))
    return min(found)


def _in_c(folder: Path, values: dict[str, object], pairs: list[list[int]], data: list[str]) -> float:
    listed = ", ".join(f"{{{start}, {goal}}}" for start, goal in pairs)
    (folder / "bench.c").write_text(filled(_C, {**values, "PROBLEMS": listed}))
    library = folder / this_machine().name / this_machine().static
    program = str(folder / "bench")
    subprocess.run(
        ["gcc", "-std=c99", "-O2", f"-I{folder}", str(folder / "bench.c"), str(library), "-o", program], check=True
    )
    return float(subprocess.run([program, *data], check=True, capture_output=True, text=True).stdout)


def _in_node(folder: Path, values: dict[str, object], pairs: list[list[int]], data: list[str]) -> float:
    (folder / "bench.mjs").write_text(filled(_JS, {**values, "PROBLEMS": json.dumps(pairs)}))
    done = subprocess.run(["node", str(folder / "bench.mjs"), *data], check=True, capture_output=True, text=True)
    return float(done.stdout)


def export_seconds(map_file: Path, target: str = "this") -> float:
    """Return the time of `andante export` for one agent and one target, from the command line, all kernels compiled."""
    with tempfile.TemporaryDirectory(prefix="andante-export-") as scratch:
        words = ["export", "lrta", "--map", str(map_file), "--target", target, "--out", f"{scratch}/engine"]
        call = [sys.executable, "-c", "from andante.cli import main; main()", *words]
        began = time.perf_counter()
        subprocess.run(call, check=True, capture_output=True)
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
