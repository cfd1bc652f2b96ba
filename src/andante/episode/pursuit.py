"""Goals that move: how long an agent keeps aiming at where its goal was, and what it keeps when it turns.

An agent that turns with every move of its goal forgets as fast as it learns. So it commits itself: it aims at where the
goal was until it is there, or until the goal is farther from there than from the agent. Then it turns to where the goal
is. If a few moves straight back lead from there to where it was, everything the agent has learned falls by what they
cost (`search.learning`); else it begins a new problem.
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
MOST_IN_ALL = 64  # moves between two aims, if what was learned is to be kept


@kernel
def has_strayed(graph: Arrays, state: int, aim: int, goal: int) -> bool:
    """Return whether an agent should turn from where its goal was to where it is."""
    return state == aim or degree(graph, aim) == 0 or estimate(graph, aim, goal) > estimate(graph, state, goal)


@kernel
def keeps_knowledge(clock: Any, graph: Arrays, aim: int, goal: int) -> bool:
    """Let all that was learned for ``aim`` fall as far as ``goal`` is from it; return False if it is too far away."""
    walked = walk_straight(graph, goal, aim, MOST_IN_ALL)
    if walked == np.inf:
        return False
    clock["drift"] += walked
    clock["exact"] = -1
    return True


# These two are not inlined: goals hardly ever move, and the loop is faster without them.


@subroutine
def next_aim(clock: Clock, changes: Changes, graph: Arrays, state: int, aim: int, goal: int) -> int:
    """Let an agent whose goal has moved turn to it, if it should; return what it aims at."""
    if not has_strayed(graph, state, aim, goal):
        return aim
    if not keeps_knowledge(clock[0], graph, aim, goal):
        lost_aim(clock, changes, goal)
    return goal


@subroutine
def lost_aim(clock: Clock, changes: Changes, goal: int) -> int:
    """Begin a new problem, and a new trial of it; return what the agent aims at: its goal."""
    begin_problem(clock[0], changes.scalars[0]["opened"])
    clock[0]["trial"] += 1
    return goal
