"""The contests of a study, in Markdown: which algorithms are best, not dominated, or better problem by problem."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from andante.measures import Better, Measure, Summary, compare, measure, problem_mismatch
from andante.report.dominance import on_all_problems, on_average, on_problems
from andante.report.markdown import markdown_table, plain
from andante.report.results import Results
from andante.report.studyspecs import OUTCOMES, RATIOS, BestSpec, Contest, DuelSpec, FrontSpec, PairsSpec
from andante.report.studytables import not_compared, or_dash, paper_text, share, summary_of

_MOST_TIED = 3  # algorithms named where several do equally well
_TIED = 1e-3  # the relative difference up to which they do


def _solvers(results: Results) -> list[Summary]:
    """Return the summaries of the algorithms that solved all their problems."""
    return [summary for summary in results.summaries() if summary.solved == summary.trials]


# --- the best -------------------------------------------------------------------------------------------------------


def best(spec: BestSpec, results: Results) -> str:
    """Return the best algorithm of each contest and its number, among those that solved all their problems.

    Algorithms that were run on different problems are not compared.
    """
    chosen = results.where(spec.where).only(spec.algorithms)
    known = _solvers(chosen)
    if fault := problem_mismatch(known):
        return not_compared(fault)
    head = ["", "paper", "ours", "which is", "not clearly worse"]
    return markdown_table(head, [_winner(contest, known, chosen) for contest in spec.contests])


def _winner(contest: Contest, summaries: Sequence[Summary], results: Results) -> list[str]:
    known = measure(contest.measure)
    within = [s for s in summaries if s["max_states_expanded"].max <= contest.worst_move]
    ranked = sorted((s for s in within if s[known.name].count), key=lambda s: _rank(s, known))
    label = [plain(contest.label), plain(contest.paper)]
    if not ranked:
        return [*label, "none", "-", "-"]
    first = ranked[0][known.name]
    tied = [s.name for s in ranked if abs(s[known.name].mean - first.mean) <= _TIED * abs(first.mean)]
    return [*label, _some(tied), ranked[0].show(known.name), _unbeaten(ranked, tied, known, results)]


def _unbeaten(ranked: Sequence[Summary], tied: Sequence[str], known: Measure, results: Results) -> str:
    """Return the other algorithms that the best is not better than, beyond chance."""
    if len(ranked) < 2 or known.better is Better.NEITHER:
        return "-"
    contest = results.contest().only({one.name for one in ranked})
    found = compare(contest, lambda name: results.rows[name].to_numpy(), known.name)
    worse = set(found.worse_than(found.agents[0]))
    return _some([name for name in found.agents if name not in worse and name not in tied]) or "none"


def _some(names: Sequence[str]) -> str:
    """Return the first of these names, and how many more there are."""
    others = f" and {len(names) - _MOST_TIED} more" if len(names) > _MOST_TIED else ""
    return ", ".join(plain(name) for name in names[:_MOST_TIED]) + others


def _rank(summary: Summary, known: Measure) -> float:
    return summary[known.name].mean * (-1.0 if known.better is Better.MORE else 1.0)


# --- which algorithms are not dominated -----------------------------------------------------------------------------


def front(spec: FrontSpec, results: Results) -> str:
    """Return, for each pair of measures, the algorithms not dominated by others, of those that solved all problems."""
    known = _solvers(results.where(spec.where).only(spec.algorithms))
    if fault := problem_mismatch(known):
        return not_compared(fault)
    lines = []
    for trade in spec.trades:
        free = [one.summary.name for one in on_average(known, trade.x, trade.y) if one.dominated_by is None]
        titles = [plain(measure(name).title) for name in (trade.x, trade.y)]
        named = ", ".join(map(plain, free)) or "none"
        lines.append([*titles, plain(trade.paper), named, f"{len(free)} of {len(known)}"])
    return markdown_table(["", "and", "paper", "ours", ""], lines)


# --- duels ----------------------------------------------------------------------------------------------------------


def duel(spec: DuelSpec, results: Results) -> str:
    """Return on how many problems each algorithm does better."""
    chosen = results.where(spec.where)
    first, second = (summary_of(chosen, name) for name in (spec.first, spec.second))
    if first is None or second is None:
        return "Not run."
    found = on_problems(chosen.rows, spec.first, spec.second, spec.x, spec.y)
    words = {"first": spec.first, "second": spec.second, "x": measure(spec.x).title, "y": measure(spec.y).title}
    ours = [*found.first_better, found.first_dominates, *found.second_better, found.second_dominates]
    lines = []
    for (name, title), part in zip(OUTCOMES.items(), ours, strict=False):  # the ratio comes last, and is not a share
        lines.append([plain(title.format(**words)), share(spec.paper.get(name)), share(100 * part)])
    lines.append([OUTCOMES["ratio"], or_dash(spec.paper.get("ratio")), f"{found.dominance_ratio:.2f}"])
    ran = max(summary.trials for summary in (first, second))
    which = "" if ran == found.problems else " that both solved"
    return markdown_table([f"of {found.problems:,} problems{which}", "paper", "ours"], lines)


# --- all pairs ------------------------------------------------------------------------------------------------------


def pairs(spec: PairsSpec, results: Results) -> str:
    """Return the dominance ratios of all pairs in which the first algorithm dominates the second on average.

    The ratio is infinite if the second never dominates the first on any problem, and undefined if neither ever does.
    """
    chosen = results.where(spec.where).only(spec.algorithms)
    known = _solvers(chosen)
    if fault := problem_mismatch(known):
        return not_compared(fault)
    duels = on_all_problems(chosen.rows, [one.name for one in known], spec.x, spec.y)
    ratios = np.array([duel.dominance_ratio for duel in duels])
    ratios = ratios[~np.isnan(ratios)]
    if not len(ratios):
        return "No algorithm dominates another on average."
    finite = ratios[np.isfinite(ratios)]
    ours = {"least": f"{ratios.min():.2f}", "greatest": f"{ratios.max():.2f}", "mean": _mean(finite)}
    lines = [[title, paper_text(spec.paper.get(name, "-")), ours[name]] for name, title in RATIOS.items()]
    counted = f"{len(ratios) - len(finite):,} of {len(ratios):,}"
    return markdown_table([f"{len(duels):,} pairs", "paper", "ours"], [*lines, ["infinite", "-", counted]])


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    if not len(values):
        return "-"
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{values.mean():.2f}{'' if math.isnan(error) else f' ± {error:.2f}'}"
