"""A graph and all levels above it, for use from Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from andante.abstraction.centres import find_all_centres, find_centres
from andante.abstraction.clique import CHANGED, ORPHANS, Cover, Work, adjacent, count, empty, item, put
from andante.abstraction.ground import Flags, Rows, flag_arc, own, rewrite
from andante.abstraction.layers import CHUNK, Layers, Shape
from andante.abstraction.repair import Keep, build_level, repair
from andante.errors import GraphError, ParameterError, expect, whole_number
from andante.kernel import int64, kernel
from andante.world.cells import Cells, set_cell
from andante.world.graph import Graph
from andante.world.grid import Grid, refuse_sixteen
from andante.world.heuristics import Metric
from andante.world.layout import Csr, GridArrays, Layout, beside, degree, price, size, target
from andante.world.living import LivingGraph

DEFAULT_COVER = Cover.ALIGNED


def _at_rest(world: Grid | Graph) -> Graph:
    """Return the graph of a map, in its present version if it changes."""
    expect(world, Grid | Graph, "levels need a Grid or a Graph, as andante.read_map returns")
    graph = world.graph
    return graph.at_rest() if isinstance(graph, LivingGraph) else graph


class Hierarchy:
    """The levels above a graph, up to the one where each component is a single state.

    States of a level are numbered from 0, and level 0 is the graph itself. A state without moves is not part of the
    levels above. The levels of a `World` are those of its present version.

    >>> import numpy as np
    >>> from andante.world.grid import Grid, refuse_sixteen
    >>> levels = Hierarchy(Grid(np.ones((8, 8), bool)))
    >>> levels.sizes
    [64, 16, 4, 1]
    >>> levels.children(1, 0), levels.representatives(3)
    ([0, 1, 8, 9], array([27], dtype=int32))
    """

    def __init__(
        self, world: Grid | Graph, cover: Cover = DEFAULT_COVER, built: tuple[Layers, int] | None = None
    ) -> None:
        self.graph = _at_rest(world)
        self.cover = cover
        self.layers, self.top = built or self._build()

    def _build(self) -> tuple[Layers, int]:
        """Return all levels above the graph, and their number."""
        return build(self.graph, self.cover)

    @cached_property
    def _nodes(self) -> list[npt.NDArray[np.int32]]:
        """The nodes of each level above the ground; their order defines the numbers of a level's states."""
        used, _ = self.layers.used
        node = self.layers.node[: used - self.layers.ground]
        level = np.where(node["weight"] > 0, node["level"], 0)
        first = self.layers.ground
        return [first + np.flatnonzero(level == k).astype(np.int32) for k in range(1, self.top + 1)]

    @cached_property
    def _number(self) -> npt.NDArray[np.int32]:
        """The number of each node's state within its level."""
        number = np.full(self.layers.used[0], -1, np.int32)
        number[: len(self.graph)] = np.arange(len(self.graph))
        for of_level in self._nodes:
            number[of_level] = np.arange(len(of_level))
        return number

    @property
    def sizes(self) -> list[int]:
        """The number of states of each level, from the ground up, without ground states that have no moves."""
        on_ground = int(np.count_nonzero(self.layers.family["parent"][: len(self.graph)]))
        return [on_ground, *map(len, self._nodes)]

    def nodes(self, level: int) -> npt.NDArray[np.int32]:
        """Return the states of a level above the ground as kernels number them."""
        if self._check(level) == 0:
            raise ParameterError("level 0 is the graph itself; its states are their own nodes")
        return self._nodes[level - 1]

    def regions(self, level: int) -> npt.NDArray[np.int32]:
        """Return the state of ``level`` that each state of the graph belongs to, or -1."""
        node = np.arange(len(self.graph), dtype=np.int32)
        for _ in range(self._check(level)):
            node = self.layers.family["parent"][node]
        return np.where(self.layers.family["parent"][: len(node)] > 0, self._number[node], -1).astype(np.int32)

    def parent(self, level: int, state: int) -> int:
        """Return the state of the level above that a state of ``level`` belongs to."""
        if level == self.top:
            raise ParameterError(f"level {level} is the highest; its states have no parents")
        parent = int(self.layers.family["parent"][self._node(level, state)])
        return int(self._number[parent]) if parent else -1

    def children(self, level: int, state: int) -> list[int]:
        """Return the states of the level below that make up a state of ``level``."""
        if level == 0:
            raise ParameterError("states of level 0 have no children")
        found, child = [], int(self.layers.node["child"][self._node(level, state) - self.layers.ground])
        while child:
            found.append(int(self._number[child - 1]))
            child = int(self.layers.family["next"][child - 1])
        return sorted(found)

    def points(self, level: int) -> npt.NDArray[np.float64]:
        """Return the points of the states of a level above the ground: the means of their ground states' points."""
        nodes = self.nodes(level) - self.layers.ground
        return self.layers.total[nodes] / self.layers.node["weight"][nodes, None]

    def representatives(self, level: int) -> npt.NDArray[np.int32]:
        """Return, for each state of a level, the ground state nearest to its point; ties go to the lowest number."""
        return self.layers.node["centre"][self.nodes(level) - self.layers.ground] - 1

    def level(self, level: int) -> Graph:
        """Return a level as a separate graph whose costs and heuristic are the distances between its states' points."""
        if self._check(level) == 0:
            return self.graph
        source, sink, _ = self._arcs(level)
        cost = np.zeros(len(source))
        _prices(self.layers, self.nodes(level), cost)
        place, metric = self.points(level), str(Metric(self.layers.metric))
        edges = np.stack([source, sink, cost], 1)
        return Graph.from_edges(edges, states=len(place), points=place, metric=metric, directed=True)  # type: ignore[arg-type]

    def counts(self, level: int) -> dict[tuple[int, int], int]:
        """Return, for each arc of a level above the ground, how many arcs of the level below it represents."""
        return {(int(a), int(b)): int(n) for a, b, n in zip(*self._arcs(level), strict=True)}

    def _arcs(self, level: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the arcs of a level, row by row: source, target and the number of arcs of the level below."""
        layers = self.layers
        nodes = self.nodes(level) - layers.ground
        moves = layers.node["degree"][nodes].astype(np.int64)
        source = np.repeat(np.arange(len(nodes)), moves)
        k = np.arange(len(source)) - np.repeat(np.cumsum(moves) - moves, moves)
        chunk = layers.node["row"][nodes][source]
        for hop in range(int(moves.max(initial=0) - 1) // CHUNK):
            chunk = np.where(k // CHUNK > hop, layers.link[chunk], chunk)
        return source, self._number[layers.arc[chunk, k % CHUNK]].astype(np.int64), layers.arc[chunk, CHUNK + k % CHUNK]

    def _check(self, level: int) -> int:
        level = whole_number(level, "a level")
        if not 0 <= level <= self.top:
            raise ParameterError(f"there is no level {level}: the hierarchy of this map has levels 0 to {self.top}")
        return level

    def _node(self, level: int, state: int) -> int:
        state, count = whole_number(state, "a state"), len(self.nodes(level)) if level else len(self.graph)
        if not 0 <= state < count:
            raise ParameterError(f"level {level} has no state {state}: its states are numbered 0 to {count - 1}")
        return int(self.nodes(level)[state]) if level else state

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {' > '.join(map(str, self.sizes))} states>"


@kernel
def _prices(layers: Layers, nodes: npt.NDArray[np.int32], cost: npt.NDArray[np.float64]) -> None:
    """Compute the costs of all arcs out of these nodes, row by row."""
    at = 0
    for node in nodes:
        for k in range(degree(layers, int64(node))):
            cost[at] = price(layers, int64(node), k)
            at += 1


class ChangingHierarchy(Hierarchy):
    """A hierarchy with its own data that is updated as states and edges of the graph are closed and opened again.

    Above a grid, cells can be closed and opened, and the edges follow from the cells. Above a graph, states and edges
    can. The number of levels stays the same, so on the highest one a component may become several states. A state of a
    level remains as long as its children are connected or, under ``Keep.CLIQUE``, form a clique.

    >>> import numpy as np
    >>> from andante.world.grid import Grid, refuse_sixteen
    >>> grid = Grid(np.ones((4, 9), bool))
    >>> levels = ChangingHierarchy(grid)
    >>> levels.close(states=[grid.state(4, y) for y in range(4)])
    3
    >>> levels.sizes[-1], levels.regions(1)[grid.state(4, 0)]
    (2, np.int32(-1))
    >>> levels.open(states=[grid.state(4, 2)])
    3
    >>> int(levels.regions(1)[grid.state(4, 2)]) >= 0
    True
    """

    def __init__(self, world: Grid | Graph, cover: Cover = DEFAULT_COVER, keep: Keep = Keep.CONNECTED) -> None:
        super().__init__(world if isinstance(world, Grid) else world.csr(), cover)
        self.keep = keep
        arrays = self.graph.arrays
        self._ground: Cells | Edges
        if isinstance(world, Grid):
            refuse_sixteen(world, "a hierarchy that changes")
            assert isinstance(arrays, GridArrays)
            self._ground = Cells.over(arrays, world.passable.flatten(), world.rule)
        else:
            assert isinstance(arrays, Csr)
            self._ground = Edges(arrays, *own(arrays))
        room = reserve_for_changes(self.graph, self.layers, self.top, log_changes=False)
        self.layers = self.layers.copied_into(room)
        self._work = Work.of(self.layers)

    @property
    def ground(self) -> GridArrays | Rows:
        """The current graph, as kernels take it."""
        return self._ground.graph if isinstance(self._ground, Cells) else self._ground.model

    def representatives(self, level: int) -> npt.NDArray[np.int32]:
        """Return the same as for any hierarchy, after computing again those that a change may have moved."""
        find_centres(self.layers, self.ground, self.nodes(level), self._work.spot)
        return super().representatives(level)

    def close(self, *, states: Iterable[int] = (), edges: Iterable[tuple[int, int]] = ()) -> int:
        """Remove states and edges from the graph, repair what this affects, and return the highest level that changed.

        On a grid a closed cell also closes the diagonal moves past its corners, if the grid's rule says so.
        """
        return self._change(states, edges, True)

    def open(self, *, states: Iterable[int] = (), edges: Iterable[tuple[int, int]] = ()) -> int:
        """Open states and edges, repair what this affects, and return the highest level that changed.

        On a grid these may be any cells; on a graph, only states and edges that were closed.
        """
        return self._change(states, edges, False)

    def _change(self, states: Iterable[int], edges: Iterable[tuple[int, int]], closed: bool) -> int:
        some = np.array([self._node(0, state) for state in states], np.int64)
        pairs = [(self._node(0, a), self._node(0, b)) for a, b in edges]
        if isinstance(self._ground, Cells):
            if pairs:
                raise GraphError(
                    "the edges of a grid follow from its cells, so they cannot be closed or opened by themselves; "
                    "close cells, or make the hierarchy of the grid's graph: ChangingHierarchy(grid.graph)"
                )
            edit_cells(self._ground, self._work, some, not closed)
        else:
            _edit_edges(self._ground, self._work, some, pairs, closed)
        top = repair(self.layers, self.ground, self._work, self.top, int(self.cover), int(self.keep))
        self._forget_numbers()
        return int(top)

    def _forget_numbers(self) -> None:
        """Drop the numbers of levels' states; they are computed again on demand, in time proportional to the map."""
        for name in ("_nodes", "_number"):
            vars(self).pop(name, None)


class Edges(NamedTuple):
    """A graph whose states and edges can be closed and opened."""

    whole: Csr  # the graph with nothing closed
    model: Rows
    flags: Flags


def _edit_edges(
    ground: Edges, work: Work, states: npt.NDArray[np.int64], pairs: list[tuple[int, int]], closed: bool
) -> None:
    """Close or open states and edges of a graph, and mark what this affects as changed."""
    whole, model, flags = ground
    for a, b in pairs:
        if not adjacent(whole, a, b):
            raise GraphError(f"there is no edge between {a} and {b} to close or open")
    for a, b in pairs:
        flag_arc(whole, a, b, flags.arc, closed)
        flag_arc(whole, b, a, flags.arc, closed)
    flags.state[states] = closed
    ends = np.array([state for pair in pairs for state in pair], np.int64)
    _rewrite_around(model, whole, flags, work, np.concatenate([ends, states]))


@kernel
def _rewrite_around(model: Rows, graph: Csr, flags: Flags, work: Work, states: npt.NDArray[np.int64]) -> None:
    """Rewrite the arcs of these states and of their neighbours, and mark them as changed."""
    empty(work, CHANGED)
    for i in range(len(states)):
        put(work, CHANGED, states[i])
        for k in range(degree(graph, states[i])):
            put(work, CHANGED, target(graph, states[i], k))
    for i in range(count(work, CHANGED)):
        rewrite(model, graph, flags, item(work, CHANGED, i))


@kernel
def edit_cells(ground: Cells, work: Work, states: npt.NDArray[np.int64], opened: bool) -> None:
    """Open or close cells, and mark what this affects as changed."""
    empty(work, CHANGED)
    for i in range(len(states)):
        if set_cell(ground, states[i], opened):
            mark_around(ground.graph, work, states[i])


@kernel
def mark_around(graph: GridArrays, work: Work, cell: int) -> None:
    """Mark a cell, and the cells around it, as changed."""
    put(work, CHANGED, cell)
    for d in range(8):
        near = beside(graph, cell, d)
        if near >= 0:
            put(work, CHANGED, near)


# --- building -------------------------------------------------------------------------------------------------------


def build(graph: Graph, cover: Cover, most: float = math.inf, share: float = 1.0) -> tuple[Layers, int]:
    """Return all levels above a graph, or at most ``most`` of them, and their number.

    The first level that has more than this ``share`` of the states of the one below is the last.
    """
    n = len(graph)
    layers = Layers.reserve(_shape(graph), n, n + graph.arcs // CHUNK, log_changes=False)
    work = Work.of(layers)
    arcs = _begin(graph.arrays, work)
    level = 0
    while arcs and level < most:
        level += 1
        states = count(work, ORPHANS)
        nodes, chunks = layers.used
        if nodes + states > len(layers.family) or chunks + states + arcs // CHUNK > len(layers.link):
            layers, work = _grown(layers, work, states, states + arcs // CHUNK)
        build_level(layers, graph.arrays, work, level, int(cover))
        begin = work.set[ORPHANS]["begin"]
        orphans = work.item[begin : begin + count(work, ORPHANS)]
        arcs = int(layers.node["degree"][orphans - layers.ground].sum())
        if len(orphans) > share * states:
            break
    find_all_centres(layers, graph.arrays, np.empty(layers.used[0]), work.spot)
    return layers.trimmed(), level


def _grown(layers: Layers, work: Work, nodes: int, chunks: int) -> tuple[Layers, Work]:
    """Return the same layers with more space, and matching buffers with the same orphans."""
    room = Layers.reserve(layers.shape, len(layers.node) + nodes, len(layers.link) + chunks, log_changes=False)
    fresh = Work.of(room)
    for k in range(count(work, ORPHANS)):
        put(fresh, ORPHANS, item(work, ORPHANS, k))
    return layers.copied_into(room), fresh


@kernel
def _begin(graph: Layout, work: Work) -> int:
    """Make every state with moves an orphan and return the number of arcs."""
    arcs = 0
    for state in range(size(graph)):
        if degree(graph, state) > 0:
            put(work, ORPHANS, state)
            arcs += degree(graph, state)
    return arcs


def most_after_changes(graph: Graph, levels: int) -> tuple[int, int]:
    """Return the most nodes and chunks of arcs that this many levels may have when the graph changes.

    No level can have more states or arcs than the one below. While a level is repaired, its old arcs are kept too.
    """
    n = len(graph)
    arcs = 8 * n if isinstance(graph.arrays, GridArrays) else graph.arcs  # closed cells may open
    return levels * n, (levels + 1) * (n + arcs // CHUNK)


def reserve_for_changes(graph: Graph, built: Layers, levels: int, log_changes: bool) -> Layers:
    """Return empty layers with space for all that ``levels`` levels of ``built`` may need when the graph changes.

    Most of this memory is never touched, so the operating system never allocates it.
    """
    # Level 1 is always repaired, as in `repair`.
    return Layers.reserve(built.shape, *most_after_changes(graph, max(levels, 1)), log_changes)


def _shape(graph: Graph) -> Shape:
    """Return the properties of a graph that its levels depend on."""
    metric, points = _metric(graph), graph.points
    return Shape(len(graph), _width(points / graph.unit), points.shape[1], metric, graph.unit)


def _width(points: npt.NDArray[np.float64]) -> int:
    """Return the width of the grid whose cells are at these points, row by row; 0 if there is no such grid."""
    if len(points) == 0 or points.shape[1] != 2:
        return 0
    width = int(points[:, 0].max()) + 1
    y, x = np.divmod(np.arange(len(points)), max(width, 1))
    return width if np.array_equal(points, np.stack([x, y], 1)) else 0


def _metric(graph: Graph) -> int:
    """Return the metric between points of abstract states: Euclidean on grids, as in the paper, else the graph's."""
    if graph.reversed() is not graph:
        raise GraphError("a hierarchy needs a graph in which every move can be reversed at the same cost")
    if graph.dimensions == 0:
        raise GraphError(
            "a hierarchy computes costs from the points of states, but this graph has no points; add them with "
            "Graph.with_points, or use distances to landmarks as points (andante.with_landmarks)"
        )
    on_grid = not isinstance(graph.arrays, Csr) or graph.metric in (Metric.OCTILE, Metric.SIXTEEN)
    return int(Metric.EUCLIDEAN if on_grid else graph.metric)


# Layers do not refer to their graph. Hierarchies do, so caching hierarchies would keep every graph alive.
_known: WeakKeyDictionary[Graph, dict[Cover, tuple[Layers, int]]] = WeakKeyDictionary()


def hierarchy_of(graph: Graph, cover: Cover = DEFAULT_COVER) -> Hierarchy:
    """Return the hierarchy of a graph; its layers are built once and shared by all callers."""
    if isinstance(graph, LivingGraph):
        return Hierarchy(graph, cover)  # of the present version
    known = _known.setdefault(graph, {})
    if cover not in known:
        known[cover] = build(graph, cover)
    return Hierarchy(graph, cover, known[cover])
