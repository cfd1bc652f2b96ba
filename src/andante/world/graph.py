"""The graph that every agent moves on: frozen flat arrays, and a metric that serves as the heuristic.

There are two layouts. `Csr` is any graph: arcs in rows, each with its cost. `Moves` is a grid: one byte per cell, one
bit per legal direction. Kernels work with both: `degree`, `target`, `price` and `estimate` have the same meaning for
either, and the compiler inserts the right implementation.

The order of neighbours is part of a graph, because it breaks ties. On grids it is north first, then clockwise.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.errors import GraphError, did_you_mean, real_number, whole_number
from andante.kernel import generic, int64, kernel
from andante.world.heuristics import DIAGONAL, TOLERANCE, Metric, distance

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

    from andante.world.problem import Problem

# North first, then clockwise; y grows downwards.
DX = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)
DY = np.array([-1, -1, 0, 1, 1, 1, 0, -1], np.int64)
PRICE = np.array([1.0, DIAGONAL] * 4)
TOWARDS = np.full((3, 3), 8, np.uint8)  # the direction of a cell in the next row and column, from -1 to 1; 8: it itself
TOWARDS[DY + 1, DX + 1] = np.arange(8)

MOST_STATES = 2**31 - 1  # states are numbered in 32 bits
SMALLEST = 1e-100  # least cost of an arc; the greatest is its inverse. Squares and sums stay within a float's range

# For each set of legal directions (a byte): their number, and the k-th of them. Small enough to stay in the first-level
# cache.
COUNT = np.array([mask.bit_count() for mask in range(256)], np.uint8)
DIRECTION = np.zeros((256, 8), np.uint8)
for _mask in range(256):
    DIRECTION[_mask, : COUNT[_mask]] = [d for d in range(8) if _mask >> d & 1]


class Csr(NamedTuple):
    """Any graph: the arcs out of state s have the indices ``first[s]`` to ``first[s + 1] - 1``."""

    first: npt.NDArray[np.int64]  # [n + 1]
    neighbour: npt.NDArray[np.int32]  # [arcs]
    cost: npt.NDArray[np.float64]  # [arcs]
    point: npt.NDArray[np.float64]  # [n, dimensions]
    metric: int
    unit: float


class Moves(NamedTuple):
    """A grid: bit d of ``mask[s]`` is set if direction d is open from cell s = y * width + x."""

    mask: npt.NDArray[np.uint8]  # [n]
    offset: npt.NDArray[np.int64]  # [8], from a cell to its neighbour in each direction
    x: npt.NDArray[np.int16]  # [n]
    y: npt.NDArray[np.int16]  # [n]
    diagonal: float  # cost of a diagonal step in the heuristic


Arrays = Csr | Moves

#: Fields that follow from the rest of a layout, and are left out of the fingerprint.
_FOLLOWS: dict[type, tuple[str, ...]] = {Csr: ("unit",), Moves: ("x", "y")}

#: What kernels take as a graph: one of these, or another bundle for which the functions below have a body.
Layout = tuple[Any, ...]

# --- how kernels access a graph -------------------------------------------------------------------------------------


@generic
def size(graph: Layout) -> int:
    """Return the number of states."""
    raise TypeError(graph)


@generic
def degree(graph: Layout, state: int) -> int:
    """Return the number of moves out of ``state``."""
    raise TypeError(graph)


@generic
def target(graph: Layout, state: int, k: int) -> int:
    """Return the state that the k-th move out of ``state`` leads to."""
    raise TypeError(graph)


@generic
def price(graph: Layout, state: int, k: int) -> float:
    """Return the cost of the k-th move out of ``state``."""
    raise TypeError(graph)


@generic
def estimate(graph: Layout, state: int, goal: int) -> float:
    """Return the heuristic: a lower bound on the cost from ``state`` to ``goal``."""
    raise TypeError(graph)


@generic
def unit(graph: Layout) -> float:
    """Return the scale of the graph's costs: the largest power of two that is at most the cost of every arc."""
    raise TypeError(graph)


@generic
def enterable(graph: Layout, state: int) -> bool:
    """Return whether a search may enter ``state``, given a move to it: true unless confined to a part of the graph."""
    raise TypeError(graph)


@size.of(Moves)
def _moves_size(graph: Moves) -> int:
    return len(graph.mask)


@degree.of(Moves)
def _moves_degree(graph: Moves, state: int) -> int:
    return int64(COUNT[graph.mask[state]])


@target.of(Moves)
def _moves_target(graph: Moves, state: int, k: int) -> int:
    return (state + graph.offset[DIRECTION[graph.mask[state], k]]) & MOST_STATES  # & shows that it is not negative


@price.of(Moves)
def _moves_price(graph: Moves, state: int, k: int) -> float:
    return PRICE[DIRECTION[graph.mask[state], k]]


@estimate.of(Moves)
def _moves_estimate(graph: Moves, state: int, goal: int) -> float:
    dx = abs(int64(graph.x[state]) - int64(graph.x[goal]))
    dy = abs(int64(graph.y[state]) - int64(graph.y[goal]))
    near, far = min(dx, dy), max(dx, dy)
    return (far - near) + near * graph.diagonal


@unit.of(Moves)
def _moves_unit(graph: Moves) -> float:
    return 1.0


@enterable.of(Moves)
def _moves_enterable(graph: Moves, state: int) -> bool:
    return True


@size.of(Csr)
def _csr_size(graph: Csr) -> int:
    return len(graph.first) - 1


@degree.of(Csr)
def _csr_degree(graph: Csr, state: int) -> int:
    return graph.first[state + 1] - graph.first[state]


@target.of(Csr)
def _csr_target(graph: Csr, state: int, k: int) -> int:
    return int64(graph.neighbour[graph.first[state] + k])


@price.of(Csr)
def _csr_price(graph: Csr, state: int, k: int) -> float:
    return graph.cost[graph.first[state] + k]


@estimate.of(Csr)
def _csr_estimate(graph: Csr, state: int, goal: int) -> float:
    return distance(graph.point, graph.metric, state, goal)


@unit.of(Csr)
def _csr_unit(graph: Csr) -> float:
    return graph.unit


@enterable.of(Csr)
def _csr_enterable(graph: Csr, state: int) -> bool:
    return True


# --- the public class -----------------------------------------------------------------------------------------------


class Graph:
    """A finite, read-only graph with costs and a heuristic, shared by all agents.

    >>> triangle = Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 5.0)])
    >>> len(triangle), triangle.arcs
    (3, 6)
    >>> triangle.neighbours(0)
    [(1, 3.0), (2, 5.0)]
    """

    def __init__(self, arrays: Arrays, labels: Sequence[Hashable] | None = None) -> None:
        self.arrays = arrays
        self.labels = labels
        self._size = int(size(arrays))
        for array in arrays:
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __getstate__(self) -> tuple[Arrays, Sequence[Hashable] | None]:
        return self.arrays, self.labels  # the rest follows from these

    def __setstate__(self, state: tuple[Arrays, Sequence[Hashable] | None]) -> None:
        Graph.__init__(self, *state)  # unpickled arrays are writeable, and kernels would be compiled again for those

    # --- building ---

    @classmethod
    def from_edges(
        cls,
        edges: Sequence[tuple[int, int, float]],
        *,
        states: int | None = None,
        points: npt.ArrayLike | None = None,
        metric: str = "euclidean",
        directed: bool = False,
        labels: Sequence[Hashable] | None = None,
    ) -> Graph:
        """Return a graph made from (from, to, cost) triples, with a point for each state if ``points`` are given.

        A state's neighbours come in the order of the edges. The heuristic is the distance between points under
        ``metric``, or zero without points.
        """
        table = _triples(edges)
        named = table[:, :2]
        if not ((np.abs(named) < 2**53) & (named == np.floor(named))).all():  # larger floats are not exact
            raise GraphError("edges must number their states with whole numbers from 0")
        ends = named.astype(np.int64)
        source, sink, cost = ends[:, 0], ends[:, 1], table[:, 2]
        if not directed:  # each undirected edge keeps its place in the order of both ends
            source, sink = np.stack([source, sink], 1).ravel(), np.stack([sink, source], 1).ravel()
            cost = np.repeat(cost, 2)
        count = int(ends.max()) + 1 if len(ends) else 0
        if states is not None:
            count = whole_number(states, "the number of states", least=0, error=GraphError)
        place = np.empty((count, 0)) if points is None else _places(points)
        return cls(_csr(count, source, sink, cost, place, metric), labels)

    @classmethod
    def from_scipy(
        cls,
        matrix: scipy.sparse.sparray | scipy.sparse.spmatrix,
        *,
        points: npt.ArrayLike | None = None,
        metric: str = "euclidean",
    ) -> Graph:
        """Return a graph made from a sparse matrix of costs, as SciPy's csgraph reads it.

        Entry (i, j) is the cost of the arc from i to j.
        """
        table = matrix.tocoo()
        if table.shape[0] != table.shape[1]:
            raise GraphError(f"a matrix of costs must be square, but this one is {table.shape[0]} x {table.shape[1]}")
        edges = np.stack([table.coords[0], table.coords[1], table.data], 1)
        return cls.from_edges(edges, states=table.shape[0], points=points, metric=metric, directed=True)  # type: ignore[arg-type]

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph, *, weight: str = "weight", position: str | None = "pos", metric: str = "euclidean"
    ) -> Graph:
        """Return a graph made from a networkx graph.

        The edge attribute ``weight`` is the cost, 1 if absent. The node attribute ``position`` is the node's point;
        unless every node has one, the heuristic is zero. States are numbered in the order of networkx's nodes, and
        ``labels`` holds the nodes.
        """
        labels = list(graph.nodes)
        number = {node: i for i, node in enumerate(labels)}
        edges = [(number[a], number[b], float(data.get(weight, 1.0))) for a, b, data in graph.edges(data=True)]
        places: Mapping[Any, Any] = dict(graph.nodes(data=position)) if position else {}
        known = bool(labels) and all(places.get(node) is not None for node in labels)
        points = [places[node] for node in labels] if known else None
        return cls.from_edges(
            edges, states=len(labels), points=points, metric=metric, directed=graph.is_directed(), labels=labels
        )

    # --- reading ---

    def __len__(self) -> int:
        return self._size

    @cached_property
    def arcs(self) -> int:
        """The number of arcs; an undirected edge counts twice."""
        if isinstance(self.arrays, Csr):
            return len(self.arrays.neighbour)
        return int(COUNT[self.arrays.mask].sum())

    @property
    def graph(self) -> Graph:
        """The graph itself: maps and graphs are asked for their graph alike."""
        return self

    @property
    def points(self) -> npt.NDArray[np.float64]:
        """The coordinates of every state, one row each: column and row on a grid; rows are empty if there are none."""
        arrays = self.arrays
        return np.stack([arrays.x, arrays.y], 1).astype(np.float64) if isinstance(arrays, Moves) else arrays.point

    @property
    def dimensions(self) -> int:
        """The number of coordinates of a state; 0 if states have none."""
        return 2 if isinstance(self.arrays, Moves) else int(self.arrays.point.shape[1])

    @cached_property
    def cost_range(self) -> tuple[float, float]:
        """The costs of the cheapest and the most expensive arc; (1, 1) in a graph without arcs."""
        if isinstance(self.arrays, Moves):
            return 1.0, DIAGONAL
        cost = self.arrays.cost
        return (float(cost.min()), float(cost.max())) if len(cost) else (1.0, 1.0)

    @property
    def unit(self) -> float:
        """The scale of the graph's costs: the largest power of two that is at most the cost of every arc."""
        return float(unit(self.arrays))

    @cached_property
    def typical_cost(self) -> float:
        """The average cost of an arc, rounded down to a power of two."""
        if isinstance(self.arrays, Moves) or not self.arcs:
            return 1.0
        return _power_of_two(float(self.arrays.cost.mean()))

    @cached_property
    def max_degree(self) -> int:
        """The largest number of arcs out of one state."""
        if isinstance(self.arrays, Moves):
            return 8
        return int(np.diff(self.arrays.first).max(initial=0))

    @property
    def open_degree(self) -> int:
        """The number of moves of a state away from all walls: 8 on a grid, 4 on a grid without diagonals.

        A graph counts as a grid if its heuristic is a grid's. On other graphs it is the largest number of any state.

        >>> Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (1, 3, 1.0)]).open_degree
        3
        """
        if isinstance(self.arrays, Moves):
            return 8 if self.arrays.diagonal < 2.0 else 4
        grids = {Metric.OCTILE: 8, Metric.MANHATTAN: 4} if self.arrays.point.shape[1] == 2 else {}
        return grids.get(Metric(self.arrays.metric), self.max_degree)

    @cached_property
    def forbids_corner_cutting(self) -> bool:
        """Whether this is a grid on which a diagonal is open if and only if both paths around it are (rule octile)."""
        return isinstance(self.arrays, Moves) and bool(_forbids_corner_cutting(self.arrays))

    def neighbours(self, state: int) -> list[tuple[int, float]]:
        """Return the states one move away from ``state``, each with the cost of the move, in the graph's order."""
        arrays = self.csr().arrays
        assert isinstance(arrays, Csr)
        state = whole_number(state, "a state", error=GraphError)
        if not 0 <= state < len(self):
            raise GraphError(f"{state} is not a state; there are {len(self)}, numbered from 0")
        row = slice(arrays.first[state], arrays.first[state + 1])
        return list(zip(arrays.neighbour[row].tolist(), arrays.cost[row].tolist(), strict=True))

    def csr(self) -> Graph:
        """Return this graph as rows of arcs, with the same states, order and heuristic."""
        return self if isinstance(self.arrays, Csr) else self._as_csr

    @cached_property
    def _as_csr(self) -> Graph:
        moves = self.arrays
        assert isinstance(moves, Moves)
        first = np.concatenate([[0], np.cumsum(COUNT[moves.mask], dtype=np.int64)])
        source = np.repeat(np.arange(len(self)), COUNT[moves.mask])
        direction = DIRECTION[moves.mask[source], np.arange(first[-1]) - first[source]]
        metric = Metric.OCTILE if moves.diagonal < 2.0 else Metric.MANHATTAN
        neighbour = (source + moves.offset[direction]).astype(np.int32)
        return Graph(Csr(first, neighbour, PRICE[direction], self.points, int(metric), 1.0), self.labels)

    def with_points(self, points: npt.ArrayLike, metric: str) -> Graph:
        """Return a graph with the same states and arcs but another heuristic."""
        arrays = self.csr().arrays
        assert isinstance(arrays, Csr)
        place, code = _embedding(len(self), _places(points), metric)
        fresh = arrays._replace(point=place, metric=code)
        _check_range(fresh)
        _check_heuristic(fresh)
        return Graph(fresh, self.labels)

    def scaled(self, factor: float) -> Graph:
        """Return the same graph with all costs and points multiplied by ``factor``.

        >>> Graph.from_edges([(0, 1, 3.0)]).scaled(0.5).neighbours(0)
        [(1, 1.5)]
        """
        arrays = self.csr().arrays
        assert isinstance(arrays, Csr)
        number = real_number(factor, "the factor for costs", error=GraphError)
        if not 0 < number < math.inf:
            raise GraphError(f"the factor for costs must be positive and finite, got {number:g}")
        fresh = arrays._replace(
            cost=arrays.cost * number, point=arrays.point * number, unit=_unit(arrays.cost * number)
        )
        _check_range(fresh)
        return Graph(fresh, self.labels)

    def reversed(self) -> Graph:
        """Return the graph with every arc reversed; the graph itself if every arc has an opposite of the same cost."""
        return self._reversed

    @cached_property
    def _reversed(self) -> Graph:
        if isinstance(self.arrays, Moves):
            return self
        arrays = self.arrays
        source = np.repeat(np.arange(len(self)), np.diff(arrays.first))
        turned = _rows(len(self), arrays.neighbour.astype(np.int64), source, arrays.cost)
        there = Csr(*turned, arrays.point, arrays.metric, arrays.unit)
        return self if _same_arcs(arrays, there) else Graph(there, self.labels)

    @cached_property
    def components(self) -> npt.NDArray[np.int32]:
        """A component number for each state: equal for two states joined by a chain of arcs in any direction."""
        label = np.full(len(self), -1, np.int32)
        queue = np.empty(len(self), np.int32)
        _label(self.arrays, label, queue)
        if self.reversed() is not self:
            from scipy.sparse.csgraph import connected_components

            label[:] = connected_components(self.to_scipy(), connection="weak")[1]
        label.flags.writeable = False
        return label

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the graph as a sparse matrix of costs."""
        from scipy.sparse import csr_array

        arrays = self.csr().arrays
        assert isinstance(arrays, Csr)
        return csr_array((arrays.cost, arrays.neighbour, arrays.first), shape=(len(self), len(self)))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that affects an agent: arcs, order, costs, heuristic."""
        digest = hashlib.sha256(type(self.arrays).__name__.encode())
        for name, value in zip(self.arrays._fields, self.arrays, strict=True):
            if name in _FOLLOWS[type(self.arrays)]:
                continue
            digest.update(np.ascontiguousarray(value).tobytes())
        return digest.hexdigest()[:32]

    def problem(self, start: Hashable, goal: Hashable) -> Problem:
        """Return the problem of going from ``start`` to ``goal``, given by label or, without labels, by number."""
        from andante.world.problem import Problem

        return Problem(self, self.state(start), self.state(goal))

    def state(self, name: Hashable) -> int:
        """Return the number of the state with this label; anything that is not a label is taken as a number."""
        return self._numbers[name] if name in self._numbers else whole_number(name, "a state that has no such label")

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {label: number for number, label in enumerate(self.labels or ())}

    def __eq__(self, other: object) -> bool:
        """Return whether the other graph has the same layout, arcs, order, costs, heuristic and labels."""
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (
            len(self) == len(other) and self.fingerprint == other.fingerprint and self._label_list == other._label_list
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def _label_list(self) -> list[Hashable] | None:
        return None if self.labels is None else list(self.labels)

    def __repr__(self) -> str:
        return f"<Graph of {len(self)} states and {self.arcs} arcs>"


@kernel
def _label(graph: Layout, label: npt.NDArray[np.int32], queue: npt.NDArray[np.int32]) -> int:
    """Label components by flooding from each unlabelled state; int32[n] both. Correct if every arc has its opposite."""
    found = 0
    for root in range(size(graph)):
        if label[root] >= 0:
            continue
        label[root], queue[0] = found, root
        head, tail = 0, 1
        while head < tail:
            state = int64(queue[head])
            head += 1
            for k in range(degree(graph, state)):
                near = target(graph, state, k)
                if label[near] < 0:
                    label[near] = found
                    queue[tail] = near
                    tail += 1
        found += 1
    return found


@kernel
def _forbids_corner_cutting(graph: Moves) -> bool:
    mask, offset = graph.mask, graph.offset
    for state in range(len(mask)):
        here = int64(mask[state])
        for d in (1, 3, 5, 7):
            before, after = d - 1, (d + 1) % 8
            both = here >> before & 1 and here >> after & 1
            if both:
                one, other = int64(mask[state + offset[before]]), int64(mask[state + offset[after]])
                both = one >> after & 1 and other >> before & 1
            if both != here >> d & 1:
                return False
    return True


# --- checks ---------------------------------------------------------------------------------------------------------


def _triples(edges: Sequence[tuple[int, int, float]]) -> npt.NDArray[np.float64]:
    try:
        table = np.array(edges, np.float64)
    except (OverflowError, TypeError, ValueError):
        table = np.zeros(1)
    if table.shape == (0,):
        return np.zeros((0, 3))
    if table.ndim != 2 or table.shape[1] != 3:
        raise GraphError("edges must be triples (from, to, cost) of numbers, with states counted from 0")
    return table


def _places(points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    try:
        return np.array(points, np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise GraphError("points must be a table of numbers, one row per state") from error


def _csr(
    count: int,
    source: npt.NDArray[np.int64],
    sink: npt.NDArray[np.int64],
    cost: npt.NDArray[np.float64],
    points: npt.NDArray[np.float64],
    metric: str,
) -> Csr:
    if count > MOST_STATES:
        raise GraphError(f"a graph has at most {MOST_STATES:,} states; this one would have {count:,}")
    if len(source) and (min(source.min(), sink.min()) < 0 or max(source.max(), sink.max()) >= count):
        raise GraphError(f"an edge names a state outside 0 to {count - 1}")
    bad = np.flatnonzero(~((cost > 0) & np.isfinite(cost)))
    if len(bad):
        k = bad[0]
        raise GraphError(
            f"the edge from {source[k]} to {sink[k]} costs {cost[k]:g}; a cost must be positive and finite"
        )
    loops = np.flatnonzero(source == sink)
    if len(loops):
        raise GraphError(f"state {source[loops[0]]} has an edge to itself; leave such edges out")
    place, code = _embedding(count, points, metric)
    arrays = Csr(*_rows(count, source, sink, cost), place, code, _unit(cost))
    _check_range(arrays)
    _check_heuristic(arrays)
    return arrays


def _unit(cost: npt.NDArray[np.float64]) -> float:
    """Return the largest power of two that is at most each of these costs; 1 if there are none.

    >>> _unit(np.array([0.3, 7.0]))
    0.25
    """
    return _power_of_two(float(cost.min())) if len(cost) else 1.0


def _power_of_two(cost: float) -> float:
    """Return the largest power of two that is at most ``cost``."""
    return math.ldexp(1.0, math.frexp(cost)[1] - 1)


def _check_range(arrays: Csr) -> None:
    """Raise `GraphError` if costs or points differ so much that a cheap move added to a long path is rounded away."""
    if not len(arrays.cost):
        return
    cheapest, highest = float(arrays.cost.min()), float(arrays.cost.max())
    if not SMALLEST <= cheapest <= highest <= 1 / SMALLEST:
        raise GraphError(
            f"costs from {cheapest:g} to {highest:g} are not all between {SMALLEST:g} and {1 / SMALLEST:g}; "
            "use another unit"
        )
    starts = arrays.first[:-1][np.diff(arrays.first) > 0]
    longest = float(np.maximum.reduceat(arrays.cost, starts).sum())  # no path leaves a state twice
    if not cheapest >= longest * np.finfo(np.float64).eps:
        raise GraphError(
            f"costs from {cheapest:g} to {highest:g} are too far apart: added to the cost of a long path, the "
            "cheapest would be rounded away"
        )
    extent = float((arrays.point.max(0) - arrays.point.min(0)).sum()) if arrays.point.size else 0.0
    if not cheapest >= extent * np.finfo(np.float64).eps:
        raise GraphError(
            f"points that are {extent:g} apart do not fit edges that cost {cheapest:g}: added to a heuristic value the "
            "cost would be rounded away"
        )


def _rows(
    count: int, source: npt.NDArray[np.int64], sink: npt.NDArray[np.int64], cost: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    order = np.argsort(source, kind="stable")
    first = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=count), out=first[1:])
    return first, sink[order].astype(np.int32), np.ascontiguousarray(cost[order])


def _embedding(count: int, points: npt.NDArray[np.float64], metric: str) -> tuple[npt.NDArray[np.float64], int]:
    names = {code.name.lower(): code for code in Metric}
    if metric not in names:
        raise GraphError(f"unknown metric {metric!r}; {did_you_mean(metric, names)}")
    if points.ndim != 2 or len(points) != count:
        raise GraphError(f"points must be a table of {count} rows, one per state, not of shape {points.shape}")
    if not np.isfinite(points).all():
        raise GraphError("points must be finite numbers")
    if metric == "octile" and points.shape[1] != 2:
        raise GraphError(f"the octile metric is for two dimensions, but these points have {points.shape[1]}")
    return np.ascontiguousarray(points), int(names[metric])


def _check_heuristic(arrays: Csr) -> None:
    """Raise `GraphError` if the ends of an edge are further apart than it costs: the heuristic would overestimate."""
    source = np.repeat(np.arange(len(arrays.first) - 1), np.diff(arrays.first))
    worst = _worst_edge(arrays, source, _rounding(arrays.point))
    if worst >= 0:
        a, b = int(source[worst]), int(arrays.neighbour[worst])
        apart = distance(arrays.point, arrays.metric, a, b)
        raise GraphError(
            f"the edge from {a} to {b} costs {arrays.cost[worst]:g} but its ends are {apart:g} apart, so the heuristic "
            f"would overestimate; scale the points by {arrays.cost[worst] / apart:.4g} or less"
        )


def _rounding(points: npt.NDArray[np.float64]) -> float:
    """Return the largest rounding error of the difference of two points, added up over all axes."""
    return float(4 * np.spacing(np.abs(points).max(0)).sum()) if points.size else 0.0


@kernel
def _worst_edge(graph: Csr, source: npt.NDArray[np.int64], rounding: float) -> int:
    """Return the arc with the smallest ratio of cost to length if that is below 1, allowing for rounding; else -1.

    Points are exact only to ``rounding``, and so are lengths.
    """
    worst, least = -1, 1.0
    for k in range(len(source)):
        apart = distance(graph.point, graph.metric, source[k], graph.neighbour[k])
        if graph.cost[k] < apart * (1 - TOLERANCE) - rounding and graph.cost[k] / apart < least:
            worst, least = k, graph.cost[k] / apart
    return worst


def _same_arcs(a: Csr, b: Csr) -> bool:
    def canonical(arrays: Csr) -> list[npt.NDArray[Any]]:
        source = np.repeat(np.arange(len(arrays.first) - 1), np.diff(arrays.first))
        order = np.lexsort((arrays.cost, arrays.neighbour, source))
        return [source[order], arrays.neighbour[order], arrays.cost[order]]

    return all(np.array_equal(p, q) for p, q in zip(canonical(a), canonical(b), strict=True))
