"""TBA* and late-acting A*: against the paper's Algorithm 1 in plain Python, and against their promises."""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.plain import PlainAgent
from andante.search import shorten, tracing
from andante.search.buckets import BUCKETS, PER_COST
from andante.search.memory import EXPANDED
from tests.worlds import DEEP, FULL, drawn, examples, graph_problems, grid_problems, heuristic, in_rows, or_graphs

LIMITS = andante.Limits(moves=5000)

# --- the twin -------------------------------------------------------------------------------------------------------


class Lists:
    """A*'s open and closed lists. In the lowest bucket, the open state that ``ties`` prefers is next.

    With ``walls``, states with all possible moves that were not the nearest to the goal wait for the others.
    """

    def __init__(self, graph, h, base, weight=1.0, ties="last", walls=False):
        self.neighbours, self.h, self.weight, self.ties = graph.neighbours, h, weight, ties
        self.walls, self.most_moves = walls, graph.open_degree
        self.nearest, self.waiting = math.inf, set()
        self.width = graph.typical_cost / PER_COST
        self.stays_closed = (weight - 1) * graph.cost_range[0] >= weight * self.width
        self.base = base / weight - self.width
        self.g, self.parent, self.open = {}, {}, []

    def put(self, state, parent, g):
        self.g[state], self.parent[state] = g, parent
        self.open = [*(s for s in self.open if s != state), state]
        self.waiting.discard(state)
        if self.walls and len(self.neighbours(state)) >= self.most_moves and self.h(state) > self.nearest:
            self.waiting.add(state)
        self.nearest = min(self.nearest, self.h(state))

    def key(self, state):
        return self.g[state] * (1 / self.weight) + self.h(state)

    def bucket(self, state):
        return max(0, math.floor((self.key(state) - self.base) / self.width))

    def next(self):
        eligible = [s for s in self.open if s not in self.waiting] or self.open
        least = min(self.bucket(s) for s in eligible)
        equal = [s for s in eligible if self.bucket(s) == least]
        by_g = sorted(equal, key=lambda s: (self.g[s] if self.ties == "smaller_g" else -self.g[s], s))
        return {"last": equal[-1], "first": equal[0]}.get(self.ties, by_g[0])

    def floor(self):
        bucket = self.bucket(self.next())
        return self.base + bucket * self.width if bucket > 0 else -math.inf

    def most_promising(self, goal):
        if goal in self.g and self.key(goal) < self.floor() + self.width:
            return goal
        return self.next()

    def a_star(self, goal, limit, slack=0.0):
        """Return whether it is over, the number of states taken, and those expanded."""
        taken, expanded = 0, []
        while True:
            bound = self.key(goal) if goal in self.g else math.inf
            if self.walls and goal in self.g:
                return True, taken, expanded
            if not self.open or self.floor() + slack >= bound:
                return True, taken, expanded
            if taken == limit:
                return False, taken, expanded
            state = self.next()
            self.open.remove(state)
            taken += 1
            if self.key(state) >= bound:
                continue
            expanded.append(state)
            for near, cost in self.neighbours(state):
                closed = near in self.g and near not in self.open
                if closed and self.walls and self.g[state] + cost < self.g[near]:
                    self.g[near], self.parent[near] = self.g[state] + cost, state
                if closed and (self.walls or self.stays_closed):
                    continue
                if near not in self.g or self.g[state] + cost < self.g[near]:
                    self.put(near, state, self.g[state] + cost)


class Twin:
    """Algorithm 1. ``path`` is the agent's path, ``work`` the work of each move: expanded, taken, traced."""

    def __init__(
        self,
        problem,
        budget,
        r=0.9,
        c=10.0,
        shortcut=False,
        switch_rule=False,
        weight=1.0,
        ties="last",
        charge_queueing=True,
        walls_first=False,
    ):
        self.problem, self.graph, self.budget, self.c = problem, problem.graph, budget, Fraction(str(c))
        self.shortcut, self.switch_rule, self.weight = shortcut, switch_rule, weight
        self.ties, self.charge_queueing, self.walls_first = ties, charge_queueing, walls_first
        self.h = heuristic(problem)
        self.n_e = max(1, min(math.floor(budget * Fraction(str(r))), budget - 1))
        self.n_t = math.floor((budget - self.n_e) * self.c)
        self.path, self.work, self.lines = [problem.start], [], set()

    def run(self):
        start, goal = self.problem.start, self.problem.goal
        lists = Lists(self.graph, self.h, self.h(start), self.weight, self.ties, self.walls_first)
        lists.put(start, None, 0.0)
        found = found_and_traced = final = False  # lines 1 and 2
        done_trace = True  # line 3
        loc, last = start, None  # line 4
        follow, follow_g, cut = [], 0.0, None
        while loc != goal and len(self.path) <= LIMITS.moves:  # line 5
            first = len(self.path) == 1
            n_e, n_t = min(self.n_e, self.n_t) if first else self.n_e, self.n_t
            taken, expanded, steps = 0, [], 0
            if not found:  # line 6
                found, taken, expanded = lists.a_star(goal, n_e)  # line 7
                assert not found or goal in lists.g
            if found:
                n_t = math.floor((self.budget - taken) * self.c)
            if not found_and_traced:  # line 9
                if done_trace:  # line 10
                    final = found
                    new = [goal if found else lists.most_promising(goal)]  # line 11
                    new_g = lists.g[new[0]]
                while new[0] not in (loc, start) and steps < n_t:  # line 13
                    new.insert(0, lists.parent[new[0]])
                    steps += 1
                done_trace = new[0] in (loc, start)
                if done_trace:  # line 14
                    on_path = loc in follow[:-1]
                    if final or not on_path or not self.switch_rule or new_g >= follow_g:
                        follow, follow_g = new, new_g  # line 15
                        if final:  # line 16
                            found_and_traced = True  # line 17
            last_before, last = last, loc  # line 30, without losing what line 27 needs
            if loc in follow[:-1]:  # line 21
                follow = follow[follow.index(loc) + 1 :]  # line 22
                loc = follow[0]
                self.lines.add(22)
            else:
                if self.shortcut and found_and_traced and cut is None:
                    left = self.budget - taken - math.ceil(steps / self.c)
                    cut, more_taken, more_expanded, more_steps = self.find_shortcut(lists, loc, left)
                    taken, expanded, steps = taken + more_taken, expanded + more_expanded, steps + more_steps
                if cut is not None:
                    loc = cut[loc]
                    self.lines.add("shortcut")
                elif loc != start:  # line 24
                    loc = lists.parent[loc]  # line 25
                    self.lines.add(25)
                else:
                    loc = last_before  # line 27
                    self.lines.add(27)
            self.path.append(loc)  # line 31
            self.work.append((expanded, taken, steps))
        return self

    def find_shortcut(self, lists, agent, limit):
        """Queue the solution with its distances to the goal, and search for the agent, as in the paper."""
        solution = [self.problem.goal]
        while solution[-1] != self.problem.start:
            solution.append(lists.parent[solution[-1]])
        limit -= math.ceil(len(solution) / self.c) if self.charge_queueing else 0
        if limit <= 0:
            return None, 0, [], 0
        h = heuristic(self.graph.problem(self.problem.goal, agent) if self.problem.grid is None else self.to(agent))
        back = Lists(self.graph, h, h(self.problem.goal), ties=self.ties)
        for after, state in zip([None, *solution], solution, strict=False):
            back.put(state, after, lists.g[self.problem.goal] - lists.g[state])
        over, taken, expanded = back.a_star(agent, limit, slack=back.width)
        return back.parent if over and agent in back.g else None, taken, expanded, len(solution)

    def to(self, agent):
        grid = self.problem.grid
        return grid.problem(grid.cell(self.problem.goal), grid.cell(agent))

    def per_move(self):
        degree = [sum(len(self.graph.neighbours(s)) for s in expanded) for expanded, _, _ in self.work]
        return [(len(expanded), d + steps) for (expanded, _, steps), d in zip(self.work, degree, strict=True)]


def per_move(algorithm, problem):
    """Return the agent's path, and the numbers of states expanded and touched, move by move."""
    watch = andante.watch(algorithm, problem, limits=LIMITS)
    took = [(turn.states_expanded, turn.states_touched) for turn in watch]
    return watch.trial.path.tolist(), took


@st.composite
def settings_of_tba(draw, plain=False):
    """Draw any setting; with ``plain`` only those with the default search, as any other has to be compiled."""
    ties = "last" if plain else draw(st.sampled_from(["last", "first", "larger_g", "smaller_g"]))
    return {
        "budget": draw(st.sampled_from([2, 3, 5, 10, 25, 100])),
        "r": draw(st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])),
        "c": draw(st.sampled_from([1.0, 2.5, 10.0])),
        "shortcut": draw(st.booleans()),
        "switch_rule": draw(st.booleans()),
        "weight": draw(st.sampled_from([1.0, 1.0, 1.5, 4.0])),
        "ties": ties,
        "charge_queueing": draw(st.booleans()),
        "walls_first": not plain and ties == "last" and draw(st.booleans()),  # other ties: another search each
    }


#: `make test` keeps to one search; full runs have all of them on maps, and `make test-deep` on graphs too.
settings_on_maps = settings_of_tba(plain=not FULL)
settings_on_graphs = settings_of_tba(plain=not DEEP)


@given(settings_on_maps, grid_problems(side=14))
@examples(150)
def test_equals_the_algorithm_of_the_paper(setting, problem):
    twin = Twin(problem, **setting).run()
    path, took = per_move(andante.find("tba", **setting), problem)
    assert path == twin.path
    assert took == twin.per_move()


@given(settings_on_graphs, graph_problems(states=14))
@examples(100)
def test_equals_the_algorithm_of_the_paper_on_graphs(setting, problem):
    twin = Twin(problem, **setting).run()
    assert per_move(andante.find("tba", **setting), problem) == (twin.path, twin.per_move())


def test_the_twin_covers_the_whole_algorithm():
    """Otherwise its agreement would mean nothing for lines that neither of them reached."""
    lines = set()
    for seed, budget, c in [(0, 10, 10.0), (1, 2, 1.0), (2, 3, 1.0), (3, 2, 1.0), (4, 5, 1.0), (5, 2, 1.0)]:
        problem = drawn(andante.generate("maze", 21, 21, seed=seed), 1, seed=seed)[0]
        twin = Twin(problem, budget, c=c).run()
        assert per_move(andante.find("tba", budget=budget, c=c), problem) == (twin.path, twin.per_move())
        lines |= twin.lines
    assert lines == {22, 25, 27}


def test_equals_the_algorithm_of_the_paper_where_keys_fall_by_more_than_the_ring_of_the_queue():
    """A weighted search from far away: the keys of states around its start end up beyond the ring."""
    far = 1.3 * BUCKETS / PER_COST
    grid = andante.generate("random", round(1.5 * far), 9, seed=1)
    problems = [problem for problem in drawn(grid, 200, seed=1) if heuristic(problem)(problem.start) > far]
    setting = {"budget": 10, "r": 0.1, "weight": 30.0}
    assert len(problems) > 3
    for problem in problems[:3]:
        twin = Twin(problem, **setting).run()
        assert per_move(andante.find("tba", **setting), problem) == (twin.path, twin.per_move())


# --- promises of TBA* ---------------------------------------------------------------------------------------------


windows = st.fixed_dictionaries(
    {"window": st.sampled_from([1, 2, 5, 40]), "window_weight": st.sampled_from([1.0, 1.0, 1.5, 5.0])}
)


@given(
    or_graphs(
        st.tuples(settings_on_maps, st.one_of(st.just({}), windows), grid_problems(side=16)),
        st.tuples(
            settings_on_graphs, st.one_of(st.just({}), windows) if DEEP else st.just({}), graph_problems(states=16)
        ),
    )
)
@examples(200)
def test_arrives_and_never_beats_the_optimal_cost(case):
    setting, shortening, problem = case
    trial = andante.run("tba", problem, limits=andante.Limits(moves=100_000), **setting | shortening)
    assert trial.solved
    assert trial.cost >= trial.optimal_cost - 1e-9


@given(
    or_graphs(
        st.tuples(settings_on_maps, grid_problems(side=20)),
        st.tuples(settings_on_graphs, graph_problems(states=16)),
    ),
    windows,
)
@examples(150)
def test_a_shortened_path_is_never_longer(case, shortening):
    """Until the solution is traced both agents do the same; after that one follows it, the other something better."""
    setting, problem = case
    setting |= {"shortcut": False}
    whole, shortened = (andante.run("tba", problem, **how) for how in (setting, setting | shortening))
    assert shortened.cost <= whole.cost + 1e-9


def test_shortening_straightens_a_path_along_walls():
    """Walls first goes around a bay in a wall; with time for shortening the agent crosses it."""
    free = np.ones((30, 60), bool)
    free[15:, 5:20] = free[15:, 40:55] = False  # the bay is between
    free[:8, :] = False
    problem = andante.Grid(free).problem((0, 29), (59, 29))
    setting = {"budget": 200, "r": 0.5, "weight": 30.0, "walls_first": True}
    along, across = (andante.run("tba", problem, **setting, window=window) for window in (None, 16))
    assert along.cost > 1.1 * along.optimal_cost
    assert across.cost < 1.02 * along.optimal_cost


def test_walls_first_leaves_a_dead_end_without_filling_it():
    """All of a pocket of 60 x 60 cells is nearer to the goal than the path around; its walls are 180 cells long."""
    free = np.ones((81, 81), bool)
    free[10:71, 70] = free[10, 10:71] = free[70, 10:71] = False
    problem = andante.Grid(free).problem((40, 40), (80, 40))
    greedy, along = (andante.run("tba", problem, weight=30.0, walls_first=walls) for walls in (False, True))
    assert greedy.states_expanded > 1500
    assert along.states_expanded < 400


@given(or_graphs(grid_problems(side=16), graph_problems(states=16)), st.sampled_from([1.0, 1.5, 3.0]), st.booleans())
@examples(100)
def test_with_an_unlimited_budget_it_follows_the_path_of_a_star(problem, weight, switch_rule):
    trial = andante.run("tba", problem, budget=10**9, weight=weight, switch_rule=switch_rule)
    plan = andante.run("wastar", problem, weight=weight)
    assert trial.path.tolist() == plan.path.tolist()
    assert trial.cost <= weight * trial.optimal_cost + 1e-9
    assert trial.states_expanded == trial.first_move_states_expanded == plan.states_expanded


def work(problem, budget, c=10.0, **parameters):
    """Return the work of each move, in the paper's units: states expanded, and steps of tracing at 1 / c each."""
    degree = andante.world.layout.degree
    for turn in andante.watch("tba", problem, budget=budget, c=c, **parameters):
        expanded = [thought.state for thought in turn.thoughts if thought.kind == EXPANDED]
        assert len(expanded) == turn.states_expanded
        steps = turn.states_touched - sum(degree(problem.graph.arrays, state) for state in expanded)
        yield len(expanded) + steps / c


@pytest.mark.compiled
@pytest.mark.parametrize("side", [128, 2048 if DEEP else 640])
@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"shortcut": True, "switch_rule": True},
        {"r": 0.5, "c": 1.0},
        {"r": 0.9, "walls_first": True, "window": 32},
    ],
)
def test_no_move_takes_more_than_the_budget_however_large_the_map(side, setting):
    passable = np.random.default_rng(1).random((side, side)) > 0.3
    passable[0, 0] = passable[-1, -1] = passable[0, :] = passable[:, -1] = True  # there is one path
    problem = andante.Grid(passable).problem((0, 0), (side - 1, side - 1))
    most = max(work(problem, 300, **setting))
    assert 250 < most <= 300


@given(settings_on_maps, st.one_of(st.just({}), windows), grid_problems(side=16))
@examples(100)
def test_no_move_takes_more_than_the_budget(setting, shortening, problem):
    setting |= {"charge_queueing": True} | shortening
    assert max(work(problem, **setting)) <= setting["budget"]


def test_without_a_charge_for_queueing_a_shortcut_is_not_real_time():
    assert andante.find("tba(shortcut=true)").real_time
    assert andante.find("tba(charge_queueing=false)").real_time
    assert not andante.find("tba(shortcut=true, charge_queueing=false)").real_time


def test_a_shortcut_with_windows_needs_no_memory():
    grid = andante.Grid(np.ones((64, 64), bool))
    plain, both = (andante.Agent("tba", grid, window=8, shortcut=shortcut).memory_bytes for shortcut in (False, True))
    assert plain == both
    assert andante.find("tba(shortcut=true, charge_queueing=false, window=8)").real_time


@pytest.mark.parametrize("left", [0, 1, 40, 200])
def test_numbers_of_paths_start_again_when_they_run_out(left):
    """The walk is the same, whenever this happens."""
    grid = andante.generate("caves", 48, 48, seed=5)
    free = np.flatnonzero(grid.graph.components == np.bincount(grid.graph.components).argmax()).tolist()
    problem = grid.problem(grid.cell(free[0]), grid.cell(free[-1]))
    for setting in ({"budget": 4}, {"budget": 6, "r": 0.5, "window": 4}):
        agent, fresh = (andante.Agent("tba", grid, **setting) for _ in range(2))
        agent._memory.paths.scalars[0]["used"] = tracing.LAST_NUMBER - len(grid.graph) - left
        agent._memory.searches.route.scalars[0]["now"] = shorten.LAST_NUMBER - left
        for _ in range(3):
            assert agent.run(problem).path.tolist() == fresh.run(problem).path.tolist()
        assert agent._memory.paths.scalars[0]["used"] < 50_000


@pytest.mark.compiled
@pytest.mark.parametrize(
    "setting",
    [
        "tba",
        "tba(budget=2)",
        "tba(r=0.5, c=1.5)",
        "tba(weight=3)",
        "tba(shortcut=true, switch_rule=true)",
        "tba(budget=2, walls_first=true)",
        "tba(budget=20, r=0.5, window=4)",
    ],
)
def test_keeps_its_contract(setting, contract_alone):
    assert "is complete" in andante.check_algorithm(setting)


def test_it_reports_that_no_path_exists():
    """One-way arcs lead from the goal to the rest, so the search has to find out."""
    edges = [(i, j, 1.0) for i in range(20) for j in range(20) if i != j]
    graph = andante.Graph.from_edges([*edges, (20, 0, 1.0)], directed=True)
    for algorithm in ("tba(budget=4)", "late-astar(budget=4)", "late-astar(budget=4, wait=true)"):
        trial = PlainAgent(algorithm, graph).run(graph.problem(0, 20))  # no other test compiles one-way arcs
        assert trial.outcome is andante.Outcome.UNREACHABLE
        assert trial.moves > 0


def test_is_stuck_where_a_move_cannot_be_reversed():
    """The agent enters a one-way street that ends before the goal."""
    street = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]
    around = [(0, 4, 1.0), (4, 5, 3.0), (5, 6, 3.0)]
    points = [[0.0], [1.0], [2.0], [3.0], [-1.0], [0.0], [3.0]]
    graph = andante.Graph.from_edges([*street, *around], directed=True, points=points, metric="euclidean")
    trial = PlainAgent("tba(budget=2)", graph).run(graph.problem(0, 6))  # no other test compiles one-way arcs
    assert trial.outcome is andante.Outcome.STUCK


def test_each_problem_begins_from_scratch():
    grid = andante.generate("rooms", 40, 40, seed=3)
    problems = andante.random_problems(grid, 20, seed=1)
    agent = andante.Agent("tba(budget=7, shortcut=true, switch_rule=true)", grid)
    for problem in problems:
        alone = andante.Agent(agent.algorithm, grid).run(problem)
        assert agent.run(problem).path.tolist() == alone.path.tolist()


def two_corridors():
    """Return Figure 2: two paths down and an opening between them, with a bump, or it would be on the best path."""
    free = np.zeros((44, 32), bool)
    free[1, 11:22] = True
    free[1:36, 11] = True  # the left corridor
    free[36:42, 1:12] = True  # the dead end that keeps A* busy
    free[1:43, 21] = free[42, 13:22] = True  # the right corridor, to the goal
    free[14, 11:16] = free[13, 15:18] = free[14, 17:22] = True  # the opening
    return andante.Grid(free).problem((11, 1), (13, 42))


def test_takes_the_shortcut_of_figure_2():
    problem = two_corridors()
    setting = {"budget": 100, "r": 0.04}
    plain = andante.run("tba", problem, **setting)
    short = andante.run("tba", problem, **setting, shortcut=True)
    assert (16, 13) not in plain.cells
    assert plain.cells.count((11, 1)) == 2, "without a shortcut the agent goes back to the start"
    assert (16, 13) in short.cells
    assert short.cells.count((11, 1)) == 1
    assert short.cost < plain.cost
    assert short.path.tolist() == Twin(problem, **setting, shortcut=True).run().path


def test_no_shortcut_is_found_if_queueing_takes_all_of_the_budget():
    """The solution has 63 states, which cost 7 of R; A* needs more than the remaining 43, and less than 50."""
    problem = two_corridors()
    setting = {"budget": 50, "r": 0.04, "shortcut": True}
    charged = andante.run("tba", problem, **setting)
    free = andante.run("tba", problem, **setting, charge_queueing=False)
    assert (16, 13) not in charged.cells
    assert (16, 13) in free.cells
    assert free.cost < charged.cost
    assert free.path.tolist() == Twin(problem, **setting, charge_queueing=False).run().path


@given(grid_problems(side=16), st.sampled_from([5, 10, 25, 60]))
@examples(100)
def test_a_shortcut_is_never_longer(problem, budget):
    plain, short = (andante.run("tba", problem, budget=budget, shortcut=shortcut) for shortcut in (False, True))
    assert short.cost <= plain.cost + 1 / PER_COST


def test_does_the_same_on_rows_of_arcs():
    grid = andante.generate("random", 40, 40, seed=8)
    for problem in drawn(grid, 10):
        for setting in ("tba(budget=12, shortcut=true)", "late-astar(budget=12)"):
            assert andante.run(setting, problem).path.tolist() == andante.run(setting, in_rows(problem)).path.tolist()


def test_it_walks_the_dead_end_as_shown_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs/algorithms/tba.md").read_text(encoding="utf-8")
    drawn_there = re.search(r"```text\n(.+?)\n```", page, flags=re.DOTALL)[1]
    cells = np.array([list(row) for row in drawn_there.split("\n")])
    start, goal = (tuple(np.argwhere(cells == letter)[0][::-1].tolist()) for letter in "sg")
    trial = andante.run("tba", andante.Grid(cells != "@").problem(start, goal), budget=10)
    walked = np.where((cells == "@") | (cells == "s") | (cells == "g"), cells, ".")
    for x, y in trial.cells[1:-1]:
        walked[y, x] = "o" if walked[y, x] == "." else walked[y, x]
    assert "\n".join("".join(row) for row in walked) == drawn_there
    assert f"`tba(budget=10)` makes {trial.moves}." in page


# --- late acting ----------------------------------------------------------------------------------------------------


def slices(problem, budget, r=0.9):
    """Return the number of moves that A* needs if each may take ``budget`` states from the queue."""
    h = heuristic(problem)
    lists = Lists(problem.graph, h, h(problem.start))
    lists.put(problem.start, None, 0.0)
    count = 1
    while not lists.a_star(problem.goal, max(1, math.floor(budget * Fraction(str(r)))))[0]:
        count += 1
    return count


@given(grid_problems(side=16), st.sampled_from([1, 5, 20]))
@examples(60)
def test_late_acting_goes_back_and_forth_until_the_path_is_known(problem, budget):
    trial = andante.run("late-astar", problem, budget=budget, c=1000.0)
    waited = slices(problem, budget) - 1 + (budget == 1)  # a budget of 1 leaves nothing for tracing in that move
    assert trial.solved
    paced = trial.path[: waited + 1].tolist()
    assert set(paced[::2]) == {problem.start}
    assert len(set(paced[1::2])) <= 1
    late = andante.run("late-astar", problem, budget=budget, c=1000.0, wait=True)
    assert late.cost == pytest.approx(late.optimal_cost)
    assert set(late.path[: waited + 1].tolist()) == {problem.start}
    assert late.path[waited + 1] != problem.start


def test_the_seed_chooses_the_neighbour_that_late_acting_goes_to():
    grid = andante.generate("empty", 9, 9)
    problem = grid.problem((4, 4), (8, 4))
    first = {seed: andante.run("late-astar", problem, budget=1, seed=seed).path[1] for seed in range(100)}
    assert len(set(first.values())) == 8
