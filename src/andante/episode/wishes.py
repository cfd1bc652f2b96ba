"""The alternatives of a unit with a body if its wish is denied: its moves, ranked by cost plus the value of their ends.

A unit ranks its moves when it plans, because its memory can be read only then. The order is kept in its row, as one
number, for as long as its wish is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt

from andante.kernel import instantiate, int64, kernel, placeholder
from andante.search.learning import Learned, value
from andante.world.layout import Arrays, degree, estimate, price, target
from andante.world.layout import unit as unit_of

BITS = 4  # per move
MOST_RANKED = 14  # moves of a state, which fit into 63 bits together with staying
UNRANKED = 0  # in place of an order: no order of two moves or more is 0


believed = placeholder(float, "returns a unit's estimate of the cost of a path (memory, graph, state, goal)")


@kernel
def _learned(memory: Any, graph: Arrays, state: int, goal: int) -> float:
    return value(memory.h, graph, state, goal)


@kernel
def _estimated(memory: Any, graph: Arrays, state: int, goal: int) -> float:
    return estimate(graph, state, goal)


def rank(graph: Arrays, memory: Any, worth: npt.NDArray[np.float64], state: int, goal: int) -> int:
    """Return the numbers of all moves of a state, best first, with staying among them as if it were the last move.

    Each takes BITS bits, beginning with the lowest. The result is UNRANKED if there are too many moves. ``worth`` is
    scratch space, float64[MOST_RANKED + 1].
    """
    moves, order = degree(graph, state), int64(UNRANKED)
    if moves > MOST_RANKED:
        return order
    for k in range(moves + 1):
        near, cost = (target(graph, state, k), price(graph, state, k)) if k < moves else (state, unit_of(graph))
        new, at = cost + believed(memory, graph, near, goal), k
        while at > 0 and worth[at - 1] > new:
            worth[at] = worth[at - 1]
            at -= 1
        worth[at] = new
        below = int64(BITS * at)
        order = (order >> below) << (below + BITS) | int64(k) << below | order & ((int64(1) << below) - 1)
    return order


@kernel
def ranked(order: int, place: int) -> int:
    """Return the number of the move at a place of an order, from 0.

    >>> ranked(0x102, 0), ranked(0x102, 1), ranked(0x102, 2)
    (2, 0, 1)
    """
    return int64(order) >> int64(BITS * place) & ((1 << BITS) - 1)


_BY_VALUES = instantiate(rank, "rank_by_values", believed=_learned)
_BY_HEURISTIC = instantiate(rank, "rank_by_heuristic", believed=_estimated)


def ranker(memory: type) -> Callable[..., int]:
    """Return `rank` for a memory, by the values learned for the goal (its field ``h``) if it has any."""
    return _BY_VALUES if get_type_hints(memory).get("h") is Learned else _BY_HEURISTIC
