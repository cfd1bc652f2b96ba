"""Clique abstraction: which states of one level become one node of the level above.

Bulitko, Sturtevant, Lu and Yau (2007), Figure 18; line numbers refer to that figure. The figure does not say which of
several cliques to take, and the choice decides how fast the levels shrink, so the rule is a parameter:

- ``aligned``: squares first. Above a grid, on level l, the nodes over the four cells (x, y), (x + 2^l, y), (x, y + 2^l)
  and (x + 2^l, y + 2^l), where x and y are multiples of 2^(l + 1), become one node if they are different and form a
  clique. So open ground turns into squares of 2^(l + 1) cells. Then each state in turn takes a clique of four, or else
  of three, among the states left over. Finally, from the last state to the first, each one left over pairs up with a
  neighbour that is also left over, or joins its only neighbour, or stays alone. Levels have the sizes that the papers'
  databases imply (decision 10).
- ``literal``: all cliques of four, then of three, then of two, each time the first one found. Of the states left over,
  those of degree one join their neighbour and the others stay alone. This reproduces the paper's Figure 8, and Figure 9
  if neighbours are taken clockwise from the east.
- ``eager``: one pass takes a clique of four or else of three at each state; the rest is as in ``literal``.
- ``joining``: as in ``literal``, but states left over join the smallest neighbouring node that has space.

States are taken in the order of their numbers, neighbours in the graph's order; only the first sixteen neighbours are
considered. The neighbours of a node are in the order in which the arcs of its children, by number, lead to them. A
state without moves is not part of the hierarchy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.layers import Layers, ancestor, attach, first_child, new_node, next_child
from andante.kernel import generic, int64, kernel, subroutine
from andante.notation import Word
from andante.world.layout import (
    Csr,
    GridArrays,
    Layout,
    Moves,
    Sixteen,
    Terrain,
    degree,
    direction_to,
    moves_of,
    stride,
    target,
)

MOST_NEIGHBOURS = 16  # considered for cliques, per state
MOST_CHILDREN = 64  # a node with this many takes no leftovers; with a small limit, a star would lose few arms per level


class Cover(Word):
    """The rule for choosing cliques."""

    LITERAL = 0
    EAGER = 1
    JOINING = 2
    ALIGNED = 3


_EAGER, _JOINING, _ALIGNED = int(Cover.EAGER), int(Cover.JOINING), int(Cover.ALIGNED)


SET = np.dtype([("begin", np.int64), ("count", np.int64)])  # the place of its first node, and the number of nodes


class Work(NamedTuple):
    """Buffers for building and repairing levels: sets of nodes in insertion order."""

    item: npt.NDArray[np.int32]  # [any], the nodes of all sets
    mark: npt.NDArray[np.uint8]  # [nodes], one bit per set: whether the node is in it
    set: npt.NDArray[Any]  # [SETS], of SET
    old: npt.NDArray[np.int32]  # [abstract nodes, 2], the earlier rows of affected nodes: first chunk, number of arcs
    near: npt.NDArray[np.int64]  # [MOST_NEIGHBOURS], neighbours without a parent
    clique: npt.NDArray[np.int64]  # [4]
    spot: npt.NDArray[np.float64]  # [dimensions]

    @classmethod
    def of(cls, layers: Layers) -> Work:
        """Return buffers for building or repairing these layers."""
        abstract = len(layers.node)
        room = np.full(SETS, abstract)
        room[[ORPHANS, CHANGED]] = max(layers.ground, abstract)  # states of any level
        room[KIN] += MOST_CHILDREN  # the children of one node, or abstract nodes, as in all other sets
        sets = np.zeros(SETS, SET)
        sets["begin"] = np.cumsum(room) - room
        return cls(
            np.zeros(room.sum(), np.int32),
            np.zeros(len(layers.family), np.uint8),
            sets,
            np.zeros((abstract, 2), np.int32),
            np.zeros(MOST_NEIGHBOURS, np.int64),
            np.zeros(4, np.int64),
            np.zeros(layers.total.shape[1]),
        )


# Work to do on a level, and the work it leaves for the next.
ORPHANS = 0  # states without a parent
CHANGED = 1  # states whose arcs changed
HURT = 2  # parents that lost or gained a child, or have a changed one
FRESH = 3  # new parents
UPSET = 4  # parents whose arcs changed
BEREFT = 5  # nodes two levels up that lost a child
DEAD = 6  # nodes to release at the end
KIN = 7  # for traversing the children of one node
SETS = 8


@kernel
def put(work: Work, which: int, node: int) -> None:
    """Add a node to a set, unless it is already in it."""
    if not holds(work, which, node):
        work.mark[node] |= 1 << which
        one = work.set[which]
        work.item[one["begin"] + one["count"]] = node
        one["count"] += 1


@kernel
def holds(work: Work, which: int, node: int) -> bool:
    """Return whether a node is in a set."""
    return bool(work.mark[node] >> which & 1)


@kernel
def count(work: Work, which: int) -> int:
    """Return the number of nodes in a set."""
    return work.set[which]["count"]


@kernel
def item(work: Work, which: int, k: int) -> int:
    """Return the k-th node of a set."""
    return int64(work.item[work.set[which]["begin"] + k])


@kernel
def empty(work: Work, which: int) -> None:
    """Empty a set, in time proportional to its size, so never in more than it took to fill it."""
    one = work.set[which]
    for k in range(one["begin"], one["begin"] + one["count"]):
        work.mark[work.item[k]] &= 255 ^ (1 << which)
    one["count"] = 0


# --- the weight of a state ------------------------------------------------------------------------------------------


@generic
def weigh(graph: Layout, state: int, spot: npt.NDArray[np.float64]) -> int:
    """Return the number of ground states that a state represents, and write the sum of their points to ``spot``."""
    raise TypeError(graph)


@weigh.of(Moves, Terrain, Sixteen)
def _weigh_cell(graph: GridArrays | Sixteen, state: int, spot: npt.NDArray[np.float64]) -> int:
    spot[0], spot[1] = graph.x[state] * stride(graph), graph.y[state] * stride(graph)
    return 1


@weigh.of(Csr)
def _weigh_state(graph: Csr, state: int, spot: npt.NDArray[np.float64]) -> int:
    for axis in range(len(spot)):
        spot[axis] = graph.point[state, axis]
    return 1


@weigh.of(Layers)
def _weigh_node(graph: Layers, state: int, spot: npt.NDArray[np.float64]) -> int:
    for axis in range(len(spot)):
        spot[axis] = graph.total[state - graph.ground, axis]
    return int64(graph.node[state - graph.ground]["weight"])


# --- covering -------------------------------------------------------------------------------------------------------


@subroutine
def cover(layers: Layers, graph: Layout, work: Work, level: int, rule: int) -> None:
    """Give every orphan of ``graph`` a parent on ``level``; new parents go to FRESH, existing ones to HURT."""
    if rule == _ALIGNED and layers.width > 0:
        _take_squares(layers, graph, work, level)
    most = 4
    while most > 1:  # lines 2 to 8
        least = 3 if rule in (_EAGER, _ALIGNED) and most == 4 else most
        if most > 2 or rule != _ALIGNED:
            _take_cliques(layers, graph, work, level, most, least)
        most = least - 1
    last = count(work, ORPHANS) - 1
    for k in range(last + 1):  # line 10
        state = item(work, ORPHANS, last - k if rule == _ALIGNED else k)
        if layers.family[state]["parent"] == 0:
            _place_leftover(layers, graph, work, state, level, rule)


@subroutine
def _place_leftover(layers: Layers, graph: Layout, work: Work, state: int, level: int, rule: int) -> None:
    """Place a state that is in no clique: let it pair up, join a neighbour's parent or stay alone, as ``rule`` says."""
    free = _orphans_near(layers, graph, work, state) if rule == _ALIGNED else 0
    parent = host(layers, graph, state, rule) if free == 0 else 0
    if parent > 0:  # line 12
        _join(layers, graph, work, state, parent)
        return
    parent = new_node(layers, level)  # line 14
    put(work, FRESH, parent)
    adopt(layers, graph, work, state, parent)
    if free > 0:
        adopt(layers, graph, work, work.near[0], parent)


@kernel
def _join(layers: Layers, graph: Layout, work: Work, state: int, parent: int) -> None:
    """Make a state a child of a node that already has children."""
    if not holds(work, FRESH, parent):
        put(work, HURT, parent)
    adopt(layers, graph, work, state, parent)


@subroutine
def adopt(layers: Layers, graph: Layout, work: Work, state: int, parent: int) -> None:
    """Make a state of ``graph`` a child of ``parent``."""
    weight = weigh(graph, state, work.spot)
    attach(layers, state, parent, weight, work.spot)


# --- aligned squares ------------------------------------------------------------------------------------------------


@subroutine
def _take_squares(layers: Layers, graph: Layout, work: Work, level: int) -> None:
    """Make a node of each aligned square of four orphans; return an orphan that a square lost to that square."""
    for k in range(count(work, ORPHANS)):
        state = item(work, ORPHANS, k)
        if layers.family[state]["parent"] != 0 or not _find_square(layers, graph, work, state, level):
            continue
        free, parent = 0, 0
        for corner in work.clique:
            above = int64(layers.family[corner]["parent"])
            free += 1 if above == 0 else 0
            parent = max(parent, above)
        if free == 4:
            node = new_node(layers, level)
            put(work, FRESH, node)
            for corner in work.clique:
                adopt(layers, graph, work, int64(corner), node)
        elif free == 1 and _holds_the_rest(layers, work, parent):
            _join(layers, graph, work, state, parent)


@kernel
def _find_square(layers: Layers, graph: Layout, work: Work, state: int, level: int) -> bool:
    """Store the nodes at the corners of a state's square; return whether they are a clique of four that includes it.

    The square is the one that contains the node's point; examining every cell below the node would cost its size.
    """
    weight = weigh(graph, state, work.spot)
    side = 1 << (level - 1)
    left = int64(work.spot[0] / weight / layers.unit) // (2 * side) * (2 * side)
    top = int64(work.spot[1] / weight / layers.unit) // (2 * side) * (2 * side)
    if left + side >= layers.width or (top + side) * layers.width >= layers.ground:
        return False
    found = False
    for corner in range(4):
        cell = (top + side * (corner >> 1)) * layers.width + left + side * (corner & 1)
        node = ancestor(layers, cell, level - 1)
        if level > 1 and node == 0:
            return False
        found = found or node == state
        work.clique[corner] = node
        for other in range(corner):
            if not adjacent(graph, work.clique[other], node):  # no state is adjacent to itself
                return False
    return found


@kernel
def _holds_the_rest(layers: Layers, work: Work, parent: int) -> bool:
    """Return whether a node's children are exactly the three corners of the stored square that have a parent."""
    kin = 0
    for corner in work.clique:
        kin += 1 if layers.family[corner]["parent"] == parent else 0
    return kin == 3 and _count_children(layers, parent, 4) == 3


# --- cliques --------------------------------------------------------------------------------------------------------


@subroutine
def _take_cliques(layers: Layers, graph: Layout, work: Work, level: int, most: int, least: int) -> None:
    """Make a node of each clique found that has ``least`` to ``most`` orphans."""
    for k in range(count(work, ORPHANS)):
        state = item(work, ORPHANS, k)
        if layers.family[state]["parent"] != 0:
            continue
        near = _orphans_near(layers, graph, work, state)
        for size in range(most, least - 1, -1):
            if _find_clique(graph, work, near, size):
                node = new_node(layers, level)
                put(work, FRESH, node)
                adopt(layers, graph, work, state, node)
                for i in range(size - 1):
                    adopt(layers, graph, work, work.clique[i], node)
                break


@kernel
def _orphans_near(layers: Layers, graph: Layout, work: Work, state: int) -> int:
    """Store the neighbours without a parent and return their number."""
    found = 0
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        if layers.family[near]["parent"] == 0 and near != state:
            work.near[found] = near
            found += 1
            if found == MOST_NEIGHBOURS:
                break
    return found


@kernel
def _find_clique(graph: Layout, work: Work, near: int, size: int) -> bool:
    """Find ``size - 1`` stored neighbours that are neighbours of each other, and return whether there are any."""
    for a in range(near - size + 2):
        work.clique[0] = work.near[a]
        if size == 2:
            return True
        for b in range(a + 1, near - size + 3):
            if not adjacent(graph, work.near[a], work.near[b]):
                continue
            work.clique[1] = work.near[b]
            if size == 3:
                return True
            for c in range(b + 1, near):
                if adjacent(graph, work.near[a], work.near[c]) and adjacent(graph, work.near[b], work.near[c]):
                    work.clique[2] = work.near[c]
                    return True
    return False


@generic
def adjacent(graph: Layout, a: int, b: int) -> bool:
    """Return whether a move leads from ``a`` to ``b``."""
    raise TypeError(graph)


@adjacent.of(tuple)
def _is_a_target(graph: Layout, a: int, b: int) -> bool:
    found = False
    for k in range(degree(graph, a)):
        found = found or target(graph, a, k) == b
    return found


@adjacent.of(Moves, Terrain)
def _is_a_neighbouring_cell(graph: GridArrays, a: int, b: int) -> bool:
    return bool(moves_of(graph, a) >> direction_to(graph, a, b) & 1)


@kernel
def host(layers: Layers, graph: Layout, state: int, rule: int) -> int:
    """Return the parent that a leftover state may join: the neighbouring one with space and fewest children, or 0."""
    if rule != _JOINING and degree(graph, state) != 1:  # line 11
        return 0
    best, fewest = 0, MOST_CHILDREN
    for k in range(degree(graph, state)):
        parent = int64(layers.family[target(graph, state, k)]["parent"])
        if parent > 0:
            children = _count_children(layers, parent, fewest)
            if children < fewest:
                best, fewest = parent, children
    return best


@kernel
def _count_children(layers: Layers, node: int, most: int) -> int:
    """Return the number of a node's children, counting up to ``most``."""
    count, child = 0, first_child(layers, node)
    while child >= 0 and count < most:
        count += 1
        child = next_child(layers, child)
    return count
