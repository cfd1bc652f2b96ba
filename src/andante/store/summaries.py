"""Summaries of millions of rows, with the same numbers as from `andante.measures.summarise`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from andante.errors import ParameterError, did_you_mean
from andante.measures import MEASURES, Summary
from andante.measures.clusters import Clusters, Over
from andante.measures.summary import map_column, place_columns, place_digest, summary_of
from andante.store.parts import polars

if TYPE_CHECKING:
    import polars as pl

DIGEST = "digest of the problem"  # names that no store uses for a column
MAP = "number of the map"
GROUP = "value of the column"


def summaries(
    rows: pl.DataFrame, by: str = "algorithm", order: Iterable[str] = (), over: Over = "maps"
) -> list[Summary]:
    """Return a summary for each value of the column ``by``, those in ``order`` first, the others as they appear.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"algorithm": ["a", "a"], "solved": [True, False], "cost": [2.0, 4.0]})
    >>> summaries(rows)[0]["cost"].mean
    3.0
    """
    for column in (by, "solved"):
        if column not in rows.columns:
            raise ParameterError(f"the rows have no column {column!r}; {did_you_mean(column, rows.columns)}")
    groups = _groups(rows, by)
    found = {str(name[0]): _summary(str(name[0]), group, over) for name, group in groups.items()}
    names = [*dict.fromkeys(name for name in order if name in found)]
    return [found.pop(name) for name in names] + list(found.values())


def _groups(rows: pl.DataFrame, by: str) -> dict[tuple[Any, ...], pl.DataFrame]:
    """Return the columns that summaries need, for each value of ``by``."""
    pl = polars()
    measured = [name for name in MEASURES if name in rows.columns]
    where = map_column(rows.columns)
    place = pl.col(where).rank("dense") if where is not None else pl.lit(0)
    flags = {MEASURES[name].bounded_by for name in measured} & set(rows.columns)
    columns = [pl.col(name).cast(pl.Float64).fill_null(math.nan) for name in measured]
    needed = with_digests(rows).select(
        pl.col(by).alias(GROUP), "solved", DIGEST, place.alias(MAP), *columns, *sorted(flags)
    )
    return needed.partition_by(GROUP, as_dict=True, maintain_order=True)


def _summary(name: str, group: pl.DataFrame, over: Over) -> Summary:
    measured = {key: group[key].to_numpy() for key in MEASURES if key in group.columns}
    digests = None if group[DIGEST].null_count() else group[DIGEST].to_numpy()
    problems = None if digests is None else int(digests.sum())
    clusters = Clusters.of(group[MAP].to_numpy(), over, digests)
    flags = {MEASURES[key].bounded_by for key in measured} & set(group.columns)
    bounds = {key: group[key].fill_null(False).to_numpy() for key in flags}
    solved = group["solved"].to_numpy().astype(bool)
    return summary_of(name, measured, int(solved.sum()), ~solved, bounds, clusters, problems)


def with_digests(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the number of each problem that `Summary.problems` sums; null if it is not known."""
    pl = polars()
    columns = place_columns(rows.columns)
    if not columns:
        return rows.with_columns(pl.lit(None, pl.Int64).alias(DIGEST))
    places = rows.select(columns).unique()
    digests = pl.Series(DIGEST, [place_digest(place) for place in places.iter_rows()], pl.Int64)
    return rows.join(places.with_columns(digests), on=columns, how="left", maintain_order="left")


def summed_digests() -> pl.Expr:
    """Return the sum of the problem numbers in a group, null if one of them is not known."""
    digest = polars().col(DIGEST)
    expression: pl.Expr = polars().when(digest.is_not_null().all()).then(digest.sum())
    return expression
