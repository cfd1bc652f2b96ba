"""HCDPS: climb to the seed of your region, from seed to seed along stored subgoals, and from the last seed to the goal.

Lawrence and Bulitko (2013). The database (`databases/regions.py`) covers every state, so there is no learning, and no
search beyond hill-climbing: each leg of the path is known to be climbable before the agent starts on it. Without
shortcuts the agent follows the whole series: the seed of its own region, the subgoals and seeds on the path to the
goal's region, and the goal. With shortcuts it plans a climb to a later subgoal, and skips those in between if that
succeeds.

Our choices: before each move, all attempts at climbing together may take ``m`` steps, so that no move expands more than
``m`` + 1 states. Before the first move, the first attempt is to climb to the goal itself. A later subgoal is taken only
if the climb costs no more than the heuristic of the path through the subgoal that would be skipped. On the last chain
the goal is tried first. Steps of hill-climbing count as expansions.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, UNREACHABLE, Card, Move, Range, algorithm, no_move
from andante.databases.regions import Regions, chain_of, next_arc, region_of
from andante.kernel import int64, kernel
from andante.notation import Word
from andante.search.effort import Effort
from andante.search.hillclimb import approach, ascend
from andante.search.memory import Clock, Space
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, degree, estimate, price, target, unit

NOWHERE = -1
PASSED_OVER = 4  # successive subgoals equal to the agent's state: a valid database has at most two


class Shortcuts(Word):
    """Where the agent tries to skip subgoals."""

    OFF = 0  # nowhere, after the first move
    ENDS = 1  # at the start, and on the last chain
    ALL = 2  # at every subgoal


_OFF, _ALL = int(Shortcuts.OFF), int(Shortcuts.ALL)


class Params(NamedTuple):
    """Where HCDPS tries to skip subgoals, and the work that it may spend on this."""

    shortcuts: Annotated[Shortcuts, "where to try to skip subgoals"] = Shortcuts.ENDS
    m: Annotated[int, Range(0, 100_000), "steps of hill-climbing before a move, all attempts together"] = 100


PLAN = np.dtype(
    [
        ("aim", np.int64),  # the state that the agent climbs to
        ("region", np.int64),  # the region at the end of this chain
        ("goal_region", np.int64),
        ("next", np.int64),  # the next subgoal of this chain
        ("end", np.int64),  # the end of its subgoals
        ("trial", np.int64),  # the trial that these fields are for
    ]
)


class Plan(NamedTuple):
    """The subgoal that the agent climbs to, and those after it."""

    scalars: npt.NDArray[Any]  # [1], of PLAN
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Plan:
        """Return a plan without a subgoal."""
        return cls(space.mind.one(PLAN), space.clock)


class Memory(NamedTuple):
    """The database, and the plan."""

    regions: Regions
    plan: Plan


class Place(NamedTuple):
    """A position in the series of subgoals from the start to the goal."""

    aim: int  # the subgoal, or NOWHERE
    region: int  # the region that its chain leads to
    next: int  # the next subgoal of the chain; at ``end`` it is the seed, and past that another chain begins
    end: int


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of HCDPS."""
    plan, work = memory.plan, Effort(0, 0, 0.0)
    at = plan.scalars[0]
    if at["trial"] != plan.clock[0]["trial"]:
        if not _has_path(graph, memory.regions, state, goal):
            return no_move(UNREACHABLE, 0, 0)
        work = _set_out(graph, memory, params, state, goal)
    elif at["aim"] == state:
        work = _aim(graph, memory, params, state, goal, Effort(0, 0, 0.0), False)
    aim = at["aim"]
    if aim == NOWHERE:
        return no_move(STUCK, work.expanded, work.touched)
    ahead = approach(graph, state, aim, estimate(graph, state, aim))
    expanded, touched = work.expanded + 1, work.touched + degree(graph, state)
    if ahead.move < 0:
        return no_move(STUCK, expanded, touched)
    return Move(target(graph, state, ahead.move), price(graph, state, ahead.move), expanded, touched, 0.0, 0)


@kernel
def _has_path(graph: Arrays, regions: Regions, state: int, goal: int) -> bool:
    """Return whether the goal can be reached."""
    if degree(graph, state) == 0 or degree(graph, goal) == 0:
        return False
    here, there = region_of(regions, state), region_of(regions, goal)
    return here == there or next_arc(regions, here, there) >= 0


@kernel
def _set_out(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Effort:
    """Forget the last trial, and choose the first aim, which is the goal if it can be climbed to."""
    plan, regions = memory.plan, memory.regions
    at = plan.scalars[0]
    at["trial"] = plan.clock[0]["trial"]
    at["aim"] = state
    at["region"], at["goal_region"] = region_of(regions, state), region_of(regions, goal)
    at["next"], at["end"] = 0, 0  # an empty chain, so the seed is first
    straight = ascend(graph, state, goal, params.m)
    work = Effort(straight.expanded, straight.touched, 0.0)
    if straight.arrived:
        at["aim"] = goal
        return work
    return _aim(graph, memory, params, state, goal, work, True)


@kernel
def _aim(graph: Arrays, memory: Memory, params: Params, state: int, goal: int, work: Effort, first: bool) -> Effort:
    """Choose the next aim at the start or when the last one is reached; return the cost, added to ``work``."""
    plan, regions = memory.plan, memory.regions
    at = plan.scalars[0]
    there, expanded, touched = at["goal_region"], work.expanded, work.touched
    place = Place(at["aim"], at["region"], at["next"], at["end"])
    place = _beyond(regions, place, state, there, goal)
    if params.shortcuts != _OFF and not first and place.region == there and place.aim != goal and place.aim != NOWHERE:
        ahead = ascend(graph, state, goal, params.m)
        expanded, touched = expanded + ahead.expanded, touched + ahead.touched
        if ahead.arrived:
            place = Place(goal, place.region, place.next, place.end)
    if params.shortcuts == _ALL or (params.shortcuts != _OFF and first):
        for _ in range(params.m):
            if place.aim in (goal, NOWHERE) or expanded >= params.m:
                break
            later = _following(regions, place, there, goal)
            if later.aim == state:  # the path returns to this state, so all before it can be skipped
                place = _beyond(regions, later, state, there, goal)
                continue
            if later.aim == NOWHERE:
                break
            ahead = ascend(graph, state, later.aim, params.m - expanded)
            expanded, touched = expanded + ahead.expanded, touched + ahead.touched
            through_aim = estimate(graph, state, place.aim) + estimate(graph, place.aim, later.aim)
            if not ahead.arrived or ahead.cost > through_aim + TOLERANCE * unit(graph):
                break
            place = later
    at["aim"], at["region"], at["next"], at["end"] = place.aim, place.region, place.next, place.end
    return Effort(expanded, touched, 0.0)


@kernel
def _beyond(regions: Regions, place: Place, state: int, there: int, goal: int) -> Place:
    """Return the first position after this one that is not the agent's state."""
    for _ in range(PASSED_OVER):
        if place.aim == NOWHERE:
            return place
        place = _following(regions, place, there, goal)
        if place.aim != state:
            return place
    return Place(NOWHERE, place.region, place.next, place.end)


@kernel
def _following(regions: Regions, place: Place, there: int, goal: int) -> Place:
    """Return the next position: in the chain, the seed at its end, or in the next chain; after the last, the goal."""
    region, at, end = place.region, place.next, place.end
    if at > end:
        if region == there:
            return Place(goal, region, at, end)
        arc = next_arc(regions, region, there)
        if arc < 0:
            return Place(NOWHERE, region, at, end)
        at, end = chain_of(regions, region, arc)
        region = int64(regions.to[arc])
    aim = int64(regions.subgoal[at]) if at < end else int64(regions.seed[region])
    return Place(aim, region, at + 1, end)


@algorithm(
    Card(
        "hcdps",
        "HCDPS",
        paper="Lawrence & Bulitko 2013",
        real_time=True,
        crowd=True,
        complete=True,
        two_way=True,
        needs=("regions",),
        examples=("hcdps(shortcuts=all)", "hcdps(shortcuts=off, m=0)"),
        shown=("hcdps(shortcuts=off, m=0)", "hcdps(m=99)"),  # at most 1 and 100 expansions: common limits
    )
)
class HCDPS:
    """The three parts of HCDPS."""

    Params, Memory, step = Params, Memory, step
