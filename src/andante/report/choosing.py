"""The tables and figures of `andante choose`: the gain of choosing an algorithm for each map, or for each problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Protocol

from andante.markdown import markdown_table
from andante.measures import Statistics
from andante.measures.clusters import CONFIDENCE, student
from andante.report.figure import save_figure
from andante.report.lines import lines_plot
from andante.report.table import counted

#: Shares of missing results in the tables, in percent. Besides the paper's shares there are those with the same numbers
#: of algorithms, for results with fewer algorithms than the paper's.
SHOWN = (0, 25, 50, 80, 85, 90, 95, 96, 97, 98, 98.5, 99)
PAPER = 'V. Bulitko, "Per-map algorithm selection in real-time heuristic search" (2016)'
CITED = "Bulitko 2016"


class Split(Protocol):
    """The scores of three ways to choose, for one share of results present."""

    @property
    def present(self) -> float:
        """The share in percent."""

    @property
    def exhaustive(self) -> Statistics:
        """Of the best algorithm for each."""

    @property
    def prior(self) -> Statistics:
        """Of the algorithm that was best on others."""

    @property
    def sample(self) -> Statistics:
        """Of the best one among the results present."""


class Nearby(Protocol):
    """The scores of choosing by a number of old problems of each map."""

    @property
    def old(self) -> int:
        """The number of old problems."""

    @property
    def maps(self) -> int:
        """The number of maps that have this many problems."""

    @property
    def chosen(self) -> Statistics:
        """Of the choice."""

    @property
    def prior(self) -> Statistics:
        """Of what was best on the other maps."""

    @property
    def per_map(self) -> Statistics:
        """Of what was best on the old problems of the map."""

    @property
    def virtual_best(self) -> Statistics:
        """Of the best for each problem."""

    @property
    def gain(self) -> Statistics:
        """The advantage of the choice over the prior."""


def counts_in_words(algorithms: int, problems: int, maps: int, limit: str = "") -> str:
    """Return the numbers of algorithms, problems and maps in words.

    >>> counts_in_words(100, 4500, 331)
    '100 algorithms on 4,500 problems of 331 maps'
    """
    return f"{counted(algorithms, 'algorithm')}{limit} on {counted(problems, 'problem')} of {counted(maps, 'map')}"


def overview(
    title: str,
    sizes: tuple[int, int, int],
    expansions: float,
    scores: Mapping[str, float],
    single_best: str,
    gap_closed: float,
) -> str:
    """Return the first section: the numbers of algorithms, problems and maps, and the scores of the best choices."""
    states = f"{expansions:g} state{'s' * (expansions != 1)}"
    limit = "" if expansions == float("inf") else f" that expand at most {states} before any move"
    size = (
        f"{counts_in_words(*sizes, limit)}. Mean suboptimality; an agent that did not arrive counts as the "
        f"cap. Tables and figures are numbered as in {PAPER}."
    )
    named = f"The single best algorithm is `{single_best}`."
    if not isnan(gap_closed):
        named += f" The best for each map closes {abs(gap_closed):.0%} of the gap between single best and virtual best."
    shown = _table(["", "mean suboptimality"], [[what, f"{value:.2f}"] for what, value in scores.items()])
    return "\n".join([f"# {title}", "", size, "", *shown, "", named, ""])


def section(title: str, lines: Sequence[str]) -> str:
    """Return a section."""
    return "\n".join([f"## {title}", "", *lines, ""])


def sweep_table(lines: Sequence[Split], algorithms: int) -> list[str]:
    """Return one sweep as a table, without shares of results that amount to less than one algorithm."""
    shown = [line for line in lines if 100 - line.present in SHOWN and line.present * algorithms >= 100]
    rows = [
        [
            f"{line.present:g} %",
            f"{line.present * algorithms / 100:.1f}",
            *map(_with_error, (line.exhaustive, line.prior, line.sample)),
        ]
        for line in shown
    ]
    return _table(["results present", "algorithms run", "exhaustive", "prior", "sample"], rows)


def draw_sweep(lines: Sequence[Split], file: Path) -> None:
    """Draw one sweep."""
    methods = ("exhaustive", "prior", "sample")
    curves = {name: [(line.present, getattr(line, name)) for line in lines] for name in methods}
    save_figure(lines_plot(curves, "Results present (%)", "Mean suboptimality"), file)


def prediction_table(scores: Mapping[str, Statistics], gain: Statistics) -> list[str]:
    """Return the table of the paper's section 7: the results without running everything."""
    rows = [[name, _with_error(numbers)] for name, numbers in scores.items()]
    low = gain.mean - student((1 + CONFIDENCE) / 2, gain.clusters - 1) * gain.standard_error
    verdict = "learned is better" if low > 0 else "that is no clear gain"
    said = f"Learned walks {_with_error(gain)} less than prior, problem by problem, over {gain.over}: {verdict}."
    return [*_table(["", "mean suboptimality"], rows), "", said]


def nearby_table(found: Sequence[Nearby]) -> list[str]:
    """Return the table of results of choosing by other problems of the same map, for several numbers of them."""
    head = ["old problems", "maps", "by those nearby", "prior", "best of the map", "best for the problem", "gain"]
    scores = [(one.chosen, one.prior, one.per_map, one.virtual_best, one.gain) for one in found]
    rows = [[f"{one.old:,}", f"{one.maps:,}", *map(_with_error, its)] for one, its in zip(found, scores, strict=True)]
    return _table(head, rows)


def draw_nearby(found: Sequence[Nearby], file: Path) -> None:
    """Draw the numbers of `nearby_table`."""
    methods = {"best of the map": "per_map", "prior": "prior", "by those nearby": "chosen"}
    curves = {title: [(one.old, getattr(one, name)) for one in found] for title, name in methods.items()}
    save_figure(lines_plot(curves, "Old problems on each map", "Mean suboptimality", log=True), file)


def _with_error(numbers: Statistics) -> str:
    return f"{numbers.mean:.2f} ± {numbers.standard_error:.2f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return markdown_table(head, rows).splitlines()
