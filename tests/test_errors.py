"""Messages are short enough to be read, no matter what they quote."""

import math
import pickle

import pytest

import andante
from andante.errors import (
    LONGEST_MESSAGE,
    AndanteError,
    MapError,
    ParameterError,
    did_you_mean,
    quoted,
    real_number,
    shortened,
    whole_number,
)


@pytest.mark.parametrize(
    "text", ["a" * 10**7, "word " * 10**5, "x" * 500 + " " + "y z " * 1000, "\x1b[2J" * 5000, "\n" * 5000]
)
def test_no_message_is_longer_than_a_screen(text):
    message = str(MapError(f"there is no map {text}; see 'andante maps list'"))
    assert len(message) <= LONGEST_MESSAGE
    assert message.startswith("there is no map ")
    assert message.endswith("see 'andante maps list'")


def test_short_messages_are_left_alone():
    sentence = "there is no map 'Käse\u00df'; did you mean 'keys'?"
    assert str(AndanteError(sentence)) == sentence
    assert str(pickle.loads(pickle.dumps(MapError(sentence)))) == sentence  # noqa: S301 (our own)
    long_path = "/a/rather/long/folder" * 20  # a person may want to copy it
    assert long_path in str(AndanteError(f"cannot read {long_path}"))


def test_messages_cannot_control_the_terminal():
    assert shortened("a\nb\r\nc") == "a\\nb\\r\\nc"  # one sentence is one line
    assert shortened("a\x1b]0;b\x07c\u202e") == "a\\x1b]0;b\\x07c\\u202e"


def test_the_number_of_suggested_names_is_limited():
    said = did_you_mean("?", [f"name{k:04}" for k in range(5000)])
    assert said.endswith("and 4960 more")
    assert len(said) < LONGEST_MESSAGE


def test_numbers_are_numbers():
    assert real_number(3, "x") == 3.0
    assert real_number(math.inf, "x", least=0) == math.inf
    for wrong in (math.nan, "3", None, True, -1, 10**400, 10**5000, 1j):
        with pytest.raises(ParameterError, match="x must be a number of at least 0, got "):
            real_number(wrong, "x", least=0)
    assert len(quoted(10**5000)) < 100


@pytest.mark.parametrize("number", [2**63, -(2**63), 10**400, 10**5000], ids=["2^63", "-2^63", "10^400", "10^5000"])
def test_numbers_too_large_for_arrays_are_refused(number):
    grid = andante.generate("empty", 4, 4)
    for call in (
        lambda: whole_number(number, "x"),
        lambda: andante.find("lrta").with_parameters(depth=number),
        lambda: andante.find("lrts").with_parameters(gamma=number),
        lambda: andante.generate("empty", number, 4),
        lambda: grid.problem((number, 0), (1, 1)),
        lambda: andante.Problem(grid.graph, number, 1),
        lambda: andante.random_problems(grid, number),
        lambda: andante.with_landmarks(grid.graph, number),
        lambda: andante.record("lrta", grid.problem((0, 0), (1, 1)), most_thoughts=number),
    ):
        with pytest.raises(andante.AndanteError):
            call()
