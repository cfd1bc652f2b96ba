"""Late-acting A*: pace up and down at the start while A* plans in slices, then walk the best path.

The "late acting" of Björnsson, Bulitko and Sturtevant (2009), section 4.3 and row L of Table 1: what TBA* is worth is
seen beside an agent with the same budget per move that does not act on an unfinished plan. It goes back and forth
between the start and one randomly chosen neighbour until a complete path is known, and all that walking counts in the
cost of its solution. Where the paper is silent: R is shared as in TBA*, so that the two agents differ in acting only;
the path is taken up wherever the agent meets it; when a wall is discovered on it, the agent stands still for that move
and then begins again from there.

With ``wait`` the agent stands still while it plans: it walks a best path, only later, and the delay is seen in the
number of moves.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import NOT_SAMPLED, STUCK, UNREACHABLE, Card, Move, Range, algorithm, no_move
from andante.kernel import int64, kernel
from andante.search.astar import Slice, Tree, advance, begin, reached
from andante.search.chance import draw_once
from andante.search.memory import Clock, Space
from andante.search.path import price_between
from andante.search.tracing import CUT, Ways, ahead, aim, follow, forget, is_tracing, trace, walk_past
from andante.world.graph import Arrays, degree, target

# How far the planning has come.
SEARCHING, FOUND, TRACED = 0, 1, 2

NEVER = 0  # no trial has this number: what is marked with it has to begin again


class Params(NamedTuple):
    """The paper's R, r and c, and what to do while planning."""

    budget: Annotated[int, Range(1, 1e9), "R: work per move, in expansions"] = 100
    r: Annotated[float, Range(0, 1), "share of the budget for expanding until the solution is found"] = 0.9
    c: Annotated[float, Range(1, 1e6), "steps of tracing that cost as much as one expansion"] = 10.0
    wait: Annotated[bool, "stand still while planning instead of going back and forth"] = False
    weight: Annotated[float, Range(1, 1e6), "on A*'s heuristic"] = 1.0
    seed: Annotated[int, Range(0, 2**31), NOT_SAMPLED, "chooses the neighbour to go back and forth to"] = 0


class Progress(NamedTuple):
    """How far the planning has come."""

    stage: npt.NDArray[np.int64]  # [1]
    start: npt.NDArray[np.int64]  # [1]
    trial: npt.NDArray[np.int64]  # [1], the trial all this belongs to
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Progress:
        """Nothing begun."""
        return cls(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), space.clock)


class Memory(NamedTuple):
    """The search, the path it found, and how far it has come."""

    tree: Tree
    ways: Ways
    progress: Progress


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """One move of late-acting A*."""
    tree, ways, at = memory.tree, memory.ways, memory.progress
    if at.trial[0] != at.clock.trial[0]:
        begin(tree, graph, state, goal, params.weight)
        forget(ways)
        at.trial[0], at.stage[0], at.start[0] = at.clock.trial[0], SEARCHING, state
    work, traced = Slice(False, 0, 0, 0), 0
    if at.stage[0] == SEARCHING:
        share = max(1, int64(params.budget * params.r + 1e-9))
        work = advance(tree, graph, goal, params.weight, share)
        if work.over:
            if not reached(tree, goal):
                return no_move(UNREACHABLE, work.expanded, work.touched)
            aim(ways, tree, goal)
            at.stage[0] = FOUND
    if at.stage[0] == FOUND:
        traced = trace(ways, tree, state, at.start[0], int64((params.budget - work.steps) * params.c))
        if not is_tracing(ways):
            follow(ways)
            at.stage[0] = TRACED
    to = ahead(ways, graph, state)
    if to == CUT:
        at.trial[0] = NEVER
        return Move(state, 0.0, work.expanded, work.touched + traced, 0.0, 0)
    if to >= 0:
        walk_past(ways, state)
    elif state != at.start[0]:
        to = at.start[0]
    elif params.wait:
        return Move(state, 0.0, work.expanded, work.touched + traced, 0.0, 0)
    else:
        to = target(graph, state, draw_once(params.seed, state, goal, degree(graph, state)))
    cost = price_between(graph, state, to)
    if cost == np.inf:
        return no_move(STUCK, work.expanded, work.touched + traced)
    return Move(to, cost, work.expanded, work.touched + traced, 0.0, 0)


@algorithm(
    Card(
        "late-astar",
        "Late-acting A*",
        paper="Björnsson, Bulitko & Sturtevant 2009",
        real_time=True,
        complete=True,
        two_way=True,
        senses=True,
    )
)
class LateAStar:
    """The three parts of late-acting A*."""

    Params, Memory, step = Params, Memory, step
