"""`andante maps`: list, show, generate and fetch maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    JSON_OPTION,
    MAP_HELP,
    RULE_OPTION,
    TERRAIN_OPTION,
    err,
    number_option,
    out,
    print_items,
    print_json,
    print_written,
    progress_of_parts,
    read_world,
    with_bold,
)

if TYPE_CHECKING:
    from rich.text import Text

    from andante.abstraction.hierarchy import Hierarchy
    from andante.world.grid import Grid

app = typer.Typer(no_args_is_help=True, add_completion=False, help="List, show, generate and fetch maps.")


@app.command(name="list")
def list_maps(
    name: str = typer.Argument(None, metavar="[SET]", help="List the maps of this benchmark set."),
    as_json: bool = JSON_OPTION,
) -> None:
    """List the benchmark sets and the kinds of generated maps, or the maps of one set."""
    from andante.datasets.generate import kinds
    from andante.datasets.movingai import map_names, sets

    if name is not None:
        names = [f"{name}/{title}" for title in map_names(name)]
        print_json(names) if as_json else typer.echo("\n".join(names))
        return
    known = [{"name": s.name, "about": s.title, "fetched": s.fetched, "verified": s.verified} for s in sets()]
    if as_json:
        print_json({"sets": known, "generated": kinds()})
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, title="MovingAI benchmark sets", title_justify="left")
    for column in ("set", "what", "fetched"):
        table.add_column(column)
    for one in known:
        table.add_row(str(one["name"]), str(one["about"]), "yes" if one["fetched"] else "")
    out.print(table)
    out.print(with_bold("\ngenerated", ", as KIND:WIDTHxHEIGHT:SEED"))
    print_items(
        (kind, ", ".join(f"{key}={value}" for key, value in options.items())) for kind, options in kinds().items()
    )


@app.command()
def show(
    map: str = typer.Argument(..., metavar="MAP", help=MAP_HELP),  # noqa: A002 (the user's word for it)
    level: int | None = typer.Option(
        None, min=1, metavar="LEVEL", help="Also show the regions of this level of its clique abstraction."
    ),
    picture: Path | None = typer.Option(None, metavar="FILE.png", help="Draw the map."),
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    as_json: bool = JSON_OPTION,
) -> None:
    """Describe a map, and draw it on the terminal or into a file."""
    import numpy as np

    grid = read_world(map, rule, terrain)
    levels = None if level is None else _levels(grid, level)
    sizes = np.bincount(grid.graph.components[grid.passable.ravel()]) if grid.free_cells else np.zeros(1, int)
    sizes = np.sort(sizes[sizes > 0])[::-1]
    facts: dict[str, Any] = {
        "name": grid.name,
        "width": grid.width,
        "height": grid.height,
        "free_cells": grid.free_cells,
        "components": len(sizes),
        "largest_component": int(sizes[0]) if len(sizes) else 0,
        "rule": grid.rule,
        "costs_of_cells": [1.0] if grid.weights is None else np.unique(grid.weights[grid.passable]).tolist(),
        "fingerprint": grid.fingerprint,
    }
    if levels is not None:
        facts["states_by_level"] = levels.sizes
    if picture is not None:
        _draw(grid, levels, level, picture)
        print_written(picture)
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        out.print(f"{name.replace('_', ' '):20}{value}")
    if picture is None:
        if levels is not None and out.color_system is None:
            err.print(
                "regions are shown by colours, which only a terminal has; --picture FILE.png draws them", soft_wrap=True
            )
        out.print(_sketch(grid, levels, level, min(out.width, 100)), soft_wrap=True)


def _levels(grid: Grid, level: int) -> Hierarchy:
    """Return the levels above a map; raise an error if the requested one does not exist."""
    from andante.abstraction.hierarchy import Hierarchy

    levels = Hierarchy(grid)
    levels.nodes(level)
    return levels


def _draw(grid: Grid, levels: Hierarchy | None, level: int | None, picture: Path) -> None:
    """Draw a map, or one of its levels, into a file."""
    from andante.report.levels import draw_level
    from andante.report.picture import draw

    if levels is None or level is None:
        draw(grid, picture)
    else:
        draw_level(grid, levels, level, picture)


def _sketch(grid: Grid, levels: Hierarchy | None, level: int | None, columns: int) -> Text:
    """Return the map in half blocks, two rows of cells per line of text, in the colours of a level's regions."""
    import numpy as np
    from rich.text import Text

    step = max(1, -(-grid.width // columns))
    high, wide = -(-grid.height // (2 * step)) * 2 * step, -(-grid.width // step) * step
    framed = np.zeros((high, wide), bool)  # everything beyond the edge is drawn as wall
    framed[: grid.height, : grid.width] = grid.passable
    blocks = framed.reshape(high // step, step, wide // step, step).mean((1, 3)) >= 0.5
    glyphs = np.array([["█", "▀"], ["▄", " "]])  # wall above and below, wall above, wall below, none
    upper, lower = blocks[::2].astype(int), blocks[1::2].astype(int)
    lines = glyphs[upper, lower]
    if levels is None or level is None:
        return Text("\n".join("".join(line) for line in lines))
    from andante.report.levels import WALL, colours_of_cells

    colours = colours_of_cells(grid, levels, level)[:: 2 * step, ::step]
    return Text("\n").join(
        Text.assemble(
            *(
                (glyph, f"{WALL} on rgb({red},{green},{blue})")
                for glyph, (red, green, blue) in zip(line, tints, strict=True)
            )
        )
        for line, tints in zip(lines, colours.tolist(), strict=True)
    )


@app.command()
def generate(
    kind: str = typer.Argument(
        ..., help="empty, random, rooms, maze, caves, outdoor or countryside: see 'andante maps list'."
    ),
    size: str = typer.Argument(..., metavar="WIDTHxHEIGHT"),
    file: Path = typer.Argument(..., metavar="FILE.map", help="Where to write it."),
    seed: int = typer.Option(0, min=0, help="The same seed gives the same map, everywhere."),
    option: list[str] = typer.Option([], metavar="NAME=VALUE", help="An option of this kind of map; may be repeated."),
) -> None:
    """Generate a map and write it to a file."""
    from andante.datasets.generate import generate as make
    from andante.datasets.named import read_size
    from andante.errors import ParameterError
    from andante.notation import parse
    from andante.world.grid import costs_text
    from andante.world.mapfiles import write_map

    for text in option:
        if "=" not in text:
            raise ParameterError(f"--option is written NAME=VALUE, not {text!r}")
    options: dict[str, Any] = dict(parse(f"{kind}({', '.join(option)})").arguments)
    grid = make(kind, *read_size(size), seed=seed, **options)
    write_map(grid, file)
    out.print(f"{file}: {grid.width} x {grid.height}, {grid.free_cells} free cells", soft_wrap=True)
    if grid.weights is not None:
        out.print(f"The format has no costs: read it with --terrain {costs_text(_costs_of(grid))}", soft_wrap=True)


def _costs_of(grid: Grid) -> dict[str, float]:
    """Return the costs of cells by map character, leaving out those that cost 1."""
    import numpy as np

    assert grid.weights is not None
    codes, first = np.unique(grid.terrain[grid.passable], return_index=True)
    costs = grid.weights[grid.passable][first]
    return {chr(code): float(cost) for code, cost in zip(codes, costs, strict=True) if cost != 1.0}


@app.command()
def scene(
    map: str = typer.Argument(..., metavar="MAP", help=MAP_HELP),  # noqa: A002 (the user's word for it)
    file: Path = typer.Argument(..., metavar="FILE.scene", help="Where to write it."),
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    kind: str = typer.Option("doors", help="What changes: doors, bridges, tunnels or rubble."),
    units: int = typer.Option(100, min=1, help="The number of units, each with a random problem."),
    changes_per_second: float = number_option(1.0, 0.0, help="The number of cells that change per second."),
    moves_per_second: int = typer.Option(30, min=1, help="Ticks per second; a unit makes one move per tick."),
    ticks: int = typer.Option(1000, min=1, help="The last tick in which a cell changes, or a goal wanders or circles."),
    moving: float = number_option(0.0, 0.0, help="The share of the goals that move."),
    targets: str = typer.Option("wander", help="How these goals move: wander, circle or flee."),
    target_every: int = typer.Option(3, min=1, help="The number of ticks between two moves of these goals."),
    seed: int = typer.Option(0, min=0, help="The same seed gives the same scene, everywhere."),
) -> None:
    """Generate a scene (units on a map that changes) for 'andante crowd' and 'andante compare'."""
    from andante.datasets.scenes import make_scene
    from andante.world.grid import refuse_costs
    from andante.world.scenes import write_scene

    grid = read_world(map, rule, terrain)
    refuse_costs(grid, "a scene file")
    made = make_scene(
        grid,
        units,
        kind,
        changes_per_second=changes_per_second,
        moves_per_second=moves_per_second,
        ticks=ticks,
        moving=moving,
        targets=targets,
        target_every=target_every,
        seed=seed,
    )
    write_scene(made, file)
    out.print(f"{file}: {len(made.units)} units, {len(made.events)} events", soft_wrap=True)


@app.command()
def fetch(
    names: list[str] = typer.Argument(..., metavar="SET...", help="Benchmark sets: see 'andante maps list'."),
    source: str = typer.Option(
        None, "--from", metavar="FOLDER|URL", help="Where to get the archives. Default: the benchmark's site."
    ),
) -> None:
    """Fetch benchmark sets into the cache, and check them."""
    from andante.datasets.movingai import fetch as get
    from andante.datasets.movingai import set_named

    for name in names:
        set_named(name)
    for name in names:
        with progress_of_parts() as report:
            folder = get(name, source, report)
        err.print(f"{name} is in {folder}", soft_wrap=True)
