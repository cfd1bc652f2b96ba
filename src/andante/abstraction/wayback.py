"""The way back of an agent that plans between regions: kept as ground states, walked region by region.

Ground states keep their numbers when levels are mended and regions do not, so what an agent remembers of its way are
the ground states that it left. To go back is to return through the regions that lie over those states now.
"""

from __future__ import annotations

import numpy as np

from andante.abstraction.corridor import Corridor, Route
from andante.abstraction.layers import ancestor
from andante.kernel import kernel
from andante.search.behind import Behind, go_back, last_left
from andante.search.path import price_between


@kernel
def turn_round(route: Route, behind: Behind, within: Corridor, level: int, state: int) -> bool:
    """Make the way back, to the last region of ``level`` where the agent planned, the route; is there one?

    The states that it leads along are then taken away from ``behind``. If there is none, the route stays as it is.
    """
    here = ancestor(within.layers, state, level)
    steps, moves = _length_back(behind, within, level, here)
    if moves == 0:
        return False
    route.node[moves], route.moves[0] = here, moves
    node = here
    for k in range(steps):
        before, node = node, _region_left(behind, within, level, k)
        if node != before:
            moves -= 1
            route.node[moves] = node
    go_back(behind, steps)
    return True


@kernel
def _length_back(behind: Behind, within: Corridor, level: int, here: int) -> tuple[int, int]:
    """How many states the way back to another region than ``here`` takes, and how many moves between regions.

    There are no moves if nothing lies behind outside the agent's own region, or if repair has left two regions on the
    way without an arc between them.
    """
    moves, node = 0, here
    for k in range(behind.size[0]):
        before, node = node, _region_left(behind, within, level, k)
        if node != before:
            if price_between(within, before, node) == np.inf:
                return 0, 0
            moves += 1
        if last_left(behind, k) >= 0 and node != here:
            return k + 1, moves
    return behind.size[0], moves if node != here else 0


@kernel
def _region_left(behind: Behind, within: Corridor, level: int, below: int) -> int:
    """The region over the state on top of ``behind``, or over one so many ``below`` it."""
    entry = last_left(behind, below)
    return ancestor(within.layers, max(entry, ~entry), level)
