"""Detours: agents that cannot follow changes walk a changing map as if it had not changed, until a wall stops them.

Databases, levels and the like are for an earlier map: a database for the version of its current edition, all else for
the first version of the world. Such an agent plans on that version, with its own step, and makes its moves while the
map allows them. From the first move that the map does not allow, it searches with TBA* until it is at its goal. If it
returned to its own step whenever it could, it might alternate between two moves for ever. So it arrives if either its
own step or TBA* would. In its next trial it begins with its own step again.

The search takes much more memory than a look-up, and few units need it at a time. So it is in an annex, which a unit
of a crowd takes when it begins to search and releases when it has arrived, or when a new trial or edition begins.

When a database has a new edition, its agents switch to it before their next move, even those that search, and forget
what they planned and learned with the old one. Once the map stops changing there are no more editions, so no agent
alternates for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import NEEDS_ANNEX, Algorithm, Move, find, no_move
from andante.databases.following import Following
from andante.databases.header import Database
from andante.kernel import instantiate, kernel, placeholder
from andante.search.memory import CLOCK, Clock, Space, allocate, begin_problem, catch_up, set_problem
from andante.search.path import price_between
from andante.world.changes import Changes
from andante.world.graph import Graph
from andante.world.layout import GridArrays, degree
from andante.world.living import LivingGraph

SEARCH = "tba(budget=10, weight=2)"

#: The last attempt in which the map did not allow a move. With each trial, and each edition, a new attempt begins.
ASTRAY = np.dtype([("attempt", np.int64)])


class Gait(NamedTuple):
    """The parts of an algorithm that a loop needs: its step, its memory, and its parameters, also in kernels' form."""

    step: Callable[..., Move]
    memory: type
    params: Any
    codes: Any


class Lore(NamedTuple):
    """The map that an agent that cannot follow changes knows, for the current editions of its databases."""

    graph: GridArrays  # the version of the map that it plans on
    edition: int  # a number that grows with each new edition
    agrees: bool  # whether its databases are all for that version


class Own(NamedTuple):
    """The agent's own memory, the map that it knows, and its clock."""

    memory: Any
    lore: Lore
    clock: Clock  # which never records an opened cell


class Detour(NamedTuple):
    """Whether the agent searches, and the memory for its search."""

    memory: Any
    scalars: npt.NDArray[Any]  # [1], of ASTRAY
    annex: npt.NDArray[Any]  # [1], of ANNEX, used for an attempt
    search_clock: Clock  # in the annex; it numbers the searches of all units that had the annex
    clock: Clock
    changes: Changes


class Both(NamedTuple):
    """The memory of an agent that may have to search."""

    own: Own
    detour: Detour


class Codes(NamedTuple):
    """The parameters of the algorithm and of the search."""

    own: Any
    search: Any


def edition_of(databases: Sequence[Any], graph: Graph) -> int:
    """Return a number that grows when one of these databases begins to follow a map, or has a new edition."""
    return sum(1 + one.edition for one in _followings(databases, graph))


def _followings(databases: Sequence[Any], graph: Graph) -> list[Following]:
    found = [one.following for one in databases if isinstance(one, Database)]
    return [one for one in found if one is not None and one.world.graph is graph]


def _known(algorithm: Algorithm, databases: Sequence[Any], graph: LivingGraph) -> tuple[Graph, Lore]:
    """Return the version of a map that an algorithm plans on, as a graph and as its lore."""
    given = [one for one in databases if isinstance(one, Database) and one.serves(graph)]
    used = [next((one for one in given if one.kind == kind), None) for kind in algorithm.needs]
    mapped = [one for one in used if one is not None and one.fingerprint is not None]
    following = _followings(mapped, graph)
    known = following[0].graph if following else graph.first
    arrays = known.arrays
    assert isinstance(arrays, GridArrays)
    agrees = all(one.graph is known for one in following) and len(following) in (0, len(mapped))
    return known, Lore(arrays, edition_of(databases, graph), agrees)


def gait_of(algorithm: Algorithm, graph: Graph) -> Gait:
    """Return the gait of an algorithm on a graph, which includes a search if the map changes and it cannot follow."""
    if not isinstance(graph, LivingGraph) or algorithm.living:
        return Gait(algorithm.step, algorithm.memory, algorithm.params, algorithm.codes)
    search = find(SEARCH)
    codes = Codes(algorithm.codes, search.codes)
    return Gait(_either(algorithm.step, search.step), _memory_of(algorithm, search, graph), algorithm.params, codes)


def _memory_of(algorithm: Algorithm, search: Algorithm, graph: LivingGraph) -> type:
    """Return the memory of an algorithm that may have to search."""

    class OwnPart:
        @staticmethod
        def allocate(space: Space) -> Own:
            clock = space.mind.one(CLOCK)
            known, lore = _known(algorithm, space.databases, graph)
            mine = space._replace(graph=known, clock=clock, team_clock=None)
            return Own(allocate(algorithm.memory, mine), lore, clock)

    class DetourPart:
        @staticmethod
        def allocate(space: Space) -> Detour:
            astray = space.mind.one(ASTRAY)
            mind, annex = space.mind.annex()
            clock = mind.one(CLOCK)
            memory = allocate(search.memory, space._replace(params=search.params, mind=mind, clock=clock))
            return Detour(memory, astray, annex, clock, space.clock, space.changes)

    class Maker:
        """A constructor of `Both`, so that kernels are compiled for one class only."""

        own: OwnPart
        detour: DetourPart

        def __new__(cls, own: Own, detour: Detour) -> Both:  # type: ignore[misc]
            return Both(own, detour)

    Maker.__annotations__.update(own=OwnPart, detour=DetourPart)
    return Maker


@cache
def _either(own: Callable[..., Move], search: Callable[..., Move]) -> Callable[..., Move]:
    """Return the step of an algorithm that may have to search; named settings of an algorithm share it."""
    home = own.__module__.rpartition(".")[2]
    return instantiate(step_or_search, f"step_or_search_{home}_{own.__name__}", own_step=own, search_step=search)


own_step = placeholder(Move, "makes one move of an algorithm (graph, memory, params, state, goal)")
search_step = placeholder(Move, "makes one move of a search (graph, memory, params, state, goal)")


def step_or_search(graph: GridArrays, memory: Both, params: Codes, state: int, goal: int) -> Move:
    """Make one move of an algorithm on its version of the map, or of a search if that is no longer possible."""
    own, detour = memory.own, memory.detour
    if not _is_astray(own.lore, detour, state, goal):
        _keep_time(own.clock[0], detour.clock[0], own.lore.edition)
        move = own_step(own.lore.graph, own.memory, params.own, state, goal)
        if move.to == state or (move.to >= 0 and price_between(graph, state, move.to) < np.inf):
            return move
        if detour.changes.scalars[0]["total"] == 0:
            return move
        detour.scalars[0]["attempt"] = detour.clock[0]["trial"] + own.lore.edition
    if not detour.annex[0]["held"]:
        return no_move(NEEDS_ANNEX, 0, 0)
    _number_search(detour, own.lore.edition)
    return search_step(graph, detour.memory, params.search, state, goal)


@kernel
def _number_search(detour: Detour, edition: int) -> None:
    """Begin a new search if the annex was just taken or a new attempt has begun."""
    annex, clock = detour.annex[0], detour.search_clock[0]
    attempt = detour.clock[0]["trial"] + edition
    if annex["use"] != attempt:
        annex["use"] = attempt
        begin_problem(clock, detour.changes.scalars[0]["opened"])
        clock["trial"] += 1
    catch_up(clock, detour.changes.scalars[0]["opened"])


@kernel
def _is_astray(lore: Lore, detour: Detour, state: int, goal: int) -> bool:
    """Return whether the agent searches, which it also does if its state or its goal was a wall in its version."""
    if detour.changes.scalars[0]["total"] == 0:
        return False
    if degree(lore.graph, state) == 0 or degree(lore.graph, goal) == 0 or not lore.agrees:
        return True
    return detour.scalars[0]["attempt"] == detour.clock[0]["trial"] + lore.edition


@kernel
def _keep_time(own: Any, clock: Any, edition: int) -> None:
    """Synchronize the agent's own clock with the loop's; each edition begins a new problem."""
    if own["problem"] != clock["problem"] + edition:
        set_problem(own, clock["problem"] + edition, 0)
    own["trial"] = clock["trial"] + edition
