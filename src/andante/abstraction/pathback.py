"""The path back of an agent that plans between regions: stored as ground states, followed region by region.

Ground states keep their numbers when levels are repaired, but regions do not. So the agent remembers the ground states
that it left, and goes back through the regions that these states belong to now.
"""

from __future__ import annotations

import numpy as np

from andante.abstraction.corridor import Corridor, Route
from andante.abstraction.layers import ancestor
from andante.kernel import kernel
from andante.search.behind import Behind, go_back, how_many, last_left
from andante.search.path import price_between


@kernel
def turn_back(route: Route, behind: Behind, within: Corridor, level: int, state: int) -> bool:
    """Make the route the path back to the last region of ``level`` where the agent planned; return whether one exists.

    The states on that path are then removed from ``behind``. If there is no path, the route is unchanged.
    """
    path = route.scalars[0]
    here = ancestor(within.layers, state, level)
    steps, moves = _length_back(behind, within, level, here)
    if moves == 0:
        return False
    route.node[moves], path["moves"] = here, moves
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
    """Return the numbers of states and of moves between regions on the path back to a region other than ``here``.

    There are no moves if no state left behind is outside the agent's own region, or if repair has removed the arc
    between two regions on the path.
    """
    moves, node = 0, here
    for k in range(how_many(behind)):
        before, node = node, _region_left(behind, within, level, k)
        if node != before:
            if price_between(within, before, node) == np.inf:
                return 0, 0
            moves += 1
        if last_left(behind, k) >= 0 and node != here:
            return k + 1, moves
    return how_many(behind), moves if node != here else 0


@kernel
def _region_left(behind: Behind, within: Corridor, level: int, below: int) -> int:
    """Return the region of the state that is ``below`` places under the top of ``behind``."""
    entry = last_left(behind, below)
    return ancestor(within.layers, max(entry, ~entry), level)
