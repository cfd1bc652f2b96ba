"""kNN LRTA* against Figure 7 of its paper, written with dictionaries, and against its promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.errors import AlgorithmError
from andante.offline import build
from andante.search.hillclimb import climb
from andante.world.heuristics import TOLERANCE
from andante.world.layout import estimate
from tests import naive
from tests.worlds import drawn, examples, graph_problems, grid_problems, or_graphs

LIMIT = 600


class Twin:
    """The paper's algorithm, one move at a time."""

    def __init__(self, problem, database, depth=3, m=25, candidates=10, retry=10):
        self.problem, self.graph, self.records = problem, problem.graph, database.arrays
        self.depth, self.m, self.candidates, self.retry = depth, m, candidates, retry
        self.state, self.aim, self.left, self.series = problem.start, None, None, []
        self.taboo, self.values, self.expanded = set(), {}, 0

    def dist(self, a, b):
        return estimate(self.graph.arrays, int(a), int(b))

    def climbs(self, a, b):
        attempt = climb(self.graph.arrays, int(a), int(b), self.m)
        self.expanded += attempt.expanded
        return attempt.arrived

    def series_of(self, record):
        return self.records.subgoal[self.records.first[record] : self.records.first[record + 1]].tolist()

    def select(self):
        """Lines 3 to 11."""
        goal, self.left = self.problem.goal, None
        if self.climbs(self.state, goal):
            self.aim = goal
            return
        if not self.go_on():
            record = self.similar()
            if record is not None:
                self.series = self.series_of(record)
                self.taboo.add(self.series[0])
                if len(self.series) > 1 and self.climbs(self.state, self.series[1]):
                    self.series.pop(0)
            if record is None or not self.go_on():
                self.aim, self.left = goal, self.retry

    def go_on(self):
        """Go to the next subgoal of the record, skipping any at the agent's state."""
        while self.series:
            subgoal = self.series.pop(0)
            if subgoal != self.state:
                self.aim = subgoal
                if subgoal != self.problem.goal:
                    self.values[subgoal] = {}
                return True
        return False

    def similar(self):
        goal, records = self.problem.goal, self.records
        free = [r for r in range(len(records.start)) if self.series_of(r)[0] not in self.taboo]
        free.sort(key=lambda r: (self.dist(self.state, records.start[r]) + self.dist(goal, records.goal[r]), r))
        for r in free[: self.candidates]:
            if self.climbs(self.state, records.start[r]) and self.climbs(goal, records.goal[r]):
                return r
        return None

    def move(self):
        self.expanded = 0
        if self.aim is None or self.state == self.aim or self.left == 0:
            self.select()
        values = self.values.setdefault(self.aim, {})

        def h(state):
            return values.get(state, self.dist(state, self.aim))

        view = naive.lookahead(self.graph, h, self.state, self.aim, self.depth)
        if view.f > h(self.state) + TOLERANCE:
            values[self.state] = view.f
        if self.left:
            self.left -= 1
        self.state = self.graph.neighbours(self.state)[view.first][0]
        return self.state, self.expanded + view.expanded

    def walk(self):
        path, expanded = [self.state], 0
        while self.state != self.problem.goal and len(path) <= LIMIT:
            state, count = self.move()
            path.append(state)
            expanded += count
        return path, expanded


@given(
    or_graphs(grid_problems(side=14), graph_problems()),
    st.fixed_dictionaries(
        {
            "depth": st.sampled_from([1, 2, 3]),
            "m": st.sampled_from([1, 3, 25]),
            "candidates": st.sampled_from([0, 1, 4, 100, None]),
            "retry": st.sampled_from([None, 1, 3, 10]),
        }
    ),
    st.booleans(),
)
@examples(150)
def test_equals_the_papers_figure(problem, parameters, series):
    database = build("subgoals(records=20)", problem.graph, series=series, threads=1)
    limits = andante.Limits(moves=LIMIT)
    trial = andante.run("knn", problem, databases=[database], limits=limits, **parameters)
    path, expanded = Twin(problem, database, **parameters).walk()
    assert trial.path.tolist() == path
    assert trial.states_expanded == expanded


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["maze", "caves", "random"])
@pytest.mark.parametrize("series", [False, True])
def test_equals_the_papers_figure_on_larger_maps(kind, series):
    grid = andante.generate(kind, 41, 41, seed=6)
    database = build("subgoals(records=150)", grid, series=series)
    for problem in drawn(grid, 6, seed=3):
        trial = andante.run("knn", problem, databases=[database], limits=andante.Limits(moves=LIMIT))
        assert (trial.path.tolist(), trial.states_expanded) == Twin(problem, database).walk()


def test_without_records_it_is_lrta():
    grid = andante.generate("random", 30, 30, seed=2)
    empty = build("subgoals(records=0)", grid)
    for problem in drawn(grid, 10):
        ours = andante.run("knn(depth=2, candidates=0)", problem, databases=[empty])
        assert np.array_equal(ours.path, andante.run("lrta(depth=2)", problem).path)


@pytest.mark.compiled
def test_subgoals_make_paths_shorter_and_series_make_them_even_shorter():
    """On generated maps, LRTA*, few records and many records are in the order of the paper's Table 1."""
    grid = andante.generate("rooms", 64, 64, seed=3)
    problems = andante.random_problems(grid, 100, optimal_cost=(40, 100), seed=1)

    def ratio(name, **database):
        databases = [build("subgoals", grid, **database)] if database else []
        trials = andante.run_many(name, problems, databases=databases, paths=False)
        return np.mean([trial.suboptimality_ratio for trial in trials])

    few, many = ratio("knn", records=200), ratio("knn", records=4000)
    assert ratio("lrta(depth=3)") > few > many > 1.0
    assert ratio("knn", records=200, series=True) < few


@pytest.mark.compiled
def test_a_move_costs_no_more_than_its_checks_and_its_lookahead():
    grid = andante.generate("maze", 61, 61, seed=2)
    database = build("subgoals(records=500)", grid)
    trials = andante.run_many("knn(m=7, candidates=4, depth=2)", drawn(grid, 20), databases=[database], paths=False)
    assert max(trial.max_states_expanded for trial in trials) <= 7 + 4 * 2 * 7 + 9


@pytest.mark.compiled
def test_an_agent_forgets_the_last_problem():
    grid = andante.generate("rooms", 32, 32, seed=4)
    databases = [build("subgoals(records=300)", grid)]
    agent = andante.Agent("knn", grid, databases=databases)
    for problem in drawn(grid, 8, seed=1):
        fresh = andante.Agent("knn", grid, databases=databases)
        assert np.array_equal(agent.run(problem).path, fresh.run(problem).path)


def test_without_a_database_the_error_says_what_to_do():
    problem = drawn(andante.generate("empty", 8, 8), 1)[0]
    with pytest.raises(AlgorithmError, match="none was given; build one with 'andante build subgoals MAP'"):
        andante.run("knn", problem)


@pytest.fixture(scope="module")
def built():
    """Return a function that builds databases and caches them, as every setting is tried on the same maps."""
    made = {}

    def database(kind, grid):
        key = (kind, grid.graph.fingerprint)
        if key not in made:
            made[key] = build(kind, grid)
        return made[key]

    return database


@pytest.mark.compiled
@pytest.mark.parametrize(
    "setting", ["knn", "knn(depth=1)", "knn(retry=none, candidates=50)", "knn(retry=none, candidates=none)"]
)
@pytest.mark.parametrize("kind", ["subgoals(records=1000)", "subgoals(records=300, coverage=gaps, series=true)"])
def test_keeps_its_claims(setting, kind, built, contract_alone):
    checks = andante.check_algorithm(setting, databases_for=lambda grid: [built(kind, grid)])
    assert "is complete" in checks
    assert ("plans no more per move on a larger map" in checks) == andante.find(setting).real_time
