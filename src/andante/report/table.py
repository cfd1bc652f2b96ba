"""The table of a comparison: one line per agent, for the terminal, Markdown, CSV, LaTeX (`latex.py`) and pages."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from andante.files import write_whole
from andante.markdown import markdown_table, plain
from andante.measures import MEASURES, QUALITIES, STATISTICS, Row, Statistics, Summary, measure_and_statistic, summarise
from andante.notebook import html_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

_WIDTH = 100  # columns of text without a terminal
_PADDING, _EDGE = 2, 1  # what a table in a terminal adds to its text, per column and at its end
_NAME = 24  # columns of text for names if the table is too wide; longer ones wrap, if possible between parameters


@dataclass(frozen=True)
class Column:
    """A column: its title, its unit, its meaning, and the text of its cell for an agent."""

    title: str
    unit: str
    about: str
    cell: Callable[[Summary], str]
    measure: str | None = None  # the measure that the column shows ...
    statistic: str = "mean"  # ... by this statistic

    def number(self, summary: Summary) -> float:
        """Return the number in the cell."""
        assert self.measure is not None
        return float(getattr(summary[self.measure], self.statistic))


# The measures of the table, each with the statistics that are shown.
_SHOWN = {
    "suboptimality_ratio": ("mean", "median", "p95"),
    "replanned_ratio": ("mean", "median", "p95"),
    "capped_suboptimality_ratio": ("mean",),
    "capped_suboptimality_with_waits": ("mean",),
    "arrival_ratio": ("mean",),
    "waiting_share": ("mean",),
    "tick_microseconds": ("max",),
    "slow_tick_microseconds": ("max",),
    "crowd_bytes": ("max",),
    "goal_achievement_time": ("mean",),
    "standing_time": ("mean",),
    "walking_time": ("mean",),
    "states_expanded_per_move": ("mean",),
    "max_states_expanded": ("max",),
    "database_bytes": ("max",),
    "build_seconds": ("max",),
    "first_move_states_expanded": ("mean",),
    "microseconds_per_move": ("mean",),
    "values_stored": ("mean",),
    "memory_bytes": ("max",),
}

#: Measures of preparation, which are in the table only if there was any.
_PREPARED = frozenset({"database_bytes", "build_seconds"})

_WORDS = {"median": "Median.", "p95": "95 of 100 trials are below.", "max": "The largest of all trials."}
_TITLES = {"median": "Median", "p95": "95th percentile", "max": "Maximum"}


def columns(summaries: Sequence[Summary], measures: Sequence[str] = (), about: str = "agent") -> list[Column]:
    """Return the columns that these summaries can fill: those of ``measures``, or by default the usual ones.

    A measure is given as ``cost``, for all statistics, or as ``cost:median`` for one. The title of the first column is
    ``about``. Of the usual columns, databases and build time are left out if no agent has any.
    """
    asked = [measure_and_statistic(text) for text in measures]
    wanted: list[tuple[str, tuple[str, ...]]] = [(name, (one,) if one else STATISTICS) for name, one in asked]
    wanted = wanted or list(_SHOWN.items())
    spared = frozenset() if measures else _PREPARED
    measured = [
        (name, some)
        for name, some in wanted
        if any(name in s.measures and (name not in spared or s[name].max > 0) for s in summaries)
    ]
    head = [
        Column(headed(about), "", _ABOUT.get(about, "What the line describes."), lambda s: s.name),
        Column(
            "Arrived",
            "",
            "The share of trials that reached the goal. Where some did not, ≥ marks lower bounds.",
            _arrived,
        ),
    ]
    titled = {name for name, some in measured if "mean" in some}  # their other columns need not name the measure
    return head + [
        _column(name, statistic, name in QUALITIES and name in titled, bool(measures) or name in QUALITIES)
        for name, some in measured
        for statistic in some
    ]


def _column(name: str, statistic: str, brief: bool, with_error: bool) -> Column:
    """Return one column; the title of a ``brief`` one names only the statistic, not the measure."""
    known = MEASURES[name]
    title = known.title
    if statistic in _TITLES and known.headline.value != statistic:
        title = _TITLES[statistic] if brief else f"{known.title}, {_TITLES[statistic].lower()}"

    def cell(summary: Summary) -> str:
        if name not in summary.measures:
            return "-"
        return summary.show(name, statistic, with_error=with_error)

    unit = "" if known.unit in ("B", "s") else known.unit  # these are part of the cell
    return Column(
        title,
        unit,
        " ".join(filter(None, [known.about, _WORDS.get(statistic)])),
        cell,
        name,
        statistic,
    )


def _arrived(summary: Summary) -> str:
    share = f"{100 * summary.share_solved:.{0 if summary.solved in (0, summary.trials) else 1}f} %"
    return f"{share} of {summary.trials:,}"


def lead(rows: Sequence[Row]) -> str:
    """Return the numbers of agents and problems, counted from the rows, as a sentence.

    >>> lead([{"algorithm": "lrta", "solved": True, "map": "arena", "sight": 5}])
    '1 agent, 1 problem each on arena, with sight 5.'
    """
    if not rows:
        return "No results yet."
    summaries = summarise(rows)
    maps = list(dict.fromkeys(str(row["map"]) for row in rows if "map" in row))
    where = f" on {maps[0]}" if len(maps) == 1 else f" on {len(maps)} maps" if maps else ""
    sights = {row.get("sight") for row in rows}
    sight = f", with sight {sights.pop()}" if len(sights) == 1 and None not in sights else ""
    problems = max(summary.trials for summary in summaries)
    return f"{counted(len(summaries), 'agent')}, {counted(problems, 'problem')} each{where}{sight}."


def counted(number: int, what: str) -> str:
    """Return a number with a noun, in the plural if necessary.

    >>> counted(1, "agent"), counted(2000, "agent")
    ('1 agent', '2,000 agents')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cells(summaries: Sequence[Summary], measures: Sequence[str] = ()) -> list[list[str]]:
    """Return the table's text without its head, one line per agent.

    >>> from andante.measures import summarise
    >>> cells(summarise([{"algorithm": "lrta", "solved": True, "suboptimality_ratio": 2.0}]))
    [['lrta', '100 % of 1', '2.000', '2.000', '2.000']]
    """
    shown = columns(summaries, measures)
    return [[column.cell(summary) for column in shown] for summary in summaries]


#: Returns the names of the agents to highlight in a statistic of a measure: `andante.report.ground.Ground.best`.
Best = Callable[[str, str], Collection[str]]


def marks(summaries: Sequence[Summary], shown: Sequence[Column], best: Best | None) -> list[list[bool]]:
    """Return which cells to highlight: the best of each column, and all that are not worse."""
    chosen = [best(c.measure, c.statistic) if best is not None and c.measure is not None else () for c in shown]
    return [[summary.name in names for names in chosen] for summary in summaries]


class ComparisonTable:
    """The table for a terminal or a notebook.

    If it is too wide for a terminal, long names wrap, and the columns are split into several tables.
    """

    def __init__(
        self, summaries: Sequence[Summary], measures: Sequence[str] = (), about: str = "agent", best: Best | None = None
    ) -> None:
        shown = columns(summaries, measures, about)
        self._heads = [_head(column) for column in shown]
        self._cells = cells(summaries, measures)
        self._bold = marks(summaries, shown, best)
        self._widths = [
            max(map(len, [*head.split(), *(line[k] for line in self._cells)])) for k, head in enumerate(self._heads)
        ]

    def __repr__(self) -> str:
        from rich.console import Console

        text = io.StringIO()
        Console(file=text, width=None if sys.stdout.isatty() else _WIDTH).print(self)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines() if line.strip())

    def _repr_html_(self) -> str:
        return html_table(self._heads, self._cells, self._bold)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self._widths
        if sum(widths) + _PADDING * len(widths) + _EDGE > options.max_width:
            widths = [self._narrow_name(), *widths[1:]]
        for block in _blocks(widths, options.max_width):
            yield self._table(block, widths)

    def _narrow_name(self) -> int:
        """Return the width of the first column if names wrap between words."""
        words = [word for line in self._cells for word in line[0].split()]
        return min(self._widths[0], max([_NAME, *map(len, words)]))

    def _table(self, block: list[int], widths: Sequence[int]) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for k in block:
            table.add_column(self._heads[k], justify="right" if k else "left", width=widths[k], overflow="fold")
        for line, bold in zip(self._cells, self._bold, strict=True):
            table.add_row(*(Text(line[k], style="bold" if bold[k] else "") for k in block))
        return table


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Return the column numbers of each table; the first column, the agent, is in all of them.

    >>> _blocks([24, 11, 13, 22, 22], 80)
    [[0, 1, 2, 3], [0, 4]]
    """
    blocks = [[0]]
    for k in range(1, len(widths)):
        taken = sum(widths[j] + _PADDING for j in [*blocks[-1], k]) + _EDGE
        if taken > room and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(k)
    return blocks


def headed(about: str) -> str:
    """Return the name of a measure or column as a title.

    >>> headed("optimal_cost")
    'Optimal cost'
    """
    return about.replace("_", " ").capitalize()


_ABOUT = {"agent": "The algorithm with its parameters."}


def _head(column: Column) -> str:
    return f"{column.title} ({column.unit})" if column.unit else column.title


def markdown(
    summaries: Sequence[Summary],
    measures: Sequence[str] = (),
    about: str = "agent",
    best: Best | None = None,
    caption: Sequence[str] = (),
) -> str:
    """Return the table in Markdown, with bold cells for the best, and a caption below it."""
    shown = columns(summaries, measures, about)
    bold = marks(summaries, shown, best)
    lines = [
        [f"**{plain(text)}**" if mark else plain(text) for text, mark in zip(*pair, strict=True)]
        for pair in zip(cells(summaries, measures), bold, strict=True)
    ]
    below = "".join(f"\n{plain(sentence)}\n" for sentence in caption)
    return markdown_table([plain(_head(column)) for column in shown], lines) + "\n" + below


def summary_csv(summaries: Sequence[Summary], about: str = "agent") -> str:
    """Return every statistic of every measure as comma-separated values, one line per agent and measure, unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([about, "trials", "solved", "measure", *(field.name for field in fields(Statistics))])
    for summary in summaries:
        for name, numbers in summary.measures.items():
            writer.writerow([summary.name, summary.trials, summary.solved, name, *astuple(numbers)])
    return text.getvalue()


def csv_text(rows: Iterable[Row]) -> str:
    """Return the rows, every trial with all its columns, as comma-separated values."""
    table = list(rows)
    names = list(dict.fromkeys(name for row in table for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def write_csv(rows: Iterable[Row], path: str | os.PathLike[str]) -> None:
    """Write the rows to a CSV file, completely or not at all."""
    write_whole(path, csv_text(rows).encode())
