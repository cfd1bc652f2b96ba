"""Which differences between agents are clear, and which may be chance: judged problem by problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.stats import t

Scores = npt.NDArray[np.float64]

SURELY = 2.33  # standard errors: one chance in a hundred
_FEWEST_FOR_DOUBT = 8  # on fewer problems nothing is sure
_DOUBT = 0.05  # the chance that any of the differences of a table is called clear and is none


def difference(scores: Scores, other: Scores) -> tuple[float, float]:
    """The mean of the differences on the same problems, and its standard error."""
    apart = scores - other
    return float(apart.mean()), float(apart.std(ddof=1) / math.sqrt(len(apart))) if len(apart) > 1 else math.inf


def surely_worse(scores: Scores, leader: Scores) -> bool:
    """Is the mean above the leader's beyond what chance explains? One comparison, for those who make few.

    >>> leader = np.arange(20.0)
    >>> surely_worse(leader + 1, leader), surely_worse(leader + np.tile([9.0, -9.0], 10), leader)
    (True, False)
    """
    if len(scores) < _FEWEST_FOR_DOUBT:
        return False
    mean, error = difference(scores, leader)
    return mean > SURELY * error


def clearly_less(table: Sequence[Scores], doubt: float = _DOUBT) -> set[tuple[int, int]]:
    """The pairs (a, b) for which the mean of row a of the table is clearly less than that of row b.

    Every pair is compared by a paired t-test, and all of them are corrected for how many there are (Holm 1979): the
    chance that even one difference is called clear where there is none is below ``doubt``, also for whoever looks at
    the first and second of the table only after having sorted it by these means.

    >>> few = np.random.default_rng(1).exponential(size=(3, 50)) + np.array([[1.0], [1.1], [9.0]])
    >>> sorted(clearly_less(few))
    [(0, 2), (1, 2)]
    """
    tests = sorted((_chance(table[a], table[b]), a, b) for a, b in combinations(range(len(table)), 2))
    found = set()
    for done, (chance, a, b) in enumerate(tests):
        if chance > doubt / (len(tests) - done):
            break
        found.add((a, b) if table[a].mean() < table[b].mean() else (b, a))
    return found


def _chance(scores: Scores, other: Scores) -> float:
    """The chance of means so far apart, on either side, if there were no difference."""
    if len(scores) < _FEWEST_FOR_DOUBT:
        return 1.0
    mean, error = difference(scores, other)
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * t.sf(abs(mean) / error, len(scores) - 1))
