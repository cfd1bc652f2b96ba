"""Databases for the maps of a campaign: built once, kept in the user's cache, held by a worker while it needs them.

A file's name says what made it: map, kind, parameters and the state of the builder's code, so one that is found fits;
and how long it took, for reports on what building costs.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import andante
from andante.databases.header import Database, DatabaseError, load
from andante.errors import OutputError
from andante.files import cache_folder
from andante.kernel import source_state
from andante.notation import Call, parse
from andante.offline import build
from andante.offline.builder import with_parameters
from andante.world.grid import Grid

_MOST_HELD = 64


class Volume(NamedTuple):
    """A database, and how long it took to build."""

    database: Database
    build_seconds: float


class Kind(NamedTuple):
    """A kind of database with all its parameters, and the version of its builder: these decide what a map's holds."""

    text: str
    version: str

    @property
    def name(self) -> str:
        """Its name, without parameters."""
        return parse(self.text).name

    @classmethod
    def of(cls, text: str) -> Kind:
        """The kind that a text in the notation asks for.

        >>> Kind.of("moves").text
        'moves'
        """
        call = parse(text)
        chosen, params = with_parameters(call.name, dict(call.arguments))
        words = {p.name: p.word(value) for p, value in zip(chosen.parameters, params, strict=True)}
        return cls(str(Call(chosen.kind, words)), f"{andante.__version__} {source_state(chosen.make)}")


class Shelf:
    """The databases that this process has in use, the last few of them."""

    def __init__(self) -> None:
        self._volumes: OrderedDict[tuple[Kind, str], Volume] = OrderedDict()
        self._lock = threading.Lock()

    def volumes(self, kinds: Sequence[Kind], grid: Grid) -> list[Volume]:
        """The databases of these kinds for a map: held, or found in the cache, or built."""
        return [self._volume(kind, grid) for kind in kinds]

    def _volume(self, kind: Kind, grid: Grid) -> Volume:
        key = (kind, grid.fingerprint)
        with self._lock:  # building takes all cores: two at once would be no faster
            if key not in self._volumes:
                self._volumes[key] = _found(kind, grid) or _built(kind, grid)
            self._volumes.move_to_end(key)
            while len(self._volumes) > _MOST_HELD:
                self._volumes.popitem(last=False)
            return self._volumes[key]


def _home() -> Path:
    return cache_folder() / "databases"


def _key(kind: Kind, grid: Grid) -> str:
    return hashlib.sha256(f"{kind} {grid.graph.fingerprint}".encode()).hexdigest()[:32]


def _found(kind: Kind, grid: Grid) -> Volume | None:
    for file in sorted(_home().glob(f"{_key(kind, grid)}-*.db")):
        try:
            return Volume(load(file, map=grid), int(file.stem.partition("-")[2]) / 1000)
        except (DatabaseError, ValueError):  # damaged, or not ours: built again
            continue
    return None


def _built(kind: Kind, grid: Grid) -> Volume:
    began = time.perf_counter()
    database = build(kind.text, grid)
    seconds = time.perf_counter() - began
    with suppress(OSError, OutputError):  # a cache that cannot be written to is no error, only slower the next time
        _home().mkdir(parents=True, exist_ok=True)
        database.save(_home() / f"{_key(kind, grid)}-{round(seconds * 1000)}.db")
    return Volume(database, seconds)
