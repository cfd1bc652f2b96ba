"""Crowds and single agents in scenes."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.datasets.scenes import make_scene
from andante.episode.crowdresult import Pace
from andante.episode.crowdrun import problems_of, run_crowd
from andante.episode.rows import scene_rows
from andante.episode.run import Outfit
from andante.episode.scenewalk import SceneWalk, replanned_cost, replanned_costs, walk_scene
from andante.measures import Outcome
from andante.world.grid import Grid
from andante.world.scenes import Change, Flight, NewGoal, Scene
from tests.naive import cheapest, legal_moves
from tests.worlds import examples

GRID = andante.generate("rooms", 32, 32, seed=1)


def run(name, scene, **how):
    pace = Pace(expansions=5000, ticks=3000)
    return run_crowd(andante.find(name), problems_of(scene), pace, scene=scene, **how)


@pytest.mark.parametrize(("kind", "targets"), [("doors", "wander"), ("tunnels", "flee"), ("bridges", "circle")])
def test_units_walk_a_scene_to_its_end(kind, targets):
    scene = make_scene(GRID, 20, kind, changes_per_second=3, ticks=200, moving=0.3, targets=targets, seed=1)
    result = run("tba(budget=20, weight=2)", scene, recorded=True)
    assert set(result.outcomes.tolist()) <= {Outcome.GOAL, Outcome.UNREACHABLE}
    assert result.ended(Outcome.GOAL) >= 10
    assert np.median(result.ratios) < 2
    trace = result.trace
    assert len(trace.change_ticks) == len([c for c in scene.changes if c.tick <= trace.ticks])
    arrived = trace.arrivals[trace.arrivals >= 0]
    assert len(arrived) == result.ended(Outcome.GOAL)
    assert arrived.min() >= 1


def test_the_replanned_walker_takes_a_cheapest_path_around_a_new_wall():
    corridor = Grid([list("....."), list("....."), list(".....")])
    straight = Scene(corridor, [((0, 1), (4, 1))])
    assert replanned_costs(straight).tolist() == [4.0]
    wall = [Change(3, (3, y), False) for y in (0, 1)]
    assert replanned_costs(Scene(corridor, [((0, 1), (4, 1))], wall))[0] > 4.0
    shut = [Change(3, (3, y), False) for y in (0, 1, 2)]
    assert math.isinf(replanned_costs(Scene(corridor, [((0, 1), (4, 1))], shut))[0])
    again = [*shut, Change(20, (3, 1), True)]  # it waits, then continues
    assert replanned_costs(Scene(corridor, [((0, 1), (4, 1))], again)).tolist() == [4.0]
    moved = [NewGoal(2, 0, (0, 0))]
    assert replanned_costs(Scene(corridor, [((0, 1), (4, 1))], moved))[0] == pytest.approx(1 + 2**0.5)


# --- one unit, alone ------------------------------------------------------------------------------------------------


class Plain:
    """A unit's view of a scene, computed with plain tables and searches over the whole map."""

    def __init__(self, scene, unit):
        self.scene, self.unit = scene, unit
        self.free, self.goal = scene.grid.passable.copy(), scene.units[unit][1]

    def before(self, tick, cell):
        for event in self.scene.events:
            if event.tick == tick and isinstance(event, Change):
                self.free[event.cell[1], event.cell[0]] = event.opened
            elif event.tick == tick and event.unit == self.unit and self.free[event.goal[1], event.goal[0]]:
                self.goal = event.goal
        for flight in self.scene.flights:
            if flight.unit == self.unit and tick % flight.every == 0:
                options = [self.goal, *(to for to, _ in self.moves(self.goal))]
                gaps = [(abs(x - cell[0]), abs(y - cell[1])) for x, y in options]
                self.goal = options[max(range(len(gaps)), key=lambda i: (max(gaps[i]), sum(gaps[i]), -i))]

    def moves(self, cell):
        return legal_moves(self.free, *cell, self.scene.grid.rule) if self.free[cell[1], cell[0]] else []

    def left(self):
        """Return the cost from every cell with a path to the goal."""
        return cheapest(self.moves, self.goal)


def replayed(trial):
    """Yield for each tick of a trial the plain scene and the agent's move, after checking the move."""
    plain, cells = Plain(trial.scene, trial.unit), [trial.scene.grid.cell(state) for state in trial.path]
    cost = 0.0
    for tick, (here, there) in enumerate(itertools.pairwise(cells), 1):
        plain.before(tick, here)
        moves = dict(plain.moves(here))
        assert there == here or there in moves
        cost += moves.get(there, 0.0) if there != here else 0.0
        yield plain, here, there
    assert trial.cost == pytest.approx(cost)
    if trial.outcome is Outcome.GOAL:
        if len(cells) == trial.ticks + 1 and cells[-1] != plain.goal:
            plain.before(trial.ticks + 1, cells[-1])  # the goal came to the agent
        assert cells[-1] == plain.goal
    if trial.outcome is Outcome.UNREACHABLE:
        assert trial.ticks >= trial.scene.last_tick
        assert cells[-1] not in plain.left()


def scenes():
    """Return small scenes of all kinds."""
    return st.builds(
        lambda seed, kind, rate, moving, targets, every: make_scene(
            andante.generate("rooms", 20, 20, seed=seed % 5),
            3,
            kind,
            changes_per_second=rate,
            ticks=120,
            moving=moving,
            targets=targets,
            target_every=every,
            seed=seed,
        ),
        st.integers(0, 10_000),
        st.sampled_from(["doors", "bridges", "tunnels", "rubble"]),
        st.sampled_from([0, 3, 30, 100]),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from(["wander", "circle", "flee"]),
        st.integers(2, 5),
    )


@examples(60)
@given(scenes())
def test_the_replanned_walker_is_always_on_a_cheapest_path_of_the_current_map(scene):
    for unit in range(3):
        trial = SceneWalk(Outfit.of("astar"), scene, unit, "event").to_the_end(math.inf, 2000, math.inf)
        for plain, here, there in replayed(trial):
            left = plain.left()
            if here == there:
                assert here not in left
            else:
                assert left[here] == pytest.approx(left[there] + dict(plain.moves(here))[there])
        assert replanned_cost(scene, unit) == pytest.approx(trial.cost if trial.solved else math.inf)


@pytest.mark.parametrize("name", ["lrta", "tba(budget=10)"])
@examples(60)
@given(scenes())
def test_agents_make_legal_moves_in_scenes_and_give_up_only_after_the_last_event(name, scene):
    for unit in range(3):
        trial = walk_scene(name, scene, unit, limits=andante.Limits(moves=3000))
        waits = sum(here == there for _, here, there in replayed(trial))
        assert trial.outcome in (Outcome.GOAL, Outcome.UNREACHABLE, Outcome.MOVE_CAP)
        assert trial.turns_waited == waits
        assert trial.ticks == len(trial.path) - 1
        again = walk_scene(name, scene, unit, limits=andante.Limits(moves=3000))
        assert (again.path, again.states_expanded) == (trial.path, trial.states_expanded)


def paid(trial):
    """Return the cost of a walk, added up from the moves of the plain scene."""
    return sum(dict(plain.moves(here))[there] for plain, here, there in replayed(trial) if here != there)


@examples(40)
@given(scenes())
def test_the_ratio_equals_that_of_two_paths_added_up_by_hand(scene):
    for unit in range(3):
        best = SceneWalk(Outfit.of("astar"), scene, unit, "event").to_the_end(math.inf, 2000, math.inf)
        trial = walk_scene("lrta", scene, unit, limits=andante.Limits(moves=400))
        (row,) = scene_rows([trial], [replanned_cost(scene, unit)])
        counts = best.solved and paid(best) > 0 and trial.outcome is not Outcome.UNREACHABLE
        expected = paid(trial) / paid(best) if counts else math.nan
        assert row["replanned_ratio"] == pytest.approx(expected, nan_ok=True)
        assert row["solved"] == (trial.outcome is Outcome.GOAL)


def test_rows_of_scenes_have_the_ratio_and_include_units_that_did_not_arrive():
    corridor = Grid([list(".....")])
    open_, shut = Scene(corridor, [((0, 0), (4, 0))]), Scene(corridor, [((0, 0), (4, 0))], [Change(2, (3, 0), False)])
    trials = [
        walk_scene("lrta", open_),
        walk_scene("lrta", open_, limits=andante.Limits(moves=2)),
        walk_scene("lrta", shut),
    ]
    costs = [replanned_cost(trial.scene, 0) for trial in trials]
    rows = scene_rows(trials, costs)
    assert [row["outcome"] for row in rows] == ["GOAL", "MOVE_CAP", "UNREACHABLE"]
    assert costs == [4.0, 4.0, math.inf]
    assert [row["replanned_ratio"] for row in rows[:2]] == [1.0, 0.5]
    assert math.isnan(rows[2]["replanned_ratio"])
    summary = andante.measures.summarise(rows)[0]
    assert (summary.solved, summary.trials) == (1, 3)
    assert summary.show("replanned_ratio", with_error=False) == "≥ 0.750 (n = 2)"


def test_an_agent_that_forgets_at_every_move_of_its_goal_takes_longer_to_catch_it():
    scene = make_scene(GRID, 8, changes_per_second=0, moving=1, targets="wander", ticks=3000, seed=2)
    limits = andante.Limits(moves=3000)
    kept = [walk_scene("lrta", scene, unit, limits=limits) for unit in range(8)]
    forgot = [walk_scene("lrta", scene, unit, limits=limits, forgets=True) for unit in range(8)]
    assert sum(trial.ticks for trial in kept) < sum(trial.ticks for trial in forgot)


def test_crowds_count_the_costs_before_units_were_sent_again():
    corridor = Grid([list(".........")])
    events = [Change(4, (6, 0), False), Change(12, (6, 0), True)]
    scene = Scene(corridor, [((0, 0), (8, 0))], events)
    result = run("lrta", scene)
    assert result.ended(Outcome.GOAL) == 1
    assert result.costs.tolist() == [8.0]
    assert len(result.ticks) == 8 + 8
    fled = Scene(corridor, [((0, 0), (4, 0))], flights=[Flight(0, 2)])
    assert run("lrta", fled).costs.tolist() == [7.0] == [replanned_cost(fled, 0)]


@pytest.mark.parametrize("changes", [[], [Change(50, (0, 0), False)]])
def test_units_of_crowds_wait_while_their_goals_are_unreachable(changes):
    rooms = Grid([list("....@....")])
    events = [NewGoal(3, 0, (7, 0)), NewGoal(6, 0, (3, 0)), NewGoal(4, 1, (8, 0))]
    scene = Scene(rooms, [((0, 0), (3, 0)), ((5, 0), (1, 0))], sorted(events + changes, key=lambda event: event.tick))
    result = run("lrta", scene)
    alone = [walk_scene("lrta", scene, unit) for unit in range(2)]
    assert result.ended(Outcome.GOAL) == 2
    assert result.costs.tolist() == [trial.cost for trial in alone] == [3.0, 3.0]
    assert [trial.outcome for trial in alone] == [Outcome.GOAL] * 2
