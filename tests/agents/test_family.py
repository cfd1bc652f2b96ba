"""Seed 004's family against Algorithm 1 written out in plain Python, and at its classic corner."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import andante
from andante.agents.family import IS_ARC, from_paper, to_paper
from andante.world.graph import Graph, estimate

LIMITS = andante.Limits(moves=3000)
RING = [(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)]


def naive_walk(grid, start, goal, *, w=1.0, wc=1.0, b=1.0, operator="min", da=False, expendable=False):
    """Algorithm 1, line by line, with dictionaries and sets."""
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
        share = ranked[: max(1, math.floor(b * len(near)))]
        combine = {"min": min, "max": max, "avg": statistics.fmean, "median": statistics.median}[operator]
        new = w * combine([wc * c + value(s) for s, c in share])
        best = near[0][0]
        for s, c in near:
            if c + value(s) < dict(near)[best] + value(best) - 1e-6:
                best = s
        if new > value(state) + 1e-6:
            h[state] = new
            if expendable and one_arc(grid, state, gone):
                gone.add(state)
        state = best
        path.append(state)
    return path


def one_arc(grid, state, gone):
    """Walk round the ring and count how often a neighbour that is left follows one that is not."""
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
    }


@given(members(), st.integers(0, 10_000), st.sampled_from(["random", "rooms", "maze"]))
@settings(max_examples=60, deadline=None)
def test_equals_the_algorithm_of_the_paper(member, seed, kind):
    grid = andante.generate(kind, 15, 13, seed=seed)
    problem = andante.random_problems(grid, 1, seed=seed)[0]
    trial = andante.run("family", problem, limits=LIMITS, **member)
    assert trial.path.tolist() == naive_walk(grid, problem.start, problem.goal, **member)


def test_the_classic_corner_is_lrta():
    for kind in ("random", "maze", "caves"):
        grid = andante.generate(kind, 31, 31, seed=3)
        for problem in andante.random_problems(grid, 5, seed=4):
            classic, lrta = andante.run("family", problem), andante.run("lrta", problem)
            assert np.array_equal(classic.path, lrta.path)
            assert classic.learned == pytest.approx(lrta.learned)


def test_named_settings_are_corners():
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


def test_a_dead_end_is_left_for_good():
    """A corridor with a pocket behind the start: each state of the pocket is visited once, and never again."""
    rows = ["@@@@@@@@@", "@.......@", "@@@@.@@@@", "@@@@.@@@@", "@@@@@@@@@"]
    grid = andante.Grid(np.array([list(row) for row in rows]))
    problem = grid.problem((4, 3), (1, 1))
    visits = np.unique(andante.run("min(c+h)+E", problem).path, return_counts=True)[1]
    assert visits.max() == 1


def test_expendable_on_other_graphs():
    """A triangle hanging on an edge can be done without; a bridge cannot."""
    square = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)]
    graph = Graph.from_edges([*square, (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0)])
    trial = andante.run("family(expendable=true)", graph.problem(1, 5))
    assert trial.solved


@pytest.mark.parametrize(
    "text", ["2.654*median_0.153(2.486c+h)+da+E", "median(7c+h)+E", "min(c+h)", "max_0.5(c+h)+da", "3*avg(2c+h)"]
)
def test_the_papers_notation_is_read_and_written(text):
    entry = andante.find(text)
    assert to_paper(entry) == text
    assert andante.find(str(entry)) == entry


def test_other_texts_are_left_alone():
    assert from_paper("lrta(depth=3)") is None
    assert from_paper("median(7h+c)") is None
