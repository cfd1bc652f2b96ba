"""Measure the costs and gains of databases on two maps of each game, and put the table and the picture into the docs.

``python tools/databases.py`` measures what is not yet in ``benchmarks/databases.csv``, row by row, so that it can be
stopped and resumed; delete rows to measure them again. Times are processor times, summed over threads. Then it writes
the table of ``docs/how-to/databases.md`` and draws ``docs/images/databases.png``. ``--slow`` also measures databases
that take minutes for each map, ``--draw`` measures nothing. The maps are those of the benchmark (ANDANTE_MOVINGAI).
"""

from __future__ import annotations

import csv
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import andante
from andante.datasets.named import map_named
from andante.markdown import markdown_table

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "benchmarks" / "databases.csv"
PAGE, PICTURE = ROOT / "docs" / "how-to" / "databases.md", ROOT / "docs" / "images" / "databases.png"
BEGIN, END = "<!-- table: tools/databases.py -->\n", "<!-- end of the table -->"

MAPS = (
    "wc3maps512/battleground",
    "wc3maps512/darkforest",
    "dao/arena2",
    "dao/brc300d",
    "bg512/AR0400SR",
    "bg512/AR0012SR",
    "sc1/Aftershock",
    "sc1/BigGameHunters",
)
PROBLEMS = 100  # on each map

#: Agents and their databases, with the parameters that differ from their defaults.
PAIRS = (
    ("tba(budget=100, weight=2)", ""),
    ("tbwalls(budget=200)", ""),
    ("dlrta", "pattern"),
    ("hcdps", "regions(m=20, borders=1)"),
    ("hcdps", "regions(m=12, borders=2)"),
    ("hcdps", "regions"),
    ("hcdps", "regions(m=3)"),
    ("hcdps(shortcuts=off, m=0)", "regions"),
    ("dlrta", "pattern(side=64)"),
    ("dlrta", "pattern(side=32)"),
    ("dlrta", "pattern(side=16)"),
    ("dlrta", "pattern(side=4)"),
    ("knn(m=100)", "subgoals(records=1000, series=true, coverage=gaps)"),
    ("LRTA* (PDB, PDB)", "pattern(level=3, aim=entry)"),
    ("LRTA* (PDB, PDB)", "pattern(level=4, aim=entry)"),
    ("knn(m=100)", "subgoals(series=true, coverage=gaps)"),
)
SLOW = (("cpd", "moves"), ("dlrta", "pattern(side=2)"))

#: The marker, colour and name of each kind of database, by a word in its row.
STYLES = {
    "subgoals": ("s", "#1f77b4", "kNN LRTA*"),
    "regions": ("v", "#8e44ad", "HCDPS"),
    "aim=": ("^", "#e08e0b", "D LRTA* with the paper's subgoals"),
    "pattern": ("D", "#2a9d6f", "D LRTA* with far subgoals"),
    "moves": ("P", "#c0392b", "CPD"),
    "": ("o", "#777777", "without a database"),
}

HEADS = (
    "agent",
    "database",
    "core-seconds to build",
    "size",
    "longer: mean ± s.e.",
    "median",
    "95 %",
    "worst map",
    "expanded per move",
    "at worst",
)


class Row(NamedTuple):
    """The measurements of an agent with its database on one map."""

    agent: str
    database: str
    map: str
    seconds: float  # of processor time, of all threads, to build
    nbytes: int
    unsolved: int
    longer: float  # than a cheapest path, percent
    error: float  # of that mean
    median: float
    worst_of_twenty: float
    expanded: float  # per move
    at_worst: int


def measure(agent: str, database: str, name: str) -> Row:
    """Build the database, run the agent, and return the measurements."""
    grid = map_named(name)
    problems = andante.random_problems(grid, PROBLEMS, seed=1)
    began = time.process_time()  # other programs may run as well
    databases = [andante.build(database, grid)] if database else []
    seconds = time.process_time() - began
    trials = andante.run_many(agent, problems, databases=databases, paths=False)
    arrived = [trial for trial in trials if trial.solved]
    longer = np.array([100 * (trial.suboptimality_ratio - 1) for trial in arrived])
    return Row(
        agent,
        database,
        name,
        round(seconds, 2),
        sum(one.nbytes for one in databases),
        len(trials) - len(arrived),
        round(float(longer.mean()), 4),
        round(float(longer.std(ddof=1)) / len(longer) ** 0.5, 4),
        round(float(np.median(longer)), 4),
        round(float(np.quantile(longer, 0.95)), 4),
        round(sum(trial.states_expanded for trial in trials) / sum(trial.moves for trial in trials), 4),
        max(trial.max_states_expanded for trial in trials),
    )


def known() -> list[Row]:
    """Return the rows that were measured before."""
    if not ROWS.exists():
        return []
    with ROWS.open(newline="", encoding="utf-8") as stream:
        return [
            Row(agent, database, name, float(seconds), int(nbytes), int(unsolved), *map(float, more), int(worst))  # type: ignore[arg-type]
            for agent, database, name, seconds, nbytes, unsolved, *more, worst in list(csv.reader(stream))[1:]
        ]


def measure_all(pairs: tuple[tuple[str, str], ...]) -> None:
    """Measure the missing rows; each is written as soon as it is measured."""
    there = {row[:3] for row in known()}
    if not ROWS.exists():
        ROWS.write_text(",".join(Row._fields) + "\n", encoding="utf-8")
    for agent, database in pairs:
        if database:
            small = andante.generate("rooms", 32, 32, seed=1)  # compile first, which is not a part of building
            andante.run(agent, andante.random_problems(small, 1, seed=1)[0], databases=[andante.build(database, small)])
        for name in MAPS:
            if (agent, database, name) in there:
                continue
            row = measure(agent, database, name)
            with ROWS.open("a", newline="", encoding="utf-8") as stream:
                csv.writer(stream, lineterminator="\n").writerow(row)
            sys.stdout.write(f"{name}: {agent}, {database or 'no database'}: {row.longer} % longer, {row.seconds} s\n")
            sys.stdout.flush()


def together(rows: list[Row]) -> Iterator[list[Row]]:
    """Yield the rows of each agent with its database that was measured on all maps, the smallest databases first."""
    for pair in dict.fromkeys(row[:2] for row in sorted(rows, key=lambda row: row.nbytes)):
        some = [row for row in rows if row[:2] == pair]
        if len(some) == len(MAPS):
            yield some


def table(rows: list[Row]) -> str:
    """Return a table with one line for each agent with its database, over all maps."""
    lines = []
    for some in together(rows):
        agent, database = some[0][:2]
        mean = statistics.fmean(row.longer for row in some)
        error = sum(row.error**2 for row in some) ** 0.5 / len(some)
        unsolved = sum(row.unsolved for row in some)
        line = [
            f"`{agent}`",
            f"`{database}`" if database else "",
            _span([row.seconds for row in some]) if database else "",
            _sizes([row.nbytes for row in some]) if database else "",
            f"{'≥ ' if unsolved else ''}{mean:.2f} % ± {error:.2f}" + (f" ({unsolved} unsolved)" if unsolved else ""),
            f"{statistics.fmean(row.median for row in some):.2f} %",
            f"{statistics.fmean(row.worst_of_twenty for row in some):.1f} %",
            f"{max(row.longer for row in some):.2f} %",
            f"{statistics.fmean(row.expanded for row in some):.2f}",
            f"{max(row.at_worst for row in some):,}",
        ]
        lines.append(line)
    return markdown_table(HEADS, lines, left=HEADS) + "\n"


def _span(numbers: list[float]) -> str:
    return " to ".join(f"{number:.2g}" if number < 100 else f"{number:.0f}" for number in (min(numbers), max(numbers)))


def _sizes(numbers: list[int]) -> str:
    least, most = min(numbers), max(numbers)
    if most < 1e6:
        return f"{least / 1e3:.0f} to {most / 1e3:.0f} KB"
    first = f"{least / 1e6:.1f}" if least >= 1e6 else f"{least / 1e3:.0f} KB"
    return f"{first} to {most / 1e6:.1f} MB"


def draw(rows: list[Row]) -> None:
    """Draw quality against size and against build time, over all maps."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9.8, 4.1), sharey=True, layout="constrained")
    groups = list(together(rows))
    for axes, column, title in zip(
        panels, ("nbytes", "seconds"), ("size of the database, bytes", "time to build it, core-seconds"), strict=True
    ):
        costs = {some[0][:2]: statistics.fmean(getattr(row, column) for row in some) for some in groups}
        edge = min(cost for (_, database), cost in costs.items() if database) / 4
        for key, (marker, colour, label) in STYLES.items():
            mine = [some for some in groups if next(w for w in STYLES if w in some[0].database) == key]
            along = [costs[some[0][:2]] if some[0].database else edge for some in mine]
            longer = [statistics.fmean(row.longer for row in some) for some in mine]
            if mine:
                axes.scatter(along, longer, 45, colour, marker=marker, label=label)
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_xlabel(title)
        axes.grid(color="#e6e6e6")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("longer than a shortest path, %")
    panels[0].set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    panels[1].legend(frameon=False, fontsize=9)
    figure.savefig(PICTURE, dpi=100)


def main() -> None:
    """Measure databases, write the table, and draw the picture."""
    if "--draw" not in sys.argv:
        measure_all(PAIRS + (SLOW if "--slow" in sys.argv else ()))
    rows = known()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(before + BEGIN + "\n" + table(rows) + "\n" + END + after, encoding="utf-8")
    draw(rows)


if __name__ == "__main__":
    main()
