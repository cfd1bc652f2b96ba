"""Values learned for goals that change: each state holds its last, and the number of the goal it was learned for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search.learning import Learned
from andante.search.memory import Log, Space, new_clock

NUMBERS = 2**32 - 1  # that a stamp can hold


class Tables(NamedTuple):
    """The values, and the numbers that goals have."""

    h: Learned  # on a clock of its own, which shows the number of a goal
    number: npt.NDArray[np.int64]  # [n], of a state as a goal
    era: npt.NDArray[np.int64]  # [n], in which it got that number
    used: npt.NDArray[np.int64]  # [1], the last number given out

    @classmethod
    def allocate(cls, space: Space) -> Tables:
        """Nothing learned yet in any state of the graph."""
        return cls.over(space.states, space.log)

    @classmethod
    def over(cls, n: int, log: Log) -> Tables:
        """Nothing learned yet in ``n`` states."""
        h = Learned(np.zeros(n), np.zeros(n, np.uint32), new_clock(), log)
        return cls(h, np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(1, np.int64))


@kernel
def turn_to(tables: Tables, goal: int, era: int) -> None:
    """Let ``tables.h`` be what was learned for ``goal`` in this era, a number above 0; of others nothing is known.

    Nothing is returned, because kernels count who holds an array that comes from more than one place, at a cost.
    """
    if tables.era[goal] != era:
        if tables.used[0] == NUMBERS:  # once in four billion goals the numbers run out
            tables.h.stamp[:] = 0
            tables.era[:] = 0
            tables.used[0] = 0
        tables.era[goal] = era
        tables.used[0] += 1
        tables.number[goal] = tables.used[0]
    tables.h.clock.problem[0] = tables.number[goal]


@kernel
def forget_state(tables: Tables, state: int) -> None:
    """Forget what was learned in a state, and what was learned in others for it as a goal."""
    tables.h.stamp[state] = 0
    tables.era[state] = 0
