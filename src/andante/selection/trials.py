"""Trying a candidate out: rows of trials counted as Bulitko (2016) counts them, and the time of single moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from andante.databases.header import Database
from andante.episode.loop import Outcome
from andante.episode.run import Outfit, run_many
from andante.episode.trial import Limits, Trial
from andante.measures import Row, rows
from andante.selection.space import Candidate
from andante.world.problem import Problem

#: How often a problem is walked for its moves to be timed.
REPEATS = 5


def run_rows(
    candidate: Candidate,
    databases: Sequence[Database],
    problems: Sequence[Problem],
    limits: Limits,
    threads: int,
    sight: int | None = None,
) -> list[Row]:
    """A row for each problem, counted."""
    trials = run_many(candidate.algorithm, problems, threads=threads, limits=limits, databases=databases, sight=sight)
    return [
        counted({**row, "algorithm": candidate.name}, limits.suboptimality, _turns_waited(trial))
        for row, trial in zip(rows(trials), trials, strict=True)
    ]


def _turns_waited(trial: Trial) -> int:
    assert trial.path is not None
    return int(np.count_nonzero(trial.path[1:] == trial.path[:-1]))


def counted(row: Row, cap: float, waited: int = 0) -> Row:
    """The row with suboptimality as Bulitko (2016) counts it: cut short is the cap, stuck is the cap and one move more.

    A turn in which the agent stands still counts as a step: time passes.

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
    """The longest time that any move of these problems took.

    Each move is timed inside the compiled loop, on one thread: from the end of the move before to its own. The
    operating system now and then takes the processor away in the middle of a move, and the first visit to a page of
    memory waits for it; therefore each problem is walked several times, which makes the same moves again, and of each
    move the shortest time counts.
    """
    worst = 0.0
    for problem in problems:
        agent = outfit.agent_at_hand(problem)
        walks = [agent.move_nanoseconds(problem, limits) for _ in range(REPEATS)]
        worst = max(worst, float(np.min(walks, axis=0).max(initial=0)) / 1000)
    return worst
