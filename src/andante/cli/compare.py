"""`andante compare`: compare algorithms on the problems of one map, or on a scene."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    DATABASE_OPTION,
    JSON_OPTION,
    MAP_HELP,
    PENALTY_OPTION,
    RULE_OPTION,
    SIGHT_OPTION,
    TERRAIN_OPTION,
    TURN_OPTION,
    Offer,
    check_places,
    load_databases,
    number_option,
    offers_of,
    out,
    print_json,
    print_lines,
    print_written,
    progress_bar,
    progress_of_parts,
    read_world,
    show_compilation,
    split_algorithms,
    warn_unused,
)
from andante.machine import cores

if TYPE_CHECKING:
    from andante.agent import Algorithm
    from andante.databases.header import Database
    from andante.episode.crowdresult import CrowdResult
    from andante.episode.run import Outfit
    from andante.episode.trace import Trace
    from andante.world.grid import Grid
    from andante.world.problem import Problem

app = typer.Typer(add_completion=False)

#: A run is stopped at this many times the optimal cost.
SUBOPTIMALITY_CAP = 1000.0
REPLAYS = 4
REPLAY_MOVES = 20_000


@app.command()
def compare(
    map: str = typer.Argument(  # noqa: A002 (the user's word for it)
        ...,
        metavar="MAP|SCENE",
        help=f"{MAP_HELP} Or a scene, a map that changes (andante maps scene): each agent walks as each unit, alone.",
    ),
    scenario: Path | None = typer.Option(None, metavar="FILE.scen", help="Take the problems from this file."),
    algorithms: list[str] = typer.Option(
        [],
        "--algorithms",
        "-a",
        help="The algorithms, such as 'rta, lrta(depth=3)'; may be repeated. Default: a selection from all families, "
        "and those that use the given databases.",
    ),
    problems: int = typer.Option(200, min=1, help="The number of problems, or the most units of a scene."),
    seed: int = typer.Option(0, min=0, help="The seed for drawing problems."),
    threads: int = typer.Option(cores(), min=1, help="How many problems run in parallel."),
    database: list[Path] = DATABASE_OPTION,
    build: list[str] = typer.Option(
        [],
        metavar="KIND",
        help="Build a database of this kind first, such as 'regions' or 'pattern(side=32)', and report its size and "
        "build time; may be repeated. To keep it in a file, use 'andante build'.",
    ),
    sight: int | None = SIGHT_OPTION,
    rule: str = RULE_OPTION,
    terrain: str = TERRAIN_OPTION,
    suboptimality_cap: float = number_option(SUBOPTIMALITY_CAP, 1, help="Give up at this many times the optimal cost."),
    penalty: float | None = PENALTY_OPTION,
    turn: float | None = TURN_OPTION,
    html: Path | None = typer.Option(None, metavar="FILE.html", help="Write a page with plots and replays."),
    csv: Path | None = typer.Option(None, metavar="FILE.csv", help="Write one row per trial."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Compare algorithms on the problems of one map, or on a scene."""
    from andante.agent import find
    from andante.cli.scenes import refuse_rules, run_scene, scene_crowd, scene_replays
    from andante.episode.run import Outfit
    from andante.errors import ParameterError
    from andante.measures.achievement import turn_length, with_achievement
    from andante.measures.comparison import check_penalty
    from andante.world.scenes import is_scene, read_scene

    check_places(html, csv)
    check_penalty(penalty)
    if turn is not None:
        turn_length(turn)  # refused before anything is run
    scene = read_scene(map) if is_scene(map) else None
    if scene is not None and scenario is not None:
        raise ParameterError("a scene names its own problems; leave out --scenario")
    if scene is not None:
        refuse_rules(scene, rule, terrain)
    ordered = [Offer(kind_ordered(text), text) for text in build]  # refused before any map is read
    named = [find(text) for text in split_algorithms(algorithms)]
    grid = read_world(map, rule, terrain) if scene is None else scene.grid
    loaded = load_databases(database, grid)
    orders = warn_unused(ordered, named or able(sight))
    built = [build_for(grid, order.name, threads) for order in orders]
    databases = (*(one for one, _ in built), *loaded)
    if named:
        outfits = [Outfit(entry, databases, sight) for entry in {str(entry): entry for entry in named}.values()]
    else:
        outfits = worth_comparing(able(sight), grid, databases, sight)
    warn_unused([*orders, *offers_of(loaded)], [one.algorithm for one in outfits])
    if scene is None:
        chosen = choose_problems(grid, scenario, problems, seed)
        rows = run_all(outfits, grid, chosen, threads, suboptimality_cap, built)
    else:
        rows = run_scene(outfits, scene, problems, threads, suboptimality_cap, built)
    if turn is not None:
        rows = with_achievement(rows, turn)
    if not as_json:
        from andante.report.table import lead

        out.print(lead(rows), soft_wrap=True)
    print_results(rows, as_json, penalty)
    if csv is not None:
        from andante.report.table import write_csv

        write_csv(rows, csv)
        print_written(csv)
    if html is not None:
        if scene is None:
            write_page(f"Agents on {grid.name}", rows, replays(outfits, chosen, rows), html, penalty=penalty)
        else:
            crowd = scene_crowd(outfits, scene, rows)
            traces = scene_replays(outfits, scene, rows)
            write_page(f"Agents in a scene on {grid.name}", rows, traces, html, crowd, penalty)


def kind_ordered(text: str) -> str:
    """Return the kind of database that a text describes; raise an error if it cannot be built."""
    from andante.notation import parse
    from andante.offline.builder import chosen_for

    return chosen_for(parse(text), False)[0].kind


def build_for(grid: Grid, text: str, threads: int) -> tuple[Database, float]:
    """Build a database for a map and return it with the seconds it took."""
    from andante.offline import build

    began = time.perf_counter()
    with progress_of_parts() as report:
        database = build(text, grid, threads=threads, progress=report)
    return database, time.perf_counter() - began


def able(sight: int | None) -> list[Algorithm]:
    """Return the algorithms that a comparison shows; with a sight, only those that work on unknown maps."""
    from andante.agent import compared

    return [entry for entry in compared() if sight is None or (entry.card.senses and not entry.needs)]


def worth_comparing(
    entries: Sequence[Algorithm], grid: Grid, databases: tuple[Database, ...], sight: int | None = None
) -> list[Outfit[Database]]:
    """Return the outfits that can run with their databases; a database may be for agents on another level."""
    from andante.episode.run import Outfit

    kinds = {database.kind for database in databases}
    outfits = [Outfit(entry, databases, sight) for entry in entries if kinds.issuperset(entry.needs)]
    return [one for one in outfits if not one.algorithm.needs or _can_be_made(one, grid)]


def _can_be_made(one: Outfit[Database], grid: Grid) -> bool:
    from andante.errors import AlgorithmError

    try:
        one.agent(grid)
    except AlgorithmError:
        return False
    return True


def choose_problems(grid: Grid, scenario: Path | None, count: int, seed: int) -> list[Problem]:
    """Return problems with their optimal costs, evenly spread over a scenario or drawn at random."""
    from andante.datasets.scenarios import random_problems, with_optimal_costs
    from andante.errors import ScenarioError
    from andante.world.mapfiles import read_scenario

    if scenario is None:
        found = random_problems(grid, count, seed=seed)
    else:
        listed = read_scenario(scenario, grid)
        if not listed:
            raise ScenarioError(f"{scenario} has no problem that can be solved on {grid.name}")
        count = min(count, len(listed))
        found = [listed[(2 * i + 1) * len(listed) // (2 * count)] for i in range(count)]
    with progress_of_parts() as report:
        return with_optimal_costs(found, progress=report)


def run_all(
    outfits: Sequence[Outfit[Database]],
    grid: Grid,
    problems: Sequence[Problem],
    threads: int,
    suboptimality_cap: float,
    built: Sequence[tuple[Database, float]] = (),
) -> list[dict[str, Any]]:
    """Run every outfit on every problem and return one row per trial; ``built`` has the build times of databases."""
    from andante.episode.rows import rows
    from andante.episode.run import compile_all
    from andante.episode.trial import Limits

    with show_compilation() as report:
        compile_all(outfits, [grid], report)
    limits = Limits(suboptimality=suboptimality_cap)
    found: list[dict[str, Any]] = []
    with progress_bar("running", len(outfits) * len(problems)) as advance:
        for one in outfits:
            trials = one.run_many(problems, threads=threads, limits=limits, paths=False, progress=advance)
            found += rows(trials, memory_bytes=one.agent(grid).memory_bytes, **conditions_of(one, grid, built))
    return found


def conditions_of(one: Outfit[Database], grid: Grid, built: Sequence[tuple[Database, float]]) -> dict[str, float]:
    """Return the conditions of an agent, as columns of its rows; the build times of files are not known here."""
    from andante.databases.header import pick, sizes

    used = [pick(one.databases, kind, grid.graph) for kind in one.algorithm.needs]
    seconds = {id(database): took for database, took in built}
    took = math.fsum(seconds.get(id(database), math.nan) for database in used)
    prepared = {**sizes(used, grid.width * grid.height), "build_seconds": took}
    return prepared if one.sight is None else {**prepared, "sight": one.sight}


def print_results(rows: list[dict[str, Any]], as_json: bool, penalty: float | None = None) -> None:
    """Print the table, the comparison of agents and the advice, or all as JSON."""
    from andante.cli.reporting import print_comparison
    from andante.measures.advice import LIMITS
    from andante.report.ground import Ground
    from andante.report.table import ComparisonTable
    from andante.report.verdicts import as_data, caption

    ground = Ground.of_rows(rows, penalty)
    advice = [str(choice) for choice in ground.choices(LIMITS)]
    if as_json:
        compared = as_data(ground.comparison) if ground.comparison is not None else None
        summaries = [asdict(summary) for summary in ground.summaries]
        print_json({"summaries": summaries, "comparison": compared, "advice": advice})
        return
    out.print(ComparisonTable(ground.summaries, best=ground.best))
    print_lines(filter(None, [caption(ground.summaries)]))
    print_comparison(ground.comparison)
    print_lines(advice)


def replays(
    outfits: Sequence[Outfit[Database]], problems: Sequence[Problem], rows: list[dict[str, Any]]
) -> list[Trace]:
    """Record a few agents on one problem of medium length."""
    from andante.episode.trace import record
    from andante.episode.trial import Limits

    by_length = sorted(problems, key=lambda problem: problem.optimal_cost or 0.0)
    problem, limits = by_length[len(by_length) // 2], Limits(moves=REPLAY_MOVES)
    return [
        record(one.algorithm, problem, limits=limits, databases=one.databases, sight=one.sight)
        for one in worth_replaying(outfits, rows)
    ]


def worth_replaying(outfits: Sequence[Outfit[Database]], rows: list[dict[str, Any]]) -> list[Outfit[Database]]:
    """Return a few agents: those that the rows recommend, then real-time ones."""
    from andante.measures import choices_of

    best = dict.fromkeys(one.best.name for one in choices_of(rows) if one.best is not None)
    by_name = {str(one.algorithm): one for one in outfits}
    others = sorted(
        (by_name[name] for name in by_name if name not in best), key=lambda one: not one.algorithm.real_time
    )
    step = max(1, len(others) // REPLAYS)
    return [*(by_name[name] for name in best), *others[::step]][:REPLAYS]


def write_page(
    title: str,
    rows: list[dict[str, Any]],
    traces: list[Trace],
    path: Path,
    crowd: CrowdResult | None = None,
    penalty: float | None = None,
    playground: str | None = None,
) -> None:
    """Write the page with table, advice, plots and replays, and with a link to a playground if there is one."""
    from andante.report import page

    page.write_page(path, title=title, rows=rows, traces=traces, crowd=crowd, penalty=penalty, playground=playground)
    print_written(path)
