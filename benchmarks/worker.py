"""One peer, one map, one process: ``python -m benchmarks.worker PEER PROBLEMS.npz RESULT.json BUDGET``.

A pass runs every problem in turn, as far as BUDGET seconds allow, and the referee checks every path. More passes follow
while there is time, and the best time of each problem counts. Times are CPU times of the whole process, with all
threads.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.moves import Cell, judge, legal_steps
from benchmarks.peers import Peer
from benchmarks.problems import ProblemSet

PASSES = 3


@dataclass
class Result:
    """The results of a peer on one map."""

    fault: str = ""  # why it did not finish
    prepare_seconds: float = 0.0
    seconds: list[float] = field(default_factory=list)  # of each problem that it solved in time
    passes: int = 0  # over these problems
    expanded: int = 0  # states, over all these problems, if the package reports them
    one_step_seconds: list[float] = field(default_factory=list)
    field_seconds: list[float] = field(default_factory=list)
    lost: int = 0  # answers that do not lead from start to goal
    illegal: int = 0  # answers with moves against the rule
    worst: float = 0.0  # the largest difference from the optimal cost, as a share of it
    worst_field: float = 0.0


def measure(peer: Peer, problems: ProblemSet, budget: float) -> Result:
    """Run ``peer`` on all problems and fields."""
    result = Result()
    try:
        began = time.process_time()
        handle = peer.prepare(problems.passable)
        result.prepare_seconds = time.process_time() - began
        peer.solve(handle, *problems.one_step_pairs()[0])  # work that is done only once is not counted
        _ask_all(peer, handle, problems, budget, result)
        solve = peer.solve
        result.one_step_seconds, _ = _passes(lambda pair: solve(handle, *pair), problems.one_step_pairs(), budget / 8)
        _ask_fields(peer, handle, problems, budget / 4, result)
    except Exception as error:
        result.fault = f"{type(error).__name__}: {error}"
    return result


def _ask_all(peer: Peer, handle: Any, problems: ProblemSet, budget: float, result: Result) -> None:
    legal = legal_steps(problems.passable)

    def check(i: int, pair: tuple[Cell, Cell], answer: Any) -> None:
        verdict = judge(legal, peer.cells(handle, answer), *pair)
        result.lost += not verdict.arrives
        result.illegal += verdict.illegal > 0
        result.expanded += peer.expanded(answer) if peer.expanded is not None else 0
        if verdict.arrives:
            result.worst = max(result.worst, abs(verdict.cost / problems.optimal[i] - 1))

    result.seconds, result.passes = _passes(lambda pair: peer.solve(handle, *pair), problems.pairs(), budget, check)


def _ask_fields(peer: Peer, handle: Any, problems: ProblemSet, budget: float, result: Result) -> None:
    ask = peer.field
    if ask is None:
        return

    def check(i: int, source: Cell, answer: Any) -> None:
        right = problems.field[i]
        reached = np.isfinite(right) & (right > 0)
        wrong = abs(np.asarray(answer)[reached] / right[reached] - 1)
        result.worst_field = max(result.worst_field, float(wrong.max()))

    sources = [start for start, _ in problems.pairs()[: len(problems.field)]]
    ask(handle, sources[0])
    result.field_seconds, _ = _passes(lambda source: ask(handle, source), sources, budget, check)


def _passes(
    ask: Callable[[Any], Any],
    questions: Sequence[Any],
    budget: float,
    check: Callable[[int, Any, Any], None] = lambda i, question, answer: None,
) -> tuple[list[float], int]:
    """Return the best CPU time for each question that the first pass reached, and the number of passes."""
    began = time.perf_counter()
    best: list[float] = []
    for i, question in enumerate(questions):
        best.append(0.0)
        best[i], answer = _timed(ask, question)
        check(i, question, answer)
        if time.perf_counter() - began > budget:
            break
    lap = time.perf_counter() - began
    passes = 1
    while passes < PASSES and time.perf_counter() - began + lap <= budget:
        passes += 1
        for i in range(len(best)):
            best[i] = min(best[i], _timed(ask, questions[i])[0])
    return best, passes


def _timed(ask: Callable[[Any], Any], question: Any) -> tuple[float, Any]:
    began = time.process_time()
    answer = ask(question)
    return time.process_time() - began, answer


def main(peer: str, problems: str, result: str, budget: str) -> None:
    """Measure, and write the result as JSON."""
    found = measure(peers.find(peer), ProblemSet.load(Path(problems)), float(budget))
    Path(result).write_text(json.dumps(asdict(found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
