"""Reading of a campaign's store: its plan, and how much of it is finished."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.campaign.plan import Plan
from andante.errors import CampaignError
from andante.store import Status, Store, outline


def plan_of(store: Store, folder: str = "") -> Plan:
    """Return the plan of a store; its maps can be read only if the folder is given where paths start."""
    if not outline.has_plan(store):
        raise CampaignError(f"{store.folder} is not the store of a single campaign; name one that is")
    tables = {name: outline.arrays(store, name) for name in ("problems", "jobs")}
    try:
        return Plan.from_data(store.about["plan"], tables, folder)
    except outline.DAMAGE as error:
        raise outline.damaged_plan(store) from error


def own_jobs(store: Store, plan: Plan) -> npt.NDArray[np.int64]:
    """Return the numbers of the jobs whose rows are in the store; fail if one belongs to another campaign.

    Another campaign may have a job of the same number, so rows are compared by their ids: for each task those of the
    first and the last problem.
    """
    finished = outline.finished_jobs(store, plan)
    jobs = [plan.job(number) for number in finished.tolist()]
    asked = [(job.number, one) for job in jobs for task in job.tasks for one in job.ids(task, [0, -1])]
    outline.refuse_strange(store, store.jobs_without([number for number, _ in asked], [one for _, one in asked]))
    return finished


def status(store: Store, plan: Plan | None = None) -> Status:
    """Return how much of a campaign is in its store."""
    return Status.of(store, plan if plan is not None else plan_of(store))
