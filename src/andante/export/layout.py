"""The layout of memory outside Python: the segments of an exported agent, and where each array is in them.

In Python, bundles allocate their arrays. Outside, the same arrays are pieces of a few segments: the plan itself (what
is only read), the map, the databases, the agent's mind and its desk. A `Layout` finds a place for every array that the
context of an entry points to, and records the initial memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import Database, offsets_in
from andante.kernel import Entry, Table

ALIGNMENT = 64

# Segments, as numbered in plans. A word of a context is a number, or an address within one of the others.
NUMBER, PLAN, MAP, MIND, DESK, DATABASE = range(6)

Arrays = Sequence[tuple[int, npt.NDArray[Any]]]  # the words of a context that are addresses, and of which arrays


class Range(NamedTuple):
    """A piece of memory in this process, and its place in a segment."""

    begin: int
    end: int
    segment: int
    offset: int


def ranges_of(arrays: dict[str, npt.NDArray[Any]], where: dict[str, int], segment: int) -> list[Range]:
    """Return where arrays are in this process, and their places in a segment that is a file."""
    return [Range(*bounds(array), segment, where[key]) for key, array in arrays.items() if array.size]


def relocated(entry: Entry | Table, ranges: Sequence[Range]) -> list[tuple[int, int, int]]:
    """Return for each word of a context its value, its segment, and the bytes that it is the address of."""
    words = [(word, NUMBER, 0) for word in entry.words]
    for place, array in entry.arrays:
        words[place] = (0, NUMBER, 0) if array.size == 0 else place_of(array, ranges)
    return words


def place_of(array: npt.NDArray[Any], ranges: Sequence[Range]) -> tuple[int, int, int]:
    """Return the place of an array: offset, segment and length."""
    low, high = bounds(array)
    for one in ranges:
        if one.begin <= low and high <= one.end:
            return one.offset + array.ctypes.data - one.begin, one.segment, high - low
    raise AssertionError("an array is in no segment")


def bounds(array: npt.NDArray[Any]) -> tuple[int, int]:
    """Return where an array begins and ends in this process."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)


def aligned(size: int) -> int:
    """Return the size, rounded up to whole cache lines."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class _Piece(NamedTuple):
    """A piece of memory in this process; each unit's part begins ``step`` bytes after that of the unit before."""

    low: int
    high: int
    writeable: bool
    step: int
    cuts: list[int]  # where arrays begin in it

    @property
    def contents(self) -> npt.NDArray[np.uint8]:
        """Its bytes."""
        size = self.high - self.low
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(self.low))


def _without_zeros(contents: npt.NDArray[np.uint8]) -> int:
    """Return the length of memory without the zeros at its end, which can be most of it."""
    end, some = len(contents), 1 << 20
    while end > 0 and not contents[max(end - some, 0) : end].any():
        end -= min(some, end)
    block = contents[max(end - some, 0) : end]
    return end - int(np.argmax(block[::-1] != 0)) if end else 0


def _piece(arrays: Sequence[npt.NDArray[Any]]) -> _Piece:
    """Return the piece of memory that contains overlapping arrays."""
    ends = [bounds(one) for one in arrays]
    return _Piece(
        min(low for low, _ in ends),
        max(high for _, high in ends),
        any(one.flags.writeable for one in arrays),
        max(max(map(abs, one.strides), default=one.itemsize) for one in arrays),
        sorted({low for low, _ in ends}),
    )


@dataclass
class Layout:
    """The places of everything that an agent's context points to, and the initial memory.

    ``initial`` has a row for each piece of memory that is not zero: segment, offset, bytes, and the place and length of
    the data that are repeated in it. All units of a crowd begin with the same memory. ``parts`` has a row for each part
    of the mind that can be longer in another layout of the same arrays: offset and bytes.
    """

    ranges: list[Range]
    used: dict[int, int]
    initial: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    parts: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def on(cls, ranges: Sequence[Range], databases: Sequence[Database], head_bytes: int) -> Layout:
        """Return a layout with places for a map and databases, whose mind begins with a head."""
        layout = cls(list(ranges), {MIND: aligned(head_bytes), DESK: 0, PLAN: 0})
        for number, one in enumerate(databases):
            layout.ranges += ranges_of(one.arrays._asdict(), offsets_in(one.to_bytes()), DATABASE + number)
        return layout

    def place(self, arrays: Arrays, mind: Sequence[npt.NDArray[Any]], *, shared_desk: bool) -> None:
        """Put each piece of memory into a segment: the mind, the desk, or the plan if it is only read.

        An agent that cannot be one of a crowd may keep data on its desk from move to move, so its desk is mind too.
        """
        kept = [bounds(array) for array in mind if array.size]
        for piece in self._pieces([array for _, array in arrays]):
            if not piece.writeable:
                segment = PLAN
            elif not shared_desk or any(piece.low < end and begin < piece.high for begin, end in kept):
                segment = MIND
            else:
                segment = DESK
            self._put(piece, segment)

    def _pieces(self, given: Sequence[npt.NDArray[Any]]) -> list[_Piece]:
        """Return the pieces of memory that are in no segment yet, overlapping arrays as one.

        They are in the order in which they were requested, not in that of addresses, so that the same agent always has
        the same layout.
        """
        loose = [(*bounds(one), place) for place, one in enumerate(given) if one.size and not self._lies(one)]
        found: list[list[int]] = []  # indices into ``given``
        end = 0
        for low, high, place in sorted(loose):
            if found and low < end:
                found[-1].append(place)
            else:
                found.append([place])
            end = max(end, high)
        return [_piece([given[place] for place in inside]) for inside in sorted(found, key=min)]

    def _lies(self, array: npt.NDArray[Any]) -> bool:
        low, high = bounds(array)
        return any(one.begin <= low and high <= one.end for one in self.ranges)

    def _put(self, piece: _Piece, segment: int) -> None:
        contents, offset = piece.contents, self.used[segment]
        self.ranges.append(Range(piece.low, piece.high, segment, offset))
        if segment == PLAN:
            self._keep(contents)
            return
        self.used[segment] += aligned(len(contents))
        if segment == MIND:
            ends = [*piece.cuts[1:], piece.high]
            self.parts += [
                (offset + begin - piece.low, end - begin) for begin, end in zip(piece.cuts, ends, strict=True)
            ]
        if not contents.any():
            return
        size = _without_zeros(contents)
        kept = contents[:size]
        if len(contents) - size < piece.step and np.array_equal(contents[piece.step :], contents[: -piece.step]):
            size, kept = len(contents), contents[: piece.step]
        self.initial.append((segment, offset, size, self.used[PLAN], len(kept)))
        self._keep(kept)

    def _keep(self, contents: npt.NDArray[np.uint8]) -> None:
        """Put contents into the plan."""
        padding = bytes(aligned(len(contents)) - len(contents))
        self.data += [contents.tobytes(), padding]
        self.used[PLAN] += len(contents) + len(padding)
