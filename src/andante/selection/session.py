"""One question to `advise`: the candidates, the time limits, and the trials of each candidate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from andante.agent import Algorithm
from andante.campaign.orders import BuildOrder
from andante.campaign.plan import version_of
from andante.campaign.settings import full_notation
from andante.databases.header import Database
from andante.datasets import ProgressCallback
from andante.episode.run import Outfit
from andante.episode.trial import Limits
from andante.errors import AndanteError
from andante.measures import Row
from andante.selection.answer import CAP
from andante.selection.compiling import Compiling
from andante.selection.crowds import TICK_CAP, Crowds
from andante.selection.journal import Journal
from andante.selection.library import BuiltDatabases, Library
from andante.selection.race import FIRST_ROUND, Measured, Place, Race, rounds_up_to
from andante.selection.requirements import Breach, Dropped, Requirements, nothing_fits, nothing_in_time
from andante.selection.space import candidates, neighbour, recommended
from andante.selection.trials import SCORE, run_rows, worst_move_microseconds
from andante.store.identity import NOT_DECIDED
from andante.world.grid import Grid
from andante.world.problem import Problem

FINALISTS = 5  # candidates that are run on fresh problems
FEWEST = 3  # candidates in the race, below which more are compiled regardless of the time
NEWCOMERS = 30
FIRST_CROWD = 40  # approximate number of units on each map in the first round
RACES, MOST_RACES = 2, 100  # further races of the best against newcomers: without a time limit, and with one

_WALK = Limits(suboptimality=CAP)
_PROBE = Limits(moves=200, expansions=20_000)  # enough to find most candidates that break a limit
_PROBED = 4
_TIMED, _SHARE_TIMED = 2, 1 / 8  # problems of a round whose moves are timed: at least this number, and this share
_FAR_BEYOND = 5.0
_UNIT_DECIDED = frozenset({"start", "goal", "outcome", "cost", "states_expanded"})  # do not depend on a tick's time
# Shares of the time limit: for building databases with default settings, for building all databases if others are among
# them, and until the end of the race. The rest is for fresh problems.
_BUILDING, _BUILDING_VARIANTS, _RACED = 0.6, 0.4, 0.75


@dataclass
class Session:
    """One question, and the results on it so far."""

    grids: tuple[Grid, ...]
    requirements: Requirements
    journal: Journal
    minutes: float | None
    seed: int
    threads: int
    progress: ProgressCallback
    dropped: dict[str, Dropped] = field(default_factory=dict)
    uncompiled: set[str] = field(default_factory=set)  # names of candidates that were not compiled for lack of time ...
    late: set[str] = field(default_factory=set)  # ... and of those whose databases were not built
    entered: int = 0  # candidates that kept all limits in the first round
    took: float = 0.0  # seconds that the last measurement took when it was made
    efforts: dict[str, float] = field(default_factory=dict)  # the worst move of each candidate so far, in expansions
    walks: dict[str, list[int]] = field(default_factory=dict)  # hashes of all trials of each candidate, without times

    def __post_init__(self) -> None:
        self.seconds = math.inf if self.minutes is None else self.minutes * 60
        self.library = Library(
            self.grids,
            self.requirements,
            self.journal,
            self.threads,
            self.progress,
            self.seconds * _BUILDING,
            self._compiled,
        )
        self.crowds = None if self.requirements.units is None else Crowds(self.requirements)
        self.largest = max(self.grids, key=lambda grid: len(grid.graph))
        self.states = len(self.largest.graph)

    def _compiled(self, text: str) -> bool:
        return self.compiling.builder(text)

    def left(self) -> float:
        """Return the seconds until the time limit."""
        return self.seconds - self.journal.seconds

    def left_to_race(self) -> float:
        """Return the seconds until the end of the race."""
        return self.seconds * _RACED - self.journal.seconds

    # --- candidates --------------------------------------------------------------------------------------------------

    def _may_enter(self, entry: Algorithm) -> bool:
        return self.requirements.admits(entry, self.states)

    def enter(self, count: int, also: Sequence[Outfit[str]], compiling: ProgressCallback) -> None:
        """Collect the candidates in the order in which they are tried, because time may run out."""
        more = [one for one in also if self._may_enter(one.algorithm)]
        drawn = candidates(self._may_enter, count, self.seed)
        sight = self.requirements.sight
        found = list({one.name: replace(one, sight=sight) for one in (*more, *drawn)}.values())
        if not found:
            raise nothing_fits(self.requirements, [])
        self.tiers = [more, *recommended(self._may_enter)]
        tier = {one.name: number for number, tier in reversed([*enumerate(self.tiers)]) for one in tier}
        order = [found[k] for k in np.random.default_rng([self.seed, 2]).permutation(len(found))]
        # In each tier those with databases are first, because they are the best if the databases can be built in time.
        self.asked = sorted(order, key=lambda one: (tier.get(one.name, len(self.tiers)), not one.databases))
        self.compiling = Compiling(self.asked, self.journal, compiling, self.seconds, self.crowds is not None)

    def build(self) -> None:
        """Build the databases that cards recommend, defaults first and then variants, as time permits.

        The most expensive of the defaults may be more useful than a long race, so defaults may take more of the time.
        """
        *usual, others = self.tiers
        for share, tiers in ((_BUILDING, usual), (_BUILDING_VARIANTS, [others])):
            self.library.most = self.seconds * share
            self.library.prepare(text for tier in tiers for one in tier for text in one.databases)

    def race(self, problems: list[Problem]) -> tuple[list[Place[Outfit[str]]], int, int]:
        """Return the candidates, best first, and the numbers of those tried and not tried."""
        rng = np.random.default_rng([self.seed, 1])
        known = {one.name for one in self.asked}

        def breed(leaders: list[Outfit[str]]) -> list[Outfit[str]]:
            drawn = [neighbour(leaders[k % len(leaders)], rng) for k in range(NEWCOMERS)] if leaders else []
            may_join = [one for one in drawn if self._may_enter(one.algorithm) and self.compiling.is_ready(one)]
            fresh = {one.name: one for one in may_join if one.name not in known}
            known.update(fresh)
            return list(fresh.values())

        race: Race[Outfit[str]] = Race(
            lambda one, first, last: self._measured(one, problems, first, last),
            rounds_up_to(len(problems), FIRST_ROUND if self.crowds is None else FIRST_CROWD * len(self.grids)),
            FINALISTS,
            self.left_to_race,
            breed,
            self.progress,
            RACES if math.isinf(self.seconds) else MOST_RACES,
        )
        places = race.places(self.asked)
        untried = race.untried + len(self.late)
        if not places and (absent := untried + len(self.uncompiled)):
            raise nothing_in_time(self.requirements, list(self.dropped.values()), absent, len(self.asked))
        if not places:
            raise nothing_fits(self.requirements, list(self.dropped.values()))
        return places, len(known) - untried - len(self.uncompiled), untried

    # --- trying a candidate ------------------------------------------------------------------------------------------

    def _measured(self, one: Outfit[str], problems: Sequence[Problem], first: int, last: int) -> Measured | None:
        """Return the scores of a candidate on some problems of the race; None if it is dropped, which is noted."""
        if first == 0 and not self._passes_probe(one, problems[:_PROBED]):
            return None
        self.took = 0.0
        rows = self.rows(one, problems[first:last])
        timed = max(_TIMED, int((last - first) * _SHARE_TIMED))
        if rows is None or self.too_slow(one, problems[first:last][:timed], rows):
            return None
        self.entered += first == 0
        scores = np.array([row[SCORE] for row in rows], np.float64)
        return Measured(scores, self.took)

    def _passes_probe(self, one: Outfit[str], problems: Sequence[Problem]) -> bool:
        """Return whether a candidate keeps all limits on a short run."""
        if not self._has_databases(one):
            return False
        if not self.compiling.agent(one, needed=self.entered < FEWEST):
            self.uncompiled.add(one.name)
            return False
        if self.crowds is not None:  # a short run would show little, because only many units break limits
            return True
        rows = self.rows(one, problems, _PROBE)
        return rows is not None and not self.too_slow(one, problems, rows, _PROBE)

    def rows(
        self, one: Outfit[str], problems: Sequence[Problem], limits: Limits = _WALK, again: bool = False
    ) -> list[Row] | None:
        """Return the candidate's trials, or None if it cannot run or broke a limit.

        Crowds may be run ``again``; they depend on the clock, so the second run differs.
        """
        if not self._has_databases(one):
            return None

        def make() -> dict[str, Any]:
            try:
                if self.crowds is not None:  # on one thread, because others would take time from its ticks
                    return {"rows": self.crowds.rows(self.outfit(one), one.name, problems, limits.suboptimality)}
                return {"rows": run_rows(self.outfit(one), one.name, problems, limits, self.threads)}
            except AndanteError as error:  # parameters that do not fit each other, or the map
                return {"reason": str(error)}

        about = self._about(one, problems, limits, **({"run": 2} if again else {}))
        kept = self._once(about, make)
        breach = self.requirements.check_rows(kept.get("rows", []))
        if breach is not None or "reason" in kept:
            self.dropped[one.name] = Dropped(one.name, breach, kept.get("reason", ""))
            return None
        found: list[Row] = kept["rows"]
        if limits is _WALK and not again:
            self.walks.setdefault(one.name, []).extend(map(_walk, found))
        effort = "max_states_expanded" if self.crowds is None else "states_expanded_per_move"
        self.efforts[one.name] = max(self.efforts.get(one.name, 0.0), *(float(row[effort]) for row in found))
        return found

    def _has_databases(self, one: Outfit[str]) -> bool:
        """Return whether the candidate's databases are available; note the reason if one is missing."""
        built = self.library.databases(one.databases)
        if isinstance(built, BuiltDatabases):
            return True
        self.dropped[one.name] = Dropped(one.name, built.breach, built.reason)
        self.late.update({one.name} if built.late else ())
        return False

    def _once(self, what: dict[str, Any], make: Callable[[], Any]) -> Any:
        """Return a piece from the journal, and add the time it took to make, now or earlier, to `took`."""
        found = self.journal.once(what, make)
        self.took += self.journal.seconds_of(what)
        return found

    def _about(self, one: Outfit[str], problems: Sequence[Problem], limits: Limits, **more: Any) -> dict[str, Any]:
        """Return everything that determines a candidate's trials, as plain data."""
        asked = [(p.graph.fingerprint[:16], p.start, p.goal) for p in problems]
        maps = [grid.graph.fingerprint for grid in self.grids] if one.databases else []  # some train on all
        if self.crowds is not None:
            limited = {name: getattr(self.requirements, name) for name in ("units", "tick_ms", "total_memory")}
            more = {**more, **limited, "tick_cap": TICK_CAP}
        return {
            "settings": full_notation(one.algorithm),
            "version": version_of(one.algorithm),
            "databases": [BuildOrder.of(text).deciding for text in one.databases],
            "problems": asked,
            "maps": maps,
            "sight": one.sight,
            "limits": asdict(limits),
            "score": SCORE,
            **more,
        }

    def too_slow(
        self, one: Outfit[str], problems: Sequence[Problem], rows: Sequence[Row], limits: Limits = _WALK
    ) -> bool:
        """Return whether a move breaks the limit on time; single moves are not timed if the mean is far above it."""
        limit = self.requirements.microseconds
        if limit is None:
            return False
        usual = sum(float(row["seconds"]) for row in rows) * 1e6 / max(sum(int(row["moves"]) for row in rows), 1)
        far_too_slow = usual > _FAR_BEYOND * limit  # more than other programs on the machine can explain
        breach = Breach("microseconds", usual, limit) if far_too_slow else self.slow_move(one, problems, limits)[1]
        if breach is not None:
            self.dropped[one.name] = Dropped(one.name, breach)
        return breach is not None

    def slow_move(
        self, one: Outfit[str], problems: Sequence[Problem], limits: Limits = _WALK
    ) -> tuple[float, Breach | None]:
        """Return the time of the slowest move on these problems, and the limit that it breaks, if any."""
        outfit = self.outfit(one)
        worst: float = self._once(
            self._about(one, problems, limits, timed=True), lambda: worst_move_microseconds(outfit, problems, limits)
        )
        return worst, self.requirements.check("microseconds", worst)

    def memory_bytes(self, one: Outfit[str]) -> int:
        """Return the memory of a candidate's agent on the largest map, with its databases."""
        return self.outfit(one).agent(self.largest).memory_bytes

    def outfit(self, one: Outfit[str]) -> Outfit[Database]:
        """Return a candidate with its databases, which must be available."""
        return Outfit(one.algorithm, self.databases(one).databases, one.sight)

    def databases(self, one: Outfit[str]) -> BuiltDatabases:
        """Return the databases of a candidate, which must be available."""
        built = self.library.databases(one.databases)
        assert isinstance(built, BuiltDatabases)
        return built


def _walk(row: Row) -> int:
    """Return a hash of the parts of a trial that do not depend on the machine or on names."""
    decided = row.keys() & _UNIT_DECIDED if "crowd_units" in row else row.keys() - NOT_DECIDED
    return hash(tuple(repr(row[name]) for name in sorted(decided)))  # as text, nan equals nan
