"""The outline of a campaign in its store: the planned algorithms, and the jobs that they are divided into.

A report needs no more of a plan than this. `andante.campaign.plan` adds the data that is needed to run the jobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.datafile import only_numbers, only_texts
from andante.store.parts import StoreError
from andante.store.store import Store

#: Columns of a table stored beside the rows.
Arrays = Mapping[str, npt.NDArray[Any]]

#: The columns of the table of jobs: the range of each job in the lists of problems and tasks.
JOB_COLUMNS: dict[str, type] = dict.fromkeys(("first_problem", "end_problem", "first_task", "end_task"), np.int64)

#: Exceptions that reading a plan raises if its data is damaged.
DAMAGE = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class Outline:
    """The algorithms and jobs of a campaign. A draw is a choice of problems from a set; a task runs on one draw."""

    def __init__(self, sets: list[str], draws: Sequence[int], algorithms: Sequence[str], jobs: Arrays) -> None:
        self.sets = sets  # the problem set of each draw
        self._draws, self._algorithms = draws, algorithms  # of each task
        self.jobs = jobs

    def check(self) -> None:
        """Raise `ValueError` if jobs, tasks and sets do not match each other."""
        check_types(self.jobs, JOB_COLUMNS)
        check_within(np.array(self._draws, np.int64), 0, len(self.sets))
        check_ranges(self.jobs["first_task"], self.jobs["end_task"], len(self._draws))
        check_ranges(self.jobs["first_problem"], self.jobs["end_problem"], np.iinfo(np.int64).max - 1)

    def planned(self, problems: str | None = None) -> list[str]:
        """Return the algorithms of all tasks, in order, or of those on one set of problems."""
        tasks = zip(self._draws, self._algorithms, strict=True)
        return [algorithm for draw, algorithm in tasks if problems in (None, self.sets[draw])]

    @cached_property
    def _trials(self) -> npt.NDArray[np.int64]:
        """The number of trials in each job."""
        jobs = self.jobs
        trials: npt.NDArray[np.int64] = (jobs["end_problem"] - jobs["first_problem"]) * (
            jobs["end_task"] - jobs["first_task"]
        )
        return trials

    @property
    def trials(self) -> int:
        """The total number of trials."""
        return int(self._trials.sum())

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self._trials)

    def trials_of(self, number: int) -> int:
        """Return the number of trials in the job of this number."""
        return int(self._trials[number])

    def finished_by_all(self, finished: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the finished jobs on whose problems all algorithms of their draw have finished."""
        left = np.ones(len(self), np.int64)
        left[finished] = 0
        _, portion = np.unique(self.jobs["first_problem"], return_inverse=True)  # a draw is cut the same for all tasks
        numbers: npt.NDArray[np.int64] = np.flatnonzero(np.bincount(portion, left)[portion] == 0)
        return numbers


# --- progress -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Status:
    """The progress of a campaign in its store."""

    jobs: int
    jobs_finished: int
    trials: int
    trials_finished: int
    damaged: int  # parts that were moved aside

    @classmethod
    def of(cls, store: Store, outline: Outline) -> Status:
        """Return the progress of a campaign in its store."""
        finished = finished_jobs(store, outline).tolist()
        trials = sum(outline.trials_of(number) for number in finished)
        return cls(len(outline), len(finished), outline.trials, trials, store.damaged)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.jobs == self.jobs_finished


def finished_jobs(store: Store, outline: Outline) -> npt.NDArray[np.int64]:
    """Return the numbers of the jobs whose rows are in the store; raise `StoreError` for rows of unplanned jobs."""
    finished = store.finished_jobs()
    refuse_strange(store, finished[(finished < 0) | (finished >= len(outline))].tolist())
    return finished


def refuse_strange(store: Store, jobs: Sequence[int]) -> None:
    """Raise `StoreError` if there are jobs in the store that are not in its plan."""
    if jobs:
        raise StoreError(
            f"{store.folder} has rows of job {jobs[0]} that are not in its plan, perhaps of another campaign; move "
            "them out of its folder parts, or start a new store"
        )


# --- reading plans --------------------------------------------------------------------------------------------------


def outline_of(store: Store) -> Outline | None:
    """Return the outline of a store, or None if the store is not that of a single campaign."""
    if not has_plan(store):
        return None
    jobs = arrays(store, "jobs")
    try:
        plan = store.about["plan"]
        draws, algorithms = ([task[k] for task in plan["tasks"]] for k in (0, 1))
        outline = Outline(only_texts(plan["sets"]), only_numbers(draws, least=0), only_texts(algorithms), jobs)
        outline.check()
    except DAMAGE as error:
        raise damaged_plan(store) from error
    return outline


def has_plan(store: Store) -> bool:
    """Return whether this is the store of a single campaign."""
    return {"plan", "settings"} <= store.about.keys()


def arrays(store: Store, name: str) -> Arrays:
    """Return a table stored beside the rows, as arrays."""
    table = store.table(name)
    return {column: table[column].to_numpy() for column in table.columns}


def damaged_plan(store: Store) -> StoreError:
    """Return the error for a damaged plan."""
    return StoreError(
        f"the plan of {store.folder} is damaged; restore manifest and tables from a copy, or start a new store"
    )


def check_types(table: Arrays, columns: Mapping[str, type]) -> None:
    """Raise `ValueError` if a table does not have exactly these columns with these types."""
    for name in (*columns, *table):
        if np.dtype(columns[name]) != table[name].dtype:
            raise ValueError(f"the column {name} has the type {table[name].dtype}")


def check_ranges(first: npt.NDArray[np.int64], end: npt.NDArray[np.int64], count: int) -> None:
    """Raise `ValueError` if one of these ranges is empty or not within ``range(count)``."""
    check_within(first, 0, count)
    check_within(end - first, 1, count + 1)
    check_within(end, 1, count + 1)


def check_within(numbers: npt.NDArray[np.int64], low: int, high: int) -> None:
    """Raise `ValueError` if one of these numbers is not in ``range(low, high)``."""
    if len(numbers) and not (low <= numbers.min() and numbers.max() < high):
        raise ValueError(f"numbers from {numbers.min()} to {numbers.max()} are not all from {low} up to {high}")
