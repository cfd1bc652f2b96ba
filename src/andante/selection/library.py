"""The databases of candidates, built for all maps, cheapest first; builds that take too long are stopped.

A `Shelf` builds and stores them. The journal stores the decisions and their times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from andante.campaign.orders import BuildOrder
from andante.campaign.shelf import Shelf, Volume
from andante.databases.header import Database
from andante.datasets import ProgressCallback
from andante.errors import AndanteError
from andante.files import make_folder
from andante.offline.builder import estimate
from andante.selection.journal import Journal
from andante.selection.requirements import Breach, Requirements
from andante.world.grid import Grid

_SAMPLE = 0.5  # seconds of a build from which the total is estimated
_FEWEST, _SLOWER = 5.0, 2.0  # a build may take this many seconds, or this many times the forecast if that is more
_PATIENCE = 2.0  # seconds before a build is judged by its progress
_OVERDUE = 1.5  # a build is stopped if it will take this many times the time allowed


class Refused(NamedTuple):
    """The reason why a database is missing: a limit, or another reason."""

    breach: Breach | None
    reason: str = ""
    late: bool = False  # there was no time to build it
    again: bool = False  # building it may be tried again after others


class BuiltDatabases(NamedTuple):
    """The databases of one candidate, for all maps."""

    databases: tuple[Database, ...]
    nbytes: int  # for the map that needs most
    build_seconds: float  # for the map that takes longest


class _GivenUpError(Exception):
    """A build was stopped because it would take too long, with an estimate of the seconds in total."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass
class Library:
    """All databases that were requested."""

    grids: Sequence[Grid]
    requirements: Requirements
    journal: Journal
    threads: int
    progress: ProgressCallback
    most: float  # seconds for building everything
    compiled: Callable[[str], bool] = lambda text: True  # compiles the builder; False if there is no time for it

    def __post_init__(self) -> None:
        folder = self.journal.folder
        self._shelf = Shelf(None if folder is None else lambda: folder)
        self._answers: dict[tuple[str, str | None], Volume | Refused] = {}
        self._given_up: dict[tuple[str, str | None], tuple[BuildOrder, list[Grid], str]] = {}  # to be tried again
        self._largest = max(self.grids, key=_states)
        self.spent = 0.0  # seconds spent on building, by the journal's clock

    def prepare(self, texts: Iterable[str]) -> None:
        """Build the databases that will be needed, cheapest first, as time permits.

        A build that takes far longer than forecast is stopped, and tried again after all others. Without a time limit
        nothing is built in advance.
        """
        if math.isinf(self.most):
            return
        for text in sorted(dict.fromkeys(texts), key=self.forecast):
            self.databases([text])
        again, self._given_up = self._given_up, {}
        for key, (order, portion, title) in again.items():
            self._answers[key] = self._kept(order, portion, title, patient=True)

    def forecast(self, text: str) -> float:
        """Return an estimate of the least seconds that it takes to build such a database for all maps."""
        return self._forecast(BuildOrder.of(text), self.grids)

    def _forecast(self, order: BuildOrder, portion: Sequence[Grid]) -> float:
        """Return the same estimate for some of the maps, from a short sample of the work on the largest map."""
        sample = self.grids if order.serves_any_map else [self._largest]
        what = {"forecast": order.deciding, "maps": _prints(sample)}
        if not self.journal.holds(what) and (self.spent >= self.most or not self.compiled(order.text)):
            return math.inf

        def make() -> float:
            self.progress(f"estimating the build time of {order.name}", 0, 0)
            try:
                return estimate(order.text, sample, seconds=_SAMPLE, threads=self.threads).seconds
            except (AndanteError, MemoryError):
                return 0.0  # building it will fail immediately and report why

        seconds: float = self._counted(what, make)
        return seconds * sum(map(_states, portion)) / sum(map(_states, sample))

    def _counted(self, what: Mapping[str, Any], make: Callable[[], Any]) -> Any:
        """Return a piece from the journal, and count its time as time for building."""
        before = self.journal.seconds
        found = self.journal.once(what, make)
        self.spent += self.journal.seconds - before
        return found

    def databases(self, texts: Sequence[str]) -> BuiltDatabases | Refused:
        """Return the databases of these kinds for all maps, or the reason why one is missing."""
        found: list[Database] = []
        most_bytes, most_seconds = 0, 0.0
        for grid in self.grids:
            nbytes, seconds = 0, 0.0
            for text in texts:
                one = self._one(text, grid)
                if isinstance(one, Refused):
                    return one
                found.append(one.database)
                nbytes, seconds = nbytes + one.database.nbytes, seconds + one.build_seconds
            limited = {"memory_bytes": nbytes, "total_memory": nbytes, "build_seconds": seconds}
            breach = next(filter(None, (self.requirements.check(*one) for one in limited.items())), None)
            if breach:
                return Refused(breach)  # before building for more maps
            most_bytes, most_seconds = max(most_bytes, nbytes), max(most_seconds, seconds)
        return BuiltDatabases(tuple(dict.fromkeys(found)), most_bytes, most_seconds)

    def _one(self, text: str, grid: Grid) -> Volume | Refused:
        order = BuildOrder.of(text)
        any_map = order.serves_any_map
        key = (order.text, None if any_map else grid.fingerprint)
        if key not in self._answers:
            portion, title = (list(self.grids), "any map") if any_map else ([grid], grid.name)
            found = self._kept(order, portion, title)
            self._answers[key] = found
            if isinstance(found, Refused) and found.again:
                self._given_up[key] = (order, portion, title)
        return self._answers[key]

    def _kept(self, order: BuildOrder, portion: list[Grid], title: str, patient: bool = False) -> Volume | Refused:
        """Return the database from the shelf, build it now, or refuse it, as recorded in the journal."""
        within = [self.requirements.build_seconds, self.most, patient]
        what = {"order": order.deciding, "maps": _prints(portion), "within": within}
        if not self.journal.holds(what) and (reason := self._no_time(order, portion)):
            return reason

        def make() -> dict[str, Any]:
            watcher = self._watcher(order.name, title, self._patience(order, portion, patient))
            try:
                volume = self._shelf.volume(order, portion, threads=self.threads, progress=watcher)
            except _GivenUpError as stopped:
                return {"given up": stopped.seconds}
            except (AndanteError, MemoryError) as error:
                return {"reason": str(error) or "there is not enough memory to build it"}
            return {"seconds": volume.build_seconds}

        kept = self._counted(what, make)
        if "reason" in kept:
            return Refused(None, kept["reason"])
        if "given up" in kept:
            return self._too_long(kept["given up"], patient)
        volume = self._shelf.volume(order, portion, threads=self.threads)  # builds it again if it is lost or damaged
        return volume._replace(build_seconds=kept["seconds"])

    def _no_time(self, order: BuildOrder, portion: list[Grid]) -> Refused | None:
        """Return the reason for not starting a build, if it would not be finished in time."""
        if not self.compiled(order.text):
            return Refused(None, "there was no time left to compile its builder", late=True)
        if self.spent >= self.most:
            return Refused(None, "there was no time left to build it", late=True)
        if math.isinf(self.most):
            return None
        forecast, limit = self._forecast(order, portion), self.requirements.build_seconds
        if limit is not None and forecast > _OVERDUE * limit:
            return Refused(Breach("build_seconds", forecast, limit))
        if forecast > self.most - self.spent:
            reason = f"building it would take about {forecast:,.0f} s, and less time is left"
            return Refused(None, reason, late=True)
        return None

    def _patience(self, order: BuildOrder, portion: list[Grid], patient: bool) -> float:
        """Return the seconds that a build may take: at most those allowed and left, at first twice the forecast."""
        limit = self.requirements.build_seconds
        allowed = min(math.inf if limit is None else limit, self.most - self.spent)
        if patient or math.isinf(self.most):
            return allowed
        return min(allowed, max(_FEWEST, _SLOWER * self._forecast(order, portion)))

    def _too_long(self, seconds: float, patient: bool) -> Refused:
        """Return the refusal for a build that was stopped because it would have taken this many seconds."""
        limit = self.requirements.build_seconds
        if limit is not None and seconds > limit:
            return Refused(Breach("build_seconds", float("nan"), limit))
        again = not patient and math.isfinite(self.most)
        return Refused(None, "building it takes more time than is left", late=True, again=again)

    def _watcher(self, kind: str, title: str, within: float) -> ProgressCallback:
        """Return a callback that reports progress and stops a build once it is clear that it takes too long."""
        began = time.perf_counter()
        stages: dict[str, float] = {}

        def report(what: str, done: int, total: int) -> None:
            self.progress(f"building {kind} for {title}: {what}", done, total)
            now = time.perf_counter()
            began_stage = stages.setdefault(what, now)
            spent = now - began_stage
            rest = spent * (total - done) / done if spent > _PATIENCE and done else 0.0
            if now - began > within or now - began + rest > _OVERDUE * within:
                raise _GivenUpError(now - began + rest)

        return report


def _states(grid: Grid) -> int:
    return len(grid.graph)


def _prints(grids: Iterable[Grid]) -> list[str]:
    return [grid.graph.fingerprint for grid in grids]


def save_all(databases: Sequence[Database], grids: Sequence[Grid], folder: Path) -> dict[str, list[Path]]:
    """Write databases as files MAP.KIND or any.KIND, and return the files for each map by its name."""
    make_folder(folder)
    found: dict[str, list[Path]] = {}
    for grid in grids:
        for one in databases:
            if one.serves(grid.graph):
                file = folder / f"{'any' if one.fingerprint is None else grid.name}.{one.kind}"
                one.save(file)
                found.setdefault(grid.name, []).append(file)
    return found
