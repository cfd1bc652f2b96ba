"""Names beside the points of a plot, placed so that none can be mistaken for the name of another point.

A name is put beside its point if there is space and no other point is nearer to it. Otherwise it is put further away,
at the end of a line from its point. If there is no free place for that either, the point gets a number, and the name
is written beside that number below the plot.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.report.figure import INK, MUTED, PAPER
from andante.report.typeset import broken

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = npt.NDArray[np.float64]

_MARK = 4.0  # half the size of a point, in points of 1/72 inch, like all lengths here
_GAP = 7.0  # between a point and the name beside it
_STEP = 2.0  # between the places at which a line is checked
_PASSING = 8.0  # a line that passes another point more closely than this seems to begin there
_RINGS = (22.0, 34.0, 48.0, 64.0, 84.0, 110.0)  # how far a name at the end of a line may be from its point
_ANGLES = [2 * math.pi * k / 16 for k in range(16)]
_LINE_HEIGHT = 1.3  # of a text, in letters
_CLEARLY = 1.5  # any other point is at least this many times as far from a name without a line as its own point
_EDGE = 0.98  # of the width of a figure: where lines below the plot must end
_SAME = 6.0  # numbered points that are nearer than this share a number
_OWN_NUMBER = re.compile(r"(\d+)\. ")  # of a name that begins with its number
_MOST_NUMBERS = 3  # at one point


class Box(NamedTuple):
    """A rectangle on the page."""

    left: float
    right: float
    bottom: float
    top: float

    def covers(self, other: Box) -> bool:
        """Return whether the two overlap."""
        beside = self.right <= other.left or other.right <= self.left
        apart = self.top <= other.bottom or other.top <= self.bottom
        return not (beside or apart)

    def holds(self, places: Values, margin: float = 0.0) -> bool:
        """Return whether any of these places is inside, or within a margin of it."""
        return bool((self.distances(places) <= margin).any())

    def distances(self, places: Values) -> Values:
        """Return the distances of these places from the rectangle; 0 inside."""
        across = np.maximum(np.maximum(self.left - places[:, 0], places[:, 0] - self.right), 0.0)
        up = np.maximum(np.maximum(self.bottom - places[:, 1], places[:, 1] - self.top), 0.0)
        return np.hypot(across, up)

    def within(self, other: Box) -> bool:
        """Return whether it is inside another."""
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.bottom <= self.bottom
            and self.top <= other.top
        )


@dataclass
class _Page:
    """The occupied parts of a page: points, names, and the lines that lead to names."""

    frame: Box
    points: Values  # [points, 2]: all points drawn, with or without a name
    size: float  # of letters
    names: list[Box] = field(default_factory=list)
    lines: Values = field(default_factory=lambda: np.zeros((0, 2)))
    drawn: Values = field(default_factory=lambda: np.zeros((0, 2)))  # along a line of the plot itself

    def free(self, box: Box) -> bool:
        """Return whether a name may be put here."""
        inside = box.within(self.frame) and not any(map(box.covers, self.names))
        lines = np.concatenate([self.lines, self.drawn])
        return inside and not box.holds(self.points, _MARK) and not (len(lines) and box.holds(lines, 1.0))

    def beside(self, number: int, name: str) -> tuple[float, float] | None:
        """Return the first place beside a point where its name is clearly nearer to it than to any other point."""
        width, height = extent(name, self.size)
        apart = np.hypot(*(self.points - self.points[number]).T)
        others = self.points[apart > 0.5]  # points in one place are one point
        for up in (0.65, -0.65, 0.0):
            for side in (1, -1):
                place = side * _GAP, up * height
                box = self._box(number, place, width, height)
                near = float(box.distances(self.points[number : number + 1])[0])
                if self.free(box) and not (len(others) and box.distances(others).min() <= _CLEARLY * near):
                    self.names.append(box)
                    return place
        return None

    def afar(self, number: int, name: str) -> tuple[float, float] | None:
        """Return a place for a name at the end of a line that does not cross anything."""
        width, height = extent(name, self.size)
        for distance in _RINGS:
            for angle in _ANGLES:
                place = distance * math.cos(angle), distance * math.sin(angle)
                box = self._box(number, place, width, height)
                line = self._line(number, place)
                if self.free(box) and self._open(number, line):
                    self.names.append(box)
                    self.lines = np.concatenate([self.lines, line])
                    return place
        return None

    def _box(self, number: int, place: tuple[float, float], width: float, height: float) -> Box:
        x, y = self.points[number] + place
        left = x if place[0] > 0 else x - width
        return Box(left, left + width, y - height / 2, y + height / 2)

    def _line(self, number: int, place: tuple[float, float]) -> Values:
        count = max(2, int(math.hypot(*place) / _STEP))
        found: Values = self.points[number] + np.linspace(0.15, 1.0, count)[:, None] * np.array([place])
        return found

    def _open(self, number: int, line: Values) -> bool:
        """Return whether a line keeps away from other points, names and lines."""
        apart = np.hypot(*(self.points - self.points[number]).T)
        others = self.points[apart > 0.5]
        if any(box.holds(line, 1.0) for box in self.names):
            return False
        beyond = self.drawn[np.hypot(*(self.drawn - self.points[number]).T) > _MARK]  # it may begin at its own point
        taken = np.concatenate([others, self.lines, beyond])
        if not len(taken):
            return True
        gaps = np.hypot(*(line[:, None, :] - taken[None, :, :]).transpose(2, 0, 1))
        room = np.concatenate([np.full(len(others), _PASSING), np.full(len(self.lines) + len(beyond), _STEP)])
        return bool((gaps > room).all())


def label(
    figure: Figure,
    axes: Axes,
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
    others: Sequence[tuple[float, float]] = (),
    size: float = 9.0,
    line: Sequence[tuple[float, float]] = (),
) -> None:
    """Write a name beside each point; no name may cover ``others``, the points without a name, or be nearer to them.

    A name may not cover a ``line`` of the plot either, which is given by its corners. The figure grows if some names
    have to be written below the plot.
    """
    if not names:
        return
    page = _page(figure, axes, [*points, *others], size)
    page.drawn = _along(axes, figure, line)
    near = [page.beside(number, name) for number, name in enumerate(names)]
    far = [None if near[k] else page.afar(k, name) for k, name in enumerate(names)]
    for name, point, beside, afar in zip(names, points, near, far, strict=True):
        if beside is not None:
            _write(axes, name, point, beside, size)
        elif afar is not None:
            _write(axes, name, point, afar, size, line=True)
    left = [k for k in range(len(names)) if near[k] is None and far[k] is None]
    if left:
        _number(figure, axes, page, left, names, points)


def _write(
    axes: Axes, text: str, point: tuple[float, float], place: tuple[float, float], size: float, *, line: bool = False
) -> None:
    """Write a text at a place relative to its point, with a line between them if requested."""
    side, end = ("left", 0.0) if place[0] > 0 else ("right", 1.0)
    drawn = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 3.0, "relpos": (end, 0.5)}
    axes.annotate(
        text,
        point,
        place,
        textcoords="offset points",
        ha=side,
        va="center",
        fontsize=size,
        arrowprops=drawn if line else None,
    )


def _along(axes: Axes, figure: Figure, line: Sequence[tuple[float, float]]) -> Values:
    """Return places along a line of the plot, close enough to each other."""
    if len(line) < 2:
        return np.zeros((0, 2))
    corners = axes.transData.transform(np.asarray(line, np.float64)) * 72 / figure.dpi
    found = [
        np.linspace(start, end, max(2, math.ceil(math.dist(start, end) / _STEP))) for start, end in pairwise(corners)
    ]
    return np.concatenate(found)


def _page(figure: Figure, axes: Axes, points: Sequence[tuple[float, float]], size: float) -> _Page:
    figure.draw_without_rendering()  # fixes the axes, so that positions on the page are known
    scale = 72 / figure.dpi
    frame = axes.bbox
    room = Box(frame.x0 * scale, frame.x1 * scale, frame.y0 * scale, frame.y1 * scale)
    return _Page(room, axes.transData.transform(np.asarray(points, np.float64)) * scale, size)


def extent(text: str, size: float) -> tuple[float, float]:
    """Return the width and height of a text."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width), _LINE_HEIGHT * size


def wrapped(text: str, size: float, most: float) -> list[str]:
    """Return the lines of a name that is too wide."""
    return broken(text, most, lambda line: extent(line, size)[0])


def _number(
    figure: Figure,
    axes: Axes,
    page: _Page,
    left: Sequence[int],
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
) -> None:
    """Number the points whose names have no place, and write the names below the plot."""
    groups: list[list[int]] = []
    for number in left:
        near = [g for g in groups if math.dist(page.points[g[0]], page.points[number]) < _SAME]
        if near:
            near[0].append(number)
        else:
            groups.append([number])
    own = [found[1] for found in map(_OWN_NUMBER.match, names) if found]
    numbered = len(own) == len(names) and all(len(group) <= _MOST_NUMBERS for group in groups)
    if numbered:  # a second number beside "3. tba" would be misread
        keys = [", ".join(own[number] for number in group) for group in groups]
    else:
        keys = [str(k) for k in range(1, len(groups) + 1)]
    for key, group in zip(keys, groups, strict=True):
        if (place := page.beside(group[0], key)) is not None:
            _write(axes, key, points[group[0]], place, page.size)
            continue
        axes.annotate(  # on the point itself, where it cannot be mistaken for that of another
            key,
            points[group[0]],
            ha="center",
            va="center",
            fontsize=page.size - 1,
            zorder=9,
            bbox={"boxstyle": "circle,pad=0.15", "facecolor": PAPER, "edgecolor": INK, "linewidth": 0.6},
        )
    width = (_EDGE - figure.subplotpars.left) * figure.get_figwidth() * 72
    words = []
    for key, group in zip(keys, groups, strict=True):
        text = "; ".join(names[number] for number in group)
        first, *more = wrapped(text, page.size, width - extent("00  ", page.size)[0])
        words += [first if numbered else f"{key}  {first}", *(f"    {line}" for line in more)]
    _below(figure, words, page.size)


def _below(figure: Figure, words: Sequence[str], size: float) -> None:
    """Let the figure grow by some lines of text below it; the part above keeps its size."""
    width, height = figure.get_size_inches()
    more = (len(words) + 0.5) * _LINE_HEIGHT * size / 72
    sides = figure.subplotpars
    taller = height + more
    figure.set_size_inches(width, taller)
    figure.subplots_adjust(bottom=(sides.bottom * height + more) / taller, top=(sides.top * height + more) / taller)
    for k, line in enumerate(words):
        y = (more - (k + 1) * _LINE_HEIGHT * size / 72) / taller
        figure.text(sides.left, y, line, fontsize=size, ha="left", va="bottom")
