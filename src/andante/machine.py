"""The machine that Andante runs on."""

from __future__ import annotations

import os


def cores() -> int:
    """Return the number of cores this process may use, which can be fewer than the machine has.

    >>> 1 <= cores() <= os.cpu_count()
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
