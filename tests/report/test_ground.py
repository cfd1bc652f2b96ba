"""The basis of reports: the problems that all solved, and the numbers that are highlighted."""

import numpy as np
import pytest

from andante.measures import summarise
from andante.report.dominance import on_average
from andante.report.ground import Ground
from andante.report.latex import latex
from andante.report.table import ComparisonTable, markdown
from andante.report.verdicts import as_data, below, caption, head, lines, sentences


def rows_of(scores, solved, worst=(9, 9, 9), maps=6):
    return [
        {
            "algorithm": "abc"[k],
            "map": f"map {j % maps}",
            "start": j,
            "goal": 99,
            "solved": bool(solved[k][j]),
            "outcome": "GOAL" if solved[k][j] else "MOVE_CAP",
            "suboptimality_ratio": float(value),
            "cost": 10 * float(value),
            "optimal_cost": 10.0,
            "max_states_expanded": worst[k] if solved[k][j] else worst[k] + 1,
            "states_expanded_per_move": float(k + 1),
        }
        for k, row in enumerate(scores)
        for j, value in enumerate(row)
    ]


@pytest.fixture
def ground():
    """Rows in which a and b are equal and c is worse; on half of the problems c is stopped early, which looks good."""
    rng = np.random.default_rng(1)
    base = 2 + rng.exponential(size=60)
    scores = np.stack([base, base + 0.01 * rng.standard_normal(60), base + 1 + 0.1 * rng.standard_normal(60)])
    solved = np.ones((3, 60), bool)
    solved[2, ::2] = False
    scores[2, ::2] = 1.0
    return Ground.of_rows(rows_of(scores, solved, maps=5))


def test_an_agent_that_was_stopped_early_does_not_win(ground):
    means = {one.name: one["suboptimality_ratio"].mean for one in ground.summaries}
    assert means["c"] < min(means["a"], means["b"])  # of all trials, half of them lower bounds
    assert ground.comparison.agents[-1] == "c"
    assert ground.best("suboptimality_ratio", "mean") == {"a", "b"}
    assert [one["suboptimality_ratio"].count for one in ground.common] == [30, 30, 30]
    assert [one["max_states_expanded"].max for one in ground.common] == [9, 9, 10]  # worst cases are of all trials
    x, y = "states_expanded_per_move", "suboptimality_ratio"
    assert {one.summary.name: one.dominated_by for one in on_average(ground.common, x, y)}["c"] == "a"
    assert "c" not in [one.summary.name for one in on_average(ground.summaries, x, y)]


def test_the_spread_is_over_the_problems_that_all_solved_or_with_a_penalty_over_all(ground):
    found = ground.values("suboptimality_ratio")
    assert {name: len(numbers) for name, numbers in found.items()} == {"a": 30, "b": 30, "c": 30}
    assert min(found["c"]) > 1.0  # none of those that were stopped early
    penalised = Ground(ground.summaries, ground.contest, ground.column, ground.summarised, penalty=50.0)
    assert sorted(penalised.values("suboptimality_ratio")["c"])[-30:] == [50.0] * 30


def test_advice_is_among_those_that_arrive_most(ground):
    (choice,) = ground.choices([100])
    assert choice.best.name in "ab"


def test_with_a_penalty_all_trials_count(ground):
    punished = Ground(ground.summaries, ground.contest, ground.column, ground.summarised, penalty=50.0)
    found = {one.name: one["suboptimality_ratio"] for one in punished.common}
    assert (found["c"].count, found["c"].bounds) == (60, 0)
    assert found["c"].mean > 25
    assert punished.best("suboptimality_ratio", "mean") == {"a", "b"}


def test_quantiles_are_compared_by_their_intervals_and_maxima_as_they_are():
    scores = [np.linspace(1, 2, 60), np.linspace(1.01, 2.01, 60), np.linspace(5, 6, 60)]
    ground = Ground.of_rows(rows_of(scores, np.ones((3, 60), bool), worst=(9, 3, 9)))
    assert ground.best("suboptimality_ratio", "median") == {"a", "b"}
    assert ground.best("max_states_expanded", "max") == {"b"}
    assert ground.best("optimal_cost", "mean") == frozenset()
    assert ground.best("suboptimality_ratio", "max") == {"a"}


def test_rows_of_different_problems_are_not_compared(ground):
    rows = rows_of(np.ones((2, 9)), np.ones((2, 9), bool))[:-1]
    other = Ground.of_rows(rows)
    assert (other.contest, other.comparison, other.best("suboptimality_ratio", "mean")) == (None, None, frozenset())


def test_words_and_bold_in_every_form(ground):
    words = below(ground.summaries, ground.comparison)
    assert words[0] == "± is one standard error of the mean, and (a to b) a 95 % interval, both over 5 maps."
    assert (
        "Compared on the 30 of 60 problems that all 3 agents solved (the fewest were solved by c: 30 of 60)." in words
    )
    text = markdown(ground.summaries, best=ground.best, caption=words)
    assert all(sentence in text for sentence in words)
    assert [line.count("**") > 0 for line in text.splitlines()[2:5]] == [True, True, False]
    assert "\\bfseries " in latex(ground.summaries, best=ground.best, caption=words)
    assert ComparisonTable(ground.summaries, best=ground.best)
    assert "a is better than c in suboptimality." in sentences(ground.comparison)


def test_the_table_of_differences(ground):
    assert head(ground.comparison)[1] == "Suboptimality (n = 30)"
    table = {line[0]: line[1:] for line in lines(ground.comparison)}
    assert table[ground.comparison.agents[0]][1:] == ["-", "best"]
    assert table["c"][2] == "worse"
    printed = as_data(ground.comparison)
    assert ["a", "c"] in printed["better"]
    assert len(printed["differences"]) == 3


def test_captions_of_lines_that_are_over_different_things():
    rows = [{"algorithm": "a", "solved": True, "map": str(k // 5), "cost": float(k)} for k in range(20)]
    assert caption(summarise(rows)).endswith("both over 4 maps.")
    assert caption(summarise(rows[:18], by="map")).endswith(
        "over the maps of each line, or the problems of its only map."
    )
    assert caption([]) == ""
