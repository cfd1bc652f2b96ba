"""The graph that every agent moves on: frozen flat arrays, and a metric that serves as the heuristic.

The arrays are in one of several layouts, some for grids and one for all other graphs (`andante.world.layout`).

The order of neighbours is part of a graph, because it breaks ties. On grids it is north first, then clockwise.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from andante.errors import GraphError, expect, quoted, real_number, whole_number
from andante.kernel import int64, kernel
from andante.world.arcs import (
    check_heuristic,
    check_range,
    checked_csr,
    embedding,
    places,
    power_of_two,
    rows,
    same_arcs,
    triples,
    unit_of,
)
from andante.world.changes import UNCHANGED, Changes
from andante.world.gridrows import counts_of_moves, forbids_corner_cutting, rows_of_grid
from andante.world.heuristics import DIAGONAL, LEAP, Metric
from andante.world.layout import (
    Arrays,
    Csr,
    GridArrays,
    Layout,
    Moves,
    Sixteen,
    Terrain,
    degree,
    size,
    stride,
    target,
    unit,
)

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

    from andante.world.problem import Problem

#: Fields that are derived from the rest of a layout, and are left out of the fingerprint.
_FOLLOWS: dict[type, tuple[str, ...]] = {
    Csr: ("unit",),
    Moves: ("x", "y"),
    Terrain: ("x", "y", "unit"),
    Sixteen: ("x", "y"),
}


C = TypeVar("C", bound=Callable[..., Any])


class Graph:
    """A finite, read-only graph with costs and a heuristic, shared by all agents.

    >>> triangle = Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 5.0)])
    >>> len(triangle), triangle.arcs
    (3, 6)
    >>> triangle.neighbours(0)
    [(1, 3.0), (2, 5.0)]
    """

    def __init__(self, arrays: Arrays, labels: Sequence[Hashable] | None = None, name: str = "graph") -> None:
        expect(arrays, Arrays, "a graph is made by Graph.from_edges or read from a file", GraphError)
        self.arrays = arrays
        self.labels = labels
        self.name = name
        self._size = int(size(arrays))
        for array in arrays:
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __getstate__(self) -> tuple[Arrays, Sequence[Hashable] | None, str]:
        return self.arrays, self.labels, self.name  # the rest is derived from these

    def __setstate__(self, state: tuple[Arrays, Sequence[Hashable] | None, str]) -> None:
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

        A state's neighbours are in the order of the edges. The heuristic is the distance between points under
        ``metric``, or zero without points.
        """
        table = triples(edges)
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
        place = np.empty((count, 0)) if points is None else places(points)
        return cls(checked_csr(count, source, sink, cost, place, metric), labels)

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
        if not hasattr(matrix, "tocoo"):
            raise GraphError(f"from_scipy takes a sparse matrix, such as scipy.sparse.csr_array, not {quoted(matrix)}")
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
        if not (hasattr(graph, "nodes") and hasattr(graph, "edges")):
            raise GraphError(f"from_networkx takes a networkx graph, not {quoted(graph)}")
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
        return int(counts_of_moves(self.arrays).sum())

    @property
    def graph(self) -> Graph:
        """The graph itself, so that maps and graphs can be used alike."""
        return self

    @property
    def points(self) -> npt.NDArray[np.float64]:
        """The coordinates of every state, one row each: column and row on a grid. Rows are empty without coordinates.

        On terrain, columns and rows are multiplied by the heuristic cost of a straight move.
        """
        arrays = self.arrays
        if isinstance(arrays, Csr):
            return arrays.point
        return np.stack([arrays.x, arrays.y], 1).astype(np.float64) * stride(arrays)

    @property
    def dimensions(self) -> int:
        """The number of coordinates of a state; 0 if states have none."""
        return int(self.arrays.point.shape[1]) if isinstance(self.arrays, Csr) else 2

    @property
    def row_width(self) -> int | None:
        """The number of states in a row of a grid; None for other graphs."""
        return None if isinstance(self.arrays, Csr) else int(self.arrays.offset[len(self.arrays.offset) // 2])

    @cached_property
    def cost_range(self) -> tuple[float, float]:
        """The costs of the cheapest and the most expensive arc; (1, 1) in a graph without arcs."""
        if isinstance(self.arrays, Moves):
            return 1.0, DIAGONAL
        if isinstance(self.arrays, Sixteen):
            return 1.0, LEAP
        cost = self._costs
        return (float(cost.min()), float(cost.max())) if len(cost) else (1.0, 1.0)

    @property
    def unit(self) -> float:
        """The scale of the graph's costs: the largest power of two that is at most the cost of every arc."""
        return float(unit(self.arrays))

    @cached_property
    def typical_cost(self) -> float:
        """The average cost of an arc, rounded down to a power of two."""
        if isinstance(self.arrays, Moves | Sixteen) or not self.arcs:
            return 1.0
        return power_of_two(float(self._costs.mean()))

    @property
    def _costs(self) -> npt.NDArray[np.float64]:
        """The cost of each arc, in rows."""
        arrays = self.csr().arrays
        assert isinstance(arrays, Csr)
        return arrays.cost

    @cached_property
    def max_degree(self) -> int:
        """The largest number of arcs out of one state."""
        if not isinstance(self.arrays, Csr):
            return len(self.arrays.offset)
        return int(np.diff(self.arrays.first).max(initial=0))

    @property
    def open_degree(self) -> int:
        """The number of moves of a state far from walls: 8 on a grid, or 4 or 16 under other rules.

        A graph counts as a grid if its heuristic is that of a grid. On other graphs this is `max_degree`.

        >>> Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (1, 3, 1.0)]).open_degree
        3
        """
        grids = {Metric.OCTILE: 8, Metric.MANHATTAN: 4, Metric.SIXTEEN: 16} if self.dimensions == 2 else {}
        return grids.get(self.metric, self.max_degree)

    @property
    def metric(self) -> Metric:
        """The metric whose distances between points are the heuristic."""
        arrays = self.arrays
        if isinstance(arrays, Csr):
            return Metric(arrays.metric)
        if isinstance(arrays, Sixteen):
            return Metric.SIXTEEN
        return Metric.OCTILE if arrays.diagonal < 2.0 * stride(arrays) else Metric.MANHATTAN

    @cached_property
    def forbids_corner_cutting(self) -> bool:
        """Whether this is a grid on which a diagonal is open if and only if both paths around it are (rule octile)."""
        return isinstance(self.arrays, GridArrays) and bool(forbids_corner_cutting(self.arrays))

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
        assert not isinstance(moves, Csr)
        return Graph(Csr(*rows_of_grid(moves), self.points, int(self.metric), self.unit), self.labels)

    def named(self, name: str) -> Graph:
        """Return the same graph under a name, which is shown in tables and messages.

        >>> Graph.from_edges([(0, 1, 3.0)]).named("a bridge").name
        'a bridge'
        """
        return Graph(self.arrays, self.labels, name)

    def with_points(self, points: npt.ArrayLike, metric: str) -> Graph:
        """Return a graph with the same states and arcs but another heuristic."""
        arrays = self.csr().arrays
        assert isinstance(arrays, Csr)
        place, code = embedding(len(self), places(points), metric)
        fresh = arrays._replace(point=place, metric=code)
        check_range(fresh)
        check_heuristic(fresh)
        return Graph(fresh, self.labels, self.name)

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
            cost=arrays.cost * number, point=arrays.point * number, unit=unit_of(arrays.cost * number)
        )
        check_range(fresh)
        return Graph(fresh, self.labels)

    def reversed(self) -> Graph:
        """Return the graph with every arc reversed; the graph itself if every arc has an opposite of the same cost."""
        return self._reversed

    @cached_property
    def _reversed(self) -> Graph:
        if not isinstance(self.arrays, Csr):
            return self
        arrays = self.arrays
        source = np.repeat(np.arange(len(self)), np.diff(arrays.first))
        turned = rows(len(self), arrays.neighbour.astype(np.int64), source, arrays.cost)
        there = Csr(*turned, arrays.point, arrays.metric, arrays.unit)
        return self if same_arcs(arrays, there) else Graph(there, self.labels)

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

    @property
    def changes(self) -> Changes:
        """The log of changes, which is empty except for the graph of a `World`."""
        return UNCHANGED

    @property
    def version(self) -> int:
        """The number of changes so far, which is 0 except for the graph of a `World`."""
        return 0

    @property
    def chart(self) -> str:
        """The fingerprint of databases for this graph: its own or, for a `World`, that of the first version."""
        return self.fingerprint

    def apart(self, starts: npt.ArrayLike, goals: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each pair of states whether it is known that no path joins them.

        >>> Graph.from_edges([(0, 1, 1.0), (2, 3, 1.0)]).apart([0, 0], [1, 2])
        array([False,  True])
        """
        label = self.components
        return label[np.asarray(starts, np.int64)] != label[np.asarray(goals, np.int64)]

    def guarded(self, call: C) -> C:
        """Return a call that reads levels of abstraction, guarded against repairs if the graph is that of a `World`."""
        return call

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
        """Return the number of the state with this label; what is not a label is taken as a number."""
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

    @cached_property
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
