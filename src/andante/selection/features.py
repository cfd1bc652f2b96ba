"""Features of a problem that take no longer to compute than a few moves take to plan.

Values that depend only on the map are computed once (`Survey`). Each problem then needs a fixed number of look-ups and
at most `CLIMB` steps of hill-climbing, so the time does not grow with the map.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from andante.campaign.maps import PlannedMap
from andante.campaign.standing import plan_of
from andante.search.hillclimb import climb
from andante.selection.matrix import Matrix, MatrixError, Values
from andante.store import Store
from andante.world.grid import Grid

CLIMB = 64  # steps of hill-climbing
POINTS = 32  # on the line from start to goal
RADII = (2, 5, 10, 20)  # of the squares around start and goal

NAMES = (
    "distance",
    "slope",
    "map_free",
    "map_states",
    "map_rough",
    "line_blocked",
    "line_walls",
    "line_longest_wall",
    "climb_arrived",
    "climb_share",
    *(f"{end}_free_{radius}" for end in ("start", "goal") for radius in RADII),
    *(f"between_free_{part}" for part in (1, 2, 3)),
)


class Survey:
    """A map with the values that are computed once for all its problems.

    >>> import andante
    >>> grid = andante.generate("empty", 20, 20)
    >>> row = dict(zip(NAMES, Survey(grid).features(grid.state(1, 1), grid.state(9, 1)), strict=True))
    >>> float(row["distance"]), float(row["climb_arrived"]), float(row["line_blocked"])
    (8.0, 1.0, 0.0)
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        free = np.asarray(grid.passable, bool).reshape(grid.height, grid.width)
        self._free = free
        self._sums = np.zeros((grid.height + 1, grid.width + 1))
        self._sums[1:, 1:] = free.cumsum(0).cumsum(1)
        states = max(int(free.sum()), 1)
        edges = np.count_nonzero(free[1:] != free[:-1]) + np.count_nonzero(free[:, 1:] != free[:, :-1])
        self._map = (states / free.size, math.log(states), edges / states)

    def features(self, start: int, goal: int) -> Values:
        """Return the features of one problem, in the order of `NAMES`."""
        (x, y), (u, v) = self.grid.cell(start), self.grid.cell(goal)
        dx, dy = abs(u - x), abs(v - y)
        distance = max(dx, dy) + (math.sqrt(2) - 1) * min(dx, dy)
        reached = climb(self.grid.graph.arrays, start, goal, CLIMB)
        share = 1.0 if reached.arrived else min(1.0, reached.expanded / max(dx, dy, 1))
        around = [self._free_share(*cell, radius) for cell in ((x, y), (u, v)) for radius in RADII]
        between = [
            self._free_share(round(x + (u - x) * part / 4), round(y + (v - y) * part / 4), RADII[-1])
            for part in (1, 2, 3)
        ]
        return np.array(
            [
                distance,
                min(dx, dy) / max(dx, dy, 1),
                *self._map,
                *self._line(x, y, u, v),
                float(reached.arrived),
                share,
                *around,
                *between,
            ]
        )

    def _free_share(self, x: int, y: int, radius: int) -> float:
        """Return the share of free cells in the square around a cell, by four look-ups."""
        left, right = max(x - radius, 0), min(x + radius + 1, self.grid.width)
        top, bottom = max(y - radius, 0), min(y + radius + 1, self.grid.height)
        sums = self._sums
        inside = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        return float(inside) / ((right - left) * (bottom - top))

    def _line(self, x: int, y: int, u: int, v: int) -> tuple[float, float, float]:
        """Return the share of blocked points on the straight line, the number of walls on it, and the longest one."""
        at = np.linspace(0, 1, POINTS)
        blocked = ~self._free[np.rint(y + (v - y) * at).astype(int), np.rint(x + (u - x) * at).astype(int)]
        begins = np.flatnonzero(blocked[1:] & ~blocked[:-1]) + 1
        ends = np.flatnonzero(~blocked[1:] & blocked[:-1]) + 1
        longest = int((ends - begins).max()) if len(begins) else 0
        return float(blocked.mean()), float(len(begins)), longest / POINTS


def features_of(grid: Grid, starts: Sequence[int], goals: Sequence[int]) -> Values:
    """Return the features of many problems on one map, a row for each."""
    survey = Survey(grid)
    return np.array([survey.features(start, goal) for start, goal in zip(starts, goals, strict=True)])


class Described(NamedTuple):
    """The features and the cells of the problems of a matrix."""

    features: Values  # [problems, len(NAMES)]
    cells: Values  # [problems, 4]: x and y of start and goal


def describe(matrix: Matrix, maps: Iterable[PlannedMap]) -> Described:
    """Return the features and cells of all problems of a matrix; each map is read once."""
    places: dict[str, list[int]] = {}
    for number, one in enumerate(matrix.instances):
        if one.start is None or one.goal is None:
            raise MatrixError("features are of problems, but this is a matrix by maps")
        places.setdefault(one.fingerprint, []).append(number)
    features, cells = np.zeros((len(matrix.instances), len(NAMES))), np.zeros((len(matrix.instances), 4))
    for planned in maps:
        numbers = places.pop(planned.fingerprint, [])
        if not numbers:
            continue
        grid = planned.world()
        if not isinstance(grid, Grid):
            raise MatrixError(f"features are of problems on maps, but {planned.name} is a graph")
        ends = [(int(matrix.instances[k].start or 0), int(matrix.instances[k].goal or 0)) for k in numbers]
        features[numbers] = features_of(grid, *zip(*ends, strict=True))
        cells[numbers] = [[*grid.cell(start), *grid.cell(goal)] for start, goal in ends]
    if places:
        raise MatrixError(f"{len(places)} maps of the matrix are not among the given maps")
    return Described(features, cells)


def maps_of(store: Store, folder: str = "") -> list[PlannedMap]:
    """Return the maps of a campaign from its store; paths of map files are relative to ``folder``."""
    return plan_of(store, folder).maps
