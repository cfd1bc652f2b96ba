"""Dominance: on average compared with a plain double loop, on individual problems with counting by hand."""

import math

import numpy as np
import pytest

from andante.errors import ParameterError
from andante.measures import summarise
from andante.report.dominance import on_average, on_problems

pl = pytest.importorskip("polars")

X, Y = "states_expanded_per_move", "suboptimality_ratio"


def test_on_average_is_definition_5_1():
    rng = np.random.default_rng(4)
    points = {f"a{k}": rng.integers(1, 9, 2) for k in range(30)}
    rows = [{"algorithm": name, "solved": True, X: float(x), Y: float(y)} for name, (x, y) in points.items()]
    for one in on_average(summarise(rows), X, Y):
        x, y = points[one.summary.name]
        better = [n for n, (a, b) in points.items() if a <= x and b <= y and (a, b) != (x, y)]
        assert (one.dominated_by is None) == (not better)
        assert one.dominated_by is None or one.dominated_by in better


def test_twins_do_not_dominate_each_other():
    rows = [{"algorithm": name, "solved": True, X: 2.0, Y: 3.0} for name in "ab"]
    assert [one.dominated_by for one in on_average(summarise(rows), X, Y)] == [None, None]


def duel_rows(first, second):
    """Return rows of two algorithms on the same problems, from pairs of measures."""
    rows = [
        {
            "algorithm": name,
            "set": "s",
            "fingerprint": "f",
            "start": k,
            "goal": 99,
            "repeat": 0,
            X: float(x),
            Y: float(y),
        }
        for name, pairs in (("a", first), ("b", second))
        for k, (x, y) in enumerate(pairs)
    ]
    return pl.DataFrame(rows)


def test_on_problems_counts_which_is_better():
    duel = on_problems(duel_rows([(1, 1), (1, 2), (3, 1), (2, 2)], [(2, 2), (2, 2), (1, 2), (2, 2)]), "a", "b", X, Y)
    assert duel.problems == 4
    assert duel.first_better == (0.5, 0.5)
    assert duel.second_better == (0.25, 0.0)
    assert (duel.first_dominates, duel.second_dominates) == (0.25, 0.0)  # better in both: only on the first problem
    assert duel.dominance_ratio == math.inf


def test_on_problems_is_appendix_e():
    """Problem by problem, one outperforms the other with respect to both measures."""
    rng = np.random.default_rng(5)
    first, second = rng.integers(1, 4, (2, 60, 2)).tolist()
    duel = on_problems(duel_rows(first, second), "a", "b", X, Y)
    wins = sum(a < c and b < d for (a, b), (c, d) in zip(first, second, strict=True))
    losses = sum(a > c and b > d for (a, b), (c, d) in zip(first, second, strict=True))
    assert (duel.first_dominates, duel.second_dominates) == pytest.approx((wins / 60, losses / 60))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_equality_does_not_depend_on_the_size_of_the_numbers(size):
    same, less = size * (1 + 1e-9), size * (1 - 1e-3)
    for other, dominated in ((same, None), (less, "b")):
        rows = [
            {"algorithm": "a", "solved": True, X: size, Y: size},
            {"algorithm": "b", "solved": True, X: other, Y: other},
        ]
        assert on_average(summarise(rows), X, Y)[0].dominated_by == dominated
        duel = on_problems(duel_rows([(size, size)], [(other, other)]), "a", "b", X, Y)
        assert duel.second_dominates == (dominated == "b")
        assert duel.first_dominates == 0


def test_the_ratio_is_of_the_two_shares():
    duel = on_problems(duel_rows([(1, 1), (1, 1), (9, 9)], [(2, 2), (2, 2), (1, 1)]), "a", "b", X, Y)
    assert duel.dominance_ratio == pytest.approx(2.0)


def test_means_over_different_problems_are_not_compared():
    rows = duel_rows([(1, 1), (1, 1)], [(2, 2), (2, 2), (2, 2)]).with_columns(solved=True)
    with pytest.raises(ParameterError, match="a and b were run on different problems"):
        on_average(summarise(rows.to_dicts()), X, Y)
    assert on_problems(rows, "a", "b", X, Y).problems == 2
    common = rows.filter(rows["start"] < 2).to_dicts()
    assert [one.dominated_by for one in on_average(summarise(common), X, Y)] == [None, "a"]


def test_means_over_fewer_of_the_problems_are_left_out():
    rows = duel_rows([(1, 1), (1, math.nan)], [(2, 2), (2, 2)]).with_columns(solved=True)
    assert [one.summary.name for one in on_average(summarise(rows.to_dicts()), X, Y)] == ["b"]


def test_one_algorithm_under_two_conditions_is_not_one_side_of_a_duel():
    rows = duel_rows([(1, 1)], [(1, 1)])
    with pytest.raises(ParameterError, match="a was run under several conditions"):
        on_problems(pl.concat([rows, rows]), "a", "b", X, Y)


def test_an_algorithm_that_was_not_run_is_reported():
    with pytest.raises(ParameterError, match="no rows are of c"):
        on_problems(duel_rows([(1, 1)], [(1, 1)]), "a", "c", X, Y)
