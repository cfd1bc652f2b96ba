"""The costs of databases and of planning over regions, on a map of 512 x 512 cells."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import andante
from andante.world.problem import Problem

REPEATS = 3

Problems = Sequence[Problem]


def seconds_per_expansion(algorithm: str, problems: Problems) -> float:
    """Return the processor time of an agent for each state it expands, the best of several runs."""
    return min(_cpu_seconds(algorithm, problems, "states_expanded") for _ in range(REPEATS))


def seconds_per_problem(algorithm: str, problems: Problems) -> float:
    """Return the processor time of an agent for each problem, the best of several runs."""
    return min(_cpu_seconds(algorithm, problems, "solved") for _ in range(REPEATS))


def seconds_per_move(algorithm: str, problems: Problems, databases: Sequence[Any]) -> float:
    """Return the time of the compiled loop for each move, the best of several runs."""
    andante.run_many(algorithm, problems[:2], paths=False, databases=databases)  # compile, and make the agent
    found = []
    for _ in range(REPEATS):
        trials = andante.run_many(algorithm, problems, paths=False, databases=databases)
        found.append(sum(trial.seconds for trial in trials) / sum(trial.moves for trial in trials))
    return min(found)


def _cpu_seconds(algorithm: str, problems: Problems, per: str) -> float:
    andante.run_many(algorithm, problems[:2], paths=False)  # compile, and make the agent
    began = time.process_time()
    trials = andante.run_many(algorithm, problems, paths=False)
    return (time.process_time() - began) / sum(getattr(trial, per) for trial in trials)


def build_seconds(kind: str, problems: Problems) -> tuple[float, Any]:
    """Return the time to build a database on all cores, and the database."""
    grid = problems[0].grid
    assert grid is not None
    began = time.perf_counter()
    database = andante.build(kind, grid)
    return time.perf_counter() - began, database
