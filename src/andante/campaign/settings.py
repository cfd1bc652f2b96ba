"""Settings of an algorithm: random samples from the whole space, and the names of settings in rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from andante.agent import Algorithm, Parameter, find
from andante.errors import ParameterError, did_you_mean
from andante.notation import Call, parse


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
    """Return whether these are two numbers, in order, with legal values of the parameter between them."""
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
            f"the range of {parameter.name} is unbounded ({parameter.allowed}); give ranges = {{ {parameter.name} = "
            "[low, high] }, or a value in the text"
        )
    return int(rng.integers(int(low), int(high) + 1)) if parameter.kind is int else float(rng.uniform(low, high))


def full_notation(algorithm: Algorithm) -> str:
    """Return the algorithm with all its parameters, including those that have their default values.

    >>> full_notation(find("lrta"))
    'lrta(depth=1)'
    """
    values = {p.name: p.word(getattr(algorithm.params, p.name)) for p in algorithm.parameters}
    return str(Call(algorithm.card.name, values))
