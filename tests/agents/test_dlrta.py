"""D LRTA* against a twin in plain Python, and the meaning of its settings."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import andante
from andante.abstraction.hierarchy import hierarchy_of
from andante.databases.depth_tree import LEAF, DepthTree
from andante.databases.header import Database
from andante.databases.pattern import NO_STATE
from andante.episode.plain import PlainAgent
from andante.episode.run import LOG_ROWS
from andante.errors import AlgorithmError
from andante.offline import build
from andante.world.heuristics import TOLERANCE
from tests import naive
from tests.abstraction.worlds import coarse_level
from tests.databases.tables import repacked, unpacked
from tests.worlds import DEEP, drawn, examples, grid_problems


class Twin:
    """Bulitko et al. (2008), Figure 1 with sections 5 and 6 and Appendix D; the tables are used unchanged."""

    def __init__(self, problem, params, pattern):
        self.problem, self.graph, self.params, self.pattern = problem, problem.graph, params, pattern
        self.tables = unpacked(pattern) if pattern is not None else None
        self.own, self.others = {}, {}  # values learned for the goal; for each state the last learned for a subgoal
        self.visits, self.lost, self.held = Counter(), False, None

    def table(self, aim):
        h0 = naive.grid_heuristic(self.problem.grid, aim)
        if aim == self.problem.goal:
            return lambda state: self.own.get(state, h0(state))
        return lambda state: self.others[state][1] if self.others.get(state, (None,))[0] == aim else h0(state)

    def looked_up(self, table, state):
        region, column = self.tables.region[state], self.tables.column[self.problem.goal]
        return int(getattr(self.tables, table)[region, column])

    def aim(self, state):
        if self.params.goal_by.name != "PATTERN":
            return self.problem.goal
        via, subgoal = self.looked_up("via", state), self.looked_up("subgoal", state)
        if via not in (NO_STATE, state):
            return via
        return self.problem.goal if subgoal == NO_STATE else subgoal

    def first(self, state, aim, depth):
        return naive.lookahead(self.graph, self.table(aim), state, aim, depth).first

    def depth(self, state, aim, near, chosen=None):
        how, most = self.params.depth_by.name, self.params.depth
        if how == "FIXED":
            return most
        if how == "ORACLE":
            moves = [self.first(state, aim, depth) for depth in range(1, most + 1)]
            return next(d for d in range(1, most + 1) if len(set(moves[d - 1 :])) == 1)
        return self.looked_up("depth" if near else "goal_depth", state if chosen is None else chosen)

    def greatest(self):
        return int(self.pattern.cap[0]) if self.params.depth_by.name == "PATTERN" else self.params.depth

    def when_lost(self, state):
        known = self.params.depth_by.name == "PATTERN" and len(self.pattern.goal_depth)
        return min(self.looked_up("goal_depth", state), self.greatest()) if known else self.greatest()

    def plan(self, state):
        """Return the aim of a move, and the depth of its lookahead."""
        by_subgoals = self.params.goal_by.name == "PATTERN"
        if self.held and self.held[0] != state:
            return self.held[0], self.depth(state, self.held[0], by_subgoals, self.held[1])
        before, goal = self.visits[state], self.problem.goal
        self.visits[state] += 1
        self.lost = self.lost or (self.params.loops.name in ("FOR_GOOD", "HOLD") and before > 0)
        if by_subgoals and (before > 0 or self.lost):
            self.held = None
            if self.params.loops.name == "DEEPER":
                return goal, min(self.greatest(), self.depth(state, goal, True) + before * self.params.plies)
            return goal, self.when_lost(state)
        aim = self.aim(state)
        self.held = (aim, state) if by_subgoals and self.params.loops.name == "HOLD" else None
        return aim, self.depth(state, aim, by_subgoals)

    def walk(self, most_moves):
        path, expanded = [self.problem.start], []
        while path[-1] != self.problem.goal and len(path) <= most_moves:
            state = path[-1]
            aim, depth = self.plan(state)
            view = naive.lookahead(self.graph, self.table(aim), state, aim, depth)
            if view.f > self.table(aim)(state) + TOLERANCE:
                if aim == self.problem.goal:
                    self.own[state] = view.f
                else:
                    self.others[state] = (aim, view.f)
            path.append(self.graph.neighbours(state)[view.first][0])
            expanded.append(view.expanded)
        return path, expanded


SETTINGS = [
    "dlrta",
    "dlrta(depth_by=pattern)",
    "dlrta(depth_by=pattern, loops=once)",
    "dlrta(depth_by=pattern, loops=for_good)",
    "dlrta(depth_by=pattern, loops=deeper, plies=1)",
    "dlrta(loops=once)",
    "dlrta(depth=3, loops=for_good)",
    "dlrta(depth_by=oracle, depth=4, loops=once)",
    "dlrta(depth_by=pattern, goal_by=global)",
    "dlrta(depth_by=oracle, depth=4)",
    "dlrta(depth_by=oracle, depth=4, goal_by=global)",
]


LOOPS = [f"dlrta(depth_by=pattern, loops={loops})" for loops in ("hold", "once", "deeper", "for_good")]


def assert_walks_agree(setting, problem, database, most_moves=150):
    entry = andante.find(setting)
    # An oracle together with subgoals is compiled in `make test-deep` only.
    plain = not DEEP and "oracle" in setting and "global" not in setting
    agent = (PlainAgent if plain else andante.Agent)(entry, problem.world, databases=[database], log_rows=LOG_ROWS)
    turns = list(agent.watch(problem, andante.Limits(moves=most_moves)))
    path, expanded = Twin(problem, entry.params, database.arrays).walk(most_moves)
    assert [problem.start, *(turn.state for turn in turns)] == path[: most_moves + 1]
    assert [turn.states_expanded for turn in turns] == expanded[:most_moves]


@given(
    grid_problems(side=9),
    st.sampled_from(SETTINGS),
    st.integers(1, 2),
    st.sampled_from([1, 3, 5]),
    st.sampled_from(["entry", "centre", "nearer", "far"]),
    st.sampled_from([None, "capped", "uncapped"]),
)
@examples(120)
def test_it_walks_like_its_twin(problem, setting, level, cap, aim, depths):
    assume(hierarchy_of(problem.graph).top >= level)
    assume(depths or "global" not in setting)
    database = build("pattern", problem.world, level=level, cap=cap, aim=aim, goal_depths=depths)
    assert_walks_agree(setting, problem, database)


@given(grid_problems(side=9), st.sampled_from(SETTINGS), st.integers(1, 9))
@examples(60)
def test_it_walks_like_its_twin_between_tiles(problem, setting, side):
    assert_walks_agree(setting, problem, build("pattern", problem.world, side=side, goal_depths="capped"))


@pytest.mark.parametrize("setting", SETTINGS)
def test_it_walks_like_its_twin_through_a_maze(setting):
    """Subgoals of large regions and short lookaheads: here the agent walks in circles."""
    grid = andante.generate("maze", 21, 21, seed=2)
    database = build("pattern(level=3, cap=3, aim=entry, goal_depths=capped)", grid)
    for problem in drawn(grid, 4, seed=1):
        assert_walks_agree(setting, problem, database)


# --- the meaning of settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("LRTA* (PDB, PDB)", "dlrta(depth_by=pattern, loops=once)"),
        ("LRTA*(PDB,G)", "dlrta(depth_by=pattern, goal_by=global)"),
        ("LRTA* (F, PDB)", "dlrta(depth_by=fixed, loops=once)"),
        ("LRTA* (7, PDB)", "dlrta(depth_by=fixed, depth=7, loops=once)"),
        ("LRTA* (ORACLE, PDB)", "dlrta(depth_by=oracle, depth=10, loops=once)"),
        ("LRTA* (DT, PDB)", "dlrta(depth_by=tree, loops=once)"),
        ("LRTA* (F, G)", "lrta"),
        ("LRTA* (4, G)", "lrta(depth=4)"),
        ("LRTA* (ORACLE, G)", "oracle-lrta"),
        ("LRTA* (DT, G)", "dtlrta"),
    ],
)
def test_the_notation_of_the_paper_is_read(text, ours):
    assert andante.find(text) == andante.find(ours)


@pytest.mark.parametrize("text", ["LRTA* (G, PDB)", "LRTA* (PDB)", "LRTA* (PDB, 3)"])
def test_notation_that_is_not_the_papers_is_refused(text):
    with pytest.raises(andante.AndanteError):
        andante.find(text)


def always(depth, deepest=None):
    """Return a tree of a single leaf."""
    answer, zero = np.array([depth], np.int32), np.zeros(1, np.int32)
    arrays = DepthTree(
        zero + np.int32(LEAF), np.zeros(1), zero, zero, answer, np.array([deepest or depth]), np.array([60])
    )
    return Database("depth-tree", None, {}, arrays)


FEW = andante.Limits(moves=12)  # for an agent in plain Python: no other test compiles its setting


@pytest.mark.compiled
@pytest.mark.parametrize("depth", [1, 4])
def test_with_a_constant_depth_it_is_lrta(depth):
    """This holds for every source of the depth; with a decision tree there is one more expansion per move."""
    grid = andante.generate("caves", 40, 40, seed=3)
    problems = drawn(grid, 10)
    plain = andante.run_many("lrta", problems, depth=depth)
    fixed = [PlainAgent(f"dlrta(depth_by=fixed, depth={depth}, goal_by=global)", grid).run(p, FEW) for p in problems]
    guessed = andante.run_many("dtlrta", problems, databases=[always(depth)])
    for one, third in zip(plain, guessed, strict=True):
        assert np.array_equal(one.path, third.path)
        assert one.states_expanded == third.states_expanded - third.moves
    for one, other in zip(andante.run_many("lrta", problems, depth=depth, limits=FEW), fixed, strict=True):
        assert np.array_equal(one.path, other.path)
        assert one.states_expanded == other.states_expanded


@pytest.mark.compiled
def test_the_oracle_is_as_good_as_the_deepest_lookahead_and_cheaper():
    grid = andante.generate("rooms", 64, 64, seed=5)
    problems = drawn(grid, 40)
    foreseen = andante.run_many("oracle-lrta(depth=6)", problems, paths=False)
    deep = andante.run_many("lrta(depth=6)", problems, paths=False)
    assert sum(trial.cost for trial in foreseen) < 1.25 * sum(trial.cost for trial in deep)
    per_move = [sum(t.states_expanded for t in ts) / sum(t.moves for t in ts) for ts in (foreseen, deep)]
    assert per_move[0] < 0.75 * per_move[1]


@pytest.mark.compiled
def test_subgoals_make_paths_much_better():
    """With subgoals, paths in rooms become nearly optimal for an expansion or two per move."""
    grid = andante.generate("rooms", 64, 64, seed=6)
    problems = andante.random_problems(grid, 60, optimal_cost=(30, 120), seed=1)
    trials = andante.run_many("dlrta", problems, databases=[build("pattern(level=2, cap=20)", grid)], paths=False)
    alone = andante.run_many("lrta", problems, paths=False)
    assert np.mean([trial.suboptimality_ratio for trial in trials]) < 1.2
    assert np.mean([trial.suboptimality_ratio for trial in alone]) > 2
    assert sum(trial.states_expanded for trial in trials) < 5 * sum(trial.moves for trial in trials)


@pytest.mark.compiled
@given(grid_problems(side=20))
@examples(60)
def test_subgoals_nearer_to_the_goal_never_lead_in_circles(problem):
    """An agent that follows them never has to abandon them: each aim is chosen in a region nearer than the last one."""
    level = min(2, hierarchy_of(problem.graph).top)
    database = build(f"pattern(level={level}, aim=nearer)", problem.world)
    agent = andante.Agent("dlrta(loops=hold)", problem.world, databases=[database])
    assert agent.run(problem).solved
    assert agent._memory.visits.scalars[0]["lost"] == 0


@pytest.mark.compiled
def test_no_move_expands_more_than_the_cap_allows():
    grid = andante.generate("maze", 61, 61, seed=2)
    for text in ("pattern(level=4, cap=4)", "pattern(level=4, cap=4, aim=entry, goal_depths=uncapped)"):
        database = build(text, grid)
        for setting in LOOPS:
            trials = andante.run_many(setting, drawn(grid, 20), databases=[database], paths=False)
            assert max(trial.max_states_expanded for trial in trials) <= (2 * 4 - 1) ** 2


@pytest.mark.compiled
@given(
    grid_problems(side=20),
    st.sampled_from(["hold", "once", "deeper", "for_good"]),
    st.sampled_from(["entry", "centre", "nearer", "far"]),
    st.integers(1, 12),
)
@examples(80)
def test_with_a_depth_of_one_every_move_expands_one_state(problem, loops, aim, side):
    """This is the default's promise for any database, even where the agent walks in circles."""
    database = build(f"pattern(side={side}, aim={aim})", problem.world)
    trial = andante.run(f"dlrta(loops={loops})", problem, databases=[database])
    assert trial.solved
    assert trial.max_states_expanded == 1
    assert trial.states_expanded == trial.moves


@pytest.mark.compiled
@pytest.mark.parametrize("setting", LOOPS)
def test_subgoals_in_a_circle_are_abandoned(setting):
    """Two regions send the agent to each other, whatever its goal. It still arrives, as its twin does."""
    grid = andante.generate("rooms", 24, 24, seed=3)
    built = build("pattern(level=2, cap=3)", grid)
    tables = unpacked(built.arrays)
    region = tables.region
    for problem in drawn(grid, 10, seed=2):
        entry = tables.subgoal.copy()
        here, there = region[problem.start], region[problem.goal]
        first = int(entry[here, there])
        if NO_STATE in (first, int(entry[region[first], there])) or region[first] == there:
            continue
        entry[region[first], there] = problem.start
        circle = Database(built.kind, built.fingerprint, built.parameters, repacked(built.arrays, entry))
        assert andante.run(setting, problem, databases=[circle], limits=andante.Limits(moves=20_000)).solved
        assert_walks_agree(setting, problem, circle, most_moves=60)


@pytest.mark.compiled
def test_an_agent_forgets_the_last_problem():
    grid = andante.generate("maze", 31, 31, seed=4)
    databases = [build("pattern(level=3, cap=4)", grid), always(2, 5)]
    for setting in ("dlrta", "dlrta(depth_by=pattern, loops=for_good)", "dlrta(depth_by=tree)"):
        agent = andante.Agent(setting, grid, databases=databases)
        for problem in drawn(grid, 6, seed=1):
            fresh = andante.Agent(setting, grid, databases=databases)
            assert np.array_equal(agent.run(problem).path, fresh.run(problem).path)


# --- what it needs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "kind"),
    [("dlrta", "pattern"), ("dtlrta", "depth-tree"), ("dlrta(depth_by=tree, goal_by=global)", "depth-tree")],
)
def test_without_a_database_the_error_says_what_to_do(setting, kind):
    problem = drawn(andante.generate("empty", 8, 8), 1)[0]
    with pytest.raises(AlgorithmError, match=f"none was given; build one with 'andante build {kind} MAP'"):
        andante.run(setting, problem)


@pytest.mark.parametrize("setting", ["dlrta", "dlrta(depth_by=pattern)", "dlrta(depth_by=pattern, goal_by=global)"])
def test_a_database_for_plans_over_regions_is_refused(setting):
    problem = drawn(andante.generate("empty", 16, 16), 1)[0]
    database = build("pattern(level=2, base=1)", problem.world)
    with pytest.raises(AlgorithmError, match="for agents that plan on level 1, .* build it with base=0"):
        andante.run(setting, problem, databases=[database])


@pytest.mark.parametrize("setting", ["dlrta", "dlrta(depth_by=pattern, goal_by=global)", "dprlrta(level=1)"])
def test_a_database_for_some_goals_serves_only_these_and_like_one_for_all_goals(setting):
    grid = andante.generate("rooms", 24, 24, seed=2)
    text = (
        "pattern(level=2, base=1, goal_depths=capped)"
        if setting.startswith("dpr")
        else "pattern(level=2, goal_depths=capped)"
    )
    problems = drawn(grid, 12, seed=3)
    some = build(text, grid, goals=[problem.goal for problem in problems[:6]])
    whole = build(text, grid)
    ours, theirs = (andante.run_many(setting, problems[:6], databases=[one]) for one in (some, whole))
    assert [trial.path.tolist() for trial in ours] == [trial.path.tolist() for trial in theirs]
    served = some.covers(grid.graph, np.array([problem.goal for problem in problems]))
    assert served[:6].all()
    assert not served.all()
    other = problems[int(np.flatnonzero(~served)[0])]

    def move(setting, problem, databases):
        andante.Agent(setting, grid, databases=databases).move(problem.start, problem.goal)

    for start in (andante.run, andante.watch, move):
        with pytest.raises(
            AlgorithmError, match=r"'pattern' was built for other goals than \(\d+, \d+\); .* for all goals"
        ):
            start(setting, other, databases=[some])
    assert andante.run("lrta", other, databases=[some]).solved  # an agent that does not use it is not affected


@pytest.fixture(scope="module")
def databases_for():
    grids = [andante.generate(kind, 40, 40, seed=1) for kind in ("rooms", "caves")]
    tree = build("depth-tree(deepest=6, problems=10, leaf=20)", grids)
    made = {}

    def databases(grid):
        if grid.graph.fingerprint not in made:
            level = coarse_level(grid)
            made[grid.graph.fingerprint] = build(f"pattern(level={level}, cap=6, goal_depths=capped, aim=centre)", grid)
        return [made[grid.graph.fingerprint], tree]

    return databases


@pytest.mark.compiled
@pytest.mark.parametrize(
    "setting",
    [
        "dlrta",
        "dlrta(depth_by=fixed, depth=3, loops=deeper)",
        pytest.param("dlrta(depth_by=oracle, depth=5)", marks=pytest.mark.deep),  # the oracle and subgoals, as above
        "dlrta(depth_by=tree)",
        "dlrta(depth_by=tree, loops=deeper)",
        "dlrta(depth_by=tree, goal_by=global)",
    ],
)
def test_any_choices_of_depth_and_goal_can_be_combined(setting, databases_for, contract_alone):
    checks = andante.check_algorithm(setting, databases_for=databases_for)
    assert {"is complete", "plans no more per move on a larger map"} <= set(checks)
