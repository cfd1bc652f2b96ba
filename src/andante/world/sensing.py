"""What an agent sees of its map: all of it from the start, or only a square around its current cell.

Bulitko et al. (2007), section 3: an agent on (x, y) sees that (u, v) is blocked if |u - x| <= r and |v - y| <= r. It
assumes that cells it has not seen are free. Its model of the map therefore has all moves of the true map and more, and
loses moves as walls come into sight. The model is kept for all trials of a problem; in the next problem the agent
starts with nothing again.

The loop calls `model`, `sense`, `is_cut_off`, `forget` and `is_asking`. They depend on whether the view is a `Known`
map or a `Belief`, and cost nothing if the map is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, whole_number
from andante.kernel import generic, int64, kernel
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.layout import COUNT, DIRECTION, Arrays, Moves


class Known(NamedTuple):
    """The view of an agent that knows the map; it stores nothing."""


FLOOD = np.dtype(
    [
        ("number", np.int64),  # of the search
        ("looked", np.int64),  # cells looked at
        ("reached", np.int64),
        ("walls", np.int64),  # known when it began
        ("goal", np.int64),
    ]
)


class Flood(NamedTuple):
    """A search of the model from the goal, a few cells per move: if it ends without reaching the agent, no path exists.

    Walls found meanwhile can only make it reach too many cells, so it is never wrong about a missing path. Once it has
    reached the agent, the next wall found starts a new search.
    """

    mark: npt.NDArray[np.uint32]  # [n], the number of the search that last reached the cell
    queue: npt.NDArray[np.int32]  # [n], the cells it reached, in order
    scalars: npt.NDArray[Any]  # [1], of FLOOD

    @classmethod
    def over(cls, n: int) -> Flood:
        """Return arrays for ``n`` cells, with no search begun."""
        return cls(np.zeros(n, np.uint32), np.zeros(n, np.int32), np.full(1, -1, FLOOD))


CELLS_PER_MOVE = 32  # looked at by the search
NUMBERS = 2**32  # of searches that can be told apart

BELIEF = np.dtype(
    [
        ("size", np.int64),  # cells found blocked in this problem
        ("place", np.int64),  # where the agent last looked around in this problem; -1 if it has not yet
        ("asked", np.int64),  # 1: the agent needs more memory for what follows from the walls it has found
    ]
)


class Belief(NamedTuple):
    """The agent's own model of the map, in which every cell it has not seen is free.

    ``found`` only grows within a problem, so any reader that remembers its length can catch up at any time.
    """

    model: Moves  # its mask is read-only, like any other graph's ...
    mask: npt.NDArray[np.uint8]  # [n], ... but shares its memory with this array
    free: npt.NDArray[np.uint8]  # [n], the mask of a map without walls
    hidden: npt.NDArray[np.bool_]  # [n], cells that are blocked and not yet found
    found: npt.NDArray[np.int32]  # [walls], cells found blocked in this problem, in order of discovery
    scalars: npt.NDArray[Any]  # [1], of BELIEF
    kept: npt.NDArray[np.uint8]  # [8], moves left to a cell that lies in direction d of a wall
    flood: Flood
    radius: int
    width: int
    height: int


View = Known | Belief

KNOWN = Known()


def unknown(grid: Grid, sight: int) -> tuple[Graph, Belief]:
    """Return the graph an agent assumes before it has seen anything, and its belief, if it sees ``sight`` cells far.

    >>> graph, belief = unknown(Grid([list(".@"), list("@@")]), 1)
    >>> graph.arcs, int(sense(belief, 0)), belief.found.tolist()
    (12, 3, [1, 2, 3])
    """
    cells = whole_number(sight, "sight, counted in cells,", least=1, error=ParameterError)
    radius = min(cells, max(grid.width, grid.height))
    graph = Grid(np.ones_like(grid.passable), rule=grid.rule).graph
    arrays = graph.arrays
    assert isinstance(arrays, Moves)
    mask = arrays.mask.copy()
    shown = mask.view()
    shown.flags.writeable = False
    hidden = ~grid.passable.ravel()
    return graph, Belief(
        model=arrays._replace(mask=shown),
        mask=mask,
        free=arrays.mask,
        hidden=hidden,
        found=np.zeros(max(1, int(hidden.sum())), np.int32),
        scalars=np.array([(0, -1, 0)], BELIEF),
        kept=_kept(grid.rule),
        flood=Flood.over(len(mask)),
        radius=radius,
        width=grid.width,
        height=grid.height,
    )


def _kept(rule: str) -> npt.NDArray[np.uint8]:
    """Return, for each direction in which a cell lies from a wall, the moves that the wall leaves to the cell."""
    lost = [1 << (d + 4) % 8 for d in range(8)]  # into the wall
    if rule == "octile":
        for d in range(0, 8, 2):
            lost[d] |= 1 << (d + 3) % 8 | 1 << (d + 5) % 8  # past its corners
    return ~np.array(lost, np.uint8)


# --- what the loop calls on a view ----------------------------------------------------------------------------------


@generic
def model(view: View, graph: Arrays) -> Arrays:
    """Return the graph that the agent plans on; ``graph`` is the true one."""
    raise TypeError(view)


@generic
def sense(view: View, state: int) -> int:
    """Look around from ``state``, add what is new to the model, and return the number of cells found blocked."""
    raise TypeError(view)


@generic
def is_cut_off(view: View, state: int, goal: int) -> bool:
    """Return whether it is known by now that no path leads from ``state`` to ``goal``, at the same cost on any map."""
    raise TypeError(view)


@generic
def forget(view: View) -> None:
    """Assume the whole map to be free again; takes time in proportion to the walls found, not to the map."""
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
    return view.model


@sense.of(Belief)
def _look_around(view: Belief, state: int) -> int:
    """Look row by row, skipping what was in sight from the last place: after one move, only the leading edge is new."""
    at = view.scalars[0]
    before, r = at["size"], view.radius
    x, y = int64(view.model.x[state]), int64(view.model.y[state])
    last_x, last_y = -2 * r, -2 * r  # a place that sees nothing of the map
    if at["place"] >= 0:
        last_x, last_y = int64(view.model.x[at["place"]]), int64(view.model.y[at["place"]])
    at["place"] = state
    for row in range(max(y - r, 0), min(y + r, view.height - 1) + 1):
        if abs(row - last_y) > r:
            _look_along(view, row, x - r, x + r)
        else:
            _look_along(view, row, x - r, min(x + r, last_x - r - 1))
            _look_along(view, row, max(x - r, last_x + r + 1), x + r)
    return at["size"] - before


@is_cut_off.of(Belief)
def _has_no_path(view: Belief, state: int, goal: int) -> bool:
    if view.mask[state] == 0 or view.mask[goal] == 0:
        return True
    flood, search = view.flood, view.flood.scalars[0]
    found = flood.mark[state] == search["number"]
    if search["goal"] != goal or (found and search["walls"] < walls_found(view)):
        _begin_flood(view, goal)
        found = flood.mark[state] == search["number"]
    return not found and _flood(view) and flood.mark[state] != search["number"]


@kernel
def walls_found(view: Belief) -> int:
    """Return the number of cells found blocked in this problem."""
    return view.scalars[0]["size"]


@kernel
def ask_for_room(view: Belief) -> None:
    """Ask for more memory for what follows from the walls found."""
    view.scalars[0]["asked"] = 1


@kernel
def _begin_flood(view: Belief, goal: int) -> None:
    flood, search = view.flood, view.flood.scalars[0]
    search["number"] = max(search["number"], 0) + 1
    if search["number"] == NUMBERS:  # after four billion searches the numbers run out
        flood.mark[:] = 0
        search["number"] = 1
    search["looked"], search["reached"], search["walls"], search["goal"] = 0, 1, walls_found(view), goal
    flood.queue[0], flood.mark[goal] = goal, search["number"]


@kernel
def _flood(view: Belief) -> bool:
    """Continue the search from the goal for one move, and return whether it has reached all it can."""
    flood, search = view.flood, view.flood.scalars[0]
    for _ in range(CELLS_PER_MOVE):
        if search["looked"] == search["reached"]:
            return True
        cell = int64(flood.queue[search["looked"]])
        search["looked"] += 1
        moves = view.mask[cell]
        for k in range(COUNT[moves]):
            near = cell + view.model.offset[DIRECTION[moves, k]]
            if flood.mark[near] != search["number"]:
                flood.mark[near] = search["number"]
                flood.queue[search["reached"]] = near
                search["reached"] += 1
    return False


@forget.of(Belief)
def _free_all(view: Belief) -> None:
    at = view.scalars[0]
    for i in range(walls_found(view)):
        _free(view, int64(view.found[i]))
    at["size"], at["place"], view.flood.scalars[0]["goal"] = 0, -1, -1


@kernel
def _look_along(view: Belief, row: int, left: int, right: int) -> None:
    """Add the walls in these columns of a row to the model, as far as they are on the map."""
    begin = row * view.width
    for cell in range(begin + max(left, 0), begin + min(right, view.width - 1) + 1):
        if view.hidden[cell]:
            _block(view, cell)


@kernel
def _block(view: Belief, cell: int) -> None:
    """Remove the moves into a cell, out of it and past its corners from the model."""
    at = view.scalars[0]
    view.hidden[cell] = False
    view.found[at["size"]] = cell
    at["size"] += 1
    view.mask[cell] = 0
    around = view.free[cell]
    for k in range(COUNT[around]):
        direction = DIRECTION[around, k]
        view.mask[cell + view.model.offset[direction]] &= view.kept[direction]


@kernel
def _free(view: Belief, cell: int) -> None:
    """Give a cell and its neighbours the moves they have on a map without walls."""
    view.hidden[cell] = True
    view.mask[cell] = view.free[cell]
    around = view.free[cell]
    for k in range(COUNT[around]):
        near = cell + view.model.offset[DIRECTION[around, k]]
        view.mask[near] = view.free[near]
