"""Limits on a trial, and the result of a trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.errors import AlgorithmError, ParameterError, quoted, real_number
from andante.measures import Outcome, suboptimality_ratio
from andante.notebook import GOAL, PATH, START, Mark, html_table, map_picture
from andante.search.astar import optimal_costs
from andante.world.graph import Graph
from andante.world.problem import Problem

#: The default maximum number of moves, enough for any complete agent on a benchmark map.
DEFAULT_MOVE_CAP = 10_000_000

OUTCOMES = tuple(Outcome)  # by number
MOST = 2**63 - 1  # moves or expansions that the loop can be limited to

_SLACK = 1e-9  # relative error of a cost that is summed in another order


@dataclass(frozen=True)
class Limits:
    """Limits at which an agent gives up: a cost, a number of moves or expansions, or a multiple of the optimal cost.

    >>> Limits(suboptimality=1000).suboptimality
    1000
    """

    cost: float = math.inf
    moves: float = DEFAULT_MOVE_CAP
    expansions: float = math.inf
    suboptimality: float = math.inf

    def __post_init__(self) -> None:
        for name in ("cost", "moves", "expansions", "suboptimality"):
            value = getattr(self, name)
            with suppress(ParameterError):
                if real_number(value, name) > 0:
                    continue
            raise ParameterError(f"the limit on {name} must be above 0, got {quoted(value)}")

    @classmethod
    def check(cls, limits: object) -> None:
        """Raise `ParameterError` if these are not limits.

        >>> Limits.check(5)
        Traceback (most recent call last):
            ...
        andante.errors.ParameterError: limits are given as andante.Limits(moves=1000), not as 5
        """
        if not isinstance(limits, cls):
            raise ParameterError(f"limits are given as andante.Limits(moves=1000), not as {quoted(limits)}")

    @cached_property
    def caps(self) -> tuple[float, int, int]:
        """The limits on cost, moves and expansions, in the form that the loop takes."""
        return float(self.cost), int(min(self.moves, MOST)), int(min(self.expansions, MOST))


@dataclass(frozen=True, eq=False)
class Trial:
    """One agent's path through one problem, and its cost.

    ``path`` contains the states visited, the start first, or is None if it was not requested. ``cells_discovered``
    counts the cells that an agent with sight found blocked. ``seconds`` is the time spent in the loop, planning and
    moving, and ``first_move_seconds`` is the part of it before the first move.
    """

    algorithm: str
    problem: Problem
    outcome: Outcome
    cost: float
    moves: int
    states_expanded: int
    states_touched: int
    max_states_expanded: int
    first_move_states_expanded: int
    first_move_states_touched: int
    values_stored: int
    learned: float
    cells_discovered: int
    seconds: float
    first_move_seconds: float
    path: npt.NDArray[np.int32] | None = None

    @classmethod
    def from_results(
        cls, algorithm: str, problem: Problem, results: tuple[Any, ...], path: npt.NDArray[np.int32] | None
    ) -> Trial:
        """Return the trial of an episode with these results, as `Episodes.results` returns them."""
        (
            outcome,
            _,
            cost,
            expanded,
            touched,
            learned,
            stored,
            moves,
            most,
            first_expanded,
            first_touched,
            discovered,
            nanoseconds,
            first_nanoseconds,
        ) = results
        fields = {
            "algorithm": algorithm,
            "problem": problem,
            "outcome": OUTCOMES[outcome],
            "cost": cost,
            "moves": moves,
            "states_expanded": expanded,
            "states_touched": touched,
            "max_states_expanded": most,
            "first_move_states_expanded": first_expanded,
            "first_move_states_touched": first_touched,
            "values_stored": stored,
            "learned": learned,
            "cells_discovered": discovered,
            "seconds": nanoseconds * 1e-9,
            "first_move_seconds": first_nanoseconds * 1e-9,
            "path": path,
        }
        made = object.__new__(cls)  # the constructor of a frozen class takes four times as long
        object.__setattr__(made, "__dict__", fields)
        return made

    @property
    def solved(self) -> bool:
        """Whether the agent reached the goal."""
        return self.outcome is Outcome.GOAL

    @cached_property
    def optimal_cost(self) -> float:
        """The cost of a cheapest path, infinite if there is no path."""
        return float(least_costs([self.problem])[0])

    @property
    def suboptimality_ratio(self) -> float:
        """Cost over optimal cost; a lower bound if a limit cut the trial short, nan if the agent got stuck."""
        return self.suboptimality_ratio_for(self.optimal_cost)

    def suboptimality_ratio_for(self, optimal_cost: float) -> float:
        """Return the suboptimality ratio for an optimal cost; raise `AlgorithmError` if it exceeds the trial's cost."""
        ratio = suboptimality_ratio(self.cost, optimal_cost, self.outcome)
        if ratio < 1.0 - _SLACK:
            raise AlgorithmError(
                f"{self.algorithm} arrives on {self.problem!r} at a cost of {self.cost:g}, below the optimal cost of "
                f"{optimal_cost:g}: one of the two is wrong; leave out the problem's optimal_cost to have it computed"
            )
        return ratio

    @property
    def states_expanded_per_move(self) -> float:
        """The mean number of states expanded per move."""
        return self.states_expanded / max(self.moves, 1)

    @property
    def cells(self) -> list[tuple[int, int]]:
        """The path as (x, y) cells of the grid."""
        if self.path is None or self.problem.grid is None:
            raise ParameterError("this trial has no path on a grid; run it with paths=True, on a problem of a grid")
        return [self.problem.grid.cell(state) for state in self.path]

    def __repr__(self) -> str:
        return (
            f"<Trial {self.algorithm}: {self.outcome.name} after {self.moves} moves, cost {self.cost:.2f}, "
            f"{self.states_expanded_per_move:.2f} states expanded per move>"
        )

    def _repr_html_(self) -> str:
        problem, grid = self.problem, self.problem.grid
        numbers = {
            "outcome": self.outcome.name,
            "moves": f"{self.moves:,}",
            "cost": f"{self.cost:.2f}",
            "times optimal": f"{self.suboptimality_ratio:.3f}",
            "states expanded per move": f"{self.states_expanded_per_move:.2f}",
            "most for one move": f"{self.max_states_expanded:,}",
        }
        table = html_table([self.algorithm, *numbers], [[str(problem)[1:-1], *numbers.values()]])
        if grid is None or self.path is None:
            return table
        marks: list[Mark] = [(self.path, PATH), (problem.start, START), (problem.goal, GOAL)]
        return (
            map_picture(grid.terrain, f"the path of {self.algorithm} on {grid.name} (green: start, red: goal)", marks)
            + table
        )


def least_costs(problems: Sequence[Problem]) -> npt.NDArray[np.float64]:
    """Return the optimal cost of each problem, computing unknown ones once for equal problems."""
    known = {problem: problem.known_cost for problem in problems}
    costs = {problem: cost for problem, cost in known.items() if cost is not None}
    by_graph: dict[Graph, list[Problem]] = {}
    for problem in dict.fromkeys(problem for problem in problems if problem not in costs):
        by_graph.setdefault(problem.graph, []).append(problem)
    for graph, group in by_graph.items():
        found = optimal_costs(graph, [p.start for p in group], [p.goal for p in group])
        costs.update({problem: float(cost) for problem, cost in zip(group, found, strict=True)})
    return np.array([costs[problem] for problem in problems], np.float64)
