"""`andante advise`: which agent to use on these maps, under these limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    JSON_OPTION,
    SIGHT_OPTION,
    default_threads,
    err,
    out,
    print_json,
    progress_of_parts,
    read_world,
    telling_of_compilation,
)

if TYPE_CHECKING:
    from andante.measures import Summary
    from andante.selection import Advice
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)

MINUTES = 5.0  # if neither time nor problems are given
MOST_MAPS = 24  # of a folder or a set; of more, so many are drawn


@app.command()
def advise(
    maps: list[str] = typer.Argument(
        ...,
        metavar="MAP...",
        help="Maps: .map files, folders of them, benchmark sets (dao), maps of one (dao/arena), or generated ones as "
        "KIND:WIDTHxHEIGHT:SEED.",
    ),
    expansions: int | None = typer.Option(None, min=0, help="At most so many states expanded before any move."),
    microseconds: float | None = typer.Option(None, min=0, help="At most so many microseconds for any move, here."),
    memory: float | None = typer.Option(None, min=0, metavar="MB", help="For databases, at most so much per map."),
    build_time: float | None = typer.Option(
        None, min=0, metavar="SECONDS", help="To build the databases of a map, at most so long."
    ),
    changing: bool = typer.Option(False, help="The map may change: only agents that cope with that, no databases."),
    sight: int | None = SIGHT_OPTION,
    minutes: float | None = typer.Option(
        None, help=f"Answer within so many minutes. Default: {MINUTES:g}, unless --problems is given."
    ),
    problems: int | None = typer.Option(
        None, min=10, help="Race on at most so many problems, and try the best on as many fresh ones. Default: 400."
    ),
    candidates: int = typer.Option(200, min=1, help="How many settings enter the race."),
    seed: int = typer.Option(0, min=0, help="For drawing problems and settings."),
    threads: int = typer.Option(default_threads(), min=1, help="How many problems run at once."),
    output: Path | None = typer.Option(
        None,
        metavar="FOLDER",
        help="Write a page, the table and the winner's databases there. A run that was stopped goes on from there.",
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Say which agent to use on these maps, under these limits.

    Agents and their parameters race: many on few problems, the best on more. Whoever breaks a limit on any move is out.
    """
    from andante.selection import Requirements
    from andante.selection import advise as ask
    from andante.selection.advise import PROBLEMS

    grids = read_maps(maps, seed)
    requirements = Requirements(
        expansions, microseconds, None if memory is None else memory * 1e6, build_time, changing, sight
    )
    if minutes is None and problems is None:
        minutes = MINUTES
    with telling_of_compilation() as compiling, progress_of_parts() as tell:
        advice = ask(
            grids,
            requirements,
            minutes=minutes,
            problems=problems or PROBLEMS,
            candidates=candidates,
            seed=seed,
            threads=threads,
            folder=output,
            progress=tell,
            compiling=compiling,
        )
    if as_json:
        print_json(as_data(advice))
    else:
        tell_advice(advice)
    if output is not None:
        write_results(advice, output)


def read_maps(texts: Sequence[str], seed: int) -> list[Grid]:
    """The maps that the arguments name; of a large folder or set some are drawn."""
    from andante.errors import MapError
    from andante.world.mapfiles import read_map

    found: dict[str, Grid] = {}
    for text in texts:
        folder = Path(text)
        if folder.is_dir():
            files = sorted(folder.glob("*.map"))
            if not files:
                raise MapError(f"there is no .map file in the folder {folder}")
            grids = [read_map(file) for file in _some(files, text, seed)]
        elif _is_set(text):
            grids = [read_world(f"{text}/{name}") for name in _some(_map_names(text), text, seed)]
        else:
            grids = [read_world(text)]
        found.update({grid.fingerprint: grid for grid in grids})
    names = [grid.name for grid in found.values()]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise MapError(f"two different maps are called {twice}; rename one, so that their databases can be told apart")
    return list(found.values())


def _is_set(text: str) -> bool:
    from andante.datasets.movingai import sets

    return text in {one.name for one in sets()}


def _map_names(text: str) -> list[str]:
    from andante.datasets.movingai import map_names

    return map_names(text)


def _some(items: list[Any], where: str, seed: int) -> list[Any]:
    """At most so many of them, drawn by the seed, in their order."""
    if len(items) <= MOST_MAPS:
        return items
    import numpy as np

    err.print(f"{where} has {len(items)} maps; advice is on {MOST_MAPS} of them, drawn by the seed", markup=False)
    chosen = np.random.default_rng(seed).choice(len(items), MOST_MAPS, replace=False)
    return [items[k] for k in sorted(chosen.tolist())]


def tell_advice(advice: Advice) -> None:
    """The table and the answer, for a person."""
    from andante.report.table import TerminalTable

    out.print(f"Wanted: {advice.requirements.sentence}.", soft_wrap=True, markup=False)
    out.print(TerminalTable([replace(one, name=label) for label, one in labelled(advice).items()]))
    for label, one in labelled(advice).items():
        out.print(f"  {label:12}{one.name}", soft_wrap=True, markup=False)
    out.print()
    for sentence in advice.sentences:
        out.print(sentence, soft_wrap=True, markup=False)
    imports = {"load(": "from andante.databases.header import load", "build(": "from andante.offline import build"}
    lines = [line for word, line in imports.items() if word in advice.code]
    out.print("", *lines, advice.code, sep="\n    ", soft_wrap=True, markup=False)


def labelled(advice: Advice) -> dict[str, Summary]:
    """The ranking with short names, for tables and plots: names with all parameters and databases are long."""
    return {f"{place}. {one.candidate.algorithm.card.name}": one.summary for place, one in enumerate(advice.ranking, 1)}


def as_data(advice: Advice) -> dict[str, Any]:
    """The same for a program."""
    return {
        "requirements": asdict(advice.requirements),
        "maps": [grid.name for grid in advice.maps],
        "advice": advice.sentences,
        "python": advice.code,
        "files": {name: [str(file) for file in files] for name, files in advice.files.items()},
        "race_problems": advice.race_problems,
        "fresh_problems": advice.fresh_problems,
        "ranking": [
            {
                "agent": one.candidate.name,
                "algorithm": str(one.candidate.algorithm),
                "databases": list(one.candidate.databases),
                "interval": one.interval,
                "worst_microseconds": one.worst_microseconds,
                **asdict(one.summary),
            }
            for one in advice.ranking
        ],
        "dropped": [asdict(one) for one in advice.dropped],
    }


def write_results(advice: Advice, folder: Path) -> None:
    """The page, and the table for other programs."""
    from andante.report.page import write_page
    from andante.report.table import write_csv

    limit, labels = advice.requirements.expansions, labelled(advice)
    short = {one.name: label for label, one in labels.items()}
    write_csv(advice.rows, folder / "trials.csv")
    write_page(
        folder / "advice.html",
        title=f"Advice: {advice.winner.candidate.name}",
        rows=[{**row, "algorithm": short[str(row["algorithm"])]} for row in advice.rows],
        limits=(1, 10, 100, 1000, 10_000, float("inf")) if limit is None else sorted({1, 10, 100, limit}),
        notes=[
            f"Wanted: {advice.requirements.sentence}.",
            *advice.sentences,
            f"In Python: {advice.code}",
            *(f"{label} is {one.name}" for label, one in labels.items()),
        ],
    )
    err.print(f"wrote {folder / 'advice.html'} and {folder / 'trials.csv'}", soft_wrap=True, markup=False)
