"""One agent: an algorithm with its memory on one graph, which runs problem after problem or one move at a time.

An `Agent` is made once and used for any number of problems, so the time to start a problem does not grow with the map.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, UNREACHABLE, Algorithm, Move
from andante.episode.bound import BoundAgent
from andante.episode.checks import check_goals, explained, wrong_move
from andante.episode.pursuit import MOST_AT_ONCE
from andante.episode.tables import Episodes, Trail
from andante.episode.trial import Limits, Trial, least_costs
from andante.episode.watch import Thought, Watch
from andante.errors import AlgorithmError, ProblemError, whole_number
from andante.kernel import bind
from andante.measures import Outcome
from andante.search.hillclimb import walk_straight
from andante.search.memory import ThoughtKind
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import World
from andante.world.problem import Problem, check_problem
from andante.world.sensing import Belief, last_found

TRAIL_ROWS = 4096
MOST_PROBLEMS = 2**32  # problems with distinct stamps, after which an agent's memory is allocated again

NO_LIMITS = Limits()
ENDLESS = Limits(moves=math.inf)
NOWHERE = -1  # no state

_WAITING, _UNREACHABLE = int(Outcome.WAITING), int(Outcome.UNREACHABLE)
_NO_MOVE_TO = {int(Outcome.STUCK): STUCK, int(Outcome.UNREACHABLE): UNREACHABLE}
_NO_PATH = Move(UNREACHABLE, 0.0, 0, 0, 0.0, 0)


class Agent(BoundAgent):
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
        self._episodes = Episodes(1)
        self._stepping = Episodes(1)  # the episode of `move`
        self._goal: int | None = None  # of the last problem
        self._watched: Watch | None  # the watch that may continue
        self._here: int  # the state that the last `move` led to, and ...
        self._aim: int  # ... its goal, if it can continue there
        super().__init__(algorithm, world, databases=databases, sight=sight, log_rows=log_rows, **parameters)

    def _renew(self) -> None:
        self._leave()
        super()._renew()

    def _bind(self) -> None:
        super()._bind()
        self._step = partial(self._drive, self._stepping.address, 1, 0, 0, 0, 0, 1)

    def run(self, problem: Problem, limits: Limits = NO_LIMITS, *, path: bool = True) -> Trial:
        """Run one problem until the goal or a limit is reached."""
        alone = self.alone
        if not alone.acquire(False):
            raise alone.refusal()
        try:
            walked = self._walk_all([problem], limits, path)
            return Trial.from_results(self.name, problem, self._episodes.results(), walked[0])
        finally:
            alone.release()

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

        With ``again`` they are further trials of the last problem, or of others with its goal, and nothing is
        forgotten.
        """
        with self.alone:
            walked = self._walk_all(problems, limits, paths, stop, again)
            if stop is not None and stop.is_set():
                return []
            results = map(self._episodes.results, range(len(problems)))
            return list(map(Trial.from_results, repeat(self.name), problems, results, walked))

    def _walk_all(
        self,
        problems: Sequence[Problem],
        limits: Limits,
        paths: bool,
        stop: threading.Event | None = None,
        again: bool = False,
    ) -> list[npt.NDArray[np.int32] | None]:
        """Run every problem, leave the results in the agent's table, and return the paths."""
        if again and any(problem.goal != self._goal for problem in problems):
            raise ProblemError("an agent can keep what it learned only for problems with the goal of its last one")
        if len(problems) > self._episodes.room:
            self._episodes = Episodes(len(problems))
        episodes, count, done = self._episodes, len(problems), 0
        self._fill(episodes, problems, limits, again)
        self._leave()
        walked: list[npt.NDArray[np.int32] | None] = [None] * count
        try:
            while done < count and not (stop is not None and stop.is_set()):
                if paths:
                    walked[done] = self._walk(done, problems[done].start, stop)
                    done += 1
                else:
                    done += self.drive(episodes, done, count - done)
        finally:
            self._remember(episodes, problems)
        return walked

    def _remember(self, episodes: Episodes, problems: Sequence[Problem]) -> None:
        """Remember the goal that the learned values belong to, that of the last problem that has begun."""
        last = len(problems) - 1
        while last >= 0:
            outcome, problem = episodes.outcome(last), problems[last]
            if outcome != _WAITING and (outcome != _UNREACHABLE or not self._apart(problem.start, problem.goal)):
                self._goal = problem.goal
                return
            last -= 1

    def _walk(self, row: int, start: int, stop: threading.Event | None) -> npt.NDArray[np.int32]:
        """Drive one episode to its end and return the states it visits."""
        trail, episodes = self._trail, self._episodes
        done = self.drive(episodes, row, 1, trail)
        moves = episodes.moves(row)
        path = trail.path(start, moves)
        if done:
            return path
        parts = [path]
        while not done and not (stop is not None and stop.is_set()):
            done, before = self.drive(episodes, row, 1, trail), moves
            moves = episodes.moves(row)
            parts.append(trail.path(start, moves - before)[1:])
        return np.concatenate(parts)

    @cached_property
    def _trail(self) -> Trail:
        """The buffer that the loop writes moves into."""
        return Trail(TRAIL_ROWS)

    def move_nanoseconds(self, problem: Problem, limits: Limits = NO_LIMITS) -> npt.NDArray[np.int64]:
        """Run one problem as `run` does, and return the time of each move, measured inside the compiled loop.

        >>> import andante
        >>> grid = andante.generate("empty", 8, 8)
        >>> len(Agent("lrta", grid).move_nanoseconds(grid.problem((0, 0), (7, 7))))
        7
        """
        trail, times, parts = self._trail, np.zeros(TRAIL_ROWS, np.int64), [np.zeros(0, np.int64)]
        with self.alone:
            episodes = self._episodes
            self._fill(episodes, [problem], limits)
            self._leave()
            done = before = 0
            while not done:
                done = self.drive(episodes, trail=trail, times=times)
                parts.append(times[: episodes.moves() - before].copy())
                before = episodes.moves()
            self._remember(episodes, [problem])
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
        """Return the last ``count`` cells that differed from what the agent believed."""
        view = self._space.view
        return last_found(view, count) if isinstance(view, Belief) else []

    def _fill(self, episodes: Episodes, problems: Sequence[Problem], limits: Limits, again: bool = False) -> None:
        """Write a table of episodes that have not begun, except those without a path, which have already ended."""
        Limits.check(limits)
        caps, row = limits.caps, 0
        if self._living is not None:
            self._living.settle()  # an episode may be run to its end in one call
        for problem in problems:
            check_problem(problem)
            if problem.graph is not self.graph and problem.graph != self.graph:
                raise ProblemError(f"{problem!r} is on another graph than this agent")
            start, goal = problem.start, problem.goal
            episodes.begin(row, start, goal, caps, again, _UNREACHABLE if self._apart(start, goal) else _WAITING)
            row += 1
        if limits.suboptimality < math.inf:
            episodes.rows["cost_cap"][:row] = np.minimum(limits.cost, limits.suboptimality * least_costs(problems))
        if self._covering:
            check_goals(self._covering, self._world, [problem.goal for problem in problems])
        if not again and self._clock[0] + row >= MOST_PROBLEMS:
            self._renew()

    def _sees_news(self) -> bool:
        """Return whether anything is new on a map that changes."""
        assert self._living is not None
        self._living.tend()
        before, self._news = self._news, self._living.news
        return self._news != before

    def _is_cut_off(self) -> bool:
        """Return whether it has become known that no path leads to the goal of `move`."""
        if not self._sees_news():
            return False
        state, goal = self._here, self._aim
        lag = self._stepping.rows[0]
        if lag["aim"] != lag["goal"] and self._apart(state, int(lag["aim"])):
            self._leave()  # no path leads to the goal's earlier state, so a new problem begins
        return self._apart(state, goal)

    def _leave(self) -> None:
        """End the current watch and sequence of moves, because the agent begins something else."""
        self._watched = None
        self._here = self._aim = NOWHERE

    # --- one move at a time, for a game ---

    def move(self, state: int | tuple[int, int], goal: int | tuple[int, int]) -> Move:
        """Make one move from ``state`` towards ``goal``, and return it; a game calls this once per turn.

        States are numbers or, on a grid, cells (x, y); numbers are faster. With the goal of the last call the agent
        continues. From a state other than the one that its last move led to, for example because something pushed it,
        it begins a new trial: it keeps what it learned and plans again (f-LRTA*, whose values belong to its start,
        begins a new problem). With another goal, or after a `run` or a `watch`, it begins a new problem. `Move.to` is
        the number of the next state, UNREACHABLE if no path leads to the goal, or STUCK if the agent knows no move; at
        the goal the agent stays. On a map that changes, the goal is also UNREACHABLE while a wall is where the agent or
        the goal is; on any other map such a state is refused.

        >>> import andante
        >>> grid = andante.generate("empty", 8, 8)
        >>> agent = Agent("lrta", grid)
        >>> state, goal = grid.state(0, 0), grid.state(7, 3)
        >>> while state != goal:
        ...     state = agent.move(state, goal).to
        >>> grid.cell(state)
        (7, 3)
        >>> agent.move((2, 2), (7, 3)).cost  # pushed to another cell
        1.0
        """
        alone, episode = self.alone, self._stepping
        if not alone.acquire(False):
            raise alone.refusal()
        try:
            if self._living is not None and goal == self._aim and state == self._here and self._is_cut_off():
                self._here = NOWHERE
                return _NO_PATH
            if self._asks is not None and state == self._here and self._is_in_wall(self._here):
                self._leave()
                return _NO_PATH
            if state == self._here and goal == self._aim and type(state) is int and type(goal) is int:
                episode.resume(state)
            else:
                answer = self._set_out(self._state_of(state, "state"), self._state_of(goal, "goal"))
                if answer is not None:
                    return answer
            if self._asks is not None:
                self._give_room()
            if self._mind is not None:
                self._turn_page()
            try:
                done = self._step()
            except Exception as error:
                self._here = NOWHERE
                raise explained(self.algorithm, error) from None
            if done:
                return self._last_move(done)
            made = _new_move(Move, episode.move())
            self._here = made[0]
            return made
        finally:
            alone.release()

    def _set_out(self, state: int, goal: int) -> Move | None:
        """Prepare a move that does not simply continue the last one; return it if nothing has to be planned."""
        if state == self._here and goal == self._aim and self._living is not None and self._is_cut_off():
            self._here = NOWHERE  # as in the shortcut of `move` for numbers
            return _NO_PATH
        if state == self._here and goal == self._aim:
            self._stepping.resume(state)
            return None
        if self._is_in_wall(state) or self._is_in_wall(goal):
            self._leave()
            return _NO_PATH
        if state == goal:
            return Move(state, 0.0, 0, 0, 0.0, 0)
        if self._living is not None:
            self._living.tend()
        if self._apart(state, goal):
            return _NO_PATH
        lags = self._stepping.rows["aim"][0] != self._stepping.rows["goal"][0]
        again = goal == self._aim and not lags and not self.algorithm.card.anchored
        if not again:
            if self._covering:
                check_goals(self._covering, self._world, [goal])
            if self._clock[0] + 1 >= MOST_PROBLEMS:
                self._renew()
        self._leave()
        self._stepping.begin(0, state, goal, ENDLESS.caps, again, _WAITING)
        self._aim = self._goal = goal
        return None

    def _is_in_wall(self, state: int) -> bool:
        """Return whether a state is now a wall of a map that changes."""
        return isinstance(self._world, World) and not self._world.passable.flat[state]

    def forget(self) -> None:
        """Make the next `move` begin a new problem, even if its goal is the same."""
        with self.alone:
            self._leave()

    def retarget(self, goal: int | tuple[int, int]) -> bool:
        """Move the goal of `move`, and return whether the agent keeps what it has learned.

        It does if its algorithm pursues goals (its card says so) and a few straight moves lead from the new goal to the
        old one. Otherwise the next move begins a new problem, as without this call. The next `move` passes the new
        goal.

        >>> import andante
        >>> grid = andante.generate("empty", 8, 8)
        >>> agent = Agent("lrta", grid)
        >>> state = agent.move((0, 0), (6, 6)).to
        >>> agent.retarget((6, 5))
        True
        >>> grid.cell(agent.move(state, (6, 5)).to)
        (2, 2)
        """
        with self.alone:
            new = self._state_of(goal, "goal")
            if self._aim == NOWHERE:
                raise ProblemError("there is no goal to move yet: call agent.move first")
            if self._is_in_wall(new):
                raise ProblemError(f"the goal {self._world.cell(new)} is blocked on {self._world.name}")  # type: ignore[union-attr]
            if new == self._aim:
                return True
            near = self.algorithm.pursues and self._walk_between(new, self._aim) < math.inf
            if not near or self._here == new:
                self._leave()
                return False
            self._stepping.rows["goal"][0] = new
            self._aim, self._goal = new, None  # its values are for the goal's old state until it turns
            self._news = -1
            return True

    def _walk_between(self, start: int, goal: int) -> float:
        """Return the cost of a straight walk of a few moves, infinite if there is no such walk."""
        return float(self._ascent(start, goal, MOST_AT_ONCE))

    @cached_property
    def _ascent(self) -> Callable[..., float]:
        return bind(walk_straight, self.graph.arrays)

    def _last_move(self, done: int) -> Move:
        """Return the move that ends the episode; the next call begins a new trial."""
        self._here = NOWHERE
        if done < 0:
            row = self._stepping.rows[0]
            raise AlgorithmError(wrong_move(self.algorithm, self._world, row, int(row["outcome"])))
        to, *costs = self._stepping.move()
        return Move(_NO_MOVE_TO.get(self._stepping.outcome(), to), *costs)

    def _state_of(self, value: Any, what: str) -> int:
        """Return the number of a state given as a number or as a cell; raise `ProblemError` for anything else."""
        world = self._world
        if isinstance(world, Grid):
            if isinstance(value, tuple | list | np.ndarray) and np.shape(value) == (2,):
                state = world.state(*value)
            else:
                state = _index(value, f"the {what}, if it is not a cell (x, y),")
        else:
            state = _index(value, f"the {what}")
        if not 0 <= state < len(self.graph):
            raise ProblemError(f"the {what} {state} is not a state; there are {len(self.graph)}, numbered from 0")
        if isinstance(world, Grid) and not isinstance(world, World) and not world.passable.flat[state]:
            raise ProblemError(f"the {what} {world.cell(state)} is blocked on {world.name}")
        return state


_new_move: Callable[[type[Move], tuple[Any, ...]], Move] = tuple.__new__  # skips Python's own constructor


def _index(value: Any, what: str) -> int:
    return value if type(value) is int else whole_number(value, what)
