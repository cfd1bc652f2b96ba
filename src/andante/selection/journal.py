"""The journal: the results of advise so far, stored piece by piece, so that a killed run can be resumed.

A piece is stored under a hash of everything that determines it, with a checksum. A damaged piece is made again. The
time that it took is stored too, and counts when the piece is read again, so a resumed run makes the same decisions as
one that was never stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from andante.errors import ParameterError, real_number
from andante.files import json_checksum, make_folder, write_whole


class Journal:
    """Pieces of work, stored in a folder or, without one, in memory.

    >>> journal = Journal()
    >>> journal.once({"sum of": [1, 2]}, lambda: 3), journal.once({"sum of": [1, 2]}, lambda: 4)
    (3, 3)
    """

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.folder = folder
        self._clock = clock
        self._pieces: dict[str, Any] = {}
        self._began = self._clock()
        self._recalled = 0.0
        if folder is not None:
            make_folder(folder)

    @property
    def seconds(self) -> float:
        """The time that all pieces took, in this run and in earlier ones."""
        return self._clock() - self._began + self._recalled

    def restart(self) -> None:
        """Start counting the seconds from now."""
        self._began, self._recalled = self._clock(), 0.0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time of this block from the seconds."""
        began = self._clock()
        try:
            yield
        finally:
            self._began += self._clock() - began

    def once(self, what: Mapping[str, Any], make: Callable[[], Any]) -> Any:
        """Return the piece of plain data that ``what`` determines, from the journal or made now."""
        key = digest(what)
        if key in self._pieces:
            return self._pieces[key]["piece"]
        kept = self._read(key)
        if kept is None:
            began = self._clock()
            kept = {"piece": make(), "seconds": self._clock() - began}
            if self.folder is not None:
                write_whole(self._file(key), json.dumps({**kept, "checksum": _checksum(key, kept)}).encode())
        else:
            self._recalled += kept["seconds"]
        self._pieces[key] = kept
        return kept["piece"]

    def seconds_of(self, what: Mapping[str, Any]) -> float:
        """Return the time that a piece already requested took when it was made."""
        return float(self._pieces[digest(what)]["seconds"])

    def holds(self, what: Mapping[str, Any]) -> bool:
        """Return whether the journal has this piece."""
        key = digest(what)
        return key in self._pieces or self._read(key) is not None

    def _file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key}.json"

    def _read(self, key: str) -> Any:
        if self.folder is None:
            return None
        try:
            kept = json.loads(self._file(key).read_bytes())
            real_number(kept["seconds"], "the time that a piece took", least=0.0)
            return kept if kept["checksum"] == _checksum(key, kept) else None
        except (OSError, ValueError, TypeError, KeyError, RecursionError, ParameterError):
            return None  # missing or damaged, so it is made again


def _checksum(key: str, kept: Mapping[str, Any]) -> str:
    """Return a hash of a piece, its time, and its key."""
    return digest({"key": key, "piece": kept["piece"], "seconds": kept["seconds"]})


def digest(what: Mapping[str, Any]) -> str:
    """Return a hash of plain data."""
    return json_checksum(what, digits=32)
