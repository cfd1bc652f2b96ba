"""The kinds of tables and figures that a study file may list, each with the paper's numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The kinds of figures, and the number of parameters that each needs.
KINDS = {
    "trade-off": 0,
    "curves": 1,
    "trend": 0,
    "best-so-far": 0,
    "heat-map": 2,
    "histogram": 0,
    "dominance": 0,
    "scatter": 0,
}
SEVERAL = ("curves", "trend", "scatter")  # kinds that show several measures, one panel each
RANKED = ("trade-off", "dominance", "best-so-far")  # kinds that rank algorithms: not drawn if that would be unfair
ONE_BY_ONE = ("scatter",)  # kinds that compare problem by problem, on the problems in common
COUNTED = ("algorithms", "trials")  # what a histogram may count

#: The numbers of a duel: the name of each, and its description.
OUTCOMES = {
    "first_better_x": "{first} better in {x}",
    "first_better_y": "{first} better in {y}",
    "first_dominates": "{first} dominates",
    "second_better_x": "{second} better in {x}",
    "second_better_y": "{second} better in {y}",
    "second_dominates": "{second} dominates",
    "ratio": "dominance ratio",
}

#: The numbers reported about the dominance ratios of all pairs: the name of each, and its description.
RATIOS = {
    "least": "least dominance ratio",
    "greatest": "greatest dominance ratio",
    "mean": "mean of those that are finite",
}


@dataclass(frozen=True)
class Claim:
    """One number of a paper, and where to find ours."""

    algorithm: str  # as named in rows
    label: str
    paper: tuple[float | str, ...]  # for each measure
    where: dict[str, Any]
    against: str | None = None  # if given, the change relative to this algorithm is shown, in percent
    note: str = ""
    cap: float = math.inf  # capped suboptimality counts as at most this
    why: tuple[str, ...] = ("",)  # for each measure, why its number is not reproduced, if that is known
    again: bool = False  # its numbers appear in another part too, and are counted there


@dataclass(frozen=True)
class Part:
    """A table or figure of a study, under its title."""

    title: str
    about: str
    why: str  # the reason for numbers that are not reproduced and have no reason themselves; empty if not known
    again: bool  # all its numbers appear in another part
    count: int  # of problems (or algorithms) in the paper; 0 for as many as ours


@dataclass(frozen=True)
class Selection(Part):
    """A part that is made from rows with certain values."""

    where: dict[str, Any]


@dataclass(frozen=True)
class TableSpec(Part):
    """A table with a paper's numbers beside ours."""

    measures: tuple[str, ...]
    statistic: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Contest:
    """One measure for which to find the best algorithm, and the paper's winner."""

    label: str
    measure: str
    worst_move: float  # algorithms that ever expanded more states before a move are left out
    paper: str  # the name of its winner; a number after a colon is compared with that of ours
    why: str = ""


@dataclass(frozen=True)
class BestSpec(Selection):
    """The best algorithm by each of several measures, or under each of several limits."""

    algorithms: tuple[str, ...]
    without: tuple[dict[str, Any], ...]  # rows with all of these values do not compete
    contests: tuple[Contest, ...]


@dataclass(frozen=True)
class AmortizationSpec(Selection):
    """The number of moves after which algorithms with databases have recovered the build times of these."""

    rivals: tuple[str, ...]  # the one closest in suboptimality is used
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class DuelSpec(Selection):
    """Two algorithms compared problem by problem, with the paper's shares in percent."""

    first: str
    second: str
    x: str
    y: str
    paper: dict[str, Any]


@dataclass(frozen=True)
class Trade:
    """Two measures to trade off, and the algorithms that are not dominated in them according to the paper."""

    x: str
    y: str
    paper: str


@dataclass(frozen=True)
class FrontSpec(Selection):
    """The algorithms that no other dominates, for several pairs of measures."""

    algorithms: tuple[str, ...]
    trades: tuple[Trade, ...]


@dataclass(frozen=True)
class PairsSpec(Selection):
    """The dominance ratios of all pairs in which one algorithm dominates the other on average."""

    algorithms: tuple[str, ...]
    x: str
    y: str
    paper: dict[str, Any]


@dataclass(frozen=True)
class CorrelationSpec(Part):
    """The correlation of two measures of an algorithm over its trials."""

    x: str
    y: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Effect:
    """One measure, and what the paper says about the effect of each parameter on it."""

    label: str
    measure: str
    paper: tuple[str, ...]


@dataclass(frozen=True)
class InfluenceSpec(Selection):
    """The changes of measures, or of the effect of another parameter on them, as parameters rise."""

    algorithms: tuple[str, ...]
    parameters: tuple[str, ...]
    of: str | None  # the parameter whose effect is influenced; None for the measures themselves
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class FigureSpec(Selection):
    """A figure drawn from our rows."""

    kind: str
    algorithms: tuple[str, ...]  # names, or settings in the notation with lists of values; empty for all
    x: str
    y: tuple[str, ...]
    parameters: tuple[str, ...]
    x_by: dict[str, str]  # of a trade-off: algorithms that are also shown by a parameter instead of ``x``
    panels: str | None  # of a heat map: the parameter that has a panel for each of its values ...
    differences: bool  # ... and whether there is a panel for the difference of each two of them
    by: str  # of a trend or a best-so-far plot: the column that it follows ...
    width: float  # ... in steps of this width, unless it is 0
    counted: str  # by a histogram
    most: tuple[float, float] | None
    worst_move: float  # algorithms that ever expanded more states before a move are left out
    marks: tuple[Claim, ...]
    paper: float | None  # the mean of a histogram, if the paper gives it
    paper_share: float | None  # and the share of values below it


@dataclass(frozen=True)
class ElsewhereSpec(Part):
    """Numbers of a paper that cannot be compared with a run of the study, with what is known, and the reason."""

    lines: tuple[dict[str, str], ...]  # each with a label, the paper's number, ours and why


@dataclass(frozen=True)
class Study:
    """The tables and figures of a study file."""

    path: Path
    title: str
    about: str
    notes: str
    absent: str  # which tables and figures of the paper are left out, and why
    parts: tuple[Part, ...]  # in the order of the file
