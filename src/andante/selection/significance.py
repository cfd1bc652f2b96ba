"""Which differences between agents are significant, and which may be chance, by paired tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.stats import t

Scores = npt.NDArray[np.float64]

SURELY = 2.33  # standard errors: one chance in a hundred
_FEWEST_FOR_DOUBT = 8  # on fewer problems no difference is significant
_DOUBT = 0.05  # the chance that any difference in a table is wrongly called clear


def difference(scores: Scores, other: Scores, noise: float = 0.0) -> tuple[float, float]:
    """Return the mean of the differences on the same problems, and its standard error.

    ``noise`` is the error that all differences have in common.
    """
    apart = scores - other
    spread = float(apart.std(ddof=1) / math.sqrt(len(apart))) if len(apart) > 1 else math.inf
    return float(apart.mean()), math.hypot(spread, noise)


def surely_worse(scores: Scores, leader: Scores) -> bool:
    """Return whether the mean is higher than the leader's by more than chance explains; not corrected for repetition.

    >>> leader = np.arange(20.0)
    >>> surely_worse(leader + 1, leader), surely_worse(leader + np.tile([9.0, -9.0], 10), leader)
    (True, False)
    """
    if len(scores) < _FEWEST_FOR_DOUBT:
        return False
    mean, error = difference(scores, leader)
    return mean > SURELY * error


def clearly_less(table: Sequence[Scores], doubt: float = _DOUBT, noise: Sequence[float] = ()) -> set[tuple[int, int]]:
    """Return the pairs (a, b) for which the mean of row a of the table is clearly less than that of row b.

    Every pair is compared by a paired t-test, corrected for the number of pairs (Holm 1979): the chance that even one
    difference is wrongly called clear is below ``doubt``. This also holds if only the first and second row are compared
    after sorting the table by these means. ``noise`` is the error of the mean of each row that all its numbers have in
    common, such as that of a crowd whose ticks were interrupted; problems cannot tell it from a difference.

    >>> few = np.random.default_rng(1).exponential(size=(3, 50)) + np.array([[1.0], [1.1], [9.0]])
    >>> sorted(clearly_less(few))
    [(0, 2), (1, 2)]
    """
    common = noise or [0.0] * len(table)
    tests = sorted(
        (_chance(table[a], table[b], math.hypot(common[a], common[b])), a, b)
        for a, b in combinations(range(len(table)), 2)
    )
    found = set()
    for done, (chance, a, b) in enumerate(tests):
        if chance > doubt / (len(tests) - done):
            break
        found.add((a, b) if table[a].mean() < table[b].mean() else (b, a))
    return found


def _chance(scores: Scores, other: Scores, noise: float) -> float:
    """Return the chance of means at least this far apart, in either direction, if there is no difference."""
    if len(scores) < _FEWEST_FOR_DOUBT:
        return 1.0
    mean, error = difference(scores, other, noise)
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * t.sf(abs(mean) / error, len(scores) - 1))
