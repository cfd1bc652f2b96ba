"""The arcs into a state, for learning that spreads against them.

Where every arc has its opposite at the same cost, as on grids, these are the arcs out of it, and nothing is kept.
"""

from __future__ import annotations

from typing import NamedTuple

from andante.kernel import generic
from andante.search.memory import Space
from andante.world.graph import Arrays, Csr


class Mirror(NamedTuple):
    """Stands for the graph itself: its arcs are the same both ways."""

    exact: bool


class Predecessors(NamedTuple):
    """The graph with every arc turned round."""

    arcs: Mirror | Csr

    @classmethod
    def allocate(cls, space: Space) -> Predecessors:
        """The arcs of a graph turned round, or the knowledge that this changes nothing."""
        turned = space.graph.reversed()
        if turned is space.graph:
            return cls(Mirror(True))
        assert isinstance(turned.arrays, Csr)
        return cls(turned.arrays)


@generic
def turned(arcs: Mirror | Csr, graph: Arrays) -> Arrays:
    """A graph whose moves out of a state are the moves into it, turned round."""
    raise TypeError(arcs)


@turned.of(Mirror)
def _same(arcs: Mirror, graph: Arrays) -> Arrays:
    return graph


@turned.of(Csr)
def _other(arcs: Csr, graph: Arrays) -> Arrays:
    return arcs
