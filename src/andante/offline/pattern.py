"""Build a pattern database: for each pair of regions, the next state to go to and how deep to look on the way.

Bulitko, Luštrek, Schaeffer, Björnsson and Sigmundarson (2008), Figures 6 and 8; line numbers are Figure 6's. The paper
computes a depth for each pair of regions. But the depth towards a subgoal depends on nothing but the region and the
subgoal, and from one region a few dozen subgoals lead to all others: so distances are computed once per region, depths
once per region and subgoal, and what took the paper 13 hours takes seconds. Depths towards the goal itself (Appendix D)
are optional, and remain one for each pair. As the paper did (Appendix C), one may build the columns of those goals only
that will be asked for.

Where the paper is silent: a region is represented by its state nearest to its centre; of several optimal paths a
central one is taken, from each state on to the neighbour from which most of them lead on; within one region the agent
looks one move ahead. The path whose moves come first in the graph's order would lead along the edge of all optimal
paths, and so along obstacles: with it agents walk farther.

The paper's subgoals can lead in circles: where a path only cuts across a region, that region's own path may lead back.
On maps of WarCraft III a few pairs in a thousand do, and up to a tenth of all pairs lead into such a circle. Beyond the
paper ``aim=nearer`` goes on to the first region that is nearer to the goal, which rules circles out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import DEFAULT_COVER, hierarchy_of
from andante.agent import Range
from andante.databases.pattern import DEEPEST, HIGHEST, MOST_COLUMNS, NO_STATE, Pattern, ancestors
from andante.errors import ParameterError
from andante.kernel import int64, kernel
from andante.offline.builder import Crew, Goals, builder
from andante.offline.climbs import (
    Answers,
    Attempts,
    Regions,
    all_covered,
    best_hub,
    is_covered,
    is_reached,
    new_answers,
    no_regions,
    regions_of,
)
from andante.offline.division import Ground, States, along_a_curve, has_places, levels, tiles
from andante.search.astar import Tree, reached, search
from andante.search.dijkstra import Field, Paths, central_step, count_paths, spread
from andante.search.learning import Learned
from andante.search.lookahead import Ball, deepen, look, most_states
from andante.search.memory import new_space
from andante.world.graph import Graph, Layout, Moves, degree, price, target, unit
from andante.world.heuristics import TOLERANCE

SIDE = 16  # of the tiles that are the regions if nothing else is said ...
LEVEL = 3  # ... and the level, where states have no places or the agent plans over regions
REACH = 60
PATIENCE = 3  # states in a row that a region cannot climb to, before farther ones are given up
MOST_BYTES = 8_000_000_000  # of the tables
PART = 4  # regions that a thread takes at a time

Costs = npt.NDArray[np.float64]


class Aim(IntEnum):
    """Which state of the next region is the subgoal."""

    ENTRY = 0  # where the way enters it
    CENTRE = 1  # its representative
    NEARER = 2  # where the way enters the first region whose representative is nearer to the goal
    FAR = 3  # the farthest state on the way that everybody in the region can climb straight to


_CENTRE, _NEARER, _FAR = int(Aim.CENTRE), int(Aim.NEARER), int(Aim.FAR)


class GoalDepths(IntEnum):
    """Which depths towards the goal itself are stored."""

    CAPPED = 0
    UNCAPPED = 1


class Params(NamedTuple):
    """How large the regions are, and what is stored of each pair."""

    side: Annotated[int | None, Range(1, 1000), "of the square tiles that regions are made of; 16 without level"] = None
    level: Annotated[int | None, Range(0, HIGHEST), "of the hierarchy, whose states are the regions"] = None
    aim: Annotated[Aim | None, "which state on the way to go to; none: far, over regions nearer"] = None
    reach: Annotated[int, Range(1, 10_000), "far: how many moves away a subgoal may be, about"] = REACH
    cap: Annotated[int, Range(1, DEEPEST), "the greatest depth"] = 20
    goal_depths: Annotated[GoalDepths | None, "depths towards the goal itself to store as well"] = None
    base: Annotated[int, Range(0, HIGHEST), "the level on which the agent plans; 0 is the map itself"] = 0
    cover: Annotated[Cover, "how cliques are chosen"] = DEFAULT_COVER
    goals: Annotated[Goals, "which goals it serves: all, or those given when it is built"] = Goals.ALL


class Room(NamedTuple):
    """What one thread needs."""

    field: Field
    paths: Paths
    tree: Tree
    ball: Ball
    unlearned: Learned
    costs: Costs  # [most moves of a state]
    attempts: Attempts
    onward: npt.NDArray[np.int64]  # [n], the next state on the central path, and in the upper half the goal it is for
    trail: States  # [n], states on the way, the nearest first
    straight: States  # [n], by region: the goal that everybody in it can climb to


@builder("pattern", Params)
def make(graph: Graph, params: Params, crew: Crew, goals: npt.NDArray[np.int64] | None) -> Pattern:
    """The tables for ``graph``, or for a level above it; for these ``goals``, or for all."""
    if params.aim is None:
        params = params._replace(aim=Aim.NEARER if params.base > 0 else Aim.FAR)
    ground = _ground(graph, params)
    asked = along_a_curve(ground, _asked_regions(graph, ground, params, goals))
    answers = new_answers(len(ground.representative) if params.aim is Aim.FAR else 0)
    rooms = [_room(ground.graph, params, answers) for _ in range(crew.threads)]
    regions = regions_of(ground, rooms[0].attempts) if params.aim is Aim.FAR else no_regions()
    entry, goal_depth = _entries(ground, regions, params, crew, rooms, asked)
    column = np.full(len(ground.representative), NO_STATE, np.int32)
    column[asked] = np.arange(len(asked))
    _fill_own(entry, column)
    choices = packed(entry)
    via, depth = _ways(ground, regions, params, crew, rooms, choices)
    special = np.flatnonzero((via != NO_STATE) | (depth > 1)).astype(np.int32)
    region, subgoal, via, states = ground.region, choices.subgoal, via[special], len(ground.graph)
    if params.base > 0:  # states are numbered as the hierarchy's nodes
        hierarchy = hierarchy_of(graph, params.cover)
        nodes, states = hierarchy.nodes(params.base), len(hierarchy.layers.node)
        region = np.full(states, NO_STATE, np.int32)
        region[nodes] = ground.region
        subgoal, via = (np.where(some == NO_STATE, NO_STATE, nodes[some]).astype(np.int32) for some in (subgoal, via))
    return Pattern(
        *runs_of(region),
        column,
        choices.row,
        choices.span,
        choices.palette,
        subgoal,
        special,
        via,
        depth[special],
        goal_depth,
        np.array([params.cap]),
        np.array([params.base, params.cover, states], np.int64),
    )


def _ground(graph: Graph, params: Params) -> Ground:
    """The states that the agent plans on, and their regions."""
    if params.side is not None:
        if params.level is not None or params.base > 0:
            raise ParameterError("regions are tiles (side) or the states of a level (level, base), not both")
        return tiles(graph, params.side)
    if params.level is None and params.base == 0 and has_places(graph):
        return tiles(graph, SIDE)
    return levels(
        hierarchy_of(graph, params.cover),
        max(LEVEL, params.base) if params.level is None else params.level,
        params.base,
    )


def _asked_regions(
    graph: Graph, ground: Ground, params: Params, goals: npt.NDArray[np.int64] | None
) -> npt.NDArray[np.int64]:
    """The regions that goals may lie in."""
    if goals is None:
        return np.arange(len(ground.representative))
    state = ancestors(graph, params.cover, params.base, goals)
    if params.base > 0:
        state = np.searchsorted(hierarchy_of(graph, params.cover).nodes(params.base), state[state >= 0])
    regions = np.unique(ground.region[state])
    return regions[regions >= 0].astype(np.int64)


def _room(graph: Graph, params: Params, answers: Answers) -> Room:
    space = new_space(graph, None)
    deepest = DEEPEST if params.goal_depths is GoalDepths.UNCAPPED else params.cap
    ties = not isinstance(graph.arrays, Moves)
    unlearned = Learned.allocate(space)
    unlearned.clock.problem[0] = 1  # no stamp says so
    n = len(graph)
    return Room(
        Field.over(graph),
        Paths.over(graph),
        Tree.allocate(space),
        Ball.over(n, most_states(graph.arrays, deepest, n), *graph.cost_range, ties=ties),
        unlearned,
        np.zeros(max(1, graph.max_degree)),
        Attempts.over(n, answers),
        np.full(n, NO_STATE, np.int64),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
    )


# --- where to go ----------------------------------------------------------------------------------------------------


def _entries(
    ground: Ground, regions: Regions, params: Params, crew: Crew, rooms: list[Room], asked: npt.NDArray[np.int64]
) -> tuple[States, npt.NDArray[np.uint16]]:
    """For each pair of a region and one asked for the state to go to, and the depth towards the goal if wanted."""
    pairs = (len(asked), len(ground.representative))  # to, from: a goal's row is written by one thread
    _refuse_too_many(params, pairs)
    wanted = params.goal_depths is not None
    entry = np.full(pairs, NO_STATE, np.int32)
    depth = np.zeros(pairs if wanted else (0, 0), np.uint16)
    deepest = DEEPEST if params.goal_depths is GoalDepths.UNCAPPED else params.cap
    arrays, aim = ground.graph.arrays, int(params.aim or 0)

    def work(room: Room, columns: range) -> None:
        for column in columns:
            goal = int(asked[column])
            distance, order = _distances(ground, room, int(ground.representative[goal]))
            count_paths(room.paths, arrays, distance, order, len(order))
            way = Way(ground.region, ground.representative, distance, goal)
            if aim == _FAR:
                _go_far(room, arrays, regions, way, params.reach, entry[column])
            else:
                _go_on(room, arrays, way, aim, entry[column])
            if wanted:
                _goal_depths(room, arrays, ground.representative, distance, goal, deepest, depth[column])

    size = 1 if wanted else PART  # such depths may take a second
    parts = [range(i, min(i + size, len(asked))) for i in range(0, len(asked), size)]
    crew.each(work, parts, rooms, "where to go from each region to each")
    return np.ascontiguousarray(entry.T), np.ascontiguousarray(depth.T)


def _refuse_too_many(params: Params, pairs: tuple[int, int]) -> None:
    table_bytes = (6 if params.goal_depths is not None else 4) * pairs[0] * pairs[1]
    if table_bytes > MOST_BYTES or pairs[0] >= MOST_COLUMNS:
        raise ParameterError(
            f"there are {pairs[1]:,} regions, and tables from there to {pairs[0]:,} of them would take "
            f"{table_bytes / 1e9:.0f} GB; take larger regions (side, level), or name the goals that matter "
            "(goals=asked)"
        )


def _distances(ground: Ground, room: Room, source: int) -> tuple[Costs, States]:
    """The cost of the way between ``source`` and every other state; and those that have one, by distance."""
    reached = spread(room.field, ground.graph, source)  # line 5
    return room.field.distance, room.field.order[:reached]


class Way(NamedTuple):
    """The way to the representative of one region."""

    region: States
    representative: States
    distance: Costs
    goal: int  # the region


@kernel
def _next(room: Room, graph: Layout, way: Way, state: int) -> int:
    """The next state on the central path."""
    known = room.onward[state]
    if known >> 32 == way.goal:
        return int64(known & 0xFFFFFFFF)
    following = central_step(graph, way.distance, room.paths, state)
    room.onward[state] = way.goal << 32 | following
    return following


@kernel
def _go_on(room: Room, graph: Layout, way: Way, aim: int, entry: States) -> None:
    """From each region's representative, walk a central optimal path until it leaves the region: where that is.

    The next region's representative may be farther from the goal than this one's, and its own path may lead back here.
    Regions that are only cut across so are not aimed for if ``aim`` says so.
    """
    for start in range(len(way.representative)):
        state = int64(way.representative[start])
        if start == way.goal or way.distance[state] == np.inf:
            continue
        near = way.distance[state] - TOLERANCE * unit(graph)
        while way.region[state] == start or (aim == _NEARER and not _leads_on(way, start, state, near)):
            state = _next(room, graph, way, state)
        entry[start] = way.representative[way.region[state]] if aim == _CENTRE else state


@kernel
def _go_far(room: Room, graph: Layout, regions: Regions, way: Way, most: int, entry: States) -> None:
    """From each region's representative, walk a central optimal path: the farthest state that the region can climb to.

    Directly if there is such a state, else through a hub, else as far as the first region that is nearer.
    """
    _note_straight(room, graph, regions, way, most)
    for start in range(len(way.representative)):
        if start == way.goal or way.distance[way.representative[start]] == np.inf or room.straight[start] == way.goal:
            continue
        length, first = _lay_trail(room, graph, way, start, most)
        through = False
        best = _farthest(room, graph, regions, way, start, first, length, through)
        if best < 0:  # not directly; through a hub, then
            through = True
            best = _farthest(room, graph, regions, way, start, first, length, through)
        if best < 0:
            best = first
        elif way.distance[room.trail[best]] <= most * unit(graph):
            best = _first_straight(room, graph, regions, way, start, first, best, through)
        entry[start] = room.trail[best]


@kernel
def _note_straight(room: Room, graph: Layout, regions: Regions, way: Way, most: int) -> None:
    """Note the regions near the goal's from which everybody can climb straight to every goal there."""
    for start in range(len(way.representative)):
        near = way.distance[way.representative[start]] <= most * unit(graph)
        room.straight[start] = way.goal if near and all_covered(room.attempts, graph, regions, start, way.goal) else -1


@kernel
def _first_straight(
    room: Room, graph: Layout, regions: Regions, way: Way, start: int, first: int, last: int, through: bool
) -> int:
    """The first place on the trail from which it goes straight to any goal: whoever goes on might go past it."""
    for at in range(first, last):
        straight = room.straight[way.region[room.trail[at]]] == way.goal
        if straight and _is_in_reach(room, graph, regions, start, at, through):
            return at
    return last


@kernel
def _lay_trail(room: Room, graph: Layout, way: Way, start: int, most: int) -> tuple[int, int]:
    """Lay out the next ``most`` states on the central path: how many, and which is the first that may be a subgoal.

    If none of them may, the path goes on until one may.
    """
    state, goal = int64(way.representative[start]), int64(way.representative[way.goal])
    near = way.distance[state] - TOLERANCE * unit(graph)
    length, first = 0, -1
    while state != goal and (first < 0 or length < most):
        state = _next(room, graph, way, state)
        room.trail[length] = state
        if first < 0 and _leads_on(way, start, state, near):
            first = length
        length += 1
    return length, first


@kernel
def _leads_on(way: Way, start: int, state: int, near: float) -> bool:
    """Does a state lie in another region, one that is nearer to the goal? If subgoals always do, their chain ends."""
    region = way.region[state]
    return bool(region != start and way.distance[way.representative[region]] < near)


@kernel
def _farthest(
    room: Room, graph: Layout, regions: Regions, way: Way, start: int, first: int, length: int, through: bool
) -> int:
    """The place on the trail of the farthest subgoal that a region can climb to, directly or ``through`` a hub; or -1.

    Mostly all are within reach up to some place, which is found by bisection; beyond it a few more are tried.
    """
    best, at, misses = -1, first, 0
    while at < length and misses < PATIENCE:
        if not _is_in_reach(room, graph, regions, start, at, through):
            at, misses = at + 1, misses + 1
            continue
        best, step = at, 1
        while best + step < length and _is_in_reach(room, graph, regions, start, best + step, through):
            best, step = best + step, step * 2
        beyond = min(best + step, length)
        while beyond - best > 1:
            middle = (best + beyond) >> 1
            if _is_in_reach(room, graph, regions, start, middle, through):
                best = middle
            else:
                beyond = middle
        at, misses = beyond + 1, 1
    return _last_subgoal(room, graph, regions, way, start, first, best, through)


@kernel
def _is_in_reach(room: Room, graph: Layout, regions: Regions, start: int, at: int, through: bool) -> bool:
    """Can a region climb to the state at this place of the trail?"""
    if through:
        return is_reached(room.attempts, graph, regions, start, int64(room.trail[at]))
    return is_covered(room.attempts, graph, regions, start, int64(room.trail[at]))


@kernel
def _last_subgoal(
    room: Room, graph: Layout, regions: Regions, way: Way, start: int, first: int, last: int, through: bool
) -> int:
    """The last place on the trail, up to this one, that a region can climb to and that may be a subgoal; or -1."""
    near = way.distance[way.representative[start]] - TOLERANCE * unit(graph)
    for at in range(last, first - 1, -1):
        if _leads_on(way, start, int64(room.trail[at]), near) and _is_in_reach(
            room, graph, regions, start, at, through
        ):
            return at
    return -1


# --- how to get there -----------------------------------------------------------------------------------------------


class Choices(NamedTuple):
    """The table of subgoals as a palette for each region, and runs of choices from it."""

    row: States
    span: npt.NDArray[np.uint32]
    palette: States
    subgoal: States


def _fill_own(entry: States, column: States) -> None:
    """Give each region the column beside its own for its own, which nobody looks up: that makes longer runs."""
    own = np.flatnonzero(column >= 0)
    entry[own, column[own]] = entry[own, np.where(column[own] > 0, column[own] - 1, min(1, entry.shape[1] - 1))]


def packed(entry: States) -> Choices:
    """The rows of a table of subgoals, packed."""
    row, palette = [0], [0]
    spans, subgoals = [], []
    for one in entry:
        aims, choice = np.unique(one, return_inverse=True)
        begin = np.concatenate([[0], np.flatnonzero(np.diff(choice)) + 1]) if len(one) else np.empty(0, np.int64)
        spans.append((begin << 16 | choice[begin]).astype(np.uint32))
        subgoals.append(aims)
        row.append(row[-1] + len(begin))
        palette.append(palette[-1] + len(aims))
    span, subgoal = np.concatenate([*spans, np.empty(0, np.uint32)]), np.concatenate([*subgoals, np.empty(0, np.int32)])
    return Choices(np.array(row, np.int32), span, np.array(palette, np.int32), subgoal)


def runs_of(region: States) -> tuple[States, States]:
    """Runs of states that belong to the same region, those that belong to none going with what is before them."""
    known = np.maximum.accumulate(np.where(region >= 0, np.arange(len(region)), 0))
    filled = region[known]
    begin = np.concatenate([[0], np.flatnonzero(np.diff(filled)) + 1]).astype(np.int32)
    return begin, filled[begin]


def _ways(
    ground: Ground, regions: Regions, params: Params, crew: Crew, rooms: list[Room], choices: Choices
) -> tuple[States, npt.NDArray[np.uint16]]:
    """For each subgoal of each region the hub to go through, if any, and the depth towards it."""
    via, depth = np.full(len(choices.subgoal), NO_STATE, np.int32), np.ones(len(choices.subgoal), np.uint16)
    arrays, far = ground.graph.arrays, params.aim is Aim.FAR

    def work(room: Room, starts: range) -> None:
        for start in starts:
            mine = slice(choices.palette[start], choices.palette[start + 1])
            aims, state = choices.subgoal[mine], int(ground.representative[start])
            if far:
                aims = aims.copy()
                _choose_hubs(room.attempts, arrays, regions, start, aims, via[mine])
            _near_depths(room, arrays, state, aims, params.cap, depth[mine])

    parts = [range(i, min(i + PART, len(ground.representative))) for i in range(0, len(ground.representative), PART)]
    crew.each(work, parts, rooms, "how deep to look on the way")
    return via, depth


@kernel
def _choose_hubs(attempts: Attempts, graph: Layout, regions: Regions, region: int, aims: States, via: States) -> None:
    """Note the hub to go through where it takes one, and strike out the aims that one can climb to: depth 1 will do."""
    for i in range(len(aims)):
        aim = int64(aims[i])
        if aim == NO_STATE:
            continue
        if not is_covered(attempts, graph, regions, region, aim):
            via[i] = best_hub(graph, regions, region, aim)
            if via[i] == NO_STATE:
                continue
        aims[i] = NO_STATE


@kernel
def _near_depths(room: Room, graph: Layout, state: int, aims: States, cap: int, depth: npt.NDArray[np.uint16]) -> None:
    """The optimal depth from ``state`` towards each of these states, but for NO_STATE."""
    for i in range(len(aims)):
        aim = int64(aims[i])
        if aim in (NO_STATE, state):
            continue
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            search(room.tree, graph, near, aim, 1.0)
            rest = room.tree.g[aim] if reached(room.tree, aim) else np.inf
            room.costs[k] = price(graph, state, k) + rest
        depth[i] = _optimal_depth(room, graph, state, aim, cap)


@kernel
def _goal_depths(
    room: Room,
    graph: Layout,
    representative: States,
    distance: Costs,
    goal: int,
    deepest: int,
    depth: npt.NDArray[np.uint16],
) -> None:
    """The optimal depth from each region's representative towards that of the region ``goal``."""
    aim = int64(representative[goal])
    for start in range(len(representative)):
        state = int64(representative[start])
        depth[start] = 1
        if start == goal or distance[state] == np.inf:
            continue
        for k in range(degree(graph, state)):
            room.costs[k] = price(graph, state, k) + distance[target(graph, state, k)]
        depth[start] = _optimal_depth(room, graph, state, aim, deepest)


@kernel
def _optimal_depth(room: Room, graph: Layout, state: int, aim: int, deepest: int) -> int:
    """The least depth at which LRTA* makes a move that is optimal by ``room.costs``; ``deepest`` if none is."""
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
