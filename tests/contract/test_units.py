"""Nothing that an agent does depends on the unit of costs.

The contract tests this for every card on grids in rows of arcs. Here are graphs whose costs differ, databases, and all
powers of two. These multiply exactly, so that only an absolute number in the code can make a difference.
"""

from dataclasses import replace

import numpy as np
import pytest

import andante
from andante.agent import parameters_of
from andante.episode.plain import PlainAgent
from andante.errors import ParameterError
from andante.offline import build
from andante.world.graph import Graph
from tests.worlds import DEEP, is_plain_in_rows

PLAIN = andante.Limits(moves=40)  # of an agent in plain Python
POWERS = (-40, -24, -20, -1, 1, 40)
SETTINGS = [
    entry
    for card in andante.algorithms()
    for entry in (card, *map(andante.find, card.card.examples))
    if not card.card.ring
    and set(entry.needs) <= {"pattern", "depth-tree", "regions"}
    # Each combination of databases is another loop to compile from the same parts, so dlrta has only one, dprlrta none.
    and (DEEP or (card.card.name != "dprlrta" and (entry is card or card.card.name != "dlrta")))
]


def hilly(seed: int) -> Graph:
    """Return a grid with walls, whose cells' costs differ by a factor of up to eight, as a graph with points."""
    grid = andante.generate("rooms", 24, 24, seed=seed)
    rows = grid.graph.csr()
    steep = np.random.default_rng(seed).uniform(1, 8, len(rows))
    edges = [
        (a, b, cost * max(steep[a], steep[b])) for a in range(len(rows)) for b, cost in rows.neighbours(a) if a < b
    ]
    return Graph.from_edges(edges, states=len(rows), points=rows.arrays.point, metric="octile")


@pytest.fixture(scope="module")
def world():
    graph = hilly(3)
    biggest = np.flatnonzero(graph.components == np.bincount(graph.components).argmax())
    return graph, [(int(biggest[0]), int(biggest[-1])), (int(biggest[-40]), int(biggest[30]))]


@pytest.fixture(scope="module")
def tree():
    return build("depth-tree(deepest=6, problems=10, leaf=20)", andante.generate("rooms", 32, 32, seed=1))


def walks(entry, graph, tasks, tree):
    base = getattr(entry.params, "level", 0)
    made = {
        "depth-tree": lambda: tree,
        "pattern": lambda: build(f"pattern(level={base + 2}, base={base}, cap=8)", graph),
        "regions": lambda: build("regions", graph),
    }
    databases = [made[kind]() for kind in entry.needs]
    problems = [graph.problem(start, goal) for start, goal in tasks]
    if is_plain_in_rows(entry):
        trials = [PlainAgent(entry, graph, databases=databases).run(problem, PLAIN) for problem in problems]
    else:
        trials = andante.run_many(entry, problems, databases=databases, limits=andante.Limits(moves=20_000))
    return [(trial.outcome, trial.path.tolist(), trial.states_expanded) for trial in trials]


@pytest.mark.compiled
@pytest.mark.parametrize("entry", SETTINGS, ids=str)
def test_walks_the_same_path_in_any_unit(entry, world, tree):
    graph, tasks = world
    expected = walks(entry, graph, tasks, tree)
    amounts = [parameter.name for parameter in parameters_of(type(entry.params)) if parameter.in_cost]
    for power in POWERS:
        factor = 2.0**power
        params = entry.params._replace(**{name: getattr(entry.params, name) * factor for name in amounts})
        assert walks(replace(entry, params=params), graph.scaled(factor), tasks, tree) == expected, power


@pytest.mark.parametrize("cost", [1e-13, 1e13])
@pytest.mark.parametrize(
    "name",
    [
        "lrta(depth=2)",
        "lrts(depth=2)",
        # its lookahead is that of LRTA*, and this setting of it is compiled for nothing else
        pytest.param("dlrta(depth=2, depth_by=fixed, goal_by=global)", marks=pytest.mark.deep),
    ],
)
def test_lookaheads_over_large_and_small_costs(name, cost):
    ring = Graph.from_edges([(k, (k + 1) % 6, cost) for k in range(6)])
    trial = andante.run(name, ring.problem(0, 2), limits=andante.Limits(moves=100))
    assert trial.solved
    assert trial.cost == pytest.approx(2 * cost)


@pytest.mark.parametrize("power", [-40, -3, 40])
def test_values_that_are_about_to_overflow_are_bounded_in_any_unit(power):
    """With a weight of 10 they rise tenfold at every visit if the goal cannot be reached."""
    cost = np.random.default_rng(1).uniform(1, 100, (6, 6))
    edges = [(a, b, cost[a, b]) for a in range(6) for b in range(6) if a != b]
    graph = Graph.from_edges([*edges, (6, 0, 1.0)], directed=True)
    one, other = (
        andante.run("dalrta(w=10)", each.problem(0, 6), limits=andante.Limits(moves=6000)).path.tolist()
        for each in (graph, graph.scaled(2.0**power))
    )
    assert one == other


def test_a_small_weight_learns_by_small_steps():
    """With an absolute tolerance nothing would ever be learned, and the agent would go back and forth forever."""
    passable = np.ones((5, 5), bool)
    passable[1:4, 2] = passable[1, 2:4] = False
    problem = andante.Grid(passable).problem((1, 2), (4, 2))
    trial = andante.run("wlrta(gamma=1e-8)", problem, limits=andante.Limits(moves=1000))
    assert trial.learned > 0


@pytest.mark.parametrize("name", ["wlrta", "lrts", "gamma-trap", "prlrts"])
def test_weights_that_would_be_rounded_away_are_refused(name):
    """With 1e-17 a cost of 1 changes no sum, so weighted LRTA* stopped learning and went back and forth forever."""
    with pytest.raises(ParameterError, match=r"gamma must be a number in \[1e-09, 1\], got 1e-17"):
        andante.find(f"{name}(gamma=1e-17)")


def test_the_least_weight_still_learns_on_a_long_path():
    """The agent is in a pocket far from the goal, where every value is about the length of the map."""
    passable = np.zeros((3, 30_000), bool)
    passable[0] = passable[:, 0] = passable[2, :5] = True
    problem = andante.Grid(passable, rule="cardinal").problem((4, 2), (29_999, 0))
    short, long = (
        andante.run("wlrta(gamma=1e-9)", problem, limits=andante.Limits(moves=moves)).learned for moves in (1000, 2000)
    )
    assert 0 < short < long
