"""Many settings of an algorithm from one text: grids of values, and random samples from a whole space.

>>> [str(entry) for entry in grid("lrta(depth=[1, 3..5])")]
['lrta', 'lrta(depth=3)', 'lrta(depth=4)', 'lrta(depth=5)']
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from andante.agent import Algorithm, Parameter, find
from andante.errors import ParameterError, did_you_mean
from andante.notation import MAX_LENGTH, Call, parse

_LIST = re.compile(r"\[([^\[\]]*)\]")
_MARK = re.compile(r"[(),]")
_RANGE = re.compile(r"\s*(-?\d{1,18})\s*\.\.\s*(-?\d{1,18})\s*")
MOST_SETTINGS = 1_000_000
MOST_CHARACTERS = 100_000_000  # of all settings together


def expand(text: str) -> list[str]:
    """Return the texts that a text with lists of values stands for: all combinations, the last list changing fastest.

    >>> expand("lrts(depth=[1, 2], gamma=[0.5, 1])")
    ['lrts(depth=1, gamma=0.5)', 'lrts(depth=1, gamma=1)', 'lrts(depth=2, gamma=0.5)', 'lrts(depth=2, gamma=1)']
    """
    fixed, inside = _LIST.split(text)[::2], _LIST.findall(text)
    choices = [_values(one, text) for one in inside]
    count = math.prod(sum(map(len, values)) for values in choices)
    if count > MOST_SETTINGS:  # checked before any setting is made
        raise ParameterError(f"{text!r} stands for more than {MOST_SETTINGS:,} settings; draw a sample instead")
    lists = [[str(value) for values in each for value in values] for each in choices]
    longest = sum(map(len, fixed)) + sum(max(map(len, values)) for values in lists)
    if lists and longest > MAX_LENGTH:
        raise ParameterError(f"{text!r} stands for settings of {longest:,} characters; the limit is {MAX_LENGTH:,}")
    if lists and count * longest > MOST_CHARACTERS:
        raise ParameterError(
            f"{text!r} stands for {count:,} settings of up to {longest:,} characters, too many to list; draw a sample "
            "instead"
        )
    return ["".join(map("".join, zip(fixed, [*chosen, ""], strict=True))) for chosen in itertools.product(*lists)]


def _values(inside: str, text: str) -> list[Sequence[object]]:
    """Return the values of one list, piece by piece; ``3..5`` is the range 3, 4, 5."""
    values: list[Sequence[object]] = []
    for word in _words(inside):
        if span := _RANGE.fullmatch(word):
            values.append(range(int(span[1]), int(span[2]) + 1))
        elif word.strip():
            values.append([word.strip()])
    if not any(map(len, values)):
        raise ParameterError(f"{text!r} has a list without values; write values, as in [1, 3, 5] or [4..16]")
    return values


def _words(inside: str) -> Iterator[str]:
    """Split at commas, except at those within brackets, which belong to a value."""
    begin = depth = 0
    for mark in _MARK.finditer(inside):
        depth += (mark[0] == "(") - (mark[0] == ")")
        if mark[0] == "," and depth <= 0:
            yield inside[begin : mark.start()]
            begin = mark.end()
    yield inside[begin:]


def grid(text: str) -> list[Algorithm]:
    """Return the algorithms that a text with lists of values stands for."""
    return [find(one) for one in expand(text)]


def sample(
    text: str,
    count: int,
    seed: int,
    ranges: Mapping[str, Sequence[float]],
    keep: Mapping[str, float] | None = None,
) -> list[Algorithm]:
    """Return ``count`` settings of an algorithm, each parameter uniform over its own range or over the given one.

    Parameters with a value in the text are not drawn. Seeds, and parameters for different readings of the paper, are
    drawn only if they have a range. A parameter in ``keep`` is left at its default with that probability.

    >>> one, two = sample("family(b=1)", 2, seed=1, ranges={"w": [1, 2]})
    >>> one.params.b, 1 <= two.params.w <= 2, one.params == two.params
    (1.0, True, False)
    """
    base = find(text)
    chances = keep or {}
    unset = [p for p in base.parameters if p.name not in parse(text).arguments]
    _check_ranges(text, {p.name: p for p in unset}, ranges)
    free = [p for p in unset if p.sampled or p.name in ranges]
    _check_chances(text, {p.name: p for p in free}, chances)
    rng = np.random.default_rng(seed)
    return [
        base.with_parameters(**{p.name: _draw_or_keep(p, rng, ranges.get(p.name), chances.get(p.name)) for p in free})
        for _ in range(count)
    ]


def _check_ranges(text: str, free: Mapping[str, Parameter], ranges: Mapping[str, Sequence[float]]) -> None:
    """Refuse ranges of parameters that are not drawn, and empty or invalid ranges."""
    for name, limits in ranges.items():
        if name not in free:
            raise ParameterError(f"{text} has no parameter {name!r} to draw; {did_you_mean(name, free)}")
        parameter = free[name]
        if parameter.kind is bool or issubclass(parameter.kind, IntEnum):
            raise ParameterError(f"{name} is {parameter.allowed} and is drawn from all of these; it takes no range")
        if not _is_range(limits, parameter):
            raise ParameterError(
                f"the range of {name} must be [low, high] with low <= high, each {parameter.allowed}, not {limits!r}"
            )


def _check_chances(text: str, free: Mapping[str, Parameter], chances: Mapping[str, Any]) -> None:
    """Refuse to keep parameters that are not drawn, and chances that are not probabilities."""
    for name, chance in chances.items():
        if name not in free:
            raise ParameterError(f"{text} has no parameter {name!r} to draw; {did_you_mean(name, free)}")
        if not isinstance(chance, int | float) or isinstance(chance, bool) or not 0 <= chance <= 1:
            raise ParameterError(f"the chance that {name} keeps its default must be in [0, 1], not {chance!r}")


def _is_range(limits: object, parameter: Parameter) -> bool:
    """Return whether these are two numbers, in order, between which a value of the parameter may lie."""
    if not isinstance(limits, Sequence) or isinstance(limits, str) or len(limits) != 2:
        return False
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in limits):
        return False
    if not all(abs(end) <= sys.float_info.max for end in limits):
        return False
    low, high = limits
    if parameter.kind is int and not all(end == int(end) and abs(end) < 2**63 for end in limits):
        return False
    known = parameter.range
    return low <= high and (known is None or known.low <= low <= high <= known.high)


def _draw_or_keep(
    parameter: Parameter, rng: np.random.Generator, limits: Sequence[float] | None, chance: float | None
) -> Any:
    kept = chance is not None and rng.random() < chance
    return parameter.default if kept else _draw(parameter, rng, limits)


def _draw(parameter: Parameter, rng: np.random.Generator, limits: Sequence[float] | None) -> Any:
    if issubclass(parameter.kind, IntEnum):
        return list(parameter.kind)[rng.integers(len(parameter.kind))]
    if parameter.kind is bool:
        return bool(rng.integers(2))
    known = parameter.range
    low, high = limits if limits is not None else (known.low, known.high) if known else (-math.inf, math.inf)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ParameterError(
            f"the range of {parameter.name} has no end ({parameter.allowed}); give ranges = {{ {parameter.name} = "
            "[low, high] }, or a value in the text"
        )
    return int(rng.integers(int(low), int(high) + 1)) if parameter.kind is int else float(rng.uniform(low, high))


def full_notation(algorithm: Algorithm) -> str:
    """Return the algorithm with all its parameters, including those at their defaults.

    >>> full_notation(find("lrta"))
    'lrta(depth=1)'
    """
    values = {p.name: p.word(getattr(algorithm.params, p.name)) for p in algorithm.parameters}
    return str(Call(algorithm.card.name, values))
