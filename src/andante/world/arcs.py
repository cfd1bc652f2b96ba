"""Rows of arcs, from which a `Graph` is built, made from a user's edges, costs and points after checking them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.errors import GraphError, did_you_mean
from andante.kernel import kernel
from andante.world.heuristics import TOLERANCE, Metric, distance
from andante.world.layout import MOST_STATES, Csr

SMALLEST = 1e-100  # lowest cost of an arc; the highest is its inverse. Squares and sums stay within a float's range


def triples(edges: Sequence[tuple[int, int, float]]) -> npt.NDArray[np.float64]:
    """Return edges as a table of from, to and cost; raise `GraphError` if they are not triples of numbers."""
    try:
        table = np.array(edges, np.float64)
    except (OverflowError, TypeError, ValueError):
        table = np.zeros(1)
    if table.shape == (0,):
        return np.zeros((0, 3))
    if table.ndim != 2 or table.shape[1] != 3:
        raise GraphError("edges must be triples (from, to, cost) of numbers, with states counted from 0")
    return table


def places(points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return points as a table; raise `GraphError` if they are not numbers."""
    try:
        return np.array(points, np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise GraphError("points must be a table of numbers, one row per state") from error


def checked_csr(
    count: int,
    source: npt.NDArray[np.int64],
    sink: npt.NDArray[np.int64],
    cost: npt.NDArray[np.float64],
    points: npt.NDArray[np.float64],
    metric: str,
) -> Csr:
    """Return a graph of ``count`` states; raise `GraphError` if its arcs, costs, points or metric are wrong."""
    if count > MOST_STATES:
        raise GraphError(f"a graph has at most {MOST_STATES:,} states; this one would have {count:,}")
    if len(source) and (min(source.min(), sink.min()) < 0 or max(source.max(), sink.max()) >= count):
        raise GraphError(f"an edge names a state outside 0 to {count - 1}")
    bad = np.flatnonzero(~((cost > 0) & np.isfinite(cost)))
    if len(bad):
        k = bad[0]
        raise GraphError(
            f"the edge from {source[k]} to {sink[k]} costs {cost[k]:g}; a cost must be positive and finite"
        )
    loops = np.flatnonzero(source == sink)
    if len(loops):
        raise GraphError(f"state {source[loops[0]]} has an edge to itself; leave such edges out")
    place, code = embedding(count, points, metric)
    arrays = Csr(*rows(count, source, sink, cost), place, code, unit_of(cost))
    check_range(arrays)
    check_heuristic(arrays)
    return arrays


def unit_of(cost: npt.NDArray[np.float64]) -> float:
    """Return the largest power of two that is at most each of these costs, or 1 if there are no costs.

    >>> unit_of(np.array([0.3, 7.0]))
    0.25
    """
    return power_of_two(float(cost.min())) if len(cost) else 1.0


def power_of_two(cost: float) -> float:
    """Return the largest power of two that is at most ``cost``."""
    return math.ldexp(1.0, math.frexp(cost)[1] - 1)


def check_range(arrays: Csr) -> None:
    """Raise `GraphError` if costs or points differ so much that a cheap move added to a long path is rounded away."""
    if not len(arrays.cost):
        return
    cheapest, highest = float(arrays.cost.min()), float(arrays.cost.max())
    if not SMALLEST <= cheapest <= highest <= 1 / SMALLEST:
        raise GraphError(
            f"costs from {cheapest:g} to {highest:g} are not all between {SMALLEST:g} and {1 / SMALLEST:g}; "
            "use another unit"
        )
    starts = arrays.first[:-1][np.diff(arrays.first) > 0]
    longest = float(np.maximum.reduceat(arrays.cost, starts).sum())  # no path leaves a state twice
    if not cheapest >= longest * np.finfo(np.float64).eps:
        raise GraphError(
            f"costs from {cheapest:g} to {highest:g} are too far apart: added to the cost of a long path, the "
            "cheapest would be rounded away"
        )
    extent = float((arrays.point.max(0) - arrays.point.min(0)).sum()) if arrays.point.size else 0.0
    if not cheapest >= extent * np.finfo(np.float64).eps:
        raise GraphError(
            f"points that are {extent:g} apart do not fit edges that cost {cheapest:g}: added to a heuristic value the "
            "cost would be rounded away"
        )


def rows(
    count: int, source: npt.NDArray[np.int64], sink: npt.NDArray[np.int64], cost: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return the first arc of each state, and the arcs' targets and costs, in rows; their order is kept."""
    order = np.argsort(source, kind="stable")
    first = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=count), out=first[1:])
    return first, sink[order].astype(np.int32), np.ascontiguousarray(cost[order])


def embedding(count: int, points: npt.NDArray[np.float64], metric: str) -> tuple[npt.NDArray[np.float64], int]:
    """Return points and the code of a metric; raise `GraphError` if they do not fit ``count`` states."""
    names = {str(code): code for code in Metric}
    if metric not in names:
        raise GraphError(f"unknown metric {metric!r}; {did_you_mean(metric, names)}")
    if points.ndim != 2 or len(points) != count:
        raise GraphError(f"points must be a table of {count} rows, one per state, not of shape {points.shape}")
    if not np.isfinite(points).all():
        raise GraphError("points must be finite numbers")
    if metric in ("octile", "sixteen") and points.shape[1] != 2:
        raise GraphError(f"the {metric} metric is for two dimensions, but these points have {points.shape[1]}")
    return np.ascontiguousarray(points), int(names[metric])


def check_heuristic(arrays: Csr) -> None:
    """Raise `GraphError` if the ends of an edge are further apart than it costs: the heuristic would overestimate."""
    source = np.repeat(np.arange(len(arrays.first) - 1), np.diff(arrays.first))
    worst = _worst_edge(arrays, source, _rounding(arrays.point))
    if worst >= 0:
        a, b = int(source[worst]), int(arrays.neighbour[worst])
        apart = distance(arrays.point, arrays.metric, a, b)
        raise GraphError(
            f"the edge from {a} to {b} costs {arrays.cost[worst]:g} but its ends are {apart:g} apart, so the heuristic "
            f"would overestimate; scale the points by {arrays.cost[worst] / apart:.4g} or less"
        )


def _rounding(points: npt.NDArray[np.float64]) -> float:
    """Return the largest rounding error of the difference of two points, added up over all axes."""
    return float(4 * np.spacing(np.abs(points).max(0)).sum()) if points.size else 0.0


@kernel
def _worst_edge(graph: Csr, source: npt.NDArray[np.int64], rounding: float) -> int:
    """Return the arc with the smallest ratio of cost to length if that is below 1, allowing for rounding; else -1.

    Points are exact only to ``rounding``, and so are lengths.
    """
    worst, least = -1, 1.0
    for k in range(len(source)):
        apart = distance(graph.point, graph.metric, source[k], graph.neighbour[k])
        if graph.cost[k] < apart * (1 - TOLERANCE) - rounding and graph.cost[k] / apart < least:
            worst, least = k, graph.cost[k] / apart
    return worst


def same_arcs(a: Csr, b: Csr) -> bool:
    """Return whether two graphs have the same arcs at the same costs, in any order."""

    def canonical(arrays: Csr) -> list[npt.NDArray[Any]]:
        source = np.repeat(np.arange(len(arrays.first) - 1), np.diff(arrays.first))
        order = np.lexsort((arrays.cost, arrays.neighbour, source))
        return [source[order], arrays.neighbour[order], arrays.cost[order]]

    return all(np.array_equal(p, q) for p, q in zip(canonical(a), canonical(b), strict=True))
