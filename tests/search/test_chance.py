"""Random numbers: the same everywhere, different for every seed and problem, and evenly distributed."""

import numpy as np

from andante.search.chance import CHANCE, Chance, begin, draw, draw_once
from andante.search.memory import CLOCK, Clock


def plain(at):
    """Compute the hash in plain Python."""
    at &= 2**32 - 1
    for _ in range(2):
        at = ((at >> 16) ^ at) * 0x45D9F3B & (2**32 - 1)
    return (at >> 16) ^ at


def fresh(clock: Clock):
    return Chance(np.zeros(1, CHANCE), clock)


def drawn(seed, start, goal, count, numbers):
    clock = np.zeros(1, CLOCK)
    clock[0]["problem"] = 1
    chance = fresh(clock)
    begin(chance, seed, start, goal)
    return [int(draw(chance, count)) for _ in range(numbers)]


def test_numbers_are_hashes_of_a_counter():
    step, at = 0x9E3779B9, 0
    for part in (7, 123_456, 2**31 - 1):
        at = plain(at + part + step)
    assert draw_once(7, 123_456, 2**31 - 1, 1000) == at * 1000 >> 32
    numbers = drawn(7, 123_456, 2**31 - 1, 1000, 50)
    assert numbers == [plain(at + k * step) * 1000 >> 32 for k in range(1, 51)]


def test_a_problem_starts_the_sequence_again_and_a_further_trial_does_not():
    clock = np.zeros(1, CLOCK)
    chance = fresh(clock)
    clock[0]["problem"] = clock[0]["trial"] = 1
    begin(chance, 1, 2, 3)
    first = [int(draw(chance, 100)) for _ in range(20)]
    clock[0]["trial"] = 2
    begin(chance, 1, 2, 3)
    assert [int(draw(chance, 100)) for _ in range(20)] != first
    clock[0]["problem"], clock[0]["trial"] = 2, 3
    begin(chance, 1, 2, 3)
    assert [int(draw(chance, 100)) for _ in range(20)] == first


def test_numbers_depend_on_seed_start_and_goal():
    assert len({tuple(drawn(*key, 8, 20)) for key in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2**31, 5, 9)]}) == 5


def test_all_numbers_are_equally_likely():
    times = np.bincount(drawn(3, 1, 2, 8, 8000), minlength=8)
    assert len(times) == 8
    assert abs(times - 1000).max() < 150  # five standard deviations
    pairs = drawn(4, 1, 2, 8, 12_800)
    together = np.bincount(np.array(pairs[::2]) * 8 + np.array(pairs[1::2]), minlength=64)
    assert abs(together - 100).max() < 50
