"""LSS-LRTA* and RTAA* in plain Python, by the papers' definitions, with dictionaries and a scan for the best state."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import andante
from andante.search.memory import EXPANDED, LEARNED
from andante.world.graph import Graph
from andante.world.heuristics import TOLERANCE
from tests.naive import Heuristic

LIMITS = andante.Limits(moves=400)


@dataclass
class Region:
    """A local search space; dictionaries keep the order in which states were reached."""

    g: dict[int, float]
    parent: dict[int, int]
    open: set[int]
    h: Heuristic
    expanded: list[int] = field(default_factory=list)
    touched: int = 0

    @property
    def closed(self) -> list[int]:
        return [state for state in self.g if state not in self.open]

    def rank(self, state: int) -> tuple[float, float, int]:
        """Return the rank of a state: least f first, then the larger g, then the one reached first."""
        return self.g[state] + self.h(state), -self.g[state], list(self.g).index(state)

    def best(self) -> int:
        return min(self.open, key=self.rank)

    def path_to(self, state: int) -> list[int]:
        """Return the states after the agent's own, up to this one."""
        return [] if state not in self.parent else [*self.path_to(self.parent[state]), state]


def grow(graph: Graph, h: Heuristic, state: int, goal: int, lookahead: int) -> Region:
    """Run A* from ``state`` for some expansions, reopening a state whenever a cheaper path to it is found."""
    region = Region({state: 0.0}, {}, {state}, h)
    while region.open and len(region.expanded) < lookahead and region.best() != goal:
        here = region.best()
        region.open.remove(here)
        region.expanded.append(here)
        region.touched += len(graph.neighbours(here))
        for near, cost in graph.neighbours(here):
            g = region.g[here] + cost
            if g < region.g.get(near, math.inf) and h(near) < math.inf:
                region.g[near], region.parent[near] = g, here
                region.open.add(near)
    return region


def lss_values(graph: Graph, region: Region, weight: float) -> dict[int, float]:
    """Return the cheapest cost of leaving the space from each closed state, by iterating until nothing changes."""
    new = dict.fromkeys(region.closed, math.inf)
    values = {**{state: region.h(state) for state in region.open}, **new}
    changed = True
    while changed:
        changed = False
        for state in new:
            least = min(
                (weight * cost + values.get(near, math.inf) for near, cost in graph.neighbours(state)), default=math.inf
            )
            if least < values[state]:
                values[state], changed = least, True
    return {state: values[state] for state in new}


def rtaa_values(graph: Graph, region: Region) -> dict[int, float]:
    """Return the rest of the best f for each closed state."""
    f = region.rank(region.best())[0]
    return {state: f - region.g[state] for state in region.closed}


@dataclass
class Turn:
    """One move, and its work."""

    state: int
    expanded: list[int] | None  # in the lookahead, in order; None if the move was planned before
    states_expanded: int
    states_touched: int
    learned: dict[int, float]


class Twin:
    """An agent that looks ahead like A*, learns by a rule, and may avoid depressions; values last over trials."""

    def __init__(
        self,
        graph: Graph,
        h0: Heuristic,
        rule: Callable[[Graph, Region], dict[int, float]],
        *,
        lookahead: int,
        walk: str = "frontier",
        avoidance: str = "off",
        searches: bool = True,  # whether learning generates predecessors
    ) -> None:
        self.graph, self.h0, self.rule, self.searches = graph, h0, rule, searches
        self.lookahead, self.walk, self.avoidance = lookahead, walk, avoidance
        self.values: dict[int, float] = {}
        self.arcs_into = Counter(near for state in range(len(graph)) for near, _ in graph.neighbours(state))

    def h(self, state: int) -> float:
        return self.values.get(state, self.h0(state))

    def trial(self, start: int, goal: int) -> Iterator[Turn]:
        state, before = start, dict(self.values)
        while state != goal:
            region = grow(self.graph, self.frozen(), state, goal, self.lookahead)
            if not region.open:
                return
            path = region.path_to(self.target(region, before))[: 1 if self.walk == "one_move" else None]
            learned = self.learn(self.rule(self.graph, region))
            expanded, touched = len(region.expanded), region.touched
            if self.searches:
                settled = [s for s in region.g if self.h(s) < math.inf]
                expanded, touched = expanded + len(settled), touched + sum(self.arcs_into[s] for s in settled)
            yield Turn(path[0], region.expanded, expanded, touched, learned)
            for later in path[1:]:
                yield Turn(later, None, 0, 0, {})
            state = path[-1]

    def frozen(self) -> Heuristic:
        """Return a copy of the current heuristic."""
        values = dict(self.values)
        return lambda state: values.get(state, self.h0(state))

    def learn(self, new: dict[int, float]) -> dict[int, float]:
        rising = {state: value for state, value in new.items() if value > self.h(state) + TOLERANCE}
        self.values.update(rising)
        return rising

    def target(self, region: Region, before: dict[int, float]) -> int:
        """Return the open state to go to; ``before`` contains the values at the beginning of the trial."""
        rise = {state: self.h(state) - before.get(state, self.h0(state)) for state in region.open}
        if self.avoidance == "mark":
            rise = {state: float(amount > TOLERANCE) for state, amount in rise.items()}
        least = min(rise.values()) if self.avoidance != "off" else math.inf
        return min((state for state in region.open if rise[state] <= least + TOLERANCE), key=region.rank)


# --- the agents that are compared with it -----------------------------------------------------------------------------


class Watched:
    """A registered agent that can be sent from start to goal repeatedly, and reports its moves."""

    def __init__(self, algorithm: str, problem: andante.Problem, **parameters: object) -> None:
        self.agent = andante.Agent(algorithm, problem.graph, log_rows=4096, **parameters)
        self.problem, self.trials = problem, 0

    def trial(self, limits: andante.Limits = LIMITS) -> tuple[list[Turn], andante.Trial]:
        """Walk from start to goal with all values learned before."""
        watch = self.agent.watch(self.problem, limits)
        watch._episode.rows["again"] = self.trials > 0
        self.trials += 1
        return [self.turn(turn) for turn in watch], watch.trial

    @staticmethod
    def turn(turn: andante.episode.watch.Turn) -> Turn:
        expanded = [thought.state for thought in turn.thoughts if thought.kind == EXPANDED]
        learned = {thought.state: thought.value for thought in turn.thoughts if thought.kind == LEARNED}
        return Turn(turn.state, expanded or None, turn.states_expanded, turn.states_touched, learned)
