"""Plots of a campaign: measures against measures, curves by parameter, histograms, heat maps, dominance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from andante.errors import ParameterError
from andante.measures import Summary, measure
from andante.notation import Call, parse, write
from andante.report.dominance import on_average
from andante.report.figure import ACCENT, INK, MUTED, RULE, SOFT, WARM, new_figure, styled
from andante.report.plots import axis_title, label, pareto_front, scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (ACCENT, WARM, "#6b8e23", "#7d5ba6", "#b8860b", "#4169e1", INK)
_MARKERS = "osD^vP*X"
_MOST_NAMED = 8  # points that get their names, spread evenly; more would cover each other


@dataclass(frozen=True)
class Setting:
    """A summary with the full notation of its algorithm: what plots by parameter need."""

    summary: Summary
    call: Call

    @classmethod
    def of(cls, summaries: Iterable[Summary], settings: Mapping[str, str]) -> list[Setting]:
        """The summaries of those algorithms whose full notation is known."""
        return [cls(s, parse(settings[s.name])) for s in summaries if s.name in settings]


def trade_off_plot(
    chosen: Sequence[Setting], x: str, y: str, *, most: tuple[float, float] | None = None, front: bool = True
) -> Figure:
    """One measure against another: a line with markers for each algorithm over its numbers, and the Pareto front.

    ``most`` cuts both axes off; what lies beyond is left out.
    """
    figure = new_figure(6.4, 4.4)
    known = [one for one in chosen if all(name in one.summary.measures for name in (x, y))]
    points = {one.summary.name: (one.summary[x].mean, one.summary[y].mean) for one in known}
    limit = most or (math.inf, math.inf)
    known = [one for one in known if all(a <= b for a, b in zip(points[one.summary.name], limit, strict=True))]
    words = {name for name in _varied(known) if not all(_is_number(one.call.arguments.get(name, 0)) for one in known)}
    series = _groups(known, lambda one: _described(one.call, words))
    with styled():
        axes = figure.add_subplot()
        shown = [points[one.summary.name] for one in known]
        if most is None:
            scale(axes, "x", [point[0] for point in shown])
            scale(axes, "y", [point[1] for point in shown])
        if front:
            best = pareto_front(shown)
            axes.step(*_columns(best), where="post", color=SOFT, linewidth=4, alpha=0.6, zorder=1, label="Pareto front")
        for (name, group), colour, marker in zip(series.items(), _cycle(_COLOURS), _cycle(_MARKERS), strict=False):
            places = sorted(points[one.summary.name] for one in group)
            axes.plot(*_columns(places), color=colour, marker=marker, markersize=5, linewidth=1, label=name, zorder=3)
        _finish(axes, axis_title(measure(x)), axis_title(measure(y)), legend=True)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def curves_plot(chosen: Sequence[Setting], parameter: str, y: str) -> Figure:
    """A measure by the value of a parameter, with bars of one standard error; a curve per setting of the others."""
    known = [one for one in chosen if _is_number(one.call.arguments.get(parameter)) and y in one.summary.measures]
    if not known:
        raise ParameterError(f"none of these algorithms has a parameter {parameter!r} with numbers to plot by")
    varied = _varied(known) - {parameter}
    series = _groups(known, lambda one: _described(one.call, varied))
    figure = new_figure(6.4, 4.2)
    with styled():
        axes = figure.add_subplot()
        scale(axes, "x", [float(one.call.arguments[parameter]) for one in known])  # type: ignore[arg-type]
        scale(axes, "y", [one.summary[y].mean for one in known])
        for (name, group), colour, marker in zip(series.items(), _cycle(_COLOURS), _cycle(_MARKERS), strict=False):
            rows = sorted((float(one.call.arguments[parameter]), one.summary[y]) for one in group)  # type: ignore[arg-type]
            values, means = [value for value, _ in rows], [numbers.mean for _, numbers in rows]
            errors = np.nan_to_num([numbers.standard_error for _, numbers in rows])
            axes.errorbar(
                values, means, yerr=errors, color=colour, marker=marker, markersize=5, linewidth=1.2, label=name
            )
        _finish(axes, parameter, axis_title(measure(y)), legend=len(series) > 1)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def histogram_plot(values: Sequence[float], title: str, marks: Mapping[str, float], bins: int = 60) -> Figure:
    """How often values of each size come, with lines at named ones; on a logarithmic axis where they differ widely."""
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
        for k, (name, value) in enumerate(marks.items()):
            axes.axvline(value, color=WARM, linewidth=1.2)
            height = max(counts) * (0.97 - 0.09 * k)
            axes.annotate(f" {name}: {value:.1f}", (value, height), color=INK, fontsize=9, va="top")
        _finish(axes, title, "algorithms", legend=False)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def heat_map(chosen: Sequence[Setting], across: str, down: str, name: str) -> Figure:
    """A measure over pairs of values of two parameters; where several algorithms have a pair, their mean."""
    cells: dict[tuple[Any, Any], list[float]] = {}
    for one in chosen:
        pair = (one.call.arguments.get(across), one.call.arguments.get(down))
        if None not in pair and name in one.summary.measures:
            cells.setdefault(pair, []).append(one.summary[name].mean)
    if not cells:
        raise ParameterError(f"none of these algorithms has both {across!r} and {down!r}")
    wide, high = (sorted({pair[k] for pair in cells}, key=_in_order) for k in (0, 1))
    table = np.array([[np.mean(cells.get((a, b), [math.nan])) for a in wide] for b in high])
    figure = new_figure(1.8 + 0.62 * max(len(wide), 4), 1.4 + 0.42 * max(len(high), 3))
    with styled():
        from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

        axes = figure.add_subplot()
        known = table[np.isfinite(table)]
        far = known.min() > 0 and known.max() > 20 * known.min()
        norm = (LogNorm if far else Normalize)(known.min(), known.max())
        colours = LinearSegmentedColormap.from_list("andante", [RULE, SOFT, ACCENT])
        axes.imshow(table, cmap=colours, norm=norm, aspect="auto")
        for (row, column), value in np.ndenumerate(table):
            if math.isfinite(value):
                dark = norm(value) > 0.7
                text = measure(name).show(value)
                axes.text(column, row, text, ha="center", va="center", fontsize=8, color=RULE if dark else INK)
        axes.set_xticks(range(len(wide)), labels=[write(value) for value in wide])
        axes.set_yticks(range(len(high)), labels=[write(value) for value in high])
        axes.set_xlabel(across)
        axes.set_ylabel(down)
        axes.set_title(axis_title(measure(name)), fontsize=10)
        figure.set_layout_engine("tight", pad=0.5)
    return figure


def dominance_plot(summaries: Sequence[Summary], x: str, y: str) -> Figure:
    """Algorithms that no other dominates as solid circles with their names, the others as hollow ones."""
    standings = on_average(summaries, x, y)
    figure = new_figure(6.4, 4.6)
    with styled():
        axes = figure.add_subplot()
        scale(axes, "x", [one.x for one in standings])
        scale(axes, "y", [one.y for one in standings])
        for one in standings:
            colour, fill = (ACCENT, ACCENT) if one.dominated_by is None else (MUTED, "none")
            axes.plot(one.x, one.y, "o", color=colour, mfc=fill, zorder=3)
        _finish(axes, axis_title(measure(x)), axis_title(measure(y)), legend=False)
        axes.margins(0.12)
        figure.subplots_adjust(left=0.13, right=0.97, top=0.97, bottom=0.13)
        free = sorted((one for one in standings if one.dominated_by is None), key=lambda one: one.x)
        named = free[:: -(-len(free) // _MOST_NAMED)]
        label(figure, axes, [one.summary.name for one in named], [(one.x, one.y) for one in named])
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
    """The parameters that do not have one value throughout."""
    seen: dict[tuple[str, str], set[str]] = {}
    for one in chosen:
        for name, value in one.call.arguments.items():
            seen.setdefault((one.call.name, name), set()).add(write(value))
    return {name for (_, name), values in seen.items() if len(values) > 1}


def _described(call: Call, varied: set[str]) -> str:
    return str(Call(call.name, {name: value for name, value in call.arguments.items() if name in varied}))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _in_order(value: Any) -> tuple[bool, Any]:
    return (True, str(value)) if not isinstance(value, int | float) else (False, value)
