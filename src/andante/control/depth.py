"""The depth to which an agent searches before its next move.

The first axis of the notation LRTA* (depth, goal) of Bulitko et al. (2008).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from andante.control.features import History, keep, observe
from andante.control.goal import ground_pattern
from andante.databases.depth_tree import DepthTree, answer
from andante.databases.pattern import Pattern, capped_depth_to_goal, depth_to_goal, depth_to_subgoal
from andante.kernel import generic, kernel
from andante.notation import Word
from andante.search.learning import Learned
from andante.search.lookahead import Ball, deepen, look, most_states
from andante.search.memory import Space
from andante.world.layout import Layout, Moves


class DepthBy(Word):
    """The source of the depth."""

    FIXED = 0  # F: always the same
    PATTERN = 1  # PDB: a pattern database stores it for each pair of regions
    ORACLE = 2  # ORACLE: the least that makes the move of a deep lookahead, as if this were known
    TREE = 3  # DT: a decision tree predicts the oracle's depth


class Fixed(NamedTuple):
    """A depth that is always the same."""


class Stored(NamedTuple):
    """A depth stored in a pattern database."""

    pattern: Pattern


class Oracle(NamedTuple):
    """The least depth that is sufficient."""


class Guessed(NamedTuple):
    """A depth that a decision tree predicts from the agent's last moves."""

    tree: DepthTree
    history: History


By = Fixed | Stored | Oracle | Guessed


class Depths(NamedTuple):
    """A source of depths, and buffers for the lookahead."""

    by: By
    ball: Ball

    @classmethod
    def allocate(cls, space: Space) -> Depths:
        """Return the source named by the parameter ``depth_by``, with buffers for its deepest lookahead."""
        by, deepest = _chosen(space)
        return cls(by, ball_for(space, deepest))


def ball_for(space: Space, deepest: int) -> Ball:
    """Return buffers for lookaheads up to this depth."""
    most = most_states(space.graph.arrays, deepest, space.states)
    return Ball.over(space.states, most, *space.graph.cost_range, ties=not isinstance(space.graph.arrays, Moves))


def _chosen(space: Space) -> tuple[By, int]:
    """Return the source of the depth, and the greatest depth that it may choose."""
    if space.params.depth_by is DepthBy.ORACLE:
        return Oracle(), space.params.depth
    if space.params.depth_by is DepthBy.FIXED:
        return Fixed(), space.params.depth
    if space.params.depth_by is DepthBy.TREE:
        tree = DepthTree.allocate(space)
        return Guessed(tree, History.over(space, int(tree.history[0]))), int(tree.deepest[0])
    pattern = ground_pattern(space)
    stored = max(int(np.max(table, initial=1)) for table in (pattern.depth, pattern.goal_depth))
    return Stored(pattern), max(stored, int(pattern.cap[0]))


# --- choosing -------------------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """A depth, and the cost of choosing it."""

    depth: int
    expanded: int
    touched: int


class Leg(NamedTuple):
    """The properties of an aim that a pattern database needs."""

    chosen: int  # the state in which it was chosen
    goal: int  # the goal of the problem
    near: bool  # whether the aim is a subgoal on the path to the goal


@generic
def depth_for(by: By, ball: Ball, graph: Layout, h: Learned, state: int, aim: int, leg: Leg, fixed: int) -> Choice:
    """Return the depth for a search from ``state`` towards ``aim``; ``h`` must be for that aim.

    ``fixed`` is the depth if it is not chosen, and the greatest depth if an oracle chooses it.
    """
    raise TypeError(by)


@depth_for.of(Fixed)
def _fixed(by: Fixed, ball: Ball, graph: Layout, h: Learned, state: int, aim: int, leg: Leg, fixed: int) -> Choice:
    return Choice(fixed, 0, 0)


@depth_for.of(Stored)
def _stored(by: Stored, ball: Ball, graph: Layout, h: Learned, state: int, aim: int, leg: Leg, fixed: int) -> Choice:
    known, here, goal = by.pattern, leg.chosen, leg.goal
    return Choice(depth_to_subgoal(known, here, goal) if leg.near else depth_to_goal(known, here, goal), 0, 0)


@depth_for.of(Oracle)
def _foreseen(by: Oracle, ball: Ball, graph: Layout, h: Learned, state: int, aim: int, leg: Leg, fixed: int) -> Choice:
    return Choice(least_depth(ball, graph, h, state, aim, fixed), 0, 0)  # an oracle need not search


@depth_for.of(Guessed)
def _guessed(by: Guessed, ball: Ball, graph: Layout, h: Learned, state: int, aim: int, leg: Leg, fixed: int) -> Choice:
    seen = observe(by.history, ball, graph, h, state, aim)
    return Choice(answer(by.tree, by.history.row), seen.expanded, seen.touched)


@kernel
def least_depth(ball: Ball, graph: Layout, h: Learned, state: int, goal: int, deepest: int) -> int:
    """Return the least depth from which on all lookaheads, up to the deepest, make the same move.

    Bulitko et al. (2008, section 5.1) search as deep as allowed, and then ever less deep until the move changes.
    The result is the depth at which, when searching deeper and deeper, the move changes for the last time.
    """
    seen = look(ball, graph, h, state, goal, 1, 1.0)
    least, move = 1, seen.first
    for depth in range(2, deepest + 1):
        size = seen.size
        seen = deepen(ball, graph, h, goal, 1.0, seen)
        if seen.first != move:
            least, move = depth, seen.first
        if seen.size == size:  # there is no deeper ply
            break
    return least


# --- falling back ---------------------------------------------------------------------------------------------------


@generic
def greatest_depth(by: By, fixed: int) -> int:
    """Return the greatest depth: the cap of a database, the greatest answer of a tree, or the fixed depth."""
    raise TypeError(by)


@greatest_depth.of(Fixed)
def _the_fixed(by: Fixed, fixed: int) -> int:
    return fixed


@greatest_depth.of(Stored)
def _the_cap(by: Stored, fixed: int) -> int:
    return by.pattern.cap[0]


@greatest_depth.of(Oracle)
def _the_deepest(by: Oracle, fixed: int) -> int:
    return fixed


@greatest_depth.of(Guessed)
def _the_deepest_answer(by: Guessed, fixed: int) -> int:
    return by.tree.deepest[0]


@generic
def depth_when_lost(by: By, state: int, goal: int, fixed: int) -> int:
    """Return the depth to fall back on: the database's depth for the goal, up to its cap, or the greatest depth."""
    raise TypeError(by)


@depth_when_lost.of(Stored)
def _stored_when_lost(by: Stored, state: int, goal: int, fixed: int) -> int:
    return capped_depth_to_goal(by.pattern, state, goal)


@depth_when_lost.of(Fixed)
def _fixed_when_lost(by: Fixed, state: int, goal: int, fixed: int) -> int:
    return greatest_depth(by, fixed)


@depth_when_lost.of(Oracle)
def _oracle_when_lost(by: Oracle, state: int, goal: int, fixed: int) -> int:
    return greatest_depth(by, fixed)


@depth_when_lost.of(Guessed)
def _guess_when_lost(by: Guessed, state: int, goal: int, fixed: int) -> int:
    return greatest_depth(by, fixed)


# --- remembering ----------------------------------------------------------------------------------------------------


@generic
def remember(by: By, graph: Layout, state: int, move: int, learned: float) -> None:
    """Record a move from ``state`` and the amount learned there, if later choices need it."""
    raise TypeError(by)


@remember.of(Fixed)
def _fixed_remembers(by: Fixed, graph: Layout, state: int, move: int, learned: float) -> None:
    pass


@remember.of(Stored)
def _stored_remembers(by: Stored, graph: Layout, state: int, move: int, learned: float) -> None:
    pass


@remember.of(Oracle)
def _oracle_remembers(by: Oracle, graph: Layout, state: int, move: int, learned: float) -> None:
    pass


@remember.of(Guessed)
def _guessed_remembers(by: Guessed, graph: Layout, state: int, move: int, learned: float) -> None:
    keep(by.history, graph, state, move, learned)
