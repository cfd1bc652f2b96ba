"""Pictures of maps: the terrain alone, or with an agent's path on it."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.episode.trace import Trace
from andante.episode.trial import Trial
from andante.errors import ParameterError
from andante.notebook import EXPANDED as EXPANDED_COLOUR
from andante.notebook import GOAL, PATH, START, TERRAIN
from andante.report.figure import DPI, new_figure, save_figure, styled
from andante.search.memory import EXPANDED
from andante.world.grid import Grid, cells_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Colour = tuple[float, float, float]
Image = npt.NDArray[np.float64]  # [height, width, 3]

_HEAT = ("#fbe3a4", "#ee8434", "#a01a2e")  # from little to much

_SMALLEST, _LARGEST = 800, 4096  # the longer side of a picture, in pixels
_CAPTION = 34  # pixels below the map


def draw(subject: Grid | Trial | Trace, path: str | os.PathLike[str]) -> None:
    """Draw a map, a trial on its map, or a trace with everything expanded and learned, as PNG, SVG or PDF.

    The line is the path without its loops: of several visits to a cell, only the last counts. Colours are warmer where
    the agent came more often (on a trial) or learned more (on a trace). The green dot is the start and the red one the
    goal; a cross marks where an agent stopped that did not arrive.
    """
    image, caption, route = _parts(subject)
    height, width = image.shape[:2]
    longer = max(width, height)
    scale = max(1, math.ceil(_SMALLEST / longer)) if longer <= _LARGEST else _LARGEST / longer
    wide, high = max(1, round(width * scale)), max(1, round(height * scale))
    figure = new_figure(wide / DPI, (high + _CAPTION) / DPI)
    with styled():
        axes = figure.add_axes((0, _CAPTION / (high + _CAPTION), 1, high / (high + _CAPTION)))
        axes.imshow(image, interpolation="nearest" if scale >= 1 else "antialiased", aspect="auto")
        axes.set_axis_off()
        if route is not None:
            _draw_route(axes, route, scale)
        axes.set_xlim(-0.5, width - 0.5)
        axes.set_ylim(height - 0.5, -0.5)
        figure.text(8 / wide, _CAPTION / 2 / (high + _CAPTION), caption, va="center", fontsize=10)
    save_figure(figure, path)


class _Route(NamedTuple):
    """An agent's path and goal, in cells."""

    walk: npt.NDArray[np.int64]  # [cells, 2], x and y, the start first, without loops
    goal: npt.NDArray[np.int64]  # [2], x and y

    @classmethod
    def of(cls, path: npt.NDArray[np.int32], goal: int, width: int) -> _Route:
        """Return the route along a path of states, on a map of this width."""
        return cls(cells_of(without_loops(path), width), cells_of(goal, width))


def _parts(subject: Grid | Trial | Trace) -> tuple[Image, str, _Route | None]:
    """Return the background image, the caption, and the agent's route if there is one."""
    if isinstance(subject, Grid):
        words = f"{subject.name}: {subject.width} x {subject.height}, {subject.free_cells:,} free cells"
        return _terrain(subject.shown), words, None
    walked = (
        f"{subject.suboptimality_ratio:.3g} times optimal" if subject.optimal_cost < math.inf else "there is no path"
    )
    if isinstance(subject, Trace):
        if not subject.is_still:
            walked = f"cost {subject.cost:.4g}; the map or the goal changed"
        words = (
            f"{subject.algorithm} on {subject.map_name}: {subject.outcome.name}, {len(subject.moves):,} moves, {walked}"
        )
        return _thoughts(subject), words, _Route.of(subject.path, subject.last_goal, subject.width)
    grid = subject.problem.grid
    if grid is None or subject.path is None:
        raise ParameterError("this trial has no path on a grid to draw; run a problem on a grid with paths=True")
    words = f"{subject.algorithm} on {grid.name}: {subject.outcome.name}, {subject.moves:,} moves, {walked}"
    return _visits(grid, subject.path), words, _Route.of(subject.path, subject.problem.goal, grid.width)


def without_loops(path: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return a path with its loops removed: once left, a state is not visited again.

    >>> without_loops(np.array([1, 2, 3, 2, 4, 5, 4, 6], np.int32))
    array([1, 2, 4, 6], dtype=int32)
    """
    last = dict(zip(path.tolist(), range(len(path)), strict=True))
    kept, at = [], 0
    while at < len(path):
        kept.append(path[at])
        at = last[int(path[at])] + 1
    return np.array(kept, np.int32)


def _terrain(codes: npt.NDArray[np.uint8]) -> Image:
    table = np.zeros((256, 3))
    for character, colour in TERRAIN.items():
        table[ord(character)] = _rgb(colour)
    return table[codes]


def _visits(grid: Grid, path: npt.NDArray[np.int32]) -> Image:
    """Return the terrain, with the cells visited more than once in heat colours."""
    image = _terrain(grid.shown)
    visits = np.bincount(path, minlength=grid.terrain.size).reshape(grid.terrain.shape)
    again = visits > 1
    image[again] = _heat(np.log(visits[again]))
    return image


def _thoughts(trace: Trace) -> Image:
    """Return the final terrain, with the expanded cells and, in heat colours, the learned values."""
    image = _terrain(trace.last_terrain)
    expanded = trace.thoughts["state"][trace.thoughts["kind"] == EXPANDED]
    image.reshape(-1, 3)[expanded] = _rgb(EXPANDED_COLOUR)
    rise = trace.learned_rise
    learned = ~np.isnan(rise)
    image[learned] = _heat(np.sqrt(np.maximum(rise[learned], 0.0)))
    return image


def _heat(amounts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return colours for amounts from 0: the largest finite one gets the warmest colour, and so does infinity."""
    finite = amounts[np.isfinite(amounts)]
    share = np.nan_to_num(amounts / max(float(finite.max(initial=0.0)), 1e-9), posinf=1.0).clip(0, 1)
    stops = np.linspace(0, 1, len(_HEAT))
    return np.stack([np.interp(share, stops, [_rgb(c)[k] for c in _HEAT]) for k in range(3)], -1)


def _draw_route(axes: Axes, route: _Route, scale: float) -> None:
    walk, goal = route
    axes.plot(walk[:, 0], walk[:, 1], color=PATH, linewidth=max(2.0, min(4.0, 0.3 * scale)), solid_joinstyle="round")
    marks = [(walk[0], "o", START), (goal, "o", GOAL)]
    marks += [] if np.array_equal(walk[-1], goal) else [(walk[-1], "X", PATH)]
    for (x, y), shape, colour in marks:
        axes.plot(x, y, shape, color=colour, markersize=11, markeredgecolor="white", markeredgewidth=1.5)


def _rgb(colour: str) -> Colour:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue
