"""Where the arrays of a mind come from: what an agent keeps from move to move, for one agent or for many units.

See `search.memory` for what a bundle asks for.
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

SHORT = 256  # bytes: a row that is not longer lies among the unit's single numbers

#: Begins the annex of a unit (`Mind.annex`).
ANNEX = np.dtype(
    [
        ("held", np.int64),  # whether it is somebody's
        ("use", np.int64),  # what it is used for, as a number of its owner's; 0 when it was just taken
    ]
)


class Group(Enum):
    """Records that lie together if they are paged."""

    VALUES = "values"  # of states: what was learned about them, which teams may share; else they lie with NEAR
    NEAR = "near"  # of states: an agent that knows something about a state soon knows something about its neighbours
    ASIDE = "aside"  # the same for what is forgotten before the problem ends: its pages are given back by themselves
    APART = "apart"  # of states that lie far apart, such as subgoals
    LINE = "line"  # of the places of a sequence


class Mind:
    """Provides the arrays of one agent's mind: a record for each state, at the state's own number."""

    def __init__(self, states: int) -> None:
        self.states = states

    def index(self, group: Group = Group.NEAR, numbers: int | None = None, *, linked: bool = False) -> Index:
        """Return where the records of a group lie, one for each state or for each number below ``numbers``.

        With ``linked``, pages are linked to those around them: that pays if the neighbours of most states are looked up
        again and again, as in A*, and costs 56 bytes per page.
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
        """Return a mind for what few units ever need, and a record of ANNEX.

        An agent alone has it all the time. A unit of a crowd is given one when it needs it, which it says by returning
        `agent.NEEDS_ANNEX` instead of a move: as long as it is not ``held``, it must not be written to.
        """
        return self, self.one(ANNEX, (1, 0))


def _filled(length: int, dtype: npt.DTypeLike, first: Any) -> npt.NDArray[Any]:
    array = np.zeros(length, dtype)
    array[:] = first
    return array


class KeptMind(Mind):
    """Provides the same arrays again, in the same order, to a memory that is allocated again."""

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
    """An array that a bundle has asked for."""

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
    """Which records lie together: those of a group, about so many numbers, of a unit or of its team or annex."""

    group: Group
    numbers: int
    apart: bool  # whether they are a team's or an annex's


class Draft(Mind):
    """Records what the bundles of a memory ask for, so that it can be provided for many units at once.

    ``width`` is the number of states in a row of a grid: states near each other on the map then share pages. With
    ``share``, values are kept apart from all else, so that a team can have them in common. Units that share values have
    no annexes.
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
        """Return a draft that records what is in the annex, beside all else."""
        assert not self.share, "units that share what they learn have no annexes"
        part = copy(self)
        part._annexed = True
        return part, part.one(ANNEX)


class Blocks:
    """All single numbers and short rows of a unit, side by side in one block of bytes, and such a block for each unit.

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
        """Make room for ``count`` units; the first ``used`` of those so far stay as they are."""
        before, self.bytes = self.bytes, lined_up(count * self.size, np.uint8)
        self.bytes[: used * self.size] = before[: used * self.size]
        self.count = count

    def parts(self, which: int) -> npt.NDArray[Any]:
        """Return one of the arrays that were asked for, [units, elements]."""
        one, steps = self._asked[which], (self.size, self._asked[which].dtype.itemsize)
        return np.ndarray((self.count, one.length), one.dtype, self.bytes.data, self.begins[which], steps)

    def begin(self, first: int, last: int) -> None:
        """Let units from ``first`` up to ``last`` begin with what a bundle asked for."""
        self.bytes[first * self.size : last * self.size].reshape(last - first, self.size)[:] = self.fresh


class Minds(Mind):
    """Provides the arrays of many units' minds: records in pages, and everything else unit after unit.

    Bundles ask for the arrays in the order in which they asked a `Draft`. After the last one it begins again, so that
    several memories can be allocated that share the minds and have a desk each.

    What few units need is in annexes, which have numbers of their own. Number 0 is nobody's, as among teams.
    """

    def __init__(self, draft: Draft, units: int, room: int) -> None:
        super().__init__(draft.states)
        self._asked, self._next, self.units, self._width = draft.asked, 0, units, draft.width
        self._made: list[Any] = [None] * len(self._asked)
        self._all: dict[int, npt.NDArray[Any]] = {}  # all units' parts of what was made
        self._begun = 0  # units whose blocks have been begun with
        self._keys = list(dict.fromkeys(one.group for one in self._asked if one.group is not None))
        self._index: dict[_Key, Index] = {}
        self.blocks, self.annexes = (Blocks(self._in_block(apart)) for apart in (False, True))
        self._lay_out(0)
        for key in self._keys:
            self._pool(key, room)

    def _in_block(self, apart: bool) -> list[_Asked]:
        """Return what is in a unit's block, or in that of its team or annex: first how it finds its records."""
        holder = _Asked("holder", HOLDER)
        holders = [holder for key in self._keys if key.apart is apart and key.numbers > 0]
        return holders + [one for one in self._asked if one.annexed is apart and _is_short(one)]

    def _lay_out(self, annexes: int) -> None:
        """Make the arrays of which each unit has a part, for as many units as there are; ``annexes`` were in use."""
        self.blocks.grow(self.units, self._begun)
        self.annexes.grow(self.units + 1, annexes)  # all units may have one, beside nobody's
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
        """Return an array of which each unit has a long part; the operating system provides memory for what is used."""
        units = self.units + one.annexed
        parts = lined_up(units * one.length, one.dtype).reshape(units, one.length)
        if before is not None:
            parts[:used] = before[:used]
        return parts

    def _cut(self, key: _Key) -> Cut:
        """Return how the numbers of a group are cut into pages; one bundle is enough to have them linked."""
        if key.group is Group.APART:
            return cut_into(key.numbers, 0, 0)
        if key.group is Group.LINE or self._width is None or key.numbers != self.states:
            return cut_into(key.numbers, 4, 0)
        linked = any(one.linked for one in self._asked if one.group == key)
        return cut_into(self._width, TILE, TILE, linked=linked)

    def _pool(self, key: _Key, room: int) -> None:
        """Make the pool for a group of records with all its fields; nothing if there are no records."""
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
        """The pools of a unit's own records; where there are none, one that has nothing to manage."""
        return self._pools(apart=False)

    @property
    def team_pools(self) -> tuple[Index, ...]:
        """The pools of records of teams or annexes; where there are none, one that has nothing to manage."""
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
        """Return a record of all units, of which ``first`` is the first unit's."""
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
        """What each unit takes, before it has learned anything."""
        return self._bytes(False)

    @property
    def annex_bytes(self) -> int:
        """What an annex takes, or a team, without records."""
        return self._bytes(True)

    def begin(self, units: int) -> None:
        """Let the first so many units begin, if they have not begun yet."""
        if units > self._begun:
            self.blocks.begin(self._begun, units)
            self._begun = units

    def prepare(self, size: int, annexes: int) -> None:
        """Touch so many bytes of the memory for what units will learn, and what as many as there is room for take.

        Teams, or annexes, below the number ``annexes`` are in use. Of the others as many are touched as fit into
        ``size``: few units need one at a time.
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
        """Make room for more units. Arrays of which each unit has a part are replaced: allocate memories again.

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
        assert asked.what == what, "a bundle asks for other arrays than before"
        self._next = (self._next + 1) % len(self._asked)
        return made

    def index(self, group: Group = Group.NEAR, numbers: int | None = None, *, linked: bool = False) -> Index:
        """Return where the records of a group lie."""
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
        """Return these minds, which know what is in annexes."""
        return self, self.one(ANNEX)


def _is_short(one: _Asked) -> bool:
    """Return whether an array lies in its unit's block."""
    return one.what == "one" or (one.what == "row" and one.bytes <= SHORT)
