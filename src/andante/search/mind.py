"""Allocation of minds, the arrays that an agent keeps between moves, for one agent or for many units.

For the arrays that a bundle can request, see `search.memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from enum import Enum
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from andante.search.pages import HOLDER, LINE, TILE, Cut, Paged, Room, cut_into, lined_up, paged, touch
from andante.search.records import Dense, Index

SHORT = 256  # bytes: a longer row is stored outside the block of the unit's single numbers

#: The first record of a unit's annex (`Mind.annex`).
ANNEX = np.dtype(
    [
        ("held", np.int64),  # whether a unit has it
        ("use", np.int64),  # its use, a number that the owner chooses; 0 when it was just taken
    ]
)


class Group(Enum):
    """Records that are stored together if they are paged."""

    VALUES = "values"  # of states: learned values, which teams may share; otherwise stored with NEAR
    NEAR = "near"  # of states whose neighbours usually have records too
    ASIDE = "aside"  # the same for data that is forgotten before the problem ends; its pages are released separately
    APART = "apart"  # of states far from each other, such as subgoals
    LINE = "line"  # of the places of a sequence


class Mind:
    """The arrays of one agent's mind, with a record for each state at the state's own number."""

    def __init__(self, states: int) -> None:
        self.states = states

    def index(self, group: Group = Group.NEAR, numbers: int | None = None, *, linked: bool = False) -> Index:
        """Return the index of a group's records, one for each state or for each number below ``numbers``.

        With ``linked``, pages are linked to those around them. This is worth its 56 bytes per page if the neighbours of
        most states are looked up again and again, as in A*.
        """
        return Dense()

    def field(self, dtype: npt.DTypeLike, group: Group = Group.NEAR, numbers: int | None = None) -> npt.NDArray[Any]:
        """Return a field of the records of a group."""
        return np.zeros(self.states if numbers is None else numbers, dtype)

    def one(self, dtype: npt.DTypeLike, first: Any = 0) -> npt.NDArray[Any]:
        """Return an array of length one, which starts with ``first``."""
        return _filled(1, dtype, first)

    def row(self, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
        """Return an array of this length."""
        return np.zeros(length, dtype)

    def annex(self) -> tuple[Mind, npt.NDArray[Any]]:
        """Return a mind for data that few units ever need, and a record of ANNEX.

        A single agent always has it. A unit of a crowd gets one when it returns `agent.NEEDS_ANNEX` instead of a move.
        As long as the annex is not ``held``, it must not be written to.
        """
        return self, self.one(ANNEX, (1, 0))


def _filled(length: int, dtype: npt.DTypeLike, first: Any) -> npt.NDArray[Any]:
    array = np.zeros(length, dtype)
    array[:] = first
    return array


class KeptMind(Mind):
    """A mind that provides the same arrays again, in the same order, to a memory that is allocated again."""

    def __init__(self, states: int) -> None:
        super().__init__(states)
        self._given: list[npt.NDArray[Any]] = []
        self._place = 0

    @property
    def arrays(self) -> list[npt.NDArray[Any]]:
        """The arrays provided so far."""
        return self._given

    def begin_again(self) -> None:
        """Provide the arrays again, from the first one on."""
        self._place = 0

    def field(self, dtype: npt.DTypeLike, group: Group = Group.NEAR, numbers: int | None = None) -> npt.NDArray[Any]:
        """Return a field of the records of a group."""
        return self._kept(lambda: super(KeptMind, self).field(dtype, group, numbers))

    def one(self, dtype: npt.DTypeLike, first: Any = 0) -> npt.NDArray[Any]:
        """Return an array of length one, which started with ``first``."""
        return self._kept(lambda: super(KeptMind, self).one(dtype, first))

    def row(self, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
        """Return an array of this length."""
        return self._kept(lambda: super(KeptMind, self).row(dtype, length))

    def _kept(self, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        if self._place == len(self._given):
            self._given.append(make())
        self._place += 1
        return self._given[self._place - 1]


class _Asked(NamedTuple):
    """An array that a bundle has requested."""

    what: str  # the method of `Mind`
    dtype: Any
    group: _Key | None = None
    first: Any = 0
    length: int = 1
    linked: bool = False
    annexed: bool = False

    @property
    def bytes(self) -> int:
        """The size of one unit's part."""
        return int(self.dtype.itemsize) * self.length


class _Key(NamedTuple):
    """The key of records that are stored together: their group and numbers, and whether a team or annex owns them."""

    group: Group
    numbers: int
    apart: bool  # whether they belong to a team or an annex


class Draft(Mind):
    """A record of the arrays that the bundles of a memory request, so that they can be provided for many units at once.

    ``width`` is the number of states in a row of a grid, so that states near each other on the map share pages. With
    ``share``, values are stored apart from all else, so that a team can have them in common. Units that share values
    have no annexes.
    """

    def __init__(self, states: int, *, width: int | None = None, share: bool = False) -> None:
        super().__init__(states)
        self.asked: list[_Asked] = []
        self.width, self.share = width, share
        self._annexed = False

    def _key(self, group: Group, numbers: int | None) -> _Key:
        near = group is Group.VALUES and not self.share
        kind = Group.NEAR if near else group
        return _Key(kind, self.states if numbers is None else numbers, self._annexed or kind is Group.VALUES)

    def index(self, group: Group = Group.NEAR, numbers: int | None = None, *, linked: bool = False) -> Index:
        """Record that a bundle has records of this group."""
        self.asked.append(_Asked("index", None, self._key(group, numbers), linked=linked))
        return Dense()

    def field(self, dtype: npt.DTypeLike, group: Group = Group.NEAR, numbers: int | None = None) -> npt.NDArray[Any]:
        """Record a field of such records."""
        self.asked.append(_Asked("field", np.dtype(dtype), self._key(group, numbers)))
        return np.zeros(0 if numbers == 0 else 1, dtype)

    def one(self, dtype: npt.DTypeLike, first: Any = 0) -> npt.NDArray[Any]:
        """Record an array of length one."""
        self.asked.append(_Asked("one", np.dtype(dtype), first=first, annexed=self._annexed))
        return _filled(1, dtype, first)

    def row(self, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
        """Record an array of this length."""
        self.asked.append(_Asked("row", np.dtype(dtype), length=length, annexed=self._annexed))
        return np.zeros(length, dtype)

    def annex(self) -> tuple[Mind, npt.NDArray[Any]]:
        """Return a draft that records what the annex contains, apart from all else."""
        assert not self.share, "units that share learned values have no annexes"
        part = copy(self)
        part._annexed = True
        return part, part.one(ANNEX)


class Blocks:
    """Blocks of bytes, one for each unit, with all single numbers and short rows of the unit side by side.

    A unit's move then touches a few neighbouring cache lines, and a new unit's block is a copy of the first one's.
    """

    def __init__(self, asked: list[_Asked]) -> None:
        self.begins: list[int] = []
        self._asked, size = asked, 0
        for one in asked:
            self.begins.append(size)
            size += -(-one.bytes // 8) * 8
        self.size = -(-size // LINE) * LINE
        self.fresh = np.zeros(self.size, np.uint8)
        for one, begin in zip(asked, self.begins, strict=True):
            self.fresh[begin : begin + one.bytes].view(one.dtype)[:] = one.first
        self.bytes, self.count = lined_up(0, np.uint8), 0

    def grow(self, count: int, used: int) -> None:
        """Make space for ``count`` units, keeping the blocks of the first ``used`` units."""
        before, self.bytes = self.bytes, lined_up(count * self.size, np.uint8)
        self.bytes[: used * self.size] = before[: used * self.size]
        self.count = count

    def parts(self, which: int) -> npt.NDArray[Any]:
        """Return one of the requested arrays, [units, elements]."""
        one, steps = self._asked[which], (self.size, self._asked[which].dtype.itemsize)
        return np.ndarray((self.count, one.length), one.dtype, self.bytes.data, self.begins[which], steps)

    def begin(self, first: int, last: int) -> None:
        """Fill the blocks of units from ``first`` up to ``last`` with the requested initial values."""
        self.bytes[first * self.size : last * self.size].reshape(last - first, self.size)[:] = self.fresh


class Minds(Mind):
    """The arrays of many units' minds: records in pages, and everything else unit after unit.

    Bundles request the arrays in the order in which they did from a `Draft`. After the last array the order begins
    again, so that several memories can be allocated that share the minds and have a desk each.

    Data that few units need is in annexes, which have their own numbers. Number 0 belongs to no unit, as among teams.
    """

    def __init__(self, draft: Draft, units: int, room: int) -> None:
        super().__init__(draft.states)
        self._asked, self._next, self.units, self._width = draft.asked, 0, units, draft.width
        self._made: list[Any] = [None] * len(self._asked)
        self._all: dict[int, npt.NDArray[Any]] = {}  # the parts of all units, by the array provided
        self._begun = 0  # units whose blocks have their initial values
        self._keys = list(dict.fromkeys(one.group for one in self._asked if one.group is not None))
        self._index: dict[_Key, Index] = {}
        self.blocks, self.annexes = (Blocks(self._in_block(apart)) for apart in (False, True))
        self._lay_out(0)
        for key in self._keys:
            self._pool(key, room)

    def _in_block(self, apart: bool) -> list[_Asked]:
        """Return the contents of a unit's block, or of its team's or annex's; the holders of its records are first."""
        holder = _Asked("holder", HOLDER)
        holders = [holder for key in self._keys if key.apart is apart and key.numbers > 0]
        return holders + [one for one in self._asked if one.annexed is apart and _is_short(one)]

    def _lay_out(self, annexes: int) -> None:
        """Make the arrays of which each unit has a part, for all units; ``annexes`` were in use."""
        self.blocks.grow(self.units, self._begun)
        self.annexes.grow(self.units + 1, annexes)  # all units may have one, and number 0 belongs to none
        self.annexes.begin(0, 1)
        self._holders = {}
        for apart, blocks in ((False, self.blocks), (True, self.annexes)):
            keys = [key for key in self._keys if key.apart is apart and key.numbers > 0]
            self._holders.update({key: blocks.parts(k) for k, key in enumerate(keys)})
            short = [i for i, one in enumerate(self._asked) if one.annexed is apart and _is_short(one)]
            for k, i in enumerate(short, len(keys)):
                self._all[i] = blocks.parts(k)
        for i, one in enumerate(self._asked):
            if one.what == "row" and not _is_short(one):
                self._all[i] = self._long(one, self._all.get(i), annexes if one.annexed else self._begun)
        for i, parts in self._all.items():
            self._made[i] = parts[0]

    def _long(self, one: _Asked, before: npt.NDArray[Any] | None, used: int) -> npt.NDArray[Any]:
        """Return an array of which each unit has a long part; the operating system provides memory when it is used."""
        units = self.units + one.annexed
        parts = lined_up(units * one.length, one.dtype).reshape(units, one.length)
        if before is not None:
            parts[:used] = before[:used]
        return parts

    def _cut(self, key: _Key) -> Cut:
        """Return how the numbers of a group are cut into pages; they are linked if any bundle requests it."""
        if key.group is Group.APART:
            return cut_into(key.numbers, 0, 0)
        if key.group is Group.LINE or self._width is None or key.numbers != self.states:
            return cut_into(key.numbers, 4, 0)
        linked = any(one.linked for one in self._asked if one.group == key)
        return cut_into(self._width, TILE, TILE, linked=linked)

    def _pool(self, key: _Key, room: int) -> None:
        """Make the pool for a group of records with all its fields, unless there are no records."""
        fields = [i for i, one in enumerate(self._asked) if one.what == "field" and one.group == key]
        dtypes = [self._asked[i].dtype for i in fields]
        if key.numbers > 0:
            holder = self._holders[key][0]
            self._index[key], arrays = paged(dtypes, self._cut(key), Room(room, key.numbers), holder)
        else:
            self._index[key], arrays = Dense(), [np.zeros(0, dtype) for dtype in dtypes]
        for i, array in zip(fields, arrays, strict=True):
            self._made[i] = array

    def _pools(self, *, apart: bool) -> tuple[Index, ...]:
        chosen = [index for key, index in self._index.items() if key.apart is apart]
        return tuple(index for index in chosen if isinstance(index, Paged)) or (Dense(),)

    @property
    def pools(self) -> tuple[Index, ...]:
        """The pools of a unit's own records; if there are none, an empty one."""
        return self._pools(apart=False)

    @property
    def team_pools(self) -> tuple[Index, ...]:
        """The pools of records of teams or annexes; if there are none, an empty one."""
        return self._pools(apart=True)

    def _parts(self, apart: bool) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        made = [(self._made[i], parts) for i, parts in self._all.items() if self._asked[i].annexed is apart]
        indices = ((key, self._index[key]) for key in self._holders if key.apart is apart)
        return made + [(index.holder, self._holders[key]) for key, index in indices if isinstance(index, Paged)]

    @property
    def rows(self) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """The arrays of which each unit has a part: the first part, and all of them."""
        return self._parts(False)

    @property
    def team_rows(self) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """The arrays of which each team, or each annex, has a part: the first part, and all of them."""
        return self._parts(True)

    def all_of(self, first: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a record for all units, given the first unit's, ``first``."""
        return next(parts[:, 0] for one, parts in (*self.rows, *self.team_rows) if one is first)

    @property
    def arrays(self) -> list[npt.NDArray[Any]]:
        """All arrays of the minds and of their pools."""
        indices = self.pools + self.team_pools
        pools = [part for index in indices for part in index if isinstance(part, np.ndarray)]
        return [one for one in self._made if one is not None] + pools

    def _bytes(self, apart: bool) -> int:
        long = sum(
            one.bytes for one in self._asked if one.what == "row" and one.annexed is apart and not _is_short(one)
        )
        return (self.annexes if apart else self.blocks).size + long

    @property
    def unit_bytes(self) -> int:
        """The size of each unit before it has learned anything."""
        return self._bytes(False)

    @property
    def annex_bytes(self) -> int:
        """The size of an annex, or a team, without records."""
        return self._bytes(True)

    def begin(self, units: int) -> None:
        """Initialise the blocks of the first ``units`` units, unless they are initialised already."""
        if units > self._begun:
            self.blocks.begin(self._begun, units)
            self._begun = units

    def prepare(self, size: int, annexes: int) -> None:
        """Touch ``size`` bytes of the memory for learned values, and the memory of all units that there is space for.

        Teams, or annexes, below the number ``annexes`` are in use. Of the others, as many are touched as fit into
        ``size``, because few units need one at a time.
        """
        pools = [index for index in (*self.pools, *self.team_pools) if isinstance(index, Paged)]
        for index in pools:
            touch(index, size // len(pools))
        last = annexes + size // self.annex_bytes if self.annex_bytes else annexes
        for i, parts in self._all.items():
            if not _is_short(self._asked[i]):
                free = slice(annexes, last) if self._asked[i].annexed else slice(self._begun, None)
                parts[free, ::SHORT] = 0

    def grow(self, units: int, annexes: int = 0) -> None:
        """Make space for more units. Arrays with a part for each unit are replaced, so allocate memories again.

        Teams, or annexes, below the number ``annexes`` were in use.
        """
        self.units = units
        self._lay_out(annexes)
        for key, holders in self._holders.items():
            index = self._index[key]
            assert isinstance(index, Paged)
            self._index[key] = index._replace(holder=holders[0])

    def _give(self, what: str) -> Any:
        asked, made = self._asked[self._next], self._made[self._next]
        assert asked.what == what, "a bundle requests other arrays than before"
        self._next = (self._next + 1) % len(self._asked)
        return made

    def index(self, group: Group = Group.NEAR, numbers: int | None = None, *, linked: bool = False) -> Index:
        """Return the index of a group's records."""
        asked = self._asked[self._next].group
        self._give("index")
        assert asked is not None
        return self._index[asked]

    def field(self, dtype: npt.DTypeLike, group: Group = Group.NEAR, numbers: int | None = None) -> npt.NDArray[Any]:
        """Return a field of the records of a group."""
        return cast(npt.NDArray[Any], self._give("field"))

    def one(self, dtype: npt.DTypeLike, first: Any = 0) -> npt.NDArray[Any]:
        """Return the first unit's part of an array with an element for each unit."""
        return cast(npt.NDArray[Any], self._give("one"))

    def row(self, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
        """Return the first unit's part of an array with this many elements for each unit."""
        return cast(npt.NDArray[Any], self._give("row"))

    def annex(self) -> tuple[Mind, npt.NDArray[Any]]:
        """Return these minds, which provide the arrays of annexes too."""
        return self, self.one(ANNEX)


def _is_short(one: _Asked) -> bool:
    """Return whether an array is stored in its unit's block."""
    return one.what == "one" or (one.what == "row" and one.bytes <= SHORT)
