"""Division of a map into the regions of a pattern database: the nodes of a level of its hierarchy, or square tiles.

A tile is a square of the map, ``side`` cells wide; each connected part of it is a region. If walls keep some states of
a region from climbing straight to others, the tile is quartered, so regions are large in the open and small along
walls. After two quarterings a region keeps only the states that can climb to its middle, called its hub, and back. For
far subgoals, regions are then divided among the corners of walls that they touch.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.hierarchy import Hierarchy
from andante.databases.pattern import NO_STATE
from andante.errors import GraphError, ParameterError
from andante.kernel import int64, kernel
from andante.offline.builder import Making
from andante.offline.places import along_hilbert
from andante.search.hillclimb import straight
from andante.world.graph import Graph
from andante.world.layout import Arrays, Csr, GridArrays, Layout, Moves

States = npt.NDArray[np.int32]
Points = npt.NDArray[np.float64]

MOST_TOGETHER = 1500  # states of a region for which climbing between all pairs is tested
QUARTERINGS = 2  # the most times a tile is quartered


class Ground(NamedTuple):
    """The graph that the agent plans on, divided into regions."""

    graph: Graph
    region: States  # [n], NO_STATE if in none
    representative: States  # [regions]

    @property
    def members(self) -> tuple[States, States]:
        """The states in order of regions, and the first place of each region."""
        order = np.argsort(self.region, kind="stable").astype(np.int32)
        order = order[np.searchsorted(self.region[order], 0) :]
        begin = np.searchsorted(self.region[order], np.arange(len(self.representative) + 1))
        return order, begin.astype(np.int32)


# --- levels ---------------------------------------------------------------------------------------------------------


def levels(hierarchy: Hierarchy, level: int, base: int) -> Ground:
    """Return the level ``base`` that the agent plans on, with the nodes of a higher level as regions."""
    if not base <= level <= hierarchy.top:
        raise ParameterError(
            f"level must be from {base}, the level that the agent plans on, to {hierarchy.top}, the highest of "
            f"this map; got {level}"
        )
    graph = hierarchy.level(base)
    if level == base:  # every state is its own region, except states of the map without moves
        kept = _degrees(graph) > 0 if base == 0 else np.ones(len(graph), np.bool_)
        region = np.where(kept, np.cumsum(kept) - 1, NO_STATE).astype(np.int32)
        return Ground(graph, region, np.flatnonzero(kept).astype(np.int32))
    if base == 0:
        return Ground(graph, hierarchy.regions(level), hierarchy.representatives(level))
    node = hierarchy.nodes(base)
    for _ in range(level - base):
        node = hierarchy.layers.family["parent"][node]
    region = np.searchsorted(hierarchy.nodes(level), node).astype(np.int32)
    centre = hierarchy.points(level)
    return Ground(graph, region, _nearest(hierarchy.points(base), centre, region, graph.unit))


def _degrees(graph: Graph) -> npt.NDArray[np.int64]:
    """Return the number of moves of each state."""
    arrays = graph.csr().arrays
    assert isinstance(arrays, Csr)
    return np.diff(arrays.first)


def _nearest(points: Points, centre: Points, region: States, unit: float) -> States:
    """Return the state of each region nearest to its centre, the lowest-numbered of equal ones."""
    placed = np.flatnonzero(region >= 0)
    apart = (points[placed] - centre[region[placed]]) / unit
    order = placed[np.lexsort((np.round((apart**2).sum(1), 9), region[placed]))]
    return order[np.searchsorted(region[order], np.arange(len(centre)))].astype(np.int32)


# --- tiles ----------------------------------------------------------------------------------------------------------


def tiles(graph: Graph, side: int) -> Making[Ground]:
    """Return tiles with this many cells a side, divided further where states cannot climb to each other."""
    if graph.reversed() is not graph:
        raise GraphError("tiles need a graph in which every move can be reversed at the same cost")
    points, arcs = _points(graph), graph.to_scipy().tocoo()
    points = (points - points.min(0)) / graph.unit
    left = _degrees(graph) > 0  # states that are not in a region yet
    region, centres = np.full(len(graph), NO_STATE, np.int32), np.empty(0, np.int32)
    tile, done, above = np.zeros(len(graph), np.int64), 0, walls(graph.arrays)
    while left.any():
        yield
        tile = _squares(tile, points, side)
        yield
        part = _connected(arcs.row, arcs.col, np.where(left, tile, NO_STATE))
        yield
        ground = Ground(graph, part, _nearest(points, _means(points, part), part, 1.0))
        is_open = _are_open(graph.arrays, ground, above)
        yield
        _gather(
            graph.arrays, *ground.members, ground.representative, is_open, region, len(centres), done == QUARTERINGS
        )
        kept = region[ground.representative] >= 0
        number = np.full(len(kept) + 1, NO_STATE, np.int32)
        number[:-1][kept] = len(centres) + np.arange(kept.sum())
        fresh = left & (region >= 0)
        region[fresh] = number[region[fresh] - len(centres)]
        centres = np.concatenate([centres, ground.representative[kept]])
        left &= region < 0
        if done < QUARTERINGS:
            side, done = max(side // 2, 1), done + 1
    return Ground(graph, region, centres)


def squares(graph: Graph, side: int) -> Making[Ground]:
    """Return the connected parts of squares with this many cells a side, whether or not one can climb in them."""
    points, arcs = _points(graph), graph.to_scipy().tocoo()
    points = (points - points.min(0)) / graph.unit
    tile = np.where(_degrees(graph) > 0, _squares(np.zeros(len(graph), np.int64), points, side), NO_STATE)
    yield
    part = _connected(arcs.row, arcs.col, tile)
    yield
    return Ground(graph, part, _nearest(points, _means(points, part), part, 1.0))


def at_corners(ground: Ground) -> Ground:
    """Return regions divided so that each corner of a wall is the representative of its own region.

    Shortest paths bend at corners, so that is where subgoals should be. A state belongs to the nearest corner of its
    region that it can climb to and back. If there is no such corner, it stays with the centre.
    """
    arrays = ground.graph.arrays
    if not isinstance(arrays, GridArrays):
        return ground
    member, begin = ground.members
    is_corner = corners(arrays)[member]
    begin_corner = np.concatenate([[0], np.cumsum(is_corner)])[begin]
    hub = np.full(len(ground.graph), NO_STATE, np.int32)
    hub[member] = ground.representative[ground.region[member]]
    _go_to_corners(arrays, member, begin, member[is_corner], begin_corner, hub)
    representative, region = np.unique(hub[member], return_inverse=True)
    hub[member] = region
    return Ground(ground.graph, hub, representative)


def corners(arrays: GridArrays) -> npt.NDArray[np.bool_]:
    """Return which cells touch the corner of a wall: two cells beside them are free, but the one between is not."""
    free = np.pad((arrays.mask > 0).reshape(int(arrays.y[-1]) + 1, int(arrays.x[-1]) + 1), 1)
    found = np.zeros_like(free)
    for down, right in product((-1, 1), repeat=2):
        beside = np.roll(free, down, 0) & np.roll(free, right, 1)
        found |= free & beside & ~np.roll(free, (down, right), (0, 1))
    return found[1:-1, 1:-1].reshape(-1)


@kernel
def _go_to_corners(
    graph: GridArrays, member: States, begin: States, corner: States, begin_corner: npt.NDArray[np.int64], hub: States
) -> None:
    """Write the hub of each state: a corner, or the centre of its region."""
    for region in range(len(begin) - 1):
        inside, near = (
            member[begin[region] : begin[region + 1]],
            corner[begin_corner[region] : begin_corner[region + 1]],
        )
        if len(near) == 0:
            continue
        centre, is_needed = int64(hub[inside[0]]), False
        for state in inside:
            chosen = _nearest_hub(graph, near, int64(state))
            if chosen >= 0:
                hub[state] = chosen
            else:
                is_needed = True
        if is_needed:
            hub[centre] = centre


@kernel
def _nearest_hub(graph: GridArrays, hubs: States, state: int) -> int:
    """Return the nearest of ``hubs`` that a state can climb to and back, the first of equal ones, or -1."""
    chosen, least = int64(-1), int64(2**62)
    for hub in hubs:
        other = int64(hub)
        apart = (int64(graph.x[state]) - graph.x[other]) ** 2 + (int64(graph.y[state]) - graph.y[other]) ** 2
        if apart < least and climbs(graph, state, other) and climbs(graph, other, state):
            chosen, least = other, int64(apart)
    return chosen


def _squares(tile: npt.NDArray[np.int64], points: Points, side: int) -> npt.NDArray[np.int64]:
    """Return the number of each state's square, ``side`` cells wide and within its ``tile``, by tile, x and y."""
    for axis in (0, 1):
        along = np.unique(np.floor(points[:, axis] / side), return_inverse=True)[1].reshape(-1)
        tile = np.unique(tile * (along.max(initial=0) + 1) + along, return_inverse=True)[1].reshape(-1)
    return tile


def boxes(arrays: Arrays, member: States, begin: States) -> npt.NDArray[np.int64]:
    """Return the boxes around regions; empty unless all cells of a grid cost the same."""
    if not isinstance(arrays, Moves):
        return np.zeros((0, 4), np.int64)
    places = [of[member].astype(np.int64) for of in (arrays.x, arrays.y)]
    return np.stack([edge.reduceat(place, begin[:-1]) for place in places for edge in (np.minimum, np.maximum)], 1)


def walls(arrays: Arrays) -> npt.NDArray[np.int32]:
    """Return the number of walls above and left of each corner of a cell; empty unless cells cost the same."""
    if not isinstance(arrays, Moves):
        return np.zeros((0, 0), np.int32)
    wall = (arrays.mask == 0).reshape(int(arrays.y[-1]) + 1, int(arrays.x[-1]) + 1)
    above = np.zeros((wall.shape[0] + 1, wall.shape[1] + 1), np.int32)
    above[1:, 1:] = wall.cumsum(0).cumsum(1)
    return above


def _are_open(arrays: Arrays, ground: Ground, walls: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return which regions have no wall in the box around them, so that all their states can climb to each other."""
    if not isinstance(arrays, Moves):
        return np.zeros(len(ground.representative), np.bool_)
    left, right, top, bottom = (boxes(arrays, *ground.members) + np.array([0, 1, 0, 1])).T
    found = walls[bottom, right] - walls[top, right] - walls[bottom, left] + walls[top, left]
    return np.asarray(found == 0)


def along_a_curve(ground: Ground, regions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return regions in an order in which neighbours are mostly near each other, if states have points."""
    if ground.graph.dimensions != 2:
        return regions
    points = ground.graph.points[ground.representative[regions]]
    cells = np.floor((points - points.min(0, initial=np.inf)) / ground.graph.unit)
    return regions[np.argsort(along_hilbert(cells[:, ::-1]), kind="stable")]  # columns first


def _points(graph: Graph) -> Points:
    """Return the points of all states; raise `ParameterError` if they have none."""
    if graph.dimensions != 2:
        raise ParameterError("tiles need states with two coordinates; use the nodes of a level instead: level=3")
    return graph.points


def _connected(row: npt.NDArray[np.int32], col: npt.NDArray[np.int32], label: npt.NDArray[np.int64]) -> States:
    """Return the connected parts of the states with the same label, numbered by label, then by state."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    inside = label[row] == label[col]
    web = csr_array((np.ones(inside.sum(), np.int8), (row[inside], col[inside])), shape=(len(label), len(label)))
    part = connected_components(web, directed=False)[1]
    placed = np.flatnonzero(label >= 0)
    _, first = np.unique(part[placed], return_index=True)
    order = np.lexsort((placed[first], label[placed[first]]))
    number = np.full(part.max() + 1, NO_STATE, np.int32)
    number[part[placed[first[order]]]] = np.arange(len(order))
    region = np.full(len(label), NO_STATE, np.int32)
    region[placed] = number[part[placed]]
    return region


def _means(points: Points, region: States) -> Points:
    placed = region >= 0
    count = np.bincount(region[placed])
    return np.stack([np.bincount(region[placed], points[placed, axis]) / count for axis in (0, 1)], 1)


@kernel
def _gather(
    graph: Layout,
    member: States,
    begin: States,
    centre: States,
    is_open: npt.NDArray[np.bool_],
    region: States,
    first: int,
    last: bool,
) -> None:
    """Make regions, numbered from ``first`` on, of the parts in which all states can climb to each other.

    In the ``last`` attempt, other parts become regions too: their states that can climb to and from the part's centre.
    """
    for part in range(len(centre)):
        begins, ends, middle = begin[part], begin[part + 1], int64(centre[part])
        together = is_open[part] or _are_together(graph, member[begins:ends])
        for i in range(begins, ends):
            state = int64(member[i])
            if together or (last and climbs(graph, state, middle) and climbs(graph, middle, state)):
                region[state] = first + part


@kernel
def _are_together(graph: Layout, states: States) -> bool:
    """Return whether all these states can climb to each other; false if there are too many to test."""
    if len(states) > MOST_TOGETHER:
        return False
    for state in states:
        for other in states:
            if not climbs(graph, int64(state), int64(other)):
                return False
    return True


@kernel
def climbs(graph: Layout, state: int, goal: int) -> bool:
    """Return whether an agent can climb straight from ``state`` to ``goal``."""
    while state != goal:
        state = straight(graph, state, goal)
        if state < 0:
            return False
    return True
