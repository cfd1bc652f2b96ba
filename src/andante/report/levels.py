"""Pictures of the levels above a map: its regions in colour, with the abstract graph on top of them."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from andante.abstraction.hierarchy import Hierarchy
from andante.report.figure import DPI, INK, new_figure, save_figure, styled
from andante.world.grid import Grid
from andante.world.layout import stride

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Image = npt.NDArray[np.uint8]  # [height, width, 3]

#: The colours of regions; neighbours get different ones as long as there are enough.
REGION_COLOURS = ("#f6d8a8", "#b9d8c2", "#c5cfe8", "#f2bfb0", "#e3e3a0", "#d9c2e0", "#a9d6dd", "#e6cdb8")
WALL = "#4b4f55"
_OUTSIDE = "#f3efe6"  # a free cell that belongs to no region, as it has no moves
_BORDER = 0.62  # the brightness of a region's edge, relative to its inside

_SMALLEST, _LARGEST = 800, 4096  # the longer side of a picture, in pixels, unless the map has more cells
_CAPTION = 34  # pixels below the map
_ROOM = 6.0  # pixels between centres below which arcs would hide the regions


def draw_level(grid: Grid, levels: Hierarchy, level: int, path: str | os.PathLike[str]) -> None:
    """Draw the regions of a level above a map, with the level's arcs between their centres, as PNG, SVG or PDF.

    Where regions are only a few pixels in size, arcs and centres are left out.
    """
    pixels = max(1, math.ceil(_SMALLEST / max(grid.width, grid.height)))
    image = _with_borders(colours_of_cells(grid, levels, level), _regions(grid, levels, level), pixels)
    high, wide = image.shape[:2]
    shrink = min(1.0, _LARGEST / max(high, wide))
    figure = new_figure(shrink * wide / DPI, (shrink * high + _CAPTION) / DPI)
    below = _CAPTION / (shrink * high + _CAPTION)
    with styled():
        axes = figure.add_axes((0, below, 1, 1 - below))
        axes.imshow(image, extent=(-0.5, grid.width - 0.5, grid.height - 0.5, -0.5), aspect="auto")
        axes.set_axis_off()
        _draw_arcs(axes, levels, level, shrink * pixels)
        states, cells = levels.sizes[level], levels.sizes[0] / max(levels.sizes[level], 1)
        words = f"{grid.name}, level {level} of {levels.top}: {states:,} states of {cells:.3g} cells each, on average"
        figure.text(8 / (shrink * wide), below / 2, words, va="center", fontsize=10)
    save_figure(figure, path)


def colours_of_cells(grid: Grid, levels: Hierarchy, level: int) -> Image:
    """Return the colour of each cell: that of its region, of walls, or of cells that belong to no region."""
    palette = np.array([_rgb(colour) for colour in (*REGION_COLOURS, _OUTSIDE, WALL)], np.uint8)
    outside, wall = len(REGION_COLOURS), len(REGION_COLOURS) + 1
    region = _regions(grid, levels, level)
    colour = np.append(_coloured(levels, level), outside)[region]
    return palette[np.where(grid.passable, colour, wall)]


def _regions(grid: Grid, levels: Hierarchy, level: int) -> npt.NDArray[np.int32]:
    return levels.regions(level).reshape(grid.passable.shape)


def _coloured(levels: Hierarchy, level: int) -> npt.NDArray[np.int64]:
    """Return a colour for each state of a level: one that as few of its neighbours as possible have so far."""
    graph = levels.level(level)
    colour = np.full(levels.nodes(level).shape, -1, np.int64)
    for state in range(len(colour)):
        taken = [colour[near] for near, _ in graph.neighbours(state) if colour[near] >= 0]
        turn = np.roll(np.bincount(taken, minlength=len(REGION_COLOURS)), -state)  # else the first would dominate
        colour[state] = (int(turn.argmin()) + state) % len(REGION_COLOURS)
    return colour


def _with_borders(colours: Image, region: npt.NDArray[np.int32], pixels: int) -> Image:
    """Return the image with each cell as a square of pixels, darker next to another region or a wall."""
    image = colours.repeat(pixels, 0).repeat(pixels, 1)
    fine = region.repeat(pixels, 0).repeat(pixels, 1)
    edge = np.zeros(fine.shape, bool)
    edge[:, :-1] |= fine[:, :-1] != fine[:, 1:]
    edge[:-1] |= fine[:-1] != fine[1:]
    edge &= fine >= 0
    image[edge] = (_BORDER * image[edge]).astype(np.uint8)
    return image


def _draw_arcs(axes: Axes, levels: Hierarchy, level: int, pixels: float) -> None:
    """Draw the arcs of a level between the centres of its regions, as thick as space allows."""
    from matplotlib.collections import LineCollection

    room = pixels * math.sqrt(levels.sizes[0] / max(levels.sizes[level], 1))
    if room < _ROOM:
        return
    place = levels.points(level) / stride(levels.graph.arrays)  # in cells
    ends = [(place[a], place[b]) for a, b in levels.counts(level) if a < b]
    thick = min(2.2, 0.03 * room + 0.3)
    axes.add_collection(LineCollection(ends, colors=INK, linewidths=thick, alpha=0.55), autolim=False)
    axes.plot(place[:, 0], place[:, 1], "o", color=INK, markersize=2.2 * thick + 0.6)


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
