"""Generated scenes: doors that close and open, bridges that fall, tunnels that are dug, rubble; goals that move.

A unit makes one move per tick. How often the map changes is given in changes per second, and a second is a number of
ticks (`MOVES_PER_SECOND` by default).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from inspect import signature
from itertools import cycle, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.datasets.scenarios import random_problems
from andante.errors import ScenarioError, did_you_mean, quoted, real_number, whole_number
from andante.notation import Call, parse
from andante.world.grid import Grid, cells_of
from andante.world.scenes import Cell, Change, Event, Flight, NewGoal, Scene

MOVES_PER_SECOND = 30
MOST_CELLS = 64  # that change repeatedly; with more, a closed cell would hardly ever open again
MOST_CHANGES = 10**6

_LOOP_MOVES = 12  # the most moves between the corners of a goal's loop
_ANY_COST = (0.0, math.inf)

Cells = npt.NDArray[np.bool_]  # [height, width]
Trail = list[tuple[int, Cell]]  # ticks, and the cells that a goal moves to before them


def make_scene(
    grid: Grid,
    units: int,
    kind: str = "doors",
    *,
    changes_per_second: float = 1.0,
    moves_per_second: int = MOVES_PER_SECOND,
    ticks: int = 1000,
    moving: float = 0.0,
    targets: str = "wander",
    target_every: int = 3,
    optimal_cost: tuple[float, float] = _ANY_COST,
    seed: int = 0,
) -> Scene:
    """Return a scene with random problems for this many units, in which cells change one after the other.

    - ``doors``: narrow passages, one cell wide, close and open again;
    - ``bridges``: narrow passages close for good;
    - ``tunnels``: walls between passable cells open for good, as if they were dug through;
    - ``rubble``: passable cells close and open again.

    The k-th change is before tick k * moves_per_second / changes_per_second, rounded up, and none is after ``ticks``.
    At that tick doors and rubble open again, so that no unit is cut off for good.

    A share ``moving`` of the goals make a move before every ``target_every``-th tick: they ``wander`` to any
    neighbouring cell, ``circle`` around a loop, or ``flee`` from their unit until it reaches them. Starts, first goals,
    and cells that goals wander or circle to do not change. ``optimal_cost`` is the range of the problems' costs on the
    initial map.

    >>> import andante
    >>> make_scene(andante.generate("rooms", 32, 32, seed=1), 10, "doors", changes_per_second=0.6, ticks=200)
    <Scene on rooms-32x32-seed1: 10 units, 4 events>
    """
    if not isinstance(grid, Grid):
        raise ScenarioError(f"a scene is made on a Grid, as andante.read_map returns, not on {quoted(grid)}")
    _check(kind, ticks, moving, targets, target_every)
    due = _due(changes_per_second, moves_per_second, ticks)
    many = whole_number(units, "units", least=1, error=ScenarioError)
    if many > grid.free_cells:
        raise ScenarioError(f"{many:,} units do not fit on {grid.name}, which has {grid.free_cells:,} passable cells")
    rng = np.random.default_rng(seed)
    problems = random_problems(grid, units, optimal_cost=optimal_cost, seed=seed)
    pairs = [(grid.cell(problem.start), grid.cell(problem.goal)) for problem in problems]
    movers = rng.permutation(len(pairs))[: round(moving * len(pairs))].tolist()
    find_trail = TARGETS[targets]
    trails: dict[int, Trail] = {}
    if find_trail is not None:
        trails = {
            unit: find_trail(grid, pairs[unit][1], range(target_every, ticks + 1, target_every), rng) for unit in movers
        }
    flights = [Flight(unit, target_every) for unit in sorted(movers)] if find_trail is None else []
    taken = {cell for pair in pairs for cell in pair} | {cell for trail in trails.values() for _, cell in trail}
    goals = [NewGoal(tick, unit, cell) for unit, trail in trails.items() for tick, cell in trail]
    events: list[Event] = [*_changes(grid, kind, taken, due, ticks, rng), *goals]
    return Scene(grid, pairs, sorted(events, key=lambda event: event.tick), flights)


def scene_call(text: str) -> Call:
    """Return the checked options of `make_scene` for a text such as ``doors(changes_per_second=10)``.

    >>> scene_call("rubble(ticks=300, moving=1, targets=flee)").arguments
    {'ticks': 300, 'moving': 1, 'targets': 'flee'}
    """
    call = parse(text)
    options: dict[str, Any] = {**OPTIONS, **call.arguments}
    for name in call.arguments:
        if name not in OPTIONS:
            raise ScenarioError(f"a scene of {call.name} has no option {name!r}; {did_you_mean(name, OPTIONS)}")
    _check(call.name, options["ticks"], options["moving"], options["targets"], options["target_every"])
    _due(options["changes_per_second"], options["moves_per_second"], options["ticks"])
    return call


def _check(kind: str, ticks: int, moving: float, targets: str, target_every: int) -> None:
    """Raise `ScenarioError` if one of these options is invalid."""
    for word, known, what in ((kind, KINDS, "scene"), (targets, TARGETS, "target")):
        if word not in known:
            raise ScenarioError(f"there is no kind of {what} called {str(word)!r}; {did_you_mean(str(word), known)}")
    whole_number(ticks, "ticks", least=1, error=ScenarioError)
    whole_number(target_every, "target_every, counted in ticks,", least=1, error=ScenarioError)
    if not 0 <= real_number(moving, "moving") <= 1:
        raise ScenarioError(f"moving is a share from 0 to 1, got {moving:g}")


def _due(changes_per_second: float, moves_per_second: int, last: int) -> list[int]:
    """Return the ticks before which a cell changes."""
    rate = real_number(changes_per_second, "changes_per_second")
    second = whole_number(moves_per_second, "moves_per_second", least=1, error=ScenarioError)
    if not 0 <= rate < math.inf:
        raise ScenarioError(f"changes_per_second must be at least 0, got {rate:g}")
    count = int(Fraction(last) * Fraction(rate) / second)
    if count > MOST_CHANGES:
        raise ScenarioError(f"{count:,} changes are too many for a scene, at most {MOST_CHANGES:,} can be generated")
    return [math.ceil(Fraction(number * second) / Fraction(rate)) for number in range(1, count + 1)]


def _changes(
    grid: Grid, kind: str, taken: set[Cell], due: list[int], last: int, rng: np.random.Generator
) -> list[Change]:
    """Return one change for each of these ticks, while there are cells to change, and the last changes that reopen."""
    if not due:
        return []
    find, again = KINDS[kind]
    passable = grid.passable.copy()
    cells = [tuple(cell) for cell in cells_of(np.flatnonzero(find(passable).ravel()), grid.width).tolist()]
    free = [cell for cell in cells if cell not in taken]
    if not free:
        raise ScenarioError(f"{grid.name} has no cells for a scene of {kind}")
    chosen = [free[i] for i in rng.permutation(len(free))]
    changes: list[Change] = []
    for number, tick in enumerate(due):
        if number >= len(chosen) and not again:
            break
        x, y = chosen[number] if not again else chosen[int(rng.integers(min(len(chosen), MOST_CELLS)))]
        passable[y, x] = not passable[y, x]
        changes.append(Change(tick, (x, y), bool(passable[y, x])))
    if again:
        left = np.flatnonzero((passable != grid.passable).ravel())
        changes += [Change(last, (x, y), bool(grid.passable[y, x])) for x, y in cells_of(left, grid.width).tolist()]
    return changes


# --- goals that move ------------------------------------------------------------------------------------------------


def _wandering(grid: Grid, goal: Cell, ticks: range, rng: np.random.Generator) -> Trail:
    """Return the cells that a goal wanders to, each a neighbour of the one before."""
    state, trail = grid.state(*goal), []
    for tick in ticks:
        near = grid.graph.neighbours(state)
        if near:
            state = near[int(rng.integers(len(near)))][0]
            trail.append((tick, grid.cell(state)))
    return trail


def _circling(grid: Grid, goal: Cell, ticks: range, rng: np.random.Generator) -> Trail:
    """Return the cells of a goal that circles through two other cells repeatedly."""
    first = grid.state(*goal)
    near = _reached(grid, first)
    corners = [first, *(list(near)[int(rng.integers(len(near)))] for _ in range(2)), first]
    loop = [state for start, end in pairwise(corners) for state in _path(grid, start, end)]
    if not loop:
        return []
    return [(tick, grid.cell(state)) for tick, state in zip(ticks, cycle(loop), strict=False)]


def _reached(grid: Grid, start: int, end: int | None = None) -> dict[int, int]:
    """Return states near ``start``, each with its predecessor on a path of fewest moves, up to ``end`` if given."""
    before, ring = {start: start}, deque([(start, 0)])
    while ring:
        state, moves = ring.popleft()
        if state == end or (end is None and moves == _LOOP_MOVES):
            break
        for near, _ in grid.graph.neighbours(state):
            if near not in before:
                before[near] = state
                ring.append((near, moves + 1))
    return before


def _path(grid: Grid, start: int, end: int) -> Iterator[int]:
    """Return a path of fewest moves, without its start."""
    before, path = _reached(grid, start, end), []
    while end != start:
        path.append(end)
        end = before[end]
    return reversed(path)


#: The movements of goals; None for a goal that reacts to its unit.
TARGETS: dict[str, Callable[[Grid, Cell, range, np.random.Generator], Trail] | None] = {
    "wander": _wandering,
    "circle": _circling,
    "flee": None,
}


# --- cells that change ----------------------------------------------------------------------------------------------


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


#: The cells that may change, and whether they change repeatedly.
KINDS: dict[str, tuple[Callable[[Cells], Cells], bool]] = {
    "doors": (_passages, True),
    "bridges": (_passages, False),
    "tunnels": (_thin_walls, False),
    "rubble": (_ground, True),
}


#: The options of a scene in a text, with their defaults: how cells change and goals move, but not the units.
OPTIONS: dict[str, Any] = {
    name: parameter.default
    for name, parameter in signature(make_scene).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name not in ("optimal_cost", "seed")
}
