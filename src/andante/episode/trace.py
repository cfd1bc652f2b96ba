"""Traces: the moves and thoughts of an agent in one problem, in a form small enough for a page to replay.

A trace may also be of a scene, in which cells open and close and the goal moves. `andante.episode.tracefile` describes
its file.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.episode.columns import MAX_ROWS
from andante.episode.run import Outfit
from andante.episode.single import Agent
from andante.episode.tracefile import CHANGE, MOVE, NEW_GOAL, THOUGHT, fields_of, read_document, to_text
from andante.episode.trial import Limits
from andante.episode.watch import Thought
from andante.errors import ParameterError, TraceError, whole_number
from andante.files import read_at_most, write_whole
from andante.measures import Outcome, suboptimality_ratio
from andante.notebook import EXPANDED as EXPANDED_COLOUR
from andante.notebook import GOAL, PATH, START, map_picture
from andante.notebook import LEARNED as LEARNED_COLOUR
from andante.search.memory import LEARNED
from andante.world.grid import PASSABLE, cells_of
from andante.world.heuristics import DIAGONAL, Metric, distances_between
from andante.world.layout import GridArrays, Sixteen, stride
from andante.world.problem import Problem, check_problem
from andante.world.scenes import Scene

#: A trace is for viewing. It ends after this many moves, even if the agent has not arrived.
TRACE_LIMITS = Limits(moves=100_000)
MOST_THOUGHTS = 1_000_000

#: The maximum number of bytes that are read, so that no file can fill the memory.
MAX_FILE_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class Trace:
    """One agent's path through one problem on a grid, move by move, with its thoughts.

    A trace of a scene also contains what changed: ``terrain`` and ``goal`` are those at the start, ``changes`` are the
    cells that closed and opened, and ``goals`` are the moves of the goal, each with the tick before which it happened.
    """

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
    sight: int | None = None  # the agent's sight, if it did not know the map
    discovered: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))  # cells found blocked
    straight: float = 1.0  # the cost of a straight step in the heuristic
    sixteen: bool = False  # whether cells have sixteen neighbours, and the heuristic leaps
    changes: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, CHANGE))  # CHANGE[any]
    goals: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, NEW_GOAL))  # NEW_GOAL[any]

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
        """Whether each cell is passable, at the start."""
        return np.isin(self.terrain, [ord(character) for character in PASSABLE])

    def cells(self, states: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the column and row of each state."""
        return cells_of(states, self.width)

    @property
    def is_still(self) -> bool:
        """Whether neither the map nor the goal changed."""
        return not len(self.changes) and not len(self.goals)

    @cached_property
    def last_terrain(self) -> npt.NDArray[np.uint8]:
        """The map's characters after all changes."""
        terrain = self.terrain.copy()
        for _, state, look in self.changes.tolist():
            terrain.flat[state] = look
        return terrain

    @property
    def last_goal(self) -> int:
        """The state of the goal after all its moves."""
        return int(self.goals["state"][-1]) if len(self.goals) else self.goal

    def goals_before(self, ticks: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return the state of the goal in each of these ticks."""
        places = np.concatenate([[self.goal], self.goals["state"]]).astype(np.int32)
        return places[np.searchsorted(self.goals["tick"], ticks, side="right")]

    @property
    def cost(self) -> float:
        """The cost of the agent's path."""
        return float(self.moves["cost"].sum())

    @property
    def suboptimality_ratio(self) -> float:
        """Cost over optimal cost; a lower bound if a limit cut the trial short.

        It is nan if the agent got stuck, or if the map or the goal changed, because then no single cost is optimal.
        """
        return suboptimality_ratio(self.cost, self.optimal_cost, self.outcome)

    @property
    def path(self) -> npt.NDArray[np.int32]:
        """The states visited, the start first."""
        return np.concatenate([[self.start], self.moves["state"]]).astype(np.int32)

    @cached_property
    def learned_rise(self) -> npt.NDArray[np.float64]:
        """The final value of each cell minus the straight-line heuristic; nan where nothing was learned.

        A value is compared with the distance to the state of the goal at the agent's next move.
        """
        rise = np.full(self.terrain.size, np.nan)
        ticks = np.repeat(self.moves["tick"], self.moves["thoughts"])
        later = np.full(len(self.thoughts) - len(ticks), np.iinfo(np.int32).max)  # they led to no move
        goals = self.goals_before(np.concatenate([ticks, later]))
        chosen = self.thoughts["kind"] == LEARNED
        learned = self.thoughts[chosen]
        rise[learned["state"]] = learned["value"] - self._straight(learned["state"], goals[chosen])
        return rise.reshape(self.terrain.shape)

    def _straight(self, states: npt.NDArray[np.int32], goals: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        here, goal = self.cells(states), self.cells(goals)
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
            (self.last_goal, GOAL),
        ]
        words = f"{self.algorithm} on {self.map_name}: {len(self.moves):,} moves, {len(self.thoughts):,} thoughts"
        return map_picture(self.last_terrain, f"{words} (dark: path, blue: expanded, orange: learned)", marks)

    # --- writing ---

    def to_json(self) -> str:
        """Return the trace as the JSON that files contain and pages replay."""
        return to_text(self)

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
        """Return the trace that `to_json` wrote; error messages name ``where`` the text is from."""
        document = read_document(text, where)
        try:
            return cls(**fields_of(document))
        except (KeyError, TypeError, ValueError, OverflowError, zlib.error) as error:
            raise TraceError(f"{where} is not a complete trace: {error}") from error


# --- recording ------------------------------------------------------------------------------------------------------


def record(
    algorithm: str | Algorithm,
    problem: Problem | Scene,
    *,
    unit: int | None = None,
    limits: Limits = TRACE_LIMITS,
    most_thoughts: int = MOST_THOUGHTS,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    **parameters: Any,
) -> Trace:
    """Solve one problem on a grid, and return all moves of the agent and the first ``most_thoughts`` of its thoughts.

    In a scene, the agent walks alone as this ``unit`` (by default the first), as in
    `andante.episode.scenewalk.walk_scene`, and the trace contains what changes meanwhile. The limit on moves then
    counts ticks, including those that the agent waits.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> record("lrta", grid.problem((0, 0), (7, 7)))
    <Trace lrta on empty-8x8-seed0: 7 moves, 7 thoughts>
    """
    if whole_number(most_thoughts, "most_thoughts", least=0, error=ParameterError) > MAX_ROWS:
        raise ParameterError(f"most_thoughts must be from 0 to {MAX_ROWS:,}, got {most_thoughts}")
    if isinstance(problem, Scene):
        from andante.episode.scenetrace import record_scene

        outfit = Outfit.of(algorithm, databases, sight, **parameters)
        return record_scene(outfit, problem, 0 if unit is None else unit, limits, most_thoughts)
    if unit is not None:
        raise ParameterError("unit is only for scenes; leave it out for a single problem")
    check_problem(problem)
    grid = problem.grid
    if grid is None:
        raise ParameterError(
            "a trace is drawn on a map and this problem has none; make it with grid.problem(start, goal)"
        )
    arrays = grid.graph.arrays
    log_rows = most_thoughts + 1  # to notice when there are more
    agent = Agent(algorithm, problem.world, databases=databases, sight=sight, log_rows=log_rows, **parameters)
    watch = agent.watch(problem, limits)
    moves, thoughts, discovered = [], ThoughtRows(most_thoughts), []
    for turn in watch:
        kept = thoughts.keep(turn.thoughts)
        found = len(turn.discovered)
        moves.append((turn.state, turn.cost, turn.states_expanded, turn.learned, kept, found, turn.number))
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
        thoughts=thoughts.table,
        thoughts_cut=thoughts.cut,
        sight=sight,
        discovered=np.array(discovered, np.int32),
    )


class ThoughtRows:
    """A collection of thoughts up to a cap.

    >>> rows = ThoughtRows(1)
    >>> rows.keep([Thought(LEARNED, 3, 1.5), Thought(LEARNED, 4, 2.5)]), rows.cut, rows.table.tolist()
    (1, True, [(1, 3, 1.5)])
    """

    def __init__(self, most: int) -> None:
        self._parts: list[npt.NDArray[Any]] = [np.zeros(0, THOUGHT)]
        self.cut = False
        self._room = most

    def keep(self, thoughts: Sequence[Thought]) -> int:
        """Store as many thoughts as there is room for, and return their number."""
        self.cut = self.cut or len(thoughts) > self._room
        part = np.array(thoughts[: self._room], THOUGHT)
        self._parts.append(part)
        self._room -= len(part)
        return len(part)

    @property
    def table(self) -> npt.NDArray[Any]:
        """The thoughts that were kept."""
        return np.concatenate(self._parts)
