"""The cost of a part of a move, for kernels that plan in several steps."""

from __future__ import annotations

from typing import NamedTuple


class Effort(NamedTuple):
    """The cost of a part of the planning, counted as in `Move`."""

    expanded: int
    touched: int
    learned: float
