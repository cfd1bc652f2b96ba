"""Run a candidate: rows of trials with suboptimality as Bulitko (2016) defines it, and the times of single moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from andante.databases.header import Database
from andante.episode.rows import rows
from andante.episode.run import Outfit, run_many
from andante.episode.trial import Limits, Trial
from andante.measures import Outcome, Row
from andante.selection.space import Candidate
from andante.world.problem import Problem

#: How often a problem is run to time its moves.
REPEATS = 5


def run_rows(
    candidate: Candidate,
    databases: Sequence[Database],
    problems: Sequence[Problem],
    limits: Limits,
    threads: int,
    sight: int | None = None,
) -> list[Row]:
    """Return a row for each problem, as `counted`."""
    trials = run_many(candidate.algorithm, problems, threads=threads, limits=limits, databases=databases, sight=sight)
    return [
        counted({**row, "algorithm": candidate.name}, limits.suboptimality, _turns_waited(trial))
        for row, trial in zip(rows(trials), trials, strict=True)
    ]


def _turns_waited(trial: Trial) -> int:
    assert trial.path is not None
    return int(np.count_nonzero(trial.path[1:] == trial.path[:-1]))


def counted(row: Row, cap: float, waited: int = 0) -> Row:
    """Return the row with suboptimality as in Bulitko (2016): a run cut short has the cap, a stuck one slightly more.

    A turn in which the agent waits counts as a move of cost 1, because time passes.

    >>> row = {"solved": False, "outcome": "COST_CAP", "cost": 1032.0, "optimal_cost": 10.0}
    >>> counted(row, 100.0)["suboptimality_ratio"]
    100.0
    >>> counted({**row, "solved": True, "outcome": "GOAL", "cost": 12.0}, 100.0, waited=3)["suboptimality_ratio"]
    1.5
    """
    cost, optimal_cost = float(row["cost"]) + waited, float(row["optimal_cost"])
    if row["solved"]:
        ratio = min(cost / optimal_cost, cap)
    else:
        ratio = cap + (1.0 / optimal_cost if row["outcome"] == Outcome.STUCK.name else 0.0)
    return {**row, "cost": cost, "suboptimality_ratio": ratio}


def worst_move_microseconds(outfit: Outfit, problems: Sequence[Problem], limits: Limits) -> float:
    """Return the time of the slowest move on these problems.

    Each move is timed inside the compiled loop, on one thread, from the end of the previous move to its own end. The
    operating system sometimes interrupts a move, and the first access to a page of memory is slow. So each problem is
    run several times, with the same moves, and the shortest time of each move counts.
    """
    worst = 0.0
    for problem in problems:
        agent = outfit.agent_at_hand(problem)
        walks = [agent.move_nanoseconds(problem, limits) for _ in range(REPEATS)]
        worst = max(worst, float(np.min(walks, axis=0).max(initial=0)) / 1000)
    return worst
