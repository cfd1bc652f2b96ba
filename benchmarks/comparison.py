"""Comparison of Andante and other packages on the same problems, each in a separate process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.tables import Table, milliseconds, times
from benchmarks.worker import Result

OURS = "andante"
FIELD_LIMIT = 4.0  # the promised speed of Andante's distance fields, relative to SciPy's
TOLERANCE = 1e-4  # relative, of costs: some peers use whole numbers or single precision

#: Settings that limit libraries to one thread.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

Results = dict[str, list[Result]]  # of each peer, on each map


def ask(name: str, problems: Path, budget: float, *, patience: float | None = None) -> Result:
    """Let one peer solve one file of problems; failures become part of the result."""
    peer = peers.find(name)
    if name != OURS and version(peer.package) is None:
        return Result(fault=f"not installed: pip install 'andante[{peer.extra}]'")
    answer = problems.with_name(f"{problems.stem}-{name}.json")
    command = [sys.executable, "-m", "benchmarks.worker", name, str(problems), str(answer), str(budget)]
    limit = patience if patience is not None else 60 + 4 * budget
    try:
        done = subprocess.run(
            command,
            cwd=Path(__file__).parents[1],
            env={**os.environ, **ONE_THREAD},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Result(fault=f"no answer within {limit:g} s")
    if done.returncode:
        return Result(fault=_last_words(done))
    return Result(**json.loads(answer.read_text()))


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"killed by {signal.Signals(-done.returncode).name}"
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def version(package: str) -> str | None:
    """Return the installed version, if there is one."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def compare(
    names: Sequence[str], files: Sequence[Path], budget: float, say: Callable[[str], None] = lambda text: None
) -> Results:
    """Run all peers on all problems, Andante first and last; the mean of its two runs is compared with theirs."""
    found: Results = {name: [] for name in (OURS, *names)}
    for file in files:
        for name in (OURS, *names):
            say(f"{name} on {file.stem}")
            found[name].append(ask(name, file, budget))
        again = ask(OURS, file, budget)
        if not again.fault and not found[OURS][-1].fault:
            _average(found[OURS][-1], again)
    return found


def _average(result: Result, again: Result) -> None:
    # Not the better of the two: peers have one run, so the best of twice as many passes would be unfair.
    for name in ("seconds", "one_step_seconds", "field_seconds"):
        setattr(result, name, [(a + b) / 2 for a, b in zip(getattr(result, name), getattr(again, name), strict=False)])


# --- tables ---------------------------------------------------------------------------------------------------------


def paths_table(results: Results, floor: Sequence[Result] = ()) -> Table:
    """Return the table of whole problems, from two cells to a path; ``floor`` has the results of the floor, if any."""
    made = Table(
        "Shortest paths, one call per problem",
        [
            "package",
            "how",
            "problems",
            "prepare, ms",
            "problem, ms",
            "x",
            "expansion, ns",
            "one step, us",
            "x",
            "paths",
        ],
        left=("how", "paths"),
    )
    ours = results[OURS]
    if floor:
        made.rows.append(_row("C++ floor", "astar_bucket:12", floor, ours))
    for name in sorted(results, key=lambda name: _ratio(results[name], ours, "seconds")):
        peer = peers.find(name)
        label = f"{peer.package} {version(peer.package) or ''}".strip() + (" *" if peer.breaks else "")
        made.rows.append(_row(label, peer.way, results[name], ours, peer.breaks))
    made.notes = [
        "problems: how many it solved in its time, and in how many passes, of which the best counts for each problem.",
        "x: times Andante's time, on the problems that both solved.",
        *_promises(results),
    ]
    return made


def _row(label: str, how: str, results: Sequence[Result], ours: Sequence[Result], breaks: str = "") -> list[str]:
    faults = sorted({result.fault for result in results if result.fault})
    solved = sum(len(result.seconds) for result in results)
    if not solved:
        return [label, how, "0", *[""] * 6, "; ".join(faults)]
    return [
        label,
        how,
        f"{solved} x {min(result.passes for result in results if result.seconds)}",
        milliseconds(float(np.mean([result.prepare_seconds for result in results if result.seconds]))),
        milliseconds(_mean(results, "seconds")),
        times(_ratio(results, ours, "seconds")),
        _expansion(results),
        *_one_step(results, ours),
        "; ".join([_verdict(results, breaks), *faults]),
    ]


def _expansion(results: Sequence[Result]) -> str:
    expanded = sum(result.expanded for result in results)
    return f"{1e9 * sum(sum(result.seconds) for result in results) / expanded:,.0f}" if expanded else ""


def _one_step(results: Sequence[Result], ours: Sequence[Result]) -> list[str]:
    if not any(result.one_step_seconds for result in results):
        return ["", ""]
    return [f"{1e6 * _mean(results, 'one_step_seconds'):.1f}", times(_ratio(results, ours, "one_step_seconds"))]


def _verdict(results: Sequence[Result], breaks: str) -> str:
    lost, illegal = sum(result.lost for result in results), sum(result.illegal for result in results)
    worst = max(result.worst for result in results)
    if not lost and not illegal and worst <= TOLERANCE:
        return "optimal"
    wrong = f"{illegal} illegal, {lost} lost, costs up to {100 * worst:.1f} % off"
    return f"{breaks}: {wrong}" if breaks else f"WRONG: {wrong}"


def _mean(results: Sequence[Result], what: str) -> float:
    values = [value for result in results for value in getattr(result, what)]
    return float(np.mean(values)) if values else float("nan")


def _ratio(results: Sequence[Result], ours: Sequence[Result], what: str) -> float:
    """Return their time over ours, on the problems that both solved; infinite if there are none."""
    pairs = [
        pair
        for their, our in zip(results, ours, strict=True)
        for pair in zip(getattr(their, what), getattr(our, what), strict=False)
    ]
    return sum(their for their, _ in pairs) / sum(our for _, our in pairs) if pairs else float("inf")


def _promises(results: Mapping[str, Sequence[Result]]) -> list[str]:
    """Return notes on whether A* is faster end to end than every peer that keeps the rule."""
    notes = ["*: cannot express the move rule, and so solves other problems."]
    fair = {
        name: _ratio(results[name], results[OURS], "seconds")
        for name in results
        if name != OURS and not peers.find(name).breaks and any(result.seconds for result in results[name])
    }
    if fair and any(result.seconds for result in results[OURS]):
        name = min(fair, key=lambda each: fair[each])
        fastest = f"the fastest of them, {peers.find(name).package}, takes {times(fair[name])} times as long"
        notes.append(f"Promised: faster than every peer without *; {fastest}: {_kept(fair[name] > 1)}.")
    return notes


def _kept(promise: bool) -> str:
    return "kept" if promise else "NOT KEPT"


def fields_table(results: Results) -> Table:
    """Return the table of full distance fields: the cost from one cell to every other."""
    made = Table("Full distance fields", ["package", "field, ms", "x", "costs"], left=("costs",))
    able = [name for name in results if any(result.field_seconds for result in results[name])]
    for name in sorted(able, key=lambda name: _ratio(results[name], results[OURS], "field_seconds")):
        worst = max(result.worst_field for result in results[name])
        made.rows.append(
            [
                peers.find(name).package,
                milliseconds(_mean(results[name], "field_seconds")),
                times(_ratio(results[name], results[OURS], "field_seconds")),
                "right" if worst <= TOLERANCE else f"WRONG by up to {100 * worst:.2g} %",
            ]
        )
    if "scipy" in able and OURS in able:
        ratio = _ratio(results["scipy"], results[OURS], "field_seconds")
        promise = f"SciPy takes at least {FIELD_LIMIT:g} times as long; it takes {times(ratio)}"
        made.notes = [f"Promised: {promise}: {_kept(ratio >= FIELD_LIMIT)}."]
    return made
