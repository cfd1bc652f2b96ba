"""The way an agent came, to be walked back: a stack that forgets its oldest states when it is full."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel


class Behind(NamedTuple):
    """States left, the last on top; ~state where the agent only passed. Of no capacity for one who never goes back."""

    state: npt.NDArray[np.int32]  # [capacity], a ring
    top: npt.NDArray[np.int64]  # [1], where in the ring the next one goes
    size: npt.NDArray[np.int64]  # [1], how many the ring holds

    @classmethod
    def over(cls, capacity: int) -> Behind:
        """Room for so many states."""
        return cls(np.zeros(capacity, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int64))


@kernel
def leave(behind: Behind, state: int) -> None:
    """Remember a state that the agent leaves; ~state if it did not plan there."""
    room = len(behind.state)
    if room == 0:
        return
    top = behind.top[0]
    behind.state[top] = state
    behind.top[0] = top + 1 if top + 1 < room else 0
    behind.size[0] = min(behind.size[0] + 1, room)


@kernel
def last_left(behind: Behind, below: int = 0) -> int:
    """The state on top, or so many ``below`` it, as it was put there; there must be one."""
    at = behind.top[0] - 1 - below
    return int64(behind.state[at if at >= 0 else at + len(behind.state)])


@kernel
def go_back(behind: Behind, states: int = 1) -> None:
    """Take so many states from the top away, of which the agent returns to the last; there must be as many."""
    top = behind.top[0] - states
    behind.top[0] = top if top >= 0 else top + len(behind.state)
    behind.size[0] -= states


@kernel
def forget(behind: Behind) -> None:
    """Take everything away."""
    behind.top[0] = behind.size[0] = 0
