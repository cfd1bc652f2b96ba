"""Pattern databases: for every pair of regions, where to go first and how deep to look on the way.

Bulitko, Luštrek, Schaeffer, Björnsson and Sigmundarson (2008), sections 5.2 and 6. A map is divided into the regions of
one level of its hierarchy. For an agent in region A with a goal in region B the database holds the state in which an
optimal path from A's representative to B's enters the next region, and the depth at which LRTA*, knowing nothing yet,
makes an optimal move towards it. Depths towards the goal itself may be there too. The two are the values that `control`
steers an agent by.

The states need not be those of the map: with regions of one level over the states of a lower one, numbered as the
hierarchy's nodes, the same tables steer an agent that plans there (PR LRTA*).

A database may be for some goals only: then it has columns for their regions, and agents refuse other goals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import hierarchy_of
from andante.databases.header import kind, pick
from andante.kernel import int64, kernel
from andante.search.memory import Space
from andante.world.graph import Graph

DEEPEST = 3000  # that an agent may be told to look: in the paper, deep enough to count as no cap
HIGHEST = 20  # level that regions may be of
NO_STATE = -1  # no entry: the regions are the same, or no way leads from one to the other


def _fault(pattern: Pattern, graph: Graph) -> str | None:
    pairs, regions = pattern.entry.shape, pattern.column.shape
    if len(pairs) != 2 or regions != pairs[:1] or pattern.depth.shape != pairs or len(pattern.region) < len(graph):
        return f"its tables do not fit a graph of {len(graph)} states"
    if pattern.far.shape not in (pairs, (0, 0)) or pattern.cap.shape != (1,) or pattern.base.shape != (2,):
        return "its tables do not fit each other"
    if pattern.region.max(initial=-1) >= pairs[0] or pattern.column.max(initial=-1) >= pairs[1]:
        return "it names regions that do not exist"
    if pattern.entry.max(initial=-1) >= len(pattern.region):
        return "it names states that do not exist"
    depths = (pattern.depth.min(initial=1), pattern.far.min(initial=1), pattern.cap[0])
    if pattern.entry.min(initial=0) < NO_STATE or min(depths) < 1 or pattern.cap[0] > DEEPEST:
        return "it holds numbers that mean nothing"
    if (pattern.region[pattern.entry[pattern.entry != NO_STATE]] < 0).any():
        return "it names states that are in no region"
    level, cover = pattern.base.tolist()
    if not 0 <= level <= HIGHEST or cover not in list(Cover):
        return "it is for no level of any hierarchy"
    if level == 0 and len(pattern.region) != len(graph):
        return f"its regions are not those of a graph of {len(graph)} states"
    return None


def _covers(pattern: Pattern, graph: Graph, goals: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    if pattern.entry.shape[1] == len(pattern.column):
        return np.ones(len(goals), np.bool_)
    node = ancestors(graph, Cover(pattern.base[1]), int(pattern.base[0]), goals)
    region = pattern.region[node]
    return (node < 0) | (region < 0) | (pattern.column[region] >= 0)


def ancestors(graph: Graph, cover: Cover, level: int, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The nodes of a level of the graph's hierarchy that these states belong to; -1 for those that belong to none."""
    if level == 0:
        return states
    parent = hierarchy_of(graph, cover).layers.node["parent"]
    placed, node = parent[states] > 0, states
    for _ in range(level):
        node = parent[node].astype(np.int64)
    return np.where(placed, node, -1)


@kind("pattern", "for every pair of regions the next state to go to, and how deep to look on the way", _fault, _covers)
class Pattern(NamedTuple):
    """The tables."""

    region: npt.NDArray[np.int32]  # [states], a state's region; negative for those in none
    column: npt.NDArray[np.int32]  # [regions], of a goal's region in the tables below; negative for those without
    entry: npt.NDArray[np.int32]  # [regions, columns], from, to: where to go first, or NO_STATE
    depth: npt.NDArray[np.uint16]  # [regions, columns], at most the cap: how deep to look on the way there
    far: npt.NDArray[np.uint16]  # [regions, columns] or [0, 0]: how deep to look on the way to the goal itself
    cap: npt.NDArray[np.int64]  # [1]
    base: npt.NDArray[np.int64]  # [2], the level whose states these are, and how cliques were chosen

    @property
    def records(self) -> int:
        """The pairs of regions."""
        return self.entry.size

    @property
    def entries(self) -> int:
        """A region for each state, and a subgoal for each pair of regions."""
        return len(self.region) + self.entry.size

    @classmethod
    def allocate(cls, space: Space) -> Pattern:
        """The arrays of the database that the agent was given."""
        arrays: Pattern = pick(space.databases, "pattern", space.graph, order_for(space.params)).arrays
        return arrays


def order_for(params: Any) -> str:
    """What to build for an agent with these parameters: one that plans over regions needs it over those of its level.

    >>> from andante.agent import find
    >>> order_for(find("dprlrta(level=2)").params), order_for(find("dlrta").params)
    ('pattern(base=2, level=3)', 'pattern')
    """
    base = getattr(params, "level", 0)
    return f"pattern(base={base}, level={base + 1})" if base else "pattern"


@kernel
def subgoal(pattern: Pattern, state: int, goal: int) -> int:
    """Where an agent in ``state`` should go on its way to ``goal``: the goal itself if they share a region."""
    here, there = int64(pattern.region[state]), _column(pattern, goal)
    if here < 0 or there < 0:
        return goal
    entry = int64(pattern.entry[here, there])
    return goal if entry == NO_STATE else entry


@kernel
def depth_to_subgoal(pattern: Pattern, state: int, goal: int) -> int:
    """How deep an agent in ``state`` should look on its way to the subgoal."""
    return _depth(pattern, pattern.depth, state, goal)


@kernel
def depth_to_goal(pattern: Pattern, state: int, goal: int) -> int:
    """How deep an agent in ``state`` should look on its way to the goal; the cap if the database does not say."""
    return _depth(pattern, pattern.far, state, goal)


@kernel
def capped_depth_to_goal(pattern: Pattern, state: int, goal: int) -> int:
    """The same up to the cap, whatever is stored: for an agent that subgoals have led back to where it was before."""
    return min(depth_to_goal(pattern, state, goal), pattern.cap[0])


@kernel
def _column(pattern: Pattern, goal: int) -> int:
    """The column of a goal; negative if there is none."""
    region = int64(pattern.region[goal])
    return int64(pattern.column[region]) if region >= 0 else -1


@kernel
def _depth(pattern: Pattern, table: npt.NDArray[np.uint16], state: int, goal: int) -> int:
    here, there = int64(pattern.region[state]), _column(pattern, goal)
    if here < 0 or there < 0 or len(table) == 0:
        return pattern.cap[0]
    return int64(table[here, there])
