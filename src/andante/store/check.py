"""Checks of a store: parts and tables must be undamaged, and rows of one trial must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from andante.store.identity import NOT_DECIDED
from andante.store.parts import StoreError, polars
from andante.store.store import Store

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 5


def check(store: Store) -> list[str]:
    """Return the faults of a store, one sentence each."""
    parts = [part.path.name for part in store.parts() if not part.whole]
    faults = [f"{name} is damaged: resume the campaign to run its jobs again" for name in parts]
    faults += [
        f"{name}.parquet is damaged or missing: restore it from a copy; without it rows can be read but not added"
        for name in store.tables
        if _lost(store, name)
    ]
    if parts or not store.parts():
        return faults
    clashes = disagreements(store.scan_all())
    shown = clashes.head(_SHOWN)
    faults += [
        f"two rows of the trial {row['id']} disagree in {', '.join(row['columns'])}: {row['algorithm']} on {row['map']}"
        for row in shown.iter_rows(named=True)
    ]
    if len(clashes) > _SHOWN:
        faults.append(f"{len(clashes) - _SHOWN} more trials have rows that disagree")
    return faults


def _lost(store: Store, table: str) -> bool:
    try:
        store.table(table)
    except StoreError:
        return True
    return False


def disagreements(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return the trials whose rows disagree: id, algorithm, map, and the columns in which they differ."""
    pl = polars()
    decided = [name for name in rows.collect_schema().names() if name not in NOT_DECIDED and name != "id"]
    repeated = rows.select("id").filter(pl.col("id").is_duplicated()).unique()
    groups = rows.join(repeated, on="id", how="semi").group_by("id", maintain_order=True)
    kinds = groups.agg(
        pl.col("algorithm").first(), pl.col("map").first(), *(pl.col(name).n_unique() for name in decided)
    ).collect()
    differing = [pl.when(pl.col(name) > 1).then(pl.lit(name)) for name in decided]
    if not differing:
        return kinds.with_columns(columns=pl.lit([]))
    named = kinds.with_columns(columns=pl.concat_list(differing).list.drop_nulls())
    return named.filter(pl.col("columns").list.len() > 0).select("id", "algorithm", "map", "columns")
