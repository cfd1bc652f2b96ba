"""The tables of a study, in Markdown: the paper's numbers beside ours."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from andante.errors import CampaignError
from andante.markdown import markdown_table, plain
from andante.measures import Clusters, Measure, Summary, measure, problem_mismatch
from andante.measures.clusters import correlated
from andante.report.charts import Setting, is_number
from andante.report.results import Results
from andante.report.studynumbers import marks_of
from andante.report.studyrows import both_measures, change_of, scored, summary_of
from andante.report.studyspecs import (
    AmortizationSpec,
    Claim,
    CorrelationSpec,
    ElsewhereSpec,
    InfluenceSpec,
    TableSpec,
)
from andante.report.studywords import duration, not_compared, paper_text

_QUALITY, _TIME = "suboptimality_ratio", "microseconds_per_move"
_CONFIDENCE = 99  # percent, of correlations


def table(spec: TableSpec, results: Results) -> str:
    """Return each claim of the paper beside our number, with details of one measure or the means of several."""
    if len(spec.measures) > 1:
        return _wide_table(spec, results)
    head = ["", "paper", f"ours, {spec.statistic}", "difference", "median", "95 %", "trials", "not solved"]
    marks = marks_of(spec, results)
    lines = [_line(spec, claim, results, marks.get((row, 0), "")) for row, claim in enumerate(spec.claims)]
    return markdown_table(head, lines)


def _line(spec: TableSpec, claim: Claim, results: Results, mark: str) -> list[str]:
    chosen = scored(results.where(claim.where), spec.measures, claim.cap)
    (name,), (paper,) = spec.measures, claim.paper
    label = [_label(claim), f"{plain(paper_text(paper))}{mark}"]
    summary = summary_of(chosen, claim.algorithm)
    if summary is None:
        return [*label, "not run", *["-"] * 5]
    value = float(getattr(summary[name], spec.statistic))
    if claim.against is not None:
        return [*label, *_change(chosen, name, claim), "-", "-", *_counts(summary)]
    shown = summary.show(name, spec.statistic)
    spread = [summary.show(name, "median"), summary.show(name, "p95")]
    return [*label, shown, _difference(paper, value), *spread, *_counts(summary)]


def _wide_table(spec: TableSpec, results: Results) -> str:
    """Return a table with a column for each measure, preceded by one for the paper's numbers if there are any."""
    given = [any(claim.paper[k] != "-" for claim in spec.claims) for k in range(len(spec.measures))]
    head = [""]
    for name, known in zip(spec.measures, given, strict=True):
        title = headed(measure(name))
        head += [f"{title}: paper", "ours"] if known else [f"{title}: ours" if any(given) else title]
    marks = marks_of(spec, results)
    lines = [
        _wide_line(spec, claim, results, given, [marks.get((row, column), "") for column in range(len(given))])
        for row, claim in enumerate(spec.claims)
    ]
    return markdown_table([*head, "trials", "not solved"], lines)


def headed(known: Measure) -> str:
    """Return a measure as the title of a column, with its unit unless that is part of each cell.

    >>> headed(measure("microseconds_per_move")), headed(measure("memory_bytes"))
    ('Time per move (µs)', 'Agent memory')
    """
    return known.title if known.unit in ("B", "s") else f"{known.title} ({known.unit})"


def _wide_line(
    spec: TableSpec, claim: Claim, results: Results, given: Sequence[bool], marks: Sequence[str]
) -> list[str]:
    summary = summary_of(scored(results.where(claim.where), spec.measures, claim.cap), claim.algorithm)
    cells = [_label(claim)]
    for name, paper, known, mark in zip(spec.measures, claim.paper, given, marks, strict=True):
        ours = "not run" if summary is None else _shown(summary, name, spec.statistic)
        cells += [f"{plain(paper_text(paper))}{mark}", ours] if known else [ours]
    return [*cells, *(["-", "-"] if summary is None else _counts(summary))]


def _shown(summary: Summary, name: str, statistic: str) -> str:
    """Return a statistic of a measure; for a worst-case measure, always the maximum."""
    if measure(name).headline.value == "max":
        return summary.show(name, "max")
    return summary.show(name, statistic)


def _change(chosen: Results, name: str, claim: Claim) -> list[str]:
    """Return the change of the measure relative to another algorithm, with its 95 % interval over maps."""
    found = change_of(chosen, name, claim)
    if found is None:
        return ["not run", "-"]
    change, _ = found
    low, high = change.interval
    spread = f" ({low:+.2f} to {high:+.2f})" if math.isfinite(low) and math.isfinite(high) else ""
    return [f"{change.mean:+.2f}{spread} %", "-"]


def _difference(paper: float | str, ours: float) -> str:
    if isinstance(paper, str) or not paper:
        return "-"
    return f"{(ours / paper - 1) * 100:+.1f} %"


# --- amortization ---------------------------------------------------------------------------------------------------


def amortization(spec: AmortizationSpec, results: Results) -> str:
    """Return after how many moves databases have recovered their build times against the rival closest in quality."""
    rivals = results.where(spec.where).only(spec.rivals).summaries()
    head = ["", "paper", "nearest rival", "suboptimality of both", "build", "saved per move", "moves", "which take"]
    return markdown_table(head, [_recouped(claim, results, rivals) for claim in spec.claims])


def _recouped(claim: Claim, results: Results, rivals: Sequence[Summary]) -> list[str]:
    label = [_label(claim), plain(paper_text(claim.paper[0]))]
    summary = summary_of(results.where(claim.where), claim.algorithm)
    if summary is None or not rivals:
        return [*label, "not run", *["-"] * 5]
    if fault := problem_mismatch([summary, *rivals]):
        return [*label, plain(fault), *["-"] * 5]
    quality = summary[_QUALITY].mean
    rival = min(rivals, key=lambda other: abs(other[_QUALITY].mean - quality))
    saved = rival[_TIME].mean - summary[_TIME].mean
    build = summary["build_seconds"].mean
    both = ", ".join(one.show(_QUALITY, with_error=False) for one in (summary, rival))
    cells = [*label, plain(rival.name), both, duration(build), f"{saved:.2f} µs"]
    if saved <= 0:
        return [*cells, "never", "-"]
    moves = build / (saved * 1e-6)
    return [*cells, f"{moves:.1e}", duration(moves * summary[_TIME].mean * 1e-6)]


# --- correlation ----------------------------------------------------------------------------------------------------


def correlation(spec: CorrelationSpec, results: Results) -> str:
    """Return Pearson's correlation of two measures over the trials of an algorithm, with an interval over maps."""
    head = ["", "paper", "ours", f"{_CONFIDENCE} % confidence", "trials"]
    marks = marks_of(spec, results)
    return markdown_table(
        head, [_correlated(spec, claim, results, marks.get((row, 0), "")) for row, claim in enumerate(spec.claims)]
    )


def _correlated(spec: CorrelationSpec, claim: Claim, results: Results, mark: str) -> list[str]:
    label = [_label(claim), f"{plain(paper_text(claim.paper[0]))}{mark}"]
    if summary_of(results.where(claim.where), claim.algorithm) is None:
        return [*label, "not run", "-", "-"]
    x, y, maps = both_measures(spec, claim, results)
    count = f"{len(x):,}"
    found = correlated(x, y, Clusters.of(maps), _CONFIDENCE / 100)
    if math.isnan(found.mean):
        return [*label, "-", "-", count]
    low, high = found.interval
    between = f"{low:.4f} to {high:.4f}" if low > -1 or high < 1 else "-"
    return [*label, f"{found.mean:.4f}", between, count]


# --- influence ------------------------------------------------------------------------------------------------------


def influence(spec: InfluenceSpec, results: Results) -> str:
    """Return how parameters affect measures, from their lowest to their highest values, all else being equal.

    With ``of``, they affect the effect of that parameter: how much the measure changes between its own lowest and
    highest values.
    """
    chosen = results.where(spec.where).only(spec.algorithms)
    if fault := problem_mismatch(chosen.summaries()):
        return not_compared(fault)
    settings = chosen.settings()
    if len({_arguments(one) for one in settings}) < len(settings):
        raise CampaignError(f"{spec.title}: algorithms were run under several conditions; choose one with 'where'")
    head = [""]
    for name in spec.parameters:
        head += [f"{plain(name)} rises: paper", "ours"]
    lines = []
    for effect in spec.effects:
        line = [plain(effect.label)]
        for name, paper in zip(spec.parameters, effect.paper, strict=True):
            line += [plain(paper), _influenced(settings, name, spec.of, effect.measure)]
        lines.append(line)
    return markdown_table(head, lines)


def _influenced(settings: Sequence[Setting], parameter: str, of: str | None, name: str) -> str:
    """Return how a measure, or the effect of a parameter on it, changes with another parameter.

    Settings whose mean is only a lower bound, because agents did not always arrive, do not count.
    """
    means = {_arguments(one): one.summary[name].mean for one in settings if not one.summary[name].bounds}
    if of is not None:
        means = {rest: abs(high - low) for rest, (low, high) in ends(means, of).items()}
    found = list(ends(means, parameter).values())
    if not found:
        return "not run"
    more, less = (sum(bool(up(high, low)) for low, high in found) for up in (operator.gt, operator.lt))
    words = ("rises", "falls") if of is None else ("grows", "shrinks")
    trend = f"{words[0]} in {more}" if more >= less else f"{words[1]} in {less}"
    low, high = (measure(name).show(float(np.mean(side))) for side in zip(*found, strict=True))
    return f"{trend} of {len(found)}: {low} to {high}"


#: The parameters of a setting with their values, and the algorithm's name.
Arguments = frozenset[tuple[str, Any]]


def _arguments(one: Setting) -> Arguments:
    return frozenset({("algorithm", one.call.name), *one.call.arguments.items()})


def ends(means: Mapping[Arguments, float], parameter: str) -> dict[Arguments, tuple[float, float]]:
    """Return, for each choice of the other parameters, the numbers at the lowest and highest values of this one.

    >>> settings = {(1, "a"): 5.0, (2, "a"): 6.0, (3, "a"): 9.0, (1, "b"): 7.0}
    >>> means = {frozenset({("depth", d), ("kind", k)}): mean for (d, k), mean in settings.items()}
    >>> ends(means, "depth")
    {frozenset({('kind', 'a')}): (5.0, 9.0)}
    """
    values = sorted({value for key in means for name, value in key if name == parameter and is_number(value)})
    if len(values) < 2:
        return {}
    low, high = (parameter, values[0]), (parameter, values[-1])
    pairs = {key - {low}: key - {low} | {high} for key in means if low in key}
    return {rest: (means[rest | {low}], means[other]) for rest, other in pairs.items() if other in means}


# --- numbers from elsewhere -----------------------------------------------------------------------------------------


def elsewhere(spec: ElsewhereSpec, results: Results) -> str:
    """Return the numbers that cannot be compared with a run here, and what is known about them."""
    rows = [[plain(one["label"]), plain(one["paper"]), plain(one["ours"]), one["why"]] for one in spec.lines]
    return markdown_table(["", "paper", "ours", "why it is not judged"], rows, left=("why it is not judged",))


# --- words ----------------------------------------------------------------------------------------------------------


def _label(claim: Claim) -> str:
    return plain(claim.label) + (f" ({claim.note})" if claim.note else "")


def _counts(summary: Summary) -> list[str]:
    return [f"{summary.trials:,}", f"{summary.trials - summary.solved:,}"]
