"""Functions that run a campaign and resume it; it can be stopped at any moment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from andante.campaign.engines import Engine
from andante.campaign.file import Campaign
from andante.campaign.plan import Job, Plan, stale
from andante.campaign.share import Share
from andante.campaign.standing import own_jobs, plan_of, status
from andante.campaign.work import Result
from andante.datasets import ProgressCallback, quiet
from andante.errors import CampaignError
from andante.provenance import provenance
from andante.store import Status, Store, as_kept

_SHOWN = 3  # differences listed in an error message


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    trials: int  # finished by this run
    trials_left: int
    jobs: int  # finished by this run
    jobs_left: int
    seconds: float

    @property
    def trials_per_second(self) -> float:
        """Throughput so far."""
        return self.trials / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float:
        """The time for the remaining jobs at this throughput; infinite before anything is finished."""
        return self.trials_left / self.trials_per_second if self.trials else np.inf


def prepare(
    campaign: Campaign, folder: str | os.PathLike[str], planning: ProgressCallback = quiet
) -> tuple[Store, Plan]:
    """Create or open the campaign's store and plan, and return both; fail if the campaign has changed since."""
    if Store.exists(folder):
        return _opened(campaign, Store(folder))
    Store.refuse_taken(folder)  # before making a plan, which may take long
    plan = Plan.of(campaign, planning)
    if not plan.trials:
        raise CampaignError(f"{campaign.path} has no trials to run: none of its maps has a problem")
    about = {"title": campaign.title, "settings": campaign.settings, "plan": plan.as_data()}
    return Store.create(folder, about, plan.tables), plan


def _opened(campaign: Campaign, store: Store) -> tuple[Store, Plan]:
    plan = plan_of(store, str(campaign.path.parent.resolve()))
    changed = list(differences(store.about["settings"], as_kept(campaign.settings)))
    if changed:
        raise CampaignError(
            f"{campaign.path} has changed since {store.folder} was started: {'; '.join(changed[:_SHOWN])}"
            f"{' and more' if len(changed) > _SHOWN else ''}; undo the change, or start a new store with --store"
        )
    if names := stale(plan.tasks):
        raise CampaignError(
            f"the code of {', '.join(names)} has changed since {store.folder} was started; undo the change, or start a "
            "new store with --store"
        )
    return store, plan


def differences(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """Yield the differences between two pieces of plain data, in words.

    >>> list(differences({"seed": 1, "run": [{"sight": 5}]}, {"seed": 2, "run": [{"sight": 5}]}))
    ['seed was 1 and is 2']
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*before, *(key for key in now if key not in before)]:
            place = f"{where}.{key}" if where else str(key)
            if key not in now:
                yield f"{place} was removed"
            elif key not in before:
                yield f"{place} was added"
            else:
                yield from differences(before[key], now[key], place)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (old, new) in enumerate(zip(before, now, strict=True), 1):
            yield from differences(old, new, f"{where} {number}")
    elif before != now:
        yield f"{where} was {before!r} and is {now!r}"


def run(
    campaign: Campaign,
    folder: str | os.PathLike[str],
    engine: Engine,
    *,
    planning: ProgressCallback = quiet,
    progress: Callable[[Progress], None] | None = None,
    go_on: Callable[[Progress], bool] | None = None,
    part: Share | None = None,
) -> Status:
    """Run all jobs of a campaign that are not in its store yet, adding them as they finish; return the final status.

    ``progress`` is called after every batch of finished jobs. The run stops when ``go_on`` returns false. With a
    ``part``, only its share of the jobs is run: stores of all parts merge into that of the whole campaign.
    """
    store, plan = prepare(campaign, folder, planning)
    resume(store, plan, engine, campaign.seed, progress=progress, go_on=go_on, part=part)
    return status(store, plan)


def resume(
    store: Store,
    plan: Plan,
    engine: Engine,
    seed: int,
    *,
    progress: Callable[[Progress], None] | None = None,
    go_on: Callable[[Progress], bool] | None = None,
    part: Share | None = None,
) -> None:
    """Run the jobs of a plan, or of one part of it, that are not in the store yet."""
    with store.writing():
        left = np.setdiff1d(np.arange(len(plan)), own_jobs(store, plan), assume_unique=True)
        order = plan.order(seed)
        order = order if part is None else part.of_jobs(order, plan)
        todo = order[np.isin(order, left)]
        if not len(todo):
            return
        made = {**provenance(), "engine": engine.title}
        store.note(made)
        total = sum(plan.trials_of(number) for number in todo.tolist())
        done = Progress(0, total, 0, len(todo), 0.0)
        began = time.perf_counter()
        results = engine.run(_jobs(plan, todo.tolist()))
        awaited = set(todo.tolist())
        try:
            for batch in results:
                _check_off(batch, awaited)
                store.append(_joined(batch))
                store.note(made)  # a run may take days
                trials, jobs = done.trials + sum(len(part["id"]) for part in batch), done.jobs + len(batch)
                done = Progress(trials, total - trials, jobs, len(todo) - jobs, time.perf_counter() - began)
                if progress is not None:
                    progress(done)
                if go_on is not None and not go_on(done):
                    break
        finally:
            close = getattr(results, "close", None)
            if close is not None:
                close()


def _jobs(plan: Plan, numbers: Iterable[int]) -> Iterator[Job]:
    return (plan.job(number) for number in numbers)


def _check_off(batch: list[Result], awaited: set[int]) -> None:
    """Remove the jobs of these results from those awaited; refuse rows of jobs that are not awaited."""
    for number in {int(number) for part in batch for number in part["job"]}:
        if number not in awaited:
            raise CampaignError(
                f"rows of job {number} arrived, which is not awaited; finished jobs are stored: resume the campaign"
            )
        awaited.remove(number)


def _joined(batch: list[Result]) -> Result:
    return {name: np.concatenate([part[name] for part in batch]) for name in batch[0]}
