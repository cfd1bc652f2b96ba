"""The cache of optimal costs: a file in it is correct for its problems, or it counts as absent."""

import numpy as np
import pytest

from andante.datasets.cache import _head, keep_costs, kept_costs
from andante.world.graph import Graph

LINE = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])
OTHER = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 2.0)])
STARTS, GOALS = np.array([0, 0, 1]), np.array([1, 2, 3])
COSTS = np.array([1.0, 2.0, np.inf])


@pytest.fixture
def file(cache_folder):
    keep_costs(LINE, STARTS, GOALS, COSTS)
    [file] = (cache_folder / "costs").iterdir()
    return file


def test_cached_costs_are_returned(file):
    assert np.array_equal(kept_costs(LINE, STARTS, GOALS), COSTS)


def test_other_problems_and_other_graphs_have_other_files(file):
    assert kept_costs(LINE, GOALS, STARTS) is None
    assert kept_costs(LINE, STARTS[:2], GOALS[:2]) is None
    assert kept_costs(OTHER, STARTS, GOALS) is None


def test_a_damaged_file_counts_as_absent(file):
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert kept_costs(LINE, STARTS, GOALS) is None
    for length in (0, 1, 100, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert kept_costs(LINE, STARTS, GOALS) is None
    file.write_bytes(whole + b"\0" * 5000)
    assert kept_costs(LINE, STARTS, GOALS) is None
    file.write_bytes(whole)
    assert kept_costs(LINE, STARTS, GOALS) is not None


@pytest.mark.parametrize("payload", [b"", b"\x93NUMPY\x01\x00v\x00{'descr': (", bytes(8), bytes(32)])
def test_other_contents_with_the_right_checksum_count_as_absent(file, payload):
    file.write_bytes(_head(LINE, STARTS, GOALS, payload) + b"\n" + payload)
    assert kept_costs(LINE, STARTS, GOALS) is None


def test_a_file_of_another_problem_in_this_place_counts_as_absent(file, cache_folder):
    keep_costs(OTHER, STARTS, GOALS, np.array([1.0, 2.0, 3.0]))
    [foreign] = [each for each in (cache_folder / "costs").iterdir() if each != file]
    file.write_bytes(foreign.read_bytes())
    assert kept_costs(LINE, STARTS, GOALS) is None


def test_a_cache_that_cannot_be_written_is_not_an_error(cache_folder):
    cache_folder.write_text("a file where the folder should be")
    keep_costs(LINE, STARTS, GOALS, COSTS)
    assert kept_costs(LINE, STARTS, GOALS) is None
