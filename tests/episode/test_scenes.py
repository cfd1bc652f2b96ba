"""Crowds that walk scenes."""

import math

import numpy as np
import pytest

import andante
from andante.datasets.scenes import make_scene
from andante.episode.crowdresult import Pace
from andante.episode.crowdrun import problems_of, run_crowd
from andante.episode.replanned import replanned_costs
from andante.measures import Outcome
from andante.world.grid import Grid
from andante.world.scenes import Change, NewGoal, Scene

GRID = andante.generate("rooms", 32, 32, seed=1)


def run(name, scene, **how):
    pace = Pace(expansions=5000, ticks=3000)
    return run_crowd(andante.find(name), problems_of(scene, pace.ticks), pace, events=scene.events, **how)


@pytest.mark.parametrize("kind", ["doors", "tunnels"])
def test_units_walk_a_scene_to_its_end(kind):
    scene = make_scene(GRID, 20, kind, every=10, ticks=200, wandering=0.3, seed=1)
    result = run("tba(budget=20, weight=2)", scene, recorded=True)
    assert set(result.outcomes.tolist()) <= {Outcome.GOAL, Outcome.UNREACHABLE}
    assert result.ended(Outcome.GOAL) >= 10
    assert np.median(result.suboptimality_ratios) < 2
    trace = result.trace
    assert len(trace.change_ticks) == len([c for c in scene.changes if c.tick <= trace.ticks])
    arrived = trace.arrivals[trace.arrivals >= 0]
    assert len(arrived) == result.ended(Outcome.GOAL)
    assert arrived.min() >= 1


def test_a_walker_that_knows_all_walks_a_best_path_and_goes_round_a_wall_that_comes():
    corridor = Grid([list("....."), list("....."), list(".....")])
    straight = Scene(corridor, [((0, 1), (4, 1))])
    assert replanned_costs(straight, 50).tolist() == [4.0]
    wall = [Change(3, (3, y), False) for y in (0, 1)]
    assert replanned_costs(Scene(corridor, [((0, 1), (4, 1))], wall), 50)[0] > 4.0
    shut = [Change(3, (3, y), False) for y in (0, 1, 2)]
    assert math.isinf(replanned_costs(Scene(corridor, [((0, 1), (4, 1))], shut), 50)[0])
    moved = [NewGoal(2, 0, (0, 0))]
    assert replanned_costs(Scene(corridor, [((0, 1), (4, 1))], moved), 50)[0] == pytest.approx(1 + 2**0.5)
