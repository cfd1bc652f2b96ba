"""Building of pattern databases: for each pair of regions, the next state to go to and how deep to look ahead.

Bulitko, Luštrek, Schaeffer, Björnsson and Sigmundarson (2008), Figures 6 and 8; line numbers refer to Figure 6. The
paper computes a depth for each pair of regions. But the depth towards a subgoal depends only on the region and the
subgoal, and a few dozen subgoals lead from one region to all others. So distances are computed once per region and
depths once per region and subgoal: what took the paper 13 hours takes seconds. Depths towards the goal itself (Appendix
D) are optional, and are still computed for each pair. As in the paper (Appendix C), a database can be built for the
columns of given goals only.

Where the paper is silent: a region is represented by its state nearest to its centre or, with the aim `far`, by the
corner of a wall if it has one. The other aims follow one of several optimal paths, a central one: each step goes to the
neighbour from which most of them continue. The path whose moves are first in the graph's order would run along the edge
of all optimal paths, and so along obstacles, and agents would walk farther. Within one region the agent looks one move
ahead.

Regions are made in `division`, subgoals chosen in `aims` and `far`, and tables packed in `packing`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import DEFAULT_COVER, hierarchy_of
from andante.agent import Range
from andante.databases.pattern import DEEPEST, HIGHEST, MOST_COLUMNS, NO_STATE, UNSERVED, Pattern, ancestors, order_for
from andante.errors import ParameterError
from andante.kernel import int64, kernel
from andante.notation import Word
from andante.offline.aims import NO_GOAL, Aim, Destination, follow_paths
from andante.offline.builder import Crew, Goals, Making, builder
from andante.offline.climbs import Parts, Regions, no_parts, no_regions, parts_of, regions_of
from andante.offline.division import Ground, States, along_a_curve, at_corners, levels, squares, tiles
from andante.offline.far import Desk, Legs, choose_vias, go_far, legs_of, no_legs
from andante.offline.packing import Choices, packed, runs_of
from andante.search.astar import Tree, cost_to, reached, search
from andante.search.dijkstra import Field, spread
from andante.search.learning import Learned
from andante.search.lookahead import Ball, deepen, look, most_states
from andante.search.memory import new_space, set_problem
from andante.search.pathcounts import Paths, count_paths
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Layout, Moves, degree, price, target, unit

SIDE = 8  # default side of tiles
GOAL_SIDE = 8  # least side of tiles for goals
WIDE = 2  # for agents far away, goals are in squares this many times as wide
NEAR = 100  # the least number of moves from a goal within which agents have subgoals for the goal's own region
LEVEL = 3  # default level of regions, if states have no places or the agent plans on a level
REACH = 60
MOST_BYTES = 8_000_000_000  # the limit for the tables
GOALS = 32  # neighbouring regions of goals that a thread processes at a time
PART = 4  # regions that a thread processes at a time

Costs = npt.NDArray[np.float64]


class GoalDepths(Word):
    """The depths towards the goal itself that are stored."""

    CAPPED = 0
    UNCAPPED = 1


class Params(NamedTuple):
    """The size of the regions, and the data stored for each pair."""

    side: Annotated[int | None, Range(1, 1000), "side of the square tiles that are the regions; 8 without level"] = None
    level: Annotated[int | None, Range(0, HIGHEST), "level of the hierarchy whose nodes are the regions"] = None
    aim: Annotated[Aim | None, "the state that is the subgoal; none: far, or nearer if base is set"] = None
    reach: Annotated[int, Range(1, 10_000), "far: roughly the most moves to a subgoal"] = REACH
    cap: Annotated[int, Range(1, DEEPEST), "the greatest depth"] = 20
    goal_depths: Annotated[GoalDepths | None, "also store depths towards the goal itself"] = None
    base: Annotated[int, Range(0, HIGHEST), "the level on which the agent plans; 0 is the map itself"] = 0
    cover: Annotated[Cover, "how cliques are chosen"] = DEFAULT_COVER
    goals: Annotated[Goals, "the goals that it serves: all, or those given when it is built"] = Goals.ALL


class Room(NamedTuple):
    """The buffers of one thread."""

    field: Field
    paths: Paths
    desk: Desk
    tree: Tree
    ball: Ball
    unlearned: Learned
    costs: Costs  # [most moves of a state]


class Known(NamedTuple):
    """The regions of agents, the regions of goals, and the states of both."""

    ground: Ground
    ends: Ground
    wide: Ground  # larger regions of goals, for agents far away
    regions: Regions
    parts: Parts
    legs: Legs


@builder("pattern", Params, variants=("pattern(side=32)", "pattern(side=64)"), order_for=order_for)
def make(graph: Graph, params: Params, crew: Crew, goals: npt.NDArray[np.int64] | None) -> Making[Pattern]:
    """Return the tables for ``graph``, or for a level above it, and for these ``goals``, or for all goals."""
    if params.aim is None:
        params = params._replace(aim=Aim.NEARER if params.base > 0 else Aim.FAR)
    ground, ends, wide = yield from _grounds(graph, params)
    yield
    asked = _in_order(ends, wide, _asked_regions(graph, ends, params, goals))
    _refuse_too_many(params, (len(asked), len(ground.representative)))
    known = Known(ground, ends, wide, no_regions(), no_parts(), no_legs())
    if params.aim is Aim.FAR:
        regions = regions_of(ground)
        yield
        legs = yield from legs_of(ground, regions, params.reach, crew)
        known = Known(ground, ends, wide, regions, parts_of(ends), legs)
    rooms = [_room(ground, params) for _ in range(crew.threads)]
    entry, goal_depth = yield from _entries(known, params, crew, rooms, asked)
    choices = yield from packed(entry)
    via, depth = yield from _vias_and_depths(known, params, crew, rooms, choices)
    special = np.flatnonzero((via != NO_STATE) | (depth > 1)).astype(np.int32)
    column = np.full(len(ends.representative) + 1, UNSERVED, np.int32)
    column[asked], column[-1] = np.arange(len(asked)), NO_STATE  # the last is for states in no region
    columns = column[np.maximum(ends.region, -1)]
    region, subgoal, via, states = ground.region, choices.subgoal, via[special], len(ground.graph)
    if params.base > 0:  # states are numbered as the hierarchy's nodes
        hierarchy = hierarchy_of(graph, params.cover)
        nodes, states = hierarchy.nodes(params.base), len(hierarchy.layers.family)
        region, columns = (_over(states, nodes, some) for some in (region, columns))
        subgoal, via = (np.where(some == NO_STATE, NO_STATE, nodes[some]).astype(np.int32) for some in (subgoal, via))
    return Pattern(
        *runs_of(region),
        *runs_of(columns),
        choices.row,
        choices.span,
        choices.palette,
        subgoal,
        special,
        via,
        depth[special],
        goal_depth,
        np.array([params.cap]),
        *(np.array([one], np.int64) for one in (params.base, params.cover, states)),
    )


def _over(states: int, nodes: States, some: States) -> States:
    """Return an array over all states with these values at ``nodes``, and NO_STATE elsewhere."""
    spread_out = np.full(states, NO_STATE, np.int32)
    spread_out[nodes] = some
    return spread_out


def _grounds(graph: Graph, params: Params) -> Making[tuple[Ground, Ground, Ground]]:
    """Return the graph that the agent plans on, divided into its own regions, into those of goals, and wide ones."""
    side = params.side
    if side is not None and (params.level is not None or params.base > 0):
        raise ParameterError("regions are tiles (side) or the nodes of a level (level, base), not both")
    if side is None and params.level is None and params.base == 0 and graph.dimensions == 2:
        side = SIDE
    if side is None:
        level = max(LEVEL, params.base) if params.level is None else params.level
        ground = levels(hierarchy_of(graph, params.cover), level, params.base)
        return ground, ground, ground
    goal_side = max(side, GOAL_SIDE)
    ground = yield from tiles(graph, side)
    ends = ground if side == goal_side else (yield from tiles(graph, goal_side))
    yield
    if params.aim is not Aim.FAR:
        return ground, ends, ends
    ground, ends = (at_corners(ground),) * 2 if ends is ground else (at_corners(ground), at_corners(ends))
    yield
    return ground, ends, ends if params.goal_depths is not None else (yield from squares(graph, WIDE * goal_side))


def _in_order(ends: Ground, wide: Ground, asked: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return regions of goals so that neighbours, and those in the same wide region, follow each other."""
    asked = along_a_curve(ends, asked)
    group = wide.region[ends.representative[asked]]
    rank = np.zeros(len(wide.representative), np.int64)
    groups = along_a_curve(wide, np.unique(group).astype(np.int64))
    rank[groups] = np.arange(len(groups))
    return asked[np.argsort(rank[group], kind="stable")]


def _asked_regions(
    graph: Graph, ends: Ground, params: Params, goals: npt.NDArray[np.int64] | None
) -> npt.NDArray[np.int64]:
    """Return the regions that contain these goals, or all regions."""
    if goals is None:
        return np.arange(len(ends.representative))
    state = ancestors(graph, params.cover, params.base, goals)
    if params.base > 0:
        state = np.searchsorted(hierarchy_of(graph, params.cover).nodes(params.base), state[state >= 0])
    regions = np.unique(ends.region[state])
    return regions[regions >= 0].astype(np.int64)


def _room(ground: Ground, params: Params) -> Room:
    graph, regions = ground.graph, len(ground.representative) if params.aim is Aim.FAR else 0
    space = new_space(graph, None)
    deepest = DEEPEST if params.goal_depths is GoalDepths.UNCAPPED else params.cap
    ties = not isinstance(graph.arrays, Moves)
    unlearned = Learned.allocate(space)
    set_problem(unlearned.clock[0], 1, 0)  # no stamp has this number, so no value counts as learned
    n = len(graph)
    return Room(
        Field.over(graph),
        Paths.over(graph),
        Desk.over(n, regions),
        Tree.allocate(space),
        Ball.over(n, most_states(graph.arrays, deepest, n), *graph.cost_range, ties=ties),
        unlearned,
        np.zeros(max(1, graph.max_degree)),
    )


# --- where to go ----------------------------------------------------------------------------------------------------


def _entries(
    known: Known, params: Params, crew: Crew, rooms: list[Room], asked: npt.NDArray[np.int64]
) -> Making[tuple[States, npt.NDArray[np.uint16]]]:
    """Return the subgoal from each region to each requested one, and the depth towards the goal if wanted."""
    ground, ends = known.ground, known.ends
    pairs = (len(asked), len(ground.representative))  # to, from: each row is written by one thread
    wanted = params.goal_depths is not None
    entry = np.full(pairs, NO_STATE, np.int32)
    depth = np.zeros(pairs if wanted else (0, 0), np.uint16)
    deepest = DEEPEST if params.goal_depths is GoalDepths.UNCAPPED else params.cap

    def work(room: Room, columns: range) -> Making[None]:
        room.desk.recent[:] = -1  # results must not depend on the division of work between threads
        for group in _split(bounds, columns):
            near = _go_from_afar(known, params, room, asked[group], entry[group])
            yield
            for column, within in zip(range(group.start, group.stop), near, strict=True):
                goal = int(asked[column])
                there = _destination(known, params, room, int(ends.representative[goal]), goal, within)
                _go(known, params, room, there, entry[column])
                if wanted:
                    _goal_depths(room, ground.graph.arrays, there, deepest, depth[column])
                yield

    group = known.wide.region[ends.representative[asked]]
    bounds = np.flatnonzero(np.diff(group, prepend=-1, append=-1))
    size = 1 if wanted else GOALS  # depths of one column may take a second
    yield from crew.each(work, _joined(bounds, size), rooms, "choosing subgoals between regions")
    return entry.T, np.ascontiguousarray(depth.T)


def _refuse_too_many(params: Params, pairs: tuple[int, int]) -> None:
    table_bytes = (6 if params.goal_depths is not None else 4) * pairs[0] * pairs[1]
    if table_bytes > MOST_BYTES or pairs[0] >= MOST_COLUMNS:
        raise ParameterError(
            f"tables from {pairs[1]:,} regions to {pairs[0]:,} regions of goals would need {table_bytes / 1e9:.1f} GB, "
            f"and the limits are {MOST_BYTES / 1e9:.0f} GB and {MOST_COLUMNS - 1:,} regions of goals; use larger "
            "regions (side, level), or build it for given goals (goals=asked)"
        )


def _joined(bounds: npt.NDArray[np.int64], size: int) -> list[range]:
    """Return ranges of whole groups of columns, each with this many columns or a few more."""
    parts, first = [], 0
    for bound in bounds[1:].tolist():
        if bound - first >= size or bound == bounds[-1]:
            parts.append(range(first, bound))
            first = bound
    return parts


def _split(bounds: npt.NDArray[np.int64], columns: range) -> list[slice]:
    """Return the groups that these columns consist of."""
    inside = bounds[(bounds >= columns.start) & (bounds <= columns.stop)].tolist()
    return [slice(begin, end) for begin, end in pairwise(inside)]


def _go_from_afar(known: Known, params: Params, room: Room, goals: npt.NDArray[np.int64], entry: States) -> Costs:
    """Find subgoals for agents far from these goals, all in one wide region, and return a distance for each goal.

    Agents nearer to a goal than this distance have subgoals for the goal's own region, and stay with these: they only
    go to regions that are nearer still. The others approach the middle of the wide region, where all goals are near.
    """
    if known.wide is known.ends:
        return np.full(len(goals), np.inf)
    ground, ends = known.ground, known.ends.representative[goals]
    there = _destination(
        known, params, room, int(known.wide.representative[known.wide.region[ends[0]]]), NO_GOAL, np.inf
    )
    apart = there.distance[ends]
    centre = there.distance[ground.representative[there.home]]
    near: Costs = np.maximum(NEAR * ground.graph.unit, apart + centre)
    _go(known, params, room, there._replace(beyond=float((near - apart).min())), entry[0])
    entry[1:] = entry[0]
    return near + TOLERANCE * ground.graph.unit  # sums of the same costs may differ by rounding


def _go(known: Known, params: Params, room: Room, there: Destination, entry: States) -> None:
    """Find the subgoals of one column."""
    arrays = known.ground.graph.arrays
    if params.aim is Aim.FAR:
        away = there.distance[there.representative]
        inside = np.flatnonzero(away <= min(there.within, np.finfo(np.float64).max))
        nearest = inside[np.argsort(away[inside], kind="stable")]
        go_far(room.desk, arrays, known.regions, known.parts, known.legs, there, nearest, params.reach, entry)
    else:
        follow_paths(room.paths, arrays, there, int(params.aim or 0), entry)


def _destination(known: Known, params: Params, room: Room, end: int, goal: int, within: float) -> Destination:
    """Return the distances to ``end``, and count paths if they are needed."""
    ground = known.ground
    reached = spread(room.field, ground.graph, end, within)  # line 5
    distance = room.field.distance
    if params.aim is not Aim.FAR:
        count_paths(room.paths, ground.graph.arrays, distance, room.field.order, reached)
    return Destination(ground.region, ground.representative, distance, end, int(ground.region[end]), goal, -1.0, within)


# --- how to get there -----------------------------------------------------------------------------------------------


def _vias_and_depths(
    known: Known, params: Params, crew: Crew, rooms: list[Room], choices: Choices
) -> Making[tuple[States, npt.NDArray[np.uint16]]]:
    """Return, for each subgoal of each region, the hub to go through, if any, and the depth."""
    ground = known.ground
    via, depth = np.full(len(choices.subgoal), NO_STATE, np.int32), np.ones(len(choices.subgoal), np.uint16)
    arrays, far = ground.graph.arrays, params.aim is Aim.FAR

    def work(room: Room, starts: range) -> None:
        for start in starts:
            mine = slice(choices.palette[start], choices.palette[start + 1])
            aims, state = choices.subgoal[mine], int(ground.representative[start])
            if far:
                aims = aims.copy()
                choose_vias(room.desk.attempts, arrays, known.regions, start, state, aims, via[mine])
            _near_depths(room, arrays, state, aims, params.cap, depth[mine])

    parts = crew.parts(len(ground.representative), PART)
    yield from crew.each(work, parts, rooms, "computing depths")
    return via, depth


@kernel
def _near_depths(room: Room, graph: Layout, state: int, aims: States, cap: int, depth: npt.NDArray[np.uint16]) -> None:
    """Compute the optimal depth from ``state`` towards each of these states except NO_STATE."""
    for i in range(len(aims)):
        aim = int64(aims[i])
        if aim in (NO_STATE, state):
            continue
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            search(room.tree, graph, near, aim, 1.0)
            rest = cost_to(room.tree, aim) if reached(room.tree, aim) else np.inf
            room.costs[k] = price(graph, state, k) + rest
        depth[i] = _optimal_depth(room, graph, state, aim, cap)


@kernel
def _goal_depths(room: Room, graph: Layout, there: Destination, deepest: int, depth: npt.NDArray[np.uint16]) -> None:
    """Compute the optimal depth from each region's representative towards a destination's end."""
    for start in range(len(there.representative)):
        state = int64(there.representative[start])
        depth[start] = 1
        if start == there.home or there.distance[state] == np.inf:
            continue
        for k in range(degree(graph, state)):
            room.costs[k] = price(graph, state, k) + there.distance[target(graph, state, k)]
        depth[start] = _optimal_depth(room, graph, state, there.end, deepest)


@kernel
def _optimal_depth(room: Room, graph: Layout, state: int, aim: int, deepest: int) -> int:
    """Return the least depth at which LRTA* makes an optimal move by ``room.costs``; ``deepest`` if there is none."""
    least = np.inf
    for k in range(degree(graph, state)):
        least = min(least, room.costs[k])
    enough = least + TOLERANCE * unit(graph)
    depth, size = 1, 0
    seen = look(room.ball, graph, room.unlearned, state, aim, 1, 1.0)
    while room.costs[seen.first] > enough and depth < deepest - 1 and seen.size > size:
        depth, size = depth + 1, seen.size
        seen = deepen(room.ball, graph, room.unlearned, aim, 1.0, seen)
    return depth if room.costs[seen.first] <= enough else deepest
