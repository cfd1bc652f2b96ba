"""LRTS against Figure 3 of Bulitko et al. (2007) in exact fractions, and its settings against their definitions."""

from collections import deque
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import andante
from andante.search.learning import store, value
from andante.search.memory import set_problem
from andante.world.graph import Graph
from tests import naive
from tests.worlds import FULL, drawn, examples, graph_problems, grid_problems, heuristic, in_rows, or_graphs

INF = float("inf")
LIMITS = andante.Limits(moves=400)

DEPTHS = st.integers(1, 4)
GAMMAS = st.sampled_from([Fraction(1), Fraction(4, 5), Fraction(1, 2), Fraction(2, 5), Fraction(1, 3)])
QUOTAS = st.sampled_from([0.0, 1.0, 2.5, 10.0, 50.0, INF])


# --- LRTS in plain Python -------------------------------------------------------------------------------------------


class World:
    """A problem in fractions, in which nothing is ever rounded, and the values learned in it."""

    def __init__(self, problem, learned=()):
        h0 = heuristic(problem)
        self.graph, self.goal = problem.graph, problem.goal
        self.h = {state: Fraction(h0(state)) for state in range(len(self.graph))}
        self.h.update({state: Fraction(new) for state, new in dict(learned).items()})

    def moves(self, state):
        return [(near, Fraction(cost)) for near, cost in self.graph.neighbours(state)]

    def neighbours(self, state):
        """Return each neighbour with c + h."""
        return [(cost + self.h[near], near) for near, cost in self.moves(state)]

    def plies(self, state, depth, gamma):
        """Return each ply's paths, as (f, number of the first move, path), up to the deepest ply that exists.

        The goal belongs to its own ply and to all later ones.
        """
        ply = naive.plies(self.graph, state, self.goal, depth)
        inside = [s for s in ply if ply[s] < depth]
        paths = self._paths(inside, [s for s in inside if ply[s] < depth - 1])
        last = max(ply.values())
        seen = [[] for _ in range(last + 1)]
        for s in inside:
            g, first, path = paths[s]
            seen[ply[s]].append((gamma * g + self.h[s], first, path))
            for k, (near, cost) in enumerate(self.moves(s)):
                if ply.get(near) == depth and s != self.goal:
                    seen[depth].append((gamma * (g + cost) + self.h[near], first if path else k, [*path, near]))
        if self.goal in paths:
            for level in range(ply[self.goal] + 1, last + 1):
                place = len(seen[level]) if level == depth else 0
                seen[level].insert(place, (gamma * paths[self.goal][0], *paths[self.goal][1:]))
        return seen[1:]

    def _paths(self, inside, opened):
        """Return the cheapest path to each state inside, with the earliest first move, and the number of that move."""
        paths = {inside[0]: (Fraction(0), -1, [])}
        self._spread(paths, inside, opened)
        while self._spread(paths, inside, inside):
            pass
        return paths

    def _spread(self, paths, inside, sources):
        changed = False
        for s in sources:
            for k, (near, cost) in enumerate(self.moves(s)):
                g, first, path = paths[s]
                new = (g + cost, first if path else k, [*path, near])
                if s != self.goal and near in inside and (near not in paths or new[:2] < paths[near][:2]):
                    paths[near] = new
                    changed = True
        return changed


def lrts(world, start, depth, gamma, quota):
    """Run one trial of Figure 3 and return the states visited, the start first."""
    state, learned = start, Fraction(0)
    behind = deque(maxlen=len(world.graph))  # of (state, whether it planned there)
    yield state
    while state != world.goal:
        plies = world.plies(state, depth, gamma)
        if not plies:
            return
        new = max(min(ply)[0] for ply in plies)
        if new > world.h[state]:
            learned += new - world.h[state]
            world.h[state] = new
        if learned > quota:
            learned = Fraction(quota)
            back = list(path_back(world, state, behind))
            if back:
                yield from back
                state = back[-1]
                continue
        _, _, path = min(plies[-1], key=lambda sight: sight[:2])
        yield from path
        behind.append((state, True))
        behind.extend((passed, False) for passed in path[:-1])
        state = path[-1]


def path_back(world, state, behind):
    """Return the states that lead back to the last one where a plan was made, or as far back as is remembered."""
    planned = False
    while behind and not planned:
        if behind[-1][0] not in dict(world.moves(state)):
            return
        state, planned = behind.pop()
        yield state


# --- the settings as their own papers have them ---------------------------------------------------------------------


def lrta(world, start):
    """Run Korf (1990): go to the neighbour of least c + h, and store that value in the state left if it is higher."""
    state = start
    yield state
    while state != world.goal:
        least, to = min(world.neighbours(state), key=lambda sight: sight[0])
        world.h[state] = max(world.h[state], least)
        state = to
        yield state


def sla(world, start):
    """Run Shue and Zamani (1993): a value that rises sends the agent back along its path, except from the start."""
    path = [start]
    yield start
    while path[-1] != world.goal:
        state = path[-1]
        least, to = min(world.neighbours(state), key=lambda sight: sight[0])
        if least <= world.h[state]:
            path.append(to)
            yield to
            continue
        world.h[state] = least
        if len(path) > 1:
            path.pop()
            yield path[-1]


def slat(world, start, quota):
    """Run Shue, Li and Zamani (2001): as SLA*, but only a rise beyond the quota sends the agent back."""
    path, learned = [start], Fraction(0)
    yield start
    while path[-1] != world.goal:
        state = path[-1]
        least, to = min(world.neighbours(state), key=lambda sight: sight[0])
        rise = max(least - world.h[state], Fraction(0))
        world.h[state] += rise
        learned += rise
        if rise and learned > quota and len(path) > 1:
            path.pop()
        else:
            path.append(to)
        yield path[-1]


def gamma_trap(world, start, depth, gamma):
    """Run Bulitko (2004) at a fixed depth: a state below the least f of some ply is a trap, to be raised and left."""
    legs = [[start]]
    yield start
    while legs[-1][-1] != world.goal:
        state = legs[-1][-1]
        plies = world.plies(state, depth, gamma)
        worst = max(min(ply)[0] for ply in plies)
        if worst <= world.h[state]:
            path = min(plies[-1], key=lambda sight: sight[:2])[2]
            legs.append([state, *path])
            yield from path
            continue
        world.h[state] = worst
        if len(legs) > 1:
            leg = legs.pop()
            yield from leg[-2::-1]


# --- comparing ------------------------------------------------------------------------------------------------------


class Learner:
    """An agent that solves one problem, trial after trial."""

    def __init__(self, algorithm, problem, learned=(), **parameters):
        self.problem = problem
        self.agent = andante.Agent(algorithm, problem.graph, **parameters)
        set_problem(self.agent._space.clock[0], 1, 0)
        self.agent._goal = problem.goal
        for state, new in dict(learned).items():
            store(self.agent._memory.h, state, new)

    def trial(self, limits=LIMITS):
        return self.agent.run_all([self.problem], limits, again=True)[0]

    @property
    def values(self):
        h, graph = self.agent._memory.h, self.problem.graph
        return [value(h, graph.arrays, state, self.problem.goal) for state in range(len(graph))]


def assert_same_trials(learner, world, trial_of_twin, scale=1, trials=3):
    """Check for the same moves and the same values over several trials."""
    for _ in range(trials):
        trial = learner.trial()
        assert trial.path.tolist() == list(islice(trial_of_twin(), LIMITS.moves + 1))
        if not trial.solved:
            return
        assert learner.values == pytest.approx([float(scale * world.h[s]) for s in range(len(learner.values))])


def inconsistent_values(data, problem):
    """Draw values of any size, anywhere but at the goal, which need not be consistent or admissible."""
    states = st.integers(0, len(problem.graph) - 1).filter(lambda state: state != problem.goal)
    return data.draw(st.dictionaries(states, st.integers(0, 100).map(lambda eighths: eighths / 8), max_size=12))


@given(
    st.data(),
    or_graphs(grid_problems(), graph_problems(), graph_problems(states=5), graph_problems(directed=True)),
    DEPTHS,
    GAMMAS,
    QUOTAS,
)
@examples(400)
def test_does_what_figure_3_says(data, problem, depth, gamma, quota):
    """Moves and values agree, from inconsistent values too, on maps, on odd graphs and on one-way ones.

    On graphs of a few states the path back is longer than the agent's memory of it.
    """
    learned = inconsistent_values(data, problem) if data.draw(st.booleans()) else {}
    for p in (problem, in_rows(problem)) if FULL else (problem,):
        world = World(p, learned)
        learner = Learner("lrts", p, learned, depth=depth, gamma=float(gamma), quota=quota)
        assert_same_trials(learner, world, lambda w=world: lrts(w, problem.start, depth, gamma, quota))


@pytest.mark.parametrize("seed", [55, 109, 141, 175, 374])
def test_rounding_does_not_change_moves(seed):
    """On these maps a third of a cost, summed in another order, changed the least f before ties had a tolerance."""
    chance = np.random.default_rng(seed)
    grid = andante.Grid(chance.random((8, 8)) >= chance.choice([0.1, 0.25, 0.35]))
    (problem,) = drawn(grid, 1, seed)
    world = World(problem)
    learner = Learner("wlrta", problem, gamma=1 / 3)
    assert_same_trials(learner, world, lambda: lrts(world, problem.start, 1, Fraction(1, 3), INF))


@given(or_graphs(grid_problems(), graph_problems()))
@examples(100)
def test_one_setting_is_lrta(problem):
    ours, theirs = Learner("lrts(depth=1, gamma=1, quota=inf)", problem), Learner("lrta", problem)
    for _ in range(3):
        mine, yours = ours.trial(), theirs.trial()
        assert mine.path.tolist() == yours.path.tolist()
        assert (mine.states_expanded, mine.states_touched) == (yours.states_expanded, yours.states_touched)
        assert (mine.learned, mine.values_stored) == (yours.learned, yours.values_stored)
        assert ours.values == theirs.values


@given(or_graphs(grid_problems(), graph_problems()), GAMMAS)
@examples(100)
def test_weighted_lrta_is_lrta_with_more_of_its_heuristic(problem, gamma):
    """In Shimbo and Ishida (2003) it begins with 1 + epsilon = 1 / gamma times it, a factor that all values keep."""
    world = World(problem)
    world.h = {state: h / gamma for state, h in world.h.items()}
    learner = Learner("wlrta", problem, gamma=float(gamma))
    assert_same_trials(learner, world, lambda: lrta(world, problem.start), scale=gamma)


@given(or_graphs(grid_problems(), graph_problems()))
@examples(100)
def test_sla(problem):
    world = World(problem)
    assert_same_trials(Learner("sla", problem), world, lambda: sla(world, problem.start))


@given(grid_problems(), st.sampled_from([0.0, 1.0, 2.5, 5.0, 10.0]))
@examples(150)
def test_slat(problem, quota):
    assume(fits(problem, 1, quota))
    world = World(problem)
    assert_same_trials(Learner("slat", problem, quota=quota), world, lambda: slat(world, problem.start, quota))


@given(grid_problems(), DEPTHS, GAMMAS)
@examples(150)
def test_gamma_trap(problem, depth, gamma):
    assume(fits(problem, gamma, 0.0))
    world = World(problem)
    learner = Learner("gamma-trap", problem, depth=depth, gamma=float(gamma))
    assert_same_trials(learner, world, lambda: gamma_trap(world, problem.start, depth, gamma))


def fits(problem, gamma, quota):
    """Return whether the agent remembers the longest possible path back."""
    farthest = max(naive.distances_to(problem.graph, problem.goal).values())
    return (2 * farthest + quota) / gamma <= len(problem.graph)


# --- promises -----------------------------------------------------------------------------------------------


@given(or_graphs(grid_problems(), graph_problems()), DEPTHS, GAMMAS, QUOTAS)
@examples(150)
def test_never_learns_more_than_the_truth(problem, depth, gamma, quota):
    """The least f of a ply is at most the cost of the rest of the path, whichever ply it is greatest on."""
    learner = Learner("lrts", problem, depth=depth, gamma=float(gamma), quota=quota)
    distance = naive.distances_to(problem.graph, problem.goal)
    for _ in range(5):
        learner.trial()
        for state, rest in distance.items():
            assert learner.values[state] <= rest + 1e-6


@given(or_graphs(grid_problems(), graph_problems()), DEPTHS, GAMMAS, QUOTAS)
@examples(100)
def test_arrives(problem, depth, gamma, quota):
    limits = andante.Limits(moves=1_000_000)
    assert Learner("lrts", problem, depth=depth, gamma=float(gamma), quota=quota).trial(limits).solved


# --- by hand --------------------------------------------------------------------------------------------------------

LINE = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])  # without a heuristic, and 0 comes before 2


@pytest.mark.parametrize(
    ("quota", "path"),
    [
        (INF, [1, 0, 1, 2, 3]),  # LRTA*: learns 1 in state 1, 2 in state 0 and 1 in state 2
        (3.0, [1, 0, 1, 2, 1, 0, 1, 2, 3]),  # learning in state 2 is the first beyond the quota, more follows
        (2.5, [1, 0, 1, 2, 1, 2, 3]),  # learning in state 0 is: only the move from state 1 is behind then
        (0.0, [1, 0, 1, 2, 1, 2, 3]),  # SLA*: the first value is learned in the start, with nothing behind
    ],
)
def test_beyond_the_quota_it_goes_back(quota, path):
    trial = andante.run("lrts", LINE.problem(1, 3), depth=1, gamma=1, quota=quota)
    assert trial.path.tolist() == path


def test_it_goes_back_along_its_path_to_where_it_planned():
    """After two moves into a blind alley it learns that it ends; it goes back over both before the next plan."""
    trial = andante.run("gamma-trap", alley(), depth=2, gamma=1)
    walk = list(andante.watch("gamma-trap", alley(), depth=2, gamma=1))
    planned = [turn.states_expanded > 0 for turn in walk]
    taught = [turn.learned > 0 for turn in walk]
    assert trial.solved
    back = next(i for i in range(1, len(walk)) if planned[i] and taught[i])
    came = trial.path.tolist()[: back + 1]
    assert trial.path.tolist()[back + 1 : back + 3] == came[-2:-4:-1]
    assert planned[back : back + 3] == [True, False, True]


def alley():
    """Return a map with a blind alley towards the goal, four cells long, and a path around it."""
    rows = ["......@", ".@@@@@@", ".s....@", ".@@@@.@", "....@@@", "@@@..g."]
    free = np.array([[cell != "@" for cell in row] for row in rows])
    return andante.Grid(free).problem((1, 2), (5, 5))


def test_without_a_path_back_it_continues():
    """In a one-way ring something is learned in every state, and the agent cannot go back."""
    ring = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)], directed=True)
    assert andante.run("sla", ring.problem(0, 3)).path.tolist() == [0, 1, 2, 3]


def test_a_dead_end_of_one_direction_is_the_end():
    trap = Graph.from_edges([(0, 1, 1.0), (0, 2, 5.0)], directed=True)
    trial = andante.run("sla", trap.problem(0, 2))
    assert (trial.outcome.name, trial.path.tolist()) == ("STUCK", [0, 1])


def test_a_plan_is_followed_to_its_end_and_counts_for_its_first_move():
    grid = andante.Grid(np.ones((9, 20), bool))
    turns = list(andante.watch("lrts(depth=3, gamma=1, quota=inf)", grid.problem((4, 4), (15, 4))))
    assert [turn.states_expanded for turn in turns] == [25, 0, 0] * 3 + [24, 0]  # the goal is a leaf
    assert [grid.cell(turn.state) for turn in turns] == [(x, 4) for x in range(5, 16)]


def test_the_largest_of_the_least_counts():
    """The ply of one move has 11, the ply of two has 2: near states are known better."""
    line = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])
    learner = Learner("lrts", line.problem(0, 3), {1: 10.0, 2: 0.0}, depth=2, gamma=1, quota=INF)
    learner.trial()
    assert learner.values[0] == 11.0


@pytest.mark.parametrize("quota", [0, 9, 36, 81])
def test_states_left_too_long_ago_are_forgotten(quota):
    """In a triangle with an expensive move to the goal, the path back gets longer than four moves under a quota."""
    problem = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 3, 30.0)]).problem(0, 3)
    trial = andante.run("slat", problem, quota=quota)
    assert trial.path.tolist() == list(lrts(World(problem), 0, 1, Fraction(1), quota))
    unforgotten = list(slat(World(problem), 0, quota))
    assert (trial.path.tolist() == unforgotten) == (quota == 0)


@given(or_graphs(grid_problems(side=4), graph_problems(states=5)), DEPTHS, QUOTAS)
@examples(150)
def test_only_values_are_kept_between_trials(problem, depth, quota):
    """If learned values are cleared, a trial is like the one before, in what it learns and where it goes back."""
    learner = Learner("lrts", problem, depth=depth, gamma=1.0, quota=quota)
    first = learner.trial()
    learner.agent._memory.h.stamp[:] = 0
    second = learner.trial()
    assert (first.path.tolist(), first.learned) == (second.path.tolist(), second.learned)


def test_without_a_quota_the_path_is_not_stored():
    grid = andante.generate("empty", 64, 64)
    with_path, without = (andante.Agent("lrts", grid, quota=quota).memory_bytes for quota in (9, INF))
    assert with_path - without == 4 * 64 * 64


def test_it_does_the_same_on_larger_maps_in_either_layout():
    grid = andante.generate("rooms", 32, 32, seed=5)
    for name in ("lrts", "lrts(depth=3, gamma=0.2, quota=100)", "wlrta", "sla", "slat(quota=20)", "gamma-trap"):
        for problem in drawn(grid, 3, seed=1):
            one, other = andante.run(name, problem), andante.run(name, in_rows(problem))
            assert np.array_equal(one.path, other.path)
            assert one.solved


@pytest.mark.parametrize(("name", "bad"), [("gamma", 0), ("gamma", 1.5), ("quota", -1), ("depth", 0)])
def test_bad_parameters_are_refused(name, bad):
    with pytest.raises(andante.AndanteError, match=name):
        andante.find("lrts", **{name: bad})


def test_the_notation_of_the_settings():
    assert str(andante.find("lrts", depth=3, gamma=0.2, quota=100)) == "lrts(depth=3, gamma=0.2, quota=100.0)"
    assert str(andante.find("gamma-trap(depth=5)")) == "gamma-trap(depth=5)"
    with pytest.raises(andante.AndanteError, match="depth"):
        andante.find("sla(depth=2)")
