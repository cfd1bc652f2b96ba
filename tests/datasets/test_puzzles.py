"""Puzzles as graphs: compared with boards and stacks that are moved by hand."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from andante.datasets.named import graph_named, is_graph, ready_made
from andante.datasets.puzzles import pancakes, puzzle
from andante.errors import NotationError, ParameterError
from andante.world.layout import estimate


def slid(board, width):
    """Return the boards one move away, with the tile that moves, in the order up, right, down, left of the gap."""
    gap = board.index("_")
    x, y = gap % width, gap // width
    for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0)):
        if 0 <= x + dx < width and 0 <= y + dy < len(board) // width:
            other = gap + dy * width + dx
            signs = list(board)
            signs[gap], signs[other] = signs[other], signs[gap]
            yield "".join(signs), int(board[other])


def turned(stack):
    for count in range(2, len(stack) + 1):
        yield stack[:count][::-1] + stack[count:], 1


def reached(first, moves):
    found, queue = {first}, [first]
    for one in queue:
        for other, _ in moves(one):
            if other not in found:
                found.add(other)
                queue.append(other)
    return found


def manhattan(one, other, width):
    places = [(one.index(tile), other.index(tile)) for tile in one if tile != "_"]
    return sum(abs(a % width - b % width) + abs(a // width - b // width) for a, b in places)


def gaps(one, other):
    def neighbours(stack):
        return {frozenset(pair) for pair in zip(stack, stack[1:] + "p", strict=True)}

    return len(neighbours(one) - neighbours(other))


GRAPHS = [
    (puzzle(2, 2), lambda board: slid(board, 2), lambda a, b: manhattan(a, b, 2)),
    (puzzle(3, 2), lambda board: slid(board, 3), lambda a, b: manhattan(a, b, 3)),
    (puzzle(2, 3), lambda board: slid(board, 2), lambda a, b: manhattan(a, b, 2)),
    (pancakes(2), turned, gaps),
    (pancakes(5), turned, gaps),
]


@pytest.mark.parametrize(("graph", "moves", "heuristic"), GRAPHS, ids=lambda one: getattr(one, "name", ""))
def test_states_moves_and_heuristics_are_those_of_the_puzzle(graph, moves, heuristic):
    labels = list(graph.labels)
    assert set(labels) == reached(labels[0], moves)
    assert len(set(labels)) == len(labels)
    for state, label in enumerate(labels):
        assert [(labels[near], cost) for near, cost in graph.neighbours(state)] == [(one, 1) for one, _ in moves(label)]
    rng = np.random.default_rng(1)
    for a, b in rng.integers(len(labels), size=(200, 2)).tolist():
        assert estimate(graph.arrays, a, b) == heuristic(labels[a], labels[b])
    assert graph.reversed() is graph


def test_a_heavy_tile_costs_its_number():
    graph = puzzle(3, 2, weighted=True)
    plain = puzzle(3, 2)
    assert list(graph.labels) == list(plain.labels)
    for state, label in enumerate(graph.labels):
        assert [(graph.labels[near], cost) for near, cost in graph.neighbours(state)] == list(slid(label, 3))
    here, there = graph.labels[0], graph.labels[99]
    tiles = [tile for tile in here if tile != "_"]
    places = {tile: (here.index(tile), there.index(tile)) for tile in tiles}
    apart = {tile: abs(a % 3 - b % 3) + abs(a // 3 - b // 3) for tile, (a, b) in places.items()}
    assert estimate(graph.arrays, 0, 99) == sum(int(tile) * steps for tile, steps in apart.items())


def test_published_numbers_are_reproduced():
    eight = puzzle(3, 3)
    far = dijkstra(eight.to_scipy(), indices=0, unweighted=True)
    assert len(eight) == 181_440
    assert (far.max(), (far == 31).sum()) == (31, 2)  # Reinefeld 1993: two boards take 31 moves
    for count, most in {3: 3, 4: 4, 5: 5, 6: 7, 7: 8}.items():  # Gates and Papadimitriou 1979
        assert dijkstra(pancakes(count).to_scipy(), indices=0).max() == most


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("puzzle(width=4, height=4)", "at least 2 x 2 cells and at most 9, not 4 x 4"),
        ("puzzle(width=1, height=9)", "at least 2 x 2 cells and at most 9, not 1 x 9"),
        ("pancakes(count=99)", "a stack has 2 to 8 pancakes, not 99"),
        ("puzzle(width=3)", "has no height"),
        ("puzzle(width=3, height=2, heavy=true)", "puzzle has no option 'heavy'"),
        ("pancakes(count=2.5)", "count of pancakes must be a whole number"),
        ("puzzle(width=3, height=2, weighted=1)", "weighted of puzzle must be true or false"),
    ],
)
def test_invalid_puzzles_are_refused(text, sentence):
    assert is_graph(text)
    with pytest.raises((ParameterError, NotationError), match=sentence):
        graph_named(text)


def test_texts_are_spelled_out():
    assert str(ready_made("puzzle( width = 3,height=2 )")) == "puzzle(width=3, height=2)"
    assert graph_named("puzzle(width=3, height=2, weighted=true)").name == "puzzle-3x2-weighted"
