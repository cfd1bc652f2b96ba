"""The input of a decision tree: eleven features of an agent's last moves and of the states around it.

Bulitko et al. (2008), Appendix A, Tables 7 and 8. The first four are updated from move to move, so their cost does not
grow with the length of the history. For the others the agent looks one move ahead, before it knows how deep to search
(the pre-search). They are in the order of the tables:

    0   f1   the heuristic from here to the goal, before anything was learned
    1   f2   the heuristic between here and the agent's state n moves ago (mobility)
    2   f3   the number of different states visited during the last n moves
    3   f4   the total amount by which heuristic values rose during the last n moves
    4   f5   the number of neighbours, as a share of their number without obstacles
    5   f6   the share of neighbours with a learned value
    6   f7   whether the best move is the one made here the last time
    7   f8   whether the best move continues in the direction of the last one
    8   f9   the value here, divided by that of the best neighbour
    9   f10  whether the best neighbour has a learned value
    10  f11  whether the value here is greater than that of the best neighbour

Costs (f1, f2 and f4) are in units of the graph (`world.layout.unit`), so that a tree fits maps with any unit. Where the
paper is silent: before the n-th move, f2 refers to the start. The history starts again with each trial. If the best
neighbour's value is 0, at the goal, f9 is very large.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.depth_tree import FEATURES
from andante.kernel import generic, int64, kernel
from andante.search.learning import Learned, is_learned, value
from andante.search.lookahead import Ball, Frontier, look
from andante.search.memory import Clock, Space
from andante.search.records import Index, claim, find
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Csr, GridArrays, Layout, Moves, Sixteen, Terrain, degree, estimate, target, unit

PARTS = 2.0**20  # learning is summed in whole multiples of 1 / PARTS of a unit, which keeps the sums exact


HISTORY = np.dtype(
    [
        ("size", np.int64),  # moves in the ring
        ("next", np.int64),  # the index of the next move
        ("distinct", np.int64),  # number of different states in the ring
        ("volume", np.int64),  # the sum of ``learned``
        ("trial", np.int64),  # the trial of the moves in the ring
        ("open", np.int64),  # neighbours of a state without obstacles
    ]
)


class History(NamedTuple):
    """An agent's last n moves, in a ring, and its last move from each state."""

    state: npt.NDArray[np.int32]  # [n], the state before each move
    learned: npt.NDArray[np.int64]  # [n], the rise of the value there, in multiples of 1 / PARTS of a unit
    where: Index
    times: npt.NDArray[np.int32]  # a field of the states' records, the number of times that the state is in the ring
    move: npt.NDArray[np.int32]  # a field, the last move from there, as an index in the neighbour order
    seen: npt.NDArray[np.int64]  # a field, the trial in which the two above were written
    scalars: npt.NDArray[Any]  # [1], of HISTORY
    row: npt.NDArray[np.float32]  # [FEATURES], for the next move
    clock: Clock

    @classmethod
    def over(cls, space: Space, moves: int) -> History:
        """Return an empty history for this many moves."""
        mind = space.mind
        return cls(
            mind.row(np.int32, moves),
            mind.row(np.int64, moves),
            mind.index(),
            mind.field(np.int32),
            mind.field(np.int32),
            mind.field(np.int64),
            mind.one(HISTORY, (0, 0, 0, 0, 0, _open_degree(space.graph))),
            np.zeros(FEATURES, np.float32),
            space.clock,
        )


def _open_degree(graph: Graph) -> int:
    """Return a state's number of neighbours without obstacles; on graphs other than grids, the greatest degree."""
    if not isinstance(graph.arrays, Csr):
        return graph.open_degree
    return max(1, graph.max_degree)


@generic
def _same_direction(graph: Layout, a: int, b: int, c: int, d: int) -> bool:
    """Return whether the move from a to b has the same direction and length as that from c to d."""
    raise TypeError(graph)


@_same_direction.of(Moves, Terrain, Sixteen)
def _moves_same_direction(graph: GridArrays | Sixteen, a: int, b: int, c: int, d: int) -> bool:
    return graph.x[b] - graph.x[a] == graph.x[d] - graph.x[c] and graph.y[b] - graph.y[a] == graph.y[d] - graph.y[c]


@_same_direction.of(Csr)
def _csr_same_direction(graph: Csr, a: int, b: int, c: int, d: int) -> bool:
    axes = graph.point.shape[1]
    for axis in range(axes):
        one, other = graph.point[b, axis] - graph.point[a, axis], graph.point[d, axis] - graph.point[c, axis]
        if abs(one - other) > TOLERANCE * graph.unit:
            return False
    return axes > 0


@kernel
def observe(history: History, ball: Ball, graph: Layout, h: Learned, state: int, goal: int) -> Frontier:
    """Write the features for an agent's next move to ``history.row``; return the pre-search, whose work also counts."""
    at = history.scalars[0]
    _turn_to_trial(history)
    best = look(ball, graph, h, state, goal, 1, 1.0)
    row, moves, capacity = history.row, at["size"], len(history.state)
    oldest = at["next"] if moves == capacity else 0
    row[0] = estimate(graph, state, goal) / unit(graph)
    row[1] = estimate(graph, state, int64(history.state[oldest])) / unit(graph) if moves > 0 else 0.0
    row[2] = at["distinct"]
    row[3] = at["volume"] / PARTS
    row[4:] = 0.0
    if best.slot < 0:
        return best
    slack = TOLERANCE * unit(graph)
    near, here = target(graph, state, best.first), value(h, graph, state, goal)
    there, last = value(h, graph, near, goal), int64(history.state[at["next"] - 1])
    row[4] = degree(graph, state) / at["open"]
    row[5] = _learned_share(graph, h, state)
    place = find(history.where, state)
    row[6] = history.seen[place] == at["trial"] and history.move[place] == best.first
    row[7] = moves > 0 and _same_direction(graph, last, state, state, near)
    row[8] = (here + slack) / (there + slack)
    row[9] = is_learned(h, near)
    row[10] = here > there + slack
    return best


@kernel
def _turn_to_trial(history: History) -> None:
    """Forget the moves of an earlier trial."""
    at = history.scalars[0]
    if at["trial"] != history.clock[0]["trial"]:
        at["trial"] = history.clock[0]["trial"]
        at["size"], at["next"], at["distinct"], at["volume"] = 0, 0, 0, 0


@kernel
def _learned_share(graph: Layout, h: Learned, state: int) -> float:
    """Return the share of neighbours that have a learned value."""
    learned, moves = 0, degree(graph, state)
    for k in range(moves):
        learned += 1 if is_learned(h, target(graph, state, k)) else 0
    return learned / moves


@kernel
def keep(history: History, graph: Layout, state: int, move: int, learned: float) -> None:
    """Record that the agent made this move from ``state``, where the value rose by ``learned``."""
    at = history.scalars[0]
    _turn_to_trial(history)
    place, capacity = at["next"], len(history.state)
    if at["size"] == capacity:
        oldest = find(history.where, int64(history.state[place]))
        history.times[oldest] -= 1
        if history.times[oldest] == 0:
            at["distinct"] -= 1
        at["volume"] -= history.learned[place]
    else:
        at["size"] += 1
    here = claim(history.where, state)
    if history.seen[here] != at["trial"]:
        history.seen[here], history.times[here] = at["trial"], 0
    if history.times[here] == 0:
        at["distinct"] += 1
    history.times[here] += 1
    history.move[here] = move
    history.state[place], history.learned[place] = state, int64(round(learned / unit(graph) * PARTS))
    at["volume"] += history.learned[place]
    at["next"] = (place + 1) % capacity
