"""Generated scenes: doors that close and open, bridges that fall, tunnels that are dug, rubble that comes and goes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from andante.datasets.scenarios import random_problems
from andante.errors import ScenarioError, did_you_mean, real_number, whole_number
from andante.world.grid import Grid, cells_of
from andante.world.scenes import Cell, Change, Event, NewGoal, Scene

Cells = npt.NDArray[np.bool_]  # [height, width]


def make_scene(
    grid: Grid,
    units: int,
    kind: str = "doors",
    *,
    every: int = 20,
    ticks: int = 1000,
    wandering: float = 0.0,
    seed: int = 0,
) -> Scene:
    """Return a scene with random problems for so many units, in which one cell changes ``every`` so many ticks.

    - ``doors``: narrow passages, one cell wide, close and open again;
    - ``bridges``: narrow passages close for good;
    - ``tunnels``: walls next to passable cells open for good;
    - ``rubble``: passable cells close and open again.

    A share ``wandering`` of the goals move to a neighbouring cell as often. No start, and no cell that a goal is ever
    in, changes.

    >>> import andante
    >>> make_scene(andante.generate("rooms", 32, 32, seed=1), 10, "doors", every=50, ticks=200)
    <Scene on rooms-32x32-seed1: 10 units, 4 events>
    """
    if kind not in KINDS:
        raise ScenarioError(f"there is no kind of scene called {kind!r}; {did_you_mean(kind, KINDS)}")
    step = whole_number(every, "every, counted in ticks,", least=1, error=ScenarioError)
    last = whole_number(ticks, "ticks", least=1, error=ScenarioError)
    share = real_number(wandering, "wandering")
    if not 0 <= share <= 1:
        raise ScenarioError(f"wandering is a share from 0 to 1, got {share:g}")
    rng = np.random.default_rng(seed)
    problems = random_problems(grid, units, seed=seed)
    pairs = [(grid.cell(problem.start), grid.cell(problem.goal)) for problem in problems]
    moving = rng.permutation(len(pairs))[: round(share * len(pairs))].tolist()
    trails = _trails(grid, [pairs[unit][1] for unit in moving], range(step, last + 1, step), rng)
    taken = {cell for pair in pairs for cell in pair} | {cell for trail in trails for _, cell in trail}
    goals = [NewGoal(tick, unit, cell) for unit, trail in zip(moving, trails, strict=True) for tick, cell in trail]
    events: list[Event] = [*_changes(grid, kind, taken, range(step, last + 1, step), rng), *goals]
    return Scene(grid, pairs, sorted(events, key=lambda event: event.tick))


def _changes(grid: Grid, kind: str, taken: set[Cell], ticks: range, rng: np.random.Generator) -> list[Change]:
    """Return one change for each of these ticks, as long as there are cells to change."""
    find, again = KINDS[kind]
    passable = grid.passable.copy()
    cells = [tuple(cell) for cell in cells_of(np.flatnonzero(find(passable).ravel()), grid.width).tolist()]
    free = [cell for cell in cells if cell not in taken]
    if not free:
        raise ScenarioError(f"{grid.name} has no cells for a scene of {kind}")
    chosen = [free[i] for i in rng.permutation(len(free))]
    changes: list[Change] = []
    for number, tick in enumerate(ticks):
        if number >= len(chosen) and not again:
            break
        x, y = chosen[number] if not again else chosen[int(rng.integers(min(len(chosen), MOST_CELLS)))]
        passable[y, x] = not passable[y, x]
        changes.append(Change(tick, (x, y), bool(passable[y, x])))
    return changes


def _trails(grid: Grid, goals: list[Cell], ticks: range, rng: np.random.Generator) -> list[list[tuple[int, Cell]]]:
    """Return where goals wander: a tick and a cell for each of their moves."""
    trails = []
    for goal in goals:
        state, trail = grid.state(*goal), []
        for tick in ticks:
            near = grid.graph.neighbours(state)
            if near:
                state = near[int(rng.integers(len(near)))][0]
                trail.append((tick, grid.cell(state)))
        trails.append(trail)
    return trails


def _beside(passable: Cells) -> tuple[Cells, Cells, Cells, Cells]:
    """Return for each cell whether its neighbours to the north, south, west and east are passable."""
    framed = np.zeros((passable.shape[0] + 2, passable.shape[1] + 2), bool)
    framed[1:-1, 1:-1] = passable
    return framed[:-2, 1:-1], framed[2:, 1:-1], framed[1:-1, :-2], framed[1:-1, 2:]


def _passages(passable: Cells) -> Cells:
    """Return the passable cells with walls on two opposite sides and none on the other two."""
    north, south, west, east = _beside(passable)
    return passable & ((north & south & ~west & ~east) | (west & east & ~north & ~south))


def _thin_walls(passable: Cells) -> Cells:
    """Return the walls between two passable cells."""
    north, south, west, east = _beside(passable)
    return ~passable & ((north & south) | (west & east))


def _ground(passable: Cells) -> Cells:
    return passable


MOST_CELLS = 64  # of those that change again and again: else a cell that has closed would hardly ever open again

#: Which cells may change, and whether they change again and again.
KINDS: dict[str, tuple[Callable[[Cells], Cells], bool]] = {
    "doors": (_passages, True),
    "bridges": (_passages, False),
    "tunnels": (_thin_walls, False),
    "rubble": (_ground, True),
}
