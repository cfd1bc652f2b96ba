"""Aligned squares first, written from the rule's words alone: dictionaries, sets, every square of every level in turn."""

from __future__ import annotations

from itertools import combinations

from andante.world.grid import Grid
from tests import naive

Neighbours = dict[int, list[int]]


def aligned_levels(grid: Grid) -> list[list[set[int]]]:
    """For each level above a grid the ground states of each of its states."""
    free = [[bool(cell) for cell in row] for row in grid.passable]
    neighbours = {
        grid.state(x, y): [grid.state(*near) for near, _ in naive.legal_moves(free, x, y, grid.rule)]
        for y in range(grid.height)
        for x in range(grid.width)
        if free[y][x]
    }
    neighbours = {state: row for state, row in neighbours.items() if row}
    below = {state: {state} for state in neighbours}  # the ground states of each state of a level
    levels: list[list[set[int]]] = []
    while any(neighbours.values()):
        over = {cell: state for state, cells in below.items() for cell in cells}
        families = _cover(neighbours, _squares(grid, over, 2 ** len(levels)))
        parent = {child: node for node, family in enumerate(families) for child in family}
        neighbours = {node: _row(neighbours, parent, family) for node, family in enumerate(families)}
        below = {node: set().union(*(below[child] for child in family)) for node, family in enumerate(families)}
        levels.append(list(below.values()))
    return levels


def _squares(grid: Grid, over: dict[int, int], side: int) -> list[list[int]]:
    """The states at the corners of each aligned square, row by row, where all four are different."""
    found = []
    for y in range(0, grid.height - side, 2 * side):
        for x in range(0, grid.width - side, 2 * side):
            corners = [grid.state(x + dx, y + dy) for dy in (0, side) for dx in (0, side)]
            states = {over[cell] for cell in corners if cell in over}
            if len(states) == 4:
                found.append(sorted(states))
    return found


def _cover(neighbours: Neighbours, squares: list[list[int]]) -> list[list[int]]:
    """The families of one level, in the order in which they are made."""
    families: list[list[int]] = []
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
        elif len(neighbours[state]) == 1 and len(covered[neighbours[state][0]]) < 8:
            family = covered[neighbours[state][0]]
            family.append(state)
            covered[state] = family
        else:
            make([state])
    return families


def _is_clique(neighbours: Neighbours, states) -> bool:
    return all(b in neighbours[a] for a, b in combinations(states, 2))


def _row(neighbours: Neighbours, parent: dict[int, int], family: list[int]) -> list[int]:
    """The neighbours of a node, in the order in which its children, by number, meet them."""
    met = [parent[near] for child in sorted(family) for near in neighbours[child]]
    return list(dict.fromkeys(node for node in met if node != parent[family[0]]))
