"""The frame of all torture programs: cases that can be repeated by seed and number, their figures, and findings.

A program is a set of parts. A part is prepared once in each process, which gives a function. The function is called for
each case with a random generator, and returns the result as a few counts, such as ``{"refused": 1}``. If something is
wrong, it raises a `FoundError` with the input that shows it; any other exception is a finding too.

Cases are run in chunks. The result of a chunk is appended to a log as one line, so that a stopped run can be resumed,
and a part may be split: results of the same program, part and seed are added up.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from andante.markdown import markdown_table

#: The function of a part for one case.
Attempt = Callable[[random.Random], Mapping[str, int]]

PROGRAMS = ("inputs", "kills", "walks", "exports")

#: A process that works on one chunk of cases for longer than this hangs.
LONGEST_CHUNK_SECONDS = 3600.0

#: The number of cases of a chunk: some ten seconds of computing.
CHUNK = {"inputs": 20_000, "kills": 1, "walks": 100, "exports": 5}
_SHOWN_FINDINGS = 10  # of each part; the others are only counted
_SHOWN_BYTES = 2000
_REPORT_SECONDS = 15.0


class FoundError(Exception):
    """A wrong behaviour, with the input that shows it."""

    def __init__(self, what: str, data: object = "") -> None:
        super().__init__(what)
        self.what, self.data = what, data


@dataclass(frozen=True)
class Finding:
    """The finding of one case."""

    number: int
    what: str
    data: str

    def lines(self, program: str, part: str, seed: int) -> Iterator[str]:
        """Yield the report: what happened, how to repeat it, and the input."""
        yield f"FOUND in {part}, case {self.number}: {self.what}"
        yield f"    repeat: python -m tests.torture {program} {part} --seed {seed} --first {self.number} --size 1"
        if self.data:
            yield f"    input: {self.data}"


@dataclass
class Outcome:
    """The results of a number of cases."""

    cases: int = 0
    seconds: float = 0.0  # of computing, without the preparation
    figures: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Add the results of other cases."""
        self.cases += other.cases
        self.seconds += other.seconds
        self.figures.update(other.figures)
        self.findings += other.findings

    def line(self, part: str, unit: str) -> str:
        """Return the figures of a part as a line."""
        rate = f"{self.rate} a second" if self.rate else ""
        counts = "".join(f", {count:,} {name}" for name, count in sorted(self.figures.items()))
        return f"{part:<22} {self.cases:>11,} {unit}, {rate:<18} {len(self.findings)} findings{counts}"

    @property
    def rate(self) -> str:
        """Cases in a second of computing."""
        each = self.cases / self.seconds if self.seconds else 0.0
        return f"{each:,.0f}" if each >= 10 else f"{each:.2g}" if each else ""


# --- the log --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A line of the log: a chunk and its results."""

    program: str
    part: str
    seed: int
    first: int
    size: int
    commit: str
    outcome: Outcome

    @property
    def chunk(self) -> tuple[int, int]:
        """The number of its first case, and the number of cases."""
        return self.first, self.size

    def to_json(self) -> str:
        """Return the entry as one line."""
        found = self.outcome
        said = {
            "cases": found.cases,
            "seconds": round(found.seconds, 3),
            "figures": dict(found.figures),
            "findings": [asdict(one) for one in found.findings],
        }
        names = ("program", "part", "seed", "first", "size", "commit")
        return json.dumps({name: getattr(self, name) for name in names} | {"outcome": said})

    @classmethod
    def from_json(cls, line: str) -> Entry:
        """Return the entry that `to_json` wrote."""
        data = json.loads(line)
        said = data.pop("outcome")
        findings = [Finding(**one) for one in said["findings"]]
        return cls(**data, outcome=Outcome(said["cases"], said["seconds"], Counter(said["figures"]), findings))


class Log:
    """The log of finished chunks, line by line; in memory if there is no file."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        there = file is not None and file.exists()
        self.entries = [Entry.from_json(line) for line in _whole_lines(file)] if there and file else []

    def add(self, entry: Entry) -> None:
        """Append a line, which is in the file when this returns."""
        self.entries.append(entry)
        if self._file is not None:
            with self._file.open("a") as stream:
                stream.write(f"{entry.to_json()}\n")

    def done(self, program: str, part: str, seed: int) -> list[Entry]:
        """Return the finished chunks of a part with this seed, without those with findings, which are run again."""
        mine = [e for e in self.entries if (e.program, e.part, e.seed) == (program, part, seed)]
        last = {entry.chunk: entry for entry in mine}
        return [entry for entry in last.values() if not entry.outcome.findings]

    def table(self) -> Iterator[str]:
        """Yield all results as a table in Markdown; if a chunk was run again, the last result counts."""
        last = {(e.program, e.part, e.seed, e.chunk): e for e in self.entries}
        sums: dict[tuple[str, str], Outcome] = {}
        commits: dict[tuple[str, str], set[str]] = {}
        for entry in last.values():
            key = entry.program, entry.part
            sums.setdefault(key, Outcome()).add(entry.outcome)
            commits.setdefault(key, set()).add(entry.commit)
        lines = []
        for (program, part), all_of_it in sums.items():
            moves, kills = (
                f"{all_of_it.figures[name]:,}" if name in all_of_it.figures else "" for name in ("moves", "kills")
            )
            found = f"{len(all_of_it.findings)}"
            where = ", ".join(sorted(commits[program, part]))
            lines.append([program, part, f"{all_of_it.cases:,}", moves, kills, found, f"{all_of_it.rate}", where])
        head = ["program", "part", "cases", "moves", "kills", "findings", "a second of computing", "commit"]
        yield from markdown_table(head, lines, left=("part", "commit")).splitlines()


def _whole_lines(file: Path) -> Iterable[str]:
    """Return the lines of a log, without a last one that was cut off by a kill."""
    return [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]


@cache
def commit() -> str:
    """Return the commit that is being run."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


# --- programs -------------------------------------------------------------------------------------------------------


def _module(program: str) -> ModuleType:
    return import_module(f"tests.torture.{program}")


def parts_of(program: str) -> dict[str, Callable[[], Attempt]]:
    """Return the parts of a program, each with the function that prepares it."""
    parts: dict[str, Callable[[], Attempt]] = _module(program).PARTS
    return parts


def unit_of(program: str) -> str:
    """Return the name of a program's cases."""
    return str(_module(program).UNIT)


def _around(program: str) -> AbstractContextManager[Any]:
    """Return the context in which a program's cases are run."""
    around: Callable[[], AbstractContextManager[Any]] = getattr(_module(program), "around", nullcontext)
    return around()


@cache
def _prepared(program: str, part: str) -> Attempt:
    return parts_of(program)[part]()


def chance(seed: int, part: str, number: int) -> random.Random:
    """Return the random generator of one case."""
    return random.Random(f"{seed} {part} {number}")


def run_cases(program: str, part: str, seed: int, first: int, size: int) -> Outcome:
    """Run some cases of a part in this process."""
    attempt = _prepared(program, part)
    outcome, began = Outcome(), _computing()
    with _around(program):
        for number in range(first, first + size):
            try:
                for name, count in attempt(chance(seed, part, number)).items():
                    outcome.figures[name] += count
            except FoundError as found:
                outcome.findings.append(Finding(number, found.what, _shown(found.data)))
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                what = f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
                outcome.findings.append(Finding(number, what, ""))
            outcome.cases += 1
    outcome.seconds = _computing() - began
    return outcome


def _computing() -> float:
    """Return the processor time of this process and of its children that have ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def _shown(data: object) -> str:
    text = repr(data)
    return text if len(text) <= _SHOWN_BYTES else f"{text[:_SHOWN_BYTES]}... ({len(text):,} characters)"


def _chunk(program: str, part: str, seed: int, first: int, size: int) -> Outcome:
    """Run some cases in a separate process; one that hangs is ended, and reports where it was."""
    faulthandler.enable()
    warnings.filterwarnings("error", module="andante")  # as in the test suite
    warnings.filterwarnings("error", category=RuntimeWarning)  # those that NumPy raises
    faulthandler.dump_traceback_later(LONGEST_CHUNK_SECONDS, exit=True)
    try:
        return run_cases(program, part, seed, first, size)
    finally:
        faulthandler.cancel_dump_traceback_later()


def run_part(program: str, part: str, seed: int, first: int, size: int, workers: int, log: Log) -> Outcome:
    """Run the cases of a part that are not in the log yet, on several processes, and report progress and findings."""
    outcome, reported, shown = Outcome(), time.perf_counter(), 0
    step = CHUNK[program]
    done = {entry.chunk: entry for entry in log.done(program, part, seed)}
    todo = []
    for number in range(first, first + size, step):
        chunk = number, min(step, first + size - number)
        if chunk in done:
            outcome.add(done[chunk].outcome)
        else:
            todo.append(chunk)
    with ProcessPoolExecutor(min(workers, len(todo)) or 1, mp_context=get_context("spawn")) as pool:
        running: dict[Future[Outcome], tuple[int, int]] = {
            pool.submit(_chunk, program, part, seed, *chunk): chunk for chunk in todo
        }
        while running:
            finished, _ = wait(running, timeout=_REPORT_SECONDS, return_when=FIRST_COMPLETED)
            for future in finished:
                chunk = running.pop(future)
                try:
                    found = future.result()
                except BrokenProcessPool:
                    # The chunks that were running are the first that are not finished.
                    some = sorted([chunk, *running.values()])[:workers]
                    where = ", ".join(f"--first {number} --size {count}" for number, count in some)
                    what = f"a process died or hung, in one of: {where} (--workers 1 shows which)"
                    died = Outcome(findings=[Finding(some[0][0], what, "")])
                    outcome.add(died)
                    log.add(Entry(program, part, seed, *some[0], commit(), died))
                    running.clear()
                    break
                outcome.add(found)
                log.add(Entry(program, part, seed, *chunk, commit(), found))
            for finding in outcome.findings[shown:_SHOWN_FINDINGS]:
                say("\n".join(finding.lines(program, part, seed)))
            shown = len(outcome.findings)
            if time.perf_counter() - reported > _REPORT_SECONDS:
                reported = time.perf_counter()
                say(f"... {part}: {outcome.cases:,} of {size:,}, {len(outcome.findings)} findings", sys.stderr)
    say(outcome.line(part, unit_of(program)))
    return outcome


def say(text: str, stream: object = None) -> None:
    """Print a text immediately."""
    out = stream if stream is not None else sys.stdout
    out.write(f"{text}\n")  # type: ignore[attr-defined]
    out.flush()  # type: ignore[attr-defined]
