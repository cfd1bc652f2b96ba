"""`andante play`: the playground, a page in which agents run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.shared import MAP_HELP, RULE_OPTION, TERRAIN_OPTION, err, read_world, refuse_unused

if TYPE_CHECKING:
    from andante.world.grid import Grid

app = typer.Typer(add_completion=False)

BUILD_SECONDS = 30.0  # for all databases of a page
DATABASE_BYTES = 4e6  # of each


@app.command()
def play(
    world: str = typer.Argument(None, metavar="[MAP]", help=f"{MAP_HELP} Without one the page generates a map."),
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    path: Path = typer.Option(Path("play.html"), "--out", metavar="FILE.html", help="Where to write the page."),
    databases: bool = typer.Option(
        True, "--databases/--no-databases", help="Build small databases of MAP for the agents that need them."
    ),
    show: bool = typer.Option(True, "--open/--no-open", help="Open the page in the browser."),
) -> None:
    """Write and open the playground: a page in which agents walk on a map that you draw.

    The page is one file and needs neither a server nor a network. Agents that need a database or levels walk on MAP
    only.
    """
    from andante.files import check_place, make_folder, write_whole
    from andante.play.page import check_built, page_with
    from andante.play.scene import check_map

    check_built()
    check_place(path)
    scene = None
    if world is None:
        refuse_unused(rule, terrain, "MAP")
    else:
        grid = read_world(world, rule, terrain)
        check_map(grid)
        scene = _scene(grid, databases)
    make_folder(path.parent)
    write_whole(path, page_with(scene).encode())
    err.print(f"wrote {path}", soft_wrap=True)
    if show:
        _open(path)


def _scene(grid: Grid, with_databases: bool) -> bytes:
    """Return what the page contains for a map: databases, levels, and the memory layouts of agents that need them."""
    from andante.cli.quickly import build_databases, without_slow
    from andante.cli.shared import progress_of_parts
    from andante.play.given import given_scene, orders_for
    from andante.play.page import about_built
    from andante.play.scene import scene_of

    engine = about_built()
    kinds = without_slow(orders_for(engine), grid) if with_databases else []
    built = [one for one, _ in build_databases(grid, kinds, BUILD_SECONDS, DATABASE_BYTES)] if kinds else []
    with progress_of_parts() as report:
        given, blob = given_scene(grid, built, engine, report)
    return scene_of(grid, given, blob)


def _open(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        err.print(f"no browser could be started; open {path} in a browser yourself", soft_wrap=True)
