"""Study files: campaigns that also list the tables and figures of a paper to compare the results with.

    [[table]]
    title = "Table 1"
    measures = ["suboptimality_ratio"]
    rows = [ { algorithm = "tba(budget=10)", paper = 3.83 } ]

    [[figure]]
    title = "Figure 3"
    kind = "trade-off"
    x = "states_expanded_per_move"
    y = ["suboptimality_ratio"]

`docs/how-to/campaigns.md` describes all keys. The result is a page in Markdown with its figures, in the order of the
file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import andante
from andante.agent import find, find_all
from andante.datafile import Lines, Table, Written, read_tables
from andante.errors import AndanteError, did_you_mean
from andante.measures import MEASURES
from andante.report.studyspecs import (
    COUNTED,
    KINDS,
    OUTCOMES,
    RATIOS,
    SEVERAL,
    AmortizationSpec,
    BestSpec,
    Claim,
    Contest,
    CorrelationSpec,
    DuelSpec,
    Effect,
    ElsewhereSpec,
    FigureSpec,
    FrontSpec,
    InfluenceSpec,
    PairsSpec,
    Part,
    Study,
    TableSpec,
    Trade,
)
from andante.report.table import counted

STUDY_FILE = "study.toml"

_QUALITY, _EFFORT = "suboptimality_ratio", "states_expanded_per_move"
_CAPPED = "capped_suboptimality_ratio"


# --- finding studies ------------------------------------------------------------------------------------------------


def study_folders() -> dict[str, Path]:
    """Return the available studies by name: those that come with Andante, and those in ``studies`` in this folder."""
    package = Path(andante.__file__).parent
    homes = [package / "studies", package.parents[1] / "studies", Path.cwd() / "studies"]
    files = [file for home in homes for file in sorted(home.glob(f"*/{STUDY_FILE}"))]
    return {file.parent.name: file.parent for file in files}


def find_study(name: str) -> Path:
    """Return the file of a study, given by name or by path."""
    if name.endswith(".toml"):
        return Path(name)
    known = study_folders()
    if name not in known:
        hint = did_you_mean(name, known) if known else "no studies come with this copy of Andante"
        raise AndanteError(f"there is no study {name!r}; {hint}")
    return known[name] / STUDY_FILE


# --- reading them ---------------------------------------------------------------------------------------------------


class _Table(Table):
    """A table of a study file, which may name databases."""

    def __init__(
        self,
        data: Mapping[str, Any],
        name: str,
        path: Path,
        lines: Lines,
        full_database: Callable[[str], str],
        count: int = 0,
    ) -> None:
        super().__init__(data, name, path, lines)
        self.full_database, self.count = full_database, count


def read_study(path: str | os.PathLike[str], scale: str, full_database: Callable[[str], str]) -> Study:
    """Read the tables and figures of a study file; the rest of the file is the campaign's.

    ``full_database`` returns a database with all its parameters, as rows name it (`andante.campaign.orders`).
    """
    file = Path(path)
    data, lines = read_tables(file, scale, Written)
    top = Table(data, "", file, lines)
    count = top.take("paper_count", int, 0)
    found: list[tuple[int, Part]] = []
    for name, read in _READ.items():
        inline = lines.find("", name)  # the line of the key if the parts are written as one list
        for number, one in enumerate(top.take(name, list, []), 1):
            table = f"{name} {number}"
            if not isinstance(one, dict):
                top.fail(f"each {name} must be a table, [[{name}]], not {one!r}", name)
            found.append((max(inline, lines.find(table)), read(_Table(one, table, file, lines, full_database, count))))
    return Study(
        file,
        top.take("title", str, file.parent.name),
        top.take("about", str, "").strip(),
        top.take("notes", str, "").strip(),
        top.take("absent", str, "").strip(),
        tuple(spec for _, spec in sorted(found, key=lambda part: part[0])),
    )


def _read_table(table: _Table) -> TableSpec:
    where = _where(table)
    measures = table.take_texts("measures", [_QUALITY])
    spec = TableSpec(
        **_heading(table),
        measures=tuple(_known_measure(table, "measures", name) for name in measures),
        statistic=table.take("statistic", str, "mean"),
        claims=tuple(_read_claim(table, "rows", one, where, len(measures)) for one in table.take("rows", list)),
    )
    if any(claim.cap < math.inf for claim in spec.claims) and spec.measures != (_CAPPED,):
        table.fail(f"rows may have a cap only in tables of {_CAPPED} alone", "rows", "cap")
    if spec.statistic not in ("mean", "median", "p95", "max"):
        table.fail(f"statistic must be mean, median, p95 or max, not {spec.statistic!r}", "statistic")
    table.finish()
    return spec


def _read_best(table: _Table) -> BestSpec:
    spec = BestSpec(
        **_heading(table),
        where=_where(table),
        algorithms=tuple(_known(table, table.take_texts("algorithms", ()))),
        without=tuple(
            _settled(table, "without", table.checked(one, dict, "without")) for one in table.take("without", list, [])
        ),
        contests=tuple(_read_contest(table, one) for one in table.take("rows", list)),
    )
    table.finish()
    return spec


def _read_contest(table: _Table, data: Any) -> Contest:
    _check_row(table, data, ("label", "measure", "worst_move", "paper", "why"))
    name = _known_measure(table, "rows", data.get("measure", _QUALITY))
    most = table.checked(data.get("worst_move", math.inf), float, "rows", "worst_move")
    why = table.checked(data.get("why", ""), str, "rows", "why")
    return Contest(str(data.get("label", MEASURES[name].title)), name, most, str(data.get("paper", "-")), why)


def _check_row(table: _Table, data: Any, known: Sequence[str]) -> None:
    """Refuse a row that is not a table, or has keys other than these."""
    if not isinstance(data, dict):
        table.fail("each of rows must be a table", "rows")
    for name in data:
        if name not in known:
            table.fail(f"rows do not accept {name!r}; {did_you_mean(name, known)}", "rows", name)


def _read_front(table: _Table) -> FrontSpec:
    spec = FrontSpec(
        **_heading(table),
        where=_where(table),
        algorithms=tuple(_known(table, table.take_texts("algorithms", ()))),
        trades=tuple(_read_trade(table, one) for one in table.take("rows", list)),
    )
    table.finish()
    return spec


def _read_trade(table: _Table, data: Any) -> Trade:
    _check_row(table, data, ("x", "y", "paper"))
    x, y = (_known_measure(table, "rows", data.get(key, "")) for key in ("x", "y"))
    return Trade(x, y, str(data.get("paper", "-")))


def _read_pairs(table: _Table) -> PairsSpec:
    spec = PairsSpec(
        **_heading(table),
        where=_where(table),
        algorithms=tuple(_known(table, table.take_texts("algorithms", ()))),
        x=_known_measure(table, "x", table.take("x", str, _EFFORT)),
        y=_known_measure(table, "y", table.take("y", str, _QUALITY)),
        paper=table.take("paper", dict, {}),
    )
    _check_paper(table, spec.paper, RATIOS)
    table.finish()
    return spec


def _check_paper(table: _Table, paper: Mapping[str, Any], known: Mapping[str, str]) -> None:
    """Refuse names that this part does not report."""
    for name in paper:
        if name not in known:
            table.fail(f"'paper' has no entry {name!r} here; {did_you_mean(name, known)}", "paper", name)


def _read_correlation(table: _Table) -> CorrelationSpec:
    where = _where(table)
    spec = CorrelationSpec(
        **_heading(table),
        x=_known_measure(table, "x", table.take("x", str)),
        y=_known_measure(table, "y", table.take("y", str)),
        claims=tuple(_read_claim(table, "rows", one, where) for one in table.take("rows", list)),
    )
    table.finish()
    return spec


def _read_influence(table: _Table) -> InfluenceSpec:
    parameters = tuple(table.take_texts("parameters"))
    spec = InfluenceSpec(
        **_heading(table),
        where=_where(table),
        algorithms=tuple(_known(table, table.take_texts("algorithms", ()))),
        parameters=parameters,
        of=table.take_or_none("of", str),
        effects=tuple(_read_effect(table, one, len(parameters)) for one in table.take("rows", list)),
    )
    table.finish()
    return spec


def _read_effect(table: _Table, data: Any, parameters: int) -> Effect:
    _check_row(table, data, ("label", "measure", "paper"))
    name = _known_measure(table, "rows", data.get("measure", ""))
    paper = data.get("paper", ["-"] * parameters)
    if not isinstance(paper, list) or len(paper) != parameters:
        table.fail(f"the paper's words must be a list of {parameters} here, one for each parameter", "rows", "paper")
    return Effect(str(data.get("label", MEASURES[name].title)), name, tuple(map(str, paper)))


def _read_amortization(table: _Table) -> AmortizationSpec:
    where = _where(table)
    spec = AmortizationSpec(
        **_heading(table),
        where=where,
        rivals=tuple(_known(table, table.take_texts("rivals"))),
        claims=tuple(_read_claim(table, "rows", one, where) for one in table.take("rows", list)),
    )
    table.finish()
    return spec


def _read_duel(table: _Table) -> DuelSpec:
    first, second = (_algorithm(table, key, table.take(key, str)) for key in ("first", "second"))
    spec = DuelSpec(
        **_heading(table),
        where=_where(table),
        first=first,
        second=second,
        x=_known_measure(table, "x", table.take("x", str, _EFFORT)),
        y=_known_measure(table, "y", table.take("y", str, _QUALITY)),
        paper=table.take("paper", dict, {}),
    )
    _check_paper(table, spec.paper, OUTCOMES)
    table.finish()
    return spec


def _heading(table: _Table) -> dict[str, Any]:
    """Return the keys that every part of a study has."""
    return {
        "title": table.take("title", str),
        "about": table.take("about", str, "").strip(),
        "why": table.take("why", str, "").strip(),
        "again": table.take("again", bool, False),
        "count": table.take("paper_count", int, table.count),
    }


def _read_elsewhere(table: _Table) -> ElsewhereSpec:
    keys = ("label", "paper", "ours", "why")
    lines = []
    for one in table.take("rows", list):
        _check_row(table, one, keys)
        lines.append({key: table.checked(one.get(key, "-"), str, "rows", key) for key in keys})
    spec = ElsewhereSpec(**_heading(table), lines=tuple(lines))
    table.finish()
    return spec


def _where(table: _Table) -> dict[str, Any]:
    return _settled(table, "where", table.take("where", dict, {}))


def _settled(table: _Table, key: str, where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conditions as written in rows, with all parameters of a database."""
    if "databases" not in where:
        return dict(where)
    table.checked(where["databases"], str, key, "databases")
    try:
        return {**where, "databases": table.full_database(where["databases"])}
    except AndanteError as error:
        table.fail(str(error), key, where["databases"])


def _read_claim(table: _Table, key: str, data: Any, where: Mapping[str, Any], measures: int = 1) -> Claim:
    known = ("algorithm", "label", "paper", "where", "against", "note", "cap", "why", "again")
    if not isinstance(data, dict) or "algorithm" not in data:
        table.fail(f"each of {key} must be a table with an 'algorithm'", key)
    for name in data:
        if name not in known:
            table.fail(f"{key} do not accept {name!r}; {did_you_mean(name, known)}", key, name)
    against = data.get("against")
    paper = data.get("paper", ["-"] * measures)
    numbers = tuple(paper) if isinstance(paper, list) else (paper,)
    if len(numbers) != measures:
        table.fail(
            f"'paper' must have {counted(measures, 'number')} here, one for each measure, not {len(numbers)}",
            key,
            "paper",
        )
    return Claim(
        algorithm=_algorithm(table, key, data["algorithm"]),
        label=str(data.get("label", data["algorithm"])),
        paper=numbers,
        where={**where, **_settled(table, key, table.checked(data.get("where", {}), dict, key, "where"))},
        against=_algorithm(table, key, against) if against is not None else None,
        note=table.checked(data.get("note", ""), str, key, "note"),
        cap=_cap(table, key, data),
        why=_reasons(table, key, data.get("why", ""), measures),
        again=table.checked(data.get("again", False), bool, key, "again"),
    )


def _reasons(table: _Table, key: str, why: Any, measures: int) -> tuple[str, ...]:
    """Return a reason for each measure: one text for all, or a list."""
    texts = why if isinstance(why, list) else [why] * measures
    if len(texts) != measures:
        table.fail(
            f"'why' must have {counted(measures, 'text')} here, one for each measure, not {len(texts)}", key, "why"
        )
    return tuple(table.checked(text, str, key, "why") for text in texts)


def _cap(table: _Table, key: str, data: Mapping[str, Any]) -> float:
    cap = data.get("cap", math.inf)
    if not isinstance(cap, int | float) or isinstance(cap, bool) or not cap >= 1:
        table.fail(f"a cap on suboptimality must be a number of at least 1, not {cap!r}", key, "cap")
    return float(cap)


def _algorithm(table: _Table, key: str, name: Any) -> str:
    """Return an algorithm as named in rows."""
    text = table.checked(name, str, key, "an algorithm")
    try:
        return str(find(text))
    except AndanteError as error:
        table.fail(str(error), key, text)


def _known(table: _Table, texts: Sequence[str]) -> Sequence[str]:
    """Return the texts if all of them name algorithms."""
    for text in texts:
        try:
            find_all(text)
        except AndanteError as error:
            table.fail(str(error), "algorithms", text)
    return texts


def _parameters_of(table: _Table, key: str, named: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of algorithms with a parameter of each, if they have it."""
    for text, name in named.items():
        if "(" in text:
            table.fail(f"{key} needs algorithms without their parameters, not {text!r}", key, text)
        known = [p.name for p in find(_algorithm(table, key, text)).parameters]
        if name not in known:
            table.fail(f"{text} has no parameter {name!r}; {did_you_mean(str(name), known)}", key, text)
    return dict(named)


def _known_measure(table: _Table, key: str, name: Any) -> str:
    text = table.checked(name, str, key, "a measure")
    if text not in MEASURES:
        table.fail(f"there is no measure {text!r}; {did_you_mean(text, MEASURES)}", key, text)
    return text


def _read_figure(table: _Table) -> FigureSpec:
    where = _where(table)
    most = table.take_or_none("most", list)
    if most is not None and len(most) != 2:
        table.fail(f"most must be the greatest x and the greatest y to show, not {most!r}", "most")
    spec = FigureSpec(
        **_heading(table),
        kind=table.take("kind", str),
        where=where,
        algorithms=tuple(_known(table, table.take_texts("algorithms", ()))),
        x=_known_measure(table, "x", table.take("x", str, _EFFORT)),
        y=tuple(_known_measure(table, "y", name) for name in table.take_texts("y", [_QUALITY])),
        parameters=tuple(table.take_texts("parameters", ())),
        x_by=_parameters_of(table, "x_by", table.take("x_by", dict, {})),
        panels=table.take_or_none("panels", str),
        differences=table.take("differences", bool, False),
        by=table.take("by", str, "optimal_cost"),
        width=table.take("width", float, 0.0),
        counted=table.take("counted", str, "algorithms"),
        most=(table.checked(most[0], float, "most"), table.checked(most[1], float, "most")) if most else None,
        worst_move=table.take("worst_move", float, math.inf),
        marks=tuple(_read_claim(table, "marks", one, where) for one in table.take("marks", list, [])),
        paper=table.take_or_none("paper", float),
        paper_share=table.take_or_none("paper_share", float),
    )
    if spec.kind not in KINDS:
        table.fail(f"there is no kind of figure {spec.kind!r}; {did_you_mean(spec.kind, KINDS)}", "kind")
    wanted = KINDS[spec.kind]
    if len(spec.parameters) != wanted:
        table.fail(f"a figure of the kind {spec.kind!r} needs {wanted} 'parameters'", "parameters")
    if spec.x_by and spec.kind != "trade-off":
        table.fail("x_by is for figures of the kind 'trade-off'", "x_by")
    if len(spec.y) != 1 and spec.kind not in SEVERAL:
        table.fail(f"a figure of the kind {spec.kind!r} shows one measure as 'y'", "y")
    if spec.counted not in COUNTED:
        table.fail(f"a histogram counts {' or '.join(COUNTED)}, not {spec.counted!r}", "counted")
    if spec.differences and (spec.kind != "heat-map" or spec.panels is None):
        table.fail("only a heat-map with 'panels' has 'differences'", "differences")
    if spec.kind == "scatter" and len(spec.algorithms) != 2:
        table.fail("a figure of the kind 'scatter' compares exactly two 'algorithms'", "algorithms")
    table.finish()
    return spec


#: The function that reads each kind of part.
_READ: dict[str, Callable[[_Table], Part]] = {
    "table": _read_table,
    "best": _read_best,
    "front": _read_front,
    "amortization": _read_amortization,
    "duel": _read_duel,
    "pairs": _read_pairs,
    "correlation": _read_correlation,
    "influence": _read_influence,
    "figure": _read_figure,
    "elsewhere": _read_elsewhere,
}
