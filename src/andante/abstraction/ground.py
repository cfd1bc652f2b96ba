"""A graph whose states and edges can be closed and opened again: the ground below a hierarchy that changes.

Grids have an editor of their own (`world.cells`). Here, the original graph and two sets of flags define what is open.
The arcs of a state are always rewritten from these, so closing and opening are the same operation, and the arcs keep
the order of the graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import weigh
from andante.kernel import int64, kernel
from andante.world.heuristics import distance
from andante.world.layout import Csr, degree, enterable, estimate, price, size, target, unit


class Rows(NamedTuple):
    """Like `Csr`, but only the first ``degree`` arcs of each row are valid."""

    first: npt.NDArray[np.int64]  # [n + 1]
    degree: npt.NDArray[np.int32]  # [n]
    neighbour: npt.NDArray[np.int32]  # [arcs]
    cost: npt.NDArray[np.float64]  # [arcs]
    point: npt.NDArray[np.float64]  # [n, dimensions]
    metric: int
    unit: float


@size.of(Rows)
def _size(graph: Rows) -> int:
    return len(graph.degree)


@degree.of(Rows)
def _degree(graph: Rows, state: int) -> int:
    return int64(graph.degree[state])


@target.of(Rows)
def _target(graph: Rows, state: int, k: int) -> int:
    return int64(graph.neighbour[graph.first[state] + k])


@price.of(Rows)
def _price(graph: Rows, state: int, k: int) -> float:
    return graph.cost[graph.first[state] + k]


@estimate.of(Rows)
def _estimate(graph: Rows, state: int, goal: int) -> float:
    return distance(graph.point, graph.metric, state, goal)


@unit.of(Rows)
def _unit(graph: Rows) -> float:
    return graph.unit


@enterable.of(Rows)
def _enterable(graph: Rows, state: int) -> bool:
    return True


@weigh.of(Rows)
def _weigh(graph: Rows, state: int, spot: npt.NDArray[np.float64]) -> int:
    for axis in range(len(spot)):
        spot[axis] = graph.point[state, axis]
    return 1


class Flags(NamedTuple):
    """Which states and arcs are closed."""

    state: npt.NDArray[np.bool_]  # [n]
    arc: npt.NDArray[np.bool_]  # [arcs]


def own(arrays: Csr) -> tuple[Rows, Flags]:
    """Return the same graph in its own writeable arrays, with nothing closed."""
    rows = Rows(
        arrays.first,
        np.diff(arrays.first).astype(np.int32),
        arrays.neighbour.copy(),
        arrays.cost.copy(),
        arrays.point,
        arrays.metric,
        arrays.unit,
    )
    return rows, Flags(np.zeros(len(rows.degree), bool), np.zeros(len(rows.neighbour), bool))


@kernel
def rewrite(model: Rows, graph: Csr, flags: Flags, state: int) -> None:
    """Rewrite the arcs of ``state`` in ``model``, keeping those of ``graph`` that are not closed."""
    first, kept = graph.first[state], 0
    for k in range(first, graph.first[state + 1]):
        near = graph.neighbour[k]
        if not (flags.state[state] or flags.state[near] or flags.arc[k]):
            model.neighbour[first + kept] = near
            model.cost[first + kept] = graph.cost[k]
            kept += 1
    model.degree[state] = kept


@kernel
def flag_arc(graph: Csr, a: int, b: int, arc: npt.NDArray[np.bool_], closed: bool) -> None:
    """Close or open the arcs from ``a`` to ``b``."""
    for k in range(graph.first[a], graph.first[a + 1]):
        if graph.neighbour[k] == b:
            arc[k] = closed
