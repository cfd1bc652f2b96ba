"""CPD: look up the first move of a shortest path to the goal, and make it.

Botea (2011), Strasser, Harabor and Botea (2014), Chiari et al. (2019). In the terms of Bulitko et al. (2008) this is
level 0: a database of all pairs of ground states. They estimated that it would take two years to build; compressed path
databases are built in minutes. There is no search, so nothing is expanded. Looking up the row of the agent's state
counts as one state touched.
"""

from __future__ import annotations

from typing import NamedTuple

from andante.agent import UNREACHABLE, Card, Move, algorithm, no_move
from andante.databases.moves import FirstMoves, expect, first_move
from andante.kernel import kernel
from andante.world.layout import Arrays, price, target


class Params(NamedTuple):
    """There are no parameters."""


class Memory(NamedTuple):
    """The database."""

    moves: FirstMoves


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move along a shortest path."""
    k = first_move(memory.moves, graph, state, goal)
    if k < 0:
        return no_move(UNREACHABLE, 0, 1)
    to = target(graph, state, k)
    expect(memory.moves, graph, state, to)
    return Move(to, price(graph, state, k), 0, 1, 0.0, 0)


@algorithm(
    Card(
        "cpd",
        "CPD",
        paper="Botea 2011; Strasser, Harabor & Botea 2014; Chiari et al. 2019",
        real_time=True,
        crowd=True,
        complete=True,
        optimal=True,
        needs=("moves",),
    )
)
class CPD:
    """The three parts of CPD."""

    Params, Memory, step = Params, Memory, step
