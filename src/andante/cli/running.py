"""Running campaigns and showing their progress, for `andante campaign` and `andante study`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.shared import err, print_lines, progress_of_parts, show_compilation

if TYPE_CHECKING:
    from andante.campaign import Campaign, Plan, Progress, Share, Status
    from andante.campaign.engines import Engine
    from andante.store import Store

ESTIMATE_SECONDS = 5.0  # of work, from which the rest is estimated


def work_on(
    campaign: Campaign,
    folder: Path,
    make: Callable[[], Engine],
    again: str,
    estimate: bool = False,
    part: Share | None = None,
) -> str:
    """Plan and run a campaign, or a part of it, print its status, and return the engine's title.

    ``again`` is the command that resumes it.
    """
    from andante.cli import INTERRUPTED

    try:
        return _work_on(campaign, folder, make, estimate, part)
    except KeyboardInterrupt:
        print_stopped(folder, again)
        raise typer.Exit(INTERRUPTED) from None


def _work_on(campaign: Campaign, folder: Path, make: Callable[[], Engine], estimate: bool, part: Share | None) -> str:
    from andante.campaign import prepare
    from andante.campaign import resume as go_on
    from andante.campaign import status as status_of

    with progress_of_parts() as report:
        store, plan = prepare(campaign, folder, report)
    compile_for(plan)
    engine = make()
    share = "" if part is None else f"part {part} of "
    err.print(f"{share}{len(plan):,} jobs, {plan.trials:,} trials, {engine.title}: {folder}", soft_wrap=True)
    with _showing() as show:
        last: list[Progress] = []

        def hear(progress: Progress) -> None:
            before = last[0].seconds if last else 0.0
            if before < ESTIMATE_SECONDS <= progress.seconds and progress.jobs_left and not estimate:
                err.print(f"this will take about {spoken(progress.seconds_left)}", soft_wrap=True)
            last[:] = [progress]
            show(progress)

        def within(progress: Progress) -> bool:
            return not estimate or progress.seconds < ESTIMATE_SECONDS

        go_on(store, plan, engine, campaign.seed, progress=hear, go_on=within, part=part)
    print_status(store, status_of(store, plan), last[0] if last else None)
    return engine.title


def compile_for(plan: Plan) -> None:
    """Compile what the plan needs, so that no job waits for it."""
    from andante.campaign.compiling import compile_outfits, small_graphs, small_maps

    outfits = (task.outfit for task in plan.tasks)
    with show_compilation() as report:
        grids, graphs = small_maps(plan.maps), small_graphs(plan.maps)
        compile_outfits(outfits, report, living=plan.has_scenes, grids=grids, graphs=graphs)


@contextmanager
def _showing() -> Iterator[Callable[[Progress], None]]:
    """Show a bar with throughput and time left; without a terminal, print lines at growing intervals."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    if not err.is_terminal:
        yield _lines()
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task("running", total=None)

        def show(progress: Progress) -> None:
            words = f"{progress.trials_per_second:,.0f} trials/s, {spoken(progress.seconds_left)} left"
            total = progress.trials + progress.trials_left
            bar.update(task, completed=progress.trials, total=total, description=words)

        yield show


def _lines() -> Callable[[Progress], None]:
    """Return a function that prints progress after 10 seconds, and whenever twice as long has passed."""
    began, wait = time.monotonic(), [10.0]

    def show(progress: Progress) -> None:
        if time.monotonic() - began >= wait[0]:
            wait[0] *= 2
            err.print(
                f"{progress.trials:,} trials done, {progress.trials_per_second:,.0f} per second, "
                f"{spoken(progress.seconds_left)} left",
                soft_wrap=True,
            )

    return show


def spoken(seconds: float) -> str:
    """Return a time in words.

    >>> spoken(45), spoken(600), spoken(20_000)
    ('45 s', '10 min', '5.6 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def print_status(store: Store, found: Status, last: Progress | None = None) -> None:
    """Print how much is finished, how long the rest will take, and the versions that made the rows."""
    from andante.provenance import described
    from andante.store import days_in_words

    jobs = f"{found.jobs_finished:,} of {found.jobs:,} jobs finished"
    lines = [f"{store.folder}: {jobs}, {found.trials_finished:,} of {found.trials:,} trials"]
    if last is not None and not found.finished:
        lines.append(
            f"the rest will take about {spoken(last.seconds_left)}, at {last.trials_per_second:,.0f} trials per second"
        )
    lines += [f"made {days_in_words([made])} with {described(made)}" for made in store.made_with]
    if found.damaged:
        lines.append(f"{found.damaged} parts were damaged and set aside; their jobs count as not finished")
    print_lines(lines)


def print_stopped(folder: Path, again: str) -> None:
    """Print how much of an interrupted run is kept, and how to resume it."""
    from andante.campaign import status as status_of
    from andante.store import Store

    kept = "before its first job; run it again"
    if Store.exists(folder):
        found = status_of(Store(folder))
        kept = f"{found.jobs_finished:,} of {found.jobs:,} jobs kept; {again} resumes it"
    err.print(f"stopped: {kept}", soft_wrap=True)
