"""Values of the levels' nodes that are learned, and forgotten when repair removes a region.

All levels share one table, as every node of every level has its own number. A node stores the last value learned for
it, whatever the goal was. Values learned in other regions towards a region that no longer exists still count as stored,
but they are never used again.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.layers import LEAST_COST
from andante.abstraction.levels import Held, note_removed, removed_count, removed_node, room_of
from andante.kernel import kernel
from andante.search.behind import Behind, forget
from andante.search.learning import stamp_of
from andante.search.lookahead import Ball
from andante.search.memory import Clock, Log, Space
from andante.search.tables import Tables, forget_state

MIND = np.dtype(
    [
        ("era", np.int64),  # the number of times that everything was forgotten
        ("problem", np.int64),  # the problem of this era
        ("goals_before", np.int64),  # the last number of a goal before this era
        ("stored", np.int64),  # values stored in this era
        ("learned", np.float64),  # u: the amount learned on the highest level in this trial
        ("trial", np.int64),  # the trial of u, the states left behind and the path back
        ("back", np.bool_),  # whether the route leads back
    ],
    align=True,
)


class Mind(NamedTuple):
    """The values learned on all levels, and buffers to look ahead on any; here nodes are numbered from ``first``."""

    tables: Tables
    ball: Ball
    behind: Behind  # ground states left in this trial
    scalars: npt.NDArray[Any]  # [1], of MIND
    clock: Clock
    first: int  # the first node about which anything can be learned

    @classmethod
    def allocate(cls, space: Space) -> Mind:
        """Return arrays for the nodes whose values can be learned and, if needed, for the path back.

        The parameter ``learns_from`` is the lowest level on which values are learned. The path back is needed if
        ``quota`` is finite.
        """
        level, room = space.params.learns_from, room_of(space)
        first = space.states if level > 0 else 0
        nodes, most = space.states - first + room.nodes, room.most_on(level)
        return cls(
            Tables.over(space.mind, Log.of(0), nodes),
            Ball.over(nodes, most, LEAST_COST * space.graph.unit, math.inf, ties=True),
            Behind.over(space.mind, space.states if space.params.quota < math.inf else 0),
            space.mind.one(MIND),
            space.clock,
            first,
        )

    def with_more_room(self, space: Space) -> Mind:
        """Return the same values, with the space that ``space`` allows for."""
        room = Mind.allocate(space)
        tables, more = self.tables, room.tables
        for mine, theirs in (
            (tables.h.value, more.h.value),
            (tables.h.stamp, more.h.stamp),
            (tables.number, more.number),
        ):
            theirs[: len(mine)] = mine
        h = tables.h._replace(value=more.h.value, stamp=more.h.stamp)
        return self._replace(tables=tables._replace(h=h, number=more.number), ball=room.ball)


@kernel
def begin(mind: Mind) -> None:
    """Forget the values of the previous problem and the path of the previous trial, if a new one has begun."""
    at = mind.scalars[0]
    if at["problem"] != mind.clock[0]["problem"]:
        at["problem"] = mind.clock[0]["problem"]
        forget_all(mind)
    if at["trial"] != mind.clock[0]["trial"]:
        at["trial"] = mind.clock[0]["trial"]
        at["learned"] = 0.0
        at["back"] = False
        forget(mind.behind)


@kernel
def forget_regions(mind: Mind, held: Held) -> None:
    """Forget the values of regions that repairs have removed; if there are very many, forget all values."""
    at, removed = mind.scalars[0], removed_count(held)
    if removed < 0:
        forget_all(mind)
    for k in range(removed):
        node = removed_node(held, k) - mind.first
        if stamp_of(mind.tables.h, node) > at["goals_before"]:
            at["stored"] -= 1
        forget_state(mind.tables, node)
    note_removed(held)


@kernel
def forget_all(mind: Mind) -> None:
    """Begin a new era, in which no value is known."""
    at = mind.scalars[0]
    at["era"] += 1
    at["goals_before"] = mind.tables.scalars[0]["used"]
    at["stored"] = 0
