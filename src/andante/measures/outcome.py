"""The outcome of a trial: the reason why it ended, which is part of its result."""

from __future__ import annotations

from andante.notation import Named


class Outcome(Named):
    """The state of an episode, or the reason why it ended.

    WAITING and WALKING: it has not begun, or is in progress. GOAL: the agent has arrived. COST_CAP, MOVE_CAP and
    EXPANSION_CAP: it ended at a limit. STUCK: the agent has no move to make. UNREACHABLE: no path leads to the goal.
    TICK_CAP: a unit was still walking when its crowd was stopped. The units of a `Crowd` are WALKING, at their GOAL,
    STUCK or UNREACHABLE.

    >>> print(Outcome.GOAL)
    GOAL
    >>> Outcome.GOAL
    Outcome.GOAL
    """

    WAITING = 0
    WALKING = 1
    GOAL = 2
    COST_CAP = 3
    MOVE_CAP = 4
    EXPANSION_CAP = 5
    STUCK = 6
    UNREACHABLE = 7
    TICK_CAP = 8  # a unit of a crowd was still walking when its crowd was stopped
