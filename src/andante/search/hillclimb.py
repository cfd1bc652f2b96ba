"""Hill-climbing: follow the heuristic as it is, without learning, for as long as it falls.

What hill-climbing reaches, LRTA* with a lookahead of one move reaches without learning anything (Bulitko and Björnsson
2009, section 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from andante.kernel import kernel
from andante.world.graph import Arrays, degree, estimate, price, target


class Climb(NamedTuple):
    """How an attempt at hill-climbing ended, and what it took."""

    arrived: bool
    expanded: int  # states whose neighbours were looked at: one per step
    touched: int


@kernel
def climb(graph: Arrays, state: int, goal: int, most: int) -> Climb:
    """Go to the neighbour of least cost plus heuristic, of equal ones the first, until at ``goal``.

    It fails where the heuristic does not fall, and after ``most`` steps.
    """
    expanded, touched = 0, 0
    height = estimate(graph, state, goal)
    while state != goal:
        if expanded == most:
            return Climb(False, expanded, touched)
        moves = degree(graph, state)
        best, least, lowest = -1, np.inf, np.inf
        for k in range(moves):
            near = target(graph, state, k)
            h = estimate(graph, near, goal)
            f = price(graph, state, k) + h
            if f < least:
                best, least, lowest = near, f, h
        expanded, touched = expanded + 1, touched + moves
        if best < 0 or lowest >= height:
            return Climb(False, expanded, touched)
        state, height = best, lowest
    return Climb(True, expanded, touched)
