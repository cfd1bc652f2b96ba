"""Choose the subgoal between one region and another.

Subgoals lie on a central optimal path between the representatives of the two regions. ``ENTRY`` and ``CENTRE`` are the
rules of Bulitko et al. (2008). Their subgoals can lead in circles: where a path only cuts across a region, that
region's own path may lead back. On WarCraft III maps a few pairs in a thousand do so, and up to a tenth of all pairs
lead into such a circle. Beyond the paper, ``NEARER`` continues to the first region that is nearer to the goal, which
rules circles out, and ``FAR`` continues as far as all states of the region can climb straight to (docs/decisions/0012).
A subgoal found for one goal is reused for neighbouring goals as long as it lies on shortest paths there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.pattern import NO_STATE
from andante.kernel import int64, kernel
from andante.notation import Word
from andante.offline.climbs import Answers, Attempts, Parts, Regions, all_covered, best_hub, is_covered, is_reached
from andante.offline.division import States
from andante.search.dijkstra import Paths
from andante.world.graph import Graph, Layout, estimate, unit
from andante.world.heuristics import TOLERANCE

PATIENCE = 3  # unreachable states in a row after which farther ones are not tried
RECENT = 4  # recent subgoals of a region that are tried for the next goal
ENOUGH = 0.1  # mean detour through a subgoal, in cardinal moves, up to which no better one is searched for
ASKED = 8  # states of a region, at most, over which that mean is taken
REMEMBERED = 64  # places of a trail that are stored, at most


class Aim(Word):
    """Which state is the subgoal."""

    ENTRY = 0  # where the path enters the next region
    CENTRE = 1  # that region's representative
    NEARER = 2  # where the path enters the first region whose representative is nearer to the goal
    FAR = 3  # the farthest state on the path that all states of the region can climb straight to


_CENTRE, _NEARER = int(Aim.CENTRE), int(Aim.NEARER)


class Found(NamedTuple):
    """The last result for each region, and the trail it was found on: for a neighbouring goal it is mostly the same.

    It is reused only if everything that it depends on is the same, so no result depends on this cache.
    """

    trail: States  # [regions, REMEMBERED], the beginning of the trail
    examined: States  # [regions], the length of the part that the result depends on; 0: there is no result
    first: States  # [regions], the first place on it that may be a subgoal
    best: States  # [regions], the result: the farthest place that the region can climb to, ...
    through: States  # [regions], ... directly (0) or through a hub (1)

    @classmethod
    def over(cls, regions: int) -> Found:
        """Return an empty cache for this number of regions."""
        some = [np.zeros(regions, np.int32) for _ in range(4)]
        return cls(np.zeros((regions, REMEMBERED), np.int32), *some)


class Desk(NamedTuple):
    """The buffers that one thread needs to find subgoals."""

    paths: Paths
    attempts: Attempts
    found: Found
    recent: States  # [regions, RECENT], the last subgoals of a region, most recent first
    trail: States  # [n], states on the path, nearest first
    straight: States  # [n], by region: the region of goals that all its states can climb to

    @classmethod
    def over(cls, graph: Graph, answers: Answers) -> Desk:
        """Return empty buffers."""
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
    """The distances to the representative of one region of goals."""

    region: States  # [n], the agents' region of each state
    representative: States  # [regions]
    distance: npt.NDArray[np.float64]  # [n], to the end
    end: int  # the representative of the goal's region
    home: int  # the agents' region that the end lies in, from which agents go straight for the goal
    goal: int  # the region of goals


@kernel
def go_on(desk: Desk, graph: Layout, way: Way, aim: int, entry: States) -> None:
    """Find the subgoal of each region: where the central optimal path from its representative leaves it.

    The next region's representative may be farther from the goal than this one's, and its own path may lead back here.
    With ``aim`` NEARER the path is followed past such regions.
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
    """Find a subgoal for each region: a recent one, if the detour through it is negligible for this goal.

    Otherwise it is the better of the recent ones and a new one: the farthest state on a central optimal path from the
    representative that the region can climb to directly; if there is none, through a hub; else where the first nearer
    region begins.
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
    """Return the subgoal on the trail, or a recent one whose detour is no longer."""
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
    """Return a recent subgoal of a region with a negligible or else the least detour, and the detour; -1 if none fits.

    This gives neighbouring goals mostly the same subgoal, and rows few runs. Subgoals in a region from which agents can
    climb to every goal are not reused: the first such place on the trail is better.
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
    """Move a subgoal to the front of the recent ones, replacing the one at ``place``."""
    for i in range(place, 0, -1):
        recent[start, i] = recent[start, i - 1]
    recent[start, 0] = aim


@kernel
def _loss(graph: Layout, regions: Regions, way: Way, start: int, aim: int) -> float:
    """Return the mean detour of paths through ``aim``, over some states of a region.

    All of them can climb there, so the cost to get there is the heuristic.
    """
    begin, end = regions.begin[start], regions.begin[start + 1]
    stride = (end - begin + ASKED - 1) // ASKED
    total, asked = 0.0, 0
    for i in range(end - 1, begin - 1, -stride):  # outermost first
        state = int64(regions.member[i])
        total += estimate(graph, state, aim) - way.distance[state]
        asked += 1
    return float(total / asked + way.distance[aim])


@kernel
def _found_before(desk: Desk, graph: Layout, way: Way, start: int) -> tuple[int, int, bool]:
    """Return what `_find` would, if everything it depends on is the same as for the last goal; else -1."""
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
    """Return the place of the subgoal on the trail, the first possible place, and whether a hub is needed."""
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
    complete = examined < length or length == most  # for another goal, a trail that ended here may be longer
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
    """Return the distance to the goal that the representative of a subgoal's region must be below."""
    return float(way.distance[way.representative[start]] - TOLERANCE * unit(graph))


@kernel
def _note_straight(desk: Desk, graph: Layout, regions: Regions, ends: Parts, way: Way, most: int) -> None:
    """Mark the regions near the goal's from which all states can climb straight to every goal there."""
    for start in range(len(way.representative)):
        near = way.distance[way.representative[start]] <= most * unit(graph)
        straight = near and all_covered(desk.attempts, graph, regions, start, ends, way.goal)
        desk.straight[start] = way.goal if straight else -1


@kernel
def _first_straight(
    desk: Desk, graph: Layout, regions: Regions, way: Way, start: int, first: int, last: int, through: bool
) -> int:
    """Return the first place on the trail from which agents can climb to any goal: farther on they might pass it."""
    for at in range(first, last):
        straight = desk.straight[way.region[desk.trail[at]]] == way.goal
        if straight and _is_in_reach(desk, graph, regions, start, at, through):
            return at
    return last


@kernel
def _lay_trail(desk: Desk, graph: Layout, way: Way, start: int, most: int) -> tuple[int, int]:
    """Write the next ``most`` states of the central path, and return their number and the first possible subgoal.

    If none of them is possible, the path is followed further until one is.
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
    """Return whether a state lies in another region that is nearer to the goal, or in the one that the end lies in.

    If all subgoals do, a chain of subgoals ends: in the region of the end there are no more.
    """
    region = way.region[state]
    return bool(region != start and (region == way.home or way.distance[way.representative[region]] < near))


@kernel
def _farthest(
    desk: Desk, graph: Layout, regions: Regions, start: int, first: int, length: int, through: bool
) -> tuple[int, int]:
    """Return the farthest place on the trail that a region can climb to, directly or ``through`` a hub; or -1.

    Mostly all places up to some point are within reach. It is found with strides that double, then by bisection; beyond
    it a few more places are tried. Also returns how many places of the trail the result depends on.
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
    """Return whether a region can climb to the state at this place of the trail."""
    if through:
        return is_reached(desk.attempts, graph, regions, start, int64(desk.trail[at]))
    return is_covered(desk.attempts, graph, regions, start, int64(desk.trail[at]))


@kernel
def _last_subgoal(
    desk: Desk, graph: Layout, regions: Regions, way: Way, start: int, first: int, last: int, through: bool
) -> int:
    """Return the last place on the trail up to ``last`` that is a possible subgoal and can be climbed to; or -1."""
    near = _near(graph, way, start)
    for at in range(last, first - 1, -1):
        leads_on = _leads_on(way, start, int64(desk.trail[at]), near)
        if leads_on and (at == last or _is_in_reach(desk, graph, regions, start, at, through)):
            return at
    return -1


@kernel
def choose_hubs(attempts: Attempts, graph: Layout, regions: Regions, region: int, aims: States, via: States) -> None:
    """Write the hub where one is needed, and strike out the aims that can be climbed to: a depth of 1 is enough."""
    for i in range(len(aims)):
        aim = int64(aims[i])
        if aim == NO_STATE:
            continue
        if not is_covered(attempts, graph, regions, region, aim):
            via[i] = best_hub(graph, regions, region, aim)
            if via[i] == NO_STATE:
                continue
        aims[i] = NO_STATE
