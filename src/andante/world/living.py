"""A map that changes: doors that close, bridges that fall, walls that are dug away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.errors import MapError, ProblemError, quoted
from andante.kernel import bind, int64, kernel
from andante.world.changes import Changes, record
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from andante.world.layout import Moves, beside
from andante.world.parts import Parts, is_apart, note_closed, note_opened, sweep

TENDED = 2048  # cells looked at for components at a time


class World(Grid):
    """A map that changes. Agents and crowds take it where they take a `Grid`, and know of each change at once.

    It is what a grid is: its graph, fingerprint, components and problems are those of its present version.
    `World.frozen` returns a grid to keep.

    >>> import andante
    >>> world = World(andante.generate("empty", 8, 8))
    >>> world.close([(3, 0), (3, 1)])
    2
    >>> world.open((3, 1)), world.version, world.free_cells
    (1, 3, 63)
    """

    def __init__(self, grid: Grid) -> None:
        if not isinstance(grid, Grid):
            raise MapError(f"a world is made of a Grid, as andante.read_map returns, not {quoted(grid)}")
        if isinstance(grid, World):
            grid = grid.frozen()
        self.name, self.rule = grid.name, grid.rule
        self._terrain, self._passable = grid.terrain.copy(), grid.passable.copy()
        self.terrain, self.passable = self._terrain.view(), self._passable.view()
        self._freeze()
        open_, closed = np.uint8(ord(".")), np.uint8(ord("@"))
        self._looks = np.where(grid.passable, grid.terrain, open_), np.where(grid.passable, closed, grid.terrain)
        self.changes = Changes.empty()
        arrays = grid.graph.arrays
        assert isinstance(arrays, Moves)
        self._mask = arrays.mask.copy()
        shown = self._mask.view()
        shown.flags.writeable = False  # like any other grid's, so that the same machine code is used
        self.parts = Parts.over(len(self._mask))
        self.__dict__["graph"] = LivingGraph(arrays._replace(mask=shown), self, grid.graph)
        self._free = grid.free_cells
        self._lock = threading.Lock()
        self._width, self._height = self.width, self.height
        one = np.zeros(1, np.int64)  # for a change of a single cell
        self._one, self._one_address = one.data, one.ctypes.data
        self.settle()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise MapError("a world cannot be copied or pickled, because agents share it; copy world.frozen() instead")

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same world: others change in other ways."""
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<World {self.name} {self.width} x {self.height}, version {self.version}>"

    @property
    def version(self) -> int:
        """The number of changes so far."""
        return int(self.changes.scalars["total"][0])

    @property
    def free_cells(self) -> int:
        """The number of passable cells."""
        return self._free

    def frozen(self, name: str | None = None) -> Grid:
        """Return the present version as a grid that does not change."""
        return Grid(self._terrain, name=self.name if name is None else name, rule=self.rule)

    def close(self, cells: npt.ArrayLike) -> int:
        """Make cells impassable, and return how many of them were passable; ``cells`` is a cell (x, y) or several."""
        return self._change(cells, False)

    def open(self, cells: npt.ArrayLike) -> int:
        """Make cells passable, and return how many of them were not; ``cells`` is a cell (x, y) or several."""
        return self._change(cells, True)

    def _change(self, cells: Any, opened: bool) -> int:
        if type(cells) is tuple and len(cells) == 2 and type(cells[0]) is int and type(cells[1]) is int:
            x, y = cells  # a single cell, as a game closes a door: much faster without an array
            if not (0 <= x < self._width and 0 <= y < self._height):
                self.state(x, y)  # raises
            with self._lock:
                self._one[0] = y * self._width + x
                changed: int = self._edit(self._one_address, 1, opened)
                self._free += changed if opened else -changed
            return changed
        states = self._states(cells)
        with self._lock:
            changed = int(self._edit(states.ctypes.data, len(states), opened))
            self._free += changed if opened else -changed
        return changed

    def _states(self, cells: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the states of cells; raise `ProblemError` if one is not on the map."""
        try:
            table = np.asarray(cells)
        except ValueError:
            table = np.zeros(0, object)
        if table.ndim == 1 and table.size:
            table = table[None]
        if table.size == 0 and table.dtype != object:
            return np.zeros(0, np.int64)
        if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
            raise ProblemError(f"cells are given as (x, y), or as a list of these, not as {quoted(cells)}")
        x, y = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        for i in np.flatnonzero((x < 0) | (x >= self.width) | (y < 0) | (y >= self.height))[:1]:
            self.state(int(x[i]), int(y[i]))  # raises
        return np.ascontiguousarray(y * self.width + x)

    @cached_property
    def _edit(self) -> Callable[..., int]:
        arrays, rule = self.graph.arrays, RULES.index(self.rule)
        looks = (look.ravel() for look in self._looks)
        tables = self._mask, self._passable.ravel(), self._terrain.ravel(), *looks, self.parts, self.changes
        return bind(_edit_cells, arrays, *tables, rule, np.dtype(np.int64))

    def tend(self, most: int = TENDED) -> int:
        """Find out which cells are still connected, for at most so many cells; return how many were looked at.

        Agents and crowds call this before they move. It does nothing unless a closed cell may have divided the map.
        """
        with self._lock:
            return int(self._sweep(most))

    @cached_property
    def _sweep(self) -> Callable[..., int]:
        return bind(sweep, self.parts, self.graph.arrays)

    @property
    def news(self) -> int:
        """A number that changes when the map does, and when more becomes known about which cells are connected."""
        return self.version + int(self.parts.scalars["sweeps"][0])

    def settle(self) -> None:
        """Find out which cells are connected, however long that takes."""
        while self.tend(1 << 20):
            pass


class LivingGraph(Graph):
    """The graph of a map that changes: all that follows from it is of its present version."""

    def __init__(self, arrays: Moves, world: World, first: Graph) -> None:
        super().__init__(arrays)
        self._world, self.first = world, first
        self._known: dict[str, tuple[int, Any]] = {}

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise MapError("the graph of a world cannot be copied or pickled; use that of world.frozen()")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<LivingGraph of {self._world!r}>"

    @property
    def changes(self) -> Changes:
        """The log of changes."""
        return self._world.changes

    @property
    def chart(self) -> str:
        """The fingerprint of the first version."""
        return self.first.fingerprint

    def _present(self, name: str) -> Any:
        """Return what `Graph` says, worked out again if the map has changed."""
        version = self._world.version
        if name not in self._known or self._known[name][0] != version:
            self._known[name] = version, getattr(self._world.frozen().graph, name)
        return self._known[name][1]

    @property
    def arcs(self) -> int:
        """The number of arcs."""
        return int(self._present("arcs"))

    @property
    def components(self) -> npt.NDArray[np.int32]:
        """A component number for each state, in the present version; takes time in proportion to the map."""
        return self._present("components")

    @property
    def forbids_corner_cutting(self) -> bool:
        """Whether this is so in every version: it follows from the rule for moves."""
        return self._world.rule == "octile"

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the present version; takes time in proportion to the map."""
        return str(self._present("fingerprint"))

    def csr(self) -> Graph:
        """Return the present version as rows of arcs."""
        return self._world.frozen().graph.csr()

    def tend(self) -> None:
        """Find out a little more about which states are connected."""
        self._world.tend()

    def apart(self, starts: npt.ArrayLike, goals: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each pair whether it is known that no path joins them; the rest may not be known yet."""
        a, b = np.broadcast_arrays(np.atleast_1d(np.asarray(starts, np.int64)), np.asarray(goals, np.int64))
        a, b, found = np.ascontiguousarray(a), np.ascontiguousarray(b), np.zeros(len(a), np.bool_)
        self._are_apart(a.ctypes.data, len(a), b.ctypes.data, len(b), found.ctypes.data, len(found))
        return found

    @cached_property
    def _are_apart(self) -> Callable[..., int]:
        states, flags = np.dtype(np.int64), np.dtype(np.bool_)
        return bind(_find_apart, self._world.parts, self.arrays, states, states, flags)


@kernel
def _find_apart(
    parts: Parts,
    graph: Moves,
    starts: npt.NDArray[np.int64],
    goals: npt.NDArray[np.int64],
    found: npt.NDArray[np.bool_],
) -> int:
    """Write for each start and goal whether no path joins them, and return how many. A state is joined to itself."""
    total = 0
    for i in range(len(starts)):
        found[i] = starts[i] != goals[i] and is_apart(parts, graph, starts[i], goals[i])
        total += int64(found[i])
    return total


@kernel
def _edit_cells(
    graph: Moves,
    mask: npt.NDArray[np.uint8],
    passable: npt.NDArray[np.bool_],
    terrain: npt.NDArray[np.uint8],
    looks_open: npt.NDArray[np.uint8],
    looks_closed: npt.NDArray[np.uint8],
    parts: Parts,
    changes: Changes,
    rule: int,
    cells: npt.NDArray[np.int64],
    opened: bool,
) -> int:
    """Open or close cells that are not open or closed yet, and return how many."""
    changed = 0
    for i in range(len(cells)):
        cell = cells[i]
        if passable[cell] == opened:
            continue
        moves = int64(mask[cell])
        passable[cell] = opened
        terrain[cell] = looks_open[cell] if opened else looks_closed[cell]
        _rewrite_around(graph, mask, passable, rule, cell)
        record(changes, cell, opened)
        if opened:
            note_opened(parts, graph, cell)
        else:
            note_closed(parts, graph, cell, moves)
        changed += 1
    return changed


@kernel
def _rewrite_around(
    graph: Moves, mask: npt.NDArray[np.uint8], passable: npt.NDArray[np.bool_], rule: int, cell: int
) -> None:
    """Rewrite the moves of a cell and of the eight cells around it."""
    mask[cell] = _legal_moves(graph, passable, rule, cell)
    for d in range(8):
        near = beside(graph, cell, d)
        if near >= 0:
            mask[near] = _legal_moves(graph, passable, rule, near)


@kernel
def _legal_moves(graph: Moves, passable: npt.NDArray[np.bool_], rule: int, cell: int) -> int:
    """Return the legal directions from a cell, as a set of bits."""
    if not passable[cell]:
        return 0
    free = 0
    for d in range(8):
        near = beside(graph, cell, d)
        if near >= 0 and passable[near]:
            free |= 1 << d
    if rule == _CORNERS:
        return free
    straight = free & 0b01010101
    if rule == _CARDINAL:
        return straight
    both = (straight << 1) & ((straight >> 1) | (straight << 7))  # diagonals between two free cells
    return straight | (free & both & 0b10101010)


_CORNERS, _CARDINAL = RULES.index("corners"), RULES.index("cardinal")
