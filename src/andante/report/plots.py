"""Plots of a comparison: the gain of planning, and the spread of results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.measures import MEASURES, Comparison, Headline, Measure, Summary, measure, quality_of
from andante.report.figure import ACCENT, INK, MUTED, PAGE, PAPER, SOFT, WARM, Look, new_figure, styled
from andante.report.labels import extent, label, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMES = 0.42  # of the width of a plot, at most, for the names beside it
_LINE = 1.3  # the height of a line, in letters
_WIDEST_LINEAR = 20.0  # an axis is logarithmic if the largest number is at least this many times the smallest


def planning_plot(summaries: Sequence[Summary], effort: str = "max_states_expanded", look: Look = PAGE) -> Figure:
    """Plot planning per move against how far agents walk, a point per agent; no agent beats those on the line in both.

    The point is at the measure's headline (the worst of all trials for ``max_states_expanded``, else the mean). Its
    bars are one standard error of the mean to either side.
    """
    quality = quality_of({name for summary in summaries for name in summary.measures})
    known = [s for s in summaries if {effort, quality} <= set(s.measures) and math.isfinite(s[quality].mean)]
    points = [(s.headline(effort), s[quality].mean) for s in known]
    front = pareto_front(points)
    figure = new_figure(look.width, 0.75 * look.width)
    with styled(look):
        axes = figure.add_subplot()
        scale(axes, "x", [x for x, _ in points])
        scale(axes, "y", [y for _, y in points])
        axes.step([x for x, _ in front], [y for _, y in front], where="post", color=SOFT, linewidth=1.5, zorder=1)
        for summary, point in zip(known, points, strict=True):
            of_mean = measure(effort).headline is Headline.MEAN
            error = summary[effort].standard_error if of_mean else math.nan
            draw_point(axes, point, (error, summary[quality].standard_error), point in front)
        axes.set_xlabel(axis_title(measure(effort)))
        axes.set_ylabel(axis_title(MEASURES[quality]))
        axes.grid(True, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.margins(0.12)
        frame(figure, look)
        first = sorted(range(len(known)), key=lambda k: points[k] not in front)  # points on the line are labelled first
        stairs = [corner for (x, y), (next_x, _) in pairwise(front) for corner in ((x, y), (next_x, y))] + front[-1:]
        names, places = [known[k].name for k in first], [points[k] for k in first]
        label(figure, axes, names, places, size=look.labels, line=stairs)
    return figure


def frame(figure: Figure, look: Look) -> None:
    """Place the axes of a figure, with room for their titles; a title that is too long has two lines."""
    _, height = figure.get_size_inches()
    (axes,) = figure.axes
    title, left = axes.get_ylabel(), look.left
    if extent(title, look.letters)[0] > 0.9 * 72 * height:
        axes.set_ylabel(title.replace(" (", "\n("))
        left += 1.3 * look.letters / 72 / look.width
    figure.subplots_adjust(left=left, right=0.97, top=0.97, bottom=look.bottom(height))


def difference_plot(comparison: Comparison, look: Look = PAGE, most: int = 40) -> Figure:
    """Plot the differences from the best agent with 95 % intervals; solid points are worse, hollow ones not clearly.

    If there are very many agents, only the first ones are shown.
    """
    best = comparison.agents[0]
    others = [comparison.from_best(name) for name in comparison.agents[1:most]]
    known = measure(comparison.measure)
    names = [_in_lines(one.first, look) for one in others]
    places, rows = _rows(names, 1.9)
    figure = new_figure(look.width, (4.0 + 1.9 * max(rows, 2)) * look.letters / 72)
    with styled(look):
        axes = figure.add_subplot()
        axes.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
        ends = [end for one in others for end in one.interval if math.isfinite(end)]
        low, high = min([0.0, *ends]), max([0.0, *ends])
        room = 0.05 * (high - low or 1.0)
        for place, one in zip(places, others, strict=True):
            reach = [max(low - room, one.interval.low), min(high + room, one.interval.high)]  # infinite ends are cut
            axes.plot(reach, [place, place], "|-", color=MUTED, linewidth=1.2, markersize=5, zorder=2)
            worse = (best, one.first) in comparison.better
            axes.plot(one.mean, place, "o", color=ACCENT, mfc=ACCENT if worse else PAPER, markersize=4.5, zorder=3)
        axes.set_xlim(low - room, high + room)
        axes.set_yticks(places, labels=names)
        axes.set_ylim(rows, 0.0)
        axes.tick_params(axis="y", length=0)
        title = f"{known.title} above that of {{}} ({known.unit})"
        short = extent(title.format(best), look.letters)[0] < 0.95 * 72 * look.width
        axes.set_xlabel(title.format(best if short else "the best"), loc="right")
        axes.grid(True, axis="x", linewidth=0.6)
        axes.set_axisbelow(True)
        figure.set_layout_engine("tight", pad=0.4)
    return figure


def spread_plot(groups: Mapping[str, npt.ArrayLike], name: str, look: Look = PAGE) -> Figure:
    """Plot the spread of a measure over the problems of each agent: a box between quartiles, whiskers at 5 and 95 %."""
    arrays = {key: np.asarray(values, np.float64) for key, values in groups.items()}
    known = {key: values[np.isfinite(values)] for key, values in arrays.items() if np.isfinite(values).any()}
    names = [_in_lines(one, look) for one in known]
    places, rows = _rows(names, 2.6)
    figure = new_figure(look.width, (6.5 + 2.6 * max(rows, 2)) * look.letters / 72)
    with styled(look):
        axes = figure.add_subplot()
        scale(axes, "x", [value for values in known.values() for value in (float(values.min()), float(values.max()))])
        for place, values in zip(places, known.values(), strict=True):
            _box(axes, place, values)
        axes.use_sticky_edges = False  # give boxes at the edge a margin as well
        axes.margins(x=0.03)
        axes.set_yticks(places, labels=names)
        axes.set_ylim(max(rows, 1.0), 0.0)
        axes.tick_params(axis="y", length=0)
        # Long names leave little space for the axis, so its title may begin below them.
        axes.set_xlabel(f"{MEASURES[name].title} ({MEASURES[name].unit})", loc="right")
        axes.grid(True, axis="x", linewidth=0.6)
        axes.set_axisbelow(True)
        figure.set_layout_engine("tight", pad=0.4)
    return figure


def _in_lines(name: str, look: Look) -> str:
    """Return a name with line breaks if it would take too much of the width."""
    return "\n".join(wrapped(name, look.letters, _NAMES * look.width * 72))


def _rows(names: Sequence[str], letters: float) -> tuple[list[float], float]:
    """Return the middles of the rows of these names, and the sum of their heights.

    >>> _rows(["one", "two\\nlines", "one"], 2.6)
    ([0.5, 1.5, 2.5], 3.0)
    """
    heights = [max(1.0, _LINE * (1 + name.count("\n")) / letters) for name in names]
    ends = list(accumulate(heights))
    return [end - height / 2 for end, height in zip(ends, heights, strict=True)], math.fsum(heights)


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other beats in one coordinate without being worse in the other; less is better.

    >>> pareto_front([(1, 9), (5, 5), (5, 7), (9, 1), (9, 6)])
    [(1, 9), (5, 5), (9, 1)]
    """
    front: list[tuple[float, float]] = []
    for point in sorted(set(points)):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front


def draw_point(axes: Axes, point: tuple[float, float], errors: tuple[float, float], solid: bool) -> None:
    """Draw a point with bars of one standard error across and up; it is solid, or hollow and smaller."""
    bars = [_bar(place, error) for place, error in zip(point, errors, strict=True)]
    axes.errorbar(*point, xerr=bars[0], yerr=bars[1], color=MUTED, linewidth=1, zorder=2)
    colour, fill = (ACCENT, ACCENT) if solid else (MUTED, PAPER)
    axes.plot(*point, "o", color=colour, mfc=fill, markersize=7 if solid else 5, zorder=3)


def _bar(place: float, error: float) -> list[list[float]] | None:
    """Return how far a bar extends down and up; a logarithmic axis cannot show zero."""
    return [[min(error, 0.9 * abs(place))], [error]] if math.isfinite(error) and error > 0 else None


def axis_title(known: Measure) -> str:
    """Return the title of an axis: the measure, its statistic, its unit."""
    statistic = "" if known.headline is Headline.MAX else f", {known.headline.value}"
    return f"{known.title}{statistic} ({known.unit})"


def _box(axes: Axes, place: float, values: np.ndarray[Any, np.dtype[np.float64]]) -> None:
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
