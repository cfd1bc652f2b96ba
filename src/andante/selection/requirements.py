"""The requirements on an agent, and the ways in which a candidate breaks them."""

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
    for the map that needs most.

    With ``units``, agents are the units of a crowd (`andante.Crowd`), and limits are on all units together.

    >>> Requirements(expansions=100).sentence
    'at most 100 states expanded before any move'
    >>> Requirements(units=500, tick_ms=2).sentence
    '500 units of a crowd, at most 2 milliseconds for a tick of all units'
    """

    expansions: int | None = None  # states expanded before any move
    microseconds: float | None = None  # for any move
    memory_bytes: float | None = None  # for the databases of a map
    build_seconds: float | None = None  # to build the databases of a map on this machine, on all threads of advise
    changing: bool = False  # the map may change: no databases, and an agent that can discover changes
    sight: int | None = None  # how far the agent sees, in cells; it does not know the rest of the map
    units: int | None = None  # the number of agents on the map at the same time
    tick_ms: float | None = None  # for one tick, in which every unit moves at most once
    total_memory: float | None = None  # bytes for all units and the databases of a map

    __repr__ = brief

    def __post_init__(self) -> None:
        for name in _LIMITS:
            value = getattr(self, name)
            if value is not None and math.isinf(real_number(value, f"the limit on {name}", least=0)):
                object.__setattr__(self, name, None)
        if self.sight is not None:
            whole_number(self.sight, "sight", least=1, error=ParameterError)
        self._check_crowd()

    def _check_crowd(self) -> None:
        """Raise `ParameterError` if limits on a crowd and on a single agent are mixed."""
        if self.units is None:
            for name in ("tick_ms", "total_memory"):
                if getattr(self, name) is not None:
                    raise ParameterError(f"{name} is a limit on all units of a crowd; give their number with units")
            return
        if whole_number(self.units, "units", least=1, error=ParameterError) > MOST_UNITS:
            raise ParameterError(f"units must be at most {MOST_UNITS:,}, got {self.units}")
        if self.tick_ms == 0:
            raise ParameterError("tick_ms must be more than 0, because no unit could ever move")
        for name in ("expansions", "microseconds"):
            if getattr(self, name) is not None:
                raise ParameterError(
                    f"units share a budget per tick, so {name} for each move cannot be combined with units; use tick_ms"
                )
        if self.sight is not None:
            raise ParameterError("the units of a crowd know their map, so units cannot be combined with sight")
        if self.changing:
            raise ParameterError(
                "crowds are measured on maps that do not change, so units cannot be combined with changing; leave "
                "changing out, and try the finalists in a scene with 'andante crowd'"
            )

    @property
    def sentence(self) -> str:
        """All limits in words."""
        words = [] if self.units is None else [f"{self.units:,} unit{'s' * (self.units != 1)} of a crowd"]
        words += [f"at most {_LIMITS[name].show(limit)}" for name, limit in self._limits]
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
        if entry.foresees:  # an oracle, which knows more than any agent can
            return False
        if self._unknown and (entry.needs or not entry.card.senses):
            return False
        if entry.needs and 0 in (self.memory_bytes, self.build_seconds):
            return False
        if self.units is not None:
            return entry.real_time and entry.crowd
        bounded = self.microseconds is not None or (self.expansions is not None and self.expansions < states)
        return entry.real_time or not bounded

    def check(self, name: str, value: float) -> Breach | None:
        """Return the breach of the limit of this name by this value, or None if it keeps the limit."""
        allowed = getattr(self, name)
        slack = _OVERSHOOT if name == "tick_ms" else 1.0
        return Breach(name, value, allowed) if allowed is not None and value > slack * allowed else None

    def check_rows(self, rows: Iterable[Row]) -> Breach | None:
        """Return the first limit that these trials break, or None if they keep all limits that rows record."""
        known = list(rows)
        for name, column, scale in _IN_ROWS:
            most = max((float(row[column]) for row in known if column in row), default=0.0)
            if breach := self.check(name, most * scale):
                return breach
        return None


MOST_UNITS = 1_000_000
# A tick ends with the move in which the budget is spent, so it takes a little longer. Half of the ticks must keep to
# this many times the budget: a busy machine interrupts some ticks of every agent.
_OVERSHOOT = 1.1
_IN_ROWS = (
    ("expansions", "max_states_expanded", 1),
    ("total_memory", "crowd_bytes", 1),
    ("tick_ms", "tick_microseconds", 1e-3),
)
_MOST_SPELLED = 1e15  # larger numbers are not written with all digits


@dataclass(frozen=True)
class _Limit:
    """The unit and the wording of a limit."""

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
    "tick_ms": _Limit("milliseconds", "for a tick of all units"),
    "total_memory": _Limit("MB", "for all units and the databases of a map", 1e6),
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
        """A sentence with a lower bound on the agent's value, because measuring stops when a limit is broken.

        >>> Breach("expansions", 9, 5).sentence
        'it takes at least 9 states expanded before any move'
        """
        if math.isnan(self.value):
            return f"it takes more than {_LIMITS[self.limit].show(self.allowed)}"
        return f"it takes at least {_LIMITS[self.limit].show(self.value)}"


@dataclass(frozen=True)
class Dropped:
    """A candidate that was dropped, with the reason."""

    name: str
    breach: Breach | None = None
    reason: str = ""  # if not because of a limit


def nothing_fits(requirements: Requirements, dropped: Sequence[Dropped]) -> AdviceError:
    """Return the error for the case that every candidate was dropped; it names the nearest one."""
    nearest = _nearest(dropped)
    if nearest is None:
        reason = f": {dropped[0].name}: {dropped[0].reason}" if dropped else "; relax the limits"
        return AdviceError(f"no registered algorithm satisfies {requirements.sentence}{reason}")
    return AdviceError(f"no agent keeps to {requirements.sentence}; {nearest}")


def nothing_in_time(requirements: Requirements, dropped: Sequence[Dropped], untried: int, asked: int) -> AdviceError:
    """Return the error for the case that all candidates tried were dropped, and there was no time for the others."""
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
    """Return the candidate nearest to the limits and its value in words, or None if no values are known."""
    broken = [(one.breach, one.name) for one in dropped if one.breach is not None and not math.isnan(one.breach.value)]
    if not broken:
        return None
    breach, name = min(broken, key=lambda one: one[0].excess)
    return f"the nearest is {name}: {breach.sentence}"
