"""Every algorithm on random graphs and maps: every walk must be legal.

Each move follows an arc at its cost. No agent arrives for less than the cost of a cheapest path. A trial is solved or
gives the reason why not, and complete agents arrive wherever they must. The expected costs are computed here from the
arcs alone, with SciPy's Dijkstra. With ``NUMBA_BOUNDSCHECK=1``, as in `make torture`, an index out of bounds in any
kernel is a finding too.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import andante
from andante.agent import Algorithm, Parameter, algorithms, find
from andante.episode.plain import PlainAgent
from andante.episode.single import Agent
from andante.errors import AndanteError
from andante.kernel import JIT
from andante.measures import Outcome
from andante.offline import build
from andante.world.graph import Graph
from andante.world.grid import RULES, Grid
from andante.world.problem import Problem
from tests.torture.frame import Attempt, FoundError

UNIT = "walks"

PROBLEMS = 6  # on each world
SLACK = 1e-9  # the allowed relative error of sums of costs
MOST_MOVES = 20_000  # if the number needed is not known
PATIENT_MOVES = 2_000_000  # the most, if the number needed is known
MOST_EXPANSIONS = 50_000_000
MOST_POWER = 40  # of two, by which costs are multiplied to change their unit

#: Long walks, on worlds where learning agents go around in circles, so that most of the time is spent in kernels.
LONG_PROBLEMS = 8
LONG_MOVES = 300_000
LONG_EXPANSIONS = 5_000_000

#: Plain Python is slow: fewer moves on smaller worlds.
PLAIN_MOVES = 40

# --- worlds ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class World:
    """A graph or a map, with facts about it that are computed independently of Andante."""

    place: Grid | Graph
    arcs: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]  # from, to, cost
    states: int

    @property
    def graph(self) -> Graph:
        """The graph that agents walk on."""
        return self.place.graph if isinstance(self.place, Grid) else self.place

    @cached_property
    def prices(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The least and the greatest cost of arcs between each pair of states, which is given as one number."""
        source, sink, cost = self.arcs
        key = source * self.states + sink
        known, which = np.unique(key, return_inverse=True)
        least, most = np.full(len(known), np.inf), np.zeros(len(known))
        np.minimum.at(least, which, cost)
        np.maximum.at(most, which, cost)
        return known, least, most

    @cached_property
    def cheapest(self) -> csr_array:
        """The graph as a matrix of least costs."""
        known, least, _ = self.prices
        return csr_array((least, np.divmod(known, self.states)), shape=(self.states, self.states))

    @cached_property
    def _backwards(self) -> csr_array:
        return self.cheapest.T.tocsr()

    def costs_to(self, goal: int) -> npt.NDArray[np.float64]:
        """Return the cost of a cheapest path to the goal from every state."""
        found: npt.NDArray[np.float64] = dijkstra(self._backwards, indices=goal)
        return found

    def reached_from(self, start: int) -> npt.NDArray[np.bool_]:
        """Return which states can be reached."""
        reached: npt.NDArray[np.bool_] = np.isfinite(dijkstra(self.cheapest, indices=start))
        return reached

    @cached_property
    def two_way(self) -> bool:
        """Whether every move can be reversed."""
        known = self.prices[0]
        source, sink = np.divmod(known, self.states)
        return bool(np.isin(sink * self.states + source, known).all())


def of_graph(graph: Graph) -> World:
    """Return the world of a graph, from its rows."""
    rows = [(state, near, cost) for state in range(len(graph)) for near, cost in graph.neighbours(state)]
    table = np.array(rows, np.float64).reshape(-1, 3)
    return World(graph, (table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]), len(graph))


def of_grid(grid: Grid) -> World:
    """Return the world of a map, from its rule for moves and its characters alone."""
    free = np.zeros((grid.height + 2, grid.width + 2), bool)
    free[1:-1, 1:-1] = np.isin(grid.terrain, [ord("."), ord("G"), ord("S")])
    ys, xs = np.nonzero(free)
    parts = []
    for dx, dy in ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)):
        legal = free[ys + dy, xs + dx]
        if dx and dy:
            legal &= grid.rule != "cardinal"
            if grid.rule == "octile":
                legal &= free[ys, xs + dx] & free[ys + dy, xs]
        y, x = ys[legal] - 1, xs[legal] - 1
        here, there = y * grid.width + x, (y + dy) * grid.width + x + dx
        parts.append((here, there, np.full(len(here), math.sqrt(2) if dx and dy else 1.0)))
    source, sink, cost = (np.concatenate(column) for column in zip(*parts, strict=True))
    return World(grid, (source, sink, cost), grid.width * grid.height)


def random_grid(rng: random.Random, widest: int) -> World:
    """Return a map with any number of obstacles, often with islands, or sometimes a generated one."""
    width, height = rng.randint(2, widest), rng.randint(2, widest)
    rule = rng.choice(RULES)
    if rng.random() < 0.3:
        kind = rng.choice(["rooms", "maze", "random", "empty"])
        made = andante.generate(kind, max(width, 5) | 1, max(height, 5) | 1, seed=rng.randrange(1000))
        return of_grid(Grid(made.terrain, rule=rule))
    chance = np.random.default_rng(rng.getrandbits(32))
    free = chance.random((height, width)) >= rng.choice([0.0, 0.1, 0.25, 0.35, 0.45])
    free[0, 0] = True
    return of_grid(Grid(free, rule=rule))


def random_costs(rng: random.Random, chance: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Return costs in any unit: equal ones, eighths, or any over one, a few or many orders of magnitude."""
    what = rng.random()
    if what < 0.2:
        cost = np.ones(count)
    elif what < 0.45:
        cost = chance.integers(1, 80, count) / 8
    elif what < 0.65:
        cost = chance.uniform(1, 3, count)
    elif what < 0.85:
        cost = 10 ** chance.uniform(0, rng.choice([2, 3]), count)
    else:
        cost = 10 ** chance.uniform(0, rng.choice([6, 9, 12]), count)
    return cost * 2.0 ** rng.choice([0, 0, 0, rng.randint(-60, 60)])


def random_graph(rng: random.Random, largest: int, directed: bool) -> World:
    """Return a graph with any number of arcs, also parallel ones; half of the graphs have points for a heuristic."""
    chance = np.random.default_rng(rng.getrandbits(32))
    count = rng.randint(2, largest)
    ends = chance.integers(count, size=(rng.randint(1, rng.choice([1, 2, 3, 6]) * count), 2))
    if rng.random() < 0.7:  # a ring or a chain through all states, without which most goals cannot be reached
        order = chance.permutation(count)
        ring = np.stack([order, np.roll(order, 1)], 1)
        ends = np.concatenate([ring if rng.random() < 0.5 else ring[1:], ends])
    ends = ends[ends[:, 0] != ends[:, 1]]
    cost = random_costs(rng, chance, len(ends))
    points, metric = None, "euclidean"
    if rng.random() < 0.5 and len(ends):
        metric = rng.choice(["euclidean", "manhattan", "chebyshev", "octile"])
        points = chance.uniform(0, 1, (count, 2 if metric == "octile" else rng.randint(1, 4)))
        apart = _apart(points, metric, ends)
        if rng.random() < 0.3:  # costs that are about the distances, as on road maps
            cost = np.maximum(apart, 1e-3 * apart.max()) * chance.choice([1.0, 1.5], len(ends))
        points *= rng.choice([1.0, 0.999, 0.5]) * min(1e9, float((cost / np.maximum(apart, 1e-300)).min()))
    edges = np.column_stack([ends, cost])
    return of_graph(Graph.from_edges(edges, states=count, points=points, metric=metric, directed=directed))  # type: ignore[arg-type]


def _apart(points: npt.NDArray[np.float64], metric: str, ends: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the distance between the ends of each edge."""
    along = np.abs(points[ends[:, 0]] - points[ends[:, 1]])
    if metric == "euclidean":
        found = np.sqrt((along**2).sum(1))
    elif metric == "manhattan":
        found = along.sum(1)
    elif metric == "chebyshev":
        found = along.max(1)
    else:
        found = along.max(1) + (math.sqrt(2) - 1) * along.min(1)
    return np.asarray(found)


# --- agents ---------------------------------------------------------------------------------------------------------


def random_setting(rng: random.Random, entry: Algorithm) -> Algorithm:
    """Return the algorithm with its defaults, with a setting of its card, or with some random parameters."""
    what = rng.random()
    if what < 0.3:
        return entry
    if what < 0.45 and entry.card.examples:
        return find(rng.choice(entry.card.examples))
    chosen = {one.name: _drawn(rng, one) for one in entry.parameters if rng.random() < 0.5}
    return entry.with_parameters(**chosen)


def _drawn(rng: random.Random, parameter: Parameter) -> Any:
    if parameter.optional and rng.random() < 0.2:
        return None
    if parameter.kind is bool:
        return rng.random() < 0.5
    if parameter.range is None:
        return rng.choice(list(parameter.kind))
    low, high = max(parameter.range.low, 0.0), min(parameter.range.high, 1e6)
    if parameter.kind is int:
        return min(int(high), int(low) + int(rng.expovariate(1 / rng.choice([1, 5, 50]))))
    if high <= 1:
        return rng.choice([high, 0.5, 0.1, rng.uniform(0.05, 1)])
    return rng.choice(
        [
            low,
            low + 1,
            min(high, low + rng.expovariate(0.3)),
            min(high, low + 10 ** rng.uniform(0, 3)),
            parameter.range.high,
        ]
    )


def _names(*, needs: bool, graphs: bool = False) -> list[Algorithm]:
    """Return the algorithms that need databases, or those that do not."""
    return [entry for entry in algorithms() if bool(entry.needs) is needs and not (graphs and entry.card.ring)]


# --- walking --------------------------------------------------------------------------------------------------------


def _bound(world: World, to_goal: npt.NDArray[np.float64], entry: Algorithm) -> float:
    """Return an upper bound on the moves of a learning agent.

    Each round trip raises a value by the cost of the cheapest arc, or by a part of it if costs are weighted. No value
    rises above the cost to the goal, or a multiple of it if the heuristic is weighted.
    """
    weight = max([1.0, *(getattr(entry.params, name, 1.0) for name in ("w", "wc", "weight"))])
    part = min(1.0, getattr(entry.params, "gamma", 1.0))
    values = to_goal[np.isfinite(to_goal)]
    if not math.isfinite(weight) or not len(world.arcs[2]):
        return math.inf
    return float(world.states * (10 + weight / part * values.sum() / world.arcs[2].min()))


def walk(
    world: World,
    entry: Algorithm,
    pairs: Sequence[tuple[int, int]],
    sight: int | None,
    databases: Sequence[Any],
    most_moves: int = MOST_MOVES,
    most_expansions: int = MOST_EXPANSIONS,
) -> Mapping[str, int]:
    """Run some problems with one agent, check each trial, and return the figures."""
    figures: Counter[str] = Counter()
    checked = bool(numba.config.BOUNDSCHECK)
    plain = not checked and JIT
    try:
        agent = (PlainAgent if plain else Agent)(entry, world.place, databases=databases, sight=sight)
    except AndanteError as error:
        figures[f"refused ({type(error).__name__})"] += 1
        return figures
    for start, goal in pairs:
        problem = Problem(world.graph, start, goal, world.place if isinstance(world.place, Grid) else None)
        to_goal = world.costs_to(goal)
        needed = _bound(world, to_goal, entry)
        cap = PLAIN_MOVES if plain else int(needed) + 10 if needed <= PATIENT_MOVES else most_moves
        try:
            trial = agent.run(problem, andante.Limits(moves=cap, expansions=most_expansions))
        except AndanteError as error:
            if "needs a database" in str(error) or "built for other goals" in str(error):
                figures["refused"] += 1
                continue
            raise FoundError(f"{entry} from {start} to {goal}, sight {sight}: {error}", _described(world)) from error
        fault = fault_of(trial, world, to_goal, entry, cap, needed)
        if fault is not None:
            raise FoundError(f"{entry} from {start} to {goal}, sight {sight}: {fault}", _described(world))
        figures["moves"] += trial.moves
        figures[trial.outcome.name.lower()] += 1
    return figures


def fault_of(
    trial: andante.Trial, world: World, to_goal: npt.NDArray[np.float64], entry: Algorithm, cap: int, needed: float
) -> str | None:
    """Return what is wrong with a trial, if anything is."""
    start, goal, path = trial.problem.start, trial.problem.goal, np.asarray(trial.path, np.int64)
    if path[0] != start or len(path) != trial.moves + 1 or ((path == goal)[1:-1]).any():
        return f"a path of {len(path)} states from {path[0]} for {trial.moves} moves"
    keys = (path[:-1] * world.states + path[1:])[path[:-1] != path[1:]]  # waiting is free
    known, least, most = world.prices
    place = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
    if len(keys) and not (known[place] == keys).all():
        wrong = int(keys[known[place] != keys][0])
        return f"it went from {wrong // world.states} to {wrong % world.states}, which is not a move"
    low, high = (float(price[place].sum()) if len(keys) else 0.0 for price in (least, most))
    if not low * (1 - SLACK) <= trial.cost <= high * (1 + SLACK):
        return f"it says {trial.cost!r}, and its path costs from {low!r} to {high!r}"
    optimal = float(to_goal[start])
    if trial.solved != (path[-1] == goal):
        return f"it ends in {path[-1]} and says {trial.outcome.name}"
    if trial.solved and trial.cost < optimal * (1 - SLACK):
        return f"it arrives for {trial.cost!r}, and a shortest path costs {optimal!r}"
    if math.isfinite(optimal) and trial.moves and abs(trial.optimal_cost - optimal) > SLACK * optimal:
        return f"the optimal cost is {optimal!r}, and it says {trial.optimal_cost!r}"
    return _not_arrived(trial, world, to_goal, entry, cap, needed) if not trial.solved else None


def _not_arrived(
    trial: andante.Trial, world: World, to_goal: npt.NDArray[np.float64], entry: Algorithm, cap: int, needed: float
) -> str | None:
    """Return why it was wrong not to arrive, if it was."""
    start, optimal = trial.problem.start, float(to_goal[trial.problem.start])
    here = int(
        np.asarray(trial.path)[-1]
    )  # where it was when it reported this; on one-way graphs it may be in a dead end
    if trial.outcome is Outcome.UNREACHABLE and math.isfinite(to_goal[here]):
        return f"it says in {here} that the goal cannot be reached, and it can"
    if trial.outcome not in (Outcome.UNREACHABLE, Outcome.STUCK, Outcome.MOVE_CAP, Outcome.EXPANSION_CAP):
        return f"it ends with {trial.outcome.name}"
    if trial.outcome is Outcome.MOVE_CAP and trial.moves < cap:
        return f"it was given up after {trial.moves} moves of {cap}"
    claims = entry.complete and (world.two_way or not (entry.card.two_way or entry.card.regions or entry.needs))
    must = claims and math.isfinite(optimal) and bool(np.isfinite(to_goal[world.reached_from(start)]).all())
    if must and (
        trial.outcome in (Outcome.STUCK, Outcome.UNREACHABLE) or (trial.outcome is Outcome.MOVE_CAP and needed <= cap)
    ):
        return f"it claims to be complete, and ends with {trial.outcome.name} after {trial.moves} moves ({needed:.3g} are more than enough)"
    return None


def _described(world: World) -> str:
    if isinstance(world.place, Grid):
        return f"{world.place.rule} " + "/".join(row.tobytes().decode() for row in world.place.terrain)
    arrays: Any = world.graph.arrays
    return f"arcs {list(zip(*(column.tolist() for column in world.arcs), strict=True))} points {arrays.point.tolist()} metric {arrays.metric}"


def _pairs(rng: random.Random, world: World, problems: int = PROBLEMS) -> list[tuple[int, int]]:
    """Return starts and goals, which are free cells and mostly in the same component."""
    label = connected_components(world.cheapest, directed=False)[1]
    live = np.unique(np.concatenate(world.arcs[:2]))
    places = live if len(live) > 1 else np.arange(world.states)
    found = []
    for _ in range(problems):
        start, goal = (int(places[rng.randrange(len(places))]) for _ in range(2))
        if rng.random() < 0.8:
            near = places[label[places] == label[start]]
            goal = int(near[rng.randrange(len(near))])
        if start != goal:
            found.append((start, goal))
    return found


def _widest() -> tuple[int, int]:
    """Return the greatest width of a map and number of states of a graph; both are small in plain Python."""
    return (24, 60) if JIT and numba.config.BOUNDSCHECK else (9, 12)


def _some(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs, or fewer of them in plain Python."""
    return pairs if JIT and numba.config.BOUNDSCHECK else pairs[:2]


def _on_grids() -> Attempt:
    entries = _names(needs=False)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        entry = random_setting(rng, rng.choice(entries))
        world = random_grid(rng, 60 if rng.random() < 0.1 and _widest()[0] > 9 else _widest()[0])
        sight = rng.choice([None, None, 1, 2, 5]) if entry.card.senses and not entry.needs else None
        return walk(world, entry, _some(_pairs(rng, world)), sight, ())

    return attempt


def _on_graphs(directed: bool) -> Attempt:
    entries = _names(needs=False, graphs=True)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        entry = random_setting(rng, rng.choice(entries))
        try:
            world = random_graph(rng, _widest()[1], directed)
        except AndanteError as error:
            if "too far apart" in str(error) or "do not fit edges" in str(error) or "would overestimate" in str(error):
                return {"graphs refused": 1}
            raise
        return walk(world, entry, _some(_pairs(rng, world)), None, ())

    return attempt


def _in_units() -> Attempt:
    """Compare walks on graphs whose costs are in different units: only the costs may differ."""
    entries = _names(needs=False, graphs=True)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        entry = random_setting(rng, rng.choice(entries))
        try:
            world = random_graph(rng, _widest()[1], directed=rng.random() < 0.5)
        except AndanteError as error:
            if "too far apart" in str(error) or "do not fit edges" in str(error) or "would overestimate" in str(error):
                return {"graphs refused": 1}
            raise
        factor = 2.0 ** rng.randint(-MOST_POWER, MOST_POWER)
        amounts = [one.name for one in entry.parameters if one.in_cost and getattr(entry.params, one.name) is not None]
        other = replace(
            entry, params=entry.params._replace(**{name: getattr(entry.params, name) * factor for name in amounts})
        )
        figures: Counter[str] = Counter()
        for start, goal in _some(_pairs(rng, world)):
            results = [
                _summary_of_walk(one, graph, start, goal)
                for one, graph in ((entry, world.graph), (other, world.graph.scaled(factor)))
            ]
            if results[0][:-1] != results[1][:-1] or not math.isclose(
                results[0][-1] * factor, results[1][-1], rel_tol=SLACK
            ):
                what = f"{entry} from {start} to {goal} behaves differently with all costs multiplied by {factor:g}"
                raise FoundError(f"{what}: {results[0]!r:.300} and {results[1]!r:.300}", _described(world))
            figures["moves"] += 2 * len(results[0][1])
        return figures

    return attempt


def _summary_of_walk(entry: Algorithm, graph: Graph, start: int, goal: int) -> tuple[Any, ...]:
    """Return the results of a walk, with the cost last."""
    limits = andante.Limits(moves=MOST_MOVES if JIT else PLAIN_MOVES, expansions=MOST_EXPANSIONS)
    try:
        trial = andante.run(entry, graph.problem(start, goal), limits=limits)
    except AndanteError as error:
        return type(error), (), 0.0
    return trial.outcome, tuple(trial.path.tolist()), trial.states_expanded, trial.values_stored, trial.cost


def _long() -> Attempt:
    """Walk on large maps and graphs, most of them with detours or without a heuristic."""
    on_maps, on_graphs = _names(needs=False), _names(needs=False, graphs=True)
    checked = bool(JIT and numba.config.BOUNDSCHECK)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        of_maps = rng.random() < 0.5
        entry = random_setting(rng, rng.choice(on_maps if of_maps else on_graphs))
        try:
            world = _large_map(rng, checked) if of_maps else _large_graph(rng, checked)
        except AndanteError as error:
            if "too far apart" in str(error):
                return {"graphs refused": 1}
            raise
        sight = rng.choice([None, None, 1, 3]) if of_maps and entry.card.senses else None
        pairs = _some(_pairs(rng, world, LONG_PROBLEMS))
        return walk(world, entry, pairs, sight, (), LONG_MOVES, LONG_EXPANSIONS)

    return attempt


def _large_map(rng: random.Random, checked: bool) -> World:
    side = rng.randint(60, 140) if checked else 12
    kind, options = rng.choice(
        [("maze", {}), ("maze", {"loops": 0.1}), ("rooms", {"size": 7}), ("random", {"density": 0.38}), ("caves", {})]
    )
    made = andante.generate(kind, side, side, seed=rng.randrange(10_000), **options)
    return of_grid(Grid(made.terrain, rule=rng.choice(RULES)))


def _large_graph(rng: random.Random, checked: bool) -> World:
    """Return a large graph without a heuristic: a long strip with some shortcuts, or a few random arcs."""
    chance = np.random.default_rng(rng.getrandbits(32))
    count = rng.randint(100, 1500) if checked else 15
    wide = rng.randint(1, 20)
    states = np.arange(count)
    parts = [np.stack([states[:-1], states[1:]], 1), np.stack([states[:-wide], states[wide:]], 1)]
    if rng.random() < 0.5:
        parts.append(chance.integers(count, size=(rng.randint(1, count), 2)))
    ends = np.concatenate(parts)
    directed = rng.random() < 0.4
    if directed:  # with a path back
        ends = np.concatenate([ends, [[count - 1, 0]]])
    ends = ends[ends[:, 0] != ends[:, 1]]
    edges = np.column_stack([ends, random_costs(rng, chance, len(ends))])
    return of_graph(Graph.from_edges(edges, states=count, directed=directed))


#: Small databases for agents that need them.
_ORDERS = {
    "moves": ["moves"],
    "subgoals": ["subgoals(records=20)", "subgoals(records=60, series=true)"],
    "pattern": ["pattern(level=1, cap=8)", "pattern(level=2, cap=4, goal_depths=capped)"],
    "depth-tree": ["depth-tree(deepest=4, problems=4, leaf=5)"],
    "regions": ["regions(m=3)", "regions(m=8, borders=1)"],
}


def _with_databases() -> Attempt:
    entries = _names(needs=True)
    trees = [build(_ORDERS["depth-tree"][0], [andante.generate("rooms", 16, 16, seed=1)], threads=1)]

    def attempt(rng: random.Random) -> Mapping[str, int]:
        entry = random_setting(rng, rng.choice(entries))
        world = random_grid(rng, min(16, _widest()[0]))
        base = getattr(entry.params, "level", 0)
        try:
            databases = [
                trees[0] if kind == "depth-tree" else build(_order(rng, kind, base), world.place, threads=1)
                for kind in entry.needs
            ]
        except AndanteError as error:
            return {f"builds refused ({type(error).__name__})": 1}
        return walk(world, entry, _some(_pairs(rng, world)), None, databases)

    return attempt


def _order(rng: random.Random, kind: str, base: int) -> str:
    return f"pattern(base={base}, level={base + 1}, cap=8)" if kind == "pattern" and base else rng.choice(_ORDERS[kind])


PARTS: dict[str, Callable[[], Attempt]] = {
    "grids": _on_grids,
    "graphs": lambda: _on_graphs(directed=False),
    "one-way": lambda: _on_graphs(directed=True),
    "units": _in_units,
    "databases": _with_databases,
    "long": _long,
}
