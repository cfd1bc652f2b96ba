"""Merging of stores, and export of rows to one file."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andante.errors import OutputError
from andante.files import write_whole
from andante.store.made import united
from andante.store.parts import StoreError
from andante.store.store import Store

if TYPE_CHECKING:
    import polars as pl

FORMATS = (".csv", ".parquet")


def merge(sources: Sequence[Store], folder: str | os.PathLike[str]) -> Store:
    """Create and return a new store with the rows of all sources, each counted once.

    Partial stores of one campaign give a store that can be resumed. Stores of different campaigns give one for reports.
    Rows of one trial that disagree are kept, and `check` reports them.
    """
    if len(sources) < 2:
        raise StoreError(f"merging needs at least two stores, got {len(sources)}")
    first, *others = sources
    for other in others:
        _refuse_strangers(first, other)
    parts = [part for source in sources for part in source.whole_parts()]
    tables = _tables(sources)
    made = united(one for source in sources for one in source.made_with)
    about = first.about if tables is not None else _medley(sources)
    merged = Store.create(folder, about, tables, made)
    for part in parts:
        merged.adopt(part)
    return merged


def _refuse_strangers(first: Store, other: Store) -> None:
    if first.version != other.version:
        raise StoreError(
            f"{first.folder} was made by Andante {first.version} and {other.folder} by {other.version}; "
            "rows of different versions cannot be merged"
        )
    schemas = [store.scan_all().collect_schema() for store in (first, other) if store.parts()]
    if len(schemas) == 2 and schemas[0] != schemas[1]:
        odd = sorted(set(schemas[0].items()) ^ set(schemas[1].items()), key=str)
        raise StoreError(f"{first.folder} and {other.folder} have different columns, such as {odd[0][0]!r}")


def _tables(sources: Sequence[Store]) -> dict[str, pl.DataFrame] | None:
    """Return the tables of stores with the same description and equal tables, or None if they differ."""
    first, *others = sources
    if any((other.about, other.tables.keys()) != (first.about, first.tables.keys()) for other in others):
        return None
    tables = {name: first.table(name) for name in first.tables}
    same = all(other.table(name).equals(table) for other in others for name, table in tables.items())
    return tables if same else None


def _medley(sources: Sequence[Store]) -> dict[str, Any]:
    """Return the description of a store merged from different ones."""
    abouts = [source.about for source in sources]
    return {"title": " and ".join(str(about.get("title", "untitled")) for about in abouts), "merged": abouts}


def export(store: Store, path: str | os.PathLike[str]) -> int:
    """Write all rows to one complete CSV or Parquet file, by its extension, and return the number of rows."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise OutputError(f"cannot write {path}: rows are exported to files that end in {' or '.join(FORMATS)}")
    frame, buffer = store.frame(), io.BytesIO()
    frame.write_csv(buffer) if ending == ".csv" else frame.write_parquet(buffer)
    write_whole(path, buffer.getvalue())
    return len(frame)
