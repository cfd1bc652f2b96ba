"""The published numbers of a study, each compared with ours, part by part in the order of the page."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from andante.measures import Clusters, Statistics, measure, problem_mismatch
from andante.measures.clusters import correlated
from andante.report import studyspecs as parts
from andante.report.dominance import Duel, on_problems
from andante.report.published import OVER_MAPS, Mark, Ours, Printed, Published, judged, judged_over_maps, printed
from andante.report.results import Results
from andante.report.studyrows import (
    both_measures,
    change_of,
    contestants,
    means_of,
    pair_ratios,
    ranked,
    rows_of_figure,
    scored,
    solvers,
    summary_of,
    trials_of,
)
from andante.report.studyspecs import OUTCOMES, RATIOS, Claim, Part, Study
from andante.report.studywords import paper_text

#: Measures that are the same for all problems of a map, so that their errors are over maps.
_OF_MAPS = ("database_records", "database_maps", "database_bytes")

_TIME_UNITS = ("s", "µs")
_TIME = "a time of another machine and program"
_NOT_RUN = "not run"
_BOUND = "ours is only a lower bound, because not all agents arrived"
_WIDTH = 2 * 1.96  # of a 95 % interval, in standard errors

_TIMED = re.compile(r"\d[\d.,]*(?:e\d+)? (?:s|µs|seconds?|minutes?|hours?|days?|moves)\b.*")
_LAST_NUMBER = re.compile(r".*: (\d[\d.]*)")


@dataclass(frozen=True)
class _Line:
    """A row of a part that has published numbers."""

    part: Part
    label: str
    row: int
    why: str = ""
    again: bool = False

    def judge(
        self, text: str, paper: Printed, ours: Ours, shown: str, column: int = 0, *, transformed: bool = False
    ) -> Published:
        """Return a number with its mark; if ``transformed``, both are on a different scale than shown."""
        mark, room = judged(paper, ours, self.part.count)
        why = "" if mark is Mark.WITHIN else self.why or self.part.why
        if mark is Mark.OUTSIDE and not why and judged_over_maps(paper, ours):
            why = OVER_MAPS
        if mark is Mark.OPEN:
            why = _BOUND if ours.bound else _NOT_RUN
        said = "" if mark is Mark.OPEN or transformed else f"{room:.3g}"
        return self._made(text, shown, said, mark, why, column, ours.count)

    def open(self, text: str, shown: str, why: str, column: int = 0) -> Published:
        """Return a number that is not judged."""
        return self._made(text, shown, "", Mark.OPEN, why, column)

    def _made(self, text: str, shown: str, room: str, mark: Mark, why: str, column: int, count: int = 0) -> Published:
        again, place = self.again or self.part.again, (self.row, column)
        return Published(
            self.part.title, self.label, text, shown, room, mark, why, again, place, count, self.part.count
        )


def published(study: Study, results: Results) -> list[Published]:
    """Return the published numbers of a study, with ours."""
    return [one for part in study.parts for one in numbers_of(part, results)]


def numbers_of(part: Part, results: Results) -> list[Published]:
    """Return the published numbers of one part of a study."""
    find = _FIND.get(type(part))
    return list(find(part, results)) if find is not None else []


def marks_of(part: Part, results: Results) -> dict[tuple[int, int], str]:
    """Return the marks behind the published numbers of a part, by row and column."""
    judged_ones = (one for one in numbers_of(part, results) if one.mark is not Mark.OPEN)
    return {one.place: f" {one.mark.value}" for one in judged_ones}


def _lines(part: Part, claims: Sequence[Claim]) -> Iterator[tuple[_Line, Claim]]:
    for row, claim in enumerate(claims):
        note = claim.note.replace("\\*", "*")  # notes are Markdown, labels are not
        label = f"{claim.label} ({note})" if note else claim.label
        yield _Line(part, label, row, claim.why[0], claim.again), claim


# --- tables ---------------------------------------------------------------------------------------------------------


def _of_table(part: parts.TableSpec, results: Results) -> Iterator[Published]:
    for line, claim in _lines(part, part.claims):
        for column, (name, paper) in enumerate(zip(part.measures, claim.paper, strict=True)):
            text, label = paper_text(paper), line.label
            if len(part.measures) > 1:
                label = f"{line.label}: {measure(name).title}"
            of_cell = _Line(part, label, line.row, claim.why[column], line.again)
            if _TIMED.fullmatch(text) or (printed(text) is not None and measure(name).unit in _TIME_UNITS):
                shown, _ = _cell(part, claim, name, results)
                yield of_cell.open(text, shown, _TIME, column)
            elif (number := printed(text)) is not None:
                shown, ours = _cell(part, claim, name, results)
                yield of_cell.judge(text, number, ours, shown, column)


def _cell(part: parts.TableSpec, claim: Claim, name: str, results: Results) -> tuple[str, Ours]:
    """Return our number for a cell of a table, as text and with its error over problems."""
    chosen = scored(results.where(claim.where), part.measures, claim.cap)
    over = "maps" if name in _OF_MAPS else "problems"
    summary = summary_of(chosen, claim.algorithm, over)  # type: ignore[arg-type]
    if summary is None:
        return _NOT_RUN, Ours(math.nan)
    if claim.against is not None:
        found = change_of(chosen, name, claim, "problems")
        if found is None:
            return _NOT_RUN, Ours(math.nan)
        change, count = found
        return f"{change.mean:+.2f} ± {change.error:.2f} %", Ours(change.mean, change.error, count)
    statistic = "max" if measure(name).headline.value == "max" else part.statistic
    numbers = summary[name]
    error = numbers.standard_error if statistic == "mean" else _quantile_error(numbers, statistic)
    wider = summary_of(chosen, claim.algorithm)
    of_maps = wider[name].standard_error if wider is not None and statistic == "mean" else math.nan
    value, bound = float(getattr(numbers, statistic)), numbers.is_bound(statistic)
    return summary.show(name, statistic), Ours(value, error, numbers.count, of_maps, bound)


def _quantile_error(numbers: Statistics, statistic: str) -> float:
    if statistic == "max":
        return math.nan
    interval = numbers.interval(statistic)
    return (interval.high - interval.low) / _WIDTH if math.isfinite(interval.high - interval.low) else math.nan


def _of_amortization(part: parts.AmortizationSpec, results: Results) -> Iterator[Published]:
    for line, claim in _lines(part, part.claims):
        if any(sign.isdigit() for sign in paper_text(claim.paper[0])):
            yield line.open(paper_text(claim.paper[0]), "in the table", _TIME)


def _of_correlation(part: parts.CorrelationSpec, results: Results) -> Iterator[Published]:
    """Compare correlations on Fisher's scale, where their error is about the same everywhere."""
    for line, claim in _lines(part, part.claims):
        text = paper_text(claim.paper[0])
        paper = printed(text)
        if paper is None:
            continue
        x, y, maps = both_measures(part, claim, results)
        found = correlated(x, y, Clusters.of(maps, "problems"))
        if not abs(found.mean) < 1 or not abs(paper.value) < 1:
            yield line.open(text, _NOT_RUN, _NOT_RUN)
            continue
        there = Printed(math.atanh(paper.value), paper.rounding / (1 - paper.value**2))
        ours = Ours(math.atanh(found.mean), found.error / (1 - found.mean**2), len(x))
        yield line.judge(text, there, ours, f"{found.mean:.4f} ± {found.error:.4f}", transformed=True)


# --- contests -------------------------------------------------------------------------------------------------------


def _of_best(part: parts.BestSpec, results: Results) -> Iterator[Published]:
    """Compare the number behind a winner's name with that of our winner."""
    chosen = contestants(part, results)
    known = solvers(chosen)
    for row, contest in enumerate(part.contests):
        named = _LAST_NUMBER.fullmatch(contest.paper)
        if named is None:
            continue
        line, first = _Line(part, contest.label, row, contest.why), ranked(contest, known)
        paper = printed(named[1])
        assert paper is not None
        if not first or problem_mismatch(known):
            yield line.open(named[1], _NOT_RUN, _NOT_RUN)
            continue
        (best,) = chosen.where({"agent": first[0].name}).summaries(over="problems")
        numbers = best[contest.measure]
        ours = Ours(numbers.mean, numbers.standard_error, numbers.count)
        yield line.judge(named[1], paper, ours, f"{best.name}: {best.show(contest.measure)}")


def _of_duel(part: parts.DuelSpec, results: Results) -> Iterator[Published]:
    chosen = results.where(part.where)
    ran = all(summary_of(chosen, name) is not None for name in (part.first, part.second))
    duel = on_problems(chosen.rows, part.first, part.second, part.x, part.y) if ran else None
    words = {"first": part.first, "second": part.second, "x": measure(part.x).title, "y": measure(part.y).title}
    for row, (name, title) in enumerate(OUTCOMES.items()):
        if name not in part.paper:
            continue
        text = paper_text(part.paper[name])
        paper, line = printed(text), _Line(part, title.format(**words), row)
        if paper is None or duel is None:
            yield line.open(text, _NOT_RUN, _NOT_RUN)
        elif name == "ratio":
            there, ours = _ratio(paper, duel)
            yield line.judge(text, there, ours, f"{duel.dominance_ratio:.2f}", transformed=True)
        else:
            mine = _shares(duel)[name]
            ours = Ours(100 * mine, _error_of_share(100 * mine, duel.problems), duel.problems)
            there = Printed(paper.value, paper.rounding, _error_of_share(paper.value, part.count or duel.problems))
            yield line.judge(f"{text} %", there, ours, f"{ours.value:.1f} ± {ours.error:.1f} %")


def _shares(duel: Duel) -> dict[str, float]:
    ours = (*duel.first_better, duel.first_dominates, *duel.second_better, duel.second_dominates)
    return dict(zip(OUTCOMES, ours, strict=False))  # the last one is the ratio, which is not a share


def _error_of_share(percent: float, count: int) -> float:
    """Return the standard error of a share in percent.

    >>> _error_of_share(50.0, 100)
    5.0
    """
    return math.sqrt(max(0.0, percent * (100 - percent)) / count) if count else math.nan


def _ratio(paper: Printed, duel: Duel) -> tuple[Printed, Ours]:
    """Return a ratio of two counts as a logarithm; half a problem is added to both, so that it is finite."""
    first, second = (duel.problems * part + 0.5 for part in (duel.first_dominates, duel.second_dominates))
    error = math.sqrt(1 / first + 1 / second)
    there = Printed(math.log(paper.value), paper.rounding / paper.value)
    return there, Ours(math.log(first / second), error, duel.problems)


def _of_pairs(part: parts.PairsSpec, results: Results) -> Iterator[Published]:
    chosen = results.where(part.where).only(part.algorithms)
    known = solvers(chosen)
    fault = problem_mismatch(known)
    ratios = np.array([]) if fault else pair_ratios(part, chosen, known)[1]
    finite = ratios[np.isfinite(ratios)]
    for row, (name, title) in enumerate(RATIOS.items()):
        if name not in part.paper:
            continue
        text, line = paper_text(part.paper[name]), _Line(part, title, row)
        paper = printed(text)
        if paper is None or not len(finite):
            yield line.open(text, _NOT_RUN, _NOT_RUN)
            continue
        value = {"least": ratios.min(), "greatest": ratios.max(), "mean": finite.mean()}[name]
        error = float(finite.std(ddof=1)) / math.sqrt(len(finite)) if name == "mean" and len(finite) > 1 else math.nan
        spread = "" if math.isnan(error) else f" ± {error:.2f}"
        yield line.judge(text, paper, Ours(float(value), error, len(finite)), f"{value:.2f}{spread}")


# --- figures, and numbers from elsewhere ----------------------------------------------------------------------------


def _of_figure(part: parts.FigureSpec, results: Results) -> Iterator[Published]:
    """Return the numbers of a histogram; those of other figures are curves."""
    if part.kind != "histogram" or (part.paper is None and part.paper_share is None and not part.marks):
        return
    chosen, _ = rows_of_figure(part, results)
    if not len(chosen.rows):
        return
    if part.counted == "trials":
        found = Statistics.of(*trials_of(part, chosen))
        if part.paper is not None and (paper := printed(paper_text(part.paper))) is not None:
            ours = Ours(found.mean, found.standard_error, found.count, bound=bool(found.bounds))
            yield _Line(part, "mean", 0).judge(paper_text(part.paper), paper, ours, f"{found.mean:.3f}")
        return
    values, marked = means_of(part, chosen)
    count, middle = len(values), float(values.mean())
    if part.paper is not None and (paper := printed(paper_text(part.paper))) is not None:
        ours = Ours(middle, float(values.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan, count)
        shown = f"{middle:.1f} ± {ours.error:.1f}"
        yield _Line(part, f"mean over {count:,} algorithms", 0).judge(paper_text(part.paper), paper, ours, shown)
    shares = [("better than that mean", part.paper_share, middle)]
    shares += [
        (f"better than {claim.label}", claim.paper[0], marked[claim.algorithm])  # type: ignore[misc]
        for claim in part.marks
        if claim.algorithm in marked
    ]
    for row, (label, number, limit) in enumerate(shares, 1):
        if number is None or (paper := printed(paper_text(number))) is None:
            continue
        mine = 100 * float((values < limit).mean())
        ours = Ours(mine, _error_of_share(mine, count), count)
        there = Printed(paper.value, paper.rounding, _error_of_share(paper.value, part.count or count))
        yield _Line(part, label, row).judge(f"{paper_text(number)} %", there, ours, f"{mine:.1f} ± {ours.error:.1f} %")


def _of_elsewhere(part: parts.ElsewhereSpec, results: Results) -> Iterator[Published]:
    for row, one in enumerate(part.lines):
        yield _Line(part, one["label"], row).open(one["paper"], one["ours"], one["why"])


#: The function that finds the numbers of each kind of part; in the other kinds the paper has words.
_FIND: dict[type, Callable[[Any, Results], Iterator[Published]]] = {
    parts.TableSpec: _of_table,
    parts.AmortizationSpec: _of_amortization,
    parts.CorrelationSpec: _of_correlation,
    parts.BestSpec: _of_best,
    parts.DuelSpec: _of_duel,
    parts.PairsSpec: _of_pairs,
    parts.FigureSpec: _of_figure,
    parts.ElsewhereSpec: _of_elsewhere,
}
