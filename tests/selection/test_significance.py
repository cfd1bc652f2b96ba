"""How often a difference is called clear where there is none, and where there is one."""

import numpy as np
import pytest

from andante.selection.significance import clearly_less, difference


def share_of_false_claims(agents, problems, rng):
    """How often any of some equal agents is said to be clearly better than any other."""
    claims = 0
    for _ in range(400):
        hard = rng.exponential(size=problems)  # what all of them find hard
        claims += bool(clearly_less(hard + rng.standard_normal((agents, problems))))
    return claims / 400


@pytest.mark.parametrize("agents", [2, 9])
def test_equal_agents_are_hardly_ever_told_apart_however_many_are_compared(agents):
    assert share_of_false_claims(agents, 50, np.random.default_rng(agents)) < 0.08  # 0.05 at most are to be expected


def test_a_true_difference_is_found_though_problems_differ_far_more():
    rng = np.random.default_rng(3)
    hard = 100 * rng.exponential(size=200)
    better, worse = hard + rng.standard_normal(200), hard + 1 + rng.standard_normal(200)
    assert clearly_less([worse, better]) == {(1, 0)}
    assert difference(worse, better)[0] == pytest.approx(1, abs=0.4)


def test_more_comparisons_need_clearer_differences():
    noise = np.tile([1.0, -1.0], 20)
    doubtful = noise + 2.4 * noise.std(ddof=1) / np.sqrt(40)  # 2.4 standard errors above 0: one chance in fifty
    assert clearly_less([np.zeros(40), doubtful]) == {(0, 1)}
    assert clearly_less([np.zeros(40), doubtful, *[np.zeros(40)] * 7]) == set()


def test_few_problems_and_equal_scores_are_no_difference():
    assert clearly_less([np.zeros(7), np.ones(7)]) == set()
    assert clearly_less([np.ones(50), np.ones(50)]) == set()
    assert clearly_less([np.ones(50), np.ones(50) + 1]) == {(0, 1)}
