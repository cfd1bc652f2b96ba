"""Unpacking archives that come from somewhere else: only what was asked for, only here, and only so much."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from andante.errors import DatasetError

#: What the members of one archive may take unpacked; the largest published set takes a tenth of it.
MAX_UNPACKED_BYTES = 2**30
MAX_MEMBERS = 10_000
_MAX_NAME_BYTES = 200
_CHUNK_BYTES = 2**16

# What reading raises where an archive is damaged: directories, decompressors, and seeking where they send it.
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
    """Write the members of ``archive`` that end in ``suffix`` into ``folder``, without subfolders; how many there were.

    Other members are passed over. An archive with a member that points outside its folder, or that would unpack to more
    than ``limit`` bytes, is refused before anything is written.
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
    """The contents of a member, piece by piece."""
    with _sound(archive), pack.open(member) as source:
        while chunk := source.read(_CHUNK_BYTES):
            yield chunk


@contextmanager
def _sound(archive: Path) -> Iterator[None]:
    """Whatever reading the archive may raise, said in a sentence."""
    try:
        yield
    except _UNSOUND as error:
        reason = str(error) or type(error).__name__
        raise DatasetError(f"{archive.name} is not a sound zip archive ({reason}); get it anew") from error


def _wanted(pack: zipfile.ZipFile, archive: Path, suffix: str, limit: int) -> dict[str, zipfile.ZipInfo]:
    """The members to unpack, by the names of the files that they become."""
    everything = pack.infolist()
    if len(everything) > MAX_MEMBERS:
        raise DatasetError(f"{archive.name} holds {len(everything):,} files, more than the {MAX_MEMBERS:,} allowed")
    for member in everything:
        path = PurePosixPath(member.orig_filename)
        if path.is_absolute() or ".." in path.parts or "\\" in member.orig_filename:
            raise DatasetError(f"{archive.name} is refused: its member {member.filename!r} points outside the archive")
    wanted: dict[str, zipfile.ZipInfo] = {}
    for member in everything:
        title = PurePosixPath(member.filename).name
        if not title.endswith(suffix) or title.startswith("."):
            continue
        if not title.isprintable() or len(title.encode(errors="replace")) > _MAX_NAME_BYTES:
            raise DatasetError(f"{archive.name} is refused: {title!r} is no name for a file")
        if title in wanted:
            raise DatasetError(f"{archive.name} holds two files of the name {title}")
        wanted[title] = member
    size = sum(member.file_size for member in wanted.values())
    if size > limit:
        raise DatasetError(f"{archive.name} is refused: it would unpack to {size:,} bytes, more than {limit:,}")
    return wanted
