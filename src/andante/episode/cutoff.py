"""Units of a crowd whose goals are cut off, because the map has changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from andante.episode.units import NEW_PROBLEM, NO_WISH, Ground
from andante.kernel import bind, kernel
from andante.measures.outcome import Outcome
from andante.world.layout import GridArrays
from andante.world.living import World
from andante.world.parts import Parts, is_apart

_WALKING, _UNREACHABLE = int(Outcome.WALKING), int(Outcome.UNREACHABLE)


class CutOff:
    """A search for units with cut-off goals, bound to the table of a crowd on a map that changes."""

    def __init__(self, world: World, ground: Ground) -> None:
        self.ground, self._world = ground, world
        self._lost = np.zeros(len(ground.units), np.int64)
        graph = world.graph.arrays
        self._end: Callable[[int], int] = bind(end_cut_off, world.parts, graph, ground, self._lost)

    def end(self, count: int) -> npt.NDArray[np.int64]:
        """End units among the first ``count`` whose goals are cut off, as far as is known, and return their ids.

        Units that can reach their goal, but not the state of it that they still aim at, begin new problems.
        """
        with self._world.lock:  # looking up labels shortens the paths between them, which is a write
            found = int(self._end(count))
        return self._lost[:found].copy()


@kernel
def end_cut_off(parts: Parts, graph: GridArrays, ground: Ground, lost: npt.NDArray[np.int64], count: int) -> int:
    """End these units among the first ``count``, write their ids to ``lost``, and return how many there are."""
    found = 0
    for unit in range(count):
        row = ground.units[unit]
        if row["outcome"] != _WALKING:
            continue
        if is_apart(parts, graph, row["state"], row["goal"]):
            row["outcome"], row["wish"], lost[found] = _UNREACHABLE, NO_WISH, unit
            found += 1
        elif row["aim"] != row["goal"] and is_apart(parts, graph, row["state"], row["aim"]):
            row["aim"], row["begins"] = row["goal"], NEW_PROBLEM
    return found
