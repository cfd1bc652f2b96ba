"""`andante crowd`: many units on one map, under one budget."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    DATABASE_OPTION,
    JSON_OPTION,
    MAP_HELP,
    RULE_OPTION,
    TERRAIN_OPTION,
    check_places,
    load_databases,
    number_option,
    offers_of,
    out,
    print_json,
    print_written,
    progress_bar,
    read_world,
    show_compilation,
    warn_unused,
)

if TYPE_CHECKING:
    from andante.agent import Algorithm
    from andante.episode.crowdresult import CrowdResult, Pace
    from andante.world.grid import Grid
    from andante.world.problem import Problem
    from andante.world.scenes import Scene

app = typer.Typer(add_completion=False)

UNITS = 1000
MICROSECONDS = 2000.0  # the default budget of a tick, as a game might set it

# The default algorithms. With the first, most of a thousand units arrive soon on maps of all kinds, and it needs no
# database; decision 19 has the numbers. Units that learn together need an algorithm that converges.
ALGORITHM, SHARING = "tba(budget=10, weight=2)", "lss(lookahead=10)"


@app.command()
def crowd(
    map: str = typer.Argument(  # noqa: A002 (the user's word for it)
        ..., metavar="MAP|SCENE", help=f"{MAP_HELP} Or a scene: a map with units and changes (andante maps scene)."
    ),
    units: int | None = typer.Option(
        None, min=1, help="The number of units, each with a random problem. Default: 1000, or the units of a scene."
    ),
    algorithm: str | None = typer.Option(
        None,
        "--algorithm",
        "-a",
        help=f"NAME or NAME(parameter=value, ...). Default: {ALGORITHM}, with which most units arrive soon and which "
        f"needs no database; with --share, {SHARING}.",
    ),
    microseconds: float | None = number_option(None, help="The time budget of a tick, for all units. Default: 2000."),
    expansions: float | None = number_option(
        None, help="The budget of a tick in states expanded: gives the same result on every machine."
    ),
    ticks: int = typer.Option(10_000, min=1, help="Stop after this many ticks, even if units still walk."),
    seed: int = typer.Option(0, min=0, help="The seed for drawing problems."),
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    database: list[Path] = DATABASE_OPTION,
    bodies: bool = typer.Option(False, "--bodies", help="No two units in one cell: they push each other aside."),
    share: bool = typer.Option(False, "--share", help="Give all units one goal, and let them learn together."),
    lanes: int | None = typer.Option(None, min=1, help="The number of groups of units. Default: one per thread."),
    threads: int = typer.Option(1, min=1, help="How many lanes run in parallel."),
    memory: float = number_option(256, 1, metavar="MB", help="The memory limit for all units."),
    html: Path | None = typer.Option(None, metavar="FILE.html", help="Write a page that replays the crowd."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Let many units walk on one map, under one budget per tick, and measure them.

    The run ends when every unit has arrived, or after --ticks.
    """
    from andante.agent import find
    from andante.episode.crowdresult import Pace

    check_places(html)
    pace = Pace(MICROSECONDS if microseconds is None and expansions is None else microseconds, expansions, ticks)
    entry = find(algorithm or (SHARING if share else ALGORITHM))
    scene = _scene(map, units, share, rule, terrain)
    grid = read_world(map, rule, terrain) if scene is None else scene.grid
    databases = load_databases(database, grid)
    warn_unused(offers_of(databases), [entry])
    problems = _problems(grid, units or UNITS, seed, bodies, share) if scene is None else _units_of(scene)
    run = march(
        entry,
        problems,
        pace,
        scene=scene,
        databases=databases,
        memory=memory * 1e6,
        bodies=bodies,
        share="goal" if share else None,
        lanes=threads if lanes is None else lanes,
        threads=threads,
        recorded=html is not None,
    )
    if as_json:
        print_json(run.figures())
    else:
        print_crowd(run)
    if html is not None:
        from andante.files import write_whole
        from andante.report.page import crowd_page

        write_whole(html, crowd_page(run, title=f"A crowd on {grid.name}").encode())
        print_written(html)


def _scene(name: str, units: int | None, share: bool, rule: str, terrain: str) -> Scene | None:
    """Return the scene that an argument names; None if it names a map."""
    from andante.cli.scenes import refuse_rules
    from andante.errors import ParameterError
    from andante.world.scenes import is_scene, read_scene

    if not is_scene(name):
        return None
    if units is not None or share:
        raise ParameterError("a scene defines its units and their goals; leave out --units and --share")
    scene = read_scene(name)
    refuse_rules(scene, rule, terrain)
    return scene


def _problems(grid: Grid, units: int, seed: int, bodies: bool, share: bool) -> list[Problem]:
    """Return random problems for units on a map."""
    from andante.datasets.scenarios import random_problems
    from andante.episode.crowdrun import problems_apart, with_one_goal

    problems = problems_apart(grid, units, seed) if bodies else random_problems(grid, units, seed=seed)
    return with_one_goal(problems) if share else problems


def _units_of(scene: Scene) -> list[Problem]:
    """Return the problems of a scene's units, with the cost of an agent that knows every change immediately."""
    from andante.episode.crowdrun import problems_of

    with show_compilation():
        return problems_of(scene)


def march(
    entry: Algorithm,
    problems: Sequence[Problem],
    pace: Pace,
    *,
    databases: Sequence[Any] = (),
    bodies: bool = False,
    share: str | None = None,
    scene: Scene | None = None,
    **how: Any,
) -> CrowdResult:
    """Compile what is needed and run the crowd, with progress."""
    from andante.episode.crowd import Crowd
    from andante.episode.crowdrun import run_crowd
    from andante.episode.stage import Stage

    world = problems[0].world if scene is None else Stage(scene).world
    with show_compilation():
        Crowd(entry, world, databases=databases, bodies=bodies, share=share).compile()
    gc.collect()
    gc.freeze()  # as a game does: scanning everything that was loaded takes longer than a tick
    try:
        with progress_bar("units that have ended", len(problems), quiet=True) as advance:
            same: dict[str, Any] = {"databases": databases, "bodies": bodies, "share": share, "scene": scene}
            return run_crowd(entry, problems, pace, progress=advance, **same, **how)
    finally:
        gc.unfreeze()


def print_crowd(run: CrowdResult) -> None:
    """Print the table."""
    from andante.report.crowd import crowd_lead, crowd_lines

    out.print(crowd_lead(run))
    for line in crowd_lines(run):
        out.print(f"  {line.title:23}{line.text}", soft_wrap=True)
