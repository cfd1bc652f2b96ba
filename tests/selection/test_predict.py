"""Predictions on synthetic results with a known pattern."""

import numpy as np
import pytest

import andante
from andante.errors import ParameterError
from andante.selection.features import CLIMB, NAMES, Survey, features_of
from andante.selection.matrix import Instance, Matrix, MatrixError
from andante.selection.predict import (
    Selector,
    completed,
    factorization_scores,
    factorized,
    on_unseen_maps,
)


def on_maps(values, maps=12):
    instances = tuple(Instance(f"map {k % maps}", str(k % maps), k, 0) for k in range(values.shape[1]))
    return Matrix(values, tuple(f"a{k}" for k in range(len(values))), instances, np.ones(values.shape[1]))


def test_a_factorization_completes_results_with_its_pattern():
    rng = np.random.default_rng(1)
    values = (rng.random((30, 3)) + 0.1) @ (rng.random((3, 80)) + 0.1)
    left = factorized(values[:, :50], 3, seed=1)
    kept = rng.random((30, 30)) < 0.4
    np.testing.assert_allclose(completed(left, values[:, 50:], kept), values[:, 50:], rtol=0.1)
    with pytest.raises(ParameterError, match="rank"):
        factorized(values, 100, seed=1)


def test_with_a_pattern_few_results_are_enough():
    rng = np.random.default_rng(2)
    kinds, needs = np.eye(2)[rng.integers(2, size=40)], np.eye(2)[rng.integers(2, size=120)].T
    matrix = on_maps(1 + 9 * kinds @ needs + rng.random((40, 1)))
    scores = factorization_scores(matrix, 0.2, rank=3, splits=5)
    prior = matrix.means[matrix.best]
    assert matrix.virtual_best <= scores.mean < prior


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_selector_learns_from_features_and_is_valid_on_other_maps():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(4)
    features = rng.random((600, 3))
    right = (features[:, 1] > 0.5).astype(int)
    matrix = on_maps(1 + 9.0 * (np.arange(3)[:, None] != right))
    chosen = Selector.trained(matrix, features, seed=1).choose(features)
    assert (chosen == right).mean() > 0.95
    unseen = on_unseen_maps(matrix, features, folds=4)
    assert unseen.learned.mean() < 1.6
    assert unseen.prior.mean() > 4
    assert unseen.virtual_best.mean() == 1
    assert unseen.gain.mean > 3


def test_a_selector_cannot_be_judged_on_one_map():
    with pytest.raises(MatrixError, match="at least two maps"):
        on_unseen_maps(on_maps(np.ones((2, 10)), maps=1), np.ones((10, 1)))


def test_features_reflect_a_wall():
    passable = np.ones((20, 40), bool)
    passable[2:18, 20:22] = False
    grid = andante.Grid(passable)
    survey = Survey(grid)
    through = dict(zip(NAMES, survey.features(grid.state(5, 10), grid.state(35, 10)), strict=True))
    along = dict(zip(NAMES, survey.features(grid.state(5, 2), grid.state(5, 18)), strict=True))
    assert through["line_walls"] == 1
    assert through["line_blocked"] > 0
    assert through["climb_arrived"] == 0
    assert (along["line_walls"], along["climb_arrived"], along["climb_share"]) == (0, 1, 1)
    assert through["goal_free_20"] < 1
    assert along["distance"] == 16
    assert features_of(grid, [0, 1], [5, 6]).shape == (2, len(NAMES))
    assert CLIMB == 64
