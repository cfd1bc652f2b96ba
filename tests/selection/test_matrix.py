"""Selection over matrices with known correct answers."""

import numpy as np
import pytest

from andante.selection.aslib import export, folds
from andante.selection.matrix import Instance, Matrix, MatrixError, from_store, greedy_portfolio, share_of_gap_closed
from andante.selection.split import MISSING, best_present, old_and_new, present, sweep


def cyclic(algorithms, instances):
    """Return a matrix in which algorithm k is best for every k-th instance, and costs 11 on others."""
    return Matrix.plain(1 + 10 * (np.arange(algorithms)[:, None] != np.arange(instances) % algorithms))


def test_one_algorithm_that_is_always_best_is_chosen_by_all_three():
    values = np.random.default_rng(1).uniform(2, 9, (20, 60))
    values[7] = 1
    lines = sweep(Matrix.plain(values), splits=20)
    assert [line.present for line in lines] == [100 - percent for percent in MISSING]
    assert all(line.prior.mean == line.exhaustive.mean == 1 for line in lines)
    assert lines[0].sample.mean == 1
    assert all(line.sample.mean > 1 for line in lines[1:])


def test_where_each_instance_has_its_own_best_only_exhaustive_finds_it():
    lines = sweep(cyclic(10, 300), splits=100, missing=[0, 50, 90])
    assert lines[0].exhaustive.mean == lines[0].sample.mean == 1
    assert lines[0].prior.mean == pytest.approx(
        10.4, abs=0.2
    )  # slightly above 10, because what is frequent among old instances is less so among new ones
    assert lines[1].sample.mean == pytest.approx(6, abs=0.3)  # the best is present or not
    assert lines[2].sample.mean == pytest.approx(10, abs=0.4)


def test_more_results_are_never_worse_when_judged_by_themselves():
    values = np.random.default_rng(2).exponential(size=(50, 90)) + 1
    means = [line.sample.mean for line in sweep(Matrix.plain(values), splits=20)]
    assert means == sorted(means)


def test_prior_is_the_best_by_weight():
    values = [[1.0] * 30, [2.0] * 30]
    values[0][:3] = [500.0] * 3
    light = sweep(Matrix.plain(values, weights=[0.001] * 3 + [1.0] * 27), splits=30, missing=[0])[0]
    assert light.prior.mean < 1.1
    heavy = sweep(Matrix.plain(values, weights=[50.0] * 3 + [1.0] * 27), splits=30, missing=[0])[0]
    assert heavy.prior.mean > light.prior.mean


def test_on_held_out_results_a_choice_by_noise_has_no_value():
    rng = np.random.default_rng(3)
    seen, judge = (Matrix.plain(rng.uniform(1, 3, (100, 60))) for _ in range(2))
    flattering = sweep(seen, splits=50, missing=[0])[0]
    honest = sweep(seen, judge, splits=50, missing=[0])[0]
    assert flattering.exhaustive.mean < 1.05
    assert honest.exhaustive.mean == pytest.approx(2, abs=0.1)


def test_the_requested_number_of_results_is_present_and_one_in_each_column():
    lots = np.random.default_rng(4).random((200, 50))
    assert present(lots, 0.3).sum() == 3000
    sparse = present(lots, 0.001)
    assert (sparse.sum(axis=0) >= 1).all()
    values = np.random.default_rng(5).random((200, 50))
    chosen = best_present(values, lots, 0.001)
    assert sparse[chosen, np.arange(50)].all()


def test_the_seed_determines_the_scores():
    matrix = Matrix.plain(np.random.default_rng(6).random((20, 30)))
    assert sweep(matrix, splits=3, seed=1) == sweep(matrix, splits=3, seed=1) != sweep(matrix, splits=3, seed=2)


def test_the_split_of_the_paper_is_reproduced():
    for count, known in ((329, 219), (4500, 2995)):
        old, new = old_and_new(Matrix.plain(np.ones((1, count))), np.random.default_rng(1))
        assert len(old) == known
        assert sorted([*old, *new]) == list(range(count))


def test_halves_share_maps_but_no_problem():
    instances = tuple(Instance(f"map {k % 5}", str(k % 5), k, 0) for k in range(41))
    values = np.random.default_rng(7).random((3, 41))
    matrix = Matrix(values, ("a", "b", "c"), instances, np.ones(41))
    one, other = matrix.halves(seed=1)
    assert one.instances == other.instances
    assert one.weights.sum() + other.weights.sum() == 41
    np.testing.assert_allclose((one.values * one.weights + other.values * other.weights).sum(1), values.sum(1))


def test_single_best_virtual_best_and_the_gap():
    matrix = cyclic(4, 40)
    assert matrix.means[matrix.best] == 8.5
    assert matrix.virtual_best == 1
    assert share_of_gap_closed(1.0, 8.5, 1.0) == 1
    assert share_of_gap_closed(8.5, 8.5, 1.0) == 0


def test_a_portfolio_takes_only_useful_algorithms():
    assert sorted(greedy_portfolio(cyclic(4, 40).values, 10)) == [0, 1, 2, 3]
    assert greedy_portfolio(np.array([[1.0, 1.0], [2.0, 2.0]]), 5) == [0]


def test_an_invalid_matrix_is_refused():
    with pytest.raises(MatrixError, match="a number for every algorithm"):
        Matrix.plain([[1.0, np.nan]])
    with pytest.raises(MatrixError, match="cannot have values of shape"):
        Matrix(np.ones((2, 2)), ("a",), (Instance("m", "f"),), np.ones(1))
    with pytest.raises(MatrixError, match="cannot be split"):
        sweep(Matrix.plain([[1.0]]))
    with pytest.raises(MatrixError, match="same algorithms and instances"):
        sweep(cyclic(2, 10), cyclic(2, 12))


def test_aslib(tmp_path):
    instances = tuple(Instance(f"map {k // 4}", str(k // 4), k, k + 1) for k in range(12))
    matrix = Matrix(np.arange(1.0, 25.0).reshape(2, 12), ("lrta", "rta(a=1, b=2)"), instances, np.ones(12))
    export(matrix, np.ones((12, 2)), ["f1", "f2"], tmp_path)
    runs = (tmp_path / "algorithm_runs.arff").read_text().partition("@DATA\n")[2].splitlines()
    assert len(runs) == 24
    assert runs[1] == "'map 0/0/1',1,'rta(a=1, b=2)',13.0,ok"
    assert "performance_type:\n    - solution_quality" in (tmp_path / "description.txt").read_text()
    assert {file.name for file in tmp_path.iterdir()} == {
        "description.txt",
        "algorithm_runs.arff",
        "feature_values.arff",
        "feature_runstatus.arff",
        "cv.arff",
    }
    by_map = {(one.map, fold) for one, fold in zip(instances, folds(matrix, 0), strict=True)}
    assert len(by_map) == 3
    with pytest.raises(MatrixError, match="do not fit"):
        export(matrix, np.ones((3, 2)), ["f1", "f2"], tmp_path)


@pytest.mark.compiled
def test_the_matrix_of_a_store(tmp_path):
    pytest.importorskip("polars")
    from andante.campaign import read_campaign, run
    from andante.campaign.engines.local import Local

    file = tmp_path / "rooms.toml"
    file.write_text(
        '[problems.rooms]\nmaps = ["rooms:24x24:[1, 2]"]\ncount = 6\n'
        '[[run]]\nalgorithms = ["lrta", "rta"]\nlimits = { suboptimality = 100 }\n'
        '[[run]]\nalgorithms = ["dlrta(depth_by=fixed, depth=3)"]\nlimits = { suboptimality = 100 }\n'
        'databases = ["pattern(level=[2, 3])"]\n'
    )
    run(read_campaign(file), tmp_path / "rows", Local(1))
    whole = from_store(tmp_path / "rows")
    assert sum(name.startswith("dlrta(") and "with pattern(" in name for name in whole.algorithms) == 2
    with pytest.raises(MatrixError, match="expanded more than 0 states before some move"):
        from_store(tmp_path / "rows", expansions=0)
    with pytest.raises(MatrixError, match="has no results of 'lss'; "):
        from_store(tmp_path / "rows", only=["rta", "lss"])
    assert len(from_store(tmp_path / "rows", only=["dlrta", "rta"]).algorithms) == 3
    matrix = from_store(tmp_path / "rows", expansions=1)
    assert matrix.values.shape == (2, 12)
    assert matrix.instances == whole.instances
    assert matrix.values.min() >= 1
    assert matrix.values.max() <= 101
    maps = matrix.by_map()
    assert maps.weights.tolist() == [6, 6]
    np.testing.assert_allclose(maps.means, matrix.means)
