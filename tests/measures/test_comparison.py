"""Comparisons of agents: how often one is called better where it is not, and where it is."""

import math

import numpy as np
import pytest

from andante.errors import ParameterError
from andante.measures import (
    Clusters,
    Contest,
    capped_replanned_ratio,
    compare_rows,
    solved_by_all,
    summarise,
)
from andante.measures.comparison import MOST_PAIRED, clearly_less, difference, holm


def rows_of(scores, maps=None, solved=None, name="suboptimality_ratio"):
    """Return rows of agents a, b, c, ... from their numbers on the same problems."""
    places = np.zeros(len(scores[0]), int) if maps is None else maps
    return [
        {
            "algorithm": f"agent {k}" if len(scores) > 26 else chr(97 + k),
            "map": f"map {places[j]}",
            "start": j,
            "goal": 0,
            "solved": bool(solved is None or solved[k][j]),
            "outcome": "GOAL" if solved is None or solved[k][j] else "MOVE_CAP",
            name: float(value),
            "cost": 10 * float(value),
            "optimal_cost": 10.0,
        }
        for k, row in enumerate(scores)
        for j, value in enumerate(row)
    ]


# --- false and true claims ---


def alike_within_maps(rng, agents, maps, problems):
    """Return numbers of equal agents: an effect of the map for each of them plus noise for each problem."""
    places = np.repeat(np.arange(maps), problems)
    hard = 5 * rng.exponential(size=len(places))
    suits = rng.standard_normal((agents, maps))  # some maps suit one agent, some another
    return places, hard + suits[:, places] + rng.standard_normal((agents, len(places)))


@pytest.mark.parametrize(("agents", "maps"), [(2, 6), (2, 20), (7, 20)])
def test_equal_agents_are_hardly_ever_called_better(agents, maps):
    rng = np.random.default_rng(agents)
    wrong, careless, rounds = 0, 0, 100
    for _ in range(rounds):
        places, scores = alike_within_maps(rng, agents, maps, 10)
        wrong += bool(compare_rows(rows_of(scores, places)).better)
        careless += bool(clearly_less(scores))
    assert wrong / rounds < 0.09  # at most 0.05 is expected
    assert careless / rounds > 0.3  # problems of one map are alike, so counting each one gives false claims


def test_a_true_difference_is_found_although_maps_differ_far_more():
    rng = np.random.default_rng(3)
    places, scores = alike_within_maps(rng, 1, 20, 20)
    worse = scores[0] + 0.5 + 0.3 * rng.standard_normal(20)[places]
    found = compare_rows(rows_of([worse, scores[0]], places))
    assert found.agents == ("b", "a")
    assert found.better == {("b", "a")}
    assert found.verdicts == ["b is better than a in suboptimality."]
    one = found.from_best("a")
    assert one.interval.low < 0.5 < one.interval.high
    assert one.mean == pytest.approx(np.mean(worse - scores[0]))


def test_the_best_and_all_that_are_not_worse():
    rng = np.random.default_rng(4)
    base = rng.exponential(size=200)
    scores = [base + 0.01 * rng.standard_normal(200), base + 0.01 * rng.standard_normal(200), base + 1]
    found = compare_rows(rows_of(scores))
    assert set(found.not_worse) == {"a", "b"}
    assert found.worse_than("a") == found.worse_than("b") == ("c",)
    assert compare_rows(rows_of(scores[:2])).not_worse == ()  # no agent is worse, so there is nothing to highlight
    assert compare_rows(rows_of(scores[:2])).verdicts == ["No agent is clearly better than another in suboptimality."]


def test_where_more_is_better_the_sign_is_reversed(monkeypatch):
    from dataclasses import replace

    from andante.measures import MEASURES, Better

    monkeypatch.setitem(MEASURES, "cost", replace(MEASURES["cost"], better=Better.MORE))
    rng = np.random.default_rng(5)
    base = rng.exponential(size=50)
    found = compare_rows(rows_of([base, base + 1 + 0.1 * rng.exponential(size=50)]), "cost")
    assert found.agents == ("b", "a")
    assert found.better == {("b", "a")}
    with pytest.raises(ParameterError, match="optimal_cost has no better direction"):
        compare_rows(rows_of([base, base]), "optimal_cost")


def test_with_many_agents_each_is_compared_with_the_best():
    rng = np.random.default_rng(6)
    base = rng.exponential(size=60)
    scores = [base + (k > 3) + 0.1 * rng.standard_normal(60) for k in range(MOST_PAIRED + 20)]
    found = compare_rows(rows_of(scores))
    assert len(found.differences) == MOST_PAIRED + 19
    assert set(found.not_worse) == {f"agent {k}" for k in range(4)}
    (verdict,) = found.verdicts
    assert f"is better than {MOST_PAIRED + 16} of {MOST_PAIRED + 19} others" in verdict


def test_the_kind_of_interval_is_named():
    rng = np.random.default_rng(7)
    for maps, kind in ((3, "Student's t intervals over 3 maps"), (4, "bootstrap intervals over 4 maps")):
        assert kind in compare_rows(rows_of(rng.exponential(size=(2, 24)), np.arange(24) % maps)).method


def test_few_problems_prove_nothing():
    found = compare_rows(rows_of([np.zeros(7) + 1, np.zeros(7) + 2]))
    assert not found.better
    assert found.verdicts == ["On fewer than 8 problems no agent is called better than another."]


# --- what is compared ---

SOLVED = np.array([[True] * 20, [True] * 15 + [False] * 5, [False] * 20])


def test_only_problems_that_all_agents_solved_are_compared():
    scores = np.ones((3, 20)) + np.arange(3)[:, None] + np.arange(20) / 100
    found = compare_rows(rows_of(scores, solved=SOLVED))
    assert (found.problems, found.of, found.agents) == (15, 20, ("a", "b"))
    assert found.solved == {"a": 20, "b": 15, "c": 0}
    assert found.means == pytest.approx((scores[0, :15].mean(), scores[1, :15].mean()))
    assert found.ground == (
        "Compared on the 15 of 20 problems that both agents solved (the fewest were solved by b: 15 of 20). "
        "Not compared, because they solved nothing: c."
    )
    assert found.method == (
        "Differences are paired by problem, with 95 % bootstrap intervals over 15 problems of one map. Better means "
        "that this interval excludes 0 and that a paired t-test over 15 problems of one map rejects equality at 5 %."
    )


def test_with_a_penalty_all_problems_are_compared():
    found = compare_rows(rows_of(np.full((3, 20), 2.0), solved=SOLVED), penalty=100)
    assert (found.measure, found.problems, found.agents) == ("capped_suboptimality_ratio", 20, ("a", "b", "c"))
    assert found.means == pytest.approx((2.0, (15 * 2 + 5 * 100) / 20, 100.0))
    assert found.ground == (
        "Compared on all 20 problems: an agent that did not arrive, or walked further, counts as 100 times optimal."
    )


def test_a_penalty_is_a_multiple_of_the_optimal_cost():
    rows = rows_of(np.ones((2, 9)))
    for penalty in (0.5, math.inf, math.nan):
        with pytest.raises(ParameterError, match="the penalty must be"):
            compare_rows(rows, penalty=penalty)
    with pytest.raises(ParameterError, match="in times the optimal cost"):
        compare_rows(rows, "cost", penalty=10)


def test_it_is_reported_if_no_problem_was_solved_by_all():
    solved = np.array([[True] * 10 + [False] * 10, [False] * 10 + [True] * 10])
    found = compare_rows(rows_of(np.ones((2, 20)), solved=solved))
    assert found.problems == 0
    assert found.ground.startswith("Not compared: of 20 problems none was solved by all agents that arrived at all.")
    assert (found.verdicts, found.method, found.better) == ([], "", frozenset())


def test_rows_of_other_problems_are_not_paired():
    rows = [row for row in rows_of(np.ones((2, 3))) if row["algorithm"] == "a" or row["start"] < 2]
    with pytest.raises(ParameterError, match="a and b were run on different problems"):
        Contest.of_rows(rows)
    assert Contest.of_rows([{"algorithm": "a", "solved": True}]) is None
    with pytest.raises(ParameterError, match="without start and goal"):
        solved_by_all([{"algorithm": "a", "solved": True}])


def test_trials_are_paired_in_any_order_of_rows():
    rng = np.random.default_rng(9)
    rows = rows_of(rng.exponential(size=(3, 30)), solved=rng.random((3, 30)) < 0.8)
    rows += [dict(row) for row in rows[:30:7] + rows[30:60:7] + rows[60::7]]  # some problems twice
    rng.shuffle(rows)
    contest = Contest.of_rows(rows)
    assert contest.problems == 35
    for k, name in enumerate(contest.agents):
        for j, number in enumerate(contest.rows[k]):
            assert rows[number]["algorithm"] == name
            assert rows[number]["start"] == rows[contest.rows[0, j]]["start"]
            assert rows[number]["solved"] == contest.solved[k, j]
    starts = {one: [row["solved"] for row in rows if row["start"] == one] for one in range(30)}
    assert {row["start"] for row in solved_by_all(rows)} == {one for one, flags in starts.items() if all(flags)}


# --- Holm, and the tests of advise ---


def test_holm_equals_its_definition():
    rng = np.random.default_rng(10)
    for _ in range(200):
        chances = rng.beta(0.3, 3, size=6).tolist()
        ordered = sorted(chances)
        passed = next((k for k, chance in enumerate(ordered) if chance > 0.05 / (6 - k)), 6)
        assert holm(chances) == [chance in ordered[:passed] for chance in chances]
        assert sum(holm(chances, of=60)) <= sum(holm(chances))


@pytest.mark.parametrize("agents", [2, 9])
def test_equal_scores_are_hardly_ever_called_different(agents):
    rng, claims = np.random.default_rng(agents), 0
    for _ in range(300):
        hard = rng.exponential(size=50)  # the common difficulty of each problem
        claims += bool(clearly_less(hard + rng.standard_normal((agents, 50))))
    assert claims / 300 < 0.08  # at most 0.05 is expected


def test_clusters_and_noise_make_a_difference_less_clear():
    rng = np.random.default_rng(3)
    hard = 100 * rng.exponential(size=200)
    better, worse = hard + rng.standard_normal(200), hard + 1 + rng.standard_normal(200)
    assert clearly_less([worse, better]) == {(1, 0)}
    assert difference(worse, better)[0] == pytest.approx(1, abs=0.4)
    assert clearly_less([worse, better], noise=[1.0, 0.0]) == set()
    two = Clusters.of(np.arange(200) // 100)
    assert difference(worse, better, clusters=two)[1] == pytest.approx(two.error(worse - better))


def test_more_comparisons_need_clearer_differences():
    noise = np.tile([1.0, -1.0], 20)
    doubtful = noise + 2.4 * noise.std(ddof=1) / np.sqrt(40)  # 2.4 standard errors above 0, a chance of one in fifty
    assert clearly_less([np.zeros(40), doubtful]) == {(0, 1)}
    assert clearly_less([np.zeros(40), doubtful, *[np.zeros(40)] * 7]) == set()


def test_few_problems_and_equal_scores_are_no_difference():
    assert clearly_less([np.zeros(7), np.ones(7)]) == set()
    assert clearly_less([np.ones(50), np.ones(50)]) == set()
    assert clearly_less([np.ones(50), np.ones(50) + 1]) == {(0, 1)}


# --- scenes ---


def scenes_of(ratios, solved, replanned, scenes=1):
    """Return rows of units in this many scenes on each of six maps, each scene with its own fingerprint."""
    return [
        {
            "algorithm": "abc"[k],
            "map": f"map {j % 6}",
            "fingerprint": f"scene {j % (6 * scenes)}",
            "unit": j,
            "start": j,
            "goal": 99,
            "solved": bool(solved[k][j]),
            "outcome": "GOAL" if solved[k][j] else "UNREACHABLE",
            "replanned_cost": float(replanned[j]),
            "cost": 10 * float(ratio),
            "replanned_ratio": float(ratio) if solved[k][j] and np.isfinite(replanned[j]) else np.nan,
        }
        for k, row in enumerate(ratios)
        for j, ratio in enumerate(row)
    ]


def test_agents_in_scenes_are_compared_with_replanned_a_star_over_maps():
    rng = np.random.default_rng(2)
    base = 1 + rng.exponential(size=60)
    solved = np.ones((2, 60), bool)
    solved[1, :20] = False
    replanned = np.full(60, 10.0)
    replanned[-3:] = np.inf  # the walker was cut off, but agents were not
    table = scenes_of([base, base + 1 + 0.1 * rng.standard_normal(60)], solved, replanned, scenes=5)
    found = compare_rows(table)
    assert (found.measure, found.problems, found.common, found.of) == ("replanned_ratio", 37, 40, 60)
    assert found.over == "6 maps"  # not 30 scenes
    assert found.verdicts == ["a is better than b in cost over replanned a*."]
    assert "Of these, 3 problems for which not all agents have an exact number" in found.ground
    assert {one["replanned_ratio"].over for one in summarise(table)} == {"6 maps"}


def test_a_penalty_in_scenes_is_a_multiple_of_the_cost_of_replanned_a_star():
    solved = np.ones((2, 60), bool)
    solved[1, :30] = False
    replanned = np.full(60, 10.0)
    replanned[0] = np.inf
    found = compare_rows(scenes_of(np.full((2, 60), 2.0), solved, replanned), penalty=50)
    assert (found.measure, found.problems, found.of) == ("capped_replanned_ratio", 59, 60)
    assert dict(zip(found.agents, found.means, strict=True)) == pytest.approx({"a": 2.0, "b": (29 * 50 + 30 * 2) / 59})
    assert "counts as 50 times replanned A*." in found.ground


def plain_capped(cost, replanned, outcome, cap):
    if not 0 < replanned < np.inf:
        return np.nan
    if outcome == "GOAL":
        return min(cost / replanned, cap)
    return cap + (1 / replanned if outcome == "STUCK" else 0)


def test_the_capped_ratio_equals_its_definition():
    rng = np.random.default_rng(3)
    cost, replanned = rng.uniform(0, 90, 200), rng.choice([0.0, 1.0, 3.5, 40.0, np.inf], 200)
    outcome = rng.choice(["GOAL", "MOVE_CAP", "STUCK", "UNREACHABLE"], 200)
    plain = [plain_capped(*each, 8.0) for each in zip(cost, replanned, outcome, strict=True)]
    np.testing.assert_allclose(capped_replanned_ratio(cost, replanned, outcome, 8.0), plain)
