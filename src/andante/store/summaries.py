"""Summaries of millions of rows: the same numbers as from `andante.measures.summarise`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from andante.errors import ParameterError, did_you_mean
from andante.measures import CUT_SHORT, MEASURES, Statistics, Summary
from andante.measures.summary import QUANTILES, place_columns, place_digest
from andante.store.store import polars

if TYPE_CHECKING:
    import polars as pl

DIGEST = "digest of the problem"  # names that no store has for a column
SHORT = "trials cut short"


def summaries(rows: pl.DataFrame, by: str = "algorithm", order: Iterable[str] = ()) -> list[Summary]:
    """Return a summary for each value of the column ``by``: those in ``order`` first, the others as they appear.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"algorithm": ["a", "a"], "solved": [True, False], "cost": [2.0, 4.0]})
    >>> summaries(rows)[0]["cost"].mean
    3.0
    """
    for column in (by, "solved"):
        if column not in rows.columns:
            raise ParameterError(f"the rows have no column {column!r}; {did_you_mean(column, rows.columns)}")
    pl = polars()
    measured = [name for name in MEASURES if name in rows.columns]
    parts = [expression for name in measured for expression in _statistics(rows, name)]
    short = pl.col("outcome").is_in(list(CUT_SHORT)) if "outcome" in rows.columns else pl.lit(False)
    grouped = (
        with_digests(rows)
        .with_columns(short.alias(SHORT))
        .group_by(by, maintain_order=True)
        .agg(
            pl.len().alias("trials"),
            pl.col("solved").sum().cast(pl.Int64).alias("solved"),
            summed_digests(),
            *parts,
        )
    )
    found = {str(row[by]): _summary(str(row[by]), row, measured) for row in grouped.iter_rows(named=True)}
    names = [*dict.fromkeys(name for name in order if name in found)]
    return [found.pop(name) for name in names] + list(found.values())


def with_digests(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a number for each problem, as `Summary.problems` sums them; null if it is not known."""
    pl = polars()
    columns = place_columns(rows.columns)
    if not columns:
        return rows.with_columns(pl.lit(None, pl.Int64).alias(DIGEST))
    places = rows.select(columns).unique()
    digests = pl.Series(DIGEST, [place_digest(place) for place in places.iter_rows()], pl.Int64)
    return rows.join(places.with_columns(digests), on=columns, how="left", maintain_order="left")


def summed_digests() -> pl.Expr:
    """Return the sum of the problem numbers in a group; null if one is not known."""
    digest = polars().col(DIGEST)
    expression: pl.Expr = polars().when(digest.is_not_null().all()).then(digest.sum())
    return expression


def _statistics(rows: pl.DataFrame, name: str) -> list[pl.Expr]:
    pl = polars()
    number = pl.col(name).cast(pl.Float64)
    known = number.is_not_nan() & number.is_not_null()
    values = number.filter(known)
    short = pl.col(SHORT) & MEASURES[name].adds_up
    risen = pl.when(short).then(math.inf).otherwise(number).filter(known)
    finite = not rows[name].cast(pl.Float64).is_infinite().any()
    parts: dict[str, Any] = {
        "count": values.len(),
        "mean": values.mean(),
        "deviation": values.std(),
        "max": values.max(),
        "bounds": short.filter(known).sum(),
    }
    for key, share in QUANTILES.items():
        parts[key] = values.quantile(share, "linear" if finite else "nearest")
        ends = [values.quantile(share, end) != risen.quantile(share, end) for end in ("lower", "higher")]
        parts[f"{key}_is_bound"] = ends[0] | ends[1]
    return [expression.alias(f"{name}.{key}") for key, expression in parts.items()]


def _summary(group: str, row: dict[str, Any], measured: list[str]) -> Summary:
    found = {}
    for name in measured:
        count = int(row[f"{name}.count"])
        number: dict[str, Any] = {key: _known(row[f"{name}.{key}"]) for key in ("mean", "median", "p95", "max")}
        deviation = _known(row[f"{name}.deviation"])
        error = deviation / math.sqrt(count) if count > 1 else math.nan
        uncertain = {f"{key}_is_bound": bool(row[f"{name}.{key}_is_bound"]) for key in QUANTILES}
        bounds = int(row[f"{name}.bounds"])
        found[name] = Statistics(count=count, standard_error=error, bounds=bounds, **number, **uncertain)
    return Summary(group, int(row["trials"]), int(row["solved"]), found, row[DIGEST])


def _known(value: float | None) -> float:
    return math.nan if value is None else float(value)
