"""The space of algorithms: settings that cards recommend, and settings drawn from the ranges of all parameters.

The space of Bulitko (2016) is one algorithm, `family`, with six parameters that have short ranges and are drawn
uniformly. The wider space is the whole register. There a parameter may range over many powers of ten; such a parameter
is drawn logarithmically, around its default.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np

from andante.agent import Algorithm, Parameter, algorithms, compared, find
from andante.episode.run import Outfit
from andante.notation import parse
from andante.offline import builders

#: A parameter with a wide range is drawn within this factor of its default.
WIDE = 30.0
_SHORT = 10.0  # ranges up to this length are drawn uniformly
_UNSET = 10.0  # replaces a default of none or infinity
_KEEP_DEFAULT = 0.5  # chance that such a default is kept
_STEP = 0.5  # standard deviation of a step to a neighbour, in powers of e or, in a short range, in halves of it


# --- candidates -----------------------------------------------------------------------------------------------------


def candidates(admits: Callable[[Algorithm], bool], count: int, seed: int) -> list[Outfit[str]]:
    """Return about ``count`` candidates from the admitted algorithms of the register.

    All settings that cards recommend come first, then settings drawn from each algorithm in turn.

    >>> found = candidates(lambda entry: entry.card.name == "lrta", 6, seed=1)
    >>> [one.name for one in found][:3], len(found)
    (['lrta', 'lrta(depth=3)', 'lrta(depth=9)'], 6)
    """
    entries = [entry for entry in algorithms() if admits(entry)]
    chosen = {one.name: one for tier in recommended(admits) for one in tier}
    free = [entry for entry in entries if any(p.sampled for p in entry.parameters)]
    rng = np.random.default_rng(seed)
    barren = 0
    for entry in itertools.cycle(free):
        if len(chosen) >= count or barren > 10 * len(free):
            break
        drawn = drawn_setting(entry, rng)
        fresh = [one for one in with_databases(drawn) if admits(drawn) and one.name not in chosen]
        barren = 0 if fresh else barren + 1
        chosen.update({one.name: one for one in fresh[:1]})
    return list(chosen.values())


def recommended(admits: Callable[[Algorithm], bool]) -> list[list[Outfit[str]]]:
    """Return the settings that cards recommend, in three disjoint tiers in the order in which to try them.

    First come the settings that comparisons show, then algorithms with their defaults, both with default databases;
    last the examples, and other databases for all.

    >>> tiers = recommended(lambda entry: entry.card.name in ("knn", "lss"))
    >>> [[one.name for one in tier][:2] for tier in tiers]
    [['knn(m=100) with subgoals'], ['knn with subgoals', 'lss'], ['knn(m=100) with subgoals(records=1000, ...]]
    """
    cards = {entry.card.name: entry.card for entry in algorithms() if admits(entry)}
    shown = [entry for entry in compared() if entry.card.name in cards]
    plain = [find(name) for name in cards]
    more = [find(text) for card in cards.values() for text in card.examples]
    usual, all_of = (
        [with_databases(entry)[:1] for entry in (*shown, *plain)],
        map(with_databases, (*shown, *plain, *more)),
    )
    known: set[str] = set()
    tiers = []
    for tier in (usual[: len(shown)], usual[len(shown) :], all_of):
        fresh = {one.name: one for some in tier for one in some if admits(one.algorithm) and one.name not in known}
        known.update(fresh)
        tiers.append(list(fresh.values()))
    return tiers


def with_databases(entry: Algorithm) -> list[Outfit[str]]:
    """Return the algorithm with each choice of databases that it can use."""
    known = builders()
    orders = [known[kind].orders_for(entry.params) if kind in known else () for kind in entry.needs]
    return [Outfit(entry, chosen) for chosen in itertools.product(*orders)]


def complexity(one: Outfit[str]) -> tuple[int, int]:
    """Return the number of databases to build and of parameters to set.

    >>> complexity(Outfit(find("knn(m=100)"), ("subgoals",)))
    (1, 1)
    """
    return len(one.databases), len(parse(str(one.algorithm)).arguments)


# --- drawing --------------------------------------------------------------------------------------------------------


def drawn_setting(entry: Algorithm, rng: np.random.Generator) -> Algorithm:
    """Return the algorithm with every parameter drawn from its range.

    >>> str(drawn_setting(find("lrta"), np.random.default_rng(1)))
    'lrta(depth=6)'
    """
    return entry.with_parameters(**{p.name: _drawn(p, rng) for p in entry.parameters if p.sampled})


def neighbour(candidate: Outfit[str], rng: np.random.Generator) -> Outfit[str]:
    """Return the candidate with one or two parameters changed slightly."""
    entry = candidate.algorithm
    free = [p for p in entry.parameters if p.sampled]
    if not free:
        return candidate
    changed = rng.choice(len(free), size=min(len(free), int(rng.integers(1, 3))), replace=False)
    values = {free[k].name: _moved(free[k], getattr(entry.params, free[k].name), rng) for k in changed}
    near = with_databases(entry.with_parameters(**values))
    kept = max(near, key=lambda one: len({*one.databases} & {*candidate.databases}), default=candidate)
    return replace(kept, sight=candidate.sight)


def _drawn(parameter: Parameter, rng: np.random.Generator) -> Any:
    if issubclass(parameter.kind, IntEnum):
        return list(parameter.kind)[rng.integers(len(parameter.kind))]
    if parameter.kind is bool:
        return bool(rng.integers(2))
    if not _is_number(parameter.default) and rng.random() < _KEEP_DEFAULT:
        return parameter.default
    low, high = _ends(parameter)
    if _is_short(parameter):
        return _inside(parameter, high - rng.random() * (high - low))
    return _inside(parameter, math.exp(rng.uniform(math.log(low), math.log(high))))


def _moved(parameter: Parameter, value: Any, rng: np.random.Generator) -> Any:
    """Return a value near the given one."""
    if issubclass(parameter.kind, IntEnum) or parameter.kind is bool or not _is_number(value) or value == 0:
        return _drawn(parameter, rng)
    step = _STEP * rng.standard_normal()
    if _is_short(parameter):
        low, high = _ends(parameter)
        return _inside(parameter, value + step * (high - low) / 2)
    moved = value * math.exp(step)
    if parameter.kind is int and round(moved) == value:  # rounding would cancel the step
        moved = value + (1 if step > 0 else -1)
    return _inside(parameter, moved)


def _is_number(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _is_short(parameter: Parameter) -> bool:
    known = parameter.range
    return known is not None and known.high - known.low <= _SHORT


def _ends(parameter: Parameter) -> tuple[float, float]:
    """Return the range from which a number is drawn."""
    known = parameter.range
    if known is not None and _is_short(parameter):
        return known.low, known.high
    middle = float(parameter.default) if _is_number(parameter.default) and parameter.default > 0 else _UNSET
    low, high = middle / WIDE, middle * WIDE
    if known is not None:
        low, high = max(low, known.low), min(high, known.high)
    return low, high


def _inside(parameter: Parameter, value: float) -> Any:
    """Return the number, rounded for an integer parameter and clipped to the range; the default if that fails."""
    known = parameter.range
    if known is not None:
        value = min(max(value, known.low), known.high)
    number = round(value) if parameter.kind is int else float(f"{value:.3g}")
    return number if known is None or number in known else parameter.default
