"""`andante campaign`: experiments from a data file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from andante.cli.shared import (
    JSON_OPTION,
    check_places,
    err,
    out,
    print_json,
    progress_of_parts,
    show_compilation,
)
from andante.machine import cores

if TYPE_CHECKING:
    from andante.campaign import Campaign, Plan, Progress, Status
    from andante.campaign.engines import Engine
    from andante.measures import Summary
    from andante.report.results import Results
    from andante.store import Store

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Run campaigns, stop them, go on, report.")

FILE = typer.Argument(..., metavar="FILE.toml", help="The campaign.")
STORE = typer.Option(None, "--store", metavar="FOLDER", help="Where the results are. Default: FILE.store, beside it.")
SCALE = typer.Option(
    "full",
    help="quick or full: which values of the file to take where it gives two; quick+SET: full for these problems.",
)
THREADS = typer.Option(cores(), min=1, help="How many jobs run at once, with the engine 'local'.")
ENGINE = typer.Option("local", help="local (threads of this process) or dask (processes here or elsewhere).")
SCHEDULER = typer.Option(None, metavar="tcp://HOST:PORT", help="Use the workers of this Dask scheduler.")
WORKERS = typer.Option(None, min=1, help="Start so many Dask workers on this machine.")
ESTIMATE_SECONDS = 5.0  # of work, from which the rest is estimated


@app.command()
def run(
    file: Path = FILE,
    store: Path | None = STORE,
    scale: str = SCALE,
    threads: int = THREADS,
    engine: str = ENGINE,
    scheduler: str | None = SCHEDULER,
    workers: int | None = WORKERS,
    estimate: bool = typer.Option(False, help="Run a few seconds of it, say how long the rest will take, and stop."),
) -> None:
    """Run a campaign, or what is left of it."""
    from andante.campaign import read_campaign

    campaign = read_campaign(file, scale)
    work_on(
        campaign,
        store or default_store(campaign),
        lambda: make_engine(engine, threads, scheduler, workers),
        f"'{command('resume', campaign, store)}'",
        estimate,
    )


@app.command()
def resume(
    file: Path = FILE,
    store: Path | None = STORE,
    scale: str = SCALE,
    threads: int = THREADS,
    engine: str = ENGINE,
    scheduler: str | None = SCHEDULER,
    workers: int | None = WORKERS,
) -> None:
    """Go on with a campaign that was stopped; it must have been begun."""
    from andante.campaign import read_campaign

    campaign = read_campaign(file, scale)
    folder = begun(campaign, store).folder
    work_on(
        campaign,
        folder,
        lambda: make_engine(engine, threads, scheduler, workers),
        f"'{command('resume', campaign, store)}'",
    )


@app.command()
def status(file: Path = FILE, store: Path | None = STORE, scale: str = SCALE, as_json: bool = JSON_OPTION) -> None:
    """Say how much of a campaign is done."""
    from dataclasses import asdict

    from andante.campaign import read_campaign
    from andante.campaign import status as stands

    opened = begun(read_campaign(file, scale), store)
    found = stands(opened)
    if as_json:
        print_json(asdict(found))
    else:
        print_status(opened, found)


@app.command()
def report(
    file: Path = FILE,
    store: Path | None = STORE,
    scale: str = SCALE,
    by: str = typer.Option("agent", help="What a line of the table is about: agent, algorithm, map, set, ..."),
    problems: str | None = typer.Option(None, "--set", metavar="NAME", help="Only this set of problems."),
    html: Path | None = typer.Option(None, metavar="FILE.html", help="Write a page with tables and plots."),
    markdown: Path | None = typer.Option(None, metavar="FILE.md", help="Write the table in Markdown."),
    latex: Path | None = typer.Option(None, metavar="FILE.tex", help="Write the table in LaTeX."),
    csv: Path | None = typer.Option(None, metavar="FILE.csv", help="Write every statistic, unrounded."),
    dominance: str = typer.Option(
        "states_expanded_per_move,suboptimality_ratio",
        metavar="X,Y",
        help="The two measures in which algorithms may dominate each other.",
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Report what is in the store of a campaign.

    Of an unfinished one only those problems count that all its agents have finished.
    """
    from andante.campaign import read_campaign
    from andante.report.results import Results

    check_places(html, markdown, latex, csv)
    campaign = read_campaign(file, scale)
    opened = begun(campaign, store)
    check_set(problems, campaign)
    results = Results.comparable(opened, problems)
    x, y = read_pair(dominance)
    if not len(results.rows):
        finished = Results.of(opened).where({} if problems is None else {"set": problems})
        print_counts(results, finished, as_json)
        refuse_empty(html, markdown, latex, csv)
        return
    write_tables(results.summaries(by), by, campaign.measures, markdown, latex, csv)
    if html is not None:
        from andante.report.page import results_page

        write(html, results_page(results, x=x, y=y, measures=campaign.measures))
    print_results(results, by, campaign.measures, x, y, as_json)


def refuse_empty(*files: Path | None) -> None:
    """Refuse to write files about nothing."""
    from andante.errors import OutputError

    for file in filter(None, files):
        raise OutputError(f"{file} was not written: there is nothing to compare in it yet")


def read_pair(text: str) -> tuple[str, str]:
    """Two measures, from X,Y."""
    from andante.errors import ParameterError
    from andante.measures import measure

    names = [word.strip() for word in text.split(",")]
    if len(names) != 2:
        raise ParameterError(f"--dominance is written X,Y with two measures, not {text!r}")
    return measure(names[0]).name, measure(names[1]).name


def check_set(name: str | None, campaign: Campaign) -> None:
    """Refuse a set of problems that the campaign does not have."""
    from andante.errors import ParameterError, did_you_mean

    if name is not None and name not in campaign.problems:
        raise ParameterError(f"{campaign.path} has no problems {name!r}; {did_you_mean(name, campaign.problems)}")


def begun(campaign: Campaign, store: Path | None) -> Store:
    """The store of a campaign that was begun."""
    from andante.campaign import CampaignError
    from andante.store import Store

    folder = store or default_store(campaign)
    if not Store.exists(folder):
        Store.refuse_taken(folder)  # rows without a manifest were begun
        raise CampaignError(
            f"{campaign.path} was not begun yet: there is no store {folder}; '{command('run', campaign, store)}' "
            "begins it"
        )
    return Store(folder)


def command(verb: str, campaign: Campaign, store: Path | None) -> str:
    """What to type to do something with a campaign."""
    words = ["andante", "campaign", verb, str(campaign.path)]
    words += [] if campaign.scale == "full" else ["--scale", campaign.scale]
    return shlex.join(words if store is None else [*words, "--store", str(store)])


def default_store(campaign: Campaign) -> Path:
    """Beside the file, and named after it; a quick run has its own."""
    end = "" if campaign.scale == "full" else f"-{campaign.scale}"
    return campaign.path.with_name(f"{campaign.path.stem}{end}.store")


def make_engine(name: str, threads: int, scheduler: str | None, workers: int | None) -> Engine:
    """The engine that the options ask for."""
    from andante.errors import ParameterError, did_you_mean

    if name == "local":
        from andante.campaign.engines.local import Local

        if scheduler is not None or workers is not None:
            raise ParameterError("--scheduler and --workers are for --engine dask")
        return Local(threads)
    if name != "dask":
        raise ParameterError(f"there is no engine {name!r}; {did_you_mean(name, ['local', 'dask'])}")
    if (scheduler is None) == (workers is None):
        raise ParameterError("--engine dask needs either --scheduler tcp://HOST:PORT or --workers N")
    from andante.campaign.engines.dask import Dask

    return Dask(scheduler=scheduler, workers=workers)


# --- running --------------------------------------------------------------------------------------------------------


def work_on(campaign: Campaign, folder: Path, make: Callable[[], Engine], again: str, estimate: bool = False) -> str:
    """Plan, run and tell; the title of the engine that did it. ``again`` says what goes on with it if it is stopped."""
    from andante.cli import INTERRUPTED

    try:
        return _work_on(campaign, folder, make, estimate)
    except KeyboardInterrupt:
        print_stopped(folder, again)
        raise typer.Exit(INTERRUPTED) from None


def _work_on(campaign: Campaign, folder: Path, make: Callable[[], Engine], estimate: bool) -> str:
    from andante.campaign import prepare
    from andante.campaign import resume as go_on
    from andante.campaign import status as stands

    with progress_of_parts() as report:
        store, plan = prepare(campaign, folder, report)
    compile_for(plan)
    engine = make()
    err.print(f"{len(plan):,} jobs, {plan.trials:,} trials, {engine.title}: {folder}", soft_wrap=True)
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

        go_on(store, plan, engine, campaign.seed, progress=hear, go_on=within)
    print_status(store, stands(store, plan), last[0] if last else None)
    return engine.title


def compile_for(plan: Plan) -> None:
    """Compile what the plan needs, so that no job waits for it."""
    from andante.campaign.compiling import compile_outfits

    with show_compilation() as report:
        compile_outfits((task.outfit for task in plan.tasks), report)


@contextmanager
def _showing() -> Iterator[Callable[[Progress], None]]:
    """A bar with throughput and time left; on no terminal, a line now and then."""
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
    """Tell how it goes after 10 seconds, and whenever twice as long has passed."""
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
    """A time as a person says it.

    >>> spoken(45), spoken(600), spoken(20_000)
    ('45 s', '10 min', '5.6 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def print_status(store: Store, found: Status, last: Progress | None = None) -> None:
    """How much is done, and how long the rest will take."""
    jobs = f"{found.jobs_finished:,} of {found.jobs:,} jobs finished"
    lines = [f"{store.folder}: {jobs}, {found.trials_finished:,} of {found.trials:,} trials"]
    if last is not None and not found.finished:
        lines.append(
            f"the rest will take about {spoken(last.seconds_left)}, at {last.trials_per_second:,.0f} trials per second"
        )
    if found.damaged:
        lines.append(f"{found.damaged} parts were damaged and set aside; their jobs count as not finished")
    print_lines(lines)


def print_stopped(folder: Path, again: str) -> None:
    """What is kept of a run that was interrupted, and how to go on."""
    from andante.campaign import status as stands
    from andante.store import Store

    told = "before its first job; run it again"
    if Store.exists(folder):
        found = stands(Store(folder))
        told = f"{found.jobs_finished:,} of {found.jobs:,} jobs kept; {again} goes on"
    err.print(f"stopped: {told}", soft_wrap=True)


# --- reporting ------------------------------------------------------------------------------------------------------


def write_tables(
    summaries: Sequence[Summary],
    by: str,
    measures: Sequence[str],
    markdown: Path | None,
    latex: Path | None,
    csv: Path | None,
) -> None:
    """Write the tables that were asked for."""
    from andante.report import table

    if markdown is not None:
        write(markdown, table.markdown(summaries, measures, by))
    if latex is not None:
        write(latex, table.latex(summaries, measures, by))
    if csv is not None:
        write(csv, table.summary_csv(summaries, by))


def write(path: Path, text: str) -> None:
    """Write a file, and say so."""
    from andante.files import write_whole

    write_whole(path, text.encode())
    err.print(f"wrote {path}", soft_wrap=True)


def print_results(results: Results, by: str, measures: Sequence[str], x: str, y: str, as_json: bool) -> None:
    """The table, and who is dominated by none, for a person or for a program."""
    from dataclasses import asdict

    from andante.measures import problem_mismatch
    from andante.report.dominance import on_average
    from andante.report.results import AGENTS
    from andante.report.table import TerminalTable

    summaries = results.summaries(by)
    fault = problem_mismatch(summaries) if by in AGENTS else ""
    standings = on_average(summaries, x, y) if by in AGENTS and not fault else []
    about = [*results.sentences, *([f"{fault}."] if fault and not results.incomparable else [])]
    if as_json:
        dominated: Any = {one.summary.name: one.dominated_by for one in standings}
        told = {"about": about, "summaries": [asdict(summary) for summary in summaries]}
        print_json({**told, "dominated_by": dominated})
        return
    print_lines(about)
    out.print(TerminalTable(summaries, measures, by))
    free = [one.summary.name for one in standings if one.dominated_by is None]
    if len(free) < len(standings):
        out.print(f"Dominated by none in {x} and {y}: {', '.join(free)}", soft_wrap=True)


def print_counts(none: Results, some: Results, as_json: bool) -> None:
    """That there is nothing to compare yet, and how many trials each agent has finished."""
    counts = {one.name: one.trials for one in some.summaries()}
    if as_json:
        print_json({"about": none.sentences, "trials": counts})
    else:
        print_lines([*none.sentences, *(f"{count:>11,}  {name}" for name, count in counts.items())])


def print_lines(lines: Sequence[str]) -> None:
    """Print these lines as they are, however long."""
    for line in lines:
        out.print(line, soft_wrap=True)
