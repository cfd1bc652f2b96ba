"""Errors and intervals: compared with plain formulas, and their coverage of known true values."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.measures import Clusters, Statistics, summarise
from andante.measures.clusters import DRAWS, MOST_GROUPS, chance_of, correlated, quantile_interval, resampled, student

# --- standard errors ---


def plain_error(values, maps):
    """Return the standard error of a mean over clusters, by its definition as a ratio of two sums."""
    names = sorted(set(maps))
    mean = sum(values) / len(values)
    apart = [sum(value - mean for value, one in zip(values, maps, strict=True) if one == name) for name in names]
    return math.sqrt(len(names) / (len(names) - 1) * sum(one**2 for one in apart)) / len(values)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 100)), min_size=2, max_size=40))
def test_the_error_is_over_maps(pairs):
    maps, values = [one for one, _ in pairs], [value for _, value in pairs]
    found = Statistics.of(values, clusters=Clusters.of(maps))
    if len(set(maps)) > 1:
        assert found.standard_error == pytest.approx(plain_error(values, maps), abs=1e-9)
        assert found.over == f"{len(set(maps))} maps"
    else:
        assert found.standard_error == pytest.approx(statistics.stdev(values) / math.sqrt(len(values)), abs=1e-9)
        assert found.over == f"{len(values)} problems of one map"


def test_problems_of_one_map_that_are_alike_count_once():
    values, maps = np.repeat([1.0, 2.0, 6.0], 50), np.repeat(list("abc"), 50)
    assert Clusters.of(maps).error(values) == pytest.approx(Clusters.of(list("abc")).error(np.array([1.0, 2.0, 6.0])))
    assert Clusters.of(maps, "problems").error(values) < Clusters.of(maps).error(values) / 5
    assert str(Clusters.of(maps, "problems")) == "150 problems of these 3 maps"


def test_trials_of_several_agents_on_a_problem_are_one_cluster():
    rng = np.random.default_rng(3)
    of_problems = rng.exponential(size=20)
    rows = [
        {"algorithm": f"agent {who}", "map": "m", "start": k, "goal": 0, "solved": True, "cost": cost}
        for who in range(5)
        for k, cost in enumerate(of_problems)
    ]
    (by_map,) = summarise(rows, by="map")
    first = summarise(rows)[0]["cost"]
    pooled = by_map["cost"]
    assert pooled.standard_error == pytest.approx(first.standard_error)  # five equal trials add no information
    assert (pooled.count, pooled.clusters, pooled.over) == (100, 20, "20 problems of one map")
    assert (pooled.median_low, pooled.median_high) == (first.median_low, first.median_high)


def test_they_are_one_cluster_even_if_a_second_map_has_no_numbers():
    rng = np.random.default_rng(3)
    known = [
        {"algorithm": f"agent {who}", "map": "m", "start": k, "goal": 0, "solved": True, "cost": cost}
        for who in range(5)
        for k, cost in enumerate(rng.exponential(size=20))
    ]
    unknown = [{**row, "map": "n", "cost": math.nan} for row in known[:5]]
    alone, beside = (summarise(rows, by="solved")[0]["cost"] for rows in (known, known + unknown))
    assert (beside.clusters, beside.over) == (20, "20 problems of one map")
    assert beside.standard_error == alone.standard_error


def test_maps_without_a_number_do_not_count():
    found = Statistics.of([1.0, 3.0, math.nan, 5.0], clusters=Clusters.of(["a", "b", "c", "b"]))
    assert (found.count, found.clusters, found.of_maps) == (3, 2, True)
    lone = Statistics.of([1.0, 3.0, math.nan], clusters=Clusters.of(["a", "a", "c"]))
    assert (lone.clusters, lone.of_maps, lone.over) == (2, False, "2 problems of one map")


def test_student_quantiles_are_those_of_textbooks():
    assert student(0.975, 1) == pytest.approx(12.706, abs=1e-3)
    assert student(0.975, 1e6) == pytest.approx(1.960, abs=1e-3)
    assert chance_of(1.96, 1.0, 1e6) == pytest.approx(0.05, abs=1e-4)
    assert (chance_of(0.0, 0.0, 5), chance_of(1.0, 0.0, 5), chance_of(1.0, math.nan, 0)) == (1.0, 0.0, 1.0)


# --- the bootstrap ---


def plain_bootstrap(values, maps, draws):
    """Return the bootstrap-t interval with loops: maps are drawn, and the problems of each draw give a t."""
    rng = np.random.default_rng(7)
    groups = [values[maps == one] for one in np.unique(maps)]
    mean, error = values.mean(), plain_error(values.tolist(), maps.tolist())
    found = []
    for _ in range(draws):
        chosen = [groups[k] for k in rng.integers(len(groups), size=len(groups))]
        drawn, names = np.concatenate(chosen), np.repeat(np.arange(len(chosen)), [len(one) for one in chosen])
        spread = plain_error(drawn.tolist(), names.tolist())
        found.append((drawn.mean() - mean) / spread if spread else math.copysign(math.inf, drawn.mean() - mean))
    found.sort()
    place = int(0.025 * draws)
    return mean - found[-1 - place] * error, mean - found[place] * error


def test_drawing_maps_by_weights_equals_drawing_them_one_by_one():
    rng = np.random.default_rng(3)
    maps = np.repeat(np.arange(10), rng.integers(2, 9, 10))
    values = rng.exponential(size=len(maps)) + rng.exponential(size=10)[maps]
    (found,) = resampled(values[None, :], Clusters.of(maps))
    low, high = plain_bootstrap(values, maps, DRAWS)
    width = high - low
    assert found.interval.low == pytest.approx(low, abs=0.1 * width)  # both are random
    assert found.interval.high == pytest.approx(high, abs=0.1 * width)


def skewed(rng, maps, problems, alike):
    """Return heavy-tailed numbers of problems, alike within maps, and their true mean, median and 95th percentile."""
    clusters = np.repeat(np.arange(maps), problems)
    exponent = alike * rng.standard_normal(maps)[clusters] + rng.standard_normal(maps * problems)
    variance = 1 + alike**2
    return clusters, np.exp(exponent), math.exp(variance / 2), 1.0, math.exp(1.6448536 * math.sqrt(variance))


@pytest.mark.parametrize(("maps", "problems", "alike"), [(1, 100, 0.0), (4, 40, 0.5), (12, 40, 0.5), (40, 10, 0.5)])
def test_intervals_cover_the_true_value_as_often_as_stated(maps, problems, alike):
    rng = np.random.default_rng(maps)
    covered, naive, rounds = np.zeros(3), 0, 300
    for _ in range(rounds):
        clusters, values, *truth = skewed(rng, maps, problems, alike)
        (mean,) = resampled(values[None, :], Clusters.of(clusters))
        numbers = Statistics.of(values, clusters=Clusters.of(clusters))
        intervals = mean.interval, numbers.interval("median"), numbers.interval("p95")
        covered += [not one.excludes(true) for one, true in zip(intervals, truth, strict=True)]
        naive += abs(values.mean() - truth[0]) < 1.96 * values.std(ddof=1) / math.sqrt(len(values))
    assert (covered / rounds > 0.90).all()  # 0.95, less an allowance for 300 rounds and very heavy tails
    assert maps == 1 or naive / rounds < 0.8  # the naive error ignores that problems of one map are alike


def test_the_same_numbers_have_the_same_interval():
    values = np.random.default_rng(5).exponential(size=(2, 60))
    first, again = (resampled(values, Clusters.of(np.arange(60) // 5)) for _ in range(2))
    assert first == again


def test_many_problems_are_drawn_in_groups():
    rng = np.random.default_rng(6)
    values = rng.exponential(size=(1, 30 * MOST_GROUPS))
    (found,) = resampled(values, Clusters.of(np.zeros(values.shape[1])))
    half = 1.96 / math.sqrt(values.shape[1])
    assert found.interval.high - found.interval.low == pytest.approx(2 * half, rel=0.1)
    assert found.mean == pytest.approx(values.mean())


def test_numbers_without_spread_have_an_interval_of_one_number():
    (found,) = resampled(np.full((1, 30), 0.1), Clusters.of(np.arange(30) // 3))
    assert tuple(found.interval) == (found.mean, found.mean)


def test_a_single_problem_has_no_interval():
    (found,) = resampled(np.array([[3.0]]), Clusters.of(["a"]))
    assert found.mean == 3.0
    assert not math.isfinite(found.interval.low)
    assert not math.isfinite(found.interval.high)


def test_intervals_from_two_maps_are_wide():
    values = np.array([[1.0, 1.1, 3.0, 3.1]])
    (found,) = resampled(values, Clusters.of(list("aabb")))
    half = student(0.975, 1) * Clusters.of(list("aabb")).error(values[0])
    assert found.interval.high == pytest.approx(values.mean() + half)


# --- quantiles ---


def test_the_interval_of_a_median_is_of_order_statistics():
    """It is from the 40th to the 61st of 100 independent numbers, as in textbooks, and one more each for Student's t."""
    numbers = np.arange(1.0, 101.0)
    found = Statistics.of(numbers)
    assert (found.median_low, found.median_high) == (pytest.approx(40, abs=1), pytest.approx(61, abs=1))


def test_an_end_beyond_all_numbers_is_not_known():
    found = Statistics.of(np.arange(1.0, 21.0))
    assert found.p95_high == math.inf
    assert math.isfinite(found.p95_low)
    assert Statistics.of([1.0]).median_low == -math.inf


def test_a_number_that_was_cut_short_may_be_anything_above():
    cut = Statistics.of(np.arange(1.0, 101.0), np.arange(100) == 55)
    exact = Statistics.of(np.arange(1.0, 101.0))
    assert cut.median_low == exact.median_low
    assert cut.median_high == exact.median_high + 1


def test_a_quantile_of_maps_that_differ_is_less_certain():
    values, maps = np.repeat(np.arange(10.0), 30) + np.tile(np.linspace(0, 0.1, 30), 10), np.repeat(np.arange(10), 30)
    alike, apart = (Statistics.of(values, clusters=Clusters.of(maps, over)) for over in ("maps", "problems"))
    assert alike.median_high - alike.median_low > 2 * (apart.median_high - apart.median_low)


def test_the_interval_of_a_quantile_contains_it():
    rng = np.random.default_rng(8)
    for count in (10, 50, 300):
        values = np.sort(rng.exponential(size=count))
        for share in (0.5, 0.95):
            quantile = np.quantile(values, share)
            below = (values <= quantile).astype(float)
            found = quantile_interval(values, values, below, share, Clusters.of(np.arange(count) % 5))
            assert not found.excludes(quantile)


# --- correlations ---


def test_a_correlation_of_normal_numbers_is_pearson_s_with_fisher_s_interval():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(4000)
    y = 0.6 * x + 0.8 * rng.standard_normal(4000)
    found = correlated(x, y, Clusters.of(np.zeros(4000)))
    assert found.mean == pytest.approx(np.corrcoef(x, y)[0, 1])
    fisher = [math.tanh(math.atanh(found.mean) + side * 1.96 / math.sqrt(4000 - 3)) for side in (-1, 1)]
    assert found.interval == pytest.approx(fisher, abs=2e-3)


def test_some_correlations_have_no_interval():
    one = Clusters.of(np.zeros(5))
    assert math.isnan(correlated(np.ones(5), np.arange(5.0), one).mean)
    assert math.isnan(correlated(np.ones(1), np.ones(1), Clusters.of(["a"])).mean)
    line = correlated(np.arange(5.0), 2 * np.arange(5.0), one)
    assert line.mean == pytest.approx(1.0)
    assert line.interval == (-1.0, 1.0)


def test_intervals_of_correlations_hold_where_problems_of_a_map_are_alike():
    rng, held, narrow = np.random.default_rng(5), 0, 0
    maps = np.repeat(np.arange(20), 15)
    for _ in range(300):
        common = rng.standard_normal((2, 20))  # per map, and not correlated
        x, y = common[:, maps] + 0.5 * rng.standard_normal((2, len(maps)))
        held += not correlated(x, y, Clusters.of(maps)).interval.excludes(0.0)
        narrow += not correlated(x, y, Clusters.of(maps, "problems")).interval.excludes(0.0)
    assert held >= 0.9 * 300
    assert narrow < 0.6 * 300
