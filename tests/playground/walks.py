"""Walks in Python that the playground's engine must reproduce in its tests (playground/tests/walks.test.ts)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from andante.agent import Algorithm, find
from andante.episode.single import Agent
from andante.errors import ProblemError
from andante.world.grid import Grid
from andante.world.living import World

MOST_MOVES = 300


def as_map(grid: Grid) -> dict[str, Any]:
    """Return a map as the test reads it."""
    rows = ["".join(".@"[1 - int(free)] for free in row) for row in grid.passable]
    return {"width": grid.width, "height": grid.height, "rows": rows}


def ends(grid: Grid, seed: int) -> tuple[int, int]:
    """Return a start and a goal in the largest part of the map."""
    label = grid.graph.components
    free = np.flatnonzero(grid.passable.ravel())
    inside = free[label[free] == np.bincount(label[free]).argmax()]
    rng = np.random.default_rng(seed)
    start, goal = rng.choice(inside, 2, replace=False)
    return int(start), int(goal)


def walk(
    algorithm: str | Algorithm,
    grid: Grid,
    number: int,
    seed: int,
    *,
    edits: int = 0,
    pursued: bool = False,
    thinks: bool = False,
    most: int = MOST_MOVES,
    databases: Sequence[Any] = (),
    sight: int | None = None,
) -> dict[str, Any]:
    """Run an agent, on request with cells that change and a goal that moves, and return everything that happened."""
    world = World(grid)
    entry = find(algorithm)
    agent = Agent(entry, world, databases=databases, sight=sight, log_rows=(1 << 18) if thinks else 0)
    rng = np.random.default_rng(seed)
    state, goal = ends(grid, seed)
    found: dict[str, Any] = {
        "algorithm": str(entry),
        "map": number,
        "start": state,
        "goal": goal,
        "edits": {},
        "goals": {},
        "thinks": thinks,
        "sight": sight,
        "moves": [],
        "thoughts": [],
    }
    for i in range(most):
        if state == goal:
            break
        if edits and i and i % 7 == 0:
            found["edits"][str(i)] = [_edit(world, rng, edits, state, goal) for _ in range(2)]
        if pursued and i and i % 5 == 0:
            near = [to for to in _around(world, goal) if to != state]
            if near:
                goal = int(rng.choice(near))
                with suppress(ProblemError):  # its last move found no path, so it has no goal to move
                    agent.retarget(goal)
                found["goals"][str(i)] = goal
        if thinks:
            agent.thoughts()
        move = agent.move(state, goal)
        found["moves"].append([move.to, move.cost, move.expanded, move.touched, move.learned, move.stored])
        if thinks:
            log = agent.thoughts()
            found["thoughts"].append([[int(t.kind) for t in log], [t.state for t in log], [t.value for t in log]])
        if move.to < 0 and not edits:
            break
        state = max(move.to, 0) if move.to >= 0 else state
    return found


def _edit(world: Any, rng: np.random.Generator, cells: int, state: int, goal: int) -> list[Any]:
    """Close or open some random cells, never where the agent or its goal is, and return them."""
    chosen = [int(one) for one in rng.choice(len(world.graph), cells, replace=False) if one not in (state, goal)]
    opened = bool(rng.random() < 0.5)
    (world.open if opened else world.close)([world.cell(one) for one in chosen])
    return [chosen, opened]


def _around(world: Any, cell: int) -> list[int]:
    x, y = world.cell(cell)
    near = [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    return [
        world.state(*one)
        for one in near
        if 0 <= one[0] < world.width and 0 <= one[1] < world.height and world.passable[one[1], one[0]]
    ]
