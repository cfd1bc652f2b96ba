"""`andante study`: a paper's experiments rerun, its numbers beside ours."""

from __future__ import annotations

from pathlib import Path

import typer

from andante.cli.campaign import THREADS
from andante.cli.running import work_on
from andante.cli.shared import out

app = typer.Typer(add_completion=False)


@app.command()
def study(
    name: str = typer.Argument(None, metavar="[NAME|FILE.toml]", help="Which; without it they are listed."),
    scale: str = typer.Option(
        "quick",
        help="smoke (does it run? under a minute), quick (a sample, in minutes), full (as in the paper), or quick+SET: "
        "full for these problems only.",
    ),
    threads: int = THREADS,
    store: Path | None = typer.Option(None, metavar="FOLDER", help="Default: rows.store in the folder of --out."),
    folder: Path | None = typer.Option(
        None, "--out", metavar="FOLDER", help="Where the page and figures go. Default: andante-studies/NAME/SCALE."
    ),
    estimate: bool = typer.Option(False, help="Run a few seconds of it, say how long the rest will take, and stop."),
) -> None:
    """Rerun a paper's experiments and compare its numbers with ours."""
    from andante.campaign import read_campaign
    from andante.campaign.engines.local import Local
    from andante.campaign.orders import full_database
    from andante.report.results import Results
    from andante.report.study import write_results
    from andante.report.studyfile import STUDY_FILE, find_study, read_study, study_folders
    from andante.store import Store

    if name is None:
        for known, home in study_folders().items():
            out.print(f"{known:20}{read_study(home / STUDY_FILE, 'quick', full_database).title}", soft_wrap=True)
        return
    file = find_study(name)
    campaign, spec = read_campaign(file, scale), read_study(file, scale, full_database)
    title = file.parent.name if file.name == STUDY_FILE else file.stem
    home = folder or Path("andante-studies", title, scale)
    rows = store or home / "rows.store"
    how = work_on(campaign, rows, lambda: Local(threads), "the same command", estimate)
    if estimate:
        return
    made = Store(rows)
    page = write_results(spec, Results.of(made), home, how, made.made_with)
    out.print(f"wrote {page}", soft_wrap=True)
