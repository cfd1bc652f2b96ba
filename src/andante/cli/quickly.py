"""Databases that can be built within a few seconds, for commands that show all agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from andante.cli.shared import out, progress_of_parts
from andante.machine import cores

if TYPE_CHECKING:
    from andante.databases.header import Database
    from andante.offline.builder import Builder
    from andante.selection.library import BuiltDatabases, Library, Refused
    from andante.world.grid import Grid

MOST_FOR_ALL_PAIRS = 30_000  # the most states for which a database of all pairs can be built in that time


def without_slow(orders: Sequence[str], grid: Grid) -> list[str]:
    """Return the databases without those that would certainly take too long, before their builders are compiled."""
    large = len(grid.graph) > MOST_FOR_ALL_PAIRS
    slow = [one for one in orders if _builder(one).all_pairs and large]
    for one in slow:
        out.print(f"no {one} database: it takes minutes to look at all pairs of states", soft_wrap=True)
    return [one for one in orders if one not in slow]


def _builder(order: str) -> Builder:
    """Return the builder of a database, which is named by its kind, or with parameters."""
    from andante.offline import builders

    return builders()[order.partition("(")[0]]


def build_databases(
    grid: Grid, orders: Sequence[str], seconds: float, memory_bytes: float | None = None
) -> list[tuple[Database, float]]:
    """Build databases, cheapest first as time permits, and return them with their build times.

    Each order is a kind, optionally with parameters. A kind whose default settings would need too much time or memory
    is built with its next settings, which need less.
    """
    from andante.measures import measure
    from andante.selection.journal import Journal
    from andante.selection.library import Library, Refused
    from andante.selection.requirements import Requirements

    built: list[tuple[Database, float]] = []
    with progress_of_parts() as progress:
        library = Library([grid], Requirements(memory_bytes=memory_bytes), Journal(), cores(), progress, seconds)
        library.prepare(orders)
        found = dict(first_in_time(library, order) for order in orders)
    for text, one in found.items():
        if isinstance(one, Refused):
            out.print(f"no {text} database: {_why(one)}", soft_wrap=True)
            continue
        size, time = measure("database_bytes").show(one.nbytes), measure("build_seconds").show(one.build_seconds)
        out.print(f"{text} database: {size}, built in {time}", soft_wrap=True)
        built += [(database, one.build_seconds) for database in one.databases]
    return built


def _why(one: Refused) -> str:
    return one.reason if one.breach is None else str(one.breach)


def first_in_time(library: Library, order: str) -> tuple[str, BuiltDatabases | Refused]:
    """Return the first settings of a kind that are within the limits, with the databases or the reason for none.

    An order with parameters is the only one that is tried.
    """
    from andante.selection.library import Refused

    refused: tuple[str, BuiltDatabases | Refused] | None = None
    for text in (order,) if "(" in order else _builder(order).orders:
        found = library.databases([text])
        if not (isinstance(found, Refused) and (found.late or found.breach)):
            return text, found
        refused = refused or (text, found)
    assert refused is not None  # a kind has at least its defaults
    return refused
