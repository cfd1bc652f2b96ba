"""Properties 1 to 8 of Bulitko et al. (2007), section 4.2, checked with dictionaries, sets and the paper's words.

`check` knows the ground only as a dictionary of neighbours, which is computed without the kernels. Property 8, that the
levels fit the current graph, means that all others hold with respect to it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from andante.abstraction.clique import MOST_CHILDREN
from andante.abstraction.hierarchy import Hierarchy
from andante.abstraction.layers import CHUNK, LEAST_COST, Layers
from andante.world.grid import Grid
from tests import naive

Neighbours = dict[int, list[int]]


@dataclass(frozen=True)
class Ground:
    """The current graph: which states can be entered from which, and the points of the states."""

    neighbours: Neighbours
    point: dict[int, tuple[float, ...]]
    metric: str  # between points of abstract states


def ground_of(world, closed_states=(), closed_edges=()) -> Ground:
    """Return a grid or graph without what is closed; an edge is a pair of states in either order."""
    shut, cut = set(closed_states), {frozenset(edge) for edge in closed_edges}
    if isinstance(world, Grid):
        everywhere = _cells(world, shut)
        point = {state: tuple(map(float, world.cell(state))) for state in everywhere}
        metric = "euclidean"
    else:
        everywhere = {state: [near for near, _ in world.neighbours(state)] for state in range(len(world))}
        point = {state: tuple(world.csr().arrays.point[state].tolist()) for state in everywhere}
        named = ("octile", "euclidean", "manhattan", "chebyshev")[world.csr().arrays.metric]
        metric = "euclidean" if named == "octile" else named
    neighbours = {
        state: [near for near in row if not {state, near} & shut and frozenset((state, near)) not in cut]
        for state, row in everywhere.items()
    }
    return Ground(neighbours, point, metric)


def _cells(grid: Grid, shut: set[int]) -> Neighbours:
    free = [
        [bool(grid.passable[y, x]) and grid.state(x, y) not in shut for x in range(grid.width)]
        for y in range(grid.height)
    ]
    cells = [(x, y) for y in range(grid.height) for x in range(grid.width)]
    return {
        grid.state(x, y): [grid.state(*near) for near, _ in naive.legal_moves(free, x, y, grid.rule)] for x, y in cells
    }


def check(levels: Hierarchy, ground: Ground) -> None:
    """Check all eight properties, the bookkeeping behind them, and that the public methods return the same."""
    table, rows = _family(levels.layers), _rows(levels.layers)
    _check_nothing_leaks(levels.layers, table, rows)
    members = {0: {state for state, row in ground.neighbours.items() if row}}
    for level in range(1, levels.top + 1):
        members[level] = {node for node, entry in table.items() if entry["level"] == level and entry["weight"] > 0}
    assert set().union(*members.values()) >= {node for node, entry in table.items() if entry["weight"] > 0}
    arcs = dict(ground.neighbours)
    for level in range(1, levels.top + 1):
        _check_family(levels.layers, table, members[level - 1], members[level], level == levels.top)
        _check_kin_hang_together(levels.layers, arcs, table, members[level])
        _check_arcs(arcs, rows, table, members[level - 1], members[level])
        arcs = {node: list(rows[node]) for node in members[level]}
    for state, row in ground.neighbours.items():
        assert bool(row) == (table[state]["parent"] > 0) or levels.top == 0  # a state that cannot be left has no parent
    _check_weights(levels, ground, table, members)
    _check_face(levels, ground, table, rows, members)


def _family(layers: Layers) -> dict[int, dict[str, int]]:
    """Return the fields of every node that was ever used."""
    table = {}
    for node in range(layers.used[0]):
        own = layers.node[node - layers.ground] if node >= layers.ground else np.zeros((), layers.node.dtype)
        fields = (*layers.family[node].item(), *own.item())
        table[node] = dict(zip(layers.family.dtype.names + layers.node.dtype.names, fields, strict=True))
    return table


def _rows(layers: Layers) -> dict[int, dict[int, int]]:
    """Return the arcs of each node: their targets, and how many arcs of the level below each one represents."""
    rows = {}
    for node in range(layers.ground, layers.used[0]):
        entry = layers.node[node - layers.ground]
        chunk, row = int(entry["row"]), {}
        for k in range(int(entry["degree"])):
            if k and k % CHUNK == 0:
                chunk = int(layers.link[chunk])
            near = int(layers.arc[chunk, k % CHUNK])
            assert near not in row  # each at most once
            row[near] = int(layers.arc[chunk, CHUNK + k % CHUNK])
        rows[node] = row
    return rows


def _children(layers: Layers, node: int) -> list[int]:
    """Return the children of a node by their links, after checking that the links lead back as well."""
    found, child, before = [], int(layers.node["child"][node - layers.ground]), 0
    while child:
        assert layers.family["previous"][child - 1] == before
        found.append(child - 1)
        before, child = child, int(layers.family["next"][child - 1])
    return found


def _check_nothing_leaks(layers: Layers, table, rows) -> None:
    """Check that every node and chunk that was ever used is either in use or waits to be used again."""
    nodes, chunks = layers.used
    live = {node for node in range(max(layers.ground, 1), nodes) if table[node]["weight"] > 0}
    waiting, node = [], int(layers.scalars[0]["free_node"])
    while node:
        waiting.append(node - 1)
        node = int(layers.family["next"][node - 1])
    assert sorted([*live, *waiting]) == list(range(max(layers.ground, 1), nodes))
    held = []
    for node in rows:
        chunk = int(layers.node["row"][node - layers.ground])
        for _ in range(math.ceil(len(rows[node]) / CHUNK)):
            held.append(chunk)
            chunk = int(layers.link[chunk])
    chunk = int(layers.scalars[0]["free_chunk"])
    while chunk:
        held.append(chunk)
        chunk = int(layers.link[chunk])
    assert sorted(held) == list(range(1, chunks))


def _check_family(layers: Layers, table, below: set[int], above: set[int], at_top: bool) -> None:
    """Check properties 2, 3 and 4: one parent each, and from one child up to the limit."""
    found = []
    for node in above:
        children = _children(layers, node)
        assert 1 <= len(children) <= MOST_CHILDREN
        assert all(table[child]["parent"] == node for child in children)
        assert (table[node]["parent"] == 0) if at_top else (table[node]["parent"] > 0)
        found += children
    assert sorted(found) == sorted(below)


def _check_kin_hang_together(layers: Layers, arcs: Neighbours, table, above: set[int]) -> None:
    """Check property 7: each child can be reached from each other one without leaving the family."""
    for node in above:
        kin = set(_children(layers, node))
        reached = {min(kin)}
        waiting = [min(kin)]
        while waiting:
            fresh = (set(arcs[waiting.pop()]) & kin) - reached
            reached |= fresh
            waiting += fresh
        assert reached == kin


def _check_arcs(arcs: Neighbours, rows, table, below: set[int], above: set[int]) -> None:
    """Check properties 5 and 6, and 1 for arcs: the arcs of a level are those of the level below, counted."""
    wanted = Counter(
        (table[state]["parent"], table[near]["parent"])
        for state in below
        for near in arcs[state]
        if table[state]["parent"] != table[near]["parent"]
    )
    assert {(node, near): number for node in above for near, number in rows[node].items()} == dict(wanted)
    assert all(wanted[pair] == wanted[pair[::-1]] for pair in wanted)


def _check_weights(levels: Hierarchy, ground: Ground, table, members) -> None:
    """Check that each node counts the ground states below it, and that its point is their mean."""
    for state in members[0]:
        assert all(table[state][name] == 0 for name in ("child", "row", "degree", "weight", "level"))
    below = {state: [state] for state in members[0]}
    for level in range(1, levels.top + 1):
        gathered = {node: [] for node in members[level]}
        for node, states in below.items():
            gathered[table[node]["parent"]] += states
        below = gathered
        for node, states in below.items():
            assert table[node]["weight"] == len(states)
            total = [sum(axis) for axis in zip(*(ground.point[state] for state in states), strict=True)]
            assert levels.layers.total[node - levels.layers.ground].tolist() == pytest.approx(total)
        _check_centres(levels, level, ground, below)


def _check_centres(levels: Hierarchy, level: int, ground: Ground, below: dict[int, list[int]]) -> None:
    """Check that the ground state nearest to the mean of all represents a node."""
    for node, centre in zip(sorted(below), levels.representatives(level).tolist(), strict=True):
        mean = [sum(axis) / len(axis) for axis in zip(*(ground.point[state] for state in below[node]), strict=True)]
        apart = {state: naive.apart("euclidean", ground.point[state], mean) for state in below[node]}
        assert apart[centre] <= min(apart.values()) + 1e-9


def _check_face(levels: Hierarchy, ground: Ground, table, rows, members) -> None:
    """Check that the public methods return the same."""
    assert levels.sizes == [len(members[level]) for level in range(levels.top + 1)]
    number = {state: state for state in ground.neighbours}  # the number of each node within its level
    for level in range(1, levels.top + 1):
        assert levels.nodes(level).tolist() == sorted(members[level])
        number |= {node: k for k, node in enumerate(sorted(members[level]))}
    over = {state: state for state in members[0]}  # the node of the current level above each ground state
    for level in range(levels.top + 1):
        if level:
            over = {state: table[node]["parent"] for state, node in over.items()}
            _check_level(levels, level, ground.metric, number, rows, members[level])
        wanted = [number[over[state]] if state in over else -1 for state in sorted(ground.neighbours)]
        assert levels.regions(level).tolist() == wanted


def _check_level(levels: Hierarchy, level: int, metric: str, number: dict[int, int], rows, nodes: set[int]) -> None:
    """Check the families of one level, and property 1 for costs."""
    graph, place, counts = levels.level(level), levels.points(level).tolist(), levels.counts(level)
    for node in nodes:
        me = number[node]
        children = sorted(number[child] for child in _children(levels.layers, node))
        assert levels.children(level, me) == children
        assert all(levels.parent(level - 1, child) == me for child in children)
        assert [near for near, _ in graph.neighbours(me)] == [number[near] for near in rows[node]]
        for near, cost in graph.neighbours(me):
            assert cost == pytest.approx(max(naive.apart(metric, place[me], place[near]), LEAST_COST))
        assert {near: count for (here, near), count in counts.items() if here == me} == {
            number[near]: count for near, count in rows[node].items()
        }
