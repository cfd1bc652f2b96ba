"""The plan: every problem, every algorithm, and the jobs that they are cut into.

A job is a portion of the problems of one map, and one algorithm or more to run on them. Jobs are numbered by the plan
and taken in random order, a few maps at a time: noise of the machine falls on all algorithms alike, and a worker needs
to hold but a few maps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import andante
from andante.agent import Algorithm, find
from andante.campaign.draw import draw
from andante.campaign.file import Campaign
from andante.campaign.maps import MapSource
from andante.campaign.settings import full_notation
from andante.campaign.shelf import Kind
from andante.datasets import Progress
from andante.episode.trial import Limits
from andante.kernel import source_state
from andante.world.problem import Problem

LEAST_TRIALS, MOST_TRIALS = 64, 2048  # in a job
JOBS_WANTED = 20_000  # larger campaigns have larger jobs
MAPS_AT_A_TIME = 16


@dataclass(frozen=True)
class Conditions:
    """Under what a trial is run."""

    limits: Limits
    max_trials: int
    sight: int | None
    databases: tuple[Kind, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """As plain data, for a manifest or an id."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Conditions:
        """What `as_data` made of them."""
        return cls(
            Limits(**data["limits"]),
            data["max_trials"],
            data["sight"],
            tuple(Kind(*kind) for kind in data["databases"]),
        )


class Task(NamedTuple):
    """An algorithm under conditions, to be run on all problems of one draw."""

    draw: int  # the number of the draw
    algorithm: str  # as it is shown
    settings: str  # in full notation
    version: str  # of the code that decides what it does
    conditions: Conditions


class PlannedMap(NamedTuple):
    """A map of the plan: where it comes from, and what it must be like."""

    source: MapSource
    name: str
    fingerprint: str


@dataclass(frozen=True, eq=False)
class Job:
    """All that a worker needs to be told."""

    number: int
    map: PlannedMap
    set: str
    problems: npt.NDArray[np.int64]  # their numbers in the set
    repeats: npt.NDArray[np.int64]  # how often each was in the set before
    starts: npt.NDArray[np.int64]
    goals: npt.NDArray[np.int64]
    optimal_costs: npt.NDArray[np.float64]
    tasks: tuple[Task, ...]


class _Cut(NamedTuple):
    """A job as the plan holds it: places in the tables of problems and tasks."""

    problems: slice
    tasks: slice


#: The problems of a plan: a table that is kept beside the rows.
Problems = Mapping[str, npt.NDArray[Any]]


class Plan:
    """What a campaign comes to."""

    def __init__(self, sets: list[str], maps: list[PlannedMap], tasks: list[Task], problems: Problems) -> None:
        self.sets = sets  # the set of each draw
        self.maps = maps
        self.tasks = sorted(tasks, key=lambda task: task.draw)  # those of one draw beside each other
        self.problems = problems

    @classmethod
    def of(cls, campaign: Campaign, progress: Progress) -> Plan:
        """Choose the problems and list the algorithms; this may fetch maps and find optimal costs."""
        draws: dict[tuple[str, int], int] = {}
        tasks: dict[Task, None] = {}
        for run in campaign.runs:
            conditions = Conditions(run.limits, run.max_trials, run.sight, tuple(map(Kind.of, run.databases)))
            for batch in range(run.batches):
                entries = [_task(entry, conditions) for entry in run.entries(batch)]
                for name in run.problems:
                    number = draws.setdefault((name, batch), len(draws))
                    tasks.update(dict.fromkeys(task._replace(draw=number) for task in entries))
        maps, problems = _choose(campaign, draws, progress)
        return cls([name for name, _ in draws], maps, list(tasks), problems)

    # --- jobs ---------------------------------------------------------------------------------------------------------

    @cached_property
    def trials(self) -> int:
        """How many trials there are in all."""
        problems = np.bincount(self.problems["draw"], minlength=len(self.sets))
        tasks = np.bincount([task.draw for task in self.tasks], minlength=len(self.sets))
        return int(problems @ tasks)

    @cached_property
    def _cuts(self) -> list[_Cut]:
        size = min(MOST_TRIALS, max(LEAST_TRIALS, self.trials // JOBS_WANTED))
        tasks_of = np.searchsorted([task.draw for task in self.tasks], range(len(self.sets) + 1)).tolist()
        cuts = []
        for first, last in self._stretches():
            for low in range(first, last, size):
                high = min(low + size, last)
                number = int(self.problems["draw"][low])
                step = max(1, size // (high - low))
                begin, end = tasks_of[number], tasks_of[number + 1]
                cuts += [_Cut(slice(low, high), slice(k, min(k + step, end))) for k in range(begin, end, step)]
        return cuts

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """From where to where in the table of problems one draw on one map reaches."""
        key = self.problems["draw"] * (len(self.maps) + 1) + self.problems["map"]
        ends = [0, *(np.flatnonzero(np.diff(key)) + 1).tolist(), len(key)]
        return ((low, high) for low, high in pairwise(ends) if high > low)

    def __len__(self) -> int:
        """How many jobs there are."""
        return len(self._cuts)

    def trials_of(self, number: int) -> int:
        """How many trials the job of this number comes to."""
        cut = self._cuts[number]
        return int((cut.problems.stop - cut.problems.start) * (cut.tasks.stop - cut.tasks.start))

    def job(self, number: int) -> Job:
        """The job of this number."""
        cut = self._cuts[number]
        part = {name: column[cut.problems] for name, column in self.problems.items()}
        return Job(
            number,
            self.maps[int(part["map"][0])],
            self.sets[int(part["draw"][0])],
            part["problem"],
            part["repeat"],
            part["start"],
            part["goal"],
            part["optimal_cost"],
            tuple(self.tasks[cut.tasks]),
        )

    def order(self, seed: int) -> npt.NDArray[np.int64]:
        """The numbers of all jobs in random order, a few maps at a time."""
        rng = np.random.default_rng(seed)
        place = rng.permutation(len(self.maps)) // MAPS_AT_A_TIME
        block = place[self.problems["map"][[cut.problems.start for cut in self._cuts]]]
        numbers: npt.NDArray[np.int64] = np.lexsort((rng.permutation(len(block)), block))
        return numbers

    # --- to and from a store ------------------------------------------------------------------------------------------

    def as_data(self) -> dict[str, Any]:
        """All but the problems, as plain data."""
        conditions = list(dict.fromkeys(task.conditions for task in self.tasks))
        return {
            "sets": self.sets,
            "maps": [[m.source.text, m.source.size, m.name, m.fingerprint] for m in self.maps],
            "conditions": [each.as_data() for each in conditions],
            "tasks": [[t.draw, t.algorithm, t.settings, t.version, conditions.index(t.conditions)] for t in self.tasks],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any], problems: Problems) -> Plan:
        """The plan that `as_data` told of."""
        conditions = [Conditions.from_data(each) for each in data["conditions"]]
        tasks = [Task(each[0], each[1], each[2], each[3], conditions[each[4]]) for each in data["tasks"]]
        maps = [
            PlannedMap(MapSource(text, tuple(size) if size else None), name, fingerprint)
            for text, size, name, fingerprint in data["maps"]
        ]
        return cls(data["sets"], maps, tasks, problems)


def version_of(algorithm: Algorithm) -> str:
    """The version of the code that decides what an algorithm does: Andante's, and a hash of the sources."""
    return _version(algorithm.step)


@cache
def _version(step: Callable[..., Any]) -> str:
    return f"{andante.__version__} {source_state(getattr(step, 'py_func', step))}"


def _task(entry: Algorithm, conditions: Conditions) -> Task:
    needed = tuple(kind for kind in conditions.databases if kind.name in entry.card.needs)
    return Task(-1, str(entry), full_notation(entry), version_of(entry), replace(conditions, databases=needed))


def _choose(
    campaign: Campaign, draws: Mapping[tuple[str, int], int], progress: Progress
) -> tuple[list[PlannedMap], Problems]:
    """The problems of every draw: tables as `Plan.problems` holds them, one below the other."""
    maps: dict[PlannedMap, int] = {}
    seen: Counter[tuple[str, str, int, int]] = Counter()  # how often each set had each problem so far
    parts: list[dict[str, npt.NDArray[Any]]] = []
    for name, batches in Counter(name for name, _ in draws).items():
        numbered = 0
        for chosen in draw(campaign.problems[name], batches, campaign.path.parent, progress):
            planned = PlannedMap(chosen.source, chosen.grid.name, chosen.grid.fingerprint)
            place = maps.setdefault(planned, len(maps))
            for batch, problems in enumerate(chosen.batches):
                if problems:
                    repeats = [_count(seen, (name, planned.fingerprint, p.start, p.goal)) for p in problems]
                    parts.append(_table(draws[name, batch], place, numbered, repeats, problems))
                    numbered += len(problems)
    columns = parts[0] if parts else {}
    return list(maps), {name: np.concatenate([part[name] for part in parts]) for name in columns}


def _table(
    number: int, place: int, first: int, repeats: list[int], problems: list[Problem]
) -> dict[str, npt.NDArray[Any]]:
    """The problems of one draw on one map."""
    count = len(problems)
    return {
        "draw": np.full(count, number),
        "map": np.full(count, place),
        "problem": np.arange(first, first + count),
        "repeat": np.array(repeats),
        "start": np.array([problem.start for problem in problems]),
        "goal": np.array([problem.goal for problem in problems]),
        "optimal_cost": np.array([problem.optimal_cost or math.nan for problem in problems]),
    }


def _count(seen: Counter[tuple[str, str, int, int]], key: tuple[str, str, int, int]) -> int:
    """How often this was seen before; from now on once more."""
    seen[key] += 1
    return seen[key] - 1


def stale(tasks: list[Task]) -> list[str]:
    """The algorithms whose code is no longer what it was when the plan was made."""
    now: dict[str, str] = {}
    for task in tasks:
        name = task.settings.partition("(")[0]
        if name not in now:
            now[name] = version_of(find(task.settings))
    return sorted({name for task in tasks if now[name := task.settings.partition("(")[0]] != task.version})
