"""`andante build`: build a database for each map, or one for any map."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    JSON_OPTION,
    MAP_HELP,
    RULE_OPTION,
    TERRAIN_OPTION,
    out,
    print_json,
    progress_of_parts,
    read_world,
)
from andante.notation import Call, parse

if TYPE_CHECKING:
    from andante.offline import Builder
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)


@app.command()
def build(
    kind: str = typer.Argument(..., help="KIND or KIND(parameter=value, ...): see 'andante databases list'."),
    maps: list[str] = typer.Argument(..., metavar="MAP...", help=MAP_HELP),
    out_folder: Path = typer.Option(
        Path(), "--out", metavar="FOLDER", help="Where to write the files MAP.KIND; created if needed."
    ),
    goals: Path | None = typer.Option(
        None,
        metavar="FILE.scen",
        help="Build only for the goals of this scenario, on one map (only for kinds with goals=asked).",
    ),
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    threads: int = typer.Option(None, min=1, help="Threads to build with. Default: one per core."),
    force: bool = typer.Option(
        False, "--force", help="Overwrite files built with other parameters, or for some goals only."
    ),
    estimate: bool = typer.Option(False, help="Work for a few seconds, print an estimate of the build time, and stop."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Build a database for each map, and write it to a file.

    Kinds that work on any map are built from all of the maps, as one file any.KIND. Files are written only when they
    are complete, so an interrupted build leaves no files behind. An existing file that was built with other parameters,
    or for particular goals, is overwritten only with --force. A file that is not a database is never overwritten.
    """
    from andante.errors import OutputError, ParameterError
    from andante.files import make_folder
    from andante.measures import measure
    from andante.offline import build as make
    from andante.offline.builder import chosen_for

    call = parse(kind)
    builder, params = chosen_for(call, goals is not None)  # refused before any map is read
    if goals is not None and len(maps) > 1:
        raise ParameterError("a scenario is for one map; build the maps one at a time")
    grids = [read_world(text, rule, terrain) for text in maps]
    asked = goals_in(goals, grids[0]) if goals is not None else None
    portions = [("any", grids)] if builder.any_map else [(grid.name, [grid]) for grid in grids]
    files = [out_folder / f"{name}.{call.name}" for name, _ in portions]
    if len(set(files)) < len(files):
        raise OutputError("two of the maps have the same name, and so would their files; build them one at a time")
    if estimate:
        print_estimates(kind, portions, asked, threads, as_json)
        return
    refuse_to_overwrite(files, builder, params, force)
    make_folder(out_folder)
    written: list[dict[str, Any]] = []
    for (_, portion), file in zip(portions, files, strict=True):
        began = time.perf_counter()
        with progress_of_parts() as report:
            database = make(kind, portion, goals=asked, threads=threads, progress=report)
        took = time.perf_counter() - began
        database.save(file)
        written.append({"file": str(file), "kind": call.name, "bytes": file.stat().st_size, "seconds": took})
        if not as_json:
            size, time_taken = measure("database_bytes").show(file.stat().st_size), measure("build_seconds").show(took)
            out.print(f"{file}: {size}, built in {time_taken}", soft_wrap=True)
    if as_json:
        print_json(written)


def goals_in(scenario: Path, grid: Grid) -> list[int]:
    """Return the goals of the problems in a file; raise an error if none of them can be solved on this map."""
    from andante.errors import ScenarioError
    from andante.world.mapfiles import read_scenario

    listed = read_scenario(scenario, grid)
    if not listed:
        raise ScenarioError(f"{scenario} has no problem that can be solved on {grid.name}")
    return [problem.goal for problem in listed]


def refuse_to_overwrite(files: Sequence[Path], builder: Builder, params: Any, force: bool) -> None:
    """Raise an error if one of the files exists and is not a database or, unless forced, has other parameters.

    A damaged database may be overwritten. The parameters of a `goals=asked` file do not show which goals it is for, so
    it is never overwritten without --force.
    """
    from andante.databases.header import is_database, read_header
    from andante.errors import DatabaseError, OutputError

    wanted = {p.name: p.word(value) for p, value in zip(builder.parameters, params, strict=True)}
    for file in files:
        if os.path.lexists(file) and not is_database(file):
            raise OutputError(
                f"{file} exists and is not a database of Andante; move it away, or write elsewhere with --out FOLDER"
            )
        if force:
            continue
        try:
            there = read_header(file)
        except DatabaseError:
            continue
        if (there.kind, there.parameters) == (builder.kind, wanted) and wanted.get("goals") == "asked":
            raise OutputError(
                f"{file} exists and may have been built for other goals; --force overwrites it, and "
                "--out FOLDER writes elsewhere"
            )
        if (there.kind, there.parameters) != (builder.kind, wanted):
            old = Call(there.kind, _changed(there.parameters, wanted))
            new = Call(builder.kind, _changed(wanted, there.parameters))
            raise OutputError(
                f"{file} exists and was built as {old}, not as {new}; --force overwrites it, and "
                "--out FOLDER writes elsewhere"
            )


def _changed(parameters: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from the others."""
    return {name: value for name, value in parameters.items() if name not in others or others[name] != value}


def print_estimates(
    kind: str, portions: list[tuple[str, list[Grid]]], asked: list[int] | None, threads: int | None, as_json: bool
) -> None:
    """Print how long each of the databases will take to build."""
    from andante.offline.builder import estimate
    from andante.report.studywords import duration

    found = {name: estimate(kind, portion, goals=asked, threads=threads) for name, portion in portions}
    if as_json:
        print_json([{"map": name, **one._asdict()} for name, one in found.items()])
        return
    for name, one in found.items():
        length = f"at least about {duration(one.seconds)}" if one.what else f"{duration(one.seconds)} in total"
        sample = f", by {one.done:,} of {one.total:,}: {one.what}" if one.what else ""
        out.print(f"{name}: {length}{sample}", soft_wrap=True)
