"""The output of `andante advise`: tables, JSON and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andante.cli.shared import err, out, print_json

if TYPE_CHECKING:
    from andante.measures import Summary
    from andante.selection import Advice, Rung


def print_advice(advice: Advice) -> None:
    """Print the table and the answer."""
    from andante.report.table import ComparisonTable

    out.print(f"Wanted: {advice.requirements.sentence}.", soft_wrap=True)
    out.print(ComparisonTable([replace(one, name=label) for label, one in labelled(advice).items()]))
    for label, one in labelled(advice).items():
        out.print(f"  {label:12}{one.name}", soft_wrap=True)
    out.print()
    for sentence in advice.sentences:
        out.print(sentence, soft_wrap=True)
    out.print("", advice.code, sep="\n    ", soft_wrap=True)


def print_ladder(rungs: Sequence[Rung], as_json: bool, folder: Path | None) -> None:
    """Print a table of the best agent for each limit and, with a folder, write the results for each."""
    from rich.table import Table
    from rich.text import Text

    from andante.files import write_whole
    from andante.markdown import markdown_table, plain
    from andante.measures import measure
    from andante.selection.trials import SCORE

    if as_json:
        print_json([{"limit": r.limit, **(as_data(r.advice) if r.advice else {"reason": r.reason})} for r in rungs])
    head = ["at most", "agent", measure(SCORE).title.lower(), "states per move", "worst", "database"]
    lines = [[f"{rung.limit:,}", *_best(rung)] for rung in rungs]
    if not as_json:
        shown = Table(*head, box=None, pad_edge=False)
        for line in lines:
            shown.add_row(*map(Text, line))
        out.print(shown)
        for rung in rungs:
            if rung.advice is not None and rung.advice.unfinished:
                out.print(f"At most {rung.limit:,}: {rung.advice.unfinished}", soft_wrap=True)
    if folder is None:
        return
    text = markdown_table(head, [list(map(plain, line)) for line in lines])
    write_whole(folder / "ladder.md", f"{text}\n".encode())
    for rung in rungs:
        if rung.advice is not None:
            write_results(rung.advice, folder / f"at-most-{rung.limit}")
    err.print(f"wrote {folder / 'ladder.md'}, and a folder for each limit", soft_wrap=True)


def _best(rung: Rung) -> list[str]:
    """Return the best agent under a limit, and its numbers."""
    from andante.measures import measure
    from andante.selection.trials import SCORE

    if rung.advice is None:
        return [rung.reason, *["-"] * 4]
    best = rung.advice.winner
    summary = best.summary
    walked, effort, worst = (measure(name) for name in (SCORE, "states_expanded_per_move", "max_states_expanded"))
    return [
        best.candidate.name,
        walked.show(best.suboptimality.mean, best.suboptimality.standard_error),
        effort.show(summary[effort.name].mean),
        worst.show(summary[worst.name].max),
        measure("database_bytes").show(best.built.nbytes) if best.built.databases else "none",
    ]


def labelled(advice: Advice) -> dict[str, Summary]:
    """Return the ranking under short names for tables and plots; names with parameters and databases are too long."""
    return {f"{place}. {one.candidate.algorithm.card.name}": one.summary for place, one in enumerate(advice.ranking, 1)}


def as_data(advice: Advice) -> dict[str, Any]:
    """Return the advice as plain data, for JSON."""
    return {
        "requirements": asdict(advice.requirements),
        "maps": [grid.name for grid in advice.maps],
        "advice": advice.sentences,
        "python": advice.code,
        "files": {name: [str(file) for file in files] for name, files in advice.files.items()},
        "race_problems": advice.race_problems,
        "fresh_problems": advice.fresh_problems,
        "tried": advice.tried,
        "untried": advice.untried,
        "uncompiled": advice.uncompiled,
        "compile_seconds": advice.compile_seconds,
        "ranking": [
            {
                "agent": one.candidate.name,
                "algorithm": str(one.candidate.algorithm),
                "databases": list(one.candidate.databases),
                "interval": one.interval,
                "worst_microseconds": one.worst_microseconds,
                **asdict(one.summary),
            }
            for one in advice.ranking
        ],
        "dropped": [asdict(one) for one in advice.dropped],
    }


def write_results(advice: Advice, folder: Path) -> None:
    """Write the page, and the trials as CSV."""
    from andante.report.page import Answer, write_page
    from andante.report.table import write_csv

    labels = labelled(advice)
    short = {one.name: label for label, one in labels.items()}
    write_csv(advice.rows, folder / "trials.csv")
    write_page(
        folder / "advice.html",
        title=f"Advice: {advice.winner.candidate.name}",
        rows=[{**row, "algorithm": short[str(row["algorithm"])]} for row in advice.rows],
        answer=Answer(f"Wanted: {advice.requirements.sentence}.", advice.sentences, advice.code, list(short)),
        notes=[f"{label} is {one.name}" for label, one in labels.items()],
        over="problems",  # only these maps matter
    )
    err.print(f"wrote {folder / 'advice.html'} and {folder / 'trials.csv'}", soft_wrap=True)
