"""One agent: an algorithm with its memory on one graph, which runs problem after problem or one move at a time.

An `Agent` is made once and used for any number of problems, so the time to start a problem does not grow with the map.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm, algorithms, find
from andante.databases.header import Database, as_databases, pick
from andante.episode.loop import EPISODE, NO_MOVE, NO_STATE, NO_TIMES, NO_TRAIL, TRAIL, all_ended, driver
from andante.episode.trial import Limits, Trial, least_costs
from andante.errors import AlgorithmError, AndanteError, ProblemError, quoted
from andante.faults import has_passed, raised
from andante.measures import Outcome
from andante.search.memory import ThoughtKind, allocate, bytes_of, new_space
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.problem import Problem
from andante.world.sensing import KNOWN, Belief, View, unknown

# Work per call of the compiled loop, in expansions and moves: about a tenth of a second.
PATIENCE = 2_000_000
TRAIL_ROWS = 4096
MOST_PROBLEMS = 2**32  # problems with distinct stamps: after this many an agent's memory is allocated again

NO_LIMITS = Limits()


class Thought(NamedTuple):
    """One step of an agent's planning."""

    kind: ThoughtKind
    state: int
    value: float


class Turn(NamedTuple):
    """One move of an agent, and its planning before the move."""

    number: int  # from 1
    state: int  # where the agent is now
    cost: float
    states_expanded: int
    states_touched: int
    learned: float
    discovered: list[int]  # cells that the agent found to be blocked before it moved
    thoughts: list[Thought]
    thoughts_lost: int  # thoughts for which the log had no room


class _Alone:
    """A lock that lets one thread at a time use an agent, and raises `AlgorithmError` in other threads."""

    def __init__(self, algorithm: str) -> None:
        self._algorithm = algorithm
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise AlgorithmError(
                f"two threads use the same agent of {self._algorithm} at once, but it can run only one problem at a "
                "time; make an agent for each thread, or use andante.run_many(..., threads=...)"
            )

    def __exit__(self, *failure: object) -> None:
        self._lock.release()


class Agent:
    """An algorithm with its memory, on one map or graph.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> agent = Agent("lrta(depth=2)", grid)
    >>> agent.run(grid.problem((0, 0), (7, 7))).moves
    7
    """

    def __init__(
        self,
        algorithm: str | Algorithm,
        world: Grid | Graph,
        *,
        databases: Sequence[Any] = (),
        sight: int | None = None,
        log_rows: int = 0,
        **parameters: Any,
    ) -> None:
        self.algorithm = find(algorithm, **parameters)
        if not isinstance(world, Grid | Graph):
            raise ProblemError(f"an agent needs a Grid or a Graph, as andante.read_map returns, not {quoted(world)}")
        self.graph = world.graph
        self.databases = as_databases(databases)
        self.sight = sight
        self._world = world
        self._log_rows = log_rows
        self._renew()
        self._codes = self.algorithm.codes
        self._drive = self._loop()
        self._scratch = np.zeros(2, np.int64)
        self._goal: int | None = None  # of the last problem
        self._watched: Watch | None = None  # the one that may continue
        self.alone = _Alone(str(self.algorithm))  # within a ``with`` block no other thread may use the agent

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise AlgorithmError(
            f"an agent cannot be copied or pickled, because parts of its memory are views of others; make another one "
            f"with Agent({str(self.algorithm)!r}, ...)"
        )

    def __repr__(self) -> str:
        given = [repr(database) for database in self.databases]
        if self.sight is not None:
            given.append(f"sight {self.sight}")
        return f"<Agent {self.algorithm} on {self._world!r}{' with ' if given else ''}{', '.join(given)}>"

    def _loop(self) -> Callable[..., int]:
        """Return the loop that drives the agent's step."""
        return driver(self.algorithm.step)

    def _renew(self) -> None:
        known, view = self._first_sight()
        who = str(self.algorithm)
        self._space = new_space(known, self.algorithm.params, self._log_rows, self.databases, view, who)
        self._memory = allocate(self.algorithm.memory, self._space)

    def _first_sight(self) -> tuple[Graph, View]:
        """Return the map as the agent knows it at the beginning of a problem, and its view."""
        if self.sight is None:
            return self.graph, KNOWN
        if self.algorithm.needs or not self.algorithm.card.senses:
            able = ", ".join(entry.card.name for entry in algorithms() if entry.card.senses)
            raise AlgorithmError(f"{self.algorithm.card.name} has to know its map; algorithms with sight are: {able}")
        if not isinstance(self._world, Grid):
            raise ProblemError("sight is for the cells of a map and this is a graph; use a Grid and grid.problem(...)")
        return unknown(self._world, self.sight)

    @property
    def memory_bytes(self) -> int:
        """The size of the agent's memory, including its own model of the map if it has sight."""
        return bytes_of((self._memory, self._space.view))

    def drive(
        self,
        episodes: npt.NDArray[Any],
        trail: npt.NDArray[Any] = NO_TRAIL,
        patience: int = PATIENCE,
        times: npt.NDArray[np.int64] = NO_TIMES,
    ) -> int:
        """Continue a table of episodes for a while; return the number of moves written into ``trail`` and ``times``."""
        space = self._space
        try:
            with self.alone:
                written = self._drive(
                    self.graph.arrays,
                    space.view,
                    self._memory,
                    self._codes,
                    space.clock,
                    episodes,
                    trail,
                    times,
                    patience,
                    self._scratch,
                )
        except AndanteError:
            raise
        except Exception as error:
            if not has_passed(self.algorithm.step, error):
                raise
            raise raised(self.algorithm.step, error) from None
        for row in episodes[episodes["outcome"] < 0]:
            raise AlgorithmError(self._wrong_move(row))
        return written

    def _wrong_move(self, row: npt.NDArray[Any]) -> str:
        """Return what was wrong with the last move that the agent's step returned, and what it may return."""
        fault, cost = int(row["outcome"]), float(row["wrong_cost"])
        here, there = self._place(int(row["state"])), self._place(int(row["wrong_to"]))
        allowed = "its step must return a neighbour of the agent's state and the cost of the move, or wait at cost 0"
        if fault == NO_STATE:
            what = f"to state {row['wrong_to']}, which does not exist: there are {len(self.graph)}"
        elif fault == NO_MOVE:
            what = f"from {here} to {there}, which is not a move"
        elif row["wrong_to"] == row["state"]:
            what = f"nowhere from {here} and said it cost {cost:g}, but waiting costs nothing"
        else:
            near = self.graph.neighbours(int(row["state"]))
            true = next(price for state, price in near if state == row["wrong_to"])
            what = f"from {here} to {there} and said it cost {cost:.10g}, but it costs {true:.10g}"
        return f"{self.algorithm} went {what}; {allowed}"

    def _place(self, state: int) -> str:
        """Return the name of a state for messages: a cell on grids."""
        if isinstance(self._world, Grid) and 0 <= state < len(self.graph):
            return str(self._world.cell(state))
        return f"state {state}"

    def compile(self) -> None:
        """Compile the agent's loop, or load it from the cache."""
        self.drive(np.zeros(0, EPISODE))

    def run(self, problem: Problem, limits: Limits = NO_LIMITS, *, path: bool = True) -> Trial:
        """Run one problem until the goal or a limit is reached."""
        return self.run_all([problem], limits, paths=path)[0]

    def run_all(
        self,
        problems: Sequence[Problem],
        limits: Limits = NO_LIMITS,
        *,
        paths: bool = True,
        stop: threading.Event | None = None,
        again: bool = False,
    ) -> list[Trial]:
        """Run every problem, forgetting what was learned before each; ``stop`` ends early and returns an empty list.

        With ``again`` they are further trials of the last problem, or of others with its goal: nothing is forgotten.
        """
        with self.alone:
            return self._run_all(problems, limits, paths, stop, again)

    def _run_all(
        self,
        problems: Sequence[Problem],
        limits: Limits,
        paths: bool,
        stop: threading.Event | None,
        again: bool,
    ) -> list[Trial]:
        if again and any(problem.goal != self._goal for problem in problems):
            raise ProblemError("an agent can keep what it learned only for problems with the goal of its last one")
        self._watched = None
        episodes = self._episodes(problems, limits, again)
        episodes["again"] = again
        walked: list[npt.NDArray[np.int32] | None]
        if paths:
            walked = [self._walk(episodes[i : i + 1], stop) for i in range(len(episodes))]
        else:
            walked = [None] * len(episodes)
            while not all_ended(episodes) and not _stopped(stop):
                self.drive(episodes)
        self._remember(episodes)
        if _stopped(stop):
            return []
        name = str(self.algorithm)
        return [Trial.from_episode(name, p, e, w) for p, e, w in zip(problems, episodes, walked, strict=True)]

    def _remember(self, episodes: npt.NDArray[Any]) -> None:
        """Remember the goal that the learned values in memory belong to."""
        begun = episodes["goal"][(episodes["moves"] > 0) | (episodes["expanded"] > 0)]
        self._goal = int(begun[-1]) if len(begun) else self._goal

    def _walk(self, episode: npt.NDArray[Any], stop: threading.Event | None) -> npt.NDArray[np.int32]:
        """Drive one episode to its end and return the states it visits."""
        trail, parts = self._trail, [episode["start"].astype(np.int32)]
        while not all_ended(episode) and not _stopped(stop):
            written = self.drive(episode, trail)
            parts.append(trail["state"][:written].astype(np.int32))
        return np.concatenate(parts)

    @cached_property
    def _trail(self) -> npt.NDArray[Any]:
        """The buffer that the loop writes moves into."""
        return np.zeros(TRAIL_ROWS, TRAIL)

    def move_nanoseconds(self, problem: Problem, limits: Limits = NO_LIMITS) -> npt.NDArray[np.int64]:
        """Run one problem as `run` does, and return the time of each move, measured inside the compiled loop.

        >>> import andante
        >>> grid = andante.generate("empty", 8, 8)
        >>> len(Agent("lrta", grid).move_nanoseconds(grid.problem((0, 0), (7, 7))))
        7
        """
        trail, times, parts = self._trail, np.zeros(TRAIL_ROWS, np.int64), [NO_TIMES]
        with self.alone:
            self._watched = None
            episode = self._episodes([problem], limits)
            while not all_ended(episode):
                written = self.drive(episode, trail, times=times)
                parts.append(times[:written].copy())
            self._remember(episode)
        return np.concatenate(parts)

    def watch(self, problem: Problem, limits: Limits = NO_LIMITS) -> Watch:
        """Return an iterator over the moves, each made when it is requested."""
        return Watch(self, problem, limits)

    def thoughts(self) -> list[Thought]:
        """Return the entries of the agent's log, and empty it."""
        return self._take_thoughts()[0]

    def _take_thoughts(self) -> tuple[list[Thought], int]:
        """Return the entries of the log and the number of those that did not fit; empty the log."""
        log = self._space.log
        used = int(log.scalars[0]["used"])
        count = min(used, len(log.kind))
        log.scalars[0]["used"] = 0
        columns = (log.kind[:count].tolist(), log.state[:count].tolist(), log.value[:count].tolist())
        entries = zip(*columns, strict=True)
        return [Thought(ThoughtKind(kind), state, value) for kind, state, value in entries], used - count

    def _last_found(self, count: int) -> list[int]:
        """Return the last ``count`` cells that the agent found to be blocked."""
        view = self._space.view
        if not isinstance(view, Belief):
            return []
        total = int(view.scalars[0]["size"])
        found: list[int] = view.found[total - count : total].tolist()
        return found

    def _episodes(self, problems: Sequence[Problem], limits: Limits, again: bool = False) -> npt.NDArray[Any]:
        if not again and self._space.clock[0]["problem"] + len(problems) >= MOST_PROBLEMS:
            self._renew()
        for problem in problems:
            if not isinstance(problem, Problem):
                raise ProblemError(f"a problem is what grid.problem(start, goal) returns, not {quoted(problem)}")
            if problem.graph != self.graph:
                raise ProblemError(f"{problem!r} is on another graph than this agent")
        episodes = np.zeros(len(problems), EPISODE)
        episodes["start"] = [p.start for p in problems]
        episodes["goal"] = [p.goal for p in problems]
        episodes["cost_cap"] = _cost_caps(problems, limits)
        episodes["move_cap"] = min(limits.moves, np.iinfo(np.int64).max)
        episodes["expansion_cap"] = min(limits.expansions, np.iinfo(np.int64).max)
        if self.sight is None:  # else it is for the agent to find out
            label = self.graph.components
            apart = label[episodes["start"]] != label[episodes["goal"]]
            episodes["outcome"][apart] = Outcome.UNREACHABLE
        self._check_goals(problems, episodes["goal"])
        return episodes

    def _check_goals(self, problems: Sequence[Problem], goals: npt.NDArray[np.int64]) -> None:
        """Raise `AlgorithmError` for goals that the agent's databases were not built for."""
        given = [one for one in self.databases if isinstance(one, Database)]
        for kind in self.algorithm.needs if given else ():
            one = pick(given, kind, self.graph, who=str(self.algorithm))
            lacking = np.flatnonzero(~one.covers(self.graph, goals))
            if len(lacking):
                raise AlgorithmError(
                    f"the database of kind {kind!r} was built for other goals than that of "
                    f"{problems[lacking[0]]!r}; build one that has it among its goals, or one for all goals"
                )


def _cost_caps(problems: Sequence[Problem], limits: Limits) -> npt.NDArray[np.float64]:
    caps = np.full(len(problems), float(limits.cost))
    if limits.suboptimality < np.inf:
        caps = np.minimum(caps, limits.suboptimality * least_costs(problems))
    return caps


def _stopped(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()


class Watch(Iterator[Turn]):
    """The moves of one episode, made one at a time; ``trial`` is the trial so far."""

    def __init__(self, agent: Agent, problem: Problem, limits: Limits) -> None:
        self._agent = agent
        self._problem = problem
        self._episode = agent._episodes([problem], limits)
        self._trail = np.zeros(1, TRAIL)
        self._path = [problem.start]

    def __next__(self) -> Turn:
        with self._agent.alone:
            return self._next_turn()

    def _next_turn(self) -> Turn:
        outcome = self._episode[0]["outcome"]
        if outcome == Outcome.WAITING:
            self._agent._watched = self
        elif outcome == Outcome.WALKING and self._agent._watched is not self:
            raise ProblemError(
                f"the agent has begun another problem and forgotten {self._problem!r}; use an agent for each"
            )
        written = 0
        self._agent.thoughts()
        while not written and not all_ended(self._episode):
            written = self._agent.drive(self._episode, self._trail)
        self._agent._remember(self._episode)
        if not written:
            raise StopIteration
        row = self._trail[0]
        self._path.append(int(row["state"]))
        thoughts, lost = self._agent._take_thoughts()
        return Turn(
            int(self._episode[0]["moves"]),
            int(row["state"]),
            float(row["cost"]),
            int(row["expanded"]),
            int(row["touched"]),
            float(row["learned"]),
            self._agent._last_found(int(row["discovered"])),
            thoughts,
            lost,
        )

    def __repr__(self) -> str:
        return f"<Watch {self._agent.algorithm}: {self._problem!r}, {self._episode[0]['moves']} moves so far>"

    @property
    def trial(self) -> Trial:
        """The trial so far; its outcome is WALKING until the episode ends."""
        return Trial.from_episode(
            str(self._agent.algorithm), self._problem, self._episode[0], np.array(self._path, np.int32)
        )
