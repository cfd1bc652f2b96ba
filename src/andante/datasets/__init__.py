"""Sources of problems: published benchmarks, generated maps, random problems, and the cache that keeps them."""

from __future__ import annotations

from collections.abc import Callable

#: A callback with the name of the work, the amount done, and the total amount (0 if unknown).
ProgressCallback = Callable[[str, int, int], None]


def quiet(what: str, done: int, total: int) -> None:
    """Report no progress."""
