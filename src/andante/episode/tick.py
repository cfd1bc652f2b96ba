"""One tick of a crowd: the budget that it is given, and what happened in it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from andante.errors import ParameterError, quoted, real_number


class Tick(NamedTuple):
    """What happened in one tick of a crowd."""

    number: int  # from 1
    moved: int  # units that moved, or would have if they had not ended
    waiting: int  # units that still walk and for which the budget was too small
    arrived: int
    unreachable: int  # units that found out that no path leads to their goal, and those sent there since the last tick
    stuck: int
    blocked: int  # with bodies: units that could not go where they wished
    restarted: int  # units that had to begin again from where they stand, because memory was full
    expansions: int
    longest_wait: int  # ticks since the last move of the unit that has waited longest
    bytes: int  # that all units take
    microseconds: float  # it took


class Budget(NamedTuple):
    """What a tick may spend: expansions or, if it is timed, nanoseconds."""

    amount: float  # inf: every unit moves
    timed: bool

    @classmethod
    def of(cls, expansions: float | None, microseconds: float | None) -> Budget:
        """Return the budget that a user names; raise `ParameterError` if it is none.

        >>> Budget.of(None, 2_000)
        Budget(amount=2000000.0, timed=True)
        """
        if expansions is not None and microseconds is not None:
            raise ParameterError("a tick has a budget in expansions or in microseconds, not both")
        if microseconds is not None:
            return cls(1000.0 * _positive(microseconds, "microseconds"), True)
        return cls(math.inf if expansions is None else _positive(expansions, "expansions"), False)

    def without(self, nanoseconds: int) -> Budget:
        """Return what is left when a part of the tick goes into other things; at least half, or nobody would move."""
        if not self.timed:
            return self
        return self._replace(amount=max(self.amount - nanoseconds, self.amount / 2))


def _positive(value: Any, what: str) -> float:
    number = real_number(value, what)
    if not number > 0:
        raise ParameterError(f"{what} must be more than 0, got {quoted(value)}")
    return number
