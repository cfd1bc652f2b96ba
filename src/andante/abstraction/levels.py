"""The levels as an agent holds them: shared above a known map, private and repaired above one that it discovers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.centres import keep_centre
from andante.abstraction.clique import CHANGED, DEAD, Cover, Work, count, item, put, weigh
from andante.abstraction.corridor import Corridor, Route
from andante.abstraction.hierarchy import hierarchy_of, most_after_changes
from andante.abstraction.layers import Layers, ancestor, first_child, has_room, next_child, restore
from andante.abstraction.repair import repair
from andante.errors import ParameterError
from andante.kernel import generic, int64, kernel
from andante.search.memory import Clock, Space
from andante.world.heuristics import TOLERANCE
from andante.world.layout import COUNT, DIRECTION, Layout, unit
from andante.world.sensing import Belief, ask_for_room, walls_found

UNCHANGED = -1  # not even the ground has changed
OUT_OF_ROOM = -2  # the levels could not be repaired: they are restored and repaired again when there is more room

GROWTH = 1.5  # of the room, when little is left


class Fixed(NamedTuple):
    """Levels above a known map; they never change."""

    layers: Layers


SEEN = np.dtype(
    [
        ("problem", np.int64),
        ("walls", np.int64),  # cells found blocked in it that have been processed
    ]
)


class Spare(NamedTuple):
    """How much room should be left when a repair begins."""

    nodes: int
    chunks: int


class Discovered(NamedTuple):
    """Levels above the agent's model of its map, which are updated as the model loses cells.

    There is room for a few more nodes and arcs than were built. If walls break up so many regions that little of it is
    left, the agent asks for more, and gets it before its next move.
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


class Levels(NamedTuple):
    """The levels of either kind, and buffers to plan on them."""

    held: Fixed | Discovered
    route: Route

    @classmethod
    def allocate(cls, space: Space) -> Levels:
        """Return the levels above the agent's map up to the parameter ``level``, by rules ``cover`` and ``keep``."""
        built, top = _built(space)
        if not isinstance(space.view, Belief):
            return cls(Fixed(built), Route.over(space, built))
        own = built.copied_into(_reserve(space, built, top))
        cover, keep, spare = int(space.params.cover), int(space.params.keep), _spare(space, built)
        scalars = np.zeros(1, SEEN)
        held = Discovered(own, built, Work.of(own), space.view, scalars, space.clock, top, cover, keep, spare)
        return cls(held, Route.over(space, own))

    def with_more_room(self, space: Space) -> Levels:
        """Return the same levels, with the room that ``space`` allows for."""
        held = self.held
        assert isinstance(held, Discovered)
        own = held.layers.copied_into(_reserve(space, held.built, held.top))
        route = Route.over(space, own)._replace(ahead=self.route.ahead)
        return Levels(held._replace(layers=own, work=Work.of(own)), route)


def _spare(space: Space, built: Layers) -> Spare:
    """Return how much room should be left: more than the walls that one move brings into sight are likely to need."""
    assert isinstance(space.view, Belief)
    cells = (2 * space.view.radius + 3) ** 2  # whose moves may change
    return Spare(max(len(built.node) // 32, 2 * cells), max(len(built.link) // 32, 4 * cells))


def _reserve(space: Space, built: Layers, top: int) -> Layers:
    """Return empty layers for an agent that discovers its map, with as much room as it has asked for so far."""
    most, room = most_after_changes(space.graph, top + 1), _room(space, built, top)
    return Layers.reserve(built.shape, *room, log_changes=True, tight=room != most)


def _room(space: Space, built: Layers, top: int) -> tuple[int, int]:
    """Return for how many abstract nodes and chunks of arcs that is."""
    nodes, chunks = most_after_changes(space.graph, top + 1)
    spare, factor = _spare(space, built), GROWTH**space.grown
    return (
        min(nodes, int((len(built.node) + 2 * spare.nodes) * factor)),
        min(chunks, int((len(built.link) + 2 * spare.chunks) * factor)),
    )


def _built(space: Space) -> tuple[Layers, int]:
    """Return the levels above what the agent initially knows of its map, and the highest one that it needs."""
    hierarchy = hierarchy_of(space.graph, Cover(space.params.cover))
    wanted = getattr(space.params, "level", 0)
    if wanted > hierarchy.top:
        raise ParameterError(
            f"level must be at most {hierarchy.top} on this map, which has no more levels; got {wanted}"
        )
    return hierarchy.layers, wanted


class Room(NamedTuple):
    """How many nodes there may be at a time."""

    states: int  # on the ground
    nodes: int  # abstract ones, of all levels
    on_level: tuple[int, ...]  # from level 1 on

    def most_on(self, level: int) -> int:
        """Return the largest number of nodes of any level from this one on."""
        return max(self.states if level == 0 else 1, *self.on_level[max(level - 1, 0) :], 0)


def room_of(space: Space) -> Room:
    """Return how many nodes there may be on the levels that are allocated for an agent."""
    built, top = _built(space)
    if isinstance(space.view, Belief):
        nodes, _ = _room(space, built, top)
        # No level has more nodes than the one below it.
        return Room(space.states, nodes, tuple(nodes // level for level in range(1, max(top, 1) + 1)))
    counts = np.bincount(built.node["level"], minlength=2)
    return Room(space.states, len(built.node), tuple(counts[1:].tolist()))


@generic
def catch_up(held: Fixed | Discovered, graph: Layout) -> int:
    """Update the levels to the agent's current ``graph``; return the highest that changed, `UNCHANGED` if none did.

    `OUT_OF_ROOM` if that was not possible.
    """
    raise TypeError(held)


@catch_up.of(Fixed)
def _nothing_changed(held: Fixed, graph: Layout) -> int:
    return UNCHANGED


@catch_up.of(Discovered)
def _mend(held: Discovered, graph: Layout) -> int:
    belief, seen, walls = held.belief, held.scalars[0], walls_found(held.belief)
    if seen["problem"] != held.clock[0]["problem"]:
        restore(held.layers, held.built)
        seen["problem"], seen["walls"] = held.clock[0]["problem"], 0
    if walls == seen["walls"]:
        return UNCHANGED
    for k in range(seen["walls"], walls):
        cell = int64(belief.found[k])
        put(held.work, CHANGED, cell)
        around = belief.free[cell]
        for d in range(COUNT[around]):
            put(held.work, CHANGED, cell + belief.model.offset[DIRECTION[around, d]])
    seen["walls"] = walls
    changed = repair(held.layers, graph, held.work, held.top, held.cover, held.keep)
    if not has_room(held.layers, held.spare.nodes, held.spare.chunks):
        ask_for_room(belief)
    if held.layers.scalars[0]["short"] != 0:
        ask_for_room(belief)
        seen["problem"] = -1
        return OUT_OF_ROOM
    return changed


@generic
def is_short_of_room(held: Fixed | Discovered) -> bool:
    """Return whether the last repair was abandoned for lack of room."""
    raise TypeError(held)


@is_short_of_room.of(Fixed)
def _never_short(held: Fixed) -> bool:
    return False


@is_short_of_room.of(Discovered)
def _is_short(held: Discovered) -> bool:
    return held.layers.scalars[0]["short"] != 0


@generic
def removed_count(held: Fixed | Discovered) -> int:
    """Return the number of nodes that the last repair removed."""
    raise TypeError(held)


@removed_count.of(Fixed)
def _none_removed(held: Fixed) -> int:
    return 0


@removed_count.of(Discovered)
def _count_removed(held: Discovered) -> int:
    return count(held.work, DEAD)


@generic
def removed_node(held: Fixed | Discovered, k: int) -> int:
    """Return the ``k``-th of the nodes that the last repair removed."""
    raise TypeError(held)


@removed_node.of(Fixed)
def _no_such_node(held: Fixed, k: int) -> int:
    return 0


@removed_node.of(Discovered)
def _kth_removed(held: Discovered, k: int) -> int:
    return item(held.work, DEAD, k)


# --- the end of a plan ----------------------------------------------------------------------------------------------


@kernel
def child_towards(levels: Levels, within: Corridor, goal: int) -> int:
    """Return where a search below the route should end: in ``goal`` if it is below the route's last node.

    Otherwise it is the state there that is nearest to the last node's point.
    """
    end = int64(levels.route.node[0])
    if ancestor(within.layers, goal, within.up) == end:
        return goal
    if within.layers.node[end - within.layers.ground]["level"] == within.up:
        return _centre(levels.held, within.graph, end)
    return _nearest_child(levels.route, within, end)


@generic
def _centre(held: Fixed | Discovered, ground: Layout, node: int) -> int:
    """Return the ground state nearest to a node's point."""
    raise TypeError(held)


@_centre.of(Fixed)
def _known_centre(held: Fixed, ground: Layout, node: int) -> int:
    return int64(held.layers.node[node - held.layers.ground]["centre"]) - 1


@_centre.of(Discovered)
def _kept_centre(held: Discovered, ground: Layout, node: int) -> int:
    return keep_centre(held.layers, ground, node, held.work.spot)


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
