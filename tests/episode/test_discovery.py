"""Agents on a map they do not know: what they discover, that no other agent sees it, and how trials end."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.agent import Algorithm, Card, Move
from andante.episode.single import Agent
from andante.errors import AlgorithmError, ParameterError, ProblemError
from andante.kernel import kernel
from andante.measures import Outcome
from andante.search.learning import Learned
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.problem import Problem
from andante.world.sensing import Belief
from tests import naive
from tests.episode.test_run import facts
from tests.worlds import RULES, SIDE, drawn, examples, grid_problems

SENSING = [str(entry) for entry in andante.algorithms() if entry.card.senses and not entry.needs]
#: These look no further than the cells around them, which are always in sight.
SHORTSIGHTED = ["lrta", "rta", "sla", "wlrta", "dalrta", "family(wc=7, operator=median, expendable=true)"]
#: One algorithm for each kind of planning.
PLANNING = ["astar", "lrta(depth=4)", "lrts(depth=3, gamma=0.5, quota=20.0)", "lss", "rtaa", "plrta", "tba(budget=8)"]


@pytest.fixture(scope="module", params=["maze", "rooms", "caves"])
def problems(request):
    return drawn(andante.generate(request.param, SIDE, SIDE, seed=4), 3, seed=2)


# --- finding a path -------------------------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("name", SENSING)
@pytest.mark.parametrize("sight", [1, 2, 10])
def test_every_agent_that_senses_arrives_and_never_walks_through_a_wall(problems, name, sight):
    for trial in andante.run_many(name, problems, sight=sight):
        assert trial.outcome in (Outcome.GOAL, Outcome.STUCK)
        assert trial.solved or not andante.find(name).complete
        grid, legal = trial.problem.grid, {}
        for here, there in set(zip(trial.path[:-1].tolist(), trial.path[1:].tolist(), strict=True)):
            legal.setdefault(here, {near for near, _ in grid.graph.neighbours(here)} | {here})
            assert there in legal[here]
        seen = _seen(grid, trial.path[:-1] if trial.solved else trial.path, sight)  # a stuck agent sensed there too
        assert trial.cells_discovered == np.count_nonzero(seen & ~grid.passable)


def _seen(grid, path, sight):
    """Return the cells that were ever in sight."""
    seen = np.zeros(grid.passable.shape, bool)
    for state in set(path.tolist()):
        x, y = grid.cell(state)
        seen[max(y - sight, 0) : y + sight + 1, max(x - sight, 0) : x + sight + 1] = True
    return seen


@pytest.mark.compiled
@pytest.mark.parametrize("name", SHORTSIGHTED)
def test_agents_that_look_one_move_ahead_walk_as_on_a_known_map(problems, name):
    """Everything that they ask of the map is in sight, so they walk as if they knew it."""
    for known, unknown in zip(andante.run_many(name, problems), andante.run_many(name, problems, sight=1), strict=True):
        assert facts(unknown) == facts(known) | {"cells_discovered": unknown.cells_discovered}


@given(grid_problems(9, RULES), st.integers(1, 4))
@examples(60)
def test_local_repair_astar_replans_where_its_path_is_cut_and_only_there(problem, sight):
    """The twin walks a cheapest path on a plain record's map until its next move is seen to be impossible."""
    grid = problem.grid
    free = np.ones(grid.passable.shape, bool)
    plans, last = 0, None
    for turn in andante.watch("astar", problem, sight=sight):
        here = problem.start if last is None else last
        x, y = grid.cell(here)
        near = (slice(max(y - sight, 0), y + sight + 1), slice(max(x - sight, 0), x + sight + 1))
        free[near] &= grid.passable[near]
        believed = Grid(free, rule=grid.rule).graph
        if turn.states_expanded:  # it planned, so the rest of the path must be a cheapest one on the believed map
            promised = naive.distances_from(believed, here)[problem.goal]
            plans += 1
        assert dict(believed.neighbours(here))[turn.state] == turn.cost
        promised -= turn.cost
        last = turn.state
    assert last == problem.goal
    assert abs(promised) < 1e-9
    assert plans >= 1


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["tba(budget=8)", "tba(budget=30, shortcut=true)", "late-astar(budget=30)"])
@pytest.mark.parametrize("sight", [1, 3])
def test_a_sliced_search_restarts_at_most_once_for_each_wall(problems, name, sight):
    for trial in andante.run_many(name, problems, sight=sight):
        waited = np.count_nonzero(trial.path[:-1] == trial.path[1:])
        assert trial.solved
        assert waited <= trial.cells_discovered
        assert trial.max_states_expanded <= 30


@pytest.mark.compiled
@pytest.mark.parametrize("name", PLANNING)
def test_with_the_whole_map_in_sight_agents_walk_as_on_a_known_map(problems, name):
    known, seen = andante.run_many(name, problems), andante.run_many(name, problems, sight=10**6)
    for one, other in zip(known, seen, strict=True):
        assert facts(other) == facts(one) | {"cells_discovered": np.count_nonzero(~one.problem.grid.passable)}


# --- what is discovered belongs to the problem and to the agent -----------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("name", PLANNING)
def test_nothing_leaks_from_one_problem_into_the_next(problems, name):
    grid = problems[0].grid
    fresh = [facts(Agent(name, grid, sight=2).run(problem)) for problem in problems]
    agent = Agent(name, grid, sight=2)
    for _ in range(2):
        assert [facts(agent.run(problem)) for problem in problems] == fresh
        agent.run(problems[1], andante.Limits(moves=2))  # stopped half-way
    for threads in (1, 3):
        assert [facts(trial) for trial in andante.run_many(name, problems, threads=threads, sight=2)] == fresh


@pytest.mark.compiled
@pytest.mark.parametrize("name", PLANNING)
def test_a_watch_reports_the_walls_that_come_into_sight(problems, name):
    problem = problems[0]
    limits = andante.Limits(moves=1500)
    watch = andante.watch(name, problem, limits=limits, sight=2)
    here, found = problem.start, set()
    for turn in watch:
        walls = _seen(problem.grid, np.array([here]), 2) & ~problem.grid.passable
        assert set(turn.discovered) == set(np.flatnonzero(walls).tolist()) - found
        found |= set(turn.discovered)
        here = turn.state
    assert facts(watch.trial) == facts(Agent(name, problem.grid, sight=2).run(problem, limits))
    assert watch.trial.cells_discovered == len(found)


def test_with_a_known_map_nothing_is_discovered(problems):
    turns = list(andante.watch("lrta", problems[0]))
    assert all(turn.discovered == [] for turn in turns)
    assert andante.run("lrta", problems[0]).cells_discovered == 0


def test_cached_agents_are_distinguished_by_their_sight(problems):
    seen = [andante.run("astar", problems[0], sight=sight).cells_discovered for sight in (1, 9, 1)]
    assert seen[0] == seen[2] < seen[1]
    assert andante.run("astar", problems[0]).cells_discovered == 0


def test_the_memory_of_an_agent_contains_nothing_of_the_map():
    """The space that it is allocated from has a map without walls."""
    seen = []

    class Peek(NamedTuple):
        value: np.ndarray

        @classmethod
        def allocate(cls, space):
            seen.append(space)
            return cls(np.zeros(1))

    class Memory(NamedTuple):
        peek: Peek

    Memory.__annotations__ = {"peek": Peek}
    grid = andante.generate("random", 12, 12, seed=1)
    Agent(_broken(_stay, memory=Memory), grid, sight=3)
    assert seen[0].graph.fingerprint == Grid(np.ones((12, 12), bool)).graph.fingerprint
    assert isinstance(seen[0].view, Belief)
    assert seen[0].view.cells.passable.all()


# --- convergence ----------------------------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["astar", "lrta", "lrta(depth=3)", "lrts", "lss", "rtaa(lookahead=20)", "plrta"])
def test_a_trial_that_discovers_a_wall_is_not_the_last(problems, name):
    for process in andante.converge_many(name, problems[:2], sight=2):
        assert process.converged
        *learning, final = process.trials
        assert final.cells_discovered == 0
        assert all(trial.cells_discovered + trial.learned + trial.values_stored > 0 for trial in learning)
        assert process.cells_discovered == sum(trial.cells_discovered for trial in learning)
        gamma = 0.4 if name == "lrts" else 1.0
        assert gamma * final.cost <= final.optimal_cost + 1e-6


@pytest.mark.compiled
def test_discovered_walls_are_kept_for_the_next_trial_but_not_for_the_next_problem(problems):
    agent = Agent("lrta", problems[0].grid, sight=100)
    walls = np.count_nonzero(~problems[0].grid.passable)
    assert agent.run(problems[0]).cells_discovered == walls
    assert agent.run_all([problems[0]], again=True)[0].cells_discovered == 0
    assert agent.run(problems[0]).cells_discovered == walls


# --- how it can end -------------------------------------------------------------------------------------------------

WALLED = Grid([list(row) for row in ("......@..", "......@..", "......@..")], name="walled")


@pytest.mark.compiled
@pytest.mark.parametrize("name", SENSING)
def test_an_agent_whose_goal_is_walled_off_finds_that_there_is_no_path(name):
    trial = andante.run(name, WALLED.problem((0, 1), (8, 1)), sight=1, limits=andante.Limits(moves=10_000))
    assert trial.outcome is Outcome.UNREACHABLE or (trial.outcome is Outcome.STUCK and not andante.find(name).complete)
    assert trial.moves > 0


@given(grid_problems(side=12), st.integers(1, 3))
@examples(60)
def test_a_path_that_exists_is_never_given_up(problem, sight):
    """A path that does not exist is given up, however little the agent can prove by itself."""
    assert andante.run("lrta", problem, sight=sight).solved
    passable = problem.grid.passable.copy()
    x, y = problem.grid.cell(problem.goal)
    passable[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2] = False
    passable[y, x] = True
    walled = Grid(passable)
    start = problem.start if passable.ravel()[problem.start] else None
    if start is not None and start != problem.goal:
        trial = andante.run("lrta", Problem(walled.graph, start, problem.goal, walled), sight=sight)
        assert trial.outcome is Outcome.UNREACHABLE


@pytest.mark.compiled
@pytest.mark.parametrize("name", SENSING)
def test_a_blocked_goal_is_given_up_at_sight(name):
    grid = Grid([list("......"), list(".....@"), list("......")])
    problem = Problem(grid.graph, grid.state(0, 1), grid.state(5, 1), grid)
    trial = andante.run(name, problem, sight=2, limits=andante.Limits(moves=10_000))
    assert trial.outcome is Outcome.UNREACHABLE
    assert trial.cells_discovered == 1
    assert max(x for x, _ in trial.cells) == 3


def test_no_path_leads_out_of_a_wall():
    grid = Grid([list("@...")])
    trial = andante.run("lrta", Problem(grid.graph, 0, 3, grid), sight=1)
    assert (trial.outcome, trial.moves, trial.cells_discovered) == (Outcome.UNREACHABLE, 0, 1)


# --- misuse ---------------------------------------------------------------------------------------------------------


class Params(NamedTuple):
    """None."""


class Memory(NamedTuple):
    h: Learned


@kernel
def _stay(graph, memory, params, state, goal):
    return Move(state, 0.0, 0, 0, 0.0, 0)


@kernel
def _leap(graph, memory, params, state, goal):
    return Move(1000, 1.0, 1, 1, 0.0, 0)


def _broken(step, senses=True, memory=Memory):
    return Algorithm(Card("mine", "Mine", paper="none", senses=senses), Params(), Params(), memory, step)


def test_an_algorithm_that_does_not_sense_is_refused():
    problem = WALLED.problem((0, 0), (5, 2))
    with pytest.raises(AlgorithmError, match=r"^mine has to know its map; algorithms with sight are: .*lrta"):
        andante.run(_broken(_stay, senses=False), problem, sight=3)


def test_a_graph_has_no_cells_to_see():
    graph = Graph.from_edges([(0, 1, 1.0)])
    with pytest.raises(ProblemError, match="sight is for the cells of a map, but this is a graph; use a Grid"):
        andante.run("lrta", graph.problem(0, 1), sight=1)
    rows = WALLED.graph.csr()
    with pytest.raises(ProblemError, match="sight is for the cells of a map"):
        andante.run("lrta", Problem(rows, 0, 1, WALLED), sight=1)


@pytest.mark.parametrize("sight", [0, -3, 2.5])
def test_sight_below_one_cell_is_refused(sight):
    with pytest.raises(ParameterError, match="sight, counted in cells, must be a whole number of at least 1, got"):
        andante.run("lrta", WALLED.problem((0, 0), (5, 2)), sight=sight)


def test_a_step_to_a_state_that_does_not_exist_is_refused_in_one_sentence():
    with pytest.raises(AlgorithmError, match="^mine went to state 1000, which does not exist: there are 27; its step"):
        andante.run(_broken(_leap), WALLED.problem((0, 0), (5, 2)))
