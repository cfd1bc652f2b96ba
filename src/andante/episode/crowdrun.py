"""Run a crowd until everybody has ended, and measure it: what `andante crowd` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.datasets.scenarios import random_problems, with_optimal_costs
from andante.episode.crowd import Crowd
from andante.episode.crowdresult import CrowdResult, Pace
from andante.episode.crowdtrace import CrowdRecorder
from andante.episode.lanes import MEMORY
from andante.episode.replanned import replanned_costs
from andante.episode.tick import Tick
from andante.errors import ProblemError
from andante.measures import Outcome
from andante.world.graph import Graph
from andante.world.grid import Grid, cells_of
from andante.world.living import World
from andante.world.problem import Problem
from andante.world.scenes import Change, Event, Scene

ATTEMPTS = 20  # to draw problems whose starts and goals are all different
_SAMPLED = 8  # what units hold is asked for in every eighth tick: that takes as long as some moves


def run_crowd(
    algorithm: Algorithm,
    problems: Sequence[Problem],
    pace: Pace,
    *,
    databases: Sequence[Any] = (),
    memory: float = MEMORY,
    bodies: bool = False,
    share: str | None = None,
    lanes: int = 1,
    threads: int = 1,
    recorded: bool = False,
    events: Sequence[Event] = (),
    progress: Callable[[int], None] = lambda ended: None,
) -> CrowdResult:
    """Let a unit walk each of these problems, all at once, until all have ended or the ticks are over.

    All problems are on one grid and have optimal costs. ``recorded`` keeps where everybody was. ``events`` happen
    before their ticks: cells close and open, goals move. ``progress`` is called after each tick with the number of
    units that have ended in it.
    """
    grid = problems[0].grid if problems else None
    if grid is None:
        raise ProblemError("a crowd is measured on problems of one grid, made with grid.problem(start, goal)")
    changes = [event for event in events if isinstance(event, Change)]
    crowd = Crowd(
        algorithm,
        world_for(grid, events),
        databases=databases,
        memory=memory,
        bodies=bodies,
        share=share,
        lanes=lanes,
        threads=threads,
    )
    ids = crowd.add(_cells(grid, [one.start for one in problems]), _cells(grid, [one.goal for one in problems]))
    recorder = CrowdRecorder(grid, crowd.states[ids], crowd.goals[ids], changes) if recorded else None
    happening = list(reversed(events))
    ticks: list[Tick] = []
    held = np.zeros(len(ids), np.int64)
    walking = crowd.walking
    while walking and len(ticks) < pace.ticks:
        while happening and happening[-1].tick <= len(ticks) + 1:
            _happen(happening.pop(), crowd, ids)
        tick = crowd.tick(microseconds=pace.microseconds, expansions=pace.expansions)
        if recorder is not None:
            arrived = crowd.outcomes[ids] == Outcome.GOAL
            recorder.keep(crowd.states[ids], arrived, tick.microseconds, tick.waiting)
        if len(ticks) % _SAMPLED == 0:
            np.maximum(held, crowd.held_bytes(ids), out=held)
        ticks.append(tick)
        before, walking = walking, crowd.walking
        progress(before - walking)
    fixed = crowd.memory_bytes - (ticks[-1].bytes if ticks else 0)
    return CrowdResult(
        algorithm=str(algorithm),
        map_name=grid.name,
        pace=pace,
        ticks=ticks,
        outcomes=crowd.outcomes[ids],
        optimal_costs=np.array([one.optimal_cost for one in problems], np.float64),
        costs=crowd.costs[ids],
        jain_index=crowd.jain_index,
        memory_bytes=fixed + max((tick.bytes for tick in ticks), default=0),
        unit_bytes=held,
        trace=recorder.trace(str(algorithm), algorithm.card.title, pace.microseconds) if recorder else None,
    )


def world_for(grid: Grid | Graph, events: Sequence[Event]) -> Grid | Graph:
    """Return the grid itself, or a world of it if one of these events changes it."""
    changes = isinstance(grid, Grid) and any(isinstance(event, Change) for event in events)
    return World(grid) if changes else grid  # type: ignore[arg-type]


def _happen(event: Event, crowd: Crowd, ids: npt.NDArray[np.int64]) -> None:
    """Let an event happen. A goal that moves into a wall, or of a unit that has ended, stays where it is."""
    if isinstance(event, Change):
        assert isinstance(crowd.world, World)
        (crowd.world.open if event.opened else crowd.world.close)(event.cell)
        return
    x, y = event.goal
    assert isinstance(crowd.world, Grid)
    if crowd.world.passable[y, x] and crowd.outcomes[ids[event.unit]] == Outcome.WALKING:
        crowd.send(ids[event.unit : event.unit + 1], event.goal)


def problems_of(scene: Scene, ticks: int) -> list[Problem]:
    """Return the problems of a scene's units; the optimal cost is that of A* replanned after every event."""
    costs = replanned_costs(scene, ticks).tolist()
    return [scene.grid.problem(*ends).with_optimal_cost(cost) for ends, cost in zip(scene.units, costs, strict=True)]


def problems_apart(grid: Grid, count: int, seed: int) -> list[Problem]:
    """Return random problems with different starts and different goals, for units with bodies."""
    apart: dict[int, Problem] = {}
    goals: set[int] = set()
    for attempt in range(ATTEMPTS):
        for one in random_problems(grid, count, seed=seed + attempt):
            if one.start not in apart and one.goal not in goals and len(apart) < count:
                apart[one.start] = one
                goals.add(one.goal)
        if len(apart) == count:
            return list(apart.values())
    raise ProblemError(f"{grid.name} has too little room for {count} units with bodies; take fewer")


def with_one_goal(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems with the goal of the first; one that began there begins at its own goal instead."""
    goal = problems[0].goal
    starts = [one.start if one.start != goal else one.goal for one in problems]
    same = [Problem(one.graph, start, goal, one.grid) for one, start in zip(problems, starts, strict=True)]
    return with_optimal_costs(same)


def _cells(grid: Grid, states: Sequence[int]) -> npt.NDArray[np.int64]:
    return cells_of(states, grid.width)
