"""Grid maps: passable cells, their costs, the rule for moves between them, and the resulting graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.errors import MapError, ProblemError, did_you_mean, quoted, whole_number
from andante.notebook import map_picture
from andante.world.arcs import power_of_two
from andante.world.graph import Graph
from andante.world.heuristics import DIAGONAL
from andante.world.layout import DX, DX16, DY, DY16, Moves, Sixteen, Terrain

if TYPE_CHECKING:
    from andante.world.problem import Problem

#: The characters of the MovingAI map format: ground, ground, swamp; out of bounds, out of bounds, trees, water.
PASSABLE = ".GS"
BLOCKED = "@OTW"

#: When a diagonal move is legal: if both adjacent cardinal cells are free, always, or never.
RULES = ("octile", "corners", "cardinal")

#: The rule of sixteen neighbours, and all rules.
SIXTEEN = "sixteen"
ALL_RULES = (*RULES, SIXTEEN)

MAX_SIDE = 32_000  # coordinates are int16

#: The lowest and the highest cost of a cell.
CHEAPEST, COSTLIEST = 2.0**-10, 2.0**10

_STEPS = 16  # between powers of two; the heuristic rounds the lowest cost down to one of them


class Grid:
    """A map of square cells, each with up to eight neighbours, or sixteen.

    ``terrain`` is a table of booleans (True is passable), or rows of map characters, top row first. Under the rule of
    the benchmark, ``octile``, a diagonal move needs both adjacent cardinal cells free; ``corners`` allows every
    diagonal move between passable cells; ``cardinal`` allows none. ``sixteen`` has leaps besides the moves of
    ``octile``: two columns and one row away, or one column and two rows, at the square root of 5. A leap passes two
    cells, which must be free.

    ``costs`` are the costs of cells, 1 by default, given by map character, {"S": 2, "W": 5}, or as a table of numbers
    of the same shape. A character that has a cost is passable, even if it is not in the map format. A move costs its
    length times the mean cost of the cells that it touches: both its ends and, if it passes between two cells that
    must be free, those two as well.

    >>> import numpy as np
    >>> grid = Grid(np.ones((3, 4), bool))
    >>> grid.width, grid.height, grid.free_cells
    (4, 3, 12)
    >>> grid.cell(grid.state(2, 1))
    (2, 1)
    >>> Grid(["..@.", "..@.", "...."]).free_cells
    10
    >>> Grid([".S.", ".WW"], costs={"S": 2, "W": 5}).graph.neighbours(0)[0]
    (1, 1.5)
    """

    def __init__(
        self,
        terrain: npt.ArrayLike,
        *,
        name: str = "map",
        rule: str = "octile",
        costs: Mapping[str, float] | npt.ArrayLike | None = None,
    ) -> None:
        if isinstance(terrain, str):
            raise MapError("a map must be a list of rows, not one text; split it with text.split()")
        try:
            table = np.array(terrain)
        except ValueError as error:
            raise MapError("all rows of a map must have the same length, and these do not") from error
        if table.ndim == 1 and table.dtype.kind == "U":
            table = _split(table)
        if table.ndim != 2 or 0 in table.shape or max(table.shape) > MAX_SIDE:
            raise MapError(f"a map must have 1 to {MAX_SIDE} rows and columns; this one has the shape {table.shape}")
        if rule not in ALL_RULES:
            raise MapError(f"unknown rule {rule!r} for moves; {did_you_mean(rule, ALL_RULES)}")
        self.name = name
        self.rule = rule
        given = checked_costs(costs) if isinstance(costs, Mapping) else {}
        self.terrain = _characters(table, "".join(given))
        self.passable = _one_of(PASSABLE + "".join(given), self.terrain)
        #: The cost of each cell, a table like ``terrain``, or None if all cells cost 1. A blocked cell has the cost
        #: that it would have as ground (.).
        self.weights = _weights(self.terrain, self.passable, given) if given else _table(costs, self.terrain.shape)
        if rule == SIXTEEN:
            refuse_costs(self, "the rule of sixteen neighbours")
        self._freeze()

    def _freeze(self) -> None:
        for array in (self.terrain, self.passable, self.weights):
            if array is not None:
                array.flags.writeable = False

    def like(
        self,
        terrain: npt.NDArray[np.uint8],
        passable: npt.NDArray[np.bool_],
        weights: npt.NDArray[np.float64] | None,
        name: str,
    ) -> Grid:
        """Return a grid of these cells, with the same rule for moves; the arrays are copied."""
        made = object.__new__(Grid)
        made.name, made.rule = name, self.rule
        made.terrain, made.passable = terrain.copy(), passable.copy()
        made.weights = None if weights is None or (weights == 1.0).all() else weights.copy()
        made._freeze()
        return made

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # unpickled arrays are writeable

    def __eq__(self, other: object) -> bool:
        """Return whether the other map has the same terrain, costs and rule for moves, under any name."""
        if not isinstance(other, Grid):
            return NotImplemented
        return self is other or (
            self.rule == other.rule
            and np.array_equal(self.terrain, other.terrain)
            and np.array_equal(self.passable, other.passable)
            and np.array_equal(_comparable(self.weights), _comparable(other.weights))
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        weights = b"" if self.weights is None else self.weights.tobytes()
        return hash((self.rule, self.terrain.shape, self.terrain.tobytes(), weights))

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

    @property
    def shown(self) -> npt.NDArray[np.uint8]:
        """The map for pictures, in which cells that are passable only because they have a cost are ground."""
        return np.where(self.passable & ~_one_of(PASSABLE, self.terrain), np.uint8(ord(".")), self.terrain)

    @cached_property
    def free_cells(self) -> int:
        """The number of passable cells."""
        return int(self.passable.sum())

    @cached_property
    def graph(self) -> Graph:
        """The graph of the cells: state y * width + x, moves in the order N NE E SE S SW W NW, leaps in between."""
        x, y = cells_of(np.arange(self.width * self.height), self.width).T
        if self.rule == SIXTEEN:
            return Graph(
                Sixteen(
                    self._legal_of_sixteen().ravel(), DY16 * self.width + DX16, x.astype(np.int16), y.astype(np.int16)
                )
            )
        length = 2.0 if self.rule == "cardinal" else DIAGONAL
        moves = Moves(
            mask=self._legal_moves().ravel(),
            offset=DY * self.width + DX,
            x=x.astype(np.int16),
            y=y.astype(np.int16),
            diagonal=length,
        )
        if self.weights is None:
            return Graph(moves)
        straight = _rounded_down(float(self.weights.min()))
        return Graph(
            Terrain(
                **moves._replace(diagonal=length * straight)._asdict(),
                straight=straight,
                weight=self.weights.ravel().copy(),
                unit=power_of_two(straight),
                beside=0.25 if self.rule == "octile" else 0.0,
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

    def _legal_of_sixteen(self) -> npt.NDArray[np.uint16]:
        framed = np.zeros((self.height + 4, self.width + 4), bool)
        framed[2:-2, 2:-2] = self.passable

        def free(dx: int, dy: int) -> npt.NDArray[np.bool_]:
            return framed[2 + dy : 2 + dy + self.height, 2 + dx : 2 + dx + self.width]

        mask = np.zeros(self.passable.shape, np.uint16)
        for d, (dx, dy) in enumerate(zip(DX16.tolist(), DY16.tolist(), strict=True)):
            legal = self.passable & free(dx, dy)
            for x, y in passed(dx, dy):
                legal = legal & free(x, y)
            mask |= legal.astype(np.uint16) << np.uint16(d)
        return mask

    @property
    def fingerprint(self) -> str:
        """The graph's fingerprint, a hash of all legal moves; it is equal for maps that a search cannot distinguish."""
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


def passed(dx: int, dy: int) -> list[tuple[int, int]]:
    """Return the cells that a move to one of sixteen neighbours passes, which its line crosses or runs between.

    >>> passed(1, -2), passed(1, 1), passed(0, 1)
    ([(0, -1), (1, -1)], [(1, 0), (0, 1)], [])
    """
    if abs(dx) == 2:
        return [(dx // 2, 0), (dx // 2, dy)]
    if abs(dy) == 2:
        return [(0, dy // 2), (dx, dy // 2)]
    return [(dx, 0), (0, dy)] if dx and dy else []


def refuse_sixteen(grid: Grid, what: str) -> None:
    """Raise `MapError` if cells of a map have sixteen neighbours, which ``what`` does not support."""
    if grid.rule == SIXTEEN:
        raise MapError(
            f"{what} takes maps under the rules {', '.join(RULES[:-1])} and {RULES[-1]}, and {grid.name} is under "
            f"{SIXTEEN}"
        )


def refuse_costs(grid: Grid, what: str) -> None:
    """Raise `MapError` if cells of a map have costs, which ``what`` does not support."""
    if grid.weights is not None:
        raise MapError(
            f"{what} takes maps whose cells all cost 1, and those of {grid.name} do not; leave the costs out"
        )


def cells_of(states: npt.ArrayLike, width: int) -> npt.NDArray[np.int64]:
    """Return the column and row of each of these states, on a map with this many columns.

    >>> cells_of([0, 7, 9], 8).tolist()
    [[0, 0], [7, 0], [1, 1]]
    """
    y, x = np.divmod(np.asarray(states, np.int64), width)
    return np.stack([x, y], -1)


def checked_costs(costs: Mapping[str, float]) -> dict[str, float]:
    """Return the costs of cells by map character, sorted; raise `MapError` if one of them is wrong.

    >>> checked_costs({"W": 5, "S": 2})
    {'S': 2.0, 'W': 5.0}
    """
    given: Mapping[Any, Any] = costs
    for character, cost in given.items():
        if not isinstance(character, str) or len(character) != 1 or not "!" <= character <= "~":
            raise MapError(f"costs are given by map character, such as {{'S': 2}}, and {quoted(character)} is not one")
        if isinstance(cost, bool) or not isinstance(cost, int | float | np.number) or not CHEAPEST <= cost <= COSTLIEST:
            raise MapError(f"a cell can cost {CHEAPEST:g} to {COSTLIEST:g}, and {character} would cost {quoted(cost)}")
    return {character: float(costs[character]) for character in sorted(costs)}


def parse_costs(text: str) -> dict[str, float]:
    """Return the costs of cells in a text, by map character; an empty text contains none.

    >>> parse_costs("S=2,W=5.5")
    {'S': 2.0, 'W': 5.5}
    """
    costs: dict[str, float] = {}
    for part in text.replace(" ", "").split(",") if text.strip() else ():
        character, cost = part[:1], part[2:]
        try:
            if part[1:2] != "=" or character in costs:
                raise ValueError
            costs[character] = float(cost)
        except ValueError:
            raise MapError(
                f"costs of cells are written CHARACTER=COST,... with each character once, such as S=2,W=5, not "
                f"{quoted(text)}"
            ) from None
    return checked_costs(costs)


def costs_text(costs: Mapping[str, float]) -> str:
    """Return costs as a text that `parse_costs` reads.

    >>> costs_text({"S": 2.0, "W": 5.5})
    'S=2,W=5.5'
    """
    return ",".join(f"{character}={cost:.17g}" for character, cost in costs.items())


def _weights(
    codes: npt.NDArray[np.uint8], passable: npt.NDArray[np.bool_], costs: Mapping[str, float]
) -> npt.NDArray[np.float64] | None:
    """Return the cost of each cell, given the costs of characters, or None if all cells cost 1."""
    of = np.ones(256)
    for character, cost in costs.items():
        of[ord(character)] = cost
    weights = np.where(passable, of[codes], of[ord(".")])
    return None if (weights == 1.0).all() else weights


def _table(costs: object, shape: tuple[int, ...]) -> npt.NDArray[np.float64] | None:
    """Return a table of costs after checking it, or None if all costs are 1."""
    if costs is None or (isinstance(costs, Mapping) and not costs):
        return None
    try:
        table = np.array(costs, np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.shape != shape:
        raise MapError(
            f"costs must be given by map character, such as {{'S': 2}}, or as a table of {shape[0]} rows of {shape[1]} "
            "numbers, like the map"
        )
    wrong = np.argwhere(~((table >= CHEAPEST) & (table <= COSTLIEST)))
    if len(wrong):
        y, x = wrong[0]
        raise MapError(f"a cell can cost {CHEAPEST:g} to {COSTLIEST:g}; row {y}, column {x} would cost {table[y, x]:g}")
    return None if (table == 1.0).all() else table


def _comparable(weights: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64]:
    return np.empty(0) if weights is None else weights


def _rounded_down(cost: float) -> float:
    """Return a cost with five significant bits, so few that every value of the heuristic is exact."""
    base = power_of_two(cost)
    return base * (math.floor(cost / base * _STEPS) / _STEPS)


def _split(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Return rows of text as a table of characters."""
    lengths = {len(str(row)) for row in rows}
    if len(lengths) > 1:
        short, long = min(lengths), max(lengths)
        raise MapError(f"all rows of a map must have the same length; these have {short} to {long} cells")
    return np.array([list(str(row)) for row in rows])


def _characters(table: npt.NDArray[np.generic], others: str) -> npt.NDArray[np.uint8]:
    """Return the table as codes of map characters; ``others`` are allowed too."""
    if table.dtype == bool:
        return np.where(table, ord("."), ord("@")).astype(np.uint8)
    if table.dtype.kind == "U" and table.dtype.itemsize == 4:
        table = table.astype("=U1", "C").view(np.uint32)
    elif table.dtype != np.uint8:
        raise MapError(f"a map must be a table of booleans or of map characters, not of {table.dtype}")
    codes: npt.NDArray[np.uint8] = table.astype(np.uint8)
    strange = ~_one_of(PASSABLE + BLOCKED + others, codes) | (codes != table)
    if strange.any():
        y, x = np.argwhere(strange)[0]
        raise MapError(
            f"row {y}, column {x} holds {chr(table[y, x])!r}; a map is made of {' '.join(PASSABLE)} (passable) and "
            f"{' '.join(BLOCKED)} (blocked); others are passable if they are given a cost"
        )
    return codes


def _one_of(characters: str, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    table = np.zeros(256, bool)
    table[[ord(c) for c in characters]] = True
    return table[codes]
