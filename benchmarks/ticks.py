"""``make ticks``: how well ticks keep to their budget in microseconds, as a histogram.

More units than the budget is enough for walk on a map of 512 x 512 cells, and get new goals when they arrive. Run it on
a quiet machine, because no tick can end while another process has the core. It writes a table, and a picture for the
documentation.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import andante
from andante.files import write_whole
from andante.report.figure import INK, new_figure, save_figure, styled
from andante.world.grid import Grid
from benchmarks import report
from benchmarks.crowds import made, random_cells
from benchmarks.tables import Table

LATE = 1.1  # times the budget, beyond which a tick is late
WANTED = 99.99  # per cent of ticks that should not be late
EDGES = (0.5, 0.9, 1.0, 1.01, 1.02, 1.05, LATE, 1.25, 1.5, 2.0, 5.0)  # of the histogram, in budgets
AHEAD = 400e6  # bytes of memory requested before the first tick
RENEWED = 16  # ticks after which units that have arrived get new goals
WIDEST = 40  # characters of a bar
TABLE, PICTURE = Path("benchmarks/ticks.md"), Path("docs/images/ticks.svg")
BAR = 5.0  # microseconds: the width of a bar of the picture


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure ticks, and print, write and draw the histogram."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ticks", description=(__doc__ or "").partition("\n\n")[2]
    )
    parser.add_argument("--ticks", type=int, default=10_000)
    parser.add_argument("--units", type=int, default=10_000)
    parser.add_argument("--algorithm", default="lrta")
    parser.add_argument("--microseconds", type=float, default=2000.0, help="the budget of a tick")
    parser.add_argument("--out", type=Path, default=TABLE, help="the Markdown file to write (default %(default)s)")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="the picture to draw (default %(default)s)")
    asked = parser.parse_args(arguments)
    grid = andante.generate("outdoor", 512, 512, seed=7)
    took, waiting = measure(asked.algorithm, grid, asked.units, asked.ticks, asked.microseconds)
    table = histogram(took, asked.microseconds)
    title = f"# How long ticks take: {asked.units:,} units of {asked.algorithm}, {asked.microseconds:g} us per tick"
    lead = f"{len(took):,} ticks on {grid.name}; on average {waiting:,.0f} units had to wait."
    text = "\n".join([title, "", f"{lead} {report.machine()}{report.load()}.", "", table.markdown(), ""])
    print(text)
    write_whole(asked.out, text.encode())
    draw(took, asked.microseconds, asked.picture)


def measure(
    algorithm: str, grid: Grid, units: int, ticks: int, microseconds: float
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the time of each tick in microseconds, and how many units had to wait on average."""
    crowd = made(algorithm, grid, units, memory=1e9)
    crowd.compile(memory=AHEAD)  # as a game does while a level loads; otherwise some ticks wait for memory
    ids, goals = np.arange(units), random_cells(grid, ticks + units, seed=3)
    found, waiting = np.zeros(ticks), 0
    gc.collect()
    gc.freeze()  # as a game does after loading
    for k in range(ticks):
        if k % RENEWED == 0:
            idle = ids[crowd.outcomes[ids] != andante.Outcome.WALKING]
            crowd.send(idle, goals[k : k + len(idle)])
        tick = crowd.tick(microseconds=microseconds)
        found[k], waiting = tick.microseconds, waiting + tick.waiting
    gc.unfreeze()
    return found, waiting / ticks


def histogram(took: npt.NDArray[np.float64], budget: float) -> Table:
    """Return the histogram of the times of ticks."""
    bounds = np.array([0.0, *EDGES, np.inf]) * budget
    counts = np.histogram(took, np.nan_to_num(bounds, posinf=np.finfo(float).max))[0]
    table = Table("Ticks", ["microseconds", "ticks", "per cent", ""], left=("",))
    for low, high, count in zip(bounds[:-1], bounds[1:], counts, strict=True):
        name = f"{low:,.0f} to {high:,.0f}" if np.isfinite(high) else f"over {low:,.0f}"
        bar = "#" * int(np.ceil(WIDEST * count / max(1, counts.max())))
        table.rows.append([name, f"{count:,}", f"{100 * count / len(took):.2f}", bar])
    share = 100 * float(np.mean(took <= LATE * budget))
    kept = "kept" if share >= WANTED else "NOT kept"
    points = ", ".join(f"{np.percentile(took, p, method='higher'):,.0f} us at {p:g} %" for p in (50, 99, 99.9, 99.99))
    table.notes = [
        f"{share:.2f} % of the ticks lasted at most {LATE * budget:,.0f} us ({WANTED} % wanted: {kept}).",
        f"{points}; the longest took {took.max():,.0f} us.",
    ]
    return table


def draw(took: npt.NDArray[np.float64], budget: float, path: Path) -> None:
    """Draw the histogram, with all late ticks in one bar at the end."""
    late = LATE * budget
    low = min(float(np.percentile(took, 1)), late - BAR)
    edges = np.append(np.arange(BAR * (low // BAR), late, BAR), [late, late + BAR])
    counts = np.histogram(np.clip(took, edges[0], late + BAR / 2), edges)[0]
    with styled():
        figure = new_figure(7.0, 3.0)
        axes = figure.add_subplot()
        axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=INK)
        axes.axvline(budget, color=INK, linewidth=0.8, linestyle="--")
        axes.set(yscale="log", xlabel="microseconds (last bar: all that took longer)", ylabel="ticks")
        axes.set_title(f"{len(took):,} ticks with a budget of {budget:g} us")
        figure.tight_layout()
        save_figure(figure, path)


if __name__ == "__main__":
    main()
