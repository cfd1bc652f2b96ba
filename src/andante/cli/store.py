"""`andante store`: check, merge and export stores of results."""

from __future__ import annotations

from pathlib import Path

import typer

from andante.cli.shared import check_places, out

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Check, merge and export stores of results.")


@app.command()
def check(folder: Path = typer.Argument(..., metavar="STORE", help="The folder of a store.")) -> None:
    """Check that all files of a store are intact and that rows of the same trial agree; if not, the exit code is 1."""
    from andante.store import Store
    from andante.store import check as faults_of

    store = Store(folder)
    faults = faults_of(store)
    for fault in faults:
        out.print(fault, soft_wrap=True)
    if faults:
        raise typer.Exit(1)
    out.print(f"{folder} is sound: {len(store):,} rows in {len(store.parts())} parts", soft_wrap=True)


@app.command()
def merge(
    folders: list[Path] = typer.Argument(..., metavar="STORE...", help="Two stores or more."),
    into: Path = typer.Option(..., "--into", metavar="STORE", help="The new store."),
) -> None:
    """Merge stores into a new one; each trial is kept once."""
    from andante.store import Store
    from andante.store import check as faults_of
    from andante.store import merge as put_together

    merged = put_together([Store(folder) for folder in folders], into)
    out.print(f"{into} has {len(merged):,} rows", soft_wrap=True)
    faults = faults_of(merged)
    for fault in faults:
        out.print(fault, soft_wrap=True)
    if faults:
        raise typer.Exit(1)


@app.command()
def export(
    folder: Path = typer.Argument(..., metavar="STORE", help="The folder of a store."),
    file: Path = typer.Argument(..., metavar="FILE.csv|FILE.parquet", help="Where to write all rows."),
) -> None:
    """Write all rows of a store into one file."""
    from andante.store import Store
    from andante.store import export as write

    check_places(file)
    count = write(Store(folder), file)
    out.print(f"{file} has {count:,} rows", soft_wrap=True)
