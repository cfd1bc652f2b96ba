"""Samples of the memory layout of an agent on one map, from which recipes are made and checked.

A sample describes each word of a context, which is a number or an address in a piece of memory or in an array of the
map, and the length and initial contents of each piece.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import Database, offsets_in
from andante.episode.detour import Both
from andante.errors import AlgorithmError
from andante.export.crowds import Made
from andante.export.images import Planned, map_arrays
from andante.export.layout import DATABASE, DESK, MAP, MIND, NUMBER, PLAN, bounds
from andante.kernel import Table, count_words, table_of
from andante.search.learning import Learned
from andante.search.path import Path
from andante.search.plan import Plan
from andante.search.tracing import TracedPaths
from andante.world.grid import Grid
from andante.world.sensing import Belief

MOST_CONTENT_BYTES = 512  # of repeated contents that are read word by word
LOOKED_AT = 1 << 18  # bytes that are read at each end of a large piece
OPEN = "open"  # the rule for the moves of a map without walls
PIECE = -1  # instead of a segment, which is stored with the piece


class Place(NamedTuple):
    """The place of an array of the map, or of a database, in this process and in the page."""

    begin: int
    end: int
    name: str  # of the array, or the kind of the database
    segment: int = MAP
    offset: int = 0  # in the file of the database


class Piece(NamedTuple):
    """A piece of memory: its segment, and its initial contents as words or as bytes."""

    segment: int
    words: int  # their values are among the numbers of the sample
    content: bytes  # if it does not have whole words, or too many; zeros if it is empty and there are no words
    once: bool  # whether it is followed by zeros; otherwise it is repeated
    rule: str = ""  # the rule by which a page makes its initial contents, if they are not here


class Sample(NamedTuple):
    """A layout of memory; ``structure`` does not depend on the size of the map, ``numbers`` may."""

    identity: str  # of the machine code
    words: tuple[tuple[int, int | str], ...]  # the segment of each word, and its piece or array of the map
    pieces: tuple[Piece, ...]
    numbers: tuple[int, ...]  # the value or offset of each word, then the bytes and the words of each piece

    @property
    def structure(self) -> tuple[Any, ...]:
        """The part that several samples of one recipe must have in common."""
        return self.identity, self.words, self.pieces


def places_of(world: Grid) -> list[Place]:
    """Return where the arrays of a map are."""
    return [Place(*bounds(array), name) for name, array in map_arrays(world).items() if array.size]


def places_in(databases: Iterable[Database]) -> list[Place]:
    """Return where the arrays of databases are; all have the first segment here, as plans assign the real ones."""
    found = []
    for one in databases:
        where = offsets_in(one.to_bytes())
        arrays = one.arrays._asdict().items()
        found += [Place(*bounds(array), one.kind, DATABASE, where[key]) for key, array in arrays if array.size]
    return found


def sample_agent(agent: Planned, places: Sequence[Place]) -> Sample:
    """Return the layout of an agent's memory."""
    log = {id(array) for array in agent.log}
    view, rules = agent.view, {}
    shared = agent.algorithm.crowd  # an agent that cannot be one of a crowd may keep things on its desk
    if isinstance(view, Belief):
        shared = False  # what it believes is its own
        places = [*places, *_places_in_belief(view)]
        rules[bounds(view.cells.mask)] = OPEN
    kept = [bounds(array) for array in agent.given.arrays if array.size]

    def segment(arrays: list[npt.NDArray[Any]], low: int, high: int) -> int:
        if any(id(array) in log for array in arrays):
            return DESK
        is_kept = any(low < end and begin < high for begin, end in kept)
        return MIND if is_kept or not shared else DESK

    return sample_table(agent.table(), places, segment, rules)


def _places_in_belief(belief: Belief) -> list[Place]:
    """Return the places of arrays in an agent's own model that are the same as those of the map."""
    graph = belief.cells.graph
    return [Place(*bounds(getattr(graph, name)), name) for name in ("offset", "x", "y")]


def sample_crowd(made: Made, places: Sequence[Place], numbers: Sequence[int]) -> Sample:
    """Return the layout of a crowd's memory: the words of contexts, then a word for each table, and numbers."""
    words: list[int] = []
    arrays: list[tuple[int, npt.NDArray[Any]]] = []
    identities = []
    for kernel in made.kernels.values():
        table = table_of(kernel.function, *kernel.parts)
        identities.append(table.identity)
        arrays += [(len(words) + place, array) for place, array in table.arrays]
        words += table.words
    arrays += [(len(words) + i, array) for i, array in enumerate(made.tables.values())]
    words += [*[0] * len(made.tables), *numbers]
    whole = Table("\n".join(identities), tuple(words), tuple(arrays))
    return sample_table(whole, places, lambda inside, low, high: MIND)


def sample_table(
    table: Table, places: Sequence[Place], segment: Any, rules: Mapping[tuple[int, int], str] | None = None
) -> Sample:
    """Return the layout of the memory that a context points to; ``segment`` returns the segment of written arrays.

    ``rules`` names pieces of memory whose initial contents a page makes by itself.
    """
    words: list[tuple[int, int | str]] = [(NUMBER, 0)] * len(table.words)
    numbers = list(table.words)
    loose = []
    for word, array in table.arrays:
        low, high = bounds(array)
        known = next((one for one in places if one.begin <= low and high <= one.end), None)
        if array.size == 0:
            numbers[word] = 0
        elif known is not None:
            words[word] = (known.segment, known.name)
            numbers[word] = known.offset + array.ctypes.data - known.begin
        else:
            loose.append((word, array))
    pieces = []
    for number, (low, high, inside) in enumerate(_pieces(loose)):
        for word, array in inside:
            words[word], numbers[word] = (PIECE, number), array.ctypes.data - low
        arrays = [array for _, array in inside]
        step = max(max(map(abs, one.strides), default=1) for one in arrays)
        where = segment(arrays, low, high) if any(one.flags.writeable for one in arrays) else PLAN
        rule = (rules or {}).get((low, high), "")
        content, once = (b"", False) if rule else _beginning(low, high, step, whole=where == PLAN)
        held = np.frombuffer(content, "<i8").tolist() if _is_words(content) and not once else []
        pieces.append(Piece(where, len(held), b"" if held else content, once, rule))
        numbers += [high - low, *held]
    return Sample(table.identity, tuple(words), tuple(pieces), tuple(numbers))


def _is_words(content: bytes) -> bool:
    return len(content) % 8 == 0 and len(content) <= MOST_CONTENT_BYTES


def _pieces(
    loose: Iterable[tuple[int, npt.NDArray[Any]]],
) -> list[tuple[int, int, list[tuple[int, npt.NDArray[Any]]]]]:
    """Return pieces of memory with the arrays in them, overlapping ones as one, in the order of the context."""
    found: list[tuple[int, int, list[tuple[int, npt.NDArray[Any]]]]] = []
    for word, array in sorted(loose, key=lambda one: bounds(one[1])):
        low, high = bounds(array)
        if found and low < found[-1][1]:
            begin, end, inside = found.pop()
            found.append((begin, max(end, high), [*inside, (word, array)]))
        else:
            found.append((low, high, [(word, array)]))
    return sorted(found, key=lambda piece: min(word for word, _ in piece[2]))


def _beginning(low: int, high: int, step: int, whole: bool = False) -> tuple[bytes, bool]:
    """Return the initial contents of a piece of memory: bytes, and whether they occur once, before zeros.

    Otherwise they are repeated: one record, ``step`` bytes long, or all of it; none if it is all zero. Only the ends of
    a large piece are read, unless ``whole`` is set, because unused memory should not be touched.
    """
    memory = np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low))
    size = LOOKED_AT // step * step
    if len(memory) > 2 * size > 0 and not whole:
        last = low + (len(memory) - size) // step * step  # a piece may end within a record
        (first, _), (rest, _) = _beginning(low, low + size, step), _beginning(last, high, step)
        if not rest and len(first) > step:
            return first[: -(-len(first.rstrip(b"\0")) // step) * step], True
        if len(first) not in (0, step) or first != rest:
            raise AlgorithmError("a large piece of memory does not begin with one record, repeated")
        return first, False
    if not memory.any():
        return b"", False
    return (memory[:step] if np.array_equal(memory[step:], memory[:-step]) else memory).tobytes(), False


# --- what a page reads ----------------------------------------------------------------------------------------------


def peeks(agent: Planned) -> dict[str, Any]:
    """Return the words of an agent's context that point to what a page shows: values, plans, the log and the clock.

    If the agent may have to search because the map has changed, ``detour`` has the words that show it, and its plan.
    """
    table = agent.table()
    word = {id(array): place for place, array in reversed(table.arrays)}
    memory = agent.parts()[2]
    own = memory.own.memory if isinstance(memory, Both) else memory
    found: dict[str, Any] = {
        "clock": word[id(agent.clock())],
        "log": {name: word.get(id(array), -1) for name, array in agent.log._asdict().items()},
        "logged": [place for place, array in table.arrays if array is agent.log.kind],
        **_plan_in(own, word),
    }
    h = getattr(own, "h", None)
    if isinstance(h, Learned):
        found["values"] = {"value": word[id(h.value)], "stamp": word[id(h.stamp)], "clock": word[id(h.clock)]}
    view = agent.view
    if isinstance(view, Belief):
        before = [value for name, value in view._asdict().items() if name not in ("radius", "width", "height")]
        log = view.cells.changes
        radius = count_words(agent.graph.arrays, *before)
        found["belief"] = {"radius": radius, "log": word[id(log.cell)], "scalars": word[id(log.scalars)]}
    if isinstance(memory, Both):
        found["detour"] = {"astray": word[id(memory.detour.scalars)], **_plan_in(memory.detour.memory, word)}
    return found


def _plan_in(memory: Any, word: dict[int, int]) -> dict[str, Any]:
    """Return the words that point to the plan in a memory, or nothing if there is none."""
    for kind, bundle in (("plan", Plan), ("path", Path), ("traced", TracedPaths)):
        one = _find(memory, bundle)
        if one is not None:
            arrays = {name: word[id(part)] for name, part in one._asdict().items() if isinstance(part, np.ndarray)}
            return {"plan": {"kind": kind, **arrays}}
    return {}


def _find(bundle: Any, kind: type) -> Any:
    """Return the first bundle of a kind within a memory, or None."""
    if isinstance(bundle, kind):
        return bundle
    parts = bundle if isinstance(bundle, tuple) else ()
    return next((one for one in (_find(part, kind) for part in parts) if one is not None), None)
