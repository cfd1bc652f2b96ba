"""Building of regions whose states can climb to a seed, and of paths between seeds.

Lawrence and Bulitko (2013). A region grows from its seed, neighbour by neighbour, over the states that can climb to the
seed and be climbed to from there. Base paths, which are shortest paths, lead from each seed to those of the regions a
few borders away, and dynamic programming joins them: for each pair of regions it finds the first base path of a
shortest path over seeds.

Our choices: a region first grows from a random state, and then again from its state nearest to its middle, which gives
fewer regions and shorter paths. A climb along a leg of a base path costs exactly as much as the leg, so the sums are
what the agent walks. Regions are numbered in depth-first preorder over their borders, which gives rows of first arcs
few runs. Arcs that no row uses are left out.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Range
from andante.databases.regions import BLOCK, MOST_REGIONS, NARROW, WIDE, Regions, blocks
from andante.errors import DatabaseError, GraphError
from andante.kernel import int64, kernel
from andante.offline.builder import Crew, Making, builder
from andante.offline.hops import Rows, Web, ends, first_arcs
from andante.search.astar import UNLIMITED, Tree, cost_to, lay_out, search
from andante.search.hillclimb import ascend
from andante.search.memory import new_space
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from andante.world.layout import Arrays, degree, target, unit

GROWN = 2000  # states that regions may grow from between two reports of progress
PART = 4  # regions that a thread processes at a time
MOST_PATHS = 1 << 24  # the most base paths of all regions together
MOST_ARCS = 1 << 12  # the most base paths out of one region, whose sets have to be stored

Numbers = npt.NDArray[np.int64]
States = npt.NDArray[np.int32]
Costs = npt.NDArray[np.float64]


class Params(NamedTuple):
    """The size of regions, and the length of base paths."""

    m: Annotated[int, Range(1, 100_000), "steps of a climb between a seed and a state of its region"] = 5
    borders: Annotated[int, Range(1, 100), "most borders between a region and those that its base paths lead to"] = 3
    seed: Annotated[int, Range(0, 2**63 - 1), "the same seed gives the same database"] = 0


@builder("regions", Params, variants=("regions(m=12, borders=2)", "regions(m=20, borders=1)"))
def make(graph: Graph, params: Params, crew: Crew) -> Making[Regions]:
    """Return the regions of ``graph``, and paths between all pairs of them."""
    if graph.reversed() is not graph:
        raise GraphError("regions need a graph in which every move can be reversed at the same cost")
    region, seeds = _numbered(graph, *(yield from _regions(graph, params, crew)))
    yield
    chains = yield from _base_paths(graph, params, crew, seeds, _borders(graph, region, len(seeds)))
    rows = yield from first_arcs(crew, chains.web, TOLERANCE * graph.unit)
    block, begin, of_run = _runs(region)
    return Regions(block, begin, of_run, seeds, **_kept(chains, rows))


# --- regions --------------------------------------------------------------------------------------------------------


class Growth(NamedTuple):
    """The arrays in which regions grow."""

    region: States  # [n], -1 for states that are in none
    tried: States  # [n], the last attempt to grow a region that visited the state
    queue: States  # [n]
    seed: States  # [most regions]
    place: Costs  # [n, dimensions]
    middle: Costs  # [dimensions]


def _regions(graph: Graph, params: Params, crew: Crew) -> Making[tuple[States, States]]:
    """Return the region of each state, -1 for those without moves, and the seed of each region."""
    n, component, place = len(graph), graph.components, graph.points
    states = np.flatnonzero(np.bincount(component, minlength=1)[component] > 1)
    states = np.random.default_rng(params.seed).permutation(states)
    growth = Growth(
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.empty(n, np.int32),
        np.empty(min(n, MOST_REGIONS), np.int32),
        place,
        np.empty(place.shape[1]),
    )
    found = 0
    for first in range(0, len(states), GROWN):
        found = _grow_from(growth, graph.arrays, states[first : first + GROWN], params.m, found)
        if found < 0:
            raise DatabaseError(
                f"this map falls into more regions than the limit of {MOST_REGIONS:,}; with climbs of more "
                f"steps than m={params.m} there may be fewer"
            )
        crew.report("growing regions", min(first + GROWN, len(states)), len(states))
        yield
    return growth.region, growth.seed[:found].copy()


@kernel
def _grow_from(growth: Growth, graph: Arrays, states: Numbers, most: int, found: int) -> int:
    """Grow regions until each of these states is in one; return the number of regions, -1 if there are too many."""
    for i in range(len(states)):
        while growth.region[states[i]] < 0:
            if found == len(growth.seed):
                return -1
            seed = int64(states[i])
            size = _grow(growth, graph, seed, found, 2 * found, most)
            middle = _middle(growth, size)
            if middle != seed:
                for j in range(size):
                    growth.region[growth.queue[j]] = -1
                seed = middle
                _grow(growth, graph, seed, found, 2 * found + 1, most)
            growth.seed[found] = seed
            found += 1
    return found


@kernel
def _grow(growth: Growth, graph: Arrays, seed: int, number: int, attempt: int, most: int) -> int:
    """Grow one region and return its number of states, which are then in the queue."""
    growth.region[seed], growth.queue[0] = number, seed
    head, tail = 0, 1
    while head < tail:
        state = int64(growth.queue[head])
        head += 1
        for k in range(degree(graph, state)):
            near = target(graph, state, k)
            if growth.region[near] >= 0 or growth.tried[near] == attempt:
                continue
            growth.tried[near] = attempt
            if ascend(graph, near, seed, most).arrived and ascend(graph, seed, near, most).arrived:
                growth.region[near], growth.queue[tail] = number, near
                tail += 1
    return tail


@kernel
def _middle(growth: Growth, size: int) -> int:
    """Return the state nearest to the mean point of those in the queue, the first of equally near ones."""
    growth.middle[:] = 0.0
    axes = len(growth.middle)
    for i in range(size):
        for axis in range(axes):
            growth.middle[axis] += growth.place[growth.queue[i], axis] / size
    best, least = int64(growth.queue[0]), np.inf
    for i in range(size):
        apart = 0.0
        for axis in range(axes):
            apart += (growth.place[growth.queue[i], axis] - growth.middle[axis]) ** 2
        if apart < least:
            best, least = int64(growth.queue[i]), apart
    return best


def _borders(graph: Graph, region: States, count: int) -> Web:
    """Return the web of regions with a common border."""
    matrix = graph.to_scipy().tocoo()
    one, other = (region[ends].astype(np.int64) for ends in matrix.coords)
    pairs = np.unique((one * count + other)[one != other])
    home, to = np.divmod(pairs, max(count, 1))
    return Web(np.searchsorted(home, np.arange(count + 1)), to.astype(np.int32), np.ones(len(to)))


def _numbered(graph: Graph, region: States, seeds: States) -> tuple[States, States]:
    """Return the same regions, numbered in depth-first preorder."""
    count = len(seeds)
    number = np.full(count + 1, -1, np.int32)  # the last entry stays -1, for states in no region
    _number(_borders(graph, region, count), number, np.empty(count, np.int32), np.zeros(count, np.int64))
    return number[region], seeds[np.argsort(number[:count])]


@kernel
def _number(borders: Web, number: States, stack: States, tried: Numbers) -> None:
    """Number regions in depth-first preorder; ``number`` is initially -1, ``tried`` 0."""
    met = 0
    for root in range(len(stack)):
        if number[root] >= 0:
            continue
        stack[0], depth = root, 1
        number[root], met = met, met + 1
        while depth > 0:
            region = int64(stack[depth - 1])
            k = borders.first[region] + tried[region]
            if k == borders.first[region + 1]:
                depth -= 1
                continue
            tried[region] += 1
            near = int64(borders.to[k])
            if number[near] < 0:
                stack[depth], depth = near, depth + 1
                number[near], met = met, met + 1


def _runs(region: States) -> tuple[States, npt.NDArray[np.uint8], npt.NDArray[np.uint16]]:
    """Return the beginnings of each block's runs, all runs, and their regions.

    States in no region get the region of a state before or after them.
    """
    n = len(region)
    state, known = np.arange(n), np.flatnonzero(region >= 0)
    filled = np.zeros(n, np.uint16)
    if len(known):
        before = known[np.maximum(np.searchsorted(known, state, side="right") - 1, 0)]
        after = known[np.minimum(np.searchsorted(known, state), len(known) - 1)]
        goes_on = (before <= state) & (before // BLOCK == state // BLOCK)
        filled = region[np.where(goes_on, before, after)].astype(np.uint16)
    starts = state % BLOCK == 0
    starts[1:] |= filled[1:] != filled[:-1]
    at = np.flatnonzero(starts)
    block = np.searchsorted(at, np.arange(blocks(n) + 1) * BLOCK).astype(np.int32)
    return block, (at % BLOCK).astype(np.uint8), filled[at]


# --- base paths -----------------------------------------------------------------------------------------------------


class Chains(NamedTuple):
    """All base paths, divided into legs that can be climbed."""

    web: Web
    length: Numbers  # [paths], the number of subgoals between the seeds
    subgoal: States  # [subgoals]


class Room(NamedTuple):
    """The buffers of one thread for finding base paths."""

    tree: Tree
    path: States  # [n]
    near: States  # [regions], the regions that a region's paths lead to
    met: States  # [regions], the last region from which it was reached, plus one
    cost: Costs  # [most paths of a region]
    length: States  # [most paths of a region]
    subgoal: States  # [n]


def _base_paths(graph: Graph, params: Params, crew: Crew, seeds: States, borders: Web) -> Making[Chains]:
    """Return the base paths from each region to those nearby."""
    n, count = len(graph), len(seeds)
    sizes = np.empty(count, np.int64)
    _count_near(borders, params.borders, np.empty(count, np.int32), np.zeros(count, np.int32), sizes)
    most = int(sizes.max(initial=0))
    if sizes.sum() > MOST_PATHS or most > MOST_ARCS:
        raise DatabaseError(
            f"{count:,} regions with base paths over up to {params.borders} borders need {sizes.sum():,} of them, and "
            f"{most:,} from one region; the limits are {MOST_PATHS:,}, and {MOST_ARCS:,} from one region: use fewer "
            "borders, or larger regions with a larger m"
        )

    def room() -> Room:
        return Room(
            Tree.allocate(new_space(graph, None)),
            np.empty(n, np.int32),
            np.empty(count, np.int32),
            np.zeros(count, np.int32),
            np.empty(most),
            np.empty(most, np.int32),
            np.empty(n, np.int32),
        )

    def work(mine: Room, some: range) -> list[tuple[States, Costs, States, States]]:
        return [_paths_from(mine, graph, seeds, borders, params.borders, home) for home in some]

    rooms = [room() for _ in range(crew.threads)]
    made = yield from crew.each(work, crew.parts(count, PART), rooms, "finding base paths between seeds")
    empty = (np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int32))
    to, cost, length, subgoal = (
        np.concatenate(column) for column in zip(empty, *(one for some in made for one in some), strict=True)
    )
    first = np.concatenate([[0], np.cumsum(sizes)])
    return Chains(Web(first, to, cost), length.astype(np.int64), subgoal)


def _paths_from(
    room: Room, graph: Graph, seeds: States, borders: Web, most: int, home: int
) -> tuple[States, Costs, States, States]:
    """Return the base paths out of one region: target regions, costs, numbers of subgoals, and the subgoals."""
    found = _near(borders, most, home, room.near, room.met)
    room.near[:found].sort()
    pieces, done = [np.zeros(0, np.int32)], 0
    while done < found:
        done, used = _divide(room, graph.arrays, seeds, home, done, found)
        pieces.append(room.subgoal[:used].copy())
    return room.near[:found].copy(), room.cost[:found].copy(), room.length[:found].copy(), np.concatenate(pieces)


@kernel
def _count_near(borders: Web, most: int, near: States, met: States, sizes: Numbers) -> None:
    for home in range(len(sizes)):
        sizes[home] = _near(borders, most, home, near, met)


@kernel
def _near(borders: Web, most: int, home: int, near: States, met: States) -> int:
    """List the regions that are at most ``most`` borders away, and return their number."""
    mark = home + 1
    met[home] = mark
    size = _beyond(borders, home, mark, near, met, 0)
    head = 0
    for _ in range(most - 1):
        end = size
        while head < end:
            size = _beyond(borders, int64(near[head]), mark, near, met, size)
            head += 1
        if size == end:
            break
    return size


@kernel
def _beyond(borders: Web, region: int, mark: int, near: States, met: States, size: int) -> int:
    """Add the neighbours of a region that are not in the list yet, and return the size of the list."""
    for k in range(borders.first[region], borders.first[region + 1]):
        to = int64(borders.to[k])
        if met[to] != mark:
            met[to], near[size] = mark, to
            size += 1
    return size


@kernel
def _divide(room: Room, graph: Arrays, seeds: States, home: int, begin: int, end: int) -> tuple[int, int]:
    """Find base paths of a region and their subgoals; return where space ran out, and the number of subgoals."""
    used, start = 0, int64(seeds[home])
    for i in range(begin, end):
        goal = int64(seeds[room.near[i]])
        search(room.tree, graph, start, goal, 1.0)
        length = lay_out(room.tree, room.path, start, goal)
        if i > begin and used + length > len(room.subgoal):
            return i, used
        before, at = used, _farthest(room, graph, 0, length)
        while at < length - 1:
            room.subgoal[used] = room.path[at]
            used += 1
            at = _farthest(room, graph, at, length)
        room.cost[i], room.length[i] = cost_to(room.tree, goal), used - before
    return end, used


@kernel
def _farthest(room: Room, graph: Arrays, begin: int, length: int) -> int:
    """Return the place on the path up to which every climb from ``begin`` succeeds and costs no more than the path.

    A neighbour of the state at ``begin`` can always be climbed to.
    """
    state = int64(room.path[begin])
    for i in range(begin + 2, length):
        goal = int64(room.path[i])
        leg = ascend(graph, state, goal, UNLIMITED)
        if not leg.arrived or leg.cost > cost_to(room.tree, goal) - cost_to(room.tree, state) + TOLERANCE * unit(graph):
            return i - 1
    return length - 1


# --- what is stored -------------------------------------------------------------------------------------------------


def _kept(chains: Chains, rows: Rows) -> dict[str, npt.NDArray[Any]]:
    """Return the arcs that rows use, in each region those with subgoals first, and the rows with indices of arcs."""
    web, count = chains.web, len(chains.web.first) - 1
    region = np.repeat(np.arange(count), np.diff(web.first))
    kept = np.flatnonzero(rows.used)
    kept = kept[np.lexsort((chains.length[kept] == 0, region[kept]))]
    linked = kept[chains.length[kept] > 0]
    first = ends(np.bincount(region[kept], minlength=count))
    place = np.zeros(len(web.to), np.int64)
    place[kept] = np.arange(len(kept)) - first[region[kept]]
    none = NARROW if np.diff(first).max(initial=0) <= NARROW else WIDE
    arc = np.full(len(rows.arc), none, np.int64)
    known = rows.arc >= 0
    arc[known] = place[rows.arc[known]]
    begins = np.cumsum(chains.length) - chains.length
    return {
        "first": first,
        "to": web.to[kept].astype(np.uint16),
        "link": ends(np.bincount(region[linked], minlength=count)),
        "chain": ends(chains.length[linked]),
        "subgoal": chains.subgoal[_spans(begins[linked], chains.length[linked])],
        "row": rows.row,
        "goal": rows.goal,
        "arc": (arc & 255).astype(np.uint8),
        "wide": (arc >> 8 if none == WIDE else arc[:0]).astype(np.uint8),
    }


def _spans(begins: Numbers, sizes: Numbers) -> Numbers:
    """Return ranges of numbers, one after another, that begin at ``begins`` and have these sizes.

    >>> _spans(np.array([5, 20]), np.array([2, 3]))
    array([ 5,  6, 20, 21, 22])
    """
    return np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
