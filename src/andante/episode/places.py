"""Cells, states and priorities of many units, as a user gives them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, ProblemError, quoted
from andante.world.graph import Graph
from andante.world.grid import Grid

PRIORITIES = 1e-6, 1e6  # the lowest and the highest

States = npt.NDArray[np.int64]


def states_at(world: Grid | Graph, places: npt.ArrayLike, what: str, *, walls: bool = False) -> States:
    """Return the states of cells, or of states given by number, as an array; ``what`` names them in errors.

    On a grid, places are pairs of x and y. They must not be blocked unless ``walls`` allows it.

    >>> states_at(Grid([list("..")] * 2), [(0, 1), (1, 1)], "start").tolist()
    [2, 3]
    """
    try:
        given = np.asarray(places)
    except ValueError:  # rows of different lengths
        given = np.zeros(0, object)
    on_grid = isinstance(world, Grid)
    if given.size == 0 and given.dtype != object:
        return np.zeros(0, np.int64)
    if given.ndim == (1 if on_grid else 0):
        given = given[np.newaxis]
    wanted = "cells (x, y), as an array of two whole numbers each" if on_grid else "numbers of states"
    if given.ndim != (2 if on_grid else 1) or (on_grid and given.shape[1] != 2) or given.dtype.kind not in "iu":
        raise ProblemError(f"a {what} must be one of the map's {wanted}, got {quoted(places)}")
    given = given.astype(np.int64)
    return _cells(world, given, what, walls) if isinstance(world, Grid) else _numbers(world, given, what)


def _cells(grid: Grid, cells: States, what: str, walls: bool) -> States:
    x, y = cells[:, 0], cells[:, 1]
    if walls:  # the nearest cell is taken anyway
        x, y = np.clip(x, 0, grid.width - 1), np.clip(y, 0, grid.height - 1)
    for i in np.flatnonzero((x < 0) | (y < 0) | (x >= grid.width) | (y >= grid.height))[:1]:
        raise ProblemError(f"the {what} ({x[i]}, {y[i]}) is outside the map of {grid.width} x {grid.height} cells")
    for i in np.flatnonzero(~grid.passable[y, x])[:1]:
        if not walls:
            raise ProblemError(f"the {what} ({x[i]}, {y[i]}) is blocked")
    return y * grid.width + x


def _numbers(graph: Graph, states: States, what: str) -> States:
    for state in states[(states < 0) | (states >= len(graph))][:1]:
        raise ProblemError(f"the {what} {state} does not exist: the graph has {len(graph)} states")
    return states


def nearest_in_component(world: Grid | Graph, starts: States, goals: States) -> States:
    """Return the goals, with each one that is known to be unreachable replaced by the nearest reachable cell.

    Distance is in a straight line; of equally near cells the first in reading order is taken. On graphs without cells
    goals are not replaced. Nor is the goal of a start in a wall, such as a door that has closed: it can reach nothing.

    >>> grid = Grid([list(".@.")] * 2)
    >>> nearest_in_component(grid, np.array([0, 0]), np.array([1, 5])).tolist()
    [0, 3]
    """
    if not isinstance(world, Grid):
        return goals
    passable, ends = world.passable.ravel(), goals.copy()
    lost = np.flatnonzero(passable[starts] & (~passable[goals] | world.graph.apart(starts, goals)))
    while len(lost):
        mine = lost[goals[lost] == goals[lost[0]]]  # some of these can reach the same cells as the first
        end = _nearest(world, int(starts[mine[0]]), int(goals[mine[0]]))
        joined = ~world.graph.apart(starts[mine], np.full(len(mine), end))
        joined[0] = True
        ends[mine[joined]] = end
        lost = np.setdiff1d(lost, mine[joined], assume_unique=True)
    return ends


def _nearest(grid: Grid, start: int, goal: int) -> int:
    """Return the cell nearest to the goal that can be reached from the start, searching outward."""
    y, x = divmod(goal, grid.width)
    radius = 1
    while True:
        top, left = max(y - radius, 0), max(x - radius, 0)
        rows, columns = np.nonzero(grid.passable[top : y + radius + 1, left : x + radius + 1])
        states = (rows + top) * grid.width + columns + left
        reached = ~grid.graph.apart(np.full(len(states), start), states)
        states = states[reached]
        apart = (rows[reached] + top - y) ** 2 + (columns[reached] + left - x) ** 2
        everywhere = radius >= max(grid.height, grid.width)
        if len(apart) and (apart.min() <= radius**2 or everywhere):
            return int(states[np.argmin(apart)])
        if everywhere:
            return goal  # another thread has just closed the start
        radius *= 2


def needed(count: int, what: str, of: str, many: str | None = None) -> str:
    """Return the beginning of a sentence: this many units or starts need as many of something.

    >>> needed(2, "unit", "goal"), needed(1, "start", "goal")
    ('2 units need as many goals, or one for all', '1 start needs one goal')
    """
    if count == 1:
        return f"1 {what} needs one {of}"
    return f"{count} {what}s need as many {many or of + 's'}, or one for all"


def priorities(priority: npt.ArrayLike, units: int) -> npt.NDArray[np.float64]:
    """Return the priority of each unit; raise `ParameterError` if there are too few or many, or one is out of range."""
    given = np.asarray(priority)
    if given.dtype.kind not in "iuf" or given.ndim > 1:
        raise ParameterError(f"priority must be a number, or one for each unit, got {quoted(priority)}")
    if given.ndim == 1 and len(given) != units:
        raise ParameterError(f"{needed(units, 'unit', 'priority', 'priorities')}, got {len(given)}")
    low, high = PRIORITIES
    for value in np.atleast_1d(given)[~((given >= low) & (given <= high)).reshape(-1)][:1]:
        raise ParameterError(f"priority must be from {low:g} to {high:g}, got {value:g}")
    return np.broadcast_to(given.astype(np.float64), units)
