"""PR LRTS in plain Python, from Figure 6 of Bulitko et al. (2007) and from the docs where it is silent.

The twin uses dictionaries, lists and `heapq`, and nothing of the package's search, control or sensing. The levels of a
map, as built, are those of `tests.abstraction.plain_cover`. Repaired levels depend on the order in which walls came
into sight, so after each repair the twin gets the parents and the order of arcs. It checks that the arcs are those that
the parents imply, and computes all else (points, costs, corridors, plans, values) itself.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from andante.abstraction.layers import CHUNK, LEAST_COST, Layers
from andante.world.grid import Grid
from andante.world.heuristics import DIAGONAL, TOLERANCE
from tests import naive
from tests.abstraction.plain_cover import plain_levels

Moves = list[tuple[int, float]]


# --- the known map ---------------------------------------------------------------------------------------


class Model:
    """The map as the agent assumes it to be: free, except for the walls that it has seen."""

    def __init__(self, grid: Grid, sight: int | None) -> None:
        self.grid, self.sight = grid, sight
        cells = [(x, y) for y in range(grid.height) for x in range(grid.width)]
        self.blocked = {cell for cell in cells if not grid.passable[cell[1], cell[0]]}
        self.walls: set[tuple[int, int]] = set() if sight else set(self.blocked)
        self._moves: dict[int, Moves] = {}

    def look(self, state: int) -> bool:
        """See the walls in the square around ``state``; return whether any is new."""
        if self.sight is None:
            return False
        x, y = self.grid.cell(state)
        fresh = {(u, v) for u, v in self.blocked if max(abs(u - x), abs(v - y)) <= self.sight} - self.walls
        self.walls |= fresh
        if fresh:
            self._moves = {}
        return bool(fresh)

    def moves(self, state: int) -> Moves:
        """Return the moves from a cell, with their costs."""
        if state not in self._moves:
            free = [[(x, y) not in self.walls for x in range(self.grid.width)] for y in range(self.grid.height)]
            found = naive.legal_moves(free, *self.grid.cell(state), self.grid.rule)
            self._moves[state] = [(self.grid.state(*near), cost) for near, cost in found]
        return self._moves[state]

    def states(self) -> list[int]:
        """Return the cells that have moves."""
        return [state for state in range(self.grid.width * self.grid.height) if self.moves(state)]


# --- levels ---------------------------------------------------------------------------------------------------------


class Levels:
    """Regions over the cells of a map: the parent of each, and its neighbours in order."""

    def __init__(self, grid: Grid, parent: dict[int, int], row: dict[int, list[int]]) -> None:
        self.parent, self.row, self.ground = parent, row, grid.width * grid.height
        self.level = {state: 0 for state in parent if state < self.ground}
        self.cells: dict[int, list[int]] = {state: [state] for state in self.level}
        self.children: dict[int, list[int]] = defaultdict(list)
        waiting = list(self.level)
        while waiting:
            for node in waiting:
                if node in parent:
                    self.children[parent[node]].append(node)
                    self.level[parent[node]] = self.level[node] + 1
            waiting = sorted({parent[node] for node in waiting if node in parent})
            for node in waiting:
                self.cells[node] = sorted(cell for child in self.children[node] for cell in self.cells[child])
        self.place = {node: self._mean(grid, cells) for node, cells in self.cells.items()}

    @staticmethod
    def _mean(grid: Grid, cells: list[int]) -> tuple[float, float]:
        points = [grid.cell(cell) for cell in cells]
        return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)

    def over(self, node: int, up: int) -> int:
        """Return the ancestor of a node, ``up`` levels above it."""
        for _ in range(up):
            node = self.parent[node]
        return node

    def graph(self, level: int) -> dict[int, set[int]]:
        """Return the nodes of a level above the ground, and the neighbours of each."""
        return {node: set(self.row[node]) for node, its in self.level.items() if its == level}

    def representative(self, node: int, down: int) -> int:
        """Return what represents a node ``down`` levels below: the child, or cell, nearest to its point."""
        below = self.cells[node] if down == self.level[node] else self.children[node]
        return min(below, key=lambda child: (round(math.dist(self.place[child], self.place[node]), 9), child))


def levels_as_built(grid: Grid, cover: str, top: int) -> Levels:
    """Return the levels of a map up to ``top``."""
    parent, row = {}, {}
    first, after = 0, grid.width * grid.height  # the first number of the level below, and that of this level
    for families, neighbours in plain_levels(grid, cover)[:top]:
        for number, family in enumerate(families):
            parent.update({first + child: after + number for child in family})
            row[after + number] = [after + near for near in neighbours[number]]
        first, after = after, after + len(families)
    return Levels(grid, parent, row)


def levels_as_mended(grid: Grid, layers: Layers, top: int) -> Levels:
    """Return an agent's levels up to ``top`` after a repair: the parent of each node, and the order of its arcs."""
    parent, row = {}, {}
    above, node, ground = layers.family["parent"], layers.node, layers.ground
    waiting = [state for state in range(ground) if above[state]]
    for _ in range(top):
        parent.update({child: int(above[child]) for child in waiting})
        waiting = sorted({parent[child] for child in waiting})
        for one in waiting:
            chunk, row[one] = int(node["row"][one - ground]), []
            for k in range(int(node["degree"][one - ground])):
                chunk = int(layers.link[chunk]) if k and k % CHUNK == 0 else chunk
                row[one].append(int(layers.arc[chunk, k % CHUNK]))
    return Levels(grid, parent, row)


def check_arcs(levels: Levels, model: Model) -> None:
    """Check that each level has exactly the arcs that lead from one of its regions to another."""
    beside = {state: {near for near, _ in model.moves(state)} for state in model.states()}
    top = max(levels.level.values(), default=0)
    for level in range(1, top + 1):
        wanted: dict[int, set[int]] = defaultdict(set)
        for node, near in beside.items():
            wanted[levels.parent[node]] |= {levels.parent[other] for other in near}
        beside = {node: others - {node} for node, others in wanted.items()}
        assert beside == levels.graph(level)


# --- A* -------------------------------------------------------------------------------------------------------------


@dataclass
class Work:
    """The cost of planning."""

    expanded: int = 0
    touched: int = 0
    learned: float = 0.0


def astar(
    moves: Callable[[int], Moves], h: Callable[[int], float], start: int, goal: int, typical: float, work: Work
) -> list[int]:
    """Return a cheapest path, both ends included; an empty list if there is none.

    Which of several it is follows from the queue: keys g + h count as equal if they are in the same sixteenth of a
    typical move's cost, counted from one sixteenth below the start's. Among equal keys the last in is first out. States
    that cannot lead to a cheaper path than the known one are not expanded.
    """
    scale = 16.0 / typical
    base = h(start) - 1.0 / scale
    g, before, key = {start: 0.0}, {start: -1}, {}
    queue: dict[int, list[int]] = defaultdict(list)

    def place(state: int) -> int:
        return max(int((key[state] - base) * scale), 0)

    def put(state: int) -> None:
        key[state] = g[state] + h(state)
        queue[place(state)].append(state)

    put(start)
    queued = {start}
    while queued:
        first = min(bucket for bucket, states in queue.items() if states)
        bound = g.get(goal, math.inf)
        if first > 0 and base + first / scale >= bound:
            break
        state = queue[first].pop()
        queued.discard(state)
        if key[state] >= bound:
            continue
        work.expanded += 1
        for near, cost in moves(state):
            work.touched += 1
            new = g[state] + cost
            if near < 0 or new >= g.get(near, math.inf):
                continue
            if near in queued:
                queue[place(near)].remove(near)
            g[near], before[near] = new, state
            put(near)
            queued.add(near)
    path = [goal] if goal in g else []
    while path and before[path[0]] >= 0:
        path.insert(0, before[path[0]])
    return path


# --- lookahead ------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """One path that a lookahead considers: its cost, its first move, and its states."""

    f: float
    first: int
    path: list[int]


def look_ahead(
    moves: Callable[[int], Moves],
    h: Callable[[int], float],
    start: int,
    goal: int,
    depth: int,
    gamma: float,
    path_max: bool,
    work: Work,
) -> list[list[Seen]]:
    """Return the paths to each ply, from the first to the last, in the order in which they are seen; f = gamma * g + h.

    The goal is a leaf, and belongs to its own ply and to all later ones. Blocked moves lead to -1.
    """
    ply, order = {start: 0}, [start]
    for state in order:
        if state != goal and ply[state] < depth:
            for near, _ in moves(state):
                if near >= 0 and near not in ply:
                    ply[near] = ply[state] + 1
                    order.append(near)
    inside = [state for state in order if ply[state] < depth]
    opened = [state for state in inside if state != goal]
    work.expanded += len(opened)
    work.touched += sum(len(moves(state)) for state in opened)
    paths = _cheapest(moves, h, inside, goal, gamma, path_max)
    last = max(ply.values())
    plies: list[list[Seen]] = [[] for _ in range(last + 1)]
    for state in inside:
        plies[ply[state]].append(paths[state][1])
    for state in opened if last == depth else []:
        g, seen = paths[state]
        for k, (near, cost) in enumerate(moves(state)):
            if near >= 0 and ply[near] == depth:
                f = gamma * (g + cost) + h(near)
                f = max(f, seen.f) if path_max else f
                plies[depth].append(Seen(f, seen.first if seen.path else k, [*seen.path, near]))
    if goal in paths:
        for later in range(ply[goal] + 1, last + 1):
            plies[later].append(paths[goal][1])
    return plies[1:]


def _cheapest(
    moves: Callable[[int], Moves],
    h: Callable[[int], float],
    inside: list[int],
    goal: int,
    gamma: float,
    path_max: bool,
) -> dict[int, tuple[float, Seen]]:
    """Return the cheapest path to each state of a ball; ties go by first move, then by the state seen first."""
    start, number = inside[0], {state: k for k, state in enumerate(inside)}
    found: dict[int, tuple[float, Seen]] = {}
    queue: list[tuple[float, int, int, int]] = [(0.0, -1, -1, start)]
    while queue:
        g, first, before, state = heapq.heappop(queue)
        if state in found:
            continue
        if state == start:
            found[state] = 0.0, Seen(0.0, -1, [])
        else:
            last = found[inside[before]][1]
            f = gamma * g + h(state)
            found[state] = g, Seen(max(f, last.f) if path_max else f, first, [*last.path, state])
        if state != goal:
            for k, (near, cost) in enumerate(moves(state)):
                if near in number:
                    heapq.heappush(queue, (g + cost, k if state == start else first, number[state], near))
    return found


def best_of(paths: Iterable[Seen]) -> Seen:
    """Return the path of least f; among equal ones by the earliest first move, then the one seen first."""
    paths = list(paths)
    least = min(path.f for path in paths)
    return min((path for path in paths if path.f <= least + TOLERANCE), key=lambda path: path.first)


# --- PR LRTS --------------------------------------------------------------------------------------------------------


@dataclass
class Setting:
    """The parameters of `prlrts`, by the same names."""

    level: int = 3
    depth: int = 9
    gamma: float = 0.4
    quota: float = math.inf
    top: str = "lrts"
    between: str = "pass"
    ground: str = "astar"
    cover: str = "aligned"
    keep: str = "connected"
    forget: str = "region"
    replan: str = "cut"


@dataclass
class Twin:
    """An agent in one problem, trial after trial."""

    grid: Grid
    goal: int
    setting: Setting
    sight: int | None = None
    values: dict[int, tuple[int, float]] = field(default_factory=dict)  # node to goal and value

    def __post_init__(self) -> None:
        self.model = Model(self.grid, self.sight)
        known = self.grid if self.sight is None else Grid(np.ones_like(self.grid.passable), rule=self.grid.rule)
        self.levels = levels_as_built(known, self.setting.cover, self.setting.level)
        self.begin()

    def begin(self) -> None:
        """Begin a trial."""
        self.path: list[int] = []  # states yet to visit
        self.behind: deque[tuple[int, bool]] = deque(maxlen=self.grid.width * self.grid.height)
        self.back, self.learned = False, 0.0

    def look(self, state: int, mended: Callable[[], Levels]) -> None:
        """Look around, take over the repaired levels from ``mended``, and forget outdated values."""
        if not self.model.look(state):
            return
        level, old = self.setting.level, self.levels
        self.levels = mended()
        check_arcs(self.levels, self.model)
        gone = {node for node in old.level if node >= old.ground and node not in self.levels.level}
        self.values = {
            node: (-1 if goal in gone else goal, value)  # for a goal that no longer exists: kept, but never used
            for node, (goal, value) in self.values.items()
            if node not in gone
        }
        changed = level == 0 or old.graph(level) != self.levels.graph(level)
        if self.setting.forget == "level" and level > 0 and changed:
            self.values = {}
        if self.setting.replan == "wall" or (self.setting.replan == "graph" and changed):
            self.path = []

    def move(self, state: int) -> tuple[int, Work]:
        """Make one move from ``state``; return its target and the work."""
        work = Work()
        if self.path and self.path[0] in dict(self.model.moves(state)):
            if not self.back:
                self.behind.append((state, False))
        else:
            self.path = self.plan(state, work)
        return self.path.pop(0), work

    def plan(self, state: int, work: Work) -> list[int]:
        """Return the states after ``state`` on a path on the highest level, refined down to the ground (Figure 6)."""
        level = self.setting.level
        here, there = self.levels.over(state, level), self.levels.over(self.goal, level)
        path = self.run(self.setting.top, level, None, 0, here, there, work)
        path = self.keep_to_quota(state, here, path, work.learned)
        while level > 0:
            up = level if self.setting.between == "pass" else 1
            level -= up
            here, there = self.levels.over(state, level), self.levels.over(self.goal, level)
            if self.levels.over(there, up) != path[-1]:
                there = self.levels.representative(path[-1], up)
            algorithm = self.setting.between if level else self.setting.ground
            path = self.run(algorithm, level, set(path), up, here, there, work)
        return path[1:]

    def run(
        self, algorithm: str, level: int, corridor: set[int] | None, up: int, here: int, there: int, work: Work
    ) -> list[int]:
        """Return the path that an algorithm finds on a level, inside a corridor of nodes ``up`` levels above."""
        if here == there:
            return [here]

        def moves(node: int) -> Moves:
            inside = self.moves(node)
            if corridor is None:
                return inside
            return [(near if self.levels.over(near, up) in corridor else -1, cost) for near, cost in inside]

        if algorithm == "astar":
            return astar(moves, lambda node: self.apart(node, there), here, there, 2.0**level, work)
        return self.learn(algorithm, moves, here, there, work)

    def learn(self, algorithm: str, moves: Callable[[int], Moves], here: int, there: int, work: Work) -> list[int]:
        """Look ahead as LRTS or LRTA*, raise the value of ``here``, and return the path."""

        def h(node: int) -> float:
            goal, value = self.values.get(node, (-1, 0.0))
            return value if goal == there else self.apart(node, there)

        setting = self.setting
        plies = look_ahead(moves, h, here, there, setting.depth, setting.gamma, algorithm == "lrta", work)
        best = best_of(plies[-1])
        new = best.f if algorithm == "lrta" else max(min(seen.f for seen in ply) for ply in plies)
        if new > h(here) + TOLERANCE:
            work.learned += new - h(here)
            self.values[here] = there, new
        return [here, best.path[0]] if algorithm == "lrta" else [here, *best.path]

    def keep_to_quota(self, state: int, here: int, path: list[int], learned: float) -> list[int]:
        """Return the path, or the path back if more was learned than the quota allows."""
        self.learned += learned
        self.back = False
        if self.learned > self.setting.quota + TOLERANCE:
            self.learned = self.setting.quota
            back = self.path_back(here)
            if back:
                self.back = True
                return back
        self.behind.append((state, True))
        return path

    def path_back(self, here: int) -> list[int]:
        """Return the path from ``here`` through regions left behind, to the last one where a plan was made."""
        left = list(self.behind)
        regions = [(self.levels.over(state, self.setting.level), planned) for state, planned in left]
        planned = [k for k, (region, planned) in enumerate(regions) if planned and region != here]
        begin = planned[-1] if planned else 0
        path = [here] + [region for region, _ in reversed(regions[begin:])]
        path = [path[0], *(after for before, after in pairwise(path) if before != after)]
        if path[-1] == here or any(after not in dict(self.moves(before)) for before, after in pairwise(path)):
            return []
        self.behind = deque(left[:begin], maxlen=self.behind.maxlen)
        return path

    def moves(self, node: int) -> Moves:
        """Return the arcs of a node of any level, with their costs."""
        if node < self.levels.ground:
            return self.model.moves(node)
        return [(near, max(self.apart(node, near), LEAST_COST)) for near in self.levels.row[node]]

    def apart(self, a: int, b: int) -> float:
        """Return the distance between two nodes of a level: octile between cells, else Euclidean."""
        if a < self.levels.ground:
            (x, y), (u, v) = self.grid.cell(a), self.grid.cell(b)
            near, far = sorted((abs(x - u), abs(y - v)))
            return far - near + near * DIAGONAL
        (x, y), (u, v) = self.levels.place[a], self.levels.place[b]
        return math.sqrt((x - u) * (x - u) + (y - v) * (y - v))
