"""The numbers of a study's parts, computed from the rows, to show them and to compare a paper's numbers with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.errors import CampaignError
from andante.measures import PLACE, Better, Clusters, Summary, map_column, measure
from andante.measures.clusters import Mean, Over, Values, resampled
from andante.report.dominance import on_all_problems, paired
from andante.report.results import Results
from andante.report.studyspecs import BestSpec, Claim, Contest, CorrelationSpec, FigureSpec, PairsSpec
from andante.store.parts import polars


def scored(results: Results, measures: Sequence[str], cap: float = math.inf) -> Results:
    """Return the results, with capped suboptimality if that is among the measures; for ``cap`` see `Results.capped`."""
    return results.capped(cap) if "capped_suboptimality_ratio" in measures else results


def summary_of(results: Results, algorithm: str, over: Over = "maps") -> Summary | None:
    """Return the summary of an algorithm, or None if it was not run; it must be run under one set of conditions."""
    found = results.where({"algorithm": algorithm})
    if not len(found.rows):
        return None
    summaries = found.summaries(over=over)
    if len(summaries) > 1:
        names = " and ".join(one.name for one in summaries[:2])
        raise CampaignError(f"{algorithm} was run under several conditions ({names}); choose one with 'where'")
    return summaries[0]


def change_of(chosen: Results, name: str, claim: Claim, over: Over = "maps") -> tuple[Mean, int] | None:
    """Return the change of a measure relative to the algorithm that the claim names, in percent, and its sample size.

    The sample is the problems that both solved. Return None if the other algorithm was not run.
    """
    assert claim.against is not None
    if summary_of(chosen, claim.against) is None:
        return None
    place = map_column(chosen.rows.columns) or "map"
    both = paired(chosen.rows, claim.algorithm, claim.against, [name, *([] if place in PLACE else [place])])
    change = (both[name] - both[f"{name}_right"]).to_numpy() / both[f"{name}_right"].to_numpy().mean() * 100
    (found,) = resampled(change[None, :], Clusters.of(both[place].to_numpy(), over))
    return found, len(both)


def contestants(spec: BestSpec, results: Results) -> Results:
    """Return the rows of those that compete to be the best."""
    chosen = results.where(spec.where)
    for conditions in spec.without:
        chosen = chosen.without(conditions)
    return chosen.only(spec.algorithms)


def solvers(results: Results) -> list[Summary]:
    """Return the summaries of the algorithms that solved all their problems."""
    return [summary for summary in results.summaries() if summary.solved == summary.trials]


def ranked(contest: Contest, summaries: Sequence[Summary]) -> list[Summary]:
    """Return the algorithms that stay within a contest's limit, the best first."""
    known = measure(contest.measure)
    sign = -1.0 if known.better is Better.MORE else 1.0
    within = [s for s in summaries if s["max_states_expanded"].max <= contest.worst_move]
    return sorted((s for s in within if s[known.name].count), key=lambda s: sign * s[known.name].mean)


def pair_ratios(spec: PairsSpec, chosen: Results, known: Sequence[Summary]) -> tuple[int, Values]:
    """Return the number of pairs in which one dominates the other on average, and the dominance ratios that exist."""
    duels = on_all_problems(chosen.rows, [one.name for one in known], spec.x, spec.y)
    ratios = np.array([duel.dominance_ratio for duel in duels])
    return len(duels), ratios[~np.isnan(ratios)]


def rows_of_figure(spec: FigureSpec, results: Results) -> tuple[Results, Results]:
    """Return the rows that a figure shows, without and with those of agents whose worst move is too expensive."""
    everyone = scored(results.where(spec.where).only(spec.algorithms), spec.y)
    if math.isfinite(spec.worst_move) and len(everyone.rows):
        return everyone.within(spec.worst_move), everyone
    return everyone, everyone


def means_of(spec: FigureSpec, results: Results) -> tuple[Values, dict[str, float]]:
    """Return the means of all algorithms of a histogram, and those of the marked ones, which are not among them."""
    means = {summary.name: summary[spec.y[0]].mean for summary in results.summaries()}
    marked = {claim.algorithm: means.pop(claim.algorithm) for claim in spec.marks if claim.algorithm in means}
    return np.array([value for value in means.values() if math.isfinite(value)]), marked


def trials_of(spec: FigureSpec, results: Results) -> tuple[Values, npt.NDArray[np.bool_]]:
    """Return the values of all trials of a histogram, and which of them are only lower bounds."""
    known = measure(spec.y[0])
    values = results.rows[known.name].cast(polars().Float64).to_numpy()
    finite = np.isfinite(values)
    return values[finite], ~results.rows["solved"].to_numpy().astype(bool)[finite] & known.adds_up


def both_measures(spec: CorrelationSpec, claim: Claim, results: Results) -> tuple[Values, Values, npt.NDArray[Any]]:
    """Return the two measures of a correlation over the trials of an algorithm that have both, and their maps."""
    mine = results.where(claim.where).where({"algorithm": claim.algorithm})
    x, y = (mine.rows[name].cast(polars().Float64).to_numpy() for name in (spec.x, spec.y))
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known], mine.maps().to_numpy()[known]
