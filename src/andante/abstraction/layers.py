"""All levels above a graph, as flat arrays that can be searched like any graph and repaired in place.

A node is a state of some level: numbers below ``ground`` are the states of the graph itself (level 0), higher numbers
are abstract states of any level. Arcs never leave a level. So a search that begins in a node stays on its level, and
one layout serves all levels.

The arcs of a node are stored in chunks of eight, which are linked if one is not enough. A row can grow and shrink, and
chunks that a node no longer needs are reused. Each arc records how many arcs of the level below it represents. The
point of a node is the mean of *ground* points; an arc costs the distance between the points of its ends.

Zero means "none" in every array. So memory that was never used is never touched, and operating systems do not allocate
it before it is. Links to children, siblings and centres are therefore stored as the number plus one. Siblings are in
the order of their numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import int64, kernel, subroutine
from andante.world.heuristics import Metric
from andante.world.layout import degree, enterable, estimate, price, size, target, unit

CHUNK = 8  # arcs in a chunk
CHUNK_SHIFT = 3
CHUNK_MASK = CHUNK - 1

#: The least cost of an arc, in units of the graph: two regions can have the same point, and costs must be positive.
LEAST_COST = 2.0**-10

_EUCLIDEAN, _CHEBYSHEV = int(Metric.EUCLIDEAN), int(Metric.CHEBYSHEV)


#: One row per node, ground states included. Links to siblings are stored as the number plus one.
FAMILY = np.dtype(
    [
        ("parent", np.int32),  # 0 on the top level, and for ground states that are not part of the hierarchy
        ("next", np.int32),  # the next child of the same parent
        ("previous", np.int32),  # the previous child of the same parent
    ]
)

#: One row per abstract node, the first of which is number ``ground``. Links are stored as the number plus one.
NODE = np.dtype(
    [
        ("child", np.int32),  # the first child
        ("row", np.int32),  # the first chunk of its arcs
        ("degree", np.int32),
        ("weight", np.int32),  # ground states below; 0: the node is not in use
        ("level", np.int32),
        ("centre", np.int32),  # the ground state below that is nearest to the node's point; 0: unknown
    ]
)


CHANGES = np.dtype([("nodes", np.int64), ("chunks", np.int64)])  # the numbers of those that have changed


class ChangeLog(NamedTuple):
    """The nodes and chunks changed since the layers were built or restored; empty if this is not needed."""

    node: npt.NDArray[np.int32]  # [nodes], those that have changed
    node_noted: npt.NDArray[np.bool_]  # [nodes]
    chunk: npt.NDArray[np.int32]  # [chunks], those that have changed
    chunk_noted: npt.NDArray[np.bool_]  # [chunks]
    scalars: npt.NDArray[Any]  # [1], of CHANGES

    @classmethod
    def of(cls, nodes: int, chunks: int) -> ChangeLog:
        """Return an empty log for up to this many nodes and chunks."""
        return cls(
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.bool_),
            np.zeros(chunks, np.int32),
            np.zeros(chunks, np.bool_),
            np.zeros(1, CHANGES),
        )


class Shape(NamedTuple):
    """The properties of a graph that the levels above it depend on."""

    states: int
    width: int  # of the grid whose cells the states are, row by row; 0 if they are not cells of a grid
    dimensions: int
    metric: int  # between points of abstract states
    unit: float  # of its costs


POOL = np.dtype(
    [
        ("nodes", np.int64),  # ever used
        ("free_node", np.int64),  # the first of the released nodes, plus one; 0: none
        ("free_nodes", np.int64),  # released and not used again
        ("chunks", np.int64),  # ever used
        ("free_chunk", np.int64),  # the first of the released chunks; 0: none
        ("free_chunks", np.int64),
        ("short", np.int64),  # 1: a repair was abandoned for lack of space, and the layers have to be restored
    ]
)


class Layers(NamedTuple):
    """The levels above a graph."""

    family: npt.NDArray[Any]  # FAMILY[nodes]
    node: npt.NDArray[Any]  # NODE[abstract nodes]: node k is at k - ground
    total: npt.NDArray[np.float64]  # [abstract nodes, dimensions], the sum of the points of the ground states below
    link: npt.NDArray[np.int32]  # [chunks], the next chunk of the row
    arc: npt.NDArray[np.int32]  # [chunks, 2 * CHUNK], first the targets of the arcs, then how many each represents
    scalars: npt.NDArray[Any]  # [1], of POOL
    changes: ChangeLog
    ground: int  # states of level 0
    width: int  # of the grid whose cells they are, row by row; 0 if they are not cells of a grid
    metric: int
    unit: float
    tight: bool  # whether a repair may need more space than there is

    @classmethod
    def reserve(cls, shape: Shape, nodes: int, chunks: int, log_changes: bool, tight: bool = False) -> Layers:
        """Return empty layers above a graph of this shape, with space for this many nodes and chunks of arcs."""
        ground, width, dimensions, metric, unit = shape
        first, chunks = max(ground, 1), 1 + chunks  # node 0 and chunk 0 mean "none"
        nodes += first - ground
        return cls(
            np.zeros(ground + nodes, FAMILY),
            np.zeros(nodes, NODE),
            np.zeros((nodes, dimensions)),
            np.zeros(chunks, np.int32),
            np.zeros((chunks, 2 * CHUNK), np.int32),
            np.array([(first, 0, 0, 1, 0, 0, 0)], POOL),
            ChangeLog.of(ground + nodes, chunks) if log_changes else ChangeLog.of(0, 0),
            ground,
            width,
            metric,
            unit,
            tight,
        )

    @property
    def shape(self) -> Shape:
        """The shape of the graph below."""
        return Shape(self.ground, self.width, self.total.shape[1], self.metric, self.unit)

    @property
    def used(self) -> tuple[int, int]:
        """The numbers of nodes and chunks that were ever in use."""
        return int(self.scalars[0]["nodes"]), int(self.scalars[0]["chunks"])

    def trimmed(self) -> Layers:
        """Return the same layers in read-only arrays that are only as long as needed."""
        nodes, chunks = self.used
        short = Layers(
            self.family[:nodes].copy(),
            self.node[: nodes - self.ground].copy(),
            self.total[: nodes - self.ground].copy(),
            self.link[:chunks].copy(),
            self.arc[:chunks].copy(),
            self.scalars.copy(),
            ChangeLog.of(0, 0),
            self.ground,
            self.width,
            self.metric,
            self.unit,
            False,
        )
        for array in short[:6]:
            array.flags.writeable = False
        return short

    def shown(self) -> Layers:
        """Return the same layers in read-only views of their arrays, of the same types as those of `trimmed`."""
        shown = self._replace(
            family=self.family.view(),
            node=self.node.view(),
            total=self.total.view(),
            link=self.link.view(),
            arc=self.arc.view(),
            scalars=self.scalars.view(),
        )
        for array in shown[:6]:
            array.flags.writeable = False
        return shown

    def copied_into(self, room: Layers) -> Layers:
        """Copy these layers into ``room``, which must be unused, and return it."""
        full: tuple[npt.NDArray[Any], ...] = self[:6]
        blank: tuple[npt.NDArray[Any], ...] = room[:6]
        for mine, theirs in zip(full + tuple(self.changes), blank + tuple(room.changes), strict=True):
            theirs[: len(mine)] = mine
        return room


# --- as a graph -----------------------------------------------------------------------------------------------------


@size.of(Layers)
def _size(graph: Layers) -> int:
    return len(graph.family)


@degree.of(Layers)
def _degree(graph: Layers, state: int) -> int:
    return int64(graph.node[state - graph.ground]["degree"])


@target.of(Layers)
def _target(graph: Layers, state: int, k: int) -> int:
    return nth_of_row(graph, int64(graph.node[state - graph.ground]["row"]), k)


@price.of(Layers)
def _price(graph: Layers, state: int, k: int) -> float:
    return max(_apart(graph, state, target(graph, state, k)), LEAST_COST * graph.unit)


@estimate.of(Layers)
def _estimate(graph: Layers, state: int, goal: int) -> float:
    return _apart(graph, state, goal)


@unit.of(Layers)
def _unit(graph: Layers) -> float:
    return graph.unit


@enterable.of(Layers)
def _enterable(graph: Layers, state: int) -> bool:
    return True


@kernel
def nth_of_row(layers: Layers, chunk: int, k: int) -> int:
    """Return the target of the k-th arc of the row that begins in ``chunk``."""
    return int64(layers.arc[chunk_of(layers, chunk, k), k & CHUNK_MASK])


@kernel
def nth_count(layers: Layers, chunk: int, k: int) -> int:
    """Return the number of arcs below that the k-th arc of the row that begins in ``chunk`` represents."""
    return int64(layers.arc[chunk_of(layers, chunk, k), CHUNK + (k & CHUNK_MASK)])


@kernel
def count_in_row(layers: Layers, chunk: int, arcs: int, to: int, k: int) -> int:
    """Return the number of arcs below that the arc ``to`` a node represents; 0 if there is no such arc.

    The row begins in ``chunk``. The k-th place is tried first.
    """
    if k < arcs and nth_of_row(layers, chunk, k) == to:
        return nth_count(layers, chunk, k)
    left = arcs
    while left > 0:
        for place in range(min(left, CHUNK)):
            if layers.arc[chunk, place] == to:
                return int64(layers.arc[chunk, CHUNK + place])
        chunk, left = int64(layers.link[chunk]), left - CHUNK
    return 0


@kernel
def chunk_of(layers: Layers, chunk: int, k: int) -> int:
    """Return the chunk that contains the k-th arc of the row that begins in ``chunk``."""
    for _ in range(k >> CHUNK_SHIFT):
        chunk = int64(layers.link[chunk])
    return chunk


@kernel
def _apart(layers: Layers, a: int, b: int) -> float:
    """Return the distance between the points of two nodes of one level."""
    a, b = a - layers.ground, b - layers.ground
    weight_a, weight_b = layers.node[a]["weight"], layers.node[b]["weight"]
    sum_, longest = 0.0, 0.0
    for axis in range(layers.total.shape[1]):
        apart = abs(layers.total[a, axis] / weight_a - layers.total[b, axis] / weight_b)
        longest = max(longest, apart)
        sum_ += apart * apart if layers.metric == _EUCLIDEAN else apart
    if layers.metric == _EUCLIDEAN:
        return math.sqrt(sum_)
    return longest if layers.metric == _CHEBYSHEV else sum_


# --- the family tree ------------------------------------------------------------------------------------------------


@kernel
def first_child(layers: Layers, node: int) -> int:
    """Return a node's first child; -1 if it has none."""
    return int64(layers.node[node - layers.ground]["child"]) - 1


@kernel
def next_child(layers: Layers, node: int) -> int:
    """Return the next child of the same parent; -1 after the last."""
    return int64(layers.family[node]["next"]) - 1


@kernel
def ancestor(layers: Layers, node: int, up: int) -> int:
    """Return the node ``up`` levels above ``node``; 0 if there is none."""
    for _ in range(up):
        node = int64(layers.family[node]["parent"])
        if node == 0:
            break
    return node


@kernel
def new_node(layers: Layers, level: int) -> int:
    """Return a node without children, arcs or parent."""
    node = layers.scalars[0]["free_node"] - 1
    if node >= 0:
        layers.scalars[0]["free_node"] = layers.family[node]["next"]
        layers.scalars[0]["free_nodes"] -= 1
    else:
        node = layers.scalars[0]["nodes"]
        layers.scalars[0]["nodes"] = node + 1
    note_node(layers, node)
    family, entry = layers.family[node], layers.node[node - layers.ground]
    family["parent"] = family["next"] = family["previous"] = 0
    entry["child"] = entry["row"] = entry["degree"] = entry["weight"] = entry["centre"] = 0
    entry["level"] = level
    for axis in range(layers.total.shape[1]):
        layers.total[node - layers.ground, axis] = 0.0
    return node


@kernel
def give_back(layers: Layers, node: int) -> None:
    """Release a node that has no children, arcs or parent, so that `new_node` can reuse it."""
    note_node(layers, node)
    layers.node[node - layers.ground]["weight"] = 0
    layers.family[node]["next"] = layers.scalars[0]["free_node"]
    layers.scalars[0]["free_node"] = node + 1
    layers.scalars[0]["free_nodes"] += 1


@kernel
def attach(layers: Layers, node: int, parent: int, weight: int, total: npt.NDArray[np.float64]) -> None:
    """Make ``node``, with this number of ground states and this sum of their points, a child of ``parent``."""
    note_node(layers, node)
    before, after = 0, int64(layers.node[parent - layers.ground]["child"])
    while 0 < after < node + 1:
        before, after = after, int64(layers.family[after - 1]["next"])
    if before > 0:
        note_node(layers, before - 1)
        layers.family[before - 1]["next"] = node + 1
    else:
        note_node(layers, parent)
        layers.node[parent - layers.ground]["child"] = node + 1
    family = layers.family[node]
    family["parent"], family["next"], family["previous"] = parent, after, before
    if after > 0:
        note_node(layers, after - 1)
        layers.family[after - 1]["previous"] = node + 1
    _weigh(layers, parent, weight, 1.0, total)


@subroutine
def detach(layers: Layers, node: int, weight: int, total: npt.NDArray[np.float64]) -> None:
    """Remove a node, with this number of ground states and this sum of their points, from its parent."""
    note_node(layers, node)
    family = layers.family[node]
    parent, before, after = int64(family["parent"]), int64(family["previous"]), int64(family["next"])
    family["parent"] = family["next"] = family["previous"] = 0
    if before > 0:
        note_node(layers, before - 1)
        layers.family[before - 1]["next"] = after
    else:
        note_node(layers, parent)
        layers.node[parent - layers.ground]["child"] = after
    if after > 0:
        note_node(layers, after - 1)
        layers.family[after - 1]["previous"] = before
    _weigh(layers, parent, -weight, -1.0, total)


@kernel
def _weigh(layers: Layers, node: int, weight: int, sign: float, total: npt.NDArray[np.float64]) -> None:
    """Add this many ground states, or subtract them, for a node and all its ancestors."""
    while node > 0:
        note_node(layers, node)
        entry = layers.node[node - layers.ground]
        entry["centre"] = 0  # unknown from now on
        entry["weight"] += weight
        for axis in range(layers.total.shape[1]):
            layers.total[node - layers.ground, axis] += sign * total[axis]
        node = int64(layers.family[node]["parent"])


# --- space ----------------------------------------------------------------------------------------------------------


@kernel
def has_room(layers: Layers, nodes: int, chunks: int) -> bool:
    """Return whether there is space for this many more nodes and chunks; always true for layers that are not tight."""
    pool = layers.scalars[0]
    return not layers.tight or (
        len(layers.family) - pool["nodes"] + pool["free_nodes"] >= nodes
        and len(layers.link) - pool["chunks"] + pool["free_chunks"] >= chunks
    )


# --- the change log ---------------------------------------------------------------------------------------------------


@kernel
def note_node(layers: Layers, node: int) -> None:
    """Record in the change log, if there is one, that a node has changed since it was built."""
    changes = layers.changes
    if len(changes.node_noted) > 0 and not changes.node_noted[node]:
        changes.node_noted[node] = True
        changes.node[changes.scalars[0]["nodes"]] = node
        changes.scalars[0]["nodes"] += 1


@kernel
def note_chunk(layers: Layers, chunk: int) -> None:
    """Record in the change log, if there is one, that a chunk has changed since it was built."""
    changes = layers.changes
    if len(changes.chunk_noted) > 0 and not changes.chunk_noted[chunk]:
        changes.chunk_noted[chunk] = True
        changes.chunk[changes.scalars[0]["chunks"]] = chunk
        changes.scalars[0]["chunks"] += 1


@subroutine
def restore(layers: Layers, built: Layers) -> None:
    """Restore the layers to the state in which they were built, in time proportional to what has changed."""
    changes = layers.changes
    for k in range(changes.scalars[0]["nodes"]):
        node = int64(changes.node[k])
        changes.node_noted[node] = False
        if node < len(built.family):
            layers.family[node] = built.family[node]
        place = node - layers.ground
        if 0 <= place < len(built.node):
            layers.node[place] = built.node[place]
            for axis in range(layers.total.shape[1]):
                layers.total[place, axis] = built.total[place, axis]
    for k in range(changes.scalars[0]["chunks"]):
        chunk = int64(changes.chunk[k])
        changes.chunk_noted[chunk] = False
        if chunk < len(built.link):
            layers.link[chunk] = built.link[chunk]
            for place in range(2 * CHUNK):
                layers.arc[chunk, place] = built.arc[chunk, place]
    changes.scalars[0]["nodes"] = changes.scalars[0]["chunks"] = 0
    layers.scalars[0] = built.scalars[0]
