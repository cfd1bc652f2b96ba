"""The page of a study: a paper's tables and figures, its numbers and ours side by side, from the rows of a store."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path

import andante
from andante.files import make_folder, write_whole
from andante.report.results import Results
from andante.report.studyfigures import figure
from andante.report.studyfile import Study
from andante.report.studytables import amortization, best, duel, duration, table


def write_results(study: Study, results: Results, folder: Path, how: str) -> Path:
    """Write the study's page and its figures into a folder; ``how`` says on what it was run."""
    make_folder(folder)
    when = f"Run on {datetime.now(UTC):%Y-%m-%d} with Andante {andante.__version__}: {results.counts}"
    took = f"{duration(float(results.rows['seconds'].sum()))} of the agents' own time"
    lines = [f"# {study.title}", study.about, f"{when} {how} of {platform.machine()}, {took}."]
    for numbers in study.tables:
        lines += [f"## {numbers.title}", numbers.about, table(numbers, results)]
    for contests in study.bests:
        lines += [f"## {contests.title}", contests.about, best(contests, results)]
    for costs in study.amortizations:
        lines += [f"## {costs.title}", costs.about, amortization(costs, results)]
    for pair in study.duels:
        lines += [f"## {pair.title}", pair.about, duel(pair, results)]
    for drawn in study.figures:
        lines += [f"## {drawn.title}", drawn.about, *figure(drawn, results, folder)]
    if study.notes:
        lines += ["## Where they differ, and why", study.notes]
    page = folder / "results.md"
    write_whole(page, ("\n\n".join(filter(None, lines)) + "\n").encode())
    return page
