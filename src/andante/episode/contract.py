"""What a card claims, tried out: the checks that every algorithm of the register has to pass.

`check_algorithm` is public for people who write their own agents; the test suite calls it for every card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from andante.abstraction.levels import catch_up
from andante.agent import Algorithm, find, parameters_of
from andante.datasets.generate import generate
from andante.datasets.scenarios import random_problems
from andante.episode.convergence import Convergence, converge_many
from andante.episode.loop import Outcome, plain_driver
from andante.episode.run import Agent, run_many
from andante.episode.trial import Limits, Trial
from andante.errors import AlgorithmError
from andante.kernel import interpreted
from andante.search.lookahead import look_back, pass_on
from andante.search.path import price_between
from andante.world.graph import Graph, Layout, degree, price, target
from andante.world.grid import Grid
from andante.world.heuristics import TOLERANCE
from andante.world.problem import Problem

SIZE = 40
# Wide enough that a lookahead of some hundred states ends by its own limit and not at the goal, and three times that.
WIDTHS = (256, 768)
PROBLEMS = 12
NARROW_PROBLEMS = 48  # on the narrow map, which sets the limit: an agent's worst move may come in one problem of twenty
CONVERGING = 4  # one problem in so many is repeated until the agent learns nothing
LIMITS = Limits(moves=50_000)
PATIENT = Limits(moves=10_000_000)  # an agent that goes back often may take long, as long as it arrives
WATCHED = Limits(moves=2_000)  # of an agent that is watched, for which Python is asked at every move
COUNTED = Limits(moves=25)  # of an agent whose expansions are counted for it, which is slow
UNITS = (2.0**-40, 2.0**40)
ONE_WAY_GRAPHS, ONE_WAY_STATES = 4, 32
DEBUGGED = Limits(moves=100)  # of an agent in plain Python, which is slow
DEBUG_PROBLEMS = 1  # on each map
SIGHTS = (1, 5)  # of agents that do not know the map: as little as there can be, and more

R = TypeVar("R")


def check_algorithm(
    algorithm: str | Algorithm,
    *,
    databases_for: Callable[[Grid], Sequence[Any]] | None = None,
    debug: bool = False,
) -> list[str]:
    """Hold an algorithm to what its card claims: the checks it passed, or an `AlgorithmError` that says what broke.

    ``databases_for`` makes what it needs to look things up in, for any map that it is tried out on.

    With ``debug`` its kernels run as plain Python for some moves on small maps. Nothing of that is compiled, an index
    out of bounds or another error is reported with its line, and kernels may print. Kernels that ``allocate`` calls
    run compiled, as always. What its card claims is not tried.

    >>> check_algorithm("lrta")[0]
    'walks only along edges, at their cost'
    >>> check_algorithm("lrta", debug=True)[0]
    'runs as plain Python, inside its arrays'
    """
    entry = find(algorithm)
    if debug:
        return _debug(_Candidate(entry, databases_for, plain=True))
    candidate = _Candidate(entry, databases_for)
    grids = _maps()
    problems = [p for i, grid in enumerate(grids) for p in random_problems(grid, PROBLEMS, seed=i)]
    before = [grid.graph.fingerprint for grid in grids]
    trials = candidate.run(problems)
    checks: dict[str, Callable[[], Iterable[str]]] = {
        **_checks_of(candidate, trials),
        "does not change the map": lambda: (
            [] if before == [g.graph.fingerprint for g in grids] else ["the map changed"]
        ),
    }
    if not entry.card.ring and not entry.needs:  # a database is for one layout
        checks["does the same on the same graph in another layout"] = lambda: _in_rows(candidate, trials[::PROBLEMS])
        checks["does the same whatever unit costs are counted in"] = lambda: _in_units(candidate, trials[::PROBLEMS])
    if entry.complete and not entry.card.two_way and not entry.needs and not entry.card.regions:
        checks["is complete where moves cannot be taken back"] = lambda: _arrives_one_way(candidate)
    if entry.card.optimal:
        checks["is optimal"] = lambda: _optimal(trials)
    if entry.real_time:
        checks["plans no more per move on a larger map"] = lambda: _real_time(candidate)
    if entry.card.senses and not entry.card.regions:
        checks["does the same when it sees the whole map as when it knows it"] = lambda: _all_seen(candidate, trials)
    if entry.card.senses:
        for sight in SIGHTS:
            unknown = replace(candidate, sight=sight)
            found = _checks_of(unknown, unknown.run(problems))
            checks |= {f"{name}, with a sight of {sight}": check for name, check in found.items()}
        if entry.real_time:
            far_sighted = replace(candidate, sight=SIGHTS[-1])
            checks["plans no more per move on a larger map that it discovers"] = lambda: _real_time(far_sighted)
    return _passed(entry, checks)


def _maps() -> list[Grid]:
    return [
        generate("random", SIZE, SIZE, seed=1),
        generate("rooms", SIZE, SIZE, seed=2),
        generate("maze", SIZE + 1, SIZE + 1, seed=3),
        generate("caves", SIZE, SIZE, seed=4),
    ]


def _passed(entry: Algorithm, checks: Mapping[str, Callable[[], Iterable[str]]]) -> list[str]:
    """The names of the checks; an `AlgorithmError` for the first that fails."""
    for name, check in checks.items():
        for fault in check():
            raise AlgorithmError(f"{entry} fails the check {name!r}: {fault}")
    return list(checks)


def _debug(candidate: _Candidate) -> list[str]:
    """Walk a little in both layouts, and with each sight, in plain Python: the checks that few moves can tell."""
    entry = candidate.entry
    trials: list[Trial] = []
    known = [p for i, grid in enumerate(_maps()) for p in random_problems(grid, DEBUG_PROBLEMS, seed=i)]
    for sight in (None, *SIGHTS) if entry.card.senses else (None,):
        trials += replace(candidate, sight=sight).run(known, DEBUGGED)
    if not entry.needs:  # a database is for one layout
        trials += candidate.run([_rows_of(problem) for problem in known], DEBUGGED)
    checks: dict[str, Callable[[], Iterable[str]]] = {
        "runs as plain Python, inside its arrays": lambda: (),
        "walks only along edges, at their cost": lambda: _along_edges(trials),
        "never beats the optimal cost": lambda: _never_below_optimal(trials),
    }
    return _passed(entry, checks)


@dataclass(frozen=True)
class _Candidate:
    """An algorithm that is tried out, and what its agents are given on each map."""

    entry: Algorithm
    databases_for: Callable[[Grid], Sequence[Any]] | None
    sight: int | None = None
    plain: bool = False  # its agents run in plain Python
    made: dict[Grid, Sequence[Any]] = field(default_factory=dict)

    def databases(self, grid: Grid | None) -> Sequence[Any]:
        """The databases for a map, made once."""
        if self.databases_for is None or grid is None:
            return ()
        if grid not in self.made:
            self.made[grid] = self.databases_for(grid)
        return self.made[grid]

    def agent(self, problem: Problem, log_rows: int = 0) -> Agent:
        """An agent for a problem."""
        kind = _Plain if self.plain else Agent
        databases = self.databases(problem.grid)
        return kind(self.entry, problem.world, databases=databases, sight=self.sight, log_rows=log_rows)

    def run(self, problems: Iterable[Problem], limits: Limits | None = None, **how: Any) -> list[Trial]:
        """Trials of problems that come map by map."""
        if self.plain:
            return [self.agent(problem).run(problem, limits or LIMITS, **how) for problem in problems]
        return self._map_by_map(run_many, problems, limits=limits or LIMITS, **how)

    def converge(self, problems: Iterable[Problem]) -> list[Convergence]:
        """Repeated trials of problems that come map by map."""
        return self._map_by_map(converge_many, problems, limits=PATIENT, paths=False)

    def _map_by_map(self, solve: Callable[..., list[R]], problems: Iterable[Problem], **how: Any) -> list[R]:
        done: list[R] = []
        for grid, group in groupby(problems, key=lambda problem: problem.grid):
            done += solve(self.entry, list(group), databases=self.databases(grid), sight=self.sight, **how)
        return done


def _checks_of(candidate: _Candidate, trials: list[Trial]) -> dict[str, Callable[[], Iterable[str]]]:
    """What has to be so whether the agent knows the map or not."""
    entry = candidate.entry
    checks: dict[str, Callable[[], Iterable[str]]] = {
        "walks only along edges, at their cost": lambda: _along_edges(trials),
        "never beats the optimal cost": lambda: _never_below_optimal(trials),
        "does the same every time, on any number of threads": lambda: _repeats(candidate, trials),
        "does the same when watched": lambda: _watched(candidate, [t.problem for t in trials[::PROBLEMS]]),
        "says so when the goal cannot be reached": lambda: _unreachable(candidate),
    }
    if not entry.foresees:
        checks["counts every state that it expands"] = lambda: _counts(candidate, trials[:: 2 * PROBLEMS])
    if entry.complete:
        checks["is complete"] = lambda: _arrives(candidate, trials)
    if entry.card.converges:
        checks["converges"] = lambda: _converges(candidate, [trial.problem for trial in trials[::CONVERGING]])
    return checks


def _along_edges(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        assert trial.path is not None
        here, there = trial.path[:-1], trial.path[1:]
        prices = np.asarray(trial.problem.graph.to_scipy()[here, there]).ravel()  # 0 where there is no move
        astray = np.flatnonzero((prices == 0) & (here != there))  # to stay is free
        if len(astray):
            yield f"on {trial.problem!r} it went from {here[astray[0]]} to {there[astray[0]]}, which is not a move"
        elif abs(prices.sum() - trial.cost) > TOLERANCE * trial.cost:
            yield f"on {trial.problem!r} it says {trial.cost:g}, its path costs {prices.sum():g}"
        if len(here) != trial.moves:
            yield f"on {trial.problem!r} it says {trial.moves} moves, its path has {len(here)}"


def _never_below_optimal(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        if trial.solved and trial.cost < trial.optimal_cost * (1 - TOLERANCE):
            yield f"on {trial.problem!r} it says {trial.cost:g}, but no path costs less than {trial.optimal_cost:g}"


def _repeats(candidate: _Candidate, trials: list[Trial]) -> Iterable[str]:
    again = candidate.run([trial.problem for trial in trials], threads=2)
    return _differences(trials, again, "a second time, with two threads,")


def _watched(candidate: _Candidate, problems: list[Problem]) -> Iterable[str]:
    watched = []
    for problem in problems:
        watch = candidate.agent(problem, log_rows=16).watch(problem, WATCHED)
        for _ in watch:
            pass
        watched.append(watch.trial)
    return _differences(candidate.run(problems, WATCHED), watched, "watched,")


def _counts(candidate: _Candidate, trials: list[Trial]) -> Iterable[str]:
    """Does a move count each time that it generates all successors of a state?

    The agent's own state may be one more: an agent that follows its plan looks there for the move it has to make.
    """
    for trial in trials:
        agent = _Counted(candidate, trial.problem)
        watch, told = agent.watch(trial.problem, COUNTED), 0
        while watch.trial.outcome in (Outcome.WAITING, Outcome.WALKING):
            agent.generated.clear()
            next(watch, None)
            now = watch.trial
            if agent.generated.states > now.states_expanded - told + 1:
                yield (
                    f"in move {max(now.moves, 1)} on {trial.problem!r} it generates all successors of "
                    f"{agent.generated.states} states, and says {now.states_expanded - told}"
                )
                return
            told = now.states_expanded


class _Generated:
    """How often each of a graph's moves was asked for."""

    def __init__(self) -> None:
        self._asked: dict[tuple[int, int], list[int]] = {}

    @property
    def states(self) -> int:
        """The states of which all moves were asked for; one of which each was asked for n times counts n times.

        A state with a single move counts once: looking up that move and expanding the state are the same there.
        """
        return sum(min(times) if len(times) > 1 else 1 for times in self._asked.values())

    def clear(self) -> None:
        """Begin to count anew."""
        self._asked.clear()

    def target(self, graph: Layout, state: int, k: int) -> int:
        """What `andante.world.graph.target` says, noted."""
        key = (id(graph[0]), int(state))  # a graph and its reverse are two
        if key not in self._asked:
            self._asked[key] = [0] * degree(graph, state)
        self._asked[key][k] += 1
        return target(graph, state, k)


class _Plain(Agent):
    """An agent in plain Python: what goes wrong in its kernels is an error with their line."""

    def _loop(self) -> Callable[..., int]:
        return plain_driver(self.algorithm.step, self._instead())

    def _instead(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        """Functions that stand for some that the step calls."""
        return {}


class _Counted(_Plain):
    """An agent in plain Python, whose requests for moves are noted."""

    def __init__(self, candidate: _Candidate, problem: Problem) -> None:
        self.generated = _Generated()
        databases = candidate.databases(problem.grid)
        super().__init__(candidate.entry, problem.world, databases=databases, sight=candidate.sight)

    def _instead(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        # Copies that ask the graph itself: what they look at is not counted, nor what a price is worked out from.
        uncounted = {kernel: interpreted(kernel, {}) for kernel in (catch_up, look_back, pass_on, price_between)}
        return {target: self.generated.target, price: price, **uncounted}


def _in_rows(candidate: _Candidate, trials: list[Trial]) -> Iterable[str]:
    rows = [_rows_of(trial.problem) for trial in trials]
    return _differences(trials, candidate.run(rows), "on rows of arcs")


def _rows_of(problem: Problem) -> Problem:
    """The same problem on the same graph in rows of arcs."""
    return Problem(problem.graph.csr(), problem.start, problem.goal, problem.grid)


def _in_units(candidate: _Candidate, trials: list[Trial]) -> Iterable[str]:
    """Powers of two multiply exactly, so that nothing but an absolute number in the agent can make a difference."""
    entry, params = candidate.entry, candidate.entry.params
    amounts = [parameter.name for parameter in parameters_of(type(params)) if parameter.in_cost]
    for factor in UNITS:
        converted = params._replace(**{name: factor * getattr(params, name) for name in amounts})
        scaled = replace(candidate, entry=replace(entry, params=converted))
        problems = [Problem(t.problem.graph.scaled(factor), t.problem.start, t.problem.goal) for t in trials]
        yield from _differences(trials, scaled.run(problems), f"with all costs multiplied by {factor:g}")


def _all_seen(candidate: _Candidate, trials: list[Trial]) -> Iterable[str]:
    seen = replace(candidate, sight=SIZE).run([trial.problem for trial in trials])
    return _differences(trials, seen, "with the whole map in sight")


def _differences(trials: list[Trial], others: list[Trial], how: str) -> Iterable[str]:
    for one, other in zip(trials, others, strict=True):
        if one.path is None or other.path is None or not np.array_equal(one.path, other.path):
            yield f"{how} it takes another path on {one.problem!r}"
        if one.states_expanded != other.states_expanded or one.outcome is not other.outcome:
            yield f"{how} it expands {other.states_expanded} states instead of {one.states_expanded} on {one.problem!r}"


def _unreachable(candidate: _Candidate) -> Iterable[str]:
    passable = np.ones((9, 9), bool)
    passable[:, 4] = False
    grid = Grid(passable, name="a walled map")
    problem = grid.problem((1, 1), (7, 7))
    trial = candidate.agent(problem).run(problem, LIMITS)
    expected = {Outcome.UNREACHABLE} if candidate.entry.complete else {Outcome.UNREACHABLE, Outcome.STUCK}
    if trial.outcome not in expected:
        yield f"behind a wall it ends with {trial.outcome.name}"


def _arrives(candidate: _Candidate, trials: Iterable[Trial]) -> Iterable[str]:
    late = [trial.problem for trial in trials if not trial.solved]
    for trial in candidate.run(late, PATIENT, paths=False):
        if not trial.solved:
            yield f"it ends with {trial.outcome.name} on {trial.problem!r}"


def _arrives_one_way(candidate: _Candidate) -> Iterable[str]:
    """On graphs of one-way arcs in which the goal can be reached from everywhere: nobody can be complete in others."""
    problems = [graph.problem(0, len(graph) - 1) for graph in map(_one_way, range(ONE_WAY_GRAPHS))]
    return _arrives(candidate, candidate.run(problems))


def _one_way(seed: int) -> Graph:
    """A ring of arcs through all states in a random order, and as many arcs again across it, of all sorts of costs."""
    chance = np.random.default_rng(seed)
    ring = chance.permutation(ONE_WAY_STATES)
    across = chance.integers(ONE_WAY_STATES, size=(ONE_WAY_STATES, 2))
    arcs = np.concatenate([np.stack([ring, np.roll(ring, 1)], 1), across[across[:, 0] != across[:, 1]]])
    costs = chance.integers(8, 64, len(arcs)) / 8
    return Graph.from_edges(np.column_stack([arcs, costs]), states=ONE_WAY_STATES, directed=True)  # type: ignore[arg-type]


def _optimal(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        if trial.cost > trial.optimal_cost * (1 + TOLERANCE):
            yield f"on {trial.problem!r} it walks {trial.cost:g} where {trial.optimal_cost:g} is enough"


def _converges(candidate: _Candidate, problems: list[Problem]) -> Iterable[str]:
    """Is the final path a cheapest one or, where a weight gamma makes costs count less, within 1 / gamma of it?"""
    gamma = getattr(candidate.entry.params, "gamma", 1.0)
    for process in candidate.converge(problems):
        final = process.final
        if not process.converged:
            yield f"on {process.problem!r} it still learns after {len(process.trials)} trials: {process.outcome.name}"
        elif gamma * final.cost > final.optimal_cost * (1 + TOLERANCE):
            yield f"on {process.problem!r} it ends up walking {final.cost:g}, where {final.optimal_cost:g} is enough"


def _real_time(candidate: _Candidate) -> Iterable[str]:
    for kind in ("empty", "random"):
        narrow, wide = (
            max(trial.max_states_expanded for trial in candidate.run(_far_apart(kind, side, count), paths=False))
            for side, count in zip(WIDTHS, (NARROW_PROBLEMS, PROBLEMS), strict=True)
        )
        if wide > 1.25 * narrow + 8:
            yield f"a move expands up to {narrow} states on a map {WIDTHS[0]} wide, and {wide} on one {WIDTHS[1]} wide"


@lru_cache(maxsize=16)
def _far_apart(kind: str, side: int, count: int) -> list[Problem]:
    """Problems on a map of this width; kept, since they are the same for every algorithm and take long to find."""
    return random_problems(generate(kind, side, side, seed=5), count, optimal_cost=(side / 2, np.inf), seed=6)
