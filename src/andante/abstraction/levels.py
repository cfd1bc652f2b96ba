"""The levels as an agent uses them: shared above a known map, its own above a map that it discovers.

Shared levels may be those of a map that changes. They are repaired for all agents between their moves
(`abstraction.living`), and each agent catches up with the log of repairs. An agent that discovers its map repairs its
own levels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.centres import find_centre, keep_centre
from andante.abstraction.clique import DEAD, Cover, Work, count, item, weigh
from andante.abstraction.corridor import Ahead, Corridor, Route, drop_if_outdated
from andante.abstraction.hierarchy import hierarchy_of, mark_around, most_after_changes
from andante.abstraction.layers import Layers, ancestor, first_child, has_room, next_child, restore
from andante.abstraction.living import NEVER_REPAIRED, Repairs, levels_of
from andante.abstraction.repair import Keep, repair
from andante.errors import ParameterError
from andante.kernel import generic, int64, kernel
from andante.search.memory import Clock, Space
from andante.world.changes import Changes, can_look_up, changed_cell
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Layout, unit
from andante.world.living import LivingGraph
from andante.world.sensing import Belief, ask_for_room

UNCHANGED = -1  # not even the ground has changed
OUT_OF_ROOM = -2  # the levels could not be repaired: they are restored, and repaired again when there is more space

GROWTH = 1.5  # of the space, when little is left


FOLLOWED = np.dtype(
    [
        ("number", np.int64),  # repairs that the agent has caught up with
        ("removed", np.int64),  # nodes removed by them
        ("opened", np.int64),  # cells opened by them
    ]
)

MOST_REMOVED = 256  # nodes whose values an agent forgets one by one


class Shared(NamedTuple):
    """Levels above a known map, shared by all agents on it; they are never repaired if the map does not change."""

    layers: Layers
    repairs: Repairs
    changes: Changes  # the log of the map
    scalars: npt.NDArray[Any]  # [1], of FOLLOWED: the agent's own


SEEN = np.dtype(
    [
        ("problem", np.int64),
        ("changes", np.int64),  # changes of the model that have been processed
        ("opened", np.int64),  # those of them that opened a cell
    ]
)


class Spare(NamedTuple):
    """The space that should be left when a repair begins."""

    nodes: int
    chunks: int


class Discovered(NamedTuple):
    """Levels above the agent's model of its map, repaired as cells of the model close and open.

    There is space for a few more nodes and arcs than were built. If walls break the map up into so many regions that
    little space is left, the agent requests more and gets it before its next move.
    """

    layers: Layers
    built: Layers  # above the map without walls
    work: Work
    belief: Belief
    scalars: npt.NDArray[Any]  # [1], of SEEN
    clock: Clock
    top: int  # the highest level that is repaired
    cover: int
    keep: int
    spare: Spare


Held = Shared | Discovered


class Levels(NamedTuple):
    """The levels of either kind, and buffers to plan on them."""

    held: Held
    route: Route

    @classmethod
    def allocate(cls, space: Space) -> Levels:
        """Return levels above the agent's map up to the parameter ``level``, by its rules ``cover`` and ``keep``."""
        if not isinstance(space.view, Belief):
            layers, repairs = _shared(space)
            held = Shared(layers, repairs, space.changes, space.mind.one(FOLLOWED))
            return cls(held, Route.over(space, layers))
        built, top = _built(space)
        own = built.copied_into(_reserve(space, built, top))
        cover, keep, spare = int(space.params.cover), int(space.params.keep), _spare(space, built)
        scalars = np.zeros(1, SEEN)
        mine = Discovered(own, built, Work.of(own), space.view, scalars, space.clock, top, cover, keep, spare)
        return cls(mine, Route.over(space, own))

    def with_more_room(self, space: Space) -> Levels:
        """Return the same levels, with the space that ``space`` allows for."""
        held = self.held
        assert isinstance(held, Discovered)
        own = held.layers.copied_into(_reserve(space, held.built, held.top))
        route = Route.over(space, own)._replace(ahead=self.route.ahead)
        return Levels(held._replace(layers=own, work=Work.of(own)), route)


def _spare(space: Space, built: Layers) -> Spare:
    """Return the space that should be left, more than the walls that come into sight in one move are likely to need."""
    assert isinstance(space.view, Belief)
    cells = (2 * space.view.radius + 3) ** 2  # the cells whose moves may change
    return Spare(max(len(built.node) // 32, 2 * cells), max(len(built.link) // 32, 4 * cells))


def _reserve(space: Space, built: Layers, top: int) -> Layers:
    """Return empty layers for an agent that discovers its map, with the space that it has requested so far."""
    most, room = most_after_changes(space.graph, top + 1), _room(space, built, top)
    return Layers.reserve(built.shape, *room, log_changes=True, tight=room != most)


def _room(space: Space, built: Layers, top: int) -> tuple[int, int]:
    """Return the space for an agent's levels, as numbers of abstract nodes and of chunks of arcs."""
    nodes, chunks = most_after_changes(space.graph, top + 1)
    spare, factor = _spare(space, built), GROWTH**space.grown
    return (
        min(nodes, int((len(built.node) + 2 * spare.nodes) * factor)),
        min(chunks, int((len(built.link) + 2 * spare.chunks) * factor)),
    )


def _built(space: Space) -> tuple[Layers, int]:
    """Return the levels above the map as the agent initially knows it, and the highest one that it needs."""
    hierarchy = hierarchy_of(space.graph, Cover(space.params.cover))
    return hierarchy.layers, _wanted(space, hierarchy.top)


def _shared(space: Space) -> tuple[Layers, Repairs]:
    """Return the levels above a known map, and the log of repairs."""
    cover, keep = Cover(space.params.cover), Keep(getattr(space.params, "keep", Keep.CONNECTED))
    if not isinstance(space.graph, LivingGraph):
        return _built(space)[0], NEVER_REPAIRED
    highest = getattr(space.params, "level", math.inf)
    levels = levels_of(space.graph, cover, keep, max(highest, 1))  # repairing higher ones would take time
    _wanted(space, levels.top)
    return levels.shown, levels.repairs


def _wanted(space: Space, top: int) -> int:
    """Return the level that the agent plans on; raise `ParameterError` if there is no such level."""
    wanted = int(getattr(space.params, "level", 0))
    if wanted > top:
        raise ParameterError(f"level must be at most {top}, the highest level of this map, got {wanted}")
    return wanted


class Room(NamedTuple):
    """The largest numbers of nodes that may exist at a time."""

    states: int  # on the ground
    nodes: int  # abstract ones, of all levels
    on_level: tuple[int, ...]  # from level 1 on

    def most_on(self, level: int) -> int:
        """Return the largest number of nodes of any level from this one on."""
        return max(self.states if level == 0 else 1, *self.on_level[max(level - 1, 0) :], 0)


def room_of(space: Space) -> Room:
    """Return the largest numbers of nodes on the levels that are allocated for an agent."""
    if isinstance(space.view, Belief):
        built, top = _built(space)
        nodes, _ = _room(space, built, top)
        # No level has more nodes than the one below it.
        return Room(space.states, nodes, tuple(nodes // level for level in range(1, max(top, 1) + 1)))
    built, _ = _shared(space)
    if isinstance(space.graph, LivingGraph):
        return Room(space.states, len(built.node), (space.states,) * (max(int(getattr(space.params, "level", 0)), 1)))
    counts = np.bincount(built.node["level"], minlength=2)
    return Room(space.states, len(built.node), tuple(counts[1:].tolist()))


@generic
def catch_up(held: Held, graph: Layout) -> int:
    """Update the levels to the agent's current ``graph`` and return the highest level that changed.

    Return `UNCHANGED` if none did, `OUT_OF_ROOM` if the update was not possible.
    """
    raise TypeError(held)


@catch_up.of(Shared)
def _follow(held: Shared, graph: Layout) -> int:
    """Read the repairs since the agent's last move from their log."""
    at, number = held.scalars[0], held.repairs.scalars[0]["number"]
    if at["number"] == number:
        return UNCHANGED
    highest = 0
    for level in range(len(held.repairs.level)):
        if held.repairs.level[level] > at["number"]:
            highest = level
    at["number"] = number
    return highest


@catch_up.of(Discovered)
def _repair(held: Discovered, graph: Layout) -> int:
    cells, seen, log = held.belief.cells, held.scalars[0], held.belief.cells.changes
    if seen["problem"] != held.clock[0]["problem"]:
        restore(held.layers, held.built)
        seen["problem"], seen["changes"] = held.clock[0]["problem"], held.belief.scalars[0]["first"]
    if log.scalars[0]["total"] == seen["changes"]:
        return UNCHANGED
    if can_look_up(log, seen["changes"]):
        for k in range(seen["changes"], log.scalars[0]["total"]):
            cell = changed_cell(log, k)
            mark_around(cells.graph, held.work, max(cell, ~cell))
    else:  # there were more changes than cells, so the levels were restored
        for cell in range(len(cells.passable)):
            if not cells.passable[cell]:
                mark_around(cells.graph, held.work, cell)
    seen["changes"] = log.scalars[0]["total"]
    changed = repair(held.layers, graph, held.work, held.top, held.cover, held.keep)
    if not has_room(held.layers, held.spare.nodes, held.spare.chunks):
        ask_for_room(held.belief)
    if held.layers.scalars[0]["short"] != 0:
        ask_for_room(held.belief)
        seen["problem"] = -1
        return OUT_OF_ROOM
    return changed


@generic
def is_short_of_room(held: Held) -> bool:
    """Return whether the last repair was abandoned for lack of space."""
    raise TypeError(held)


@is_short_of_room.of(Shared)
def _never_short(held: Shared) -> bool:
    return False


@is_short_of_room.of(Discovered)
def _is_short(held: Discovered) -> bool:
    return held.layers.scalars[0]["short"] != 0


@generic
def is_behind(held: Held) -> bool:
    """Return whether the levels lag behind the map, so that they may miss a path that exists."""
    raise TypeError(held)


@is_behind.of(Shared)
def _has_more_to_repair(held: Shared) -> bool:
    return held.repairs.scalars[0]["version"] != held.changes.scalars[0]["total"]


@is_behind.of(Discovered)
def _never_behind(held: Discovered) -> bool:
    return False


@generic
def look_for_openings(held: Held, ahead: Ahead, graph: Layout, state: int, goal: int) -> None:
    """Drop the route if a cell of the map was opened and a path past it may be much cheaper."""
    raise TypeError(held)


@look_for_openings.of(Shared)
def _look_at_the_map(held: Shared, ahead: Ahead, graph: Layout, state: int, goal: int) -> None:
    drop_if_outdated(ahead, held.changes, graph, state, goal)


@look_for_openings.of(Discovered)
def _nothing_to_look_for(held: Discovered, ahead: Ahead, graph: Layout, state: int, goal: int) -> None:
    """Do nothing, as a new trial begins when an agent that discovers its map finds a cell open."""


@generic
def has_opened(held: Held) -> bool:
    """Return whether a cell below the levels was opened since the last call."""
    raise TypeError(held)


@has_opened.of(Shared)
def _has_opened_on_the_map(held: Shared) -> bool:
    at, opened = held.scalars[0], held.repairs.scalars[0]["opened"]
    before, at["opened"] = at["opened"], opened
    return before != opened


@has_opened.of(Discovered)
def _has_opened_in_the_model(held: Discovered) -> bool:
    at, opened = held.scalars[0], held.belief.cells.changes.scalars[0]["opened"]
    before, at["opened"] = at["opened"], opened
    return before != opened


@generic
def removed_count(held: Held) -> int:
    """Return the number of removed nodes whose values the agent has yet to forget; -1 if there are too many."""
    raise TypeError(held)


@removed_count.of(Shared)
def _count_removed_by_all(held: Shared) -> int:
    removed = held.repairs.scalars[0]["removed"] - held.scalars[0]["removed"]
    return removed if removed <= MOST_REMOVED else -1


@removed_count.of(Discovered)
def _count_removed(held: Discovered) -> int:
    return count(held.work, DEAD)


@generic
def removed_node(held: Held, k: int) -> int:
    """Return the ``k``-th removed node whose values the agent has yet to forget."""
    raise TypeError(held)


@removed_node.of(Shared)
def _kth_removed_by_all(held: Shared, k: int) -> int:
    return int64(held.repairs.removed[(held.scalars[0]["removed"] + k) & (len(held.repairs.removed) - 1)])


@removed_node.of(Discovered)
def _kth_removed(held: Discovered, k: int) -> int:
    return item(held.work, DEAD, k)


@generic
def note_removed(held: Held) -> None:
    """Record that the agent has forgotten the values of these nodes."""
    raise TypeError(held)


@note_removed.of(Shared)
def _note_removed_by_all(held: Shared) -> None:
    held.scalars[0]["removed"] = held.repairs.scalars[0]["removed"]


@note_removed.of(Discovered)
def _nothing_to_note(held: Discovered) -> None:
    pass


# --- the end of a plan ----------------------------------------------------------------------------------------------


@kernel
def child_towards(levels: Levels, within: Corridor, goal: int) -> int:
    """Return the state in which a search below the route should end.

    This is ``goal`` if it is below the route's last node, else the state below it that is nearest to that node's point.
    """
    end = int64(levels.route.node[0])
    if ancestor(within.layers, goal, within.up) == end:
        return goal
    if within.layers.node[end - within.layers.ground]["level"] == within.up:
        return _centre(levels.held, within.graph, end, levels.route.spot[0])
    return _nearest_child(levels.route, within, end)


@generic
def _centre(held: Held, ground: Layout, node: int, spot: npt.NDArray[np.float64]) -> int:
    """Return the ground state nearest to a node's point."""
    raise TypeError(held)


@_centre.of(Shared)
def _known_centre(held: Shared, ground: Layout, node: int, spot: npt.NDArray[np.float64]) -> int:
    centre = int64(held.layers.node[node - held.layers.ground]["centre"]) - 1
    return centre if centre >= 0 else find_centre(held.layers, ground, node, spot)  # repaired since


@_centre.of(Discovered)
def _kept_centre(held: Discovered, ground: Layout, node: int, spot: npt.NDArray[np.float64]) -> int:
    return keep_centre(held.layers, ground, node, spot)


@kernel
def _nearest_child(route: Route, within: Corridor, node: int) -> int:
    """Return the child, one level below, whose point is nearest to its parent's; ties go to the lowest number."""
    layers, centre = within.layers, route.spot[0]
    weight = weigh(within, node, centre)
    for axis in range(len(centre)):
        centre[axis] /= weight
    best, least, child, slack = -1, np.inf, first_child(layers, node), TOLERANCE * unit(within) ** 2
    while child >= 0:
        place, apart = route.spot[1], 0.0
        weight = weigh(within, child, place)
        for axis in range(len(place)):
            apart += (place[axis] / weight - centre[axis]) ** 2
        if apart < least - slack or (apart < least + slack and child < best):
            best, least = child, apart
        child = next_child(layers, child)
    return best
