"""The rule for moves on the benchmark's grids, written independently of Andante so that the referee is neutral.

A cell has eight neighbours, a diagonal move needs both adjacent cardinal cells free, and moves cost 1 or the square
root of 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Cell = tuple[int, int]  # x, y
Passable = npt.NDArray[np.bool_]  # [height, width]

SQRT2 = math.sqrt(2)

#: North first, then clockwise; odd ones are diagonal, between their two cardinals.
STEPS: tuple[Cell, ...] = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))

_NUMBER = np.full((3, 3), -1)  # of a step, by dy + 1 and dx + 1
for _d, (_dx, _dy) in enumerate(STEPS):
    _NUMBER[_dy + 1, _dx + 1] = _d


def legal_steps(passable: Passable) -> npt.NDArray[np.bool_]:
    """Return whether step d may be made from each cell, as bool[8, height, width]."""
    height, width = passable.shape
    framed = np.pad(passable, 1)
    beside = [passable & framed[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width] for dx, dy in STEPS]
    for d in range(1, 8, 2):
        beside[d] = beside[d] & beside[d - 1] & beside[(d + 1) % 8]
    return np.array(beside)


def octile(dx: Any, dy: Any) -> Any:
    """Return the least cost between cells this far apart, for numbers or arrays."""
    dx, dy = abs(dx), abs(dy)
    return np.maximum(dx, dy) + (SQRT2 - 1) * np.minimum(dx, dy)


@dataclass(frozen=True)
class Arcs:
    """The map as an explicit graph over its free cells, for peers without grids."""

    passable: Passable
    cell: npt.NDArray[np.int64]  # [nodes, 2], x and y
    source: npt.NDArray[np.int64]  # [arcs]
    sink: npt.NDArray[np.int64]  # [arcs]
    cost: npt.NDArray[np.float64]  # [arcs]
    number: npt.NDArray[np.int64]  # [height, width], of the node; -1 where blocked

    @classmethod
    def of(cls, passable: Passable) -> Arcs:
        """Return every legal move of the map, in both directions."""
        number = np.full(passable.shape, -1)
        number[passable] = np.arange(passable.sum())
        source, sink, cost = [], [], []
        for d, legal in enumerate(legal_steps(passable)):
            y, x = np.nonzero(legal)
            source.append(number[y, x])
            sink.append(number[y + STEPS[d][1], x + STEPS[d][0]])
            cost.append(np.full(len(x), SQRT2 if d % 2 else 1.0))
        cell = np.argwhere(passable)[:, ::-1].copy()
        return cls(passable, cell, np.concatenate(source), np.concatenate(sink), np.concatenate(cost), number)

    def node(self, cell: Cell) -> int:
        """Return the number of a free cell."""
        return int(self.number[cell[1], cell[0]])

    def estimates(self, goal: Cell) -> npt.NDArray[np.float64]:
        """Return the octile distance of every node to ``goal``."""
        return np.asarray(octile(self.cell[:, 0] - goal[0], self.cell[:, 1] - goal[1]))

    def edges(self) -> list[tuple[int, int, float]]:
        """Return every move once, in one of its directions."""
        once = self.source < self.sink
        return list(zip(self.source[once].tolist(), self.sink[once].tolist(), self.cost[once].tolist(), strict=True))

    def matrix(self) -> Any:
        """Return the costs as a scipy.sparse matrix."""
        from scipy.sparse import csr_array

        return csr_array((self.cost, (self.source, self.sink)), shape=(len(self.cell), len(self.cell)))

    def field(self, distance: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return distances of nodes in the shape of the map, infinite where blocked."""
        table = np.full(self.passable.shape, np.inf)
        table[self.passable] = distance
        return table


class Verdict(NamedTuple):
    """The referee's verdict on a path."""

    arrives: bool  # from the start to the goal
    illegal: int  # moves against the rule
    cost: float


def judge(legal: npt.NDArray[np.bool_], path: npt.ArrayLike, start: Cell, goal: Cell) -> Verdict:
    """Judge ``path``, a table of x and y, on the map whose `legal_steps` are given."""
    cells = np.asarray(path).reshape(-1, 2).astype(np.int64)
    if len(cells) == 0 or tuple(cells[0]) != start or tuple(cells[-1]) != goal:
        return Verdict(False, 0, math.inf)
    step = np.diff(cells, axis=0)
    leap = (abs(step) > 1).any(1)
    number = _NUMBER[np.where(leap, 0, step[:, 1]) + 1, np.where(leap, 0, step[:, 0]) + 1]
    fair = (number >= 0) & legal[number, cells[:-1, 1], cells[:-1, 0]]
    return Verdict(True, int((~fair).sum()), float(np.hypot(step[:, 0], step[:, 1]).sum()))
