"""The page of a study: a paper's tables and figures, its numbers beside ours, from the rows of a store."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import andante
from andante.files import make_folder, write_whole
from andante.provenance import code_state
from andante.report import studyspecs as parts
from andante.report.results import Results
from andante.report.studycontests import best, duel, front, pairs
from andante.report.studyfigures import figure
from andante.report.studyspecs import FigureSpec, Part, Study
from andante.report.studytables import amortization, correlation, duration, influence, table

#: The function that writes each kind of part, except figures.
_WRITE: dict[type, Callable[[Any, Results], str]] = {
    parts.TableSpec: table,
    parts.BestSpec: best,
    parts.FrontSpec: front,
    parts.AmortizationSpec: amortization,
    parts.DuelSpec: duel,
    parts.PairsSpec: pairs,
    parts.CorrelationSpec: correlation,
    parts.InfluenceSpec: influence,
}


def write_results(
    study: Study, results: Results, folder: Path, how: str, made_with: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write the study's page and its figures into a folder and return the page.

    ``how`` says what it was run on, and ``made_with`` with which code and on which machines (`andante.provenance`).
    """
    make_folder(folder)
    commits = " and ".join(dict.fromkeys(filter(None, map(code_state, made_with))))
    code = f"Andante {andante.__version__}{f' at commit {commits}' if commits else ''}"
    machines = " and ".join(dict.fromkeys(str(made["processor"]) for made in made_with)) or platform.machine()
    when = f"Run on {datetime.now(UTC):%Y-%m-%d} with {code}: {results.counts}"
    took = f"{duration(float(results.rows['seconds'].sum()))} of the agents' own time"
    lines = [f"# {study.title}", study.about, f"{when} {how} of {machines}, {took}."]
    for part in study.parts:
        lines += [f"## {part.title}", part.about, *_written(part, results, folder)]
    if study.notes:
        lines += ["## Where they differ, and why", study.notes]
    if study.absent:
        lines += ["## Not here, and why", study.absent]
    page = folder / "results.md"
    write_whole(page, ("\n\n".join(filter(None, lines)) + "\n").encode())
    return page


def _written(part: Part, results: Results, folder: Path) -> list[str]:
    """Return the Markdown of a part; a figure is drawn into the folder."""
    return figure(part, results, folder) if isinstance(part, FigureSpec) else [_WRITE[type(part)](part, results)]
