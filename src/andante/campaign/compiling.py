"""Compile algorithms and builders of databases before many runs, so that none of the runs waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np

from andante.agent import Algorithm
from andante.campaign.maps import PlannedMap
from andante.databases.header import Database
from andante.datasets import ProgressCallback
from andante.datasets.generate import generate, has_costs
from andante.datasets.named import generated, is_generated, is_graph
from andante.episode.crowd import Crowd
from andante.episode.run import Outfit, compile_all, variant
from andante.errors import AndanteError
from andante.kernel import on_compile
from andante.machine import cores
from andante.notation import parse
from andante.offline import build
from andante.offline.builder import asks_for_goals
from andante.world.graph import Graph
from andante.world.grid import RULES, SIXTEEN, Grid
from andante.world.living import World

_SMALL = 32  # width of a map to compile with: machine code does not depend on sizes


def code_of(one: Outfit[str]) -> tuple[Any, ...]:
    """Return everything that determines the machine code that an outfit runs."""
    return variant(one.algorithm), one.sight is None, tuple(map(_kind, one.databases))


@cache
def _kind(text: str) -> str:
    return parse(text).name


class Compiler:
    """A compiler of agents, or with ``crowds`` of units of crowds, and of builders of databases, on a small map.

    With ``living`` it also compiles agents for maps that change, and it compiles agents without databases for
    ``graphs``. ``small`` is a small map in the layout of the maps that agents will run on.

    It calls ``progress(what, number, total)``, with the given numbers, before it compiles anything not in the cache.
    """

    def __init__(
        self,
        progress: ProgressCallback,
        crowds: bool = False,
        living: bool = False,
        grids: bool = True,
        graphs: Sequence[Graph] = (),
        small: Grid | None = None,
    ) -> None:
        self._progress, self._crowds, self._living = progress, crowds, living
        self._grids, self._graphs = grids, graphs
        self._map = generate("rooms", _SMALL, _SMALL) if small is None else small
        self._databases: dict[str, Database | AndanteError] = {}

    def builder(self, text: str, number: int = 1, total: int = 1) -> Database | None:
        """Compile the builder of a database; return the database of the small map, or None if it cannot be built."""
        if text not in self._databases:
            goals = np.flatnonzero(self._map.passable.ravel())[:1] if asks_for_goals(text) else None
            with on_compile(lambda _: self._progress(_kind(text), number, total)):
                try:
                    self._databases[text] = build(text, self._map, goals=goals)
                except AndanteError as error:
                    self._databases[text] = error
        found = self._databases[text]
        return None if isinstance(found, AndanteError) else found

    def agent(self, one: Outfit[str], number: int = 1, total: int = 1) -> bool:
        """Compile everything that an agent runs; return False if it cannot be made on the small map."""
        databases = [self.builder(text, number, total) for text in one.databases]
        if None in databases:
            return False
        ready = Outfit(one.algorithm, tuple(databases), one.sight)
        try:
            if self._crowds:
                with on_compile(lambda _: self._progress(one.algorithm.card.name, number, total)):
                    self._tick(ready)
            else:
                for world in self._worlds(one):
                    compile_all([ready], [world], lambda what, *_: self._progress(what, number, total))
        except AndanteError:
            return False
        return True

    def _worlds(self, one: Outfit[str]) -> list[Grid | Graph]:
        """Return the small maps and graphs to compile an agent on; its databases are for the map."""
        grids = [self._map] if self._grids or one.databases else []
        return [*grids, *([World(self._map)] if self._living else []), *(() if one.databases else self._graphs)]

    def _tick(self, ready: Outfit[Any]) -> None:
        """Let a crowd of one unit call everything that crowds call."""
        crowd = Crowd(ready.algorithm, self._map, databases=ready.databases)
        start, *_, goal = map(self._map.cell, np.flatnonzero(self._map.passable).tolist())
        ids = crowd.add([start], [goal])
        crowd.tick(microseconds=1.0)
        crowd.remove(ids)


#: Graphs to compile with. Machine code depends only on whether there is an arc back for every arc.
_TWO_WAY = ((0, 1, 1.0), (1, 2, 1.0))


def small_graphs(maps: Iterable[PlannedMap]) -> list[Graph]:
    """Return small graphs to compile agents for, so that they can run on the graphs among these maps."""
    found: dict[bool, Graph] = {}
    for planned in maps:
        if is_graph(planned.source.text) and len(found) < 2:
            graph = planned.world().graph
            both = graph.reversed() is graph
            found.setdefault(both, Graph.from_edges([*_TWO_WAY, (2, 0, 1.0)], directed=not both))
    return list(found.values())


def small_maps(maps: Iterable[PlannedMap]) -> list[Grid]:
    """Return small maps to compile agents for, so that they can run on the maps among these: one in each layout."""
    found: dict[tuple[bool, bool], Grid] = {}
    for source in (planned.source for planned in maps):
        if not is_graph(source.text):
            costly = bool(source.terrain) or (is_generated(source.text) and has_costs(generated(source.text).name))
            layout = source.rule == SIXTEEN, costly
            if layout not in found:
                rule, costs = SIXTEEN if layout[0] else RULES[0], {".": 2.0} if costly else None
                found[layout] = generate("rooms", _SMALL, _SMALL, rule=rule, costs=costs)
    return list(found.values())


def compile_outfits(
    wanted: Iterable[Outfit[str]],
    progress: ProgressCallback,
    living: bool = False,
    grids: Sequence[Grid] | None = None,
    graphs: Sequence[Graph] = (),
) -> None:
    """Compile everything that will run, and call ``progress(what, number, total)`` before each compilation.

    The outfits will run on maps like ``grids``, or those of the benchmark if it is None, and on graphs like ``graphs``.
    Outfits with parameters that contradict each other, and with databases that cannot be built, are skipped: running
    them raises an error that names the map.
    """
    groups, on_grids = _alike(wanted), grids is None or bool(grids)
    compilers = [
        Compiler(progress, living=living, grids=on_grids, graphs=graphs, small=small)
        for small in grids or [generate("rooms", _SMALL, _SMALL)]
    ]
    for number, group in enumerate(groups, 1):
        for compiler in compilers:
            any(compiler.agent(one, number, len(groups)) for one in group)  # the others run the same machine code


@contextmanager
def compiling_beside(algorithms: Iterable[Algorithm]) -> Iterator[None]:
    """Compile these algorithms in another process while this block runs, if there is a core for it.

    The block ends only when all are compiled; they are then found in the cache.
    """
    texts = [str(entry) for entry in algorithms]
    if not texts or cores() < 2:
        yield
        return
    beside = get_context("spawn").Process(target=_compile_quietly, args=(texts,), daemon=True)
    beside.start()
    try:
        yield
        beside.join()
    finally:
        if beside.is_alive():
            beside.terminate()
            beside.join()


def _compile_quietly(texts: Sequence[str]) -> None:
    compile_outfits([Outfit.of(text) for text in texts], lambda *_: None)


def _alike(wanted: Iterable[Outfit[str]]) -> list[list[Outfit[str]]]:
    """Return the outfits grouped by the machine code that they run, in their order."""
    found: dict[tuple[Any, ...], list[Outfit[str]]] = {}
    for one in wanted:
        found.setdefault(code_of(one), []).append(one)
    return list(found.values())
