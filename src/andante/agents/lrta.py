"""LRTA*: look d moves ahead, learn in the current state, make one move.

Korf (1990), as restated in Bulitko et al. (2007), Figure 2; line numbers refer to that figure. Also LRTA* (F, G) of
Bulitko et al. (2008). Where the papers are silent: among paths with equal f the one whose first move is first in the
graph's order wins. If no state is d moves away, the deepest ply is the frontier.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from andante.agent import STUCK, Card, Move, Range, algorithm, no_move
from andante.kernel import kernel
from andante.search.learning import Learned, raise_to
from andante.search.lookahead import Ball, look
from andante.world.layout import Arrays, price, target


class Params(NamedTuple):
    """How far LRTA* looks ahead."""

    depth: Annotated[int, Range(1, 100), "moves to look ahead"] = 1


class Memory(NamedTuple):
    """The learned values, and the arrays for the lookahead."""

    h: Learned
    ball: Ball


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of LRTA*."""
    best = look(memory.ball, graph, memory.h, state, goal, params.depth, 1.0)  # lines 1 and 2
    if best.slot < 0:
        return no_move(STUCK, best.expanded, best.touched)
    learned, stored = raise_to(memory.h, graph, state, goal, best.f)  # line 3
    to, cost = target(graph, state, best.first), price(graph, state, best.first)
    return Move(to, cost, best.expanded, best.touched, learned, stored)  # line 4


@algorithm(
    Card(
        "lrta",
        "LRTA*",
        paper="Korf 1990",
        real_time=True,
        crowd=True,
        complete=True,
        converges=True,
        senses=True,
        living=True,
        pursues=True,
        examples=("lrta(depth=3)", "lrta(depth=9)"),
        shown=("lrta",),
    )
)
class LRTA:
    """The three parts of LRTA*."""

    Params, Memory, step = Params, Memory, step
