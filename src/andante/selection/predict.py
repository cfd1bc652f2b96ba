"""Prediction of the best algorithm instead of running all (Bulitko 2016, section 7).

    factorization   results of a few algorithms, completed by the patterns of old instances
    learned         a forest's prediction for each algorithm of a portfolio, from features of map, start and goal

The first needs some runs on the new instance. The second needs none, and is judged on maps that it was not trained on.
Between them are `cases`: the algorithm that was best on old problems of the same map, with a start and a goal nearby.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from andante.errors import ParameterError
from andante.measures import Clusters, Statistics
from andante.selection.matrix import Matrix, MatrixError, Numbers, Values, greedy_portfolio
from andante.selection.split import old_and_new, present

RANK = 5  # patterns in a factorization
PORTFOLIO = 15
FOLDS = 10
TREES = 300
LEAF = 20  # the fewest problems, because fewer would be luck
MOST_TRAINED = 10_000  # problems to train on; if there are more, this number is drawn

_UPDATES = 300
_SMALL = 1e-9


# --- non-negative matrix factorization ------------------------------------------------------------------------------


def factorized(values: Values, rank: int, seed: int) -> Values:
    """Return the left factor of a non-negative matrix, [rows, rank], by the updates of Lee and Seung (2001).

    >>> values = np.outer([1.0, 2.0, 3.0], [4.0, 5.0])
    >>> left = factorized(values, 1, seed=0)[:, 0]
    >>> np.round(left / left[0], 6).tolist()
    [1.0, 2.0, 3.0]
    """
    if values.min() < 0 or not 1 <= rank <= min(values.shape):
        raise ParameterError(
            f"a factorization needs values from 0 and a rank from 1 to {min(values.shape)}, got {rank}"
        )
    rng = np.random.default_rng(seed)
    left, right = rng.random((len(values), rank)) + 0.1, rng.random((rank, values.shape[1])) + 0.1
    for _ in range(_UPDATES):
        right *= (left.T @ values) / (left.T @ left @ right + _SMALL)
        left *= (values @ right.T) / (left @ (right @ right.T) + _SMALL)
    return left


def completed(left: Values, values: Values, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> Values:
    """Return every column predicted from its kept values and the patterns of the left factor."""
    found = np.empty_like(values)
    for k in range(values.shape[1]):
        rows = kept[:, k]
        found[:, k] = left @ nnls(left[rows], values[rows, k])[0]
    return found


def factorization_scores(
    matrix: Matrix, present_share: float, *, rank: int = RANK, splits: int = 20, seed: int = 0
) -> Statistics:
    """Return the scores over random splits if the algorithm with the lowest predicted value is chosen."""
    rng = np.random.default_rng(seed)
    scores = []
    for number in range(splits):
        old, new = old_and_new(matrix, rng)
        values = matrix.values[:, new]
        left = factorized(matrix.values[:, old], min(rank, len(old), len(matrix.algorithms)), seed + number)
        chosen = completed(left, values, present(rng.random(values.shape), present_share)).argmin(axis=0)
        scores.append(_score(matrix, chosen, new))
    return Statistics.of(scores)


def _score(matrix: Matrix, chosen: Numbers, columns: Numbers) -> float:
    return float(np.average(matrix.values[chosen, columns], weights=matrix.weights[columns]))


# --- learned from features ------------------------------------------------------------------------------------------


class Selector:
    """A selector of an algorithm for a problem by the problem's features.

    A forest predicts the suboptimality of every algorithm of a small portfolio, and the lowest prediction is chosen.
    """

    def __init__(self, portfolio: Sequence[int], forest: Any) -> None:
        self.portfolio = np.array(portfolio)  # rows of the matrix it was trained on
        self._forest = forest

    @classmethod
    def trained(cls, matrix: Matrix, features: Values, *, size: int = PORTFOLIO, seed: int = 0) -> Selector:
        """Train a selector on results on problems and their features, one row each, and return it."""
        if len(features) != len(matrix.instances):
            raise MatrixError(f"{len(features)} rows of features do not fit {len(matrix.instances)} problems")
        portfolio = greedy_portfolio(matrix.values, size)
        if matrix.best not in portfolio:
            portfolio.append(matrix.best)
        forest = _forest()(TREES, min_samples_leaf=min(LEAF, max(1, len(features) // 4)), random_state=seed)
        targets = matrix.values[portfolio].T
        forest.fit(features, targets[:, 0] if len(portfolio) == 1 else targets)
        return cls(portfolio, forest)

    def choose(self, features: Values) -> Numbers:
        """Return the row of the matrix to use for each problem."""
        expected = self._forest.predict(features).reshape(len(features), -1)
        chosen: Numbers = self.portfolio[expected.argmin(axis=1)]
        return chosen


def _forest() -> Any:
    try:
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError as error:
        raise ParameterError(
            "learning to select needs scikit-learn, which is not installed; pip install 'andante[learn]'"
        ) from error
    return ExtraTreesRegressor


@dataclass(frozen=True)
class Unseen:
    """The score of each problem on a map that was not trained on, and the scores to compare it with."""

    learned: Values
    prior: Values  # of the best algorithm on the maps that were trained on
    per_map: Values  # of the best algorithm on its map, by all results there, which no selector can know
    virtual_best: Values
    clusters: Clusters  # the maps of the problems

    @property
    def gain(self) -> Statistics:
        """The difference of prior and learned, problem by problem."""
        return Statistics.of(self.prior - self.learned, clusters=self.clusters)


def on_unseen_maps(matrix: Matrix, features: Values, *, folds: int = FOLDS, seed: int = 0) -> Unseen:
    """Return the scores of cross-validation by maps: train on most, choose for the problems of the others."""
    maps = np.unique([one.fingerprint for one in matrix.instances], return_inverse=True)[1]
    count = int(maps.max()) + 1
    if count < 2:
        raise MatrixError("to be judged on maps that were not trained on, results must be of at least two maps")
    rng = np.random.default_rng(seed)
    fold_of_map = rng.permutation(count) % min(folds, count)
    fold = fold_of_map[maps]
    learned, prior, per_map = (np.empty(len(maps)) for _ in range(3))
    for number in np.unique(fold):
        old, new = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        prior[new] = matrix.values[matrix.columns(old).best, new]
        some = old if len(old) <= MOST_TRAINED else rng.choice(old, MOST_TRAINED, replace=False)
        selector = Selector.trained(matrix.columns(some), features[some], seed=seed)
        learned[new] = matrix.values[selector.choose(features[new]), new]
    for k in range(count):
        its = np.flatnonzero(maps == k)
        per_map[its] = matrix.values[matrix.columns(its).best, its]
    return Unseen(learned, prior, per_map, matrix.values.min(axis=0), Clusters.of(maps))
