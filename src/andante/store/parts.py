"""The files of a store: parts whose names contain a hash of their bytes, written completely and flushed, and a lock."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from andante.errors import AndanteError, OutputError
from andante.files import write_whole

if TYPE_CHECKING:
    import polars as pl

DIGITS = 16  # of hashes


class StoreError(AndanteError):
    """An error in opening, reading, writing or merging a store."""


def polars() -> ModuleType:
    """Import and return Polars, which only stores need."""
    try:
        import polars
    except ImportError as error:
        raise StoreError("stores need Polars, which is not installed; pip install 'andante[campaign]'") from error
    return polars


class Part(NamedTuple):
    """One file of rows."""

    path: Path
    rows: int
    digest: str

    @property
    def whole(self) -> bool:
        """Whether the part is undamaged."""
        with suppress(OSError):
            return digest_of(self.path.read_bytes()) == self.digest
        return False

    def read(self) -> bytes:
        """Return the part's bytes; raise `StoreError` if they are damaged."""
        data = self.path.read_bytes()
        if digest_of(data) != self.digest:
            raise damage(self.path, self.path.parents[1])
        return data


def digest_of(data: bytes) -> str:
    """Return a hash of a file's bytes."""
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def damage(file: Path, folder: Path) -> StoreError:
    """Return the error for a damaged file of a store."""
    return StoreError(f"{file} is damaged; run 'andante store check {folder}'")


def read_parquet(data: bytes, file: Path, folder: Path) -> pl.DataFrame:
    """Return the table in these bytes, which come from a file in a store's folder."""
    try:
        frame: pl.DataFrame = polars().read_parquet(data)
    except polars().exceptions.PolarsError as error:  # although the hash is correct
        raise damage(file, folder) from error
    return frame


def as_parquet(frame: pl.DataFrame) -> bytes:
    """Return a table as the bytes of a file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def write_flushed(path: Path, data: bytes) -> None:
    """Write a complete file, and wait until both the file and its name are on disk."""
    write_whole(path, data)
    try:
        _flush(path, os.O_RDWR)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    with suppress(OSError):  # not every system can flush a folder
        _flush(path.parent, os.O_RDONLY)


def _flush(place: Path, how: int) -> None:
    handle = os.open(place, how)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(file: Path, folder: Path) -> Iterator[None]:
    """Hold a lock, which the system releases whenever and however this process ends."""
    from filelock import FileLock, Timeout

    lock = FileLock(file, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreError(f"another process is writing to {folder}; wait for it, or choose another store") from error
    except OSError as error:
        raise OutputError(f"cannot write to the store {folder}: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()
