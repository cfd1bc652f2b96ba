"""Grid maps: passable cells, the rule for moving between them, and the resulting graph."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.errors import MapError, ProblemError, did_you_mean, whole_number
from andante.notebook import map_picture
from andante.world.graph import Graph
from andante.world.heuristics import DIAGONAL
from andante.world.layout import DX, DY, Moves

if TYPE_CHECKING:
    from andante.world.problem import Problem

#: The characters of the MovingAI map format: ground, ground, swamp; out of bounds, out of bounds, trees, water.
PASSABLE = ".GS"
BLOCKED = "@OTW"

#: When a diagonal move is legal: if both adjacent cardinal cells are free, always, or never.
RULES = ("octile", "corners", "cardinal")

MAX_SIDE = 32_000  # coordinates are int16


class Grid:
    """A map of square cells, eight neighbours each.

    ``terrain`` is a table of booleans (True is passable), or rows of map characters, top row first. Under the rule of
    the benchmark, ``octile``, a diagonal move needs both adjacent cardinal cells free; ``corners`` allows every
    diagonal move between passable cells; ``cardinal`` allows none.

    >>> import numpy as np
    >>> grid = Grid(np.ones((3, 4), bool))
    >>> grid.width, grid.height, grid.free_cells
    (4, 3, 12)
    >>> grid.cell(grid.state(2, 1))
    (2, 1)
    >>> Grid(["..@.", "..@.", "...."]).free_cells
    10
    """

    def __init__(self, terrain: npt.ArrayLike, *, name: str = "map", rule: str = "octile") -> None:
        try:
            table = np.array(terrain)
        except ValueError as error:
            raise MapError("all rows of a map must have the same length, and these do not") from error
        if table.ndim == 1 and table.dtype.kind == "U":
            table = _split(table)
        if table.ndim != 2 or 0 in table.shape or max(table.shape) > MAX_SIDE:
            raise MapError(f"a map must have 1 to {MAX_SIDE} rows and columns; this one has the shape {table.shape}")
        if rule not in RULES:
            raise MapError(f"unknown rule {rule!r} for moves; {did_you_mean(rule, RULES)}")
        self.name = name
        self.rule = rule
        self.terrain = _characters(table)
        self.passable = _one_of(PASSABLE, self.terrain)
        self._freeze()

    def _freeze(self) -> None:
        for array in (self.terrain, self.passable):
            array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # unpickled arrays are writeable

    def __eq__(self, other: object) -> bool:
        """Return whether the other map has the same terrain and the same rule for moves, whatever its name."""
        if not isinstance(other, Grid):
            return NotImplemented
        return self is other or (self.rule == other.rule and np.array_equal(self.terrain, other.terrain))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.rule, self.terrain.shape, self.terrain.tobytes()))

    def __repr__(self) -> str:
        return f"<Grid {self.name} {self.width} x {self.height}, {self.free_cells} free cells>"

    def _repr_html_(self) -> str:
        words = f"{self.name}, {self.width} x {self.height} cells, {self.free_cells:,} of them free"
        return map_picture(self.terrain, words)

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.terrain.shape[1])

    @property
    def height(self) -> int:
        """The number of rows."""
        return int(self.terrain.shape[0])

    @cached_property
    def free_cells(self) -> int:
        """The number of passable cells."""
        return int(self.passable.sum())

    @cached_property
    def graph(self) -> Graph:
        """The graph of the cells: state y * width + x, moves in the order N NE E SE S SW W NW."""
        x, y = cells_of(np.arange(self.width * self.height), self.width).T
        return Graph(
            Moves(
                mask=self._legal_moves().ravel(),
                offset=DY * self.width + DX,
                x=x.astype(np.int16),
                y=y.astype(np.int16),
                diagonal=2.0 if self.rule == "cardinal" else DIAGONAL,
            )
        )

    def _legal_moves(self) -> npt.NDArray[np.uint8]:
        framed = np.zeros((self.height + 2, self.width + 2), bool)
        framed[1:-1, 1:-1] = self.passable
        beside = [
            framed[1 + dy : 1 + dy + self.height, 1 + dx : 1 + dx + self.width] for dx, dy in zip(DX, DY, strict=True)
        ]
        mask = np.zeros(self.passable.shape, np.uint8)
        for d in range(8):
            legal = self.passable & beside[d]
            if d % 2 and self.rule == "cardinal":
                continue
            if d % 2 and self.rule == "octile":
                legal = legal & beside[d - 1] & beside[(d + 1) % 8]
            mask |= legal.astype(np.uint8) << d
        return mask

    @property
    def fingerprint(self) -> str:
        """The graph's fingerprint, a hash of all legal moves: equal for maps that a search cannot distinguish."""
        return self.graph.fingerprint

    def state(self, x: int, y: int) -> int:
        """Return the number of the cell in column ``x`` and row ``y``."""
        x, y = whole_number(x, "a column"), whole_number(y, "a row")
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise ProblemError(f"({x}, {y}) lies outside {self.name}, which is {self.width} x {self.height} cells")
        return y * self.width + x

    def cell(self, state: int) -> tuple[int, int]:
        """Return the column and row of a state."""
        state = whole_number(state, "a state")
        if not 0 <= state < self.width * self.height:
            raise ProblemError(f"{state} is not a state of {self.name}, which has {self.width * self.height} cells")
        y, x = divmod(state, self.width)
        return x, y

    def problem(self, start: tuple[int, int], goal: tuple[int, int]) -> Problem:
        """Return the problem of going from cell ``start`` to cell ``goal``, each given as (x, y)."""
        from andante.world.problem import Problem

        for what, cell in (("start", start), ("goal", goal)):
            try:
                x, y = cell
            except (TypeError, ValueError):
                raise ProblemError(f"the {what} must be a cell (x, y), got {cell!r}") from None
            self.state(x, y)
            if not self.passable[y, x]:
                raise ProblemError(f"the {what} ({x}, {y}) is blocked on {self.name} ({chr(self.terrain[y, x])!r})")
        return Problem(self.graph, self.state(*start), self.state(*goal), grid=self)


def cells_of(states: npt.ArrayLike, width: int) -> npt.NDArray[np.int64]:
    """Return the column and row of each of these states, on a map with this many columns.

    >>> cells_of([0, 7, 9], 8).tolist()
    [[0, 0], [7, 0], [1, 1]]
    """
    y, x = np.divmod(np.asarray(states, np.int64), width)
    return np.stack([x, y], -1)


def _split(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Return rows of text as a table of characters."""
    lengths = {len(str(row)) for row in rows}
    if len(lengths) > 1:
        short, long = min(lengths), max(lengths)
        raise MapError(f"all rows of a map must have the same length; these have {short} to {long} cells")
    return np.array([list(str(row)) for row in rows])


def _characters(table: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    """Return the table as codes of map characters."""
    if table.dtype == bool:
        return np.where(table, ord("."), ord("@")).astype(np.uint8)
    if table.dtype.kind == "U" and table.dtype.itemsize == 4:
        table = table.astype("=U1", "C").view(np.uint32)
    elif table.dtype != np.uint8:
        raise MapError(f"a map must be a table of booleans or of map characters, not of {table.dtype}")
    codes: npt.NDArray[np.uint8] = table.astype(np.uint8)
    strange = ~_one_of(PASSABLE + BLOCKED, codes) | (codes != table)
    if strange.any():
        y, x = np.argwhere(strange)[0]
        raise MapError(
            f"row {y}, column {x} holds {chr(table[y, x])!r}; a map is made of {' '.join(PASSABLE)} (passable) and "
            f"{' '.join(BLOCKED)} (blocked)"
        )
    return codes


def _one_of(characters: str, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    table = np.zeros(256, bool)
    table[[ord(c) for c in characters]] = True
    return table[codes]
