"""How a database follows a map that changes: the version it is for, its editions, and which entries are stale.

A database is mended in *editions* (`andante.offline.mending`): each is for one version of the map, whole and
consistent, and replaces the one before at once. While the next edition is made, agents use the present one. It has an
entry for each pair of states, by whatever means its kind stores them; an entry is *stale* if the shortest path between
the two has become much longer since. There are too many pairs to mark one by one. A path that has become longer led
from one cell beside the new wall to another, so each such pair of cells, u and w, is given a bit: states whose shortest
path to w leads through u have it in ``before``, and states whose shortest path back to u leads through w have it in
``behind``. An entry is stale if its start has a bit in ``before`` that its goal has in ``behind``.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.world.graph import Graph
from andante.world.living import World

BITS = 64

MARKS = np.dtype([("any", np.int64)])  # whether there are stale entries


class Marks(NamedTuple):
    """Which entries are stale."""

    before: npt.NDArray[np.uint64]  # [n]
    behind: npt.NDArray[np.uint64]  # [n]
    scalars: npt.NDArray[Any]  # [1], of MARKS

    @classmethod
    def over(cls, n: int) -> Marks:
        """Return marks of ``n`` states, with nothing stale."""
        return cls(np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(1, MARKS))


#: Of databases that follow no map.
NO_MARKS = Marks.over(0)


@kernel
def is_stale(marks: Marks, state: int, goal: int) -> bool:
    """Return whether the entry of a pair of states is stale."""
    return marks.scalars[0]["any"] != 0 and (marks.before[state] & marks.behind[goal]) != np.uint64(0)


@dataclass(eq=False)
class Following:
    """The map that a database follows, and how far it has come."""

    world: World
    graph: Graph  # the version that the present edition is for
    version: int  # that version's number
    edition: int = 0
    work: Generator[None, None, None] | None = None  # what makes the next edition
    marks: Marks = field(init=False)

    def __post_init__(self) -> None:
        self.marks = Marks.over(len(self.graph))

    def turn_page(self, graph: Graph, version: int) -> None:
        """Begin a new edition, for this version of the map."""
        self.graph, self.version, self.edition = graph, version, self.edition + 1
        self.clear()

    def clear(self) -> None:
        """Let no entry be stale."""
        self.marks.scalars["any"] = 0
        self.marks.before[:] = 0
        self.marks.behind[:] = 0
