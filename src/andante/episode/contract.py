"""What a card claims, tried out: the checks that every algorithm of the register has to pass.

`check_algorithm` is public for people who write their own agents; the test suite calls it for every card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from andante.agent import Algorithm, find
from andante.datasets.generate import generate
from andante.datasets.scenarios import random_problems
from andante.episode.convergence import converge_many
from andante.episode.loop import Outcome
from andante.episode.run import Agent, run_many
from andante.episode.trial import Limits, Trial
from andante.errors import AlgorithmError
from andante.world.grid import Grid
from andante.world.heuristics import TOLERANCE
from andante.world.problem import Problem

SIZE = 40
# Wide enough that a lookahead of some hundred states ends by its own limit and not at the goal, and three times that.
WIDTHS = (256, 768)
PROBLEMS = 12
CONVERGING = 4  # one problem in so many is repeated until the agent learns nothing
LIMITS = Limits(moves=50_000)
PATIENT = Limits(moves=10_000_000)  # an agent that goes back often may take long, as long as it arrives


def check_algorithm(algorithm: str | Algorithm) -> list[str]:
    """Hold an algorithm to what its card claims: the checks it passed, or an `AlgorithmError` that says what broke.

    >>> check_algorithm("lrta")[0]
    'walks only along edges, at their cost'
    """
    entry = find(algorithm)
    grids = [
        generate("random", SIZE, SIZE, seed=1),
        generate("rooms", SIZE, SIZE, seed=2),
        generate("maze", SIZE + 1, SIZE + 1, seed=3),
        generate("caves", SIZE, SIZE, seed=4),
    ]
    problems = [p for i, grid in enumerate(grids) for p in random_problems(grid, PROBLEMS, seed=i)]
    before = [grid.graph.fingerprint for grid in grids]
    trials = run_many(entry, problems, limits=LIMITS)
    checks: dict[str, Callable[[], Iterable[str]]] = {
        "walks only along edges, at their cost": lambda: _along_edges(trials),
        "never beats the optimal cost": lambda: _never_below_optimal(trials),
        "does the same every time, on any number of threads": lambda: _repeats(entry, trials),
        "does the same when watched": lambda: _watched(entry, trials[::PROBLEMS]),
        "says so when the goal cannot be reached": lambda: _unreachable(entry),
        "does not change the map": lambda: (
            [] if before == [g.graph.fingerprint for g in grids] else ["the map changed"]
        ),
    }
    if not entry.card.ring:
        checks["does the same on the same graph in another layout"] = lambda: _in_rows(entry, trials[::PROBLEMS])
    if entry.card.complete:
        checks["is complete"] = lambda: _arrives(entry, trials)
    if entry.card.optimal:
        checks["is optimal"] = lambda: _optimal(trials)
    if entry.card.converges:
        checks["converges"] = lambda: _converges(entry, problems[::CONVERGING])
    if entry.card.real_time:
        checks["plans no more per move on a larger map"] = lambda: _real_time(entry)
    for name, check in checks.items():
        for fault in check():
            raise AlgorithmError(f"{entry} fails the check {name!r}: {fault}")
    return list(checks)


def _along_edges(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        assert trial.path is not None
        here, there = trial.path[:-1], trial.path[1:]
        prices = np.asarray(trial.problem.graph.to_scipy()[here, there]).ravel()  # 0 where there is no move
        astray = np.flatnonzero((prices == 0) & (here != there))  # to stay is free
        if len(astray):
            yield f"on {trial.problem!r} it went from {here[astray[0]]} to {there[astray[0]]}, which is no move"
        elif abs(prices.sum() - trial.cost) > TOLERANCE * max(1.0, trial.cost):
            yield f"on {trial.problem!r} it says {trial.cost:g}, its path costs {prices.sum():g}"
        if len(here) != trial.moves:
            yield f"on {trial.problem!r} it says {trial.moves} moves, its path has {len(here)}"


def _never_below_optimal(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        if trial.solved and trial.cost < trial.optimal_cost - TOLERANCE:
            yield f"on {trial.problem!r} it says {trial.cost:g}, but no path costs less than {trial.optimal_cost:g}"


def _repeats(entry: Algorithm, trials: list[Trial]) -> Iterable[str]:
    again = run_many(entry, [trial.problem for trial in trials], threads=2, limits=LIMITS)
    return _differences(trials, again, "a second time, with two threads,")


def _watched(entry: Algorithm, trials: list[Trial]) -> Iterable[str]:
    watched = []
    for trial in trials:
        watch = Agent(entry, trial.problem.graph, log_rows=16).watch(trial.problem, LIMITS)
        for _ in watch:
            pass
        watched.append(watch.trial)
    return _differences(trials, watched, "watched,")


def _in_rows(entry: Algorithm, trials: list[Trial]) -> Iterable[str]:
    rows = [Problem(t.problem.graph.csr(), t.problem.start, t.problem.goal, t.problem.grid) for t in trials]
    return _differences(trials, run_many(entry, rows, limits=LIMITS), "on rows of arcs")


def _differences(trials: list[Trial], others: list[Trial], how: str) -> Iterable[str]:
    for one, other in zip(trials, others, strict=True):
        if one.path is None or other.path is None or not np.array_equal(one.path, other.path):
            yield f"{how} it takes another path on {one.problem!r}"
        if one.states_expanded != other.states_expanded or one.outcome is not other.outcome:
            yield f"{how} it expands {other.states_expanded} states instead of {one.states_expanded} on {one.problem!r}"


def _unreachable(entry: Algorithm) -> Iterable[str]:
    passable = np.ones((9, 9), bool)
    passable[:, 4] = False
    grid = Grid(passable, name="a walled map")
    trial = Agent(entry, grid).run(grid.problem((1, 1), (7, 7)), LIMITS)
    if trial.outcome is not Outcome.UNREACHABLE:
        yield f"behind a wall it ends with {trial.outcome.name}"


def _arrives(entry: Algorithm, trials: Iterable[Trial]) -> Iterable[str]:
    late = [trial.problem for trial in trials if not trial.solved]
    for trial in run_many(entry, late, limits=PATIENT, paths=False):
        if not trial.solved:
            yield f"it ends with {trial.outcome.name} on {trial.problem!r}"


def _optimal(trials: Iterable[Trial]) -> Iterable[str]:
    for trial in trials:
        if trial.cost > trial.optimal_cost + TOLERANCE:
            yield f"on {trial.problem!r} it walks {trial.cost:g} where {trial.optimal_cost:g} is enough"


def _converges(entry: Algorithm, problems: list[Problem]) -> Iterable[str]:
    """Is the final path a cheapest one or, where a weight gamma makes costs count less, within 1 / gamma of it?"""
    gamma = getattr(entry.params, "gamma", 1.0)
    for process in converge_many(entry, problems, limits=PATIENT, paths=False):
        final = process.final
        if not process.converged:
            yield f"on {process.problem!r} it still learns after {len(process.trials)} trials: {process.outcome.name}"
        elif gamma * final.cost > final.optimal_cost + TOLERANCE * final.moves:
            yield f"on {process.problem!r} it ends up walking {final.cost:g}, where {final.optimal_cost:g} is enough"


def _real_time(entry: Algorithm) -> Iterable[str]:
    for kind in ("empty", "random"):
        narrow, wide = (_worst_move(entry, generate(kind, side, side, seed=5)) for side in WIDTHS)
        if wide > 1.25 * narrow + 8:
            yield f"a move expands up to {narrow} states on a map {WIDTHS[0]} wide, and {wide} on one {WIDTHS[1]} wide"


def _worst_move(entry: Algorithm, grid: Grid) -> int:
    far = random_problems(grid, PROBLEMS, optimal_cost=(grid.width / 2, np.inf), seed=6)
    trials = run_many(entry, far, limits=LIMITS, paths=False)
    return max(trial.max_states_expanded for trial in trials)
