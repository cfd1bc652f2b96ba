"""HCDPS against the same agent in plain Python, on every pair of small maps, and against its promises."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.databases.regions import region_of
from andante.errors import AlgorithmError
from andante.offline import build
from andante.world.graph import Graph
from andante.world.grid import Grid
from tests.offline import plain_regions as plain
from tests.worlds import RULES, drawn, examples, graph_problems, grid_problems, or_graphs

SHORTCUTS = ["off", "ends", "all"]


class Twin:
    """The agent with its whole series of subgoals in a list."""

    def __init__(self, problem, database, shortcuts="all", m=100):
        self.problem, self.graph, self.regions = problem, problem.graph, database.arrays
        self.shortcuts, self.m, self.expanded, self.worst = shortcuts, m, 0, 0

    def tries(self, state, goal):
        """Return the cost of a climb within the steps left for this move, or None if it fails."""
        climbed, steps = plain.attempt(self.graph, state, goal, self.m - self.spent)
        self.spent += steps
        return None if climbed is None else climbed.cost

    def series(self):
        """Return the subgoals from the start's seed to the goal, each with whether its chain leads to the last."""
        here, there = (region_of(self.regions, s) for s in (self.problem.start, self.problem.goal))
        found = [(int(self.regions.seed[here]), here == there)]
        for begin, arc in plain.walk(self.regions, here, there):
            found += [(subgoal, self.regions.to[arc] == there) for subgoal in plain.chain(self.regions, begin, arc)]
        return [*found, (self.problem.goal, True)]

    def choose(self, state, series, first):
        """Return the series without the subgoals that are skipped."""
        goal = self.problem.goal
        while series[0][0] == state:
            series = series[1:]
        if self.shortcuts == "off":
            return series
        if not first and series[0][1] and series[0][0] != goal and self.tries(state, goal) is not None:
            return series[-1:]
        while (first or self.shortcuts == "all") and series[0][0] != goal and self.spent < self.m:
            aim, later = series[0][0], series[1][0]
            if later == state:
                series = series[2:]
                continue
            cost, through = self.tries(state, later), plain.h(self.graph, state, aim) + plain.h(self.graph, aim, later)
            if cost is None or cost > through * (1 + 1e-12):
                break
            series = series[1:]
        return series

    def walk(self):
        state, goal = self.problem.start, self.problem.goal
        path, self.spent = [state], 0
        straight = self.tries(state, goal) is not None
        series = [(goal, True)] if straight else self.choose(state, self.series(), True)
        while state != goal:
            if len(path) > 1:
                self.spent = 0
            if state == series[0][0]:
                series = self.choose(state, series, False)
            state, _ = plain.towards(self.graph, state, series[0][0])
            path.append(state)
            self.expanded += self.spent + 1
            self.worst = max(self.worst, self.spent + 1)
        return path


@given(
    or_graphs(grid_problems(side=14, rules=RULES), graph_problems(states=14)),
    st.sampled_from(SHORTCUTS),
    st.sampled_from([0, 1, 2, 5, 100]),
    st.sampled_from([1, 3, 50]),
    st.sampled_from([1, 2]),
)
@examples(150)
def test_equals_its_plain_twin(problem, shortcuts, m, radius, borders):
    database = build("regions", problem.graph, m=radius, borders=borders, threads=1)
    trial = andante.run("hcdps", problem, databases=database, shortcuts=shortcuts, m=m)
    twin = Twin(problem, database, shortcuts, m)
    assert trial.path.tolist() == twin.walk()
    assert (trial.states_expanded, trial.max_states_expanded) == (twin.expanded, twin.worst)


@pytest.mark.compiled
@pytest.mark.parametrize("shortcuts", SHORTCUTS)
@pytest.mark.parametrize("kind", ["maze", "rooms", "caves", "random"])
def test_arrives_from_everywhere(kind, shortcuts):
    """Every pair of states of a small map is tried, and each path is replayed move by move."""
    grid = andante.generate(kind, 12, 12, seed=4, scale=2) if kind == "caves" else andante.generate(kind, 9, 9, seed=4)
    database = build("regions(m=3, borders=1)", grid)
    states = [state for state in range(len(grid.graph)) if grid.graph.neighbours(state)]
    problems = [grid.graph.problem(start, goal) for start, goal in itertools.permutations(states, 2)]
    together = [p for p in problems if grid.graph.components[p.start] == grid.graph.components[p.goal]]
    moves = {state: dict(grid.graph.neighbours(state)) for state in states}
    for trial in andante.run_many("hcdps", together, databases=database, shortcuts=shortcuts, m=20):
        path = trial.path.tolist()
        assert (path[0], path[-1]) == (trial.problem.start, trial.problem.goal)
        assert sum(moves[a][b] for a, b in itertools.pairwise(path)) == pytest.approx(trial.cost)
        assert trial.max_states_expanded <= 20 + 1


def test_without_shortcuts_it_visits_every_seed():
    """It stops if it meets the goal on its path."""
    grid = andante.generate("maze", 21, 21, seed=4)
    database = build("regions(m=5, borders=1)", grid)
    arrays = database.arrays
    for problem in drawn(grid, 20):
        here, there = region_of(arrays, problem.start), region_of(arrays, problem.goal)
        arcs = plain.walk(arrays, here, there)
        stops = [int(arrays.seed[here]), *(stop for arc in arcs for stop in plain.chain(arrays, *arc)), problem.goal]
        expected = [problem.start]
        for stop in stops:
            expected += plain.climbed(grid.graph, expected[-1], stop).path[1:]
        trial = andante.run("hcdps(shortcuts=off, m=0)", problem, databases=database)
        assert trial.path.tolist() == expected[: expected.index(problem.goal) + 1]


@pytest.mark.compiled
def test_shortcuts_and_longer_base_paths_make_walks_shorter():
    grid = andante.generate("caves", 96, 96, seed=3)
    problems = andante.random_problems(grid, 60, optimal_cost=(60, 200), seed=1)

    def ratio(borders, shortcuts):
        database = build("regions(m=12)", grid, borders=borders)
        trials = andante.run_many("hcdps", problems, databases=database, shortcuts=shortcuts, paths=False)
        return np.mean([trial.suboptimality_ratio for trial in trials])

    assert ratio(1, "off") > ratio(1, "ends") > ratio(1, "all") > ratio(3, "all") > 1.0


@pytest.mark.compiled
def test_a_move_stays_within_its_limit_of_steps():
    grid = andante.generate("caves", 61, 61, seed=2)
    database = build("regions", grid)
    for m in (0, 1, 7, 40):
        trials = andante.run_many("hcdps", drawn(grid, 40), databases=database, m=m, paths=False)
        assert max(trial.max_states_expanded for trial in trials) <= m + 1
        if m == 0:
            assert all(trial.states_expanded == trial.moves for trial in trials)


def walled():
    passable = np.ones((9, 9), bool)
    passable[:, 4] = False
    passable[7:, 7:] = False
    passable[8, 8] = True  # isolated
    return Grid(passable)


@pytest.mark.parametrize(
    ("start", "goal"),
    [((1, 1), (7, 2)), ((1, 1), (8, 8)), ((8, 8), (1, 1))],
    ids=["wall", "to one alone", "from there"],
)
def test_unreachable_goals_are_reported(start, goal):
    grid = walled()
    trial = andante.run("hcdps", grid.problem(start, goal), databases=build("regions", grid))
    assert trial.outcome is andante.Outcome.UNREACHABLE
    assert (trial.moves, trial.states_expanded) == (0, 0)


def test_a_graph_without_edges_has_no_paths():
    graph = Graph.from_edges([], states=3)
    trial = andante.run("hcdps", graph.problem(0, 2), databases=build("regions", graph))
    assert trial.outcome is andante.Outcome.UNREACHABLE


@pytest.mark.compiled
def test_an_agent_forgets_the_last_problem():
    grid = andante.generate("rooms", 32, 32, seed=4)
    databases = [build("regions(m=5)", grid)]
    agent = andante.Agent("hcdps", grid, databases=databases)
    for problem in drawn(grid, 8, seed=1):
        fresh = andante.Agent("hcdps", grid, databases=databases)
        assert np.array_equal(agent.run(problem).path, fresh.run(problem).path)


def test_without_a_database_the_error_says_what_to_do():
    problem = drawn(andante.generate("empty", 8, 8), 1)[0]
    with pytest.raises(
        AlgorithmError,
        match="^hcdps.* needs a database of kind 'regions', and none was given; build one with 'andante build regions MAP'",
    ):
        andante.run("hcdps", problem)


def test_it_needs_a_map_that_is_known():
    grid = andante.generate("empty", 8, 8)
    with pytest.raises(AlgorithmError, match="sight"):
        andante.run("hcdps", drawn(grid, 1)[0], databases=build("regions", grid), sight=3)
