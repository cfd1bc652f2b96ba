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
from andante.search.dijkstra import Paths, central_step
from andante.world.graph import Graph, Layout, unit
from andante.world.heuristics import TOLERANCE

PATIENCE = 3  # states in a row that a region cannot climb to, before farther ones are given up


class Aim(IntEnum):
    """Which state is the subgoal."""

    ENTRY = 0  # where the way enters the next region
    CENTRE = 1  # that region's representative
    NEARER = 2  # where the way enters the first region whose representative is nearer to the goal
    FAR = 3  # the farthest state on the way that everybody in the region can climb straight to


_CENTRE, _NEARER = int(Aim.CENTRE), int(Aim.NEARER)


class Desk(NamedTuple):
    """What one thread needs to find subgoals."""

    paths: Paths
    attempts: Attempts
    onward: npt.NDArray[np.int64]  # [n], the next state on the central path, and in the upper half the goal it is for
    trail: States  # [n], states on the way, the nearest first
    straight: States  # [n], by region: the goal that everybody in it can climb to

    @classmethod
    def over(cls, graph: Graph, answers: Answers) -> Desk:
        """An empty one."""
        n = len(graph)
        return cls(
            Paths.over(graph),
            Attempts.over(n, answers),
            np.full(n, NO_STATE, np.int64),
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
def _next(desk: Desk, graph: Layout, way: Way, state: int) -> int:
    """The next state on the central path."""
    known = desk.onward[state]
    if known >> 32 == way.goal:
        return int64(known & 0xFFFFFFFF)
    following = central_step(graph, way.distance, desk.paths, state)
    desk.onward[state] = way.goal << 32 | following
    return following


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
            state = _next(desk, graph, way, state)
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
        length, first = _lay_trail(desk, graph, way, start, most)
        through = False
        best = _farthest(desk, graph, regions, way, start, first, length, through)
        if best < 0:  # not directly; through a hub, then
            through = True
            best = _farthest(desk, graph, regions, way, start, first, length, through)
        if best < 0:
            best = first
        elif way.distance[desk.trail[best]] <= most * unit(graph):
            best = _first_straight(desk, graph, regions, way, start, first, best, through)
        entry[start] = desk.trail[best]


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
    near = way.distance[state] - TOLERANCE * unit(graph)
    length, first = 0, -1
    while state != goal and (first < 0 or length < most):
        state = _next(desk, graph, way, state)
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
    desk: Desk, graph: Layout, regions: Regions, way: Way, start: int, first: int, length: int, through: bool
) -> int:
    """The place on the trail of the farthest subgoal that a region can climb to, directly or ``through`` a hub; or -1.

    Mostly all are within reach up to some place, which is found by bisection; beyond it a few more are tried.
    """
    best, at, misses = -1, first, 0
    while at < length and misses < PATIENCE:
        if not _is_in_reach(desk, graph, regions, start, at, through):
            at, misses = at + 1, misses + 1
            continue
        best, beyond = at, length
        while beyond - best > 1:
            middle = (best + beyond) >> 1
            if _is_in_reach(desk, graph, regions, start, middle, through):
                best = middle
            else:
                beyond = middle
        at, misses = beyond + 1, 1
    return _last_subgoal(desk, graph, regions, way, start, first, best, through)


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
    near = way.distance[way.representative[start]] - TOLERANCE * unit(graph)
    for at in range(last, first - 1, -1):
        if _leads_on(way, start, int64(desk.trail[at]), near) and _is_in_reach(
            desk, graph, regions, start, at, through
        ):
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
