"""Traces: what an agent did and thought in one problem, small enough that a page can replay it.

A trace is saved as JSON (``format`` "andante-trace", ``version`` 1). Plain fields hold the problem and the result; the
long lists are columns:

- ``terrain``: the map's characters, row by row, as their codes;
- ``moves``: for each move the ``state`` it led to, its ``cost``, the number of states ``expanded`` for it, the amount
  ``learned``, the number of ``thoughts`` before it, and the number of cells ``discovered`` to be blocked;
- ``thoughts``: ``kind`` (0 expanded, 1 learned), ``state`` and ``value`` (expanded: the cost to get there, if the agent
  records it; learned: the new heuristic value). Thoughts after those of the last move led to no move;
- ``discovered``: the cells that an agent with ``sight`` found blocked, in order of discovery; empty if it knew the map
  and ``sight`` is null.

A column is ``{"type": "int32", "length": n, "delta": true, "data": "..."}``. Its numbers or, if ``delta`` is set, the
first number and the differences between neighbours, are written little-endian, all lowest bytes first, then the next
lowest, up to the highest, then compressed with zlib and encoded in base64. ``checksum`` is the SHA-256 of the document
without it, as JSON with sorted keys and no spaces.
"""

from __future__ import annotations

import base64
import json
import math
import os
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.episode.single import Agent
from andante.episode.trial import Limits
from andante.episode.watch import Thought
from andante.errors import ParameterError, TraceError, whole_number
from andante.files import json_checksum, read_at_most, write_whole
from andante.measures import Outcome, suboptimality_ratio
from andante.notebook import EXPANDED as EXPANDED_COLOUR
from andante.notebook import GOAL, PATH, START, map_picture
from andante.notebook import LEARNED as LEARNED_COLOUR
from andante.search.memory import EXPANDED, LEARNED
from andante.world.arcs import SMALLEST
from andante.world.grid import BLOCKED, DEAREST, PASSABLE, cells_of
from andante.world.heuristics import DIAGONAL, Metric, distances_between
from andante.world.layout import GridArrays, Sixteen, stride
from andante.world.mapfiles import MAX_CELLS
from andante.world.problem import Problem, check_problem

FORMAT = "andante-trace"
VERSION = 1

#: A trace is for looking at: it ends after this many moves, even if the agent has not arrived.
TRACE_LIMITS = Limits(moves=100_000)
MOST_THOUGHTS = 1_000_000

#: The most that is read, so that no file can fill the memory.
MAX_FILE_BYTES = 2**28
MAX_ROWS = 2**24

#: One row per move, and one per thought.
MOVE = np.dtype(
    [
        ("state", np.int32),
        ("cost", np.float64),
        ("expanded", np.int32),
        ("learned", np.float64),
        ("thoughts", np.int32),
        ("discovered", np.int32),
    ]
)
THOUGHT = np.dtype([("kind", np.uint8), ("state", np.int32), ("value", np.float64)])

# Neighbouring numbers in these columns are close, so their differences are small.
_DELTA = {"state"}


@dataclass(frozen=True, eq=False)
class Trace:
    """One agent's path through one problem on a grid, move by move, with its thoughts."""

    algorithm: str
    title: str
    map_name: str
    terrain: npt.NDArray[np.uint8]  # [height, width], map characters
    diagonal: float  # the cost of a diagonal step in the straight-line heuristic; of a straight one see below
    start: int
    goal: int
    outcome: Outcome
    optimal_cost: float
    moves: npt.NDArray[Any]  # MOVE[any]
    thoughts: npt.NDArray[Any]  # THOUGHT[any]
    thoughts_cut: bool = False  # whether there were more thoughts than are stored
    sight: int | None = None  # how far the agent saw, if it did not know the map
    discovered: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))  # cells found blocked
    straight: float = 1.0  # the cost of a straight step in the heuristic
    sixteen: bool = False  # whether cells have sixteen neighbours, and the heuristic leaps

    @property
    def width(self) -> int:
        """The number of columns of the map."""
        return int(self.terrain.shape[1])

    @property
    def height(self) -> int:
        """The number of rows of the map."""
        return int(self.terrain.shape[0])

    @cached_property
    def passable(self) -> npt.NDArray[np.bool_]:
        """Whether each cell is passable."""
        return np.isin(self.terrain, [ord(character) for character in PASSABLE])

    def cells(self, states: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the column and row of each state."""
        return cells_of(states, self.width)

    @property
    def cost(self) -> float:
        """The cost of the agent's path."""
        return float(self.moves["cost"].sum())

    @property
    def suboptimality_ratio(self) -> float:
        """Cost over optimal cost; a lower bound if a limit cut the trial short, nan if the agent got stuck."""
        return suboptimality_ratio(self.cost, self.optimal_cost, self.outcome)

    @property
    def path(self) -> npt.NDArray[np.int32]:
        """The states visited, the start first."""
        return np.concatenate([[self.start], self.moves["state"]]).astype(np.int32)

    @cached_property
    def learned_rise(self) -> npt.NDArray[np.float64]:
        """For each cell, its final value minus the straight-line heuristic; nan where nothing was learned."""
        rise = np.full(self.terrain.size, np.nan)
        learned = self.thoughts[self.thoughts["kind"] == LEARNED]
        rise[learned["state"]] = learned["value"] - self._straight(learned["state"])
        return rise.reshape(self.terrain.shape)

    def _straight(self, states: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        here, goal = self.cells(states), self.cells(self.goal)
        dx, dy = np.abs(here - goal).T
        near: npt.NDArray[np.float64] = np.minimum(dx, dy).astype(np.float64)
        if self.sixteen:
            return distances_between(here.astype(np.float64), goal.astype(np.float64), Metric.SIXTEEN)
        return np.abs(dx - dy) * self.straight + near * self.diagonal

    def __repr__(self) -> str:
        return f"<Trace {self.algorithm} on {self.map_name}: {len(self.moves)} moves, {len(self.thoughts)} thoughts>"

    def _repr_html_(self) -> str:
        learned = self.thoughts["kind"] == LEARNED
        marks = [
            (self.thoughts["state"][~learned], EXPANDED_COLOUR),
            (self.thoughts["state"][learned], LEARNED_COLOUR),
            (self.path, PATH),
            (self.start, START),
            (self.goal, GOAL),
        ]
        words = f"{self.algorithm} on {self.map_name}: {len(self.moves):,} moves, {len(self.thoughts):,} thoughts"
        return map_picture(self.terrain, f"{words} (dark: path, blue: expanded, orange: learned)", marks)

    # --- writing ---

    def to_json(self) -> str:
        """Return the trace as JSON, as files store it and pages replay it."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "algorithm": self.algorithm,
            "title": self.title,
            "map": self.map_name,
            "width": self.width,
            "height": self.height,
            "diagonal": self.diagonal,
            **({} if self.straight == 1.0 else {"straight": self.straight}),
            **({"sixteen": True} if self.sixteen else {}),
            "start": self.start,
            "goal": self.goal,
            "outcome": self.outcome.name,
            "optimal_cost": self.optimal_cost if math.isfinite(self.optimal_cost) else None,
            "thoughts_cut": self.thoughts_cut,
            "sight": self.sight,
            "discovered": pack(self.discovered),
            "terrain": pack(self.terrain.ravel()),
            "moves": _pack_table(self.moves),
            "thoughts": _pack_table(self.thoughts),
        }
        return dump({**document, "checksum": _checksum(document)})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file, completely or not at all."""
        write_whole(path, self.to_json().encode())

    def to_posthoc(self) -> str:
        """Return the trace as JSON in the search-trace format 1.4.0 of the Posthoc visualiser."""
        from andante.episode.posthoc import to_posthoc

        return to_posthoc(self)

    def write_posthoc(self, path: str | os.PathLike[str]) -> None:
        """Write the trace for the Posthoc visualiser, which opens only files called ``*.trace.json``."""
        from andante.episode.posthoc import write_posthoc

        write_posthoc(self, path)

    # --- reading ---

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trace:
        """Return the trace in a file; raise `TraceError` if the file is not a valid trace."""
        try:
            text = read_at_most(path, MAX_FILE_BYTES)
        except (OSError, ValueError) as error:
            raise TraceError(f"cannot read the trace {path}: {getattr(error, 'strerror', None) or error}") from error
        return cls.from_json(text, where=str(path))

    @classmethod
    def from_json(cls, text: str | bytes, *, where: str = "this text") -> Trace:
        """Return the trace that `to_json` wrote; error messages say ``where`` the text is from."""
        document = _document(text, where)
        try:
            return cls._from_document(document)
        except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
            raise TraceError(f"{where} is not a whole trace: {error}") from error

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> Trace:
        """Return the trace in a document; a correct checksum does not mean that the contents are valid."""
        width, height = (_whole(document, name, 1, MAX_CELLS) for name in ("width", "height"))
        cells = width * height
        if cells > MAX_CELLS:
            raise ValueError(f"a map of {width} x {height} cells cannot be")
        terrain = _unpack(document["terrain"], np.dtype(np.uint8), cells)
        if not np.isin(terrain, [ord(character) for character in PASSABLE + BLOCKED]).all():
            raise ValueError("its map has characters that mean nothing")
        moves = _unpack_table(document["moves"], MOVE)
        thoughts = _unpack_table(document["thoughts"], THOUGHT)
        found = int(moves["discovered"].sum(dtype=np.int64))
        if moves["discovered"].min(initial=0) < 0 or found > cells:
            raise ValueError(f"a map of {cells} cells does not have {found} to be discovered")
        discovered = _unpack(document["discovered"], np.dtype(np.int32), found)
        _check_rows(moves, thoughts, discovered, cells)
        optimal = document["optimal_cost"]
        return cls(
            algorithm=_text(document, "algorithm"),
            title=_text(document, "title"),
            map_name=_text(document, "map"),
            terrain=terrain.reshape(height, width),
            diagonal=_amount(document, "diagonal", most=2.0 * DEAREST),
            straight=_amount(document, "straight", most=DEAREST) if "straight" in document else 1.0,
            sixteen=bool(document.get("sixteen", False)),
            start=_whole(document, "start", 0, cells - 1),
            goal=_whole(document, "goal", 0, cells - 1),
            outcome=Outcome[document["outcome"]],
            optimal_cost=math.inf if optimal is None else _amount(document, "optimal_cost"),
            moves=moves,
            thoughts=thoughts,
            thoughts_cut=bool(document["thoughts_cut"]),
            sight=None if document["sight"] is None else _whole(document, "sight", 1, MAX_CELLS),
            discovered=discovered,
        )


def _text(document: dict[str, Any], name: str) -> str:
    if not isinstance(value := document[name], str):
        raise TypeError(f"{name} is not text")
    return value


def _whole(document: dict[str, Any], name: str, low: int, high: int) -> int:
    if type(value := document[name]) is not int or not low <= value <= high:
        raise ValueError(f"{name} is not a whole number from {low} to {high}")
    return value


def _amount(document: dict[str, Any], name: str, most: float = sys.float_info.max) -> float:
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError(f"{name} is not a number from 0 to {most:g}")
    return float(value)


def _check_rows(
    moves: npt.NDArray[Any], thoughts: npt.NDArray[Any], discovered: npt.NDArray[np.int32], cells: int
) -> None:
    """Raise `ValueError` for rows that no agent can produce."""
    states = np.concatenate([moves["state"], thoughts["state"], discovered])
    if states.min(initial=0) < 0 or states.max(initial=0) >= cells:
        raise ValueError(f"a state lies outside the map's {cells} cells")
    if moves["thoughts"].min(initial=0) < 0 or int(moves["thoughts"].sum(dtype=np.int64)) > len(thoughts):
        raise ValueError("its moves speak of thoughts that it does not hold")
    if not ((moves["cost"] >= 0) & (moves["cost"] <= 1 / SMALLEST) & (moves["expanded"] >= 0)).all():
        raise ValueError("its moves have costs or expansions that cannot be")
    if np.isnan(moves["learned"]).any() or np.isnan(thoughts["value"]).any():
        raise ValueError("it holds values that are no numbers")
    if not np.isin(thoughts["kind"], (EXPANDED, LEARNED)).all():
        raise ValueError("it holds thoughts of an unknown kind")


# --- recording ------------------------------------------------------------------------------------------------------


def record(
    algorithm: str | Algorithm,
    problem: Problem,
    *,
    limits: Limits = TRACE_LIMITS,
    most_thoughts: int = MOST_THOUGHTS,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    **parameters: Any,
) -> Trace:
    """Solve one problem on a grid; return all moves of the agent and the first ``most_thoughts`` of its thoughts.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> record("lrta", grid.problem((0, 0), (7, 7)))
    <Trace lrta on empty-8x8-seed0: 7 moves, 7 thoughts>
    """
    check_problem(problem)
    grid = problem.grid
    if grid is None:
        raise ParameterError(
            "a trace is drawn on a map and this problem has none; make it with grid.problem(start, goal)"
        )
    if whole_number(most_thoughts, "most_thoughts", least=0, error=ParameterError) > MAX_ROWS:
        raise ParameterError(f"most_thoughts must be from 0 to {MAX_ROWS:,}, got {most_thoughts}")
    arrays = grid.graph.arrays
    log_rows = most_thoughts + 1  # to notice when there are more
    agent = Agent(algorithm, problem.world, databases=databases, sight=sight, log_rows=log_rows, **parameters)
    watch = agent.watch(problem, limits)
    moves, thoughts, discovered = [], _Thoughts(most_thoughts), []
    for turn in watch:
        kept = thoughts.keep(turn.thoughts)
        moves.append((turn.state, turn.cost, turn.states_expanded, turn.learned, kept, len(turn.discovered)))
        discovered += turn.discovered
    thoughts.keep(agent.thoughts())
    return Trace(
        algorithm=str(agent.algorithm),
        title=agent.algorithm.card.title,
        map_name=grid.name,
        terrain=grid.shown,
        diagonal=arrays.diagonal if isinstance(arrays, GridArrays) else DIAGONAL,
        straight=stride(arrays),
        sixteen=isinstance(arrays, Sixteen),
        start=problem.start,
        goal=problem.goal,
        outcome=watch.trial.outcome,
        optimal_cost=watch.trial.optimal_cost,
        moves=np.array(moves, MOVE),
        thoughts=np.concatenate([np.zeros(0, THOUGHT), *thoughts.parts]),
        thoughts_cut=thoughts.cut,
        sight=sight,
        discovered=np.array(discovered, np.int32),
    )


class _Thoughts:
    """Thoughts collected up to a cap."""

    def __init__(self, most: int) -> None:
        self.parts: list[npt.NDArray[Any]] = []
        self.cut = False
        self._room = most

    def keep(self, thoughts: Sequence[Thought]) -> int:
        """Store as many thoughts as there is room for, and return their number."""
        self.cut = self.cut or len(thoughts) > self._room
        part = np.array(thoughts[: self._room], THOUGHT)
        self.parts.append(part)
        self._room -= len(part)
        return len(part)


# --- columns and documents ------------------------------------------------------------------------------------------


def pack(numbers: npt.NDArray[Any], delta: bool = False) -> dict[str, Any]:
    """Return an array of numbers as a column of a document."""
    small = numbers.dtype.newbyteorder("<")
    changes = np.diff(numbers, prepend=numbers.dtype.type(0)) if delta else numbers
    planes = np.ascontiguousarray(changes.astype(small)).view(np.uint8).reshape(len(numbers), small.itemsize).T
    data = base64.b64encode(zlib.compress(planes.tobytes())).decode()
    return {"type": numbers.dtype.name, "length": len(numbers), "delta": delta, "data": data}


def _pack_table(table: npt.NDArray[Any]) -> dict[str, Any]:
    return {name: pack(table[name], name in _DELTA) for name in table.dtype.names or ()}


def _unpack(column: dict[str, Any], dtype: np.dtype[Any], length: int) -> npt.NDArray[Any]:
    """Return the array of ``length`` numbers in a column."""
    if column["type"] != dtype.name or column["length"] != length:
        found = f"{column['length']} of type {column['type']}"
        raise ValueError(f"{length} numbers of type {dtype.name} should stand where there are {found}")
    size = length * dtype.itemsize
    stream = zlib.decompressobj()
    raw = stream.decompress(base64.b64decode(column["data"], validate=True), size + 1)
    if len(raw) != size or not stream.eof:
        raise ValueError(f"a column that announces {size} bytes has more or fewer")
    planes = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, length)
    numbers = np.ascontiguousarray(planes.T).view(dtype.newbyteorder("<"))[:, 0] if length else np.zeros(0, dtype)
    if not column["delta"]:
        return numbers.astype(dtype)
    with np.errstate(all="ignore"):  # invalid numbers are refused later
        return np.cumsum(numbers, dtype=dtype)


def _unpack_table(columns: dict[str, Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    names = dtype.names or ()
    length = int(columns[names[0]]["length"])
    if not 0 <= length <= MAX_ROWS:
        raise ValueError(f"a table of {length} rows is too long; at most {MAX_ROWS} are read")
    table = np.zeros(length, dtype)
    for name in names:
        table[name] = _unpack(columns[name], dtype[name], length)
    return table


def _document(text: str | bytes, where: str) -> dict[str, Any]:
    """Return the document of a trace; raise `TraceError` if it is damaged or has another format or version."""
    try:
        document = json.loads(text)
        sealed = document.pop("checksum", None) if isinstance(document, dict) else None
        seal = _checksum(document)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{where} is not a trace: it is not JSON, or not all of it ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TraceError(f'{where} is not a trace: it lacks "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        found = document.get("version")
        raise TraceError(
            f"{where} is a trace of version {found!r}, this Andante reads version {VERSION}; record it again"
        )
    if sealed != seal:
        raise TraceError(f"{where} is damaged: its checksum does not fit; record it again")
    return document


def _checksum(document: Any) -> str:
    return json_checksum(document, compact=True)


def dump(document: dict[str, Any]) -> str:
    """Return a document as JSON, as short as it can be."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False)
