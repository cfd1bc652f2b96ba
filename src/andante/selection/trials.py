"""Trying a candidate out: rows of trials counted as Bulitko (2016) counts them, and the time of single moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.databases.header import Database
from andante.episode.loop import EPISODE, TRAIL, Outcome, all_ended
from andante.episode.run import Outfit, run_many
from andante.episode.trial import Limits, Trial
from andante.measures import Row, rows
from andante.selection.space import Candidate
from andante.world.problem import Problem

#: How often a problem is walked for its moves to be timed.
REPEATS = 3


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


def worst_move_microseconds(
    candidate: Candidate,
    databases: Sequence[Database],
    problems: Sequence[Problem],
    cap: float,
    sight: int | None = None,
) -> float:
    """The longest time that any move of these problems took.

    Each move is timed inside the compiled loop, on one thread. The operating system now and then takes the processor
    away in the middle of a move; therefore each problem is walked three times, which makes the same moves again, and
    of each move the shortest time counts.
    """
    outfit = Outfit(candidate.algorithm, tuple(databases), sight)
    worst = 0.0
    for problem in problems:
        walks = [_move_nanoseconds(outfit, problem, cap) for _ in range(REPEATS)]
        worst = max(worst, float(np.min(walks, axis=0).max(initial=0)) / 1000)
    return worst


def _move_nanoseconds(outfit: Outfit, problem: Problem, cap: float) -> npt.NDArray[np.int64]:
    """How long each move of a problem takes."""
    agent = outfit.agent_at_hand(problem)
    episode: npt.NDArray[Any] = np.zeros(1, EPISODE)
    limits = Limits()
    episode["start"], episode["goal"] = problem.start, problem.goal
    episode["cost_cap"] = cap * (problem.optimal_cost or np.inf)
    episode["move_cap"], episode["expansion_cap"] = limits.moves, np.iinfo(np.int64).max
    trail = np.zeros(1, TRAIL)
    times, before = [], 0
    while not all_ended(episode):
        agent.drive(episode, trail, patience=np.iinfo(np.int64).max)
        times.append(int(episode[0]["nanoseconds"]) - before)
        before = int(episode[0]["nanoseconds"])
    return np.array(times, np.int64)
