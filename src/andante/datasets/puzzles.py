"""Puzzles as complete graphs: sliding tiles and pancakes, each with its own heuristic.

Both heuristics are distances between points, so they hold between any two states, not only to one goal. For sliding
tiles the point of a state contains the places of its tiles, and the sum of the tiles' Manhattan distances is the
Manhattan distance of two such points. For pancakes a state has a coordinate for each possible pair of neighbours, 1/2
if one is on the other and 0 if not. The distance of two states is the number of neighbours in one that are not in the
other, which is the gap heuristic (Helmert 2010).
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError
from andante.world.graph import Graph

MOST_TILES = 9  # including the gap, which gives 181,440 states
MOST_PANCAKES = 8  # 40,320 states

Table = npt.NDArray[np.int64]


def puzzle(width: int, height: int, *, weighted: bool = False) -> Graph:
    """Return the sliding-tile puzzle on a board of this size: 3 x 3 is the 8-puzzle.

    A state is a board that can be reached from the solved one, which is the first state: tiles 1, 2, ... in order,
    and the gap last. Moves are in the order in which the gap goes up, right, down, left. They cost 1 or, if
    ``weighted``, as much as the number on the tile.

    >>> eight = puzzle(3, 3)
    >>> len(eight), eight.labels[0], [eight.labels[near] for near, _ in eight.neighbours(0)]
    (181440, '12345678_', ['12345_786', '1234567_8'])
    """
    cells = width * height
    if min(width, height) < 2 or cells > MOST_TILES:
        raise ParameterError(f"a board has at least 2 x 2 cells and at most {MOST_TILES}, not {width} x {height}")
    boards = _boards(width, cells)
    codes = boards @ _weights(cells)  # ascending, as the boards are in lexicographic order
    gap = (boards == cells).argmax(1)
    found = []
    for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0)):
        x, y = gap % width + dx, gap // width + dy
        here = np.flatnonzero((x >= 0) & (x < width) & (y >= 0) & (y < height))
        other = (y * width + x)[here]
        tile = boards[here, other]
        moved = codes[here] + (tile - cells) * (_weights(cells)[gap[here]] - _weights(cells)[other])
        found.append(np.stack([here, np.searchsorted(codes, moved), tile if weighted else np.ones_like(tile)], 1))
    arcs = np.concatenate(found)
    arcs = arcs[np.argsort(arcs[:, 0], kind="stable")]
    points = _places(boards, width) * (np.repeat(np.arange(1, cells), 2) if weighted else 1)
    graph = Graph.from_edges(
        arcs,  # type: ignore[arg-type]
        states=len(boards),
        points=points,
        metric="manhattan",
        directed=True,
        labels=_labels(boards, cells),
    )
    return graph.named(f"puzzle-{width}x{height}{'-weighted' if weighted else ''}")


def _boards(width: int, cells: int) -> Table:
    """Return the boards that can be reached from the solved one, in lexicographic order; the gap has the last number.

    Each move swaps two numbers and moves the gap one step. So half of all boards cannot be reached: those with an odd
    number of swaps and an even number of steps, or the reverse.
    """
    every = np.array(list(permutations(range(1, cells + 1))), np.int64)
    inversions = sum((every[:, a] > every[:, b]).astype(np.int64) for a, b in combinations(range(cells), 2))
    gap = (every == cells).argmax(1)
    steps = gap % width - (cells - 1) % width + gap // width - (cells - 1) // width
    found: Table = every[(inversions + steps) % 2 == 0]
    return found


def _places(boards: Table, width: int) -> npt.NDArray[np.float64]:
    """Return the column and row of every tile except the gap, for each board."""
    where = np.argsort(boards, axis=1)[:, :-1]  # the cell of each tile
    return np.stack([where % width, where // width], 2).reshape(len(boards), -1).astype(np.float64)


def pancakes(count: int) -> Graph:
    """Return the graph of all stacks of ``count`` pancakes on a plate; a move flips the topmost 2, 3, ... pancakes.

    The first state is the sorted stack. Every move costs 1.

    >>> four = pancakes(4)
    >>> len(four), [four.labels[near] for near, _ in four.neighbours(0)]
    (24, ['2134', '3214', '4321'])
    """
    if not 2 <= count <= MOST_PANCAKES:
        raise ParameterError(f"a stack has 2 to {MOST_PANCAKES} pancakes, not {count}")
    stacks = np.array(list(permutations(range(1, count + 1))), np.int64)
    codes = stacks @ _weights(count)
    arcs = []
    for turned in range(2, count + 1):
        after = np.concatenate([stacks[:, turned - 1 :: -1], stacks[:, turned:]], 1)
        arcs.append(np.stack([np.arange(len(stacks)), np.searchsorted(codes, after @ _weights(count))], 1))
    ends = np.stack(arcs, 1).reshape(-1, 2)  # grouped by state
    edges = np.concatenate([ends, np.ones((len(ends), 1), np.int64)], 1)
    graph = Graph.from_edges(
        edges,  # type: ignore[arg-type]
        states=len(stacks),
        points=_neighbours(stacks, count),
        metric="manhattan",
        directed=True,
        labels=_labels(stacks),
    )
    return graph.named(f"pancakes-{count}")


def _neighbours(stacks: Table, count: int) -> npt.NDArray[np.float64]:
    """Return 1/2 for each pair that is adjacent in a stack; the plate counts as the largest pancake."""
    pairs = {pair: k for k, pair in enumerate(combinations(range(1, count + 2), 2))}
    number = np.zeros((count + 2, count + 2), np.int64)
    for (a, b), k in pairs.items():
        number[a, b] = number[b, a] = k
    whole = np.concatenate([stacks, np.full((len(stacks), 1), count + 1)], 1)
    points = np.zeros((len(stacks), len(pairs)))
    points[np.arange(len(stacks))[:, None], number[whole[:, :-1], whole[:, 1:]]] = 0.5
    return points


def _weights(length: int) -> Table:
    """Return the weight of each place, with which single digits become one number."""
    return 10 ** np.arange(length - 1, -1, -1, dtype=np.int64)


def _labels(rows: Table, gap: int = 0) -> list[str]:
    """Return rows of numbers below 10 as texts; the number of the gap is written ``_``."""
    signs = np.array([*"0123456789"])
    if gap:
        signs[gap] = "_"
    table = np.ascontiguousarray(signs[rows])
    found: list[str] = table.view(f"<U{rows.shape[1]}").ravel().tolist()
    return found
