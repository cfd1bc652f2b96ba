"""Every algorithm as a function of its parameters, for completion in editors and for type checkers.

>>> from andante.settings import lrta, tba
>>> lrta(depth=3)
Algorithm(lrta(depth=3))
>>> str(tba(budget=20, weight=2))
'tba(budget=20, weight=2.0)'

The result can be passed wherever an algorithm is expected: ``andante.run(lrta(depth=3), problem)``. Hyphens in names
become underscores. Your own algorithms are included. The stub for editors, ``settings.pyi``, lists those that come with
Andante; ``tools/reference.py`` writes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from andante.agent import Algorithm, algorithms
from andante.errors import did_you_mean


def __getattr__(name: str) -> Callable[..., Algorithm]:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    known = _named()
    if name not in known:
        raise AttributeError(f"there is no algorithm {name!r}; {did_you_mean(name, known)}")
    return _function(name, known[name])


def __dir__() -> list[str]:
    return sorted(_named())


def _named() -> dict[str, Algorithm]:
    """Return all algorithms by their names in Python."""
    return {entry.card.name.replace("-", "_"): entry for entry in algorithms()}


def _function(name: str, entry: Algorithm) -> Callable[..., Algorithm]:
    """Return a function that makes settings of an algorithm, with the right signature and docstring."""

    def make(**parameters: Any) -> Algorithm:
        return entry.with_parameters(**parameters)

    make.__name__ = make.__qualname__ = name
    make.__module__ = __name__
    about = [f"    {p.name}: {p.about} ({p.allowed})" for p in entry.parameters]
    make.__doc__ = "\n".join([entry.card.summary, "", *about])
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.word(p.default))
            for p in entry.parameters
        ],
        return_annotation=Algorithm,
    )
    return make
