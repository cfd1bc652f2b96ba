"""Indices of an agent's records: each is stored at the number it is about, or in pages that are allocated on demand.

A record contains an agent's data about one state, or about one place of a sequence. The fields of records are arrays.
Their index returns the place of a record in them:

- `Dense`: at the state's own number. The arrays belong to one agent, and they are as long as the map.
- `Paged`: in a page of neighbouring states, on a grid a tile of 4 x 4 cells, from a pool that many units share. A unit
  finds its pages through its own hash table, so its memory grows with what it has learned, whatever the size of the
  map.

A page is cleared when it is allocated, and states without a page share one that is never written to. So a record that
was not written yet is all zeros with either index, and its stamp shows kernels that it is not valid. Kernels call
`find` to read and `claim` to write. They are compiled for one index or the other and do not depend on which.

Nothing here takes time in proportion to the memory of a unit: a hash table that has become too small is replaced a few
entries at a time, a unit's pages return to the pool as one chain, and discarded tables are cleared for their next use a
few entries at a time. If no page or no table is left, a record is lost: `lost_records` counts them, and the unit has to
begin again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from andante.kernel import generic, int64, prefetch
from andante.search.pages import (
    FIRST,
    LEAST,
    NEXT,
    NOTHING,
    SLOT_BYTES,
    TILE,
    Paged,
    add_page,
    clear_tables,
    discard,
    key_and_rest,
    link_to,
    page_of,
    place_in,
    prefetch_page,
    set_link,
    slot_of,
)


class Dense(NamedTuple):
    """A record for every number, at that number."""


Index = Dense | Paged


@generic
def find(index: Index, number: int) -> int:
    """Return the place to read the record of ``number`` from; a record that was never written is all zeros."""
    raise TypeError(index)


@generic
def find_beside(index: Index, place: int, number: int, near: int) -> int:
    """Return the place to read the record of ``near`` from; `find` or `claim` returned ``place`` for ``number``.

    Where pages are linked and ``near`` is a neighbouring cell, this is faster than `find`.
    """
    raise TypeError(index)


@generic
def claim_beside(index: Index, place: int, number: int, near: int) -> int:
    """Return the place to write the record of ``near`` to; `find` or `claim` returned ``place`` for ``number``."""
    raise TypeError(index)


@generic
def number_at(index: Index, place: int) -> int:
    """Return the number whose record is at this place; the place must have been claimed."""
    raise TypeError(index)


@generic
def claim(index: Index, number: int) -> int:
    """Return the place to write the record of ``number`` to."""
    raise TypeError(index)


@generic
def release(index: Index) -> None:
    """Release all records of the unit; do nothing for `Dense`, where stamps show which records are valid."""
    raise TypeError(index)


@generic
def forget(index: Index, field: npt.NDArray[Any]) -> None:
    """Set a field of all records to zero, in time proportional to their number; paged records are released."""
    raise TypeError(index)


@generic
def held_bytes(index: Index) -> int:
    """Return the memory that the unit uses; 0 for `Dense`, whose memory belongs to its agent."""
    raise TypeError(index)


@generic
def prefetch_holder(index: Index) -> None:
    """Prefetch the unit's data for finding its records."""
    raise TypeError(index)


@generic
def prefetch_place(index: Index, number: int) -> None:
    """Prefetch the memory in which the record of ``number`` is looked up."""
    raise TypeError(index)


@generic
def expect(index: Index, place: int) -> None:
    """Note that the next move will begin with the record at this place; the last two notes count."""
    raise TypeError(index)


@generic
def prefetch_expected(index: Index) -> None:
    """Prefetch the records with which the unit's next move will begin, as noted by `expect`."""
    raise TypeError(index)


@generic
def starts_clear(index: Index) -> bool:
    """Return whether a new problem begins with records that are all zeros."""
    raise TypeError(index)


@generic
def lost_records(index: Index) -> int:
    """Return the number of records of all units that could not be kept; 0 for `Dense`."""
    raise TypeError(index)


@generic
def used_bytes(index: Index) -> int:
    """Return the memory that all units with this pool use; 0 for `Dense`."""
    raise TypeError(index)


@generic
def tidy(index: Index, entries: int) -> None:
    """Clear up to this many entries of discarded tables, so that they can be used again."""
    raise TypeError(index)


@find.of(Dense)
def _same(index: Dense, number: int) -> int:
    return number


@number_at.of(Dense)
def _itself(index: Dense, place: int) -> int:
    return place


@number_at.of(Paged)
def _by_key(index: Paged, place: int) -> int:
    cut = index.cut
    x, y = place & ((1 << cut.across) - 1), (place >> cut.across) & ((1 << cut.down) - 1)
    return int64(index.head[(place >> (cut.across + cut.down)) * cut.head + LEAST]) + y * cut.width + x


@claim.of(Dense)
def _also_same(index: Dense, number: int) -> int:
    return number


@find_beside.of(Dense)
def _same_again(index: Dense, place: int, number: int, near: int) -> int:
    return near


@claim_beside.of(Dense)
def _also_same_again(index: Dense, place: int, number: int, near: int) -> int:
    return near


@release.of(Dense)
def _keep(index: Dense) -> None:
    pass


@forget.of(Dense)
def _clear(index: Dense, field: npt.NDArray[Any]) -> None:
    field[:] = 0


@held_bytes.of(Dense)
def _none_extra(index: Dense) -> int:
    return 0


@prefetch_holder.of(Dense)
def _no_holder(index: Dense) -> None:
    pass


@prefetch_holder.of(Paged)
def _own_holder(index: Paged) -> None:
    prefetch(index.holder, 0)


@prefetch_place.of(Dense)
def _no_place(index: Dense, number: int) -> None:
    pass


@prefetch_place.of(Paged)
def _own_slot(index: Paged, number: int) -> None:
    holder = index.holder[0]
    prefetch(index.table, slot_of(holder["table"], holder["mask"], key_and_rest(index.cut, number)[0]))


@expect.of(Dense)
def _expect_nothing(index: Dense, place: int) -> None:
    pass


@expect.of(Paged)
def _expect_page(index: Paged, place: int) -> None:
    holder, page = index.holder[0], place >> (index.cut.across + index.cut.down)
    if page != holder["first_page"]:
        holder["second_page"], holder["first_page"] = holder["first_page"], page


@prefetch_expected.of(Dense)
def _no_pages(index: Dense) -> None:
    pass


@prefetch_expected.of(Paged)
def _own_pages(index: Paged) -> None:
    holder = index.holder[0]
    if holder["first_page"] != NOTHING:
        prefetch_page(index, holder["first_page"])
        prefetch_page(index, holder["second_page"])


@starts_clear.of(Dense)
def _not_clear(index: Dense) -> bool:
    return False


@starts_clear.of(Paged)
def _is_clear(index: Paged) -> bool:
    return True


@lost_records.of(Dense)
def _none_lost(index: Dense) -> int:
    return 0


@lost_records.of(Paged)
def _those_lost(index: Paged) -> int:
    return index.pool[0]["lost"]


@used_bytes.of(Dense)
def _none_at_all(index: Dense) -> int:
    return 0


@tidy.of(Dense)
def _tidy_already(index: Dense, entries: int) -> None:
    pass


@find.of(Paged)
def _in_page(index: Paged, number: int) -> int:
    holder = index.holder[0]
    key, rest = key_and_rest(index.cut, number)
    page = holder["found_at"]
    if holder["found"] != key:
        page = page_of(index, key)
        holder["found"], holder["found_at"] = key, page
    return place_in(index.cut, page, rest)


@claim.of(Paged)
def _in_own_page(index: Paged, number: int) -> int:
    place, cut = find(index, number), index.cut
    if place >= place_in(cut, FIRST, 0):
        return place
    key, rest = key_and_rest(cut, number)
    return place_in(cut, add_page(index, key), rest)


@find_beside.of(Paged)
def _in_linked_page(index: Paged, place: int, number: int, near: int) -> int:
    link, rest = link_to(index, place, number, near)
    if link < 0:
        return find(index, near)
    page = int64(index.head[link])
    if page == NOTHING:
        page = find(index, near) >> 2 * TILE
        set_link(index, place >> 2 * TILE, link, page)
    return (page << 2 * TILE) | rest


@claim_beside.of(Paged)
def _in_own_linked_page(index: Paged, place: int, number: int, near: int) -> int:
    link, rest = link_to(index, place, number, near)
    if link < 0:
        return claim(index, near)
    page = int64(index.head[link])
    if page == NOTHING:
        page = claim(index, near) >> 2 * TILE
        set_link(index, place >> 2 * TILE, link, page)
    return (page << 2 * TILE) | rest


@release.of(Paged)
def _give_back(index: Paged) -> None:
    holder, pool = index.holder[0], index.pool[0]
    if holder["pages"] > 0:
        index.head[holder["last"] * index.cut.head + NEXT] = pool["free"]
        pool["free"] = holder["first"]
        pool["pages"] -= holder["pages"]
    discard(index, holder["table"], holder["mask"])
    discard(index, holder["old"], holder["old_mask"])
    holder["table"] = holder["mask"] = holder["old"] = holder["old_mask"] = holder["moved"] = 0
    holder["first"] = holder["last"] = holder["pages"] = holder["slots"] = 0
    holder["found"] = holder["found_at"] = holder["first_page"] = holder["second_page"] = 0


@forget.of(Paged)
def _forget_pages(index: Paged, field: npt.NDArray[Any]) -> None:
    release(index)


@held_bytes.of(Paged)
def _pages_and_tables(index: Paged) -> int:
    holder = index.holder[0]
    return holder["pages"] * index.pool[0]["page_bytes"] + holder["slots"] * SLOT_BYTES


@used_bytes.of(Paged)
def _of_all_units(index: Paged) -> int:
    pool = index.pool[0]
    return pool["pages"] * pool["page_bytes"] + pool["slots"] * SLOT_BYTES


@tidy.of(Paged)
def _clear_tables(index: Paged, entries: int) -> None:
    clear_tables(index, entries)
