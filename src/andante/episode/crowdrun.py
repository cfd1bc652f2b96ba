"""Runs of a crowd until all units have ended, with the measurements that `andante crowd` prints."""

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
from andante.episode.scenewalk import replanned_costs
from andante.episode.stage import Stage
from andante.episode.tick import Tick
from andante.errors import ProblemError
from andante.measures import Outcome
from andante.world.grid import Grid, cells_of
from andante.world.living import World
from andante.world.problem import Problem
from andante.world.scenes import Scene

ATTEMPTS = 20  # to draw problems whose starts and goals are all different
_SAMPLED = 8  # the memory of units is sampled in every eighth tick, because it takes as long as some moves


def run_crowd(
    algorithm: Algorithm,
    problems: Sequence[Problem],
    pace: Pace,
    *,
    recorded: bool = False,
    scene: Scene | None = None,
    progress: Callable[[int], None] = lambda ended: None,
    **settings: Any,
) -> CrowdResult:
    """Run a crowd with one unit for each problem, until all units have ended or the ticks are over.

    All problems are on one grid and have optimal costs; those of a ``scene`` are what `problems_of` returns. In a scene
    a unit whose goal is cut off waits until it no longer is, or until nothing more happens. ``recorded`` records the
    places of all units. ``progress`` is called after each tick with the number of units that have ended in it.
    ``settings`` are those of `Crowd`.
    """
    grid = problems[0].grid if problems else None
    if grid is None:
        raise ProblemError("a crowd is measured on problems of one grid, made with grid.problem(start, goal)")
    stage = None if scene is None else Stage(scene)
    crowd = Crowd(algorithm, grid if stage is None else stage.world, **settings)
    ids = crowd.add(_cells(grid, [one.start for one in problems]), _cells(grid, [one.goal for one in problems]))
    play = None if stage is None else _Play(stage, crowd, ids)
    recorder = CrowdRecorder(grid, crowd.states[ids], crowd.goals[ids], scene) if recorded else None
    ticks, held = _walk(crowd, ids, pace, play, recorder, progress)
    return CrowdResult(
        algorithm=str(algorithm),
        map_name=grid.name,
        pace=pace,
        ticks=ticks,
        outcomes=crowd.outcomes[ids],
        optimal_costs=np.array([one.optimal_cost for one in problems], np.float64),
        costs=crowd.costs[ids] + (0.0 if play is None else play.earlier),
        jain_index=crowd.jain_index,
        memory_bytes=crowd.memory_bytes - crowd.unit_bytes + max((tick.bytes for tick in ticks), default=0),
        unit_bytes=held,
        in_scene=scene is not None,
        trace=recorder.trace(str(algorithm), algorithm.card.title, pace.microseconds) if recorder else None,
    )


def _walk(
    crowd: Crowd,
    ids: npt.NDArray[np.int64],
    pace: Pace,
    play: _Play | None,
    recorder: CrowdRecorder | None,
    progress: Callable[[int], None],
) -> tuple[list[Tick], npt.NDArray[np.int64]]:
    """Run the ticks of a crowd, and return their times and the highest memory seen of each unit."""
    ticks: list[Tick] = []
    held = np.zeros(len(ids), np.int64)
    walking = crowd.walking
    while (walking or (play is not None and play.waits)) and len(ticks) < pace.ticks:
        if play is not None:
            play.before(len(ticks) + 1)
        goals = crowd.goals[ids]
        tick = crowd.tick(microseconds=pace.microseconds, expansions=pace.expansions)
        if recorder is not None:
            arrived = crowd.outcomes[ids] == Outcome.GOAL
            recorder.keep(crowd.states[ids], goals, arrived, tick.microseconds, tick.waiting)
        if len(ticks) % _SAMPLED == 0:
            np.maximum(held, crowd.held_bytes(ids), out=held)
        ticks.append(tick)
        before, walking = walking, crowd.walking
        progress(before - walking)
    return ticks, held


class _Play:
    """A scene that is run with the units of a crowd."""

    def __init__(self, stage: Stage, crowd: Crowd, ids: npt.NDArray[np.int64]) -> None:
        self._stage, self._crowd, self._ids = stage, crowd, ids
        self._version = 0
        self.earlier = np.zeros(len(ids))  # the costs of units before they were sent again, when a crowd resets them

    @property
    def waits(self) -> bool:
        """Whether units are cut off, and may not be after a later event."""
        return self._stage.next_tick is not None and bool(np.any(self._outcomes == int(Outcome.UNREACHABLE)))

    @property
    def _outcomes(self) -> npt.NDArray[np.int64]:
        return self._crowd.outcomes[self._ids]

    def before(self, tick: int) -> None:
        """Apply the events before a tick, and send units again whose goals have moved or can be reached again."""
        moved = self._stage.play(tick, lambda unit: int(self._crowd.states[self._ids[unit]]))
        outcomes, world = self._outcomes, self._stage.world
        self._send(np.array([unit for unit in moved if outcomes[unit] == int(Outcome.WALKING)], np.int64))
        version = world.version if isinstance(world, World) else 0
        if moved or version != self._version:
            self._version = version
            waiting = np.flatnonzero(outcomes == int(Outcome.UNREACHABLE))
            self._send(waiting[self._are_joined(waiting)])

    def _are_joined(self, units: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of these units can reach their goals again, as far as is known."""
        world, states, goals = self._stage.world, self._crowd.states[self._ids[units]], self._goals_of(units)
        if isinstance(world, World):
            return world.passable.flat[states] & world.passable.flat[goals] & ~world.graph.apart(states, goals)
        return world.graph.components[states] == world.graph.components[goals]

    def _goals_of(self, units: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.array(self._stage.goals, np.int64)[units]

    def _send(self, units: npt.NDArray[np.int64]) -> None:
        """Send units to their goals, except units that are in a wall or whose goals are."""
        goals, rows, free = self._goals_of(units), self._ids[units], self._stage.world.passable.flat
        able = free[self._crowd.states[rows]] & free[goals]
        if able.any():
            units, rows = units[able], rows[able]
            paid = self._crowd.costs[rows]
            self._crowd.send(rows, cells_of(goals[able], self._stage.world.width))
            self.earlier[units] += paid - self._crowd.costs[rows]


def problems_of(scene: Scene) -> list[Problem]:
    """Return the problems of a scene's units; the optimal cost is that of A* replanned after every event."""
    costs = replanned_costs(scene).tolist()
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
    raise ProblemError(f"{grid.name} is too small for {count} units with bodies; use fewer units")


def with_one_goal(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems with the goal of the first; one that started there starts at its own goal instead."""
    goal = problems[0].goal
    starts = [one.start if one.start != goal else one.goal for one in problems]
    same = [Problem(one.graph, start, goal, one.grid) for one, start in zip(problems, starts, strict=True)]
    return with_optimal_costs(same)


def _cells(grid: Grid, states: Sequence[int]) -> npt.NDArray[np.int64]:
    return cells_of(states, grid.width)
