"""`andante export`: agents as a C library and as WebAssembly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.shared import (
    JSON_OPTION,
    MAP_HELP,
    RULE_OPTION,
    TERRAIN_OPTION,
    err,
    number_option,
    out,
    print_json,
    read_world,
    show_compilation,
    split_algorithms,
)

if TYPE_CHECKING:
    from andante.databases.header import Database
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)


@app.command()
def export(
    algorithms: list[str] = typer.Argument(
        ..., metavar="ALGORITHM...", help="NAME or NAME(parameter=value, ...); several go into one library."
    ),
    maps: list[str] = typer.Option(..., "--map", metavar="MAP", help=f"{MAP_HELP} May be repeated."),
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    database: list[Path] = typer.Option(
        [],
        metavar="FILE",
        help="A database for one of these maps, made by 'andante build'; may be repeated.",
    ),
    target: list[str] = typer.Option(
        ["this"],
        help="this (machine), linux, windows, macos or wasm, optionally with a processor, such as linux-arm64; may be "
        "repeated.",
    ),
    out_folder: Path = typer.Option(
        ..., "--out", metavar="FOLDER", help="Where to write: a new or empty folder, or one of an earlier export."
    ),
    living: bool = typer.Option(False, "--living", help="Let the game close and open cells of the maps."),
    crowd: int = typer.Option(
        0,
        "--crowd",
        metavar="UNITS",
        min=0,
        help="Also write crowds of at most this many units, with one budget per tick.",
    ),
    memory: float = number_option(16e6, 1e6, metavar="BYTES", help="The memory limit for all units of a crowd."),
    bodies: bool = typer.Option(False, "--bodies", help="No two units of a crowd are in one cell."),
    share: str = typer.Option(
        None, "--share", metavar="goal", help="Units of a crowd that have the same goal learn together."
    ),
    grow: int = typer.Option(
        1,
        metavar="TIMES",
        min=1,
        help="Also write plans for larger crowds, up to TIMES as large, so that a crowd can grow.",
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Write agents as a C library, or as WebAssembly, into a folder that a game can use.

    The folder has a C header, libraries, maps and databases as flat files, an example and a README. For other machines
    than this one, and for wasm, Zig links: pip install 'andante[export]'. Without it there are object files to link.
    """
    from andante.agent import find
    from andante.export.folder import export as write
    from andante.export.objects import targets_named

    for name in target:
        targets_named(name)  # refused before any map is read
    found = [find(text) for text in split_algorithms(algorithms)]
    grids = [read_world(text, rule, terrain) for text in maps]
    databases = [_loaded(file, grids) for file in database]
    with show_compilation():
        package = write(
            found,
            grids,
            out_folder,
            databases=databases,
            targets=target,
            living=living,
            crowd=crowd,
            memory=memory,
            bodies=bodies,
            share=share,
            grow=grow,
        )
    if as_json:
        print_json({"folder": str(out_folder), "agents": package.agents, "libraries": package.libraries})
        return
    for name, algorithm in package.agents.items():
        out.print(f"andante_{name}_...  {algorithm}", soft_wrap=True)
    for name, files in package.libraries.items():
        out.print(f"{out_folder / name}: {', '.join(files)}", soft_wrap=True)
    if package.unlinked:
        err.print(
            f"no linker for {', '.join(package.unlinked)}: there are object files instead; {out_folder / 'README.md'} "
            "says how to link them, or install 'andante[export]' and export again",
            soft_wrap=True,
        )
    err.print(f"wrote {out_folder}; begin with README.md", soft_wrap=True)


def _loaded(file: Path, grids: Sequence[Grid]) -> Database:
    """Return the database in a file, which must be for one of these maps."""
    from andante.databases.header import load, read_header

    chart = read_header(file).fingerprint
    fitting = next((grid for grid in grids if chart in (None, grid.fingerprint)), grids[0])
    return load(file, map=fitting)
