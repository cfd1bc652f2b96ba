"""Files for exported agents: an image of the map, and for each agent a plan of its memory.

A *map image* contains what all agents on a map share. If the map changes, programs make a copy of the image in memory
of their own, the *world*, with space behind the image for levels of abstraction, if agents plan over them.

A *plan* describes how one agent's memory is laid out on one map, with given databases. It shows for each word of the
agent's context whether it is a number or an address within a segment, and it contains the initial memory. Segments are
the plan itself (for what the agent only reads), the map, the databases, the agent's mind and its desk
(`export.layout`). So the code in a library is for maps of any size. All sizes are computed once, here in Python.

Both have the format of databases (`andante.databases.header`). Their first array is ``numbers``, which C needs before
anything else (docs/explanation/database-files.md).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.abstraction.hierarchy import DEFAULT_COVER
from andante.abstraction.living import LivingLevels, levels_of
from andante.abstraction.repair import Keep
from andante.agent import Algorithm
from andante.databases.header import Database, checksum_of, file_of, offsets_in
from andante.episode.checks import covering
from andante.episode.loop import driver, loop_parts
from andante.episode.single import Agent
from andante.episode.tables import EPISODE
from andante.errors import AlgorithmError
from andante.export.layout import DESK, MAP, MIND, PLAN, Layout, Range, aligned, bounds, place_of, ranges_of, relocated
from andante.kernel import Entry, Table, entry_of, table_of
from andante.notation import Call
from andante.search.hillclimb import walk_straight
from andante.search.memory import Log, Space, new_space
from andante.search.mind import KeptMind
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import LivingGraph, World
from andante.world.sensing import View

MOST_DATABASES = 4
MOST_MAP_WORDS = 128  # of a context that C keeps on its stack

# What is where in the ``numbers`` of a map image ...
MAP_NUMBERS = (
    "states",
    "width",  # of a grid; else 0
    "height",
    "living",  # 1: cells can be closed and opened
    "label",  # where the component of each state is, int32; 0: not stored, because it may change
    "passable",  # where the passable cells are, uint8; 0: not stored
    "straight",  # where the contexts of four kernels are, and how many words they have
    "straight_words",
    "edit",
    "edit_words",
    "sweep",
    "sweep_words",
    "apart",
    "apart_words",
    "changes",  # where the number of changes is
    "sweeps",  # where the number of sweeps is
    "code",  # of the machine code that the contexts are for
    "world_bytes",  # the memory of a copy that can be edited ...
    "room",  # ... and where the room behind the image begins in it
    "levels",  # for each hierarchy: where the context of its repair kernel is, its words, where its version is
    "levels_count",
    "levels_code",  # of the machine code that these contexts are for
    "initial",  # the initial memory behind the image, as in plans
    "initials",
    "data",
)
# ... and of a plan.
PLAN_NUMBERS = (
    "code",  # of the machine code that this is for, the first eight bytes of a SHA-256
    "words",  # of the context
    "context",  # where it is: for each word its value, its segment, and the bytes that it is the address of
    "mind_bytes",
    "desk_bytes",
    "initial",  # where the initial memory is, as far as it is not zero (`export.layout`)
    "initials",
    "data",
    "served",  # where the flags are of goals that the databases are for, uint8; 0: for all
    "clock",  # where the number of the problem is in the mind
    "anchored",
    "pursues",
    "sighted",  # 1: the agent discovers the map, and nothing about it is reported to it
    "map",  # the checksum of the map image
    "databases",
    *(f"database_{i}" for i in range(MOST_DATABASES)),  # their checksums
)

#: What the mind begins with: the code and the plan that it belongs to, its checksum while it is sealed, what `move`
#: needs, how many changes of the map it has seen, and an episode (`episode.tables`).
MIND_HEAD = ("code", "plan", "seal", "here", "aim", "news", "version", "reserved")
MIND_BEGINS = aligned(8 * len(MIND_HEAD) + EPISODE.itemsize)  # where its arrays begin


def code_number(entry: Entry) -> int:
    """Return a number that identifies the machine code of an entry."""
    return number_of(entry.identity)


def number_of(text: str) -> int:
    """Return a number that identifies a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)


def _numbers(names: Sequence[str], known: dict[str, int]) -> npt.NDArray[np.int64]:
    return np.array([known.get(name, 0) for name in names], np.int64)


def _file(kind: str, names: Sequence[str], chart: str, known: dict[str, int], arrays: dict[str, Any]) -> bytes:
    """Return a file with these arrays, whose ``numbers`` contain what is known and where each array is."""
    given = {"numbers": _numbers(names, {}), **arrays}
    where = offsets_in(file_of(Call(kind), chart, given))
    given["numbers"] = _numbers(names, {**{name: where[name] for name in arrays if arrays[name].size}, **known})
    return file_of(Call(kind), chart, given)


# --- maps -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MapImage:
    """The image of a map, and where its arrays are in this process."""

    world: Grid
    data: bytes
    ranges: list[Range]
    world_bytes: int  # the memory of a copy that can be edited; 0 if the map cannot change
    followers: int  # how many hierarchies follow its changes

    @property
    def graph(self) -> Graph:
        """The graph that agents walk on."""
        return self.world.graph

    @property
    def total_bytes(self) -> int:
        """The memory that it needs, with a copy that can be edited."""
        return len(self.data) + self.world_bytes

    @classmethod
    def of(cls, world: Grid, algorithms: Iterable[Algorithm] = (), databases: Sequence[Any] = ()) -> MapImage:
        """Return the image of a map; if the map is a `World`, exported programs can close and open its cells too.

        The image of a `World` has the levels that these algorithms plan over, and those that agents on it requested
        before.
        """
        graph = world.graph
        if isinstance(world, World):
            for algorithm in algorithms:
                if algorithm.card.regions:
                    Planned(algorithm, world, databases=databases)
        chart = graph.chart
        known = {"states": len(graph), "width": world.width, "height": world.height, "code": map_code()}
        entries = {"straight": entry_of(walk_straight, graph.arrays)}
        if isinstance(world, World):
            world.settle()
            known["living"] = 1
            entries |= world.entries()
        own = map_arrays(world)
        numbers = {key: np.atleast_1d(value) for key, value in graph.arrays._asdict().items() if key not in own}
        arrays = own | numbers
        for key, entry in entries.items():
            assert len(entry.words) <= MOST_MAP_WORDS
            arrays[key] = np.zeros((len(entry.words), 2), np.int64)
            known[f"{key}_words"] = len(entry.words)
        levels = _Levels.of(world, own)
        arrays |= levels.arrays()
        known |= levels.known()
        file = _file("map", MAP_NUMBERS, chart, known, arrays)
        where, end = offsets_in(file), aligned(len(file))
        # Arrays that only the image has are freed before agents are laid out, and their memory may be used again.
        ranges = ranges_of(own, where, MAP) + levels.ranges(where, end)
        for key, entry in entries.items():
            arrays[key] = np.array(relocated(entry, ranges), np.int64)[:, :2]
        arrays |= levels.arrays(ranges, where)
        if isinstance(world, World):
            known["changes"], known["sweeps"] = (where[key] for key in ("changes_scalars", "parts_scalars"))
            fields = world.parts.scalars.dtype.fields
            assert fields is not None
            known["sweeps"] += fields["sweeps"][1]
            known["room"] = end if levels.room else len(file)
            known["world_bytes"] = known["room"] + levels.room
        data = _file("map", MAP_NUMBERS, chart, known, arrays)
        return cls(world, data, ranges, known.get("world_bytes", 0), len(levels.entries))


class _Levels:
    """The levels of abstraction that follow a map, stored behind its image except for what is only read."""

    def __init__(self, hierarchies: Sequence[LivingLevels], own: dict[str, npt.NDArray[Any]]) -> None:
        self.entries = [one.entry() for one in hierarchies]
        self._versions = [one.repairs.scalars["version"] for one in hierarchies]
        self._layout = Layout(
            [Range(*bounds(array), MAP, 0) for array in own.values() if array.size], {MIND: 0, PLAN: 0}
        )
        self._begin = len(self._layout.ranges)  # the ranges before these are the map's own arrays
        for entry in self.entries:
            self._layout.place(entry.arrays, (), shared_desk=False)

    @classmethod
    def of(cls, world: Grid, own: dict[str, npt.NDArray[Any]]) -> _Levels:
        """Return the levels of a map, given its own arrays."""
        followers = world.followers if isinstance(world, World) else ()
        return cls([one for one in followers if isinstance(one, LivingLevels)], own)

    @property
    def room(self) -> int:
        """The bytes behind the image."""
        return self._layout.used[MIND]

    def known(self) -> dict[str, int]:
        """Return what ``numbers`` contain about them, except places."""
        if not self.entries:
            return {}
        return {
            "levels_count": len(self.entries),
            "levels_code": levels_code(),
            "initials": len(self._layout.initial),
        }

    def ranges(self, where: dict[str, int], end: int) -> list[Range]:
        """Return where their memory is, given where the arrays of the image are and where it ends."""
        begin = {PLAN: where.get("data", 0), MIND: end}
        loose = self._layout.ranges[self._begin :]
        return [one._replace(segment=MAP, offset=one.offset + begin[one.segment]) for one in loose]

    def arrays(self, ranges: Sequence[Range] = (), where: dict[str, int] | None = None) -> dict[str, npt.NDArray[Any]]:
        """Return their arrays in the image; these are zero as long as the places of everything are not known."""
        if not self.entries:
            return {}
        rows, words = np.zeros((len(self.entries), 3), np.int64), [np.zeros((0, 2), np.int64)]
        for row, entry, version in zip(rows, self.entries, self._versions, strict=True):
            if where is None:
                words.append(np.zeros((len(entry.words), 2), np.int64))
                continue
            row[0] = where["levels_words"] + sum(each.nbytes for each in words)
            row[1], row[2] = len(entry.words), place_of(version, ranges)[0]
            words.append(np.array(relocated(entry, ranges), np.int64)[:, :2])
        return {
            "levels": rows,
            "levels_words": np.concatenate(words),
            "initial": np.array(self._layout.initial, np.int64).reshape(-1, 5),
            "data": np.frombuffer(b"".join(self._layout.data), np.uint8),
        }


def map_arrays(world: Grid) -> dict[str, npt.NDArray[Any]]:
    """Return all arrays of a map that agents and the kernels of maps read or write, by name."""
    arrays = {key: value for key, value in world.graph.arrays._asdict().items() if isinstance(value, np.ndarray)}
    arrays["passable"] = world.passable.ravel()
    return arrays | (_living_arrays(world) if isinstance(world, World) else {"label": world.graph.components})


@functools.cache
def map_entries() -> dict[str, Entry]:
    """Return the code of the kernels that work on maps alone, by name; it is the same for all maps."""
    world = World(Grid([[True, True]]))
    return {"straight": entry_of(walk_straight, world.graph.arrays), **world.entries()}


@functools.cache
def levels_entry() -> Entry:
    """Return the code of the kernel that repairs levels; it is the same for all maps, rules and numbers of levels."""
    graph = World(Grid([[True, True]])).graph
    assert isinstance(graph, LivingGraph)
    return levels_of(graph, DEFAULT_COVER, Keep.CONNECTED, 1).entry()


@functools.cache
def levels_code() -> int:
    """Return a number that identifies its machine code."""
    return number_of(levels_entry().identity)


@functools.cache
def map_code() -> int:
    """Return a number that identifies the machine code of these kernels."""
    return number_of("\n".join(entry.identity for entry in map_entries().values()))


def _living_arrays(world: World) -> dict[str, npt.NDArray[Any]]:
    """Return all that changes with a map, by name."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for bundle, value in (("cells", world.cells), ("changes", world.changes), ("parts", world.parts)):
        for key, part in value._asdict().items():
            if isinstance(part, np.ndarray) and not (bundle == "cells" and key in ("mask", "passable")):
                arrays[f"{bundle}_{key}"] = part
    return {**arrays, **world.looks()}


# --- agents ---------------------------------------------------------------------------------------------------------


class Planned(Agent):
    """An agent that is never run: it shows how its memory is laid out, and which parts of it are its mind."""

    def _new_space(self, known: Graph, view: View) -> Space:
        self.given = KeptMind(len(known))
        return new_space(known, self._gait.params, self._log_rows, self.databases, view, self.name, self.given)

    def entry(self) -> Entry:
        """Return the code of the loop, and its context."""
        return entry_of(driver(self._gait.step), *self.parts())

    def table(self) -> Table:
        """Return the context of the loop; nothing is compiled for it."""
        return table_of(driver(self._gait.step), *self.parts())

    def parts(self) -> tuple[Any, ...]:
        """Return what the loop is bound to."""
        space = self._space
        return loop_parts(self.graph.arrays, space.view, self._memory, self._gait.codes, space.clock, space.changes)

    @property
    def view(self) -> View:
        """The agent's view of the map."""
        return self._space.view

    @property
    def log(self) -> Log:
        """The log that its thoughts are written to."""
        return self._space.log

    def clock(self) -> npt.NDArray[Any]:
        """Return the clock, which has the number of the problem first."""
        return self._space.clock

    def served(self) -> npt.NDArray[np.uint8]:
        """Return for each state whether the databases support it as a goal; empty if they support all goals."""
        return served_goals(self.graph, self._covering)


@dataclass(frozen=True)
class Plan:
    """The plan of an agent's memory on one map."""

    algorithm: Algorithm
    map: MapImage
    databases: tuple[Database, ...]  # in the order in which they are passed to C
    entry: Entry
    data: bytes
    mind_bytes: int
    desk_bytes: int

    @property
    def total_bytes(self) -> int:
        """The memory that one agent needs, files included."""
        files = len(self.data) + self.map.total_bytes + sum(one.nbytes for one in self.databases)
        return files + self.mind_bytes + self.desk_bytes

    @classmethod
    def of(cls, algorithm: Algorithm, image: MapImage, databases: Sequence[Any] = (), sight: int | None = None) -> Plan:
        """Return the plan for an algorithm on a map; raise `AlgorithmError` if it lacks a database."""
        agent = Planned(algorithm, image.world, databases=databases, sight=sight)
        check_levels(algorithm, image)
        entry = agent.entry()
        used = used_by(algorithm, agent.databases, image.world.graph)
        layout = Layout.on(image.ranges, used, MIND_BEGINS)
        layout.place(entry.arrays, agent.given.arrays, shared_desk=algorithm.crowd and sight is None)
        known = {
            "sighted": int(sight is not None),
            **plan_numbers(algorithm, image, used, layout),
            "code": code_number(entry),
            "words": len(entry.words),
            "clock": place_of(agent.clock(), layout.ranges)[0],
        }
        data = plan_file("agent", PLAN_NUMBERS, algorithm, image, layout, known, entry, {"served": agent.served()})
        return cls(algorithm, image, used, entry, data, layout.used[MIND], layout.used[DESK])


def check_levels(algorithm: Algorithm, image: MapImage) -> None:
    """Raise `AlgorithmError` if an algorithm plans over levels that were made after the image of the map."""
    if isinstance(image.world, World) and len(image.world.followers) > image.followers:
        raise AlgorithmError(
            f"the image of {image.world.name} lacks levels that {algorithm} plans over; name it when the image is made"
        )


def used_by(algorithm: Algorithm, databases: Sequence[Any], graph: Graph) -> tuple[Database, ...]:
    """Return the databases that an algorithm uses, one of each kind it needs, in the order in which C gets them."""
    used = tuple(one for _, one in covering(algorithm, databases, graph))
    if len(used) > MOST_DATABASES:
        raise AlgorithmError(f"an exported agent can have {MOST_DATABASES} databases, and {algorithm} has more")
    return used


def served_goals(graph: Graph, used: Sequence[tuple[str, Database]]) -> npt.NDArray[np.uint8]:
    """Return for each state whether the databases support it as a goal; empty if they support all goals."""
    states = np.arange(len(graph))
    found = np.ones(len(states), np.bool_)
    for _, database in used:
        found &= database.covers(graph, states)
    return np.zeros(0, np.uint8) if found.all() else found.astype(np.uint8)


def plan_numbers(algorithm: Algorithm, image: MapImage, used: Sequence[Database], layout: Layout) -> dict[str, int]:
    """Return the numbers that all plans have."""
    return {
        "mind_bytes": layout.used[MIND],
        "desk_bytes": layout.used[DESK],
        "initials": len(layout.initial),
        "anchored": int(algorithm.card.anchored),
        "pursues": int(algorithm.pursues),
        "map": checksum_of(image.data),
        "databases": len(used),
        **{f"database_{i}": checksum_of(one.to_bytes()) for i, one in enumerate(used)},
    }


def plan_file(
    kind: str,
    names: Sequence[str],
    algorithm: Algorithm,
    image: MapImage,
    layout: Layout,
    known: dict[str, int],
    entry: Entry,
    extra: dict[str, npt.NDArray[Any]],
) -> bytes:
    """Return the file of a plan of an agent or a crowd; ``extra`` are arrays that not all plans have."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "context": np.zeros((len(entry.words), 3), np.int64),
        "initial": np.array(layout.initial, np.int64).reshape(-1, 5),
        **extra,
        "algorithm": np.frombuffer(str(algorithm).encode(), np.uint8),
        "data": np.frombuffer(b"".join(layout.data), np.uint8),
    }
    begin = offsets_in(_file(kind, names, image.graph.chart, known, arrays))["data"]
    moved = [one._replace(offset=one.offset + begin) if one.segment == PLAN else one for one in layout.ranges]
    arrays["context"] = np.array(relocated(entry, moved), np.int64)
    return _file(kind, names, image.graph.chart, known, arrays)
