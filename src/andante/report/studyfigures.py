"""The figures of a study, drawn from our rows into its folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, did_you_mean
from andante.markdown import markdown_table, plain
from andante.measures import PLACE, Better, Statistics, measure, problem_mismatch
from andante.report.charts import (
    Setting,
    curves_plot,
    described,
    dominance_plot,
    heat_map,
    histogram_plot,
    progress_plot,
    scatter_plot,
    trade_off_plot,
    trend_plot,
)
from andante.report.dominance import on_average, paired
from andante.report.figure import save_figure
from andante.report.plots import axis_title
from andante.report.results import Results
from andante.report.studynumbers import marks_of
from andante.report.studyrows import means_of, rows_of_figure, trials_of
from andante.report.studyspecs import ONE_BY_ONE, RANKED, FigureSpec
from andante.report.studywords import not_compared, or_dash, share
from andante.report.titles import title_of
from andante.store.parts import polars

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Drawn = tuple["Figure", list[str]]

MOST_NAMED = 12  # algorithms listed below a figure


def figure(spec: FigureSpec, results: Results, folder: Path) -> list[str]:
    """Draw a figure into the folder; return the Markdown that shows it, and the numbers below it."""
    chosen, everyone = rows_of_figure(spec, results)
    if not len(chosen.rows):
        return ["Not run."]
    fault = _mixed(spec, chosen)
    if fault and spec.kind in RANKED:
        return [not_compared(fault)]
    file = folder / f"{file_name(spec.title)}.svg"
    if spec.kind == "trade-off":
        drawn, numbers = _trade_off(spec, chosen, everyone)
    else:
        drawn, numbers = _DRAW[spec.kind](spec, chosen)
    save_figure(drawn, file)
    return [f"![{spec.title}]({file.name})", *numbers, *([f"{plain(fault)}."] if fault else [])]


def _mixed(spec: FigureSpec, results: Results) -> str:
    """Return why the algorithms in the figure cannot be compared; empty if they were run on the same problems."""
    if spec.kind in ONE_BY_ONE or (spec.kind == "histogram" and spec.counted == "trials"):
        return ""
    parts = _steps(spec, results).values() if spec.kind == "trend" else [results]
    return next(filter(None, (problem_mismatch(part.summaries()) for part in parts)), "")


def file_name(title: str) -> str:
    """Return a file name for a title.

    >>> file_name("Figure 3: TBA* and others")
    'figure-3'
    """
    words = title.partition(":")[0].lower()
    return "-".join("".join(sign if sign.isalnum() else " " for sign in words).split())


def _trade_off(spec: FigureSpec, results: Results, everyone: Results) -> Drawn:
    """Plot one measure against another; some algorithms also by a parameter, without a limit on their worst move."""
    also = _by_parameter(spec, everyone)
    settings = results.settings()
    hollow = sum(one.summary.solved < one.summary.trials for one in settings)
    words = f"Hollow, and in no front: {hollow:,} of {len(settings):,} settings, whose agents did not always arrive."
    drawn = trade_off_plot(settings, spec.x, spec.y[0], most=spec.most, also=also)
    return drawn, [words] if hollow else []


def _by_parameter(spec: FigureSpec, results: Results) -> dict[str, list[tuple[float, float]]]:
    """Return the measure against a parameter, for algorithms of ``x_by``; the limit on the worst move applies to it.

    Settings in which the parameter is not a number are left out.
    """
    series: dict[str, list[tuple[float, float]]] = {}
    for one in results.settings() if spec.x_by else ():
        parameter = spec.x_by.get(one.call.name, "")
        x = one.call.arguments.get(parameter)
        if isinstance(x, int | float) and not isinstance(x, bool) and x <= spec.worst_move:
            place = (float(x), one.summary[spec.y[0]].mean)
            series.setdefault(f"{title_of(one.call.name)} by its {parameter}", []).append(place)
    return series


def _curves(spec: FigureSpec, results: Results) -> Drawn:
    settings = results.settings()
    return curves_plot(settings, spec.parameters[0], spec.y), _about_bounds(settings, spec.y)


def _about_bounds(settings: Sequence[Setting], measures: Sequence[str]) -> list[str]:
    """Return the sentence about hollow points, if there are any."""
    found = [one for one in settings for name in measures if name in one.summary.measures and one.summary[name].bounds]
    return ["Hollow: lower bounds, because agents did not always arrive."] if found else []


def _trend(spec: FigureSpec, results: Results) -> Drawn:
    """Plot measures by the values of a column, or by steps of it."""
    known = measure(spec.by).title if spec.by == "optimal_cost" else spec.by.replace("_", " ")
    steps = {step: part.settings() for step, part in _steps(spec, results).items()}
    words = _about_bounds([one for settings in steps.values() for one in settings], spec.y)
    return trend_plot(steps, known, spec.y), words


def _steps(spec: FigureSpec, results: Results) -> dict[float, Results]:
    """Return the results at each value of the column that a trend follows, or in each step of it."""
    rows = results.rows
    if spec.by not in rows.columns:
        raise ParameterError(f"rows have no column {spec.by!r} to follow; {did_you_mean(spec.by, rows.columns)}")
    values = rows[spec.by].cast(polars().Float64)
    if spec.width > 0:
        values = (values / spec.width).floor() * spec.width + spec.width / 2
    steps = rows.with_columns(values.alias("step")).partition_by("step", as_dict=True)
    return {float(key[0]): Results(part, results.title) for key, part in steps.items()}


def _best_so_far(spec: FigureSpec, results: Results) -> Drawn:
    """Plot the best value of a measure up to each value of a column, over problems, against another measure there."""
    points = best_so_far(results.rows, spec.by, spec.x, spec.y[0])
    names = described(list(points))
    return progress_plot({names[settings]: curve for settings, curve in points.items()}, spec.x, spec.y[0]), []


def best_so_far(rows: pl.DataFrame, by: str, x: str, y: str) -> dict[str, list[tuple[float, Statistics]]]:
    """Return the mean of x and the best y so far for each value of the column, by algorithm in full notation."""
    pl = polars()
    if by not in rows.columns:
        raise ParameterError(f"rows have no column {by!r} to follow; {did_you_mean(by, rows.columns)}")
    values = pl.col(y).cast(pl.Float64).fill_nan(None)
    best = values.cum_max() if measure(y).better is Better.MORE else values.cum_min()
    ordered = rows.sort(by, maintain_order=True).with_columns(best.forward_fill().over("settings", *PLACE).alias(y))
    found: dict[str, list[tuple[float, Statistics]]] = {}
    for (settings, _), step in ordered.group_by("settings", by, maintain_order=True):
        known = Statistics.of(step[y].drop_nulls())
        if known.count:
            found.setdefault(str(settings), []).append((float(step[x].cast(pl.Float64).to_numpy().mean()), known))
    return found


def _heat_map(spec: FigureSpec, results: Results) -> Drawn:
    across, down = spec.parameters
    drawn = heat_map(results.settings(), across, down, spec.y[0], panels=spec.panels, differences=spec.differences)
    return drawn, []


def _dominance(spec: FigureSpec, results: Results) -> Drawn:
    """Plot which algorithms are dominated; those that are not are listed below, if they are few."""
    summaries = [summary for summary in results.summaries() if summary.solved == summary.trials]
    free = [one for one in on_average(summaries, spec.x, spec.y[0]) if one.dominated_by is None]
    names = ", ".join(plain(one.summary.name) for one in sorted(free, key=lambda one: one.x))
    words = f"Not dominated: {len(free):,} of {len(summaries):,} algorithms that solved all problems"
    words = f"{words}: {names}." if len(free) <= MOST_NAMED else f"{words}."
    marks = {claim.algorithm: claim.label for claim in spec.marks}
    named = summaries if marks else [replace(one, name=title_of(one.name)) for one in summaries]
    return dominance_plot(named, spec.x, spec.y[0], marks), [words]


def _scatter(spec: FigureSpec, results: Results) -> Drawn:
    """Plot two algorithms against each other, a point for each problem."""
    names = results.rows["algorithm"].unique(maintain_order=True).to_list()
    if len(names) != 2:
        raise ParameterError(f"{spec.title} compares two algorithms, but there are {len(names)}")
    both = paired(results.rows, names[0], names[1], spec.y)
    points = {name: (both[name].to_numpy(), both[f"{name}_right"].to_numpy()) for name in spec.y}
    return scatter_plot(points, names[0], names[1]), []


def _histogram(spec: FigureSpec, results: Results) -> Drawn:
    if spec.counted == "trials":
        return _trials(spec, results)
    return _algorithms(spec, results)


def _trials(spec: FigureSpec, results: Results) -> Drawn:
    """Plot how often each value occurs among all trials."""
    known = measure(spec.y[0])
    values, missed = trials_of(spec, results)
    found, mark = Statistics.of(values, missed), marks_of(spec, results).get((0, 0), "")
    words = {"mean": "mean", "median": "50 of 100 stay below", "p95": "95 of 100 stay below"}
    lines = [
        [
            said,
            f"{or_dash(spec.paper)}{mark}" if name == "mean" else "-",
            f"{'≥ ' if found.is_bound(name) else ''}{shown}",
        ]
        for name, said in words.items()
        for shown in [known.show(float(getattr(found, name)))]
    ]
    drawn = histogram_plot(values.tolist(), axis_title(known), {"mean": found.mean}, counted="trials")
    return drawn, [markdown_table([f"{len(values):,} trials", "paper", "ours"], lines)]


def _algorithms(spec: FigureSpec, results: Results) -> Drawn:
    """Plot the means of all algorithms, with lines at the marked ones, and report the share of others beating each."""
    name = spec.y[0]
    values, marked = means_of(spec, results)
    middle = float(values.mean())
    lines = [
        [f"mean over {len(values):,} algorithms", or_dash(spec.paper), f"{middle:.1f}"],
        ["better than that mean", share(spec.paper_share), _beaten(values, middle)],
    ]
    for claim in spec.marks:
        if claim.algorithm in marked:
            paper = claim.paper[0] if isinstance(claim.paper[0], int | float) else None
            lines.append([f"better than {plain(claim.label)}", share(paper), _beaten(values, marked[claim.algorithm])])
    marks = marks_of(spec, results)
    lines = [[label, f"{paper}{marks.get((row, 0), '')}", ours] for row, (label, paper, ours) in enumerate(lines)]
    named = {"mean": middle} | {c.label: marked[c.algorithm] for c in spec.marks if c.algorithm in marked}
    table = markdown_table(["", "paper", "ours"], lines)
    return histogram_plot(values.tolist(), axis_title(measure(name)), named), [table]


def _beaten(values: npt.NDArray[np.float64], limit: float) -> str:
    return f"{100 * float((values < limit).mean()):.1f} %"


_DRAW: dict[str, Callable[[FigureSpec, Results], Drawn]] = {
    "curves": _curves,
    "trend": _trend,
    "best-so-far": _best_so_far,
    "heat-map": _heat_map,
    "histogram": _histogram,
    "dominance": _dominance,
    "scatter": _scatter,
}
