"""Databases that follow a map that changes: the version that each is for, and its editions.

A database is repaired in *editions* (`andante.offline.repairing`). Each is for one version of the map, and replaces the
one before as a whole. So no agent ever looks up one move in an old entry and the next in a new one.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass, field

from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import World


@dataclass(eq=False)
class Following:
    """The map that a database follows, and the progress of following it."""

    world: World
    graph: Graph  # the version of the present edition
    version: int  # that version's number
    edition: int = 0
    work: Generator[None, None, None] | None = None  # the unfinished work on the next edition
    lock: threading.Lock = field(default_factory=threading.Lock)  # one thread at a time works on it

    def turn_page(self, graph: Graph, version: int) -> None:
        """Record that a new edition begins, for this version of the map."""
        self.graph, self.version, self.edition = graph, version, self.edition + 1


def snapshot(world: World) -> tuple[int, Grid]:
    """Return the number of a world's present version, and that version, even if another thread changes the world."""
    while True:
        version, grid = world.version, world.frozen()
        if version == world.version:
            return version, grid
