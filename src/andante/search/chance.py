"""Random numbers for agents, which depend on a seed and on the problem only, not on earlier runs.

They are 32-bit hashes of a counter, so every machine and thread draws the same numbers, and starting again costs
nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.search.memory import Clock, Space

_BITS = 32
_MASK = (1 << _BITS) - 1
_FACTOR = 0x45D9F3B  # an odd number that mixes well, small enough that products fit in 64 bits
_STEP = 0x9E3779B9  # increment of the counter: odd, so that it takes every value


CHANCE = np.dtype(
    [
        ("counter", np.int64),
        ("problem", np.int64),  # the problem of the counter
    ]
)


class Chance(NamedTuple):
    """The numbers of one problem; further trials continue where the last one ended."""

    scalars: npt.NDArray[Any]  # [1], of CHANCE
    clock: Clock

    @classmethod
    def allocate(cls, space: Space) -> Chance:
        """Return a generator that has drawn no numbers yet."""
        return cls(space.mind.one(CHANCE), space.clock)


@kernel
def begin(chance: Chance, seed: int, start: int, goal: int) -> None:
    """Prepare to draw; start the sequence again if the problem has changed."""
    at = chance.scalars[0]
    if at["problem"] != chance.clock[0]["problem"]:
        at["problem"] = chance.clock[0]["problem"]
        at["counter"] = _key(seed, start, goal)


@kernel
def draw(chance: Chance, count: int) -> int:
    """Return the next number, from 0 up to but not including ``count``."""
    at = chance.scalars[0]
    at["counter"] = (at["counter"] + _STEP) & _MASK
    return (_hashed(at["counter"]) * count) >> _BITS


@kernel
def draw_once(seed: int, start: int, goal: int, count: int) -> int:
    """Return a single number for a problem, from 0 up to but not including ``count``."""
    return (_key(seed, start, goal) * count) >> _BITS


@kernel
def _key(seed: int, start: int, goal: int) -> int:
    """Return the counter at which the numbers of a seed and a problem begin."""
    return _hashed(_hashed(_hashed(seed + _STEP) + start + _STEP) + goal + _STEP)


@kernel
def _hashed(number: int) -> int:
    """Return a 32-bit hash that depends on every bit of the number; different 32-bit numbers have different hashes."""
    number &= _MASK
    for _ in range(2):
        number = ((number >> 16) ^ number) * _FACTOR & _MASK
    return (number >> 16) ^ number
