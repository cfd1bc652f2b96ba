"""Compiling ahead of many runs, so that none of them waits for it: also what works with databases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from andante.agent import Algorithm, find
from andante.campaign.plan import Task
from andante.datasets.generate import generate
from andante.episode.run import compile_all, variant
from andante.errors import AndanteError
from andante.notation import parse
from andante.offline import build
from andante.offline.builder import asks_for_goals

_SMALL = 32  # width of a map to compile with: machine code does not depend on sizes


class Wanted(NamedTuple):
    """What will run: an algorithm, the databases it is given, as what to build, and how far it sees."""

    algorithm: Algorithm
    databases: tuple[str, ...] = ()
    sight: int | None = None

    @classmethod
    def by(cls, task: Task) -> Wanted:
        """What a task of a campaign will run."""
        conditions = task.conditions
        return cls(find(task.settings), tuple(order.text for order in conditions.databases), conditions.sight)


def compile_ahead(wanted: Iterable[Wanted], tell: Callable[[int, int], None]) -> None:
    """Compile all that will run; ``tell(number, total)`` is called before each that was not in the cache.

    Parameters that do not go together, and databases that cannot be built, are passed over: whoever runs them will hear
    what is wrong, with the map.
    """
    small = generate("rooms", _SMALL, _SMALL)
    goals = np.flatnonzero(small.passable.ravel())[:1]
    database = cache(lambda text: build(text, small, goals=goals if asks_for_goals(text) else None))
    groups = _alike(wanted)
    for number, group in enumerate(groups, 1):
        for one in group:
            with suppress(AndanteError):
                compile_all(
                    [one.algorithm],
                    [small],
                    lambda *_, number=number: tell(number, len(groups)),
                    databases=[database(text) for text in one.databases],
                    sight=one.sight,
                )
                break  # the others of its group run the same machine code


def _alike(wanted: Iterable[Wanted]) -> list[list[Wanted]]:
    """Those that run the same machine code together, in the order in which they are met."""
    kind = cache(lambda text: parse(text).name)
    found: dict[tuple[Any, ...], list[Wanted]] = {}
    for one in wanted:
        alike = (variant(one.algorithm), one.sight is None, tuple(map(kind, one.databases)))
        found.setdefault(alike, []).append(one)
    return list(found.values())
