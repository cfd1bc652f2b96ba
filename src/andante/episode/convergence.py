"""Convergence: repeated trials from the start to the goal, until the agent learns nothing in one of them.

Learned values are kept from trial to trial and forgotten with the problem. The same holds for walls that an agent with
sight has found: a trial in which it discovers a wall is one in which it learns. The measures are those of Bulitko et
al. (2007), section 2.3: travel, planning and memory over all trials, first-move lag and suboptimality of the final one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.episode.run import Outfit, solve_all
from andante.episode.single import NO_LIMITS, Agent
from andante.episode.trial import Limits, Trial, least_costs
from andante.errors import ParameterError, whole_number
from andante.notation import Named
from andante.world.problem import Problem

#: The default maximum number of trials, enough for most agents on small maps.
DEFAULT_MAX_TRIALS = 10_000


class Ending(Named):
    """The reason why a convergence process ended."""

    CONVERGED = 0  # the final trial changed nothing
    TRIAL_CAP = 1
    COST_CAP = 2
    MOVE_CAP = 3
    EXPANSION_CAP = 4
    STUCK = 5
    UNREACHABLE = 6


@dataclass(frozen=True, eq=False)
class Convergence:
    """The trials of one agent on one problem, and their totals.

    Only the last of ``trials``, which is the final one if the process converged, may have its path.
    """

    algorithm: str
    problem: Problem
    outcome: Ending
    trials: tuple[Trial, ...]

    @property
    def converged(self) -> bool:
        """Whether the last trial changed nothing."""
        return self.outcome is Ending.CONVERGED

    @property
    def final(self) -> Trial:
        """The last trial."""
        return self.trials[-1]

    @property
    def costs(self) -> npt.NDArray[np.float64]:
        """The cost of each trial, in order: the learning curve."""
        return np.array([trial.cost for trial in self.trials])

    @property
    def travel(self) -> float:
        """Convergence travel: the cost of all moves of all trials."""
        return sum(trial.cost for trial in self.trials)

    @property
    def moves(self) -> int:
        """The number of moves of all trials."""
        return sum(trial.moves for trial in self.trials)

    @property
    def states_expanded(self) -> int:
        """Convergence planning, in states expanded."""
        return sum(trial.states_expanded for trial in self.trials)

    @property
    def states_touched(self) -> int:
        """Convergence planning, in states touched."""
        return sum(trial.states_touched for trial in self.trials)

    @property
    def first_move_states_expanded(self) -> int:
        """First-move lag: states expanded for the first move of the last trial."""
        return self.final.first_move_states_expanded

    @property
    def first_move_states_touched(self) -> int:
        """First-move lag: states touched for the first move of the last trial."""
        return self.final.first_move_states_touched

    @property
    def first_move_seconds(self) -> float:
        """First-move lag: time spent on the first move of the last trial."""
        return self.final.first_move_seconds

    @property
    def values_stored(self) -> int:
        """Convergence memory: states with a stored value after all trials."""
        return sum(trial.values_stored for trial in self.trials)

    @property
    def learned(self) -> float:
        """The total increase of heuristic values."""
        return sum(trial.learned for trial in self.trials)

    @property
    def cells_discovered(self) -> int:
        """The number of cells that an agent with sight found blocked, over all trials."""
        return sum(trial.cells_discovered for trial in self.trials)

    @property
    def suboptimality_ratio(self) -> float:
        """The last trial's cost over the optimal cost: 1 is optimal."""
        return self.final.suboptimality_ratio

    @property
    def seconds(self) -> float:
        """Time spent in the loop."""
        return sum(trial.seconds for trial in self.trials)

    def __repr__(self) -> str:
        count = len(self.trials)
        return (
            f"<Convergence {self.algorithm}: {self.outcome.name} after {count} trial{'' if count == 1 else 's'}, "
            f"travel {self.travel:.2f}, {self.values_stored} values stored>"
        )


def converge(
    algorithm: str | Algorithm,
    problem: Problem,
    *,
    limits: Limits = NO_LIMITS,
    max_trials: int = DEFAULT_MAX_TRIALS,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    **parameters: Any,
) -> Convergence:
    """Repeat a problem until a trial changes nothing, and return the process; ``limits`` are for all trials together.

    >>> import andante
    >>> grid = andante.generate("rooms", 24, 24, seed=3)
    >>> process = andante.converge("lrta", andante.random_problems(grid, 1, seed=1)[0])
    >>> process.outcome.name, process.suboptimality_ratio
    ('CONVERGED', 1.0)
    >>> process.final.learned, bool(process.travel > process.final.cost)
    (0.0, True)
    """
    _check(max_trials, limits)
    outfit = Outfit.of(algorithm, databases, sight, **parameters)
    with outfit.spare_agent(problem) as agent:
        return converge_agent(agent, problem, limits, max_trials, True, None)[0]


def converge_many(
    algorithm: str | Algorithm,
    problems: Iterable[Problem],
    *,
    threads: int = 1,
    limits: Limits = NO_LIMITS,
    max_trials: int = DEFAULT_MAX_TRIALS,
    paths: bool = True,
    progress: Callable[[int], None] | None = None,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    **parameters: Any,
) -> list[Convergence]:
    """Converge on many problems, in parallel threads; everything is forgotten between two problems.

    ``limits`` and ``max_trials`` are for each problem. ``progress`` is called with the number of problems just
    finished. Results do not depend on ``threads``.

    >>> import andante
    >>> grid = andante.generate("rooms", 24, 24, seed=1)
    >>> processes = converge_many("lrta(depth=2)", andante.random_problems(grid, 4, seed=1), threads=2)
    >>> [process.suboptimality_ratio for process in processes]
    [1.0, 1.0, 1.0, 1.0]
    """
    _check(max_trials, limits)

    def solve(agent: Agent, part: list[Problem], stop: threading.Event) -> list[Convergence]:
        return [
            process for problem in part for process in converge_agent(agent, problem, limits, max_trials, paths, stop)
        ]

    outfit = Outfit.of(algorithm, databases, sight, **parameters)
    return solve_all(solve, outfit, list(problems), threads, progress)


def _check(max_trials: int, limits: Limits) -> None:
    Limits.check(limits)
    whole_number(max_trials, "max_trials", least=1, error=ParameterError)


def converge_agent(
    agent: Agent, problem: Problem, limits: Limits, max_trials: int, path: bool, stop: threading.Event | None
) -> list[Convergence]:
    """Return a list with one process, or an empty list if it was stopped."""
    with agent.alone:
        return _converge_alone(agent, problem, limits, max_trials, path, stop)


def _converge_alone(
    agent: Agent, problem: Problem, limits: Limits, max_trials: int, path: bool, stop: threading.Event | None
) -> list[Convergence]:
    left: Limits | Ending = _in_cost(problem, limits)
    trials: list[Trial] = []
    while isinstance(left, Limits):
        done = agent.run_all([problem], left, paths=path, stop=stop, again=bool(trials))
        if not done:
            return []
        if trials:
            trials[-1] = replace(trials[-1], path=None)
        trials += done
        left = _next(done[0], left, len(trials) < max_trials)
    return [Convergence(str(agent.algorithm), problem, left, tuple(trials))]


def _in_cost(problem: Problem, limits: Limits) -> Limits:
    """Return the same limits, with a multiple of the optimal cost converted to a cost."""
    if limits.suboptimality == np.inf:
        return limits
    multiple = limits.suboptimality * float(least_costs([problem])[0])
    return replace(limits, cost=min(limits.cost, multiple), suboptimality=np.inf)


def _next(trial: Trial, limits: Limits, more: bool) -> Limits | Ending:
    """Return the limits left for the next trial, or the reason why the process ends with this one."""
    if not trial.solved:
        return Ending[trial.outcome.name]
    if trial.learned == 0 and trial.values_stored == 0 and trial.cells_discovered == 0:
        return Ending.CONVERGED
    if trial.cost >= limits.cost:
        return Ending.COST_CAP
    if trial.moves >= limits.moves:
        return Ending.MOVE_CAP
    if trial.states_expanded >= limits.expansions:
        return Ending.EXPANSION_CAP
    if not more:
        return Ending.TRIAL_CAP
    return Limits(limits.cost - trial.cost, limits.moves - trial.moves, limits.expansions - trial.states_expanded)
