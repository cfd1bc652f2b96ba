"""Advice on the agent to use on given maps, under given limits.

Databases are built, cheapest first. Candidates from the whole register race on random problems; a candidate that breaks
a limit on any move is dropped. The best, and those that plan less for a longer path, are then run on fresh problems,
which were not used to choose them. The reported numbers are from these.

The work is done in `session` (candidates and their trials), `library` (databases), `race` and `finals`; `answer` puts
the result into words.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from andante.datasets import ProgressCallback, quiet
from andante.datasets.scenarios import Band, random_problems
from andante.episode.run import Outfit
from andante.errors import MapError, ParameterError, expect, quoted, whole_number
from andante.files import make_folder, write_whole
from andante.selection.answer import Advice
from andante.selection.finals import FEWEST_FRESH, Finals
from andante.selection.journal import Journal
from andante.selection.library import save_all
from andante.selection.requirements import Requirements
from andante.selection.session import Session
from andante.world.grid import Grid
from andante.world.living import World
from andante.world.problem import Problem

PROBLEMS = 400
CANDIDATES = 200
STATE = "state"  # the folder for the results of a run so far
ANY_COST = (0.0, math.inf)
QUESTION = "question.json"  # the file with the maps and limits of a folder's advice

FEWEST_PROBLEMS = 100  # possible problems that a map must have
_MOST = 1_000_000  # problems, or candidates


def advise(
    maps: Grid | Sequence[Grid],
    requirements: Requirements = Requirements(),  # noqa: B008 (frozen)
    *,
    minutes: float | None = None,
    problems: int = PROBLEMS,
    candidates: int = CANDIDATES,
    seed: int = 0,
    threads: int = 1,
    optimal_cost: tuple[float, float] = ANY_COST,
    folder: str | os.PathLike[str] | None = None,
    journal: Journal | None = None,
    progress: ProgressCallback | None = None,
    compiling: ProgressCallback | None = None,
    also: Sequence[Outfit[str]] = (),
) -> Advice:
    """Return which agent to use on these maps, under these limits.

    The race uses at most ``problems`` problems, and the finals as many fresh ones. With ``minutes`` there may be fewer
    of both, and building databases, racing and the finals together take no longer than that. Without ``minutes`` the
    same seed gives the same advice, regardless of what ``folder`` contains. ``optimal_cost`` is the range of the
    problems' optimal costs, from low up to but not including high. ``folder`` stores the results so far, so that a
    killed run can be resumed, and the winner's databases. A ``journal`` of another question can be passed instead; its
    contents take no time. Candidates ``also`` are added to those found here.

    Kernels are compiled when they are first needed, and cached; that time is not part of the minutes. ``compiling`` is
    called with the name of the kernel, its number, and the total. With ``minutes``, compiling stops when it has taken
    three quarters of that time, or one minute if that is more. The answer says how many candidates were left out.

    >>> import andante
    >>> grid = andante.generate("rooms", 24, 24, seed=1)
    >>> advice = advise([grid], Requirements(expansions=1, memory_bytes=0), problems=20, candidates=30)
    >>> advice.winner.summary["max_states_expanded"].max
    1.0
    """
    expect(requirements, Requirements, "limits are given as andante.Requirements(expansions=100)", ParameterError)
    if minutes is not None and not minutes > 0:
        raise ParameterError(f"minutes must be above 0, got {minutes!r}")
    for what, number, least in (("problems", problems, FEWEST_FRESH), ("candidates", candidates, 1)):
        if not least <= number <= _MOST:
            raise ParameterError(f"advise takes from {least} to {_MOST:,} {what}, got {quoted(number)}")
    whole_number(threads, "threads", least=1, error=ParameterError)
    Band.of(optimal_cost)  # raises an error before anything is compiled
    grids = at_rest(maps)
    _check_maps(grids)
    progress = progress or quiet
    home = None if folder is None else Path(folder)
    journal = journal or Journal(None if home is None else home / STATE)
    question = question_of(grids, requirements, optimal_cost)
    if home is not None:
        check_folder(home, question)
    session = Session(grids, requirements, journal, minutes, seed, threads, progress)
    session.enter(candidates, also, compiling or quiet)
    journal.restart()
    race, fresh = draw(
        grids, problems, fresh_count(problems, requirements.units, len(grids)), optimal_cost, seed, progress
    )
    session.build()
    places, raced, untried = session.race(race)
    ranking = Finals(session, places, fresh).standings()
    files = {}
    if home is not None:
        write_whole(home / QUESTION, json.dumps(question, indent=1).encode())
        if ranking[0].built.databases:
            files = save_all(ranking[0].built.databases, grids, home / "databases")
    return Advice(
        requirements=requirements,
        maps=grids,
        ranking=tuple(ranking),
        dropped=tuple(session.dropped.values()),
        tried=raced,
        untried=untried,
        uncompiled=len(session.uncompiled),
        race_problems=max(len(place.scores) for place in places),
        fresh_problems=len(ranking[0].rows),
        compile_seconds=session.compiling.seconds,
        files=files,
    )


def at_rest(maps: Grid | Sequence[Grid]) -> tuple[Grid, ...]:
    """Return the maps, or their current versions if they change, so that all candidates run on the same ones."""
    grids = tuple(maps) if isinstance(maps, list | tuple) else (maps,)
    for grid in grids:
        expect(grid, Grid, "advice is about a Grid or several, as andante.read_map returns", MapError)
    return tuple(grid.frozen() if isinstance(grid, World) else grid for grid in grids)


def question_of(grids: Sequence[Grid], requirements: Requirements, optimal_cost: tuple[float, float]) -> dict[str, Any]:
    """Return the question as plain data."""
    fingerprints = {grid.name: grid.graph.fingerprint for grid in grids}
    between = [cost if math.isfinite(cost) else None for cost in optimal_cost]
    return {"maps": fingerprints, **asdict(requirements), "optimal_cost": between}


def check_folder(home: Path, question: dict[str, Any]) -> None:
    """Make the folder, or raise `ParameterError` if it has the advice on another question."""
    make_folder(home)
    file = home / QUESTION
    try:
        same = not file.exists() or json.loads(file.read_bytes()) == question
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError(f"{file} cannot be read or is damaged; restore it, or use another folder") from error
    if not same:
        raise ParameterError(f"{home} has the advice on another question (see {file.name} there); use another folder")


def draw(
    grids: Sequence[Grid],
    problems: int,
    fresh: int,
    band: tuple[float, float],
    seed: int,
    progress: ProgressCallback,
) -> tuple[list[Problem], list[Problem]]:
    """Return problems for the race and other ones for the finals; both alternate between the maps.

    On small maps there may be fewer than requested.
    """
    counts = [-(-count // len(grids)) for count in (problems, fresh)]
    each = sum(counts)
    pools = []
    for number, grid in enumerate(grids):
        progress("drawing problems", number, len(grids))
        room = min(each, _room_for_problems(grid))
        pools.append(random_problems(grid, room, optimal_cost=band, seed=seed))
    progress("drawing problems", len(grids), len(grids))
    ends = [len(pool) * counts[0] // each for pool in pools]
    parts = (
        [pool[:end] for pool, end in zip(pools, ends, strict=True)],
        [pool[end:] for pool, end in zip(pools, ends, strict=True)],
    )
    rng = np.random.default_rng([seed, 3])
    race, later = ([p for turn in _turns(part, rng) for p in turn] for part in parts)
    return race[:problems], later[:fresh]


def fresh_count(problems: int, units: int | None, maps: int) -> int:
    """Return the number of fresh problems in the finals: at least ``problems``, in full crowds on all maps.

    >>> fresh_count(400, None, 3), fresh_count(400, 150, 1), fresh_count(400, 1000, 2)
    (400, 450, 2000)
    """
    whole = maps * (units or 1)
    return problems if units is None else -(-problems // whole) * whole


def _check_maps(grids: Sequence[Grid]) -> None:
    """Raise `MapError` for maps that are too small, or that have the same name."""
    if not grids:
        raise MapError("advise needs at least one map")
    names = Counter(grid.name for grid in grids)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise MapError(f"two different maps are called {twice}; rename one, because databases are named after maps")
    for grid in grids:
        _room_for_problems(grid)


def _room_for_problems(grid: Grid) -> int:
    """Return the number of different problems that can be drawn on a map without many rejected draws."""
    label = grid.graph.components
    sizes = np.bincount(label[np.flatnonzero(grid.passable)]).astype(np.int64) if grid.passable.any() else np.zeros(1)
    pairs = int((sizes * (sizes - 1)).sum())
    if pairs < FEWEST_PROBLEMS:
        raise MapError(
            f"{grid.name} is too small to advise on: it has {pairs} pairs of connected cells, and {FEWEST_PROBLEMS} "
            "are needed"
        )
    return pairs // 2


def _turns(pools: Sequence[Sequence[Problem]], rng: np.random.Generator) -> list[list[Problem]]:
    """Return turns: one problem of every pool, then the next of every pool, and so on; each turn in random order.

    The random order keeps the first few problems from always being on the first few maps.
    """
    longest = max(len(pool) for pool in pools)
    turns = [[pool[k] for pool in pools if k < len(pool)] for k in range(longest)]
    return [[turn[k] for k in rng.permutation(len(turn))] for turn in turns]
