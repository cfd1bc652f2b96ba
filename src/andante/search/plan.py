"""The moves that an agent has planned but not made yet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.memory import Clock, Space
from andante.search.path import price_between
from andante.world.layout import Arrays

PLAN = np.dtype(
    [
        ("left", np.int64),  # states left to visit
        ("trial", np.int64),  # the trial in which they were planned
    ]
)


class Plan(NamedTuple):
    """The states to visit, the next one last."""

    state: npt.NDArray[np.int32]  # [longest plan]
    scalars: npt.NDArray[Any]  # [1], of PLAN
    clock: Clock

    @classmethod
    def over(cls, space: Space, longest: int) -> Plan:
        """Return an empty plan with space for this many moves."""
        return cls(space.mind.row(np.int32, longest), space.mind.one(PLAN), space.clock)


@kernel
def set_length(plan: Plan, moves: int) -> None:
    """Make the first ``moves`` states that were written to the plan its content, planned in this trial."""
    plan.scalars[0]["left"], plan.scalars[0]["trial"] = moves, plan.clock[0]["trial"]


@kernel
def take_move(plan: Plan, graph: Arrays, state: int) -> tuple[int, float]:
    """Take the next state from the plan and return it with the cost of the move, infinite if it is not possible.

    It is not possible if no state is left of a plan of this trial, or if a wall was discovered on the next move since;
    then the plan is dropped.
    """
    at = plan.scalars[0]
    if at["trial"] != plan.clock[0]["trial"] or at["left"] == 0:
        return -1, np.inf
    at["left"] -= 1
    to = int64(plan.state[at["left"]])
    cost = price_between(graph, state, to)
    if cost == np.inf:
        at["left"] = 0
    return to, cost
