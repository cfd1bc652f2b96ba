"""Agents side by side on the same problems: the trial of each agent on each problem, and the problems that all solved.

The cost of a trial that did not arrive cannot be compared, because it depends more on the limit than on the agent. So
agents are compared on the problems that all of them solved. The alternative is a comparison on all problems with a
penalty, a number for each trial that did not arrive (`capped_suboptimality_ratio`, or in scenes
`capped_replanned_ratio`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError
from andante.measures.summary import Row, maps_of, place_columns

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contest:
    """Agents on the same problems, and the place of every trial in the rows.

    >>> rows = [{"algorithm": name, "map": "arena", "start": start, "goal": 9, "solved": name == "a" or start == 0}
    ...         for name in "ab" for start in (0, 1)]
    >>> contest = Contest.of_rows(rows)
    >>> contest.agents, contest.solved.tolist(), contest.solved_by_all().rows.tolist()
    (('a', 'b'), [[True, True], [True, False]], [[0], [2]])
    """

    agents: tuple[str, ...]
    maps: npt.NDArray[Any]  # [problems], the map of each
    rows: Numbers  # [agents, problems], the row of each trial
    solved: Flags  # [agents, problems]

    @classmethod
    def of_rows(cls, rows: Sequence[Row], by: str = "algorithm") -> Contest | None:
        """Return the contest of these rows, or None if they do not identify their problems."""
        places = [place_columns(row) for row in rows]
        if not rows or not all(places):
            return None
        numbers: dict[tuple[Any, ...], int] = {}
        found = [
            numbers.setdefault(tuple(row[name] for name in place), len(numbers))
            for row, place in zip(rows, places, strict=True)
        ]
        maps = np.array(maps_of(rows))
        solved = np.array([bool(row["solved"]) for row in rows])
        return cls.of_columns([str(row[by]) for row in rows], np.array(found, np.int64), maps, solved)

    @classmethod
    def of_columns(cls, agents: Sequence[str], places: Numbers, maps: npt.NDArray[Any], solved: Flags) -> Contest:
        """Return the contest of rows given by columns; ``places`` numbers the problems.

        If an agent was run several times on a problem, all others must have been run as often, and their trials are
        paired in order. Raise `ParameterError` if agents were run on different problems.
        """
        names = list(dict.fromkeys(agents))
        code = {name: k for k, name in enumerate(names)}
        whose = np.fromiter((code[name] for name in agents), np.int64, len(agents))
        order = np.lexsort((places, whose))  # by agent, then by problem; rows that are equal in both stay in order
        counts = np.bincount(whose, minlength=len(names))
        sides = np.split(order, np.cumsum(counts)[:-1])
        for name, side in zip(names[1:], sides[1:], strict=True):
            if not np.array_equal(places[side], places[sides[0]]):
                raise ParameterError(
                    f"{names[0]} and {name} were run on different problems, so they cannot be compared problem by "
                    "problem; choose rows of one set of problems"
                )
        table = np.stack(sides)
        return cls(tuple(names), maps[table[0]], table, solved[table])

    @property
    def problems(self) -> int:
        """The number of problems."""
        return len(self.maps)

    def only(self, agents: Collection[str]) -> Contest:
        """Return the contest of some agents."""
        kept = [k for k, name in enumerate(self.agents) if name in agents]
        return Contest(tuple(self.agents[k] for k in kept), self.maps, self.rows[kept], self.solved[kept])

    def ordered(self, agents: Sequence[str]) -> Contest:
        """Return the contest with its agents in this order."""
        number = {name: k for k, name in enumerate(self.agents)}
        places = [number[name] for name in agents]
        return Contest(tuple(agents), self.maps, self.rows[places], self.solved[places])

    def solved_by_all(self) -> Contest:
        """Return the contest on those problems that all agents solved."""
        kept = self.solved.all(axis=0)
        return Contest(self.agents, self.maps[kept], self.rows[:, kept], self.solved[:, kept])

    def of_solvers(self) -> Contest:
        """Return the contest of those agents that solved any problem."""
        return self.only({name for name, solved in zip(self.agents, self.solved, strict=True) if solved.any()})


def solved_by_all(rows: Sequence[Row], agents: Collection[str] = (), by: str = "algorithm") -> list[Row]:
    """Return the rows on problems that all agents solved; if ``agents`` are given, only theirs.

    Agents that solved nothing are left out. The rows must identify their problems.

    >>> rows = [{"algorithm": name, "map": "arena", "start": start, "goal": 9, "solved": name == "a" or start == 0}
    ...         for name in "ab" for start in (0, 1)]
    >>> [(row["algorithm"], row["start"]) for row in solved_by_all(rows)]
    [('a', 0), ('b', 0)]
    """
    contest = Contest.of_rows(rows, by)
    if contest is None:
        raise ParameterError("rows without start and goal cannot be compared problem by problem; add these columns")
    chosen = (contest.only(agents) if agents else contest).of_solvers().solved_by_all()
    return [rows[k] for k in np.sort(chosen.rows, axis=None).tolist()]
