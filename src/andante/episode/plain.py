"""Agents in plain Python, which are slow, for authors, who see errors with their line, and for counting expansions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from andante.abstraction.levels import catch_up
from andante.episode.loop import plain_driver
from andante.episode.run import Outfit
from andante.episode.single import Agent
from andante.kernel import interpreted
from andante.search.lookahead import look_back, pass_on
from andante.search.path import price_between
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.layout import (
    Layout,
    count_of_moves,
    degree,
    first_of,
    first_of_count,
    moves_of,
    price,
    rest_of,
    rest_of_count,
    target,
)


class Generated:
    """The number of times that each move of a graph was requested."""

    def __init__(self) -> None:
        self._asked: dict[tuple[int, int], list[int]] = {}

    @property
    def states(self) -> int:
        """The number of states whose moves were all requested; a state counts n times if each was requested n times.

        A state with a single move counts once: there, looking up that move and expanding the state are the same.
        """
        return sum(min(times) if len(times) > 1 else 1 for times in self._asked.values())

    def clear(self) -> None:
        """Reset all counts."""
        self._asked.clear()

    def target(self, graph: Layout, state: int, k: int) -> int:
        """Return the result of `andante.world.layout.target`, and count the request."""
        key = (id(graph[0]), int(state))  # a graph and its reverse are counted separately
        if key not in self._asked:
            self._asked[key] = [0] * degree(graph, state)
        self._asked[key][k] += 1
        return target(graph, state, k)


class PlainAgent(Agent):
    """An agent in plain Python: errors in its kernels are raised with their line."""

    def _loop(self) -> Callable[..., int]:
        return plain_driver(self.algorithm.step, self._instead())

    def _instead(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        """Return replacements for some functions that the step calls."""
        return {}


class CountedAgent(PlainAgent):
    """An agent in plain Python whose requests for moves are counted."""

    def __init__(self, outfit: Outfit[Any], world: Grid | Graph) -> None:
        self.generated = Generated()
        super().__init__(outfit.algorithm, world, databases=outfit.databases, sight=outfit.sight)

    def _instead(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        # These copies use the graph itself, so that their look-ups and those of prices are not counted.
        uncounted = {kernel: interpreted(kernel, {}) for kernel in (catch_up, look_back, pass_on, price_between)}
        asked: dict[Callable[..., Any], Callable[..., Any]] = {target: self.generated.target, price: price}
        # Moves that are iterated over are requested one by one, on grids too.
        asked |= {moves_of: count_of_moves, first_of: interpreted(first_of_count, asked), rest_of: rest_of_count}
        return {**asked, **uncounted}
