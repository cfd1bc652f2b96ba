"""Repair of databases on a map that changes: the next edition is made in pieces, with the builder of the kind.

A database is built again for the present version of its map by the functions that built it, which yield wherever they
can be interrupted (`Making`). So a repaired database equals one built from scratch, whatever the pieces were.

If the map changes while an edition is made, that edition is finished first. It is more recent than the one in use, and
however fast a map changes, new editions appear from time to time.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.databases.following import Following, snapshot
from andante.databases.header import Database, repairs
from andante.errors import DatabaseError, quoted
from andante.offline.builder import Builder, Goals, Making, Piecewise, making, with_parameters
from andante.world.graph import Graph
from andante.world.layout import GridArrays
from andante.world.living import LivingGraph, World


@repairs
def repair(database: Database, world: World, milliseconds: float) -> int:
    """Work on the next edition of a database for about this long, and return the number of changes that remain."""
    if not isinstance(world, World):
        raise DatabaseError(f"a database is repaired for a World, a map that changes, not for {quoted(world)}")
    if database.fingerprint is None:
        return 0  # it serves any map
    _follow(database, world)
    following, end = database.following, perf_counter() + milliseconds / 1e3
    assert following is not None
    with following.lock:
        while following.work is not None or following.version != world.version:
            _do_a_piece(database, following)
            if perf_counter() >= end:
                break
        return world.version - following.version


def _do_a_piece(database: Database, following: Following) -> None:
    """Do the next piece of work on the next edition."""
    if following.work is None:
        following.work = _next_edition(database, following)
    try:
        next(following.work)
    except StopIteration:
        following.work = None
    except BaseException:
        following.work = None  # an unfinished edition is discarded
        raise


def _follow(database: Database, world: World) -> None:
    """Make a database follow a world, unless it already does; raise `DatabaseError` if it cannot."""
    if database.following is not None:
        if database.following.world is not world:
            raise DatabaseError("this database follows another world; build or load one for this world")
        return
    _parameters(database)
    graph = world.graph
    assert isinstance(graph, LivingGraph)
    if database.fingerprint == graph.chart:
        database.follow(world, graph.first, 0)
        return
    version, grid = snapshot(world)
    if database.fingerprint != grid.graph.fingerprint:
        raise DatabaseError(
            "this database is for neither the first nor the present version of the world, so the changes since are "
            "unknown; build one with andante.build(kind, world)"
        )
    database.follow(world, grid.graph, version)


def _next_edition(database: Database, following: Following) -> Making[None]:
    """Make the next edition of a database, for the present version of its map."""
    version, grid = snapshot(following.world)
    before, after = following.graph, grid.graph
    yield
    if after.fingerprint == before.fingerprint:  # what was closed was opened again
        following.version = version
        return
    chosen, params = _parameters(database)
    goals = _goals(database, params, before)
    arrays = yield from making(chosen, after, params, Piecewise(), goals)
    database.replace(arrays, after.fingerprint)
    following.turn_page(after, version)


def _parameters(database: Database) -> tuple[Builder, Any]:
    """Return the builder of a database, and its parameters; raise `DatabaseError` if it cannot be repaired."""
    chosen, params = with_parameters(database.kind, dict(database.parameters))
    if getattr(params, "base", 0) > 0:
        raise DatabaseError(
            "a pattern database for agents that plan over regions (base above 0) cannot be repaired, because each "
            "version of a map has other regions, and agents store values by region; build one for world.frozen()"
        )
    return chosen, params


def _goals(database: Database, params: Any, graph: Graph) -> npt.NDArray[np.int64] | None:
    """Return the goals of a database, None if it serves all; for one from a file, all goals that it serves."""
    if getattr(params, "goals", Goals.ALL) is Goals.ALL or database.asked is not None:
        return database.asked
    states = np.arange(len(graph))
    assert isinstance(graph.arrays, GridArrays)
    return np.flatnonzero(database.covers(graph, states) & (graph.arrays.mask > 0))
