"""Goals that move: how long an agent aims at its goal's earlier state, and what it keeps when it turns.

An agent that turned with every move of its goal would forget as fast as it learns. So it commits to an aim, the state
of its goal at some time, until it reaches the aim or the goal is farther from the aim than from the agent. Then it
turns to the goal's current state. If a few straight moves lead from there back to the old aim, all that the agent has
learned is lowered by their cost (`search.learning`). Otherwise it begins a new problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from andante.kernel import kernel, subroutine
from andante.search.hillclimb import walk_straight
from andante.search.memory import Clock, begin_problem
from andante.world.changes import Changes
from andante.world.layout import Arrays, degree, estimate

MOST_AT_ONCE = 8  # moves; a goal that has moved farther is another goal
MOST_IN_ALL = 64  # moves between two aims beyond which learned values are not kept


@kernel
def has_strayed(graph: Arrays, state: int, aim: int, goal: int) -> bool:
    """Return whether an agent should turn from its aim to its goal."""
    return state == aim or degree(graph, aim) == 0 or estimate(graph, aim, goal) > estimate(graph, state, goal)


@kernel
def keeps_knowledge(clock: Any, graph: Arrays, aim: int, goal: int) -> bool:
    """Lower all values learned for ``aim`` by the cost from it to ``goal``; return False if that is too far away."""
    walked = walk_straight(graph, goal, aim, MOST_IN_ALL)
    if walked == np.inf:
        return False
    clock["drift"] += walked
    clock["exact"] = -1
    return True


# These two are not inlined, because goals hardly ever move and the loop is faster without them.


@subroutine
def next_aim(clock: Clock, changes: Changes, graph: Arrays, state: int, aim: int, goal: int) -> int:
    """Return the aim of an agent whose goal has moved, after turning to the goal if it should."""
    if not has_strayed(graph, state, aim, goal):
        return aim
    if not keeps_knowledge(clock[0], graph, aim, goal):
        lost_aim(clock, changes, goal)
    return goal


@subroutine
def lost_aim(clock: Clock, changes: Changes, goal: int) -> int:
    """Begin a new problem and a new trial of it, and return the agent's aim, which is its goal."""
    begin_problem(clock[0], changes.scalars[0]["opened"])
    clock[0]["trial"] += 1
    return goal
