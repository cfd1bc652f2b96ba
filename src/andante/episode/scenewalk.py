"""Walks of one unit of a scene, alone: an agent on a map that changes while it walks, with a goal that may move.

The agent makes one move per tick (`andante.episode.stage`). While its goal is cut off, or a wall is where it is, it
waits for the next event; after the last one it gives up. `replanned_costs` does the same with a walker that knows every
change immediately and plans a cheapest path with A* after each, with which agents are compared.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, UNREACHABLE, Move, find
from andante.episode.run import Outfit
from andante.episode.single import NO_LIMITS, Agent
from andante.episode.stage import Stage
from andante.episode.trial import Limits
from andante.errors import ProblemError, ScenarioError, quoted, whole_number
from andante.measures import Outcome
from andante.world.living import World
from andante.world.scenes import Scene

_TICKS_BETWEEN_LOOKS = 256  # between checks of the event that stops a trial
_BEST = "astar"


@dataclass(eq=False)
class SceneTrial:
    """One agent's walk through a scene as one of its units, with its cost.

    ``moves`` counts the ticks in which the agent was asked for a move. ``turns_waited`` counts those in which it did
    not move, including those in which its goal was cut off. ``seconds`` is the time that its moves took, including the
    call from Python. ``path`` contains its states, the start first, one for each tick.
    """

    algorithm: str
    scene: Scene = field(repr=False)
    unit: int
    outcome: Outcome = Outcome.WALKING
    cost: float = 0.0
    ticks: int = 0
    moves: int = 0
    turns_waited: int = 0
    states_expanded: int = 0
    states_touched: int = 0
    max_states_expanded: int = 0
    first_move_states_expanded: int = 0
    first_move_states_touched: int = 0
    values_stored: int = 0
    learned: float = 0.0
    seconds: float = 0.0
    first_move_seconds: float = 0.0
    memory_bytes: int = 0
    path: list[int] = field(default_factory=list, repr=False)

    @property
    def solved(self) -> bool:
        """Whether the agent reached the goal."""
        return self.outcome is Outcome.GOAL

    def count(self, move: Move, seconds: float) -> None:
        """Add a move and the time it took."""
        if not self.moves:
            self.first_move_states_expanded, self.first_move_states_touched = move.expanded, move.touched
            self.first_move_seconds = seconds
        self.moves += 1
        self.cost += move.cost
        self.states_expanded += move.expanded
        self.states_touched += move.touched
        self.max_states_expanded = max(self.max_states_expanded, move.expanded)
        self.values_stored += move.stored
        self.learned += move.learned
        self.seconds += seconds


def walk_scene(
    algorithm: Any,
    scene: Scene,
    unit: int = 0,
    *,
    limits: Limits = NO_LIMITS,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    forgets: bool = False,
    **parameters: Any,
) -> SceneTrial:
    """Run an agent in a scene as one of its units, alone, and return the trial.

    The limit on moves counts ticks, including those that the agent waits. With ``forgets`` every move of its goal is a
    new problem for the agent, as if its algorithm could not pursue goals.

    >>> import andante
    >>> from andante.world.scenes import Change
    >>> grid = andante.generate("empty", 8, 3)
    >>> wall = [Change(3, (5, y), opened=False) for y in range(3)] + [Change(9, (5, 1), opened=True)]
    >>> trial = walk_scene("lrta", Scene(grid, [((0, 1), (7, 1))], wall))
    >>> trial.outcome.name, trial.cost, trial.turns_waited
    ('GOAL', 7.0, 6)
    """
    if not isinstance(scene, Scene):
        raise ScenarioError(f"a scene is what andante.world.scenes.read_scene returns, not {quoted(scene)}")
    outfit = Outfit.of(algorithm, databases, sight, **parameters)
    return walk_units(outfit, scene, [unit], limits, forgets=forgets)[0]


def walk_units(
    outfit: Outfit[Any],
    scene: Scene,
    units: Iterable[int],
    limits: Limits = NO_LIMITS,
    replanned: Sequence[float] | None = None,
    *,
    forgets: bool = False,
    stop: threading.Event | None = None,
) -> list[SceneTrial]:
    """Run an agent in a scene as each of these units in turn, each on its own copy of the map; return the trials.

    A limit on suboptimality is a multiple of the unit's ``replanned`` cost, which is computed if it is not given. The
    list is incomplete once ``stop`` is set.
    """
    trials: list[SceneTrial] = []
    for number, unit in enumerate(units):
        cap = cost_cap(scene, unit, limits, None if replanned is None else replanned[number])
        walk = SceneWalk(outfit, scene, unit, "goal" if forgets else "never")
        trials.append(walk.to_the_end(cap, limits.moves, limits.expansions, stop))
        if stop is not None and stop.is_set():
            break
    return trials


def cost_cap(scene: Scene, unit: int, limits: Limits, replanned: float | None = None) -> float:
    """Return the cost at which a unit gives up; ``replanned`` is its replanned cost, computed if it is not given."""
    if limits.suboptimality == math.inf:
        return limits.cost
    least = replanned_cost(scene, unit) if replanned is None else replanned
    return min(limits.cost, limits.suboptimality * least)


def replanned_cost(scene: Scene, unit: int) -> float:
    """Return the cost of walking a scene as one of its units with A* from where it is after every event.

    The cost is infinite if it never arrives. After the last event a path is no longer than the map has cells, so the
    walk is given that many ticks; only a goal that flees can last longer.
    """
    walk = SceneWalk(Outfit(find(_BEST)), scene, unit, "event")
    trial = walk.to_the_end(math.inf, scene.last_tick + scene.grid.width * scene.grid.height, math.inf)
    return trial.cost if trial.solved else math.inf


def replanned_costs(scene: Scene, units: Iterable[int] | None = None) -> npt.NDArray[np.float64]:
    """Return `replanned_cost` for each unit of a scene, or for the given ``units``."""
    chosen = range(len(scene.units)) if units is None else units
    return np.array([replanned_cost(scene, unit) for unit in chosen], np.float64)


class SceneWalk:
    """An agent in a scene, which forgets at every ``event``, at every move of its ``goal``, or ``never``.

    >>> import andante
    >>> SceneWalk(Outfit.of("lrta"), Scene(andante.generate("empty", 4, 4), [((0, 0), (3, 3))]), 0, "never").state
    0
    """

    def __init__(self, outfit: Outfit[Any], scene: Scene, unit: int, forgets: str, log_rows: int = 0) -> None:
        unit = whole_number(unit, "a unit")
        if not 0 <= unit < len(scene.units):
            raise ProblemError(f"there is no unit {unit}; the scene has {len(scene.units)}, numbered from 0")
        self.stage, self.unit, self._forgets = Stage(scene, only=unit), unit, forgets
        self.world = self.stage.world
        self.agent: Agent = outfit.agent(self.world, log_rows)
        self.agent.compile()  # so that the first move does not wait for it
        self.state = scene.grid.state(*scene.units[unit][0])
        memory = self.agent.memory_bytes
        self.trial = SceneTrial(str(outfit.algorithm), scene, unit, path=[self.state], memory_bytes=memory)
        self.made: Move | None = None  # the move of the last tick; None if the agent waited
        self._aims = False  # whether the agent is walking to a goal, and can be retargeted
        self._cut_off = False  # whether it waits for the next event

    @property
    def goal(self) -> int:
        """The current state of the goal."""
        return self.stage.goals[self.unit]

    def to_the_end(
        self, cost: float, ticks: float, expansions: float, stop: threading.Event | None = None
    ) -> SceneTrial:
        """Walk until the trial ends, and return it."""
        trial = self.trial
        while trial.outcome is Outcome.WALKING:
            self.tick(cost, ticks, expansions)
            if stop is not None and trial.ticks % _TICKS_BETWEEN_LOOKS == 0 and stop.is_set():
                break
        return trial

    def tick(self, cost: float, ticks: float, expansions: float) -> None:
        """Apply the events before the next tick, and make a move or wait."""
        trial = self.trial
        self.made = None
        trial.ticks += 1
        self._look()
        if self.state == self.goal:  # the goal has come to the agent
            trial.ticks -= 1
            trial.outcome = Outcome.GOAL
            return
        self._act()
        trial.path.append(self.state)
        if trial.outcome is not Outcome.WALKING:
            return
        if self.state == self.goal:
            trial.outcome = Outcome.GOAL
        elif trial.cost > cost:
            trial.outcome = Outcome.COST_CAP
        elif trial.ticks >= ticks:
            trial.outcome = Outcome.MOVE_CAP
        elif trial.states_expanded >= expansions:
            trial.outcome = Outcome.EXPANSION_CAP

    def _look(self) -> None:
        """Apply the events before this tick, and pass them to the agent."""
        before = self._version
        moved = bool(self.stage.play(self.trial.ticks, lambda _: self.state))
        if moved or self._version != before:
            self._cut_off = False
            if self._forgets == "event":
                self._forget()
        if moved:
            if self._forgets == "goal" or not self._aims or self.state == self.goal:
                self._forget()
            else:
                self._aims = self._can_stand() and self.agent.retarget(self.goal)

    @property
    def _version(self) -> int:
        return self.world.version if isinstance(self.world, World) else 0

    def _forget(self) -> None:
        self.agent.forget()
        self._aims = False

    def _can_stand(self) -> bool:
        """Return whether neither the agent nor its goal is in a wall."""
        return bool(self.world.passable.flat[self.state] and self.world.passable.flat[self.goal])

    def _act(self) -> None:
        """Make a move, or wait."""
        trial = self.trial
        if not self._cut_off and self._can_stand():
            began = perf_counter_ns()
            move = self.agent.move(self.state, self.goal)
            seconds = (perf_counter_ns() - began) * 1e-9
            if move.to == STUCK:
                trial.outcome = Outcome.STUCK
                return
            self._aims = move.to != UNREACHABLE
            if self._aims:
                self.made = move
                trial.count(move, seconds)
                trial.turns_waited += move.to == self.state
                self.state = move.to
                return
        self._cut_off = True
        trial.turns_waited += 1
        if self.stage.next_tick is None:
            trial.outcome = Outcome.UNREACHABLE
