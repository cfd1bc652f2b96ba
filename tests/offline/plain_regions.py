"""Climbing, regions and paths over seeds in plain Python, with dictionaries and lists, for every pair."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from andante.databases.regions import chain_of, next_arc, region_of
from andante.world.graph import Graph
from andante.world.layout import estimate
from tests import naive


class Climbed(NamedTuple):
    """The state that climbing reached, its cost, and the number of states expanded."""

    path: list[int]
    cost: float
    steps: int


def climbed(graph: Graph, state: int, goal: int, most: float = math.inf) -> Climbed | None:
    """Climb to an adjacent goal, else by the least cost plus heuristic; return None if the climb fails."""
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
    """Climb in the same way, and return the number of states expanded even if the climb fails."""
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
    """Return the next state of a climb, and the cost of the move."""
    moves = graph.neighbours(state)
    final = [cost for near, cost in moves if near == goal]
    if final:
        return goal, min(final)
    best = min(moves, key=lambda move: move[1] + h(graph, move[0], goal), default=None)
    return best if best is not None and h(graph, best[0], goal) < h(graph, state, goal) else None


def h(graph: Graph, state: int, goal: int) -> float:
    """Return the heuristic."""
    return estimate(graph.arrays, state, goal)


def regions(database: Any, graph: Graph) -> dict[int, set[int]]:
    """Return the states of each region from the database; states without moves are in none."""
    found: dict[int, set[int]] = {}
    for state in range(len(graph)):
        if graph.neighbours(state):
            found.setdefault(region_of(database, state), set()).add(state)
    return found


def within(graph: Graph, members: dict[int, set[int]], borders: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of regions that are at most ``borders`` borders apart."""
    home = {state: region for region, states in members.items() for state in states}
    beside = {r: {home[near] for s in states for near, _ in graph.neighbours(s)} - {r} for r, states in members.items()}
    for region in members:
        reached, ring = {region}, {region}
        for _ in range(borders):
            ring = set().union(*(beside[r] for r in ring)) - reached
            reached |= ring
        yield from ((region, other) for other in reached - {region})


def chain(database: Any, here: int, arc: int) -> list[int]:
    """Return the subgoals of an arc out of a region, and the seed at its end."""
    begin, end = chain_of(database, here, arc)
    between = database.subgoal[begin:end].tolist()
    return [*between, int(database.seed[database.to[arc]])]


def walk(database: Any, here: int, there: int) -> list[tuple[int, int]] | None:
    """Look up the arcs from one region to another, each with its first region; return None if no path exists."""
    arcs = []
    while here != there:
        arc = next_arc(database, here, there)
        if arc < 0:
            return None
        arcs.append((here, arc))
        here = int(database.to[arc])
    return arcs


def shortest(graph: Graph, seeds: list[int], pairs: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Return the cost of a shortest path over seeds for each pair of regions, by Floyd and Warshall."""
    fields = [naive.distances_from(graph, seed) for seed in seeds]
    cost = {(a, b): 0.0 if a == b else math.inf for a in range(len(seeds)) for b in range(len(seeds))}
    cost.update({(a, b): fields[a][seeds[b]] for a, b in pairs})
    for middle in range(len(seeds)):
        for a in range(len(seeds)):
            for b in range(len(seeds)):
                cost[a, b] = min(cost[a, b], cost[a, middle] + cost[middle, b])
    return cost
