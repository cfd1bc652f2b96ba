"""Running of jobs: the function that every engine calls, in a thread of this process or in another process."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.campaign.maps import PlannedMap
from andante.campaign.plan import MAPS_AT_A_TIME, Conditions, Job, Task, version_of
from andante.campaign.shelf import Shelf, Volume, in_cache
from andante.databases.header import Database, sizes
from andante.episode.convergence import converge_agent
from andante.episode.rows import rows, scene_rows
from andante.episode.run import Outfit
from andante.episode.scenewalk import walk_units
from andante.errors import AndanteError, CampaignError
from andante.measures import Row
from andante.recent import Recent
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.problem import Problem
from andante.world.scenes import Scene

#: The rows of a job, by column.
Result = dict[str, npt.NDArray[Any]]


def _read(planned: PlannedMap) -> Grid | Graph:
    """Return the map or graph; raise an error if it differs from the planned one."""
    world = planned.world()
    world.graph.components.shape  # compute all lazy values now, while no other thread uses the map  # noqa: B018
    return world


_maps: Recent[PlannedMap, Grid | Graph] = Recent(2 * MAPS_AT_A_TIME)
_scenes: Recent[PlannedMap, Scene] = Recent(2 * MAPS_AT_A_TIME)
_shelf = Shelf(in_cache)


def perform(job: Job, stop: threading.Event | None = None) -> Result | None:
    """Run a job and return its rows, the same on any machine except for times; None if ``stop`` was set meanwhile."""
    world: Grid | Graph
    if job.units is not None:
        scene = _scenes.get(job.map, job.map.scene)
        world, run = scene.grid, partial(_walk, scene, job)
    else:
        world = _maps.get(job.map, lambda: _read(job.map))
        run = partial(_run, _problems(job, world))
    parts = []
    for task in job.tasks:
        try:
            volumes = _shelf.volumes(task.conditions.databases, world, job.asked)
            found = run(task, _outfit(task, volumes), stop)
        except AndanteError as error:
            raise CampaignError(f"{task.algorithm} on {job.map.name}: {error}") from error
        if stop is not None and stop.is_set():
            return None
        parts.append(_columns(job, world, task, volumes, found))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _problems(job: Job, world: Grid | Graph) -> list[Problem]:
    grid = world if isinstance(world, Grid) else None
    ends = zip(job.starts.tolist(), job.goals.tolist(), job.optimal_costs.tolist(), strict=True)
    return [Problem(world.graph, start, goal, grid, cost) for start, goal, cost in ends]


def _outfit(task: Task, volumes: list[Volume]) -> Outfit[Database]:
    """Return the algorithm and its databases; raise an error if they are not what was planned."""
    planned = task.outfit
    if version_of(planned.algorithm) != task.version:
        name = planned.algorithm.card.name
        raise CampaignError(f"this worker has a different version of {name} than the campaign's plan")
    return Outfit(planned.algorithm, tuple(volume.database for volume in volumes), planned.sight)


def _walk(scene: Scene, job: Job, task: Task, outfit: Outfit[Database], stop: threading.Event | None) -> list[Row]:
    """Return a row for each unit of a scene."""
    assert job.units is not None
    units, costs, conditions = job.units.tolist(), job.optimal_costs.tolist(), task.conditions
    forgets = conditions.forget_goals
    trials = walk_units(outfit, scene, units, conditions.limits, costs, forgets=forgets, stop=stop)
    if len(trials) < len(units):
        return []
    memory = max(trial.memory_bytes for trial in trials)
    return scene_rows(trials, costs, memory_bytes=memory, pursuit="forgetting" if forgets else "")


def _run(problems: list[Problem], task: Task, outfit: Outfit[Database], stop: threading.Event | None) -> list[Row]:
    """Return a row for each problem."""
    conditions = task.conditions
    if conditions.max_trials > 1:
        return _converged(outfit, conditions, problems, stop)
    with outfit.spare_agent(problems[0]) as agent:
        trials = agent.run_all(problems, conditions.limits, paths=False, stop=stop)
        return [{**row, "trials": 1} for row in rows(trials, memory_bytes=agent.memory_bytes)]


def _converged(
    outfit: Outfit[Database], conditions: Conditions, problems: Iterable[Problem], stop: threading.Event | None
) -> list[Row]:
    """Return a row for each problem: cost, effort and learning of all trials, first move and quality of the last."""
    found: list[Row] = []
    for problem in problems:
        with outfit.spare_agent(problem) as agent:
            processes = converge_agent(agent, problem, conditions.limits, conditions.max_trials, False, stop)
        if not processes:
            return []
        (process,) = processes
        last = rows([process.final], memory_bytes=agent.memory_bytes)[0]
        moves = max(process.moves, 1)
        found.append(
            {
                **last,
                "trials": len(process.trials),
                "outcome": process.outcome.name,
                "solved": process.converged,
                "cost": process.travel,
                "moves": process.moves,
                "states_expanded": process.states_expanded,
                "states_expanded_per_move": process.states_expanded / moves,
                "max_states_expanded": max(trial.max_states_expanded for trial in process.trials),
                "states_touched": process.states_touched,
                "values_stored": process.values_stored,
                "learned": process.learned,
                "cells_discovered": process.cells_discovered,
                "seconds": process.seconds,
                "microseconds_per_move": process.seconds * 1e6 / moves,
            }
        )
    return found


def _columns(job: Job, world: Grid | Graph, task: Task, volumes: list[Volume], found: list[Row]) -> Result:
    """Return the rows by column, with the columns that the store adds."""
    count = len(found)
    columns = {
        "id": np.array(job.ids(task)),
        **{name: np.array([row[name] for row in found]) for name in found[0]},
        "map": np.full(count, job.map.name),
        "problem": job.problems,
        "repeat": job.repeats,
    }
    same = {
        "job": job.number,
        "set": job.set,
        "settings": task.settings,
        "version": task.version,
        "fingerprint": job.map.fingerprint,
        **_shown(task.conditions),
        "databases": "; ".join(order.text for order in task.conditions.databases),
        "databases_brief": "; ".join(order.brief for order in task.conditions.databases),
        "training": "; ".join(task.conditions.training),
        **sizes((volume.database for volume in volumes), len(world.graph)),
        "build_seconds": math.fsum(volume.build_seconds for volume in volumes),
    }
    return {**columns, **{name: np.full(count, value) for name, value in same.items()}}


def _shown(conditions: Conditions) -> Mapping[str, float | int]:
    """Return the conditions as columns; a limit that is not set is infinite."""
    limits = conditions.limits
    return {
        "cost_cap": float(limits.cost),
        "move_cap": float(limits.moves),
        "expansion_cap": float(limits.expansions),
        "suboptimality_cap": float(limits.suboptimality),
        "max_trials": conditions.max_trials,
        "sight": math.inf if conditions.sight is None else float(conditions.sight),
    }
