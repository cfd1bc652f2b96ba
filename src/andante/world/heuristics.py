"""Metrics over an embedding: lower bounds on the distance between two states.

An embedding gives each state a point; the distance between two points is a lower bound on the cost between their
states. Grids use their cells' coordinates and the octile metric. A graph without coordinates has points with zero
dimensions, and its heuristic is zero. Landmark distances are an embedding too, under the Chebyshev metric: by the
triangle inequality, no path is shorter than the difference of its ends' distances to any landmark.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.notation import Word

# A diagonal move costs the square root of two, rounded to a multiple of 2**-32. Sums of up to a million such costs are
# exact in a float64, so equal costs compare equal: ties need no tolerance, and a path's cost is off by less than
# 1.2e-10 per diagonal move (docs/decisions/0002).
DIAGONAL = round(math.sqrt(2) * 2**32) / 2**32

# A move of two columns and one row, or of one column and two rows, rounded like a diagonal one.
LEAP = round(math.sqrt(5) * 2**32) / 2**32

#: Costs that differ by less are equal where arithmetic is not exact (weights, averages, graphs other than grids). It is
#: relative to the graph's unit (`world.layout.unit`), to another cost or to a ratio; it is never a cost itself.
TOLERANCE = 1e-6


class Metric(Word):
    """A measure of the distance between two points of an embedding.

    >>> print(Metric.OCTILE)
    octile
    """

    OCTILE = 0
    EUCLIDEAN = 1
    MANHATTAN = 2
    CHEBYSHEV = 3
    SIXTEEN = 4  # octile with leaps: the cost on an empty grid whose cells have sixteen neighbours


_OCTILE, _EUCLIDEAN, _MANHATTAN = int(Metric.OCTILE), int(Metric.EUCLIDEAN), int(Metric.MANHATTAN)
_SIXTEEN = int(Metric.SIXTEEN)


def distances_between(
    points: npt.NDArray[np.float64], others: npt.NDArray[np.float64], metric: Metric
) -> npt.NDArray[np.float64]:
    """Return the distance between the two points of each row, as `distance` does for two states.

    >>> distances_between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), Metric.EUCLIDEAN)
    array([5.])
    """
    apart = np.abs(points - others)
    longest, total = apart.max(1, initial=0.0), apart.sum(1)
    found: npt.NDArray[np.float64] = {
        Metric.EUCLIDEAN: np.sqrt((apart**2).sum(1)),
        Metric.MANHATTAN: total,
        Metric.OCTILE: longest + (total - longest) * (DIAGONAL - 1.0),
        Metric.CHEBYSHEV: longest,
        Metric.SIXTEEN: np.where(
            longest >= 2 * (total - longest),
            (total - longest) * LEAP + (3 * longest - 2 * total),
            (2 * longest - total) * LEAP + (2 * total - 3 * longest) * DIAGONAL,
        ),
    }[metric]
    return found


@kernel
def distance(point: npt.NDArray[np.float64], metric: int, a: int, b: int) -> float:
    """Return the distance between the points of states ``a`` and ``b``; ``point`` is float64[n, dimensions]."""
    total, longest = 0.0, 0.0
    for axis in range(point.shape[1]):
        apart = abs(point[a, axis] - point[b, axis])
        longest = max(longest, apart)
        total += apart * apart if metric == _EUCLIDEAN else apart
    if metric == _EUCLIDEAN:
        return math.sqrt(total)
    if metric == _MANHATTAN:
        return total
    if metric == _OCTILE:  # two dimensions: the longer axis, and part of the shorter
        return longest + (total - longest) * (DIAGONAL - 1.0)
    if metric == _SIXTEEN:
        return with_leaps(longest, total - longest)
    return longest


@kernel
def with_leaps(far: float, near: float) -> float:
    """Return the cost of going ``far`` columns and ``near`` rows, or the reverse, with sixteen neighbours.

    The difference is covered by leaps as far as they go; the rest is straight or diagonal (Rivera et al. 2020).
    """
    if far >= 2 * near:
        return near * LEAP + (far - 2 * near)
    return (far - near) * LEAP + (2 * near - far) * DIAGONAL
