"""Bulitko's family (seed 004): six parameters span LRTA*, wLRTA*, daLRTA*, lateral learning and expendable states.

Bulitko (2016), restated in seed 004, Algorithm 1; line numbers are that algorithm's. Written ``w*lop_b(wc*c+h)+da+E``
in the paper, which `find` reads too: ``2.654*median_0.153(2.486c+h)+da+E``. Where the paper is silent: depression
avoidance narrows the neighbourhood for learning and for moving; at least one neighbour is learned from; the median of
an even number is the mean of the middle two; equal is what differs by less than a millionth, and of equal neighbours
the first in the graph's order wins. A state is expendable on a grid if its remaining neighbours form one unbroken arc
of the ring around it, elsewhere if they reach each other by edges among themselves.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, Algorithm, Card, Move, Range, algorithm, dialect, no_move, setting
from andante.kernel import generic, int64, kernel
from andante.search.learning import Learned, store, value
from andante.search.memory import EXPANDED, Space, note
from andante.world.graph import COUNT, DIRECTION, Arrays, Csr, Moves, degree, estimate, price, target
from andante.world.heuristics import TOLERANCE


class Operator(IntEnum):
    """How the neighbours' values make the new one."""

    MIN = 0
    AVG = 1
    MEDIAN = 2
    MAX = 3


_MIN, _AVG, _MEDIAN = int(Operator.MIN), int(Operator.AVG), int(Operator.MEDIAN)


class Params(NamedTuple):
    """The six dimensions of the family; the defaults are LRTA* with a lookahead of one move."""

    w: Annotated[float, Range(1, 10), "weight of what is learned"] = 1.0
    wc: Annotated[float, Range(1, 10), "weight of edge costs in what is learned"] = 1.0
    b: Annotated[float, Range(0, 1), "share of the neighbours, best first, that is learned from"] = 1.0
    operator: Annotated[Operator, "how their values are put together"] = Operator.MIN
    da: Annotated[bool, "avoid depressions: look only at neighbours where least was learned"] = False
    expendable: Annotated[bool, "leave states for good that the rest of the map can do without"] = False


class Neighbours(NamedTuple):
    """The neighbours still in the graph, in its order."""

    move: npt.NDArray[np.int32]  # [most], place among all neighbours
    f: npt.NDArray[np.float64]  # [most], c + h
    v: npt.NDArray[np.float64]  # [most], wc * c + h
    rise: npt.NDArray[np.float64]  # [most], how much h was learned there

    @classmethod
    def allocate(cls, space: Space) -> Neighbours:
        """Room for as many neighbours as a state has."""
        most = space.graph.max_degree
        return cls(np.zeros(most, np.int32), np.zeros(most), np.zeros(most), np.zeros(most))


class Memory(NamedTuple):
    """Learned values, infinite where a state was left for good, and room to weigh the neighbours."""

    h: Learned
    near: Neighbours


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """One move of the family."""
    h, near = memory.h, memory.near
    moves = degree(graph, state)
    note(h.log, EXPANDED, state, 0.0)
    count = _gather(graph, h, near, params, state, goal)
    if params.da:
        count = _least_learned(near, count)  # line 5
    if count == 0:
        return no_move(STUCK, 1, moves)
    best = _least(near.f, count)
    k = int64(near.move[best])
    new = params.w * _combined(near, params, count)  # line 6
    old = value(h, graph, state, goal)
    learned, stored, expanded = 0.0, 0, 1
    if new > old + TOLERANCE:
        learned = new - old
        gone = False
        if params.expendable:
            gone, looked_at = is_expendable(graph, h, state)  # line 7
            expanded += looked_at
        stored = store(h, state, np.inf if gone else new)  # line 8
    return Move(target(graph, state, k), price(graph, state, k), expanded, moves, learned, stored)  # line 9


@kernel
def _gather(graph: Arrays, h: Learned, near: Neighbours, params: Params, state: int, goal: int) -> int:
    """List the neighbours that were not left for good: how many there are."""
    count = 0
    for k in range(degree(graph, state)):
        there, cost = target(graph, state, k), price(graph, state, k)
        rest = value(h, graph, there, goal)
        if rest == np.inf:
            continue
        near.move[count] = k
        near.f[count] = cost + rest
        near.v[count] = params.wc * cost + rest
        if params.da:
            near.rise[count] = rest - estimate(graph, there, goal)
        count += 1
    return count


@kernel
def _least_learned(near: Neighbours, count: int) -> int:
    """Keep the neighbours where least was learned: how many they are."""
    least = np.inf
    for i in range(count):
        least = min(least, near.rise[i])
    kept = 0
    for i in range(count):
        if near.rise[i] <= least + TOLERANCE:
            near.move[kept], near.f[kept], near.v[kept] = near.move[i], near.f[i], near.v[i]
            kept += 1
    return kept


@kernel
def _least(values: npt.NDArray[np.float64], count: int) -> int:
    """The place of the least value, the first of equals."""
    best, least = 0, values[0]
    for i in range(1, count):
        if values[i] + TOLERANCE < least:
            best, least = i, values[i]
    return best


@kernel
def _combined(near: Neighbours, params: Params, count: int) -> float:
    """The operator over the share ``b`` of the neighbours with the lowest f."""
    share = count
    if params.b < 1.0:
        share = max(1, int64(params.b * count))
        _sort(near.f, near.v, count)
    if params.operator == _MEDIAN:
        _sort(near.v, near.f, share)
        return (near.v[(share - 1) // 2] + near.v[share // 2]) / 2
    least, most, total = np.inf, -np.inf, 0.0
    for i in range(share):
        least, most, total = min(least, near.v[i]), max(most, near.v[i]), total + near.v[i]
    if params.operator == _MIN:
        return least
    return total / share if params.operator == _AVG else most


@kernel
def _sort(keys: npt.NDArray[np.float64], others: npt.NDArray[np.float64], count: int) -> None:
    """Put the keys in order, and the others along with them; equals stay in their order."""
    for i in range(1, count):
        key, other, j = keys[i], others[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j], others[j] = keys[j - 1], others[j - 1]
            j -= 1
        keys[j], others[j] = key, other


# --- expendable states ----------------------------------------------------------------------------------------------


def _is_arc(mask: int) -> bool:
    """Do these bits of the ring stand together?"""
    rises = sum(1 for d in range(8) if mask >> d & 1 and not mask >> (d - 1) % 8 & 1)
    return rises <= 1


IS_ARC = np.array([_is_arc(mask) for mask in range(256)])


@generic
def is_expendable(graph: Arrays, h: Learned, state: int) -> tuple[bool, int]:
    """Can the state's remaining neighbours reach each other without it? And how many states were expanded for that."""
    raise TypeError(graph)


@is_expendable.of(Moves)
def _moves_expendable(graph: Moves, h: Learned, state: int) -> tuple[bool, int]:
    mask = graph.mask[state]
    left = 0
    for k in range(COUNT[mask]):
        direction = int64(DIRECTION[mask, k])
        if not _is_gone(h, state + graph.offset[direction]):
            left |= 1 << direction
    return IS_ARC[left], 0


@is_expendable.of(Csr)
def _csr_expendable(graph: Csr, h: Learned, state: int) -> tuple[bool, int]:
    """Flood from the first neighbour through the others, marked in 64 bits; a busier state is kept."""
    count = degree(graph, state)
    if count > 64:
        return False, 0
    left, reached, looked, expanded = np.uint64(0), np.uint64(0), np.uint64(0), 0
    one, grows = np.uint64(1), True
    for k in range(count):
        if not _is_gone(h, target(graph, state, k)):
            left |= one << np.uint64(k)
            if reached == np.uint64(0):
                reached = one << np.uint64(k)
    while grows:
        grows = False
        for k in range(count):
            if reached == left or not reached & ~looked & one << np.uint64(k):
                continue
            looked |= one << np.uint64(k)
            expanded += 1
            middle = target(graph, state, k)
            for m in range(degree(graph, middle)):
                for other in range(count):
                    bit = one << np.uint64(other)
                    if left & bit and not reached & bit and target(graph, middle, m) == target(graph, state, other):
                        reached |= bit
                        grows = True
    return reached == left, expanded


@kernel
def _is_gone(h: Learned, state: int) -> bool:
    return h.stamp[state] == h.clock.problem[0] and h.value[state] == np.inf


# --- names ----------------------------------------------------------------------------------------------------------


@algorithm(
    Card(
        "family",
        "Bulitko's family",
        paper="Bulitko 2016",
        real_time=True,
        senses=True,
        ring=True,
        examples=("family(wc=7, operator=median, expendable=true)",),
        shown=("family(wc=7, operator=median, expendable=true)",),
    )
)
class Family:
    """The three parts of the family."""

    Params, Memory, step = Params, Memory, step


setting(
    "family",
    Card(
        "dalrta",
        "daLRTA*",
        paper="Hernandez & Baier 2012",
        real_time=True,
        complete=True,
        summary="LRTA* that prefers neighbours where least was learned, and so leaves depressions sooner.",
    ),
    da=True,
    b=1.0,
    operator=Operator.MIN,
    expendable=False,
)
setting(
    "family",
    Card(
        "dalrta-e",
        "daLRTA*+E",
        paper="Hernandez & Baier 2012; Sharon, Sturtevant & Felner 2013",
        real_time=True,
        ring=True,
        shown=("dalrta-e",),
        summary="daLRTA* that leaves expendable states for good.",
    ),
    da=True,
    b=1.0,
    operator=Operator.MIN,
    expendable=True,
)


_PAPER = re.compile(
    r"(?:(?P<w>[\d.]+)\s*[*·]\s*)?(?P<operator>min|avg|median|max)(?:_\{?(?P<b>[\d.]+)\}?)?"
    r"\(\s*(?:(?P<wc>[\d.]+)\s*[*·]?\s*)?c\s*\+\s*h\s*\)\s*(?P<da>\+\s*da)?\s*(?P<expendable>\+\s*E)?"
)


@dialect
def from_paper(text: str) -> str | None:
    """The paper's way of writing a member of the family, in our notation; None if it is something else.

    >>> from_paper("2.654*median_0.153(2.486c+h)+da+E")
    'family(w=2.654, b=0.153, wc=2.486, operator=median, da=true, expendable=true)'
    """
    found = _PAPER.fullmatch(text.strip())
    if found is None:
        return None
    numbers = {name: found[name] for name in ("w", "b", "wc") if found[name] is not None}
    words = {"operator": found["operator"], "da": _word(found["da"]), "expendable": _word(found["expendable"])}
    return f"family({', '.join(f'{name}={value}' for name, value in {**numbers, **words}.items())})"


def _word(found: str | None) -> str:
    return "true" if found else "false"


def to_paper(entry: Algorithm) -> str:
    """A member of the family as the paper writes it.

    >>> from andante.agent import find
    >>> to_paper(find("median(7c+h)+E"))
    'median(7c+h)+E'
    """
    p: Params = entry.params
    w = "" if p.w == 1 else f"{p.w:g}*"
    b = "" if p.b == 1 else f"_{p.b:g}"
    wc = "" if p.wc == 1 else f"{p.wc:g}"
    return f"{w}{p.operator.name.lower()}{b}({wc}c+h){'+da' * p.da}{'+E' * p.expendable}"
