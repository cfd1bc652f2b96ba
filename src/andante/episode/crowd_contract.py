"""Checks of `check_algorithm` for crowds: a unit among others walks as an agent does alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from andante.episode.crowd import Crowd
from andante.episode.run import Outfit
from andante.episode.trial import Trial
from andante.measures import Outcome
from andante.world.graph import Graph
from andante.world.grid import Grid

BUDGET = 40  # expansions per tick of a dozen units, too few for all


def walk_in_crowds(
    outfit: Callable[[Grid | None], Outfit[Any]], trials: Sequence[Trial], stopped: float
) -> Iterable[str]:
    """Run a crowd on all problems of a map, with a small budget, in two lanes, and yield where walks differ.

    ``outfit`` returns the units' outfit on a map. The trials are their walks alone, which are ``stopped`` after a
    number of moves. Units with odd numbers start late, after some of the others have left, so that minds are reused.
    """
    for _, group in groupby(trials, key=lambda trial: trial.problem.grid):
        some = list(group)
        world, given = some[0].problem.world, outfit(some[0].problem.grid)
        crowd = Crowd(given.algorithm, world, databases=given.databases, lanes=2, threads=2)
        first = crowd.add(*_ends(world, some[::2]))
        paths = _Paths(first, some[::2])
        while _walking(crowd, stopped) > len(first) / 2:
            crowd.tick(expansions=BUDGET)
            yield from paths.astray(crowd)
        arrived = np.flatnonzero(crowd.outcomes[first] == Outcome.GOAL)
        yield from _as_alone(crowd, first[arrived], [some[2 * i] for i in arrived])
        crowd.remove(first[arrived])
        late = crowd.add(*_ends(world, some[1::2]))
        paths = _Paths(late, some[1::2])
        while _walking(crowd, stopped):
            crowd.tick()
            yield from paths.astray(crowd)
        yield from _as_alone(crowd, late, some[1::2])


class _Paths:
    """The paths that the units of a crowd walk alone, with which their moves are compared."""

    def __init__(self, ids: Any, trials: list[Trial]) -> None:
        self._ids, self._trials = ids, trials
        paths = [np.zeros(0) if trial.path is None else trial.path for trial in trials]
        self._length = np.array([len(path) for path in paths])
        self._states = np.full((len(paths), max(self._length, default=0)), -1, np.int64)
        for row, path in zip(self._states, paths, strict=True):
            row[: len(path)] = path

    def astray(self, crowd: Crowd) -> Iterable[str]:
        """Yield where a unit is in another state than alone after as many moves; alone, it may have stopped earlier."""
        moves, units = crowd.moves[self._ids], np.arange(len(self._ids))
        walked = units[moves < self._length]
        expected = self._states[walked, moves[walked]]
        for i in walked[crowd.states[self._ids[walked]] != expected][:1]:
            there, alone = int(crowd.states[self._ids[i]]), int(self._states[i, moves[i]])
            problem = self._trials[i].problem
            yield f"on {problem!r} its move {moves[i]} leads to state {alone}, and in a crowd to {there}"


def _walking(crowd: Crowd, stopped: float) -> int:
    """Return the number of units that are on their way and would not have been stopped alone; crowds have no caps."""
    return int(np.count_nonzero((crowd.outcomes == Outcome.WALKING) & (crowd.moves < stopped)))


def _ends(world: Grid | Graph, trials: list[Trial]) -> tuple[Any, Any]:
    """Return the starts and goals of trials in the form that a crowd accepts."""
    places = [(trial.problem.start, trial.problem.goal) for trial in trials]
    if isinstance(world, Grid):
        return [world.cell(start) for start, _ in places], [world.cell(goal) for _, goal in places]
    return [start for start, _ in places], [goal for _, goal in places]


def _as_alone(crowd: Crowd, ids: Any, trials: list[Trial]) -> Iterable[str]:
    """Yield where units of a crowd have walked differently than alone."""
    for unit, trial in zip(ids.tolist(), trials, strict=True):
        if trial.outcome is Outcome.MOVE_CAP:
            continue
        alone = int(trial.outcome), trial.moves, trial.cost, trial.states_expanded
        among = int(crowd.outcomes[unit]), int(crowd.moves[unit]), float(crowd.costs[unit]), int(crowd.expanded[unit])
        if alone != among:
            yield (
                f"on {trial.problem!r} it ends with {trial.outcome.name} after {trial.moves} moves, {trial.cost:g} far "
                f"and {trial.states_expanded} expansions; in a crowd with {Outcome(among[0]).name} after {among[1]} "
                f"moves, {among[2]:g} far and {among[3]} expansions"
            )
