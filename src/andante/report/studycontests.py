"""The contests of a study, in Markdown: which algorithms are best, not dominated, or better problem by problem."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from andante.markdown import markdown_table, plain
from andante.measures import Better, Measure, Summary, compare, measure, problem_mismatch
from andante.report.dominance import on_average, on_problems
from andante.report.results import Results
from andante.report.studynumbers import marks_of
from andante.report.studyrows import contestants, pair_ratios, ranked, solvers, summary_of
from andante.report.studyspecs import OUTCOMES, RATIOS, BestSpec, Contest, DuelSpec, FrontSpec, PairsSpec
from andante.report.studywords import not_compared, or_dash, paper_text, share

_MOST_TIED = 3  # algorithms named if several are equally good
_TIED = 1e-3  # the relative difference up to which they are


# --- the best -------------------------------------------------------------------------------------------------------


def best(spec: BestSpec, results: Results) -> str:
    """Return the best algorithm of each contest and its number, among those that solved all their problems.

    Algorithms that were run on different problems are not compared.
    """
    chosen = contestants(spec, results)
    known = solvers(chosen)
    if fault := problem_mismatch(known):
        return not_compared(fault)
    head = ["", "paper", "ours", "which is", "not clearly worse"]
    marks = marks_of(spec, results)
    return markdown_table(
        head,
        [_winner(contest, known, chosen, marks.get((row, 0), "")) for row, contest in enumerate(spec.contests)],
    )


def _winner(contest: Contest, summaries: Sequence[Summary], results: Results, mark: str) -> list[str]:
    known, order = measure(contest.measure), ranked(contest, summaries)
    label = [plain(contest.label), f"{plain(contest.paper)}{mark}"]
    if not order:
        return [*label, "none", "-", "-"]
    first = order[0][known.name]
    tied = [s.name for s in order if abs(s[known.name].mean - first.mean) <= _TIED * abs(first.mean)]
    return [*label, _some(tied), order[0].show(known.name), _unbeaten(order, tied, known, results)]


def _unbeaten(order: Sequence[Summary], tied: Sequence[str], known: Measure, results: Results) -> str:
    """Return the other algorithms that the best one is not significantly better than."""
    if len(order) < 2 or known.better is Better.NEITHER:
        return "-"
    contest = results.contest().only({one.name for one in order})
    found = compare(contest, lambda name: results.rows[name].to_numpy(), known.name)
    worse = set(found.worse_than(found.agents[0]))
    return _some([name for name in found.agents if name not in worse and name not in tied]) or "none"


def _some(names: Sequence[str]) -> str:
    """Return the first of these names, and how many more there are."""
    others = f" and {len(names) - _MOST_TIED} more" if len(names) > _MOST_TIED else ""
    return ", ".join(plain(name) for name in names[:_MOST_TIED]) + others


# --- which algorithms are not dominated -----------------------------------------------------------------------------


def front(spec: FrontSpec, results: Results) -> str:
    """Return, for each pair of measures, the algorithms not dominated by others, of those that solved all problems."""
    known = solvers(results.where(spec.where).only(spec.algorithms))
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
    """Return on how many problems each algorithm is better."""
    chosen = results.where(spec.where)
    first, second = (summary_of(chosen, name) for name in (spec.first, spec.second))
    if first is None or second is None:
        return "Not run."
    found = on_problems(chosen.rows, spec.first, spec.second, spec.x, spec.y)
    words = {"first": spec.first, "second": spec.second, "x": measure(spec.x).title, "y": measure(spec.y).title}
    shares = [*found.first_better, found.first_dominates, *found.second_better, found.second_dominates]
    ours = [*(f"{100 * part:.1f} %" for part in shares), f"{found.dominance_ratio:.2f}"]
    marks, lines = marks_of(spec, results), []
    for row, ((name, title), mine) in enumerate(zip(OUTCOMES.items(), ours, strict=True)):
        paper = (or_dash if name == "ratio" else share)(spec.paper.get(name))
        lines.append([plain(title.format(**words)), f"{paper}{marks.get((row, 0), '')}", mine])
    ran = max(summary.trials for summary in (first, second))
    which = "" if ran == found.problems else " that both solved"
    return markdown_table([f"of {found.problems:,} problems{which}", "paper", "ours"], lines)


# --- all pairs ------------------------------------------------------------------------------------------------------


def pairs(spec: PairsSpec, results: Results) -> str:
    """Return the dominance ratios of all pairs in which the first algorithm dominates the second on average.

    The ratio is infinite if the second never dominates the first on any problem, and undefined if neither ever does.
    """
    chosen = results.where(spec.where).only(spec.algorithms)
    known = solvers(chosen)
    if fault := problem_mismatch(known):
        return not_compared(fault)
    count, ratios = pair_ratios(spec, chosen, known)
    if not len(ratios):
        return "No algorithm dominates another on average."
    finite = ratios[np.isfinite(ratios)]
    ours = {"least": f"{ratios.min():.2f}", "greatest": f"{ratios.max():.2f}", "mean": _mean(finite)}
    marks, lines = marks_of(spec, results), []
    for row, (name, title) in enumerate(RATIOS.items()):
        lines.append([title, f"{paper_text(spec.paper.get(name, '-'))}{marks.get((row, 0), '')}", ours[name]])
    counted = f"{len(ratios) - len(finite):,} of {len(ratios):,}"
    return markdown_table([f"{count:,} pairs", "paper", "ours"], [*lines, ["infinite", "-", counted]])


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    if not len(values):
        return "-"
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{values.mean():.2f}{'' if math.isnan(error) else f' ± {error:.2f}'}"
