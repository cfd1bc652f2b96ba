"""Traces of scenes: an agent walks alone as one unit, and everything that changes meanwhile is recorded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from andante.episode.run import Outfit
from andante.episode.scenewalk import SceneWalk, cost_cap
from andante.episode.trace import ThoughtRows, Trace
from andante.episode.tracefile import CHANGE, MOVE, NEW_GOAL
from andante.episode.trial import Limits, least_costs
from andante.errors import ParameterError
from andante.measures import Outcome
from andante.world.heuristics import DIAGONAL
from andante.world.layout import GridArrays, stride
from andante.world.scenes import Scene


def record_scene(outfit: Outfit[Any], scene: Scene, unit: int, limits: Limits, most_thoughts: int) -> Trace:
    """Run an agent in a scene as one of its units, and return its trace.

    >>> import andante
    >>> from andante.world.scenes import Change, NewGoal
    >>> events = [Change(2, (3, 1), opened=False), NewGoal(4, 0, (7, 2))]
    >>> trace = andante.record("lrta", Scene(andante.generate("empty", 8, 3), [((0, 1), (7, 1))], events))
    >>> trace.changes.tolist(), trace.goals.tolist(), trace.path.tolist()
    ([(2, 11, 64)], [(4, 23)], [8, 9, 10, 2, 3, 4, 5, 6, 15, 23])
    """
    if outfit.sight is not None:
        raise ParameterError("a trace of a scene cannot contain what an agent discovers; record it without sight")
    walk = SceneWalk(outfit, scene, unit, "never", log_rows=most_thoughts + 1)
    cost, trial, agent = cost_cap(scene, unit, limits), walk.trial, walk.agent
    events, thoughts, moves = _Events(scene, walk), ThoughtRows(most_thoughts), []
    kept = 0  # thoughts since the last move
    while trial.outcome is Outcome.WALKING:
        tick = trial.ticks + 1
        walk.tick(cost, limits.moves, limits.expansions)
        events.note(tick)
        kept += thoughts.keep(agent.thoughts())
        if walk.made is not None:
            made = walk.made
            moves.append((made.to, made.cost, made.expanded, made.learned, kept, 0, tick))
            kept = 0
    arrays = scene.grid.graph.arrays
    problem = scene.grid.problem(*scene.units[walk.unit])
    return Trace(
        algorithm=str(agent.algorithm),
        title=agent.algorithm.card.title,
        map_name=scene.grid.name,
        terrain=scene.grid.shown,
        diagonal=arrays.diagonal if isinstance(arrays, GridArrays) else DIAGONAL,
        straight=stride(arrays),
        start=problem.start,
        goal=problem.goal,
        outcome=trial.outcome,
        optimal_cost=math.nan if events.any else float(least_costs([problem])[0]),
        moves=np.array(moves, MOVE),
        thoughts=thoughts.table,
        thoughts_cut=thoughts.cut,
        changes=np.array(events.changes, CHANGE),
        goals=np.array(events.goals, NEW_GOAL),
    )


class _Events:
    """The changes in a scene so far, without those that had no effect, such as a goal's move into a wall."""

    def __init__(self, scene: Scene, walk: SceneWalk) -> None:
        self.changes: list[tuple[int, int, int]] = []
        self.goals: list[tuple[int, int]] = []
        self._walk, self._goal = walk, walk.goal
        self._coming = [(one.tick, scene.grid.state(*one.cell)) for one in reversed(scene.changes)]
        self._passable = scene.grid.passable.ravel().copy()

    @property
    def any(self) -> bool:
        """Whether anything has changed."""
        return bool(self.changes or self.goals)

    def note(self, tick: int) -> None:
        """Record the changes before a tick, without cells that changed and changed back."""
        cells: dict[int, None] = {}
        while self._coming and self._coming[-1][0] <= tick:
            cells[self._coming.pop()[1]] = None
        present, looks = self._walk.world.passable.ravel(), self._walk.world.terrain.ravel()
        for cell in cells:
            if present[cell] != self._passable[cell]:
                self._passable[cell] = present[cell]
                self.changes.append((tick, cell, int(looks[cell])))
        if self._walk.goal != self._goal:
            self._goal = self._walk.goal
            self.goals.append((tick, self._goal))
