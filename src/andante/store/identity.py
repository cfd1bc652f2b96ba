"""The identity of a row: a hash of everything that affects the outcome of a trial, and of nothing else.

Two trials with the same id are the same trial, on any machine, at any time and with any engine. All their measurements
must agree, except times.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

#: Columns with times, which are never the same twice.
TIMES = frozenset({"seconds", "microseconds_per_move", "first_move_microseconds", "build_seconds"})

#: Columns that may differ between two rows of one trial: times, its place in a campaign, and names.
NOT_DECIDED = TIMES | {"job", "set", "problem", "repeat", "map", "training", "algorithm", "databases_brief"}

#: Rows that agree in these are the same row: the trial, the problem set that asked for it, and the repeat number.
KEY = ("id", "set", "repeat")

_DIGEST_BYTES = 16


def row_ids(deciding: Mapping[str, object], starts: Sequence[int], goals: Sequence[int]) -> list[str]:
    """Return an id for the trial from each start to its goal; ``deciding`` is everything else that affects its outcome.

    >>> deciding = {"map": "a3f0", "settings": "lrta(depth=1)", "version": "0.1.0"}
    >>> first, again, other = row_ids(deciding, [5, 5, 6], [9, 9, 9])
    >>> first == again, first == other, len(first)
    (True, False, 32)
    """
    head = hashlib.blake2b(json.dumps(deciding, sort_keys=True, default=str).encode(), digest_size=_DIGEST_BYTES)
    ids = []
    for start, goal in zip(starts, goals, strict=True):
        digest = head.copy()
        digest.update(b"%d>%d" % (start, goal))
        ids.append(digest.hexdigest())
    return ids
