"""The arcs into a state, for learning that propagates backwards.

If every arc has its opposite at the same cost, as on grids, these are the arcs out of it, and nothing is stored.
"""

from __future__ import annotations

from typing import NamedTuple

from andante.kernel import generic
from andante.search.memory import Space
from andante.world.layout import Arrays, Csr


class Mirror(NamedTuple):
    """A placeholder for the graph itself, whose arcs are the same in both directions."""

    exact: bool


class Predecessors(NamedTuple):
    """The graph with every arc reversed."""

    arcs: Mirror | Csr

    @classmethod
    def allocate(cls, space: Space) -> Predecessors:
        """Return the reversed arcs of a graph, or a `Mirror` if reversing changes nothing."""
        turned = space.graph.reversed()
        if turned is space.graph:
            return cls(Mirror(True))
        assert isinstance(turned.arrays, Csr)
        return cls(turned.arrays)


@generic
def turned(arcs: Mirror | Csr, graph: Arrays) -> Arrays:
    """Return a graph whose moves out of a state are the reversed moves into it."""
    raise TypeError(arcs)


@turned.of(Mirror)
def _same(arcs: Mirror, graph: Arrays) -> Arrays:
    return graph


@turned.of(Csr)
def _other(arcs: Csr, graph: Arrays) -> Arrays:
    return arcs
