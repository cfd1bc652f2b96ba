"""Sources of problems: published benchmarks, generated maps, random problems, and the cache that keeps them."""

from __future__ import annotations

from collections.abc import Callable

#: Called with what is being done, how much of it is done, and how much there is in all (0 if unknown).
ProgressCallback = Callable[[str, int, int], None]


def quiet(what: str, done: int, total: int) -> None:
    """Report no progress."""
