"""Checks of the claims on an algorithm's card, which every registered algorithm has to pass.

`check_algorithm` is public for people who write their own agents; the test suite calls it for every card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from andante.agent import Algorithm, find, parameters_of
from andante.datasets.generate import generate
from andante.datasets.scenarios import random_problems
from andante.episode.changes_contract import catch_goals, follow_changes
from andante.episode.convergence import Convergence, converge_many
from andante.episode.crowd_contract import walk_in_crowds
from andante.episode.plain import CountedAgent, PlainAgent
from andante.episode.run import Outfit
from andante.episode.single import Agent
from andante.episode.trial import Limits, Trial
from andante.errors import AlgorithmError
from andante.measures import Outcome
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.heuristics import TOLERANCE, Metric
from andante.world.problem import Problem

SIZE = 40
# Wide enough that a lookahead of a few hundred states ends at its own limit and not at the goal, and three times that.
WIDTHS = (256, 768)
PROBLEMS = 12
NARROW_PROBLEMS = 48  # on the narrow map, which sets the limit; an agent's worst move may be in one of twenty problems
CONVERGING = 4  # every fourth problem is repeated until the agent learns nothing
RETURNING = 4  # every fourth problem is walked in the other direction too, by the same agent
LIMITS = Limits(moves=50_000)
PATIENT = Limits(moves=10_000_000)  # an agent that often backtracks may take long to arrive
WATCHED = Limits(moves=2_000)  # for watching an agent, which calls Python at every move
PUSHES, SHOVES = 16, 0.1  # the number of times that an agent is pushed, and the probability of it after each move
COUNTED = Limits(moves=25)  # for counting an agent's expansions from outside, which is slow
UNITS = (2.0**-40, 2.0**40)
ONE_WAY_GRAPHS, ONE_WAY_STATES = 4, 32
DEBUGGED = Limits(moves=100)  # for an agent in plain Python, which is slow
DEBUG_PROBLEMS = 1  # on each map
CROWD_MOVES = 2_000  # of a walk that is repeated in a crowd, which calls Python at every tick
SIGHTS = (1, 5)  # of agents that do not know the map: the shortest possible, and a longer one

R = TypeVar("R")


def check_algorithm(
    algorithm: str | Algorithm,
    *,
    databases_for: Callable[[Grid], Sequence[Any]] | None = None,
    maps: Sequence[Grid] | None = None,
    debug: bool = False,
) -> list[str]:
    """Check the claims on an algorithm's card; return the checks passed, or raise `AlgorithmError` for one that fails.

    ``databases_for`` makes the databases that the algorithm needs, for each map that it is tested on. ``maps`` are the
    maps to test it on, such as maps whose cells have costs. The default is four generated maps of 40 x 40 cells.

    With ``debug`` its kernels run as plain Python for some moves on small maps. They are not compiled, an index out of
    bounds or another error is reported with its line, and kernels may print. Kernels that ``allocate`` calls run
    compiled, as always. The claims on the card are not checked.

    >>> check_algorithm("lrta")[0]
    'walks only along edges, at their cost'
    >>> check_algorithm("lrta", debug=True)[0]
    'runs as plain Python, inside its arrays'
    """
    entry = find(algorithm)
    if debug:
        return _debug(_Subject(entry, databases_for, plain=True), _maps() if maps is None else maps)
    subject = _Subject(entry, databases_for)
    grids = _maps() if maps is None else list(maps)
    problems = [p for i, grid in enumerate(grids) for p in random_problems(grid, PROBLEMS, seed=i)]
    before = [grid.graph.fingerprint for grid in grids]
    trials = subject.run(problems)
    checks: dict[str, Callable[[], Iterable[str]]] = {
        **_checks_of(subject, trials),
        "does not change the map": lambda: (
            [] if before == [g.graph.fingerprint for g in grids] else ["the map changed"]
        ),
    }
    if not entry.card.ring and not entry.needs:  # a database is for one layout
        alike = [trial for trial in trials[::PROBLEMS] if _same_in_rows(entry, trial.problem.graph)]
        checks["does the same on the same graph in another layout"] = lambda: _in_rows(subject, alike)
        checks["does the same in any unit of costs"] = lambda: _in_units(subject, alike)
    if entry.complete and not entry.card.two_way and not entry.needs and not entry.card.regions:
        checks["is complete where moves cannot be taken back"] = lambda: _arrives_one_way(subject)
    if entry.card.optimal:
        checks["is optimal"] = lambda: _optimal(trials)
    if entry.real_time:
        checks["plans no more per move on a larger map"] = lambda: _real_time(subject)
    if entry.card.crowd:
        checks["is real-time if it can be one of a crowd"] = lambda: _is_for_crowds(entry)
    if entry.crowd:
        checks["walks the same as one of a crowd"] = lambda: _in_a_crowd(subject, trials)
    some = [trial.problem for trial in trials[::PROBLEMS]]
    if entry.living:
        checks["follows a map that changes"] = lambda: follow_changes(subject.outfit, some)
    if entry.pursues and entry.complete:
        checks["catches a goal that moves more slowly"] = lambda: catch_goals(entry, some)
    if entry.card.senses:
        checks |= _discovery(subject, trials, some)
    return _passed(entry, checks)


def _discovery(subject: _Subject, trials: list[Trial], some: list[Problem]) -> dict[str, Callable[[], Iterable[str]]]:
    """Return the checks of an agent that discovers its map; ``trials`` are those in which it knew the map."""
    entry, checks = subject.entry, dict[str, Callable[[], Iterable[str]]]()
    problems = [trial.problem for trial in trials]
    if not entry.card.regions:
        checks["does the same when it sees the whole map as when it knows it"] = lambda: _all_seen(subject, trials)
    for sight in SIGHTS:
        unknown = replace(subject, sight=sight)
        found = _checks_of(unknown, unknown.run(problems))
        if entry.living:
            found["follows a map that changes"] = partial(follow_changes, unknown.outfit, some)
        checks |= {f"{name}, with a sight of {sight}": check for name, check in found.items()}
    if entry.real_time:
        far_sighted = replace(subject, sight=SIGHTS[-1])
        checks["plans no more per move on a larger map that it discovers"] = lambda: _real_time(far_sighted)
    return checks


def _maps() -> list[Grid]:
    return [
        generate("random", SIZE, SIZE, seed=1),
        generate("rooms", SIZE, SIZE, seed=2),
        generate("maze", SIZE + 1, SIZE + 1, seed=3),
        generate("caves", SIZE, SIZE, seed=4),
    ]


def _passed(entry: Algorithm, checks: Mapping[str, Callable[[], Iterable[str]]]) -> list[str]:
    """Return the names of the checks; raise `AlgorithmError` for the first that fails."""
    for name, check in checks.items():
        for fault in check():
            raise AlgorithmError(f"{entry} fails the check {name!r}: {fault}")
    return list(checks)


def _debug(subject: _Subject, grids: Sequence[Grid]) -> list[str]:
    """Make a few moves in both layouts and with each sight, in plain Python, and return the names of checks passed."""
    entry = subject.entry
    trials: list[Trial] = []
    known = [p for i, grid in enumerate(grids) for p in random_problems(grid, DEBUG_PROBLEMS, seed=i)]
    for sight in (None, *SIGHTS) if entry.card.senses else (None,):
        trials += replace(subject, sight=sight).run(known, DEBUGGED)
    if not entry.needs:  # a database is for one layout
        trials += subject.run([_rows_of(problem) for problem in known], DEBUGGED)
    checks: dict[str, Callable[[], Iterable[str]]] = {
        "runs as plain Python, inside its arrays": lambda: (),
        "walks only along edges, at their cost": lambda: _along_edges(trials),
        "never beats the optimal cost": lambda: _never_below_optimal(trials),
    }
    return _passed(entry, checks)


@dataclass(frozen=True)
class _Subject:
    """An algorithm under test, and a function that makes its databases for each map."""

    entry: Algorithm
    databases_for: Callable[[Grid], Sequence[Any]] | None
    sight: int | None = None
    plain: bool = False  # its agents run in plain Python
    made: dict[Grid, Sequence[Any]] = field(default_factory=dict)

    def databases(self, grid: Grid | None) -> Sequence[Any]:
        """Return the databases for a map, which are made only once."""
        if self.databases_for is None or grid is None:
            return ()
        if grid not in self.made:
            self.made[grid] = self.databases_for(grid)
        return self.made[grid]

    def outfit(self, grid: Grid | None) -> Outfit[Any]:
        """Return the outfit of its agents on a map."""
        return Outfit.of(self.entry, self.databases(grid), self.sight)

    def agent(self, problem: Problem, log_rows: int = 0) -> Agent:
        """Return an agent for a problem."""
        return self.outfit(problem.grid).agent(problem.world, log_rows, PlainAgent if self.plain else Agent)

    def run(self, problems: Iterable[Problem], limits: Limits | None = None, **how: Any) -> list[Trial]:
        """Return trials of these problems, which are grouped by map."""
        if self.plain:
            return [self.agent(problem).run(problem, limits or LIMITS, **how) for problem in problems]
        return self._map_by_map(lambda one, some: one.run_many(some, limits=limits or LIMITS, **how), problems)

    def converge(self, problems: Iterable[Problem]) -> list[Convergence]:
        """Return repeated trials of these problems, which are grouped by map."""

        def solve(one: Outfit[Any], some: list[Problem]) -> list[Convergence]:
            return converge_many(
                one.algorithm, some, limits=PATIENT, paths=False, databases=one.databases, sight=one.sight
            )

        return self._map_by_map(solve, problems)

    def _map_by_map(
        self, solve: Callable[[Outfit[Any], list[Problem]], list[R]], problems: Iterable[Problem]
    ) -> list[R]:
        done: list[R] = []
        for grid, group in groupby(problems, key=lambda problem: problem.grid):
            done += solve(self.outfit(grid), list(group))
        return done


def _checks_of(subject: _Subject, trials: list[Trial]) -> dict[str, Callable[[], Iterable[str]]]:
    """Return the checks that apply whether the agent knows the map or not."""
    entry = subject.entry
    checks: dict[str, Callable[[], Iterable[str]]] = {
        "walks only along edges, at their cost": lambda: _along_edges(trials),
        "never beats the optimal cost": lambda: _never_below_optimal(trials),
        "does the same every time, on any number of threads": lambda: _repeats(subject, trials),
        "does the same when watched": lambda: _watched(subject, [t.problem for t in trials[::PROBLEMS]]),
        "does the same when asked for one move at a time": lambda: _asked(
            subject, [t.problem for t in trials[::PROBLEMS]]
        ),
        "reports when the goal cannot be reached": lambda: _unreachable(subject),
    }
    if not entry.needs:  # a database may be for some goals only
        checks["keeps nothing from the last problem"] = lambda: _starts_afresh(
            subject, [t.problem for t in trials[::RETURNING]]
        )
    if not entry.foresees:
        checks["counts every state that it expands"] = lambda: _counts(subject, trials[:: 2 * PROBLEMS])
    if entry.complete:
        checks["is complete"] = lambda: _arrives(subject, trials)
    checks["continues from wherever it is pushed"] = lambda: _pushed(subject, [t.problem for t in trials[1::PROBLEMS]])
    if entry.card.converges:
        checks["converges"] = lambda: _converges(subject, [trial.problem for trial in trials[::CONVERGING]])
    return checks


def _along_edges(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        assert trial.path is not None
        here, there = trial.path[:-1], trial.path[1:]
        prices = np.asarray(trial.problem.graph.to_scipy()[here, there]).ravel()  # 0 where there is no move
        astray = np.flatnonzero((prices == 0) & (here != there))  # staying is free
        if len(astray):
            yield f"on {trial.problem!r} it went from {here[astray[0]]} to {there[astray[0]]}, which is not a move"
        elif abs(prices.sum() - trial.cost) > TOLERANCE * trial.cost:
            yield f"on {trial.problem!r} it reports a cost of {trial.cost:g}, but its path costs {prices.sum():g}"
        if len(here) != trial.moves:
            yield f"on {trial.problem!r} it reports {trial.moves} moves, but its path has {len(here)}"


def _never_below_optimal(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        if trial.solved and trial.cost < trial.optimal_cost * (1 - TOLERANCE):
            yield f"on {trial.problem!r} it reports {trial.cost:g}, but no path costs less than {trial.optimal_cost:g}"


def _repeats(subject: _Subject, trials: list[Trial]) -> Iterable[str]:
    again = subject.run([trial.problem for trial in trials], threads=2)
    return _differences(trials, again, "a second time, with two threads,")


def _starts_afresh(subject: _Subject, problems: list[Problem]) -> Iterable[str]:
    """Walk to the goal and back: what an agent keeps by mistake matters most where it has just been."""
    for problem in problems:
        back = replace(problem, start=problem.goal, goal=problem.start, optimal_cost=None, listed_cost=None)
        agent = subject.agent(problem)
        agent.run(problem, LIMITS)
        new = subject.agent(back).run(back, LIMITS)
        yield from _differences([new], [agent.run(back, LIMITS)], "after the same problem in the other direction")


def _watched(subject: _Subject, problems: list[Problem]) -> Iterable[str]:
    watched = []
    for problem in problems:
        watch = subject.agent(problem, log_rows=16).watch(problem, WATCHED)
        for _ in watch:
            pass
        watched.append(watch.trial)
    return _differences(subject.run(problems, WATCHED), watched, "watched,")


def _is_for_crowds(entry: Algorithm) -> Iterable[str]:
    """Check the card; crowds themselves refuse settings of a real-time algorithm that are not real-time."""
    if not entry.card.real_time:
        yield "its card says crowd and not real_time, but a crowd's budget can be kept only if each move is bounded"


def _in_a_crowd(subject: _Subject, trials: list[Trial]) -> Iterable[str]:
    short = [trial for trial in trials if trial.moves <= CROWD_MOVES]
    return walk_in_crowds(subject.outfit, short, LIMITS.moves)


def _asked(subject: _Subject, problems: list[Problem]) -> Iterable[str]:
    for trial in subject.run(problems, WATCHED):
        problem, path, expanded = trial.problem, [trial.problem.start], 0
        agent = subject.agent(problem)
        while len(path) <= trial.moves:
            move = agent.move(path[-1], problem.goal)
            path.append(move.to)
            expanded += move.expanded
        assert trial.path is not None
        if path != trial.path.tolist():
            yield f"asked for one move at a time, it takes another path on {problem!r}"
        elif trial.solved and expanded != trial.states_expanded:
            yield f"asked for one move at a time, it expands {expanded} states instead of {trial.states_expanded}"


def _pushed(subject: _Subject, problems: list[Problem]) -> Iterable[str]:
    """Check that an agent makes legal moves from any state, and finally arrives if it is complete."""
    for seed, problem in enumerate(problems):
        agent, graph, goal = subject.agent(problem), problem.graph, problem.goal
        chance, state = np.random.default_rng(seed), problem.start
        anywhere = np.flatnonzero(graph.components == graph.components[goal])
        for _ in range(PUSHES):
            try:
                state = _moved(agent, state, goal, int(chance.geometric(SHOVES)))
            except AlgorithmError as error:
                yield f"pushed to another state on {problem!r}, {error}"
                return
            near = [to for to, _ in graph.neighbours(state)]
            state = int(chance.choice(near if chance.random() < 1 / 2 else anywhere))
        if subject.entry.complete and state != goal:
            rest = Problem(graph, state, goal, problem.grid)
            (trial,) = agent.run_all([rest], PATIENT, paths=False, again=not subject.entry.card.anchored)
            if not trial.solved:
                yield f"after it was pushed around on {problem!r}, it ends with {trial.outcome.name}"


def _moved(agent: Agent, state: int, goal: int, moves: int) -> int:
    """Let an agent make some moves, and return the state that they lead to."""
    for _ in range(moves):
        move = agent.move(state, goal)
        if move.to < 0:
            break
        if (move.to, move.cost) not in [(state, 0.0), *agent.graph.neighbours(state)]:
            raise AlgorithmError(f"it goes from {state} to {move.to} for {move.cost:g}, which is not a move")
        state = move.to
    return state


def _counts(subject: _Subject, trials: list[Trial]) -> Iterable[str]:
    """Check that a move counts an expansion each time that it generates all successors of a state.

    The agent's own state may be one more, because an agent that follows its plan looks up its next move there.
    """
    for trial in trials:
        agent = CountedAgent(subject.outfit(trial.problem.grid), trial.problem.world)
        watch, before = agent.watch(trial.problem, COUNTED), 0
        while watch.trial.outcome in (Outcome.WAITING, Outcome.WALKING):
            agent.generated.clear()
            next(watch, None)
            now = watch.trial
            if agent.generated.states > now.states_expanded - before + 1:
                yield (
                    f"in move {max(now.moves, 1)} on {trial.problem!r} it generates all successors of "
                    f"{agent.generated.states} states, but reports {now.states_expanded - before}"
                )
                return
            before = now.states_expanded


def _same_in_rows(entry: Algorithm, graph: Graph) -> bool:
    """Return whether an agent should do the same on this graph in rows of arcs.

    Without diagonals, distances between regions are straight lines above a grid, but Manhattan distances above rows of
    arcs, which may be any graph that has these as its heuristic.
    """
    return not (entry.card.regions and graph.metric == Metric.MANHATTAN)


def _in_rows(subject: _Subject, trials: list[Trial]) -> Iterable[str]:
    rows = [_rows_of(trial.problem) for trial in trials]
    return _differences(trials, subject.run(rows), "on rows of arcs")


def _rows_of(problem: Problem) -> Problem:
    """Return the same problem on the same graph in rows of arcs."""
    return Problem(problem.graph.csr(), problem.start, problem.goal, problem.grid)


def _in_units(subject: _Subject, trials: list[Trial]) -> Iterable[str]:
    """Check with scaled costs. Powers of two are exact, so only an absolute number in the agent makes a difference."""
    entry, params = subject.entry, subject.entry.params
    amounts = [parameter.name for parameter in parameters_of(type(params)) if parameter.in_cost]
    for factor in UNITS:
        converted = params._replace(**{name: factor * getattr(params, name) for name in amounts})
        scaled = replace(subject, entry=replace(entry, params=converted))
        problems = [Problem(t.problem.graph.scaled(factor), t.problem.start, t.problem.goal) for t in trials]
        yield from _differences(trials, scaled.run(problems), f"with all costs multiplied by {factor:g}")


def _all_seen(subject: _Subject, trials: list[Trial]) -> Iterable[str]:
    seen = replace(subject, sight=SIZE).run([trial.problem for trial in trials])
    return _differences(trials, seen, "with the whole map in sight")


def _differences(trials: list[Trial], others: list[Trial], how: str) -> Iterable[str]:
    for one, other in zip(trials, others, strict=True):
        if one.path is None or other.path is None or not np.array_equal(one.path, other.path):
            yield f"{how} it takes another path on {one.problem!r}"
        if one.states_expanded != other.states_expanded or one.outcome is not other.outcome:
            yield f"{how} it expands {other.states_expanded} states instead of {one.states_expanded} on {one.problem!r}"


def _unreachable(subject: _Subject) -> Iterable[str]:
    passable = np.ones((9, 9), bool)
    passable[:, 4] = False
    grid = Grid(passable, name="a walled map")
    problem = grid.problem((1, 1), (7, 7))
    trial = subject.agent(problem).run(problem, LIMITS)
    expected = {Outcome.UNREACHABLE} if subject.entry.complete else {Outcome.UNREACHABLE, Outcome.STUCK}
    if trial.outcome not in expected:
        yield f"behind a wall it ends with {trial.outcome.name}"


def _arrives(subject: _Subject, trials: Iterable[Trial]) -> Iterable[str]:
    late = [trial.problem for trial in trials if not trial.solved]
    for trial in subject.run(late, PATIENT, paths=False):
        if not trial.solved:
            yield f"it ends with {trial.outcome.name} on {trial.problem!r}"


def _arrives_one_way(subject: _Subject) -> Iterable[str]:
    """Check on one-way graphs in which every state can reach the goal; on others no agent can be complete."""
    problems = [graph.problem(0, len(graph) - 1) for graph in map(_one_way, range(ONE_WAY_GRAPHS))]
    return _arrives(subject, subject.run(problems))


def _one_way(seed: int) -> Graph:
    """Return a ring of arcs through all states in random order, and about as many arcs across it, with random costs."""
    chance = np.random.default_rng(seed)
    ring = chance.permutation(ONE_WAY_STATES)
    across = chance.integers(ONE_WAY_STATES, size=(ONE_WAY_STATES, 2))
    arcs = np.concatenate([np.stack([ring, np.roll(ring, 1)], 1), across[across[:, 0] != across[:, 1]]])
    costs = chance.integers(8, 64, len(arcs)) / 8
    return Graph.from_edges(np.column_stack([arcs, costs]), states=ONE_WAY_STATES, directed=True)  # type: ignore[arg-type]


def _optimal(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        if trial.cost > trial.optimal_cost * (1 + TOLERANCE):
            yield f"on {trial.problem!r} its path costs {trial.cost:g}, where {trial.optimal_cost:g} is enough"


def _converges(subject: _Subject, problems: list[Problem]) -> Iterable[str]:
    """Check that the final path is a cheapest one, or costs at most 1 / gamma times as much if there is a gamma."""
    gamma = getattr(subject.entry.params, "gamma", 1.0)
    for process in subject.converge(problems):
        final = process.final
        if not process.converged:
            yield f"on {process.problem!r} it still learns after {len(process.trials)} trials: {process.outcome.name}"
        elif gamma * final.cost > final.optimal_cost * (1 + TOLERANCE):
            yield f"on {process.problem!r} its final path costs {final.cost:g}, where {final.optimal_cost:g} is enough"


def _real_time(subject: _Subject) -> Iterable[str]:
    for kind in ("empty", "random"):
        narrow, wide = (
            max(trial.max_states_expanded for trial in subject.run(_far_apart(kind, side, count), paths=False))
            for side, count in zip(WIDTHS, (NARROW_PROBLEMS, PROBLEMS), strict=True)
        )
        if wide > 1.25 * narrow + 8:
            yield f"a move expands up to {narrow} states on a map {WIDTHS[0]} wide, and {wide} on one {WIDTHS[1]} wide"


@lru_cache(maxsize=16)
def _far_apart(kind: str, side: int, count: int) -> list[Problem]:
    """Return problems on a map of this width, cached because all algorithms use them and finding them takes long."""
    return random_problems(generate(kind, side, side, seed=5), count, optimal_cost=(side / 2, np.inf), seed=6)
