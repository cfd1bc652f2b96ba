"""Depth trees: decision trees that predict from an agent's last moves how deep it should look.

Bulitko et al. (2008), section 5.1. The tree is trained with scikit-learn and stored as flat arrays. A node compares one
of eleven features with a threshold and leads to one of its children; a leaf contains the answer. The features, which
`control.features` computes, do not depend on the position on the map, so one tree serves any map.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.header import pick
from andante.databases.kinds import kind
from andante.kernel import int64, kernel
from andante.search.memory import Space
from andante.world.graph import Graph

FEATURES = 11
LEAF = -1  # instead of a feature: the node has an answer
DEEPEST = 100  # the greatest depth of any agent
LONGEST_HISTORY = 100_000  # the most moves that features may cover


def _fault(tree: DepthTree, graph: Graph) -> str | None:
    nodes = len(tree.feature)
    columns = (tree.feature, tree.threshold, tree.low, tree.high, tree.depth)
    if nodes == 0 or any(column.shape != (nodes,) for column in columns):
        return "its columns do not match"
    if tree.deepest.shape != (1,) or not 1 <= tree.deepest[0] <= DEEPEST:
        return f"its greatest depth is not from 1 to {DEEPEST}"
    if tree.history.shape != (1,) or not 1 <= tree.history[0] <= LONGEST_HISTORY:
        return f"its history is not from 1 to {LONGEST_HISTORY:,} moves long"
    inner = tree.feature != LEAF
    if not ((tree.feature >= LEAF) & (tree.feature < FEATURES)).all():
        return f"it refers to features beyond the {FEATURES} that exist"
    for child in (tree.low, tree.high):
        if not ((child[inner] > np.flatnonzero(inner)) & (child[inner] < nodes)).all():
            return "its branches do not end in leaves"
    leaves = tree.depth[~inner]
    if not ((leaves >= 1) & (leaves <= tree.deepest[0])).all():
        return f"its leaves have depths beyond {tree.deepest[0]}"
    return None


@kind("depth-tree", "how deep to look, from an agent's last moves; for any map", _fault)
class DepthTree(NamedTuple):
    """The nodes, the root first, and the limits that they were trained with."""

    feature: npt.NDArray[np.int32]  # [nodes], the index of the feature to compare, or LEAF
    threshold: npt.NDArray[np.float64]  # [nodes]
    low: npt.NDArray[np.int32]  # [nodes], the child if the feature is at most the threshold
    high: npt.NDArray[np.int32]  # [nodes], the child if it is greater
    depth: npt.NDArray[np.int32]  # [nodes], a leaf's answer
    deepest: npt.NDArray[np.int64]  # [1], the greatest answer
    history: npt.NDArray[np.int64]  # [1], the number of moves that features cover

    @property
    def records(self) -> int:
        """The number of nodes."""
        return len(self.feature)

    @property
    def entries(self) -> int:
        """The number of nodes."""
        return len(self.feature)

    @classmethod
    def allocate(cls, space: Space) -> DepthTree:
        """Return the arrays of the agent's database."""
        arrays: DepthTree = pick(space.databases, "depth-tree", space.graph, who=space.who).arrays
        return arrays


@kernel
def answer(tree: DepthTree, features: npt.NDArray[np.float32]) -> int:
    """Return the tree's depth for these features, which are float32[FEATURES] as in training."""
    node = int64(0)
    while tree.feature[node] != LEAF:
        low = features[tree.feature[node]] <= tree.threshold[node]
        node = int64(tree.low[node]) if low else int64(tree.high[node])
    return int64(tree.depth[node])
