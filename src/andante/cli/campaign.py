"""`andante campaign`: experiments from a data file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.reporting import (
    print_counts,
    print_results,
    read_columns,
    read_pair,
    refuse_empty,
    write,
    write_tables,
)
from andante.cli.running import print_status, work_on
from andante.cli.shared import (
    JSON_OPTION,
    PENALTY_OPTION,
    TURN_OPTION,
    check_places,
    print_json,
    print_written,
    read_over,
)
from andante.machine import cores

if TYPE_CHECKING:
    from andante.campaign import Campaign, Share
    from andante.campaign.engines import Engine
    from andante.store import Store

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Run, resume and report campaigns.")

FILE = typer.Argument(..., metavar="FILE.toml", help="The campaign.")
STORE = typer.Option(
    None, "--store", metavar="FOLDER", help="The folder for the results. Default: FILE.store, beside the file."
)
SCALE = typer.Option(
    "full",
    help="smoke, quick or full: the values to use where the file gives several; quick+SET: full for this set of "
    "problems.",
)
THREADS = typer.Option(cores(), min=1, help="How many jobs run at once, with the engine 'local'.")
ENGINE = typer.Option("local", help="local (threads of this process) or dask (processes here or elsewhere).")
SCHEDULER = typer.Option(None, metavar="tcp://HOST:PORT", help="Use the workers of this Dask scheduler.")
WORKERS = typer.Option(None, min=1, help="Start this number of Dask workers on this machine.")
PART = typer.Option(
    None,
    metavar="K/N",
    help="Run only part K of N, into a separate store (FILE-part-K-of-N.store); 'andante store merge' "
    "merges the stores of all parts.",
)


@app.command()
def run(
    file: Path = FILE,
    store: Path | None = STORE,
    scale: str = SCALE,
    threads: int = THREADS,
    engine: str = ENGINE,
    scheduler: str | None = SCHEDULER,
    workers: int | None = WORKERS,
    part: str | None = PART,
    estimate: bool = typer.Option(False, help="Run for a few seconds, estimate the remaining time, and stop."),
) -> None:
    """Run a campaign, or the remaining part of it."""
    from andante.campaign import read_campaign

    campaign, share = read_campaign(file, scale), read_part(part)
    work_on(
        campaign,
        store or default_store(campaign, share),
        lambda: make_engine(engine, threads, scheduler, workers),
        f"'{command('resume', campaign, store, share)}'",
        estimate,
        share,
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
    part: str | None = PART,
) -> None:
    """Resume a campaign that was stopped; fails if it was never started."""
    from andante.campaign import read_campaign

    campaign, share = read_campaign(file, scale), read_part(part)
    folder = started_store(campaign, store, share).folder
    work_on(
        campaign,
        folder,
        lambda: make_engine(engine, threads, scheduler, workers),
        f"'{command('resume', campaign, store, share)}'",
        part=share,
    )


@app.command()
def status(file: Path = FILE, store: Path | None = STORE, scale: str = SCALE, as_json: bool = JSON_OPTION) -> None:
    """Show how much of a campaign is finished."""
    from dataclasses import asdict

    from andante.campaign import read_campaign
    from andante.campaign import status as status_of

    opened = started_store(read_campaign(file, scale), store)
    found = status_of(opened)
    if as_json:
        print_json({**asdict(found), "made_with": opened.made_with})
    else:
        print_status(opened, found)


@app.command()
def report(
    file: Path = FILE,
    store: Path | None = STORE,
    scale: str = SCALE,
    by: str = typer.Option("agent", help="What each row of the table describes: agent, algorithm, map, set, ..."),
    problems: str | None = typer.Option(None, "--set", metavar="NAME", help="Only this set of problems."),
    html: Path | None = typer.Option(None, metavar="FILE.html", help="Write a page with tables and plots."),
    markdown: Path | None = typer.Option(None, metavar="FILE.md", help="Write the table in Markdown."),
    latex: Path | None = typer.Option(
        None, metavar="FILE.tex", help="Write the table in LaTeX, for the packages booktabs and siunitx."
    ),
    csv: Path | None = typer.Option(None, metavar="FILE.csv", help="Write every statistic, unrounded."),
    figures: Path | None = typer.Option(
        None, metavar="FOLDER", help="Write the plots for a paper: SVG, PDF and PNG, one column wide, with captions."
    ),
    columns: str | None = typer.Option(
        None,
        metavar="M,M:STATISTIC",
        help="The columns of all tables: measures, each optionally followed by mean, median, p95 or max.",
    ),
    dominance: str | None = typer.Option(
        None,
        metavar="X,Y",
        help="The two measures for the dominance analysis. Default: states_expanded_per_move and "
        "suboptimality_ratio, or replanned_ratio in scenes.",
    ),
    penalty: float | None = PENALTY_OPTION,
    turn: float | None = TURN_OPTION,
    over: str = typer.Option(
        "maps", help="The sample for errors and intervals: maps, or problems if only these maps are of interest."
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Report the results of a campaign, and which agents dominate others.

    While a campaign is unfinished, only problems count that all of its agents have finished.
    """
    from andante.campaign import read_campaign
    from andante.measures import quality_of
    from andante.measures.achievement import turn_length
    from andante.measures.comparison import check_penalty
    from andante.report.ground import Ground
    from andante.report.results import Results

    check_places(html, markdown, latex, csv)
    check_penalty(penalty)
    if turn is not None:
        turn_length(turn)
    sampled, asked = read_over(over), read_columns(columns)
    campaign = read_campaign(file, scale)
    measures = asked or campaign.measures
    opened = started_store(campaign, store)
    check_set(problems, campaign)
    results = Results.comparable(opened, problems)
    x, y = read_pair(dominance or f"states_expanded_per_move,{quality_of(results.rows.columns)}")
    if not len(results.rows):
        finished = Results.of(opened).where({} if problems is None else {"set": problems})
        print_counts(results, finished, as_json)
        refuse_empty(html, markdown, latex, csv, figures)
        return
    results = results if turn is None else results.achieved(turn)
    ground = Ground.of_results(results, penalty, sampled)
    summaries = results.summaries(by, sampled)
    write_tables(ground, summaries, by, measures, markdown, latex, csv, campaign.title)
    if figures is not None:
        from andante.report.gallery import write_figures

        write_figures(ground, x, y, figures)
        print_written(figures)
    if html is not None:
        from andante.report.page import results_page

        write(html, results_page(results, x=x, y=y, measures=measures, over=sampled, penalty=penalty))
    print_results(results, ground, summaries, by, measures, x, y, as_json)


def check_set(name: str | None, campaign: Campaign) -> None:
    """Raise an error if the campaign has no such set of problems."""
    from andante.errors import ParameterError, did_you_mean

    if name is not None and name not in campaign.problems:
        raise ParameterError(f"{campaign.path} has no problems {name!r}; {did_you_mean(name, campaign.problems)}")


def read_part(text: str | None) -> Share | None:
    """Return the part of a campaign that K/N describes."""
    from andante.campaign import Share

    return None if text is None else Share.read(text)


def started_store(campaign: Campaign, store: Path | None, part: Share | None = None) -> Store:
    """Return the store of a campaign; raise an error if it was never started."""
    from andante.campaign import CampaignError
    from andante.store import Store

    folder = store or default_store(campaign, part)
    if not Store.exists(folder):
        Store.refuse_taken(folder)  # rows without a manifest were started
        raise CampaignError(
            f"{campaign.path} has not been started: there is no store {folder}; start it with "
            f"'{command('run', campaign, store, part)}'"
        )
    return Store(folder)


def command(verb: str, campaign: Campaign, store: Path | None, part: Share | None = None) -> str:
    """Return the command line that runs or resumes a campaign."""
    words = ["andante", "campaign", verb, str(campaign.path)]
    words += [] if part is None else ["--part", str(part)]
    words += [] if campaign.scale == "full" else ["--scale", campaign.scale]
    return shlex.join(words if store is None else [*words, "--store", str(store)])


def default_store(campaign: Campaign, part: Share | None = None) -> Path:
    """Return the store next to the file, with the file's name; each scale and each part has its own."""
    end = "" if campaign.scale == "full" else f"-{campaign.scale}"
    end += "" if part is None else f"-part-{part.number}-of-{part.of}"
    return campaign.path.with_name(f"{campaign.path.stem}{end}.store")


def make_engine(name: str, threads: int, scheduler: str | None, workers: int | None) -> Engine:
    """Return the engine that the options name."""
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
