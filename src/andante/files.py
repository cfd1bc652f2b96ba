"""The cache folder, files written completely or not at all, and checksums of plain data."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

from andante.errors import InputError, OutputError


def cache_folder() -> Path:
    """Return the folder for everything that can be recreated: ``ANDANTE_CACHE``, or the user's cache folder."""
    return Path(os.environ.get("ANDANTE_CACHE") or platformdirs.user_cache_dir("andante", appauthor=False))


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Create a folder and its parents if necessary, and return its path; raise `OutputError` if it is not writable."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _try_out(folder)
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write to {folder}: {_reason(error)}") from error
    return folder


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise `OutputError` if a file cannot be written here; call this before the work that produces the file."""
    file = os.fspath(path)
    if _is_stream(file):
        return
    try:
        folder = os.path.dirname(os.path.realpath(file))
        if not os.path.isdir(folder):
            raise OutputError(f"cannot write {file}: there is no folder {folder}")
        if os.path.isdir(file):
            raise OutputError(f"cannot write {file}: it is a folder")
        with suppress(FileNotFoundError):
            os.lstat(file)  # raises if the name is too long
        _try_out(Path(folder))
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {file}: {_reason(error)}") from error


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name in the same folder, then rename it: it appears complete or not at all.

    A symbolic link is kept, and its target is written. Devices and pipes are written to directly, and so is a file that
    this process prints to, so that earlier output stays in front of the data.
    """
    file = os.fspath(path)
    try:
        if (printed := _printed_to(file)) is not None:
            with os.fdopen(os.dup(printed), "wb") as stream:
                stream.write(data)
        elif _is_stream(file):
            Path(file).write_bytes(data)
        else:
            _replace(Path(os.path.realpath(file)), data)
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {file}: {_reason(error)}") from error


def _replace(file: Path, data: bytes) -> None:
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if file.is_symlink():  # still a link after resolving: the links form a cycle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    temporary = _beside(file.parent)
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
        with suppress(FileNotFoundError):  # a file that only its owner could read stays private
            temporary.chmod(stat.S_IMODE(file.stat().st_mode))
        os.replace(temporary, file)
    finally:
        with suppress(OSError):
            temporary.unlink()


def read_at_most(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the contents of a file; raise `FileTooLargeError`, an OSError, if it has more than ``most`` bytes."""
    with Path(path).open("rb") as stream:
        data = stream.read(most + 1) if os.fstat(stream.fileno()).st_size <= most else None
    if data is None or len(data) > most:
        raise FileTooLargeError(f"it has more than {most:,} bytes")
    return data


def json_checksum(data: Any, *, digits: int = 64, compact: bool = False) -> str:
    """Return the first digits of the SHA-256 of plain data, written as JSON with sorted names.

    ``compact`` leaves out the spaces of that JSON. Values that JSON has no type for are written as text.

    >>> json_checksum({"b": 1, "a": [2]}, digits=8) == json_checksum({"a": (2,), "b": 1}, digits=8)
    True
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":") if compact else None, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def listed(folder: str | os.PathLike[str]) -> list[str]:
    """Return the names in a folder, sorted; raise `InputError` if they cannot be listed, rather than return none."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"cannot read the folder {os.fspath(folder)}: {_reason(error)}") from error


class FileTooLargeError(OSError):
    """A file larger than any valid file of its kind."""


def _is_stream(file: str) -> bool:
    """Return whether this is something other than a file or a folder, such as a device or a pipe."""
    with suppress(OSError, ValueError):
        mode = os.stat(file).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def _printed_to(file: str) -> int | None:
    """Return the descriptor of standard output or error if it is this file, as ``/dev/stdout`` is."""
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        with suppress(OSError, ValueError):
            if os.path.samestat(os.stat(file), os.fstat(descriptor)):
                stream.flush()  # keep the order of what was printed before
                return descriptor
    return None


def _try_out(folder: Path) -> None:
    """Write an empty file and delete it, because permissions alone do not show whether this is possible."""
    probe = _beside(folder)
    probe.open("xb").close()
    probe.unlink()


def _beside(folder: Path) -> Path:
    """Return a new name for a temporary file, short enough for any file system."""
    return folder / f".{secrets.token_hex(8)}.part"


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
