"""`andante advise`: find the agent to use on given maps, under given limits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.advice import as_data, print_advice, print_ladder, write_results
from andante.cli.shared import (
    JSON_OPTION,
    RULE_OPTION,
    SIGHT_OPTION,
    TERRAIN_OPTION,
    err,
    number_option,
    print_json,
    progress_of_parts,
    read_world,
    show_compilation,
)
from andante.machine import cores

if TYPE_CHECKING:
    from andante.selection import Advice, Rung
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)

MINUTES = 5.0  # if neither --minutes nor --problems is given
WORTH_SAYING = 10.0  # seconds of compiling above which the time is reported
MOST_MAPS = 24  # of a folder or set; from a larger one this many are drawn


@app.command()
def advise(
    maps: list[str] = typer.Argument(
        ...,
        metavar="MAP...",
        help="Maps: .map files, folders of them, benchmark sets (dao), single maps of a set (dao/arena), or generated "
        "maps as KIND:WIDTHxHEIGHT:SEED.",
    ),
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    expansions: list[int] = typer.Option(
        [], min=0, help="The most states expanded before any move. May be repeated: finds the best agent for each."
    ),
    microseconds: float | None = number_option(None, 0, help="The most time for any move, on this machine."),
    memory: float | None = number_option(None, 0, metavar="MB", help="The most memory for the databases of a map."),
    build_time: float | None = number_option(
        None, 0, metavar="SECONDS", help="The most time for building the databases of a map."
    ),
    units: int | None = typer.Option(
        None, min=1, help="The number of agents on the map: measures crowds of this size instead of single agents."
    ),
    tick_ms: float | None = number_option(
        None, 0, metavar="MS", help="With --units: the time for a tick, in which every unit moves at most once."
    ),
    total_memory: float | None = number_option(
        None, 0, metavar="MB", help="With --units: the most memory for all units and the databases of a map."
    ),
    changing: bool = typer.Option(
        False, help="The map may change: consider only agents that can follow changes, and no databases."
    ),
    sight: int | None = SIGHT_OPTION,
    minutes: float | None = number_option(
        None,
        help="Answer within this time, not counting compiling, which happens once. "
        f"Default: {MINUTES:g}, unless --problems is given.",
    ),
    problems: int | None = typer.Option(
        None, min=10, help="The most problems to race on; the best are run on as many new ones. Default: 400."
    ),
    candidates: int = typer.Option(
        200, min=1, help="About how many settings to try; those that cards recommend are always tried."
    ),
    optimal_cost: tuple[float, float] = number_option(
        (0.0, math.inf), metavar="LOW HIGH", help="Only problems with an optimal cost in this range."
    ),
    seed: int = typer.Option(0, min=0, help="Seed for drawing problems and settings."),
    threads: int = typer.Option(cores(), min=1, help="How many problems to run at once."),
    folder: Path | None = typer.Option(
        None,
        "--out",
        metavar="FOLDER",
        help="Write a page, the table and the winner's databases there. A stopped run can be resumed from there.",
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Find the agent to use on these maps, under these limits.

    Agents with different parameters race: many run on few problems, and the best on more. An agent that exceeds a limit
    on any move is dropped. With --units they run as crowds, small ones first, and are judged by how far units walk and
    how long they wait.
    """
    from andante.selection import Requirements, ladder
    from andante.selection import advise as ask
    from andante.selection.advise import PROBLEMS

    grids = read_maps(maps, seed, rule, terrain)
    most, several = (expansions[0], False) if len(expansions) == 1 else (None, bool(expansions))
    requirements = Requirements(
        expansions=most,
        microseconds=microseconds,
        memory_bytes=_in_bytes(memory),
        build_seconds=build_time,
        changing=changing,
        sight=sight,
        units=units,
        tick_ms=tick_ms,
        total_memory=_in_bytes(total_memory),
    )
    if minutes is None and problems is None:
        minutes = MINUTES * max(1, len(expansions))
    with show_compilation() as compiling, progress_of_parts() as report:
        how: dict[str, Any] = {
            "minutes": minutes,
            "problems": problems or PROBLEMS,
            "candidates": candidates,
            "optimal_cost": optimal_cost,
            "seed": seed,
            "threads": threads,
            "folder": folder,
            "progress": report,
            "compiling": compiling,
        }
        with print_if_interrupted(folder):
            found = ladder(grids, expansions, requirements, **how) if several else ask(grids, requirements, **how)
    print_compiled(found)
    if isinstance(found, list):
        print_ladder(found, as_json, folder)
        return
    if as_json:
        print_json(as_data(found))
    else:
        print_advice(found)
    if folder is not None:
        write_results(found, folder)


def _in_bytes(megabytes: float | None) -> float | None:
    return None if megabytes is None else megabytes * 1e6


def print_compiled(found: Advice | list[Rung]) -> None:
    """Print how long compiling took, if it took long."""
    answers = [rung.advice for rung in found] if isinstance(found, list) else [found]
    seconds = sum(one.compile_seconds for one in answers if one is not None)
    if seconds > WORTH_SAYING:
        err.print(f"compiling took {seconds:.0f} s in addition to everything else; compiled code is cached")


@contextmanager
def print_if_interrupted(folder: Path | None) -> Iterator[None]:
    """Print, if the command is interrupted, whether its results so far are kept."""
    try:
        yield
    except KeyboardInterrupt:
        kept = "nothing was saved; use --out FOLDER to be able to resume"
        if folder is not None:
            kept = f"the results so far are in {folder}; run the same command again to resume"
        err.print(f"stopped; {kept}", soft_wrap=True)
        raise


def read_maps(texts: Sequence[str], seed: int, rule: str = "octile", terrain: str = "") -> list[Grid]:
    """Return the maps that the arguments name; from a large folder or set, draw some."""
    from andante.errors import MapError
    from andante.files import listed

    found: dict[str, Grid] = {}
    for text in texts:
        folder = Path(text)
        if os.path.isdir(folder):
            files = sorted(folder / name for name in listed(folder) if name.endswith(".map"))
            if not files:
                raise MapError(f"there is no .map file in the folder {folder}")
            grids = [read_world(str(file), rule, terrain) for file in _some(files, text, seed)]
        elif _is_set(text):
            grids = [read_world(f"{text}/{name}", rule, terrain) for name in _some(_map_names(text), text, seed)]
        else:
            grids = [read_world(text, rule, terrain)]
        found.update({grid.fingerprint: grid for grid in grids})
    return list(found.values())


def _is_set(text: str) -> bool:
    from andante.datasets.movingai import sets

    return text in {one.name for one in sets()}


def _map_names(text: str) -> list[str]:
    from andante.datasets.movingai import map_names

    return map_names(text)


def _some(items: list[Any], where: str, seed: int) -> list[Any]:
    """Return the items or, if there are too many, some of them drawn by the seed, in their order."""
    if len(items) <= MOST_MAPS:
        return items
    import numpy as np

    err.print(f"{where} has {len(items)} maps; using {MOST_MAPS} of them, drawn with --seed")
    chosen = np.random.default_rng(seed).choice(len(items), MOST_MAPS, replace=False)
    return [items[k] for k in sorted(chosen.tolist())]
