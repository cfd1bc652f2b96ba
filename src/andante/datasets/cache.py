"""A cache of data that can be computed or fetched again: optimal costs, beside the benchmark sets.

A file in the cache is never needed. It is written completely or not at all, and contains the key that it is for. A file
that is damaged, truncated or for another key counts as absent.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from andante.errors import OutputError
from andante.files import cache_folder, write_whole
from andante.world.graph import Graph
from andante.world.heuristics import DIAGONAL

_FORMAT = f"andante optimal costs 2, diagonal {DIAGONAL!r}"
_SLACK = 1024  # the largest size of the first line, in bytes

Costs = npt.NDArray[np.float64]
States = npt.NDArray[np.int64]


def kept_costs(graph: Graph, starts: States, goals: States) -> Costs | None:
    """Return the optimal costs cached for exactly these problems on exactly this graph, or None."""
    try:
        with _costs_file(graph, starts, goals).open("rb") as stream:
            data = stream.read(len(starts) * 8 + _SLACK + 1)
    except OSError:
        return None
    head, _, payload = data.partition(b"\n")
    if head != _head(graph, starts, goals, payload):
        return None
    if len(payload) != len(starts) * 8:
        return None
    return np.frombuffer(payload, "<f8").astype(np.float64)


def keep_costs(graph: Graph, starts: States, goals: States, costs: Costs) -> None:
    """Cache optimal costs for `kept_costs`; if the cache cannot be written, they will be computed again."""
    payload = costs.astype("<f8").tobytes()
    file = _costs_file(graph, starts, goals)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, _head(graph, starts, goals, payload) + b"\n" + payload)
    except (OSError, OutputError):
        return


def _costs_file(graph: Graph, starts: States, goals: States) -> Path:
    return cache_folder() / "costs" / f"{_key(graph, starts, goals)[:40]}.costs"


def _head(graph: Graph, starts: States, goals: States, payload: bytes) -> bytes:
    """Return the first line of the file: its format, a key of its problems, and a checksum of the rest."""
    return f"{_FORMAT}, problems {_key(graph, starts, goals)}, sha256 {hashlib.sha256(payload).hexdigest()}".encode()


def _key(graph: Graph, starts: States, goals: States) -> str:
    digest = hashlib.sha256(f"{_FORMAT} {graph.fingerprint} {len(starts)}\n".encode())
    for states in (starts, goals):
        digest.update(states.astype("<i8").tobytes())
    return digest.hexdigest()
