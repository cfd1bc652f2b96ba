"""The view that an agent has of its map: all of it from the start, or only a square around its current cell.

Bulitko et al. (2007), section 3: an agent on (x, y) sees that (u, v) is blocked if |u - x| <= r and |v - y| <= r. It
assumes that cells it has not seen are free. On a map that does not change, its model therefore has all moves of the
true map and more, and loses moves as walls come into sight. On a map that changes it believes what it saw last. Cells
may have closed or opened since, which it finds out when they are in sight again. The model is kept for all trials of a
problem. In the next problem the agent starts from an empty model.

The loop calls `model`, `sense`, `is_cut_off`, `doubt`, `forget` and `is_asking`. Their implementation depends on
whether the view is a `Known` map or a `Belief`, and costs nothing if the map is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, whole_number
from andante.kernel import generic, int64, kernel
from andante.world.cells import Cells, set_cell
from andante.world.changes import Changes, can_look_up, changed_cell
from andante.world.graph import Graph
from andante.world.grid import Grid, refuse_sixteen
from andante.world.layout import COUNT, DIRECTION, Arrays, GridArrays


class Known(NamedTuple):
    """The view of an agent that knows the map; it stores nothing."""


FLOOD = np.dtype(
    [
        ("number", np.int64),  # of the search
        ("looked", np.int64),  # cells looked at
        ("reached", np.int64),
        ("changes", np.int64),  # of the model when the search began
        ("goal", np.int64),
    ]
)


class Flood(NamedTuple):
    """A search of the model from the goal, a few cells per move: if it ends without reaching the agent, no path exists.

    Walls found meanwhile can only make it reach too many cells, so it is never wrong about a missing path. A cell that
    is found open again starts a new search. After the search has reached the agent, the next wall found also starts
    one.
    """

    mark: npt.NDArray[np.uint32]  # [n], the number of the search that last reached the cell
    queue: npt.NDArray[np.int32]  # [n], the cells it reached, in order
    scalars: npt.NDArray[Any]  # [1], of FLOOD

    @classmethod
    def over(cls, n: int) -> Flood:
        """Return arrays for ``n`` cells, with no search begun."""
        return cls(np.zeros(n, np.uint32), np.zeros(n, np.int32), np.full(1, -1, FLOOD))


CELLS_PER_MOVE = 32  # looked at by the search
NUMBERS = 2**32  # searches that can be distinguished

BELIEF = np.dtype(
    [
        ("first", np.int64),  # changes of the model before this problem
        ("place", np.int64),  # where the agent last looked around in this problem; -1 if it has not yet
        ("heard", np.int64),  # changes of the map before the agent last looked around
        ("sure", np.int64),  # cells ever opened on the map when the model was empty; if still so, no wall has opened
        ("asked", np.int64),  # 1 if the agent needs more memory because of the walls it has found
    ]
)


class Belief(NamedTuple):
    """The agent's own model of the map, in which every cell it has not seen is free.

    The model's log has room for a change of every cell, so a reader that looks at it after every move never misses one.
    """

    cells: Cells
    truth: npt.NDArray[np.bool_]  # [n], which cells of the map are passable; read only where the agent looks
    news: Changes  # the log of the map
    scalars: npt.NDArray[Any]  # [1], of BELIEF
    flood: Flood
    radius: int
    width: int
    height: int


View = Known | Belief

KNOWN = Known()


def unknown(grid: Grid, sight: int) -> tuple[Graph, Belief]:
    """Return the graph that an agent with this radius of sight assumes before it has seen anything, and its belief.

    >>> graph, belief = unknown(Grid([list(".@"), list("@@")]), 1)
    >>> graph.arcs, int(sense(belief, 0)), last_found(belief, 3)
    (12, 3, [1, 2, 3])
    """
    cells = whole_number(sight, "sight, counted in cells,", least=1, error=ParameterError)
    refuse_sixteen(grid, "an agent with sight")
    radius = min(cells, max(grid.width, grid.height))
    everywhere = np.ones_like(grid.passable)
    graph = grid.like(grid.terrain, everywhere, grid.weights, grid.name).graph
    arrays = graph.arrays
    assert isinstance(arrays, GridArrays)
    belief = Belief(
        Cells.over(arrays, everywhere.ravel(), grid.rule, logged=len(graph)),
        grid.passable.ravel(),
        grid.graph.changes,
        np.zeros(1, BELIEF),
        Flood.over(len(graph)),
        radius,
        grid.width,
        grid.height,
    )
    forget(belief)
    return graph, belief


def last_found(belief: Belief, count: int) -> list[int]:
    """Return the last ``count`` cells that differed from what the agent believed."""
    log = belief.cells.changes
    total = int(log.scalars[0]["total"])
    found = log.cell[np.arange(total - count, total) & (len(log.cell) - 1)]
    return [int(cell) for cell in np.maximum(found, ~found)]


# --- what the loop calls on a view ----------------------------------------------------------------------------------


@generic
def model(view: View, graph: Arrays) -> Arrays:
    """Return the graph that the agent plans on; ``graph`` is the true one."""
    raise TypeError(view)


@generic
def sense(view: View, state: int) -> int:
    """Look around from ``state``, add what is new to the model, and return the number of new cells.

    These are cells found blocked and, on a map that changes, cells found open that the agent believed to be blocked.
    """
    raise TypeError(view)


@generic
def is_cut_off(view: View, state: int, goal: int) -> bool:
    """Return whether it is known by now that no path leads from ``state`` to ``goal``, in constant time on any map."""
    raise TypeError(view)


@generic
def doubt(view: View) -> bool:
    """Forget all walls if some of them may have opened since they were seen, and return whether that is so.

    An agent that believes its goal to be cut off continues if it has reason to doubt it: some cell of the map was
    opened since its model was empty. It never learns anything else about cells that it does not see.
    """
    raise TypeError(view)


@generic
def forget(view: View) -> None:
    """Assume that the whole map is free again; takes time in proportion to the walls found, not to the map."""
    raise TypeError(view)


@generic
def is_asking(view: View) -> bool:
    """Return whether the agent needs more memory before its next move (`ask_for_room`)."""
    raise TypeError(view)


@model.of(Known)
def _truth(view: Known, graph: Arrays) -> Arrays:
    return graph


@sense.of(Known)
def _nothing_new(view: Known, state: int) -> int:
    return 0


@is_cut_off.of(Known)
def _not_by_surprise(view: Known, state: int, goal: int) -> bool:
    return False


@doubt.of(Known)
def _no_doubt(view: Known) -> bool:
    return False


@forget.of(Known)
def _nothing_to_forget(view: Known) -> None:
    pass


@is_asking.of(Known)
def _needs_no_more(view: Known) -> bool:
    return False


@is_asking.of(Belief)
def _has_asked(view: Belief) -> bool:
    return view.scalars[0]["asked"] != 0


@model.of(Belief)
def _own_model(view: Belief, graph: Arrays) -> Arrays:
    return view.cells.graph


@sense.of(Belief)
def _look_around(view: Belief, state: int) -> int:
    """Look row by row, skipping cells that were in sight from the last place; after a move only the edge is new.

    Changes among the skipped cells are looked up in the map's log. After many changes the whole square is looked at.
    """
    at, log, news = view.scalars[0], view.cells.changes.scalars[0], view.news.scalars[0]["total"]
    before, opened, r = log["total"], log["opened"], view.radius
    graph = view.cells.graph
    x, y = int64(graph.x[state]), int64(graph.y[state])
    last_x, last_y = -2 * r, -2 * r  # a place from which no cell of the map is in sight
    if at["place"] >= 0 and can_look_up(view.news, at["heard"]) and news - at["heard"] <= (2 * r + 1) ** 2:
        last_x, last_y = int64(graph.x[at["place"]]), int64(graph.y[at["place"]])
        for k in range(at["heard"], news):
            cell = changed_cell(view.news, k)
            cell = max(cell, ~cell)
            if abs(int64(graph.x[cell]) - x) <= r and abs(int64(graph.y[cell]) - y) <= r:
                _see(view, cell)
    at["place"], at["heard"] = state, news
    for row in range(max(y - r, 0), min(y + r, view.height - 1) + 1):
        if abs(row - last_y) > r:
            _look_along(view, row, x - r, x + r)
        else:
            _look_along(view, row, x - r, min(x + r, last_x - r - 1))
            _look_along(view, row, max(x - r, last_x + r + 1), x + r)
    if log["opened"] != opened:
        view.flood.scalars[0]["goal"] = -1  # it may have to reach more cells
    return log["total"] - before


@is_cut_off.of(Belief)
def _has_no_path(view: Belief, state: int, goal: int) -> bool:
    if view.cells.mask[state] == 0 or view.cells.mask[goal] == 0:
        return True
    flood, search = view.flood, view.flood.scalars[0]
    found = flood.mark[state] == search["number"]
    if search["goal"] != goal or (found and search["changes"] < view.cells.changes.scalars[0]["total"]):
        _begin_flood(view, goal)
        found = flood.mark[state] == search["number"]
    return not found and _flood(view) and flood.mark[state] != search["number"]


@doubt.of(Belief)
def _may_have_gone(view: Belief) -> bool:
    if view.scalars[0]["sure"] == view.news.scalars[0]["opened"]:
        return False
    forget(view)
    return True


@kernel
def ask_for_room(view: Belief) -> None:
    """Ask for the memory that the walls found require."""
    view.scalars[0]["asked"] = 1


@kernel
def _begin_flood(view: Belief, goal: int) -> None:
    flood, search = view.flood, view.flood.scalars[0]
    search["number"] = max(search["number"], 0) + 1
    if search["number"] == NUMBERS:  # after four billion searches the numbers run out
        flood.mark[:] = 0
        search["number"] = 1
    search["looked"], search["reached"], search["goal"] = 0, 1, goal
    search["changes"] = view.cells.changes.scalars[0]["total"]
    flood.queue[0], flood.mark[goal] = goal, search["number"]


@kernel
def _flood(view: Belief) -> bool:
    """Continue the search from the goal for one move, and return whether it has reached every cell it can."""
    flood, search = view.flood, view.flood.scalars[0]
    for _ in range(CELLS_PER_MOVE):
        if search["looked"] == search["reached"]:
            return True
        cell = int64(flood.queue[search["looked"]])
        search["looked"] += 1
        moves = view.cells.mask[cell]
        for k in range(COUNT[moves]):
            near = cell + view.cells.graph.offset[DIRECTION[moves, k]]
            if flood.mark[near] != search["number"]:
                flood.mark[near] = search["number"]
                flood.queue[search["reached"]] = near
                search["reached"] += 1
    return False


@forget.of(Belief)
def _free_all(view: Belief) -> None:
    at, cells, total = view.scalars[0], view.cells, view.cells.changes.scalars[0]["total"]
    if can_look_up(cells.changes, at["first"]):
        for k in range(at["first"], total):
            cell = changed_cell(cells.changes, k)
            set_cell(cells, max(cell, ~cell), True)
    else:  # there were more changes than there are cells
        for cell in range(len(cells.passable)):
            set_cell(cells, cell, True)
    at["first"], at["place"] = cells.changes.scalars[0]["total"], -1
    at["heard"], at["sure"] = view.news.scalars[0]["total"], view.news.scalars[0]["opened"]
    view.flood.scalars[0]["goal"] = -1


@kernel
def _look_along(view: Belief, row: int, left: int, right: int) -> None:
    """Look at the columns from ``left`` to ``right`` of a row that are on the map."""
    begin = row * view.width
    for cell in range(begin + max(left, 0), begin + min(right, view.width - 1) + 1):
        _see(view, cell)


@kernel
def _see(view: Belief, cell: int) -> None:
    """Add to the model whether a cell is blocked."""
    if view.truth[cell] != view.cells.passable[cell]:
        set_cell(view.cells, cell, view.truth[cell])
