"""Checks of `check_algorithm` for maps that change and goals that move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from andante.agent import STUCK, UNREACHABLE, Algorithm
from andante.episode.run import Outfit
from andante.episode.single import Agent
from andante.world.grid import Grid
from andante.world.living import World
from andante.world.problem import Problem

CHANGED, OPENED = 4, 2  # cells tried in each change, and how many of them are opened
TURNS = 60  # moves between which the map changes
PATIENCE = 1_000_000  # moves after the last change: SLA*, which backtracks whenever it learns, takes 132,326 on one map
CHASE = 200_000  # moves in which a goal should be caught: SLA* takes 31,000 where costs differ by a factor of six
REST = 3  # moves of an agent for each move of its goal


def follow_changes(outfit: Callable[[Grid], Outfit[Any]], problems: Sequence[Problem]) -> Iterable[str]:
    """Change the maps between the agent's moves, and yield where it makes an impossible move or does not arrive.

    ``outfit`` returns the agent's outfit on a map. With sight it sees changes only when they are in sight.
    """
    for number, problem in enumerate(problems):
        assert problem.grid is not None
        yield from _follow(outfit(problem.grid), problem.grid, problem, np.random.default_rng(number))


def _follow(outfit: Outfit[Any], grid: Grid, problem: Problem, rng: np.random.Generator) -> Iterable[str]:
    world, state, goal = World(grid), problem.start, problem.goal
    agent, now = outfit.agent(world), grid.graph
    entry = agent.algorithm
    for number in range(TURNS + PATIENCE):
        if state == goal:
            return
        if number < TURNS:
            _change(world, rng, {state, goal})
            now = world.frozen().graph
        to = agent.move(state, goal).to
        if to in (STUCK, UNREACHABLE):
            if entry.complete and world.problem(world.cell(state), world.cell(goal)).reachable:
                yield f"on {problem!r} it reports that it is stuck or that no path exists, but there is one"
            return
        if to != state and to not in [near for near, _ in now.neighbours(state)]:
            yield f"on {problem!r} it went from {world.cell(state)} to {world.cell(to)}, which is no longer a move"
            return
        state = to
    if entry.complete:
        yield f"on {problem!r} it did not arrive within {PATIENCE} moves after the last change"


def _change(world: World, rng: np.random.Generator, kept: set[int]) -> None:
    """Open and close a few cells, except those of the agent and its goal."""
    cells = rng.integers(0, (world.width, world.height), (CHANGED, 2)).tolist()
    free = [(x, y) for x, y in cells if world.state(x, y) not in kept]
    world.open(free[:OPENED])
    world.close(free[OPENED:])


def catch_goals(entry: Algorithm, problems: Sequence[Problem]) -> Iterable[str]:
    """Move the goal around more slowly than the agent, and yield the problems in which it is not caught."""
    for number, problem in enumerate(problems):
        rng, state, goal = np.random.default_rng(number), problem.start, problem.goal
        agent = Agent(entry, problem.world)
        for turn in range(CHASE):
            if state == goal:
                break
            state = agent.move(state, goal).to
            if turn % REST == 0 and state != goal:
                near = problem.graph.neighbours(goal)
                goal = near[rng.integers(len(near))][0]
                if state != goal:
                    agent.retarget(goal)
        else:
            yield f"on {problem!r} it did not catch its goal within {CHASE} moves"
