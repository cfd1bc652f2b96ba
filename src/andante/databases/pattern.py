"""Pattern databases: for every pair of regions, the first subgoal and how deep to look ahead on the path there.

Bulitko, Luštrek, Schaeffer, Björnsson and Sigmundarson (2008), sections 5.2 and 6. A map is divided into regions: the
nodes of one level of its hierarchy, or square tiles. For an agent in region A with a goal in region B the database
contains a state between them, the subgoal, and the depth at which LRTA* without learned values makes an optimal move
towards it. It may also contain depths towards the goal itself. `control` uses both to steer an agent.

The states need not be those of the map: with regions of one level over the states of a lower level, numbered as the
hierarchy's nodes, the same tables steer an agent that plans on that level (PR LRTA*).

A database may be for some goals only. Then it has columns for their regions only, and agents refuse other goals.

Goals have separate regions, which may be larger, because the agent's position matters more than the exact position of
its goal.

A few dozen subgoals lead from one region to all others. So each region has a palette of subgoals. Neighbouring columns
mostly have the same one, so a row is stored as runs of equal choices, found by bisection. The region of a state and the
column of a goal are also stored as runs. An agent looks them up when it chooses a subgoal, not on every move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import DEFAULT_COVER, hierarchy_of
from andante.databases.header import pick
from andante.databases.kinds import kind
from andante.kernel import int64, kernel
from andante.notation import Call
from andante.search.memory import Space
from andante.world.graph import Graph

DEEPEST = 3000  # the greatest depth; in the paper, deep enough to count as no cap
HIGHEST = 20  # the highest level of regions
UNSERVED = -2  # as a column: these goals are not served
NO_STATE = -1  # as a subgoal: the goal itself; as a state on the path: go straight to the subgoal
MOST_COLUMNS = 2**16  # a run is one number: its first column in the upper half, its choice in the lower
CHOICE = 2**16 - 1


def _fault(pattern: Pattern, graph: Graph) -> str | None:
    if any(table.ndim != 1 for name, table in pattern._asdict().items() if name != "goal_depth"):
        return "its tables do not match"
    if any(one.shape != (1,) for one in (pattern.cap, pattern.level, pattern.cover, pattern.states)):
        return "its tables do not match"
    level, cover, states = (int(one[0]) for one in (pattern.level, pattern.cover, pattern.states))
    if not 0 <= level <= HIGHEST or cover not in list(Cover):
        return "its level or cover does not exist"
    if states < len(graph) or (level == 0 and states != len(graph)):
        return f"its regions are not those of a graph of {len(graph)} states"
    for run, owner in ((pattern.run, pattern.owner), (pattern.goal_run, pattern.goal_column)):
        if len(run) == 0 or run[0] != 0 or not _ascend(run, states) or len(owner) != len(run):
            return f"its tables do not match a graph of {len(graph)} states"
    return _fault_of_rows(pattern) or _fault_of_subgoals(pattern, states)


def _fault_of_rows(pattern: Pattern) -> str | None:
    """Return the fault of the tables that find regions and pairs of them, or None."""
    regions, columns = len(pattern.row) - 1, pattern.columns
    if pattern.goal_depth.shape not in ((regions, columns), (0, 0)) or not _divides(pattern.row, regions, pattern.span):
        return "its tables do not match"
    if not _divides(pattern.palette, regions, pattern.subgoal) or (np.diff(pattern.palette) > CHOICE).any():
        return "its tables do not match"
    if not len(pattern.special) == len(pattern.via) == len(pattern.depth):
        return "its tables do not match"
    if not _ascend(pattern.special, len(pattern.subgoal)):
        return "it has depths for subgoals that do not exist"
    if not _within(pattern.owner, regions) or pattern.goal_column.min() < UNSERVED:
        return "it refers to regions that do not exist"
    if not _rows_are_sound(pattern):
        return "it has rows that are not runs of choices"
    return None


def _ascend(numbers: npt.NDArray[np.int32], end: int) -> bool:
    """Return whether these numbers are from 0 to below ``end`` and strictly ascending."""
    inside = len(numbers) == 0 or (numbers[0] >= 0 and numbers[-1] < end)
    return bool(inside) and bool((numbers[1:] > numbers[:-1]).all())


def _divides(begin: npt.NDArray[np.int32], parts: int, whole: npt.NDArray[Any]) -> bool:
    """Return whether these are the bounds of ``parts`` consecutive parts of an array."""
    fits = parts >= 0 and len(begin) == parts + 1 and begin[0] == 0 and begin[-1] == len(whole)
    return fits and bool((begin[1:] >= begin[:-1]).all())  # differences could overflow


def _within(numbers: npt.NDArray[Any], end: int) -> bool:
    return bool(((numbers >= NO_STATE) & (numbers < end)).all())


def _rows_are_sound(pattern: Pattern) -> bool:
    """Return whether each non-empty row begins with column 0, ascends, and chooses from its region's palette."""
    length = np.diff(pattern.row)
    region = np.repeat(np.arange(len(length)), length)
    column, choice = pattern.span >> 16, pattern.span & CHOICE
    begins = np.zeros(len(column), np.bool_)
    begins[pattern.row[:-1][length > 0]] = True
    if (column[begins] != 0).any() or (column[1:] <= column[:-1])[~begins[1:]].any():
        return False
    return bool((choice < np.diff(pattern.palette)[region]).all())


def _fault_of_subgoals(pattern: Pattern, states: int) -> str | None:
    for named in (pattern.subgoal, pattern.via):
        if not _within(named, states):
            return "it refers to states that do not exist"
        if (regions_of(pattern, named[named != NO_STATE]) < 0).any():
            return "it refers to states that are in no region"
    for depths in (pattern.depth, pattern.goal_depth, pattern.cap):
        if depths.min(initial=1) < 1 or depths.max(initial=1) > DEEPEST:
            return f"it has depths outside 1 to {DEEPEST}"
    return None


def _covers(pattern: Pattern, graph: Graph, goals: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    node = ancestors(graph, Cover(pattern.cover[0]), int(pattern.level[0]), goals)
    place = np.searchsorted(pattern.goal_run, np.maximum(node, 0), "right") - 1
    return (node < 0) | (pattern.goal_column[place] != UNSERVED)


def regions_of(pattern: Pattern, states: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the regions of these states; negative for states in no region."""
    return pattern.owner[np.searchsorted(pattern.run, states, "right") - 1]


def ancestors(graph: Graph, cover: Cover, level: int, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the nodes of a level of the graph's hierarchy that these states belong to; -1 for states in none."""
    if level == 0:
        return states
    parent = hierarchy_of(graph, cover).layers.family["parent"]
    placed, node = parent[states] > 0, states
    for _ in range(level):
        node = parent[node].astype(np.int64)
    return np.where(placed, node, -1)


@kind("pattern", "for every pair of regions the next state to go to, and how deep to look", _fault, _covers)
class Pattern(NamedTuple):
    """The tables."""

    run: npt.NDArray[np.int32]  # [runs], the first state of each run of states in one region
    owner: npt.NDArray[np.int32]  # [runs], that region; negative: none. Walls belong to the run before them
    goal_run: npt.NDArray[np.int32]  # [goal runs], the first state of each run of goals with one column
    goal_column: npt.NDArray[np.int32]  # [goal runs], that column; negative: UNSERVED, or in no region
    row: npt.NDArray[np.int32]  # [regions + 1], the first run of choices of each region
    span: npt.NDArray[np.uint32]  # [all runs], the first column of a run, and its choice in the lower 16 bits
    palette: npt.NDArray[np.int32]  # [regions + 1], the first subgoal of each region
    subgoal: npt.NDArray[np.int32]  # [all subgoals]; NO_STATE: the goal itself
    special: npt.NDArray[np.int32]  # [some], the places of subgoals that not all agents can climb straight to
    via: npt.NDArray[np.int32]  # [some], a state of the region to go through first, or NO_STATE
    depth: npt.NDArray[np.uint16]  # [some], the depth on the path there, at most the cap
    goal_depth: npt.NDArray[np.uint16]  # [regions, columns] or [0, 0], the depth on the path to the goal itself
    cap: npt.NDArray[np.int64]  # [1]
    level: npt.NDArray[np.int64]  # [1], the level that the agent plans on
    cover: npt.NDArray[np.int64]  # [1], its rule for cliques
    states: npt.NDArray[np.int64]  # [1], the number of states on that level

    @property
    def columns(self) -> int:
        """The number of regions of goals."""
        return max(int(self.goal_column.max(initial=-1)) + 1, 0)

    @property
    def regions(self) -> int:
        """The number of regions of agents."""
        return len(self.row) - 1

    @property
    def records(self) -> int:
        """The number of pairs of regions."""
        return self.regions * self.columns

    @property
    def entries(self) -> int:
        """The number of stored values: a region for each state, and a subgoal for each pair of regions."""
        return int(self.states[0]) + self.records

    @classmethod
    def allocate(cls, space: Space) -> Pattern:
        """Return the arrays of the agent's database."""
        arrays: Pattern = pick(space.databases, "pattern", space.graph, order_for(space.params), who=space.who).arrays
        return arrays


def order_for(params: Any) -> str:
    """Return the database to build for an agent with these parameters, over the level that it plans on.

    >>> from andante.agent import find
    >>> order_for(find("dprlrta(level=2)").params), order_for(find("dlrta").params)
    ('pattern(base=2, level=3)', 'pattern')
    """
    base = getattr(params, "level", 0)
    if not base:
        return "pattern"
    cover = {} if params.cover is DEFAULT_COVER else {"cover": params.cover.name.lower()}
    return str(Call("pattern", {"base": base, "level": min(base + 1, HIGHEST), **cover}))


@kernel
def region_of(pattern: Pattern, state: int) -> int:
    """Return the region of a state; negative if it is in none."""
    return int64(pattern.owner[_run_of(pattern.run, state)])


@kernel
def column_of(pattern: Pattern, goal: int) -> int:
    """Return the column of a goal; negative if it has none."""
    return int64(pattern.goal_column[_run_of(pattern.goal_run, goal)])


@kernel
def _run_of(begin: npt.NDArray[np.int32], state: int) -> int:
    low, high = 0, len(begin)
    while high - low > 1:
        middle = (low + high) >> 1
        if begin[middle] <= state:
            low = middle
        else:
            high = middle
    return low


@kernel
def chosen(pattern: Pattern, here: int, column: int) -> int:
    """Return the place, among all subgoals, of the one from the region ``here`` to goals in ``column``."""
    low, high = int64(pattern.row[here]), int64(pattern.row[here + 1])
    if low == high:
        return NO_STATE
    while high - low > 1:
        middle = (low + high) >> 1
        if int64(pattern.span[middle] >> np.uint32(16)) <= column:
            low = middle
        else:
            high = middle
    return int64(pattern.palette[here]) + int64(pattern.span[low] & np.uint32(CHOICE))


@kernel
def special(pattern: Pattern, place: int) -> int:
    """Return the place of a subgoal's ``via`` and ``depth``; -1 if the agent can climb straight to it."""
    low, high = -1, len(pattern.special)
    while high - low > 1:
        middle = (low + high) >> 1
        if pattern.special[middle] <= place:
            low = middle
        else:
            high = middle
    return low if low >= 0 and pattern.special[low] == place else -1


@kernel
def subgoal(pattern: Pattern, state: int, goal: int) -> int:
    """Return the state to which an agent in ``state`` should go on its path to ``goal``."""
    here, column = region_of(pattern, state), column_of(pattern, goal)
    if here < 0 or column < 0:
        return goal
    place = chosen(pattern, here, column)
    if place < 0:
        return goal
    needs = special(pattern, place)
    if needs >= 0 and pattern.via[needs] not in (NO_STATE, state):
        return int64(pattern.via[needs])
    aim = int64(pattern.subgoal[place])
    return goal if aim == NO_STATE else aim


@kernel
def depth_to_subgoal(pattern: Pattern, state: int, goal: int) -> int:
    """Return how deep an agent in ``state`` should look on its path to the subgoal; the cap if that is not stored."""
    here, column = region_of(pattern, state), column_of(pattern, goal)
    if here < 0 or column < 0:
        return pattern.cap[0]
    needs = special(pattern, chosen(pattern, here, column))
    return int64(pattern.depth[needs]) if needs >= 0 else 1


@kernel
def depth_to_goal(pattern: Pattern, state: int, goal: int) -> int:
    """Return how deep an agent in ``state`` should look on its path to the goal; the cap if that is not stored."""
    here, column = region_of(pattern, state), column_of(pattern, goal)
    if here < 0 or column < 0 or len(pattern.goal_depth) == 0:
        return pattern.cap[0]
    return int64(pattern.goal_depth[here, column])


@kernel
def capped_depth_to_goal(pattern: Pattern, state: int, goal: int) -> int:
    """Return the same limited to the cap, for an agent that subgoals have led back to a state visited before."""
    return min(depth_to_goal(pattern, state, goal), pattern.cap[0])
