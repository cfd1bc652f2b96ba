"""The requirements on an agent, and how they are broken."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from andante.agent import Algorithm
from andante.errors import AndanteError, ParameterError, real_number, whole_number
from andante.measures import Row
from andante.reprs import brief


class AdviceError(AndanteError):
    """No agent meets the requirements."""


@dataclass(frozen=True)
class Requirements:
    """Limits that an agent has to keep; None and infinity mean no limit.

    Limits on planning are for the worst move, not for the average one. Memory and build time are those of the databases
    for one map, the map that needs most.

    >>> Requirements(expansions=100).sentence
    'at most 100 states expanded before any move'
    """

    expansions: int | None = None  # states expanded before any move
    microseconds: float | None = None  # for any move
    memory_bytes: float | None = None  # for the databases of a map
    build_seconds: float | None = None  # to build the databases of a map, here, on as many threads as advise was given
    changing: bool = False  # the map may change: no databases, and an agent that can discover changes
    sight: int | None = None  # how many cells far the agent sees; it does not know the rest of the map

    __repr__ = brief

    def __post_init__(self) -> None:
        for name in ("expansions", "microseconds", "memory_bytes", "build_seconds"):
            value = getattr(self, name)
            if value is not None and math.isinf(real_number(value, f"the limit on {name}", least=0)):
                object.__setattr__(self, name, None)
        if self.sight is not None:
            whole_number(self.sight, "sight", least=1, error=ParameterError)

    @property
    def sentence(self) -> str:
        """All limits in words."""
        words = [f"at most {_LIMITS[name].show(limit)}" for name, limit in self._limits]
        if self._unknown:
            words.append("an agent for maps that change")
        return ", ".join(words) or "no limits"

    @property
    def _limits(self) -> list[tuple[str, float]]:
        return [(name, getattr(self, name)) for name in _LIMITS if getattr(self, name) is not None]

    @property
    def _unknown(self) -> bool:
        return self.changing or self.sight is not None

    def admits(self, entry: Algorithm, states: int) -> bool:
        """Return whether an algorithm can be considered, by its card, on maps of at most this many states."""
        if entry.foresees:  # knows what no agent can
            return False
        if self._unknown and (entry.needs or not entry.card.senses):
            return False
        if entry.needs and 0 in (self.memory_bytes, self.build_seconds):
            return False
        bounded = self.microseconds is not None or (self.expansions is not None and self.expansions < states)
        return entry.real_time or not bounded

    def check(self, name: str, value: float) -> Breach | None:
        """Return how this value breaks the limit of this name, or None if it does not."""
        allowed = getattr(self, name)
        return Breach(name, value, allowed) if allowed is not None and value > allowed else None

    def check_rows(self, rows: Iterable[Row]) -> Breach | None:
        """Return how a move of these trials breaks the limit on expansions, or None if none does."""
        return self.check("expansions", max((int(row["max_states_expanded"]) for row in rows), default=0))


_MOST_SPELLED = 1e15  # larger numbers are not written digit by digit


@dataclass(frozen=True)
class _Limit:
    """How a limit is written."""

    unit: str
    what: str
    scale: float = 1.0

    def number(self, value: float) -> str:
        """Return the value in its unit.

        >>> _Limit("MB", "for maps", 1e6).number(2_500_000), _Limit("states", "").number(1934)
        ('2.5', '1,934')
        """
        shown = value / self.scale
        return f"{shown:,.0f}" if shown < _MOST_SPELLED and shown == round(shown) else f"{shown:,.3g}"

    def show(self, value: float) -> str:
        """Return the value with its unit and a description."""
        unit = self.unit.removesuffix("s") if self.number(value) == "1" else self.unit
        return f"{self.number(value)} {unit} {self.what}"


_LIMITS = {
    "expansions": _Limit("states", "expanded before any move"),
    "microseconds": _Limit("microseconds", "for any move"),
    "memory_bytes": _Limit("MB", "for the databases of a map", 1e6),
    "build_seconds": _Limit("seconds", "to build the databases of a map"),
}


@dataclass(frozen=True)
class Breach:
    """A limit that was broken, and the value; nan if the work was stopped before the value was known."""

    limit: str
    value: float
    allowed: float

    @property
    def excess(self) -> float:
        """The value relative to the limit: lower is nearer to the limit."""
        return (self.value + 1) / (self.allowed + 1)

    @property
    def sentence(self) -> str:
        """A sentence with a lower bound on what the agent takes; measuring stops once a limit is broken.

        >>> Breach("expansions", 9, 5).sentence
        'it takes at least 9 states expanded before any move'
        """
        if math.isnan(self.value):
            return f"it takes more than {_LIMITS[self.limit].show(self.allowed)}"
        return f"it takes at least {_LIMITS[self.limit].show(self.value)}"


@dataclass(frozen=True)
class Dropped:
    """A candidate that was dropped, and why."""

    name: str
    breach: Breach | None = None
    reason: str = ""  # if not because of a limit


def nothing_fits(requirements: Requirements, dropped: Sequence[Dropped]) -> AdviceError:
    """Return the error for when every candidate was dropped; it names the nearest."""
    nearest = _nearest(dropped)
    if nearest is None:
        reason = f": {dropped[0].name}: {dropped[0].reason}" if dropped else "; relax the limits"
        return AdviceError(f"no registered algorithm satisfies {requirements.sentence}{reason}")
    return AdviceError(f"no agent keeps to {requirements.sentence}; {nearest}")


def nothing_in_time(requirements: Requirements, dropped: Sequence[Dropped], untried: int, asked: int) -> AdviceError:
    """Return the error for when all candidates that were tried were dropped, and there was no time for the others."""
    remedy = "give it more minutes, or fewer maps"
    if untried >= asked:
        return AdviceError(f"there was no time to try any of {asked} candidates; {remedy}")
    nearest = _nearest(dropped)
    if nearest is None:
        return AdviceError(
            f"there was no time to try {untried} of {asked} candidates, and none of the others satisfies "
            f"{requirements.sentence}; {remedy}"
        )
    return AdviceError(
        f"none of the {asked - untried} candidates that were tried keeps to {requirements.sentence}; {nearest}; "
        f"there was no time to try {untried} more: {remedy}, or relax the limits"
    )


def _nearest(dropped: Sequence[Dropped]) -> str | None:
    """Return which candidate came nearest to the limits and what it takes; None if that is not known of any."""
    broken = [(one.breach, one.name) for one in dropped if one.breach is not None and not math.isnan(one.breach.value)]
    if not broken:
        return None
    breach, name = min(broken, key=lambda one: one[0].excess)
    return f"the nearest is {name}: {breach.sentence}"
