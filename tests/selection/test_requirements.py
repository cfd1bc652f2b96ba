"""Limits, the algorithms admitted under them, and the errors if no candidate keeps them."""

import math

import pytest

from andante.agent import algorithms, find
from andante.errors import ParameterError
from andante.selection.requirements import Breach, Dropped, Requirements, nothing_fits, nothing_in_time


def admitted(requirements, states=10_000):
    return {entry.card.name for entry in algorithms() if requirements.admits(entry, states)}


def test_without_limits_all_algorithms_except_oracles_are_admitted():
    everyone = {entry.card.name for entry in algorithms()}
    assert everyone - admitted(Requirements()) == {"oracle-lrta"}


def test_agents_that_are_not_real_time_may_expand_the_whole_map():
    assert "astar" not in admitted(Requirements(expansions=500))
    assert "astar" in admitted(Requirements(expansions=10_000))
    assert "astar" not in admitted(Requirements(microseconds=1e9))


def test_on_a_map_that_changes_no_agent_has_databases():
    for requirements in (Requirements(changing=True), Requirements(sight=3)):
        found = admitted(requirements)
        assert found
        assert all(find(name).card.senses and not find(name).card.needs for name in found)


def test_without_memory_or_time_nothing_is_built():
    for requirements in (Requirements(memory_bytes=0), Requirements(build_seconds=0)):
        assert not any(find(name).card.needs for name in admitted(requirements))


def test_a_limit_is_broken_only_by_larger_values():
    limits = Requirements(expansions=10)
    assert limits.check("expansions", 10) is None
    assert limits.check("expansions", 11) == Breach("expansions", 11, 10)
    assert limits.check("microseconds", 1e9) is None
    assert limits.check_rows([{"max_states_expanded": 3}, {"max_states_expanded": 12}]).value == 12


def test_the_nearest_is_named():
    dropped = [
        Dropped("a", Breach("expansions", 40, 10)),
        Dropped("b", Breach("expansions", 12, 10)),
        Dropped("c", Breach("build_seconds", math.nan, 10)),
        Dropped("d", reason="does not go with this map"),
    ]
    message = str(nothing_fits(Requirements(expansions=10), dropped))
    assert message == (
        "no agent keeps to at most 10 states expanded before any move; the nearest is b: "
        "it takes at least 12 states expanded before any move"
    )


def test_the_nearest_is_named_if_there_was_no_time_for_all():
    dropped = [Dropped("a", Breach("expansions", 12, 10)), Dropped("b", reason="there was no time left to build it")]
    assert str(nothing_in_time(Requirements(expansions=10), dropped, 3, 5)) == (
        "none of the 2 candidates that were tried keeps to at most 10 states expanded before any move; the nearest is "
        "a: it takes at least 12 states expanded before any move; there was no time to try 3 more: give it more "
        "minutes, or fewer maps, or relax the limits"
    )
    message = str(nothing_in_time(Requirements(expansions=10), dropped[1:], 5, 5))
    assert message == "there was no time to try any of 5 candidates; give it more minutes, or fewer maps"
    assert "no time to try 4 of 5" in str(nothing_in_time(Requirements(expansions=10), dropped[1:], 4, 5))


def test_if_no_limit_was_broken_the_reason_is_reported():
    assert "does not go" in str(nothing_fits(Requirements(), [Dropped("d", reason="does not go with this map")]))


def test_limits_below_zero_are_refused():
    with pytest.raises(ParameterError, match="expansions must be a number of at least 0, got -1"):
        Requirements(expansions=-1)
    with pytest.raises(ParameterError, match="sight must be a whole number of at least 1"):
        Requirements(sight=0)


def test_limits_in_words():
    words = Requirements(5, 2.5, 2e6, 1, changing=True).sentence
    assert words == (
        "at most 5 states expanded before any move, at most 2.5 microseconds for any move, "
        "at most 2 MB for the databases of a map, at most 1 second to build the databases of a map, "
        "an agent for maps that change"
    )


LIMITS = ("expansions", "microseconds", "memory_bytes", "build_seconds")


@pytest.mark.parametrize("name", LIMITS)
def test_an_infinite_limit_is_no_limit(name):
    requirements = Requirements(**{name: math.inf})
    assert requirements == Requirements()
    assert requirements.sentence == "no limits"


@pytest.mark.parametrize("name", LIMITS)
def test_large_limits_are_written_briefly(name):
    for limit in (1e300, 10**18, 123_456_789_012_345_678):
        assert len(Requirements(**{name: limit}).sentence) < 80
    assert len(Breach(name, 1e300, 1e200).sentence) < 100


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("limit", [math.nan, -1, "5", 10**400, True])
def test_an_invalid_limit_is_refused(name, limit):
    with pytest.raises(ParameterError, match=f"the limit on {name} must be a number of at least 0, got"):
        Requirements(**{name: limit})


def test_sight_is_a_whole_number():
    for sight in (0, 1.5, "3"):
        with pytest.raises(ParameterError, match="sight must be a whole number of at least 1"):
            Requirements(sight=sight)
