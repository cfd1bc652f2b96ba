"""Which state on the way from one region to another is the subgoal.

All aims lie on a central optimal path between the representatives of the two regions. ``ENTRY`` and ``CENTRE`` are the
rules of Bulitko et al. (2008). Their subgoals can lead in circles: where a path only cuts across a region, that
region's own path may lead back. On maps of WarCraft III a few pairs in a thousand do, and up to a tenth of all pairs
lead into such a circle. Beyond the paper ``NEARER`` goes on to the first region that is nearer to the goal, which rules
circles out, and ``FAR`` goes on as far as everybody in the region can climb straight to (docs/decisions/0012).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.pattern import NO_STATE
from andante.kernel import int64, kernel
from andante.offline.climbs import Answers, Attempts, Regions, all_covered, best_hub, is_covered, is_reached
from andante.offline.division import States
from andante.search.dijkstra import Paths
from andante.world.graph import Graph, Layout, unit
from andante.world.heuristics import TOLERANCE

PATIENCE = 3  # states in a row that a region cannot climb to, before farther ones are given up
REMEMBERED = 64  # places on a trail, at most


class Aim(IntEnum):
    """Which state is the subgoal."""

    ENTRY = 0  # where the way enters the next region
    CENTRE = 1  # that region's representative
    NEARER = 2  # where the way enters the first region whose representative is nearer to the goal
    FAR = 3  # the farthest state on the way that everybody in the region can climb straight to


_CENTRE, _NEARER = int(Aim.CENTRE), int(Aim.NEARER)


class Found(NamedTuple):
    """What was found last for each region, and on which trail: for a neighbouring goal it is mostly the same one.

    It is reused only where everything that it was found from is the same, so no result depends on it.
    """

    trail: States  # [regions, REMEMBERED], the beginning of the trail
    examined: States  # [regions], how much of it the result depends on; 0: nothing was found yet
    first: States  # [regions], the first place on it that may be a subgoal
    best: States  # [regions], the result: the farthest place that the region can climb to, ...
    through: States  # [regions], ... directly (0) or through a hub (1)

    @classmethod
    def over(cls, regions: int) -> Found:
        """Nothing yet."""
        some = [np.zeros(regions, np.int32) for _ in range(4)]
        return cls(np.zeros((regions, REMEMBERED), np.int32), *some)


class Desk(NamedTuple):
    """What one thread needs to find subgoals."""

    paths: Paths
    attempts: Attempts
    found: Found
    trail: States  # [n], states on the way, the nearest first
    straight: States  # [n], by region: the goal that everybody in it can climb to

    @classmethod
    def over(cls, graph: Graph, answers: Answers) -> Desk:
        """An empty one."""
        n = len(graph)
        return cls(
            Paths.over(graph),
            Attempts.over(n, answers),
            Found.over(len(answers)),
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
        )


class Way(NamedTuple):
    """The way to the representative of one region."""

    region: States
    representative: States
    distance: npt.NDArray[np.float64]  # [n], to that representative
    goal: int  # the region


@kernel
def go_on(desk: Desk, graph: Layout, way: Way, aim: int, entry: States) -> None:
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
            state = int64(desk.paths.onward[state])
        entry[start] = way.representative[way.region[state]] if aim == _CENTRE else state


@kernel
def go_far(desk: Desk, graph: Layout, regions: Regions, way: Way, most: int, entry: States) -> None:
    """From each region's representative, walk a central optimal path: the farthest state that the region can climb to.

    Directly if there is such a state, else through a hub, else as far as the first region that is nearer.
    """
    _note_straight(desk, graph, regions, way, most)
    for start in range(len(way.representative)):
        if start == way.goal or way.distance[way.representative[start]] == np.inf or desk.straight[start] == way.goal:
            continue
        best, first, through = _found_before(desk, graph, way, start)
        if best < 0:
            best, first, through = _find(desk, graph, regions, way, start, most)
        if way.distance[desk.trail[best]] <= most * unit(graph):
            best = _first_straight(desk, graph, regions, way, start, first, best, through)
        entry[start] = desk.trail[best]


@kernel
def _found_before(desk: Desk, graph: Layout, way: Way, start: int) -> tuple[int, int, bool]:
    """What `_find` would return, if all that it depends on is as it was for the last goal; else -1."""
    found, state, first = desk.found, int64(way.representative[start]), -1
    near = _near(graph, way, start)
    for at in range(found.examined[start]):
        state = int64(desk.paths.onward[state])
        if state != found.trail[start, at]:
            return -1, -1, False
        desk.trail[at] = state
        if first < 0 and _leads_on(way, start, state, near):
            first = at
    best = int64(found.best[start])
    if first < 0 or first != found.first[start] or not _leads_on(way, start, int64(desk.trail[best]), near):
        return -1, -1, False
    return best, first, bool(found.through[start])


@kernel
def _find(desk: Desk, graph: Layout, regions: Regions, way: Way, start: int, most: int) -> tuple[int, int, bool]:
    """The place of the subgoal on the trail, the first place there that may be one, and is it reached through a hub?"""
    length, first = _lay_trail(desk, graph, way, start, most)
    through = False
    farthest, examined = _farthest(desk, graph, regions, start, first, length, through)
    if farthest < 0:
        through = True
        farthest, more = _farthest(desk, graph, regions, start, first, length, through)
        examined = max(examined, more)
    if farthest < 0:
        desk.found.examined[start] = 0
        return first, first, False
    complete = examined < length or length == most  # a trail that ended may be longer for another goal
    _remember(desk, start, first, examined if complete else 0, farthest, through)
    best = _last_subgoal(desk, graph, regions, way, start, first, farthest, through)
    if best < 0 and not through:
        through = True
        farthest = _farthest(desk, graph, regions, start, first, length, through)[0]
        best = _last_subgoal(desk, graph, regions, way, start, first, farthest, through)
    return (best, first, through) if best >= 0 else (first, first, False)


@kernel
def _remember(desk: Desk, start: int, first: int, examined: int, farthest: int, through: bool) -> None:
    found = desk.found
    found.examined[start] = examined if examined <= REMEMBERED else 0
    found.first[start], found.best[start], found.through[start] = first, farthest, through
    for at in range(found.examined[start]):
        found.trail[start, at] = desk.trail[at]


@kernel
def _near(graph: Layout, way: Way, start: int) -> float:
    """How near to the goal the representative of a subgoal's region must at least be."""
    return way.distance[way.representative[start]] - TOLERANCE * unit(graph)


@kernel
def _note_straight(desk: Desk, graph: Layout, regions: Regions, way: Way, most: int) -> None:
    """Note the regions near the goal's from which everybody can climb straight to every goal there."""
    for start in range(len(way.representative)):
        near = way.distance[way.representative[start]] <= most * unit(graph)
        desk.straight[start] = way.goal if near and all_covered(desk.attempts, graph, regions, start, way.goal) else -1


@kernel
def _first_straight(
    desk: Desk, graph: Layout, regions: Regions, way: Way, start: int, first: int, last: int, through: bool
) -> int:
    """The first place on the trail from which it goes straight to any goal: whoever goes on might go past it."""
    for at in range(first, last):
        straight = desk.straight[way.region[desk.trail[at]]] == way.goal
        if straight and _is_in_reach(desk, graph, regions, start, at, through):
            return at
    return last


@kernel
def _lay_trail(desk: Desk, graph: Layout, way: Way, start: int, most: int) -> tuple[int, int]:
    """Lay out the next ``most`` states on the central path: how many, and which is the first that may be a subgoal.

    If none of them may, the path goes on until one may.
    """
    state, goal = int64(way.representative[start]), int64(way.representative[way.goal])
    near = _near(graph, way, start)
    length, first = 0, -1
    while state != goal and (first < 0 or length < most):
        state = int64(desk.paths.onward[state])
        desk.trail[length] = state
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
    desk: Desk, graph: Layout, regions: Regions, start: int, first: int, length: int, through: bool
) -> tuple[int, int]:
    """The farthest place on the trail that a region can climb to, directly or ``through`` a hub; or -1.

    Mostly all are within reach up to some place, which is found with strides that double, then by bisection; beyond it
    a few more are tried. Also returns how many places of the trail the result depends on.
    """
    best, at, misses, examined = -1, first, 0, first + 1
    while at < length and misses < PATIENCE:
        examined = max(examined, at + 1)
        if not _is_in_reach(desk, graph, regions, start, at, through):
            at, misses = at + 1, misses + 1
            continue
        best, beyond, stride = at, length, 1
        while beyond - best > 1:
            ahead = min(best + stride, (best + beyond) >> 1) if beyond < length else min(best + stride, length - 1)
            examined = max(examined, ahead + 1)
            if _is_in_reach(desk, graph, regions, start, ahead, through):
                best, stride = ahead, 2 * stride
            else:
                beyond = ahead
        at, misses = beyond + 1, 1
    return best, examined


@kernel
def _is_in_reach(desk: Desk, graph: Layout, regions: Regions, start: int, at: int, through: bool) -> bool:
    """Can a region climb to the state at this place of the trail?"""
    if through:
        return is_reached(desk.attempts, graph, regions, start, int64(desk.trail[at]))
    return is_covered(desk.attempts, graph, regions, start, int64(desk.trail[at]))


@kernel
def _last_subgoal(
    desk: Desk, graph: Layout, regions: Regions, way: Way, start: int, first: int, last: int, through: bool
) -> int:
    """The last place on the trail, up to this one, that a region can climb to and that may be a subgoal; or -1."""
    near = _near(graph, way, start)
    for at in range(last, first - 1, -1):
        leads_on = _leads_on(way, start, int64(desk.trail[at]), near)
        if leads_on and (at == last or _is_in_reach(desk, graph, regions, start, at, through)):
            return at
    return -1


@kernel
def choose_hubs(attempts: Attempts, graph: Layout, regions: Regions, region: int, aims: States, via: States) -> None:
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
