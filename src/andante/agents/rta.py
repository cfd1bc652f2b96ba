"""RTA*: move to the best neighbour, and store the second best value in the state left.

Korf (1990). The value stored is the cost of the path through the best neighbour that the agent does *not* choose. It is
right while the agent moves on, and too high once it has returned, so values are not kept between trials and nothing
converges. Where the paper is silent: among neighbours with equal f the first in the graph's order wins. With only one
neighbour the second best value is infinite, and the state is never entered again. When the goal moves, the value is
instead the cost of leaving the state and returning to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from andante.agent import STUCK, Card, Move, algorithm, no_move
from andante.kernel import kernel
from andante.search.learning import Learned, store, value
from andante.search.memory import EXPANDED, note
from andante.world.layout import Arrays, degree, price, target


class Params(NamedTuple):
    """There are no parameters."""


class Memory(NamedTuple):
    """The values that RTA* has stored."""

    h: Learned


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of RTA*."""
    least, second, best = np.inf, np.inf, -1
    moves = degree(graph, state)
    for k in range(moves):
        f = price(graph, state, k) + value(memory.h, graph, target(graph, state, k), goal)
        second = min(second, max(least, f))  # no branches, which would be hard to predict
        if f < least:
            least, best = f, k
    note(memory.h.log, EXPANDED, state, 0.0)
    if best < 0:
        return no_move(STUCK, 1, moves)
    if second == np.inf and memory.h.clock[0]["drift"] > 0.0:
        second = least + 2.0 * price(graph, state, best)  # a moving goal may reach a former dead end
    old = value(memory.h, graph, state, goal)
    stored = store(memory.h, state, second)
    learned = max(second - old, 0.0) if second < np.inf else 0.0  # an infinite rise would hide all others
    return Move(target(graph, state, best), price(graph, state, best), 1, moves, learned, stored)


@algorithm(
    Card(
        "rta",
        "RTA*",
        paper="Korf 1990",
        real_time=True,
        complete=True,
        two_way=True,
        senses=True,
        living=True,
        pursues=True,
        crowd=True,
        shown=("rta",),
    )
)
class RTA:
    """The three parts of RTA*."""

    Params, Memory, step = Params, Memory, step
