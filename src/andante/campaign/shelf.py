"""Databases for the maps of a campaign: built once, kept in the user's cache, held by a worker while it needs them.

A kind that serves any map is built from maps of its own, the run's ``training``: testing it on the map it was learned
on would prove little.

A kind that may be built for some goals only (``goals=asked``) is built for the goals of the campaign's problems.

The name of a file identifies what made it: maps, kind, parameters, goals and the state of the builder's code. So a file
that is found fits. The name also gives the build time, for reports on the cost of building.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import andante
from andante.campaign.maps import PlannedMap
from andante.campaign.tables import CampaignError, only_texts
from andante.databases.header import Database, load
from andante.errors import DatabaseError, OutputError
from andante.files import cache_folder
from andante.kernel import source_state
from andante.notation import Call, parse
from andante.offline import build, builders
from andante.offline.builder import asks_for_goals, with_parameters
from andante.world.grid import Grid

_MOST_HELD = 64


class Volume(NamedTuple):
    """A database and its build time."""

    database: Database
    build_seconds: float


@cache
def version_of_code(function: Callable[..., Any]) -> str:
    """Return the version of all code that decides what a function computes: Andante's, and a hash of the sources."""
    return f"{andante.__version__} {source_state(function)}"


class BuildOrder(NamedTuple):
    """What to build: a kind of database with all its parameters, the version of its builder, and training maps."""

    text: str
    version: str
    training: tuple[PlannedMap, ...] = ()  # for a kind that serves any map; if empty, it is built for each map

    @property
    def name(self) -> str:
        """Its kind, without parameters."""
        return parse(self.text).name

    @property
    def serves_any_map(self) -> bool:
        """Whether it is built from maps of its own rather than for each map."""
        return builders()[self.name].any_map

    @property
    def asks_for_goals(self) -> bool:
        """Whether it is built for the goals of the campaign's problems only."""
        return asks_for_goals(self.text)

    @property
    def stale(self) -> bool:
        """Whether the builder's code has changed since the order was made."""
        return self.version != version_of_code(builders()[self.name].make)

    @classmethod
    def of(cls, text: str) -> BuildOrder:
        """Return the order that a text in the notation stands for.

        >>> BuildOrder.of("moves").text
        'moves'
        """
        call = parse(text)
        chosen, params = with_parameters(call.name, dict(call.arguments))
        words = {p.name: p.word(value) for p, value in zip(chosen.parameters, params, strict=True)}
        return cls(str(Call(chosen.kind, words)), version_of_code(chosen.make))

    @property
    def deciding(self) -> tuple[str, ...]:
        """Everything that decides what is in the database, except the map it is built for."""
        return (self.text, self.version, *(planned.fingerprint for planned in self.training))

    def as_data(self) -> dict[str, Any]:
        """Return plain data for a manifest."""
        maps = [planned.as_data() for planned in self.training]
        return {"text": self.text, "version": self.version, "training": maps}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], folder: str) -> BuildOrder:
        """Return the order from what `as_data` returned; the paths of maps start at ``folder``."""
        maps = tuple(PlannedMap.from_data(each, folder) for each in data["training"])
        text, version = only_texts((data["text"], data["version"]))
        return cls(text, version, maps)


class Shelf:
    """The databases that this process has used most recently."""

    def __init__(self) -> None:
        self._volumes: OrderedDict[str, Volume] = OrderedDict()
        self._lock = threading.Lock()

    def volumes(self, orders: Sequence[BuildOrder], grid: Grid, goals: npt.NDArray[np.int64]) -> list[Volume]:
        """Return the databases for a map, from memory, from the cache, or built, for these goals if an order asks."""
        return [self._volume(order, grid, goals if order.asks_for_goals else None) for order in orders]

    def _volume(self, order: BuildOrder, grid: Grid, goals: npt.NDArray[np.int64] | None) -> Volume:
        key = _key(order, grid, goals)
        with self._lock:  # building uses all cores, so two at once would not be faster
            if key not in self._volumes:
                self._volumes[key] = _found(key, grid) or _built(key, order, grid, goals)
            self._volumes.move_to_end(key)
            while len(self._volumes) > _MOST_HELD:
                self._volumes.popitem(last=False)
            return self._volumes[key]


def _home() -> Path:
    return cache_folder() / "databases"


def _key(order: BuildOrder, grid: Grid, goals: npt.NDArray[np.int64] | None) -> str:
    """Return a key, the same for all maps that one database serves."""
    maps = () if order.training else (grid.graph.fingerprint,)
    digest = hashlib.sha256(" ".join((*order.deciding, *maps)).encode())
    if goals is not None:
        digest.update(np.unique(goals).astype("<i8").tobytes())
    return digest.hexdigest()[:32]


def _found(key: str, grid: Grid) -> Volume | None:
    for file in sorted(_home().glob(f"{key}-*.db")):
        try:
            return Volume(load(file, map=grid), int(file.stem.partition("-")[2]) / 1000)
        except (DatabaseError, ValueError):  # damaged or not ours, so it is built again
            continue
    return None


def _built(key: str, order: BuildOrder, grid: Grid, goals: npt.NDArray[np.int64] | None) -> Volume:
    if order.stale:
        raise CampaignError(f"this worker has different code for building {order.name} than the campaign's plan")
    world = [planned.grid() for planned in order.training] or grid
    began = time.perf_counter()
    database = build(order.text, world, goals=goals)
    seconds = time.perf_counter() - began
    with suppress(OSError, OutputError):  # if the cache cannot be written, it will be built again
        _home().mkdir(parents=True, exist_ok=True)
        database.save(_home() / f"{key}-{round(seconds * 1000)}.db")
    return Volume(database, seconds)
