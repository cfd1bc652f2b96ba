"""The plan: every problem, every algorithm, and the jobs they are divided into.

A job consists of some problems of one map, and one or more algorithms to run on them. Jobs are numbered by the plan and
run in random order, a few maps at a time. So noise of the machine affects all algorithms alike, and a worker needs only
a few maps in memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm, find
from andante.campaign.draw import draw
from andante.campaign.file import Campaign, Run
from andante.campaign.maps import PlannedMap, map_sources
from andante.campaign.orders import BuildOrder, version_of_code
from andante.campaign.settings import full_notation
from andante.datafile import only_numbers, only_texts
from andante.datasets import ProgressCallback
from andante.episode.run import Outfit
from andante.episode.trial import Limits
from andante.errors import CampaignError
from andante.store import Outline, row_ids
from andante.store.outline import JOB_COLUMNS, Arrays, check_ranges, check_types, check_within
from andante.world.problem import Problem

LEAST_TRIALS, MOST_TRIALS = 64, 2048  # per job
JOBS_WANTED = 20_000  # campaigns that would have more jobs get larger ones
MAPS_AT_A_TIME = 16
NO_GOALS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Conditions:
    """The conditions under which a trial is run."""

    limits: Limits
    max_trials: int
    sight: int | None
    databases: tuple[BuildOrder, ...] = ()
    forget_goals: bool = False

    def deciding(self) -> dict[str, Any]:
        """Return the conditions that determine the outcome of a trial, as plain data for an id."""
        return self._data([order.deciding for order in self.databases])

    @property
    def training(self) -> list[str]:
        """The names of the maps that databases for any map were built from, each once."""
        return list(dict.fromkeys(planned.name for order in self.databases for planned in order.training))

    def as_data(self) -> dict[str, Any]:
        """Return plain data for a manifest."""
        return self._data([order.as_data() for order in self.databases])

    def _data(self, databases: list[Any]) -> dict[str, Any]:
        limits = asdict(self.limits)
        data = {"limits": limits, "max_trials": self.max_trials, "sight": self.sight, "databases": databases}
        return {**data, "forget_goals": True} if self.forget_goals else data

    @classmethod
    def from_data(cls, data: Mapping[str, Any], folder: str) -> Conditions:
        """Return the conditions from a manifest, where infinite limits are null."""
        limits = {name: math.inf if value is None else value for name, value in data["limits"].items()}
        databases = tuple(BuildOrder.from_data(each, folder) for each in data["databases"])
        (most,) = only_numbers([data["max_trials"]], least=1)
        sight = None if data["sight"] is None else only_numbers([data["sight"]], least=1)[0]
        return cls(Limits(**limits), most, sight, databases, bool(data.get("forget_goals", False)))


class Task(NamedTuple):
    """A line of the plan as it is stored: an outfit as text, its conditions, and the draw that it runs on."""

    draw: int  # the number of the draw
    algorithm: str  # as displayed
    settings: str  # in full notation
    version: str  # of the code that determines its behaviour
    conditions: Conditions

    @property
    def outfit(self) -> Outfit[str]:
        """The algorithm to run, with the databases to build for it; it must be registered in this process."""
        databases = tuple(order.text for order in self.conditions.databases)
        return Outfit(find(self.settings), databases, self.conditions.sight)


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that a worker needs to know."""

    number: int
    map: PlannedMap
    set: str
    problems: npt.NDArray[np.int64]  # their numbers in the set
    units: npt.NDArray[np.int64] | None  # their numbers in the scene, if the map has one
    repeats: npt.NDArray[np.int64]  # how often each occurred earlier in the set
    starts: npt.NDArray[np.int64]
    goals: npt.NDArray[np.int64]
    optimal_costs: npt.NDArray[np.float64]
    tasks: tuple[Task, ...]
    asked: npt.NDArray[np.int64]  # the goals on this map for databases that are built for some goals only

    def ids(self, task: Task, some: slice | list[int] = slice(None)) -> list[str]:
        """Return the ids of the task's rows, for all problems or for some."""
        deciding = {
            "map": self.map.fingerprint,
            "settings": task.settings,
            "version": task.version,
            **task.conditions.deciding(),
        }
        starts, goals = self.starts[some].tolist(), self.goals[some].tolist()
        if self.units is None:
            return row_ids(deciding, starts, goals)
        ends = zip(self.units[some].tolist(), starts, goals, strict=True)
        return [row_ids({**deciding, "unit": unit}, [start], [goal])[0] for unit, start, goal in ends]


class Plan(Outline):
    """All problems, algorithms and jobs of a campaign."""

    def __init__(self, sets: list[str], maps: list[PlannedMap], tasks: list[Task], problems: Arrays, jobs: Arrays):
        super().__init__(sets, [task.draw for task in tasks], [task.algorithm for task in tasks], jobs)
        self.maps = maps
        self.tasks = tasks  # grouped by draw
        self.problems = problems

    @classmethod
    def of(cls, campaign: Campaign, progress: ProgressCallback) -> Plan:
        """Choose the problems, list the algorithms and return the plan; may fetch maps and compute optimal costs."""
        draws: dict[tuple[str, int], int] = {}
        tasks: dict[Task, None] = {}
        for run in campaign.runs:
            conditions = [
                Conditions(run.limits, run.max_trials, run.sight, shelf, run.forget_goals)
                for shelf in _shelves(campaign, run, progress)
            ]
            for batch in range(run.batches):
                entries = [_allowed(entry, run, campaign) for entry in run.entries(batch)]
                wanted = [_task(entry, each) for each in conditions for entry in entries]
                for name in run.problems:
                    number = draws.setdefault((name, batch), len(draws))
                    tasks.update(dict.fromkeys(task._replace(draw=number) for task in wanted))
        maps, problems = _choose(campaign, draws, progress)
        in_order = sorted(tasks, key=lambda task: task.draw)
        return cls([name for name, _ in draws], maps, in_order, problems, _cut(problems, in_order, len(draws)))

    def __repr__(self) -> str:
        counts = f"{len(self.problems['start']):,} problems on {len(self.maps):,} maps"
        return f"<Plan of {len(self.tasks):,} tasks and {counts}: {self.trials:,} trials in {len(self):,} jobs>"

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def job(self, number: int) -> Job:
        """Return the job of this number."""
        reach = {name: int(column[number]) for name, column in self.jobs.items()}
        part = {name: column[reach["first_problem"] : reach["end_problem"]] for name, column in self.problems.items()}
        tasks = tuple(self.tasks[reach["first_task"] : reach["end_task"]])
        asked = self._goals_asked[int(part["map"][0])] if any(_asks_for_goals(task) for task in tasks) else NO_GOALS
        return Job(
            number,
            self.maps[int(part["map"][0])],
            self.sets[int(part["draw"][0])],
            part["problem"],
            part.get("unit"),
            part["repeat"],
            part["start"],
            part["goal"],
            part["optimal_cost"],
            tasks,
            asked,
        )

    @property
    def has_scenes(self) -> bool:
        """Whether its problems are units of scenes."""
        return "unit" in self.problems

    @cached_property
    def _goals_asked(self) -> list[npt.NDArray[np.int64]]:
        """The goals of all problems that need a database built for some goals only, for each map."""
        draws = sorted({task.draw for task in self.tasks if _asks_for_goals(task)})
        chosen = np.isin(self.problems["draw"], draws)
        place, goal = self.problems["map"][chosen], self.problems["goal"][chosen]
        return [np.unique(goal[place == number]) for number in range(len(self.maps))]

    def order(self, seed: int) -> npt.NDArray[np.int64]:
        """Return the numbers of all jobs in random order, a few maps at a time."""
        rng = np.random.default_rng(seed)
        place = rng.permutation(len(self.maps)) // MAPS_AT_A_TIME
        block = place[self.problems["map"][self.jobs["first_problem"]]]
        numbers: npt.NDArray[np.int64] = np.lexsort((rng.permutation(len(block)), block))
        return numbers

    # --- to and from a store ------------------------------------------------------------------------------------------

    def as_data(self) -> dict[str, Any]:
        """Return everything except the tables, as plain data."""
        conditions = list(dict.fromkeys(task.conditions for task in self.tasks))
        return {
            "sets": self.sets,
            "maps": [planned.as_data() for planned in self.maps],
            "conditions": [each.as_data() for each in conditions],
            "tasks": [[t.draw, t.algorithm, t.settings, t.version, conditions.index(t.conditions)] for t in self.tasks],
        }

    @property
    def tables(self) -> dict[str, Arrays]:
        """The tables of problems and jobs, to be stored beside the rows."""
        return {"problems": self.problems, "jobs": self.jobs}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], tables: Mapping[str, Arrays], folder: str) -> Plan:
        """Return the plan from what `as_data` and `tables` returned; the paths of maps start at ``folder``."""
        conditions = [Conditions.from_data(each, folder) for each in data["conditions"]]
        tasks = []
        for number, algorithm, settings, version, condition in data["tasks"]:
            only_numbers((number, condition), least=0)
            only_texts((algorithm, settings, version))
            tasks.append(Task(number, algorithm, settings, version, conditions[condition]))
        maps = [PlannedMap.from_data(each, folder) for each in data["maps"]]
        plan = cls(only_texts(data["sets"]), maps, tasks, tables["problems"], tables["jobs"])
        plan.check()
        return plan

    def check(self) -> None:
        """Raise a `ValueError` if the tables do not match each other and the lists of sets, maps and tasks."""
        super().check()
        problems = self.problems
        check_types(problems, {**_PROBLEM_COLUMNS, "unit": np.int64} if self.has_scenes else _PROBLEM_COLUMNS)
        check_within(problems["draw"], 0, len(self.sets))
        check_within(problems["map"], 0, len(self.maps))
        check_ranges(self.jobs["first_problem"], self.jobs["end_problem"], len(problems["draw"]))


#: The columns of the table of problems stored beside the rows; with scenes there is also ``unit``.
_PROBLEM_COLUMNS: dict[str, type] = {
    **dict.fromkeys(("draw", "map", "problem", "repeat", "start", "goal"), np.int64),
    "optimal_cost": np.float64,
}


def _cut(problems: Arrays, tasks: list[Task], draws: int) -> Arrays:
    """Cut a campaign into jobs and return them as the table `Plan.jobs`."""
    draw_of = [task.draw for task in tasks]
    trials = int(np.bincount(problems["draw"], minlength=draws) @ np.bincount(draw_of, minlength=draws))
    size = job_size(trials)
    tasks_of = np.searchsorted(draw_of, range(draws + 1)).tolist()
    cuts: list[tuple[int, int, int, int]] = []
    for first, last in _stretches(problems):
        number = int(problems["draw"][first])
        begin, end = tasks_of[number], tasks_of[number + 1]
        for low in range(first, last, size):
            high = min(low + size, last)
            step = max(1, size // (high - low))
            cuts += [(low, high, k, min(k + step, end)) for k in range(begin, end, step)]
    table = np.array(cuts, np.int64).reshape(-1, 4)
    return dict(zip(JOB_COLUMNS, table.T, strict=True))


def job_size(trials: int) -> int:
    """Return how many trials a job has, at most, in a campaign of this many."""
    return min(MOST_TRIALS, max(LEAST_TRIALS, trials // JOBS_WANTED))


def _stretches(problems: Arrays) -> Iterator[tuple[int, int]]:
    """Return the ranges of the table of problems that each contain one draw on one map."""
    change = (np.diff(problems["draw"]) != 0) | (np.diff(problems["map"]) != 0)
    ends = [0, *(np.flatnonzero(change) + 1).tolist(), len(problems["draw"])]
    return ((low, high) for low, high in pairwise(ends) if high > low)


def _asks_for_goals(task: Task) -> bool:
    return any(order.asks_for_goals for order in task.conditions.databases)


def version_of(algorithm: Algorithm) -> str:
    """Return the version of the code that determines what an algorithm does."""
    return version_of_code(getattr(algorithm.step, "py_func", algorithm.step))


def _shelves(campaign: Campaign, run: Run, progress: ProgressCallback) -> list[tuple[BuildOrder, ...]]:
    """Return the databases of the run, with the maps that some of them are built from."""
    sources = [source for text in run.training for source in map_sources(text, campaign.path.parent)]
    maps: dict[PlannedMap, None] = {}
    for number, source in enumerate(sources, 1):
        maps[PlannedMap.of(source)] = None
        progress("reading maps for training", number, len(sources))
    return [
        tuple(order._replace(training=tuple(maps)) if order.serves_any_map else order for order in shelf)
        for shelf in run.shelves()
    ]


def _allowed(entry: Algorithm, run: Run, campaign: Campaign) -> Algorithm:
    """Return the algorithm if it can be run under the run's conditions, else raise an error."""
    fault = run.fault(entry)
    if fault is not None:
        raise CampaignError(f"{campaign.path}: {fault}")
    return entry


def _task(entry: Algorithm, conditions: Conditions) -> Task:
    needed = tuple(order for order in conditions.databases if order.name in entry.needs)
    return Task(-1, str(entry), full_notation(entry), version_of(entry), replace(conditions, databases=needed))


def _choose(
    campaign: Campaign, draws: Mapping[tuple[str, int], int], progress: ProgressCallback
) -> tuple[list[PlannedMap], Arrays]:
    """Return the maps and the problems of every draw, as one table `Plan.problems`."""
    maps: dict[PlannedMap, int] = {}
    seen: Counter[tuple[str, str, int, int]] = Counter()  # how often each set has had each problem so far
    scenes = campaign.has_scenes
    parts = [_table(0, 0, 0, [], [], scenes)]  # provides the columns if there are no problems
    for name, batches in Counter(name for name, _ in draws).items():
        numbered = 0
        for chosen in draw(campaign.problems[name], batches, campaign.path.parent, progress):
            planned = PlannedMap(chosen.source, chosen.world.name, chosen.fingerprint)
            place = maps.setdefault(planned, len(maps))
            for batch, problems in enumerate(chosen.batches):
                if problems:
                    repeats = [_count(seen, (name, planned.fingerprint, p.start, p.goal)) for p in problems]
                    parts.append(_table(draws[name, batch], place, numbered, repeats, problems, scenes))
                    numbered += len(problems)
    return list(maps), {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _table(
    number: int, place: int, first: int, repeats: list[int], problems: list[Problem], scenes: bool
) -> dict[str, npt.NDArray[Any]]:
    """Return the problems of one draw on one map as a table."""
    count = len(problems)
    costs = [math.nan if problem.optimal_cost is None else problem.optimal_cost for problem in problems]
    table = {
        "draw": np.full(count, number),
        "map": np.full(count, place),
        "problem": np.arange(first, first + count),
        "repeat": np.array(repeats, np.int64),
        "start": np.array([problem.start for problem in problems], np.int64),
        "goal": np.array([problem.goal for problem in problems], np.int64),
        "optimal_cost": np.array(costs, np.float64),
    }
    return {**table, "unit": np.arange(count)} if scenes else table


def _count(seen: Counter[tuple[str, str, int, int]], key: tuple[str, str, int, int]) -> int:
    """Return how often a key was seen before, and count it once more."""
    seen[key] += 1
    return seen[key] - 1


def stale(tasks: list[Task]) -> list[str]:
    """Return the algorithms and kinds of databases whose code has changed since the plan was made."""
    now: dict[str, str] = {}
    for task in tasks:
        name = task.settings.partition("(")[0]
        if name not in now:
            now[name] = version_of(find(task.settings))
    changed = {name for task in tasks if now[name := task.settings.partition("(")[0]] != task.version}
    orders = {order for task in tasks for order in task.conditions.databases}
    return sorted(changed | {order.name for order in orders if order.stale})
