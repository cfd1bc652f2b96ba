"""The tables of a study, in Markdown: the paper's numbers and ours side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

from andante.errors import ParameterError
from andante.measures import Better, Measure, Summary, measure, unlike
from andante.report.dominance import on_problems, paired
from andante.report.results import Results
from andante.report.studyfile import OUTCOMES, AmortizationSpec, BestSpec, Claim, Contest, DuelSpec, TableSpec

_QUALITY, _TIME = "suboptimality_ratio", "microseconds_per_move"
_MOST_TIED = 3  # algorithms that are named where several do equally well
_TIED = 1e-3  # how close they come, as a share


def table(spec: TableSpec, results: Results) -> str:
    """Each claim of the paper beside our number for it: all about one measure, or the mean of several."""
    if len(spec.measures) > 1:
        return _wide_table(spec, results)
    head = ["", "paper", f"ours, {spec.statistic}", "difference", "median", "95 %", "trials", "not solved"]
    return markdown(head, [_line(spec, claim, results) for claim in spec.claims])


def _line(spec: TableSpec, claim: Claim, results: Results) -> list[str]:
    chosen = scored(results.where(claim.where), spec.capped, claim.cap)
    (name,), (paper,) = spec.measures, claim.paper
    summary = _of(chosen, claim.algorithm)
    if summary is None:
        return [_label(claim), _paper(paper), "not run", *["-"] * 5]
    numbers, known = summary[name], measure(name)
    value = float(getattr(numbers, spec.statistic))
    if claim.against is not None:
        return [_label(claim), _paper(paper), *_change(chosen, name, claim), "-", "-", *_counts(summary)]
    shown = known.show(value, numbers.standard_error if spec.statistic == "mean" else None)
    spread = [known.show(numbers.median), known.show(numbers.p95)]
    return [_label(claim), _paper(paper), shown, _difference(paper, value), *spread, *_counts(summary)]


def _wide_table(spec: TableSpec, results: Results) -> str:
    """A column for each measure, and one before it for the paper's numbers if there are any."""
    told = [any(claim.paper[k] != "-" for claim in spec.claims) for k in range(len(spec.measures))]
    head = [""]
    for name, known in zip(spec.measures, told, strict=True):
        title = headed(measure(name))
        head += [f"{title}: paper", "ours"] if known else [f"{title}: ours"]
    lines = [_wide_line(spec, claim, results, told) for claim in spec.claims]
    return markdown([*head, "trials", "not solved"], lines)


def headed(known: Measure) -> str:
    """A measure as the head of a column, with its unit unless that is part of each cell.

    >>> headed(measure("microseconds_per_move")), headed(measure("memory_bytes"))
    ('Time per move (µs)', 'Agent memory')
    """
    return known.title if known.unit in ("B", "s") else f"{known.title} ({known.unit})"


def _wide_line(spec: TableSpec, claim: Claim, results: Results, told: Sequence[bool]) -> list[str]:
    summary = _of(scored(results.where(claim.where), spec.capped, claim.cap), claim.algorithm)
    cells = [_label(claim)]
    for name, paper, known in zip(spec.measures, claim.paper, told, strict=True):
        ours = "not run" if summary is None else _shown(summary, name, spec.statistic)
        cells += [_paper(paper), ours] if known else [ours]
    return [*cells, *(["-", "-"] if summary is None else _counts(summary))]


def _shown(summary: Summary, name: str, statistic: str) -> str:
    """A statistic of a measure: of the mean with its error, of a worst case the worst."""
    known, numbers = measure(name), summary[name]
    if known.headline.value == "max":
        return known.show(numbers.max)
    return known.show(getattr(numbers, statistic), numbers.standard_error if statistic == "mean" else None)


def _change(chosen: Results, name: str, claim: Claim) -> list[str]:
    """By how much the measure changes against another algorithm, with its standard error over problems in common."""
    assert claim.against is not None
    if _of(chosen, claim.against) is None:
        return ["not run", "-"]
    both = paired(chosen.rows, claim.algorithm, claim.against, [name])
    change = (both[name] - both[f"{name}_right"]).to_numpy() / both[f"{name}_right"].to_numpy().mean() * 100
    spread = change.std(ddof=1) / math.sqrt(len(change)) if len(change) > 1 else math.nan
    return [f"{change.mean():+.2f}{'' if math.isnan(spread) else f' ± {spread:.2f}'} %", "-"]


def _difference(paper: float | str, ours: float) -> str:
    if isinstance(paper, str) or not paper:
        return "-"
    return f"{(ours / paper - 1) * 100:+.1f} %"


# --- the best -------------------------------------------------------------------------------------------------------


def best(spec: BestSpec, results: Results) -> str:
    """The best algorithm of each contest, and its number; only those count that solved all of their problems.

    Algorithms that were run on different problems are not compared.
    """
    chosen = results.where(spec.where).only(spec.algorithms)
    known = [summary for summary in chosen.summaries() if summary.solved == summary.trials]
    if fault := unlike(known):
        return not_compared(fault)
    head = ["", "paper", "ours", "which is"]
    return markdown(head, [_winner(contest, known) for contest in spec.contests])


def _winner(contest: Contest, summaries: Sequence[Summary]) -> list[str]:
    known = measure(contest.measure)
    within = [s for s in summaries if s["max_states_expanded"].max <= contest.worst_move]
    ranked = sorted((s for s in within if s[known.name].count), key=lambda s: _rank(s, known))
    label = [plain(contest.label), plain(contest.paper)]
    if not ranked:
        return [*label, "none", "-"]
    first = ranked[0][known.name]
    tied = [s.name for s in ranked if abs(s[known.name].mean - first.mean) <= _TIED * abs(first.mean)]
    others = f" and {len(tied) - _MOST_TIED} more" if len(tied) > _MOST_TIED else ""
    named = ", ".join(plain(name) for name in tied[:_MOST_TIED])
    return [*label, named + others, known.show(first.mean, first.standard_error)]


def _rank(summary: Summary, known: Measure) -> float:
    return summary[known.name].mean * (-1.0 if known.better is Better.MORE else 1.0)


# --- amortization ---------------------------------------------------------------------------------------------------


def amortization(spec: AmortizationSpec, results: Results) -> str:
    """Each algorithm with a database beside the rival nearest to it in suboptimality: when it has caught up."""
    rivals = results.where(spec.where).only(spec.rivals).summaries()
    head = ["", "paper", "nearest rival", "suboptimality of both", "build", "saved per move", "moves", "which take"]
    return markdown(head, [_recouped(claim, results, rivals) for claim in spec.claims])


def _recouped(claim: Claim, results: Results, rivals: Sequence[Summary]) -> list[str]:
    label = [_label(claim), _paper(claim.paper[0])]
    summary = _of(results.where(claim.where), claim.algorithm)
    if summary is None or not rivals:
        return [*label, "not run", *["-"] * 5]
    if fault := unlike([summary, *rivals]):
        return [*label, plain(fault), *["-"] * 5]
    quality = summary[_QUALITY].mean
    rival = min(rivals, key=lambda other: abs(other[_QUALITY].mean - quality))
    saved = rival[_TIME].mean - summary[_TIME].mean
    build = summary["build_seconds"].mean
    both = f"{quality:.3f}, {rival[_QUALITY].mean:.3f}"
    cells = [*label, plain(rival.name), both, duration(build), f"{saved:.2f} µs"]
    if saved <= 0:
        return [*cells, "never", "-"]
    moves = build / (saved * 1e-6)
    return [*cells, f"{moves:.1e}", duration(moves * summary[_TIME].mean * 1e-6)]


# --- duels ----------------------------------------------------------------------------------------------------------


def duel(spec: DuelSpec, results: Results) -> str:
    """Who does better on how many problems."""
    chosen = results.where(spec.where)
    first, second = (_of(chosen, name) for name in (spec.first, spec.second))
    if first is None or second is None:
        return "Not run."
    found = on_problems(chosen.rows, spec.first, spec.second, spec.x, spec.y)
    words = {"first": spec.first, "second": spec.second, "x": measure(spec.x).title, "y": measure(spec.y).title}
    ours = [*found.first_better, found.first_dominates, *found.second_better, found.second_dominates]
    lines = []
    for (name, title), part in zip(OUTCOMES.items(), ours, strict=False):  # the ratio comes last, and is no share
        lines.append([plain(title.format(**words)), share(spec.paper.get(name)), share(100 * part)])
    lines.append([OUTCOMES["ratio"], or_dash(spec.paper.get("ratio")), f"{found.dominance_ratio:.2f}"])
    ran = max(summary.trials for summary in (first, second))
    which = "" if ran == found.problems else " in common"
    return markdown([f"of {found.problems:,} problems{which}", "paper", "ours"], lines)


# --- words ----------------------------------------------------------------------------------------------------------


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, its first column to the left and the others to the right.

    >>> print(markdown(["", "ours"], [["a", "1"]]))
    |  | ours |
    | --- | --: |
    | a | 1 |
    """
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def not_compared(fault: str) -> str:
    """What stands in the place of a comparison that would not be fair."""
    return f"Not compared: {plain(fault)}."


def plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    return text.replace("*", "\\*").replace("|", "\\|")


def or_dash(value: float | None) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:g}"


def share(percent: float | None) -> str:
    """A share in percent, or a dash where there is none."""
    return "-" if percent is None else f"{percent:.1f} %"


def duration(seconds: float) -> str:
    """How long something takes, in the unit that fits.

    >>> duration(0.25), duration(90), duration(600), duration(9000)
    ('0.2 seconds', '90.0 seconds', '10 minutes', '2.5 hours')
    """
    if seconds < 120:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def scored(results: Results, capped: bool, cap: float = math.inf) -> Results:
    """The results with suboptimality counted as seed 004 does, if so wanted; ``cap`` is as in `Results.capped`."""
    return results.capped(cap) if capped else results


def _of(results: Results, algorithm: str) -> Summary | None:
    """The summary of an algorithm, or None if it was not run; it must have been run under one set of conditions."""
    found = results.where({"algorithm": algorithm})
    if not len(found.rows):
        return None
    summaries = found.summaries()
    if len(summaries) > 1:
        told = " and ".join(one.name for one in summaries[:2])
        raise ParameterError(f"{algorithm} was run under several conditions ({told}); say which with 'where'")
    return summaries[0]


def _label(claim: Claim) -> str:
    return plain(claim.label) + (f" ({claim.note})" if claim.note else "")


def _paper(number: float | str) -> str:
    return f"{number:g}" if isinstance(number, int | float) else plain(number)


def _counts(summary: Summary) -> list[str]:
    return [f"{summary.trials:,}", f"{summary.trials - summary.solved:,}"]
