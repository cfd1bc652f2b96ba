"""The cost of calling agents on a map of 512 x 512 cells: processor time, the best of several rounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

import andante
from andante.world.problem import Problem

ALGORITHM = "lrta"
ROUNDS, CALLS = 10, 2000
SHORT, THREADS = 16, 2  # problems of one step, for `run_many`


def move_seconds(problem: Problem) -> float:
    """Return the time of one `agent.move`, out of many towards one goal."""
    agent = andante.Agent(ALGORITHM, problem.world)

    def walk() -> None:
        state, goal = problem.start, problem.goal
        for _ in range(CALLS):
            state = agent.move(state, goal).to if state != goal else problem.start

    return _seconds(walk, CALLS)


def watch_seconds(problem: Problem) -> float:
    """Return the time of one ``next(watch)`` of an agent without a log of thoughts."""
    agent = andante.Agent(ALGORITHM, problem.world)
    moves = sum(1 for _ in islice(agent.watch(problem), CALLS))

    def walk() -> None:
        for _ in islice(agent.watch(problem), moves):
            pass

    return _seconds(walk, moves)


def agent_run_seconds(problem: Problem) -> float:
    """Return the time of one `agent.run` of a problem of one step, with its path."""
    agent, step = andante.Agent(ALGORITHM, problem.world), first_step(problem)
    return _seconds(lambda: [agent.run(step) for _ in range(CALLS)], CALLS)


def run_seconds(problem: Problem) -> float:
    """Return the time of one `andante.run` of a problem of one step."""
    step = first_step(problem)
    return _seconds(lambda: [andante.run(ALGORITHM, step) for _ in range(CALLS)], CALLS)


def many_seconds(problem: Problem) -> float:
    """Return the time of a problem of one step in a `run_many` of a few on two threads."""
    steps = [first_step(problem)] * SHORT
    return _seconds(lambda: andante.run_many(ALGORITHM, steps, threads=THREADS), SHORT)


def first_step(problem: Problem) -> Problem:
    """Return the problem of going from the start to its first neighbour."""
    near, _ = problem.graph.neighbours(problem.start)[0]
    return Problem(problem.graph, problem.start, near, problem.grid)


def _seconds(work: Callable[[], object], calls: int) -> float:
    work()  # compile, and make the agent
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        found.append((time.process_time() - began) / calls)
    return min(found)
