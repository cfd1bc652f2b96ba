"""Agents in scenes, for `andante compare`: every agent replaces each unit, alone, while the map changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from andante.cli.shared import progress_bar, progress_of_parts, show_compilation

if TYPE_CHECKING:
    import threading

    from andante.databases.header import Database
    from andante.episode.crowdresult import CrowdResult
    from andante.episode.run import Outfit
    from andante.episode.scenewalk import SceneTrial
    from andante.episode.trace import Trace
    from andante.world.scenes import Scene

MOVES = 100_000  # ticks after which an agent gives up
PORTION = 8  # units that a thread takes at once
SHOWN_EXPANSIONS = 1e9  # per tick in the replay, so that no unit waits, as none does alone


def refuse_rules(scene: Scene, rule: str, terrain: str) -> None:
    """Raise `ParameterError` for another rule for moves than the scene's own, or for costs of cells."""
    from andante.errors import ParameterError

    if rule not in ("octile", scene.grid.rule):
        raise ParameterError("a scene names its own rule for moves; leave out --rule")
    if terrain:
        raise ParameterError("all cells of a scene cost 1; leave out --terrain")


def run_scene(
    outfits: Sequence[Outfit[Database]],
    scene: Scene,
    units: int,
    threads: int,
    suboptimality_cap: float,
    built: Sequence[tuple[Database, float]] = (),
) -> list[dict[str, Any]]:
    """Run every outfit as each of the first units of a scene, and return one row per trial."""
    from andante.cli.compare import conditions_of
    from andante.episode.rows import scene_rows
    from andante.episode.run import compile_all
    from andante.episode.scenewalk import replanned_cost
    from andante.episode.stage import Stage
    from andante.episode.trial import Limits

    chosen = range(min(units, len(scene.units)))
    with show_compilation() as report:
        compile_all(outfits, [Stage(scene).world], report)
    best = []
    with progress_of_parts() as shown:
        for unit in chosen:
            best.append(replanned_cost(scene, unit))
            shown("replanned A*", unit + 1, len(chosen))
    limits = Limits(suboptimality=suboptimality_cap, moves=MOVES)
    found: list[dict[str, Any]] = []
    with progress_bar("running", len(outfits) * len(chosen)) as advance:
        for one in outfits:
            trials = _walked(one, scene, chosen, best, limits, threads, advance)
            memory = max(trial.memory_bytes for trial in trials)
            found += scene_rows(trials, best, memory_bytes=memory, **conditions_of(one, scene.grid, built))
    return found


def _walked(
    one: Outfit[Database],
    scene: Scene,
    units: range,
    best: Sequence[float],
    limits: Any,
    threads: int,
    advance: Any,
) -> list[SceneTrial]:
    """Return the trials of an outfit, in the order of the units."""
    from contextlib import closing
    from itertools import chain

    from andante.episode.scenewalk import walk_units
    from andante.machine import on_threads

    def work(part: list[int], stop: threading.Event) -> list[SceneTrial]:
        return walk_units(one, scene, part, limits, [best[unit] for unit in part], stop=stop)

    parts = [list(units[k : k + PORTION]) for k in range(0, len(units), PORTION)]
    found: dict[int, SceneTrial] = {}
    with closing(on_threads(work, parts, threads)) as batches:
        for done in chain.from_iterable(batches):
            found.update(zip(done.part, done.result, strict=True))
            advance(len(done.part))
    return [found[unit] for unit in units]


def scene_replays(outfits: Sequence[Outfit[Database]], scene: Scene, rows: list[dict[str, Any]]) -> list[Trace]:
    """Record a few agents as the unit whose path is of medium length, with all changes of the map."""
    from andante.cli.compare import REPLAY_MOVES, worth_replaying
    from andante.episode.trace import record
    from andante.episode.trial import Limits

    costs = [row["replanned_cost"] for row in rows[: len(rows) // len(outfits)]]  # of the first agent, by unit
    able = [unit for unit, cost in enumerate(costs) if math.isfinite(cost)] or range(len(costs))
    unit = sorted(able, key=costs.__getitem__)[len(able) // 2]
    limits = Limits(moves=REPLAY_MOVES)
    return [
        record(one.algorithm, scene, unit=unit, limits=limits, databases=one.databases)
        for one in worth_replaying(outfits, rows)
        if one.sight is None  # a trace of a scene cannot contain what an agent discovers
    ]


def scene_crowd(outfits: Sequence[Outfit[Database]], scene: Scene, rows: list[dict[str, Any]]) -> CrowdResult | None:
    """Run all units of the scene together, with the recommended agent, for a replay; None if no crowd is possible."""
    from andante.episode.crowdresult import Pace
    from andante.episode.crowdrun import problems_of, run_crowd
    from andante.measures import choices_of

    best = [choice.best.name for choice in choices_of(rows) if choice.best is not None]
    able = {str(one.algorithm): one for one in outfits if one.algorithm.crowd}
    chosen = next((able[name] for name in [*best, *able] if name in able), None)
    if chosen is None:
        return None
    pace = Pace(expansions=SHOWN_EXPANSIONS)
    with show_compilation():
        return run_crowd(
            chosen.algorithm, problems_of(scene), pace, databases=chosen.databases, scene=scene, recorded=True
        )
