"""Databases that are built once, kept in a folder, and held in memory while they are needed.

Campaigns keep them in the user's cache. `andante advise` keeps them in its own folder, or in memory only: it tries so
many that they would fill the cache.

A kind that serves any map is built from training maps, the order's ``training``, or from the maps that it is requested
for. A kind that may be built for some goals only (``goals=asked``) is built for the goals of the campaign's problems.

The name of a file identifies its contents: maps, kind, parameters, goals and the state of the builder's code. So a file
with the right name can be used, unless it is damaged; then the database is built again. The name also contains the
build time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.campaign.orders import BuildOrder
from andante.databases.header import Database, load
from andante.datasets import ProgressCallback
from andante.errors import CampaignError, DatabaseError, OutputError
from andante.files import cache_folder
from andante.offline import build
from andante.recent import Recent
from andante.world.graph import Graph
from andante.world.grid import Grid

_MOST_HELD = 64

Goals = npt.NDArray[np.int64] | None


class Volume(NamedTuple):
    """A database and its build time."""

    database: Database
    build_seconds: float


def in_cache() -> Path:
    """Return the folder for databases in the user's cache."""
    return cache_folder() / "databases"


class Shelf:
    """A store of databases in the folder that ``home`` returns, or only in memory; recent ones are kept in memory."""

    def __init__(self, home: Callable[[], Path] | None) -> None:
        self._home = home
        self._volumes: Recent[str, Volume] = Recent(_MOST_HELD)  # builds one at a time, because a build uses all cores

    def volumes(self, orders: Sequence[BuildOrder], grid: Grid | Graph, goals: npt.NDArray[np.int64]) -> list[Volume]:
        """Return the databases for a map, for these goals if an order is for some goals only."""
        return [self.volume(order, [grid], goals if order.asks_for_goals else None) for order in orders]

    def volume(
        self,
        order: BuildOrder,
        grids: Sequence[Grid | Graph],
        goals: Goals = None,
        *,
        threads: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Volume:
        """Return a database for these maps from memory or from the folder, or build it.

        An order that serves any map may be for several maps; all others are for one.
        """
        key = _key(order, grids, goals)

        def make() -> Volume:
            found = self._found(key, order, grids[0])
            return found or self._built(key, order, grids, goals, threads, progress)

        return self._volumes.get(key, make)

    def _found(self, key: str, order: BuildOrder, grid: Grid | Graph) -> Volume | None:
        for file in sorted(self._home().glob(f"{key}-*.db")) if self._home is not None else ():
            with suppress(DatabaseError, ValueError):  # damaged, or not a file of ours, so the database is built again
                database = load(file, map=grid)
                if database.kind == order.name:
                    return Volume(database, int(file.stem.partition("-")[2]) / 1000)
        return None

    def _built(
        self,
        key: str,
        order: BuildOrder,
        grids: Sequence[Grid | Graph],
        goals: Goals,
        threads: int | None,
        progress: ProgressCallback | None,
    ) -> Volume:
        if order.stale:
            raise CampaignError(f"this worker has different code for building {order.name} than the campaign's plan")
        worlds = [planned.world() for planned in order.training] or list(grids)
        began = time.perf_counter()
        database = build(order.text, worlds, goals=goals, threads=threads, progress=progress)
        seconds = time.perf_counter() - began
        if self._home is not None:
            with suppress(OSError, OutputError):  # if the folder cannot be written, it will be built again
                self._home().mkdir(parents=True, exist_ok=True)
                database.save(self._home() / f"{key}-{round(seconds * 1000)}.db")
        return Volume(database, seconds)


def _key(order: BuildOrder, grids: Sequence[Grid | Graph], goals: Goals) -> str:
    """Return a key, the same for all maps that one database serves."""
    maps = () if order.training else tuple(grid.graph.fingerprint for grid in grids)
    digest = hashlib.sha256(" ".join((*order.deciding, *maps)).encode())
    if goals is not None:
        digest.update(np.unique(goals).astype("<i8").tobytes())
    return digest.hexdigest()[:32]
