"""Metrics over an embedding: how far apart two states are at least.

An embedding gives each state a point; the distance between two points is a lower bound on the cost between their
states. Grids have their cells' coordinates under the octile metric. A graph without coordinates has points of no
dimension, and its heuristic is zero. Landmark distances are an embedding too, under the Chebyshev metric: by the
triangle inequality no path is shorter than the largest difference of two states' distances to a landmark.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel

# A diagonal move costs the square root of two, rounded to a multiple of 2**-32. Sums of up to a million such costs are
# exact in a float64, so equal costs compare equal: ties need no tolerance, and a path's cost is off by less than
# 1.2e-10 per diagonal move (docs/decisions/0002).
DIAGONAL = round(math.sqrt(2) * 2**32) / 2**32

#: Costs that differ by less are the same where arithmetic is not exact (weights, averages, foreign graphs). It is a
#: share of the graph's unit (`world.graph.unit`), of another cost, or of a ratio: never a cost itself.
TOLERANCE = 1e-6


class Metric(IntEnum):
    """How far apart two points of an embedding are."""

    OCTILE = 0
    EUCLIDEAN = 1
    MANHATTAN = 2
    CHEBYSHEV = 3


_OCTILE, _EUCLIDEAN, _MANHATTAN = int(Metric.OCTILE), int(Metric.EUCLIDEAN), int(Metric.MANHATTAN)


@kernel
def distance(point: npt.NDArray[np.float64], metric: int, a: int, b: int) -> float:
    """The distance between the points of states ``a`` and ``b``; ``point`` is float64[n, dimensions]."""
    total, longest = 0.0, 0.0
    for axis in range(point.shape[1]):
        apart = abs(point[a, axis] - point[b, axis])
        longest = max(longest, apart)
        total += apart * apart if metric == _EUCLIDEAN else apart
    if metric == _EUCLIDEAN:
        return math.sqrt(total)
    if metric == _MANHATTAN:
        return total
    if metric == _OCTILE:  # in two dimensions: the longer way, and part of the shorter
        return longest + (total - longest) * (DIAGONAL - 1.0)
    return longest
