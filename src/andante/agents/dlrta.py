"""D LRTA*: LRTA* whose depth and goal are chosen before each move.

Bulitko, Luštrek, Schaeffer, Björnsson and Sigmundarson (2008), Figure 1 with sections 5 and 6; line numbers refer to
that figure. In its notation, which `find` reads too, this is LRTA* (X, Y): X chooses the depth, and Y the goal. If
subgoals lead the agent back to a state where it was before in this trial (Appendix D), it heads for the global goal
with the depth from the database, up to its cap. It does so for one move, or for the rest of the trial, or for one move
with a few more plies each time. Not in the paper: the agent may keep each subgoal until it reaches it. With a database
whose subgoals lead only to regions nearer to the goal (``aim=nearer``, ``aim=far``), it then never walks in circles.

The default is none of the paper's agents; each of its moves expands one state. Far subgoals can be climbed to directly
from every state of a region, or through its middle. So there is nothing to search for and nothing to learn, and each
leg is an optimal path. Exceptions are regions from which no such leg leads on, and the last leg within a region.

Where the paper is silent: values are learned for the goal that is pursued. Those for subgoals are stored separately
from those for the global goal, and each state stores only the last one. The oracle's own searches do not count as work,
because it stands for perfect knowledge. The decision tree's pre-search does count, as one expansion per move.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, Card, Move, Range, algorithm, dialect, no_move, setting
from andante.control.depth import Choice, DepthBy, Depths, Leg, depth_for, depth_when_lost, greatest_depth, remember
from andante.control.goal import GoalBy, Goals, aim_for
from andante.kernel import kernel
from andante.notation import Word
from andante.search.learning import Learned, raise_to
from andante.search.lookahead import look
from andante.search.memory import Clock, Space
from andante.search.mind import Group
from andante.search.records import Index, claim
from andante.search.tables import Tables, turn_to
from andante.world.layout import Arrays, price, target


class Loops(Word):
    """Ways to avoid walking in circles where one subgoal leads back to another."""

    ONCE = 0  # in a state that it visited before, make one move towards the global goal
    FOR_GOOD = 1  # from then on, head for the global goal
    DEEPER = 2  # make one move towards the global goal, and look deeper each time
    HOLD = 3  # keep each subgoal until reached; where a second choice would be made, use no more subgoals


_FOR_GOOD, _DEEPER, _HOLD = int(Loops.FOR_GOOD), int(Loops.DEEPER), int(Loops.HOLD)


class Params(NamedTuple):
    """How depth and goal are chosen; by default the agent looks one move ahead and keeps each subgoal until reached."""

    depth_by: Annotated[DepthBy, "what chooses how deep to look"] = DepthBy.FIXED
    goal_by: Annotated[GoalBy, "what chooses the goal of a move"] = GoalBy.PATTERN
    depth: Annotated[int, Range(1, 100), "moves to look ahead if the depth is fixed; the oracle's maximum"] = 1
    loops: Annotated[Loops, "what to do if subgoals lead in circles"] = Loops.HOLD
    plies: Annotated[int, Range(1, 100), "for loops=deeper: plies to add each time"] = 3

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of databases that depth and goal are looked up in."""
        pattern = self.depth_by is DepthBy.PATTERN or self.goal_by is GoalBy.PATTERN
        return ("pattern",) * pattern + ("depth-tree",) * (self.depth_by is DepthBy.TREE)

    @property
    def living(self) -> bool:
        """Whether it follows maps that change: learned values do, a pattern database does not."""
        return "pattern" not in self.needs

    @property
    def foresees(self) -> bool:
        """Whether an oracle chooses the depth, as if it were known without a search."""
        return self.depth_by is DepthBy.ORACLE


AIM = np.dtype(
    [
        ("aim", np.int64),  # the subgoal that is kept until reached
        ("chosen_at", np.int64),  # the state in which it was chosen
        ("trial", np.int64),  # the last trial in which an aim was kept
        ("lost", np.int64),  # the trial in which the agent gave up subgoals
    ]
)


class Visits(NamedTuple):
    """Where the agent has been in this trial, and where it is going."""

    where: Index
    trial: npt.NDArray[np.int64]  # a field of the states' records, the last trial in which the agent was there
    times: npt.NDArray[np.int32]  # a field, the number of visits in that trial
    scalars: npt.NDArray[Any]  # [1], of AIM
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Visits:
        """Return arrays without visits; they are empty if there will be no subgoals.

        An agent that keeps its subgoals records only states where it chooses one.
        """
        mind, numbers = space.mind, None if space.params.goal_by is GoalBy.PATTERN else 0
        group = Group.APART if space.params.loops is Loops.HOLD else Group.NEAR
        fields = mind.field(np.int64, group, numbers), mind.field(np.int32, group, numbers)
        return cls(mind.index(group, numbers), *fields, mind.one(AIM), space.clock)


class Memory(NamedTuple):
    """The learned values, the visits of this trial, and the databases that control D LRTA*."""

    h: Learned
    tables: Tables
    visits: Visits
    depths: Depths
    goals: Goals


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of D LRTA*."""
    visits, at, now = memory.visits, memory.visits.scalars[0], memory.visits.clock[0]["trial"]
    by_subgoals = len(visits.trial) > 0
    keeps = by_subgoals and params.loops == _HOLD and at["trial"] == now and at["aim"] != state
    if not keeps:
        before = _visit(visits, params, state)
        if before > 0:  # Appendix D
            at["trial"] = 0
            return _move_when_lost(graph, memory, params, state, goal, before)
        at["trial"], at["aim"], at["chosen_at"] = now, aim_for(memory.goals.by, state, goal), state
    aim, leg = at["aim"], Leg(at["chosen_at"], goal, by_subgoals)
    if aim == goal:
        return _move(graph, memory.depths, memory.h, params, state, aim, leg)
    turn_to(memory.tables, aim, visits.clock[0]["problem"])
    return _move(graph, memory.depths, memory.tables.h, params, state, aim, leg)


@kernel
def _visit(visits: Visits, params: Params, state: int) -> int:
    """Record a visit to ``state`` and return the number of earlier visits in this trial, if these matter."""
    if len(visits.trial) == 0:
        return 0
    now = visits.clock[0]["trial"]
    place = claim(visits.where, state)
    if visits.trial[place] != now:
        visits.trial[place], visits.times[place] = now, 0
    before = visits.times[place]
    visits.times[place] = before + 1
    if before > 0 and (params.loops in (_FOR_GOOD, _HOLD)):
        visits.scalars[0]["lost"] = now
    return 1 if visits.scalars[0]["lost"] == now else before


@kernel
def _move(graph: Arrays, depths: Depths, h: Learned, params: Params, state: int, aim: int, leg: Leg) -> Move:
    """Return the move towards ``aim``, at the depth that ``depths`` chooses."""
    choice = depth_for(depths.by, depths.ball, graph, h, state, aim, leg, params.depth)  # line 3
    return _look_and_learn(graph, depths, h, state, aim, choice)


@kernel
def _move_when_lost(graph: Arrays, memory: Memory, params: Params, state: int, goal: int, before: int) -> Move:
    """Return the move towards the goal itself, from a state that the agent visited ``before`` times before."""
    by, ball, h = memory.depths.by, memory.depths.ball, memory.h
    choice = Choice(depth_when_lost(by, state, goal, params.depth), 0, 0)
    if params.loops == _DEEPER:
        nearby = depth_for(by, ball, graph, h, state, goal, Leg(state, goal, True), params.depth)
        depth = min(greatest_depth(by, params.depth), nearby.depth + before * params.plies)
        choice = Choice(depth, nearby.expanded, nearby.touched)
    return _look_and_learn(graph, memory.depths, h, state, goal, choice)


@kernel
def _look_and_learn(graph: Arrays, depths: Depths, h: Learned, state: int, aim: int, choice: Choice) -> Move:
    best = look(depths.ball, graph, h, state, aim, choice.depth, 1.0)  # lines 4 and 5
    expanded, touched = choice.expanded + best.expanded, choice.touched + best.touched
    if best.slot < 0:
        return no_move(STUCK, expanded, touched)
    learned, stored = raise_to(h, graph, state, aim, best.f)  # line 6
    remember(depths.by, graph, state, best.first, learned)
    to, cost = target(graph, state, best.first), price(graph, state, best.first)
    return Move(to, cost, expanded, touched, learned, stored)  # line 7


# --- names ----------------------------------------------------------------------------------------------------------


@algorithm(
    Card(
        "dlrta",
        "D LRTA*",
        paper="Bulitko, Luštrek, Schaeffer, Björnsson & Sigmundarson 2008",
        real_time=True,
        crowd=True,
        complete=True,
        living=True,
        needs=("pattern",),
        examples=(
            "dlrta(depth=5)",
            "dlrta(depth_by=pattern)",
            "dlrta(depth_by=pattern, goal_by=global)",
            "dlrta(depth_by=pattern, loops=once)",
            "dlrta(depth_by=pattern, loops=for_good)",
            "dlrta(depth_by=pattern, loops=deeper)",
        ),
        shown=("dlrta",),
    )
)
class DLRTA:
    """The three parts of D LRTA*."""

    Params, Memory, step = Params, Memory, step


setting(
    "dlrta",
    Card(
        "oracle-lrta",
        "LRTA* (ORACLE, G)",
        paper="Bulitko, Björnsson, Luštrek, Schaeffer & Sigmundarson 2007",
        real_time=True,
        complete=True,
        converges=True,
        foresees=True,
        examples=("oracle-lrta(depth=5)",),
        summary="LRTA* that looks just deep enough to make the move of a deep lookahead, chosen by an oracle.",
    ),
    free=("depth",),
    depth_by=DepthBy.ORACLE,
    goal_by=GoalBy.GLOBAL,
    depth=10,
    loops=Loops.ONCE,
    plies=3,
)

setting(
    "dlrta",
    Card(
        "dtlrta",
        "LRTA* (DT, G)",
        paper="Bulitko, Luštrek, Schaeffer, Björnsson & Sigmundarson 2008",
        real_time=True,
        complete=True,
        converges=True,
        needs=("depth-tree",),
        shown=("dtlrta",),
        summary="LRTA* whose depth a decision tree chooses, trained on any maps.",
    ),
    depth_by=DepthBy.TREE,
    goal_by=GoalBy.GLOBAL,
    depth=10,
    loops=Loops.ONCE,
    plies=3,
)

_PAIR = re.compile(r"LRTA\*\s*\(\s*(F|\d+|ORACLE|PDB|DT)\s*,\s*(G|PDB)\s*\)")
_DEPTH = {"PDB": "depth_by=pattern", "ORACLE": "depth_by=oracle, depth=10", "DT": "depth_by=tree"}
_GLOBAL = {"F": "lrta", "ORACLE": "oracle-lrta", "DT": "dtlrta"}  # these have their own names


@dialect
def pair(text: str) -> str | None:
    """Read the paper's notation, LRTA* (depth, goal); a number is a fixed depth.

    >>> pair("LRTA* (PDB, G)")
    'dlrta(depth_by=pattern, goal_by=global)'
    >>> pair("LRTA*(5, PDB)")
    'dlrta(depth_by=fixed, depth=5, goal_by=pattern, loops=once)'
    >>> pair("LRTA*(5, G)"), pair("LRTA* (DT, G)")
    ('lrta(depth=5)', 'dtlrta')
    """
    found = _PAIR.fullmatch(text.strip())
    if found is None:
        return None
    depth, goal = found.groups()
    if goal == "G" and depth != "PDB":
        return _GLOBAL.get(depth, f"lrta(depth={depth})")
    how = "depth_by=fixed" if depth == "F" else _DEPTH.get(depth, f"depth_by=fixed, depth={depth}")
    return f"dlrta({how}, {'goal_by=global' if goal == 'G' else 'goal_by=pattern, loops=once'})"
