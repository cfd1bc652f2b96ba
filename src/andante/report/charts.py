"""Plots of a campaign: measures against each other, curves by parameter, histograms, heat maps, dominance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError
from andante.measures import Statistics, Summary, measure
from andante.notation import Call, parse, write
from andante.report.dominance import on_average
from andante.report.figure import ACCENT, INK, MUTED, PAGE, PAPER, RULE, SOFT, WARM, Look, new_figure, styled
from andante.report.labels import label
from andante.report.plots import axis_title, draw_point, frame, pareto_front, scale
from andante.report.titles import title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (ACCENT, WARM, "#6b8e23", "#7d5ba6", "#b8860b", "#4169e1", INK)
_MARKERS = "osD^vP*X"
_STYLES = ("-", "--", "-.", ":")  # so that curves can be distinguished without colours
_MOST_COLUMNS = 3  # of panels
_LONG_NAME = 30  # letters; longer names do not fit in two columns above a plot
_MOST_NAMED = 8  # points that are labelled, spread evenly; more could hardly be read
_MOST_BARS = 40  # points that have bars; more would hide each other
_WIDE = PAGE._replace(width=6.4)
_MARK_ROW = 0.08  # from one name of a line of a histogram to the next, as a share of the plot
_RIGHTMOST = 0.7  # names of lines further right are left of them

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A summary with the full notation of its algorithm, as needed for plots by parameter."""

    summary: Summary
    call: Call

    @classmethod
    def of(cls, summaries: Iterable[Summary], settings: Mapping[str, str]) -> list[Setting]:
        """Return the summaries of the algorithms whose full notation is known."""
        return [cls(s, parse(settings[s.name])) for s in summaries if s.name in settings]


def trade_off_plot(
    chosen: Sequence[Setting],
    x: str,
    y: str,
    *,
    most: tuple[float, float] | None = None,
    front: bool = True,
    also: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Figure:
    """Plot one measure against another: a marker for each setting, and the Pareto front of each algorithm and of all.

    ``most`` limits both axes; points beyond it are left out. ``also`` are points measured differently, which are hollow
    and belong to no front. So are settings with trials that did not arrive, because their means are lower bounds, or
    cover fewer problems.
    """
    figure = new_figure(6.4, 4.8)
    known = [one for one in chosen if all(name in one.summary.measures for name in (x, y))]
    points = {one.summary.name: (one.summary[x].mean, one.summary[y].mean) for one in known}
    limit = most or (math.inf, math.inf)
    known = [one for one in known if all(a <= b for a, b in zip(points[one.summary.name], limit, strict=True))]
    words = {name for name in _varied(known) if not all(is_number(one.call.arguments.get(name, 0)) for one in known)}
    series = _groups(known, lambda one: _described(one.call, words))
    with styled():
        axes = figure.add_subplot()
        shown = [points[one.summary.name] for one in known]
        others = {
            name: [p for p in some if p[0] <= limit[0] and p[1] <= limit[1]] for name, some in (also or {}).items()
        }
        if most is None:
            every = [*shown, *(point for some in others.values() for point in some)]
            scale(axes, "x", [point[0] for point in every])
            scale(axes, "y", [point[1] for point in every])
        if front:
            best = pareto_front([points[one.summary.name] for one in known if _always_arrived(one)])
            axes.step(*_columns(best), where="post", color=SOFT, linewidth=4, alpha=0.6, zorder=1, label="Pareto front")
        for (name, group), colour, marker in zip(series.items(), _cycle(_COLOURS), _cycle(_MARKERS), strict=False):
            places = [points[one.summary.name] for one in group if _always_arrived(one)]
            bounds = [points[one.summary.name] for one in group if not _always_arrived(one)]
            axes.plot(*_columns(places), color=colour, marker=marker, markersize=5, linewidth=0, label=name, zorder=3)
            axes.plot(*_columns(bounds), color=colour, marker=marker, markersize=5, linewidth=0, mfc="none", zorder=3)
            axes.plot(*_columns(pareto_front(places)), color=colour, linewidth=1, zorder=3)
        for (name, some), marker in zip(others.items(), _cycle(_MARKERS), strict=False):
            how: dict[str, Any] = {"marker": marker, "markersize": 5, "markerfacecolor": "none", "linewidth": 0}
            axes.plot(*_columns(sorted(some)), color=MUTED, label=name, zorder=2, **how)
        _finish(axes, axis_title(measure(x)), axis_title(measure(y)), legend=False)
        columns = 1 if max(map(len, series), default=0) > _LONG_NAME else 2
        over = (0.0, 1.0)  # above the plot, where it does not hide points
        axes.legend(frameon=False, fontsize=9, ncols=columns, loc="lower left", bbox_to_anchor=over)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def _always_arrived(one: Setting) -> bool:
    return one.summary.solved == one.summary.trials


#: The points of each curve: a value, and the statistics of a measure there.
Curves = Mapping[str, Sequence[tuple[float, Statistics]]]


def curves_plot(chosen: Sequence[Setting], parameter: str, measures: Sequence[str]) -> Figure:
    """Plot measures by the value of a parameter, one panel each, with a curve per setting of the other parameters."""
    known = [one for one in chosen if is_number(one.call.arguments.get(parameter))]
    if not known:
        raise ParameterError(f"none of these algorithms has a numeric parameter {parameter!r} to plot by")
    varied = _varied(known) - {parameter}
    series = _groups(known, lambda one: _described(one.call, varied))

    def points(group: Sequence[Setting], name: str) -> list[tuple[float, Statistics]]:
        rows = [(one.call.arguments[parameter], one.summary) for one in group if name in one.summary.measures]
        return [(float(value), summary[name]) for value, summary in rows]  # type: ignore[arg-type]

    return _panels_of_curves(
        parameter, {name: {key: points(group, name) for key, group in series.items()} for name in measures}
    )


def trend_plot(steps: Mapping[float, Sequence[Setting]], across: str, measures: Sequence[str]) -> Figure:
    """Plot measures by the steps of something that is not a parameter, one panel each, with a curve per algorithm."""
    varied = _varied([one for chosen in steps.values() for one in chosen])
    panels: dict[str, dict[str, list[tuple[float, Statistics]]]] = {name: {} for name in measures}
    for value, chosen in steps.items():
        for one in chosen:
            for name in measures:
                if name in one.summary.measures:
                    panels[name].setdefault(_described(one.call, varied), []).append((value, one.summary[name]))
    return _panels_of_curves(across, {name: dict(sorted(curves.items())) for name, curves in panels.items()})


def progress_plot(curves: Curves, x: str, y: str) -> Figure:
    """Plot the best value of a measure so far against another measure, a curve per algorithm."""
    figure = new_figure(6.4, 4.2)
    with styled():
        axes = figure.add_subplot()
        _draw_curves(axes, curves)
        _finish(axes, axis_title(measure(x)), f"best so far: {axis_title(measure(y))}", legend=len(curves) > 1)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def described(settings: Sequence[str]) -> dict[str, str]:
    """Return algorithms in full notation, each with a name of only the parameters in which they differ."""
    calls = [parse(text) for text in settings]
    varied = _differing(calls)
    return {text: _described(call, varied) for text, call in zip(settings, calls, strict=True)}


def _panels_of_curves(across: str, panels: Mapping[str, Curves]) -> Figure:
    """Draw a panel of curves for each measure, with the legend in a free place or in the only panel."""
    figure, places, free = _room_for(len(panels), (6.4, 4.2), (3.5, 2.9))
    with styled():
        for place, (name, curves) in zip(places, panels.items(), strict=True):
            axes = figure.add_subplot(*place)
            _draw_curves(axes, curves)
            _finish(axes, across, axis_title(measure(name)), legend=free is None and place[2] == 1 and len(curves) > 1)
        if free is not None:
            corner = figure.add_subplot(*free)
            corner.axis("off")
            corner.legend(*axes.get_legend_handles_labels(), frameon=False, fontsize=9, loc="center")
        figure.set_layout_engine("tight", pad=0.5)
    return figure


#: Rows, columns, and the number of a panel among them, as in matplotlib.
Place = tuple[int, int, int]


def _room_for(
    panels: int, alone: tuple[float, float], each: tuple[float, float]
) -> tuple[Figure, list[Place], Place | None]:
    """Return a figure for this many panels, their places, and a free place for a legend, if there is one."""
    if panels == 1:
        return new_figure(*alone), [(1, 1, 1)], None
    columns = min(panels, _MOST_COLUMNS)
    rows = -(-panels // columns)
    figure = new_figure(each[0] * columns, each[1] * rows)
    free = (rows, columns, rows * columns) if panels < rows * columns else None
    return figure, [(rows, columns, k + 1) for k in range(panels)], free


def _draw_curves(axes: Axes, curves: Curves) -> None:
    """Draw curves with bars of one standard error; means that are only lower bounds are hollow and have no bar."""
    scale(axes, "x", [value for points in curves.values() for value, _ in points])
    scale(axes, "y", [numbers.mean for points in curves.values() for _, numbers in points])
    looks = zip(curves.items(), _cycle(_COLOURS), _cycle(_MARKERS), _cycle(_STYLES), strict=False)
    for (name, points), colour, marker, style in looks:
        ordered = sorted(points, key=lambda point: point[0])
        values, means = [value for value, _ in ordered], [numbers.mean for _, numbers in ordered]
        errors = np.nan_to_num([0.0 if numbers.bounds else numbers.standard_error for _, numbers in ordered])
        exact = [k for k, (_, numbers) in enumerate(ordered) if not numbers.bounds]
        how: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "linestyle": style}
        axes.errorbar(values, means, yerr=errors, linewidth=1.2, mfc=PAPER, **how)
        axes.plot([], [], linewidth=1.2, label=name, **how)  # for the legend: a curve may be all lower bounds
        axes.plot(*_columns([(values[k], means[k]) for k in exact]), zorder=3, **{**how, "linestyle": "none"})


def scatter_plot(points: Mapping[str, tuple[Values, Values]], first: str, second: str) -> Figure:
    """Plot two algorithms problem by problem, a panel per measure: below the line the first has the smaller number."""
    figure, places, _ = _room_for(len(points), (4.4, 4.2), (4.0, 3.8))
    with styled():
        for place, (name, (ours, theirs)) in zip(places, points.items(), strict=True):
            axes = figure.add_subplot(*place)
            known = np.isfinite(ours) & np.isfinite(theirs)
            both = [*ours[known].tolist(), *theirs[known].tolist()]
            scale(axes, "x", both)
            scale(axes, "y", both)
            axes.plot(theirs[known], ours[known], "o", color=ACCENT, markersize=2.5, alpha=0.5, zorder=3)
            ends = [min(both, default=0.0), max(both, default=1.0)]
            axes.plot(ends, ends, color=WARM, linewidth=1.2, zorder=2)
            _finish(axes, title_of(second), title_of(first), legend=False)
            axes.set_title(f"{measure(name).title} ({measure(name).unit})", fontsize=10)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def histogram_plot(
    values: Sequence[float], title: str, marks: Mapping[str, float], bins: int = 60, counted: str = "algorithms"
) -> Figure:
    """Plot how often values of each size occur, with lines at named ones; logarithmically if they vary widely."""
    numbers = np.array([value for value in values if math.isfinite(value)])
    if not len(numbers):
        raise ParameterError(f"there are no values of {title} to count")
    figure = new_figure(6.4, 3.6)
    with styled():
        axes = figure.add_subplot()
        scale(axes, "x", [*numbers.tolist(), *marks.values()])
        low, high = min([*numbers, *marks.values()]), max([*numbers, *marks.values()])
        wide = axes.get_xscale() == "log"
        edges: Any = np.geomspace(low, high, bins + 1) if wide else np.linspace(low, high, bins + 1)
        counts, _, _ = axes.hist(numbers, edges, color=SOFT, edgecolor="none")
        scale(axes, "y", [float(count) for count in counts if count])
        for row, (name, value) in enumerate(marks.items()):
            axes.axvline(value, color=WARM, linewidth=1.2)
            _mark(axes, f"{name}: {value:.1f}", value, row)
        _finish(axes, title, counted, legend=False)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def _mark(axes: Axes, text: str, value: float, row: int) -> None:
    """Write the name of a vertical line beside it, in a separate row and over the lines of others."""
    (share, _) = axes.transAxes.inverted().transform(axes.transData.transform((value, 1.0)))
    right = share < _RIGHTMOST
    axes.annotate(
        text,
        (value, 0.98 - _MARK_ROW * row),
        xycoords=axes.get_xaxis_transform(),
        xytext=(4 if right else -4, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
        color=INK,
        fontsize=9,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.0},
    )


def heat_map(
    chosen: Sequence[Setting],
    across: str,
    down: str,
    name: str,
    *,
    panels: str | None = None,
    differences: bool = False,
) -> Figure:
    """Plot a measure over pairs of values of two parameters; where several algorithms have a pair, their mean.

    There is one map for each value of the parameter ``panels``, all on one colour scale. With ``differences`` there is
    also one for each value and the next, each on its own scale: the first minus the second.
    """
    cells: dict[tuple[Any, Any, Any], list[Statistics]] = {}
    for one in chosen:
        given = one.call.arguments
        key = (given.get(panels) if panels else "", given.get(across), given.get(down))
        if None not in key and name in one.summary.measures:
            cells.setdefault(key, []).append(one.summary[name])
    if not cells:
        raise ParameterError(f"none of these algorithms has both {across!r} and {down!r}")
    maps, wide, high = (sorted({key[k] for key in cells}, key=_in_order) for k in range(3))
    grids = [[[cells.get((m, a, b), []) for a in wide] for b in high] for m in maps]
    tables = np.array([[[_mean_of(some) for some in row] for row in grid] for grid in grids])
    bounds = np.array([[[any(one.bounds for one in some) for some in row] for row in grid] for grid in grids])
    known = tables[np.isfinite(tables)]
    shown = [
        (f"{panels} = {write(value)}" if panels else axis_title(measure(name)), table, bound, known)
        for value, table, bound in zip(maps, tables, bounds, strict=True)
    ]
    if differences:
        either = bounds[:-1] | bounds[1:]  # nothing is known about the difference of lower bounds
        apart = np.where(either, math.nan, tables[:-1] - tables[1:])
        for (one, other), table in zip(pairwise(maps), apart, strict=True):
            title = f"{panels} = {write(one)} minus {write(other)}"
            shown.append((title, table, np.zeros_like(table, bool), table[np.isfinite(table)]))
    size = (1.8 + 0.62 * max(len(wide), 4), 1.4 + 0.42 * max(len(high), 3))
    figure, places, _ = _room_for(len(shown), size, size)
    with styled():
        for place, (title, table, bound, scaled) in zip(places, shown, strict=True):
            axes = figure.add_subplot(*place)
            _draw_heat(axes, table, bound, scaled, name)
            axes.set_xticks(range(len(wide)), labels=[write(one) for one in wide])
            axes.set_yticks(range(len(high)), labels=[write(one) for one in high])
            axes.set_xlabel(across)
            axes.set_ylabel(down)
            axes.set_title(title, fontsize=10)
        if panels:
            figure.suptitle(axis_title(measure(name)), fontsize=10)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def _mean_of(some: Sequence[Statistics]) -> float:
    return float(np.mean([one.mean for one in some])) if some else math.nan


def _draw_heat(axes: Axes, table: Values, bounds: npt.NDArray[np.bool_], known: Values, name: str) -> None:
    """Draw one heat map, its colours scaled (logarithmically if they vary widely) by all ``known`` values.

    Lower bounds are marked with ≥.
    """
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    norm = (LogNorm if low > 0 and high > 20 * low else Normalize)(low, high)
    colours = LinearSegmentedColormap.from_list("andante", [RULE, SOFT, ACCENT])
    axes.imshow(table, cmap=colours, norm=norm, aspect="auto")
    for (row, column), value in np.ndenumerate(table):
        if math.isfinite(value):
            colour = RULE if norm(value) > 0.7 else INK
            text = f"{'≥ ' if bounds[row, column] else ''}{measure(name).show(value)}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)


def dominance_plot(
    summaries: Sequence[Summary], x: str, y: str, marks: Mapping[str, str] | None = None, look: Look = _WIDE
) -> Figure:
    """Plot algorithms that no other dominates as solid circles with their names, the others as hollow ones.

    If there are not too many, they have bars of one standard error. With ``marks``, a mapping from algorithms to
    labels, these are stars, and only they are labelled.
    """
    standings = on_average(summaries, x, y)
    few = len(standings) <= _MOST_BARS
    figure = new_figure(look.width, 0.75 * look.width)
    with styled(look):
        axes = figure.add_subplot()
        scale(axes, "x", [one.x for one in standings])
        scale(axes, "y", [one.y for one in standings])
        for one in standings:
            errors = one.summary[x].standard_error, one.summary[y].standard_error
            draw_point(axes, (one.x, one.y), errors if few else (math.nan, math.nan), one.dominated_by is None)
        _finish(axes, axis_title(measure(x)), axis_title(measure(y)), legend=False)
        axes.margins(0.12)
        frame(figure, look)
        free = sorted((one for one in standings if one.dominated_by is None), key=lambda one: one.x)
        named = {one.summary.name: (one.x, one.y) for one in free[:: -(-len(free) // _MOST_NAMED)]}
        if marks:
            named = {marks[one.summary.name]: (one.x, one.y) for one in standings if one.summary.name in marks}
            axes.plot(*_columns(list(named.values())), "*", color=WARM, markersize=14, zorder=4)
        others = [(one.x, one.y) for one in standings if (one.x, one.y) not in named.values()]
        label(figure, axes, list(named), list(named.values()), others, look.labels)
    return figure


def _finish(axes: Axes, across: str, up: str, *, legend: bool) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(True, linewidth=0.6)
    axes.set_axisbelow(True)
    if legend:
        axes.legend(frameon=False, fontsize=9)


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [point[0] for point in points], [point[1] for point in points]


def _cycle(choices: Sequence[str]) -> Sequence[str]:
    return [*choices] * 100


def _groups(chosen: Iterable[Setting], key: Any) -> dict[str, list[Setting]]:
    groups: dict[str, list[Setting]] = {}
    for one in chosen:
        groups.setdefault(key(one), []).append(one)
    return groups


def _varied(chosen: Sequence[Setting]) -> set[str]:
    """Return the parameters that do not have the same value throughout."""
    return _differing([one.call for one in chosen])


def _differing(calls: Iterable[Call]) -> set[str]:
    seen: dict[tuple[str, str], set[str]] = {}
    for call in calls:
        for name, value in call.arguments.items():
            seen.setdefault((call.name, name), set()).add(write(value))
    return {name for (_, name), values in seen.items() if len(values) > 1}


def _described(call: Call, varied: set[str]) -> str:
    """Return a setting with the title of its algorithm and those parameters that differ between settings."""
    return title_of(str(Call(call.name, {name: value for name, value in call.arguments.items() if name in varied})))


def is_number(value: Any) -> bool:
    """Return whether the value of a parameter is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _in_order(value: Any) -> tuple[bool, Any]:
    return (True, str(value)) if not isinstance(value, int | float) else (False, value)
