"""`advise`: which agent to use on these maps, under these limits.

Databases are built, the cheapest first. Candidates from the whole register race on random problems; whoever breaks a
limit on any move is out. The best, and those that offer less planning for a longer path, are then run on fresh
problems, which have had no part in choosing them. What is reported of them is from there.

The work is done in `session` (who enters, what each does on problems), `library` (databases), `race` and `finals`;
`answer` puts it into words.
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

from andante.datasets import Progress
from andante.datasets.scenarios import Band, random_problems
from andante.errors import MapError, ParameterError, quoted, whole_number
from andante.files import make_folder, write_whole
from andante.selection.answer import Advice
from andante.selection.finals import FEWEST_FRESH, Finals
from andante.selection.journal import Journal
from andante.selection.library import save_all
from andante.selection.requirements import Requirements
from andante.selection.session import Session
from andante.selection.space import Candidate
from andante.world.grid import Grid
from andante.world.problem import Problem

PROBLEMS = 400
CANDIDATES = 200
STATE = "state"  # the folder of what a run has worked out
ANY_COST = (0.0, math.inf)
QUESTION = "question.json"  # the file that says what a folder's advice is about

FEWEST_PROBLEMS = 100  # that a map must have
_MOST = 1_000_000  # problems, or candidates


def _quiet(what: str, done: int, total: int) -> None:
    pass


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
    progress: Progress | None = None,
    compiling: Progress | None = None,
    also: Sequence[Candidate] = (),
) -> Advice:
    """Which agent to use on these maps, under these limits.

    At most so many problems are raced on, and as many fresh ones are kept for the end; with ``minutes`` it may be fewer
    of both, and building databases, racing and the fresh problems together take no longer than that. Without, the same
    seed gives the same advice, whatever ``folder`` holds. ``optimal_cost`` says how long the trips are, from low up to,
    not including, high. In ``folder`` are kept what a run has worked out, so that after a kill it goes on, and the
    winner's databases; a ``journal`` of another question is taken instead, and what it holds takes no time. Candidates
    ``also`` enter beside those that are found here.

    Kernels are compiled when they are needed first, and kept; that comes on top of the minutes, and ``compiling`` is
    called with what is compiled, its number, and of how many. With a clock no more is compiled once that has
    taken three quarters as long, or a minute if that is more; the answer says how many candidates were left out.

    >>> import andante
    >>> grid = andante.generate("rooms", 24, 24, seed=1)
    >>> advice = advise([grid], Requirements(expansions=1, memory_bytes=0), problems=20, candidates=30)
    >>> advice.winner.summary["max_states_expanded"].max
    1.0
    """
    if minutes is not None and not minutes > 0:
        raise ParameterError(f"minutes must be above 0, got {minutes!r}")
    for what, number, least in (("problems", problems, FEWEST_FRESH), ("candidates", candidates, 1)):
        if not least <= number <= _MOST:
            raise ParameterError(f"advise takes from {least} to {_MOST:,} {what}, got {quoted(number)}")
    whole_number(threads, "threads", least=1, error=ParameterError)
    Band.of(optimal_cost)  # refused before anything is compiled
    grids = (maps,) if isinstance(maps, Grid) else tuple(maps)
    _check_maps(grids)
    tell = progress or _quiet
    home = None if folder is None else Path(folder)
    journal = journal or Journal(None if home is None else home / STATE)
    question = question_of(grids, requirements, optimal_cost)
    if home is not None:
        check_folder(home, question)
    session = Session(grids, requirements, journal, minutes, seed, threads, tell)
    session.enter(candidates, also, compiling or _quiet)
    journal.restart()
    race, fresh = draw(grids, problems, optimal_cost, seed, tell)
    session.build()
    places, raced, untried = session.race(race)
    ranking = Finals(session, places, fresh).standings()
    files = {}
    if home is not None:
        write_whole(home / QUESTION, json.dumps(question, indent=1).encode())
        if ranking[0].books.databases:
            files = save_all(ranking[0].books.databases, grids, home / "databases")
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


def question_of(grids: Sequence[Grid], requirements: Requirements, optimal_cost: tuple[float, float]) -> dict[str, Any]:
    """What is asked, as plain data."""
    fingerprints = {grid.name: grid.graph.fingerprint for grid in grids}
    between = [cost if math.isfinite(cost) else None for cost in optimal_cost]
    return {"maps": fingerprints, **asdict(requirements), "optimal_cost": between}


def check_folder(home: Path, question: dict[str, Any]) -> None:
    """Make the folder, or refuse to put the advice on this question in the place of that on another."""
    make_folder(home)
    file = home / QUESTION
    try:
        same = not file.exists() or json.loads(file.read_bytes()) == question
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError(f"{file} cannot be read or is damaged; restore it, or name another folder") from error
    if not same:
        raise ParameterError(f"{home} has the advice on another question, see {file.name} there; name another folder")


def draw(
    grids: Sequence[Grid], problems: int, band: tuple[float, float], seed: int, tell: Progress
) -> tuple[list[Problem], list[Problem]]:
    """Problems for the race, and as many fresh ones, different from those; both turn from map to map."""
    each = 2 * -(-problems // len(grids))
    pools = []
    for number, grid in enumerate(grids):
        tell("drawing problems", number, len(grids))
        room = min(each, _room_for_problems(grid))
        pools.append(random_problems(grid, room, optimal_cost=band, seed=seed))
    tell("drawing problems", len(grids), len(grids))
    halves = [[pool[side::2] for pool in pools] for side in (0, 1)]
    rng = np.random.default_rng([seed, 3])
    race, fresh = ([p for turn in _turns(half, rng) for p in turn][:problems] for half in halves)
    return race, fresh


def _check_maps(grids: Sequence[Grid]) -> None:
    """Refuse maps that are too small, or that files could not tell apart."""
    if not grids:
        raise MapError("there is no map to advise on")
    names = Counter(grid.name for grid in grids)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise MapError(f"two different maps are called {twice}; rename one, so that their databases can be told apart")
    for grid in grids:
        _room_for_problems(grid)


def _room_for_problems(grid: Grid) -> int:
    """How many different problems can be drawn on a map without looking long for them."""
    label = grid.graph.components
    sizes = np.bincount(label[np.flatnonzero(grid.passable)]).astype(np.int64) if grid.passable.any() else np.zeros(1)
    pairs = int((sizes * (sizes - 1)).sum())
    if pairs < FEWEST_PROBLEMS:
        raise MapError(
            f"{grid.name} is too small to advise on: it has {pairs} pairs of connected cells to start and end in, and "
            f"{FEWEST_PROBLEMS} are needed"
        )
    return pairs // 2


def _turns(pools: Sequence[Sequence[Problem]], rng: np.random.Generator) -> list[list[Problem]]:
    """One problem of every pool, then the next of every pool, until all have had their turn; each turn in random order.

    So the first few problems are not always of the first few maps.
    """
    longest = max(len(pool) for pool in pools)
    turns = [[pool[k] for pool in pools if k < len(pool)] for k in range(longest)]
    return [[turn[k] for k in rng.permutation(len(turn))] for turn in turns]
