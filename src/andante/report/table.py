"""The table of a comparison: one line per agent, for the terminal, Markdown, CSV and pages."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from andante.files import write_whole
from andante.measures import MEASURES, Row, Summary

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

_PADDING, _EDGE = 3, 1  # what a terminal's table takes beside its text, per column and at its end


@dataclass(frozen=True)
class Column:
    """One column: its title, its unit, what it tells, and the text of its cell for an agent."""

    title: str
    unit: str
    about: str
    cell: Callable[[Summary], str]
    measure: str | None = None  # that the column shows ...
    statistic: str = "mean"  # ... by this statistic

    def number(self, summary: Summary) -> float:
        """The number behind the cell."""
        assert self.measure is not None
        return float(getattr(summary[self.measure], self.statistic))


# Each measure of the table with the statistics that it is shown by.
_SHOWN = {
    "suboptimality_ratio": ("mean", "median", "p95"),
    "states_expanded_per_move": ("mean",),
    "max_states_expanded": ("max",),
    "first_move_states_expanded": ("mean",),
    "microseconds_per_move": ("mean",),
    "values_stored": ("mean",),
    "memory_bytes": ("max",),
    "database_bytes": ("max",),
    "build_seconds": ("max",),
}

_WORDS = {"median": "Median.", "p95": "95 of 100 trials stay below.", "max": "The largest of all trials."}
_TITLES = {"median": "Median", "p95": "95th percentile"}


def columns(summaries: Sequence[Summary]) -> list[Column]:
    """The columns that these summaries can fill."""
    measured = [name for name in _SHOWN if any(name in s.measures for s in summaries)]
    head = [
        Column("Agent", "", "The algorithm with its parameters.", lambda s: s.name),
        Column("Arrived", "", "In how many of its problems the agent reached the goal.", _arrived),
    ]
    return head + [_column(name, statistic) for name in measured for statistic in _SHOWN[name]]


def _column(name: str, statistic: str) -> Column:
    known = MEASURES[name]

    def cell(summary: Summary) -> str:
        if name not in summary.measures:
            return "-"
        numbers = summary[name]
        error = numbers.standard_error if statistic == "mean" and name == "suboptimality_ratio" else None
        return known.show(getattr(numbers, statistic), error)

    unit = "" if known.unit in ("B", "s") else known.unit  # those are part of the cell
    return Column(
        _TITLES.get(statistic, known.title),
        unit,
        " ".join(filter(None, [known.about, _WORDS.get(statistic)])),
        cell,
        name,
        statistic,
    )


def _arrived(summary: Summary) -> str:
    return f"{100 * summary.share_solved:.{0 if summary.solved in (0, summary.trials) else 1}f} %"


def cells(summaries: Sequence[Summary]) -> list[list[str]]:
    """The table's text, without its head: a line per agent.

    >>> from andante.measures import summarise
    >>> cells(summarise([{"algorithm": "lrta", "solved": True, "suboptimality_ratio": 2.0}]))
    [['lrta', '100 %', '2.000', '2.000', '2.000']]
    """
    shown = columns(summaries)
    return [[column.cell(summary) for column in shown] for summary in summaries]


class TerminalTable:
    """The table for a terminal; where it is too wide, its columns are dealt out to several tables below each other."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        self._heads = [_head(column) for column in columns(summaries)]
        self._cells = cells(summaries)
        self._widths = [
            max(map(len, [*head.split(), *(line[k] for line in self._cells)])) for k, head in enumerate(self._heads)
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for block in self._blocks(options.max_width):
            yield self._table(block)

    def _blocks(self, room: int) -> list[list[int]]:
        """The numbers of the columns of each table; the first column, the agent, stands in all of them."""
        blocks = [[0]]
        for k in range(1, len(self._heads)):
            taken = sum(self._widths[j] + _PADDING for j in [*blocks[-1], k]) + _EDGE
            if taken > room and len(blocks[-1]) > 1:
                blocks.append([0])
            blocks[-1].append(k)
        return blocks

    def _table(self, block: list[int]) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD)
        for k in block:
            table.add_column(self._heads[k], justify="right" if k else "left", width=self._widths[k])
        for line in self._cells:
            table.add_row(*(Text(line[k]) for k in block))
        return table


def _head(column: Column) -> str:
    return f"{column.title} ({column.unit})" if column.unit else column.title


def markdown(summaries: Sequence[Summary]) -> str:
    """The table in Markdown."""
    shown = columns(summaries)
    head = [_head(column) for column in shown]
    rule = [":--"] + ["--:"] * (len(shown) - 1)
    lines = [head, rule, *cells(summaries)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def csv_text(rows: Iterable[Row]) -> str:
    """The rows themselves, every trial with all its columns, as comma-separated values."""
    table = list(rows)
    names = list(dict.fromkeys(name for row in table for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def write_csv(rows: Iterable[Row], path: str | os.PathLike[str]) -> None:
    """Write the rows to a CSV file, whole or not at all."""
    write_whole(path, csv_text(rows).encode())
