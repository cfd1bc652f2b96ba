"""The goal towards which an agent plans its next move.

The second axis of the notation LRTA* (depth, goal) of Bulitko et al. (2008).
"""

from __future__ import annotations

from typing import NamedTuple

from andante.databases.pattern import Pattern, subgoal
from andante.errors import AlgorithmError
from andante.kernel import generic
from andante.notation import Word
from andante.search.memory import Space


class GoalBy(Word):
    """The source of the goal."""

    GLOBAL = 0  # G: the goal of the problem
    PATTERN = 1  # PDB: a pattern database gives a nearer one


class Global(NamedTuple):
    """The goal of the problem."""


class PatternSubgoals(NamedTuple):
    """Goals from a pattern database: the states where the path enters the next region."""

    pattern: Pattern


class Goals(NamedTuple):
    """A source of goals."""

    by: Global | PatternSubgoals

    @classmethod
    def allocate(cls, space: Space) -> Goals:
        """Return the source named by the parameter ``goal_by``."""
        return cls(PatternSubgoals(ground_pattern(space)) if space.params.goal_by is GoalBy.PATTERN else Global())


def ground_pattern(space: Space) -> Pattern:
    """Return the agent's pattern database, which must be for plans on the map itself."""
    pattern = Pattern.allocate(space)
    if pattern.level[0] != 0:
        raise AlgorithmError(
            f"the pattern database is for agents that plan on level {pattern.level[0]}, but this one plans on the map "
            "itself; build it with base=0"
        )
    return pattern


@generic
def aim_for(by: Global | PatternSubgoals, state: int, goal: int) -> int:
    """Return the goal for the next move of an agent in ``state`` whose final goal is ``goal``."""
    raise TypeError(by)


@aim_for.of(Global)
def _global(by: Global, state: int, goal: int) -> int:
    return goal


@aim_for.of(PatternSubgoals)
def _subgoal(by: PatternSubgoals, state: int, goal: int) -> int:
    return subgoal(by.pattern, state, goal)
