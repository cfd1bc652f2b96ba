"""Advice: the agent to use under each limit."""

import math

import pytest

from andante.errors import ParameterError
from andante.measures import choices, choices_of, recommend, summarise


def agent(name, worst, ratios, solved=None):
    flags = solved or [True] * len(ratios)
    return [
        {"algorithm": name, "solved": flag, "max_states_expanded": worst, "suboptimality_ratio": ratio}
        for ratio, flag in zip(ratios, flags, strict=True)
    ]


TABLE = [*agent("quick", 1, [8.0, 10.0]), *agent("medium", 49, [3.0, 5.0]), *agent("slow", 900, [1.0, 1.0])]


def best(table, limits):
    return [(c.low, c.high, c.best.name if c.best else None) for c in choices(summarise(table), limits)]


def test_the_best_agent_within_the_limit_is_chosen():
    assert best(TABLE, (1, 49, 1000, math.inf)) == [(1, 1, "quick"), (49, 49, "medium"), (1000, math.inf, "slow")]


def test_neighbouring_limits_with_the_same_answer_are_merged():
    assert best(TABLE, (2, 10, 48, 100)) == [(2, 48, "quick"), (100, 100, "medium")]
    assert best(TABLE, (48, 10, 2)) == [(2, 48, "quick")]


def test_sentences():
    quick, medium, slow = recommend(summarise(TABLE), (1, 100, math.inf))
    assert quick == (
        "With at most 1 state expanded per move, use quick: on 2 problems it walks 9.000 ± 1.000 times the optimal cost, "
        "and its worst move expanded 1."
    )
    assert medium == (
        "With at most 100 states expanded per move, use medium: on 2 problems it walks 4.000 ± 1.000 times the optimal cost, "
        "and its worst move expanded 49."
    )
    assert slow == (
        "Without a limit, use slow: on 2 problems it walks 1.000 ± 0.000 times the optimal cost, "
        "and its worst move expanded 900."
    )


def test_ranges_in_words():
    assert recommend(summarise(TABLE), (2, 20))[0].startswith("With at most 20 states expanded per move, use quick")
    (slow,) = recommend(summarise(TABLE), (1000, math.inf))
    assert slow.startswith("With a limit of at least 900 states expanded per move, use slow: ")  # its worst move
    (lookup,) = recommend(summarise(agent("lookup", 0, [1.0])))
    assert lookup.startswith("Whatever the limit, use lookup: ")
    (large,) = recommend(summarise(agent("large", 1_234_567, [1.0])), (2e6, math.inf))
    assert large.startswith("With a limit of at least 1,234,567 states")


def test_an_agent_is_best_from_the_limit_of_its_worst_move():
    last = choices(summarise(TABLE), (1, 10, 1000, math.inf))[-1]
    worst = last.best["max_states_expanded"].max
    assert worst < last.low
    assert best(TABLE, (worst - 1, worst)) == [(worst - 1, worst - 1, "medium"), (worst, worst, last.best.name)]


def test_a_limit_that_no_agent_keeps_is_reported():
    sentence = recommend(summarise(agent("slow", 900, [1.0])), (1,))[0]
    assert sentence == (
        "With at most 1 state expanded per move, no agent that always arrived fits: the least expensive worst move among them is 900, by slow."
    )


def test_a_single_bad_move_counts():
    table = [*agent("steady", 9, [5.0, 5.0]), *agent("mostly quick", 1, [2.0]), *agent("mostly quick", 10, [2.0])]
    assert best(table, (9,)) == [(9, 9, "steady")]


def test_among_equals_the_agent_that_plans_less_is_chosen():
    table = [*agent("much", 100, [2.0, 3.0]), *agent("little", 10, [3.0, 2.0])]
    assert best(table, (1000,)) == [(1000, 1000, "little")]


def test_agents_that_arrive_less_often_are_left_out():
    table = [*agent("lost", 1, [1.0, math.nan], [True, False]), *agent("sure", 1, [4.0, 4.0])]
    assert best(table, (1,)) == [(1, 1, "sure")]


def test_agents_that_were_run_on_different_problems_are_refused():
    tables = [
        [row | {"map": "m", "start": start + shift, "goal": 99} for start, row in enumerate(agent(name, 1, [2.0, 3.0]))]
        for shift, name in enumerate("ab")
    ]
    with pytest.raises(ParameterError, match="a and b were run on different problems"):
        choices(summarise([*tables[0], *tables[1]]))
    assert choices(summarise([*tables[0], *reversed([row | {"algorithm": "b"} for row in tables[0]])]))


def placed(rows):
    """Return the same rows, each on a different problem."""
    return [row | {"map": "m", "start": k, "goal": 99} for k, row in enumerate(rows)]


def test_it_is_reported_if_no_agent_always_arrives():
    table = placed(agent("lost", 1, [1.0, math.nan], [True, False]))
    sentence = str(choices_of(table, (1,))[0])
    assert "use lost: on 1 problem it walks 1.000 times the optimal cost" in sentence
    assert "arrived in 50.0% of the problems" in sentence


def test_agents_that_arrive_equally_often_are_compared_on_problems_that_all_solved():
    """An agent that is cut off where it is bad would look good, because its lower bound is low."""
    cut = {"solved": False, "outcome": "MOVE_CAP"}
    good, lucky = placed(agent("good", 1, [2.0, 2.0, 2.0, 3.0])), placed(agent("lucky", 1, [1.0, 1.0, 4.0, 2.0]))
    good[3] |= cut
    lucky[0] |= cut
    means = [one["suboptimality_ratio"].mean for one in summarise([*good, *lucky])]
    assert means[1] < means[0]
    (choice,) = choices_of([*good, *lucky], (1,))
    assert choice.best.name == "good"  # on problems 1 and 2, which both solved, 2.0 compared with 2.5
    assert (choice.best["suboptimality_ratio"].count, choice.best["suboptimality_ratio"].mean) == (2, 2.0)


def test_means_are_not_compared_without_problems_that_all_solved():
    table = agent("lost", 1, [1.0, math.nan], [True, False])
    with pytest.raises(ParameterError, match="some problems were not solved"):
        recommend(summarise(table), (1,))


@pytest.mark.parametrize("table", [[], [{"algorithm": "a", "solved": True, "cost": 1.0}]])
def test_without_measures_there_is_no_advice(table):
    assert recommend(summarise(table)) == []


def looking_up(name, worst, ratios, build_seconds):
    return [row | {"database_bytes": 5e6, "build_seconds": build_seconds} for row in agent(name, worst, ratios)]


def test_a_database_is_named_with_its_size_and_agents_without_one_follow():
    table = [row | {"database_bytes": 0, "build_seconds": 0.0} for row in TABLE]
    first, last, plain, other = recommend(summarise([*table, *looking_up("book", 1, [1.5, 2.5], 12.0)]), (1, 49, 1000))
    assert first == (
        "With at most 49 states expanded per move, use book: on 2 problems it walks 2.000 ± 0.500 times the optimal cost, and its "
        "worst move expanded 1; its database holds 5.0 MB and took 12.0 s to build."
    )
    assert last.startswith("With at most 1,000 states expanded per move, use slow")
    assert plain.startswith(
        "Without databases, with at most 1 state expanded per move, use quick: on 2 problems it walks 9.000"
    )
    assert other.startswith(
        "Without databases, with at most 49 states expanded per move, use medium: on 2 problems it walks 4.000"
    )


def test_ranges_without_databases_in_words():
    table = [row | {"database_bytes": 0, "build_seconds": 0.0} for row in TABLE]
    advice = recommend(summarise([*table, *looking_up("book", 1, [1.0, 1.0], 12.0)]), (1, 1000, math.inf))
    begins = [sentence.partition(":")[0] for sentence in advice]
    assert begins == [
        "With a limit of at least 1 state expanded per move, use book",
        "Without databases, with at most 1 state expanded per move, use quick",
        "Without databases, with a limit of at least 900 states expanded per move, use slow",
    ]
    advice = recommend(summarise([*table, *looking_up("book", 1, [1.0, 1.0], 12.0)]), (math.inf,))
    assert advice[-1].startswith("Without databases and without a limit, use slow: ")


def test_an_unknown_build_time_is_not_mentioned():
    (sentence,) = recommend(summarise(looking_up("book", 1, [1.5, 2.5], math.nan)), (1,))
    assert sentence.endswith("its worst move expanded 1; its database holds 5.0 MB.")
