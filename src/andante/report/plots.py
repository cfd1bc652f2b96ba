"""Plots of a comparison: what planning gains, and how results are spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.measures import MEASURES, Headline, Measure, Summary, measure, quality_of
from andante.report.figure import ACCENT, INK, MUTED, SOFT, WARM, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = 9.0  # the font size of labels, in points
_LINE, _LETTER = 1.3 * _SIZE, 0.58 * _SIZE  # the height of a label, and the approximate width of one letter
# Where a label may go relative to its point, nearest places first.
_AROUND = [(side * 7.0, step * _LINE * 0.7) for step in (1, -1, 2, -2, 3, -3, 4, -4, 5, -5) for side in (1, -1)]
_WIDEST_LINEAR = 20.0  # an axis is logarithmic if the largest number is at least this many times the smallest


def planning_plot(summaries: Sequence[Summary], effort: str = "max_states_expanded") -> Figure:
    """Plot planning per move against how far agents walk, a point per agent; none beats one on the line in both.

    The point is at the measure's headline (the worst of all trials for ``max_states_expanded``, else the mean). Its bar
    is one standard error of the mean to either side.
    """
    figure = new_figure(5.6, 4.2)
    quality = quality_of({name for summary in summaries for name in summary.measures})
    known = [s for s in summaries if {effort, quality} <= set(s.measures) and math.isfinite(s[quality].mean)]
    points = [(s.headline(effort), s[quality].mean) for s in known]
    front = pareto_front(points)
    with styled():
        axes = figure.add_subplot()
        scale(axes, "x", [x for x, _ in points])
        scale(axes, "y", [y for _, y in points])
        axes.step([x for x, _ in front], [y for _, y in front], where="post", color=SOFT, linewidth=1.5, zorder=1)
        for summary, point in zip(known, points, strict=True):
            _mark(axes, point, summary[quality].standard_error, point in front)
        axes.set_xlabel(axis_title(measure(effort)))
        axes.set_ylabel(axis_title(MEASURES[quality]))
        axes.grid(True, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.margins(0.12)
        figure.subplots_adjust(left=0.13, right=0.97, top=0.97, bottom=0.13)
        first = sorted(range(len(known)), key=lambda k: points[k] not in front)  # points on the line are labelled first
        label(figure, axes, [known[k].name for k in first], [points[k] for k in first])
    return figure


def spread_plot(groups: Mapping[str, npt.ArrayLike], name: str) -> Figure:
    """Plot the spread of a measure over the problems of each agent: a box between quartiles, whiskers at 5 and 95 %."""
    arrays = {key: np.asarray(values, np.float64) for key, values in groups.items()}
    known = {key: values[np.isfinite(values)] for key, values in arrays.items() if np.isfinite(values).any()}
    figure = new_figure(5.6, 0.9 + 0.36 * max(len(known), 2))
    with styled():
        axes = figure.add_subplot()
        scale(axes, "x", [value for values in known.values() for value in (float(values.min()), float(values.max()))])
        for place, values in enumerate(known.values()):
            _box(axes, place, values)
        axes.use_sticky_edges = False  # give boxes at the edge a margin as well
        axes.margins(x=0.03)
        axes.set_yticks(range(len(known)), labels=list(known), color=INK)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        # Long names leave little room for the axis: its title may begin below them.
        axes.set_xlabel(f"{MEASURES[name].title} ({MEASURES[name].unit})", loc="right")
        axes.grid(True, axis="x", linewidth=0.6)
        axes.set_axisbelow(True)
        figure.set_layout_engine("tight", pad=0.4)
    return figure


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other point beats in one coordinate without losing in the other; less is better.

    >>> pareto_front([(1, 9), (5, 5), (5, 7), (9, 1), (9, 6)])
    [(1, 9), (5, 5), (9, 1)]
    """
    front: list[tuple[float, float]] = []
    for point in sorted(set(points)):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front


def _mark(axes: Axes, point: tuple[float, float], error: float, on_front: bool) -> None:
    x, y = point
    spread = np.nan_to_num(error)
    down = min(spread, 0.9 * y)  # a logarithmic axis cannot show zero
    axes.errorbar(x, y, yerr=[[down], [spread]], color=MUTED, linewidth=1, zorder=2)
    axes.plot(x, y, "o", color=ACCENT if on_front else MUTED, markersize=7 if on_front else 5, zorder=3)


def axis_title(known: Measure) -> str:
    """Return what an axis shows: the measure, its statistic, its unit."""
    statistic = "" if known.headline is Headline.MAX else f", {known.headline.value}"
    return f"{known.title}{statistic} ({known.unit})"


def _box(axes: Axes, place: int, values: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    low, quarter, middle, three, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    axes.plot([low, high], [place, place], color=MUTED, linewidth=1, solid_capstyle="butt", zorder=1)
    axes.barh(place, three - quarter, left=quarter, height=0.52, color=SOFT, zorder=2)
    axes.plot([middle, middle], [place - 0.26, place + 0.26], color=INK, linewidth=1.6, solid_capstyle="butt", zorder=3)
    axes.plot(values.mean(), place, "D", color=WARM, markersize=4.5, zorder=4)


def scale(axes: Axes, axis: str, values: Sequence[float]) -> None:
    """Make an axis logarithmic if its numbers differ widely, with ticks written out."""
    positive = [value for value in values if value > 0]
    if not positive or len(positive) < len(values) or max(positive) < _WIDEST_LINEAR * min(positive):
        return
    from matplotlib.ticker import FuncFormatter, NullFormatter

    getattr(axes, f"set_{axis}scale")("log")
    ticks = getattr(axes, f"{axis}axis")
    ticks.set_major_formatter(FuncFormatter(lambda value, _: brief(value)))
    ticks.set_minor_formatter(NullFormatter())


def brief(value: float) -> str:
    """Return a number as an axis shows it.

    >>> brief(0.1), brief(10.0), brief(20_000.0), brief(3e6)
    ('0.1', '10', '20k', '3M')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def label(figure: Figure, axes: Axes, names: Sequence[str], points: Sequence[tuple[float, float]]) -> None:
    """Write a name beside each point, at the first place around it that covers neither a point nor another name."""
    figure.draw_without_rendering()  # fixes the axes, so that positions on the page are known
    points_per_pixel = 72 / figure.dpi
    places = [axes.transData.transform(point) * points_per_pixel for point in points]
    frame = axes.bbox
    left, right = frame.x0 * points_per_pixel, frame.x1 * points_per_pixel
    taken = [_Box(x - 4, x + 4, y - 4, y + 4) for x, y in places]
    for name, point, (x, y) in zip(names, points, places, strict=True):
        width = _LETTER * len(name)
        for dx, dy in _AROUND:
            edge = x + dx if dx > 0 else x + dx - width
            box = _Box(edge, edge + width, y + dy - _LINE / 2, y + dy + _LINE / 2)
            if left <= box.left and box.right <= right and not any(map(box.covers, taken)):
                break
        taken.append(box)
        side = "left" if dx > 0 else "right"
        axes.annotate(name, point, (dx, dy), textcoords="offset points", ha=side, va="center", fontsize=_SIZE)


class _Box(NamedTuple):
    """A rectangle on the page, in points."""

    left: float
    right: float
    bottom: float
    top: float

    def covers(self, other: _Box) -> bool:
        """Return whether the two overlap."""
        beside = self.right <= other.left or other.right <= self.left
        apart = self.top <= other.bottom or other.top <= self.bottom
        return not (beside or apart)
