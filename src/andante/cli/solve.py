"""`andante solve`: solve one problem with one algorithm."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    DATABASE_OPTION,
    JSON_OPTION,
    MAP_HELP,
    RULE_OPTION,
    SIGHT_OPTION,
    TERRAIN_OPTION,
    check_places,
    load_databases,
    number_option,
    offers_of,
    out,
    print_json,
    print_written,
    read_cell,
    read_world,
    show_compilation,
    warn_unused,
    with_bold,
)
from andante.errors import OutputError

if TYPE_CHECKING:
    from andante.episode.run import Outfit
    from andante.episode.trial import Limits, Trial
    from andante.world.problem import Problem

app = typer.Typer(add_completion=False)


@app.command()
def solve(
    map: str = typer.Argument(..., metavar="MAP", help=MAP_HELP),  # noqa: A002 (the user's word for it)
    start: str = typer.Option(..., metavar="X,Y", help="The cell where the agent starts."),
    goal: str = typer.Option(..., metavar="X,Y", help="The cell that it must reach."),
    algorithm: str = typer.Option("lrta", "--algorithm", "-a", help="NAME or NAME(parameter=value, ...)."),
    database: list[Path] = DATABASE_OPTION,
    sight: int | None = SIGHT_OPTION,
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    suboptimality_cap: float | None = number_option(None, 1, help="Give up at this many times the optimal cost."),
    picture: Path | None = typer.Option(None, metavar="FILE.png", help="Draw the path on the map."),
    trace: Path | None = typer.Option(
        None, metavar="FILE.json", help="Save every move and thought; the playground replays the file."
    ),
    posthoc: Path | None = typer.Option(
        None, metavar="FILE.trace.json", help="Save the same for the Posthoc visualiser."
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Solve one problem with one algorithm.

    The exit code is 0 if the agent arrives and 1 if it does not.
    """
    from andante.agent import find
    from andante.episode.posthoc import check_name
    from andante.episode.run import Outfit, compile_all
    from andante.episode.trial import Limits
    from andante.report import figure

    entry = find(algorithm)
    check_places(picture, trace, posthoc)
    if trace is not None and trace.suffix.lower() in (".html", ".htm"):
        raise OutputError(f"cannot write {trace}: a trace is JSON, and its name must not end in {trace.suffix}")
    if posthoc is not None:
        check_name(posthoc)
    if picture is not None:
        figure.check_name(picture)
    grid = read_world(map, rule, terrain)
    problem = grid.problem(read_cell(start, "--start"), read_cell(goal, "--goal"))
    limits = Limits(suboptimality=suboptimality_cap) if suboptimality_cap is not None else Limits()
    outfit = Outfit(entry, load_databases(database, grid), sight)
    warn_unused(offers_of(outfit.databases), [entry])
    with show_compilation() as report:
        compile_all([outfit], [grid], report)
        trial = outfit.run(problem, limits)
        _ = trial.optimal_cost  # this runs a search, which may have to be compiled
    if picture is not None:
        from andante.report.picture import draw

        draw(trial, picture)
    if trace is not None or posthoc is not None:
        _keep_trace(outfit, problem, limits, trace, posthoc)
    if as_json:
        print_json(_as_data(trial))
    else:
        _print(trial)
    print_written(picture, trace, posthoc)
    raise typer.Exit(0 if trial.solved else 1)


def _keep_trace(
    outfit: Outfit[Any], problem: Problem, limits: Limits, trace: Path | None, posthoc: Path | None
) -> None:
    from andante.episode.trace import TRACE_LIMITS, record

    limits = replace(limits, moves=min(limits.moves, TRACE_LIMITS.moves))
    recorded = record(outfit.algorithm, problem, limits=limits, databases=outfit.databases, sight=outfit.sight)
    if trace is not None:
        recorded.save(trace)
    if posthoc is not None:
        recorded.write_posthoc(posthoc)


def _as_data(trial: Trial) -> dict[str, Any]:
    from andante.episode.rows import rows

    cells = trial.cells
    return {**rows([trial])[0], "start": cells[0], "goal": trial.problem.grid.cell(trial.problem.goal), "path": cells}  # type: ignore[union-attr]


def _print(trial: Trial) -> None:
    ends = {
        "GOAL": "arrived",
        "UNREACHABLE": "no path leads to the goal",
        "STUCK": "stuck, with no move that it would make",
    }
    how = ends.get(trial.outcome.name, f"gave up at the {trial.outcome.name.lower().replace('_', ' ')}")
    where = trial.problem.grid.name if trial.problem.grid else "a graph"
    out.print(with_bold(trial.algorithm, f" on {where}: {how}"))
    if not (trial.moves or trial.states_expanded or trial.cells_discovered):
        return  # the map alone proves it, so the agent never started
    against = f", {trial.suboptimality_ratio:.3f} times the optimal {trial.optimal_cost:.2f}"
    discovered = {"discovered": f"{trial.cells_discovered} blocked cells"} if trial.cells_discovered else {}
    lines = {
        "cost": f"{trial.cost:.2f}{against if trial.optimal_cost < math.inf else ''}",
        "moves": f"{trial.moves}",
        "states expanded": f"{trial.states_expanded}: {trial.states_expanded_per_move:.2f} per move, at worst "
        f"{trial.max_states_expanded}, for the first move {trial.first_move_states_expanded}",
        "values stored": f"{trial.values_stored}",
        **discovered,
        "time": f"{trial.seconds * 1e3:.3f} ms, {trial.seconds * 1e6 / max(trial.moves, 1):.3f} us per move",
    }
    for name, text in lines.items():
        out.print(f"  {name:16}{text}", soft_wrap=True)
