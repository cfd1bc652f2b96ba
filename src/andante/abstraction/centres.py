"""The ground state that represents an abstract node: the one nearest to the node's point.

It is stored with the node. When the ground below a node changes, its point moves and the centre becomes unknown
(`layers.attach`, `layers.detach`). It is computed again on demand, at the cost of visiting the ground states below.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from andante.abstraction.clique import weigh
from andante.abstraction.layers import Layers, first_child, next_child, note_node
from andante.kernel import int64, kernel, uint64
from andante.world.layout import Layout


@kernel
def find_centre(layers: Layers, ground: Layout, node: int, spot: npt.NDArray[np.float64]) -> int:
    """Return the ground state below an abstract node that is nearest to its point; ties go to the lowest number.

    Distances are compared after multiplication by the node's weight: on a grid these are whole numbers, and ties are
    exact.
    """
    place = node - layers.ground
    weight = int64(layers.node[place]["weight"])
    best, least, state = -1, np.inf, node
    while True:
        while state >= layers.ground:
            state = first_child(layers, state)
        weigh(ground, state, spot)
        apart = 0.0
        for axis in range(len(spot)):
            apart += (weight * spot[axis] - layers.total[place, axis]) ** 2
        if apart < least or (apart == least and state < best):
            best, least = state, apart
        while state != node and next_child(layers, state) < 0:
            state = int64(layers.family[state]["parent"])
        if state == node:
            return best
        state = next_child(layers, state)


@kernel
def keep_centre(layers: Layers, ground: Layout, node: int, spot: npt.NDArray[np.float64]) -> int:
    """Return the centre of an abstract node; find and store it if it is unknown."""
    entry = layers.node[node - layers.ground]
    if entry["centre"] == 0:
        note_node(layers, node)
        entry["centre"] = find_centre(layers, ground, node, spot) + 1
    return int64(entry["centre"]) - 1


@kernel
def find_centres(layers: Layers, ground: Layout, nodes: npt.NDArray[np.int32], spot: npt.NDArray[np.float64]) -> None:
    """Find and store the centres of these nodes."""
    for node in nodes:
        keep_centre(layers, ground, int64(node), spot)


@kernel
def find_all_centres(
    layers: Layers, ground: Layout, least: npt.NDArray[np.float64], spot: npt.NDArray[np.float64]
) -> None:
    """Find and store the centres of all abstract nodes, going up from each ground state.

    Walking down from each node in turn takes several times as long, because a node's ground states are not together in
    memory. ``least`` is a buffer with an entry for each node.
    """
    for node in range(layers.ground, len(least)):
        least[node] = np.inf
    for state in range(layers.ground):
        weigh(ground, state, spot)
        node = uint64(layers.family[state]["parent"])
        while node != 0:
            place = node - uint64(layers.ground)
            weight, apart = int64(layers.node[place]["weight"]), 0.0
            for axis in range(len(spot)):
                apart += (weight * spot[axis] - layers.total[place, axis]) ** 2
            if apart < least[node]:
                least[node] = apart
                layers.node[place]["centre"] = state + 1
            node = uint64(layers.family[node]["parent"])
