"""The databases that candidates need, for all maps: built once each, given up where they take too long."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from andante.campaign.shelf import BuildOrder
from andante.databases.header import Database, load
from andante.datasets import Progress
from andante.errors import AndanteError, DatabaseError
from andante.files import make_folder
from andante.offline import build
from andante.selection.journal import Journal, digest
from andante.selection.requirements import Breach, Requirements
from andante.world.grid import Grid

_PATIENCE = 2.0  # seconds before a build is judged by how far it has come
_OVERDUE = 1.5  # it is given up when it will take so many times as long as it may


class Refused(NamedTuple):
    """Why there is no such database: a limit, or another reason."""

    breach: Breach | None
    reason: str = ""


class Books(NamedTuple):
    """The databases of one candidate, for all maps."""

    databases: tuple[Database, ...]
    nbytes: int  # for one map, the one that needs most
    build_seconds: float  # likewise


class _GivenUpError(Exception):
    """A build that takes longer than it may."""


@dataclass
class Library:
    """All databases that were asked for."""

    grids: Sequence[Grid]
    requirements: Requirements
    journal: Journal
    threads: int
    progress: Progress
    allowance: float  # seconds to build one kind for all maps, if there is no limit of the user's
    most: float  # seconds to build everything

    def __post_init__(self) -> None:
        self._shelf: dict[tuple[str, str | None], tuple[Database, float] | Refused] = {}
        self.spent = 0.0  # seconds of the journal's that went into building

    def books(self, texts: Sequence[str]) -> Books | Refused:
        """The databases of these kinds, for all maps; or why there are none."""
        found: list[Database] = []
        most_bytes, most_seconds = 0, 0.0
        for grid in self.grids:
            nbytes, seconds = 0, 0.0
            for text in texts:
                one = self._one(text, grid)
                if isinstance(one, Refused):
                    return one
                found.append(one[0])
                nbytes, seconds = nbytes + one[0].nbytes, seconds + one[1]
            breach = self.requirements.check("memory_bytes", nbytes) or self.requirements.check(
                "build_seconds", seconds
            )
            if breach:
                return Refused(breach)  # before more maps are built for
            most_bytes, most_seconds = max(most_bytes, nbytes), max(most_seconds, seconds)
        return Books(tuple(dict.fromkeys(found)), most_bytes, most_seconds)

    def _one(self, text: str, grid: Grid) -> tuple[Database, float] | Refused:
        order = BuildOrder.of(text)
        any_map = order.serves_any_map
        key = (order.text, None if any_map else grid.fingerprint)
        if key not in self._shelf:
            portion = list(self.grids) if any_map else [grid]
            self._shelf[key] = self._kept(order, portion, "any map" if any_map else grid.name)
        return self._shelf[key]

    def _kept(self, order: BuildOrder, portion: list[Grid], title: str) -> tuple[Database, float] | Refused:
        """As the journal has it, or built now."""
        within = self._within(len(portion))
        what = {"order": order.deciding, "maps": [grid.graph.fingerprint for grid in portion], "within": within}
        if self.spent >= self.most and not self.journal.holds(what):
            return Refused(None, f"there was no time left to build {order.text}")
        file = None if self.journal.folder is None else self.journal.folder / f"{digest(what)}.db"
        made: list[Database] = []

        def make() -> dict[str, Any]:
            began = time.perf_counter()
            try:
                watcher = self._watcher(order.name, title, within)
                made.append(build(order.text, portion, threads=self.threads, progress=watcher))
            except _GivenUpError:
                return {"given up": True}
            except (AndanteError, MemoryError) as error:
                return {"reason": str(error) or "there is not enough memory to build it"}
            if file is not None:
                made[0].save(file)
            return {"seconds": time.perf_counter() - began}

        before = self.journal.seconds
        told = self.journal.once(what, make)
        self.spent += self.journal.seconds - before
        if "seconds" not in told:
            limit = self.requirements.build_seconds
            if "given up" in told and limit is not None and limit == within:
                return Refused(Breach("build_seconds", float("nan"), limit))
            return Refused(None, told.get("reason", f"building {order.text} takes longer than there is time for"))
        database = (
            made[0]
            if made
            else _loaded(file, order.name, portion[0]) or build(order.text, portion, threads=self.threads)
        )
        return database, told["seconds"]

    def _within(self, maps: int) -> float:
        """The seconds that a build for so many of the maps may take."""
        limit, share = self.requirements.build_seconds, self.allowance * maps / len(self.grids)
        return share if limit is None else min(limit, share)

    def _watcher(self, kind: str, title: str, within: float) -> Progress:
        """Shows progress, and gives a build up once it is clear that it takes too long."""
        began = time.perf_counter()
        stages: dict[str, float] = {}

        def tell(what: str, done: int, total: int) -> None:
            self.progress(f"building {kind} for {title}: {what}", done, total)
            now = time.perf_counter()
            began_stage = stages.setdefault(what, now)
            spent = now - began_stage
            rest = spent * (total - done) / done if spent > _PATIENCE and done else 0.0
            if now - began > within or now - began + rest > _OVERDUE * within:
                raise _GivenUpError

        return tell


def _loaded(file: Path | None, kind: str, grid: Grid) -> Database | None:
    """The database that was kept; None, so that it is built again, if it is lost, damaged or not what it should be."""
    try:
        found = None if file is None else load(file, map=grid)
    except DatabaseError:
        return None
    return found if found is not None and found.kind == kind else None


def save_all(databases: Sequence[Database], grids: Sequence[Grid], folder: Path) -> dict[str, list[Path]]:
    """Write databases as files MAP.KIND, or any.KIND: those that serve each map, by its name."""
    make_folder(folder)
    found: dict[str, list[Path]] = {}
    for grid in grids:
        for one in databases:
            if one.serves(grid.graph):
                file = folder / f"{'any' if one.fingerprint is None else grid.name}.{one.kind}"
                one.save(file)
                found.setdefault(grid.name, []).append(file)
    return found
