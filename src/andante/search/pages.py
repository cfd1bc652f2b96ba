"""Pages of records and the hash tables that lead to them: the implementation of `Paged` records (`search.records`).

A unit finds its pages through its own hash table. A table that is half full is replaced by one twice as large, a few
entries at a time; pages return to the pool as one chain; discarded tables are cleared a few entries at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel, prefetch, subroutine

SMALLEST, CLASSES = 8, 40  # entries of the smallest hash table; sizes of tables, each twice the one before
MOVED = 4  # entries moved to a larger table per page added, so that all are moved before that table is half full
SLOT_BYTES, _HEAD_BYTES = 8, 4  # of an entry of a hash table, and of each number in a page's head
NOTHING = 0  # page and table 0: they stay empty
_LOST = 1  # a page for records that cannot be kept, in no table
FIRST = 2  # the first page to be allocated
TILE = 2  # pages of a grid have 1 << TILE columns and rows
_IN_TILE = (1 << TILE) - 1
NEXT, LEAST, _LINKS = 0, 1, 2  # places in the head of a page
_OWN = _LINKS + 4  # a page's link to itself
_PLAIN, _LINKED = 2, 16  # lengths of heads; one with links takes a cache line and uses eleven of its numbers
LINE = 64  # bytes of a cache line
SLOTS_PER_PAGE = 16  # a page needs 2 to 6, but tables of different sizes are not interchangeable
_USUAL_SLOTS = 6  # the most that a page needs, as long as tables only grow
_TOUCHED = 4096  # the smallest number of bytes that the operating system provides
CLEARED = 16  # entries of discarded tables cleared per page added, more than a page uses of new ones


#: The pages and tables of a unit; all zeros if it has none.
HOLDER = np.dtype(
    [
        ("table", np.int64),  # the first entry of its hash table
        ("mask", np.int32),  # the number of entries of its hash table, less one
        ("old", np.int64),  # the smaller table before it, from which entries are still being moved; 0: there is none
        ("old_mask", np.int32),
        ("moved", np.int32),  # entries of the old table processed so far
        ("first", np.int32),  # the first page of the chain of its pages
        ("last", np.int32),
        ("pages", np.int32),
        ("slots", np.int32),  # entries of its tables
        ("found", np.int32),  # the key that was looked up last
        ("found_at", np.int32),  # its page, as neighbouring numbers follow each other
        ("first_page", np.int32),  # the page that it expects to need first in its next move
        ("second_page", np.int32),  # the page that it expects to need second
    ]
)

POOL = np.dtype(
    [
        ("free", np.int64),  # the first of a chain of pages that were given back
        ("fresh", np.int64),  # the first page that was never used
        ("pages", np.int64),  # in use
        ("slots", np.int64),  # entries of hash tables in use
        ("fresh_slot", np.int64),  # the first entry that was never used
        ("dirty", np.int64),  # the first of a chain of tables to be cleared
        ("page_bytes", np.int64),  # the size of a page with all its fields
        ("lost", np.int64),  # records that could not be kept for lack of a page or a table
    ]
)


class Cut(NamedTuple):
    """A division of numbers into pages: of a map's cells into tiles, of other numbers, which are one row, into pieces.

    A number's row is ``number * factor >> shift``, which is faster than a division and correct below 2 ** 31.
    """

    width: int  # numbers in a row
    factor: int
    shift: int
    pages: int  # in a row
    across: int  # a page has 1 << across columns
    down: int  # a page has 1 << down rows
    head: int  # numbers in the head of a page; it is longer if tiles are linked to those around them


def cut_into(width: int, across: int, down: int, *, linked: bool = False) -> Cut:
    """Return how to cut rows of ``width`` numbers into pages of ``1 << across`` columns and ``1 << down`` rows.

    Only tiles can be ``linked``, and only if the map is wide enough for numbers to define directions.

    >>> cut_into(10, 2, 2).pages
    3
    """
    shift = 31 + (width - 1).bit_length()
    pages = (width - 1 >> across) + 1
    head = _LINKED if linked and across == down == TILE and width > 2 else _PLAIN
    return Cut(width, -(-(1 << shift) // width), shift, pages, across, down, head)


class Paged(NamedTuple):
    """Records in pages of neighbouring numbers."""

    table: npt.NDArray[np.int64]  # [slots], hash tables: (key + 1) << 32 | page, or 0
    spare: npt.NDArray[np.int64]  # [CLASSES], the first of a chain of clear tables of each size
    head: npt.NDArray[np.int32]  # [pages * cut.head], of each page: the next one of a chain, its first number and,
    # for tiles, the unit's pages around it and itself, row by row, as far as they were looked up
    bytes: npt.NDArray[np.uint8]  # all fields of all pages
    field: npt.NDArray[np.int64]  # [fields, 2], the first byte of a field, and its bytes per page
    pool: npt.NDArray[Any]  # [1], of POOL
    holder: npt.NDArray[Any]  # [1], of HOLDER: the unit's own
    cut: Cut


# --- pages ----------------------------------------------------------------------------------------------------------


@kernel
def key_and_rest(cut: Cut, number: int) -> tuple[int, int]:
    """Return the key of a number's page among all possible pages, and the number's place in that page."""
    y = number * cut.factor >> cut.shift
    x = number - y * cut.width
    key = (y >> cut.down) * cut.pages + (x >> cut.across)
    return key, ((y & ((1 << cut.down) - 1)) << cut.across) | (x & ((1 << cut.across) - 1))


@kernel
def link_to(index: Paged, place: int, number: int, near: int) -> tuple[int, int]:
    """Return the link to the page of ``near``, -1 if there is none, and the record's place in that page."""
    cut = index.cut
    page, apart = place >> 2 * TILE, near - number
    rows = (apart > 1) - (apart < -1)
    columns = apart - rows * cut.width
    if cut.head == _PLAIN or page < FIRST or columns < -1 or columns > 1:
        return -1, 0
    x, y = (place & _IN_TILE) + columns, ((place >> TILE) & _IN_TILE) + rows
    link = page * _LINKED + _OWN + 3 * (y >> TILE) + (x >> TILE)
    return link, ((y & _IN_TILE) << TILE) | (x & _IN_TILE)


@kernel
def set_link(index: Paged, page: int, link: int, other: int) -> None:
    """Link two pages, in both directions, if the other one exists."""
    if other >= FIRST:
        index.head[link] = other
        index.head[other * _LINKED + 2 * _OWN - (link - page * _LINKED)] = page


@kernel
def _least(cut: Cut, key: int) -> int:
    """Return the first number of a page."""
    row = key // cut.pages
    return (row << cut.down) * cut.width + ((key - row * cut.pages) << cut.across)


@kernel
def place_in(cut: Cut, page: int, rest: int) -> int:
    """Return the place of a record in the fields."""
    return (page << (cut.across + cut.down)) | rest


@kernel
def prefetch_page(index: Paged, page: int) -> None:
    """Prefetch the head and all fields of a page."""
    prefetch(index.head, page * index.cut.head)
    for i in range(len(index.field)):
        begin, size = index.field[i, 0] + page * index.field[i, 1], index.field[i, 1]
        for byte in range(0, size, LINE):
            prefetch(index.bytes, begin + byte)


# --- hash tables ----------------------------------------------------------------------------------------------------


@kernel
def slot_of(table: int, mask: int, key: int) -> int:
    """Return the entry at which the lookup of a key begins."""
    return table + ((key * 0x9E3779B1 >> 16) & mask)


@kernel
def _look_up(index: Paged, table: int, mask: int, key: int) -> int:
    """Return the page of a key in this table; 0 if there is none."""
    slot = slot_of(table, mask, key)
    entry = index.table[slot]
    while entry != 0:
        if entry >> 32 == key + 1:
            return entry & 0x7FFFFFFF
        slot = slot + 1 if slot < table + mask else table
        entry = index.table[slot]
    return NOTHING


@kernel
def page_of(index: Paged, key: int) -> int:
    """Return the unit's page of a key; 0 if there is none."""
    holder = index.holder[0]
    page = _look_up(index, holder["table"], holder["mask"], key)
    if page == NOTHING and holder["old"] != NOTHING:
        page = _look_up(index, holder["old"], holder["old_mask"], key)
    return page


@kernel
def _enter(index: Paged, table: int, mask: int, key: int, page: int) -> None:
    """Enter a key that is not in the table, which must not be full."""
    slot = slot_of(table, mask, key)
    while index.table[slot] != 0:
        slot = slot + 1 if slot < table + mask else table
    index.table[slot] = ((key + 1) << 32) | page


@subroutine
def add_page(index: Paged, key: int) -> int:
    """Give the unit a page for this key and return it."""
    holder, pool, head = index.holder[0], index.pool[0], index.cut.head
    clear_tables(index, CLEARED)
    if holder["old"] != NOTHING:
        _move_on(index)
    if 2 * holder["pages"] >= holder["mask"] and holder["old"] == NOTHING:
        _grow(index)
    page = pool["free"] if pool["free"] != NOTHING else pool["fresh"]
    if page * head == len(index.head) or holder["pages"] >= holder["mask"]:
        pool["lost"] += 1
        return _LOST
    if page == pool["fresh"]:
        pool["fresh"] = page + 1
    else:
        pool["free"] = index.head[page * head + NEXT]
    for i in range(len(index.field)):
        begin = index.field[i, 0] + page * index.field[i, 1]
        index.bytes[begin : begin + index.field[i, 1]] = 0
    index.head[page * head : (page + 1) * head] = 0
    index.head[page * head + NEXT], index.head[page * head + LEAST] = holder["first"], _least(index.cut, key)
    holder["first"] = page
    if holder["pages"] == 0:
        holder["last"] = page
    holder["pages"] += 1
    pool["pages"] += 1
    _enter(index, holder["table"], holder["mask"], key, page)
    holder["found"], holder["found_at"] = key, page
    if head == _LINKED:
        index.head[page * _LINKED + _OWN] = page
    return page


@kernel
def _grow(index: Paged) -> None:
    """Begin a table of twice the size, to which the entries of the present one are moved a few at a time."""
    holder = index.holder[0]
    size = max(SMALLEST, 2 * (holder["mask"] + 1))
    table = _new_table(index, size)
    if table == NOTHING:
        return
    holder["old"], holder["old_mask"], holder["moved"] = holder["table"], holder["mask"], 0
    holder["table"], holder["mask"] = table, size - 1
    holder["slots"] += size


@kernel
def _move_on(index: Paged) -> None:
    """Move a few entries from the old table to the present one; discard the old one when all are moved."""
    holder = index.holder[0]
    for _ in range(MOVED):
        if holder["moved"] > holder["old_mask"]:
            holder["slots"] -= holder["old_mask"] + 1
            discard(index, holder["old"], holder["old_mask"])
            holder["old"] = holder["old_mask"] = holder["moved"] = 0
            return
        entry = index.table[holder["old"] + holder["moved"]]
        if entry != 0:
            _enter(index, holder["table"], holder["mask"], (entry >> 32) - 1, entry & 0x7FFFFFFF)
        holder["moved"] += 1


@kernel
def _new_table(index: Paged, size: int) -> int:
    """Return the first entry of a clear table of this size; 0 if there is no space for one."""
    pool, which = index.pool[0], _class(size)
    table = index.spare[which]
    if table != NOTHING:
        index.spare[which] = index.table[table]
        index.table[table] = 0
    elif pool["fresh_slot"] + size <= len(index.table):
        table = pool["fresh_slot"]
        pool["fresh_slot"] = table + size
    if table != NOTHING:
        pool["slots"] += size
    return table


@kernel
def _class(size: int) -> int:
    """Return the number of a table's size among the sizes."""
    which = 0
    while size > SMALLEST:
        size >>= 1
        which += 1
    return which


@kernel
def discard(index: Paged, table: int, mask: int) -> None:
    """Add a table to the chain of those to be cleared; its first entries store the next, its size and progress."""
    if table == NOTHING:
        return
    index.table[table], index.table[table + 1], index.table[table + 2] = index.pool[0]["dirty"], mask, mask
    index.pool[0]["dirty"] = table
    index.pool[0]["slots"] -= mask + 1


@kernel
def clear_tables(index: Paged, entries: int) -> None:
    """Clear up to this many entries of discarded tables, so that they can be used again."""
    pool = index.pool[0]
    while entries > 0 and pool["dirty"] != NOTHING:
        table = pool["dirty"]
        left = index.table[table + 2]
        until = max(left - entries, 2)
        for slot in range(table + until + 1, table + left + 1):
            index.table[slot] = 0
        entries -= left - until + 1
        index.table[table + 2] = until
        if until == 2:
            which = _class(index.table[table + 1] + 1)
            pool["dirty"] = index.table[table]
            index.table[table], index.table[table + 1], index.table[table + 2] = index.spare[which], 0, 0
            index.spare[which] = table


# --- allocating -----------------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """The memory that a pool may use, and the numbers of its records."""

    bytes: int  # in use; a single step may exceed it by its own records
    numbers: int  # 0 to ``numbers`` - 1


def paged(fields: list[np.dtype[Any]], cut: Cut, room: Room, holders: npt.NDArray[Any]) -> tuple[Paged, list[Any]]:
    """Return an index for records with these fields, and the fields' arrays.

    The arrays have their maximal lengths. The operating system provides memory only for the parts that are used.
    """
    sizes = [dtype.itemsize << (cut.across + cut.down) for dtype in fields]
    whole_map = cut.pages * ((room.numbers // cut.width >> cut.down) + 1)
    pages = room.bytes // max(1, sum(sizes)) + whole_map + FIRST
    begins = np.concatenate([[0], np.cumsum([_aligned(pages * size) for size in sizes])]).astype(np.int64)
    buffer = lined_up(int(begins[-1]), np.uint8)
    slots = SLOTS_PER_PAGE * pages + SMALLEST
    pool = np.zeros(1, POOL)
    pool["fresh"], pool["fresh_slot"], pool["page_bytes"] = FIRST, SMALLEST, sum(sizes) + _HEAD_BYTES * cut.head
    field = np.stack([begins[:-1], np.array(sizes, np.int64)], axis=1)
    field.flags.writeable = False
    index = Paged(
        lined_up(slots, np.int64),
        np.zeros(CLASSES, np.int64),
        lined_up(pages * cut.head, np.int32),
        buffer,
        field,
        pool,
        holders,
        cut,
    )
    arrays = [
        buffer[begin : begin + pages * size].view(dtype)
        for begin, size, dtype in zip(begins[:-1].tolist(), sizes, fields, strict=True)
    ]
    return index, arrays


def _aligned(size: int) -> int:
    """Return the size, rounded up to whole cache lines."""
    return -(-size // LINE) * LINE


def touch(index: Paged, size: int) -> None:
    """Touch this many bytes that no unit has used yet; they stay zeros.

    The operating system provides memory when it is touched for the first time, 2 MB at a time if it can. This may take
    milliseconds, in which nothing else happens.
    """
    pool, head = index.pool[0], index.cut.head
    first = int(pool["fresh"])
    last = min(first + size // int(pool["page_bytes"]), len(index.head) // head)
    for begin, each in index.field.tolist():
        index.bytes[begin + first * each : begin + last * each : _TOUCHED] = 0
    index.head[first * head : last * head : _TOUCHED // index.head.itemsize] = 0
    slots = int(pool["fresh_slot"])
    index.table[slots : slots + _USUAL_SLOTS * (last - first) : _TOUCHED // SLOT_BYTES] = 0


def lined_up(length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros that begin at the start of a cache line, so that no record is in more lines than necessary.

    >>> lined_up(3, np.int64).ctypes.data % LINE
    0
    """
    size = length * np.dtype(dtype).itemsize
    raw = np.zeros(size + LINE, np.uint8)
    begin = -raw.ctypes.data % LINE
    return raw[begin : begin + size].view(dtype)
