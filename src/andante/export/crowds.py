"""The plan of a crowd: how the memory of all its units, their minds and their desk is laid out in one block.

In Python a `Crowd` has tables that kernels work on, and lists of ids, slots and teams that can be used again. Outside,
these lists are tables too. ``templates/crowd.c`` works on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.databases.header import Database
from andante.episode.bodies import Bodies, drop_wishes, resolve
from andante.episode.crowd import Crowd
from andante.episode.cutoff import end_cut_off
from andante.episode.lanes import KEPT_SHARE
from andante.episode.march import begin_turn, end_turn
from andante.episode.roster import NO_SQUAD, NOWHERE
from andante.episode.squad import Kernel, Squad
from andante.episode.units import NO_WISH, UNIT, Ground
from andante.errors import ParameterError
from andante.export.images import (
    PLAN_NUMBERS,
    MapImage,
    check_levels,
    number_of,
    plan_file,
    plan_numbers,
    served_goals,
    used_by,
)
from andante.export.layout import MIND, Layout, place_of
from andante.kernel import Entry, entry_of
from andante.search.memory import bytes_of
from andante.world.grid import Grid
from andante.world.living import World

#: Kernels of an algorithm, and those that all share; the ones for teams and for maps that change may be missing.
SQUAD_KERNELS = ("march", "release", "held", "release_teams")
CROWD_KERNELS = ("begin", "end", "resolve", "cut_off", "drop_wishes")

#: What only C has tables of: ids, slots and teams that can be used again.
TEAM = np.dtype(
    [
        ("goal", np.int64),
        ("problem", np.int64),  # the number of its problem
        ("strength", np.int32),  # how many units it has
        ("next", np.int32),  # the next one that can be used again; NO_TEAM if there is none
    ]
)
TABLES = (
    "units",
    "cells",
    "members",
    "squad",
    "scratch",
    "free_ids",  # a ring, the first freed first
    "free_slots",  # a stack
    "order",  # in which units with bodies decide
    "standing",
    "lost",  # units whose goals were cut off
    "teams",
    "team_at",  # by goal
)

#: What the memory of a crowd begins with.
CROWD_HEAD = np.dtype(
    [
        ("code", np.int64),  # of the machine code that it belongs to
        ("plan", np.int64),
        ("seal", np.int64),  # its checksum while it is sealed (`images.MIND_HEAD`)
        ("turn", np.int64),
        ("version", np.int64),  # what it last knew of a map that changes: the number of changes ...
        ("news", np.int64),  # ... and whether cells may have become known to be disconnected
        ("timed", np.int64),  # whether the last budget was in nanoseconds
        ("ahead", np.float64),  # what a unit of priority 1 was given ahead of the next tick
        ("unreachable", np.int64),  # units sent to unreachable goals since the last tick
        ("ids", np.int64),  # that are or were in use
        ("first_free_id", np.int64),  # in the ring
        ("free_ids", np.int64),
        ("free_slots", np.int64),
        ("ordered", np.int64),  # units in `order`; -1: it has changed
        ("teams", np.int64),  # that are or were in use
        ("free_team", np.int64),  # the first that can be used again
        ("problems", np.int64),  # of teams so far
        ("pauses", np.int64),  # whether a tick waits for more memory; if so, `spend` continues with what follows
        ("left", np.float64),
        ("share", np.float64),
        ("usual", np.float64),
        ("saved", np.float64),  # what `ahead` will be at its end
        ("passes", np.int64),
        ("seen", np.int64),  # changes of the map
    ]
)

#: The ``numbers`` of the plan of a crowd: those of all plans; where contexts begin, 0 for kernels that it lacks (march
#: is the first); where tables are in its memory; and the options of the export.
CROWD_NUMBERS = (
    *PLAN_NUMBERS,
    *SQUAD_KERNELS,
    *CROWD_KERNELS,
    *TABLES,
    "most_units",
    "unit_bytes",  # what each unit takes before it has learned anything
    "memory",  # what all units together may take
    "bodies",
    "shares",  # whether units with the same goal learn together
    "parts",  # where the parts of its memory are listed that are longer in the plan of a larger crowd, and their number
    "part_count",
    "family",  # a crowd can grow into plans of the same family, which differ in size
)


@dataclass(frozen=True)
class CrowdSize:
    """The size that a crowd may reach, and the behaviour of its units."""

    units: int
    memory: int  # bytes for all units
    bodies: bool = False
    share: bool = False
    times: int = 1  # the size, in multiples of the smallest one of its family

    def grown(self, times: int) -> CrowdSize:
        """Return the size of a crowd that is ``times`` as large."""
        return replace(self, units=times * self.units, memory=times * self.memory, times=times)


@dataclass(frozen=True)
class CrowdPlan:
    """The plan of the memory of a crowd of one algorithm."""

    algorithm: Algorithm
    map: MapImage
    databases: tuple[Database, ...]
    size: CrowdSize
    entries: dict[str, Entry]
    code: int  # identifies its machine code
    data: bytes
    memory_bytes: int

    @property
    def identity(self) -> str:
        """A key that crowds with the same machine code share: kernels, sources and types."""
        return _joined(self.entries).identity

    @property
    def words(self) -> int:
        """The number of words of all its contexts."""
        return sum(len(entry.words) for entry in self.entries.values())

    @property
    def total_bytes(self) -> int:
        """The memory that the crowd needs, files included."""
        return len(self.data) + self.map.total_bytes + sum(one.nbytes for one in self.databases) + self.memory_bytes

    @classmethod
    def of(cls, algorithm: Algorithm, image: MapImage, databases: Sequence[Any], size: CrowdSize) -> CrowdPlan:
        """Return the plan of a crowd of this size; raise `AlgorithmError` if the algorithm cannot be one of a crowd."""
        graph = image.graph
        Crowd(algorithm, image.world, databases=databases, share="goal" if size.share else None)  # refuses
        check_levels(algorithm, image)
        made = Made(algorithm, image.world, databases, size)
        _refuse_large(algorithm, size, made.unit_bytes)
        entries = made.entries()
        whole = _joined(entries)
        used = used_by(algorithm, databases, graph)
        layout = Layout.on(image.ranges, used, CROWD_HEAD.itemsize)
        layout.place([*whole.arrays, *((0, table) for table in made.tables.values())], (), shared_desk=False)
        begins, words = {}, 0
        for name, entry in entries.items():
            begins[name], words = words, words + len(entry.words)
        known = {
            **plan_numbers(algorithm, image, used, layout),
            **begins,
            **{name: place_of(table, layout.ranges)[0] for name, table in made.tables.items() if table.size},
            "code": number_of(whole.identity),
            "words": words,
            "most_units": size.units,
            "unit_bytes": made.unit_bytes,
            "memory": size.memory,
            "bodies": int(size.bodies),
            "shares": int(size.share),
            "part_count": len(layout.parts),
        }
        same = ("code", "map", "databases", *(f"database_{i}" for i in range(len(used))), "bodies", "shares")
        known["family"] = number_of(f"{algorithm} {[known[name] for name in same]}")
        parts = np.array(layout.parts, np.int64)
        extra: dict[str, npt.NDArray[Any]] = {"served": served_goals(graph, made.squad.covering), "parts": parts}
        data = plan_file("crowd", CROWD_NUMBERS, algorithm, image, layout, known, whole, extra)
        return cls(algorithm, image, used, size, entries, known["code"], data, layout.used[MIND])


class Made:
    """A crowd in its initial state: its tables, and the kernels that work on them."""

    def __init__(self, algorithm: Algorithm, world: Grid, databases: Sequence[Any], size: CrowdSize) -> None:
        graph, units = world.graph, size.units
        rows = np.zeros(units, UNIT)
        rows["squad"], rows["wish"], rows["state"] = NO_SQUAD, NO_WISH, NOWHERE
        ground = Ground(rows, np.full((units, 2), NOWHERE, np.int32))
        self.squad = Squad(algorithm, tuple(databases), graph, ground, size.memory, size.share, slots=units)
        self.tables = {
            **self.squad.tables,
            **{name: np.zeros(units, np.int32) for name in ("free_ids", "free_slots", "order")},
        }
        self.kernels = self.squad.kernels()
        turn = ground, self.tables["members"], self.tables["squad"]
        self.kernels |= {"begin": Kernel(begin_turn, turn), "end": Kernel(end_turn, turn)}
        # The code for bodies is always included, so that a library serves crowds with and without them.
        bodies = Bodies.over(*((len(graph), units) if size.bodies else (0, 0)), graph.max_degree)
        self.kernels["resolve"] = Kernel(resolve, (graph.arrays, ground, bodies, np.dtype(np.int32)))
        self.tables["standing"] = bodies.standing
        if isinstance(world, World):
            self.tables["lost"] = lost = np.zeros(units, np.int64)
            self.kernels["cut_off"] = Kernel(end_cut_off, (world.parts, graph.arrays, ground, lost))
            self.kernels["drop_wishes"] = Kernel(drop_wishes, (graph.arrays, ground))
        if size.share:
            self.tables["teams"], self.tables["team_at"] = np.zeros(units + 1, TEAM), np.zeros(len(graph), np.int32)
        self.unit_bytes = bytes_of((ground, bodies.of_units)) // units + self.squad.unit_bytes

    def entries(self) -> dict[str, Entry]:
        """Return the code of its kernels, with contexts."""
        return {name: entry_of(one.function, *one.parts, floats=one.floats) for name, one in self.kernels.items()}


def _joined(entries: dict[str, Entry]) -> Entry:
    """Return entries as one whose context consists of their contexts, one after the other."""
    words: list[int] = []
    arrays: list[tuple[int, npt.NDArray[Any]]] = []
    for entry in entries.values():
        arrays += [(len(words) + place, array) for place, array in entry.arrays]
        words += entry.words
    identity = "\n".join(entry.identity for entry in entries.values())
    return Entry("", 0, identity, b"", tuple(words), tuple(arrays))


def _refuse_large(algorithm: Algorithm, size: CrowdSize, unit_bytes: int) -> None:
    most = int((1 - KEPT_SHARE) * size.memory) // unit_bytes
    if size.units > most:
        raise ParameterError(
            f"memory={size.memory:g} has room for {most:,} units of {algorithm}, not for {size.units:,}; a tenth of it "
            "is kept for what they learn. Give the crowd more memory, or fewer units"
        )
