"""Studies: a campaign whose file also says which tables and figures of a paper its results are to be held against.

    [[table]]
    title = "Table 1"
    measure = "suboptimality_ratio"
    rows = [ { algorithm = "tba(budget=10)", paper = 3.83 } ]

    [[figure]]
    title = "Figure 3"
    kind = "trade-off"
    x = "states_expanded_per_move"
    y = "suboptimality_ratio"

`docs/how-to/campaigns.md` tells of all keys. What comes out is a page in Markdown with the figures beside it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import andante
from andante.agent import find
from andante.campaign.file import SCALES
from andante.campaign.settings import grid
from andante.campaign.tables import Table, read_tables
from andante.errors import AndanteError, did_you_mean
from andante.measures import MEASURES

STUDY_FILE = "study.toml"

#: The kinds of figures, and how many parameters each is drawn by.
KINDS = {"trade-off": 0, "curves": 1, "heat-map": 2, "histogram": 0, "dominance": 0}

#: What a duel tells: each number's name, and what it is in words.
OUTCOMES = {
    "first_better_x": "{first} better in {x}",
    "first_better_y": "{first} better in {y}",
    "first_dominates": "{first} dominates",
    "second_better_x": "{second} better in {x}",
    "second_better_y": "{second} better in {y}",
    "second_dominates": "{second} dominates",
    "ratio": "dominance ratio",
}

_QUALITY = "suboptimality_ratio"


# --- where studies are ----------------------------------------------------------------------------------------------


def study_folders() -> dict[str, Path]:
    """The studies that can be run, by name: those that came with Andante, and those of ``studies`` in this folder."""
    package = Path(andante.__file__).parent
    homes = [package / "studies", package.parents[1] / "studies", Path.cwd() / "studies"]
    files = [file for home in homes for file in sorted(home.glob(f"*/{STUDY_FILE}"))]
    return {file.parent.name: file.parent for file in files}


def find_study(name: str) -> Path:
    """The file of a study, by name or by path."""
    if name.endswith(".toml"):
        return Path(name)
    known = study_folders()
    if name not in known:
        hint = did_you_mean(name, known) if known else "none came with this copy of Andante"
        raise AndanteError(f"there is no study {name!r}; {hint}")
    return known[name] / STUDY_FILE


# --- what a study's file says ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """One number of a paper, and where ours is found."""

    algorithm: str  # as rows name it
    label: str
    paper: float | str
    where: dict[str, Any]
    against: str | None = None  # told as the change against this algorithm, in percent
    note: str = ""


@dataclass(frozen=True)
class TableSpec:
    """A table that sets a paper's numbers beside ours."""

    title: str
    about: str
    measure: str
    statistic: str
    capped: bool
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class DuelSpec:
    """Two algorithms held against each other problem by problem, with the paper's shares in percent."""

    title: str
    about: str
    where: dict[str, Any]
    first: str
    second: str
    x: str
    y: str
    paper: dict[str, Any]


@dataclass(frozen=True)
class FigureSpec:
    """A figure, drawn from our rows."""

    title: str
    about: str
    kind: str
    where: dict[str, Any]
    algorithms: tuple[str, ...]  # names, or settings in the notation with lists of values; none: all
    x: str
    y: str
    parameters: tuple[str, ...]
    most: tuple[float, float] | None
    worst_move: float  # algorithms that ever expanded more before a move are left out
    capped: bool
    marks: tuple[Claim, ...]
    paper: float | None  # the mean of a histogram, where the paper tells it
    paper_share: float | None  # and the share of values below it


@dataclass(frozen=True)
class Study:
    """What a study's file says of tables and figures."""

    path: Path
    title: str
    about: str
    notes: str
    tables: tuple[TableSpec, ...]
    duels: tuple[DuelSpec, ...]
    figures: tuple[FigureSpec, ...]


def read_study(path: str | os.PathLike[str], scale: str) -> Study:
    """Read what a study's file says of tables and figures; the rest of it is the campaign's."""
    file = Path(path)
    data, lines = read_tables(file, scale, SCALES)
    top = Table(data, "", file, lines)
    tables = [Table(one, f"table {k}", file, lines) for k, one in enumerate(top.take("table", list, []), 1)]
    duels = [Table(one, f"duel {k}", file, lines) for k, one in enumerate(top.take("duel", list, []), 1)]
    figures = [Table(one, f"figure {k}", file, lines) for k, one in enumerate(top.take("figure", list, []), 1)]
    return Study(
        file,
        top.take("title", str, file.parent.name),
        top.take("about", str, "").strip(),
        top.take("notes", str, "").strip(),
        tuple(_read_table(one) for one in tables),
        tuple(_read_duel(one) for one in duels),
        tuple(_read_figure(one) for one in figures),
    )


def _read_table(table: Table) -> TableSpec:
    where = table.take("where", dict, {})
    spec = TableSpec(
        title=table.take("title", str),
        about=table.take("about", str, "").strip(),
        measure=_measure(table, "measure", _QUALITY),
        statistic=table.take("statistic", str, "mean"),
        capped=table.take("capped", bool, False),
        claims=tuple(_read_claim(table, "rows", one, where) for one in table.take("rows", list)),
    )
    if spec.statistic not in ("mean", "median", "p95", "max"):
        table.fail(f"statistic is mean, median, p95 or max, not {spec.statistic!r}", "statistic")
    table.finish()
    return spec


def _read_duel(table: Table) -> DuelSpec:
    first, second = (_algorithm(table, key, table.take(key, str)) for key in ("first", "second"))
    spec = DuelSpec(
        title=table.take("title", str),
        about=table.take("about", str, "").strip(),
        where=table.take("where", dict, {}),
        first=first,
        second=second,
        x=_measure(table, "x", "states_expanded_per_move"),
        y=_measure(table, "y", _QUALITY),
        paper=table.take("paper", dict, {}),
    )
    for name in spec.paper:
        if name not in OUTCOMES:
            table.fail(f"the paper's numbers of a duel have no {name!r}; {did_you_mean(name, OUTCOMES)}", "paper", name)
    table.finish()
    return spec


def _read_claim(table: Table, key: str, data: Any, where: Mapping[str, Any]) -> Claim:
    known = ("algorithm", "label", "paper", "where", "against", "note")
    if not isinstance(data, dict) or "algorithm" not in data:
        table.fail(f"each of {key} is a table with an 'algorithm'", key)
    for name in data:
        if name not in known:
            table.fail(f"{key} have no {name!r}; {did_you_mean(name, known)}", key, name)
    against = data.get("against")
    return Claim(
        algorithm=_algorithm(table, key, data["algorithm"]),
        label=str(data.get("label", data["algorithm"])),
        paper=data.get("paper", "-"),
        where={**where, **data.get("where", {})},
        against=_algorithm(table, key, against) if against is not None else None,
        note=data.get("note", ""),
    )


def _algorithm(table: Table, key: str, text: str) -> str:
    """An algorithm as rows name it."""
    try:
        return str(find(text))
    except AndanteError as error:
        table.fail(str(error), key, text)


def _known(table: Table, texts: Sequence[str]) -> Sequence[str]:
    """The same texts, if all of them name algorithms."""
    for text in texts:
        try:
            grid(text)
        except AndanteError as error:
            table.fail(str(error), "algorithms", text)
    return texts


def _measure(table: Table, key: str, default: str) -> str:
    name = table.take(key, str, default)
    if name not in MEASURES:
        table.fail(f"there is no measure {name!r}; {did_you_mean(name, MEASURES)}", key)
    return name


def _read_figure(table: Table) -> FigureSpec:
    where = table.take("where", dict, {})
    most = table.take_or_none("most", list)
    spec = FigureSpec(
        title=table.take("title", str),
        about=table.take("about", str, "").strip(),
        kind=table.take("kind", str),
        where=where,
        algorithms=tuple(_known(table, table.take_texts("algorithms", ()))),
        x=_measure(table, "x", "states_expanded_per_move"),
        y=_measure(table, "y", _QUALITY),
        parameters=tuple(table.take_texts("parameters", ())),
        most=(float(most[0]), float(most[1])) if most is not None else None,
        worst_move=table.take("worst_move", float, math.inf),
        capped=table.take("capped", bool, False),
        marks=tuple(_read_claim(table, "marks", one, where) for one in table.take("marks", list, [])),
        paper=table.take_or_none("paper", float),
        paper_share=table.take_or_none("paper_share", float),
    )
    if spec.kind not in KINDS:
        table.fail(f"there is no kind of figure {spec.kind!r}; {did_you_mean(spec.kind, KINDS)}", "kind")
    wanted = KINDS[spec.kind]
    if len(spec.parameters) != wanted:
        table.fail(f"a figure of the kind {spec.kind!r} has {wanted} 'parameters'", "parameters")
    table.finish()
    return spec
