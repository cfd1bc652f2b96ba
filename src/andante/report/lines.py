"""Plain curves: statistics by the value of something, one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from andante.measures import Statistics
from andante.report.figure import ACCENT, MUTED, WARM, new_figure, styled
from andante.report.plots import scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = ((ACCENT, "s"), (MUTED, "^"), (WARM, "o"))


def lines_plot(
    curves: Mapping[str, Sequence[tuple[float, Statistics]]], across: str, up: str, *, log: bool = False
) -> Figure:
    """Plot the mean of each curve by its value, with bars of one standard error; at most three curves.

    With ``log``, values of very different size are spaced by their logarithms.
    """
    figure = new_figure(5.6, 4.0)
    with styled():
        axes = figure.add_subplot()
        for (name, points), (colour, marker) in zip(curves.items(), _LOOKS, strict=False):
            axes.errorbar(
                [value for value, _ in points],
                [numbers.mean for _, numbers in points],
                yerr=[numbers.standard_error for _, numbers in points],
                label=name,
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1.2,
            )
        if log:
            scale(axes, "x", [value for points in curves.values() for value, _ in points])
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.grid(True, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False)
        figure.set_layout_engine("tight", pad=0.4)
    return figure
