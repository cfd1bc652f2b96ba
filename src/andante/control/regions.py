"""Control of an agent that plans over regions: depth and goal of its plan, from a pattern database for their level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import hierarchy_of
from andante.control.depth import DepthBy
from andante.control.goal import GoalBy
from andante.databases.pattern import Pattern, capped_depth_to_goal, depth_to_goal, depth_to_subgoal, subgoal
from andante.errors import AlgorithmError, ParameterError
from andante.kernel import generic, int64
from andante.search.memory import Clock, Space
from andante.search.records import Index, claim


class Free(NamedTuple):
    """A fixed depth and the goal of the problem."""


class Steered(NamedTuple):
    """A depth, a goal or both from a pattern database."""

    pattern: Pattern
    where: Index
    visited: npt.NDArray[np.int64]  # a field of the states' records, the trial in which the agent last planned there
    depth: bool
    goal: bool
    clock: Clock


class Steering(NamedTuple):
    """A source of depths and goals."""

    by: Free | Steered

    @classmethod
    def allocate(cls, space: Space) -> Steering:
        """Return the source named by the parameters ``depth_by`` and ``goal_by``, for the level given by ``level``."""
        depth, goal = space.params.depth_by, space.params.goal_by
        if depth is DepthBy.FIXED and goal is GoalBy.GLOBAL:
            return cls(Free())
        if depth not in (DepthBy.FIXED, DepthBy.PATTERN):
            raise ParameterError(f"over regions, depth_by must be fixed or pattern, got {depth.name.lower()}")
        pattern = Pattern.allocate(space)
        level, cover = space.params.level, space.params.cover
        if (pattern.level[0], pattern.cover[0]) != (level, cover):
            raise AlgorithmError(
                f"the pattern database is for agents that plan on level {pattern.level[0]} with cover "
                f"{Cover(pattern.cover[0]).name.lower()}, but this one plans on level {level} with cover "
                f"{cover.name.lower()}; build it with base={level} and cover={cover.name.lower()}"
            )
        nodes = len(hierarchy_of(space.graph, cover).layers.family)
        if pattern.states[0] != nodes:
            raise AlgorithmError("the pattern database is for regions made by another version; build it again")
        index, visited = space.mind.index(), space.mind.field(np.int64)
        return cls(Steered(pattern, index, visited, depth is DepthBy.PATTERN, goal is GoalBy.PATTERN, space.clock))


class Course(NamedTuple):
    """The goal and depth of a plan."""

    goal: int
    depth: int


@generic
def course(by: Free | Steered, state: int, node: int, goal: int, depth: int) -> Course:
    """Return the goal and depth of a plan from ``node`` towards ``goal``; ``depth`` is used if it is fixed.

    ``state`` is the agent's state on the map. If it has planned there before in this trial, the plan is for the goal
    itself, with the depth that the database gives for the goal, up to its cap (Bulitko et al. 2008, Appendix D).
    """
    raise TypeError(by)


@course.of(Free)
def _free(by: Free, state: int, node: int, goal: int, depth: int) -> Course:
    return Course(goal, depth)


@course.of(Steered)
def _steered(by: Steered, state: int, node: int, goal: int, depth: int) -> Course:
    place = claim(by.where, state)
    again = by.visited[place] == by.clock[0]["trial"]
    by.visited[place] = by.clock[0]["trial"]
    if by.goal and again:
        return Course(goal, capped_depth_to_goal(by.pattern, node, goal) if by.depth else depth)
    aim = subgoal(by.pattern, node, goal) if by.goal else goal
    if by.depth:
        depth = depth_to_subgoal(by.pattern, node, goal) if by.goal else depth_to_goal(by.pattern, node, goal)
    return Course(aim, int64(depth))
