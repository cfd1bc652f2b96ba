"""Unpacking of downloaded archives: only the requested files, only into one folder, and only up to a size."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from andante.errors import DatasetError

#: The largest total size of an archive's unpacked members; the largest published set takes a tenth of this.
MAX_UNPACKED_BYTES = 2**30
MAX_MEMBERS = 10_000
_MAX_NAME_BYTES = 200
_CHUNK_BYTES = 2**16

# Exceptions that reading a damaged archive may raise: from its directory, the decompressors, or seeking.
_UNSOUND = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


def unpack(archive: Path, folder: Path, suffix: str, *, limit: int = MAX_UNPACKED_BYTES) -> int:
    """Write the members of ``archive`` that end in ``suffix`` into ``folder``, without subfolders; return their number.

    Other members are skipped. An archive that would unpack to more than ``limit`` bytes, or with a member that points
    outside its folder, is refused before anything is written.
    """
    with ExitStack() as stack:
        with _sound(archive):
            pack = stack.enter_context(zipfile.ZipFile(stack.enter_context(archive.open("rb"))))
            members = _wanted(pack, archive, suffix, limit)
        for title, member in members.items():
            with (folder / title).open("xb") as sink:
                for chunk in _chunks(pack, member, archive):
                    sink.write(chunk)
    return len(members)


def _chunks(pack: zipfile.ZipFile, member: zipfile.ZipInfo, archive: Path) -> Iterator[bytes]:
    """Yield the contents of a member in pieces."""
    with _sound(archive), pack.open(member) as source:
        while chunk := source.read(_CHUNK_BYTES):
            yield chunk


@contextmanager
def _sound(archive: Path) -> Iterator[None]:
    """Turn any exception from reading the archive into a `DatasetError`."""
    try:
        yield
    except _UNSOUND as error:
        reason = str(error) or type(error).__name__
        raise DatasetError(f"{archive.name} is not a valid zip archive ({reason}); download it again") from error


def _wanted(pack: zipfile.ZipFile, archive: Path, suffix: str, limit: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members to unpack, by the names of the files they become."""
    everything = pack.infolist()
    if len(everything) > MAX_MEMBERS:
        raise DatasetError(f"{archive.name} contains {len(everything):,} files, more than the {MAX_MEMBERS:,} allowed")
    for member in everything:
        path = PurePosixPath(member.orig_filename)
        if path.is_absolute() or ".." in path.parts or "\\" in member.orig_filename:
            raise DatasetError(f"refusing {archive.name}: its member {member.filename!r} points outside the archive")
    wanted: dict[str, zipfile.ZipInfo] = {}
    for member in everything:
        title = PurePosixPath(member.filename).name
        if not title.endswith(suffix) or title.startswith("."):
            continue
        if not title.isprintable() or len(title.encode(errors="replace")) > _MAX_NAME_BYTES:
            raise DatasetError(f"refusing {archive.name}: {title!r} is not a valid file name")
        if title in wanted:
            raise DatasetError(f"{archive.name} contains two files named {title}")
        wanted[title] = member
    size = sum(member.file_size for member in wanted.values())
    if size > limit:
        raise DatasetError(f"refusing {archive.name}: it would unpack to {size:,} bytes, more than {limit:,}")
    return wanted
