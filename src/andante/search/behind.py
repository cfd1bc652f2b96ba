"""The path by which an agent came, kept so that it can go back: a stack that drops its oldest states when full."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel
from andante.search.mind import Group, Mind
from andante.search.records import Index, claim, find

STACK = np.dtype(
    [
        ("top", np.int64),  # the index in the ring of the next state
        ("size", np.int64),  # states in the ring
    ]
)


class Behind(NamedTuple):
    """States left behind, the last on top, as ~state if the agent only passed through; empty if it never goes back."""

    where: Index
    state: npt.NDArray[np.int32]  # a field of the places of a ring
    scalars: npt.NDArray[Any]  # [1], of STACK
    room: int  # places

    @classmethod
    def over(cls, mind: Mind, room: int) -> Behind:
        """Return an empty stack with space for this many states."""
        return cls(mind.index(Group.LINE, room), mind.field(np.int32, Group.LINE, room), mind.one(STACK), room)


@kernel
def leave(behind: Behind, state: int) -> None:
    """Push a state that the agent leaves; pass ~state if it did not plan there."""
    at = behind.scalars[0]
    if behind.room == 0:
        return
    top = at["top"]
    behind.state[claim(behind.where, top)] = state
    at["top"] = top + 1 if top + 1 < behind.room else 0
    at["size"] = min(at["size"] + 1, behind.room)


@kernel
def how_many(behind: Behind) -> int:
    """Return the number of states that the agent can go back to."""
    return behind.scalars[0]["size"]


@kernel
def last_left(behind: Behind, below: int = 0) -> int:
    """Return the entry on top, or the one this many ``below`` it; there must be one."""
    entry = behind.scalars[0]["top"] - 1 - below
    return int64(behind.state[find(behind.where, entry if entry >= 0 else entry + behind.room)])


@kernel
def go_back(behind: Behind, states: int = 1) -> None:
    """Pop this many states, as the agent returns to the last of them; the stack must contain as many."""
    at = behind.scalars[0]
    top = at["top"] - states
    at["top"] = top if top >= 0 else top + behind.room
    at["size"] -= states


@kernel
def forget(behind: Behind) -> None:
    """Empty the stack."""
    behind.scalars[0]["top"] = behind.scalars[0]["size"] = 0
