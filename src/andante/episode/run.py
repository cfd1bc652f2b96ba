"""Functions that run algorithms on one problem, on many problems on all cores, or one move at a time.

The functions here make the agents (`andante.episode.single`) themselves: `run` caches a few, `run_many` makes one for
each thread and map, and `watch` makes its own.

All of them accept ``databases``, for algorithms whose card says that they need some, and ``sight``: an agent with sight
does not know the map, sees cells up to that distance, and assumes that cells it has not seen are free.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from typing import Any, Generic, TypeVar

from andante.agent import Algorithm, find
from andante.databases.header import as_databases
from andante.episode.single import NO_LIMITS, Agent
from andante.episode.trial import Limits, Trial
from andante.episode.watch import Watch
from andante.errors import ParameterError, whole_number
from andante.kernel import on_compile
from andante.machine import cores, on_threads
from andante.recent import Spare
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.problem import Problem, check_problem, checked_problems

LOG_ROWS = 1 << 16
CHUNK = 64  # problems that a thread takes at a time
SPARE_AGENTS = 4  # kept for later calls; with more cores, one for each

D = TypeVar("D")
R = TypeVar("R")


@dataclass(frozen=True)
class Outfit(Generic[D]):
    """An algorithm with the databases and the sight of its agents.

    The databases are ready, or they are texts in the notation that name what to build.

    >>> Outfit(find("knn(m=100)"), ("subgoals(series=true)",)).name
    'knn(m=100) with subgoals(series=true)'
    """

    algorithm: Algorithm
    databases: tuple[D, ...] = ()
    sight: int | None = None

    @classmethod
    def of(
        cls, algorithm: str | Algorithm, databases: Sequence[Any] = (), sight: int | None = None, **parameters: Any
    ) -> Outfit[Any]:
        """Return the outfit for the arguments of `run` and the other functions."""
        return Outfit(find(algorithm, **parameters), as_databases(databases), sight)

    @property
    def name(self: Outfit[str]) -> str:
        """The algorithm and the databases to build for it, in the notation."""
        return str(self.algorithm) + (f" with {', '.join(self.databases)}" if self.databases else "")

    def agent(self, world: Grid | Graph, log_rows: int = 0, kind: type[Agent] = Agent) -> Agent:
        """Return a new agent."""
        return kind(self.algorithm, world, databases=self.databases, sight=self.sight, log_rows=log_rows)

    def spare_agent(self, problem: Problem) -> AbstractContextManager[Agent]:
        """Return a context that lends an agent for such a problem: one that is idle, or a new one."""
        check_problem(problem)
        # Not by the algorithm's name, because another algorithm may have been registered under it since.
        how = self.algorithm
        key = (id(how.card), how.step, how.memory, how.params, how.defaults, how.fixed, self.sight)
        return _agents.lend((*key, id(problem.graph), *map(id, self.databases)), lambda: self.agent(problem.world))

    def run(self, problem: Problem, limits: Limits = NO_LIMITS) -> Trial:
        """Solve one problem and return the trial."""
        with self.spare_agent(problem) as agent:
            return agent.run(problem, limits)

    def run_many(
        self,
        problems: Iterable[Problem],
        *,
        threads: int = 1,
        limits: Limits = NO_LIMITS,
        paths: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> list[Trial]:
        """Solve many problems and return the trials in the problems' order, as the function `run_many` does."""

        def solve(agent: Agent, part: list[Problem], stop: threading.Event) -> list[Trial]:
            return agent.run_all(part, limits, paths=paths, stop=stop)

        return solve_all(solve, self, checked_problems(problems), threads, progress)


# Idle agents. Each may take tens of megabytes, but every thread of `run_many` needs its own.
_agents: Spare[tuple[Any, ...], Agent] = Spare(max(SPARE_AGENTS, cores()))


def run(
    algorithm: str | Algorithm,
    problem: Problem,
    *,
    limits: Limits = NO_LIMITS,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    **parameters: Any,
) -> Trial:
    """Solve one problem and return the trial.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> trial = andante.run("lrta", grid.problem((0, 0), (7, 0)), depth=2)
    >>> trial.outcome.name, trial.cost, trial.suboptimality_ratio
    ('GOAL', 7.0, 1.0)
    """
    return Outfit.of(algorithm, databases, sight, **parameters).run(problem, limits)


def watch(
    algorithm: str | Algorithm,
    problem: Problem,
    *,
    limits: Limits = NO_LIMITS,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    **parameters: Any,
) -> Watch:
    """Solve one problem move by move; return an iterator whose ``trial`` is the trial so far.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> [grid.cell(turn.state) for turn in andante.watch("lrta", grid.problem((0, 0), (2, 1)))]
    [(1, 0), (2, 1)]
    """
    check_problem(problem)
    outfit = Outfit.of(algorithm, databases, sight, **parameters)
    return outfit.agent(problem.world, LOG_ROWS).watch(problem, limits)


def run_many(
    algorithm: str | Algorithm,
    problems: Iterable[Problem],
    *,
    threads: int = 1,
    limits: Limits = NO_LIMITS,
    paths: bool = True,
    progress: Callable[[int], None] | None = None,
    databases: Sequence[Any] = (),
    sight: int | None = None,
    **parameters: Any,
) -> list[Trial]:
    """Solve many problems, on one map or several, in parallel threads; return the trials in the problems' order.

    ``progress`` is called with the number of problems just finished. Results do not depend on ``threads``.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> problems = [grid.problem((0, 0), (7, y)) for y in range(8)]
    >>> [trial.moves for trial in andante.run_many("lrta", problems, threads=2)]
    [7, 7, 7, 7, 7, 7, 7, 7]
    """
    outfit = Outfit.of(algorithm, databases, sight, **parameters)
    return outfit.run_many(problems, threads=threads, limits=limits, paths=paths, progress=progress)


def solve_all(
    solve: Callable[[Agent, list[Problem], threading.Event], list[R]],
    outfit: Outfit[Any],
    problems: Sequence[Problem],
    threads: int,
    progress: Callable[[int], None] | None,
) -> list[R]:
    """Return the results of ``solve`` for all problems, in their order.

    ``solve`` is called with an agent, some problems on that agent's graph, and an event. It should return soon after
    the event is set, which happens when something has failed or the user has interrupted.
    """
    threads = whole_number(threads, "threads", least=1, error=ParameterError)
    results: dict[int, R] = {}

    def work(part: list[int], stop: threading.Event) -> list[R]:
        with outfit.spare_agent(problems[part[0]]) as agent:
            return solve(agent, [problems[i] for i in part], stop)

    with closing(on_threads(work, _parts(problems, threads), threads)) as batches:
        for done in chain.from_iterable(batches):
            results.update(zip(done.part, done.result, strict=True))
            if progress is not None:
                progress(len(done.part))
    return [results[i] for i in range(len(problems))]


def _parts(problems: Sequence[Problem], threads: int) -> list[list[int]]:
    """Return the numbers of the problems in parts, each on one graph."""
    by_graph: dict[int, list[int]] = {}
    for i, problem in enumerate(problems):
        by_graph.setdefault(id(problem.graph), []).append(i)
    portion = max(1, min(CHUNK, -(-len(problems) // (4 * threads))))
    return [group[i : i + portion] for group in by_graph.values() for i in range(0, len(group), portion)]


def compile_all(
    outfits: Iterable[Outfit[Any]],
    worlds: Iterable[Grid | Graph],
    progress: Callable[[str, int, int], None],
) -> None:
    """Compile the loops of these outfits for maps or graphs like these.

    ``progress(algorithm, number, total)`` is called before each loop that is not in the cache; compiling takes seconds.
    Algorithms that need databases are skipped if they have none.
    """
    chosen = {variant(one.algorithm): one for one in outfits if one.databases or not one.algorithm.needs}
    layouts = {_layout(world): world for world in worlds}
    todo = [(one, world) for one in chosen.values() for world in layouts.values()]
    for number, (one, world) in enumerate(todo, 1):
        name = one.algorithm.card.name
        with on_compile(lambda _, name=name, n=number: progress(name, n, len(todo))):  # type: ignore[misc]
            one.agent(world).compile()


def variant(entry: Algorithm) -> tuple[Any, ...]:
    """Return a key of an algorithm's machine code: its step, and the choices that its memory may depend on."""
    return entry.step, *(value for value in entry.params if isinstance(value, IntEnum | bool))


def _layout(world: Grid | Graph) -> tuple[type, bool]:
    """Return a key of the machine code for a graph: its layout, and whether its reversed arcs are separate."""
    graph = world.graph
    return type(graph.arrays), graph.reversed() is graph
