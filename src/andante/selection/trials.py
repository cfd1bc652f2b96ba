"""Runs of a candidate: rows of trials with the measure that advise ranks by, and the times of single moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from andante.databases.header import Database
from andante.episode.rows import rows
from andante.episode.run import Outfit
from andante.episode.trial import Limits, Trial
from andante.measures import Row, capped_suboptimality_with_waits
from andante.world.problem import Problem

#: The measure that candidates are ranked by.
SCORE = "capped_suboptimality_with_waits"

#: The number of times that a problem is run to time its moves.
REPEATS = 5


def run_rows(
    outfit: Outfit[Database], name: str, problems: Sequence[Problem], limits: Limits, threads: int
) -> list[Row]:
    """Return a row for each problem, with `turns_waited` and `SCORE`; ``name`` is for the column `algorithm`."""
    trials = outfit.run_many(problems, threads=threads, limits=limits)
    found = rows(trials)
    outcomes, costs, optima = (np.array([row[key] for row in found]) for key in ("outcome", "cost", "optimal_cost"))
    waits = [_turns_waited(trial) for trial in trials]
    scores = capped_suboptimality_with_waits(costs, waits, optima, outcomes, limits.suboptimality).tolist()
    return [
        {**row, "algorithm": name, "turns_waited": waited, SCORE: score}
        for row, waited, score in zip(found, waits, scores, strict=True)
    ]


def _turns_waited(trial: Trial) -> int:
    assert trial.path is not None
    return int(np.count_nonzero(trial.path[1:] == trial.path[:-1]))


def worst_move_microseconds(outfit: Outfit[Database], problems: Sequence[Problem], limits: Limits) -> float:
    """Return the time of the slowest move on these problems.

    Each move is timed inside the compiled loop, on one thread, from the end of the previous move to its own end. The
    operating system sometimes interrupts a move, and the first access to a page of memory is slow. So each problem is
    run several times, with the same moves, and the shortest time of each move counts.
    """
    worst = 0.0
    for problem in problems:
        with outfit.spare_agent(problem) as agent:
            walks = [agent.move_nanoseconds(problem, limits) for _ in range(REPEATS)]
        worst = max(worst, float(np.min(walks, axis=0).max(initial=0)) / 1000)
    return worst
