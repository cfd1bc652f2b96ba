"""Where the arrays of a mind come from: what an agent keeps from move to move, for one agent or for many units.

See `search.memory` for what a bundle asks for.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from andante.search.records import HOLDER, Dense, Index, Room, paged


class Group(Enum):
    """Records that lie together if they are paged."""

    NEAR = "near"  # of states: an agent that knows something about a state soon knows something about its neighbours
    APART = "apart"  # of states that lie far apart, such as subgoals
    LINE = "line"  # of the places of a sequence

    @property
    def shift(self) -> int:
        """How many neighbouring numbers share a page, as a power of two."""
        return 0 if self is Group.APART else 4


class Mind:
    """Provides the arrays of one agent's mind: a record for each state, at the state's own number."""

    def __init__(self, states: int) -> None:
        self.states = states

    def index(self, group: Group = Group.NEAR, numbers: int | None = None) -> Index:
        """Return where the records of a group lie, one for each state or for each number below ``numbers``."""
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


class _Asked(NamedTuple):
    """An array that a bundle has asked for."""

    what: str  # the method of `Mind`
    dtype: Any
    group: tuple[Group, int] | None = None
    first: Any = 0
    length: int = 1


class Draft(Mind):
    """Records what the bundles of a memory ask for, so that it can be provided for many units at once."""

    def __init__(self, states: int) -> None:
        super().__init__(states)
        self.asked: list[_Asked] = []

    def index(self, group: Group = Group.NEAR, numbers: int | None = None) -> Index:
        """Record that a bundle has records of this group."""
        self.asked.append(_Asked("index", None, (group, self.states if numbers is None else numbers)))
        return Dense()

    def field(self, dtype: npt.DTypeLike, group: Group = Group.NEAR, numbers: int | None = None) -> npt.NDArray[Any]:
        """Record a field of such records."""
        self.asked.append(_Asked("field", np.dtype(dtype), (group, self.states if numbers is None else numbers)))
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
        self._asked, self._next = draft.asked, 0
        self._made = [self._unit_rows(one, units) for one in self._asked]
        self.indices: list[Any] = []
        self._pool(units, room)
        self.units = units

    def _unit_rows(self, asked: _Asked, units: int) -> Any:
        if asked.what == "one":
            return _filled(units, asked.dtype, asked.first)
        if asked.what == "row":
            return np.zeros(units * asked.length, asked.dtype)
        return None

    def _pool(self, units: int, room: int) -> None:
        """Make the pools: one for each group of records, with all its fields."""
        for group in dict.fromkeys(one.group for one in self._asked if one.group is not None and one.group[1] > 0):
            fields = [i for i, one in enumerate(self._asked) if one.what == "field" and one.group == group]
            index, arrays = paged(
                [self._asked[i].dtype for i in fields],
                group[0].shift,
                Room(room, group[1]),
                np.zeros(units, HOLDER),
            )
            self.indices.append(index)
            for i, array in zip(fields, arrays, strict=True):
                self._made[i] = array
            for i, one in enumerate(self._asked):
                if one.what == "index" and one.group == group:
                    self._made[i] = index
        for i, one in enumerate(self._asked):
            if one.what == "index" and self._made[i] is None:
                self._made[i] = Dense()
            elif one.what == "field" and self._made[i] is None:
                self._made[i] = np.zeros(0, one.dtype)

    def _give(self, what: str) -> Any:
        asked, made = self._asked[self._next], self._made[self._next]
        assert asked.what == what, "a bundle asks for other arrays than before"
        self._next = (self._next + 1) % len(self._asked)
        return made

    def index(self, group: Group = Group.NEAR, numbers: int | None = None) -> Index:
        """Return where the records of a group lie."""
        return cast(Index, self._give("index"))

    def field(self, dtype: npt.DTypeLike, group: Group = Group.NEAR, numbers: int | None = None) -> npt.NDArray[Any]:
        """Return a field of the records of a group."""
        return cast(npt.NDArray[Any], self._give("field"))

    def one(self, dtype: npt.DTypeLike, first: Any = 0) -> npt.NDArray[Any]:
        """Return an array with an element for each unit."""
        return cast(npt.NDArray[Any], self._give("one"))

    def row(self, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
        """Return an array with this many elements for each unit."""
        return cast(npt.NDArray[Any], self._give("row"))
