"""`andante build`: work out a database for each map, or one for any map."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    JSON_OPTION,
    MAP_HELP,
    check_folder,
    out,
    print_json,
    progress_of_parts,
    read_world,
)

if TYPE_CHECKING:
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)


@app.command()
def build(
    kind: str = typer.Argument(..., help="KIND or KIND(parameter=value, ...): see 'andante databases list'."),
    maps: list[str] = typer.Argument(..., metavar="MAP...", help=MAP_HELP),
    out_folder: Path = typer.Option(Path(), "--out", metavar="FOLDER", help="Where to write the files MAP.KIND."),
    threads: int = typer.Option(None, min=1, help="How many to build with; all cores if not given."),
    estimate: bool = typer.Option(False, help="Work for some seconds, say how long all of it will take, and stop."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Build a database for each map, and write it to a file; or one for any map from all of them: any.KIND.

    A file appears whole or not at all: an interrupt leaves nothing behind.
    """
    from andante.errors import OutputError
    from andante.notation import parse
    from andante.offline import build as make
    from andante.offline.builder import with_parameters

    call = parse(kind)
    builder, _ = with_parameters(call.name, dict(call.arguments))  # refused before any map is read
    grids = [read_world(text) for text in maps]
    portions = [("any", grids)] if builder.any_map else [(grid.name, [grid]) for grid in grids]
    files = [out_folder / f"{name}.{call.name}" for name, _ in portions]
    check_folder(*files)
    if len(set(files)) < len(files):
        raise OutputError("two of the maps have the same name, and so would their files; build them one at a time")
    if estimate:
        tell_estimates(kind, portions, threads, as_json)
        return
    written: list[dict[str, Any]] = []
    for (_, portion), file in zip(portions, files, strict=True):
        began = time.perf_counter()
        with progress_of_parts() as tell:
            database = make(kind, portion, threads=threads, progress=tell)
        took = time.perf_counter() - began
        database.save(file)
        written.append({"file": str(file), "kind": call.name, "bytes": file.stat().st_size, "seconds": took})
        if not as_json:
            size = file.stat().st_size / 1e6
            out.print(f"{file}: {size:.2f} MB, built in {took:.1f} s", soft_wrap=True, markup=False)
    if as_json:
        print_json(written)


def tell_estimates(kind: str, portions: list[tuple[str, list[Grid]]], threads: int | None, as_json: bool) -> None:
    """How long each of the databases will take to build."""
    from andante.offline.builder import estimate
    from andante.report.studytables import duration

    found = {name: estimate(kind, portion, threads=threads) for name, portion in portions}
    if as_json:
        print_json([{"map": name, **told._asdict()} for name, told in found.items()])
        return
    for name, told in found.items():
        sample = f", by {told.done:,} of {told.total:,}: {told.what}" if told.what else ""
        out.print(f"{name}: about {duration(told.seconds)}{sample}", soft_wrap=True, markup=False)
