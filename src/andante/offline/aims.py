"""Which state on the way from one region to another is the subgoal.

Aims lie on a central optimal path between the representatives of the two regions. ``ENTRY`` and ``CENTRE`` are the
rules of Bulitko et al. (2008). Their subgoals can lead in circles: where a path only cuts across a region, that
region's own path may lead back. On maps of WarCraft III a few pairs in a thousand do, and up to a tenth of all pairs
lead into such a circle. Beyond the paper ``NEARER`` goes on to the first region that is nearer to the goal, which rules
circles out, and ``FAR`` goes on as far as everybody in the region can climb straight to (docs/decisions/0012). A
subgoal that was found so for one goal is taken for neighbouring ones as well, as long as it is on shortest paths there.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.pattern import NO_STATE
from andante.kernel import int64, kernel
from andante.offline.climbs import Answers, Attempts, Parts, Regions, all_covered, best_hub, is_covered, is_reached
from andante.offline.division import States
from andante.search.dijkstra import Paths
from andante.world.graph import Graph, Layout, estimate, unit
from andante.world.heuristics import TOLERANCE

PATIENCE = 3  # states in a row that a region cannot climb to, before farther ones are given up
RECENT = 4  # subgoals of a region that are tried again for the next goal
ENOUGH = 0.1  # cardinal moves that a subgoal may lose on average without a search for a better one
ASKED = 8  # states of a region, at most, over which that average is taken
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
    recent: States  # [regions, RECENT], the subgoals that a region was given last
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
            np.full((len(answers), RECENT), NO_STATE, np.int32),
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
        )


class Way(NamedTuple):
    """The way to the representative of one region that goals may lie in."""

    region: States  # [n], those that agents may be in
    representative: States  # [regions]
    distance: npt.NDArray[np.float64]  # [n], to the end
    end: int  # the representative of the goal's region
    home: int  # the region that the end lies in, from which agents go for the goal itself
    goal: int  # which of the regions that goals may lie in


@kernel
def go_on(desk: Desk, graph: Layout, way: Way, aim: int, entry: States) -> None:
    """From each region's representative, walk a central optimal path until it leaves the region: where that is.

    The next region's representative may be farther from the goal than this one's, and its own path may lead back here.
    Regions that are only cut across so are not aimed for if ``aim`` says so.
    """
    for start in range(len(way.representative)):
        state = int64(way.representative[start])
        if start == way.home or way.distance[state] == np.inf:
            continue
        near = way.distance[state] - TOLERANCE * unit(graph)
        while way.region[state] == start or (aim == _NEARER and not _leads_on(way, start, state, near)):
            state = int64(desk.paths.onward[state])
        entry[start] = way.representative[way.region[state]] if aim == _CENTRE else state


@kernel
def go_far(desk: Desk, graph: Layout, regions: Regions, ends: Parts, way: Way, most: int, entry: States) -> None:
    """A subgoal for each region: one that it was given for a goal before, if it loses next to nothing for this one.

    Else the better of these and a new one: the farthest state on a central optimal path from the representative that
    the region can climb to; directly if there is one, else through a hub, else where the first nearer region begins.
    """
    _note_straight(desk, graph, regions, ends, way, most)
    for start in range(len(way.representative)):
        if start == way.home or way.distance[way.representative[start]] == np.inf or desk.straight[start] == way.goal:
            continue
        aim, loss = _best_recent(desk, graph, regions, way, start)
        if loss > ENOUGH * unit(graph):
            aim = _compared(desk, graph, regions, way, start, most, aim, loss)
        entry[start] = aim


@kernel
def _compared(
    desk: Desk, graph: Layout, regions: Regions, way: Way, start: int, most: int, recent: int, loss: float
) -> int:
    """The subgoal on the trail, or a recent one that loses no more."""
    best, first, through = _found_before(desk, graph, way, start)
    if best < 0:
        best, first, through = _find(desk, graph, regions, way, start, most)
    if way.distance[desk.trail[best]] <= most * unit(graph):
        best = _first_straight(desk, graph, regions, way, start, first, best, through)
    aim = int64(desk.trail[best])
    if through or best == first or desk.straight[way.region[aim]] == way.goal:
        return aim
    if recent >= 0 and loss <= _loss(graph, regions, way, start, aim) + TOLERANCE * unit(graph):
        return recent
    _put_first(desk.recent, start, RECENT - 1, aim)
    return aim


@kernel
def _best_recent(desk: Desk, graph: Layout, regions: Regions, way: Way, start: int) -> tuple[int, float]:
    """Of the subgoals that a region was given last one that loses little, or least, and how much; -1 if none will do.

    So neighbouring goals mostly have the same subgoal, and rows have few runs. None is taken in a region from which it
    goes straight to any goal: the first such place on the trail is better.
    """
    recent, near, enough = desk.recent, _near(graph, way, start), ENOUGH * unit(graph)
    best, least = -1, np.inf
    for i in range(RECENT):
        aim = int64(recent[start, i])
        if aim < 0:
            break
        if desk.straight[way.region[aim]] == way.goal or not _leads_on(way, start, aim, near):
            continue
        loss = _loss(graph, regions, way, start, aim)
        if loss <= enough:
            _put_first(recent, start, i, aim)
            return aim, loss
        if loss < least - TOLERANCE * unit(graph):
            best, least = aim, loss
    return best, least


@kernel
def _put_first(recent: States, start: int, place: int, aim: int) -> None:
    """Put a subgoal before the recent ones, over the one at ``place``."""
    for i in range(place, 0, -1):
        recent[start, i] = recent[start, i - 1]
    recent[start, 0] = aim


@kernel
def _loss(graph: Layout, regions: Regions, way: Way, start: int, aim: int) -> float:
    """How much longer than the shortest the path through ``aim`` is, on average over some states of a region.

    All of them can climb there, so what it costs to get there is what the heuristic says.
    """
    begin, end = regions.begin[start], regions.begin[start + 1]
    stride = (end - begin + ASKED - 1) // ASKED
    total, asked = 0.0, 0
    for i in range(end - 1, begin - 1, -stride):  # the outermost first
        state = int64(regions.member[i])
        total += estimate(graph, state, aim) - way.distance[state]
        asked += 1
    return float(total / asked + way.distance[aim])


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
    return float(way.distance[way.representative[start]] - TOLERANCE * unit(graph))


@kernel
def _note_straight(desk: Desk, graph: Layout, regions: Regions, ends: Parts, way: Way, most: int) -> None:
    """Note the regions near the goal's from which everybody can climb straight to every goal there."""
    for start in range(len(way.representative)):
        near = way.distance[way.representative[start]] <= most * unit(graph)
        straight = near and all_covered(desk.attempts, graph, regions, start, ends, way.goal)
        desk.straight[start] = way.goal if straight else -1


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
    state, near = int64(way.representative[start]), _near(graph, way, start)
    length, first = 0, -1
    while state != way.end and (first < 0 or length < most):
        state = int64(desk.paths.onward[state])
        desk.trail[length] = state
        if first < 0 and _leads_on(way, start, state, near):
            first = length
        length += 1
    return length, first


@kernel
def _leads_on(way: Way, start: int, state: int, near: float) -> bool:
    """Does a state lie in another region, one that is nearer to the goal? If subgoals always do, their chain ends.

    So it does in the region of the end, from where there are no more subgoals.
    """
    region = way.region[state]
    return bool(region != start and (region == way.home or way.distance[way.representative[region]] < near))


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
