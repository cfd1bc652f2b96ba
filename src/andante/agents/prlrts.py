"""PR LRTS: real-time search between regions of the map, each plan refined into moves by A* in a corridor.

Bulitko, Sturtevant, Lu and Yau (2007), Figure 6; line numbers refer to that figure. Each level's algorithm is a
parameter. The paper's choice is LRTS on the highest level, no algorithm in between and A* on the ground; its short form
is LRTS_l(d, gamma, T). With LRTA* on the highest level, one abstract move per plan, it is PR LRTA* of
Bulitko, Luštrek, Schaeffer, Björnsson and Sigmundarson (2008). A pattern database over the level it plans on, whose
regions are states of that level or of a higher one, may choose depth and goal.

Where the papers are silent: an agent in the goal's region plans within that region. The end of a path stands for the
goal if the goal is below it, else for the state below it nearest to its point. LRTS below the highest level has a new
goal with each plan and no quota, so it may never arrive; the paper, too, found that A* is best there.

With sight, the levels are repaired before every move. By default the agent keeps its path until the next move is
blocked; a refined path consists of ground states, which repair never renumbers. ``replan=graph`` follows section 4.1 to
the letter. The paper also resets all values of an abstract level that has changed, as ``forget=level`` does. With sight
10 each newly seen region then cancels the learning of all earlier trials. This costs up to sixty times the travel and
is not what the paper's curves show. On a map that changes, the levels are repaired for all agents between their moves.
A plan that fails because the levels lag behind is made again, and so is one that an opened cell may shorten by a tenth.
Values of regions are kept when cells open, but those of cells are forgotten. On level 0 this is LRTS, with sight and
without.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, NamedTuple

import numpy as np

from andante.abstraction.clique import Cover
from andante.abstraction.corridor import EVERYWHERE, advance, drop, keep, mark, next_on, under
from andante.abstraction.hierarchy import DEFAULT_COVER
from andante.abstraction.layers import ancestor
from andante.abstraction.learning import Mind, begin, forget_all, forget_regions
from andante.abstraction.levels import (
    OUT_OF_ROOM,
    UNCHANGED,
    Levels,
    catch_up,
    child_towards,
    has_opened,
    is_behind,
    is_short_of_room,
    look_for_openings,
)
from andante.abstraction.planning import Method, keep_to_quota, plan_on
from andante.abstraction.repair import Keep
from andante.agent import IN_COST, STUCK, UNREACHABLE, Card, Move, Range, algorithm, dialect, setting
from andante.control.depth import DepthBy
from andante.control.goal import GoalBy
from andante.control.regions import Steering, course
from andante.kernel import kernel
from andante.notation import Word
from andante.search.behind import leave
from andante.search.effort import Effort
from andante.search.memory import Space
from andante.world.layout import Arrays


class Top(Word):
    """The algorithm that plans on the highest level."""

    ASTAR = 1
    LRTS = 2
    LRTA = 3


class Between(Word):
    """The algorithm that refines the plan on the levels between the highest and the ground."""

    PASS = 0  # none: the ground refines the plan of the highest level directly
    ASTAR = 1
    LRTS = 2


class Ground(Word):
    """The algorithm that refines the plan on the ground."""

    ASTAR = 1
    LRTS = 2


class Replan(Word):
    """The events after which an agent with sight drops its path and plans again."""

    CUT = 0  # the next move of the path is blocked
    GRAPH = 1  # this, or the graph of the level that it plans on has changed
    WALL = 2  # either of these, or it sees any wall for the first time


class Forget(Word):
    """The values that are forgotten when a wall that the agent discovers changes a level."""

    REGION = 0  # the values of regions that no longer exist
    LEVEL = 1  # all values, once the level that is planned on has changed: the paper's rule


_PASS, _ASTAR, _LRTA = int(Between.PASS), int(Top.ASTAR), int(Top.LRTA)
_GRAPH, _WALL, _LEVEL = int(Replan.GRAPH), int(Replan.WALL), int(Forget.LEVEL)


class Params(NamedTuple):
    """The level that PR LRTS plans on, how it plans and how it refines; the defaults are a setting of the paper."""

    level: Annotated[int, Range(0, 20), "l: the level to plan on; 0 is the map itself"] = 3
    depth: Annotated[int, Range(1, 100), "d: abstract moves to look ahead"] = 9
    gamma: Annotated[float, Range(1e-9, 1), "weight of costs against the heuristic, 1 for best paths"] = 0.4
    quota: Annotated[
        float, Range(0), IN_COST, "T: amount to learn in a trial before all further learning means going back"
    ] = math.inf
    top: Annotated[Top, "what plans on that level"] = Top.LRTS
    between: Annotated[Between, "what refines the plan between that level and the ground"] = Between.PASS
    ground: Annotated[Ground, "what refines the plan on the ground"] = Ground.ASTAR
    depth_by: Annotated[DepthBy, "what chooses the depth: fixed or pattern"] = DepthBy.FIXED
    goal_by: Annotated[GoalBy, "what chooses the goal of a plan: global or pattern"] = GoalBy.GLOBAL
    cover: Annotated[Cover, "how cliques are chosen"] = DEFAULT_COVER
    keep: Annotated[Keep, "which regions stay when a discovered wall cuts into them"] = Keep.CONNECTED
    forget: Annotated[Forget, "what is forgotten when a discovered wall changes a level"] = Forget.REGION
    replan: Annotated[Replan, "with sight, when to replan: the path is cut, the level changes, a wall is seen"] = (
        Replan.CUT
    )

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of databases that depth and goal are looked up in."""
        return ("pattern",) if self.depth_by is DepthBy.PATTERN or self.goal_by is GoalBy.PATTERN else ()

    @property
    def real_time(self) -> bool:
        """Whether planning per move is bounded: A* on the highest level plans whole paths, longer on larger maps."""
        return self.top is not Top.ASTAR

    @property
    def learns_from(self) -> int:
        """The lowest level on which values may be learned."""
        if self.level == 0 or self.ground is Ground.LRTS:
            return 0
        return 1 if self.between is Between.LRTS else self.level

    @property
    def crowd(self) -> bool:
        """Whether it can be one of many units: A* on the highest level cannot stay within their budget."""
        return self.real_time

    @property
    def living(self) -> bool:
        """Whether it follows maps that change: levels do, but a pattern database is for one version of the map."""
        return not self.needs

    @property
    def complete(self) -> bool:
        """Whether it arrives: LRTS below the highest level may walk in circles."""
        refined = (self.ground,) if self.between is Between.PASS or self.level < 2 else (self.ground, self.between)
        return self.level == 0 or not any(part in (Ground.LRTS, Between.LRTS) for part in refined)


class Memory(NamedTuple):
    """The levels, the values learned on them, and the databases that choose the depth and goal of a plan."""

    levels: Levels
    mind: Mind
    steering: Steering

    def with_more_room(self, space: Space) -> Memory:
        """Return the same memory, with the space for regions that ``space`` allows for."""
        return self._replace(levels=self.levels.with_more_room(space), mind=self.mind.with_more_room(space))


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of PR LRTS: the next move of the plan, or the first of a new one."""
    ahead, mind = memory.levels.route.ahead, memory.mind
    at = mind.scalars[0]
    begin(mind)
    held, work = at["stored"], Effort(0, 0, 0.0)
    look_for_openings(memory.levels.held, ahead, graph, state, goal)
    if _take_in_walls(memory, graph, params):
        drop(ahead)
        if is_short_of_room(memory.levels.held):  # wait: there will be more space before the next move
            return Move(state, 0.0, 0, 0, 0.0, at["stored"] - held)
    to, cost = next_on(ahead, graph, state)
    if cost < np.inf:
        if not at["back"]:
            leave(mind.behind, ~state)
    else:
        work = _plan(memory, graph, params, state, goal)
        keep(memory.levels.route, graph)
        to, cost = next_on(ahead, graph, state)
    if cost == np.inf:
        to, cost = UNREACHABLE if ahead.scalars[0]["moves"] < 0 else STUCK, 0.0
        if is_behind(memory.levels.held):  # wait: the levels have yet to follow the map
            to = state
            drop(ahead)
    advance(ahead, cost)
    return Move(to, cost, work.expanded, work.touched, work.learned, at["stored"] - held)


@kernel
def _take_in_walls(memory: Memory, graph: Arrays, params: Params) -> bool:
    """Repair the levels after walls were seen, forget outdated values, and return whether to drop the plan."""
    changed = catch_up(memory.levels.held, graph)
    if changed == UNCHANGED:
        return False
    if changed == OUT_OF_ROOM:
        forget_all(memory.mind)
        return True
    forget_regions(memory.mind, memory.levels.held)
    if memory.mind.first == 0 and has_opened(memory.levels.held):  # values of cells may be too high now
        forget_all(memory.mind)
    if params.forget == _LEVEL and changed >= params.level > 0:
        forget_all(memory.mind)
    return params.replan == _WALL or (params.replan == _GRAPH and changed >= params.level)


@kernel
def _plan(memory: Memory, graph: Arrays, params: Params, state: int, goal: int) -> Effort:
    """Plan on the highest level and refine the plan down to the ground; the route has -1 moves if no path leads on."""
    route, layers, mind = memory.levels.route, memory.levels.held.layers, memory.mind
    path = route.scalars[0]
    expanded, touched, learned = 0, 0, 0.0
    level, up = params.level, EVERYWHERE
    while level >= 0:
        within = under(route, graph, layers, up)
        here, there, depth = ancestor(layers, state, level), ancestor(layers, goal, level), params.depth
        if level > 0 and (here == 0 or there == 0):  # a cell was opened, and the levels above are not repaired yet
            path["moves"] = -1
            break
        if up != EVERYWHERE:
            there = child_towards(memory.levels, within, there)  # line 6
        elif here != there:
            chosen = course(memory.steering.by, state, here, there, depth)
            there, depth = chosen.goal, chosen.depth
        planner = params.top if up == EVERYWHERE else params.between if level > 0 else params.ground
        method = Method(planner == _ASTAR, planner == _LRTA, depth, params.gamma)
        work = plan_on(route, mind, within, method, level, here, there)  # lines 9 to 13
        expanded, touched, learned = expanded + work.expanded, touched + work.touched, learned + work.learned
        if path["moves"] < 0:
            break
        if up == EVERYWHERE:
            keep_to_quota(route, mind, within, params.quota, params.gamma, level, state, work.learned)
        if level > 0:
            mark(route, layers, False)  # line 8
        up = level if params.between == _PASS else 1
        level = level - up if level > 0 else -1
    return Effort(expanded, touched, learned)


# --- names ----------------------------------------------------------------------------------------------------------


@algorithm(
    Card(
        "prlrts",
        "PR LRTS",
        paper="Bulitko, Sturtevant, Lu & Yau 2007",
        real_time=True,
        complete=True,
        senses=True,
        living=True,
        crowd=True,
        regions=True,
        examples=("prlrts(level=2, depth=3, gamma=0.8, quota=100.0)", "prlrts(level=2, between=astar)"),
        shown=("prlrts",),
    )
)
class PRLRTS:
    """The three parts of PR LRTS."""

    Params, Memory, step = Params, Memory, step


setting(
    "prlrts",
    Card(
        "prlrta",
        "PR LRTA*",
        paper="Bulitko, Luštrek, Schaeffer, Björnsson & Sigmundarson 2008",
        real_time=True,
        complete=True,
        senses=True,
        regions=True,
        examples=("prlrta(level=2, depth=5, gamma=1.0)",),
        summary="PR LRTS that walks one move between regions and plans again.",
    ),
    top=Top.LRTA,
    between=Between.PASS,
    ground=Ground.ASTAR,
    quota=math.inf,
)
setting(
    "prlrta",
    Card(
        "dprlrta",
        "PR LRTA* (PDB, PDB)",
        paper="Bulitko, Luštrek, Schaeffer, Björnsson & Sigmundarson 2008",
        real_time=True,
        complete=True,
        needs=("pattern",),
        examples=("dprlrta(level=1)",),
        summary="PR LRTA* with the depth and the goal of each plan from a pattern database.",
    ),
    depth_by=DepthBy.PATTERN,
    goal_by=GoalBy.PATTERN,
)

_SHORT = re.compile(r"LRTS_?(\d+)\(\s*(?:d\s*=\s*)?(\d+)\s*,\s*([\d.]+)\s*,\s*(inf|∞|[\d.]+)\s*\)")


@dialect
def short_form(text: str) -> str | None:
    """Read the paper's short form, LRTS_l(d, gamma, T).

    >>> short_form("LRTS_3(9, 0.4, ∞)")
    'prlrts(level=3, depth=9, gamma=0.4, quota=inf)'
    """
    found = _SHORT.fullmatch(text.strip())
    if found is None:
        return None
    level, depth, gamma, quota = found.groups()
    return f"prlrts(level={level}, depth={depth}, gamma={gamma}, quota={quota.replace('∞', 'inf')})"
