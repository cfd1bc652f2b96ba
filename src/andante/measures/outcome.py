"""How a trial ended: part of its result, whatever the numbers are."""

from __future__ import annotations

from andante.notation import Named


class Outcome(Named):
    """The state of an episode, or why it ended.

    WAITING and WALKING: it has not begun, or is under way. GOAL: the agent has arrived. COST_CAP, MOVE_CAP and
    EXPANSION_CAP: a limit cut it short. STUCK: the agent knows no move that it would make. UNREACHABLE: no path leads
    to the goal. TICK_CAP: a unit was still walking when its crowd was stopped. The units of a `Crowd` are WALKING, at
    their GOAL, STUCK or UNREACHABLE.

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
