"""Algorithms, which consist of a card of claims, parameters with ranges, a memory, and one step.

A file in `agents/` defines ``Params`` and ``Memory`` (NamedTuples) and a kernel

    step(graph, memory, params, state, goal) -> Move

and registers a class that contains the three with `algorithm`. Everything else (notation, CLI, docs, tests, loops)
follows from these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from numbers import Real
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

from andante.errors import AlgorithmError, ParameterError, did_you_mean, quoted
from andante.kernel import kernel
from andante.notation import Call, Value, expand, parse, write
from andante.reprs import brief

# Returned in place of the state to move to.
STUCK = -1  # the agent has no move that it would make
UNREACHABLE = -2  # the agent has proved that no path leads to the goal
NEEDS_ANNEX = -3  # the unit of a crowd needs an annex first, and is then called again (`Mind.annex`)


class Move(NamedTuple):
    """The result of one step: where to go, and what the decision cost."""

    to: int  # a neighbour, the state itself (to wait), STUCK or UNREACHABLE
    cost: float
    expanded: int  # states whose successors were generated, in search or in learning, counted each time
    touched: int  # states looked at, counted each time
    learned: float  # total increase of heuristic values
    stored: int  # change in the number of states with a stored value; negative if values were forgotten


@kernel
def no_move(reason: int, expanded: int, touched: int) -> Move:
    """Return the move of an agent that stops permanently, because it is STUCK or the goal is UNREACHABLE."""
    return Move(reason, 0.0, expanded, touched, 0.0, 0)


# --- parameters -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter may have, used to check it, to document it and to search over it."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    __repr__ = brief

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below

    def __str__(self) -> str:
        left = "(" if self.open_low else "["
        right = ")" if self.open_high else "]"
        return f"{left}{self.low:g}, {self.high:g}{right}"


class NotSampled:
    """Marker for a parameter outside the search space: a seed, or a choice between readings of the paper.

    Samples leave it at its default.
    """


NOT_SAMPLED = NotSampled()


class InCost:
    """Marker for a parameter that is an amount of cost, and so scales with the costs of the graph."""


IN_COST = InCost()


@dataclass(frozen=True)
class Parameter:
    """One field of an algorithm's ``Params``."""

    name: str
    kind: type  # int, float, bool, or an IntEnum
    default: Any
    range: Range | None = None
    optional: bool = False  # may be None
    about: str = ""
    sampled: bool = True  # drawn when settings are sampled; if not, it keeps its default unless a range is given
    in_cost: bool = False  # an amount of cost

    __repr__ = brief

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        if issubclass(self.kind, IntEnum):
            words = ", ".join(word.name.lower() for word in self.kind)
        elif self.kind is bool:
            words = "true or false"
        else:
            words = ("a whole number" if self.kind is int else "a number") + (f" in {self.range}" if self.range else "")
        return words + (", or none" if self.optional else "")

    def read(self, value: Any) -> Any:
        """Return the value as its Python type; raise `ParameterError` if it is not allowed."""
        if value is None and self.optional:
            return None
        if issubclass(self.kind, IntEnum):
            if isinstance(value, self.kind):
                return value
            words = {word.name.lower(): word for word in self.kind}
            written = write(value) if isinstance(value, bool | float | None) else value  # words include none, true, inf
            if isinstance(written, str) and written in words:
                return words[written]
        elif self.kind is bool:
            if isinstance(value, bool):
                return value
        elif isinstance(value, Real) and not isinstance(value, bool):
            number = self._number(value)
            if number is not None and (self.range is None or number in self.range):
                return number
        raise ParameterError(f"{self.name} must be {self.allowed}, got {_shown(value)}")

    def _number(self, value: Any) -> int | float | None:
        """Return a number of any library as a plain int or float, or None if kernels cannot accept it."""
        try:
            number: int | float = self.kind(value)
        except (OverflowError, ValueError):
            return None
        fits = number == value and abs(number) < 2**63 if self.kind is int else not math.isnan(number)
        return number if fits else None

    def word(self, value: Any) -> Value:
        """Return the value as the notation writes it."""
        return value.name.lower() if isinstance(value, IntEnum) else value

    def code(self, value: Any) -> Any:
        """Return the value as kernels expect it: always a number, and always of the same type."""
        if value is None:
            return -1 if self.kind is int or issubclass(self.kind, IntEnum) else math.nan
        return int(value) if isinstance(value, IntEnum) else value


def _shown(value: Any) -> str:
    with suppress(ValueError):
        if isinstance(value, str) and math.isfinite(float(value)):
            return quoted(value)  # text such as "3", which without quotes would look like an allowed number
    return write(value) if isinstance(value, str | float | bool | Call | None) else quoted(value)


def _refuse_two_nones(name: str, kind: Any, options: list[Any]) -> None:
    """Raise `ParameterError` if a choice may be unset and has a member NONE: both would be written ``none``."""
    chosen = options[0] if options else kind
    if len(options) < len(get_args(kind)) and issubclass(chosen, IntEnum) and "NONE" in chosen.__members__:
        raise ParameterError(f"{name} may be unset, and {chosen.__name__} has a member NONE; rename or drop one")


def parameters_of(params: type) -> tuple[Parameter, ...]:
    """Return the fields of a ``Params`` NamedTuple with their types, ranges and descriptions."""
    return _fields(params)


@cache
def _fields(params: type) -> tuple[Parameter, ...]:
    found = []
    defaults: Mapping[str, Any] = getattr(params, "_field_defaults", {})
    for name, hint in get_type_hints(params, include_extras=True).items():
        kind, notes = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
        options = [option for option in get_args(kind) if option is not type(None)]
        _refuse_two_nones(name, kind, options)
        found.append(
            Parameter(
                name,
                options[0] if options else kind,
                defaults.get(name),
                next((note for note in notes if isinstance(note, Range)), None),
                len(options) < len(get_args(kind)),
                next((note for note in notes if isinstance(note, str)), ""),
                NOT_SAMPLED not in notes,
                IN_COST in notes,
            )
        )
    return tuple(found)


@cache
def _free(params: type, defaults: Any, fixed: frozenset[str]) -> tuple[Parameter, ...]:
    """Return the fields of a ``Params`` NamedTuple that are not fixed, with other defaults."""
    return tuple(
        replace(field, default=getattr(defaults, field.name))
        for field in parameters_of(params)
        if field.name not in fixed
    )


# --- cards and the register -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Card:
    """An algorithm's name and claims; the contract tests check the claims."""

    name: str  # in the notation
    title: str  # in tables
    paper: str
    real_time: bool = False  # planning per move does not grow with the map
    complete: bool = False  # reaches the goal if it is reachable from every state the agent may get to ...
    two_way: bool = False  # ... and every move can be reversed; on one-way graphs it may get stuck
    optimal: bool = False  # its first path is a cheapest path
    converges: bool = False  # over repeated trials its path becomes a cheapest one, up to its weight if any
    senses: bool = False  # works on a map that it discovers as it walks
    living: bool = False  # works on a map that changes (`andante.World`)
    pursues: bool = False  # keeps what it knows when its goal moves a little
    needs: tuple[str, ...] = ()  # kinds of databases that it uses
    ring: bool = False  # looks at the ring of cells around it, so it may move differently on the same graph as rows
    anchored: bool = False  # what it learns depends on its start: pushed elsewhere, it begins a new problem
    foresees: bool = False  # models an oracle, whose searches are not counted
    crowd: bool = False  # can be one of many units: everything it keeps between moves is in its mind (`search.memory`)
    regions: bool = False  # plans over regions, which differ between a map being discovered and the same map known
    examples: tuple[str, ...] = ()  # settings worth trying besides the default, in the notation
    shown: tuple[str, ...] = ()  # settings that a comparison shows unless others are given
    summary: str = ""  # the first line of its file
    bibtex: str = ""  # entries for its papers, of an algorithm that does not come with Andante

    __repr__ = brief


@dataclass(frozen=True, repr=False)
class Algorithm:
    """A registered algorithm with its parameters: everything that is needed to make agents.

    >>> find("lrta(depth=3)").params
    Params(depth=3)
    >>> str(find("lrta", depth=3))
    'lrta(depth=3)'
    """

    card: Card
    params: Any
    defaults: Any
    memory: type
    step: Callable[..., Move]
    fixed: frozenset[str] = frozenset()  # parameters that a named setting has fixed

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that can be set, with this algorithm's defaults."""
        kind: type = type(self.params)
        return _free(kind, self.defaults, self.fixed)

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of databases it needs, from the card unless ``Params`` override it."""
        return cast(tuple[str, ...], self._claim("needs"))

    @property
    def real_time(self) -> bool:
        """Whether planning per move is independent of the map's size, from the card unless ``Params`` override it."""
        return cast(bool, self._claim("real_time"))

    @property
    def complete(self) -> bool:
        """Whether it reaches every reachable goal, from the card unless ``Params`` override it."""
        return cast(bool, self._claim("complete"))

    @property
    def foresees(self) -> bool:
        """Whether it models an oracle whose searches are not counted, from the card unless ``Params`` override it."""
        return cast(bool, self._claim("foresees"))

    @property
    def living(self) -> bool:
        """Whether it works on a map that changes, from the card unless ``Params`` override it."""
        return cast(bool, self._claim("living"))

    @property
    def pursues(self) -> bool:
        """Whether it keeps what it knows when its goal moves, from the card unless ``Params`` override it."""
        return cast(bool, self._claim("pursues"))

    @property
    def crowd(self) -> bool:
        """Whether it can be one of many units, from the card unless ``Params`` override it; never if not real-time."""
        return self.real_time and cast(bool, self._claim("crowd"))

    def _claim(self, name: str) -> Any:
        return getattr(self.params, name, getattr(self.card, name))

    @property
    def codes(self) -> Any:
        """All parameters as kernels expect them."""
        fields = parameters_of(type(self.params))
        return type(self.params)(*(field.code(value) for field, value in zip(fields, self.params, strict=True)))

    def __str__(self) -> str:
        """Return the algorithm in the notation, with the parameters that are not at their defaults."""
        changed = {p.name: p.word(getattr(self.params, p.name)) for p in self.parameters}
        return str(
            Call(
                self.card.name,
                {p.name: changed[p.name] for p in self.parameters if changed[p.name] != p.word(p.default)},
            )
        )

    def __repr__(self) -> str:
        return f"Algorithm({self})"

    def with_parameters(self, **parameters: Any) -> Algorithm:
        """Return this algorithm with some parameters changed."""
        known = {p.name: p for p in self.parameters}
        for name in parameters:
            if name not in known:
                hint = did_you_mean(name, known) if known else "it has none"
                if name == "database":  # a keyword of `run` that was meant for the run and not for the algorithm
                    hint = "did you mean databases=[...]?"
                raise ParameterError(f"{self.card.name} has no parameter {name!r}; {hint}")
        return replace(self, params=self.params._replace(**{n: known[n].read(v) for n, v in parameters.items()}))


_register: dict[str, Algorithm] = {}


def algorithm(card: Card) -> Callable[[type[Any]], type[Any]]:
    """Register the decorated class, which contains ``Params``, ``Memory`` and ``step``, under ``card``."""

    def enrol(holder: type[Any]) -> type[Any]:
        import sys

        about = (sys.modules[holder.__module__].__doc__ or "").strip().split("\n")[0]
        _add(
            Algorithm(
                replace(card, summary=card.summary or about),
                holder.Params(),
                holder.Params(),
                holder.Memory,
                holder.step,
            )
        )
        return holder

    return enrol


def setting(of: str, card: Card, *, free: Collection[str] = (), **parameters: Any) -> None:
    """Register a published algorithm that is a special case of ``of``, with these parameters fixed.

    Parameters listed in ``free`` can still be chosen; the given value is their default.
    """
    corner = _register[of].with_parameters(**parameters)
    card = replace(
        card,
        summary=card.summary or corner.card.summary,
        senses=card.senses or (corner.card.senses and not card.needs),  # a database is for a known map
        crowd=card.crowd or corner.card.crowd,
        living=card.living or corner.card.living,
        pursues=card.pursues or corner.card.pursues,
    )
    _add(replace(corner, card=card, defaults=corner.params, fixed=corner.fixed | (set(parameters) - set(free))))


def _add(entry: Algorithm) -> None:
    known = _register.get(entry.card.name)
    if known is not None and known.step.__module__ != entry.step.__module__:
        raise AlgorithmError(
            f"two algorithms are called {entry.card.name!r}: in {known.step.__module__} and {entry.step.__module__}"
        )
    _register[entry.card.name] = entry


_dialects: list[Callable[[str], str | None]] = []

D = TypeVar("D", bound=Callable[[str], str | None])


def dialect(read: D) -> D:
    """Register a paper's own notation for algorithms: ``read`` translates it into ours, or returns None."""
    _dialects.append(read)
    _found.clear()
    return read


def _by_title(text: str) -> str | None:
    """Return the text in our notation if it begins with the title of a card, such as ``LRTA*``."""
    for entry in sorted(_register.values(), key=lambda entry: -len(entry.card.title)):
        rest = text.strip()[len(entry.card.title) :].lstrip()
        if text.strip().casefold().startswith(entry.card.title.casefold()) and (not rest or rest.startswith("(")):
            return entry.card.name + rest
    return None


def algorithms() -> list[Algorithm]:
    """Return every registered algorithm, sorted by name.

    >>> "lrta" in [entry.card.name for entry in algorithms()]
    True
    """
    _load()
    return sorted(_register.values(), key=lambda entry: entry.card.name)


def compared() -> list[Algorithm]:
    """Return the algorithms that comparisons show: settings that cards name, and all that use a database."""
    return [
        find(text) for entry in algorithms() for text in entry.card.shown or ((entry.card.name,) if entry.needs else ())
    ]


def find(text: str | Algorithm, **parameters: Any) -> Algorithm:
    """Return the algorithm that ``text`` names in the notation; keyword parameters take precedence.

    Names as papers write them are accepted too.

    >>> str(find("lrta(depth=3)")), str(find("LSS-LRTA* (lookahead=20)"))
    ('lrta(depth=3)', 'lss(lookahead=20)')
    """
    if isinstance(text, Algorithm):
        return text.with_parameters(**parameters)
    if not isinstance(text, str):
        raise AlgorithmError(
            f"an algorithm is text such as 'lrta(depth=3)', or what settings.lrta(depth=3) returns, not {quoted(text)}"
        )
    registered, found = _found.get(text, (None, None))
    if found is not None and not parameters and _register.get(found.card.name) is registered:
        return found
    _load()
    call = parse(next((ours for ours in (read(text) for read in (*_dialects, _by_title)) if ours is not None), text))
    if call.name not in _register:
        raise AlgorithmError(f"there is no algorithm {call.name!r}; {did_you_mean(call.name, _register)}")
    registered = _register[call.name]
    made = registered.with_parameters(**{**call.arguments, **parameters})
    if not parameters:
        if len(_found) >= MOST_FOUND:
            _found.clear()
        _found[text] = registered, made
    return made


def find_all(text: str) -> list[Algorithm]:
    """Return the algorithms that a text with lists of values describes.

    >>> [str(entry) for entry in find_all("lrta(depth=[1, 3..5])")]
    ['lrta', 'lrta(depth=3)', 'lrta(depth=4)', 'lrta(depth=5)']
    """
    return [find(one) for one in expand(text)]


MOST_FOUND = 256
_found: dict[str, tuple[Algorithm, Algorithm]] = {}  # by text: the algorithm as registered, and as the text sets it


def _load() -> None:
    """Import every file of `agents/`, and external ones; each registers its algorithms."""
    from importlib import import_module

    import_module("andante.agents")
