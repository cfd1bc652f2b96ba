"""Choice of the algorithm that was best on earlier problems of the same map with a start and a goal nearby.

Bulitko (2016), section 7, found this no better than the prior, with 14 problems per map. With so few problems this is
confirmed. With thousands, run once for a map that is known in advance, it is clearly better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from andante.errors import MapError
from andante.measures import Clusters, Statistics
from andante.selection.matrix import Matrix, MatrixError, Numbers, Values
from andante.world.grid import Grid

NEIGHBOURS = 20
SIZES = (3, 10, 30, 100, 300, 1000, 3000, 9000)  # numbers of old problems per map to report
_NEW = 0.1  # share of a map's problems on which choices are judged


class Cases:
    """Results on problems of one map, to choose an algorithm for other problems there.

    >>> import andante
    >>> from andante.selection.matrix import Instance
    >>> grid = andante.generate("empty", 20, 20)
    >>> old = [Instance(grid.name, grid.fingerprint, grid.state(1, y), grid.state(18, y)) for y in (1, 18)]
    >>> matrix = Matrix(np.array([[1.0, 9.0], [5.0, 2.0]]), ("lrta", "rta"), tuple(old), np.ones(2))
    >>> cases = Cases(grid, matrix, neighbours=1)
    >>> cases.choose((2, 2), (17, 3)), cases.choose((2, 15), (17, 19))
    ('lrta', 'rta')
    """

    def __init__(self, grid: Grid, matrix: Matrix, neighbours: int = NEIGHBOURS) -> None:
        mine = [k for k, one in enumerate(matrix.instances) if one.fingerprint == grid.fingerprint]
        if not mine:
            raise MatrixError(f"there are no results on {grid.name} to choose by")
        if needy := next((name for name in matrix.algorithms if " with " in name), None):
            raise MatrixError(f"cases choose among algorithms without databases; leave out {needy}, which needs some")
        self._grid, self._algorithms = grid, matrix.algorithms
        self._nearby = Nearby(cells_of(grid, matrix.columns(np.array(mine))), matrix.values[:, mine], neighbours)

    def __repr__(self) -> str:
        return f"<Cases for {len(self._algorithms)} algorithms on {self._grid!r}>"

    def choose(self, start: tuple[int, int], goal: tuple[int, int]) -> str:
        """Return the algorithm that was best on the problems nearest to this one; start and goal are pairs (x, y)."""
        for x, y in (start, goal):
            if not (0 <= x < self._grid.width and 0 <= y < self._grid.height):
                raise MapError(f"({x}, {y}) lies outside {self._grid.name}")
        return self._algorithms[int(self._nearby.best(np.array([[*start, *goal]], np.float64))[0])]


class Nearby:
    """Values of algorithms at points, from which the best algorithm at other points is chosen."""

    def __init__(self, points: Values, values: Values, neighbours: int = NEIGHBOURS) -> None:
        self._tree, self._values = KDTree(points), values
        self._count = min(neighbours, len(points))

    def best(self, points: Values) -> Numbers:
        """Return for each point the row with the lowest mean over the nearest points (Manhattan distance)."""
        near = self._tree.query(points, k=[*range(1, self._count + 1)], p=1)[1]
        chosen: Numbers = self._values[:, near].mean(axis=2).argmin(axis=0)
        return chosen


def cells_of(grid: Grid, matrix: Matrix) -> Values:
    """Return x and y of the start and the goal of each problem of a matrix, one row each."""
    ends = [(one.start, one.goal) for one in matrix.instances]
    if any(start is None or goal is None for start, goal in ends):
        raise MatrixError("cases need a matrix of problems, but this is a matrix by maps")
    return np.array([[*grid.cell(int(start or 0)), *grid.cell(int(goal or 0))] for start, goal in ends], np.float64)


@dataclass(frozen=True)
class BySize:
    """The scores of choosing by a number of old problems of each map, on other problems of the same maps."""

    old: int
    maps: int  # the number of maps with this many old problems
    chosen: Statistics
    prior: Statistics  # of the algorithm that was best on the other maps
    per_map: Statistics  # of the algorithm that was best on the old problems of the map
    virtual_best: Statistics
    gain: Statistics  # prior minus chosen, problem by problem


class _Judged(NamedTuple):
    """The problems of one map, some to judge by and the others to choose by, and the best algorithm on other maps."""

    new: Numbers
    old: Numbers
    prior: int


def by_size(matrix: Matrix, cells: Values, *, sizes: Sequence[int] = SIZES, seed: int = 0) -> list[BySize]:
    """Return the scores of choosing by nearby problems, for each number of old problems on maps with enough of them.

    ``cells`` are x and y of start and goal of each problem. A tenth of each map's problems is reserved for judging.
    """
    maps = np.unique([one.fingerprint for one in matrix.instances], return_inverse=True)[1]
    if maps.max() == 0:
        raise MatrixError("the prior is the best algorithm on other maps, but there are only results of one map")
    rng = np.random.default_rng(seed)
    judged = []
    for number in range(maps.max() + 1):
        mine = rng.permutation(np.flatnonzero(maps == number))
        new, old = np.split(mine, [max(1, round(_NEW * len(mine)))])
        judged.append(_Judged(new, old, matrix.columns(np.flatnonzero(maps != number)).best))
    groups = {size: [one for one in judged if len(one.old) >= size] for size in sizes}
    if not any(groups.values()):
        raise MatrixError(f"no map has {min(sizes)} problems to choose by, beside one to judge by")
    return [_by_size(matrix, cells, group, size) for size, group in groups.items() if group]


def _by_size(matrix: Matrix, cells: Values, judged: Sequence[_Judged], size: int) -> BySize:
    scores = []
    for new, old, prior in judged:
        seen, values = matrix.values[:, old[:size]], matrix.values[:, new]
        chosen = values[Nearby(cells[old[:size]], seen).best(cells[new]), np.arange(len(new))]
        per_map = values[int(seen.mean(axis=1).argmin())]
        scores.append([chosen, values[prior], per_map, values.min(axis=0), values[prior] - chosen])
    clusters = Clusters.of(np.repeat(np.arange(len(judged)), [len(one.new) for one in judged]))
    columns = (np.concatenate(part) for part in zip(*scores, strict=True))
    return BySize(size, len(judged), *(Statistics.of(column, clusters=clusters) for column in columns))
