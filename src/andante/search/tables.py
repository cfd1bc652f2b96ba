"""Values learned for changing goals: each state stores its latest value, and the number of its goal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.learning import Learned, forget_value
from andante.search.memory import CLOCK, Log, Space, set_problem
from andante.search.mind import Group, Mind
from andante.search.records import Index, claim, find, forget

NUMBERS = 2**32 - 1  # the largest that a stamp can hold


TABLES = np.dtype(
    [
        ("used", np.int64),  # the last number given out
        ("era", np.int64),  # the last era in which `turn_to` was called
        ("before", np.int64),  # the last number given out before that era
    ]
)


class Tables(NamedTuple):
    """The values, and the numbers given to goals."""

    h: Learned  # with its own clock, which shows the number of a goal
    goals: Index
    number: npt.NDArray[np.uint32]  # a field of the goals' records, the number of a state as a goal
    scalars: npt.NDArray[Any]  # [1], of TABLES

    @classmethod
    def allocate(cls, space: Space) -> Tables:
        """Return tables for the states of a graph, without learned values."""
        return cls.over(space.mind, space.log)

    @classmethod
    def over(cls, mind: Mind, log: Log, numbers: int | None = None) -> Tables:
        """Return tables for all states, or for the numbers below ``numbers``, without learned values."""
        h = Learned.over(mind, mind.one(CLOCK), log, numbers=numbers)
        goals, number = mind.index(Group.APART, numbers), mind.field(np.uint32, Group.APART, numbers)
        return cls(h, goals, number, mind.one(TABLES))


@kernel
def turn_to(tables: Tables, goal: int, era: int) -> None:
    """Make ``tables.h`` the values learned for ``goal`` in this era; ignore values for other goals and of other eras.

    Eras are numbers above 0 that never decrease. Nothing is returned, because returning an array that may come from
    several places would force reference counting.
    """
    at, place = tables.scalars[0], claim(tables.goals, goal)
    if at["era"] != era:
        at["era"], at["before"] = era, at["used"]
    if tables.number[place] <= at["before"]:
        if at["used"] == NUMBERS:  # after four billion goals the numbers start again
            forget(tables.h.where, tables.h.stamp)
            forget(tables.goals, tables.number)
            at["used"] = at["before"] = 0
            place = claim(tables.goals, goal)
        at["used"] += 1
        tables.number[place] = at["used"]
    set_problem(tables.h.clock[0], int64(tables.number[place]), 0)


@kernel
def forget_state(tables: Tables, state: int) -> None:
    """Forget the value learned in a state, and the values learned in other states with it as the goal."""
    forget_value(tables.h, state)
    tables.number[find(tables.goals, state)] = 0
