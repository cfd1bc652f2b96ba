"""Building of subgoal databases: problems are solved, and states of each solution that climbing can reach are stored.

Bulitko and Björnsson (2009), Figure 4; line numbers refer to that figure. Problems are drawn at random. One whose whole
path can be climbed is drawn again, because an agent needs no help there. Where the paper is silent: hill-climbing has
no limit here. On a map where almost every path can be climbed there are fewer records than requested.

The paper expects that coverage can be better than by chance. With ``coverage=gaps`` a problem is skipped if the most
similar record so far would serve it, until almost all problems are served; after that, problems are kept as drawn.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Range
from andante.databases.subgoals import Shortlist, Subgoals, Used, choose, index
from andante.kernel import int64, kernel
from andante.notation import Word
from andante.offline.builder import Crew, Making, builder
from andante.search.astar import UNLIMITED, Tree, lay_out, reached, search
from andante.search.hillclimb import climb
from andante.search.memory import new_space
from andante.search.mind import Mind
from andante.world.graph import Graph
from andante.world.layout import Arrays

BATCH = 256  # problems drawn at a time
PART = 8  # problems that a thread solves at a time
LEAST_YIELD = 0.05  # share of a batch that must be in gaps; otherwise hardly any are left
FRUITLESS = 2  # batches without a record, after which no more are drawn
MOST_DRAWS = 50  # per requested record

States = npt.NDArray[np.int32]


class Coverage(Word):
    """The choice of problems that are solved for the database."""

    RANDOM = 0
    GAPS = 1


class Params(NamedTuple):
    """The number of records, their problems, and their contents."""

    records: Annotated[int, Range(0, 10_000_000), "problems to solve and keep"] = 10_000
    seed: Annotated[int, Range(0, 2**63 - 1), "the same seed gives the same database"] = 0
    coverage: Annotated[Coverage, "gaps: first solve problems that no earlier record serves"] = Coverage.RANDOM
    series: Annotated[bool, "keep all subgoals from start to goal, not only the first"] = False
    m: Annotated[int, Range(1, 100_000), "gaps: steps of hill-climbing within which a record serves a problem"] = 25


class Room(NamedTuple):
    """The buffers of one thread for solving a problem and dividing its path."""

    tree: Tree
    path: States  # [n]
    series: States  # [n]
    found: Shortlist
    used: Used  # never marked, because no subgoal is taboo here


class Record(NamedTuple):
    """A solved problem to store."""

    start: int
    goal: int
    series: States


@builder(
    "subgoals",
    Params,
    variants=("subgoals(records=1000, series=true)", "subgoals(series=true, coverage=gaps)"),
)
def make(graph: Graph, params: Params, crew: Crew) -> Making[Subgoals]:
    """Return records of random problems on ``graph``."""
    rooms = [_room(graph) for _ in range(crew.threads)]
    rng = np.random.default_rng(params.seed)
    states = _not_alone(graph)
    records: list[Record] = []
    gaps = params.coverage == Coverage.GAPS
    drawn = fruitless = 0
    while len(records) < params.records and fruitless < FRUITLESS and drawn < MOST_DRAWS * params.records + BATCH:
        known = _indexed(graph, records) if gaps else None
        pairs = _draw(graph, states, rng)
        parts = np.array_split(pairs, max(1, -(-len(pairs) // PART)))
        new = yield from _new_records(graph, params, crew, rooms, parts, known)
        records += new[: params.records - len(records)]
        drawn, fruitless = drawn + BATCH, 0 if new or gaps else fruitless + 1
        gaps = gaps and len(new) > BATCH * LEAST_YIELD
        crew.report("finding subgoals", len(records), params.records)
    return _indexed(graph, records)


def _new_records(
    graph: Graph,
    params: Params,
    crew: Crew,
    rooms: list[Room],
    parts: list[npt.NDArray[np.int64]],
    known: Subgoals | None,
) -> Making[list[Record]]:
    """Return the records of the drawn problems that need one and are not served by the ``known`` ones."""

    def solve(room: Room, part: npt.NDArray[np.int64]) -> Making[list[Record]]:
        return _solved(room, graph.arrays, known, params, part)

    made = yield from crew.each(solve, parts, rooms)
    return [record for some in made for record in some]


def _room(graph: Graph) -> Room:
    n = len(graph)
    return Room(
        Tree.allocate(new_space(graph, None)),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        Shortlist.over(graph, 1),
        Used.over(Mind(n)),
    )


def _not_alone(graph: Graph) -> npt.NDArray[np.int64]:
    """Return the states from which another state can be reached."""
    label = graph.components
    return np.flatnonzero(np.bincount(label, minlength=1)[label] > 1)


def _draw(graph: Graph, states: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return random pairs of these states that are in the same component, one row each (line 3)."""
    if len(states) == 0:
        return np.zeros((0, 2), np.int64)
    label = graph.components
    pairs: npt.NDArray[np.int64] = states[rng.integers(len(states), size=(BATCH, 2))]
    together: npt.NDArray[np.bool_] = label[pairs[:, 0]] == label[pairs[:, 1]]
    return pairs[together]


def _indexed(graph: Graph, records: list[Record]) -> Subgoals:
    start = np.array([record.start for record in records], np.int32)
    goal = np.array([record.goal for record in records], np.int32)
    first = np.cumsum([0, *(len(record.series) for record in records)]).astype(np.int32)
    subgoal = np.concatenate([np.zeros(0, np.int32), *(record.series for record in records)])
    return index(graph, start, goal, first, subgoal)


def _solved(
    room: Room, graph: Arrays, known: Subgoals | None, params: Params, pairs: npt.NDArray[np.int64]
) -> Making[list[Record]]:
    found = []
    for start, goal in pairs.tolist():
        if known is not None and _is_served(room, graph, known, params.m, start, goal):
            continue
        count = _divide(room, graph, start, goal, params.series)
        if count > 0:
            found.append(Record(start, goal, room.series[:count].copy()))
        yield
    return found


@kernel
def _is_served(room: Room, graph: Arrays, known: Subgoals, most: int, start: int, goal: int) -> bool:
    """Return whether an agent can solve this problem by climbing or with a known record."""
    if climb(graph, start, goal, most).arrived:
        return True
    return choose(known, room.found, graph, start, goal, most, room.used, 1).record >= 0


@kernel
def _divide(room: Room, graph: Arrays, start: int, goal: int, whole: bool) -> int:
    """Write the subgoals of a shortest path into ``room.series``; return their number, 0 if none is needed."""
    search(room.tree, graph, start, goal, 1.0)  # line 4
    if not reached(room.tree, goal):
        return 0
    length = lay_out(room.tree, room.path, start, goal)
    if length < 3:  # line 5
        return 0
    at, count = _farthest(room.path, graph, 0, length), 0
    if at == length - 1:
        return 0
    if not whole:
        room.series[0] = room.path[at]  # line 8
        return 1
    room.series[0], room.series[1], count = start, room.path[at], 2
    while at < length - 1:
        at = _farthest(room.path, graph, at, length)
        room.series[count] = room.path[at]
        count += 1
    return count


@kernel
def _farthest(path: States, graph: Arrays, begin: int, length: int) -> int:
    """Return the last place on the path before the first that climbing from ``begin`` cannot reach (lines 6 to 11)."""
    for i in range(begin + 2, length):
        if not climb(graph, int64(path[begin]), int64(path[i]), UNLIMITED).arrived:
            return i - 1
    return length - 1
