"""Ticks of a crowd: the budget of a tick, and its results."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from andante.errors import ParameterError, quoted, real_number


class Tick(NamedTuple):
    """The results of one tick of a crowd."""

    number: int  # from 1
    moved: int  # units that moved, or would have if they had not ended
    waiting: int  # units that still walk but did not move, because the budget was too small
    arrived: int
    unreachable: int  # units that found their goal unreachable, and units sent to such goals since the last tick
    stuck: int
    blocked: int  # with bodies: units that could not go where they wished
    restarted: int  # units that had to restart from their current state, because memory was full
    expansions: int
    longest_wait: int  # ticks since the last move of the unit that has waited longest
    bytes: int  # the memory that all units use
    microseconds: float  # the time that the tick took


class Budget(NamedTuple):
    """The budget of a tick, in expansions or, if it is timed, in nanoseconds."""

    amount: float  # inf: every unit moves
    timed: bool

    @classmethod
    def of(cls, expansions: float | None, microseconds: float | None) -> Budget:
        """Return the budget for a user's arguments; raise `ParameterError` if they are invalid.

        >>> Budget.of(None, 2_000)
        Budget(amount=2000000.0, timed=True)
        """
        if expansions is not None and microseconds is not None:
            raise ParameterError("a tick has a budget in expansions or in microseconds, not both")
        if microseconds is not None:
            return cls(1000.0 * _positive(microseconds, "microseconds"), True)
        return cls(math.inf if expansions is None else _positive(expansions, "expansions"), False)

    def without(self, nanoseconds: int) -> Budget:
        """Return the budget less this time for other work, but at least half of it, so that units still move."""
        if not self.timed:
            return self
        return self._replace(amount=max(self.amount - nanoseconds, self.amount / 2))


def _positive(value: Any, what: str) -> float:
    number = real_number(value, what)
    if not number > 0:
        raise ParameterError(f"{what} must be more than 0, got {quoted(value)}")
    return number
