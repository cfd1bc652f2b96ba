"""The levels of abstraction that a page carries of its map, which are mended there as the map changes.

A hierarchy lies behind the page's map, with room for the worst case (decision 25). Only those are there that agents on
the stage plan over, so each is laid out by itself, in a piece of memory with a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from andante.abstraction.living import LivingLevels
from andante.errors import AlgorithmError
from andante.export.layout import MAP, MIND, PLAN, Layout, Range, place_of
from andante.play.samples import Place, Sample, places_of, sample_table
from andante.world.living import World

MOST_BYTES = 8_000_000  # that hierarchies begin with, in a page; more only if an agent's default needs them
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
        """Return where the memory of all hierarchies is that agents on the map have asked for so far."""
        followers = [one for one in self._world.followers if isinstance(one, LivingLevels)]
        for number, levels in enumerate(followers[len(self._found) :], len(self._found)):
            self._found[f"{PREFIX}{number}"] = levels, *self._laid_out(f"{PREFIX}{number}", levels)
        return [place for _, _, places in self._found.values() for place in places]

    def carry(self, names: set[str], *, always: bool = False) -> None:
        """Let a page carry these hierarchies too, if there is room for what they begin with."""
        more = {name: self._found[name][1].used[PLAN] for name in names - self.carried}
        if always or self._carried_bytes + sum(more.values()) <= MOST_BYTES:
            self.carried |= more.keys()
            self._carried_bytes += sum(more.values())

    def _laid_out(self, name: str, levels: LivingLevels) -> tuple[Layout, list[Place]]:
        """Return how the memory of a hierarchy is laid out, and where it is in this process."""
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
        """Return for JSON how a hierarchy is laid out, what it begins with, and the context of what mends it.

        ``keep`` returns what stands for the contents of a piece of memory.
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
    raise AlgorithmError("what mends levels uses memory that is neither theirs nor the map's")
