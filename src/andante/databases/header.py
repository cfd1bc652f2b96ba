"""Databases, and the file format that all kinds share.

A kind of database is a bundle: a NamedTuple of arrays that kernels use directly. Its file contains the same arrays,
flat and little-endian, after a header that a C program reads as two structs (docs/explanation/database-files.md):

    head        96 bytes: magic, version, checksum, length of the file, kind, map, sizes of the next two parts
    table       64 bytes for each array: name, type, shape, offset
    text        the parameters of its build, in the notation
    arrays      each at a multiple of 64 bytes, with zeros in between

Arrays are mapped into memory, not read, so agents in any number of processes share one copy. The checksum covers every
other byte of the file, padding included, and is verified whenever a file is opened. A CRC-32 misses no flip of a single
bit and no burst of up to 32, and runs at about 4 GB/s. Nothing in a file is ever executed.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.following import Following, snapshot
from andante.databases.kinds import States, kind_named, kinds
from andante.errors import AlgorithmError, DatabaseError, NotationError, expect, real_number
from andante.files import write_whole
from andante.notation import MAX_LENGTH, Call, parse
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import World

MAGIC = b"andante\n"
VERSION = 2
ALIGNMENT = 64
MOST_ARRAYS = 64  # several times as many as any kind needs
MOST_SIDES = 3
_HEAD = struct.Struct("<8sIIQII24s32sQ")  # magic, version, checksum, bytes, arrays, text, kind, map, stale entries
_ENTRY = struct.Struct("<24s4sI3QQ")  # name, type, number of dimensions, their lengths, offset
_CHECKSUM = slice(12, 16)


# --- databases ------------------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Database:
    """Precomputed data about one map, or any map if ``fingerprint`` is None; shared by agents, which only read it.

    Only `repair` changes it, by replacing all arrays at once.
    """

    kind: str
    fingerprint: str | None  # of the graph that it was built for
    parameters: Mapping[str, Any]  # of its build
    arrays: Any  # the bundle of its kind
    path: Path | None = field(default=None)  # the file it was loaded from
    asked: States | None = field(default=None)  # its goals when built; None: all goals, or loaded from a file
    following: Following | None = field(default=None, init=False)  # the map that it follows

    def __post_init__(self) -> None:
        for array in self.arrays:
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "following": None}  # a copy follows no map

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # unpickled arrays are writeable, so kernels would be compiled again for them

    @property
    def nbytes(self) -> int:
        """The size of its arrays in bytes; for a database loaded from a file, they are mapped."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def records(self) -> int:
        """The number of its records: solved problems, pairs of regions, runs of moves, or nodes of a tree."""
        return int(self.arrays.records)

    @property
    def entries(self) -> int:
        """The number of states and moves it stores, as Bulitko and Björnsson (2009) count: without depths and indexes.

        Divided by the number of cells this is the size in maps: 1 means as many entries as the map has cells.
        """
        return int(self.arrays.entries)

    def serves(self, graph: Graph) -> bool:
        """Return whether it was built for this graph or for any graph, or follows the map of this graph."""
        if self.following is not None and self.following.world.graph is graph:
            return True
        return self.fingerprint is None or self.fingerprint == graph.chart

    def follow(self, world: World, graph: Graph, version: int) -> None:
        """Follow a map that changes, from this version on; agents on that map use it from now on."""
        self.following = Following(world, graph, version)

    def replace(self, arrays: Any, fingerprint: str) -> None:
        """Begin a new edition with these arrays, for the graph with this fingerprint."""
        self.arrays, self.fingerprint, self.path = arrays, fingerprint, None
        self.__post_init__()

    def repair(self, world: World, *, milliseconds: float = math.inf) -> int:
        """Work for a while on the changes of a map, and return the number of changes that remain.

        When none remain, it equals a database built for the present version, and agents use it from their next move on.
        Until then they use it as it was, and search where the map has changed. A call ends when its time is over and
        the current piece of work is finished; a piece is at most one pass over the whole map.

        >>> import andante
        >>> world = andante.World(andante.generate("rooms", 24, 24, seed=1))
        >>> database = andante.build("moves", world)
        >>> world.close((11, 11))
        1
        >>> while database.repair(world, milliseconds=5):
        ...     pass  # a frame of a game
        >>> database.fingerprint == world.fingerprint
        True
        """
        kinds()  # imports the modules that register themselves
        import_module("andante.offline")
        return _repairs[0](self, world, real_number(milliseconds, "milliseconds", least=0))

    def covers(self, graph: Graph, goals: States) -> npt.NDArray[np.bool_]:
        """Return for each goal whether the database serves it on this graph, for which it was built."""
        known = kinds().get(self.kind)
        if known is None or known.covers is None:
            return np.ones(len(goals), np.bool_)
        return known.covers(self.arrays, graph, goals)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the database to a file, completely or not at all."""
        write_whole(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the database as the bytes of a file."""
        return _written(self)

    def __repr__(self) -> str:
        return f"<Database {Call(self.kind, dict(self.parameters))}, {self.nbytes:,} bytes>"


_repairs: list[Callable[[Database, World, float], int]] = []


def repairs(function: Callable[[Database, World, float], int]) -> Callable[[Database, World, float], int]:
    """Register the decorated function as the implementation of `Database.repair`."""
    _repairs[:] = [function]
    return function


def sizes(databases: Iterable[Database], cells: int) -> dict[str, float]:
    """Return the total size of these databases as columns of a row, for a map with this many cells."""
    given = list(databases)
    return {
        "database_bytes": sum(one.nbytes for one in given),
        "database_records": sum(one.records for one in given),
        "database_maps": sum(one.entries for one in given) / cells,
    }


def as_databases(databases: Any, world: Grid | Graph | None = None) -> tuple[Any, ...]:
    """Return the given databases, one or several, as a tuple; raise `AlgorithmError` for file names.

    Databases for the present version of ``world``, a map that changes, follow it from now on. External algorithms
    may take any objects that their memory can read.
    """
    given = _as_tuple(databases)
    if isinstance(world, World):
        for one in given:
            if isinstance(one, Database):
                _follow_from_here(one, world)
    return given


def _follow_from_here(database: Database, world: World) -> None:
    """Let a database follow a world if it is for its present version and follows no world yet."""
    if database.following is not None or database.serves(world.graph):
        return
    version, grid = snapshot(world)
    if database.fingerprint == grid.fingerprint:
        database.follow(world, grid.graph, version)


def _as_tuple(databases: Any) -> tuple[Any, ...]:
    if isinstance(databases, Database):
        return (databases,)
    several = isinstance(databases, list | tuple | Iterable) and not isinstance(databases, str | os.PathLike)
    given = tuple(databases) if several else (databases,)
    wrong = [one for one in given if not several or isinstance(one, str | os.PathLike)]
    if wrong:
        raise AlgorithmError(f"databases must be results of andante.build or andante.load, got {wrong[0]!r}")
    return given


def pick(
    databases: Sequence[Database], kind: str, graph: Graph, order: str = "", *, who: str = "this algorithm"
) -> Database:
    """Return the database of this kind for this graph; raise `AlgorithmError`, with how to build it, if there is none.

    ``order`` is the database to build, if not the kind with its defaults; ``who`` names the algorithm that needs it.
    """
    of_kind = [one for one in databases if getattr(one, "kind", None) == kind]
    for one in of_kind:
        if one.serves(graph):
            return one
    lack = "those given are for other maps" if of_kind else "none was given"
    wanted = f'"{order}"' if "(" in order else kind
    raise AlgorithmError(
        f"{who} needs a database of kind {kind!r}, and {lack}; build one with "
        f"'andante build {wanted} MAP' and add --database FILE, or in Python use andante.build({order or kind!r}, map) "
        "and databases=[...]"
    )


# --- files ----------------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """The name, type, shape and position of an array in a file."""

    name: str
    dtype: str  # as in NumPy, without the byte order: i4, u2, f8
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Header:
    """The contents of the header of a database file."""

    kind: str
    fingerprint: str | None
    parameters: Mapping[str, Any]
    arrays: tuple[Entry, ...]
    file_bytes: int


def load(path: str | os.PathLike[str], *, map: Grid | Graph) -> Database:  # noqa: A002 (the user's word for it)
    """Return the database in a file, mapped into memory; it must be undamaged and built for ``map``.

    For a `World` it may be for the first version or for the present one. `DatabaseError` is raised otherwise.

    >>> import tempfile, andante
    >>> from andante.offline import build
    >>> grid = andante.generate("empty", 6, 6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     build("moves", grid).save(f"{folder}/empty.moves")
    ...     load(f"{folder}/empty.moves", map=grid).kind
    'moves'
    """
    expect(path, str | os.PathLike, "a database is loaded from the path of a file, a text", DatabaseError)
    expect(map, Grid | Graph, "a database is loaded for its map, a Grid or a Graph", DatabaseError)
    file, graph, version = Path(path), map.graph, 0
    header, buffer = _opened(file)
    if isinstance(map, World) and header.fingerprint not in (None, graph.chart):
        version, grid = snapshot(map)
        graph = grid.graph
    if header.fingerprint not in (None, graph.chart):
        raise DatabaseError(f"{file} was built for another map than this one; build one for it with 'andante build'")
    known = kind_named(header.kind)
    try:
        arrays = known.bundle(**_arrays(header, buffer, known.dtypes))
    except (KeyError, TypeError, ValueError, OverflowError, MemoryError):
        raise DatabaseError(
            f"{file} does not contain the arrays of a database of kind {header.kind!r}, or those of an older version; "
            "build it again with 'andante build'"
        ) from None
    fault = known.fault(arrays, graph)
    if fault is not None:
        raise DatabaseError(f"{file} cannot be used: {fault}")
    database = Database(header.kind, header.fingerprint, header.parameters, arrays, file)
    if isinstance(map, World) and graph is not map.graph:
        database.follow(map, graph, version)
    return database


def read_header(path: str | os.PathLike[str]) -> Header:
    """Return the header of a file; raise `DatabaseError` if the file is damaged."""
    return _opened(Path(path))[0]


def is_database(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is, or once was, a database, judging by its first bytes; an empty file also counts."""
    try:
        with Path(path).open("rb") as stream:
            begin = stream.read(len(MAGIC))
    except (OSError, ValueError):
        return False
    return begin == MAGIC[: len(begin)]


def _written(database: Database) -> bytes:
    """Return a database as the bytes of a file."""
    what = Call(database.kind, dict(database.parameters))
    return file_of(what, database.fingerprint, database.arrays._asdict())


def file_of(what: Call, fingerprint: str | None, given: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return the bytes of a file that contains these arrays; ``what`` is its kind with the parameters of its build."""
    arrays = {name: _little_endian(array) for name, array in given.items()}
    text = str(what).encode()
    begin = _aligned(_HEAD.size + _ENTRY.size * len(arrays) + len(text))
    table, offset = [], begin
    for name, array in arrays.items():
        table.append(_packed(Entry(name, array.dtype.str[1:], array.shape, offset)))
        offset = _aligned(offset + array.nbytes)
    parts = [*table, text, bytes(begin - _HEAD.size - _ENTRY.size * len(table) - len(text))]
    for array in arrays.values():
        parts += [array.tobytes(), bytes(_aligned(array.nbytes) - array.nbytes)]
    kind, chart = _padded(what.name, 24), _padded(fingerprint or "", 32)

    def head(checksum: int) -> bytes:
        return _HEAD.pack(MAGIC, VERSION, checksum, offset, len(table), len(text), kind, chart, 0)

    checksum = zlib.crc32(head(0))
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return b"".join([head(checksum), *parts])


def offsets_in(file: bytes) -> dict[str, int]:
    """Return where each array begins in the bytes of a file that `file_of` returned."""
    arrays = _HEAD.unpack_from(file)[4]
    entries = [_ENTRY.unpack_from(file, _HEAD.size + _ENTRY.size * i) for i in range(arrays)]
    return {_text(entry[0]): entry[-1] for entry in entries}


def checksum_of(file: bytes) -> int:
    """Return the checksum in the bytes of a file that `file_of` returned."""
    return int(_HEAD.unpack_from(file)[2])


def _little_endian(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _packed(entry: Entry) -> bytes:
    sides = (*entry.shape, *[0] * (MOST_SIDES - len(entry.shape)))
    return _ENTRY.pack(_padded(entry.name, 24), _padded(entry.dtype, 4), len(entry.shape), *sides, entry.offset)


def _padded(text: str, most: int) -> bytes:
    """Return text padded to ``most`` bytes; raise `DatabaseError` if it is too long."""
    if len(text.encode()) > most:
        raise DatabaseError(f"{text!r} is too long for a database file: at most {most} bytes")
    return text.encode().ljust(most, b"\0")


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _opened(file: Path) -> tuple[Header, mmap.mmap]:
    """Return the header of a file, and the file mapped into memory; raise `DatabaseError` if it is damaged."""
    buffer = _mapped(file)
    if buffer[: len(MAGIC)] != MAGIC[: len(buffer)]:
        raise DatabaseError(f"{file} is not a database of Andante")
    if len(buffer) < _CHECKSUM.stop:
        raise DatabaseError(f"{file} is cut off: it has only {len(buffer)} bytes; build or copy it again")
    version, checksum = struct.unpack_from("<II", buffer, len(MAGIC))
    if version != VERSION:
        raise DatabaseError(
            f"{file} is of version {version} and this Andante reads version {VERSION}; build it again with "
            "'andante build'"
        )
    if len(buffer) < _HEAD.size:
        raise DatabaseError(f"{file} is cut off: it has only {len(buffer)} bytes; build or copy it again")
    _, _, _, file_bytes, *rest = _HEAD.unpack_from(buffer)
    if len(buffer) != file_bytes:
        raise DatabaseError(f"{file} has {len(buffer)} bytes where it should have {file_bytes}; build or copy it again")
    if _checksum(buffer) != checksum:
        raise DatabaseError(f"{file} is damaged: its checksum is wrong; build or copy it again")
    try:
        return _read(buffer, *rest), buffer
    except (ValueError, struct.error, NotationError):
        raise DatabaseError(f"{file} has a header that cannot be read; build it again") from None


def _mapped(file: Path) -> mmap.mmap:
    try:
        with file.open("rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise DatabaseError(f"cannot read {file}: {error.strerror or error}") from None
    except ValueError:
        raise DatabaseError(f"{file} is empty; build or copy it again") from None


def _checksum(buffer: mmap.mmap) -> int:
    """Return the checksum of all bytes, with the bytes of the checksum itself taken as zero."""
    with memoryview(buffer) as view:
        start = zlib.crc32(view[: _CHECKSUM.start])
        start = zlib.crc32(bytes(_CHECKSUM.stop - _CHECKSUM.start), start)
        return zlib.crc32(view[_CHECKSUM.stop :], start)


def _read(buffer: mmap.mmap, arrays: int, text_bytes: int, kind: bytes, fingerprint: bytes, stale: int) -> Header:
    """Return the header of a file; raise an exception if anything in it is invalid.

    A correct checksum shows only that the file is unchanged, not where it is from.
    """
    if arrays > MOST_ARRAYS or text_bytes > MAX_LENGTH or stale:  # all entries of a file are valid
        raise ValueError(arrays)
    table = [_ENTRY.unpack_from(buffer, _HEAD.size + _ENTRY.size * i) for i in range(arrays)]
    begin = _HEAD.size + _ENTRY.size * arrays
    made = parse(buffer[begin : begin + text_bytes].decode("ascii"))
    if made.name != _text(kind) or any(isinstance(value, Call) for value in made.arguments.values()):
        raise ValueError(made)
    entries = tuple(_entry(*one) for one in table)
    return Header(made.name, _text(fingerprint) or None, made.arguments, entries, len(buffer))


def _entry(name: bytes, dtype: bytes, sides: int, *numbers: int) -> Entry:
    *shape, offset = numbers
    if not 1 <= sides <= MOST_SIDES or any(shape[sides:]):
        raise ValueError(sides)
    return Entry(_text(name), _text(dtype), tuple(shape[:sides]), offset)


def _text(padded: bytes) -> str:
    """Return the text before the zeros; raise `ValueError` if it is not printable."""
    text = padded.rstrip(b"\0").decode("ascii")
    if not text.isprintable():
        raise ValueError(text)
    return text


def _arrays(header: Header, buffer: mmap.mmap, dtypes: Mapping[str, np.dtype[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a mapped file; raise an exception if one has a wrong name or type, or exceeds the file."""
    found: dict[str, npt.NDArray[Any]] = {}
    for one in header.arrays:
        dtype = dtypes[one.name].newbyteorder("<")
        if one.dtype != dtype.str[1:] or one.offset % ALIGNMENT or one.name in found:
            raise ValueError(one)
        found[one.name] = np.ndarray(one.shape, dtype, buffer, one.offset)
    return found
