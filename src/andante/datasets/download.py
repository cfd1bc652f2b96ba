"""Archives of a benchmark set, found in a folder or downloaded from the benchmark's site or a mirror."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from andante.datasets import ProgressCallback
from andante.errors import DatasetError

if TYPE_CHECKING:
    from andante.datasets.movingai import BenchmarkSet

SOURCE_VARIABLE = "ANDANTE_MOVINGAI"

_MAX_ARCHIVE_BYTES = 2**28  # the largest published archive is a few megabytes
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 2**16


def archive_of(
    chosen: BenchmarkSet, archive: str, place: str, scratch: Path, progress: ProgressCallback | None
) -> Path:
    """Return one archive of the set as a local file: where it already is, or downloaded into ``scratch``."""
    beside = (f"{chosen.name}/{archive}", archive)  # as on the site, or all archives in one folder
    if not place.startswith(("http://", "https://")):
        for path in beside:
            if os.path.isfile(file := Path(os.path.expanduser(place), path)):
                return file
        raise DatasetError(f"there is no {archive} in {place}; give a folder that holds it, or the address of a mirror")
    for path in beside:
        download = _download(f"{place.rstrip('/')}/{path}", archive, chosen, scratch, progress)
        if download is not None:
            return download
    raise DatasetError(f"there is no {archive} at {place}; give a folder that holds it, or the address of a mirror")


def _download(
    url: str, archive: str, chosen: BenchmarkSet, scratch: Path, progress: ProgressCallback | None
) -> Path | None:
    """Download the file at ``url`` into ``scratch`` and return its path, or None if the server has no such file."""
    import pooch

    meter = _Meter(archive, progress)
    try:
        with _quiet(pooch.get_logger()):
            get = pooch.HTTPDownloader(progressbar=meter, chunk_size=_CHUNK_BYTES, timeout=_TIMEOUT_SECONDS)
            return Path(pooch.retrieve(url, known_hash=None, fname=archive, path=scratch, downloader=get))
    except (OSError, ValueError) as error:  # requests raises OSErrors, and ValueErrors for malformed addresses
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status == 404:
            return None
        reason = f"the server answered {status}" if status else f"no connection, {type(error).__name__}"
        raise DatasetError(
            f"cannot download {url} ({reason}); without a network, put {' and '.join(chosen.archives)} into a folder "
            f"and name that folder with --from or in {SOURCE_VARIABLE}"
        ) from error


class _Meter:
    """A replacement for pooch's progress bar, which reports progress and stops downloads that are too large."""

    def __init__(self, what: str, progress: ProgressCallback | None) -> None:
        self.what, self.progress = what, progress
        self.total, self.done = 0, 0

    def update(self, count: int) -> None:
        self.done += count
        if self.done > _MAX_ARCHIVE_BYTES:
            raise DatasetError(f"refusing {self.what}: it is larger than {_MAX_ARCHIVE_BYTES:,} bytes")
        if self.progress is not None:
            self.progress(f"downloading {self.what}", min(self.done, self.total or self.done), self.total)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        """Do nothing; pooch calls this method."""


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence a logger except for warnings and errors, because pooch prints hashes."""
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)
