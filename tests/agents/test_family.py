"""Bulitko's family against Algorithm 1 in plain Python, and at its classic setting."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.agents.family import _bounded, from_paper
from andante.search.expendable import IS_ARC
from andante.world.graph import Graph
from andante.world.layout import estimate
from tests.worlds import examples

LIMITS = andante.Limits(moves=3000)
RING = [(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)]


def naive_walk(
    grid, start, goal, *, w=1.0, wc=1.0, b=1.0, operator="min", da=False, expendable=False, share="floor", walked=()
):
    """Run Algorithm 1, line by line, with dictionaries and sets; ties follow a path that was ``walked``, if given."""
    graph = grid.graph
    h, gone, path, state = {}, set(), [start], start

    def value(s):
        return h.get(s, estimate(graph.arrays, s, goal))

    while state != goal and len(path) <= LIMITS.moves:
        near = [(s, c) for s, c in graph.neighbours(state) if s not in gone]
        if da and near:
            least = min(value(s) - estimate(graph.arrays, s, goal) for s, _ in near)
            near = [(s, c) for s, c in near if value(s) - estimate(graph.arrays, s, goal) <= least + 1e-6]
        if not near:
            break
        ranked = sorted(near, key=lambda move: move[1] + value(move[0]))
        size = math.floor(b * len(near)) if share == "floor" else math.ceil(round(b * len(near), 6))
        combine = {"min": min, "max": max, "avg": statistics.fmean, "median": statistics.median}[operator]
        new = w * combine([wc * c + value(s) for s, c in ranked[: max(1, size)]])
        best = near[0][0]
        for s, c in near:
            if c + value(s) < dict(near)[best] + value(best) - 1e-6:
                best = s
        if len(path) < len(walked):
            taken = walked[len(path)]
            assert dict(near)[taken] + value(taken) <= dict(near)[best] + value(best) + 1e-6
            best = taken
        if new > value(state) + 1e-6:
            h[state] = new
            if expendable and one_arc(grid, state, gone):
                gone.add(state)
        state = best
        path.append(state)
    return path


def one_arc(grid, state, gone):
    """Count, around the ring, how often a remaining neighbour follows a missing one."""
    x, y = grid.cell(state)
    legal = {s for s, _ in grid.graph.neighbours(state)} - gone
    there = [(x + dx, y + dy) for dx, dy in RING]
    left = [0 <= a < grid.width and 0 <= b < grid.height and b * grid.width + a in legal for a, b in there]
    return sum(left[i] and not left[i - 1] for i in range(8)) <= 1


@st.composite
def members(draw):
    return {
        "w": draw(st.sampled_from([1.0, 2.0, 2.654])),
        "wc": draw(st.sampled_from([1.0, 7.0, 2.486])),
        "b": draw(st.sampled_from([0.0, 0.153, 0.5, 1.0])),
        "operator": draw(st.sampled_from(["min", "avg", "median", "max"])),
        "da": draw(st.booleans()),
        "expendable": draw(st.booleans()),
        "share": draw(st.sampled_from(["floor", "ceil"])),
    }


@given(members(), st.integers(0, 10_000), st.sampled_from(["random", "rooms", "maze"]))
@examples(60)
def test_equals_the_algorithm_of_the_paper(member, seed, kind):
    grid = andante.generate(kind, 15, 13, seed=seed)
    problem = andante.random_problems(grid, 1, seed=seed)[0]
    trial = andante.run("family", problem, limits=LIMITS, **member)
    assert trial.path.tolist() == naive_walk(grid, problem.start, problem.goal, **member)


@given(members(), st.integers(0, 10_000), st.sampled_from(["random", "rooms", "maze", "empty"]))
@examples(60)
def test_with_random_ties_each_move_is_one_of_the_best(member, seed, kind):
    """If edges count once, it makes no difference which of several equal neighbours are learned from."""
    member |= {"wc": 1.0, "w": 1.0}
    grid = andante.generate(kind, 15, 13, seed=seed)
    problem = andante.random_problems(grid, 1, seed=seed)[0]
    path = andante.run("family", problem, limits=LIMITS, ties="random", seed=seed, **member).path.tolist()
    assert path == naive_walk(grid, problem.start, problem.goal, walked=path, **member)


def test_random_ties_depend_only_on_the_seed_and_the_problem():
    grid = andante.generate("rooms", 40, 40, seed=1)
    problems = andante.random_problems(grid, 20, seed=2)

    def walks(seed, order=problems, **how):
        trials = andante.run_many("family(ties=random)", order, seed=seed, limits=LIMITS, **how)
        return {trial.problem: tuple(trial.path) for trial in trials}

    assert walks(1) == walks(1, problems[::-1]) == walks(1, threads=2)
    assert walks(1) != walks(2)
    in_order = andante.run_many("family", problems, limits=LIMITS)
    assert walks(1) != {trial.problem: tuple(trial.path) for trial in in_order}


def test_random_ties_choose_all_best_moves_equally_often():
    """On open ground, two first moves are best from the middle to a goal two columns and many rows away."""
    grid = andante.generate("empty", 21, 21)
    problem = grid.problem((10, 10), (12, 20))
    first = [andante.run("family(ties=random)", problem, seed=seed).path[1] for seed in range(400)]
    states, times = np.unique(first, return_counts=True)
    assert [grid.cell(int(state)) for state in states] == [(10, 11), (11, 11)]
    assert 150 < times[0] < 250  # five standard deviations from one half


def test_further_trials_of_a_problem_break_ties_differently():
    grid = andante.generate("empty", 21, 21)
    problem = grid.problem((0, 0), (20, 10))
    agent = andante.Agent("family(ties=random)", grid)
    paths = [agent.run_all([problem], again=trial > 0)[0].path.tolist() for trial in range(3)]
    assert paths[0] != paths[1] != paths[2]
    assert agent.run(problem).path.tolist() == paths[0]


@st.composite
def heavy(draw):
    """Draw members that learn from all neighbours and multiply what they learn."""
    return {
        "w": draw(st.floats(1, 10)),
        "wc": draw(st.floats(1, 10)),
        "b": draw(st.sampled_from([1.0, 0.9, 0.5])),
        "operator": draw(st.sampled_from(["max", "avg", "median", "min"])),
        "da": draw(st.booleans()),
        "ties": draw(st.sampled_from(["order", "random"])),
    }


@pytest.mark.compiled  # many moves
@given(heavy(), st.integers(0, 10_000), st.sampled_from(["random", "rooms", "maze"]))
@examples(60)
def test_no_agent_is_stuck_without_removing_states(member, seed, kind):
    grid = andante.generate(kind, 61, 61, seed=seed)
    problem = andante.random_problems(grid, 1, seed=seed)[0]
    trial = andante.run("family", problem, limits=andante.Limits(moves=100_000), **member)
    assert trial.outcome in (andante.Outcome.GOAL, andante.Outcome.MOVE_CAP)
    assert math.isfinite(trial.learned)


@pytest.mark.compiled  # many moves
@pytest.mark.parametrize("operator", ["max", "avg"])
def test_values_stay_finite_however_fast_they_grow(operator):
    """There is a deep pocket before the goal; with a weight of 10, a few hundred visits make any float overflow."""
    rows = [
        "............",
        ".@@@@@@@@@@.",
        ".........@..",
        ".........@..",
        ".........@.g",
        ".........@..",
        ".@@@@@@@@@@.",
        "............",
    ]
    grid = andante.Grid(np.array([list(row) for row in rows]) != "@")
    problem = grid.problem((0, 3), (11, 4))
    agent = andante.Agent("family", grid, w=10.0, operator=operator)
    highest = 0.0
    for _ in range(600):  # values are kept between trials of one problem, but not between goals
        trial = agent.run_all([problem], andante.Limits(moves=200), again=highest > 0)[0]
        assert trial.outcome in (andante.Outcome.GOAL, andante.Outcome.MOVE_CAP)
        values = agent._memory.h.value
        assert np.isfinite(values).all()
        highest = max(highest, float(values.max()))
    assert 1e250 < highest <= 1e260


@given(
    st.floats(0, 1e300),
    st.floats(0, allow_infinity=True, allow_nan=False),
    st.sampled_from([1e-100, 2.0**-40, 1, 1e100]),
)
@examples(100)
def test_a_bounded_value_rises_but_no_more_than_was_learned(old, new, unit):
    highest = min(1e260 * unit, 1e300)
    old = min(old, highest)
    bounded = _bounded(new, old, unit)
    assert bounded <= min(new, highest)
    assert new <= old or bounded > old or old == highest
    assert new > 1e250 * unit or bounded == min(new, 1e300)


def test_the_classic_setting_is_lrta():
    for kind in ("random", "maze", "caves"):
        grid = andante.generate(kind, 31, 31, seed=3)
        for problem in andante.random_problems(grid, 5, seed=4):
            classic, lrta = andante.run("family", problem), andante.run("lrta", problem)
            assert np.array_equal(classic.path, lrta.path)
            assert classic.learned == pytest.approx(lrta.learned)


def test_named_settings_have_these_parameters():
    grid = andante.generate("caves", 40, 40, seed=1)
    problem = andante.random_problems(grid, 1, seed=2)[0]
    for name, written in (("dalrta", "min(c+h)+da"), ("dalrta-e", "min(c+h)+da+E")):
        assert np.array_equal(andante.run(name, problem).path, andante.run(written, problem).path)


def test_what_counts_as_an_arc():
    assert IS_ARC[0b0000_0111]
    assert IS_ARC[0b1000_0001]  # north-west and north: the ring is closed
    assert IS_ARC[0b1111_1111]
    assert IS_ARC[0]
    assert not IS_ARC[0b0000_0101]  # north and east without the corner between them
    assert not IS_ARC[0b0001_0001]


def test_a_dead_end_is_never_entered_again():
    """Each state of a pocket behind the start of a corridor is visited once, and never again."""
    rows = ["@@@@@@@@@", "@.......@", "@@@@.@@@@", "@@@@.@@@@", "@@@@@@@@@"]
    grid = andante.Grid(np.array([list(row) for row in rows]))
    problem = grid.problem((4, 3), (1, 1))
    visits = np.unique(andante.run("min(c+h)+E", problem).path, return_counts=True)[1]
    assert visits.max() == 1


def test_expendable_on_other_graphs():
    """A triangle at the end of an edge is expendable, but a bridge is not."""
    square = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)]
    graph = Graph.from_edges([*square, (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0)])
    trial = andante.run("family(expendable=true)", graph.problem(1, 5))
    assert trial.solved


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("2.654*median_0.153(2.486c+h)+da+E", "w=2.654, b=0.153, wc=2.486, operator=median, da=true, expendable=true"),
        ("median(7c+h)+E", "wc=7, operator=median, expendable=true"),
        ("min(c+h)", "operator=min"),
        ("max_0.5(c+h)+da", "b=0.5, operator=max, da=true"),
        ("3*avg(2c+h)", "w=3, wc=2, operator=avg"),
    ],
)
def test_the_notation_of_the_paper_is_read(text, settings):
    entry = andante.find(text)
    assert entry == andante.find(f"family({settings})")
    assert andante.find(str(entry)) == entry


def test_other_texts_are_left_alone():
    assert from_paper("lrta(depth=3)") is None
    assert from_paper("median(7h+c)") is None
