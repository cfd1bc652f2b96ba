"""Far subgoals: middles of regions that all states of a region can climb straight to (docs/decisions/0012).

The middle of a region is its representative. An agent that has reached a subgoal is in the middle of a region, and
subgoals are chosen for that state. So after the first leg nothing is lost because an agent is not in the middle.

For one goal, regions are processed in order of their distance. The cost from the middle of a region to the goal is the
cost of the climb to its subgoal plus the known cost from there. The subgoal with the least cost is chosen. A chain of
subgoals ends, because each subgoal is in a region that was processed before.

Where some states of a region cannot climb to a subgoal but its middle can, they go to the middle first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.pattern import NO_STATE
from andante.kernel import int64, kernel, uint64
from andante.offline.aims import Destination
from andante.offline.builder import Crew, Making
from andante.offline.climbs import Attempts, Parts, Regions, all_covered, is_covered
from andante.offline.division import Ground, States, climbs
from andante.search.dijkstra import is_optimal
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Layout, degree, estimate, price, target, unit

MIDDLE = 0.9  # the weight of a region's middle, compared with its other states
ENOUGH = 0.05  # the excess over the best cost allowed to a recent subgoal, in cardinal moves
EQUAL = 0.01  # among new subgoals whose costs differ by less, the farthest is chosen
RECENT = 4  # recent subgoals of a region that are tried for the next goal
SAMPLED = 8  # the most states of a region whose mean is taken
GOALS_SAMPLED = 16  # the most goals whose mean is taken
PART = 64  # regions that a thread takes at a time

Costs = npt.NDArray[np.float64]


class Legs(NamedTuple):
    """The regions whose middle can be climbed to from each region."""

    begin: npt.NDArray[np.int64]  # [regions + 1], the first leg of each region
    to: States  # [legs]
    cost: Costs  # [legs], from the middle
    mean: Costs  # [legs], from all states, the middle counting most; through the middle if not all can climb there


class Desk(NamedTuple):
    """The buffers that one thread needs to choose legs."""

    attempts: Attempts
    cost: Costs  # [regions], from the middle of each region to the goal
    recent: npt.NDArray[np.int64]  # [regions, RECENT], the last legs of a region, most recent first; -1: none

    @classmethod
    def over(cls, n: int, regions: int) -> Desk:
        """Return empty buffers."""
        return cls(Attempts.over(n), np.empty(regions), np.full((regions, RECENT), -1, np.int64))


# --- legs -----------------------------------------------------------------------------------------------------------


def legs_of(ground: Ground, regions: Regions, most: int, crew: Crew) -> Making[Legs]:
    """Return the legs from each region to middles that are at most about ``most`` moves away."""
    arrays, middle = ground.graph.arrays, ground.representative
    rooms = [Attempts.over(len(ground.graph)) for _ in range(crew.threads)]

    def work(attempts: Attempts, starts: range) -> list[tuple[States, Costs, Costs]]:
        to, cost, mean = np.empty(len(middle), np.int32), np.empty(len(middle)), np.empty(len(middle))
        found = []
        for start in starts:
            count = _legs_from(attempts, arrays, regions, middle, start, most, to, cost, mean)
            found.append((to[:count].copy(), cost[:count].copy(), mean[:count].copy()))
        return found

    made = yield from crew.each(work, crew.parts(len(middle), PART), rooms, "finding climbs between regions")
    found = [legs for part in made for legs in part]
    begin = np.concatenate([[0], np.cumsum([len(legs[0]) for legs in found])]).astype(np.int64)
    none = no_legs()
    to = np.concatenate([none.to, *(legs[0] for legs in found)])
    cost, mean = (np.concatenate([none.cost, *(legs[k] for legs in found)]) for k in (1, 2))
    return Legs(begin, to, cost, mean)


def no_legs() -> Legs:
    """Return empty legs, for rules that do not need any."""
    return Legs(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros(0))


@kernel
def _legs_from(
    attempts: Attempts,
    graph: Layout,
    regions: Regions,
    middles: States,
    start: int,
    most: int,
    to: States,
    cost: Costs,
    mean: Costs,
) -> int:
    """Write the legs from one region, and return their number."""
    middle, count = int64(middles[start]), 0
    can_gather = is_covered(attempts, graph, regions, start, middle)
    gathering = _mean_estimate(graph, regions, start, middle)
    for other in range(len(middles)):
        aim = int64(middles[other])
        apart = estimate(graph, middle, aim)
        if other == start or apart > most * unit(graph) or not climbs(graph, middle, aim):
            continue
        if is_covered(attempts, graph, regions, start, aim):
            rest = _mean_estimate(graph, regions, start, aim)
        elif can_gather:
            rest = gathering + apart
        else:
            continue
        to[count], cost[count], mean[count] = other, apart, MIDDLE * apart + (1.0 - MIDDLE) * rest
        count += 1
    return count


@kernel
def _mean_estimate(graph: Layout, regions: Regions, start: int, aim: int) -> float:
    """Return the mean heuristic distance of some states of a region from ``aim``, the outermost first."""
    begin, end = regions.begin[start], regions.begin[start + 1]
    stride = (end - begin + SAMPLED - 1) // SAMPLED
    total, asked = 0.0, 0
    for i in range(end - 1, begin - 1, -stride):
        total += estimate(graph, int64(regions.member[i]), aim)
        asked += 1
    return float(total / asked)


@kernel
def choose_vias(
    attempts: Attempts, graph: Layout, regions: Regions, start: int, middle: int, aims: States, via: States
) -> None:
    """Write the middle if agents must pass it, and remove the aims for which a depth of 1 is enough."""
    can_gather = is_covered(attempts, graph, regions, start, middle)
    for i in range(len(aims)):
        aim = int64(aims[i])
        if aim == NO_STATE:
            continue
        if not is_covered(attempts, graph, regions, start, aim):
            if not can_gather or not climbs(graph, middle, aim):
                continue
            via[i] = middle
        aims[i] = NO_STATE


# --- subgoals for one goal ------------------------------------------------------------------------------------------


@kernel
def go_far(
    desk: Desk,
    graph: Layout,
    regions: Regions,
    ends: Parts,
    legs: Legs,
    there: Destination,
    nearest: npt.NDArray[np.int64],
    most: int,
    entry: States,
) -> None:
    """Find a subgoal for each region between ``there.beyond`` and ``there.within``.

    ``nearest`` contains all regions up to ``there.within``, by the distance of their middle. From those up to
    ``there.beyond`` agents are assumed to follow a shortest path.
    """
    desk.cost[:] = np.inf
    _arrive(desk, graph, ends, there, there.home, entry)
    for start in nearest:
        if start == there.home:
            continue
        if there.distance[there.representative[start]] <= there.beyond:
            desk.cost[start] = there.distance[there.representative[start]]
        elif _goes_straight(desk, graph, regions, ends, there, start, most):
            _arrive(desk, graph, ends, there, start, entry)
        else:
            entry[start] = _best_leg(desk, graph, legs, there, start)


@kernel
def _goes_straight(
    desk: Desk, graph: Layout, regions: Regions, ends: Parts, there: Destination, start: int, most: int
) -> bool:
    """Return whether all states of a region can climb straight to every goal, and the end is near."""
    middle = int64(there.representative[start])
    away, enough = there.distance[middle], TOLERANCE * unit(graph)
    if there.goal < 0 or away > most * unit(graph) or away > estimate(graph, middle, there.end) + enough:
        return False
    return all_covered(desk.attempts, graph, regions, start, ends, there.goal)


@kernel
def _arrive(desk: Desk, graph: Layout, ends: Parts, there: Destination, start: int, entry: States) -> None:
    """Let agents go straight to the goal from this region; its cost is the mean over some goals."""
    entry[start] = NO_STATE
    middle = int64(there.representative[start])
    if there.goal < 0:
        desk.cost[start] = there.distance[middle]
        return
    begin, end = ends.begin[there.goal], ends.begin[there.goal + 1]
    stride = (end - begin + GOALS_SAMPLED - 1) // GOALS_SAMPLED
    total, asked = 0.0, 0
    for i in range(end - 1, begin - 1, -stride):
        total += estimate(graph, middle, int64(ends.member[i]))
        asked += 1
    desk.cost[start] = total / asked


@kernel
def _best_leg(desk: Desk, graph: Layout, legs: Legs, there: Destination, start: int) -> int:
    """Return the subgoal with the least cost, or a recent one that is hardly worse."""
    least = _least(desk.cost, legs, start)
    if least == np.inf:
        return _first_nearer(desk, graph, there, start)
    recent, chosen = desk.recent, int64(-1)
    for i in range(RECENT):
        leg = int64(recent[start, i])
        if leg < 0:
            break
        if legs.mean[leg] + desk.cost[legs.to[leg]] <= least + ENOUGH * unit(graph):
            chosen = leg
            _put_first(recent, start, i, leg)
            break
    if chosen < 0:
        chosen = _farthest(desk.cost, legs, start, least + EQUAL * unit(graph))
        _put_first(recent, start, RECENT - 1, chosen)
    desk.cost[start] = legs.cost[chosen] + desk.cost[legs.to[chosen]]
    return int64(there.representative[legs.to[chosen]])


@kernel
def _least(cost: Costs, legs: Legs, start: int) -> float:
    """Return the least cost by any leg; infinite if all lead to regions that were not processed yet."""
    least = np.inf
    for i in range(uint64(legs.begin[start]), uint64(legs.begin[start + 1])):
        least = min(least, legs.mean[i] + cost[uint64(legs.to[i])])
    return least


@kernel
def _farthest(cost: Costs, legs: Legs, start: int, most: float) -> int:
    """Return the longest leg whose cost is at most this."""
    chosen, longest = int64(-1), -1.0
    for i in range(legs.begin[start], legs.begin[start + 1]):
        if legs.cost[i] > longest and legs.mean[i] + cost[legs.to[i]] <= most:
            chosen, longest = i, legs.cost[i]
    return chosen


@kernel
def _put_first(recent: npt.NDArray[np.int64], start: int, place: int, leg: int) -> None:
    """Move a leg to the front of the recent ones, replacing the one at ``place``."""
    for i in range(place, 0, -1):
        recent[start, i] = recent[start, i - 1]
    recent[start, 0] = leg


@kernel
def _first_nearer(desk: Desk, graph: Layout, there: Destination, start: int) -> int:
    """Return the state where a shortest path from the middle enters the first region that was processed before."""
    state = int64(there.representative[start])
    while there.region[state] == start or desk.cost[there.region[state]] == np.inf:
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            if is_optimal(graph, there.distance, state, near, price(graph, state, k)):
                state = near
                break
    taken = int64(there.region[state])
    desk.cost[start] = there.distance[there.representative[start]] - there.distance[state] + desk.cost[taken]
    return state
