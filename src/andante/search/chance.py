"""Chance for agents that want it: numbers that depend on a seed and on the problem, and on nothing that ran before.

A counter is hashed, in 32 bits: every machine and every thread draws the same, and starting again costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search.memory import Clock, Space

_BITS = 32
_MASK = (1 << _BITS) - 1
_FACTOR = 0x45D9F3B  # an odd number that mixes well, small enough for products to fit 64 bits
_STEP = 0x9E3779B9  # of the counter: odd, so that it comes to every number


class Chance(NamedTuple):
    """The numbers of one problem; further trials of it go on where the last one ended."""

    at: npt.NDArray[np.int64]  # [1], the counter
    problem: npt.NDArray[np.int64]  # [1], the problem that it belongs to
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Chance:
        """Nothing drawn yet."""
        return cls(np.zeros(1, np.int64), np.zeros(1, np.int64), space.clock)


@kernel
def begin(chance: Chance, seed: int, start: int, goal: int) -> None:
    """Get ready to draw: from the beginning if the problem is another than before."""
    if chance.problem[0] != chance.clock.problem[0]:
        chance.problem[0] = chance.clock.problem[0]
        chance.at[0] = _key(seed, start, goal)


@kernel
def draw(chance: Chance, count: int) -> int:
    """The next number, from 0 up to, not including, ``count``."""
    chance.at[0] = (chance.at[0] + _STEP) & _MASK
    return (_hashed(chance.at[0]) * count) >> _BITS


@kernel
def draw_once(seed: int, start: int, goal: int, count: int) -> int:
    """A single number for a problem, from 0 up to, not including, ``count``."""
    return (_key(seed, start, goal) * count) >> _BITS


@kernel
def _key(seed: int, start: int, goal: int) -> int:
    """Where the numbers of a seed and a problem begin."""
    return _hashed(_hashed(_hashed(seed + _STEP) + start + _STEP) + goal + _STEP)


@kernel
def _hashed(number: int) -> int:
    """A number of 32 bits in which each bit of the given one tells; different numbers of 32 bits stay different."""
    number &= _MASK
    for _ in range(2):
        number = ((number >> 16) ^ number) * _FACTOR & _MASK
    return (number >> 16) ^ number
