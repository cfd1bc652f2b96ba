"""What is in a campaign's store: its plan, and how much of it is finished. Reading only; `run` is for running."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from andante.campaign.plan import Plan
from andante.campaign.tables import CampaignError
from andante.store import Store, StoreError


@dataclass(frozen=True)
class Status:
    """How much of a campaign is in its store."""

    jobs: int
    jobs_finished: int
    trials: int
    trials_finished: int
    damaged: int  # parts that were set aside

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.jobs == self.jobs_finished


def plan_of(store: Store, folder: str = "") -> Plan:
    """Return the plan of a store; its maps can be read only if the folder where paths start is given."""
    if not {"plan", "settings"} <= store.about.keys():
        raise CampaignError(f"{store.folder} is not the store of a single campaign; name one that is")
    tables = {}
    for name in ("problems", "jobs"):
        table = store.table(name)
        tables[name] = {column: table[column].to_numpy() for column in table.columns}
    try:
        return Plan.from_data(store.about["plan"], tables, folder)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise StoreError(
            f"the plan of {store.folder} is damaged; restore manifest and tables from a copy, or start a new store"
        ) from error


def finished_jobs(store: Store, plan: Plan, compare: bool = False) -> npt.NDArray[np.int64]:
    """Return the numbers of the jobs whose rows are in the store; fail if it has rows that are not in the plan.

    A job of another campaign may have the same number as one of this campaign. With ``compare`` the rows themselves are
    compared by their ids: for each task those of the first and the last problem.
    """
    finished = store.finished_jobs()
    strange = finished[(finished < 0) | (finished >= len(plan))].tolist()
    if not strange and compare:
        jobs = [plan.job(number) for number in finished.tolist()]
        asked = [(job.number, one) for job in jobs for task in job.tasks for one in job.ids(task, [0, -1])]
        strange = store.jobs_without([number for number, _ in asked], [one for _, one in asked])
    if strange:
        raise StoreError(
            f"{store.folder} has rows of job {strange[0]} that are not in its plan, perhaps of another campaign; move "
            "them out of its folder parts, or start a new store"
        )
    return finished


def status(store: Store, plan: Plan | None = None) -> Status:
    """Return how much of a campaign is in its store."""
    known = plan if plan is not None else plan_of(store)
    finished = finished_jobs(store, known).tolist()
    trials = sum(known.trials_of(number) for number in finished)
    return Status(len(known), len(finished), known.trials, trials, store.damaged)
