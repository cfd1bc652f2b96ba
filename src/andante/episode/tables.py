"""The tables of the compiled loop: episodes, each a problem with its limits and its results, and moves.

All fields take 64 bits. Python writes and reads a row as plain numbers in one step, which takes a tenth of the time
that the fields of a NumPy record take.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

#: One row per problem: the problem, its limits, and the results.
EPISODE = np.dtype(
    [
        ("start", np.int64),
        ("goal", np.int64),
        ("aim", np.int64),  # the goal's state when the agent last turned to it (`episode.pursuit`)
        ("cost_cap", np.float64),
        ("move_cap", np.int64),
        ("expansion_cap", np.int64),
        ("again", np.int64),  # 1 for another trial of the previous problem, which keeps learned values; else 0
        ("outcome", np.int64),
        ("state", np.int64),
        ("cost", np.float64),
        ("expanded", np.int64),
        ("touched", np.int64),
        ("learned", np.float64),
        ("stored", np.int64),
        ("moves", np.int64),
        ("max_expanded", np.int64),
        ("first_expanded", np.int64),
        ("first_touched", np.int64),
        ("discovered", np.int64),  # cells found blocked
        ("nanoseconds", np.int64),
        ("first_nanoseconds", np.int64),
        ("wrong_to", np.int64),
        ("wrong_cost", np.float64),
    ]
)

#: One row per move.
TRAIL = np.dtype(
    [
        ("state", np.int64),
        ("cost", np.float64),
        ("expanded", np.int64),
        ("touched", np.int64),
        ("learned", np.float64),
        ("discovered", np.int64),
    ]
)

TIMES = np.dtype(np.int64)


ROW_BYTES = EPISODE.itemsize
_NAMES = EPISODE.names or ()
_FIELDS, _BYTES = len(_NAMES), 8  # per row and per field
_OUTCOME, _STATE, _MOVES = map(_NAMES.index, ("outcome", "state", "moves"))


def _layout(dtype: np.dtype[Any], first: str, last: str, zeros: int = 0) -> Struct:
    """Return the layout of the fields from ``first`` to ``last``, followed by ``zeros`` fields that are set to zero."""
    names = list(dtype.names or ())
    between = names[names.index(first) : names.index(last) + 1]
    return Struct("=" + "".join("d" if dtype[name].kind == "f" else "q" for name in between) + f"{_BYTES * zeros}x")


_TASK = _layout(EPISODE, "start", "outcome", zeros=_FIELDS - _STATE)
_RESULTS = _layout(EPISODE, "outcome", "first_nanoseconds")
_SUMS = _layout(EPISODE, "outcome", "stored")
_MOVE = _layout(EPISODE, "state", "stored")  # of an episode of one move, in the order of a `Move`
_TURN = _layout(TRAIL, "state", "discovered")


class Episodes:
    """Rows of EPISODE at a fixed address."""

    def __init__(self, room: int) -> None:
        words = np.zeros(room * _FIELDS, np.int64)
        self.room = room
        self.rows: npt.NDArray[Any] = words.view(EPISODE)
        self.address = int(words.ctypes.data)
        self._words = words.data
        self._bytes = self._words.cast("B")

    def begin(self, row: int, start: int, goal: int, caps: tuple[float, int, int], again: bool, outcome: int) -> None:
        """Write an episode without results; its outcome is WAITING unless it ends before it begins."""
        _TASK.pack_into(self._bytes, row * ROW_BYTES, start, goal, goal, *caps, again, outcome)

    def outcome(self, row: int = 0) -> int:
        """Return the outcome so far."""
        found: int = self._words[row * _FIELDS + _OUTCOME]
        return found

    def moves(self, row: int = 0) -> int:
        """Return the number of moves so far."""
        found: int = self._words[row * _FIELDS + _MOVES]
        return found

    def results(self, row: int = 0) -> tuple[Any, ...]:
        """Return the fields from ``outcome`` to ``first_nanoseconds``."""
        return _RESULTS.unpack_from(self._bytes, row * ROW_BYTES + _BYTES * _OUTCOME)

    def resume(self, state: int) -> None:
        """Continue the first episode from ``state``, with its sums reset to zero."""
        _SUMS.pack_into(self._bytes, _BYTES * _OUTCOME, 1, state, 0.0, 0, 0, 0.0, 0)

    def move(self) -> tuple[Any, ...]:
        """Return the state of the first episode and its sums, in the order of a `Move`."""
        return _MOVE.unpack_from(self._bytes, _BYTES * _STATE)


class Trail:
    """Rows of TRAIL at a fixed address, after one for the state that they begin with."""

    def __init__(self, room: int) -> None:
        words = np.zeros((room + 1) * len(TRAIL.names or ()), np.int64)
        self.room = room
        self.address = int(words.ctypes.data) + TRAIL.itemsize
        self._states = words.view(TRAIL)["state"]
        self._words = words.data
        self._bytes = self._words.cast("B")

    def first(self) -> tuple[Any, ...]:
        """Return the first row."""
        return _TURN.unpack_from(self._bytes, TRAIL.itemsize)

    def path(self, start: int, moves: int) -> npt.NDArray[np.int32]:
        """Return ``start`` and the states that the first ``moves`` moves led to."""
        self._words[0] = start
        return self._states[: moves + 1].astype(np.int32)
