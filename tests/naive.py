"""Plain-Python twins of what the kernels compute: too slow to use, too simple to be wrong.

They use a graph only by ``graph.neighbours(state)`` and a heuristic only as a function of a state. There are no arrays,
stamps or queues that round, only dictionaries, ``heapq`` and the definitions of `docs/` and the papers, word for word.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.heuristics import DIAGONAL, LEAP, TOLERANCE

Heuristic = Callable[[int], float]

# --- grids ----------------------------------------------------------------------------------------------------------

COMPASS = {
    "N": (0, -1),
    "NE": (1, -1),
    "E": (1, 0),
    "SE": (1, 1),
    "S": (0, 1),
    "SW": (-1, 1),
    "W": (-1, 0),
    "NW": (-1, -1),
}


def legal_moves(
    free: np.ndarray, x: int, y: int, rule: str, weights: np.ndarray | None = None
) -> list[tuple[tuple[int, int], float]]:
    """Return the cells one move away from (x, y) with the cost of the move, north first and then clockwise."""

    def cost(*touched: tuple[int, int], length: float) -> float:
        """Return the length times the mean cost of these cells, rounded up to a multiple of 2**-32."""
        if weights is None:
            return length
        mean = Fraction(sum(Fraction(float(weights[row][column])) for column, row in touched)) / len(touched)
        return math.ceil(mean * Fraction(length) * 2**32) / 2**32

    def is_free(column: int, row: int) -> bool:
        return 0 <= row < len(free) and 0 <= column < len(free[0]) and bool(free[row][column])

    found = []
    for dx, dy in COMPASS.values():
        if not (is_free(x, y) and is_free(x + dx, y + dy)):
            continue
        if dx and dy and rule == "cardinal":
            continue
        if dx and dy and rule == "octile" and not (is_free(x + dx, y) and is_free(x, y + dy)):
            continue
        between = [(x + dx, y), (x, y + dy)] if dx and dy and rule == "octile" else []
        length = DIAGONAL if dx and dy else 1.0
        found.append(((x + dx, y + dy), cost((x, y), (x + dx, y + dy), *between, length=length)))
    return found


def grid_heuristic(grid: Grid, goal: int) -> Heuristic:
    """Return the distance to the goal on a map without obstacles: first diagonal moves, then straight ones."""
    goal_x, goal_y = grid.cell(goal)

    def h(state: int) -> float:
        x, y = grid.cell(state)
        dx, dy = abs(x - goal_x), abs(y - goal_y)
        if grid.rule == "cardinal":
            return float(dx + dy)
        return min(dx, dy) * DIAGONAL + abs(dx - dy)

    return h


# --- graphs ---------------------------------------------------------------------------------------------------------


def apart(metric: str, p: Iterable[float], q: Iterable[float]) -> float:
    """Return the distance between two points."""
    steps = [abs(a - b) for a, b in zip(p, q, strict=True)]
    if metric == "euclidean":
        return math.sqrt(sum(step * step for step in steps))
    if metric == "manhattan":
        return float(sum(steps))
    if metric == "chebyshev":
        return max(steps, default=0.0)
    if metric == "sixteen":
        return min(_split_among(max(steps), min(steps)))
    return max(steps) + min(steps) * (DIAGONAL - 1)  # octile


def _split_among(far: float, near: float) -> Iterator[float]:
    """Yield the cost of this distance for all pairs of kinds of moves that can cover it."""
    kinds = [((1, 0), 1.0), ((2, 1), LEAP), ((1, 1), DIAGONAL)]
    for (one, cost), (other, its_cost) in itertools.combinations(kinds, 2):
        a, b = np.linalg.solve(np.array([one, other], float).T, [far, near])
        if a >= -1e-12 and b >= -1e-12:
            yield max(a, 0.0) * cost + max(b, 0.0) * its_cost


def point_heuristic(points: list[tuple[float, ...]], metric: str, goal: int) -> Heuristic:
    """Return a function for the distance to the goal's point; 0 if there are no points."""
    return lambda state: apart(metric, points[state], points[goal]) if points else 0.0


def distances_from(graph: Graph, source: int) -> dict[int, float]:
    """Return the cost of a cheapest path to every state that can be reached, by Dijkstra's algorithm."""
    return cheapest(graph.neighbours, source)


def distances_to(graph: Graph, goal: int) -> dict[int, float]:
    """Return the cost of a cheapest path to the goal from every state that has one."""
    back: dict[int, list[tuple[int, float]]] = {state: [] for state in range(len(graph))}
    for state in range(len(graph)):
        for near, cost in graph.neighbours(state):
            back[near].append((state, cost))
    return cheapest(back.__getitem__, goal)


def cheapest(neighbours: Callable[[int], list[tuple[int, float]]], source: int) -> dict[int, float]:
    """Run Dijkstra's algorithm with any function that lists neighbours and costs."""
    settled: dict[int, float] = {}
    queue = [(0.0, source)]
    while queue:
        g, state = heapq.heappop(queue)
        if state in settled:
            continue
        settled[state] = g
        for near, cost in neighbours(state):
            heapq.heappush(queue, (g + cost, near))
    return settled


def optimal_moves(graph: Graph, left: dict[int, float], state: int) -> list[int]:
    """Return the moves, by their place in the neighbour order, that optimal paths begin with.

    ``left`` has the remaining cost of each state.
    """
    costs = {k: cost + left[near] for k, (near, cost) in enumerate(graph.neighbours(state)) if near in left}
    return [k for k, cost in costs.items() if cost <= min(costs.values()) + TOLERANCE]


def path_counts(graph: Graph, left: dict[int, float]) -> dict[int, int]:
    """Return how many optimal paths lead from each state to the goal."""
    counts: dict[int, int] = {}
    for state in sorted(left, key=left.__getitem__):
        moves = optimal_moves(graph, left, state) if left[state] else []
        counts[state] = sum(counts[graph.neighbours(state)[k][0]] for k in moves) if left[state] else 1
    return counts


def central_step(graph: Graph, left: dict[int, float], counts: dict[int, int], state: int) -> int:
    """Return the next state of an optimal path from which most optimal paths lead to the goal; the first of several."""
    ahead = [graph.neighbours(state)[k][0] for k in optimal_moves(graph, left, state)]
    return max(ahead, key=counts.__getitem__)


def components(graph: Graph) -> list[set[int]]:
    """Return the sets of states that are connected by arcs in any direction."""
    beside: dict[int, set[int]] = {state: set() for state in range(len(graph))}
    for state in range(len(graph)):
        for near, _ in graph.neighbours(state):
            beside[state].add(near)
            beside[near].add(state)
    left, found = set(beside), []
    while left:
        group, queue = set(), [min(left)]
        while queue:
            state = queue.pop()
            if state not in group:
                group.add(state)
                queue.extend(beside[state])
        found.append(group)
        left -= group
    return found


# --- lookahead ------------------------------------------------------------------------------------------------------


@dataclass
class View:
    """The result of a lookahead: the best f on the frontier, the number of the move that leads there, and the costs."""

    f: float
    first: int
    expanded: int
    touched: int


def plies(graph: Graph, state: int, goal: int, depth: int) -> dict[int, int]:
    """Return how many moves away each state is, up to ``depth``, by paths that do not pass the goal."""
    ply = {state: 0}
    queue = deque([state])
    while queue:
        here = queue.popleft()
        if here == goal or ply[here] == depth:
            continue
        for near, _ in graph.neighbours(here):
            if near not in ply:
                ply[near] = ply[here] + 1
                queue.append(near)
    return ply


def lookahead(graph: Graph, h: Heuristic, state: int, goal: int, depth: int, weight: float = 1.0) -> View | None:
    """Run the d-ply lookahead of Bulitko et al. (2007), Figure 2, lines 1 and 2; return None if there is no move.

    States less than ``depth`` moves away are expanded, but not the goal. Each gets the cheapest path to it through
    expanded states. Among equally cheap paths the one with the first move in neighbour order is chosen, and among those
    the one whose last move is from the state found first. Along a path f never falls. The frontier consists of the
    states ``depth`` moves away, otherwise those of the deepest ply, and the goal.
    """
    ply = plies(graph, state, goal, depth)
    expanded = [s for s in ply if ply[s] < depth and s != goal]
    if not graph.neighbours(state):
        return None
    labels = _cheapest_paths(graph, h, [s for s in ply if ply[s] < depth], set(expanded), weight)
    deepest = max(ply.values())
    found = []  # (f, number of the first move) of each path to the frontier
    for s in expanded:
        g, first, f = labels[s]
        for k, (near, cost) in enumerate(graph.neighbours(s)):
            if ply[near] == depth:
                found.append((max(f, weight * (g + cost) + h(near)), k if s == state else first))
    for s, (_, first, f) in labels.items():
        if s == goal or (deepest < depth and ply[s] == deepest):
            found.append((f, first))
    f, first = min(found)
    return View(f, first, len(expanded), sum(len(graph.neighbours(s)) for s in expanded))


def _cheapest_paths(
    graph: Graph, h: Heuristic, inside: list[int], expanded: set[int], weight: float
) -> dict[int, tuple[float, int, float]]:
    """Return g, the number of the first move, and f for each state inside the ball, given in the order of discovery."""
    root, order = inside[0], {state: number for number, state in enumerate(inside)}
    settled: dict[int, tuple[float, int, float]] = {}
    queue = [(0.0, -1, -1, 0.0, root)]
    while queue:
        g, first, _, f, state = heapq.heappop(queue)
        if state in settled:
            continue
        settled[state] = (g, first, f)
        if state in expanded:
            for k, (near, cost) in enumerate(graph.neighbours(state)):
                if near in order:
                    beyond = max(f, weight * (g + cost) + h(near))
                    heapq.heappush(queue, (g + cost, k if state == root else first, order[state], beyond, near))
    return settled


# --- agents ---------------------------------------------------------------------------------------------------------


@dataclass
class Walk:
    """The path and the costs of a twin on a problem."""

    path: list[int]
    arrived: bool = False
    cost: float = 0.0
    expanded: list[int] = field(default_factory=list)  # per move, and for finding that there is none
    touched: int = 0
    learned: float = 0.0
    values: dict[int, float] = field(default_factory=dict)  # what was learned


def lrta(graph: Graph, h0: Heuristic, start: int, goal: int, depth: int = 1, max_moves: int = 10_000) -> Walk:
    """Run LRTA* of Bulitko et al. (2007), Figure 2."""
    walk = Walk([start])

    def h(state: int) -> float:
        return walk.values.get(state, h0(state))

    while walk.path[-1] != goal and len(walk.path) <= max_moves:
        state = walk.path[-1]
        view = lookahead(graph, h, state, goal, depth)
        if view is None:
            return _stay(walk, 0)
        if view.f > h(state) + TOLERANCE:
            walk.learned += view.f - h(state)
            walk.values[state] = view.f
        _go(walk, *graph.neighbours(state)[view.first], view.expanded, view.touched)
    walk.arrived = walk.path[-1] == goal
    return walk


def rta(graph: Graph, h0: Heuristic, start: int, goal: int, max_moves: int = 10_000) -> Walk:
    """Run RTA* of Korf (1990): go to the best neighbour, and store the second best f."""
    walk = Walk([start])

    def h(state: int) -> float:
        return walk.values.get(state, h0(state))

    while walk.path[-1] != goal and len(walk.path) <= max_moves:
        state = walk.path[-1]
        f = [cost + h(near) for near, cost in graph.neighbours(state)]
        if not f or min(f) == math.inf:
            return _stay(walk, len(f))
        best = f.index(min(f))
        second = min(f[:best] + f[best + 1 :], default=math.inf)
        if h(state) < second < math.inf:
            walk.learned += second - h(state)
        walk.values[state] = second
        _go(walk, *graph.neighbours(state)[best], 1, len(f))
    walk.arrived = walk.path[-1] == goal
    return walk


def _go(walk: Walk, to: int, cost: float, expanded: int, touched: int) -> None:
    walk.path.append(to)
    walk.cost += cost
    walk.expanded.append(expanded)
    walk.touched += touched


def _stay(walk: Walk, touched: int) -> Walk:
    walk.expanded.append(1)
    walk.touched += touched
    return walk
