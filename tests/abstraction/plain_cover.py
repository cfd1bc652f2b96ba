"""The cover rules, written from their description alone, with dictionaries and sets, one square after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

from andante.abstraction.clique import MOST_CHILDREN
from andante.world.grid import Grid
from tests import naive

Neighbours = dict[int, list[int]]
Families = list[list[int]]  # the children of each state of a level, in the order of the states


def plain_levels(grid: Grid, rule: str = "aligned") -> list[tuple[Families, Neighbours]]:
    """Return the families and arcs of each level above a grid; members have the numbers of the level below."""
    free = [[bool(cell) for cell in row] for row in grid.passable]
    neighbours = {
        grid.state(x, y): [grid.state(*near) for near, _ in naive.legal_moves(free, x, y, grid.rule)]
        for y in range(grid.height)
        for x in range(grid.width)
        if free[y][x]
    }
    neighbours = {state: row for state, row in neighbours.items() if row}
    over = {state: state for state in neighbours}  # the state of the current level above each ground state
    levels: list[tuple[Families, Neighbours]] = []
    while any(neighbours.values()):
        squares = _squares(grid, over, 2 ** len(levels)) if rule == "aligned" else []
        families = RULES[rule](neighbours, squares)
        parent = {child: node for node, family in enumerate(families) for child in family}
        neighbours = {node: _row(neighbours, parent, family) for node, family in enumerate(families)}
        over = {cell: parent[state] for cell, state in over.items()}
        levels.append((families, neighbours))
    return levels


def ground_sets(levels: list[tuple[Families, Neighbours]]) -> list[list[set[int]]]:
    """Return the ground states below each state of each level."""
    found: list[list[set[int]]] = []
    for families, _ in levels:
        below = found[-1] if found else None
        found.append([set().union(*(below[child] if below else {child} for child in family)) for family in families])
    return found


def _squares(grid: Grid, over: dict[int, int], side: int) -> list[list[int]]:
    """Return the four states at the corners of each aligned square, row by row, where all four are different."""
    found = []
    for y in range(0, grid.height - side, 2 * side):
        for x in range(0, grid.width - side, 2 * side):
            corners = [grid.state(x + dx, y + dy) for dy in (0, side) for dx in (0, side)]
            states = {over[cell] for cell in corners if cell in over}
            if len(states) == 4:
                found.append(sorted(states))
    return found


def _aligned(neighbours: Neighbours, squares: list[list[int]]) -> Families:
    """Make families of squares, of cliques of four or three at each state in turn, then of what is left, last first."""
    families: Families = []
    covered: dict[int, list[int]] = {}

    def make(family: list[int]) -> None:
        families.append(family)
        covered.update(dict.fromkeys(family, family))

    for square in squares:
        if _is_clique(neighbours, square) and not covered.keys() & set(square):
            make(square)
    for state in sorted(neighbours):
        left = [near for near in neighbours[state] if near not in covered][:16]
        for size in (3, 2):
            if state not in covered:
                cliques = (c for c in combinations(left, size) if _is_clique(neighbours, c))
                clique = next(cliques, None)
                if clique is not None:
                    make([state, *clique])
    for state in sorted(neighbours, reverse=True):
        if state in covered:
            continue
        left = [near for near in neighbours[state] if near not in covered]
        if left:
            make([state, left[0]])
        elif len(neighbours[state]) == 1 and len(covered[neighbours[state][0]]) < MOST_CHILDREN:
            family = covered[neighbours[state][0]]
            family.append(state)
            covered[state] = family
        else:
            make([state])
    return families


def _literal(neighbours: Neighbours, squares: list[list[int]]) -> Families:
    """Make families of cliques of four, of three, of two; what is left joins its only neighbour or stays alone."""
    return _with_leftovers(neighbours, lambda state: len(neighbours[state]) == 1)


def _eager(neighbours: Neighbours, squares: list[list[int]]) -> Families:
    """Make a family of a clique of four or else three at each state, then of two; the rest is as in ``literal``."""
    return _with_leftovers(neighbours, lambda state: len(neighbours[state]) == 1, ((3, 2), (1,)))


def _joining(neighbours: Neighbours, squares: list[list[int]]) -> Families:
    """Make families of cliques of four, three, two; what is left joins the smallest neighbouring family with space."""
    return _with_leftovers(neighbours, lambda state: True)


def _with_leftovers(
    neighbours: Neighbours,
    may_join: Callable[[int], bool],
    passes: tuple[tuple[int, ...], ...] = ((3,), (2,), (1,)),  # the neighbours to take with a state, best first
) -> Families:
    families: Families = []
    covered: dict[int, list[int]] = {}
    for sizes in passes:
        for state in sorted(neighbours):
            left = [near for near in neighbours[state] if near not in covered][:16]
            cliques = (c for size in sizes for c in combinations(left, size) if _is_clique(neighbours, c))
            clique = next(cliques, None)
            if state not in covered and clique is not None:
                families.append([state, *clique])
                covered.update(dict.fromkeys(families[-1], families[-1]))
    for state in sorted(neighbours):
        if state in covered:
            continue
        hosts = [covered[near] for near in neighbours[state] if near in covered and len(covered[near]) < MOST_CHILDREN]
        if hosts and may_join(state):
            host = min(hosts, key=len)
            host.append(state)
            covered[state] = host
        else:
            families.append([state])
            covered[state] = families[-1]
    return families


RULES = {"aligned": _aligned, "literal": _literal, "eager": _eager, "joining": _joining}


def _is_clique(neighbours: Neighbours, states: Iterable[int]) -> bool:
    return all(b in neighbours[a] for a, b in combinations(states, 2))


def _row(neighbours: Neighbours, parent: dict[int, int], family: list[int]) -> list[int]:
    """Return the neighbours of a node, in the order in which the arcs of its children, by number, lead to them."""
    met = [parent[near] for child in sorted(family) for near in neighbours[child]]
    return list(dict.fromkeys(node for node in met if node != parent[family[0]]))
