"""The table of a comparison in LaTeX, for the packages booktabs and siunitx (version 3).

Numbers are aligned at their decimal point, and ≥ is part of the number. The text after a number (± and its error, an
interval, n) is in braces, as siunitx requires, and the column reserves space for the widest one. It is in math mode, so
that it keeps its normal weight where the number is bold. A table that is wider than a page is split into several, one
below the other, and a taller one into several floats. A long name is broken into lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from andante.measures import MEASURES, Measure, Summary
from andante.measures.achievement import ACHIEVED
from andante.measures.summary import QUANTILES
from andante.report.table import Best, Column, columns, headed, marks
from andante.report.titles import title_of
from andante.report.typeset import broken, width

_PACKAGES = "% Needs \\usepackage{booktabs} and \\usepackage{siunitx}, version 3 or newer."
_BOUND = "\\geq"
_NONE = "{--}"
_SMALL = "\\small\n\\setlength{\\tabcolsep}{4pt}\n\\sisetup{text-series-to-math = true}  % for bold numbers"
_BETWEEN = 8.9  # the space between two columns, at ten points
_COLUMN, _PAGE = 255.0, 380.0  # one of two columns of a paper and the narrowest page, if ten points were nine as above
_LINES, _HEAD = 36, 4  # lines of a float below a caption of eight lines, and those that a table needs besides its rows
_NAME = 140.0  # the widest name that stays on one line
#: The measures of a table if no columns were chosen; these fit beside each other.
_USUAL = (
    "suboptimality_ratio",
    "replanned_ratio",
    "states_expanded_per_move",
    "max_states_expanded",
    "microseconds_per_move",
    "memory_bytes",
)
#: Measures that appear only because of an option (a penalty, or the time of a turn), so they are never left out.
_ASKED_FOR = (*(name for name in MEASURES if name.startswith("capped_")), *ACHIEVED)
#: Units with prefixes, by what they are measured in: all numbers of a column are in the largest that fits.
_SCALES = {"B": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")), "s": ((1e-3, "ms"), (1.0, "s"))}


class Cell(NamedTuple):
    """A cell: the number as siunitx reads it, whether it is a lower bound, and the text after it, in math mode."""

    number: str  # digits and a point; empty if there is none
    bound: bool = False
    after: str = ""

    @property
    def text(self) -> str:
        """The text after the number, or instead of it."""
        if not self.number:
            return f"{{${self.after}$}}" if self.after else _NONE
        return f"{{$\\,{self.after}$}}" if self.after else ""

    def written(self, bold: bool) -> str:
        """Return the cell as LaTeX."""
        if not self.number:
            return self.text
        return " ".join(
            filter(None, ["\\bfseries" if bold else "", _BOUND if self.bound else "", self.number, self.text])
        )


class _Spec(NamedTuple):
    """A column of numbers: its title, its unit, and its cells."""

    title: str
    unit: str
    cells: list[Cell]

    def of(self, rows: Sequence[int]) -> _Spec:
        """Return the same column for some rows."""
        return self._replace(cells=[self.cells[row] for row in rows])

    @property
    def _digits(self) -> tuple[int, int]:
        """The numbers of digits before and after the point."""
        numbers = [cell.number.lstrip("-") for cell in self.cells if cell.number] or ["0"]
        whole, decimals = (max(len(n.partition(".")[k]) for n in numbers) for k in (0, 2))
        return whole, decimals

    @property
    def _after(self) -> str:
        """The widest of the texts after the numbers."""
        return max((cell.text for cell in self.cells if cell.number), key=width, default="")

    @property
    def format(self) -> str:
        """The declaration of the column for siunitx."""
        whole, decimals = self._digits
        bound = f"{_BOUND} " if any(cell.bound for cell in self.cells) else ""
        sign = "-" if any(cell.number.startswith("-") for cell in self.cells) else ""
        size = f"{bound}{sign}{whole}.{decimals}" if decimals else f"{bound}{sign}{whole}"
        room = f", table-space-text-post = {self._after}" if self._after else ""
        return f"S[table-format = {size}{room}]"

    @property
    def width(self) -> float:
        """The approximate width of the column, in points."""
        whole, decimals = self._digits
        number = width("0" * (whole + decimals) + ("." if decimals else "")) + width(self._after)
        number += 14.0 if any(cell.bound for cell in self.cells) else 0.0
        number += 8.0 if any(cell.number.startswith("-") for cell in self.cells) else 0.0
        alone = max((width(cell.text) for cell in self.cells if not cell.number), default=0.0)
        return max(number, alone, width(self.title), width(f"({self.unit})")) + _BETWEEN


def latex(
    summaries: Sequence[Summary],
    measures: Sequence[str] = (),
    about: str = "agent",
    best: Best | None = None,
    caption: Sequence[str] = (),
    label: str = "tab:results",
    notes: Sequence[str] = (),
) -> str:
    """Return the table as a float with a caption and a label; bold cells are the best, and ``notes`` are comments.

    The first sentence of the caption appears in lists of tables. The float is as wide as a column of a paper if the
    table fits there, otherwise as wide as a page.
    """
    shown = columns(summaries, measures, about)
    measured = [one for one in shown if one.measure is not None]
    measured = measured if measures else _usual(measured)
    nowhere = [False] * len(summaries)
    bold = [nowhere, nowhere, *map(list, zip(*marks(summaries, measured, best), strict=True))]
    specs = [*_counts(summaries), *(_spec(column, summaries, measures) for column in measured)]
    names = [_name(summary.name, about) for summary in summaries]
    named = max(width(line) for lines in [[headed(about)], *names] for line in lines) + _BETWEEN
    blocks = _blocks([spec.width for spec in specs], named)
    float_name = "table" if named + sum(spec.width for spec in specs) <= _COLUMN else "table*"
    short, words = (for_latex(" ".join(some)) for some in (caption[:1], caption))
    said = [f"\\caption[{{{short}}}]{{{words}}}", f"\\label{{{label}}}"]
    again = [f"Table~\\ref{{{label}}}, continued.\\par"]
    lines = [_PACKAGES, *(f"% {one}" for one in notes)]
    for number, pieces in enumerate(_floats(blocks, [len(name) for name in names])):
        tables = [
            _tabular(
                headed(about),
                [names[k] for k in rows],
                [specs[k].of(rows) for k in block],
                [[bold[k][row] for row in rows] for k in block],
            )
            for block, rows in pieces
        ]
        lines += [f"\\begin{{{float_name}}}", "\\centering", *(again if number else said), "\\smallskip", _SMALL]
        lines += ["\n\\par\\medskip\n".join(tables), f"\\end{{{float_name}}}"]
    return "\n".join([*lines, ""])


def _floats(blocks: Sequence[list[int]], heights: Sequence[int]) -> list[list[tuple[list[int], list[int]]]]:
    """Return the tables of each float, as their columns and rows, so that no float is taller than a page.

    >>> _floats([[0, 1], [2]], [1] * 10)
    [[([0, 1], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), ([2], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])]]
    >>> [[(block, len(rows)) for block, rows in pieces] for pieces in _floats([[0], [1]], [1] * 40)]
    [[([0], 32)], [([0], 8)], [([1], 32)], [([1], 8)]]
    """
    found: list[list[tuple[list[int], list[int]]]] = [[]]
    room = _LINES
    for block in blocks:
        for rows in _stretches(heights):
            tall = _HEAD + sum(heights[row] for row in rows)
            if found[-1] and tall > room:
                found.append([])
                room = _LINES
            found[-1].append((block, rows))
            room -= tall
    return found


def _stretches(heights: Sequence[int]) -> list[list[int]]:
    """Return the rows in stretches that fit into a float."""
    found: list[list[int]] = [[]]
    for row, height in enumerate(heights):
        if found[-1] and _HEAD + sum(heights[k] for k in found[-1]) + height > _LINES:
            found.append([])
        found[-1].append(row)
    return found


def _usual(columns: Sequence[Column]) -> list[Column]:
    """Return the columns that are shown if none were chosen: those that fit, and those that options request."""
    kept = [one for one in columns if one.statistic != "p95" and one.measure in (*_USUAL, *_ASKED_FOR)]
    return kept or list(columns)


def _blocks(widths: Sequence[float], named: float) -> list[list[int]]:
    """Return the columns of each table, so that each is at most as wide as a page, with the names."""
    blocks: list[list[int]] = [[]]
    for k, one in enumerate(widths):
        if blocks[-1] and named + sum(widths[j] for j in blocks[-1]) + one > _PAGE:
            blocks.append([])
        blocks[-1].append(k)
    return blocks


def _tabular(title: str, names: Sequence[Sequence[str]], specs: Sequence[_Spec], bold: Sequence[Sequence[bool]]) -> str:
    """Return a table with a line for each name; the further lines of a long name are indented."""
    heads = [[title, *(f"{{{spec.title}}}" for spec in specs)]]
    if any(spec.unit for spec in specs):
        heads.append(["", *(f"{{({spec.unit})}}" if spec.unit else "" for spec in specs)])
    lines = []
    for number, (first, *more) in enumerate(names):
        marked = zip(specs, bold, strict=True)
        lines.append([first, *(spec.cells[number].written(marks[number]) for spec, marks in marked)])
        lines += [[f"\\quad {rest}", *[""] * len(specs)] for rest in more]
    return "\n".join(
        [
            "\\begin{tabular}{",
            "  l",
            *(f"  {spec.format}" for spec in specs),
            "}",
            "\\toprule",
            *(_line(one) for one in heads),
            "\\midrule",
            *(_line(one) for one in lines),
            "\\bottomrule",
            "\\end{tabular}",
        ]
    )


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _name(name: str, about: str) -> list[str]:
    """Return the lines of a name."""
    title = title_of(name) if about in ("agent", "algorithm") else name
    first, *more = (for_latex(line) for line in broken(title, _NAME))
    if first.startswith(("*", "[")):  # which the line break before it would read as its option
        first = f"{{}}{first}"
    return [first, *more]


def _counts(summaries: Sequence[Summary]) -> list[_Spec]:
    """Return the columns with the number of trials, and the share of them that arrived."""
    trials = [Cell(str(one.trials)) for one in summaries]
    arrived = [Cell(f"{100 * one.share_solved:.1f}") for one in summaries]
    return [_Spec("$n$", "", trials), _Spec("Arrived", "\\%", arrived)]


def _spec(column: Column, summaries: Sequence[Summary], measures: Sequence[str]) -> _Spec:
    """Return a column of a measure, in one unit throughout."""
    assert column.measure is not None
    known = MEASURES[column.measure]
    present = [one for one in summaries if known.name in one.measures]
    if known.unit in _SCALES:
        size, unit, digits = _scale(known, [column.number(one) for one in present])
        numbers = {one.name: _plain(f"{column.number(one) / size:.{digits}f}") for one in present}
        cells = [_cell(numbers.get(one.name, ""), "", one, column) for one in summaries]
        return _Spec(for_latex(column.title), unit, cells)
    with_error = bool(measures) or column.statistic in QUANTILES or known.headline.value == "mean"
    cells = [
        _cell(_plain(known.show(column.number(one))), _spread(one, column) if with_error else "", one, column)
        if known.name in one.measures
        else Cell("")
        for one in summaries
    ]
    return _Spec(for_latex(column.title), for_latex(column.unit), cells)


def _scale(known: Measure, values: Sequence[float]) -> tuple[float, str, int]:
    """Return the size and name of the unit for these numbers, and the number of decimals that the smallest needs."""
    finite = [value for value in values if math.isfinite(value) and value > 0] or [1.0]
    size, unit = max(((s, u) for s, u in _SCALES[known.unit] if s <= max(finite)), default=_SCALES[known.unit][0])
    return size, unit, min(3, max(1, 1 - math.floor(math.log10(min(finite) / size))))


def _cell(number: str, spread: str, summary: Summary, column: Column) -> Cell:
    assert column.measure is not None
    if not number:
        missing = column.measure not in summary.measures or not math.isinf(column.number(summary))
        return Cell("", after="" if missing else "\\infty")
    numbers = summary[column.measure]
    few = f"(n={numbers.count})" if 0 < numbers.count < summary.trials else ""
    return Cell(number, numbers.is_bound(column.statistic), "\\,".join(filter(None, [spread, few])))


def _spread(summary: Summary, column: Column) -> str:
    """Return the error of a mean, or the interval of a quantile."""
    assert column.measure is not None
    known, numbers = MEASURES[column.measure], summary[column.measure]
    if column.statistic == "mean" and not numbers.bounds and math.isfinite(numbers.standard_error):
        error = known.show(numbers.mean, numbers.standard_error).partition("±")[2].strip()
        return f"\\pm\\,{error.replace(',', '')}"
    if column.statistic in QUANTILES and math.isfinite(numbers.interval(column.statistic).low):
        low, high = numbers.interval(column.statistic)
        end = "\\infty)" if math.isinf(high) else f"{known.show(high)}]".replace(",", "")
        return f"[{known.show(low).replace(',', '')},\\,{end}"
    return ""


def _plain(text: str) -> str:
    """Return a number without separators; empty if it is not one."""
    digits = text.replace(",", "")
    return digits if digits.lstrip("-").replace(".", "", 1).isdecimal() else ""


_ESCAPED = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "%&_#${}"},
        "\\": "\\textbackslash{}",
        "^": "\\textasciicircum{}",
        "~": "\\textasciitilde{}",
        "±": "$\\pm$",
        "≥": "$\\geq$",
        "∞": "$\\infty$",
        "µ": "$\\mu$",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
        '"': "''",
        "\N{NARROW NO-BREAK SPACE}": "\\,",
        "\N{NO-BREAK SPACE}": "~",
    }
)


def for_latex(text: str) -> str:
    r"""Return a text escaped for LaTeX.

    >>> for_latex("2.0 ± 0.1 %")
    '2.0 $\\pm$ 0.1\\,\\%'
    """
    spaced = re.sub("[\0-\x20\x7f]+", " ", text).replace(" %", "\N{NARROW NO-BREAK SPACE}%")
    return spaced.translate(_ESCAPED)
