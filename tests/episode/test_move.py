"""One move at a time, as in a game: the same walk as `run`, from any state."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.agent import STUCK, UNREACHABLE, Algorithm, Card, Move
from andante.episode.single import Agent
from andante.errors import AlgorithmError, ProblemError
from andante.kernel import kernel
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.layout import price, target
from tests.contract.test_register import Memory, Params
from tests.worlds import examples, graph_problems, grid_problems, or_graphs

NAMES = ["lrta", "lrta(depth=3)", "lss", "tba(budget=5)", "astar"]


def walked(agent, state, goal, most=10_000):
    """Return the states visited, and all moves."""
    path, moves = [state], []
    while path[-1] != goal and len(moves) < most:
        moves.append(agent.move(path[-1], goal))
        path.append(moves[-1].to)
    return path, moves


@given(or_graphs(grid_problems(), graph_problems()), st.sampled_from(NAMES))
@examples(100)
def test_moves_one_by_one_are_the_walk_of_run(problem, name):
    trial = andante.run(name, problem)
    agent = Agent(name, problem.world)
    for _ in range(2):
        path, moves = walked(agent, problem.start, problem.goal)
        assert path == trial.path.tolist()
        assert sum(move.cost for move in moves) == pytest.approx(trial.cost)
        assert sum(move.expanded for move in moves) == trial.states_expanded
        assert sum(move.touched for move in moves) == trial.states_touched
        assert sum(move.learned for move in moves) == pytest.approx(trial.learned)
        assert sum(move.stored for move in moves) == trial.values_stored
        agent.run(problem)  # after which a move begins a new problem


@given(grid_problems(), st.sampled_from(["lrta", "lss"]), st.integers(1, 3))
@examples(60)
def test_an_agent_with_sight_senses(problem, name, sight):
    trial = andante.run(name, problem, sight=sight)
    assert walked(Agent(name, problem.world, sight=sight), problem.start, problem.goal)[0] == trial.path.tolist()


def test_another_goal_is_another_problem_and_another_state_another_trial():
    grid = andante.generate("rooms", 20, 20, seed=2)
    one, other = andante.random_problems(grid, 2, seed=1)
    agent = Agent("lrta", grid)
    path, _ = walked(agent, one.start, one.goal)
    assert walked(agent, other.start, other.goal)[0] == andante.run("lrta", other).path.tolist()
    assert walked(agent, one.start, one.goal)[0] == path  # nothing was kept
    learner = Agent("lrta", grid)
    first = learner.run(one)
    again = learner.run_all([one], again=True)[0]
    assert first.path.tolist() == path
    assert walked(agent, one.start, one.goal)[0] == again.path.tolist()  # all was kept
    assert (agent._clock[0], agent._clock[1]) == (3, 4)


def test_cells_and_numbers_of_any_kind_are_the_same_states():
    grid = andante.generate("rooms", 20, 20, seed=2)
    problem = andante.random_problems(grid, 1, seed=1)[0]
    start, goal = grid.cell(problem.start), grid.cell(problem.goal)
    for kind in (lambda state: state, grid.cell, np.int32, lambda state: list(grid.cell(state))):
        agent, path = Agent("tba", grid), [problem.start]
        while path[-1] != problem.goal:
            path.append(agent.move(kind(path[-1]), kind(problem.goal)).to)
        assert path == andante.run("tba", problem).path.tolist()
        assert agent._clock[1] == 1
    assert Agent("tba", grid).move(start, goal).to in [state for state, _ in grid.graph.neighbours(problem.start)]


def test_at_the_goal_an_agent_stays_and_continues_when_pushed_away():
    grid = Grid(np.ones((1, 5), bool))
    agent = Agent("lrta", grid)
    path, _ = walked(agent, 0, 4)
    assert path == [0, 1, 2, 3, 4]
    assert agent.move(4, 4) == Move(4, 0.0, 0, 0, 0.0, 0)
    assert agent.move(2, 4).to == 3
    assert agent.move(3, 4).to == 4
    assert agent._clock[0] == 1


def test_an_unreachable_goal_is_reported_without_expansions():
    grid = Grid(np.array([list("..@.")]))
    agent = Agent("lrta", grid)
    assert agent.move(0, 1).to == 1
    assert agent.move(0, 3) == Move(UNREACHABLE, 0.0, 0, 0, 0.0, 0)
    assert agent._clock[0] == 1
    discovering = Agent("lrta", grid, sight=1)
    state = 0
    while state >= 0:
        state = discovering.move(state, 3).to
    assert state == UNREACHABLE


@kernel
def ponder(graph, memory, params, state, goal):
    """Give up in state 2; in other states go to the last neighbour."""
    return Move(STUCK, 0.0, 5, 7, 0.5, 1) if state == 2 else Move(state + 1, 1.0, 1, 1, 0.0, 0)


@kernel
def astray(graph, memory, params, state, goal):
    """Make one legal move, and then an illegal one."""
    return Move(target(graph, 0, 0), price(graph, 0, 0), 1, 1, 0.0, 0)


def test_an_agent_that_gives_up_reports_its_expansions():
    entry = Algorithm(Card("ponder", "", paper=""), (), (), tuple, ponder)
    agent = Agent(_holder(entry), Graph.from_edges([(i, i + 1, 1.0) for i in range(4)]))
    assert [agent.move(state, 4) for state in (1, 2)] == [Move(2, 1.0, 1, 1, 0.0, 0), Move(STUCK, 0.0, 5, 7, 0.5, 1)]
    assert agent.move(3, 4).to == 4


def test_a_wrong_move_is_refused():
    agent = Agent(_holder(Algorithm(Card("astray", "", paper=""), (), (), tuple, astray)), Grid(np.ones((1, 9), bool)))
    assert agent.move(0, 8).to == 1
    with pytest.raises(AlgorithmError, match=r"went nowhere from \(1, 0\) and returned the cost 1"):
        agent.move(1, 8)
    assert agent.move(0, 8).to == 1


def _holder(entry):
    """Return the same algorithm with empty parameters and memory."""
    return replace(entry, params=Params(), defaults=Params(), memory=Memory)


@pytest.mark.parametrize(
    ("state", "goal", "message"),
    [
        (-1, 5, "the state -1 is not a state; there are 9, numbered from 0"),
        (0, 9, "the goal 9 is not a state; there are 9, numbered from 0"),
        (4, 5, r"the state \(1, 1\) is blocked on walled"),
        (0, (1, 1), r"the goal \(1, 1\) is blocked on walled"),
        ((0, 3), 5, r"\(0, 3\) lies outside walled, which is 3 x 3 cells"),
        ((0, 1.5), 5, "a row must be a whole number, got 1.5"),
        (1.0, 5, r"the state, if it is not a cell \(x, y\), must be a whole number, got 1.0"),
        (0, None, r"the goal, if it is not a cell \(x, y\), must be a whole number, got None"),
        ((0, 1, 2), 5, r"the state, if it is not a cell \(x, y\), must be a whole number, got \(0, 1, 2\)"),
        (2**70, 5, "the state 1180591620717411303424 is not a state"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(state, goal, message):
    passable = np.ones((3, 3), bool)
    passable[1, 1] = False
    grid = Grid(passable, name="walled")
    agent = Agent("lrta", grid)
    here = agent.move(0, 8).to
    with pytest.raises(ProblemError, match=message):
        agent.move(state, goal)
    with pytest.raises(ProblemError):
        agent.move(float(here), 8)  # even if it would continue
    assert agent.move(here, 8) == walked(Agent("lrta", grid), 0, 8)[1][1]
    assert (agent._clock[0], agent._clock[1]) == (1, 1)


def test_a_watch_does_not_continue_after_a_move_nor_a_move_after_a_watch():
    grid = Grid(np.ones((1, 9), bool))
    problem = grid.problem((0, 0), (8, 0))
    agent = Agent("lrta", grid)
    watch = agent.watch(problem)
    next(watch)
    agent.move(0, 8)
    with pytest.raises(ProblemError, match="begun another problem"):
        next(watch)
    next(agent.watch(problem))
    before = agent._clock[0]
    agent.move(1, 8)
    assert agent._clock[0] == before + 1


def test_after_four_billion_problems_moves_are_as_before():
    grid = Grid(np.ones((8, 8), bool))
    agent = Agent("lrta", grid)
    first = walked(agent, 0, 63)[0]
    agent._clock[0] = 2**32 - 2
    assert walked(agent, 9, 62)[0] == walked(Agent("lrta", grid), 9, 62)[0]
    assert walked(agent, 0, 63)[0] == first
