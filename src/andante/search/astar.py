"""A* over buckets, which can be interrupted after any expansion; the same kernels plan a path in one go or in slices.

With ``weight`` above 1 it is weighted A*: f = g + weight * h, and the path found costs at most ``weight`` times the
optimal cost. The queue's keys are f / weight, so their scale does not depend on the weight.

Buckets order states only roughly. So the search continues after the first path to the goal until no queued state can
lead to a cheaper one, and a closed state is reopened when a cheaper path to it is found. The result is exact. Without a
weight, states are hardly ever reopened on game maps: not once in 2.5 million expansions. With a weight they would be
reopened all the time. Reopening is not necessary if the weight makes up for the width w of a bucket, that is if
(weight - 1) * c >= weight * w for the cheapest arc c. Then, if g(y) <= weight * (g*(y) + w) for a closed state y, the
next state of a cheapest path has g <= weight * g*, and any state closed before it has at most its f plus the width of a
bucket. By induction the former holds for all closed states and the latter for the first state of a cheapest path that
is not closed, and with it the bound.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic, int64, kernel, prefetch
from andante.machine import on_threads
from andante.search import buckets, openlist
from andante.search.buckets import Nodes
from andante.search.memory import EXPANDED, Log, Space, new_space, note
from andante.search.mind import Mind
from andante.search.openlist import OpenList, Ties, WallsFirst, open_list
from andante.search.pages import Paged
from andante.search.records import Dense, Index, claim, claim_beside, expect, find, forget, number_at
from andante.world.changes import UNCHANGED, Changes, changed_cell
from andante.world.graph import Graph
from andante.world.layout import (
    MOST_STATES,
    Layout,
    beside,
    degree,
    enterable,
    estimate,
    first_of,
    moves_of,
    prefetch_state,
    rest_of,
    target,
)

UNLIMITED = 1 << 62  # steps
PART = 64  # problems solved before a thread checks whether the user has interrupted


TREE = np.dtype(
    [
        ("firm", np.float64),  # the weight from which on closed states stay closed
        ("now", np.uint32),  # twice the number of this search
        ("damaged", np.bool_),  # whether a move in the tree may have been cut since the search began
        ("seen", np.int64),  # changes of the map that the search has followed
    ],
    align=True,
)


class Tree(NamedTuple):
    """The states that a search has reached, with their costs and parents.

    The records of states are the open list's. ``mark`` is twice the number of this search if a state is open, and one
    more if it is closed. ``parent`` is the place of the parent's record, so that a path is followed without any lookup;
    it is -1 for the start.
    """

    where: Index
    node: npt.NDArray[Any]  # the states' records, of NODE: g, parent, mark
    scalars: npt.NDArray[Any]  # [1], of TREE
    open: OpenList
    log: Log
    changes: Changes

    @classmethod
    def allocate(cls, space: Space, ties: Ties = Ties.LAST, *, walls_first: bool = False) -> Tree:
        """Return arrays for a search over all states."""
        graph = space.graph
        most_moves = graph.open_degree if walls_first else None
        costs = graph.typical_cost, graph.cost_range[0]
        return cls.over(space.mind, *costs, space.log, ties, most_moves, changes=space.changes_to_search)

    @classmethod
    def over(
        cls,
        mind: Mind,
        typical_cost: float,
        least_cost: float,
        log: Log,
        ties: Ties = Ties.LAST,
        most_moves: int | None = None,
        numbers: int | None = None,
        changes: Changes = UNCHANGED,
    ) -> Tree:
        """Return arrays for a search over all states, or ``numbers`` of them, with moves of these costs.

        With ``most_moves``, the number of moves of a state in the open, states at walls are expanded first.
        """
        nodes = Nodes.over(mind, numbers)
        queue: OpenList
        if most_moves is None:
            queue = open_list(ties, mind, nodes, typical_cost)
        else:
            queue = WallsFirst.over(ties, mind, nodes, typical_cost, most_moves)
        blur = typical_cost / (buckets.PER_COST * least_cost)  # a bucket's width in cheapest arcs
        firm = 1 / (1 - blur) if blur < 1 else np.inf
        return cls(nodes.where, nodes.node, mind.one(TREE, (firm, 0, False, 0)), queue, log, changes)

    def with_same_queue(self, mind: Mind) -> Tree:
        """Return a tree for another search at another time, which uses the queue of this one."""
        nodes = Nodes.over(mind)
        firm = self.scalars[0]["firm"]
        return Tree(nodes.where, nodes.node, mind.one(TREE, (firm, 0, False, 0)), self.open, self.log, self.changes)


@kernel
def begin(tree: Tree, graph: Layout, start: int, goal: int, weight: float) -> None:
    """Forget the last search and open ``start``."""
    restart(tree, estimate(graph, start, goal) / weight)  # no key is lower: g + h is nowhere less than at the start
    open_at(tree, graph, start, -1, 0.0, goal, weight)


@kernel
def restart(tree: Tree, base: float) -> None:
    """Forget the last search and expect no keys below ``base``."""
    at = tree.scalars[0]
    at["damaged"], at["seen"] = False, tree.changes.scalars[0]["total"]
    at["now"] += 2
    if at["now"] == 0:  # after two billion searches the numbers start again
        forget(tree.where, tree.node["mark"])
        at["now"] = 2
    openlist.clear(tree.open, base)


@generic
def _prefetch_record(where: Index, node: npt.NDArray[Any], state: int) -> None:
    """Prefetch the record of a state, if its place is known without a lookup."""
    raise TypeError(where)


@_prefetch_record.of(Dense)
def _prefetch_directly(where: Dense, node: npt.NDArray[Any], state: int) -> None:
    prefetch(node, state)


@_prefetch_record.of(Paged)
def _not_in_pages(where: Paged, node: npt.NDArray[Any], state: int) -> None:
    pass


@kernel
def open_at(tree: Tree, graph: Layout, state: int, parent: int, g: float, goal: int, weight: float) -> None:
    """Open a state that is not queued, at a cost of ``g``."""
    before = claim(tree.where, parent) if parent >= 0 else -1
    _open(tree, graph, state, claim(tree.where, state), before, 2 * state - parent, g, goal, weight)


@kernel
def _open(
    tree: Tree, graph: Layout, state: int, place: int, parent: int, ahead: int, g: float, goal: int, weight: float
) -> None:
    """Open a state that is not queued. Its record is at ``place``, its parent's at ``parent``.

    When the state is expanded, its neighbours are read. On grids, the ones around ``ahead``, opposite to its parent,
    are not in the cache yet. Waiting for them took a third of the time.
    """
    node = tree.node[place]
    node["g"], node["parent"], node["mark"] = g, parent, tree.scalars[0]["now"]
    _prefetch_record(tree.where, tree.node, ahead - 1)
    _prefetch_record(tree.where, tree.node, ahead + 1)
    prefetch_state(graph, ahead)
    h = estimate(graph, state, goal)
    openlist.admit(tree.open, place, g * (1.0 / weight) + h, g, h, degree(graph, state))


@kernel
def expand(tree: Tree, graph: Layout, place: int, goal: int, weight: float) -> int:
    """Close the state whose record is at ``place`` and was just taken from the queue, and open its successors.

    Return the number of its moves.
    """
    state = number_at(tree.where, place) & MOST_STATES
    now = tree.scalars[0]["now"]
    node = tree.node[place]
    node["mark"] = now + 1
    reached_at = node["g"]
    note(tree.log, EXPANDED, state, reached_at)
    moves = moves_of(graph, state)
    while moves != 0:
        near, cost = first_of(graph, state, moves)
        moves = rest_of(graph, moves)
        if not enterable(graph, near):
            continue
        g = reached_at + cost
        at = claim_beside(tree.where, place, state, near)
        there = tree.node[at]
        mark = there["mark"]
        if g >= (there["g"] if mark >= now else np.inf):  # one branch, not two
            continue
        if mark >= now:
            if mark == now:
                openlist.remove(tree.open, at)
            elif openlist.ends_early(tree.open):
                # Keep the cheaper path. There can be no loop: g of a state is at least g of its parent plus the move.
                there["g"], there["parent"] = g, place
                continue
            elif weight >= tree.scalars[0]["firm"]:
                continue
        _open(tree, graph, near, at, place, 2 * near - state, g, goal, weight)
    return degree(graph, state)


# --- maps that change -----------------------------------------------------------------------------------------------

MOST_CHANGES = 64  # processed one by one


@kernel
def take_in(tree: Tree, graph: Layout, goal: int, weight: float) -> bool:
    """Update the search to the changes of the map since it last continued; return False if there are too many.

    Where a cell was opened, the states around it are expanded again. A closed cell that was not expanded yet is removed
    from the queue. Otherwise the tree is kept and may be `damaged`: states are reached by moves that no longer exist.
    They are few, and most are on no agent's path, so damage is detected when a path is traced.
    """
    at, total = tree.scalars[0], tree.changes.scalars[0]["total"]
    if total - at["seen"] > MOST_CHANGES:
        return False
    while at["seen"] < total:
        cell = changed_cell(tree.changes, at["seen"])
        at["seen"] += 1
        if cell >= 0:
            _take_in_opened(tree, graph, cell, goal, weight)
        else:
            _take_in_closed(tree, graph, ~cell)
    return True


@kernel
def expect_damage(tree: Tree) -> None:
    """Record that the map has changed since the search ended and its queue is no longer used."""
    at = tree.scalars[0]
    at["damaged"], at["seen"] = True, tree.changes.scalars[0]["total"]


@kernel
def _take_in_opened(tree: Tree, graph: Layout, cell: int, goal: int, weight: float) -> None:
    """Expand the states around an opened cell again, and the cell itself if it was reached when it was last open."""
    _reopen(tree, graph, cell, goal, weight)
    for k in range(degree(graph, cell)):
        _reopen(tree, graph, target(graph, cell, k), goal, weight)


@kernel
def _reopen(tree: Tree, graph: Layout, state: int, goal: int, weight: float) -> None:
    """Open a state again if it is closed."""
    place = find(tree.where, state)
    node = tree.node[place]
    if node["mark"] == tree.scalars[0]["now"] + 1:
        _open(tree, graph, state, place, int64(node["parent"]), state, node["g"], goal, weight)


@kernel
def _take_in_closed(tree: Tree, graph: Layout, cell: int) -> None:
    """Remove a closed cell from the queue if it is there; record whether a move of the tree was cut.

    The cell stays reached, because it may have been expanded before and have children: parents never form a circle as
    long as g of a state is at least g of its parent plus the move.
    """
    at, place = tree.scalars[0], find(tree.where, cell)
    if tree.node[place]["mark"] == at["now"]:
        openlist.remove(tree.open, place)
        tree.node[place]["mark"], at["damaged"] = at["now"] + 1, True
    for direction in range(8):
        near = beside(graph, cell, direction)
        if near >= 0 and reached(tree, near) and is_cut(tree, graph, near):
            at["damaged"] = True


@kernel
def is_cut(tree: Tree, graph: Layout, state: int) -> bool:
    """Return whether the move by which a search reached ``state`` no longer exists."""
    before = parent_of(tree, state)
    if before < 0:
        return False
    cut = True
    for k in range(degree(graph, before)):
        if target(graph, before, k) == state:
            cut = False
    return cut


@kernel
def is_damaged(tree: Tree) -> bool:
    """Return whether the tree may contain moves that no longer exist."""
    return tree.scalars[0]["damaged"]


class Slice(NamedTuple):
    """The result of one slice of a search."""

    over: bool  # a cheapest path to the goal is known, or no path exists
    steps: int  # states taken from the queue
    expanded: int
    touched: int  # moves generated


@kernel
def advance(tree: Tree, graph: Layout, goal: int, weight: float, most: int, slack: float = 0.0) -> Slice:
    """Continue a search for at most ``most`` steps; each takes one state from the queue, in constant time.

    It is over when no path can be cheaper than the known one by more than ``slack``.
    """
    steps, expanded, touched = 0, 0, 0
    end = claim(tree.where, goal)
    while True:
        is_reached = tree.node[end]["mark"] >= tree.scalars[0]["now"]
        bound = tree.node[end]["g"] * (1.0 / weight) if is_reached else np.inf
        if bound < np.inf and openlist.ends_early(tree.open):
            return Slice(True, steps, expanded, touched)
        if steps == most:
            place = openlist.first(tree.open)
            over = place < 0 or openlist.floor(tree.open) + slack >= bound
            if place >= 0:
                expect(tree.where, place)
            return Slice(over, steps, expanded, touched)
        place = openlist.take(tree.open)
        if place == buckets.NONE or (bound < np.inf and openlist.floor(tree.open) + slack >= bound):
            return Slice(True, steps, expanded, touched)
        steps += 1
        if place == buckets.LATER:
            continue
        if openlist.key_of(tree.open, place) >= bound:
            tree.node[place]["mark"] = tree.scalars[0]["now"] + 1
            continue
        touched += expand(tree, graph, place, goal, weight)
        expanded += 1


@kernel
def search(tree: Tree, graph: Layout, start: int, goal: int, weight: float) -> tuple[int, int]:
    """Search for a cheapest path to ``goal``; return the numbers of states expanded and of moves generated.

    A path exists if the goal is `reached` afterwards.
    """
    begin(tree, graph, start, goal, weight)
    whole = advance(tree, graph, goal, weight, UNLIMITED)
    return whole.expanded, whole.touched


@kernel
def most_promising(tree: Tree, goal: int) -> int:
    """Return the state that an unfinished search would expand next; the goal if its key is also the least."""
    place = openlist.first(tree.open)
    least = openlist.floor(tree.open) + openlist.width(tree.open)
    if reached(tree, goal) and openlist.key_of(tree.open, find(tree.where, goal)) < least:
        return goal
    return number_at(tree.where, place) if place >= 0 else place


@kernel
def reached(tree: Tree, state: int) -> bool:
    """Return whether this search has found a path to ``state``."""
    return tree.node[find(tree.where, state)]["mark"] >= tree.scalars[0]["now"]


@kernel
def cost_to(tree: Tree, state: int) -> float:
    """Return the cost of the cheapest path found to ``state``, which must have been reached."""
    return tree.node[find(tree.where, state)]["g"]


@kernel
def parent_of(tree: Tree, state: int) -> int:
    """Return the state before ``state`` on the path found to it; -1 for the start."""
    return state_at(tree, parent_place(tree, find(tree.where, state)))


@kernel
def parent_place(tree: Tree, place: int) -> int:
    """Return the place of the record of a state's parent, given that of its own record; -1 for the start."""
    return int64(tree.node[place]["parent"])


@kernel
def state_at(tree: Tree, place: int) -> int:
    """Return the state whose record is at a place; -1 for -1."""
    return number_at(tree.where, place) if place >= 0 else -1


@kernel
def lay_out(tree: Tree, path: npt.NDArray[np.int32], start: int, goal: int) -> int:
    """Write the path found from ``start`` to ``goal`` to ``path``, the start first; return its number of states."""
    length, state = 1, goal
    while state != start:
        state = parent_of(tree, state)
        length += 1
    state = goal
    for i in range(length - 1, -1, -1):
        path[i] = state
        state = parent_of(tree, state)
    return length


@kernel
def _costs(
    tree: Tree,
    graph: Layout,
    starts: npt.NDArray[np.int64],
    goals: npt.NDArray[np.int64],
    costs: npt.NDArray[np.float64],
) -> None:
    for i in range(len(starts)):
        search(tree, graph, starts[i], goals[i], 1.0)
        costs[i] = cost_to(tree, goals[i]) if reached(tree, goals[i]) else np.inf


def optimal_costs(
    graph: Graph, starts: npt.ArrayLike, goals: npt.ArrayLike, *, threads: int = 1
) -> npt.NDArray[np.float64]:
    """Return the cost of a cheapest path for each pair of start and goal; infinite if there is no path.

    >>> from andante.world.graph import Graph
    >>> optimal_costs(Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 9.0)]), [0], [2])
    array([7.])
    """
    starts, goals = np.asarray(starts, np.int64), np.asarray(goals, np.int64)
    costs = np.empty(len(starts))
    label = graph.components
    apart = label[starts] != label[goals]
    costs[apart] = np.inf
    todo = np.flatnonzero(~apart)

    own = threading.local()  # a tree for each thread

    def work(part: npt.NDArray[np.int64], stop: threading.Event) -> None:
        if not hasattr(own, "tree"):
            own.tree = Tree.allocate(new_space(graph, None))
        found = np.empty(len(part))
        _costs(own.tree, graph.arrays, starts[part], goals[part], found)
        costs[part] = found

    parts = np.array_split(todo, max(threads, -(-len(todo) // PART)))
    for _ in on_threads(work, parts, threads):
        pass
    return costs
