"""kNN LRTA*: go to the subgoal of the most similar solved problem, then to the next, with LRTA*.

Bulitko and Björnsson (2009), Figure 7; line numbers refer to that figure. If the records of the database store whole
series of subgoals, as in the journal version, the agent continues to the next subgoal of its record unless it can climb
to the goal. Such a series begins with the record's own start, from which the first subgoal can always be climbed to.
The agent goes there first unless it can climb to that subgoal directly.

Where the paper is silent: a subgoal is pursued until reached. At most ``candidates`` records are tested at a time, most
similar first (``none``: all of them, as in the paper). If no record fits, the agent makes ``retry`` moves towards the
goal before it looks again (``none``: it goes all the way, as in the paper). A subgoal equal to the agent's state is
skipped. Values are learned for the goal that is pursued: those for the global goal are kept, those for a subgoal are
forgotten with it. Steps of hill-climbing count as expansions.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, Card, Move, Range, algorithm, no_move
from andante.databases.subgoals import Shortlist, Subgoals, Used, choose, use
from andante.kernel import int64, kernel
from andante.search.effort import Effort
from andante.search.hillclimb import climb
from andante.search.learning import Learned, raise_to
from andante.search.lookahead import Ball, look
from andante.search.memory import CLOCK, Clock, Space, begin_problem, set_problem
from andante.search.mind import Group
from andante.search.records import forget, release
from andante.world.layout import Arrays, price, target

NOWHERE = -1
STAMPS = 1 << 32  # distinct stamps for subgoals


class Params(NamedTuple):
    """How far kNN LRTA* looks ahead, and the work that it may spend on finding a subgoal."""

    depth: Annotated[int, Range(1, 100), "moves to look ahead"] = 3
    m: Annotated[int, Range(1, 100_000), "steps that an attempt at hill-climbing may take"] = 25
    candidates: Annotated[int | None, Range(0), "records tested before a move, most similar first; none: all"] = 10
    retry: Annotated[int | None, Range(1, 1_000_000), "moves to the goal before records are tested again"] = 10

    @property
    def real_time(self) -> bool:
        """Whether planning per move is bounded: the time to test all records grows with the database and the map."""
        return self.candidates is not None


class Apart(NamedTuple):
    """Values learned for a subgoal, with a separate clock."""

    h: Learned

    @classmethod
    def allocate(cls, space: Space) -> Apart:
        """Return arrays without learned values."""
        clock = space.mind.one(CLOCK, (1, 1, 1, 1, 1, 0.0))
        return cls(Learned.over(space.mind, clock, space.log, Group.ASIDE))


PLAN = np.dtype(
    [
        ("aim", np.int64),  # the state that the agent pursues
        ("left", np.int64),  # moves before it looks for another aim; -1: it keeps this one until reached
        ("next", np.int64),  # the next subgoal of its record
        ("end", np.int64),  # the end of the record's subgoals
        ("trial", np.int64),  # the trial that these fields are for
    ]
)


class Plan(NamedTuple):
    """The state that the agent pursues, and the subgoals used in this trial (the paper's taboo list)."""

    used: Used
    scalars: npt.NDArray[Any]  # [1], of PLAN
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Plan:
        """Return a plan without a subgoal."""
        return cls(Used.over(space.mind), space.mind.one(PLAN), space.clock)


class Memory(NamedTuple):
    """The learned values, the plan, and the database of kNN LRTA*."""

    subgoals: Subgoals
    found: Shortlist
    plan: Plan
    h: Learned
    apart: Apart
    ball: Ball


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of kNN LRTA*."""
    plan = memory.plan
    at = plan.scalars[0]
    if at["trial"] != plan.clock[0]["trial"]:
        _begin(plan)  # lines 1 and 2
    work = Effort(0, 0, 0.0)
    if at["aim"] == state or at["aim"] == NOWHERE or at["left"] == 0:
        work = _aim(graph, memory, params, state, goal)  # lines 3 to 11
    aim = at["aim"]
    h = memory.h if aim == goal else memory.apart.h
    best = look(memory.ball, graph, h, state, aim, params.depth, 1.0)  # line 12
    expanded, touched = work.expanded + best.expanded, work.touched + best.touched
    if best.slot < 0:
        return no_move(STUCK, expanded, touched)
    learned, stored = raise_to(h, graph, state, aim, best.f)
    if at["left"] > 0:
        at["left"] -= 1
    return Move(target(graph, state, best.first), price(graph, state, best.first), expanded, touched, learned, stored)


@kernel
def _begin(plan: Plan) -> None:
    """Forget the last trial."""
    at = plan.scalars[0]
    at["trial"] = plan.clock[0]["trial"]
    at["aim"], at["left"] = NOWHERE, -1
    at["next"] = at["end"] = 0


@kernel
def _aim(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Effort:
    """Choose an aim: the goal if it can be climbed to, else a subgoal, or the goal if there is no subgoal."""
    plan = memory.plan
    at = plan.scalars[0]
    at["left"] = -1
    straight = climb(graph, state, goal, params.m)  # line 3
    if straight.arrived:
        at["aim"] = goal  # line 10
        return Effort(straight.expanded, straight.touched, 0.0)
    expanded, touched = straight.expanded, straight.touched
    if not _has_next(memory, state):
        choice = choose(memory.subgoals, memory.found, graph, state, goal, params.m, plan.used, plan.clock[0]["trial"])
        expanded, touched = expanded + choice.expanded, touched + choice.touched  # lines 4 to 7
        if choice.record >= 0:
            ahead = _take_up(graph, memory, params, state, choice.record)
            expanded, touched = expanded + ahead.expanded, touched + ahead.touched
    if _has_next(memory, state):
        _pursue_next(memory)
    else:
        at["aim"] = goal
        at["left"] = params.retry  # none is -1
    return Effort(expanded, touched, 0.0)


@kernel
def _has_next(memory: Memory, state: int) -> bool:
    """Return whether the current record has another subgoal; skip those equal to the agent's state."""
    plan = memory.plan
    at = plan.scalars[0]
    while at["next"] < at["end"] and memory.subgoals.subgoal[at["next"]] == state:
        at["next"] += 1
    return at["next"] < at["end"]


@kernel
def _take_up(graph: Arrays, memory: Memory, params: Params, state: int, record: int) -> Effort:
    """Follow a record; the start of a series is skipped if its first subgoal can be climbed to."""
    plan, subgoals = memory.plan, memory.subgoals
    at = plan.scalars[0]
    at["next"], at["end"] = subgoals.first[record], subgoals.first[record + 1]
    use(plan.used, int64(subgoals.subgoal[at["next"]]), plan.clock[0]["trial"])  # line 8
    if at["next"] + 1 == at["end"]:
        return Effort(0, 0, 0.0)
    ahead = climb(graph, state, int64(subgoals.subgoal[at["next"] + 1]), params.m)
    if ahead.arrived:
        at["next"] += 1
    return Effort(ahead.expanded, ahead.touched, 0.0)


@kernel
def _pursue_next(memory: Memory) -> None:
    """Make the next subgoal of the record the aim."""
    plan, h = memory.plan, memory.apart.h
    at = plan.scalars[0]
    at["aim"] = memory.subgoals.subgoal[at["next"]]
    at["next"] += 1
    release(h.where)
    begin_problem(h.clock[0], 0)
    if h.clock[0]["problem"] == STAMPS:
        forget(h.where, h.stamp)
        set_problem(h.clock[0], 1, 0)


@algorithm(
    Card(
        "knn",
        "kNN LRTA*",
        paper="Bulitko & Björnsson 2009",
        real_time=True,
        crowd=True,
        complete=True,
        needs=("subgoals",),
        examples=("knn(depth=1)",),
        shown=("knn(m=100)",),
    )
)
class KNN:
    """The three parts of kNN LRTA*."""

    Params, Memory, step = Params, Memory, step
