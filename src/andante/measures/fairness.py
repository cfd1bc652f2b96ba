"""Fairness of shares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def jain_index(shares: npt.NDArray[np.float64]) -> float:
    """Return Jain's index of fairness: 1 if all shares are equal, 1 / n if one has everything; nan without any shares.

    Jain, Chiu and Hawe (1984). If all shares are 0, they are equal.

    >>> jain_index(np.array([3.0, 3.0])), jain_index(np.array([1.0, 0.0, 0.0, 0.0]))
    (1.0, 0.25)
    """
    if len(shares) == 0:
        return float("nan")
    squares = float(np.sum(shares**2))
    return float(np.sum(shares)) ** 2 / (len(shares) * squares) if squares else 1.0
