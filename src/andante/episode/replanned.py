"""What a walker pays that knows every change at once and plans a best path again after each: the measure for agents."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, UNREACHABLE
from andante.episode.single import Agent
from andante.world.living import World
from andante.world.scenes import Change, Event, Scene


def replanned_costs(scene: Scene, ticks: int) -> npt.NDArray[np.float64]:
    """Return for each unit of a scene the cost of walking it alone, with A* from its place after every event.

    It makes one move per tick. Infinite if it does not arrive within so many ticks, or if its goal is cut off, or if it
    stands where a wall comes.
    """
    return np.array([_walked(scene, unit, ticks) for unit in range(len(scene.units))])


def _walked(scene: Scene, unit: int, ticks: int) -> float:
    world, events = World(scene.grid), list(reversed(scene.events))
    start, goal = scene.units[unit]
    state, aim, cost = world.state(*start), world.state(*goal), 0.0
    agent = Agent("astar", world)
    for tick in range(1, ticks + 1):
        while events and events[-1].tick == tick:
            aim = _apply(events.pop(), world, unit, aim)
            agent.forget()
        if state == aim:
            return cost
        if not (world.passable.flat[state] and world.passable.flat[aim]):
            return math.inf
        move = agent.move(state, aim)
        if move.to in (STUCK, UNREACHABLE):
            return math.inf
        state, cost = move.to, cost + move.cost
        if state == aim:
            return cost
    return math.inf


def _apply(event: Event, world: World, unit: int, aim: int) -> int:
    """Let an event happen, and return the unit's goal."""
    if isinstance(event, Change):
        (world.open if event.opened else world.close)(event.cell)
        return aim
    return world.state(*event.goal) if event.unit == unit else aim
