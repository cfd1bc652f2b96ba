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
from andante.cli.shared import out, progress_of_parts, show_compilation
from andante.machine import cores

if TYPE_CHECKING:
    from andante.agent import Algorithm
    from andante.databases.header import Database
    from andante.episode.crowdresult import CrowdResult
    from andante.selection.library import BuiltDatabases, Library, Refused
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)

SIDE, SEED, PROBLEMS = 512, 7, 200
BUILD_SECONDS = 40.0  # for building all databases
UNITS, TICKS = 500, 2000  # of the crowd
CROWDS = ("hcdps", "dlrta", "lrta")  # the first has the database that is built soonest, the last needs none
MOST_FOR_ALL_PAIRS = 30_000  # states of a map on which a database that looks at all pairs of them is built in that time


@app.command()
def demo(
    path: Path = typer.Option(Path("demo.html"), "--out", metavar="FILE.html", help="Where to write the page."),
) -> None:
    """Compare the agents on a generated game-like map, let a crowd walk over it, and write a page about both."""
    from andante.agent import compared
    from andante.datasets.generate import generate
    from andante.files import make_folder

    grid = generate("outdoor", SIDE, SIDE, seed=SEED)
    problems = choose_problems(grid, None, PROBLEMS, SEED)
    out.print(f"{len(problems)} problems on a generated map of {SIDE} x {SIDE} cells, {grid.free_cells} of them free")
    able = quickly_ready(compared())
    kinds = kinds_for(able, grid)
    compile_all_of(able, kinds)
    built = build_databases(grid, kinds)
    outfits = worth_comparing(able, grid, tuple(database for database, _ in built))
    rows = run_all(outfits, grid, problems, cores(), SUBOPTIMALITY_CAP, built)
    print_results(rows, as_json=False)
    crowd = run_crowd(grid, [database for database, _ in built])
    print_crowd(crowd)
    make_folder(path.parent)
    write_page("Andante: agents on a generated map", rows, replays(outfits, problems, rows), path, crowd)


def run_crowd(grid: Grid, databases: Sequence[Database]) -> CrowdResult:
    """Let a crowd walk over the map, of the first algorithm in `CROWDS` for which there are databases."""
    from andante.agent import find
    from andante.datasets.scenarios import random_problems
    from andante.episode.crowdresult import Pace

    kinds = {one.kind for one in databases}
    entry = next(one for one in map(find, CROWDS) if kinds.issuperset(one.needs))
    problems = random_problems(grid, UNITS, seed=SEED)
    return march(entry, problems, Pace(MICROSECONDS, ticks=TICKS), databases=databases, recorded=True)


def quickly_ready(entries: Sequence[Algorithm]) -> list[Algorithm]:
    """Return the agents that do not plan on levels: those take longest to compile, and need databases of their own."""
    from andante.selection.space import with_databases

    return [
        entry
        for entry in entries
        if not entry.card.regions and any(one.databases == entry.needs for one in with_databases(entry))
    ]


def kinds_for(entries: Sequence[Algorithm], grid: Grid) -> list[str]:
    """Return the kinds of databases that these agents use and that may be built in time.

    Databases for any map are left out: trained on the map that they are tested on they would prove little. Those that
    would take too long for sure are left out as well, before their builders are compiled.
    """
    from andante.offline import builders

    known = builders()
    kinds = [one for one in dict.fromkeys(known[kind] for entry in entries for kind in entry.needs) if not one.any_map]
    large = len(grid.graph) > MOST_FOR_ALL_PAIRS
    for one in kinds:
        if one.all_pairs and large:
            out.print(f"no {one.kind} database: it takes minutes to look at all pairs of states", soft_wrap=True)
    return [one.kind for one in kinds if not (one.all_pairs and large)]


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


def build_databases(grid: Grid, kinds: Sequence[str]) -> list[tuple[Database, float]]:
    """Return databases of these kinds with their build times, built cheapest first as time permits.

    A kind that would take too long at its defaults is built with its next settings, which need less time or memory.
    """
    from andante.measures import measure
    from andante.selection.journal import Journal
    from andante.selection.library import Library, Refused
    from andante.selection.requirements import Requirements

    built: list[tuple[Database, float]] = []
    with progress_of_parts() as progress:
        library = Library([grid], Requirements(), Journal(), cores(), progress, BUILD_SECONDS)
        library.prepare(kinds)
        found = dict(first_in_time(library, kind) for kind in kinds)
    for text, one in found.items():
        if isinstance(one, Refused):
            out.print(f"no {text} database: {one.reason}", soft_wrap=True)
            continue
        size, time = measure("database_bytes").show(one.nbytes), measure("build_seconds").show(one.build_seconds)
        out.print(f"{text} database: {size}, built in {time}", soft_wrap=True)
        built += [(database, one.build_seconds) for database in one.databases]
    return built


def first_in_time(library: Library, kind: str) -> tuple[str, BuiltDatabases | Refused]:
    """Return the first settings of a kind that there is time to build, and the databases; or why there are none."""
    from andante.offline import builders
    from andante.selection.library import Refused

    late: tuple[str, BuiltDatabases | Refused] | None = None
    for text in builders()[kind].orders:
        found = library.databases([text])
        if not (isinstance(found, Refused) and found.late):
            return text, found
        late = late or (text, found)
    assert late is not None  # a kind has at least its defaults
    return late
