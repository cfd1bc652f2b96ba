"""What a practitioner asks of an agent, and what it means to break it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from andante.agent import Algorithm
from andante.errors import AndanteError, ParameterError, real_number, whole_number
from andante.measures import Row
from andante.reprs import brief


class AdviceError(AndanteError):
    """A question to which there is no answer."""


@dataclass(frozen=True)
class Requirements:
    """Limits that an agent has to keep to; None and infinity are no limit.

    Planning is limited for the worst move of all, not for the usual one. Memory and build time are those of the
    databases for one map, the map that needs most.

    >>> Requirements(expansions=100).sentence
    'at most 100 states expanded before any move'
    """

    expansions: int | None = None  # states expanded before any move
    microseconds: float | None = None  # taken by any move
    memory_bytes: float | None = None  # for the databases of a map
    build_seconds: float | None = None  # to build the databases of a map, here, on as many threads as advise was given
    changing: bool = False  # the map may change: no databases, and an agent that copes with what it finds out
    sight: int | None = None  # the agent sees so many cells far and does not know the rest of the map

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
        """May an algorithm be considered at all, on maps of at most so many states, by what its card says?"""
        if entry.foresees:  # knows what no agent can
            return False
        if self._unknown and (entry.needs or not entry.card.senses):
            return False
        if entry.needs and 0 in (self.memory_bytes, self.build_seconds):
            return False
        bounded = self.microseconds is not None or (self.expansions is not None and self.expansions < states)
        return entry.real_time or not bounded

    def check(self, name: str, value: float) -> Breach | None:
        """Is a limit broken by this value?"""
        allowed = getattr(self, name)
        return Breach(name, value, allowed) if allowed is not None and value > allowed else None

    def check_rows(self, rows: Iterable[Row]) -> Breach | None:
        """Is the limit on expansions broken by any move of these trials?"""
        return self.check("expansions", max((int(row["max_states_expanded"]) for row in rows), default=0))


_MOST_SPELLED = 1e15  # larger numbers are not written digit by digit


@dataclass(frozen=True)
class _Limit:
    """How a limit is written."""

    unit: str
    what: str
    scale: float = 1.0

    def number(self, value: float) -> str:
        """The value in its unit.

        >>> _Limit("MB", "for maps", 1e6).number(2_500_000), _Limit("states", "").number(1934)
        ('2.5', '1,934')
        """
        shown = value / self.scale
        return f"{shown:,.0f}" if shown < _MOST_SPELLED and shown == round(shown) else f"{shown:,.3g}"

    def show(self, value: float) -> str:
        """The value with its unit and what it is about."""
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
    """A limit that was broken, and by which value; nan stands for one that was not waited for."""

    limit: str
    value: float
    allowed: float

    @property
    def excess(self) -> float:
        """How far beyond the limit it is: the less, the nearer."""
        return (self.value + 1) / (self.allowed + 1)

    @property
    def sentence(self) -> str:
        """What it takes at least: once a limit is broken nobody waits for worse.

        >>> Breach("expansions", 9, 5).sentence
        'it takes at least 9 states expanded before any move'
        """
        if math.isnan(self.value):
            return f"it takes more than {_LIMITS[self.limit].show(self.allowed)}"
        return f"it takes at least {_LIMITS[self.limit].show(self.value)}"


@dataclass(frozen=True)
class Dropped:
    """A candidate that is out of the question, and why."""

    name: str
    breach: Breach | None = None
    reason: str = ""  # if it is not for a limit


def nothing_fits(requirements: Requirements, dropped: Sequence[Dropped]) -> AdviceError:
    """What to say when every candidate is out: which came nearest."""
    nearest = _nearest(dropped)
    if nearest is None:
        reason = f": {dropped[0].name}: {dropped[0].reason}" if dropped else "; relax the limits"
        return AdviceError(f"no agent of the register can do with {requirements.sentence}{reason}")
    return AdviceError(f"no agent keeps to {requirements.sentence}; {nearest}")


def nothing_in_time(requirements: Requirements, dropped: Sequence[Dropped], untried: int, asked: int) -> AdviceError:
    """What to say when every candidate that was tried is out, and there was no time for the others."""
    remedy = "give it more minutes, or fewer maps"
    if untried >= asked:
        return AdviceError(f"there was no time to try any of {asked} candidates; {remedy}")
    nearest = _nearest(dropped)
    if nearest is None:
        return AdviceError(
            f"there was no time to try {untried} of {asked} candidates, and none of the others can do with "
            f"{requirements.sentence}; {remedy}"
        )
    return AdviceError(
        f"none of the {asked - untried} candidates that were tried keeps to {requirements.sentence}; {nearest}; "
        f"there was no time to try {untried} more: {remedy}, or relax the limits"
    )


def _nearest(dropped: Sequence[Dropped]) -> str | None:
    """Which came nearest to the limits, and what it takes; None if nobody knows of any what it takes."""
    broken = [(one.breach, one.name) for one in dropped if one.breach is not None and not math.isnan(one.breach.value)]
    if not broken:
        return None
    breach, name = min(broken, key=lambda one: one[0].excess)
    return f"the nearest is {name}: {breach.sentence}"
