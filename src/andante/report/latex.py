"""The table of a comparison in LaTeX, for the packages booktabs and siunitx (version 3).

Numbers are aligned at their decimal point. What is not a number (± and its error, an interval, ≥ before a lower bound)
stands before or after it in braces, as siunitx has it, and the column reserves room for the widest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from andante.measures import MEASURES, Measure, Summary
from andante.measures.summary import QUANTILES
from andante.report.table import Best, Column, columns, headed, marks
from andante.report.titles import title_of

_PACKAGES = "% Needs \\usepackage{booktabs} and \\usepackage{siunitx}, version 3 or newer."
_BOUND = "{$\\geq$}"
_NONE = "{--}"
#: Units with prefixes, by what they are measured in: all numbers of a column are in the largest that fits.
_SCALES = {"B": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")), "s": ((1e-3, "ms"), (1.0, "s"))}


class Cell(NamedTuple):
    """A cell: what stands before the number, the number as siunitx reads it, and what stands after it."""

    before: str
    number: str  # digits and a point; empty if there is none
    after: str

    def written(self, bold: bool) -> str:
        """Return the cell as LaTeX."""
        if not self.number:
            return self.after or _NONE
        return " ".join(filter(None, ["\\bfseries" if bold else "", self.before, self.number, self.after]))


class _Spec(NamedTuple):
    """A column of numbers: its title, its unit, and its cells."""

    title: str
    unit: str
    cells: list[Cell]

    @property
    def format(self) -> str:
        """The column as it is declared to siunitx."""
        numbers = [cell.number.lstrip("-") for cell in self.cells if cell.number] or ["0"]
        whole, decimals = (max(len(n.partition(".")[k]) for n in numbers) for k in (0, 2))
        sign = "-" if any(cell.number.startswith("-") for cell in self.cells) else ""
        size = f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"
        texts = [("pre", [cell.before for cell in self.cells]), ("post", [cell.after for cell in self.cells])]
        room = [f"table-space-text-{where} = {max(some, key=len)}" for where, some in texts if any(some)]
        return f"S[{', '.join([f'table-format = {size}', *room])}]"


def latex(
    summaries: Sequence[Summary],
    measures: Sequence[str] = (),
    about: str = "agent",
    best: Best | None = None,
    caption: Sequence[str] = (),
    label: str = "tab:results",
    notes: Sequence[str] = (),
) -> str:
    """Return the table as a float with a caption and a label; bold cells are the best, and ``notes`` are comments."""
    shown = columns(summaries, measures, about)
    measured = [column for column in shown if column.measure is not None]
    bold = [[False, False, *line] for line in marks(summaries, measured, best)]
    specs = [*_counts(summaries), *(_spec(column, summaries, measures) for column in measured)]
    lines = [
        [_name(summary.name, about), *(spec.cells[k].written(bold[k][n]) for n, spec in enumerate(specs))]
        for k, summary in enumerate(summaries)
    ]
    heads = [[headed(about), *(f"{{{spec.title}}}" for spec in specs)]]
    if any(spec.unit for spec in specs):
        heads.append(["", *(f"{{({spec.unit})}}" if spec.unit else "" for spec in specs)])
    words = " ".join(caption)
    return "\n".join(
        [
            _PACKAGES,
            *(f"% {one}" for one in notes),
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{for_latex(words)}}}",
            f"\\label{{{label}}}",
            "\\sisetup{text-series-to-math = true}  % for bold numbers",
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
            "\\end{table}",
            "",
        ]
    )


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _name(name: str, about: str) -> str:
    return for_latex(title_of(name) if about in ("agent", "algorithm") else name)


def _counts(summaries: Sequence[Summary]) -> list[_Spec]:
    """Return the columns with the number of trials, and the share of them that arrived."""
    trials = [Cell("", str(one.trials), "") for one in summaries]
    arrived = [Cell("", f"{100 * one.share_solved:.1f}", "") for one in summaries]
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
        else Cell("", "", "")
        for one in summaries
    ]
    return _Spec(for_latex(column.title), for_latex(column.unit), cells)


def _scale(known: Measure, values: Sequence[float]) -> tuple[float, str, int]:
    """Return the size and name of the unit for these numbers, and how many decimals the smallest of them needs."""
    finite = [value for value in values if math.isfinite(value) and value > 0] or [1.0]
    size, unit = max(((s, u) for s, u in _SCALES[known.unit] if s <= max(finite)), default=_SCALES[known.unit][0])
    return size, unit, min(3, max(1, 1 - math.floor(math.log10(min(finite) / size))))


def _cell(number: str, spread: str, summary: Summary, column: Column) -> Cell:
    assert column.measure is not None
    if not number:
        return Cell("", "", "" if column.measure not in summary.measures else _infinite(column.number(summary)))
    numbers = summary[column.measure]
    few = f"$(n={numbers.count})$" if 0 < numbers.count < summary.trials else ""
    after = "\\,".join(filter(None, [spread, few]))
    return Cell(
        _BOUND if numbers.is_bound(column.statistic) else "",
        number,
        f"{{{after}}}" if after else "",
    )


def _infinite(value: float) -> str:
    return "{$\\infty$}" if math.isinf(value) else ""


def _spread(summary: Summary, column: Column) -> str:
    """Return the error of a mean, or the interval of a quantile."""
    assert column.measure is not None
    known, numbers = MEASURES[column.measure], summary[column.measure]
    if column.statistic == "mean" and not numbers.bounds and math.isfinite(numbers.standard_error):
        error = known.show(numbers.mean, numbers.standard_error).partition("±")[2].strip()
        return f"$\\pm\\,{error.replace(',', '')}$"
    if column.statistic in QUANTILES and math.isfinite(numbers.interval(column.statistic).low):
        ends = [
            "$\\infty$" if math.isinf(end) else known.show(end).replace(",", "")
            for end in numbers.interval(column.statistic)
        ]
        return f"({ends[0]}--{ends[1]})"
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
        "µ": "\\textmu{}",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
    }
)


def for_latex(text: str) -> str:
    r"""Return a text escaped for LaTeX.

    >>> for_latex("2.0 ± 0.1 %")
    '2.0 $\\pm$ 0.1 \\%'
    """
    return text.translate(_ESCAPED)
