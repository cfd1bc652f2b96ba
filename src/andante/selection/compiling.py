"""Compiling what candidates run, when they are about to: it takes no time of the race, and is told apart from it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from andante.campaign.ahead import Compiler, Wanted
from andante.datasets import Progress
from andante.selection.journal import Journal
from andante.selection.space import Candidate

#: Seconds that compiling may take, whatever else; and as a share of the time for everything else, if that is more.
PATIENCE, SHARE = 60.0, 0.75
_BUILDERS = 0.6  # of that, for what builds databases


class Compiling:
    """Makes candidates and builders ready to run; what was compiled before is loaded.

    On a machine that has compiled nothing yet, all agents of the register would take minutes. So with a clock no more
    is compiled after a while, and what is not ready by then is left out; there is more next time, because what is
    compiled is kept.
    """

    def __init__(
        self, asked: Sequence[Candidate], sight: int | None, journal: Journal, tell: Progress, seconds: float
    ) -> None:
        self._sight, self._journal = sight, journal
        self._patience = max(PATIENCE, SHARE * seconds)
        self._compiler = Compiler(tell)
        self._ready = dict.fromkeys((self._wanted(one).code for one in asked), False)
        self._builders: set[str] = set()  # that are compiled
        self.seconds = 0.0  # that it took so far

    def _wanted(self, one: Candidate) -> Wanted:
        return Wanted(one.algorithm, one.databases, self._sight)

    def _count(self) -> int:
        """The number of the one that is compiled next."""
        return sum(self._ready.values()) + 1

    def is_ready(self, one: Candidate) -> bool:
        """Was another that runs the same machine code compiled already?"""
        return self._ready.get(self._wanted(one).code, False)

    def agent(self, one: Candidate, needed: bool = False) -> bool:
        """Compile what a candidate runs; False if there is no time for that and it is not ``needed``.

        One that cannot be made is ready: whoever runs it hears why.
        """
        if self.is_ready(one):
            return True
        if self.seconds > self._patience and not needed:
            return False
        wanted = self._wanted(one)
        with self._counting():
            self._ready[wanted.code] = self._compiler.agent(wanted, self._count(), len(self._ready))
        return True

    def builder(self, text: str) -> bool:
        """Compile what builds such a database; False if there is no time for that."""
        if text not in self._builders and self.seconds > _BUILDERS * self._patience:
            return False
        self._builders.add(text)
        with self._counting():
            self._compiler.builder(text, self._count(), len(self._ready))
        return True

    @contextmanager
    def _counting(self) -> Iterator[None]:
        began = time.perf_counter()
        with self._journal.paused():
            yield
        self.seconds += time.perf_counter() - began
