"""Problems on a map with their correct answers, which are SciPy's and not Andante's."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.moves import STEPS, Arcs, Cell, Passable, legal_steps

FIELDS = 8  # the number of distance fields on each map
ONE_STEP = 20  # the number of problems of a single move


@dataclass(frozen=True)
class ProblemSet:
    """The problems on one map, in random order, so that any first part is a fair sample."""

    name: str
    passable: Passable
    start: npt.NDArray[np.int64]  # [n, 2], x and y
    goal: npt.NDArray[np.int64]  # [n, 2]
    optimal: npt.NDArray[np.float64]  # [n]
    near_goal: npt.NDArray[np.int64]  # [min(n, ONE_STEP), 2], a cell next to each of the first starts
    field: npt.NDArray[np.float64]  # [min(n, FIELDS), height, width], costs from each of the first starts

    def __len__(self) -> int:
        return len(self.start)

    def pairs(self) -> list[tuple[Cell, Cell]]:
        """Return start and goal of every problem."""
        return _pairs(self.start, self.goal)

    def one_step_pairs(self) -> list[tuple[Cell, Cell]]:
        """Return start and goal of the problems of a single move."""
        return _pairs(self.start, self.near_goal)

    def head(self, count: int) -> ProblemSet:
        """Return the first ``count`` problems."""
        cut = {name: getattr(self, name)[:count] for name in ("start", "goal", "optimal", "near_goal", "field")}
        return replace(self, **cut)

    def save(self, path: Path) -> None:
        """Write the problems to a file that workers can read."""
        np.savez(path, **{each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def load(cls, path: Path) -> ProblemSet:
        """Read a file that `save` wrote."""
        with np.load(path) as arrays:
            found = {each.name: arrays[each.name] for each in fields(cls)}
        return cls(**{**found, "name": str(found["name"])})


def _pairs(starts: npt.NDArray[np.int64], goals: npt.NDArray[np.int64]) -> list[tuple[Cell, Cell]]:
    return [((a, b), (c, d)) for (a, b), (c, d) in zip(starts.tolist(), goals.tolist(), strict=False)]


def on_map(name: str, passable: Passable, pairs: list[tuple[Cell, Cell]], *, seed: int = 0) -> ProblemSet:
    """Return the problem set of these starts and goals, shuffled, with the answers."""
    order = np.random.default_rng(seed).permutation(len(pairs))
    start = np.array([pairs[i][0] for i in order], np.int64).reshape(-1, 2)
    goal = np.array([pairs[i][1] for i in order], np.int64).reshape(-1, 2)
    optimal, field = _answers(passable, start, goal)
    return ProblemSet(name, passable, start, goal, optimal, _neighbours(passable, start[:ONE_STEP]), field)


def _answers(
    passable: Passable, start: npt.NDArray[np.int64], goal: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the optimal cost of every problem, and the first distance fields."""
    from scipy.sparse.csgraph import dijkstra

    arcs = Arcs.of(passable)
    matrix = arcs.matrix()
    optimal, field = np.empty(len(start)), np.empty((min(len(start), FIELDS), *passable.shape))
    for i in range(len(start)):
        distance = dijkstra(matrix, indices=arcs.number[start[i, 1], start[i, 0]])
        optimal[i] = distance[arcs.number[goal[i, 1], goal[i, 0]]]
        if i < len(field):
            field[i] = arcs.field(distance)
    return optimal, field


def _neighbours(passable: Passable, start: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    first = legal_steps(passable)[:, start[:, 1], start[:, 0]].argmax(0)
    return np.asarray(start + np.array(STEPS)[first])
