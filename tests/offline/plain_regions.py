"""Climbing, regions and the way over seeds, written out plainly: dictionaries, lists, and every pair looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from andante.databases.regions import chain_of, next_arc, region_of
from andante.world.graph import Graph
from andante.world.layout import estimate
from tests import naive


class Climbed(NamedTuple):
    """Where climbing came, what that cost, and in how many states it looked around."""

    path: list[int]
    cost: float
    steps: int


def climbed(graph: Graph, state: int, goal: int, most: float = math.inf) -> Climbed | None:
    """The way of one who takes the goal when it is near, and else the least cost plus heuristic; None if he fails."""
    path, cost, steps = [state], 0.0, 0
    while state != goal:
        ahead = towards(graph, state, goal) if steps < most else None
        if ahead is None:
            return None
        state, price = ahead
        path.append(state)
        cost, steps = cost + price, steps + 1
    return Climbed(path, cost, steps)


def attempt(graph: Graph, state: int, goal: int, most: float) -> tuple[Climbed | None, int]:
    """The same, and in how many states he looked around even if he failed."""
    start = state
    for steps in range(int(most) + 1):
        if state == goal:
            return climbed(graph, start, goal), steps
        if steps == most:
            break
        ahead = towards(graph, state, goal)
        if ahead is None:
            return None, steps + 1
        state = ahead[0]
    return None, int(most)


def towards(graph: Graph, state: int, goal: int) -> tuple[int, float] | None:
    """The next state of a climb, and what the move costs."""
    moves = graph.neighbours(state)
    final = [cost for near, cost in moves if near == goal]
    if final:
        return goal, min(final)
    best = min(moves, key=lambda move: move[1] + h(graph, move[0], goal), default=None)
    return best if best is not None and h(graph, best[0], goal) < h(graph, state, goal) else None


def h(graph: Graph, state: int, goal: int) -> float:
    """The heuristic."""
    return estimate(graph.arrays, state, goal)


def regions(database: Any, graph: Graph) -> dict[int, set[int]]:
    """The states of each region, as the database tells them; those without moves are in none."""
    found: dict[int, set[int]] = {}
    for state in range(len(graph)):
        if graph.neighbours(state):
            found.setdefault(region_of(database, state), set()).add(state)
    return found


def within(graph: Graph, members: dict[int, set[int]], borders: int) -> Iterator[tuple[int, int]]:
    """The pairs of regions that are at most ``borders`` borders apart."""
    home = {state: region for region, states in members.items() for state in states}
    beside = {r: {home[near] for s in states for near, _ in graph.neighbours(s)} - {r} for r, states in members.items()}
    for region in members:
        reached, ring = {region}, {region}
        for _ in range(borders):
            ring = set().union(*(beside[r] for r in ring)) - reached
            reached |= ring
        yield from ((region, other) for other in reached - {region})


def chain(database: Any, here: int, arc: int) -> list[int]:
    """The subgoals of an arc out of a region, and the seed at its end."""
    begin, end = chain_of(database, here, arc)
    between = database.subgoal[begin:end].tolist()
    return [*between, int(database.seed[database.to[arc]])]


def walk(database: Any, here: int, there: int) -> list[tuple[int, int]] | None:
    """The arcs from one region to another, each with where it begins, one look-up after the other; None: no way."""
    arcs = []
    while here != there:
        arc = next_arc(database, here, there)
        if arc < 0:
            return None
        arcs.append((here, arc))
        here = int(database.to[arc])
    return arcs


def shortest(graph: Graph, seeds: list[int], pairs: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """The cost of the shortest way over seeds for each pair of regions (Floyd and Warshall), by base paths ``pairs``."""
    fields = [naive.distances_from(graph, seed) for seed in seeds]
    cost = {(a, b): 0.0 if a == b else math.inf for a in range(len(seeds)) for b in range(len(seeds))}
    cost.update({(a, b): fields[a][seeds[b]] for a, b in pairs})
    for middle in range(len(seeds)):
        for a in range(len(seeds)):
            for b in range(len(seeds)):
                cost[a, b] = min(cost[a, b], cost[a, middle] + cost[middle, b])
    return cost
