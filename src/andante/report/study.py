"""The page of a study, from the rows of a store: a paper's tables and figures, with its numbers beside ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import andante
from andante.errors import ParameterError
from andante.files import make_folder, write_whole
from andante.markdown import plain
from andante.provenance import code_state
from andante.report import studyspecs as parts
from andante.report.published import Published, as_data, counting_section
from andante.report.results import Results
from andante.report.studycontests import best, duel, front, pairs
from andante.report.studyfigures import figure
from andante.report.studynumbers import published
from andante.report.studyspecs import FigureSpec, Part, Study
from andante.report.studytables import amortization, correlation, elsewhere, influence, table
from andante.report.studywords import duration
from andante.store import days_in_words

#: The file beside a page with the paper's numbers and ours as plain data, for the page of all papers.
NUMBERS = "numbers.json"

BUSY = "The machine had other work meanwhile, so what is a time here says little."

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
    parts.ElsewhereSpec: elsewhere,
}


def write_results(
    study: Study,
    results: Results,
    folder: Path,
    made_with: Sequence[Mapping[str, Any]] = (),
    caveats: Sequence[str] = (),
    unfinished: str = "",
    warning: str = "",
) -> Path:
    """Write the study's page and its figures into a folder and return the page.

    ``made_with`` describes when the results were made, with which code and on which machines (`Store.made_with`), and
    ``caveats`` are sentences for readers of the numbers. The paper's numbers and ours are written beside the page as
    plain data, `NUMBERS`. If the results are ``unfinished``, the page begins with this sentence about how much is
    finished, and parts without enough results say so. A ``warning`` appears in the same place.
    """
    make_folder(folder)
    seconds = float(results.rows["seconds"].sum())
    sentence = run_sentence(results.counts, seconds, made_with)
    ran = " ".join(filter(None, [unfinished, sentence, *caveats]))
    numbers = published(study, results)
    first = " ".join(filter(None, [warning, unfinished]))
    lines = [f"# {study.title}", f"**{first}**" if first else "", *counting_section(numbers)]
    lines += [*(["## The experiments"] if numbers else []), study.about, ran]
    write = _written_so_far if unfinished else _written
    for part in study.parts:
        lines += [f"## {part.title}", part.about, *write(part, results, folder)]
    if study.notes:
        lines += ["## Where they differ, and why", study.notes]
    if study.absent:
        lines += ["## Not here, and why", study.absent]
    if numbers:
        write_numbers(folder / NUMBERS, study.title, ran, numbers)
    page = folder / "results.md"
    write_whole(page, ("\n\n".join(filter(None, lines)) + "\n").encode())
    return page


def run_sentence(counts: str, seconds: float, made_with: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about the run: its date, code, size, machines and duration."""
    code = " and ".join(dict.fromkeys(map(_code, made_with))) or f"Andante {andante.__version__}"
    machines = " and ".join(dict.fromkeys(map(_machine, made_with)))
    run = " ".join(filter(None, ["Run", days_in_words(made_with), "with", code]))
    return f"{run}: {' '.join(filter(None, [counts, machines]))}, {duration(seconds)} of the agents' own time."


def _code(made: Mapping[str, Any]) -> str:
    state = code_state(made)
    return f"Andante {made['andante']}{f' at commit {state}' if state else ''}"


def _machine(made: Mapping[str, Any]) -> str:
    engine = made.get("engine")  # stores of earlier versions do not have it
    return f"{engine} of {made['processor']}" if engine else str(made["processor"])


def write_numbers(file: Path, title: str, ran: str, numbers: Sequence[Published]) -> None:
    """Write a paper's numbers and ours as plain data, for the page of all papers."""
    data = {"title": title, "run": ran, "numbers": as_data(numbers)}
    write_whole(file, f"{json.dumps(data, ensure_ascii=False, indent=1)}\n".encode())


def _written(part: Part, results: Results, folder: Path) -> list[str]:
    """Return the Markdown of a part; a figure is drawn into the folder."""
    return figure(part, results, folder) if isinstance(part, FigureSpec) else [_WRITE[type(part)](part, results)]


def _written_so_far(part: Part, results: Results, folder: Path) -> list[str]:
    """Return the Markdown of a part from unfinished results, or a sentence if they are not enough for it yet."""
    try:
        return _written(part, results, folder)
    except ParameterError as error:
        return [f"Not yet: {plain(str(error))}."]
