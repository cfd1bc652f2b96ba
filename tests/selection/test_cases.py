"""Choosing by nearby problems, on synthetic results with a known pattern, compared with a search of all problems."""

from itertools import pairwise

import numpy as np
import pytest

import andante
from andante.errors import MapError
from andante.selection.cases import Cases, Nearby, by_size
from andante.selection.matrix import Instance, Matrix, MatrixError


def results(values, maps):
    instances = tuple(Instance(f"map {k % maps}", str(k % maps), k, 0) for k in range(values.shape[1]))
    return Matrix(values, tuple(f"a{k}" for k in range(len(values))), instances, np.ones(values.shape[1]))


def test_the_tree_finds_the_same_as_a_search_of_all_problems():
    rng = np.random.default_rng(1)
    points, values, new = rng.random((200, 4)), rng.random((5, 200)), rng.random((50, 4))
    near = np.abs(new[:, None] - points[None]).sum(axis=2).argsort(axis=1)[:, :7]
    assert np.array_equal(Nearby(points, values, 7).best(new), values[:, near].mean(axis=2).argmin(axis=0))


def test_fewer_old_problems_than_neighbours_are_enough():
    assert Nearby(np.zeros((2, 4)), np.array([[3.0, 3.0], [1.0, 4.0]])).best(np.ones((1, 4))).tolist() == [1]


def test_the_more_old_problems_there_are_the_better_the_choice():
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 100, (4000, 4)).astype(float)
    right = (cells[:, 0] > 50).astype(int)
    lines = by_size(results(1 + 9.0 * (np.arange(2)[:, None] != right), maps=2), cells)
    assert [line.old for line in lines] == [3, 10, 30, 100, 300, 1000]
    assert all(one.chosen.mean > two.chosen.mean for one, two in pairwise(lines[2:]))
    last = lines[-1]
    assert last.chosen.mean < 1.6 < 4 < last.prior.mean
    assert last.virtual_best.mean == 1
    assert last.gain.mean == pytest.approx(last.prior.mean - last.chosen.mean)


def test_for_random_results_there_is_nothing_to_gain():
    rng = np.random.default_rng(4)
    matrix = results(rng.exponential(size=(6, 3000)) + 1, maps=3)
    for line in by_size(matrix, rng.random((3000, 4))):
        assert abs(line.gain.mean) < 4 * line.gain.standard_error


def test_results_are_looked_up_by_the_map():
    grid, other = (andante.generate("rooms", 24, 24, seed=seed) for seed in (1, 2))
    problems = andante.random_problems(grid, 4, seed=1)
    old = tuple(Instance(grid.name, grid.fingerprint, p.start, p.goal) for p in problems)
    matrix = Matrix(1.0 + np.eye(4), ("a", "b", "c", "d"), old, np.ones(4))
    cases = Cases(grid, Matrix(1 - np.eye(4), matrix.algorithms, old, np.ones(4)), neighbours=1)
    assert [cases.choose(grid.cell(p.start), grid.cell(p.goal)) for p in problems] == ["a", "b", "c", "d"]
    with pytest.raises(MatrixError, match="no results on"):
        Cases(other, matrix)
    with pytest.raises(MatrixError, match="a matrix by maps"):
        Cases(grid, matrix.by_map())
    with pytest.raises(MapError, match="lies outside"):
        cases.choose((0, 0), (24, 0))


def test_one_map_has_no_prior():
    with pytest.raises(MatrixError, match="only results of one map"):
        by_size(results(np.ones((2, 50)), maps=1), np.ones((50, 4)))
