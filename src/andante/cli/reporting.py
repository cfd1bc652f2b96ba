"""The output of `andante campaign report`: the results of a campaign, printed and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andante.cli.shared import err, out, print_json, print_lines

if TYPE_CHECKING:
    from andante.measures import Comparison, Summary
    from andante.report.ground import Ground
    from andante.report.results import Results


def refuse_empty(*files: Path | None) -> None:
    """Raise an error if files were requested, because there is nothing to write into them."""
    from andante.errors import OutputError

    for file in filter(None, files):
        raise OutputError(f"{file} was not written: there are no results to compare yet")


def read_pair(text: str) -> tuple[str, str]:
    """Return the two measures of X,Y."""
    from andante.errors import ParameterError
    from andante.measures import measure

    names = [word.strip() for word in text.split(",")]
    if len(names) != 2:
        raise ParameterError(f"--dominance is written X,Y with two measures, not {text!r}")
    return measure(names[0]).name, measure(names[1]).name


def read_columns(text: str | None) -> list[str]:
    """Return the columns of a table, as MEASURE:STATISTIC; a measure alone means its usual statistic."""
    from andante.measures import measure, measure_and_statistic

    found = []
    for word in (text or "").split(","):
        if word.strip():
            name, statistic = measure_and_statistic(word)
            found.append(f"{name}:{statistic or measure(name).headline.value}")
    return found


def write_tables(
    ground: Ground,
    summaries: Sequence[Summary],
    by: str,
    measures: Sequence[str],
    markdown: Path | None,
    latex: Path | None,
    csv: Path | None,
    title: str,
) -> None:
    """Write the requested tables; those of agents have the best in bold, and list which are better than others."""
    from andante.report import table
    from andante.report.verdicts import below, caption_and_notes

    compared = ground.is_about(summaries)
    best = ground.best if compared else None
    words = below(summaries, ground.comparison if compared else None)
    if markdown is not None:
        write(markdown, table.markdown(summaries, measures, by, best, words))
    if latex is not None:
        from andante.report.latex import latex as in_latex

        words, notes = caption_and_notes(title, summaries, ground.comparison if compared else None)
        label = "".join(sign if sign.isalnum() else "-" for sign in latex.stem)
        write(latex, in_latex(summaries, measures, by, best, words, f"tab:{label}", notes))
    if csv is not None:
        write(csv, table.summary_csv(summaries, by))


def write(path: Path, text: str) -> None:
    """Write a file, and print that it was written."""
    from andante.files import write_whole

    write_whole(path, text.encode())
    err.print(f"wrote {path}", soft_wrap=True)


def print_results(
    results: Results,
    ground: Ground,
    summaries: Sequence[Summary],
    by: str,
    measures: Sequence[str],
    x: str,
    y: str,
    as_json: bool,
) -> None:
    """Print the table, the comparison of agents, and the agents that no other dominates, as text or as JSON."""
    from dataclasses import asdict

    from andante.measures import problem_mismatch
    from andante.report.dominance import on_average
    from andante.report.results import AGENTS
    from andante.report.table import ComparisonTable
    from andante.report.verdicts import as_data, caption

    fault = problem_mismatch(summaries) if by in AGENTS else ""
    comparable = ground.is_about(summaries) and not fault
    standings = on_average(ground.common, x, y) if comparable else []
    comparison = ground.comparison if comparable else None
    about = [*results.sentences, *([f"{fault}."] if fault and not results.incomparable else [])]
    if as_json:
        dominated: Any = {one.summary.name: one.dominated_by for one in standings}
        compared = as_data(comparison) if comparison is not None else None
        data = {"about": about, "summaries": [asdict(summary) for summary in summaries]}
        print_json({**data, "comparison": compared, "dominated_by": dominated})
        return
    print_lines(about)
    out.print(ComparisonTable(summaries, measures, by, ground.best if comparable else None))
    print_lines(filter(None, [caption(summaries)]))
    print_comparison(comparison)
    free = [one.summary.name for one in standings if one.dominated_by is None]
    if len(free) < len(standings):
        out.print(f"Not dominated in {x} and {y}: {', '.join(free)}", soft_wrap=True)


def print_comparison(comparison: Comparison | None) -> None:
    """Print the table of differences, and the agents that are better than others, if any were compared."""
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    from andante.report.verdicts import head, lines, sentences

    if comparison is None or len(comparison.solved) < 2:
        return
    if comparison.problems and len(comparison.agents) > 1:
        title, *rest = head(comparison)
        body = lines(comparison)
        longest = max(len(word) for line in body for word in line[0].split())  # names wrap between parameters
        columns = zip(rest, *(line[1:] for line in body), strict=True)
        others = [max(map(len, [*one.split(), *cells])) for one, *cells in columns]
        room = out.width - sum(others) - 2 * (len(others) + 1)  # a space and a gap beside each column
        wide = max(min(longest, out.width // 3), room)  # a longer word is folded, so that nothing else is cut off
        named = Column(title, width=min(max(len(line[0]) for line in body), wide), overflow="fold")
        shown = Table(named, *(Column(one, justify="right") for one in rest), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for line in body:
            shown.add_row(*map(Text, line))
        out.print(shown)
    print_lines(sentences(comparison))


def print_counts(none: Results, some: Results, as_json: bool) -> None:
    """Print that there is nothing to compare yet, and how many trials each agent has finished."""
    counts = {one.name: one.trials for one in some.summaries()}
    if as_json:
        print_json({"about": none.sentences, "trials": counts})
    else:
        print_lines([*none.sentences, *(f"{count:>11,}  {name}" for name, count in counts.items())])
