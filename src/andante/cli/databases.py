"""`andante databases`: the kinds of databases, and the contents of files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from andante.cli.shared import (
    JSON_OPTION,
    MAP_HELP,
    RULE_OPTION,
    TERRAIN_OPTION,
    out,
    print_items,
    print_json,
    read_world,
    refuse_unused,
    with_bold,
)
from andante.notation import write

app = typer.Typer(no_args_is_help=True, add_completion=False, help="List the kinds of databases, and show files.")


@app.command(name="list")
def list_kinds(as_json: bool = JSON_OPTION) -> None:
    """List the kinds of databases and the parameters they are built with."""
    from andante.databases.kinds import kinds
    from andante.offline import builders

    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "about": kinds()[name].about,
                    "parameters": [
                        {"name": p.name, "about": p.about, "allowed": p.allowed, "default": write(p.word(p.default))}
                        for p in builder.parameters
                    ],
                }
                for name, builder in builders().items()
            ]
        )
        return
    for name, builder in builders().items():
        out.print(with_bold(name, f": {kinds()[name].about}"))
        print_items((f"{p.name} = {write(p.word(p.default))}", f"{p.about}; {p.allowed}") for p in builder.parameters)


@app.command()
def show(
    file: Path = typer.Argument(..., metavar="FILE", help="A file that 'andante build' wrote."),
    map: str | None = typer.Option(None, metavar="MAP", help=f"Check that the file was built for this map. {MAP_HELP}"),  # noqa: A002
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    as_json: bool = JSON_OPTION,
) -> None:
    """Show the contents of a database file, and the parameters it was built with; a damaged file is an error."""
    from andante.databases.header import load, read_header
    from andante.measures import measure

    if map is None:
        refuse_unused(rule, terrain, "--map")
    header = read_header(file)
    grid = None if map is None else read_world(map, rule, terrain)
    if grid is not None:
        load(file, map=grid)
    if as_json:
        print_json({**asdict(header), "arrays": [entry._asdict() for entry in header.arrays]})
        return
    facts = {
        "kind": header.kind,
        "map": header.fingerprint or "any",
        **({"serves": grid.name} if grid is not None else {}),
        "parameters": ", ".join(f"{name}={write(value)}" for name, value in header.parameters.items()) or "none",
        "size": f"{measure('database_bytes').show(header.file_bytes)}, {header.file_bytes:,} bytes",
    }
    for name, value in facts.items():
        out.print(f"{name:12}{value}", soft_wrap=True)
    wide = max((len(array.name) for array in header.arrays), default=0) + 2
    for array in header.arrays:
        shape = " x ".join(f"{side:,}" for side in array.shape)
        out.print(f"  {array.name:{wide}}{array.dtype:4}{shape}")
