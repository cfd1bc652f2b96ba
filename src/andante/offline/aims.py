"""The choice of the subgoal between two regions, on a central optimal path between their representatives.

``ENTRY`` and ``CENTRE`` are the rules of Bulitko et al. (2008). Their subgoals can lead in circles: where a path only
cuts across a region, that region's own path may lead back. On WarCraft III maps a few pairs in a thousand do so, and up
to a tenth of all pairs lead into such a circle. Beyond the paper, ``NEARER`` continues to the first region that is
nearer to the goal, which excludes circles. ``FAR`` needs no such path; its subgoals are chosen in `far`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.notation import Word
from andante.offline.division import States
from andante.search.pathcounts import Paths
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Layout, unit


class Aim(Word):
    """The rule for choosing the subgoal."""

    ENTRY = 0  # where the path enters the next region
    CENTRE = 1  # that region's representative
    NEARER = 2  # where the path enters the first region whose representative is nearer to the goal
    FAR = 3  # the middle of a region that all states of this one can climb straight to


_CENTRE, _NEARER = int(Aim.CENTRE), int(Aim.NEARER)


NO_GOAL = -1  # used instead of a region for several regions of goals


class Destination(NamedTuple):
    """A region of goals, the distances to its representative, and the regions for which subgoals are wanted."""

    region: States  # [n], the agents' region of each state
    representative: States  # [regions]
    distance: npt.NDArray[np.float64]  # [n], to the end
    end: int  # the representative of the goal's region
    home: int  # the agents' region that contains the end, from which agents go straight to the goal
    goal: int  # the region of goals, or NO_GOAL
    beyond: float  # subgoals are wanted from regions that are farther away than this
    within: float  # subgoals are wanted from regions that are no farther away than this


@kernel
def follow_paths(paths: Paths, graph: Layout, there: Destination, aim: int, entry: States) -> None:
    """Find the subgoal of each region, where the central optimal path from its representative leaves it.

    The next region's representative may be farther from the goal than this one's, and its own path may lead back here.
    With ``aim`` NEARER the path is followed past such regions.
    """
    for start in range(len(there.representative)):
        state = int64(there.representative[start])
        if start == there.home or there.distance[state] == np.inf:
            continue
        near = there.distance[state] - TOLERANCE * unit(graph)
        while there.region[state] == start or (aim == _NEARER and not _leads_on(there, start, state, near)):
            state = int64(paths.onward[state])
        entry[start] = there.representative[there.region[state]] if aim == _CENTRE else state


@kernel
def _leads_on(there: Destination, start: int, state: int, near: float) -> bool:
    """Return whether a state is in another region that is nearer to the goal, or in the region that contains the end.

    If all subgoals are in such regions, a chain of subgoals ends, because in the region of the end there are none.
    """
    region = there.region[state]
    return bool(region != start and (region == there.home or there.distance[there.representative[region]] < near))
