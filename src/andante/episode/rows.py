"""Rows: one flat dictionary of plain values per trial. Tables, plots and pages use rows, never trials or agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from andante.episode.scenewalk import SceneTrial
from andante.episode.trial import Trial, least_costs
from andante.errors import ParameterError
from andante.measures import Row, replanned_ratio
from andante.world.problem import Problem


def rows(trials: Iterable[Trial], **extra: str | float | bool) -> list[Row]:
    """Return one row per trial, each with the ``extra`` columns (such as ``memory_bytes=agent.memory_bytes``).

    ``problem`` numbers the different problems among the trials from 0, in order of appearance.
    An extra ``map`` renames the map.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> row = rows([andante.run("lrta", grid.problem((0, 0), (7, 0)))], map="empty")[0]
    >>> row["algorithm"], row["outcome"], row["moves"], row["suboptimality_ratio"]
    ('lrta', 'GOAL', 7, 1.0)
    """
    known = list(trials)
    least = least_costs([trial.problem for trial in known]).tolist()
    numbers: dict[Problem, int] = {}
    made = []
    for trial, optimal_cost in zip(known, least, strict=True):
        number = numbers.setdefault(trial.problem, len(numbers))
        row = _row(trial, number, optimal_cost)
        clash = set(extra) & set(row) - {"map"}
        if clash:
            raise ParameterError(f"rows already have a column {sorted(clash)[0]!r}; rename the extra column")
        made.append({**row, **extra})
    return made


def scene_rows(
    trials: Sequence[SceneTrial], replanned_costs: Sequence[float], **extra: str | float | bool
) -> list[Row]:
    """Return one row per trial of a scene, each with the cost of A* replanned after every event.

    ``unit`` is the number of the unit in its scene, and so is ``problem``.
    """
    made = []
    for trial, replanned in zip(trials, replanned_costs, strict=True):
        grid, (start, goal) = trial.scene.grid, trial.scene.units[trial.unit]
        ratio = replanned_ratio(trial.cost, replanned, trial.outcome)
        row: Row = {
            "algorithm": trial.algorithm,
            "map": grid.name,
            "problem": trial.unit,
            "unit": trial.unit,
            "start": grid.state(*start),
            "goal": grid.state(*goal),
            "outcome": trial.outcome.name,
            "solved": trial.solved,
            "replanned_cost": replanned,
            "cost": trial.cost,
            "replanned_ratio": ratio,
            "ticks": trial.ticks,
            "turns_waited": trial.turns_waited,
            **_effort(trial),
        }
        made.append({**row, **extra})
    return made


def _row(trial: Trial, number: int, optimal_cost: float) -> Row:
    grid = trial.problem.grid
    return {
        "algorithm": trial.algorithm,
        "map": (grid if grid is not None else trial.problem.graph).name,
        "problem": number,
        "start": trial.problem.start,
        "goal": trial.problem.goal,
        "outcome": trial.outcome.name,
        "solved": trial.solved,
        "optimal_cost": optimal_cost,
        "cost": trial.cost,
        "suboptimality_ratio": trial.suboptimality_ratio_for(optimal_cost),
        **_effort(trial),
        "cells_discovered": trial.cells_discovered,
    }


def _effort(trial: Trial | SceneTrial) -> Row:
    """Return the columns for an agent's moves, expansions and memory."""
    moves = max(trial.moves, 1)
    return {
        "moves": trial.moves,
        "states_expanded": trial.states_expanded,
        "states_expanded_per_move": trial.states_expanded / moves,
        "max_states_expanded": trial.max_states_expanded,
        "first_move_states_expanded": trial.first_move_states_expanded,
        "first_move_states_touched": trial.first_move_states_touched,
        "states_touched": trial.states_touched,
        "values_stored": trial.values_stored,
        "learned": trial.learned,
        "seconds": trial.seconds,
        "microseconds_per_move": trial.seconds * 1e6 / moves,
        "first_move_microseconds": trial.first_move_seconds * 1e6,
    }
