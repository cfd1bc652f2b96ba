"""The frame of all torture programs: cases that a seed and a number repeat, their figures, and what was found.

A program is a set of parts. A part is prepared once in each process; that gives a function which is called with a random generator for
each case, and says what came of it as a few counts, such as ``{"refused": 1}``. What must not be is raised: a `FoundError` with the input
that shows it, or any other exception, which is a finding too.
"""

from __future__ import annotations

import faulthandler
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from multiprocessing import get_context

#: What a part does with one case.
Attempt = Callable[[random.Random], Mapping[str, int]]

PROGRAMS = ("inputs", "kills", "walks")

#: A process that is at one chunk of cases for longer hangs.
LONGEST_CHUNK_SECONDS = 3600.0
_CHUNKS_PER_WORKER = 20
_SHOWN_FINDINGS = 10  # of each part; the others are counted
_SHOWN_BYTES = 2000
_TELL_SECONDS = 15.0


class FoundError(Exception):
    """Something that must not be: what it is, and the input that shows it."""

    def __init__(self, what: str, data: object = "") -> None:
        super().__init__(what)
        self.what, self.data = what, data


@dataclass(frozen=True)
class Finding:
    """What was found in one case."""

    number: int
    what: str
    data: str

    def lines(self, program: str, part: str, seed: int) -> Iterator[str]:
        """What to tell of it: what, how to repeat it, and the input."""
        yield f"FOUND in {part}, case {self.number}: {self.what}"
        yield f"    repeat: python -m tests.torture {program} {part} --seed {seed} --first {self.number} --size 1"
        if self.data:
            yield f"    input: {self.data}"


@dataclass
class Outcome:
    """What came of a number of cases."""

    cases: int = 0
    seconds: float = 0.0
    figures: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Count in what came of other cases; they may have been run at the same time."""
        self.cases += other.cases
        self.figures.update(other.figures)
        self.findings += other.findings

    def line(self, part: str, unit: str) -> str:
        """The figures of a part."""
        rate = f"{self.cases / self.seconds:,.0f} a second" if self.seconds else ""
        counts = "".join(f", {count:,} {name}" for name, count in sorted(self.figures.items()))
        return f"{part:<22} {self.cases:>11,} {unit}, {rate:<18} {len(self.findings)} findings{counts}"


def parts_of(program: str) -> dict[str, Callable[[], Attempt]]:
    """The parts of a program, each with what prepares it."""
    parts: dict[str, Callable[[], Attempt]] = import_module(f"tests.torture.{program}").PARTS
    return parts


def unit_of(program: str) -> str:
    """What the cases of a program are called."""
    return str(import_module(f"tests.torture.{program}").UNIT)


@cache
def _prepared(program: str, part: str) -> Attempt:
    return parts_of(program)[part]()


def chance(seed: int, part: str, number: int) -> random.Random:
    """The random generator of one case."""
    return random.Random(f"{seed} {part} {number}")


def run_cases(program: str, part: str, seed: int, first: int, size: int) -> Outcome:
    """Run some cases of a part in this process."""
    attempt = _prepared(program, part)
    outcome, began = Outcome(), time.perf_counter()
    for number in range(first, first + size):
        try:
            outcome.figures.update(attempt(chance(seed, part, number)))
        except FoundError as found:
            outcome.findings.append(Finding(number, found.what, _shown(found.data)))
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
            outcome.findings.append(Finding(number, what, ""))
        outcome.cases += 1
    outcome.seconds = time.perf_counter() - began
    return outcome


def _shown(data: object) -> str:
    text = repr(data)
    return text if len(text) <= _SHOWN_BYTES else f"{text[:_SHOWN_BYTES]}... ({len(text):,} characters)"


def _chunk(program: str, part: str, seed: int, first: int, size: int) -> Outcome:
    """Run some cases in a process of their own; one that hangs ends, with the place where it was."""
    faulthandler.enable()
    warnings.filterwarnings("error", module="andante")  # as in the test suite
    warnings.filterwarnings("error", category=RuntimeWarning)  # those that NumPy raises for us
    faulthandler.dump_traceback_later(LONGEST_CHUNK_SECONDS, exit=True)
    try:
        return run_cases(program, part, seed, first, size)
    finally:
        faulthandler.cancel_dump_traceback_later()


def run_part(program: str, part: str, seed: int, first: int, size: int, workers: int) -> Outcome:
    """Run a part on several processes, and tell of progress and of what is found."""
    step = max(1, min(size // (workers * _CHUNKS_PER_WORKER), 50_000))
    todo = [(number, min(step, first + size - number)) for number in range(first, first + size, step)]
    outcome, began, told, shown = Outcome(), time.perf_counter(), time.perf_counter(), 0
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        running: dict[Future[Outcome], tuple[int, int]] = {
            pool.submit(_chunk, program, part, seed, *chunk): chunk for chunk in todo
        }
        while running:
            done, _ = wait(running, timeout=_TELL_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = running.pop(future)
                try:
                    outcome.add(future.result())
                except BrokenProcessPool:
                    # The chunks that were at work are the first that are not finished.
                    some = sorted([chunk, *running.values()])[:workers]
                    where = ", ".join(f"--first {number} --size {count}" for number, count in some)
                    what = f"a process died or hung, in one of: {where} (--workers 1 tells which)"
                    outcome.findings.append(Finding(some[0][0], what, ""))
                    running.clear()
                    break
            for finding in outcome.findings[shown:_SHOWN_FINDINGS]:
                tell("\n".join(finding.lines(program, part, seed)))
            shown = len(outcome.findings)
            if time.perf_counter() - told > _TELL_SECONDS:
                told = time.perf_counter()
                tell(f"... {part}: {outcome.cases:,} of {size:,}, {len(outcome.findings)} findings", sys.stderr)
    outcome.seconds = time.perf_counter() - began
    tell(outcome.line(part, unit_of(program)))
    return outcome


def tell(text: str, stream: object = None) -> None:
    """Say something at once."""
    out = stream if stream is not None else sys.stdout
    out.write(f"{text}\n")  # type: ignore[attr-defined]
    out.flush()  # type: ignore[attr-defined]
