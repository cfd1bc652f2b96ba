"""`andante play`: the playground, one page in which the agents think."""

from __future__ import annotations

from pathlib import Path

import typer

from andante.cli.shared import MAP_HELP, err, read_world

app = typer.Typer(add_completion=False)


@app.command()
def play(
    world: str = typer.Argument(None, metavar="[MAP]", help=f"{MAP_HELP} Without one the page makes a map itself."),
    path: Path = typer.Option(Path("play.html"), "--out", metavar="FILE.html", help="Where to write the page."),
    show: bool = typer.Option(True, "--open/--no-open", help="Open the page in the browser."),
) -> None:
    """Write the playground, one page in which agents walk over a map that you draw, and open it.

    The page has everything inside: it needs no server and no network.
    """
    from andante.files import check_place, make_folder, write_whole
    from andante.play.page import check_built, page_with
    from andante.play.scene import check_map, scene_of

    check_built()
    check_place(path)
    scene = None
    if world is not None:
        grid = read_world(world)
        check_map(grid)
        scene = scene_of(grid)
    make_folder(path.parent)
    write_whole(path, page_with(scene).encode())
    err.print(f"wrote {path}", soft_wrap=True)
    if show:
        _open(path)


def _open(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        err.print(f"no browser answered; open {path} in one yourself", soft_wrap=True)
