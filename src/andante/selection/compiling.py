"""Compilation of candidates just before they run, whose time is counted separately from the race."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from andante.campaign.compiling import Compiler, code_of
from andante.datasets import ProgressCallback
from andante.episode.run import Outfit
from andante.selection.journal import Journal

#: The limit on compiling: this many seconds, or this share of the time for everything else if that is more.
PATIENCE, SHARE = 60.0, 0.75
_BUILDERS = 0.6  # share of it for builders of databases


class Compiling:
    """The compilation of candidates and builders, or their loading from the cache.

    With an empty cache, compiling all registered agents takes minutes. So with a time limit compiling stops after a
    while, and candidates that are not compiled by then are left out. Compiled code is cached, so the next run has more.
    """

    def __init__(
        self,
        asked: Sequence[Outfit[str]],
        journal: Journal,
        progress: ProgressCallback,
        seconds: float,
        crowds: bool = False,
    ) -> None:
        self._journal = journal
        self._patience = max(PATIENCE, SHARE * seconds)
        self._compiler = Compiler(progress, crowds)
        self._ready = dict.fromkeys(map(code_of, asked), False)
        self._builders: set[str] = set()  # the databases whose builders are compiled
        self.seconds = 0.0  # the time spent so far

    def _count(self) -> int:
        """Return the number of the agent that is compiled next."""
        return sum(self._ready.values()) + 1

    def is_ready(self, one: Outfit[str]) -> bool:
        """Return whether a candidate that runs the same machine code was compiled already."""
        return self._ready.get(code_of(one), False)

    def agent(self, one: Outfit[str], needed: bool = False) -> bool:
        """Compile the code of a candidate; return False if there is no time for it and it is not ``needed``.

        Return True for a candidate that cannot be made, because running it raises the error that explains why.
        """
        if self.is_ready(one):
            return True
        if self.seconds > self._patience and not needed:
            return False
        with self._counting():
            self._ready[code_of(one)] = self._compiler.agent(one, self._count(), len(self._ready))
        return True

    def builder(self, text: str) -> bool:
        """Compile the builder of such a database; return False if there is no time for that."""
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
