"""The machine code in a page: that of all registered algorithms at their defaults, and of crowds of them.

Algorithms that differ only in parameters share it. All agents are compiled for maps that change. Those that look moves
up in a database search with TBA* where the map has changed.

Compiling and optimising takes minutes, and the results of both are cached. So separate processes do this for each
algorithm beforehand, one process for each core.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from andante.agent import Algorithm, algorithms, find
from andante.databases.header import Database
from andante.errors import AlgorithmError, did_you_mean
from andante.export.crowds import CrowdPlan, CrowdSize, Made
from andante.export.images import MapImage, Plan, Planned
from andante.export.library import Exported, names_for, objects
from andante.export.objects import TARGETS
from andante.kernel import table_of
from andante.machine import cores
from andante.offline import build, builders
from andante.world.grid import Grid
from andante.world.living import World

WASM = TARGETS["wasm"]
OPTIMAL = "astar"  # the algorithm that finds optimal paths for the page
SMALLEST_CROWD = 1_000_000  # bytes, for two units, because arrays of one unit have another type
WIDTH, HEIGHT = 16, 12  # of the map that code is compiled for; it depends on types, not on sizes

SIGHT = 1  # the sight of agents that code and recipes are made for; any other is another number in the context

#: Kinds of databases that a page may contain for its map, and how they are built for the map that code is compiled for.
CARRIED = {"pattern": "pattern", "moves": "moves", "regions": "regions", "subgoals": "subgoals(records=10)"}

Progress = Callable[[str], None]


def is_anywhere(algorithm: Algorithm) -> bool:
    """Return whether an algorithm walks on any map: it needs neither a database nor levels."""
    return not algorithm.needs and not algorithm.card.regions


def discovers(algorithm: Algorithm) -> bool:
    """Return whether a page lets an algorithm discover its map."""
    return is_anywhere(algorithm) and algorithm.card.senses and algorithm.living


def playable() -> list[Algorithm]:
    """Return the algorithms that a page can have: on any map, or on the map that it is written for."""
    return [one for one in algorithms() if set(one.needs) <= CARRIED.keys() and _finds_its_database(one)]


def _finds_its_database(algorithm: Algorithm) -> bool:
    """Return whether an agent can use the databases that are built for it."""
    try:
        Planned(algorithm, ground(algorithm), databases=databases_for(algorithm))
    except AlgorithmError:
        return False
    return True


def chosen(names: Collection[str] = ()) -> list[Algorithm]:
    """Return the algorithms of these names and A*, or all that are playable without names."""
    able = {one.card.name: one for one in playable()}
    for name in names:
        if name not in able:
            raise AlgorithmError(f"{name!r} is not an algorithm of the playground; {did_you_mean(name, able)}")
    return [one for name, one in able.items() if not names or name in (*names, OPTIMAL)]


# --- what code is compiled for --------------------------------------------------------------------------------------


@cache
def _open_map() -> Grid:
    return Grid(np.ones((HEIGHT, WIDTH), np.bool_))


@cache
def _ground(regions: bool) -> World:
    """Return a map that changes; if agents on it plan over regions, it has all levels that they request."""
    world = World(_open_map())
    for algorithm in algorithms() if regions else ():
        if algorithm.card.regions and not algorithm.needs:
            Planned(algorithm, world)
    return world


def ground(algorithm: Algorithm) -> World:
    """Return the map that the code of an algorithm is compiled for."""
    return _ground(algorithm.card.regions)


@cache
def _image(regions: bool) -> MapImage:
    return MapImage.of(_ground(regions))


_built: dict[str, Database] = {}


def databases_for(algorithm: Algorithm) -> tuple[Database, ...]:
    """Return the databases that an algorithm needs, for the map that code is compiled for."""
    texts = [CARRIED.get(text, text) for text in orders_of(algorithm)]
    for text in texts:
        if text not in _built:
            _built[text] = build(text, _open_map())
    return tuple(_built[text] for text in texts)


def orders_of(algorithm: Algorithm) -> list[str]:
    """Return the orders of the databases that an algorithm needs: a kind, with parameters if the algorithm needs them.

    >>> orders_of(find("cpd")), orders_of(find("dprlrta(level=2)"))
    (['moves'], ['pattern(base=2, level=3)'])
    """
    found = []
    for kind in algorithm.needs:
        usual, own = builders()[kind].orders, builders()[kind].orders_for(algorithm.params)
        found.append(kind if own == usual else own[0])
    return found


def marches(algorithm: Algorithm) -> bool:
    """Return whether a page has crowds of an algorithm."""
    return algorithm.crowd and not algorithm.card.regions


class Bearer(NamedTuple):
    """An algorithm whose code a page has, for agents that know the map and crowds, or for agents that discover it."""

    algorithm: Algorithm
    sight: int | None = None


def identities(bearer: Bearer) -> list[str]:
    """Return the identities of a bearer's code, and of the code of its crowds; nothing is compiled."""
    algorithm = bearer.algorithm
    world, databases = ground(algorithm), databases_for(algorithm)
    if bearer.sight is not None:
        return [Planned(algorithm, world, sight=bearer.sight).table().identity]
    found = [Planned(algorithm, world, databases=databases).table().identity]
    if marches(algorithm):
        made = Made(algorithm, world, databases, CrowdSize(2, SMALLEST_CROWD))
        tables = (table_of(one.function, *one.parts) for one in made.kernels.values())
        found.append("\n".join(one.identity for one in tables))
    return found


def exported(name: str, bearer: Bearer) -> Exported:
    """Return a bearer under its name in the module, compiled."""
    algorithm = bearer.algorithm
    if bearer.sight is not None:
        return Exported(name, (Plan.of(algorithm, _image(algorithm.card.regions), sight=bearer.sight),))
    image, databases = _image(algorithm.card.regions), databases_for(algorithm)
    crowds = tuple[CrowdPlan, ...]()
    if marches(algorithm):
        crowds = (CrowdPlan.of(algorithm, image, databases, CrowdSize(2, SMALLEST_CROWD)),)
    return Exported(name, (Plan.of(algorithm, image, databases),), crowds)


class Code:
    """The machine code of some algorithms."""

    def __init__(self, wanted: Iterable[Algorithm]) -> None:
        self.names: dict[str, str] = {}  # in the module, by the identity of the code
        self.bearers: dict[str, Bearer] = {}  # by name
        every = list(wanted)
        bearers = [Bearer(one) for one in every] + [Bearer(one, SIGHT) for one in every if discovers(one)]
        for bearer in bearers:
            found = identities(bearer)
            if all(one in self.names for one in found):
                continue
            name = names_for([*self.bearers, bearer.algorithm.card.name])[-1]
            self.bearers[name] = bearer
            self.names.update({one: name for one in found if one not in self.names})

    def __contains__(self, identity: str) -> bool:
        return identity in self.names

    def exported(self) -> list[Exported]:
        """Return all of it, compiled."""
        return [exported(name, bearer) for name, bearer in self.bearers.items()]


# --- compiling on all cores -----------------------------------------------------------------------------------------


class Workers:
    """Processes that compile and optimise algorithms into the caches, while this process continues."""

    def __init__(self, code: Code, progress: Progress) -> None:
        self._pool = ProcessPoolExecutor(max(1, cores() - 1), mp_context=get_context("spawn"))
        total = len(code.bearers)
        self._work: list[Future[None]] = []
        for name, (algorithm, sight) in code.bearers.items():
            databases_for(algorithm)
            future = self._pool.submit(_prepare, name, algorithm.card.name, sight, dict(_built))
            self._work.append(future)
            future.add_done_callback(partial(self._report, progress, name, total))

    def _report(self, progress: Progress, name: str, total: int, _: Future[None]) -> None:
        progress(f"compiled {name} ({sum(one.done() for one in self._work)} of {total})")

    def wait(self) -> None:
        """Wait until everything is compiled; raise the first error."""
        for one in self._work:
            one.result()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *failure: object) -> None:
        self._pool.shutdown(cancel_futures=True)


def _prepare(name: str, algorithm: str, sight: int | None, built: dict[str, Database]) -> None:
    _built.update(built)
    objects([exported(name, Bearer(find(algorithm), sight))], WASM)
