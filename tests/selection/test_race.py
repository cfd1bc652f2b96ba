"""The race, on candidates with known true quality."""

import math

import numpy as np
import pytest

from andante.selection.race import Measured, Place, Race, cut, ranked, rounds_up_to

NOISE = np.random.default_rng(1).exponential(size=(200, 400))


def racing(means, **rules):
    """Return a race of numbers, in which candidate k scores means[k] plus noise that most candidates share."""
    runs = []

    def run(k, first, last):
        runs.append((k, first, last))
        if means[k] is None:
            return None
        return Measured(means[k] + NOISE[0, first:last] + 0.1 * NOISE[k, first:last], 0.01)

    return Race(run, rounds_up_to(400), 5, **rules), runs


def test_the_best_wins_and_few_are_run_on_many_problems():
    means = [1 + 0.02 * k for k in range(100)]
    race, runs = racing(means)
    places = race.places(range(100))
    assert places[0].candidate in range(3)
    assert len(places) == 100
    assert len(places[0].scores) == 400
    trials = sum(last - first for _, first, last in runs)
    assert trials < 0.15 * 100 * 400
    assert {k for k, first, _ in runs if first == 0} == set(range(100))


def test_no_problem_is_run_twice():
    race, runs = racing([1 + 0.1 * k for k in range(30)])
    race.places(range(30))
    seen = [(k, p) for k, first, last in runs for p in range(first, last)]
    assert len(seen) == len(set(seen))


def test_a_dropped_candidate_has_no_place():
    race, _ = racing([None, 2.0, None, 1.0])
    assert [place.candidate for place in race.places(range(4))] == [3, 1]


def test_newcomers_join_the_first_round():
    race, _ = racing([5.0, 4.0, 3.0, 1.0], breed=lambda leaders: [3])
    assert race.places([0, 1, 2])[0].candidate == 3


def test_the_best_race_again_against_newcomers_and_nothing_is_run_twice():
    def better(leaders):
        return [k for k in range(leaders[0] + 1, leaders[0] + 4) if k < 40]

    means = [5 - 0.1 * k for k in range(40)]
    race, runs = racing(means, breed=better, again=4)
    places = race.places(range(5))
    assert places[0].candidate >= 4 + 5 * 2
    assert [place.candidate for place in places].count(places[0].candidate) == 1
    seen = [(k, p) for k, first, last in runs for p in range(first, last)]
    assert len(seen) == len(set(seen))


def test_an_interrupted_race_loses_no_earlier_results():
    clock, longest = iter(range(400, -9000, -1)), {}

    def run(k, first, last):
        longest[k] = last
        return Measured(1 + NOISE[k % 200, first:last], 1.0 * (last - first))

    numbers = iter(range(60, 9000))
    race = Race(
        run, rounds_up_to(400), 5, lambda: float(next(clock)), lambda _: [next(numbers) for _ in range(9)], again=50
    )
    assert {place.candidate: len(place.scores) for place in race.places(range(60))} == longest


def test_a_race_out_of_time_reports_untried_candidates():
    clock = iter(range(100, -1000, -1))
    race, _ = racing([1.0] * 100, left=lambda: float(next(clock)))
    places = race.places(range(100))
    assert 0 < len(places) < 60
    assert race.untried == 100 - len(places)


def test_a_round_that_time_cuts_short_does_not_count():
    times = iter([math.inf] * 8 + [10.0, -1.0] + [-1.0] * 100)
    race, _ = racing([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], left=lambda: next(times))
    assert {len(place.scores) for place in race.places(range(7))} == {6}


@pytest.mark.parametrize("count", [1, 5, 6, 50])
def test_a_cut_leaves_at_least_the_finalists(count):
    places = [Place(k, np.full(20, 1.0 + k), 1.0) for k in range(count)]
    kept, gone = cut(places, 5)
    assert [place.candidate for place in kept] == list(range(min(count, 5)))
    assert len(kept) + len(gone) == count


def test_without_sure_differences_half_continue():
    rng = np.random.default_rng(2)
    kept, _ = cut([Place(k, rng.normal(size=20), 1.0) for k in range(40)], 5)
    assert len(kept) == 20


def test_candidates_that_survived_more_rounds_are_ranked_first():
    short, long = Place("short", np.ones(6), 0.0), Place("long", np.full(12, 3.0), 0.0)
    assert ranked([short, long])[0].candidate == "long"
