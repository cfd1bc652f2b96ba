"""Late-acting A*: go back and forth at the start while A* plans in slices, then walk the best path.

The "late acting" of Björnsson, Bulitko and Sturtevant (2009), section 4.3 and row L of Table 1: a baseline for TBA*
with the same budget per move, which does not act on an unfinished plan. It goes back and forth between the start and
one randomly chosen neighbour until a complete path is known, and these moves count in the cost of its solution. Where
the paper is silent: R is divided as in TBA*, so that the two agents differ only in acting. The agent follows the path
from the first state of it that it reaches. When a wall is discovered on the path, the agent waits for one move and then
starts again from its state.

With ``wait`` the agent stands still while it plans. It then walks a best path, only later, and the delay shows in the
number of moves.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import NOT_SAMPLED, STUCK, UNREACHABLE, Card, Move, Range, algorithm, no_move
from andante.kernel import int64, kernel
from andante.search.astar import Slice, Tree, advance, begin, expect_damage, is_damaged, reached, take_in
from andante.search.chance import draw_once
from andante.search.memory import Clock, Space
from andante.search.path import price_between
from andante.search.tracing import (
    CUT,
    TracedPaths,
    aim,
    follow,
    forget,
    is_broken,
    is_tracing,
    next_on_path,
    trace,
    walk_past,
)
from andante.world.layout import Arrays, degree, target

# The stages of planning.
SEARCHING, FOUND, TRACED = 0, 1, 2

NEVER = 0  # not the number of any trial: a search marked with it has to begin again


class Params(NamedTuple):
    """The paper's R, r and c, and what to do while planning."""

    budget: Annotated[int, Range(1, 1e9), "R: work per move, in expansions"] = 100
    r: Annotated[float, Range(0, 1), "share of the budget for expanding until the solution is found"] = 0.9
    c: Annotated[float, Range(1, 1e6), "steps of tracing that cost as much as one expansion"] = 10.0
    wait: Annotated[bool, "stand still while planning instead of going back and forth"] = False
    weight: Annotated[float, Range(1, 1e6), "on A*'s heuristic"] = 1.0
    seed: Annotated[int, Range(0, 2**31), NOT_SAMPLED, "chooses the neighbour to go back and forth to"] = 0


PLANNING = np.dtype(
    [
        ("stage", np.int64),
        ("start", np.int64),
        ("trial", np.int64),  # the trial that these fields are for
    ]
)


class Planning(NamedTuple):
    """The progress of planning in the current trial."""

    scalars: npt.NDArray[Any]  # [1], of PLANNING
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Planning:
        """Return the state before the first search."""
        return cls(space.mind.one(PLANNING), space.clock)


class Memory(NamedTuple):
    """The search, the path it found, and the progress of planning."""

    tree: Tree
    paths: TracedPaths
    planning: Planning


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of late-acting A*."""
    tree, paths, at = memory.tree, memory.paths, memory.planning.scalars[0]
    now = memory.planning.clock[0]["trial"]
    if at["trial"] == now and at["stage"] == SEARCHING and not take_in(tree, graph, goal, params.weight):
        at["trial"] = NEVER
    if at["trial"] != now:
        begin(tree, graph, state, goal, params.weight)
        forget(paths)
        at["trial"], at["stage"], at["start"] = now, SEARCHING, state
    work, traced = Slice(False, 0, 0, 0), 0
    if at["stage"] == SEARCHING:
        share = max(1, int64(params.budget * params.r + 1e-9))
        work = advance(tree, graph, goal, params.weight, share)
        if work.over:
            if not reached(tree, goal):
                return no_move(UNREACHABLE, work.expanded, work.touched)
            aim(paths, tree, goal)
            at["stage"] = FOUND
    if at["stage"] == FOUND:
        steps = int64((params.budget - work.steps) * params.c)
        if tree.scalars[0]["seen"] < tree.changes.scalars[0]["total"]:
            expect_damage(tree)
        if is_damaged(tree) and is_broken(paths, tree, graph, state, steps):
            at["trial"] = NEVER
            return Move(state, 0.0, work.expanded, work.touched, 0.0, 0)
        traced = trace(paths, tree, state, steps)
        if not is_tracing(paths):
            follow(paths)
            at["stage"] = TRACED
    to = next_on_path(paths, graph, state)
    if to == CUT:
        at["trial"] = NEVER
        return Move(state, 0.0, work.expanded, work.touched + traced, 0.0, 0)
    if to >= 0:
        walk_past(paths, state)
    elif state != at["start"]:
        to = int64(at["start"])
    elif params.wait:
        return Move(state, 0.0, work.expanded, work.touched + traced, 0.0, 0)
    else:
        to = target(graph, state, draw_once(params.seed, state, goal, degree(graph, state)))
    cost = price_between(graph, state, to)
    if cost == np.inf and tree.changes.scalars[0]["total"] > 0:  # a wall appeared between the start and its neighbour
        at["trial"] = NEVER
        return Move(state, 0.0, work.expanded, work.touched + traced, 0.0, 0)
    if cost == np.inf:
        return no_move(STUCK, work.expanded, work.touched + traced)
    return Move(to, cost, work.expanded, work.touched + traced, 0.0, 0)


@algorithm(
    Card(
        "late-astar",
        "Late-acting A*",
        paper="Björnsson, Bulitko & Sturtevant 2009",
        real_time=True,
        crowd=True,
        complete=True,
        two_way=True,
        senses=True,
        living=True,
    )
)
class LateAStar:
    """The three parts of late-acting A*."""

    Params, Memory, step = Params, Memory, step
