"""Shared parts of all builders: parameters in the notation, threads, progress, and the resulting database.

A module in `offline/` defines ``Params`` and a function

    make(graph, params, crew) -> bundle

and registers it with `builder` for the kind of database whose bundle it returns. A builder of databases that serve any
map takes a list of graphs instead of one. One that can build for some goals only has a parameter ``goals`` of type
`Goals`, and takes these goals, or None for all, as its last argument.

``make`` may be a generator that yields wherever it can be interrupted, and returns the bundle (`Making`). `build` runs
it to its end; `repair` (in `repairing`) runs it in pieces, for a map that changes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence, Sized
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from andante.agent import Parameter, parameters_of
from andante.databases.following import snapshot
from andante.databases.header import Database
from andante.databases.kinds import kind_named, kinds
from andante.datasets import ProgressCallback
from andante.errors import DatabaseError, ParameterError, did_you_mean, expect, whole_number
from andante.machine import cores, on_threads
from andante.notation import Call, Word, parse
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import World

M = TypeVar("M", bound=Callable[..., Any])
R = TypeVar("R")
W = TypeVar("W", bound=Sized)

#: Work that can be interrupted where it yields, and its result.
Making = Generator[None, None, R]


def finished(making: Making[R]) -> R:
    """Return the result of work that can be interrupted, without interrupting it.

    >>> def work():
    ...     yield
    ...     return 7
    >>> finished(work())
    7
    """
    while True:
        try:
            next(making)
        except StopIteration as end:
            result: R = end.value
            return result


@dataclass(frozen=True)
class Crew:
    """The threads of a build, and a callback for progress."""

    threads: int
    progress: ProgressCallback | None = None

    def report(self, what: str, done: int, total: int) -> None:
        """Report the progress of a piece of work."""
        if self.progress is not None:
            self.progress(what, done, total)

    def parts(self, count: int, size: int) -> list[range]:
        """Return the numbers below ``count`` in parts of this size, for `each`."""
        return [range(i, min(i + size, count)) for i in range(0, count, size)]

    def each(
        self, work: Callable[[Any, W], Any], parts: Sequence[W], rooms: Sequence[Any], what: str = ""
    ) -> Making[list[Any]]:
        """Return the results of ``work`` for all parts, in their order; each call has one of the ``rooms`` exclusively.

        Kernels run without the GIL, so the threads run in parallel. A part should take at most a second, because the
        user waits that long after an interrupt. ``work`` may be a generator that yields where it can be interrupted. If
        ``what`` is given, progress is reported, in the length of parts.
        """
        free: SimpleQueue[Any] = SimpleQueue()
        for room in rooms:
            free.put(room)

        def task(part: W, stop: threading.Event) -> Any:
            room = free.get()
            try:
                result = work(room, part)
                return finished(result) if isinstance(result, Generator) else result
            finally:
                free.put(room)

        done, total = 0, sum(len(part) for part in parts)
        made: dict[int, Any] = {}
        with closing(on_threads(task, parts, len(rooms))) as batches:
            for one in chain.from_iterable(batches):
                made[one.number] = one.result
                done += len(one.part)
                if what:
                    self.report(what, done, total)
                yield
        return [made[k] for k in range(len(parts))]


@dataclass(frozen=True)
class Piecewise(Crew):
    """A crew that does its work in small pieces, in the calling thread."""

    threads: int = 1

    def parts(self, count: int, size: int) -> list[range]:
        """Return each number as a separate part."""
        return super().parts(count, 1)

    def each(
        self, work: Callable[[Any, W], Any], parts: Sequence[W], rooms: Sequence[Any], what: str = ""
    ) -> Making[list[Any]]:
        """Do the same as a crew, with an interruption after each part and where ``work`` yields."""
        made = []
        for part in parts:
            result = work(rooms[0], part)
            if isinstance(result, Generator):
                result = yield from result
            made.append(result)
            yield
        return made


class Goals(Word):
    """The goals that a database serves."""

    ALL = 0
    ASKED = 1  # those given to its builder


class Estimate(NamedTuple):
    """A lower bound on the time of a build, from a sample of its first long piece of work."""

    seconds: float
    what: str  # the piece of work that was sampled; empty if the build finished in time
    done: int  # the part of it that was done
    total: int


class _EstimatedError(Exception):
    """Raised to stop a build once enough of it was done for an estimate."""

    def __init__(self, estimate: Estimate) -> None:
        super().__init__(estimate)
        self.estimate = estimate


@dataclass(frozen=True)
class _Sampler(Crew):
    """A crew that takes parts in a random order, and stops when it can estimate the time of its work."""

    seconds: float = 0.0
    began: float = field(default_factory=time.perf_counter)

    def report(self, what: str, done: int, total: int) -> None:
        """Stop with an estimate if enough of a piece of work is done."""
        spent = time.perf_counter() - self.began
        if spent > self.seconds and 0 < done < total:
            raise _EstimatedError(Estimate(spent * total / done, what, done, total))

    def each(
        self, work: Callable[[Any, W], Any], parts: Sequence[W], rooms: Sequence[Any], what: str = ""
    ) -> Making[list[Any]]:
        """Do the same as a crew, or as much of it as time permits."""

        def do(some: list[int]) -> dict[int, Any]:
            return dict(zip(some, finished(super_each(work, [parts[k] for k in some], rooms)), strict=True))

        super_each = super().each
        order = np.random.default_rng(0).permutation(len(parts)).tolist()
        made = do(order[:1])  # compiles
        began, done, total = time.perf_counter(), 0, sum(map(len, parts))
        for first in range(1, len(order), len(rooms)):
            some = order[first : first + len(rooms)]
            made.update(do(some))
            done += sum(len(parts[k]) for k in some)
            spent = time.perf_counter() - began
            if what and spent > self.seconds and len(made) < len(parts):
                raise _EstimatedError(Estimate(began - self.began + spent * total / done, what, done, total))
            yield
        return [made[k] for k in range(len(parts))]


class Builder(NamedTuple):
    """A builder of the databases of one kind."""

    kind: str
    params: type[tuple[Any, ...]]
    make: Callable[..., Any]  # called with a graph, or several if the database serves any map
    any_map: bool = False
    variants: tuple[str, ...] = ()  # settings worth trying besides the defaults, in the notation
    order_for: Callable[[Any], str] | None = None  # the database for agents with these parameters, if not the default
    all_pairs: bool = False  # processes all pairs of states, which takes long on a large map

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that can be set, with defaults."""
        return parameters_of(self.params)

    @property
    def orders(self) -> tuple[str, ...]:
        """The databases that can be built, in the notation: first the default, then settings worth trying.

        >>> builders()["pattern"].orders
        ('pattern', 'pattern(side=32)', 'pattern(side=64)')
        """
        return (self.kind, *self.variants)

    def orders_for(self, params: Any) -> tuple[str, ...]:
        """Return the databases that can be built for an agent with these parameters, in the same order.

        >>> from andante.agent import find
        >>> builders()["pattern"].orders_for(find("dprlrta(level=2)").params)
        ('pattern(base=2, level=3)',)
        """
        needed = self.kind if self.order_for is None else self.order_for(params)
        return self.orders if needed == self.kind else (needed,)

    @property
    def takes_goals(self) -> bool:
        """Whether it can build for some goals only."""
        return any(parameter.kind is Goals for parameter in self.parameters)

    def __repr__(self) -> str:
        return f"<Builder {self.kind}({', '.join(parameter.name for parameter in self.parameters)})>"


_builders: dict[str, Builder] = {}


def builder(
    kind: str,
    params: type[tuple[Any, ...]],
    *,
    any_map: bool = False,
    variants: Sequence[str] = (),
    order_for: Callable[[Any], str] | None = None,
    all_pairs: bool = False,
) -> Callable[[M], M]:
    """Register the decorated function as the builder of databases of this kind; other arguments are as in `Builder`."""

    def enrol(make: M) -> M:
        _builders[kind] = Builder(kind, params, make, any_map, tuple(variants), order_for, all_pairs)
        return make

    return enrol


def builders() -> dict[str, Builder]:
    """Return all builders by the kind of their databases, including external ones."""
    kinds()  # imports all builders
    return dict(sorted(_builders.items()))


def build(
    kind: str,
    world: Grid | Graph | Sequence[Grid | Graph],
    *,
    goals: Iterable[int] | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
    **parameters: Any,
) -> Database:
    """Build and return a database for a map; ``kind`` may have parameters, but keyword parameters take precedence.

    A kind that serves any map is built from one map or several. With ``goals``, states of the map, a kind that has a
    parameter of that name is built for these goals only (``goals=asked``).
    By default ``threads`` is the number of cores; the result does not depend on it.
    ``progress`` is called with the name of the current piece of work, the amount done, and the total.

    >>> import andante
    >>> grid = andante.generate("rooms", 24, 24, seed=1)
    >>> build("moves", grid).parameters
    {}
    """
    return _build(kind, world, goals, parameters, Crew(_checked(threads), progress))


def estimate(
    kind: str,
    world: Grid | Graph | Sequence[Grid | Graph],
    *,
    goals: Iterable[int] | None = None,
    seconds: float = 10.0,
    threads: int | None = None,
    **parameters: Any,
) -> Estimate:
    """Return a lower bound on the time of `build`, from a random sample of its work that takes about ``seconds``.

    >>> import andante
    >>> estimate("pattern(level=1)", andante.generate("rooms", 24, 24, seed=1)).seconds < 600
    True
    """
    crew = _Sampler(_checked(threads), seconds=seconds)
    try:
        _build(kind, world, goals, parameters, crew)
    except _EstimatedError as over:
        return over.estimate
    return Estimate(time.perf_counter() - crew.began, "", 0, 0)


def _checked(threads: int | None) -> int:
    return cores() if threads is None else whole_number(threads, "threads", least=1, error=ParameterError)


def _worlds(world: Grid | Graph | Sequence[Grid | Graph]) -> list[Grid | Graph]:
    """Return the maps or graphs to build for as a list; raise `DatabaseError` if they are anything else."""
    said = "a database is built for a Grid or a Graph, as andante.read_map returns"
    worlds = world if isinstance(world, list | tuple) else [world]
    return [expect(one, Grid | Graph, said, DatabaseError) for one in worlds]


def _build(
    kind: str,
    world: Grid | Graph | Sequence[Grid | Graph],
    goals: Iterable[int] | None,
    parameters: dict[str, Any],
    crew: Crew,
) -> Database:
    expect(kind, str, "the kind of a database is a text such as 'pattern'", DatabaseError)
    call = parse(kind)
    chosen, params = chosen_for(call, goals is not None, **parameters)
    worlds = _worlds(world)
    if len(worlds) != 1 and not (worlds and chosen.any_map):
        raise ParameterError(f"a database of kind {chosen.kind!r} is built for one map, got {len(worlds)}")
    first = worlds[0]
    living = first if isinstance(first, World) and not chosen.any_map else None
    shots = [snapshot(one) if isinstance(one, World) else (0, one) for one in worlds]
    graphs = [one.graph for _, one in shots]
    asked = _asked(chosen.kind, params.goals, goals, graphs[0]) if chosen.takes_goals else None
    arrays = finished(making(chosen, graphs if chosen.any_map else graphs[0], params, crew, asked))
    fingerprint = None if chosen.any_map else graphs[0].fingerprint
    words = {p.name: p.word(value) for p, value in zip(chosen.parameters, params, strict=True)}
    database = Database(chosen.kind, fingerprint, words, arrays, asked=asked)
    if living is not None:
        database.follow(living, graphs[0], shots[0][0])
    return database


def making(
    chosen: Builder,
    graph: Graph | list[Graph],
    params: Any,
    crew: Crew,
    asked: npt.NDArray[np.int64] | None,
) -> Making[Any]:
    """Make the arrays of a database, for these goals or for all, and yield wherever its builder does."""
    made = chosen.make(graph, params, crew, *((asked,) if chosen.takes_goals else ()))
    return (yield from made) if isinstance(made, Generator) else made


def _asked(kind: str, which: Goals, goals: Iterable[int] | None, graph: Graph) -> npt.NDArray[np.int64] | None:
    """Return the states that a database should serve as goals, each once; None for all states."""
    if which is Goals.ALL:
        if goals is not None:
            raise ParameterError(f"{kind} with goals=all serves all goals; omit either goals=all or the goals")
        return None
    if goals is None:
        raise ParameterError(
            f"{kind} with goals=asked needs the goals; pass states of the map to build(..., goals=[...]), or a "
            "scenario to 'andante build' with --goals FILE.scen"
        )
    states = np.unique([whole_number(goal, "a goal") for goal in goals]).astype(np.int64)
    if not len(states) or states[0] < 0 or states[-1] >= len(graph):
        raise ParameterError(f"goals must be one or more states of the map, numbered 0 to {len(graph) - 1}")
    return states


@cache
def asks_for_goals(text: str) -> bool:
    """Return whether the database with this notation is built for the goals given to its builder.

    >>> asks_for_goals("pattern(goals=asked)"), asks_for_goals("pattern"), asks_for_goals("moves")
    (True, False, False)
    """
    call = parse(text)
    chosen, params = with_parameters(call.name, dict(call.arguments))
    return chosen.takes_goals and params.goals is Goals.ASKED


def chosen_for(call: Call, with_goals: bool, **parameters: Any) -> tuple[Builder, Any]:
    """Return the builder that a call names, and its parameters; keyword parameters take precedence.

    With goals, ``goals=asked`` is the default.

    >>> chosen_for(parse("pattern(level=2)"), True)[1].goals.name
    'ASKED'
    """
    chosen, params = with_parameters(call.name, {**call.arguments, **parameters})
    if not with_goals:
        return chosen, params
    if not chosen.takes_goals:
        able = ", ".join(name for name, one in builders().items() if one.takes_goals)
        raise ParameterError(f"a database of kind {chosen.kind!r} is always for all goals; only {able} can be for some")
    return with_parameters(call.name, {"goals": "asked", **call.arguments, **parameters})


def with_parameters(kind: str, parameters: dict[str, Any]) -> tuple[Builder, Any]:
    """Return the builder of a kind, and its parameters with these values."""
    kind_named(kind)
    if kind not in builders():
        raise DatabaseError(f"databases of kind {kind!r} cannot be built here: no builder is registered for them")
    chosen = builders()[kind]
    known = {p.name: p for p in chosen.parameters}
    for name in parameters:
        if name not in known:
            hint = did_you_mean(name, known) if known else "it has none"
            raise ParameterError(f"building {kind} has no parameter {name!r}; {hint}")
    return chosen, chosen.params(**{name: known[name].read(value) for name, value in parameters.items()})
