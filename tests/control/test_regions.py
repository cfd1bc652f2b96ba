"""Control of plans over regions: in a state where it planned before, an agent plans for the goal itself."""

from typing import NamedTuple

import numpy as np
import pytest

import andante
from andante.abstraction.hierarchy import DEFAULT_COVER, hierarchy_of
from andante.control.depth import DepthBy
from andante.control.goal import GoalBy
from andante.control.regions import Course, Steered, Steering, course
from andante.databases.pattern import NO_STATE
from andante.offline import build
from andante.search.memory import new_space
from tests.databases.tables import unpacked
from tests.worlds import drawn


class Params(NamedTuple):
    depth_by: DepthBy
    goal_by: GoalBy
    level: int = 1
    cover: int = DEFAULT_COVER


@pytest.mark.parametrize(
    ("depth_by", "goal_by"),
    [(DepthBy.FIXED, GoalBy.PATTERN), (DepthBy.PATTERN, GoalBy.GLOBAL), (DepthBy.PATTERN, GoalBy.PATTERN)],
)
@pytest.mark.parametrize("far", ["none", "capped", "uncapped"])
def test_the_goal_and_depth_of_a_plan(depth_by, goal_by, far):
    grid = andante.generate("maze", 25, 25, seed=2)
    database = build(f"pattern(base=1, level=2, cap=3, goal_depths={far})", grid)
    tables, cap, fixed = unpacked(database.arrays), 3, 9
    space = new_space(grid.graph, Params(depth_by, goal_by), databases=(database,))
    by = Steering.allocate(space).by
    assert isinstance(by, Steered)
    nodes, stored = hierarchy_of(grid.graph).nodes(1).tolist(), depth_by is DepthBy.PATTERN
    chance = np.random.default_rng(4)
    deepest = 0
    for trial in (1, 2):
        space.clock[0]["trial"], planned = trial, set()
        for _ in range(400):
            state = int(chance.integers(30))  # of any node, as only the state matters
            node, goal = chance.choice(nodes, 2).tolist()
            pair = tables.region[node], tables.column[goal]
            to_goal = cap if far == "none" else int(tables.goal_depth[pair])
            entry = int(tables.subgoal[pair])
            if goal_by is GoalBy.GLOBAL:
                expected = Course(goal, to_goal)
            elif state in planned:
                expected = Course(goal, min(to_goal, cap) if stored else fixed)
            else:
                expected = Course(goal if entry == NO_STATE else entry, int(tables.depth[pair]) if stored else fixed)
            planned.add(state)
            deepest = max(deepest, to_goal)
            assert course(by, state, node, goal, fixed) == expected
    assert deepest > cap if far == "uncapped" else deepest <= cap


@pytest.mark.compiled
def test_an_agent_remembers_the_states_in_which_it_planned():
    grid = andante.generate("maze", 41, 41, seed=3)
    database = build("pattern(base=1, level=2, cap=4, goal_depths=capped)", grid)
    region = hierarchy_of(grid.graph).regions(1)
    agent = andante.Agent("dprlrta(level=1)", grid, databases=[database])
    for problem in drawn(grid, 5, seed=1):
        planned, here = set(), problem.start
        for turn in agent.watch(problem, andante.Limits(moves=300)):
            if turn.states_expanded and region[here] != region[problem.goal]:
                planned.add(here)
            here = turn.state
        visited = agent._memory.steering.by
        assert set(np.flatnonzero(visited.visited == visited.clock[0]["trial"]).tolist()) == planned
