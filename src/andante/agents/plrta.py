"""P LRTA*: a lookahead of one move, and learning that spreads by priority to where it matters most.

Rayner, Davison, Bulitko, Anderson and Lu (2007), which is LRTA* with the prioritized sweeping of Moore and Atkeson
(1993). Whenever the value of a state rises, its predecessors are queued with the increase as their priority, and before
each move some of the queue is processed. Also P LRTA* (F, G) of Bulitko et al. (2008), whose control parameter is the
size of the queue.

Where the papers are silent: the queue is kept for all moves and trials of one problem. A state that is queued again
keeps the larger of its priorities. Among equal priorities the state queued first is updated first, and the one queued
last is dropped first when the queue is full. Among neighbours with equal f the first in the graph's order wins. All
updates count as expanded, and so does choosing the move if anything was updated after the agent's own state.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, Card, Move, Range, algorithm, no_move
from andante.kernel import generic, int64, kernel
from andante.search import heap
from andante.search.heap import Heap
from andante.search.learning import Learned, raise_to, value
from andante.search.memory import EXPANDED, Clock, Space, note
from andante.search.predecessors import Mirror, Predecessors
from andante.world.layout import Arrays, Csr, degree, price, target


class Params(NamedTuple):
    """The size of the queue, and the number of updates per move."""

    queue: Annotated[int, Range(1, 100_000), "states that can wait to be updated"] = 10
    updates: Annotated[int | None, Range(0, 100_000), "states updated before a move; none: as many as can wait"] = None


QUEUE = np.dtype(
    [
        ("queued", np.int64),  # states ever queued
        ("problem", np.int64),  # the problem in which the queue was last used
    ]
)


class Queue(NamedTuple):
    """The states that wait to be updated, ordered from both ends."""

    first: Heap  # highest priority first
    last: Heap  # lowest priority first
    scalars: npt.NDArray[Any]  # [1], of QUEUE
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Queue:
        """Return an empty queue of the size given by the parameter ``queue``."""
        mind, most = space.mind, min(space.states, space.params.queue)
        return cls(Heap.in_mind(mind, most), Heap.in_mind(mind, most), mind.one(QUEUE), space.clock)


class Near(NamedTuple):
    """The neighbours of the state that was expanded last, in the graph's order."""

    state: npt.NDArray[np.int32]  # [most]

    @classmethod
    def allocate(cls, space: Space) -> Near:
        """Return arrays for the largest number of neighbours."""
        return cls(np.zeros(max(1, space.graph.max_degree), np.int32))


class Memory(NamedTuple):
    """The learned values, and the states that P LRTA* has yet to update."""

    h: Learned
    queue: Queue
    into: Predecessors
    near: Near


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of P LRTA*."""
    queue = memory.queue
    _forget(queue)
    limit: int = params.queue if params.updates < 0 else params.updates  # type: ignore[operator, assignment]  # none is -1
    expanded, touched, learned, stored = 0, 0, 0.0, 0
    near, best = state, -1
    while True:
        rose, fresh, best = _update(graph, memory, near, goal)
        expanded, touched, learned, stored = expanded + 1, touched + degree(graph, near), learned + rose, stored + fresh
        if expanded > limit or heap.size(queue.first) == 0:
            break
        near = _take(queue)
    if expanded > 1:
        _, best = _best_move(graph, memory, state, goal)
        expanded, touched = expanded + 1, touched + degree(graph, state)
    if best < 0:
        return no_move(STUCK, expanded, touched)
    return Move(target(graph, state, best), price(graph, state, best), expanded, touched, learned, stored)


@kernel
def _update(graph: Arrays, memory: Memory, state: int, goal: int) -> tuple[float, int, int]:
    """Update one state and queue its predecessors; return the increase, 1 for a first value, and the best move."""
    note(memory.h.log, EXPANDED, state, 0.0)
    f, best = _best_move(graph, memory, state, goal)
    if best < 0:
        return 0.0, 0, best
    rose, fresh = raise_to(memory.h, graph, state, goal, f)
    if rose > 0.0:
        _queue_before(memory.into.arcs, memory, degree(graph, state), state, goal, rose)
    return rose, fresh, best


@generic
def _queue_before(arcs: Mirror | Csr, memory: Memory, moves: int, state: int, goal: int, rose: float) -> None:
    """Queue the predecessors of ``state``, which was expanded last and has ``moves`` moves itself."""
    raise TypeError(arcs)


@_queue_before.of(Mirror)
def _queue_neighbours(arcs: Mirror, memory: Memory, moves: int, state: int, goal: int, rose: float) -> None:
    for k in range(moves):  # known from expanding it, so nothing is generated again
        before = int64(memory.near.state[k])
        if before != goal:
            _enqueue(memory.queue, before, rose)


@_queue_before.of(Csr)
def _queue_predecessors(arcs: Csr, memory: Memory, moves: int, state: int, goal: int, rose: float) -> None:
    for k in range(degree(arcs, state)):
        before = target(arcs, state, k)
        if before != goal:
            _enqueue(memory.queue, before, rose)


@kernel
def _best_move(graph: Arrays, memory: Memory, state: int, goal: int) -> tuple[float, int]:
    """Return the least cost + h of a move from ``state``, and that move; return infinity and -1 if there is none."""
    least, best = np.inf, -1
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        memory.near.state[k] = near
        f = price(graph, state, k) + value(memory.h, graph, near, goal)
        if f < least:
            least, best = f, k
    return least, best


# --- the queue ------------------------------------------------------------------------------------------------------


@kernel
def _forget(queue: Queue) -> None:
    """Empty the queue if it belongs to another problem."""
    at = queue.scalars[0]
    if at["problem"] != queue.clock[0]["problem"]:
        at["problem"] = queue.clock[0]["problem"]
        heap.clear(queue.first)
        heap.clear(queue.last)


@kernel
def _enqueue(queue: Queue, state: int, priority: float) -> None:
    """Queue a state, or raise its priority; in a full queue it replaces the state of the lowest priority, if lower."""
    at = queue.scalars[0]
    first, last = queue.first, queue.last
    gone = -1
    if heap.is_queued(last, state):
        gone = state
    elif heap.size(last) == len(last.item):
        gone = int64(last.item[0])
    if gone >= 0:
        if priority <= last.key[heap.place_of(last, gone)]:
            return
        heap.remove(first, gone)
        heap.remove(last, gone)
    at["queued"] += 1
    heap.push(first, state, -priority, -at["queued"])
    heap.push(last, state, priority, at["queued"])


@kernel
def _take(queue: Queue) -> int:
    """Remove and return the state of the highest priority."""
    state = heap.pop(queue.first)
    heap.remove(queue.last, state)
    return state


@algorithm(
    Card(
        "plrta",
        "P LRTA*",
        paper="Rayner et al. 2007",
        real_time=True,
        crowd=True,
        complete=True,
        converges=True,
        senses=True,
        living=True,
        pursues=True,
        examples=("plrta(queue=100)",),
        shown=("plrta",),
    )
)
class PLRTA:
    """The three parts of P LRTA*."""

    Params, Memory, step = Params, Memory, step
