"""Repair of the levels when the graph changes: only what is affected is done again, level by level.

Bulitko et al. (2007), Figure 19, with the same aim but different bookkeeping: instead of decreasing counts arc by arc,
the rows of affected nodes are recounted from their children, which handles added arcs as well as removed ones. On each
level:

1. Nodes that lost a child or have a changed one are affected (``HURT``). An affected node is dissolved if its children
   are no longer connected or, under the paper's rule, no longer form a clique (lines 17 to 19). So is a node whose only
   child can now join another node, and one with a single child next to an orphan, because the two may form a clique.
2. Orphans get parents as when the level was built (lines 20 to 23).
3. Affected and new nodes recount their arcs. Only nodes whose set of neighbours is different count as changed on the
   next level, so repair ends at the first level that does not change.

Building a level is the same with every state an orphan, where nothing has to be dissolved or compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.arcs import add_arc, clear_row, drop_arc, give_back_row, set_arc, set_aside
from andante.abstraction.clique import (
    BEREFT,
    CHANGED,
    DEAD,
    FRESH,
    HURT,
    KIN,
    ORPHANS,
    UPSET,
    Work,
    adjacent,
    count,
    cover,
    empty,
    holds,
    host,
    item,
    put,
    weigh,
)
from andante.abstraction.layers import (
    Layers,
    count_in_row,
    detach,
    first_child,
    give_back,
    has_room,
    next_child,
    nth_count,
    nth_of_row,
)
from andante.kernel import int64, kernel, subroutine
from andante.notation import Word
from andante.world.layout import Layout, degree, target


class Keep(Word):
    """Which nodes remain when the graph below them changes."""

    CONNECTED = 0  # those whose children are connected
    CLIQUE = 1  # those whose children form a clique: the paper's rule


_CLIQUE = int(Keep.CLIQUE)


class Below(NamedTuple):
    """The level that another is built or repaired over: the ground, or nodes, which have higher numbers.

    Both are one layout, so that everything here is compiled only once.
    """

    graph: Layout
    layers: Layers


@degree.of(Below)
def _degree(graph: Below, state: int) -> int:
    return degree(graph.graph, state) if state < graph.layers.ground else degree(graph.layers, state)


@target.of(Below)
def _target(graph: Below, state: int, k: int) -> int:
    return target(graph.graph, state, k) if state < graph.layers.ground else target(graph.layers, state, k)


@weigh.of(Below)
def _weigh(graph: Below, state: int, spot: npt.NDArray[np.float64]) -> int:
    return weigh(graph.graph, state, spot) if state < graph.layers.ground else weigh(graph.layers, state, spot)


@kernel
def repair(layers: Layers, graph: Layout, work: Work, levels: int, rule: int, keep: int) -> int:
    """Repair all levels after the arcs of the states in ``CHANGED`` changed, and return the highest level that changed.

    States that lost all their arcs leave the hierarchy; states that have arcs but no parent return. The nodes
    removed are listed in ``work`` until the next repair, which may reuse their numbers. If space runs out, the repair
    is abandoned and the pool's field ``short`` is set: then the layers have to be restored.
    """
    empty(work, DEAD)
    _leave_and_return(layers, graph, work)
    top = 0
    below = Below(graph, layers)
    while top < max(levels, 1) and repair_level(layers, below, work, top + 1, rule, keep):
        top += 1
    for k in range(count(work, DEAD)):
        give_back(layers, item(work, DEAD, k))
    for which in (ORPHANS, CHANGED, HURT):
        empty(work, which)
    return top


@kernel
def _leave_and_return(layers: Layers, graph: Layout, work: Work) -> None:
    """Remove ground states without arcs from the hierarchy, and bring back those that have arcs again."""
    for k in range(count(work, CHANGED)):
        state = item(work, CHANGED, k)
        stranded = degree(graph, state) == 0
        if layers.family[state]["parent"] == 0:
            if not stranded:
                put(work, ORPHANS, state)
        elif stranded:
            put(work, HURT, int64(layers.family[state]["parent"]))
            weight = weigh(graph, state, work.spot)
            detach(layers, state, weight, work.spot)


@subroutine
def repair_level(layers: Layers, graph: Below, work: Work, level: int, rule: int, keep: int) -> bool:
    """Repair one level over ``graph``, leave the next level's work in ``work``, and return whether there is any."""
    for which in (FRESH, UPSET, BEREFT):
        empty(work, which)
    for k in range(count(work, CHANGED)):
        parent = int64(layers.family[item(work, CHANGED, k)]["parent"])
        if parent > 0:
            put(work, HURT, parent)
    for k in range(count(work, HURT)):
        node = item(work, HURT, k)
        whole = _is_connected(layers, graph, work, node)
        if whole and keep == _CLIQUE:
            whole = _is_clique(layers, graph, node)
        if not whole or _could_join(layers, graph, node, rule):
            _dissolve(layers, graph, work, node)
    _free_lonely_neighbours(layers, graph, work)
    if not has_room(layers, count(work, ORPHANS), 0):
        layers.scalars[0]["short"] = 1
        return False
    cover(layers, graph, work, level, rule)
    _recount(layers, graph, work)
    return layers.scalars[0]["short"] == 0 and _prepare_next_level(work)


@subroutine
def build_level(layers: Layers, graph: Layout, work: Work, level: int, rule: int) -> None:
    """Build one level, with all states of the one below it orphans, and make its nodes the orphans of the next.

    This is `repair_level` without the part for existing nodes, which would take most of the time to compile.
    """
    empty(work, FRESH)
    below = Below(graph, layers)
    cover(layers, below, work, level, rule)
    _count_all(layers, below, work)
    empty(work, ORPHANS)
    for k in range(count(work, FRESH)):
        put(work, ORPHANS, item(work, FRESH, k))


@kernel
def _prepare_next_level(work: Work) -> bool:
    """Turn the results of one level into the work of the next level, and return whether there is any."""
    for which in (ORPHANS, CHANGED, HURT):
        empty(work, which)
    for k in range(count(work, FRESH)):
        put(work, ORPHANS, item(work, FRESH, k))
    for k in range(count(work, UPSET)):
        node = item(work, UPSET, k)
        if not holds(work, DEAD, node):
            put(work, CHANGED, node)
    for k in range(count(work, BEREFT)):
        put(work, HURT, item(work, BEREFT, k))
    return count(work, ORPHANS) + count(work, CHANGED) + count(work, HURT) > 0


@kernel
def _is_connected(layers: Layers, graph: Layout, work: Work, node: int) -> bool:
    """Return whether a node has children that are connected among themselves."""
    first = first_child(layers, node)
    if first < 0:
        return False
    empty(work, KIN)
    put(work, KIN, first)
    done = 0
    while done < count(work, KIN):
        state = item(work, KIN, done)
        done += 1
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            if layers.family[near]["parent"] == node:
                put(work, KIN, near)
    child = first
    while child >= 0:
        if not holds(work, KIN, child):
            return False
        child = next_child(layers, child)
    return True


@kernel
def _is_clique(layers: Layers, graph: Layout, node: int) -> bool:
    """Return whether all children of a node are adjacent to each other, except any that joined its only neighbour."""
    one = first_child(layers, node)
    while one >= 0:
        other = next_child(layers, one)
        while other >= 0:
            joined = degree(graph, one) == 1 or degree(graph, other) == 1
            if not joined and not adjacent(graph, one, other):
                return False
            other = next_child(layers, other)
        one = next_child(layers, one)
    return True


@kernel
def _could_join(layers: Layers, graph: Layout, node: int, rule: int) -> bool:
    """Return whether a node has only one child, and this child could join a neighbour's parent instead."""
    child = first_child(layers, node)
    return next_child(layers, child) < 0 and host(layers, graph, child, rule) > 0


@subroutine
def _dissolve(layers: Layers, graph: Layout, work: Work, node: int) -> None:
    """Make a node's children orphans and remove the node."""
    child = first_child(layers, node)
    while child >= 0:
        after = next_child(layers, child)
        weight = weigh(graph, child, work.spot)
        detach(layers, child, weight, work.spot)
        put(work, ORPHANS, child)
        child = after
    for k in range(degree(layers, node)):
        near = target(layers, node, k)
        drop_arc(layers, near, node)
        put(work, UPSET, near)
    clear_row(layers, node)
    parent = int64(layers.family[node]["parent"])
    if parent > 0:
        weight = weigh(layers, node, work.spot)  # empty by now
        detach(layers, node, weight, work.spot)
        put(work, BEREFT, parent)
    put(work, DEAD, node)


@kernel
def _free_lonely_neighbours(layers: Layers, graph: Layout, work: Work) -> None:
    """Dissolve parents with one child next to an orphan, so that the two can form a clique."""
    for k in range(count(work, ORPHANS)):
        state = item(work, ORPHANS, k)
        for move in range(degree(graph, state)):
            parent = int64(layers.family[target(graph, state, move)]["parent"])
            if parent > 0 and next_child(layers, first_child(layers, parent)) < 0:
                _dissolve(layers, graph, work, parent)


# --- arcs -----------------------------------------------------------------------------------------------------------


@kernel
def _recount(layers: Layers, graph: Layout, work: Work) -> None:
    """Recount the arcs of affected and new nodes from those of their children, and record whose neighbours changed."""
    for k in range(count(work, HURT)):
        work.old[k, 0], work.old[k, 1] = set_aside(layers, item(work, HURT, k))
    if _count_all(layers, graph, work):
        _compare_all(layers, work)
    else:
        layers.scalars[0]["short"] = 1


@subroutine
def _count_all(layers: Layers, graph: Layout, work: Work) -> bool:
    """Count the arcs of affected and new nodes; return whether there was surely space for these and their opposites.

    Each arc below may need a chunk at the far end, until the targets of all arcs are known.
    """
    reserved = 0  # chunks, for the opposite arcs of the nodes that have been counted
    for which in (HURT, FRESH):
        for k in range(count(work, which)):
            node = item(work, which, k)
            if layers.tight:
                arcs = _arcs_below(layers, graph, node)
                if not has_room(layers, 0, reserved + 2 * arcs):
                    return False
            _count_arcs(layers, graph, node)
            if layers.tight:
                had = which == HURT
                reserved += _new_opposites(
                    layers, work, node, int64(work.old[k, 0]) if had else 0, int64(work.old[k, 1]) if had else 0
                )
    return True


@kernel
def _new_opposites(layers: Layers, work: Work, node: int, chunk: int, arcs: int) -> int:
    """Return how many neighbours that do not recount their own arcs get a new arc to a node.

    The node's earlier row begins in ``chunk`` and has this many ``arcs``.
    """
    row, new = int64(layers.node[node - layers.ground]["row"]), 0
    for k in range(degree(layers, node)):
        near = nth_of_row(layers, row, k)
        if not _recounts(work, near) and count_in_row(layers, chunk, arcs, near, k) == 0:
            new += 1
    return new


@kernel
def _arcs_below(layers: Layers, graph: Layout, node: int) -> int:
    """Return the number of arcs of a node's children."""
    arcs, child = 0, first_child(layers, node)
    while child >= 0:
        arcs += degree(graph, child)
        child = next_child(layers, child)
    return arcs


@kernel
def _count_arcs(layers: Layers, graph: Layout, node: int) -> None:
    """Count the arcs of one node, but not the opposite ones of its neighbours."""
    child = first_child(layers, node)
    while child >= 0:
        for k in range(degree(graph, child)):
            near = int64(layers.family[target(graph, child, k)]["parent"])
            if near != node:
                add_arc(layers, node, near)
        child = next_child(layers, child)


@subroutine
def _compare_all(layers: Layers, work: Work) -> None:
    """Compare the arcs of affected and new nodes with their earlier ones, and record what is different."""
    for k in range(count(work, HURT)):
        node, chunk, arcs = item(work, HURT, k), int64(work.old[k, 0]), int64(work.old[k, 1])
        if not holds(work, DEAD, node):
            _compare(layers, work, node, chunk, arcs)
        give_back_row(layers, chunk, arcs)
    for k in range(count(work, FRESH)):
        _compare(layers, work, item(work, FRESH, k), 0, 0)


@kernel
def _compare(layers: Layers, work: Work, node: int, chunk: int, arcs: int) -> None:
    """Record a node and its old and new neighbours wherever one has become or ceased to be the other's neighbour.

    The node's earlier row begins in ``chunk`` and has this many ``arcs``. Neighbours that do not recount their own arcs
    get the opposite ones, but are left alone where nothing is different: looking at them takes most of the time.
    """
    row, size = int64(layers.node[node - layers.ground]["row"]), degree(layers, node)
    same = size == arcs
    for k in range(size):
        near, number = nth_of_row(layers, row, k), nth_count(layers, row, k)
        before = count_in_row(layers, chunk, arcs, near, k)
        if before == 0:
            same = False
            put(work, UPSET, near)
        if before != number and not _recounts(work, near):
            set_arc(layers, near, node, number)
    if same:
        return
    put(work, UPSET, node)
    for k in range(arcs):
        near = nth_of_row(layers, chunk, k)
        if count_in_row(layers, row, size, near, k) == 0:
            put(work, UPSET, near)
            if not _recounts(work, near):
                drop_arc(layers, near, node)


@kernel
def _recounts(work: Work, node: int) -> bool:
    """Return whether a node recounts its own arcs."""
    return holds(work, HURT, node) or holds(work, FRESH, node)
