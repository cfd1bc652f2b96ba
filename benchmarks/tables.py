"""A table that can be printed on a terminal and written as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field

import rich.table

from andante.markdown import markdown_table


@dataclass
class Table:
    """Rows of text under a title; the first column and those in ``left`` are aligned left, the others right."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    left: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def _aligned_left(self, column: str) -> bool:
        return column == self.columns[0] or column in self.left

    def rich(self) -> rich.table.Table:
        """Return the table for a terminal."""
        caption = "\n".join(self.notes)
        table = rich.table.Table(title=self.title, title_justify="left", caption=caption, caption_justify="left")
        for column in self.columns:
            table.add_column(
                column, justify="left" if self._aligned_left(column) else "right", no_wrap=column not in self.left
            )
        for row in self.rows:
            table.add_row(*(cell.replace("[", r"\[") for cell in row))
        return table

    def markdown(self) -> str:
        """Return the table for a file."""
        table = markdown_table(self.columns, self.rows, self.left)
        return "\n".join([f"## {self.title}", "", table, *(f"\n{note}" for note in self.notes)])


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, with three significant digits.

    >>> milliseconds(0.0000123), milliseconds(0.1234), milliseconds(12.3)
    ('0.0123', '123', '12300')
    """
    value = 1e3 * seconds
    digits = 4 if value < 0.1 else 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def times(ratio: float) -> str:
    """Return a ratio as text.

    >>> times(0.8412), times(12.3), times(1234.5)
    ('0.84', '12.3', '1234')
    """
    return f"{ratio:.{2 if ratio < 10 else 1 if ratio < 100 else 0}f}"
