"""A map that changes: doors that close, bridges that fall, walls that are dug away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from andante.errors import MapError, ProblemError, expect, quoted
from andante.kernel import Entry, Table, bind, entry_of, int64, kernel, subroutine, table_of
from andante.world.cells import Cells, ring_around, set_cell
from andante.world.changes import RECENT, Changes
from andante.world.followers import Follower, Turnstile
from andante.world.graph import C, Graph
from andante.world.grid import Grid, refuse_sixteen
from andante.world.layout import GridArrays
from andante.world.parts import Parts, is_apart, note_closed, note_opened, sweep

TENDED = 2048  # cells looked at for components in one call of `tend`
MOST_UNNOTED = RECENT // 2  # changes that followers may have left to note
MENDED = 64  # changed cells around which levels are repaired in one call of `tend`

F = TypeVar("F", bound=Follower)


class World(Grid):
    """A map that changes. Agents and crowds accept it in place of a `Grid`, and see each change immediately.

    It has everything that a grid has: its graph, fingerprint, components and problems are those of its current version.
    `World.frozen` returns a copy of that version.

    >>> import andante
    >>> world = World(andante.generate("empty", 8, 8))
    >>> world.close([(3, 0), (3, 1)])
    2
    >>> world.open((3, 1)), world.version, world.free_cells
    (1, 3, 63)
    """

    def __init__(self, grid: Grid) -> None:
        expect(grid, Grid, "a world is made of a Grid, as andante.read_map returns", MapError)
        refuse_sixteen(grid, "a world")
        if isinstance(grid, World):
            grid = grid.frozen()
        self.name, self.rule, self.weights = grid.name, grid.rule, grid.weights
        self._terrain, self._passable = grid.terrain.copy(), grid.passable.copy()
        self.terrain, self.passable = self._terrain.view(), self._passable.view()
        self._freeze()
        open_, closed = np.uint8(ord(".")), np.uint8(ord("@"))
        self._looks = np.where(grid.passable, grid.terrain, open_), np.where(grid.passable, closed, grid.terrain)
        arrays = grid.graph.arrays
        assert isinstance(arrays, GridArrays)
        self._cells = Cells.over(arrays, self._passable.ravel(), grid.rule)
        self.changes = self._cells.changes
        self.parts = Parts.over(len(arrays.mask))
        counts, sweeps = self.changes.scalars, self.parts.scalars["sweeps"]
        self._total, self._opened, self._sweeps = counts["total"].data, counts["opened"].data, sweeps.data
        self.__dict__["graph"] = LivingGraph(self._cells.graph, self, grid.graph)
        self._first_free = grid.free_cells
        self.lock = threading.Lock()
        self._followers: dict[Any, Follower] = {}
        self._noted = 0  # the version up to which all followers have noted changes
        self._followed = -1  # the version with which all followers have caught up
        self._width, self._height = self.width, self.height
        self._sides, self._steps = np.array([self.width, self.height], np.uint64), np.array([1, self.width])
        self.settle()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise MapError("a world cannot be copied or pickled, because agents share it; copy world.frozen() instead")

    def __eq__(self, other: object) -> bool:
        """Return whether the other is the same object, because two worlds change independently."""
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<World {self.name} {self.width} x {self.height}, version {self.version}>"

    @property
    def version(self) -> int:
        """The number of changes so far."""
        return self._total[0]

    @property
    def free_cells(self) -> int:
        """The number of passable cells."""
        return self._first_free + 2 * self._opened[0] - self._total[0]

    def frozen(self, name: str | None = None) -> Grid:
        """Return the current version as a grid that does not change."""
        return self.like(self._terrain, self._passable, self.weights, self.name if name is None else name)

    def close(self, cells: npt.ArrayLike) -> int:
        """Make cells impassable, and return how many of them were passable; ``cells`` is a cell (x, y) or several."""
        return self._change(cells, False)

    def open(self, cells: npt.ArrayLike) -> int:
        """Make cells passable, and return how many of them were not; ``cells`` is a cell (x, y) or several."""
        return self._change(cells, True)

    def _change(self, cells: Any, opened: bool) -> int:
        state = -1
        if type(cells) is tuple and len(cells) == 2:
            x, y = cells  # a single cell, as when a game closes a door, is much faster without an array
            if type(x) is int and type(y) is int and 0 <= x < self._width and 0 <= y < self._height:
                state = y * self._width + x
        states = self._states(cells) if state < 0 else None
        with self.lock:
            if states is None:
                changed = self._edit_one(state if opened else ~state)
            else:
                changed = self._edit(states.ctypes.data, len(states), opened)
            if self._followers:
                self._keep_noted()
            return changed

    def compile(self) -> None:
        """Compile the kernels for changes and for levels above the map, or load them from the cache."""
        none = np.zeros(0, np.int64)
        with self.lock:
            self._edit(none.ctypes.data, 0, True)
            self._edit_one(0 if self._passable[0, 0] else ~0)  # changes nothing
            self._take_note()
        self.tend(0, 0)

    def _keep_noted(self) -> None:
        """Let followers take note of changes before they can no longer be looked up."""
        if self.version - self._noted > MOST_UNNOTED:
            self._take_note()

    def _take_note(self) -> None:
        """Let followers take note of all changes."""
        self._noted = self.version
        for follower in self._followers.values():
            follower.take_note()

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
        table = np.ascontiguousarray(table, np.int64)
        outside = table.view(np.uint64) >= self._sides  # as unsigned numbers, negative ones are large
        if outside.any():
            x, y = table[outside.any(1)][0].tolist()
            self.state(x, y)  # raises
        return table.dot(self._steps)

    @cached_property
    def _edit(self) -> Callable[..., int]:
        return bind(_edit_cells, *self._edited, np.dtype(np.int64))

    @cached_property
    def _edit_one(self) -> Callable[[int], int]:
        return bind(_edit_cell, *self._edited)

    @cached_property
    def _edited(self) -> tuple[Any, ...]:
        """The arguments that the kernels that change cells are bound to."""
        return self._cells, *self.looks().values(), self.parts

    def looks(self) -> dict[str, npt.NDArray[np.uint8]]:
        """Return the character of each cell as it is now, when it is open, and when it is closed."""
        open_, closed = (look.ravel() for look in self._looks)
        return {"terrain": self._terrain.ravel(), "looks_open": open_, "looks_closed": closed}

    @property
    def cells(self) -> Cells:
        """The cells, in the form that kernels edit."""
        return self._cells

    @property
    def followers(self) -> tuple[Follower, ...]:
        """The objects that follow the changes of the map."""
        return tuple(self._followers.values())

    def entries(self) -> dict[str, Entry]:
        """Return the code and the contexts with which a program without Python changes the map."""
        return {name: entry_of(*parts) for name, parts in self._kernels().items()}

    def tables(self) -> dict[str, Table]:
        """Return the contexts of the same kernels, without compiling anything."""
        return {name: table_of(*parts) for name, parts in self._kernels().items()}

    def _kernels(self) -> dict[str, tuple[Any, ...]]:
        """Return these kernels and the arguments that they are bound to."""
        states, flags = np.dtype(np.int64), np.dtype(np.bool_)
        arrays = self.graph.arrays
        return {
            "edit": (_edit_cells, *self._edited, states),
            "sweep": (sweep, self.parts, arrays),
            "apart": (_find_apart, self.parts, arrays, states, states, flags),
        }

    def tend(self, most: int = TENDED, mended: int = MENDED) -> int:
        """Catch up with changes for a bounded time, and return the number of cells processed, 0 if none was left.

        This finds out which cells are still connected, for at most ``most`` cells, and repairs levels of abstraction,
        if agents use them, around at most ``mended`` cells. Agents and crowds call it before they move.
        """
        with self.lock:
            work = int(self._sweep(most))
            if self._followers and self._followed != (version := self.version):
                with self.turnstile.writing():
                    cells = sum(follower.repair(mended) for follower in self._followers.values())
                if cells == 0 and mended > 0:
                    self._followed = version
                work += cells
            return work

    def follow(self, key: Any, make: Callable[[World], F]) -> F:
        """Return the follower with this key; if there is none, make it and keep it up to date from now on."""
        with self.lock:
            if key not in self._followers:
                self._followers[key] = make(self)
                self._followed = -1
            return cast(F, self._followers[key])

    @cached_property
    def turnstile(self) -> Turnstile:
        """The lock that keeps agents from reading levels while these are repaired."""
        return Turnstile()

    @cached_property
    def _sweep(self) -> Callable[..., int]:
        return bind(sweep, self.parts, self.graph.arrays)

    @property
    def news(self) -> int:
        """A number that changes when cells may be found to be disconnected, which opening a cell never causes."""
        return self._total[0] - self._opened[0] + self._sweeps[0]

    def settle(self) -> None:
        """Catch up with all changes, regardless of how long it takes."""
        while self.tend(1 << 20, 1 << 20):
            pass


class LivingGraph(Graph):
    """The graph of a map that changes; everything derived from it is of the map's current version."""

    def __init__(self, arrays: GridArrays, world: World, first: Graph) -> None:
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
    def map(self) -> World:
        """The map that changes."""
        return self._world

    @property
    def changes(self) -> Changes:
        """The log of changes."""
        return self._world.changes

    @property
    def version(self) -> int:
        """The number of changes so far."""
        return self._world.version

    @property
    def chart(self) -> str:
        """The fingerprint of the first version."""
        return self.first.fingerprint

    def _present(self, name: str) -> Any:
        """Return a property of `Graph`, computed again if the map has changed."""
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
        """A component number for each state in the current version; takes time in proportion to the map."""
        return self._present("components")

    @property
    def forbids_corner_cutting(self) -> bool:
        """Whether every version forbids corner cutting, which follows from the rule for moves."""
        return self._world.rule == "octile"

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the current version; takes time in proportion to the map."""
        return str(self._present("fingerprint"))

    def at_rest(self) -> Graph:
        """Return the graph of the current version, which does not change."""
        return self._world.frozen().graph

    def csr(self) -> Graph:
        """Return the current version as rows of arcs."""
        return self.at_rest().csr()

    def follow(self, key: Any, make: Callable[[World], F]) -> F:
        """Return the map's follower with this key; if there is none, make it and keep it up to date from now on."""
        return self._world.follow(key, make)

    def tend(self) -> None:
        """Catch up with changes for a bounded time."""
        self._world.tend()

    def guarded(self, call: C) -> C:
        """Return a call that reads levels of abstraction, during which they are not repaired."""
        turnstile = self._world.turnstile

        def guarded(*numbers: Any) -> Any:
            with turnstile.reading():
                return call(*numbers)

        return cast(C, guarded)

    def apart(self, starts: npt.ArrayLike, goals: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each pair whether it is known that no path joins them; others may be found apart later."""
        a, b = np.broadcast_arrays(np.atleast_1d(np.asarray(starts, np.int64)), np.asarray(goals, np.int64))
        a, b, found = np.ascontiguousarray(a), np.ascontiguousarray(b), np.zeros(len(a), np.bool_)
        with self._world.lock:  # looking up labels shortens the paths between them, which is a write
            self._are_apart(a.ctypes.data, len(a), b.ctypes.data, len(b), found.ctypes.data, len(found))
        return found

    @cached_property
    def _are_apart(self) -> Callable[..., int]:
        states, flags = np.dtype(np.int64), np.dtype(np.bool_)
        return bind(_find_apart, self._world.parts, self.arrays, states, states, flags)


@kernel
def _find_apart(
    parts: Parts,
    graph: GridArrays,
    starts: npt.NDArray[np.int64],
    goals: npt.NDArray[np.int64],
    found: npt.NDArray[np.bool_],
) -> int:
    """Write for each start and goal whether no path joins them, and return how many. A state is joined with itself."""
    total = 0
    for i in range(len(starts)):
        found[i] = starts[i] != goals[i] and is_apart(parts, graph, starts[i], goals[i])
        total += int64(found[i])
    return total


@kernel
def _edit_cells(
    cells: Cells,
    terrain: npt.NDArray[np.uint8],
    looks_open: npt.NDArray[np.uint8],
    looks_closed: npt.NDArray[np.uint8],
    parts: Parts,
    states: npt.NDArray[np.int64],
    opened: bool,
) -> int:
    """Open or close cells, and return how many of them this changed."""
    changed = 0
    for i in range(len(states)):
        change = states[i] if opened else ~states[i]
        changed += _edit_cell(cells, terrain, looks_open, looks_closed, parts, change)
    return changed


@subroutine
def _edit_cell(
    cells: Cells,
    terrain: npt.NDArray[np.uint8],
    looks_open: npt.NDArray[np.uint8],
    looks_closed: npt.NDArray[np.uint8],
    parts: Parts,
    change: int,
) -> int:
    """Open the cell ``change``, or close ~change if that is negative; return 1, or 0 if nothing changed."""
    cell, opened = max(change, ~change), change >= 0
    moves = int64(cells.mask[cell])
    if not set_cell(cells, cell, opened):
        return 0
    terrain[cell] = looks_open[cell] if opened else looks_closed[cell]
    if opened:
        note_opened(parts, cells.graph, cell)
    else:
        note_closed(parts, moves, ring_around(cells, cell))
    return 1
