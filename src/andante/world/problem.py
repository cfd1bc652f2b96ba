"""A problem: a start and a goal on a graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from andante.errors import ProblemError, expect, quoted, whole_number
from andante.world.graph import Graph

if TYPE_CHECKING:
    from andante.world.grid import Grid


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem of going from state ``start`` to state ``goal``; ``grid`` is the map behind the graph, if any.

    ``optimal_cost`` is the cost of a cheapest path if known; `andante.with_optimal_costs` computes it. On a `World` it
    is the cost in the version for which it was computed. ``listed_cost`` is the cost given in a scenario file, which is
    not always right.
    """

    graph: Graph
    start: int
    goal: int
    grid: Grid | None = None
    optimal_cost: float | None = None
    listed_cost: float | None = None

    def __post_init__(self) -> None:
        expect(self.graph, Graph, "a problem needs a Graph; on a map grid.problem(start, goal) makes one")
        for what in ("start", "goal"):
            state = whole_number(getattr(self, what), f"the {what}")
            object.__setattr__(self, what, state)
            if not 0 <= state < len(self.graph):
                raise ProblemError(f"the {what} {state} is not a state; there are {len(self.graph)}, numbered from 0")
        if self.start == self.goal:
            raise ProblemError(f"start and goal are the same, {self.describe(self.start)}: there is nothing to solve")

        object.__setattr__(self, "_version", self.graph.version)

    @property
    def known_cost(self) -> float | None:
        """The optimal cost, unless it is not known or the map has changed since it was computed."""
        return self.optimal_cost if self.graph.version == self._version else None  # type: ignore[attr-defined]

    @property
    def reachable(self) -> bool:
        """Whether start and goal are in the same component. If not, no agent can reach the goal."""
        label = self.graph.components
        return bool(label[self.start] == label[self.goal])

    @property
    def world(self) -> Grid | Graph:
        """The map, or the graph if it is not the map's own. An agent for this problem is made for it."""
        return self.grid if self.grid is not None and self.grid.graph is self.graph else self.graph

    def describe(self, state: int) -> str:
        """Return a readable name of a state: its cell on a grid, its label or number on other graphs."""
        if self.grid is not None:
            return f"({', '.join(map(str, self.grid.cell(state)))})"
        return f"state {self.graph.labels[state] if self.graph.labels else state}"

    def with_optimal_cost(self, cost: float) -> Problem:
        """Return this problem with the cost of a cheapest path set."""
        return replace(self, optimal_cost=cost)

    def __eq__(self, other: object) -> bool:
        """Return whether the other problem has the same start and goal on an equal graph."""
        if not isinstance(other, Problem):
            return NotImplemented
        return (self.start, self.goal) == (other.start, other.goal) and self.graph == other.graph

    def __hash__(self) -> int:
        return hash((self.graph, self.start, self.goal))

    def __repr__(self) -> str:
        where = f" on {self.grid.name}" if self.grid is not None else ""
        return f"<Problem {self.describe(self.start)} to {self.describe(self.goal)}{where}>"


def check_problem(problem: object) -> None:
    """Raise `ProblemError` unless this is a problem."""
    expect(problem, Problem, "a problem is what grid.problem(start, goal) returns")


def checked_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems as a list; raise `ProblemError` if they are not problems."""
    if isinstance(problems, Problem) or not isinstance(problems, Iterable):
        raise ProblemError(f"problems are a list, such as andante.random_problems returns, not {quoted(problems)}")
    known = list(problems)
    for problem in known:
        check_problem(problem)
    return known
