"""Where the arrays of a mind come from: what an agent keeps from move to move, for one agent or for many units.

See `search.memory` for what a bundle asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from andante.search.pages import HOLDER, TILE, Cut, Paged, Room, cut_into, paged
from andante.search.records import Dense, Index


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


def _filled(length: int, dtype: npt.DTypeLike, first: Any) -> npt.NDArray[Any]:
    array = np.zeros(length, dtype)
    array[:] = first
    return array


class KeptMind(Mind):
    """Provides the same arrays again to a memory that is allocated anew, in the same order."""

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
    group: tuple[Group, int] | None = None
    first: Any = 0
    length: int = 1
    linked: bool = False


class Draft(Mind):
    """Records what the bundles of a memory ask for, so that it can be provided for many units at once.

    ``width`` is the number of states in a row of a grid: states near each other on the map then share pages. With
    ``share``, values are kept apart from all else, so that a team can have them in common.
    """

    def __init__(self, states: int, *, width: int | None = None, share: bool = False) -> None:
        super().__init__(states)
        self.asked: list[_Asked] = []
        self.width, self.share = width, share

    def _group(self, group: Group, numbers: int | None) -> tuple[Group, int]:
        apart = self.share or group is not Group.VALUES
        return group if apart else Group.NEAR, self.states if numbers is None else numbers

    def index(self, group: Group = Group.NEAR, numbers: int | None = None, *, linked: bool = False) -> Index:
        """Record that a bundle has records of this group."""
        self.asked.append(_Asked("index", None, self._group(group, numbers), linked=linked))
        return Dense()

    def field(self, dtype: npt.DTypeLike, group: Group = Group.NEAR, numbers: int | None = None) -> npt.NDArray[Any]:
        """Record a field of such records."""
        self.asked.append(_Asked("field", np.dtype(dtype), self._group(group, numbers)))
        return np.zeros(0 if numbers == 0 else 1, dtype)

    def one(self, dtype: npt.DTypeLike, first: Any = 0) -> npt.NDArray[Any]:
        """Record an array of length one."""
        self.asked.append(_Asked("one", np.dtype(dtype), first=first))
        return _filled(1, dtype, first)

    def row(self, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
        """Record an array of this length."""
        self.asked.append(_Asked("row", np.dtype(dtype), length=length))
        return np.zeros(length, dtype)


class Minds(Mind):
    """Provides the arrays of many units' minds: records in pages, and everything else side by side, unit after unit.

    Bundles ask for the arrays in the order in which they asked a `Draft`. After the last one it begins again, so that
    several memories can be allocated that share the minds and have a desk each.
    """

    def __init__(self, draft: Draft, units: int, room: int) -> None:
        super().__init__(draft.states)
        self._asked, self._next, self.units, self._width = draft.asked, 0, units, draft.width
        self._index: dict[tuple[Group, int], Index] = {}
        self._made: list[Any] = [None] * len(self._asked)
        for group in dict.fromkeys(one.group for one in self._asked if one.group is not None):
            self._pool(group, room)
        for i, one in enumerate(self._asked):
            if one.group is None:
                self._made[i] = _filled(units * one.length, one.dtype, one.first)

    def _cut(self, group: Group, numbers: int) -> Cut:
        """Return how the numbers of a group are cut into pages; one bundle is enough to have them linked."""
        if group is Group.APART:
            return cut_into(numbers, 0, 0)
        if group is Group.LINE or self._width is None or numbers != self.states:
            return cut_into(numbers, 4, 0)
        linked = any(one.linked for one in self._asked if one.group == (group, numbers))
        return cut_into(self._width, TILE, TILE, linked=linked)

    def _pool(self, group: tuple[Group, int], room: int) -> None:
        """Make the pool for a group of records with all its fields; nothing if there are no records."""
        fields = [i for i, one in enumerate(self._asked) if one.what == "field" and one.group == group]
        dtypes = [self._asked[i].dtype for i in fields]
        if group[1] > 0:
            holders = np.zeros(self.units, HOLDER)
            self._index[group], arrays = paged(dtypes, self._cut(*group), Room(room, group[1]), holders)
        else:
            self._index[group], arrays = Dense(), [np.zeros(0, dtype) for dtype in dtypes]
        for i, array in zip(fields, arrays, strict=True):
            self._made[i] = array

    def _pools(self, *, shared: bool) -> tuple[Index, ...]:
        chosen = [index for (group, _), index in self._index.items() if (group is Group.VALUES) == shared]
        return tuple(index for index in chosen if isinstance(index, Paged)) or (Dense(),)

    @property
    def pools(self) -> tuple[Index, ...]:
        """The pools of a unit's own records; where there are none, one that has nothing to manage."""
        return self._pools(shared=False)

    @property
    def team_pools(self) -> tuple[Index, ...]:
        """The pools of records that teams share; where there are none, one that has nothing to manage."""
        return self._pools(shared=True)

    @property
    def rows(self) -> list[tuple[npt.NDArray[Any], int]]:
        """The arrays of which each unit has a part, and how many elements that is."""
        own = [(self._made[i], one.length) for i, one in enumerate(self._asked) if one.group is None]
        return own + [(index.holder, 1) for index in self.pools if isinstance(index, Paged)]

    @property
    def team_rows(self) -> list[tuple[npt.NDArray[Any], int]]:
        """The arrays of which each team has a part, and how many elements that is."""
        return [(index.holder, 1) for index in self.team_pools if isinstance(index, Paged)]

    @property
    def arrays(self) -> list[npt.NDArray[Any]]:
        """All arrays of the minds and of their pools."""
        indices = self.pools + self.team_pools
        pools = [part for index in indices for part in index if isinstance(part, np.ndarray)]
        return [one for one in self._made if one is not None] + pools

    def grow(self, units: int) -> None:
        """Make room for more units. Arrays of which each unit has a part are replaced: allocate memories again."""
        for i, one in enumerate(self._asked):
            if one.group is None:
                more = _filled((units - self.units) * one.length, one.dtype, one.first)
                self._made[i] = np.concatenate([self._made[i], more])
        for group, index in self._index.items():
            if isinstance(index, Paged):
                holders = np.concatenate([index.holder, np.zeros(units - self.units, HOLDER)])
                self._index[group] = index._replace(holder=holders)
        self.units = units

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
        """Return an array with an element for each unit."""
        return cast(npt.NDArray[Any], self._give("one"))

    def row(self, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
        """Return an array with this many elements for each unit."""
        return cast(npt.NDArray[Any], self._give("row"))
