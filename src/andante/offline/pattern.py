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
from andante.abstraction.hierarchy import DEFAULT_COVER, Hierarchy, hierarchy_of
from andante.agent import Range
from andante.databases.pattern import DEEPEST, HIGHEST, NO_STATE, Pattern, ancestors
from andante.errors import ParameterError
from andante.kernel import int64, kernel
from andante.offline.builder import Crew, Goals, builder
from andante.search.astar import Tree, reached, search
from andante.search.dijkstra import Field, Paths, bucket_width, central_step, count_paths, distances, spread
from andante.search.learning import Learned
from andante.search.lookahead import Ball, deepen, look, most_states
from andante.search.memory import new_space
from andante.world.graph import Csr, Graph, Layout, Moves, degree, price, target, unit
from andante.world.heuristics import TOLERANCE

MOST_BYTES = 8_000_000_000  # of the tables
PART = 4  # regions that a thread takes at a time

Costs = npt.NDArray[np.float64]
States = npt.NDArray[np.int32]


class Aim(IntEnum):
    """Which state of the next region is the subgoal."""

    ENTRY = 0  # where the way enters it
    CENTRE = 1  # its representative
    NEARER = 2  # where the way enters the first region whose representative is nearer to the goal


_CENTRE, _NEARER = int(Aim.CENTRE), int(Aim.NEARER)


class Far(IntEnum):
    """Which depths towards the goal itself are stored."""

    CAPPED = 0
    UNCAPPED = 1


class Params(NamedTuple):
    """How large the regions are, and what is stored of each pair."""

    level: Annotated[int, Range(0, HIGHEST), "of the hierarchy: its states are the regions"] = 3
    cap: Annotated[int, Range(1, DEEPEST), "the greatest depth"] = 20
    aim: Annotated[Aim, "which state of the next region to go to"] = Aim.NEARER
    far: Annotated[Far | None, "depths towards the goal itself to store as well; none: only those on the way"] = None
    base: Annotated[int, Range(0, HIGHEST), "the level on which the agent plans; 0 is the map itself"] = 0
    cover: Annotated[Cover, "how cliques are chosen"] = DEFAULT_COVER
    goals: Annotated[Goals, "which goals it serves: all, or those given when it is built"] = Goals.ALL


class Ground(NamedTuple):
    """What the agent walks on, divided into regions."""

    graph: Graph
    region: States  # [n]
    representative: States  # [regions]
    width: float | None  # of the buckets for distances


class Room(NamedTuple):
    """What one thread needs."""

    field: Field
    paths: Paths
    tree: Tree
    ball: Ball
    unlearned: Learned
    costs: Costs  # [most moves of a state]


@builder("pattern", Params)
def make(graph: Graph, params: Params, crew: Crew, goals: npt.NDArray[np.int64] | None) -> Pattern:
    """The tables for ``graph``, or for a level above it; for these ``goals``, or for all."""
    hierarchy = hierarchy_of(graph, params.cover)
    ground = _ground(hierarchy, params)
    asked = _asked_regions(hierarchy, ground, params, goals)
    rooms = [_room(ground.graph, params) for _ in range(crew.threads)]
    entry, far = _entries(ground, params, crew, rooms, asked)
    depth = _depths(ground, params, crew, rooms, entry)
    column = np.full(len(ground.representative), NO_STATE, np.int32)
    column[asked] = np.arange(len(asked))
    region = ground.region
    if params.base > 0:  # states are numbered as the hierarchy's nodes
        nodes = hierarchy.nodes(params.base)
        region = np.full(len(hierarchy.layers.node), NO_STATE, np.int32)
        region[nodes] = ground.region
        entry = np.where(entry == NO_STATE, NO_STATE, nodes[entry]).astype(np.int32)
    cap, base = np.array([params.cap]), np.array([params.base, params.cover], np.int64)
    return Pattern(region, column, entry, depth, far, cap, base)


def _asked_regions(
    hierarchy: Hierarchy, ground: Ground, params: Params, goals: npt.NDArray[np.int64] | None
) -> npt.NDArray[np.int64]:
    """The regions that goals may lie in."""
    if goals is None:
        return np.arange(len(ground.representative))
    node = ancestors(hierarchy.graph, params.cover, params.base, goals)
    state = node if params.base == 0 else np.searchsorted(hierarchy.nodes(params.base), node[node >= 0])
    regions = np.unique(ground.region[state])
    return regions[regions >= 0].astype(np.int64)


def _ground(hierarchy: Hierarchy, params: Params) -> Ground:
    """The level that the agent plans on, and the regions above it."""
    if not params.base <= params.level <= hierarchy.top:
        raise ParameterError(
            f"level must be from {params.base}, the level that the agent plans on, to {hierarchy.top}, the highest of "
            f"this map; got {params.level}"
        )
    graph = hierarchy.level(params.base)
    if params.level == params.base:  # every state is its own region, but for those of the map that cannot be left
        kept = _degrees(graph) > 0 if params.base == 0 else np.ones(len(graph), np.bool_)
        region = np.where(kept, np.cumsum(kept) - 1, NO_STATE).astype(np.int32)
        return Ground(graph, region, np.flatnonzero(kept).astype(np.int32), bucket_width(graph))
    if params.base == 0:
        region, place = hierarchy.regions(params.level), hierarchy.representatives(params.level)
        return Ground(graph, region, place, bucket_width(graph))
    node = hierarchy.nodes(params.base)
    for _ in range(params.level - params.base):
        node = hierarchy.layers.node["parent"][node]
    region = np.searchsorted(hierarchy.nodes(params.level), node).astype(np.int32)
    return Ground(graph, region, _nearest(hierarchy, params, region), bucket_width(graph))


def _degrees(graph: Graph) -> npt.NDArray[np.int64]:
    """How many moves lead out of each state."""
    arrays = graph.csr().arrays
    assert isinstance(arrays, Csr)
    return np.diff(arrays.first)


def _nearest(hierarchy: Hierarchy, params: Params, region: States) -> States:
    """For each region its state, of the level that the agent plans on, nearest to its centre."""
    apart = (hierarchy.points(params.base) - hierarchy.points(params.level)[region]) / hierarchy.graph.unit
    order = np.lexsort((np.round((apart**2).sum(1), 9), region))
    return order[np.searchsorted(region[order], np.arange(region.max() + 1))].astype(np.int32)


def _room(graph: Graph, params: Params) -> Room:
    space = new_space(graph, None)
    deepest = DEEPEST if params.far is Far.UNCAPPED else params.cap
    ties = not isinstance(graph.arrays, Moves)
    unlearned = Learned.allocate(space)
    unlearned.clock.problem[0] = 1  # no stamp says so
    return Room(
        Field.over(graph),
        Paths.over(graph),
        Tree.allocate(space),
        Ball.over(len(graph), most_states(graph.arrays, deepest, len(graph)), *graph.cost_range, ties=ties),
        unlearned,
        np.zeros(max(1, graph.max_degree)),
    )


# --- where to go ----------------------------------------------------------------------------------------------------


def _entries(
    ground: Ground, params: Params, crew: Crew, rooms: list[Room], asked: npt.NDArray[np.int64]
) -> tuple[States, npt.NDArray[np.uint16]]:
    """For each pair of a region and one asked for the state to go to, and the depth towards the goal if wanted."""
    pairs = (len(asked), len(ground.representative))  # to, from: a goal's row is written by one thread
    wanted = params.far is not None
    table_bytes = (8 if wanted else 6) * pairs[0] * pairs[1]
    if table_bytes > MOST_BYTES:
        raise ParameterError(
            f"level {params.level} has {pairs[1]:,} regions, and tables from there to {pairs[0]:,} of them would take "
            f"{table_bytes / 1e9:.0f} GB; take a higher level, or name the goals that matter (goals=asked)"
        )
    entry = np.full(pairs, NO_STATE, np.int32)
    far = np.zeros(pairs if wanted else (0, 0), np.uint16)
    deepest = DEEPEST if params.far is Far.UNCAPPED else params.cap

    def work(room: Room, columns: range) -> None:
        for column in columns:
            goal = int(asked[column])
            distance, order = _distances(ground, room, int(ground.representative[goal]))
            arrays = ground.graph.arrays
            count_paths(room.paths, arrays, distance, order, len(order))
            to_here = entry[column]
            _descend(arrays, ground.region, ground.representative, distance, room.paths, goal, int(params.aim), to_here)
            if wanted:
                _far_depths(room, arrays, ground.representative, distance, goal, deepest, far[column])

    size = 1 if wanted else PART  # such depths may take a second
    parts = [range(i, min(i + size, len(asked))) for i in range(0, len(asked), size)]
    crew.each(work, parts, rooms, "where to go from each region to each")
    return np.ascontiguousarray(entry.T), np.ascontiguousarray(far.T)


def _distances(ground: Ground, room: Room, source: int) -> tuple[Costs, States]:
    """The cost of the way between ``source`` and every other state; and those that have one, by distance."""
    arrays, distance = ground.graph.arrays, room.field.distance
    if ground.width is None:
        distance = distances(ground.graph, source)
    else:
        reached = spread(room.field, arrays, source, ground.width)  # line 5
        if isinstance(arrays, Moves):
            return distance, room.field.order[:reached]
    order = np.argsort(distance, kind="stable").astype(np.int32)
    return distance, order[: np.count_nonzero(distance < np.inf)]


@kernel
def _descend(
    graph: Layout,
    region: States,
    representative: States,
    distance: Costs,
    paths: Paths,
    goal: int,
    aim: int,
    entry: States,
) -> None:
    """From each region's representative, walk a central optimal path until it leaves the region: where that is.

    The next region's representative may be farther from the goal than this one's, and its own path may lead back here.
    Regions that are only cut across so are not aimed for if ``aim`` says so.
    """
    for start in range(len(representative)):
        state = int64(representative[start])
        if start == goal or distance[state] == np.inf:
            continue
        near = distance[state] - TOLERANCE * unit(graph)
        while region[state] == start or (aim == _NEARER and distance[representative[region[state]]] >= near):
            state = central_step(graph, distance, paths, state)
        entry[start] = representative[region[state]] if aim == _CENTRE else state


# --- how deep to look -----------------------------------------------------------------------------------------------


def _depths(ground: Ground, params: Params, crew: Crew, rooms: list[Room], entry: States) -> npt.NDArray[np.uint16]:
    """For each pair of regions the depth towards its entry."""
    depth = np.ones(entry.shape, np.uint16)

    def work(room: Room, starts: range) -> None:
        for start in starts:
            aims, which = np.unique(entry[start], return_inverse=True)
            found = np.ones(len(aims), np.uint16)
            _near_depths(room, ground.graph.arrays, int(ground.representative[start]), aims, params.cap, found)
            depth[start] = found[which]

    parts = [range(i, min(i + PART, len(entry))) for i in range(0, len(entry), PART)]
    crew.each(work, parts, rooms, "how deep to look on the way")
    return depth


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
def _far_depths(
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
