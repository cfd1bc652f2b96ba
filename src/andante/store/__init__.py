"""Storage of result rows: Parquet parts with a manifest, one row per trial, safe to kill at any moment."""

from andante.store.check import check, disagreements
from andante.store.identity import row_ids
from andante.store.made import days_in_words
from andante.store.outline import Outline, Status, outline_of
from andante.store.parts import StoreError
from andante.store.store import Columns, Store, as_kept
from andante.store.summaries import summaries
from andante.store.transfer import export, merge

__all__ = [
    "Columns",
    "Outline",
    "Status",
    "Store",
    "StoreError",
    "as_kept",
    "check",
    "days_in_words",
    "disagreements",
    "export",
    "merge",
    "outline_of",
    "row_ids",
    "summaries",
]
