"""Unpacking archives that come from somewhere else: only what was asked for, only here, and only so much."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from andante.errors import DatasetError

#: What the members of one archive may take unpacked; the largest published set takes a tenth of it.
MAX_UNPACKED_BYTES = 2**30
MAX_MEMBERS = 10_000


def unpack(archive: Path, folder: Path, suffix: str, *, limit: int = MAX_UNPACKED_BYTES) -> int:
    """Write the members of ``archive`` that end in ``suffix`` into ``folder``, without subfolders; how many there were.

    Other members are passed over. An archive with a member that points outside its folder, or that would unpack to more
    than ``limit`` bytes, is refused before anything is written.
    """
    try:
        with archive.open("rb") as stream, zipfile.ZipFile(stream) as pack:
            members = _wanted(pack, archive, suffix, limit)
            for member in members:
                with pack.open(member) as source, (folder / _title(member)).open("xb") as sink:
                    shutil.copyfileobj(source, sink)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DatasetError(f"{archive.name} is not a sound zip archive ({error}); get it anew") from error
    except FileExistsError as error:
        raise DatasetError(f"{archive.name} holds two files of the name {Path(error.filename).name}") from error
    return len(members)


def _wanted(pack: zipfile.ZipFile, archive: Path, suffix: str, limit: int) -> list[zipfile.ZipInfo]:
    everything = pack.infolist()
    if len(everything) > MAX_MEMBERS:
        raise DatasetError(f"{archive.name} holds {len(everything):,} files, more than the {MAX_MEMBERS:,} allowed")
    for member in everything:
        path = PurePosixPath(member.orig_filename)
        if path.is_absolute() or ".." in path.parts or "\\" in member.orig_filename:
            raise DatasetError(f"{archive.name} is refused: its member {member.filename!r} points outside the archive")
    wanted = [member for member in everything if _title(member).endswith(suffix) and not _title(member).startswith(".")]
    size = sum(member.file_size for member in wanted)
    if size > limit:
        raise DatasetError(f"{archive.name} is refused: it would unpack to {size:,} bytes, more than {limit:,}")
    return wanted


def _title(member: zipfile.ZipInfo) -> str:
    return PurePosixPath(member.filename).name
