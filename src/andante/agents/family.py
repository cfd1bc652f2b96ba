"""Bulitko's family: six parameters that span LRTA*, wLRTA*, daLRTA*, lateral learning and expendable states.

Bulitko (2016, "Per-map algorithm selection"), Algorithm 1; line numbers refer to that algorithm. Written
``w*lop_b(wc*c+h)+da+E`` in the paper, which `find` reads too: ``2.654*median_0.153(2.486c+h)+da+E``. Where the paper is
silent: depression avoidance narrows the neighbourhood for learning and for moving. Learning uses at least one
neighbour. The median of an even number of values is the mean of the middle two. Values that differ by less than a
millionth are equal, and among equal neighbours the first in the graph's order wins. A state is expendable on a grid if
its remaining neighbours form one unbroken arc of the ring around it, elsewhere if edges between them connect them.

Two more parameters are other readings of the paper. ``ties=random`` chooses randomly between equal neighbours, both in
the move and in the share that is learned from. ``share=ceil`` rounds that share up.

Operators over whole neighbourhoods multiply values without bound. Beyond 1e250 a value rises by a millionth at a time:
it stays finite, and is still higher in states that the agent visited more often. So an agent is stuck only if all
states around it were removed, never without ``expendable``.
"""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import NOT_SAMPLED, STUCK, Card, Move, Range, algorithm, dialect, no_move, setting
from andante.kernel import int64, kernel
from andante.notation import Word
from andante.search.chance import Chance, begin, draw
from andante.search.expendable import Gone, give_up, is_expendable, is_gone
from andante.search.learning import Learned, store, value
from andante.search.memory import EXPANDED, Space, note
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, degree, estimate, price, target, unit


class Operator(Word):
    """How the neighbours' values are combined into the new one."""

    MIN = 0
    AVG = 1
    MEDIAN = 2
    MAX = 3


class Ties(Word):
    """Which of several equal neighbours comes first."""

    ORDER = 0  # the first in the graph's order
    RANDOM = 1  # any of them


class Share(Word):
    """How the share of the neighbours is rounded to a whole number."""

    FLOOR = 0
    CEIL = 1


_MIN, _AVG, _MEDIAN = int(Operator.MIN), int(Operator.AVG), int(Operator.MEDIAN)
_RANDOM, _CEIL = int(Ties.RANDOM), int(Share.CEIL)

EIGHT = 8  # neighbours of a cell: the median of up to eight values is computed without a loop

HIGH = 1e250  # above this, in units of the graph, a value rises slowly
SLOW = 1.0 + 1e-6  # the factor by which it rises
HIGHEST = 1e260  # up to this, in units of the graph
FINITE = 1e300  # the limit in any unit, so that sums over neighbours stay finite


class Params(NamedTuple):
    """The six dimensions of the family, and readings of the paper; the defaults are LRTA* with a lookahead of one."""

    w: Annotated[float, Range(1, 10), "weight of what is learned"] = 1.0
    wc: Annotated[float, Range(1, 10), "weight of edge costs in what is learned"] = 1.0
    b: Annotated[float, Range(0, 1), "share of the neighbours, best first, to learn from"] = 1.0
    operator: Annotated[Operator, "how their values are combined"] = Operator.MIN
    da: Annotated[bool, "avoid depressions: look only at neighbours where least was learned"] = False
    expendable: Annotated[bool, "permanently remove expendable states"] = False
    ties: Annotated[Ties, NOT_SAMPLED, "which of equal neighbours comes first"] = Ties.ORDER
    share: Annotated[Share, NOT_SAMPLED, "how the share of the neighbours is rounded"] = Share.FLOOR
    seed: Annotated[int, Range(0, 2**31), NOT_SAMPLED, "for random ties"] = 0


class Neighbours(NamedTuple):
    """The neighbours still in the graph, in its order."""

    move: npt.NDArray[np.int32]  # [most], index among all neighbours
    f: npt.NDArray[np.float64]  # [most], c + h
    v: npt.NDArray[np.float64]  # [most], wc * c + h
    rise: npt.NDArray[np.float64]  # [most], the rise of h there

    @classmethod
    def allocate(cls, space: Space) -> Neighbours:
        """Return arrays for the largest number of neighbours, and for a median of eight."""
        most = max(space.graph.max_degree, EIGHT)
        return cls(np.zeros(most, np.int32), np.zeros(most), np.zeros(most), np.zeros(most))


class Memory(NamedTuple):
    """Learned values, removed states, buffers for the neighbours, and random numbers."""

    h: Learned
    gone: Gone
    near: Neighbours
    chance: Chance


@kernel
def step(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> Move:
    """Make one move of a member of the family."""
    h, near = memory.h, memory.near
    moves = degree(graph, state)
    note(h.log, EXPANDED, state, 0.0)
    count = _gather(graph, memory, params, state, goal)
    if params.da:
        count = _least_learned(near, count, TOLERANCE * unit(graph))  # line 5
    if count == 0:
        return no_move(STUCK, 1, moves)
    if params.ties == _RANDOM:
        begin(memory.chance, params.seed, state, goal)
        _shuffle(memory.chance, near, count)
    slack = TOLERANCE * unit(graph)
    k = int64(near.move[_least(near.f, count, slack)])
    new = params.w * _combined(near, params, count)  # line 6
    old = value(h, graph, state, goal)
    learned, stored, expanded = 0.0, 0, 1
    if new > old + slack:
        new = _bounded(new, old, unit(graph))
        learned, stored = new - old, store(h, state, new)
        if params.expendable:
            dispensable, looked_at = is_expendable(graph, memory.gone, state)  # line 7
            expanded += looked_at
            if dispensable:
                give_up(memory.gone, state)  # line 8
    return Move(target(graph, state, k), price(graph, state, k), expanded, moves, learned, stored)  # line 9


@kernel
def _bounded(new: float, old: float, one: float) -> float:
    """Return ``new``, limited if it is many times ``one``, so that values rise slowly and stay finite."""
    high = min(HIGH * one, FINITE)
    return new if new <= high else min(new, max(high, old * SLOW), HIGHEST * one, FINITE)


@kernel
def _gather(graph: Arrays, memory: Memory, params: Params, state: int, goal: int) -> int:
    """List the neighbours that were not removed, and return their number."""
    near, count = memory.near, 0
    for k in range(degree(graph, state)):
        there, cost = target(graph, state, k), price(graph, state, k)
        if params.expendable and is_gone(memory.gone, there):
            continue
        rest, place = value(memory.h, graph, there, goal), count
        near.move[place] = k
        near.f[place] = cost + rest
        near.v[place] = params.wc * cost + rest
        if params.da:
            near.rise[place] = rest - estimate(graph, there, goal)
        count += 1
    return count


@kernel
def _least_learned(near: Neighbours, count: int, slack: float) -> int:
    """Keep the neighbours whose values have risen least, and return their number."""
    least = np.inf
    for i in range(count):
        least = min(least, near.rise[i])
    kept = 0
    for i in range(count):
        if near.rise[i] <= least + slack:
            near.move[kept], near.f[kept], near.v[kept] = near.move[i], near.f[i], near.v[i]
            kept += 1
    return kept


@kernel
def _shuffle(chance: Chance, near: Neighbours, count: int) -> None:
    """Shuffle the neighbours, so that any of several equal ones may be the first."""
    for last in range(count - 1, 0, -1):
        other = draw(chance, last + 1)
        near.move[last], near.move[other] = near.move[other], near.move[last]
        near.f[last], near.f[other] = near.f[other], near.f[last]
        near.v[last], near.v[other] = near.v[other], near.v[last]


@kernel
def _least(values: npt.NDArray[np.float64], count: int, slack: float) -> int:
    """Return the index of the least value, the first of equal ones."""
    best, least = 0, values[0]
    for i in range(1, count):
        if values[i] + slack < least:
            best, least = i, values[i]
    return best


@kernel
def _combined(near: Neighbours, params: Params, count: int) -> float:
    """Return the operator's value over the share ``b`` of the neighbours with the lowest f."""
    share = count
    if params.b < 1.0:
        exact = params.b * count
        share = max(1, int64(np.ceil(exact - TOLERANCE) if params.share == _CEIL else exact))
        _sort(near.f, near.v, count)
    if params.operator == _MEDIAN:
        return _median(near.v, share)
    least, most, total = np.inf, -np.inf, 0.0
    for i in range(share):
        least, most, total = min(least, near.v[i]), max(most, near.v[i]), total + near.v[i]
    if params.operator == _MIN:
        return least
    return total / share if params.operator == _AVG else most


@kernel
def _median(values: npt.NDArray[np.float64], count: int) -> float:
    """Return the median of the first ``count`` values, for an even count the mean of the middle two.

    The rest of ``values`` is overwritten. No branch depends on a value, because branches that are hard to predict make
    sorting so few values slower.
    """
    low, high = (count - 1) // 2, count // 2
    if count > EIGHT:
        lower, upper = _ranked(values, count, low, high)
        return (lower + upper) / 2
    for i in range(count, EIGHT):  # as many above all as below, or one more: the lower one stays in the middle
        values[i] = np.inf if i % 2 else -np.inf
    lower, upper = _middle_of_eight(values)
    return (lower + (upper if low < high else lower)) / 2


@kernel
def _middle_of_eight(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the middle two of eight values.

    If both groups of four are sorted, the lower half of all eight is the smaller of each a and the b opposite.
    """
    a0, a1, a2, a3 = _sorted_four(values[0], values[1], values[2], values[3])
    b0, b1, b2, b3 = _sorted_four(values[4], values[5], values[6], values[7])
    lower = max(min(a0, b3), min(a1, b2), min(a2, b1), min(a3, b0))
    upper = min(max(a0, b3), max(a1, b2), max(a2, b1), max(a3, b0))
    return lower, upper


@kernel
def _sorted_four(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float]:
    """Return four values in order."""
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    return a, min(b, c), max(b, c), d


@kernel
def _ranked(values: npt.NDArray[np.float64], count: int, low: int, high: int) -> tuple[float, float]:
    """Return the values at these two ranks, found by comparing every pair."""
    lower, upper = 0.0, 0.0
    for i in range(count):
        one, less, not_more = values[i], 0, 0
        for j in range(count):
            less += int64(values[j] < one)
            not_more += int64(values[j] <= one)
        lower = one if less <= low < not_more else lower
        upper = one if less <= high < not_more else upper
    return lower, upper


@kernel
def _sort(keys: npt.NDArray[np.float64], others: npt.NDArray[np.float64], count: int) -> None:
    """Sort the keys, and the others along with them; the order of equal keys is kept."""
    for i in range(1, count):
        key, other, j = keys[i], others[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j], others[j] = keys[j - 1], others[j - 1]
            j -= 1
        keys[j], others[j] = key, other


# --- names ----------------------------------------------------------------------------------------------------------


@algorithm(
    Card(
        "family",
        "Bulitko's family",
        paper="Bulitko 2016",
        real_time=True,
        crowd=True,
        senses=True,
        living=True,
        pursues=True,
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
        summary="LRTA* that prefers neighbours whose values have risen least, and so leaves depressions sooner.",
    ),
    da=True,
    b=1.0,
    share=Share.FLOOR,
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
        summary="daLRTA* that permanently removes expendable states.",
    ),
    da=True,
    b=1.0,
    share=Share.FLOOR,
    operator=Operator.MIN,
    expendable=True,
)


_PAPER = re.compile(
    r"(?:(?P<w>[\d.]+)\s*[*·]\s*)?(?P<operator>min|avg|median|max)(?:_\{?(?P<b>[\d.]+)\}?)?"
    r"\(\s*(?:(?P<wc>[\d.]+)\s*[*·]?\s*)?c\s*\+\s*h\s*\)\s*(?P<da>\+\s*da)?\s*(?P<expendable>\+\s*E)?"
)


@dialect
def from_paper(text: str) -> str | None:
    """Translate the paper's notation for a member of the family; return None for any other text.

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
