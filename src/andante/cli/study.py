"""`andante study`: rerun a paper's experiments, and compare its numbers with ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.campaign import THREADS
from andante.cli.running import work_on
from andante.cli.shared import out, print_items

if TYPE_CHECKING:
    from andante.store import Store

app = typer.Typer(add_completion=False)

SMOKE = "A run at smoke scale shows that everything works. Its numbers mean nothing."


@app.command()
def study(
    name: str = typer.Argument(
        None, metavar="[NAME|FILE.toml]", help="The study to run. Without it, all studies are listed."
    ),
    scale: str = typer.Option(
        "quick",
        help="smoke (a test, under a minute), quick (a sample, in minutes), full (as in the paper), or quick+SET (full "
        "for this set of problems only).",
    ),
    threads: int = THREADS,
    store: Path | None = typer.Option(None, metavar="FOLDER", help="Default: rows.store in the folder of --out."),
    folder: Path | None = typer.Option(
        None,
        "--out",
        metavar="FOLDER",
        help="The folder for the page and figures. Default: andante-studies/NAME/SCALE.",
    ),
    estimate: bool = typer.Option(False, help="Run for a few seconds, estimate the remaining time, and stop."),
    so_far: bool = typer.Option(
        False,
        "--so-far",
        help="Run nothing; write the page from the finished trials, and note on it how many there are.",
    ),
    busy: bool = typer.Option(
        False, help="Note on the page that the machine had other work, so that its times mean little."
    ),
) -> None:
    """Rerun a paper's experiments and compare its numbers with ours."""
    from andante.campaign import read_campaign
    from andante.campaign.engines.local import Local
    from andante.campaign.orders import full_database
    from andante.report.results import Results
    from andante.report.study import BUSY, write_results
    from andante.report.studyfile import STUDY_FILE, find_study, read_study, study_folders

    if name is None:
        titles = {
            known: read_study(home / STUDY_FILE, "quick", full_database).title
            for known, home in study_folders().items()
        }
        print_items(titles.items(), indent=0)
        return
    file = find_study(name)
    campaign, spec = read_campaign(file, scale), read_study(file, scale, full_database)
    title = file.parent.name if file.name == STUDY_FILE else file.stem
    home = folder or Path("andante-studies", title, scale)
    rows = store or home / "rows.store"
    if not so_far:
        work_on(campaign, rows, lambda: Local(threads), "the same command", estimate)
        if estimate:
            return
    made = finished_or_begun(rows)
    lacking = unfinished(made)
    if lacking:
        out.print(lacking, soft_wrap=True)
    caveats = [BUSY] if busy else []
    warning = SMOKE if scale == "smoke" else ""
    page = write_results(spec, Results.of(made), home, made.made_with, caveats, lacking, warning)
    out.print(f"wrote {page}", soft_wrap=True)


def finished_or_begun(folder: Path) -> Store:
    """Return a study's store; raise an error if none of its jobs is finished."""
    from andante.errors import AndanteError
    from andante.store import Store

    if not Store.exists(folder) or not Store(folder).parts():
        raise AndanteError(f"no job of the study is finished in {folder}, so there is no page yet; run it first")
    return Store(folder)


def unfinished(store: Store) -> str:
    """Return how much of a study is finished, as the first sentence of its page; empty if all of it is."""
    from andante.campaign import status

    found = status(store)
    if found.finished:
        return ""
    share = min(99.9, 100 * found.trials_finished / found.trials)  # never 100.0 while trials are missing
    return (
        f"Unfinished: {found.trials_finished:,} of {found.trials:,} trials ({share:.1f} %) and "
        f"{found.jobs_finished:,} of {found.jobs:,} jobs are done, so algorithms may have been "
        "run on different problems."
    )
