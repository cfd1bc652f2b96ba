"""Selection as in Bulitko (2016), section 6: instances are old or new, and three methods of choosing are compared.

    prior        the algorithm that was best on the old instances, for all new ones
    sample       for each new instance the best of the algorithms that were run on it; the others are unknown
    exhaustive   for each new instance the best of all algorithms

The same code is used for maps and problems: a matrix by maps weights each map by its number of problems. The paper
scores a choice by the results that it was made from. This is correct for problems, where the chosen run is the result.
For maps, another matrix can be given to judge by, with other problems on the same maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from andante.errors import ParameterError
from andante.measures import Statistics
from andante.selection.matrix import Matrix, MatrixError, Numbers, Values

#: Percentages of results that are missing, as in the paper.
MISSING = (0, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 96, 97, 98, 98.5, 99)
SPLITS = 100
TRAIN_SHARE = 219 / 329


@dataclass(frozen=True)
class Line:
    """The scores over all splits for one share of results present."""

    present: float  # percent
    exhaustive: Statistics
    prior: Statistics
    sample: Statistics


def sweep(
    matrix: Matrix,
    judge: Matrix | None = None,
    *,
    missing: Sequence[float] = MISSING,
    splits: int = SPLITS,
    train_share: float = TRAIN_SHARE,
    seed: int = 0,
) -> list[Line]:
    """Return the three scores for every share of missing results, over random splits.

    ``judge`` contains the values to score by, for the same algorithms and instances; the default is the matrix itself.

    >>> best_on_each_differs = Matrix.plain(1 + 9 * (np.arange(4)[:, None] != np.arange(40) % 4))
    >>> line = sweep(best_on_each_differs, missing=[0], splits=5)[0]
    >>> line.exhaustive.mean, line.sample.mean, line.prior.mean > 5
    (1.0, 1.0, True)
    """
    judged = judge if judge is not None else matrix
    _check(matrix, judged)
    if any(not 0 <= percent < 100 for percent in missing) or splits < 1:
        raise ParameterError("missing must be percentages from 0 to below 100, and splits at least 1")
    rng = np.random.default_rng(seed)
    found = [_scores(matrix, judged, missing, train_share, rng) for _ in range(splits)]
    return [
        Line(
            100 - percent,
            Statistics.of(one[0] for one in found),
            Statistics.of(one[1] for one in found),
            Statistics.of(one[2][k] for one in found),
        )
        for k, percent in enumerate(missing)
    ]


def _check(matrix: Matrix, judge: Matrix) -> None:
    if matrix.algorithms != judge.algorithms or matrix.instances != judge.instances:
        raise MatrixError("the matrix to judge by must be of the same algorithms and instances")


def old_and_new(matrix: Matrix, rng: np.random.Generator, train_share: float = TRAIN_SHARE) -> tuple[Numbers, Numbers]:
    """Split the instances at random and return the old and the new ones.

    >>> [len(part) for part in old_and_new(Matrix.plain(np.ones((2, 329))), np.random.default_rng(1))]
    [219, 110]
    """
    count = len(matrix.instances)
    size = round(train_share * count)
    if not 0 < size < count:
        raise MatrixError(f"{count:,} instance{'' if count == 1 else 's'} cannot be split into old and new ones")
    order = rng.permutation(count)
    return order[:size], order[size:]


def _scores(
    matrix: Matrix, judge: Matrix, missing: Sequence[float], train_share: float, rng: np.random.Generator
) -> tuple[float, float, list[float]]:
    """Return the scores of one split: of exhaustive, of prior, and of sample for each share of missing results."""
    old, new = old_and_new(matrix, rng, train_share)
    seen, weights = matrix.values[:, new], judge.weights[new]

    def score(chosen: Numbers) -> float:
        return float(np.average(judge.values[chosen, new], weights=weights))

    prior = np.full(len(new), matrix.columns(old).best)
    lots = rng.random(seen.shape)
    samples = [score(best_present(seen, lots, 1 - percent / 100)) for percent in missing]
    return score(seen.argmin(axis=0)), score(prior), samples


def best_present(values: Values, lots: Values, share: float) -> Numbers:
    """Return for each column its best row among the values present (`present`)."""
    kept = present(lots, share)
    best: Numbers = np.where(kept, values, np.inf).argmin(axis=0)
    return best


def present(lots: Values, share: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return a mask of the values present: this share of all, with the lowest lots, and at least one per column."""
    count = max(1, round(share * lots.size))
    threshold = np.partition(lots, count - 1, axis=None)[count - 1]
    lowest = lots.min(axis=0)
    kept: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (lots <= threshold) | (lots == lowest)
    return kept
