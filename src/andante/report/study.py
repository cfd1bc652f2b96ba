"""The page of a study: a paper's tables and figures, its numbers and ours side by side, from the rows of a store."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import andante
from andante.campaign.settings import grid
from andante.files import write_whole
from andante.measures import Summary, measure
from andante.report.charts import curves_plot, dominance_plot, heat_map, histogram_plot, trade_off_plot
from andante.report.dominance import on_problems
from andante.report.figure import save_figure
from andante.report.plots import axis_title
from andante.report.results import Results
from andante.report.studyfile import OUTCOMES, Claim, DuelSpec, FigureSpec, Study, TableSpec
from andante.store.identity import PLACE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_results(study: Study, results: Results, folder: Path, how: str) -> Path:
    """Write the study's page and its figures into a folder; ``how`` says on what it was run."""
    folder.mkdir(parents=True, exist_ok=True)
    when = f"Run on {datetime.now(UTC):%Y-%m-%d} with Andante {andante.__version__}: {results.lead}"
    took = f"{_duration(float(results.rows['seconds'].sum()))} of the agents' own time"
    lines = [f"# {study.title}", study.about, f"{when} {how} of {platform.machine()}, {took}."]
    for table in study.tables:
        lines += [f"## {table.title}", table.about, _table(table, results)]
    for duel in study.duels:
        lines += [f"## {duel.title}", duel.about, _duel(duel, results)]
    for figure in study.figures:
        lines += [f"## {figure.title}", figure.about, *_figure(figure, results, folder)]
    if study.notes:
        lines += ["## Where they differ, and why", study.notes]
    page = folder / "results.md"
    write_whole(page, ("\n\n".join(filter(None, lines)) + "\n").encode())
    return page


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def _table(spec: TableSpec, results: Results) -> str:
    """The paper's numbers and ours side by side, in Markdown."""
    head = ["", "paper", f"ours, {spec.statistic}", "difference", "median", "95 %", "trials", "not solved"]
    lines = [head, ["---", *["--:"] * (len(head) - 1)]]
    lines += [_line(spec, claim, results) for claim in spec.claims]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _line(spec: TableSpec, claim: Claim, results: Results) -> list[str]:
    chosen = _scored(results.where(claim.where), spec.capped)
    label = _plain(claim.label) + (f" ({claim.note})" if claim.note else "")
    paper = f"{claim.paper:g}" if isinstance(claim.paper, int | float) else str(claim.paper)
    summary = _of(chosen, claim.algorithm)
    if summary is None:
        return [label, paper, "not run", *["-"] * 5]
    numbers, known = summary[spec.measure], measure(spec.measure)
    value = float(getattr(numbers, spec.statistic))
    counts = [f"{summary.trials:,}", f"{summary.trials - summary.solved:,}"]
    if claim.against is not None:
        return [label, paper, *_change(chosen, spec, claim), "-", "-", *counts]
    shown = known.show(value, numbers.standard_error if spec.statistic == "mean" else None)
    return [
        label,
        paper,
        shown,
        _difference(claim.paper, value),
        known.show(numbers.median),
        known.show(numbers.p95),
        *counts,
    ]


def _change(chosen: Results, spec: TableSpec, claim: Claim) -> list[str]:
    """By how much the measure changes against another algorithm, with its standard error over problems in common."""
    assert claim.against is not None
    other = _of(chosen, claim.against)
    if other is None:
        return ["not run", "-"]
    rows = chosen.rows.select("algorithm", *PLACE, spec.measure)
    both = rows.filter(rows["algorithm"] == claim.algorithm).join(
        rows.filter(rows["algorithm"] == claim.against), on=list(PLACE)
    )
    base = other[spec.measure].mean
    change = (both[spec.measure] - both[f"{spec.measure}_right"]).to_numpy() / base * 100
    spread = change.std(ddof=1) / math.sqrt(len(change)) if len(change) > 1 else math.nan
    return [f"{change.mean():+.2f} ± {spread:.2f} %", "-"]


def _difference(paper: float | str, ours: float) -> str:
    if isinstance(paper, str) or not paper:
        return "-"
    return f"{(ours / paper - 1) * 100:+.1f} %"


def _scored(results: Results, capped: bool) -> Results:
    return results.capped() if capped else results


def _of(results: Results, algorithm: str) -> Summary | None:
    found = results.where({"algorithm": algorithm})
    return found.summaries()[0] if len(found.rows) else None


def _plain(text: str) -> str:
    return text.replace("*", "\\*").replace("|", "\\|")


def _duel(spec: DuelSpec, results: Results) -> str:
    """Who does better on how many problems, in Markdown."""
    chosen = results.where(spec.where)
    if any(_of(chosen, name) is None for name in (spec.first, spec.second)):
        return "Not run."
    duel = on_problems(chosen.rows, spec.first, spec.second, spec.x, spec.y)
    words = {"first": spec.first, "second": spec.second, "x": measure(spec.x).title, "y": measure(spec.y).title}
    ours = [*duel.first_better, duel.first_dominates, *duel.second_better, duel.second_dominates]
    lines = [[f"of {duel.problems:,} problems", "paper", "ours"], ["---", "--:", "--:"]]
    for (name, title), share in zip(OUTCOMES.items(), ours, strict=False):  # the ratio comes last, and is no share
        lines.append([_plain(title.format(**words)), _share(spec.paper.get(name)), _share(100 * share)])
    lines.append([OUTCOMES["ratio"], _or_dash(spec.paper.get("ratio")), f"{duel.dominance_ratio:.2f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# --- figures --------------------------------------------------------------------------------------------------------


def _figure(spec: FigureSpec, results: Results, folder: Path) -> list[str]:
    """Draw a figure into the folder: the Markdown that shows it, and the numbers that go with it."""
    chosen = _scored(results.where(spec.where), spec.capped)
    if spec.algorithms:
        names = chosen.rows["settings"].str.split("(").list.first()
        wanted = names.is_in(list(spec.algorithms)) | chosen.rows["algorithm"].is_in(_exact(spec.algorithms))
        chosen = Results(chosen.rows.filter(wanted), results.title)
    if math.isfinite(spec.worst_move):
        kept = [s.name for s in chosen.summaries() if s["max_states_expanded"].max <= spec.worst_move]
        chosen = Results(chosen.rows.filter(chosen.rows["algorithm"].is_in(kept)), results.title)
    if not len(chosen.rows):
        return ["Not run."]
    file = folder / f"{_file_name(spec.title)}.svg"
    drawn, numbers = _DRAW[spec.kind](spec, chosen)
    save_figure(drawn, file)
    return [f"![{spec.title}]({file.name})", *numbers]


def _exact(texts: Sequence[str]) -> list[str]:
    """Those of the texts that name settings, and not all settings of an algorithm, as rows name them."""
    return [str(entry) for text in texts if "(" in text for entry in grid(text)]


def _file_name(title: str) -> str:
    """A file's name from a title.

    >>> _file_name("Figure 3: TBA* and others")
    'figure-3'
    """
    words = title.partition(":")[0].lower()
    return "-".join("".join(sign if sign.isalnum() else " " for sign in words).split())


Drawn = tuple["Figure", list[str]]


def _trade_off(spec: FigureSpec, results: Results) -> Drawn:
    return trade_off_plot(results.settings(), spec.x, spec.y, most=spec.most), []


def _curves(spec: FigureSpec, results: Results) -> Drawn:
    return curves_plot(results.settings(), spec.parameters[0], spec.y), []


def _heat_map(spec: FigureSpec, results: Results) -> Drawn:
    return heat_map(results.settings(), spec.parameters[0], spec.parameters[1], spec.y), []


def _dominance(spec: FigureSpec, results: Results) -> Drawn:
    return dominance_plot(results.summaries(), spec.x, spec.y), []


def _histogram(spec: FigureSpec, results: Results) -> Drawn:
    """The means of all algorithms but the marked ones, which are named; and what share of the others beats each."""
    means = {summary.name: summary[spec.y].mean for summary in results.summaries()}
    marked = {claim.algorithm: means.pop(claim.algorithm) for claim in spec.marks if claim.algorithm in means}
    values = np.array([value for value in means.values() if math.isfinite(value)])
    middle = float(values.mean())
    lines = [["", "paper", "ours"], ["---", "--:", "--:"]]
    lines += [
        [f"mean over {len(values):,} algorithms", _or_dash(spec.paper), f"{middle:.1f}"],
        ["better than that mean", _share(spec.paper_share), _share(100 * float((values < middle).mean()))],
    ]
    for claim in spec.marks:
        if claim.algorithm in marked:
            beaten = 100 * float((values < marked[claim.algorithm]).mean())
            paper = claim.paper if isinstance(claim.paper, int | float) else None
            lines.append([f"better than {_plain(claim.label)}", _share(paper), _share(beaten)])
    named = {"mean": middle} | {c.label: marked[c.algorithm] for c in spec.marks if c.algorithm in marked}
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return histogram_plot(values.tolist(), axis_title(measure(spec.y)), named), [table]


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _share(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:.1f} %"


_DRAW: dict[str, Callable[[FigureSpec, Results], Drawn]] = {
    "trade-off": _trade_off,
    "curves": _curves,
    "heat-map": _heat_map,
    "histogram": _histogram,
    "dominance": _dominance,
}
