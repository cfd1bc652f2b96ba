"""Files: where Andante keeps what it can make again, and how it writes what it makes."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

import platformdirs

from andante.errors import OutputError


def cache_folder() -> Path:
    """Where Andante keeps what it can make again: ``ANDANTE_CACHE``, or the user's cache folder."""
    return Path(os.environ.get("ANDANTE_CACHE") or platformdirs.user_cache_dir("andante", appauthor=False))


def make_folder(path: str | os.PathLike[str]) -> Path:
    """The folder of this name, made with all above it if it is not there yet."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name beside its place, then move it there: it appears whole or not at all."""
    file = Path(path)
    temporary = file.with_name(f".{file.name[:100]}.{secrets.token_hex(6)}.part") if file.name else file
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
        os.replace(temporary, file)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        if temporary != file:
            with suppress(OSError):
                temporary.unlink()
