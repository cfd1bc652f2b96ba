"""`andante demo`: a comparison of agents on a generated map, and a crowd of them, in one command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.compare import (
    SUBOPTIMALITY_CAP,
    choose_problems,
    print_results,
    replays,
    run_all,
    worth_comparing,
    write_page,
)
from andante.cli.crowd import MICROSECONDS, march, print_crowd
from andante.cli.quickly import build_databases, without_slow
from andante.cli.shared import out, show_compilation
from andante.machine import cores

if TYPE_CHECKING:
    from andante.agent import Algorithm
    from andante.databases.header import Database
    from andante.episode.crowdresult import CrowdResult
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)

SIDE, SEED, PROBLEMS = 512, 7, 200
BUILD_SECONDS = 40.0  # for building all databases
UNITS, TICKS = 500, 2000  # of the crowd
CROWDS = ("hcdps", "dlrta", "lrta")  # the first has the database that is built fastest, the last needs none


@app.command()
def demo(
    path: Path = typer.Option(Path("demo.html"), "--out", metavar="FILE.html", help="Where to write the page."),
) -> None:
    """Compare the agents on a generated game-like map, run a crowd on it, and write a page with both."""
    from andante.agent import compared
    from andante.datasets.generate import generate
    from andante.files import make_folder

    grid = generate("outdoor", SIDE, SIDE, seed=SEED)
    problems = choose_problems(grid, None, PROBLEMS, SEED)
    out.print(f"{len(problems)} problems on a generated map of {SIDE} x {SIDE} cells, {grid.free_cells} of them free")
    able = quickly_ready(compared())
    kinds = kinds_for(able, grid)
    compile_all_of(able, kinds)
    built = build_databases(grid, kinds, BUILD_SECONDS)
    outfits = worth_comparing(able, grid, tuple(database for database, _ in built))
    rows = run_all(outfits, grid, problems, cores(), SUBOPTIMALITY_CAP, built)
    print_results(rows, as_json=False)
    crowd = run_crowd(grid, [database for database, _ in built])
    print_crowd(crowd)
    make_folder(path.parent)
    place = write_playground(path.parent, grid)
    traces = replays(outfits, problems, rows)
    write_page("Andante: agents on a generated map", rows, traces, path, crowd, playground=place)


def write_playground(folder: Path, grid: Grid) -> str | None:
    """Write the playground with this map into the page's folder, if it is installed, and return the file's name."""
    from andante.files import write_whole
    from andante.play.page import is_built, page_with
    from andante.play.scene import scene_of

    if not is_built():
        out.print(
            "watch these agents think in your browser: releases include the playground (andante play); in a clone, "
            "'make playground' builds it with Node 20 or newer",
            soft_wrap=True,
        )
        return None
    place = folder / "play.html"
    write_whole(place, page_with(scene_of(grid)).encode())
    out.print(f"watch agents think on the same map: open {place}", soft_wrap=True)
    return place.name


def run_crowd(grid: Grid, databases: Sequence[Database]) -> CrowdResult:
    """Run a crowd on the map, of the first algorithm in `CROWDS` for which there are databases."""
    from andante.agent import find
    from andante.datasets.scenarios import random_problems
    from andante.episode.crowdresult import Pace

    kinds = {one.kind for one in databases}
    entry = next(one for one in map(find, CROWDS) if kinds.issuperset(one.needs))
    problems = random_problems(grid, UNITS, seed=SEED)
    return march(entry, problems, Pace(MICROSECONDS, ticks=TICKS), databases=databases, recorded=True)


def quickly_ready(entries: Sequence[Algorithm]) -> list[Algorithm]:
    """Return the agents that do not plan on levels, which take longest to compile and need separate databases."""
    from andante.selection.space import with_databases

    return [
        entry
        for entry in entries
        if not entry.card.regions and any(one.databases == entry.needs for one in with_databases(entry))
    ]


def kinds_for(entries: Sequence[Algorithm], grid: Grid) -> list[str]:
    """Return the kinds of databases that these agents use and that can probably be built in time.

    Databases for any map are left out, because they would be trained on the same map that they are tested on.
    """
    from andante.offline import builders

    known = builders()
    kinds = dict.fromkeys(kind for entry in entries for kind in entry.needs if not known[kind].any_map)
    return without_slow(list(kinds), grid)


def compile_all_of(entries: Sequence[Algorithm], kinds: Sequence[str]) -> None:
    """Compile the builders of these databases and the agents that use them, and in parallel the other agents."""
    from andante.campaign.compiling import Compiler, compiling_beside
    from andante.episode.run import Outfit

    looking = [entry for entry in entries if entry.needs and set(entry.needs) <= set(kinds)]
    total = len(kinds) + len(looking)
    with show_compilation() as report, compiling_beside(entry for entry in entries if not entry.needs):
        compiler = Compiler(report)
        for number, kind in enumerate(kinds, 1):
            compiler.builder(kind, number, total)
        for number, entry in enumerate(looking, len(kinds) + 1):
            compiler.agent(Outfit(entry, entry.needs), number, total)
