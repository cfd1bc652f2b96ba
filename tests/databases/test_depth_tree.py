"""Depth trees: answers are those of the tree, and trees that make no sense are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.databases.depth_tree import FEATURES, LEAF, DepthTree, answer
from andante.databases.header import Database, load
from andante.errors import DatabaseError
from tests.worlds import examples


def random_tree(chance, nodes):
    """Return a tree in which each leaf in turn is split."""
    feature, low, high = [LEAF], [0], [0]
    while len(feature) + 2 <= nodes:
        at = int(chance.choice([i for i, f in enumerate(feature) if f == LEAF]))
        feature[at], low[at], high[at] = int(chance.integers(FEATURES)), len(feature), len(feature) + 1
        feature += [LEAF, LEAF]
        low, high = [*low, 0, 0], [*high, 0, 0]
    threshold = chance.integers(-3, 4, len(feature)).astype(float)
    depth = chance.integers(1, 21, len(feature)).astype(np.int32)
    arrays = (np.array(column, np.int32) for column in (feature, low, high))
    feature, low, high = arrays
    return DepthTree(feature, threshold, low, high, depth, np.array([20]), np.array([60]))


def looked_up(tree, row, node=0):
    if tree.feature[node] == LEAF:
        return tree.depth[node]
    below = row[tree.feature[node]] <= tree.threshold[node]
    return looked_up(tree, row, (tree.low if below else tree.high)[node])


@given(st.integers(0, 2**32), st.integers(1, 60))
@examples(60)
def test_answers_are_those_of_the_leaves(seed, nodes):
    chance = np.random.default_rng(seed)
    tree = random_tree(chance, nodes)
    for row in chance.integers(-4, 5, (20, FEATURES)).astype(np.float32):
        assert answer(tree, row) == looked_up(tree, row)


def test_its_file_can_be_loaded_for_any_map(tmp_path):
    tree = random_tree(np.random.default_rng(1), 31)
    Database("depth-tree", None, {}, tree).save(tmp_path / "any.depth-tree")
    for grid in (andante.generate("empty", 5, 5), andante.generate("maze", 21, 21, seed=1)):
        loaded = load(tmp_path / "any.depth-tree", map=grid)
        assert loaded.serves(grid.graph)
        for mine, stored in zip(tree, loaded.arrays, strict=True):
            assert np.array_equal(mine, stored)


def test_trees_that_make_no_sense_are_refused(tmp_path):
    tree = random_tree(np.random.default_rng(2), 15)
    for broken, sentence in [
        (tree._replace(feature=np.where(tree.feature == LEAF, LEAF, FEATURES).astype(np.int32)), "beyond the 11"),
        (tree._replace(feature=tree.feature - np.int32(1)), "beyond the 11"),
        (tree._replace(low=np.zeros(15, np.int32)), "do not end in leaves"),
        (tree._replace(high=np.full(15, 15, np.int32)), "do not end in leaves"),
        (tree._replace(depth=tree.depth + np.int32(20)), "depths beyond 20"),
        (tree._replace(depth=np.zeros(15, np.int32)), "depths beyond 20"),
        (tree._replace(deepest=np.array([101])), "not from 1 to 100"),
        (tree._replace(history=np.array([0])), "history is not from 1 to 100,000 moves long"),
        (tree._replace(threshold=tree.threshold[1:]), "do not match"),
        (DepthTree(*(column[:0] for column in tree[:5]), tree.deepest, tree.history), "do not match"),
    ]:
        Database("depth-tree", None, {}, broken).save(tmp_path / "broken")
        with pytest.raises(DatabaseError, match=sentence):
            load(tmp_path / "broken", map=andante.generate("empty", 5, 5))
