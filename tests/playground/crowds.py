"""Crowds in Python that the playground's engine must reproduce in its tests (playground/tests/crowds.test.ts)."""

from __future__ import annotations

from typing import Any

import numpy as np

from andante.agent import find
from andante.episode.crowd import Crowd
from andante.measures import Outcome
from andante.world.grid import Grid
from andante.world.living import World

NAMES = {Outcome.GOAL: "arrived", Outcome.STUCK: "stuck", Outcome.UNREACHABLE: "unreachable"}
BUDGETS = (0, 30, 300, 3000)


def march(
    algorithm: str,
    grid: Grid,
    *,
    units: int,
    ticks: int,
    bodies: bool,
    memory: float,
    seed: int,
    databases: tuple[Any, ...] = (),
) -> dict[str, Any]:
    """Run a crowd while cells close and open and units are sent elsewhere, and return everything that happened."""
    rng, world = np.random.default_rng(seed), World(grid)
    crowd = Crowd(find(algorithm), world, databases=databases, memory=memory, bodies=bodies)
    label = grid.graph.components
    free = np.flatnonzero(grid.passable.ravel())
    inside = free[label[free] == np.bincount(label[free]).argmax()]
    starts = rng.choice(inside, units, replace=False).tolist()
    goals = rng.choice(inside, units).tolist()
    crowd.add([grid.cell(one) for one in starts], [grid.cell(one) for one in goals])
    found: dict[str, Any] = {
        "algorithm": str(find(algorithm)),
        "bodies": bodies,
        "units": [list(one) for one in zip(starts, goals, strict=True)],
        "ticks": [],
    }
    for number in range(ticks):
        edits, sent = [], []
        if number % 10 == 9:
            opened = number % 20 == 9
            cells = rng.choice(inside, 20, replace=False).tolist()
            (world.open if opened else world.close)([grid.cell(one) for one in cells])
            edits.append([cells, opened])
        if number % 7 == 6:
            passable = np.flatnonzero(world.passable.ravel())
            unit, goal = int(rng.integers(units)), int(rng.choice(passable))
            crowd.send([unit], [grid.cell(goal)])
            sent.append([unit, goal])
        budget = BUDGETS[number // 10 % len(BUDGETS)]
        tick = crowd.tick(expansions=budget or None)
        found["ticks"].append(
            {
                "expansions": budget,
                "edits": edits,
                "sent": sent,
                "states": crowd.states.tolist(),
                "outcomes": [NAMES.get(Outcome(one), "walking") for one in crowd.outcomes.tolist()],
                "spent": tick.expansions,
            }
        )
    return found
