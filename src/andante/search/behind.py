"""The path an agent came by, kept so that it can go back: a stack that drops its oldest states when it is full."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel


class Behind(NamedTuple):
    """States left behind, the last on top, as ~state if the agent only passed through; empty if it never goes back."""

    state: npt.NDArray[np.int32]  # [capacity], a ring
    top: npt.NDArray[np.int64]  # [1], the index in the ring of the next state
    size: npt.NDArray[np.int64]  # [1], the number of states in the ring

    @classmethod
    def over(cls, capacity: int) -> Behind:
        """Return an empty stack with room for this many states."""
        return cls(np.zeros(capacity, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int64))


@kernel
def leave(behind: Behind, state: int) -> None:
    """Push a state that the agent leaves; pass ~state if it did not plan there."""
    room = len(behind.state)
    if room == 0:
        return
    top = behind.top[0]
    behind.state[top] = state
    behind.top[0] = top + 1 if top + 1 < room else 0
    behind.size[0] = min(behind.size[0] + 1, room)


@kernel
def last_left(behind: Behind, below: int = 0) -> int:
    """Return the entry on top, or the one this many ``below`` it; there must be one."""
    at = behind.top[0] - 1 - below
    return int64(behind.state[at if at >= 0 else at + len(behind.state)])


@kernel
def go_back(behind: Behind, states: int = 1) -> None:
    """Pop this many states, as the agent returns to the last of them; there must be that many."""
    top = behind.top[0] - states
    behind.top[0] = top if top >= 0 else top + len(behind.state)
    behind.size[0] -= states


@kernel
def forget(behind: Behind) -> None:
    """Empty the stack."""
    behind.top[0] = behind.size[0] = 0
