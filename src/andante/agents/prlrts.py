"""PR LRTS: real-time search between regions of the map, each plan refined into moves by A* in a corridor.

Bulitko, Sturtevant, Lu and Yau (2007), Figure 6; line numbers are that figure's. Which algorithm runs on which level is
a parameter: LRTS on top, levels in between passed through and A* on the ground are the paper's choice, LRTS_l(d, gamma,
T) in its short form, which is read and written. With LRTA* on top, which walks one abstract move and plans anew, it is
PR LRTA* of Bulitko, Luštrek, Schaeffer, Björnsson and Sigmundarson (2008), whose depth and goal a pattern database may
choose: one over the level that it plans on, with that level's own states or those of a higher level for regions (one or
two abstractions).

Where the papers are silent: an agent in the goal's region plans within that region; the path's end is represented by
the goal if it lies there, else by the state below it that is nearest to its place. A node holds the value that was last
learned for it, whatever for; LRTS below the top has a new goal with each plan and no quota, so that it may never
arrive: the paper, too, found A* best there.

With sight the levels are mended before every move, and the agent plans anew when its next move is blocked
(``replan=cut``). Until then it keeps its path: a refined path consists of ground states, which no repair renumbers.
``graph`` follows the letter of section 4.1 and plans anew whenever nodes or arcs of the level it plans on have changed,
``wall`` at every wall that comes into sight. The paper also resets all values of an abstract level whose graph has
changed; ``forget=level`` does. With sight 10 every region seen for the first time then undoes the learning of all
trials before, which takes up to sixty times the travel and is not what the paper's curves show; the default forgets
only what was learned in regions that no longer exist. What was learned in other regions towards one that no longer
exists stays counted as stored, though it is of no more use.

The way back is kept as the ground states that were walked, so that repair cannot break it. To go back is to return
through the regions that lie over them now, to the last one, other than the agent's own, in which it planned. Where
repair has left two regions on the way without an arc between them, there is nothing to go back to, and the agent goes
forward. On level 0 this is LRTS, with sight and without.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import Cover
from andante.abstraction.corridor import (
    EVERYWHERE,
    Corridor,
    Route,
    mark,
    next_on,
    search_within,
    under,
)
from andante.abstraction.hierarchy import DEFAULT_COVER
from andante.abstraction.layers import LEAST_COST, ancestor
from andante.abstraction.levels import (
    UNCHANGED,
    Discovered,
    Fixed,
    Levels,
    catch_up,
    child_towards,
    how_many_went,
    most_nodes,
    which_went,
)
from andante.abstraction.repair import Keep
from andante.abstraction.wayback import turn_round
from andante.agent import IN_COST, STUCK, UNREACHABLE, Card, Move, Range, algorithm, dialect, setting
from andante.control.depth import DepthBy
from andante.control.goal import GoalBy
from andante.control.regions import Steering, course
from andante.kernel import kernel
from andante.notation import Word
from andante.search.behind import Behind, forget, leave
from andante.search.learning import raise_to
from andante.search.lookahead import Ball, look, max_of_min, path_out
from andante.search.memory import Clock, Log, Space
from andante.search.tables import Tables, forget_state, turn_to
from andante.world.graph import Arrays, unit
from andante.world.heuristics import TOLERANCE


class Top(Word):
    """What plans on the highest level."""

    ASTAR = 1
    LRTS = 2
    LRTA = 3


class Between(Word):
    """What refines the plan on the levels between the highest and the ground."""

    PASS = 0  # nothing: the next level below goes by the plan from above
    ASTAR = 1
    LRTS = 2


class Ground(Word):
    """What refines the plan on the ground."""

    ASTAR = 1
    LRTS = 2


class Replan(Word):
    """When an agent with sight drops its path and plans anew."""

    CUT = 0  # when the next move of the path is blocked
    GRAPH = 1  # ... or when the graph of the level that it plans on has changed
    WALL = 2  # ... or when it sees any wall for the first time


class Forget(Word):
    """What is forgotten when a wall that the agent discovers changes a level."""

    REGION = 0  # what was learned in regions that no longer exist
    LEVEL = 1  # all that was learned, once the level that is planned on has changed: the paper's rule


_PASS, _ASTAR, _LRTA = int(Between.PASS), int(Top.ASTAR), int(Top.LRTA)
_GRAPH, _WALL, _LEVEL = int(Replan.GRAPH), int(Replan.WALL), int(Forget.LEVEL)


class Params(NamedTuple):
    """On which level PR LRTS plans, how, and how it refines; the defaults are one of the paper's settings."""

    level: Annotated[int, Range(0, 20), "l: the level to plan on; 0 is the map itself"] = 3
    depth: Annotated[int, Range(1, 100), "d: abstract moves to look ahead"] = 9
    gamma: Annotated[float, Range(1e-9, 1), "weight of costs against the heuristic, 1 for best paths"] = 0.4
    quota: Annotated[
        float, Range(0), IN_COST, "T: how much to learn in a trial before every lesson means going back"
    ] = math.inf
    top: Annotated[Top, "what plans on that level"] = Top.LRTS
    between: Annotated[Between, "what refines the plan between that level and the ground"] = Between.PASS
    ground: Annotated[Ground, "what refines the plan on the ground"] = Ground.ASTAR
    depth_by: Annotated[DepthBy, "what chooses the depth: fixed or pattern"] = DepthBy.FIXED
    goal_by: Annotated[GoalBy, "what chooses the goal of a plan: global or pattern"] = GoalBy.GLOBAL
    cover: Annotated[Cover, "how cliques are chosen"] = DEFAULT_COVER
    keep: Annotated[Keep, "which regions stay when a discovered wall cuts into them"] = Keep.CONNECTED
    forget: Annotated[Forget, "what is forgotten when a discovered wall changes a level"] = Forget.REGION
    replan: Annotated[Replan, "with sight, when to plan anew: the path is cut, the level changes, a wall is seen"] = (
        Replan.CUT
    )

    @property
    def needs(self) -> tuple[str, ...]:
        """The databases that depth and goal are looked up in."""
        return ("pattern",) if self.depth_by is DepthBy.PATTERN or self.goal_by is GoalBy.PATTERN else ()

    @property
    def real_time(self) -> bool:
        """A* plans the whole path on the highest level, and levels grow with the map."""
        return self.top is not Top.ASTAR

    @property
    def complete(self) -> bool:
        """LRTS below the highest level, if that is not the ground, may walk in circles."""
        refined = (self.ground,) if self.between is Between.PASS or self.level < 2 else (self.ground, self.between)
        return self.level == 0 or not any(part in (Ground.LRTS, Between.LRTS) for part in refined)


MIND = np.dtype(
    [
        ("era", np.int64),  # how often all was forgotten
        ("problem", np.int64),  # the problem that this era belongs to
        ("goals_before", np.int64),  # the last number of a goal before this era
        ("stored", np.int64),  # values stored in this era
        ("learned", np.float64),  # u
        ("trial", np.int64),  # the trial that u, the way behind and the way back belong to
        ("back", np.bool_),  # whether the route is a way back
    ],
    align=True,
)


class Mind(NamedTuple):
    """What was learned on each level, and arrays to look ahead on any."""

    tables: Tables
    ball: Ball
    behind: Behind  # ground states walked in this trial
    scalars: npt.NDArray[Any]  # [1], of MIND
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Mind:
        """Room to learn on every level, and for the way back if the agent will ever take it."""
        nodes, params = most_nodes(space), space.params
        may_turn = params.quota < math.inf and params.top is not Top.ASTAR
        return cls(
            Tables.over(nodes, Log.of(0)),
            Ball.over(nodes, nodes, LEAST_COST * space.graph.unit, math.inf, ties=True),
            Behind.over(space.states if may_turn else 0),
            np.zeros(1, MIND),
            space.clock,
        )


class Memory(NamedTuple):
    """The levels, and what is learned on them."""

    levels: Levels
    mind: Mind
    steering: Steering


class Effort(NamedTuple):
    """What a part of the planning took, as in `Move`."""

    expanded: int
    touched: int
    learned: float


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """One move of PR LRTS: on with the plan, or a new one."""
    route, mind = memory.levels.route, memory.mind
    path = route.scalars[0]
    at = mind.scalars[0]
    _begin(mind)
    held, work = at["stored"], Effort(0, 0, 0.0)
    if _take_in_walls(memory, graph, params):
        path["moves"] = -1
    to, cost = next_on(route, graph, state)
    if cost < np.inf:
        if not at["back"]:
            leave(mind.behind, ~state)
    else:
        work = _plan(memory, graph, params, state, goal)
        path["trial"] = route.clock[0]["trial"]
        to, cost = next_on(route, graph, state)
    if cost == np.inf:
        to, cost = UNREACHABLE if path["moves"] < 0 else STUCK, 0.0
    path["moves"] -= 1
    return Move(to, cost, work.expanded, work.touched, work.learned, at["stored"] - held)


# --- what is remembered ---------------------------------------------------------------------------------------------


@kernel
def _begin(mind: Mind) -> None:
    """Forget what another problem taught, and where another trial came along."""
    at = mind.scalars[0]
    if at["problem"] != mind.clock[0]["problem"]:
        at["problem"] = mind.clock[0]["problem"]
        _forget_all(mind)
    if at["trial"] != mind.clock[0]["trial"]:
        at["trial"] = mind.clock[0]["trial"]
        at["learned"] = 0.0
        at["back"] = False
        forget(mind.behind)


@kernel
def _take_in_walls(memory: Memory, graph: Arrays, params: Params) -> bool:
    """Make the levels fit what is known of the map, and forget what no longer holds; is the plan to be dropped?"""
    changed = catch_up(memory.levels.held, graph)
    if changed == UNCHANGED:
        return False
    _forget_regions(memory.mind, memory.levels.held)
    if params.forget == _LEVEL and changed >= params.level > 0:
        _forget_all(memory.mind)
    return params.replan == _WALL or (params.replan == _GRAPH and changed >= params.level)


@kernel
def _forget_regions(mind: Mind, held: Fixed | Discovered) -> None:
    """Forget what was learned in regions that no longer exist."""
    at = mind.scalars[0]
    for k in range(how_many_went(held)):
        node = which_went(held, k)
        if mind.tables.h.stamp[node] > at["goals_before"]:
            at["stored"] -= 1
        forget_state(mind.tables, node)


@kernel
def _forget_all(mind: Mind) -> None:
    """Begin a new era, in which nothing is learned yet."""
    at = mind.scalars[0]
    at["era"] += 1
    at["goals_before"] = mind.tables.scalars[0]["used"]
    at["stored"] = 0


# --- planning -------------------------------------------------------------------------------------------------------


@kernel
def _plan(memory: Memory, graph: Arrays, params: Params, state: int, goal: int) -> Effort:
    """Plan on the highest level and refine the plan down to the ground: the route. There is none if no way leads on."""
    route, layers, mind = memory.levels.route, memory.levels.held.layers, memory.mind
    path = route.scalars[0]
    expanded, touched, learned = 0, 0, 0.0
    level, up = params.level, EVERYWHERE
    while level >= 0:
        within = under(route, graph, layers, up)
        here, there, depth = ancestor(layers, state, level), ancestor(layers, goal, level), params.depth
        if up != EVERYWHERE:
            there = child_towards(memory.levels, within, there)  # line 6
        elif here != there:
            chosen = course(memory.steering.by, state, here, there, depth)
            there, depth = chosen.goal, chosen.depth
        work = _plan_level(route, mind, within, params, depth, level, here, there)  # lines 9 to 13
        expanded, touched, learned = expanded + work.expanded, touched + work.touched, learned + work.learned
        if path["moves"] < 0:
            break
        if up == EVERYWHERE:
            _keep_to_quota(route, mind, within, params, state, work.learned)
        if level > 0:
            mark(route, layers, False)  # line 8
        up = level if params.between == _PASS else 1
        level = level - up if level > 0 else -1
    return Effort(expanded, touched, learned)


@kernel
def _plan_level(
    route: Route, mind: Mind, within: Corridor, params: Params, depth: int, level: int, here: int, there: int
) -> Effort:
    """Plan from ``here`` to ``there`` by the algorithm of the level: the plan becomes the route."""
    path = route.scalars[0]
    if here == there:
        route.node[0], path["moves"] = here, 0
        return Effort(0, 0, 0.0)
    algorithm = params.top if within.up == EVERYWHERE else params.between if level > 0 else params.ground
    if algorithm == _ASTAR:  # line 10
        expanded, touched = search_within(route, within, level, here, there)
        return Effort(expanded, touched, 0.0)
    return _learn(route, mind, within, params.gamma, depth, here, there, algorithm == _LRTA)  # line 11


@kernel
def _learn(
    route: Route, mind: Mind, within: Corridor, gamma: float, depth: int, here: int, there: int, lrta: bool
) -> Effort:
    """Look ahead and learn, by the rule of LRTA* or else of LRTS: the best way, or its first move, is the route."""
    path = route.scalars[0]
    at = mind.scalars[0]
    turn_to(mind.tables, there, at["era"])
    h = mind.tables.h
    best = look(mind.ball, within, h, here, there, depth, gamma, lrta, TOLERANCE * gamma * unit(within))
    if best.slot < 0:
        path["moves"] = -1
        return Effort(best.expanded, best.touched, 0.0)
    known = h.stamp[here] > at["goals_before"]  # for whatever goal: a node holds one value
    new = best.f if lrta else max_of_min(mind.ball, best, there)
    learned, stored = raise_to(h, within, here, there, new, gamma)
    at["stored"] += 0 if known else stored
    moves = path_out(mind.ball, within, best, route.node)
    if lrta:
        route.node[0], moves = route.node[moves - 1], 1
    route.node[moves], path["moves"] = here, moves
    return Effort(best.expanded, best.touched, learned)


@kernel
def _keep_to_quota(route: Route, mind: Mind, within: Corridor, params: Params, state: int, learned: float) -> None:
    """Turn round if too much was learned in this trial; else remember that the agent planned here."""
    at = mind.scalars[0]
    at["learned"] += learned
    at["back"] = False
    if at["learned"] > params.quota + TOLERANCE * params.gamma * unit(within):
        at["learned"] = params.quota
        at["back"] = turn_round(route, mind.behind, within, params.level, state)
    if not at["back"]:
        leave(mind.behind, state)


# --- names ----------------------------------------------------------------------------------------------------------


@algorithm(
    Card(
        "prlrts",
        "PR LRTS",
        paper="Bulitko, Sturtevant, Lu & Yau 2007",
        real_time=True,
        complete=True,
        senses=True,
        regions=True,
        examples=(
            "prlrts(level=2, depth=3, gamma=0.8, quota=100.0)",
            "prlrts(level=2, between=astar)",
        ),
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
        summary="PR LRTS that walks one move between regions and plans anew.",
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
        summary="PR LRTA* that is told, before each plan, how deep to look and towards which region.",
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
