"""TBA*: one A* search, interrupted before each move to follow the most promising path found so far.

Björnsson, Bulitko and Sturtevant (2009), Algorithm 1; line numbers refer to that algorithm. Where the paper is silent
or slips:

- Line 30 overwrites what line 27 needs, so the previous state is stored separately. The path is popped up to the
  agent's state. An agent on the last state of its path cannot follow it further, and counts as not on the path.
- ``ties`` defines which of the states with equal f is expanded first, by default the one opened last. Equal means in
  the same bucket, which is a sixteenth of a typical move's cost wide. So, as in `search.astar`, a state may be
  reopened, and the goal counts as expanded when no queued state can lead to a cheaper path: the solution is as good as
  A*'s. Each state taken from the queue is charged to the budget as an expansion, even if it turns out not to need one.
- There is at least one expansion per move, and one is left for tracing, whatever R and r are. From the move that finds
  the solution on, what is left of R is used for tracing.
- The switch rule: an agent at the end of its path takes any new one, and the solution is always taken.
- The search for a shortcut begins from all states of the solution. Those before the point where the agent left it
  change nothing. Queueing a state counts as a step of tracing, so if R is too small to queue a long solution, no
  shortcut is found. The paper does not charge this to R (``charge_queueing=false``); then the time of a move on the
  path back grows with the solution. The shortcut is taken when the agent's state is among those with the least f.
- An agent that has to reverse a move and cannot (one-way arcs) is stuck.
- If a wall is discovered on the next move of the path or of the path back, the agent waits for one move and then starts
  a new search from its state.
- On a map that changes, the search tree is kept. States around opened cells are expanded again, and a closed cell
  matters only if the agent's path leads through it. Then a new search begins from the agent's state.
- When the goal moves, the search continues with the keys that states have; a solution is extended by the goal's trail.

With a ``weight`` it is TB(WA*) of Hernández, Baier and Asín (2016). Two parameters are not in any paper that we know:

- ``walls_first``: open states at walls, and those as near to the goal as any before, are expanded before all others. A
  search that meets an obstacle then follows its sides, where the order of f would fill the whole bay in front of it.
  All other states are expanded later, so the search is still complete. It ends with the first path found, and the cost
  of that path is not bounded. A closed state to which a cheaper path is found takes it without being reopened.
- ``window``: once the solution is traced, the budget of each move is used for shortening it ahead of the agent
  (`search.shorten`), with the same shares of expansions and steps as before. An agent that is not on the solution goes
  back to it as usual, and the path back is shortened too. `shortcut` then has no effect and needs no memory.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import NOT_SAMPLED, STUCK, UNREACHABLE, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import int64, kernel
from andante.search.astar import (
    MOST_CHANGES,
    Slice,
    Tree,
    advance,
    begin,
    cost_to,
    expect_damage,
    is_damaged,
    most_promising,
    open_at,
    parent_of,
    reached,
    restart,
    take_in,
)
from andante.search.hillclimb import step_down
from andante.search.memory import Clock, Space
from andante.search.openlist import Ties, width
from andante.search.path import price_between
from andante.search.predecessors import Predecessors, turned
from andante.search.shorten import (
    Route,
    Window,
    abandon,
    begin_again,
    is_on,
    lay,
    lay_back,
    next_on,
    rest_from,
    shorten,
)
from andante.search.shorten import extend as extend_route
from andante.search.tracing import (
    CUT,
    OFF,
    TracedPaths,
    aim,
    extend,
    follow,
    forget,
    is_broken,
    is_new_longer,
    is_tracing,
    length,
    lies_ahead,
    next_on_path,
    trace,
    walk_past,
)
from andante.world.changes import changed_cell
from andante.world.layout import Arrays, degree, estimate

# The stages of planning.
SEARCHING, FOUND, TRACED, CUT_SHORT = 0, 1, 2, 3

NEVER = 0  # not the number of any trial: a search marked with it has to begin again


class Params(NamedTuple):
    """The paper's R, r and c, its two enhancements, and options for searching and shortening."""

    budget: Annotated[int, Range(2, 1e9), "R: work per move, in expansions"] = 100
    r: Annotated[float, Range(0, 1), "share of the budget for expanding; the rest is for tracing paths"] = 0.9
    c: Annotated[float, Range(1, 1e6), "steps of tracing that cost as much as one expansion"] = 10.0
    shortcut: Annotated[bool, "on the path back to the solution, look for a shorter path to the goal"] = False
    switch_rule: Annotated[bool, "keep following a path unless the new one is at least as long"] = False
    weight: Annotated[float, Range(1, 1e6), "on A*'s heuristic"] = 1.0
    window: Annotated[int | None, Range(1, 1e6), "shorten the solution, initially this many moves at a time"] = None
    window_weight: Annotated[float, Range(1, 1e6), "on A*'s heuristic when the solution is shortened"] = 1.0
    walls_first: Annotated[bool, "expand states at walls, and those nearest to the goal so far, first"] = False
    ties: Annotated[Ties, NOT_SAMPLED, "which of the states with equal f is expanded first"] = Ties.LAST
    charge_queueing: Annotated[bool, NOT_SAMPLED, "charge queueing the solution for a shortcut to R"] = True

    @property
    def real_time(self) -> bool:
        """Whether it is real-time: not if a move may queue a whole solution without a charge."""
        return self.charge_queueing or not self.shortcut or self.window is not None

    @property
    def crowd(self) -> bool:
        """Whether it can be one of many units: not if ties are broken by g, which needs a queue for all states."""
        return self.ties in (Ties.LAST, Ties.FIRST)


class Searches(NamedTuple):
    """The search from the start, the search for a shortcut, which begins after it, and the route found."""

    forward: Tree
    backward: Tree
    route: Route

    @classmethod
    def allocate(cls, space: Space) -> Searches:
        """Return arrays for all; those of the search for a shortcut are empty if there is none.

        That search reuses the queue of the first, unless that expands states at walls first.
        """
        params, ties, mind = space.params, space.params.ties, space.mind
        forward = Tree.allocate(space, ties, walls_first=params.walls_first)
        if params.shortcut and params.window is None:
            backward = Tree.allocate(space, ties) if params.walls_first else forward.with_same_queue(mind)
        else:
            backward = Tree.over(mind, 1.0, 1.0, space.log, ties, numbers=0)
        empty = Tree.over(mind, 1.0, 1.0, space.log, ties, numbers=0)
        return cls(forward, backward, Route.through(mind, empty if params.window is None else forward))


PLANNING = np.dtype(
    [
        ("stage", np.int64),
        ("start", np.int64),
        ("previous", np.int64),  # the agent's previous state
        ("trial", np.int64),  # the trial that these fields are for
        ("goal", np.int64),
        ("found", np.int64),  # the goal to which the solution was found; it may have moved since
        ("final", np.bool_),  # whether the path being traced is the solution
    ],
    align=True,
)


class Planning(NamedTuple):
    """The progress of the algorithm in the current trial."""

    scalars: npt.NDArray[Any]  # [1], of PLANNING
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Planning:
        """Return the state before the first search."""
        return cls(space.mind.one(PLANNING), space.clock)


class Memory(NamedTuple):
    """The searches, the paths, and the progress of planning."""

    searches: Searches
    paths: TracedPaths
    window: Window
    planning: Planning
    into: Predecessors


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of TBA*."""
    tree, paths, at = memory.searches.forward, memory.paths, memory.planning.scalars[0]
    expansions, steps = _shares(params)
    if at["trial"] == memory.planning.clock[0]["trial"]:
        _take_in_changes(memory, graph, params, state)
        if goal != at["goal"]:
            _pursue(memory, graph, params, goal)
    if at["trial"] != memory.planning.clock[0]["trial"]:
        _begin(memory, graph, params, state, goal)  # lines 1 to 4
        expansions = min(expansions, steps)  # so that there is a path for the first move
    work, traced = Slice(False, 0, 0, 0), 0
    if at["stage"] == SEARCHING:  # line 6
        work = advance(tree, graph, goal, params.weight, expansions)  # line 7
        if work.over:
            if not reached(tree, goal):
                return no_move(UNREACHABLE, work.expanded, work.touched)
            at["stage"], at["found"] = FOUND, goal
    if at["stage"] < TRACED:  # line 9
        if at["stage"] == FOUND:
            steps = int64((params.budget - work.steps) * params.c)
        if _cannot_trace(memory, graph, state, goal, steps):
            at["trial"] = NEVER
            return Move(state, 0.0, work.expanded, work.touched, 0.0, 0)
        traced = _trace(memory, graph, params, state, steps)  # lines 10 to 19
    elif _shortens(params):
        work = _shorten(memory, graph, params, state, goal, expansions, steps)
    expanded, touched = work.expanded, work.touched + traced
    to = _next_state(memory, graph, params, state)
    if to >= 0:  # line 21
        if at["stage"] < TRACED or not _shortens(params):
            walk_past(paths, state)  # line 22
    elif to == OFF:
        if params.shortcut and not _shortens(params) and at["stage"] == TRACED:
            left = params.budget - work.steps - int64(np.ceil(traced / params.c))
            cut = _find_shortcut(memory, graph, params, state, goal, left)
            expanded, touched = expanded + cut.expanded, touched + cut.touched
        to = _step_back(memory, state)  # lines 24 to 28
    cost = price_between(graph, state, to) if to >= 0 else np.inf
    if cost == np.inf:
        if to == CUT and at["stage"] == SEARCHING and tree.changes.scalars[0]["total"] > 0:
            forget(paths)  # a wall appeared: the search continues, and the agent takes another path
            return Move(state, 0.0, expanded, touched, 0.0, 0)
        return _stand_still(memory.planning, graph, state, to, expanded, touched)
    at["previous"] = state  # line 30
    return Move(to, cost, expanded, touched, 0.0, 0)  # line 31


@kernel
def _begin(memory: Memory, graph: Arrays, params: Params, state: int, goal: int) -> None:
    """Begin a search from the agent's state."""
    at = memory.planning.scalars[0]
    abandon(memory.searches.route, memory.window, params.window)  # type: ignore[arg-type]  # none is -1
    begin(memory.searches.forward, graph, state, goal, params.weight)
    forget(memory.paths)
    at["trial"], at["stage"] = memory.planning.clock[0]["trial"], SEARCHING
    at["start"], at["previous"], at["goal"] = state, state, goal


@kernel
def _take_in_changes(memory: Memory, graph: Arrays, params: Params, state: int) -> None:
    """Adapt to changes of the map; begin again if the solution ahead of the agent was cut."""
    tree, at = memory.searches.forward, memory.planning.scalars[0]
    before = tree.scalars[0]["seen"]
    if before == tree.changes.scalars[0]["total"]:
        return
    if at["stage"] != SEARCHING:
        expect_damage(tree)
    elif not take_in(tree, graph, at["goal"], params.weight):
        at["trial"] = NEVER
    if tree.scalars[0]["seen"] - before > MOST_CHANGES:
        at["trial"] = NEVER
        return
    if _shortens(params):
        begin_again(memory.window, params.window)  # type: ignore[arg-type]  # none is -1
    for k in range(before, tree.scalars[0]["seen"]):
        cell = changed_cell(tree.changes, k)
        if cell < 0 and at["stage"] >= TRACED and _leads_through(memory, params, state, ~cell):
            at["trial"] = NEVER


@kernel
def _leads_through(memory: Memory, params: Params, state: int, cell: int) -> bool:
    """Return whether the solution ahead of the agent leads through a cell; True also if that is hard to determine."""
    if memory.planning.scalars[0]["stage"] == CUT_SHORT:
        return True
    if not _shortens(params):
        return lies_ahead(memory.paths, cell)
    route = memory.searches.route
    return is_on(route, cell) and (not is_on(route, state) or rest_from(route, cell) < rest_from(route, state))


@kernel
def _pursue(memory: Memory, graph: Arrays, params: Params, goal: int) -> None:
    """Follow a goal that has moved: extend the solution by its trail, or continue the search for it.

    A solution that cannot be extended is forgotten.
    """
    paths, route, at = memory.paths, memory.searches.route, memory.planning.scalars[0]
    here, at["goal"] = at["goal"], goal
    if at["stage"] == SEARCHING:
        if reached(memory.searches.forward, here):  # states that could not improve on this path were not expanded
            at["trial"] = NEVER
        return
    if at["stage"] == CUT_SHORT or (params.shortcut and not _shortens(params)):
        at["trial"] = NEVER
        return
    while here != goal:
        after = step_down(graph, here, goal)
        numbered = at["stage"] < TRACED or not _shortens(params)  # else the agent follows the route
        if after < 0 or (numbered and not extend(paths, after)):
            at["trial"] = NEVER
            return
        if _shortens(params):
            extend_route(route, graph, here, after)
        here = after
    if _shortens(params):
        begin_again(memory.window, params.window)  # type: ignore[arg-type]  # none is -1


@kernel
def _cannot_trace(memory: Memory, graph: Arrays, state: int, goal: int, most: int) -> bool:
    """Return whether walls that appeared since the path to be traced was found have cut it."""
    tree, paths = memory.searches.forward, memory.paths
    if not is_damaged(tree):
        return False
    if not is_tracing(paths):
        _aim(memory, goal)
    return is_broken(paths, tree, graph, state, most)


@kernel
def _aim(memory: Memory, goal: int) -> None:
    """Begin to trace a path to the goal if it was found, else to the most promising state."""
    tree, at = memory.searches.forward, memory.planning.scalars[0]
    at["final"] = at["stage"] == FOUND
    aim(memory.paths, tree, at["found"] if at["final"] else most_promising(tree, goal))


@kernel
def _shortens(params: Params) -> bool:
    """Return whether the solution is shortened while the agent follows it."""
    return params.window > 0  # type: ignore[operator]  # none is -1


@kernel
def _shares(params: Params) -> tuple[int, int]:
    """Return N_E and N_T: the number of states to expand per move, and of steps to trace."""
    expansions = int64(params.budget * params.r + 1e-9)  # 0.29 * 100 is 29
    expansions = max(1, min(expansions, params.budget - 1))
    return expansions, int64((params.budget - expansions) * params.c)


@kernel
def _trace(memory: Memory, graph: Arrays, params: Params, state: int, most: int) -> int:
    """Continue to trace a new path, switch to it when it is complete, and return the number of steps."""
    tree, paths, at = memory.searches.forward, memory.paths, memory.planning.scalars[0]
    if not is_tracing(paths):  # line 10
        _aim(memory, at["goal"])  # line 11
    begun_at = paths.scalars[0]["traced"]
    steps = trace(paths, tree, state, most)  # line 13
    if at["final"] and _shortens(params):
        lay(memory.searches.route, tree, at["found"], begun_at, steps)
    if is_tracing(paths):  # line 14
        return steps
    if at["final"] or is_new_longer(paths) or not params.switch_rule or next_on_path(paths, graph, state) < 0:
        follow(paths)  # line 15
        if at["final"]:  # line 16
            at["stage"] = TRACED  # line 17
    return steps


@kernel
def _next_state(memory: Memory, graph: Arrays, params: Params, state: int) -> int:
    """Return the next state on the current path, or OFF or CUT as `next_on_path` does."""
    if memory.planning.scalars[0]["stage"] < TRACED or not _shortens(params):
        return next_on_path(memory.paths, graph, state)
    return next_on(memory.searches.route, state) if is_on(memory.searches.route, state) else OFF


@kernel
def _shorten(
    memory: Memory, graph: Arrays, params: Params, state: int, goal: int, expansions: int, steps: int
) -> Slice:
    """Shorten the solution ahead of the agent, including the path back to it if the agent is not on it."""
    route, back = memory.searches.route, 0
    if not is_on(route, state):
        back = lay_back(route, memory.searches.forward, state, steps)
        if not is_on(route, state):
            return Slice(False, 0, 0, back)
    work = shorten(route, memory.window, graph, state, goal, params.window_weight, expansions, steps - back)
    return Slice(work.over, work.steps, work.expanded, work.touched + back)


@kernel
def _find_shortcut(memory: Memory, graph: Arrays, params: Params, state: int, goal: int, left: int) -> Slice:
    """Search from the solution for a cheapest path to the goal from ``state``."""
    tree, back, arcs = memory.searches.forward, memory.searches.backward, turned(memory.into.arcs, graph)
    queued = length(memory.paths) + 1
    if params.charge_queueing:
        left -= int64(np.ceil(queued / params.c))
    if left <= 0:
        return Slice(False, 0, 0, 0)
    restart(back, estimate(graph, goal, state))
    near, after = goal, -1
    while near >= 0:  # the farthest from the goal last, as it is expanded first among equal f
        open_at(back, arcs, near, after, cost_to(tree, goal) - cost_to(tree, near), state, 1.0)
        near, after = parent_of(tree, near), near
    work = advance(back, arcs, state, 1.0, left, width(back.open))
    if work.over and reached(back, state):
        memory.planning.scalars[0]["stage"] = CUT_SHORT
    return Slice(work.over, work.steps, work.expanded, work.touched + queued)


@kernel
def _step_back(memory: Memory, state: int) -> int:
    """Return the next state of an agent that is not on its path."""
    if memory.planning.scalars[0]["stage"] == CUT_SHORT:
        return parent_of(memory.searches.backward, state)
    if state != memory.planning.scalars[0]["start"]:  # line 24
        return parent_of(memory.searches.forward, state)  # line 25
    return int64(memory.planning.scalars[0]["previous"])  # line 27


@kernel
def _stand_still(planning: Planning, graph: Arrays, state: int, to: int, expanded: int, touched: int) -> Move:
    """Return a move in place if the next move is impossible: stuck at a one-way arc, else begin again after a wall."""
    if to >= 0:
        expanded, touched = expanded + 1, touched + degree(graph, to)  # to find a move from there to here
        if price_between(graph, to, state) < np.inf:
            return no_move(STUCK, expanded, touched)
    planning.scalars[0]["trial"] = NEVER
    return Move(state, 0.0, expanded, touched, 0.0, 0)


@algorithm(
    Card(
        "tba",
        "TBA*",
        paper="Björnsson, Bulitko & Sturtevant 2009",
        real_time=True,
        crowd=True,
        complete=True,
        two_way=True,
        senses=True,
        living=True,
        pursues=True,
        examples=("tba(budget=10)", "tba(budget=10, weight=2)", "tba(budget=10, r=0.1, weight=30)"),
        shown=("tba(weight=2)",),
    )
)
class TBA:
    """The three parts of TBA*."""

    Params, Memory, step = Params, Memory, step


setting(
    "tba",
    Card(
        "tbwa",
        "TB(WA*)",
        paper="Hernández, Baier & Asín 2016",
        real_time=True,
        complete=True,
        two_way=True,
        examples=("tbwa(budget=10)", "tbwa(budget=10, r=0.1, weight=30)"),
        summary="TBA* whose search is weighted A*, which finds a path much sooner.",
    ),
    free=("weight",),
    weight=2.0,
    shortcut=False,
    switch_rule=False,
    window=None,
    walls_first=False,
)
setting(
    "tba",
    Card(
        "tbwalls",
        "TBA* along walls",
        paper="Andante, after Björnsson, Bulitko & Sturtevant 2009",
        real_time=True,
        complete=True,
        two_way=True,
        examples=("tbwalls(budget=200)", "tbwalls(budget=10, r=0.1, window=none)"),
        shown=("tbwalls(budget=10, r=0.1, window=none)", "tbwalls", "tbwalls(budget=200)"),
        summary="TBA* that searches along walls first and shortens its path while following it.",
    ),
    free=("budget", "r", "weight", "window", "window_weight"),
    budget=20,
    r=0.5,
    weight=30.0,
    window=32,
    window_weight=1.2,
    walls_first=True,
)
