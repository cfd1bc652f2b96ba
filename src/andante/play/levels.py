"""The levels of abstraction of its map that a page contains, and updates as the map changes.

A hierarchy is stored behind the page's map, with space for the worst case (decision 25). Only hierarchies are present
that agents on the stage plan over, so each has its own layout, in a piece of memory with a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from andante.abstraction.living import LivingLevels
from andante.errors import AlgorithmError
from andante.export.layout import MAP, MIND, PLAN, Layout, Range, place_of
from andante.play.samples import Place, Sample, places_of, sample_table
from andante.world.living import World

MOST_BYTES = 8_000_000  # of initial hierarchies in a page; more only if an agent's default needs them
PREFIX = "levels "  # of names of hierarchies, beside those of the map's arrays


def levels_in(sample: Sample) -> set[str]:
    """Return the names of the hierarchies that an agent plans over."""
    return {str(which) for segment, which in sample.words if segment == MAP and str(which).startswith(PREFIX)}


class CarriedLevels:
    """The hierarchies above one map, each under its name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._map = places_of(world)
        self._found: dict[str, tuple[LivingLevels, Layout, list[Place]]] = {}
        self.carried: set[str] = set()  # names
        self._carried_bytes = 0

    def places(self) -> list[Place]:
        """Return where the memory of all hierarchies is that agents on the map have requested so far."""
        followers = [one for one in self._world.followers if isinstance(one, LivingLevels)]
        for number, levels in enumerate(followers[len(self._found) :], len(self._found)):
            self._found[f"{PREFIX}{number}"] = levels, *self._laid_out(f"{PREFIX}{number}", levels)
        return [place for _, _, places in self._found.values() for place in places]

    def carry(self, names: set[str], *, always: bool = False) -> None:
        """Include these hierarchies in a page too, if there is space for their initial contents."""
        more = {name: self._found[name][1].used[PLAN] for name in names - self.carried}
        if always or self._carried_bytes + sum(more.values()) <= MOST_BYTES:
            self.carried |= more.keys()
            self._carried_bytes += sum(more.values())

    def _laid_out(self, name: str, levels: LivingLevels) -> tuple[Layout, list[Place]]:
        """Return the memory layout of a hierarchy, and its places in this process."""
        known = [Range(one.begin, one.end, MAP, 0) for one in self._map]
        layout = Layout(list(known), {MIND: 0, PLAN: 0})
        layout.place(levels.table().arrays, (), shared_desk=False)
        own = layout.ranges[len(known) :]
        if any(one.segment != MIND for one in own):
            raise AlgorithmError(
                "levels read memory that is neither theirs nor the map's, for which a page has no place"
            )
        return layout, [Place(one.begin, one.end, name, MAP, one.offset) for one in own]

    def about(self, name: str, keep: Callable[[bytes], Any]) -> dict[str, Any]:
        """Return the layout of a hierarchy, its initial contents and the context of its repair kernel, for JSON.

        ``keep`` returns the JSON value for the contents of a piece of memory.
        """
        levels, layout, places = self._found[name]
        context = sample_table(levels.table(), [*self._map, *places], _no_pieces)
        pieces = zip(layout.initial, layout.data[::2], strict=True)  # after each content comes its padding
        return {
            "bytes": layout.used[MIND],
            "initial": [[offset, size, keep(content)] for (_, offset, size, _, _), content in pieces],
            "version": place_of(levels.repairs.scalars["version"], layout.ranges)[0],
            "words": [[*word, number] for word, number in zip(context.words, context.numbers, strict=True)],
        }


def _no_pieces(arrays: Any, low: int, high: int) -> int:
    raise AlgorithmError("the kernel that repairs levels uses memory that is neither theirs nor the map's")
