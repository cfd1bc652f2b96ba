"""Scaling of maps, up and down.

Both directions follow one rule. On a side that grows from n cells to N, cell i comes from cell floor(i * n / N), so a
small cell becomes a block of cells. The cell in the middle of the block represents it: starts and goals of problems
move there, and `downscale` samples there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from andante.errors import MapError, ParameterError, expect, real_number
from andante.world.grid import MAX_SIDE, Grid
from andante.world.mapfiles import MAX_CELLS
from andante.world.problem import Problem

Places = npt.NDArray[np.int64]
Place = TypeVar("Place", int, Places)


def upscale(grid: Grid, factor: float | None = None, *, size: tuple[int, int] | None = None) -> Grid:
    """Return the map enlarged by ``factor``, or to ``size`` (width, height).

    Cells need not all grow by the same amount: the papers scale maps of 161 to 193 cells to 512.

    >>> from andante.datasets.generate import generate
    >>> upscale(generate("empty", 10, 8), 2.5)
    <Grid empty-10x8-seed0-25x20 25 x 20, 500 free cells>
    """
    expect(grid, Grid, "only a Grid can be upscaled, as andante.read_map returns", MapError)
    sides = (grid.width, grid.height)
    if (factor is None) == (size is None):
        raise ParameterError("upscale takes either a factor or a size")
    if size is None:
        times = min(real_number(factor, "the factor", least=1), MAX_SIDE + 1.0)  # larger factors are just as invalid
        size = (round(sides[0] * times), round(sides[1] * times))
    width, height = size
    if width < grid.width or height < grid.height or max(width, height) > MAX_SIDE or width * height > MAX_CELLS:
        raise ParameterError(
            f"{grid.name} has {sides[0]} x {sides[1]} cells and cannot be upscaled to {width} x {height}"
        )
    return _sampled(grid, origins(grid.width, width), origins(grid.height, height))


def downscale(grid: Grid, *, size: tuple[int, int]) -> Grid:
    """Return the map of ``size`` (width, height) that ``grid`` may have been enlarged from.

    If ``grid`` was made by `upscale` from a map of this size, the result is that map. If not, each cell of the result
    is the one in the middle of its block.

    >>> from andante.datasets.generate import generate
    >>> rooms = generate("rooms", 40, 30, seed=1)
    >>> downscale(upscale(rooms, 3.2), size=(40, 30)).fingerprint == rooms.fingerprint
    True
    """
    width, height = size
    if not (1 <= width <= grid.width and 1 <= height <= grid.height):
        raise ParameterError(
            f"{grid.name} has {grid.width} x {grid.height} cells and cannot be downscaled to {width} x {height}"
        )
    return _sampled(grid, middles(width, grid.width), middles(height, grid.height))


def _sampled(grid: Grid, columns: Places, rows: Places) -> Grid:
    """Return the map of these columns and rows of ``grid``."""
    name = f"{grid.name}-{len(columns)}x{len(rows)}"
    taken = np.ix_(rows, columns)
    weights = None if grid.weights is None else grid.weights[taken]
    return grid.like(grid.terrain[taken], grid.passable[taken], weights, name)


def origins(small: int, large: int) -> Places:
    """Return, for a side that grows from ``small`` to ``large`` cells, the origin of each of the ``large`` cells.

    >>> origins(3, 8).tolist()
    [0, 0, 0, 1, 1, 1, 2, 2]
    """
    return np.arange(large) * small // large


def middles(small: int, large: int) -> Places:
    """Return, for a side that grows from ``small`` to ``large`` cells, the middle of the block of each small cell.

    >>> middles(3, 8).tolist()
    [1, 4, 6]
    """
    return _middle(np.arange(small), small, large)


def _middle(place: Place, small: int, large: int) -> Place:
    first, after = -(-place * large // small), -(-(place + 1) * large // small)
    return (first + after - 1) // 2


def upscale_problems(problems: Iterable[Problem], grid: Grid) -> list[Problem]:
    """Return the same problems on ``grid``, their upscaled map, with start and goal in the middle of their blocks.

    Optimal costs do not scale exactly, so the new problems have none.
    """
    moved = []
    origin: Grid | None = None
    for problem in problems:
        small = problem.grid
        if small is None:
            raise ParameterError(f"{problem!r} is not on a grid and cannot be upscaled")
        if small is not origin:
            _check_upscaled(small, grid)
            origin = small
        moved.append(grid.problem(_moved(small, grid, problem.start), _moved(small, grid, problem.goal)))
    return moved


def _check_upscaled(small: Grid, large: Grid) -> None:
    expected = upscale(small, size=(large.width, large.height))
    if not np.array_equal(expected.passable, large.passable):
        raise ParameterError(f"{large.name} is not {small.name} upscaled")


def _moved(small: Grid, large: Grid, state: int) -> tuple[int, int]:
    """Return the middle of the cells of ``large`` that come from one cell of ``small``."""
    x, y = small.cell(state)
    return _middle(x, small.width, large.width), _middle(y, small.height, large.height)
