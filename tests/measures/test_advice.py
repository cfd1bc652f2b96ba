"""Advice: which agent to use under which limit."""

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


def test_the_best_that_keeps_to_the_limit():
    assert best(TABLE, (1, 49, 1000, math.inf)) == [(1, 1, "quick"), (49, 49, "medium"), (1000, math.inf, "slow")]


def test_neighbouring_limits_with_one_answer_are_put_together():
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


def test_from_its_worst_move_on_an_agent_is_the_best():
    last = choices(summarise(TABLE), (1, 10, 1000, math.inf))[-1]
    worst = last.best["max_states_expanded"].max
    assert worst < last.low
    assert best(TABLE, (worst - 1, worst)) == [(worst - 1, worst - 1, "medium"), (worst, worst, last.best.name)]


def test_a_limit_that_none_keeps_to_is_said():
    sentence = recommend(summarise(agent("slow", 900, [1.0])), (1,))[0]
    assert sentence == (
        "With at most 1 state expanded per move, no agent that always arrived fits: the least expensive worst move among them is 900, by slow."
    )


def test_one_bad_move_in_many_decides():
    table = [*agent("steady", 9, [5.0, 5.0]), *agent("mostly quick", 1, [2.0]), *agent("mostly quick", 10, [2.0])]
    assert best(table, (9,)) == [(9, 9, "steady")]


def test_of_equals_the_one_that_plans_less():
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
    """The same rows, each on a problem of its own."""
    return [row | {"map": "m", "start": k, "goal": 99} for k, row in enumerate(rows)]


def test_if_none_always_arrives_that_is_said():
    table = placed(agent("lost", 1, [1.0, math.nan], [True, False]))
    sentence = str(choices_of(table, (1,))[0])
    assert "use lost: on 1 problem it walks 1.000 times the optimal cost" in sentence
    assert "arrived in 50.0% of the problems" in sentence


def test_of_those_that_arrive_equally_often_only_what_all_solved_counts():
    """Cut short where it is bad, an agent would look good: its lower bound is low."""
    cut = {"solved": False, "outcome": "MOVE_CAP"}
    good, lucky = placed(agent("good", 1, [2.0, 2.0, 2.0, 3.0])), placed(agent("lucky", 1, [1.0, 1.0, 4.0, 2.0]))
    good[3] |= cut
    lucky[0] |= cut
    means = [one["suboptimality_ratio"].mean for one in summarise([*good, *lucky])]
    assert means[1] < means[0]
    (choice,) = choices_of([*good, *lucky], (1,))
    assert choice.best.name == "good"  # on problems 1 and 2, which both solved, 2.0 against 2.5
    assert (choice.best["suboptimality_ratio"].count, choice.best["suboptimality_ratio"].mean) == (2, 2.0)


def test_without_what_all_have_solved_means_of_unsolved_problems_are_not_compared():
    table = agent("lost", 1, [1.0, math.nan], [True, False])
    with pytest.raises(ParameterError, match="some problems were not solved"):
        recommend(summarise(table), (1,))


@pytest.mark.parametrize("table", [[], [{"algorithm": "a", "solved": True, "cost": 1.0}]])
def test_nothing_measured_nothing_said(table):
    assert recommend(summarise(table)) == []


def looking_up(name, worst, ratios, build_seconds):
    return [row | {"database_bytes": 5e6, "build_seconds": build_seconds} for row in agent(name, worst, ratios)]


def test_a_database_is_named_with_its_size_and_what_needs_none_comes_after():
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
    told = recommend(summarise([*table, *looking_up("book", 1, [1.0, 1.0], 12.0)]), (1, 1000, math.inf))
    begins = [sentence.partition(":")[0] for sentence in told]
    assert begins == [
        "With a limit of at least 1 state expanded per move, use book",
        "Without databases, with at most 1 state expanded per move, use quick",
        "Without databases, with a limit of at least 900 states expanded per move, use slow",
    ]
    told = recommend(summarise([*table, *looking_up("book", 1, [1.0, 1.0], 12.0)]), (math.inf,))
    assert told[-1].startswith("Without databases and without a limit, use slow: ")


def test_nobody_says_how_long_a_file_took_to_build_if_nobody_knows():
    (told,) = recommend(summarise(looking_up("book", 1, [1.5, 2.5], math.nan)), (1,))
    assert told.endswith("its worst move expanded 1; its database holds 5.0 MB.")
