"""Files for exported agents: an image of the map, and for each agent a plan of its memory.

A *map image* holds what all agents on a map share. A *plan* says how one agent's memory is laid out on one map, with
given databases: of each word of its context, whether it is a number or lies in a segment, and how the memory looks in
the beginning. Segments are the plan itself (for what the agent only reads), the map, the databases, the agent's mind
and its desk. So the code in a library is for maps of any size; allocating is left to Python, which does it once, here.

Both have the format of databases (`andante.databases.header`), and ``numbers`` as their first array, with what C has to
know at once (docs/explanation/database-files.md).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.databases.header import Database, checksum_of, file_of, offsets_in
from andante.episode.checks import covering
from andante.episode.crowd import Crowd
from andante.episode.lanes import KEPT_SHARE
from andante.episode.loop import driver, loop_parts
from andante.episode.march import NO_WISH, UNIT, Ground
from andante.episode.roster import NO_SQUAD
from andante.episode.single import Agent
from andante.episode.squad import Squad
from andante.episode.tables import EPISODE
from andante.errors import AlgorithmError, ParameterError
from andante.kernel import Entry, Table, entry_of, table_of
from andante.notation import Call
from andante.search.hillclimb import walk_straight
from andante.search.memory import Log, Space, bytes_of, new_space
from andante.search.mind import KeptMind
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import World
from andante.world.sensing import View

ALIGNMENT = 64
MOST_DATABASES = 4
MOST_MAP_WORDS = 64  # of a context that C has on its stack

# Segments, as they are numbered in plans: what a word of a context is, or where what it is the address of lies.
NUMBER, PLAN, MAP, MIND, DESK, DATABASE = range(6)

# What is where in the ``numbers`` of a map image ...
MAP_NUMBERS = (
    "states",
    "width",  # of a grid; else 0
    "height",
    "living",  # 1: cells can be closed and opened
    "label",  # where the component of each state is, int32; 0: nowhere, because it may change
    "passable",  # where the passable cells are, uint8; 0: nowhere
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
    "code",  # what contexts are for
)
# ... and of a plan.
PLAN_NUMBERS = (
    "code",  # of the machine code that this is for: the first eight bytes of a SHA-256
    "words",  # of the context
    "context",  # where it is: for each word its value, its segment, and the bytes that it is the address of
    "mind_bytes",
    "desk_bytes",
    "initial",  # where it is said how memory looks in the beginning, if not zero (`_Layout`)
    "initials",
    "data",
    "served",  # where it is said which goals the databases are for, uint8; 0: for all
    "clock",  # where the number of the problem is in the mind
    "anchored",
    "pursues",
    "map",  # the checksum of the map image
    "databases",
    *(f"database_{i}" for i in range(MOST_DATABASES)),  # their checksums
)

#: ... and of the plan of a crowd, which has these besides: where contexts begin, and where tables are in its memory.
CROWD_NUMBERS = (
    *PLAN_NUMBERS,
    "begin",
    "end",
    "release",
    "held",
    "units",
    "cells",
    "members",
    "squad",
    "scratch",
    "most_units",
    "unit_bytes",  # what each unit takes before it has learned anything
    "memory",  # what all units together may take
)

#: What the mind begins with: whose it is, what `move` has to know, and an episode (`episode.tables`).
MIND_HEAD = ("code", "plan", "here", "aim", "news", "reserved_0", "reserved_1", "reserved_2")


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


MIND_BEGINS = _aligned(8 * len(MIND_HEAD) + EPISODE.itemsize)  # after which its arrays lie


class Range(NamedTuple):
    """A piece of memory in this process, and where it lies in a segment."""

    begin: int
    end: int
    segment: int
    offset: int


def code_number(entry: Entry) -> int:
    """Return what tells the machine code of an entry from all other."""
    return _number_of(entry.identity)


def _number_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)


def _bounds(array: npt.NDArray[Any]) -> tuple[int, int]:
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)


def _numbers(names: Sequence[str], known: dict[str, int]) -> npt.NDArray[np.int64]:
    return np.array([known.get(name, 0) for name in names], np.int64)


def _file(kind: str, names: Sequence[str], chart: str, known: dict[str, int], arrays: dict[str, Any]) -> bytes:
    """Return a file whose ``numbers`` have what is known, and where each of these arrays is."""
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

    @property
    def graph(self) -> Graph:
        """The graph that agents walk on."""
        return self.world.graph

    @classmethod
    def of(cls, world: Grid) -> MapImage:
        """Return the image of a map; if it is a `World`, its cells can be closed and opened there too."""
        graph = world.graph
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
        where = offsets_in(_file("map", MAP_NUMBERS, chart, known, arrays))
        # Arrays that only the image has are gone when agents are laid out, and something else may lie there.
        ranges = [Range(*_bounds(array), MAP, where[key]) for key, array in own.items() if array.size]
        for key, entry in entries.items():
            arrays[key] = np.array(_relocated(entry, ranges), np.int64)[:, :2]
        if isinstance(world, World):
            known["changes"], known["sweeps"] = (where[key] for key in ("changes_scalars", "parts_scalars"))
            fields = world.parts.scalars.dtype.fields
            assert fields is not None
            known["sweeps"] += fields["sweeps"][1]
        data = _file("map", MAP_NUMBERS, chart, known, arrays)
        return cls(world, data, ranges)


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
def map_code() -> int:
    """Return what tells the machine code of these kernels from all other."""
    return _number_of("\n".join(entry.identity for entry in map_entries().values()))


def _living_arrays(world: World) -> dict[str, npt.NDArray[Any]]:
    """Return all that changes with a map, by name."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for bundle, value in (("cells", world.cells), ("changes", world.changes), ("parts", world.parts)):
        for key, part in value._asdict().items():
            if isinstance(part, np.ndarray) and not (bundle == "cells" and key in ("mask", "passable")):
                arrays[f"{bundle}_{key}"] = part
    return {**arrays, **world.looks()}


def _relocated(entry: Entry, ranges: Sequence[Range]) -> list[tuple[int, int, int]]:
    """Return for each word of a context its value, its segment, and the bytes that it is the address of."""
    words = [(word, NUMBER, 0) for word in entry.words]
    for place, array in entry.arrays:
        words[place] = (0, NUMBER, 0) if array.size == 0 else _place(array, ranges)
    return words


def _place(array: npt.NDArray[Any], ranges: Sequence[Range]) -> tuple[int, int, int]:
    """Return where an array lies: offset, segment and length."""
    low, high = _bounds(array)
    for one in ranges:
        if one.begin <= low and high <= one.end:
            return one.offset + array.ctypes.data - one.begin, one.segment, high - low
    raise AssertionError("an array lies in no segment")


# --- agents ---------------------------------------------------------------------------------------------------------


class Planned(Agent):
    """An agent that is never run: it shows how its memory is laid out, and which of it is its mind."""

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
    def log(self) -> Log:
        """Where thoughts are written."""
        return self._space.log

    def clock(self) -> npt.NDArray[Any]:
        """Return the clock, which has the number of the problem first."""
        return self._space.clock

    def served(self) -> npt.NDArray[np.uint8]:
        """Return for each state whether databases are for problems with this goal; empty if they are for all."""
        return _served(self.graph, self._covering)


@dataclass(frozen=True)
class Plan:
    """The plan of an agent's memory on one map."""

    algorithm: Algorithm
    map: MapImage
    databases: tuple[Database, ...]  # in the order in which C is given them
    entry: Entry
    data: bytes
    mind_bytes: int
    desk_bytes: int

    @property
    def total_bytes(self) -> int:
        """The memory that one agent needs, files included."""
        files = len(self.data) + len(self.map.data) + sum(one.nbytes for one in self.databases)
        return files + self.mind_bytes + self.desk_bytes

    @classmethod
    def of(cls, algorithm: Algorithm, image: MapImage, databases: Sequence[Any] = ()) -> Plan:
        """Return the plan for an algorithm on a map; raise `AlgorithmError` if it lacks a database."""
        agent = Planned(algorithm, image.world, databases=databases)
        _refuse_followers(algorithm, image)
        entry = agent.entry()
        used = databases_used(algorithm, agent.databases, image.world.graph)
        layout = _Layout.on(image, used)
        layout.place(entry.arrays, agent.given.arrays, shared_desk=algorithm.crowd)
        known = {
            **_known(algorithm, image, used, layout),
            "code": code_number(entry),
            "words": len(entry.words),
            "clock": _place(agent.clock(), layout.ranges)[0],
        }
        data = _plan_file("agent", PLAN_NUMBERS, algorithm, image, layout, known, entry, agent.served())
        return cls(algorithm, image, used, entry, data, layout.used[MIND], layout.used[DESK])


@dataclass(frozen=True)
class CrowdPlan:
    """The plan of the memory of a crowd of one algorithm: of all its units, their minds, and their desk."""

    map: MapImage
    databases: tuple[Database, ...]
    entries: dict[str, Entry]
    code: int  # what tells its machine code from all other
    data: bytes
    memory_bytes: int

    @property
    def words(self) -> int:
        """The number of words of all its contexts."""
        return sum(len(entry.words) for entry in self.entries.values())

    @classmethod
    def of(cls, algorithm: Algorithm, image: MapImage, databases: Sequence[Any], units: int, memory: int) -> CrowdPlan:
        """Return the plan for at most so many units, which together take at most so many bytes."""
        graph = image.graph
        Crowd(algorithm, image.world, databases=databases)  # refuses what cannot be one of a crowd
        _refuse_followers(algorithm, image)
        rows = np.zeros(units, UNIT)
        rows["squad"], rows["wish"], rows["state"] = NO_SQUAD, NO_WISH, NO_STATE
        ground = Ground(rows, np.full((units, 2), NO_STATE, np.int32))
        squad = Squad(algorithm, tuple(databases), graph, ground, memory, False, slots=units)
        unit_bytes = bytes_of(ground) // units + squad.unit_bytes
        _refuse_large(algorithm, units, unit_bytes, memory)
        entries = squad.entries()
        used = databases_used(algorithm, databases, graph)
        whole = _joined(entries)
        layout = _Layout.on(image, used)
        layout.place(whole.arrays, (), shared_desk=False)
        begins, place = {}, 0
        for name, entry in entries.items():
            begins[name], place = place, place + len(entry.words)
        tables = {name: _place(table, layout.ranges)[0] for name, table in squad.tables.items()}
        known = {
            **_known(algorithm, image, used, layout),
            **{name: begins[name] for name in ("begin", "end", "release", "held")},
            **tables,
            "code": _number_of(whole.identity),
            "words": len(whole.words),
            "most_units": units,
            "unit_bytes": unit_bytes,
            "memory": memory,
        }
        served = _served(graph, squad.covering)
        data = _plan_file("crowd", CROWD_NUMBERS, algorithm, image, layout, known, whole, served)
        return cls(image, used, entries, known["code"], data, layout.used[MIND])


NO_STATE = -1


def _joined(entries: dict[str, Entry]) -> Entry:
    """Return entries as one, whose context has their contexts one after the other."""
    words: list[int] = []
    arrays: list[tuple[int, npt.NDArray[Any]]] = []
    for entry in entries.values():
        arrays += [(len(words) + place, array) for place, array in entry.arrays]
        words += entry.words
    identity = "\n".join(entry.identity for entry in entries.values())
    return Entry("", 0, identity, b"", tuple(words), tuple(arrays))


def _refuse_followers(algorithm: Algorithm, image: MapImage) -> None:
    if isinstance(image.world, World) and image.world.has_followers:
        raise AlgorithmError(
            f"{algorithm} plans over levels of the map, and levels cannot be mended outside Python yet; export it "
            "without --living, or export another algorithm"
        )


def _refuse_large(algorithm: Algorithm, units: int, unit_bytes: int, memory: int) -> None:
    most = int((1 - KEPT_SHARE) * memory) // unit_bytes
    if units > most:
        raise ParameterError(
            f"memory={memory:g} has room for {most:,} units of {algorithm}, not for {units:,}; a tenth of it is kept "
            "for what they learn. Give the crowd more memory, or fewer units"
        )


def databases_used(algorithm: Algorithm, databases: Sequence[Any], graph: Graph) -> tuple[Database, ...]:
    """Return the databases that an algorithm uses, in the order in which C is given them: one of each kind it needs."""
    used = tuple(one for _, one in covering(algorithm, databases, graph))
    if len(used) > MOST_DATABASES:
        raise AlgorithmError(f"an exported agent can have {MOST_DATABASES} databases, and {algorithm} has more")
    return used


def _served(graph: Graph, used: Sequence[tuple[str, Database]]) -> npt.NDArray[np.uint8]:
    """Return for each state whether databases are for problems with this goal; empty if they are for all."""
    states = np.arange(len(graph))
    found = np.ones(len(states), np.bool_)
    for _, database in used:
        found &= database.covers(graph, states)
    return np.zeros(0, np.uint8) if found.all() else found.astype(np.uint8)


def _known(algorithm: Algorithm, image: MapImage, used: Sequence[Database], layout: _Layout) -> dict[str, int]:
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


def _plan_file(
    kind: str,
    names: Sequence[str],
    algorithm: Algorithm,
    image: MapImage,
    layout: _Layout,
    known: dict[str, int],
    entry: Entry,
    served: npt.NDArray[np.uint8],
) -> bytes:
    arrays: dict[str, npt.NDArray[Any]] = {
        "context": np.zeros((len(entry.words), 3), np.int64),
        "initial": np.array(layout.initial, np.int64).reshape(-1, 5),
        "served": served,
        "algorithm": np.frombuffer(str(algorithm).encode(), np.uint8),
        "data": np.frombuffer(b"".join(layout.data), np.uint8),
    }
    begin = offsets_in(_file(kind, names, image.graph.chart, known, arrays))["data"]
    moved = [one._replace(offset=one.offset + begin) if one.segment == PLAN else one for one in layout.ranges]
    arrays["context"] = np.array(_relocated(entry, moved), np.int64)
    return _file(kind, names, image.graph.chart, known, arrays)


class _Piece(NamedTuple):
    """A piece of memory in this process. What each unit has of it begins ``step`` bytes after the one before."""

    low: int
    high: int
    writeable: bool
    step: int


@dataclass
class _Layout:
    """Where everything that an agent's context points to is put, and how it looks in the beginning.

    ``initial`` has a row for each piece of memory that is not zero: segment, offset, bytes, and what is repeated in it,
    as place in the data and bytes. All units of a crowd begin with the same.
    """

    ranges: list[Range]
    used: dict[int, int] = field(default_factory=lambda: {MIND: MIND_BEGINS, DESK: 0, PLAN: 0})
    initial: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)

    @classmethod
    def on(cls, image: MapImage, used: Sequence[Database]) -> _Layout:
        """Return a layout in which a map and databases have their places."""
        layout = cls(list(image.ranges))
        for number, one in enumerate(used):
            where = offsets_in(one.to_bytes())
            for key, array in one.arrays._asdict().items():
                if array.size:
                    layout.ranges.append(Range(*_bounds(array), DATABASE + number, where[key]))
        return layout

    def place(
        self, arrays: Sequence[tuple[int, npt.NDArray[Any]]], mind: Sequence[npt.NDArray[Any]], *, shared_desk: bool
    ) -> None:
        """Put each piece of memory into a segment: the mind, the desk, or the plan if it is only read.

        An agent that cannot be one of a crowd may keep things on its desk from move to move, so that is mind too.
        """
        kept = [_bounds(array) for array in mind if array.size]
        for piece in self._pieces(arrays):
            if not piece.writeable:
                segment = PLAN
            elif not shared_desk or any(piece.low < end and begin < piece.high for begin, end in kept):
                segment = MIND
            else:
                segment = DESK
            self._put(piece, segment)

    def _pieces(self, given: Sequence[tuple[int, npt.NDArray[Any]]]) -> list[_Piece]:
        """Return the pieces of memory that lie in no segment yet, in order, overlapping arrays as one."""
        found: list[_Piece] = []
        arrays = [array for _, array in given if array.size and not self._lies(array)]
        for array in sorted(arrays, key=_bounds):
            step = max(map(abs, array.strides), default=array.itemsize)
            one = _Piece(*_bounds(array), array.flags.writeable, step)
            if found and one.low < found[-1].high:
                last = found.pop()
                one = _Piece(
                    last.low, max(last.high, one.high), last.writeable or one.writeable, max(last.step, one.step)
                )
            found.append(one)
        return found

    def _lies(self, array: npt.NDArray[Any]) -> bool:
        low, high = _bounds(array)
        return any(one.begin <= low and high <= one.end for one in self.ranges)

    def _put(self, piece: _Piece, segment: int) -> None:
        contents = ctypes.string_at(piece.low, piece.high - piece.low)
        offset = self.used[segment]
        self.ranges.append(Range(piece.low, piece.high, segment, offset))
        if segment == PLAN:
            self._keep(contents)
            return
        self.used[segment] += _aligned(len(contents))
        if any(contents):
            repeats = contents[piece.step :] == contents[: -piece.step]
            kept = contents[: piece.step] if repeats else contents
            self.initial.append((segment, offset, len(contents), self.used[PLAN], len(kept)))
            self._keep(kept)

    def _keep(self, contents: bytes) -> None:
        """Put contents into the plan."""
        padding = bytes(_aligned(len(contents)) - len(contents))
        self.data += [contents, padding]
        self.used[PLAN] += len(contents) + len(padding)
