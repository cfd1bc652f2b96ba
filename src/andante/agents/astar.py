"""A*: plan the whole path before the first move, then walk it.

Hart, Nilsson and Raphael (1968); with a weight on the heuristic, Pohl (1970). Not real-time: the first move waits for
the whole plan. Where the papers are silent, the state opened last is expanded first among states with equal f.

On a map that it has yet to discover, it is Local Repair A* (Stout 1996): when the next move of the plan turns out to be
blocked, it plans the whole path again from its current state. If its goal moves, it follows its path until it should
turn, as all agents that pursue moving goals do, and then plans again.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from andante.agent import UNREACHABLE, Card, Move, Range, algorithm, no_move, setting
from andante.kernel import kernel
from andante.search.astar import Tree, reached, search
from andante.search.path import Path, lay, next_move
from andante.world.layout import Arrays


class Params(NamedTuple):
    """The weight of the heuristic."""

    weight: Annotated[float, Range(1), "on the heuristic: the path costs at most this many times the optimum"] = 2.0


class Memory(NamedTuple):
    """The search, and the path it found."""

    tree: Tree
    path: Path


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of A*: plan the whole path before the first move, and again if the path is blocked."""
    expanded, touched = 0, 0
    to, cost = next_move(memory.path, graph, state, goal)
    if cost == np.inf:
        expanded, touched = search(memory.tree, graph, state, goal, params.weight)
        if not reached(memory.tree, goal):
            return no_move(UNREACHABLE, expanded, touched)
        lay(memory.path, memory.tree, goal)
        to, cost = next_move(memory.path, graph, state, goal)
    return Move(to, cost, expanded, touched, 0.0, 0)


@algorithm(
    Card(
        "wastar",
        "Weighted A*",
        paper="Pohl 1970",
        complete=True,
        senses=True,
        living=True,
        pursues=True,
        summary="A* with more weight on its heuristic.",
    )
)
class WeightedAStar:
    """The three parts of weighted A*."""

    Params, Memory, step = Params, Memory, step


setting(
    "wastar",
    Card(
        "astar",
        "A*",
        paper="Hart, Nilsson & Raphael 1968",
        complete=True,
        optimal=True,
        shown=("astar",),
        summary="Plan the whole path before the first move, then walk it.",
    ),
    weight=1.0,
)
