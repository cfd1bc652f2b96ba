"""The identity of a row: a hash of all that decides the outcome of a trial, and of nothing else.

Two trials with one id are the same trial, wherever, whenever and by whatever engine they were run; all that they
measure must agree, but for time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

#: Columns of time, which is never twice the same.
TIMES = frozenset({"seconds", "microseconds_per_move", "first_move_microseconds", "build_seconds"})

#: Columns that may differ between two rows of one trial: time, where in a campaign it was asked for, and mere names.
NOT_DECIDED = TIMES | {"job", "set", "problem", "repeat", "map", "training", "algorithm"}

#: Two rows with these in common are one: the trial, the set of problems that asked for it, and the repeat number.
KEY = ("id", "set", "repeat")

_DIGEST_BYTES = 16


def row_ids(deciding: Mapping[str, object], starts: Sequence[int], goals: Sequence[int]) -> list[str]:
    """An id for the trial from each start to each goal; ``deciding`` is all else that decides how it ends.

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
