"""Print and write the results of a campaign: what `andante campaign report` shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andante.cli.shared import err, out, print_json, print_lines

if TYPE_CHECKING:
    from andante.measures import Summary
    from andante.report.results import Results


def refuse_empty(*files: Path | None) -> None:
    """Raise an error if files were requested, because there is nothing to write into them."""
    from andante.errors import OutputError

    for file in filter(None, files):
        raise OutputError(f"{file} was not written: there is nothing to compare in it yet")


def read_pair(text: str) -> tuple[str, str]:
    """Return the two measures of X,Y."""
    from andante.errors import ParameterError
    from andante.measures import measure

    names = [word.strip() for word in text.split(",")]
    if len(names) != 2:
        raise ParameterError(f"--dominance is written X,Y with two measures, not {text!r}")
    return measure(names[0]).name, measure(names[1]).name


def write_tables(
    summaries: Sequence[Summary],
    by: str,
    measures: Sequence[str],
    markdown: Path | None,
    latex: Path | None,
    csv: Path | None,
) -> None:
    """Write the tables that were requested."""
    from andante.report import table

    if markdown is not None:
        write(markdown, table.markdown(summaries, measures, by))
    if latex is not None:
        write(latex, table.latex(summaries, measures, by))
    if csv is not None:
        write(csv, table.summary_csv(summaries, by))


def write(path: Path, text: str) -> None:
    """Write a file, and print that it was written."""
    from andante.files import write_whole

    write_whole(path, text.encode())
    err.print(f"wrote {path}", soft_wrap=True)


def print_results(results: Results, by: str, measures: Sequence[str], x: str, y: str, as_json: bool) -> None:
    """Print the table and the agents that no other dominates, as text or as JSON."""
    from dataclasses import asdict

    from andante.measures import problem_mismatch
    from andante.report.dominance import on_average
    from andante.report.results import AGENTS
    from andante.report.table import TerminalTable

    summaries = results.summaries(by)
    fault = problem_mismatch(summaries) if by in AGENTS else ""
    standings = on_average(summaries, x, y) if by in AGENTS and not fault else []
    about = [*results.sentences, *([f"{fault}."] if fault and not results.incomparable else [])]
    if as_json:
        dominated: Any = {one.summary.name: one.dominated_by for one in standings}
        told = {"about": about, "summaries": [asdict(summary) for summary in summaries]}
        print_json({**told, "dominated_by": dominated})
        return
    print_lines(about)
    out.print(TerminalTable(summaries, measures, by))
    free = [one.summary.name for one in standings if one.dominated_by is None]
    if len(free) < len(standings):
        out.print(f"Dominated by none in {x} and {y}: {', '.join(free)}", soft_wrap=True)


def print_counts(none: Results, some: Results, as_json: bool) -> None:
    """Print that there is nothing to compare yet, and how many trials each agent has finished."""
    counts = {one.name: one.trials for one in some.summaries()}
    if as_json:
        print_json({"about": none.sentences, "trials": counts})
    else:
        print_lines([*none.sentences, *(f"{count:>11,}  {name}" for name, count in counts.items())])
