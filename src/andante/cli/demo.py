"""`andante demo`: what Andante is for, in one command."""

from __future__ import annotations

from pathlib import Path

import typer

from andante.cli.compare import (
    SUBOPTIMALITY_CAP,
    choose_problems,
    replays,
    run_all,
    tell_results,
    worth_comparing,
    write_page,
)
from andante.cli.shared import out
from andante.machine import cores

app = typer.Typer(add_completion=False)

SIDE, SEED, PROBLEMS = 512, 7, 200


@app.command()
def demo(
    path: Path = typer.Option(Path("demo.html"), "--out", metavar="FILE.html", help="Where to write the page."),
) -> None:
    """Compare the agents on a generated game-like map and write a page about it."""
    from andante.datasets.generate import generate
    from andante.files import make_folder

    grid = generate("outdoor", SIDE, SIDE, seed=SEED)
    problems = choose_problems(grid, None, PROBLEMS, SEED)
    out.print(f"{len(problems)} problems on a generated map of {SIDE} x {SIDE} cells, {grid.free_cells} of them free")
    entries = worth_comparing()
    rows = run_all(entries, grid, problems, cores(), SUBOPTIMALITY_CAP)
    tell_results(rows, as_json=False)
    make_folder(path.parent)
    write_page("Andante: agents on a generated map", rows, replays(entries, problems), path)
