"""One question to `advise`: the candidates, the time there is, and what each of them does on problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from andante.agent import Algorithm
from andante.databases.header import Database
from andante.datasets import Progress
from andante.episode.run import Outfit
from andante.episode.trial import Limits
from andante.errors import AndanteError
from andante.measures import Row
from andante.selection.answer import CAP
from andante.selection.compiling import Compiling
from andante.selection.journal import Journal
from andante.selection.library import Books, Library
from andante.selection.race import Measured, Place, Race, rounds_up_to
from andante.selection.requirements import Breach, Dropped, Requirements, nothing_fits, nothing_in_time
from andante.selection.space import Candidate, candidates, neighbour, recommended
from andante.selection.trials import run_rows, worst_move_microseconds
from andante.world.grid import Grid
from andante.world.problem import Problem

FINALISTS = 5  # of the race that are run on fresh problems
FEWEST = 3  # candidates in the race, for which others are compiled however long that takes
NEWCOMERS = 30
RACES, MOST_RACES = 2, 100  # in which the best race against newcomers once more: without a clock, and with one

_WALK = Limits(suboptimality=CAP)
_PROBE = Limits(moves=200, expansions=20_000)  # enough to see most that will break a limit
_PROBED = 4
_TIMED, _SHARE_TIMED = 2, 1 / 8  # problems of a round whose moves are timed, if time is limited: so many, or of all
_FAR_BEYOND = 5.0
# Shares of the time that there is: for building databases, and until when the race is over. The rest is for fresh
# problems.
_BUILDING, _RACED = 0.4, 0.75


@dataclass
class Session:
    """One question, and all that is at hand to answer it."""

    grids: tuple[Grid, ...]
    requirements: Requirements
    journal: Journal
    minutes: float | None
    seed: int
    threads: int
    tell: Progress
    dropped: dict[str, Dropped] = field(default_factory=dict)
    uncompiled: set[str] = field(default_factory=set)  # by name: candidates for which there was no time to compile ...
    late: set[str] = field(default_factory=set)  # ... and for whose databases there was none
    entered: int = 0  # candidates that kept to all limits in the first round
    took: float = 0.0  # seconds that the pieces of the last measurement took to make
    efforts: dict[str, float] = field(default_factory=dict)  # the worst move of each candidate so far, in expansions

    def __post_init__(self) -> None:
        self.seconds = math.inf if self.minutes is None else self.minutes * 60
        self.library = Library(
            self.grids,
            self.requirements,
            self.journal,
            self.threads,
            self.tell,
            self.seconds * _BUILDING,
            self._compiled,
        )
        self.states = max(len(grid.graph) for grid in self.grids)

    def _compiled(self, text: str) -> bool:
        return self.compiling.builder(text)

    def left(self) -> float:
        """Seconds until all of the time is spent."""
        return self.seconds - self.journal.seconds

    def left_to_race(self) -> float:
        """Seconds until the race is over."""
        return self.seconds * _RACED - self.journal.seconds

    # --- candidates --------------------------------------------------------------------------------------------------

    def _may_enter(self, entry: Algorithm) -> bool:
        return self.requirements.admits(entry, self.states)

    def enter(self, count: int, also: Sequence[Candidate], compiling: Progress) -> None:
        """Find out who may be considered, and in which order: time may run out."""
        more = [one for one in also if self._may_enter(one.algorithm)]
        found = list({one.name: one for one in (*more, *candidates(self._may_enter, count, self.seed))}.values())
        if not found:
            raise nothing_fits(self.requirements, [])
        self.tiers = [more, *recommended(self._may_enter)]
        tier = {one.name: number for number, tier in reversed([*enumerate(self.tiers)]) for one in tier}
        order = [found[k] for k in np.random.default_rng([self.seed, 2]).permutation(len(found))]
        # Of each tier those with databases first: nobody plans less and walks less, if there is time to build them.
        self.asked = sorted(order, key=lambda one: (tier.get(one.name, len(self.tiers)), not one.databases))
        self.compiling = Compiling(self.asked, self.requirements.sight, self.journal, compiling, self.seconds)

    def build(self) -> None:
        """Build the databases that cards recommend, as they come and then otherwise, as many as there is time for."""
        *usual, others = self.tiers
        for tiers in (usual, [others]):
            self.library.prepare(text for tier in tiers for one in tier for text in one.databases)

    def race(self, problems: list[Problem]) -> tuple[list[Place[Candidate]], int, int]:
        """The candidates in the order in which they should be run on fresh problems; how many ran and how many not."""
        rng = np.random.default_rng([self.seed, 1])
        known = {one.name for one in self.asked}

        def breed(leaders: list[Candidate]) -> list[Candidate]:
            drawn = [neighbour(leaders[k % len(leaders)], rng) for k in range(NEWCOMERS)] if leaders else []
            may_join = [one for one in drawn if self._may_enter(one.algorithm) and self.compiling.is_ready(one)]
            fresh = {one.name: one for one in may_join if one.name not in known}
            known.update(fresh)
            return list(fresh.values())

        race: Race[Candidate] = Race(
            lambda one, first, last: self._measured(one, problems, first, last),
            rounds_up_to(len(problems)),
            FINALISTS,
            self.left_to_race,
            breed,
            self.tell,
            RACES if math.isinf(self.seconds) else MOST_RACES,
        )
        places = race.places(self.asked)
        untried = race.untried + len(self.late)
        if not places and (absent := untried + len(self.uncompiled)):
            raise nothing_in_time(self.requirements, list(self.dropped.values()), absent, len(self.asked))
        if not places:
            raise nothing_fits(self.requirements, list(self.dropped.values()))
        return places, len(known) - untried - len(self.uncompiled), untried

    # --- trying one --------------------------------------------------------------------------------------------------

    def _measured(self, one: Candidate, problems: Sequence[Problem], first: int, last: int) -> Measured | None:
        """The candidate on some problems of the race; None, and a note why, if it is out."""
        if first == 0 and not self._passes_probe(one, problems[:_PROBED]):
            return None
        self.took = 0.0
        rows = self.rows(one, problems[first:last])
        timed = max(_TIMED, int((last - first) * _SHARE_TIMED))
        if rows is None or self.too_slow(one, problems[first:last][:timed], rows):
            return None
        self.entered += first == 0
        scores = np.array([row["suboptimality_ratio"] for row in rows], np.float64)
        return Measured(scores, self.took)

    def _passes_probe(self, one: Candidate, problems: Sequence[Problem]) -> bool:
        """A short walk, in which most show that will break a limit."""
        if self._databases(one) is None:
            return False
        if not self.compiling.agent(one, needed=self.entered < FEWEST):
            self.uncompiled.add(one.name)
            return False
        rows = self.rows(one, problems, _PROBE)
        return rows is not None and not self.too_slow(one, problems, rows, _PROBE)

    def rows(self, one: Candidate, problems: Sequence[Problem], limits: Limits = _WALK) -> list[Row] | None:
        """The candidate's trials; None if it cannot run or broke a limit."""
        databases = self._databases(one)
        if databases is None:
            return None
        sight = self.requirements.sight

        def make() -> dict[str, Any]:
            try:
                return {"rows": run_rows(one, databases, problems, limits, self.threads, sight)}
            except AndanteError as error:  # parameters that do not go with each other, or with the map
                return {"reason": str(error)}

        told = self._once(self._about(one, problems, limits), make)
        breach = self.requirements.check_rows(told.get("rows", []))
        if breach is not None or "reason" in told:
            self.dropped[one.name] = Dropped(one.name, breach, told.get("reason", ""))
            return None
        found: list[Row] = told["rows"]
        self.efforts[one.name] = max(self.efforts.get(one.name, 0.0), *(float(r["max_states_expanded"]) for r in found))
        return found

    def _databases(self, one: Candidate) -> tuple[Database, ...] | None:
        """What the candidate looks into; None, and a note why, if there is no such thing."""
        books = self.library.books(one.databases)
        if isinstance(books, Books):
            return books.databases
        self.dropped[one.name] = Dropped(one.name, books.breach, books.reason)
        self.late.update({one.name} if books.late else ())
        return None

    def _once(self, what: dict[str, Any], make: Callable[[], Any]) -> Any:
        """A piece from the journal, and in `took` what it took to make, be it now or for another question."""
        found = self.journal.once(what, make)
        self.took += self.journal.seconds_of(what)
        return found

    def _about(self, one: Candidate, problems: Sequence[Problem], limits: Limits, **more: Any) -> dict[str, Any]:
        """All that decides what a candidate does on problems."""
        asked = [(p.graph.fingerprint[:16], p.start, p.goal) for p in problems]
        maps = [grid.graph.fingerprint for grid in self.grids] if one.databases else []  # some are trained on all
        sight = self.requirements.sight
        return {**one.identity, "problems": asked, "maps": maps, "sight": sight, "limits": asdict(limits), **more}

    def too_slow(
        self, one: Candidate, problems: Sequence[Problem], rows: Sequence[Row], limits: Limits = _WALK
    ) -> bool:
        """Does any move of the problems break a limit on time? Nothing is timed where the usual move clearly does."""
        limit = self.requirements.microseconds
        if limit is None:
            return False
        usual = sum(float(row["seconds"]) for row in rows) * 1e6 / max(sum(int(row["moves"]) for row in rows), 1)
        far_too_slow = usual > _FAR_BEYOND * limit  # nothing that other programs on the machine could explain
        breach = Breach("microseconds", usual, limit) if far_too_slow else self.slow_move(one, problems, limits)[1]
        if breach is not None:
            self.dropped[one.name] = Dropped(one.name, breach)
        return breach is not None

    def slow_move(
        self, one: Candidate, problems: Sequence[Problem], limits: Limits = _WALK
    ) -> tuple[float, Breach | None]:
        """The slowest move of these problems, and the limit that it breaks."""
        outfit = self.outfit(one)
        worst: float = self._once(
            self._about(one, problems, limits, timed=True), lambda: worst_move_microseconds(outfit, problems, limits)
        )
        return worst, self.requirements.check("microseconds", worst)

    def outfit(self, one: Candidate) -> Outfit:
        """What makes the agents of a candidate that has run."""
        return Outfit(one.algorithm, self.books(one).databases, self.requirements.sight)

    def books(self, one: Candidate) -> Books:
        """The databases of a candidate that has run."""
        books = self.library.books(one.databases)
        assert isinstance(books, Books)
        return books
