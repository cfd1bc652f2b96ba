"""Running agents: the contents of a trial, which depend only on the problem."""

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.agent import Algorithm, Card, Move, algorithm
from andante.episode.convergence import converge_agent
from andante.episode.loop import NO_MOVE, NO_STATE, WRONG_COST, wrong
from andante.episode.rows import rows
from andante.episode.run import Outfit, _agents, compile_all, variant
from andante.episode.single import Agent
from andante.episode.tables import Episodes
from andante.errors import AlgorithmError, AndanteError, ParameterError, ProblemError
from andante.kernel import JIT, interpreted, kernel
from andante.measures import Outcome
from andante.search.learning import Learned
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.layout import price, target
from tests import naive
from tests.worlds import SIDE, drawn, examples, grid_problems

NAMES = ["lrta", "lrta(depth=3)", "rta", "astar", "wastar(weight=3)"]


def facts(trial):
    """Return all fields of a trial except its left_out."""
    left_out = ("seconds", "first_move_seconds", "path", "optimal_cost")
    fields = {name: value for name, value in vars(trial).items() if name not in left_out}
    return fields | {"path": None if trial.path is None else trial.path.tolist()}


def maps():
    return [andante.generate(kind, SIDE, SIDE, seed=seed) for seed, kind in enumerate(("rooms", "random", "maze"))]


# --- a trial --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_trial_adds_up(name):
    for problem in drawn(maps()[0], 5):
        trial = andante.run(name, problem)
        assert trial.solved
        assert trial.outcome is Outcome.GOAL
        assert trial.algorithm == str(andante.find(name))
        assert trial.path[[0, -1]].tolist() == [problem.start, problem.goal]
        assert len(trial.path) == trial.moves + 1
        steps = zip(trial.path[:-1].tolist(), trial.path[1:].tolist(), strict=True)
        assert trial.cost == sum(dict(problem.graph.neighbours(a))[b] for a, b in steps)
        assert trial.optimal_cost == naive.distances_from(problem.graph, problem.start)[problem.goal]
        assert trial.suboptimality_ratio == trial.cost / trial.optimal_cost >= 1
        assert trial.first_move_states_expanded <= trial.max_states_expanded <= trial.states_expanded
        assert trial.states_expanded_per_move == trial.states_expanded / trial.moves
        assert trial.first_move_states_touched <= trial.states_touched
        assert 0 <= trial.first_move_seconds <= trial.seconds
        assert trial.cells == [problem.grid.cell(state) for state in trial.path]
        assert f"GOAL after {trial.moves} moves, cost {trial.cost:.2f}" in repr(trial)


def test_the_optimal_cost_of_a_problem_is_trusted():
    problem = drawn(maps()[0], 1)[0].with_optimal_cost(2.0)
    assert andante.run("lrta", problem).optimal_cost == 2.0


def test_a_path_can_be_left_out():
    problem = drawn(maps()[0], 1)[0]
    with_path, without = (
        Agent("lrta", problem.graph).run(problem),
        Agent("lrta", problem.graph).run(problem, path=False),
    )
    assert without.path is None
    assert facts(replace(with_path, path=None)) == facts(without)
    with pytest.raises(ParameterError, match="this trial has no path on a grid"):
        _ = without.cells
    graph = Graph.from_edges([(0, 1, 1.0)])
    with pytest.raises(ParameterError, match="this trial has no path on a grid"):
        _ = andante.run("lrta", graph.problem(0, 1)).cells


def test_keyword_parameters_work_as_well_as_the_string():
    problem = drawn(maps()[1], 1)[0]
    assert facts(andante.run("lrta", problem, depth=3)) == facts(andante.run("lrta(depth=3)", problem))
    assert facts(andante.run(andante.find("lrta", depth=3), problem)) == facts(andante.run("lrta(depth=3)", problem))


def test_an_agent_refuses_other_graphs():
    one, other = maps()[:2]
    with pytest.raises(ProblemError, match="is on another graph than this agent"):
        Agent("lrta", one).run(drawn(other, 1)[0])


# --- learned values are forgotten -----------------------------------------------------------------------------------


@given(st.lists(grid_problems(), min_size=1, max_size=1), st.integers(2, 4), st.sampled_from(NAMES))
@examples(60)
def test_an_agent_walks_like_a_new_one_after_many_problems(problems, times, name):
    problem = problems[0]
    grid = problem.grid
    back = grid.problem(grid.cell(problem.goal), grid.cell(problem.start))
    agent, fresh = Agent(name, grid), facts(Agent(name, grid).run(problem))
    for _ in range(times):
        assert facts(agent.run(problem)) == fresh
        agent.run(back)
        agent.run(problem, andante.Limits(moves=1))  # stopped half-way


@pytest.mark.parametrize("name", NAMES)
def test_after_four_billion_problems_results_are_as_before(name):
    problem = drawn(maps()[0], 1)[0]
    agent = Agent(name, problem.graph)
    fresh = facts(agent.run(problem))
    for seen in (2**32 - 3, 2**32 - 1):
        agent._space.clock[0]["problem"] = seen
        for _ in range(4):
            assert facts(agent.run(problem)) == fresh
        assert agent._space.clock[0]["problem"] < 10


# --- many problems --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_problems_are_solved_in_order_on_any_number_of_threads(name, threads):
    problems = [problem for grid in maps()[:2] for problem in drawn(grid, 12 if JIT else 4)]
    mixed = problems[::2] + problems[1::2]  # maps in turn
    one_by_one = [facts(Agent(name, problem.graph).run(problem)) for problem in mixed]
    together = andante.run_many(name, iter(mixed), threads=threads)
    assert [facts(trial) for trial in together] == one_by_one
    assert [trial.problem for trial in together] == mixed
    without = andante.run_many(name, mixed, threads=threads, paths=False)
    assert [trial.path for trial in without] == [None] * len(mixed)
    assert [facts(replace(t, path=None)) for t in together] == [facts(t) for t in without]


def test_problems_that_fail_do_not_affect_others():
    grid = Grid(np.array([list("...@...")]))
    graph = grid.graph
    problems = [grid.problem((0, 0), (2, 0)), grid.problem((0, 0), (6, 0)), grid.problem((4, 0), (6, 0))]
    trials = andante.run_many("lrta", problems, threads=2)
    assert [trial.outcome for trial in trials] == [Outcome.GOAL, Outcome.UNREACHABLE, Outcome.GOAL]
    assert [trial.moves for trial in trials] == [2, 0, 2]
    assert trials[1].path.tolist() == [0]
    assert trials[1].optimal_cost == np.inf
    assert graph.components[0] != graph.components[6]


def test_progress_is_reported_until_all_problems_are_done():
    problems = drawn(maps()[0], 30)
    reported = []
    andante.run_many("lrta", problems, threads=2, progress=reported.append)
    assert sum(reported) == 30
    assert len(reported) > 3
    assert andante.run_many("lrta", [], progress=reported.append) == []


@pytest.mark.parametrize("threads", [0, -1, math.nan, 1.5])
def test_the_number_of_threads_must_be_positive(threads):
    with pytest.raises(ParameterError, match=f"threads must be a whole number of at least 1, got {threads}"):
        andante.run_many("lrta", [], threads=threads)


def test_an_error_in_the_middle_ends_the_run():
    problems = drawn(maps()[0], 40)

    def complain(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        andante.run_many("lrta", problems, threads=2, progress=complain)


def test_idle_agents_are_used_by_later_calls_on_any_thread(monkeypatch):
    """Results do not depend on which agents are kept."""
    grid, made = andante.generate("rooms", 20, 20, seed=2), []
    problems, init = andante.random_problems(grid, 12, seed=1), Agent.__init__
    monkeypatch.setattr(
        Agent, "__init__", lambda agent, *args, **how: (made.append(agent), init(agent, *args, **how))[1]
    )
    first = [facts(trial) for trial in andante.run_many("lrta(depth=2)", problems, threads=2)]
    assert 1 <= len(made) <= 2
    count = len(made)
    for _ in range(5):
        assert [facts(trial) for trial in andante.run_many("lrta(depth=2)", problems)] == first
        assert facts(andante.run("lrta(depth=2)", problems[0])) == first[0]
    assert len(made) == count


def test_few_idle_agents_are_kept():
    grid = andante.generate("rooms", 20, 20, seed=2)
    problem = andante.random_problems(grid, 1, seed=1)[0]
    for depth in range(1, 12):
        andante.run("lrta", problem, depth=depth)
    assert len(_agents._idle) <= _agents._most


# --- the loop -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("patience", [1, 7, 1000])
def test_a_loop_interrupted_at_any_moment_resumes(patience):
    problems = drawn(maps()[0], 6)
    agent = Agent("lrta", problems[0].graph)
    whole = [facts(trial) for trial in agent.run_all(problems, paths=False)]
    episodes, rounds, ended = Episodes(len(problems)), 0, 0
    for i, problem in enumerate(problems):
        episodes.begin(i, problem.start, problem.goal, (np.inf, 10**6, 10**9), False, Outcome.WAITING)
    while ended < len(problems):
        ended = agent.drive(episodes, count=len(problems), patience=patience)
        rounds += 1
    assert rounds > 1 or patience == 1000
    assert episodes.rows["moves"].tolist() == [fields["moves"] for fields in whole]
    assert episodes.rows["cost"].tolist() == [fields["cost"] for fields in whole]
    assert episodes.rows["learned"].tolist() == [fields["learned"] for fields in whole]
    assert (episodes.rows["nanoseconds"] > 0).all()


def test_a_path_longer_than_the_trail_is_kept_whole():
    """An agent that learns slowly makes more than 4096 moves in a maze of one corridor."""
    rows = 31
    passable = np.ones((rows, 40), bool)
    for y in range(1, rows, 2):
        passable[y, :] = False
        passable[y, 0 if (y // 2) % 2 else -1] = True
    grid = Grid(passable)
    trial = andante.run(
        "lrta", grid.problem((0, 0), (20, rows - 1)), limits=andante.Limits(moves=10_000 if JIT else 5_000)
    )
    assert trial.moves > 4096
    assert len(trial.path) == trial.moves + 1
    legal = [{near for near, _ in grid.graph.neighbours(state)} for state in range(len(grid.graph))]
    assert all(b in legal[a] for a, b in zip(trial.path[:-1].tolist(), trial.path[1:].tolist(), strict=True))


# --- an algorithm that changes under the same name ------------------------------------------------------------------


class Params(NamedTuple):
    """None."""


class Memory(NamedTuple):
    h: Learned


@kernel
def first_neighbour(graph, memory, params, state, goal):
    return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, 0.0, 0)


@kernel
def second_neighbour(graph, memory, params, state, goal):
    return Move(target(graph, state, 1), price(graph, state, 1), 1, 1, 0.0, 0)


def test_an_algorithm_registered_again_replaces_the_old_one(monkeypatch):
    """This happens in a notebook when the cell that defines the algorithm is run again."""
    from andante import agent

    andante.algorithms()
    monkeypatch.setattr(agent, "_register", dict(agent._register))
    problem = Grid(np.ones((3, 3), bool)).problem((1, 1), (0, 0))
    for step, first in ((first_neighbour, (1, 0)), (second_neighbour, (2, 0))):
        holder = type("Holder", (), {"Params": Params, "Memory": Memory, "step": staticmethod(step)})
        holder.__module__ = __name__
        algorithm(Card("notebook", "Notebook", paper="none"))(holder)
        trial = andante.run("notebook", problem, limits=andante.Limits(moves=1))
        assert trial.cells[1] == first


@pytest.mark.compiled
def test_compile_all_reports_only_what_is_not_compiled_yet():
    graphs = [Grid(np.ones((2, 2), bool)).graph, Graph.from_edges([(0, 1, 1.0)])]
    compile_all(map(Outfit.of, ["lrta", "astar", "wastar"]), graphs, lambda what, number, total: None)
    reported = []
    compile_all(map(Outfit.of, ["lrta", "astar", "wastar"]), graphs, lambda *what: reported.append(what))
    assert reported == []


def test_variants_with_different_bundles_are_compiled_separately(monkeypatch):
    compiled = []
    monkeypatch.setattr(Agent, "compile", lambda agent: compiled.append(str(agent.algorithm)))
    depths = ["depth_by=fixed", "depth_by=oracle", "depth_by=oracle, depth=3"]
    texts = [f"dlrta({depth}, goal_by=global)" for depth in depths]
    compile_all(map(Outfit.of, texts), [Grid(np.ones((2, 2), bool))], lambda what, number, total: None)
    assert compiled == [str(andante.find(text)) for text in (texts[0], texts[2])]


def test_settings_of_one_variant_have_memories_of_one_type():
    grid, types = andante.generate("empty", 32, 32), {}
    for entry in (entry for entry in andante.algorithms() if not entry.needs):
        flags = [(p.name, value) for p in entry.parameters if p.kind is bool for value in (False, True)]
        texts = (*entry.card.examples, *entry.card.shown)
        for one in (
            entry,
            *(entry.with_parameters(**{name: value}) for name, value in flags),
            *map(andante.find, texts),
        ):
            kind = numba.typeof(Agent(one, grid)._memory)
            assert types.setdefault(variant(one), kind) == kind, str(one)


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [3, 4096])
def test_every_move_has_its_time(monkeypatch, rows):
    monkeypatch.setattr("andante.episode.single.TRAIL_ROWS", rows)
    grid = andante.generate("rooms", 20, 20, seed=2)
    agent = Agent("lrta", grid)
    for problem in andante.random_problems(grid, 4, seed=1):
        trial = agent.run(problem)
        times = agent.move_nanoseconds(problem)
        assert len(times) == trial.moves
        assert (times > 0).all()
        assert facts(agent.run(problem)) == facts(trial)
    assert len(agent.move_nanoseconds(problem, andante.Limits(moves=5))) == min(5, trial.moves)


@pytest.mark.compiled
def test_a_slow_move_can_be_distinguished_from_the_others():
    """The clock is in the loop, around each step."""

    class Params(NamedTuple):
        """None."""

    class Memory(NamedTuple):
        """Not used."""

        h: Learned

    @kernel
    def step(graph, memory, params, state, goal):
        total = 0.0
        if state == 5:
            for k in range(200_000):
                total += np.sqrt(k + total)
        return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, total, 0)

    line = Graph.from_edges([(i, i + 1, 1.0) for i in range(9)], directed=True)
    entry = Algorithm(Card("slow", "Slow", paper="none"), Params(), Params(), Memory, step)
    agent = Agent(entry, line)
    times = np.min([agent.move_nanoseconds(line.problem(0, 9)) for _ in range(5)], axis=0)
    assert len(times) == 9
    assert times.argmax() == 5


# --- databases ------------------------------------------------------------------------------------------------------


class Lists(NamedTuple):
    """The lists in which the agent looks up its moves."""

    move: np.ndarray

    @classmethod
    def allocate(cls, space):
        return cls(np.array(space.databases[0], np.int64))


class Reader(NamedTuple):
    lists: Lists


@kernel
def look_up(graph, memory, params, state, goal):
    k = memory.lists.move[0]
    return Move(target(graph, state, k), price(graph, state, k), 1, 1, 0.0, 0)


READER = Algorithm(Card("reader", "Reader", paper="none", needs=("list",)), Params(), Params(), Reader, look_up)


def test_databases_reach_the_memory_of_every_agent():
    problem = Grid(np.ones((3, 3), bool)).problem((1, 1), (0, 0))
    one_move = andante.Limits(moves=1)
    for number, first in enumerate([(1, 0), (2, 0), (2, 1)]):
        databases = [[number]]
        agent = Agent(READER, problem.graph, databases=databases)
        trials = [agent.run(problem, one_move), andante.run(READER, problem, databases=databases, limits=one_move)]
        trials += andante.run_many(READER, [problem], databases=databases, limits=one_move)
        watch = andante.watch(READER, problem, databases=databases, limits=one_move)
        list(watch)
        trials += [watch.trial, andante.converge(READER, problem, databases=databases, limits=one_move).final]
        assert [trial.cells[1] for trial in trials] == [first] * len(trials)
        trace = andante.record(READER, problem, databases=databases, limits=one_move)
        assert problem.grid.cell(trace.moves["state"][0]) == first


def test_cached_agents_are_distinguished_by_their_databases():
    problem = Grid(np.ones((3, 3), bool)).problem((1, 1), (0, 0))
    kept = [[[0]], [[1]], [[0]]]
    went = [andante.run(READER, problem, databases=d, limits=andante.Limits(moves=1)).cells[1] for d in kept]
    assert went == [(1, 0), (2, 0), (1, 0)]


@pytest.mark.compiled
def test_algorithms_without_their_databases_are_not_compiled():
    reported = []
    compile_all([Outfit.of(READER)], [Grid(np.ones((2, 2), bool))], lambda *what: reported.append(what))
    assert reported == []


# --- the loop does not trust the agent ------------------------------------------------------------------------------


class Fault(IntEnum):
    TELEPORT = 0
    UNDERCHARGE = 1
    NOWHERE = 2
    BELOW = 3
    DEAR_WAIT = 4
    FREE_WAIT = 5
    NOT_A_NUMBER = 6


class Faulty(NamedTuple):
    fault: Fault = Fault.TELEPORT


@kernel
def misbehave(graph, memory, params, state, goal):
    to, cost = target(graph, state, 0), price(graph, state, 0)
    if params.fault == 0:
        return Move(goal, cost, 1, 1, 0.0, 0)
    if params.fault == 1:
        return Move(to, cost / 2, 1, 1, 0.0, 0)
    if params.fault == 2:
        return Move(1000, cost, 1, 1, 0.0, 0)
    if params.fault == 3:
        return Move(-7, cost, 1, 1, 0.0, 0)
    if params.fault == 4:
        return Move(state, 1.0, 1, 1, 0.0, 0)
    if params.fault == 5:
        return Move(state, 0.0, 1, 1, 0.0, 0)
    return Move(to, np.nan, 1, 1, 0.0, 0)


def misbehaving(fault):
    return Algorithm(Card("mine", "Mine", paper="none"), Faulty(fault), Faulty(), Memory, misbehave)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault.TELEPORT, "mine(fault=teleport) went from (1, 3) to (3, 3), which is not a move"),
        (Fault.UNDERCHARGE, "went from (1, 3) to (1, 2) and returned the cost 0.5, but it costs 1"),
        (Fault.NOWHERE, "went to state 1000, which does not exist: there are 16"),
        (Fault.BELOW, "went to state -7, which does not exist: there are 16"),
        (Fault.DEAR_WAIT, "went nowhere from (1, 3) and returned the cost 1, but waiting costs nothing"),
        (Fault.NOT_A_NUMBER, "went from (1, 3) to (1, 2) and returned the cost nan, but it costs 1"),
    ],
)
def test_a_wrong_move_is_refused_with_the_agents_name(fault, message):
    problem = Grid(np.ones((4, 4), bool)).problem((1, 3), (3, 3))
    for walk in (andante.run, lambda *what: list(andante.watch(*what)), lambda name, p: andante.run_many(name, [p])):
        with pytest.raises(AlgorithmError) as caught:
            walk(misbehaving(fault), problem)
        assert message.removeprefix("mine(fault=teleport) ") in str(caught.value)
        assert str(caught.value).startswith("mine")
        assert "its step must return a neighbour of the agent's state" in str(caught.value)


def test_waiting_is_allowed():
    problem = Grid(np.ones((4, 4), bool)).problem((1, 3), (3, 3))
    trial = andante.run(misbehaving(Fault.FREE_WAIT), problem, limits=andante.Limits(moves=3))
    assert (trial.outcome.name, trial.cost, trial.moves) == ("MOVE_CAP", 0.0, 3)


def test_each_of_several_arcs_between_two_states_may_be_taken_at_its_cost():
    arrays = Graph.from_edges([(0, 1, 1.0), (0, 1, 2.0), (1, 2, 1.0)]).arrays
    plain = interpreted(wrong, {})
    assert [plain(arrays, 0, 1, cost) for cost in (1.0, 1.5, 2.0)] == [0, WRONG_COST, 0]
    assert plain(arrays, 0, 2, 1.0) == NO_MOVE
    assert plain(arrays, 0, 3, 1.0) == plain(arrays, 0, -1, 1.0) == NO_STATE


def test_a_ratio_below_one_is_refused():
    problem = drawn(maps()[0], 1)[0].with_optimal_cost(10_000.0)
    trial = andante.run("lrta", problem)
    with pytest.raises(
        AlgorithmError, match="^lrta arrives on <Problem .*> at a cost of .*, below the optimal cost of"
    ):
        _ = trial.suboptimality_ratio
    with pytest.raises(AlgorithmError, match="^lrta arrives on "):
        rows([trial])
    unfinished = andante.run("lrta", problem, limits=andante.Limits(moves=1))
    assert unfinished.suboptimality_ratio == 1  # it has not arrived, so the ratio is only known to be at least 1


# --- one agent, one user --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_agent_cannot_be_copied(duplicate):
    agent = Agent("lrta", Grid(np.ones((4, 4), bool)), sight=2)
    with pytest.raises(AlgorithmError, match="^an agent cannot be copied or pickled, .* make another one with Agent"):
        duplicate(agent)


def test_two_threads_cannot_use_one_agent_at_once():
    grid = Grid(np.ones((4, 4), bool))
    agent, problem = Agent("lrta", grid), grid.problem((0, 0), (3, 3))
    watched = agent.watch(problem)
    next(watched)
    with agent.alone, ThreadPoolExecutor(1) as other:
        uses = (
            lambda: agent.run(problem),
            lambda: next(watched),
            lambda: agent.move((0, 0), (3, 3)),
            agent.compile,
            lambda: converge_agent(agent, problem, andante.Limits(), 9, True, None),
        )
        for use in uses:
            with pytest.raises(
                AlgorithmError, match="^two threads use the same agent of lrta at the same time, .*run_many"
            ):
                other.submit(use).result()
        assert agent.run(problem).solved  # but the code that holds the lock may use it
    with ThreadPoolExecutor(1) as other:
        assert other.submit(agent.run, problem).result().solved  # and so may any other, one at a time


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda grid: andante.run("lrta", grid), "a problem is what grid.problem(start, goal) returns, not <Grid"),
        (lambda grid: Agent("lrta", grid).run(grid), "a problem is what grid.problem(start, goal) returns, not <Grid"),
        (
            lambda grid: andante.run("lrta", grid.problem((0, 0), (2, 2)), limits=5),
            "limits are given as andante.Limits(moves=1000), not as 5",
        ),
        (
            lambda grid: andante.converge("lrta", grid.problem((0, 0), (2, 2)), limits=5),
            "limits are given as andante.Limits(moves=1000), not as 5",
        ),
        (
            lambda grid: Agent("lrta", "rooms"),
            "an agent needs a Grid or a Graph, as andante.read_map returns, not 'rooms'",
        ),
        (
            lambda grid: andante.run(andante.settings.lrta, grid),
            "an algorithm is text such as 'lrta(depth=3)', or what settings.lrta",
        ),
    ],
)
def test_arguments_of_another_type_are_refused_in_one_sentence(call, message):
    with pytest.raises(AndanteError) as caught:
        call(Grid(np.ones((3, 3), bool)))
    assert message in str(caught.value)
