"""Values learned for changing goals: each state holds its latest value, and the number of the goal it is for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search.learning import Learned
from andante.search.memory import Log, Space, new_clock

NUMBERS = 2**32 - 1  # the largest that a stamp can hold


TABLES = np.dtype([("used", np.int64)])


class Tables(NamedTuple):
    """The values, and the numbers given to goals."""

    h: Learned  # on its own clock, which shows the number of a goal
    number: npt.NDArray[np.int64]  # [n], the number of a state as a goal
    era: npt.NDArray[np.int64]  # [n], the era in which it got that number
    scalars: npt.NDArray[Any]  # [1], of TABLES: the last number given out

    @classmethod
    def allocate(cls, space: Space) -> Tables:
        """Return tables for the states of a graph, with nothing learned yet."""
        return cls.over(space.states, space.log)

    @classmethod
    def over(cls, n: int, log: Log) -> Tables:
        """Return tables for ``n`` states, with nothing learned yet."""
        h = Learned(np.zeros(n), np.zeros(n, np.uint32), new_clock(), log)
        return cls(h, np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(1, TABLES))


@kernel
def turn_to(tables: Tables, goal: int, era: int) -> None:
    """Let ``tables.h`` be what was learned for ``goal`` in this era, a number above 0; ignore values for other goals.

    It returns nothing: returning an array that may come from several places would force reference counting.
    """
    if tables.era[goal] != era:
        if tables.scalars[0]["used"] == NUMBERS:  # after four billion goals the numbers run out
            tables.h.stamp[:] = 0
            tables.era[:] = 0
            tables.scalars[0]["used"] = 0
        tables.era[goal] = era
        tables.scalars[0]["used"] += 1
        tables.number[goal] = tables.scalars[0]["used"]
    tables.h.clock[0]["problem"] = tables.number[goal]


@kernel
def forget_state(tables: Tables, state: int) -> None:
    """Forget what was learned in a state, and what was learned in other states with it as the goal."""
    tables.h.stamp[state] = 0
    tables.era[state] = 0
