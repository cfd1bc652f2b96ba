"""Draw the picture of docs/how-to/databases.md from the numbers in its own table: what a database costs and gains.

``python tools/databases.py`` writes ``docs/images/databases.png``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).resolve().parents[1] / "docs"
TABLE, PICTURE = DOCS / "how-to" / "databases.md", DOCS / "images" / "databases.png"

_UNITS = {"KB": 1e3, "MB": 1e6, "s": 1.0}
#: How each kind of agent and database is drawn: a word of its row, its marker, colour and name.
STYLES = {
    "series": ("s", "#1f77b4", "kNN LRTA*, whole series"),
    "subgoals": ("^", "#e08e0b", "kNN LRTA*, first subgoals"),
    "pattern": ("D", "#2a9d6f", "D LRTA*"),
    "moves": ("P", "#c0392b", "CPD"),
    "": ("o", "#777777", "without a database"),
}


@dataclass(frozen=True)
class Point:
    """One row of the table."""

    agent: str
    database: str
    seconds: float
    nbytes: float
    longer: float  # percent

    @property
    def kind(self) -> str:
        """Its key among the styles."""
        return next(word for word in STYLES if word in self.database)


def points() -> list[Point]:
    """The rows of the page's second table."""
    rows = TABLE.read_text("utf-8").partition("longer: mean")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.split("|")[1:]] for row in rows]
    return [
        Point(agent, database, _last(built), _last(size), float(longer.split()[0]))
        for agent, database, built, size, longer, *_ in cells
    ]


def _last(text: str) -> float:
    """The last number of a text, in seconds or bytes; 0 where there is none."""
    *_, number, unit = ["0", "s", *text.split()]
    return float(number) * _UNITS[unit]


def draw(axes: Axes, chosen: list[Point], column: str, title: str) -> None:
    """Quality against one of the costs; those without a database at the left edge."""
    edge = min(getattr(point, column) for point in chosen if point.database) / 6
    for key, (marker, colour, name) in STYLES.items():
        some = [point for point in chosen if point.kind == key]
        costs = [getattr(point, column) or edge for point in some]
        axes.scatter(costs, [point.longer for point in some], 45, colour, marker=marker, label=name)
    axes.axvline(edge * 2, color="#cccccc", linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=5)
    axes.set_xlabel(title)
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draw both panels."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.8, 4.1), sharey=True, layout="constrained")
    chosen = points()
    draw(left, chosen, "nbytes", "size of the database, bytes")
    draw(right, chosen, "seconds", "time to build it on two cores, seconds")
    left.set_ylabel("longer than a shortest path, %")
    left.set_yticks([0, 5, 10, 100, 1000], ["0", "5", "10", "100", "1000"])
    left.set_ylim(-0.5, 3000)
    right.legend(frameon=False, fontsize=9)
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
