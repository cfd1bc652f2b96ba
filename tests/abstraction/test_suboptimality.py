"""The suboptimality of paths that are planned on levels, by Bulitko et al. (2007), Appendix B.

Theorem B.1: a path refined from level l costs at most e^2 k^(2l) times the optimal one, where costs on the ground are
from 1 to e, and no abstract state has more than k children.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.abstraction.clique import Cover
from andante.abstraction.hierarchy import hierarchy_of
from andante.world.grid import Grid
from tests.abstraction.worlds import figure_25
from tests.worlds import examples, grid_problems


def bound(problem, level, cover, longest):
    """Return the bound on a path's cost, as a multiple of the optimal cost."""
    levels = hierarchy_of(problem.graph, cover)
    k = max(len(levels.children(at, state)) for at in range(1, level + 1) for state in range(levels.sizes[at]))
    return longest**2 * k ** (2 * level)


def refined(problem, level, cover):
    """Return the trial of an agent that plans on a level by A* and follows the refined path."""
    return andante.run("prlrts", problem, level=level, top="astar", cover=cover.name.lower())


def test_figure_21_an_abstract_path_leads_past_the_optimal_one():
    """On open ground, the states of level 1 are squares of two by two, and the path skips the one in between."""
    problem = Grid(np.ones((3, 4), bool)).problem((3, 2), (1, 0))
    assert andante.run("astar", problem).cost == pytest.approx(2 * math.sqrt(2))
    assert refined(problem, 1, Cover.ALIGNED).cost == pytest.approx(2 + math.sqrt(2))


def test_figure_22_a_segment_refined_at_a_time_can_be_worse_than_the_whole_path():
    """Each segment ends in the middle of a square, which is not on the straight line to the goal."""
    problem = Grid(np.ones((3, 5), bool)).problem((4, 1), (0, 1))
    in_segments = andante.run("prlrta(level=1, depth=20, gamma=1.0)", problem)
    assert refined(problem, 1, Cover.ALIGNED).cost == pytest.approx(4)
    assert in_segments.cost == pytest.approx(2 + 2 * math.sqrt(2))


@pytest.mark.parametrize("cover", Cover)
@pytest.mark.parametrize(("teeth", "length", "rows"), [(8, 3, 3), (32, 3, 3), (64, 7, 5), (64, 15, 9)])
def test_the_worst_map_of_figure_25(teeth, length, rows, cover):
    grid, a, b = figure_25(teeth, length, rows)
    problem = grid.problem(a, b)
    for level in range(1, 6):
        trial = refined(problem, level, cover)
        assert trial.solved
        assert trial.suboptimality_ratio <= bound(problem, level, cover, longest=1.0)


@pytest.mark.parametrize("cover", Cover)
def test_it_misleads_more_the_higher_the_level(cover):
    """Where each corridor is one state of the level, the long way around looks shorter than the straight one."""
    ratio = []
    for level, length, rows in ((3, 7, 5), (4, 15, 9)):
        grid, a, b = figure_25(64, length, rows)
        ratio.append(refined(grid.problem(a, b), level, cover).suboptimality_ratio)
    assert 4 < ratio[0] < ratio[1] - 4


@given(grid_problems(side=14), st.integers(1, 4), st.sampled_from(Cover))
@examples(60)
def test_any_map(problem, level, cover):
    level = min(level, hierarchy_of(problem.graph, cover).top)
    trial = refined(problem, level, cover)
    assert trial.solved
    assert trial.suboptimality_ratio <= bound(problem, level, cover, longest=math.sqrt(2))
