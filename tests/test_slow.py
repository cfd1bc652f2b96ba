"""The list of tests that `make test` leaves to full runs."""

from pathlib import Path

import pytest

from tests.slow import SLOW, is_slow

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("test", SLOW)
def test_listed_tests_exist(test):
    """Otherwise a renamed test would be slow again without notice."""
    file, *_, name = test.split("::")
    assert file.endswith(".md") or f"def {name.rpartition('.')[2]}(" in (ROOT / file).read_text("utf-8")
    assert (ROOT / file).is_file()


def test_cases_that_are_kept_are_not_slow():
    test = "tests/episode/test_discovery.py::test_agents_that_look_one_move_ahead_walk_as_on_a_known_map"
    assert SLOW[test] == ("lrta",)
    assert is_slow(test, ["rooms", "sla"])
    assert not is_slow(test, ["rooms", "lrta"])
    assert not is_slow("tests/test_slow.py::test_cases_that_are_kept_are_not_slow")
